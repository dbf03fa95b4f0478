# getmnt audit as a plugin, within a time, and into files.
export NO_COLOR=1
schema=$TOP/docs/audit.schema.json
forms=(text json jsonl prometheus ansible canonical canonical-full digest)
# What is slow, as under valgrind, has its time.
choose()
{
	case $1 in
	nagios) way=(--format=nagios --timeout=60) ;;
	ansible) way=(--format=ansible --max-time=60) ;;
	*) way=(--format="$1") ;;
	esac
}
plain()
{
	sed -E 's/"version": "[^"]*"/"version": VERSION/; s/version="[^"]*"/version=VERSION/; s/("(time|seconds)": )[0-9.]+/\1N/g' |
		sed -E 's/(_(timestamp|duration)_seconds) [0-9.]+/\1 N/; s/time=[0-9.]+s/time=Ns/'
}
audit()
{
	getmnt audit -F table --fstab=fstab "$@"
}
plugin()
{
	# shellcheck disable=SC2086
	${GETMNT_WRAP-} ./check_getmnt "$@"
	echo "status $?"
}

cat >table <<'EOF'
20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro
22 20 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
23 22 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
24 23 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
25 20 8:1 /srv/x//deleted /x rw,relatime - ext4 /dev/mapper/root rw
EOF
cat >fstab <<'EOF'
/dev/mapper/root / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults,nofail 0 2
/dev/mapper/t /t ext4 defaults,nofail 0 2
/srv/x /x none bind,nofail 0 0
# getmnt: ignore=DRIFT-NOT-MOUNTED
/dev/mapper/y /y ext4 defaults,nofail 0 2
/dev/mapper/z /z ext4 defaults,nofail,size=17 0 2
EOF
head -n 1 table >clean.table
head -n 1 fstab >clean.fstab

ln -s "$GETMNT" check_getmnt
echo "== a plugin"
plugin -F clean.table --fstab=clean.fstab | plain   # 10 seconds by default
plugin -F table --fstab=fstab -v -t 60 | plain
plugin -F table --fstab=fstab -w 10 -c 5 -t 60 | plain
plugin -F table --fstab=fstab --warning=1: --critical=~:9 -t 60 | plain
plugin -F table --fstab=fstab -c @2:4 -w 99 --timeout=61 | plain
for args in --nosuch -z "-w x" "-c 5:1" "-c 1|2" "-t 0" "-t x" "-t -1" -w operand "--only=NOSUCH" "-F table" --json --output=x "--format=json" \
	"--format=nagios --nosuch"; do
	# shellcheck disable=SC2086
	plugin $args >out 2>err
	echo "$args: $(tr '\n' ' ' <out)$(wc -l <out) lines, $(wc -c <err) bytes of messages"
done
getmnt audit --nosuch --nagios
echo "status $?"
getmnt audit --format nagios operand
echo "status $?"
for args in -h --help -V --version; do
	plugin $args >out 2>err
	echo "$args: $(tail -n 1 out), $([ "$(wc -l <out)" -gt 1 ] && echo text), $(wc -c <err) bytes of messages"
done
audit --list-rules --nagios

echo "== time"
mkfifo never
exec 9<>never
began=$(date +%s)
plugin -F /dev/fd/9 --fstab=fstab -t 0.2
for form in json jsonl prometheus ansible canonical text; do
	getmnt audit -F /dev/fd/9 --fstab=fstab --max-time=0.2 --format=$form >out 2>err
	echo "$form $? $(wc -l <out) lines, $(grep -c "not audited within 0.2 seconds" out) $(cat err)"
done
exec 9>&-
[ $(($(date +%s) - began)) -lt 60 ] && echo "in time"
audit --max-time=60 --canonical | cmp - <(audit --canonical) && echo "the same in time"
audit --max-time=60 --disable=NONE >out
echo "status $?"

echo "== one at a time, and what there is"
audit --json --jsonl
echo "status $?"
audit --json --format=json >/dev/null
echo "status $?"
audit --format=xml
audit --canonical=part
audit --output=
audit --max-time=0

echo "== what cannot be written"
for form in "${forms[@]}"; do
	choose "$form"
	audit "${way[@]}" >/dev/full 2>err
	echo "$form $? $(cat err)"
done

getmnt audit --nagios -t 60 -F table --fstab=fstab >/dev/full
echo "nagios $?"
for args in --format=text --format=jsonl --format=nagios --format=ansible --list-rules --show-config --help --only=NONE; do
	audit $args --disable=MNT-DUP >&- 2>err
	echo "$args closed: $? $(head -n 1 err)"
done
getmnt audit -F clean.table --fstab=clean.fstab >&-
echo "nothing to tell: $?"

echo "== --output"
umask 077
for form in "${forms[@]}"; do
	choose "$form"
	rm -rf into
	mkdir into
	audit "${way[@]}" >out
	audit "${way[@]}" --output=into/told >extra 2>&1
	echo "$form $? $(stat -c %a into/told) $(find into -type f | wc -l) $(wc -c <extra)"
	cmp <(plain <out) <(plain <into/told)
done
rm -rf into
mkdir into
audit --prometheus --output=into/a.prom
chmod 640 into/a.prom
before=$(stat -c %i into/a.prom)
audit --prometheus --output=into/a.prom
[ "$before" != "$(stat -c %i into/a.prom)" ] && echo "another file, mode $(stat -c %a into/a.prom)"
ln -s a.prom into/link
audit --json --output=into/link
[ -L into/link ] && python3 "$TOP/tests/lib/forms.py" json "$schema" <into/a.prom
ln -s nowhere into/dangling
for to in into/dangling into nowhere/told /dev/null into/a.prom/x; do
	audit --json --output=$to 2>&1 | sed "s|$PWD|HERE|g"
	echo "status ${PIPESTATUS[0]}"
done
getmnt audit -F table --fstab=none --prometheus --output=into/a.prom 2>/dev/null
echo "status $?; $(grep '^getmnt_audit_success' into/a.prom); $(python3 "$TOP/tests/lib/forms.py" prometheus <into/a.prom)"
audit --prometheus --output=into/a.prom
for args in "--only=NOSUCH --prometheus --output=into/a.prom" "--output into/a.prom --format prometheus --nosuch"; do
	audit --prometheus --output=into/a.prom
	# shellcheck disable=SC2086
	getmnt audit $args 2>/dev/null
	echo "status $?; $(grep '^getmnt_audit_success' into/a.prom)"
done
echo "== two at a time"
many()
{
	for _ in 1 2 3 4 5 6; do
		audit --prometheus --output=into/b.prom || echo "status $?"
	done
}
{ many & many; wait; } 2>&1 | sort | uniq -c
python3 "$TOP/tests/lib/forms.py" prometheus <into/b.prom
rm into/b.prom
echo "== a file that was there"
echo kept >into/a.prom
audit --json --nosuch --output=into/a.prom 2>/dev/null
cat into/a.prom
ls -A into

