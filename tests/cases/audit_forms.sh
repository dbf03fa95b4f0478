# Each format of getmnt audit, read as its readers do: planted faults, harmful names, many findings, and
# audits that fail.
# shellcheck source=tests/lib/audit.sh
. "$TOP/tests/lib/audit.sh"
# Each format by --format on standard output, and by its short option into a file (of a plugin on standard
# output).
umask 022
for form in "${forms[@]}"; do
	choose "$form"
	echo "== $form"
	audit "${way[@]}" >"$form.out" 2>err
	echo "status $?"
	cat err
	plain <"$form.out"
	read_form "$form" <"$form.out" >judged || cat judged
	[ "$form" = text ] || cat judged
	case $form in
	text) again=("${way[@]}") ;;
	json) again=(-J) ;;
	*) again=("--$form") ;;
	esac
	rm -rf into
	mkdir into
	if [ "$form" = nagios ]; then
		audit "${again[@]}" >into/out 2>extra
	else
		(umask 077; audit "${again[@]}" --output=into/out) >extra 2>&1
	fi
	echo "${again[*]}: status $?, mode $(stat -c %a into/out), $(find into -type f | wc -l) file, $(wc -c <extra) bytes of messages"
	cmp <(plain <"$form.out" | sed 's/;0;60/;0;10/') <(plain <into/out)
done
audit --json >out
cmp <(plain <json.out) <(plain <out) && echo "--json is -J"
echo "== at a terminal"
in_terminal()
{
	env -u NO_COLOR TERM=xterm "$@" python3 - "$GETMNT" <<'PY'
import os, subprocess, sys
# It does not control the program: gm.on_terminal().
shows, writes = os.openpty()
program = subprocess.Popen([sys.argv[1], "audit", "-F", "table", "--fstab=fstab", "--only=DRIFT-*"],
                           stdin=writes, stdout=writes, stderr=writes)
os.close(writes)
shown = b""
try:
    while piece := os.read(shows, 4096):
        shown += piece
except OSError:
    pass
program.wait()
sys.stdout.write("".join(line + "\n" for line in shown.decode().splitlines() if "DRIFT-" in line))
PY
}
in_terminal | cat -v
in_terminal NO_COLOR=1 | cat -v
in_terminal TERM=dumb | cat -v
getmnt audit --list-rules --only=DRIFT-READONLY,MNT-DUP,SWAP-EXTRA --color=always | cat -v
echo "== nothing is wrong"
# One of each text is enough from here on.
some=(text json nagios prometheus)
for form in "${some[@]}"; do
	choose "$form"
	swift getmnt audit -F clean.table --fstab=clean.fstab "${way[@]}" >out
	echo "$form $? $(read_form "$form" <out)"
done

echo "== names that harm"
python3 - <<'PY'
names = [b"/new\nline", b'/quo"te\'s', b"/inv\xff\xfealid", b"/" + b"x" * 4094, b"/esc\x1b[31m\x1b]0;x\x07", b"/bar|bar", b"/b\\s",
         b"/\xc2\x9bc1", b"/blank s", b"/#", b"/\xe2\x80\xaeturned", b"/'=", b"/{a=\"b\"}", b"/\t", b"/-"]
def octal(name):
    return b"".join(b"\\%03o" % c if c in b" \t\n\\#" else bytes([c]) for c in name)
with open("harm.table", "wb") as f:
    f.write(b"20 1 8:1 / / rw - ext4 /dev/mapper/root rw\n")
    for i, name in enumerate(names):
        f.write(b"%d 20 9:%d / %s rw - ext4 /dev/mapper/%s rw\n" % (100 + i, i, octal(name), octal(name[1:])[:200]))
        f.write(b"%d %d 9:%d / %s rw - ext4 /dev/mapper/%s rw\n" % (200 + i, 100 + i, i, octal(name), octal(name[1:])[:200]))
with open("harm.fstab", "wb") as f:
    f.write(b"/dev/mapper/root / ext4 defaults 0 1\n")
    f.writelines(b"/dev/mapper/n%d %s/sub ext4 defaults,nofail 0 2\n" % (i, octal(name)) for i, name in enumerate(names) if len(name) < 4000)
PY
for form in "${forms[@]}"; do
	choose "$form"
	getmnt audit -F harm.table --fstab=harm.fstab "${way[@]}" >out
	echo "$form $? $(read_form "$form" <out | grep -vE '^(/|  )')"
	grep -qaP '[\x00-\x08\x0b-\x1f\x7f\x1b]' out && echo "what harms a terminal"
	iconv -f UTF-8 -t UTF-8 <out >/dev/null || echo "no UTF-8"
done
getmnt audit --nagios -F harm.table --fstab=harm.fstab -vvv | read_form nagios

echo "== 600 findings"
python3 - <<'PY'
with open("many.table", "w") as f:
    f.write("20 1 8:1 / / rw - ext4 /dev/mapper/root rw\n")
with open("many.fstab", "w") as f:
    f.write("/dev/mapper/root / ext4 defaults 0 1\n")
    f.writelines(f"/dev/mapper/m{i} /m{i} ext4 defaults,nofail 0 2\n" for i in range(600))
PY
for form in text json nagios prometheus; do
	choose "$form"
	getmnt audit -F many.table --fstab=many.fstab "${way[@]}" >out
	echo "$form $? $(read_form "$form" <out | tail -n 1)"
	[ "$form" != prometheus ] || grep -vc '^#' out
done

echo "== incomplete"
for form in "${some[@]}"; do
	choose "$form"
	swift getmnt audit -F "$(table cli/should-fail-lines)" --fstab=clean.fstab --only=MNT-SHADOWED "${way[@]}" >out 2>err
	echo "$form $? $(read_form "$form" <out) $(grep -c complete out) $(wc -l <err) messages"
	[ "$form" != nagios ] || plain <out
done

echo "== not audited"
for form in "${some[@]}"; do
	choose "$form"
	getmnt audit -F table --fstab=none "${way[@]}" >out 2>err
	echo "$form $? $(read_form "$form" <out) $(wc -c <err) bytes of messages"
	case $form in
	nagios | prometheus) cat err; plain <out ;;
	esac
done
getmnt audit -F none --fstab=fstab --prometheus 2>/dev/null | grep '^getmnt_audit_success'

echo "== --require-complete"
for args in "--only=MNT-SHADOWED,DRIFT-TYPE" "--only=FSTAB-SRC-MISSING" ""; do
	for form in text json nagios; do
		case $form-$args in
		text-?*) continue ;;   # the status of text is that of json
		esac
		choose $form
		# shellcheck disable=SC2086
		swift getmnt audit -F clean.table --fstab=clean.fstab $args --require-complete "${way[@]}" >out 2>&1
		echo "$form $args: $? $(grep -oE 'UNKNOWN - .*mounts \||"exit_status": .' out)"
	done
done

echo "== --only and --disable in any order; options that would never report anything"
printf '1 0 8:1 / / rw - ext4 /dev/sda1 rw\n' >lone
printf '/dev/sda1 / ext4 defaults 0 1\n' >line
for options in "--disable=FSTAB-SRC-UNSTABLE --only=FSTAB-*" "--only=FSTAB-* --disable=FSTAB-SRC-UNSTABLE" "--only=BASE-*" \
	"--only=FSTAB-LOST" "--disable=?" "--disable=*" "--root="; do
	set -f
	# shellcheck disable=SC2086 # words
	status audit -F lone --fstab=line $options 2>&1 | grep -v ^Try
	set +f
done
