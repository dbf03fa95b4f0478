# The names of mount points below --root: in findings, messages, rules of the configuration, operands.
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /srv rw,relatime - ext4 /dev/mapper/srv rw
22 21 8:3 / /srv/dup rw,relatime - ext4 /dev/mapper/dup rw
23 22 8:3 / /srv/dup rw,relatime - ext4 /dev/mapper/dup rw
24 21 8:4 / /srv/data/in rw,relatime - ext4 /dev/mapper/in rw
25 21 8:5 / /srv/data rw,noexec,relatime - ext4 /dev/mapper/data rw
26 21 8:2 /gone//deleted /srv/gone rw,relatime - ext4 /dev/mapper/srv rw
27 21 8:6 / /srv/two rw,relatime - ext4 /dev/mapper/two rw
28 27 8:7 / /srv/two rw,relatime - ext4 /dev/mapper/three rw
29 20 8:3 / /dup rw,relatime - ext4 /dev/mapper/dup rw
30 29 8:3 / /dup rw,relatime - ext4 /dev/mapper/dup rw
TABLE
cat >fstab <<'FSTAB'
/dev/mapper/srv / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults,nofail 0 2
/dev/mapper/away /away ext4 defaults,nofail 0 2
FSTAB
: >conf
audit()
{
	echo "== $*"
	getmnt audit -F table --fstab=fstab --root=/srv --config=conf "$@" >out 2>&1
	status=$?
	grep -oE '^/.*|(warning|info) +[A-Z]+-[A-Z-]+|^ignored .*|mounted on [^,]*|a part of.*|"target": "[^"]*"|^getmnt.*' out
	echo "status $status"
}
audit --only='MNT-*,DRIFT-OPTIONS,DRIFT-NOT-MOUNTED'
audit --only='MNT-*' /dup
audit --only='MNT-*' /data/../data/in
audit --only='MNT-*' /srv/dup
audit --only='MNT-*' /
audit --only='MNT-*' --json /two
cat >conf <<'CONF'
ignore MNT-DUP target=/dup
ignore MNT-SHADOWED target=/data/*
ignore MNT-DELETED target=/srv/gone
require /data noexec
require /data/x mountpoint
require /srv/data mountpoint
CONF
audit --only='MNT-*,POLICY-*' -v
echo '# getmnt: ignore=MNT-DUP' >fstab
echo '/dev/mapper/dup /dup ext4 nofail 0 2' >>fstab
: >conf
audit --only='MNT-*' /dup
echo "== the comments of getmnt fstab"
getmnt fstab -F table --id=path --root=/srv 2>&1 | grep '^#.*hidden: /'
echo "== a root whose name begins another's"
getmnt audit -F table --fstab=fstab --root=/sr --config=conf --only='MNT-*' 2>&1
