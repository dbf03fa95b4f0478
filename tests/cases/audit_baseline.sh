# getmnt audit compared with a baseline: the file, the report, invalid files.
export NO_COLOR=1
schema=$TOP/docs/audit.schema.json
audit()
{
	getmnt audit --fstab=fstab "$@"
	echo "status $?"
}
plain()
{
	sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC/DATE/; s/"version": "[^"]*"/"version": VERSION/; s/("(time|seconds)": )[0-9.]+/\1N/g' |
		sed -E 's/("rules": \[)[^]]*/\1.../'
}
cat >table <<'T'
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/mapper/data rw
22 20 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
23 22 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
24 20 0:40 / /esc\040\134\033[31m rw - tmpfs t rw,size=17k,uid=5
25 20 0:41 / /auto rw - autofs systemd-1 rw,fd=7,pgrp=1,timeout=0,direct,pipe_ino=9
26 20 0:42 / /run/user/7 rw - tmpfs tmpfs rw
27 20 0:43 / /smb rw - cifs //u:word@srv/x rw,addr=1.2.3.4,password=word
T
cat >fstab <<'T'
/dev/sda1 / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults,nosuid,nofail 0 2
/dev/mapper/w /when ext4 noauto 0 0
T
# The same after a boot: other names and numbers, options in another order, an active automount.
cat >again <<'T'
120 1 8:17 / / relatime,rw shared:9 - ext4 /dev/sdb1 errors=remount-ro,rw
122 120 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
123 122 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
121 120 8:2 / /data nosuid,relatime,rw - ext4 /dev/mapper/data rw
124 120 0:50 / /esc\040\134\033[31m rw - tmpfs t rw,size=17k,uid=5
125 120 0:51 / /auto rw - autofs systemd-1 rw,fd=9,pgrp=2,timeout=0,direct,pipe_ino=10
128 125 0:60 / /auto rw - nfs4 srv:/x rw,addr=1.2.3.4
127 120 0:53 / /smb rw - cifs //u:word@srv/x rw,addr=1.2.3.5,password=other
T
sed -e 's/nosuid,//; s/shared:9/master:9/; /^123/d; s/uid=5/uid=6/; /^127/d' again >changed
cat >>changed <<'T'
130 120 8:9 / /when rw - ext4 /dev/mapper/w rw
131 120 8:10 / /new rw - ext4 /dev/mapper/n rw
T

echo "== kept"
audit -F table --save=base --only='DRIFT-*,BASE-*' | tail -n 1
plain <base
stat -c %a base
echo "== the same after a boot"
audit -F again --baseline=base --only='BASE-*' --include=automount
echo "== changed"
audit -F changed --baseline=base --only='BASE-*,DRIFT-NOT-IN-FSTAB,MNT-SHADOWED' --fail-on=info | plain
audit -F changed --baseline=base --only='BASE-*,DRIFT-NOT-IN-FSTAB' --json >out
head -n -1 out | python3 "$TOP/tests/lib/forms.py" json "$schema"
head -n -1 out | python3 -c 'import json, sys
document = json.load(sys.stdin)
for f in document["findings"]: print(f["code"], f["severity"], repr(f["target"]), f["new"])
document["baseline"].pop("time")
print(document["baseline"])'
# shellcheck disable=SC2086
ln -s "$GETMNT" check_getmnt
${GETMNT_WRAP-} ./check_getmnt --fstab=fstab -F changed --baseline=base --only='BASE-WENT,DRIFT-NOT-IN-FSTAB' -v -t 60 | plain | sed 's/ |.*//'
echo "== silenced as all is"
printf 'ignore * target=/new\nseverity critical BASE-CHANGED target=/data\nignore BASE-WENT\n' >conf
audit -F changed --baseline=base --only='BASE-*' --config=conf | plain
echo "== compared, and then replaced"
cp base roll
audit -F changed --baseline=roll --save=roll --only='BASE-*' --max-time=60 | tail -n 1
audit -F changed --baseline=roll --only='BASE-*'
echo "== changes that could not be printed are reported again"
cp base roll
audit -F changed --baseline=roll --save=roll --only='BASE-*' --output=/nowhere/x 2>&1 | head -n 1
cmp base roll && echo "as it was"
echo "== incomplete"
sed '2s/.*/no mount/' table >partial
audit -F partial --save=roll --only='BASE-*'  2>&1
cmp base roll && echo "as it was"
echo "== JSON says the status, too"
audit -F partial --save=roll --json 2>&1 | grep -E '^getmnt|status'
audit -F table --save=/nowhere/x --json --fail-on=never 2>&1 | grep -E '^getmnt|status'
echo "== damaged"
head -c 700 base >bad
for form in --json --prometheus; do
	audit -F table --baseline=bad "$form" >out 2>err
	cat err
	grep -oE '"failed": .*|_success [01]|findings": \[.*|^status .*' out
done
# shellcheck disable=SC2086
${GETMNT_WRAP-} ./check_getmnt --fstab=fstab -F table --baseline=bad -t 60
echo "status $?"
sed 3d base >bad
audit -F table --baseline=bad 2>&1
sed '3s/}$/,}/' base >bad
audit -F table --baseline=bad 2>&1 | sed -E 's/(at byte [0-9]+: ).*(; nothing)/\1...\2/'
audit -F table --baseline=table 2>&1
audit -F table --baseline=nowhere --save=nowhere 2>&1
[ -e nowhere ] || echo "not made"
echo "== of another root, and without an owner"
sed -e '1s|"root": "/"|"root": "/mnt"|' base >other
audit -F table --baseline=other 2>&1
audit -F table --baseline=base --include=session 2>&1
audit -F table --save=with --include=session --only='BASE-*'
grep -c run/user with
audit -F again --baseline=with --include=session --only='BASE-*' | plain
audit -F again --baseline=with --only='BASE-*' | plain
echo "== what is no baseline is not overwritten"
audit -F table --save=table 2>&1
: >empty
audit -F table --save=empty --only='BASE-*'
head -c 20 empty && echo
echo "== options"
for args in "--save=" "--show-config --save=x" "--save=x --output=x"; do
	# shellcheck disable=SC2086
	audit -F table $args 2>&1 | grep -v "^Try"
done
# shellcheck disable=SC2086
${GETMNT_WRAP-} ./check_getmnt --fstab=fstab -F table --save=x
echo "status $?"
