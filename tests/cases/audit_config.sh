# The configuration of getmnt audit: what it silences, what it requires, what is wrong with it.
umask 022
audit()
{
	getmnt audit -F table --fstab=fstab "$@"
	echo "status $?"
}
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/mapper/root rw
21 20 8:2 / /data rw,noexec,relatime shared:2 - ext4 /dev/mapper/data rw
22 20 0:40 / /srv/one\040two rw,relatime - tmpfs t rw,size=1024k
TABLE
cat >fstab <<'FSTAB'
/dev/mapper/root / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults 0 2
FSTAB
# with LINES ARGS: audited with these.
with()
{
	echo "== $1"
	printf '%b\n' "$1" >conf
	audit --config=conf "${@:2}"
}
audit
with 'ignore DRIFT-*'
with 'ignore DRIFT-*' --verbose
with 'ignore FSTAB-*\nignore DRIFT-*' -v
with 'severity critical DRIFT-OPTIONS\nignore * target=/srv/one\\040two' --fail-on=critical
with 'severity info DRIFT-OPTIONS\nignore * type=tmp*' -v --fail-on=warning
with 'ignore DRIFT-OPTIONS until=2001-01-01 # last century\nignore * type=tmpfs until=2999-12-31'
with 'ignore DRIFT-* target=/d*'
with '# policies\nrequire /data nosuid,noexec\nrequire / nosuid,rw\nrequire /srv nodev\nrequire /var mountpoint\nrequire /data mountpoint,private' --only='POLICY-*,MNT-PROPAGATION'
with 'require /data exec\nseverity critical POLICY-*' --only='POLICY-*,MNT-PROPAGATION' --fail-on=critical
with 'require /var mountpoint' --disable='DRIFT-*,POLICY-PARTITION'
with 'ignore DRIFT-OPTIONS until=2001-01-01\nignore * type=tmpfs\nrequire /a\\040b mountpoint' --json | sed -E 's/"version": ".*"/"version": VERSION/; s/"(time|seconds)": [0-9.]+/"\1": N/'
with 'require /srv/one\\040two size=2m'
echo "== ignored findings and expired lines in each format"
printf '/dev/mapper/root / ext4 defaults 0 1\n# getmnt: ignore=FSTAB-TGT-DUP\n/dev/mapper/data /data ext4 noexec 0 2\n' >quiet
with_quiet()
{
	getmnt audit -F table --fstab=quiet --config=conf --only='DRIFT-*' "$@"
	echo "status $?"
}
printf 'ignore * type=tmpfs\nignore MNT-DUP until=2999-12-31\n' >conf
with_quiet
printf 'ignore * type=x until=2001-01-01\n' >>conf
for form in text prometheus nagios; do
	more=
	[ $form != nagios ] || more="-v -t 60"
	# shellcheck disable=SC2086
	with_quiet --format=$form $more | grep -vE '^# (HELP|TYPE)|_(info|timestamp.*|duration.*|.*completion.*)[ {]' | sed 's/ time=.*//'
done
echo "== of another root"
printf 'require /one\\040two mountpoint\nrequire / noexec\nrequire /x mountpoint\n' >conf
: >empty
getmnt audit -F table --fstab=empty --root=/srv --config=conf --only='POLICY-*,MNT-PROPAGATION'
echo "status $?"
echo "== what is in force"
printf '# one\n  ignore DRIFT-*   target=/x # why\n\nignore * type=x until=2001-01-01\nrequire /a\\040b nosuid\n' >conf
getmnt audit -F table --config=conf --show-config
echo "status $?"
getmnt audit -F table --show-config
getmnt audit -F table --config=none --show-config
echo "== what is wrong"
with 'foo\n\nignore DRIFT-FOO\nrequire var mountpoint' 2>&1
with '\x00' 2>&1
with 'ignore DRIFT-OPTIONS until=2026-02-30' --json 2>&1 | sed -E 's/"version": ".*"/"version": VERSION/; s/"(time|seconds)": [0-9.]+/"\1": N/'
printf 'require /a ro\nignore DRIFT-\033[31m\n' >conf
getmnt audit -F table --config=conf --show-config
echo "status $?"
printf 'x\n%.0s' {1..150} >conf
audit --config=conf 2>err
wc -l <err
tail -n 1 err
head -c 1048577 /dev/zero | tr '\0' '#' >conf
audit --config=conf
mkdir dir
for file in nowhere dir /dev/null ""; do
	audit --config="$file"
done
audit --config=conf --config=conf
if [ "$(id -u)" = 0 ]; then
	echo 'ignore *' >conf
	chmod 664 conf
	audit --config=conf 2>&1
	chmod 606 conf
	audit --config=conf 2>&1
	chmod 644 conf
	chown 12345 conf
	audit --config=conf 2>&1
else
	cat <<'OUT'
getmnt: conf: writable by others than root (mode 0664), who could hide findings; chmod go-w
status 2
getmnt: conf: writable by others than root (mode 0606), who could hide findings; chmod go-w
status 2
getmnt: conf: owned by uid 12345, who could hide findings from root; chown it to root, or name another file with --config
status 2
OUT
fi
echo "== the example of getmnt-audit.conf(5)"
sed -n '/^.SH EXAMPLES/,/^.fi/{/^\./d;p}' "$TOP/man/getmnt-audit.conf.5" | sed 's/\\-/-/g; s/\\e/\\/g' >example
rm -f conf
cp example conf
audit --config=conf
# An owner with its engine.
echo '23 20 8:1 /x//deleted /var/lib/docker/volumes/a/b/c rw - ext4 /dev/mapper/root rw' >>table
with 'ignore * owner=cont*' --only=MNT-DELETED --include=container -v
with 'ignore * owner=snap' --only=MNT-DELETED --include=container
