# getmnt audit as a plugin, with a time limit, and with output files.
# shellcheck source=tests/lib/audit.sh
. "$TOP/tests/lib/audit.sh"
plugin()
{
	# shellcheck disable=SC2086
	${GETMNT_WRAP-} ./check_getmnt "$@"
	echo "status $?"
}

ln -s "$GETMNT" check_getmnt
echo "== a plugin"
plugin -F clean.table --fstab=clean.fstab | plain   # 10 seconds by default
plugin -F table --fstab=fstab -v -t 60 | plain
plugin -F table --fstab=fstab -w 10 -c 5 -t 60 | plain
plugin -F table --fstab=fstab --warning=1: --critical=@2:4 --timeout=61 | plain
for args in -z "-w x" "-c 1|2" "-t 0" -w operand "-F table" --output=x "--format=json" "--format=nagios --nosuch"; do
	# shellcheck disable=SC2086
	swift plugin $args >out 2>err
	echo "$args: $(tr '\n' ' ' <out)$(wc -l <out) lines, $(wc -c <err) bytes of messages"
done
# A name is escaped once.
swift plugin -F clean.table --fstab=$'no\n|x' -v
# As abbreviated as the program takes it.
getmnt audit --nosuch --nag
echo "status $?"
swift getmnt audit --form nagios operand
echo "status $?"
for args in -h --version; do
	swift plugin $args >out 2>err
	echo "$args: $(tail -n 1 out), $([ "$(wc -l <out)" -gt 1 ] && echo text), $(wc -c <err) bytes of messages"
done
swift audit --list-rules --nagios

echo "== the line of a plugin, at several lengths and in several scripts"
printf '20 1 8:1 / / rw - ext4 /dev/mapper/root rw\n' >root.table
for name in é '|' 'a\040b/'; do
	printf -v long '%13s' ''
	long=${long// /$name}
	for length in 1 7 14 26 40; do
		for count in 1 2 12; do
			for ((i = 0; i < count; ++i)); do
				printf '/dev/mapper/m%d /%d%sz%s ext4 nofail 0 2\n' $i $((i % 10)) "${long:0:length}" $((i / 10))
			done >many.fstab
			line=$(./check_getmnt -F root.table --fstab=many.fstab --only=DRIFT-NOT-MOUNTED -t 60)
			line=${line%% | *} more=${line##* and } list=${line#*: }
			[ ${#line} -le 79 ] || fail "${#line} characters: $line"
			if [ "$more" = "$line" ]; then more=0; else more=${more% more}; fi
			[ $((more + $(grep -o , <<<"$list" | wc -l) + 1)) = "$count" ] || fail "$count: $line"
			case $length-$count in 7-* | 40-1) echo "$line" ;; esac
		done
	done
done

echo "== time"
mkfifo never
exec 9<>never
began=$(date +%s)
plugin -F /dev/fd/9 --fstab=fstab -t 0.2
for form in jsonl prometheus text; do
	swift getmnt audit -F /dev/fd/9 --fstab=fstab --max-time=0.2 --format=$form >out 2>err
	echo "$form $? $(wc -l <out) lines, $(grep -c "not audited within 0.2 seconds" out) $(cat err)"
done
exec 9>&-
[ $(($(date +%s) - began)) -lt 60 ] && echo "in time"

echo "== one at a time, and what there is"
audit --json --jsonl
echo "status $?"
swift audit --json --format=json >/dev/null
echo "status $?"
swift audit --format=xml
swift audit --output=
swift audit --output=one --outp two
ls one two 2>/dev/null
swift audit --fstab=clean.fstab
swift audit --max-time=0

echo "== what cannot be written"
for form in text json nagios; do
	choose "$form"
	swift audit "${way[@]}" >/dev/full 2>err
	echo "$form full: $? $(cat err)"
done
for args in --format={text,jsonl,nagios,prometheus} --list-rules --show-config; do
	swift audit "$args" >&- 2>err
	echo "$args closed: $? $(head -n 1 err)"
done
getmnt audit -F clean.table --fstab=clean.fstab >&-
echo "nothing to print: $?"

echo "== --output"
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
for to in into/dangling into nowhere/out /dev/null into/a.prom/x; do
	swift audit --json --output=$to 2>&1 | sed "s|$PWD|HERE|g"
	echo "status ${PIPESTATUS[0]}"
done
getmnt audit -F table --fstab=none --prometheus --output=into/a.prom 2>/dev/null
echo "status $?; $(grep '^getmnt_audit_success' into/a.prom); $(python3 "$TOP/tests/lib/forms.py" prometheus <into/a.prom)"
for args in "--only=NOSUCH --prometheus --output=into/a.prom" "--outp into/a.prom --form prometheus --nosuch"; do
	audit --prometheus --output=into/a.prom
	# shellcheck disable=SC2086
	getmnt audit $args 2>/dev/null
	echo "status $?; $(grep '^getmnt_audit_success' into/a.prom)"
done
echo "== two at a time"
many()
{
	for _ in 1 2 3; do
		swift audit --prometheus --output=into/b.prom || echo "status $?"
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

