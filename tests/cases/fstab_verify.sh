# What findmnt --verify cannot (tests/unit/test_rules.c has the rest), by the command.
told()
{
	"$@" 2>&1 | sed "s|$PWD/||g"
	echo "status ${PIPESTATUS[0]}"
}
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 8:2 / /data rw,noexec,relatime - ext4 /dev/sda2 rw
22 20 8:3 / /srv rw,relatime - xfs /dev/sda3 rw
TABLE
echo "== b18: against what is mounted"
cat >fstab <<'FSTAB'
/dev/sda1 / ext4 defaults 0 1
/dev/sda2 /data ext4 defaults 0 2
FSTAB
told getmnt fstab -F table --id=path --merge=fstab --check
echo "== b21: a code that stays, by which it is excused, and an exit status"
merge()
{
	told getmnt fstab -F table --id=path --merge=fstab --fix=source --write --yes | grep -v '^[-+ @]\|mounted on\|to undo' |
		sed 's/getmnt-[0-9TZ]*$/TIME/'
}
cat >fstab <<'FSTAB'
/dev/sda1 / ext4 defaults 0 1
/dev/mapper/other /data ext4 noexec 0 2
FSTAB
merge
sed -i '2i # getmnt: ignore=FSTAB-SRC-UNSTABLE' fstab
merge
echo "== b23: the paths of ROOT, not of this system"
mkdir -p root/etc root/srv/there here
echo '/srv/there /mnt none bind,X-mount.mkdir 0 0' >root/etc/fstab
told getmnt fstab --merge --check "$PWD/root"
echo "$PWD/here /mnt none bind,X-mount.mkdir 0 0" >root/etc/fstab
told getmnt fstab --merge --check "$PWD/root"
