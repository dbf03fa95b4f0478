# Mounts that need a mount for which getmnt fstab writes no line, since a recorded table has no UUIDs: a line
# of the existing fstab for that mount is enough.
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /srv rw,relatime - ext4 /dev/sdb1 rw
22 21 8:3 / /srv/www rw,relatime - ext4 /dev/mapper/www rw
23 20 8:2 /a /b rw,relatime - ext4 /dev/sdb1 rw
24 20 0:40 / /auto rw,relatime - autofs systemd-1 rw,fd=6,pgrp=1,timeout=0,minproto=5,maxproto=5,direct
25 24 8:5 / /auto rw,relatime - ext4 /dev/mapper/auto rw
26 25 8:6 / /auto/in rw,relatime - ext4 /dev/mapper/in rw
27 20 0:45 / /ov rw,relatime - overlay o rw,lowerdir=/srv/l:/srv/m
28 20 0:46 / /z rw - zfs tank/z rw,xattr
29 28 8:10 / /z/in rw,relatime - ext4 /dev/mapper/zin rw
30 20 0:47 / /user rw,relatime - fuse.sshfs u@h:/ rw,user_id=1000,group_id=1000
31 30 8:11 / /user/in rw,relatime - ext4 /dev/mapper/uin rw
TABLE
UUID=UUID=11111111-2222-3333-4444-555555555552
whole="/dev/mapper/root / ext4 defaults 0 1
$UUID /srv ext4 defaults 0 2
/dev/mapper/auto /auto ext4 noauto,x-systemd.automount 0 2
tank/z /z zfs defaults 0 0
u@h:/ /user fuse.sshfs _netdev 0 0"
# told NAME LINES
told()
{
	echo "== $1"
	printf '%s\n' "$2" >fstab
	getmnt audit -F table --fstab=fstab --only='DRIFT-*' -v | grep -v '^not checked'
}
told "each has a line" "$whole"
getmnt fstab -F table --merge fstab --add=persistent >merged
tail -n +6 merged
mv merged fstab
getmnt audit -F table --fstab=fstab --only='DRIFT-*'
echo "status $?"
told "noauto" "${whole//defaults 0 2/noauto 0 2}"
told "no lines" "/dev/mapper/root / ext4 defaults 0 1"
