# getmnt fstab --merge: what the file had and the result has not is a risk; tags that nobody knows.
check()
{
	local status
	cp fstab file
	getmnt fstab -F table --id=path --merge=file "$@" --write --yes 2>&1 | grep -v '^[-+ @]' | sed "/ mounted on /d; /to undo/d; s/getmnt-[0-9TZ]*/TIME/; s|$PWD/||g"
	status=${PIPESTATUS[0]}
	echo "status $status"
	cmp -s fstab file && echo "not written"
}
echo "== a rescue system on a tmpfs, over the fstab of a disk"
cat >table <<'TABLE'
1 0 0:2 / / rw,relatime - tmpfs rootfs rw
21 1 0:20 / /proc rw - proc proc rw
TABLE
echo 'UUID=abc / ext4 defaults 0 1' >fstab
check --add=persistent
echo "== a mount that a boot could do without"
cat >table <<'TABLE'
20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /data rw,relatime - ext4 /dev/mapper/y rw
TABLE
cat >fstab <<'FSTAB'
UUID=a / ext4 defaults 0 1
/dev/mapper/x /data ext4 noauto 0 2
FSTAB
check --add=persistent
echo "== its nofail goes to what replaces it"
sed -i 's/noauto/nofail/' fstab
check --add=persistent
echo "== tags that nobody knows"
cat >fstab <<'FSTAB'
UUID=a / ext4 defaults 0 1
LABEL=b /data ext4 defaults 0 2
FSTAB
getmnt fstab -F table --id=path --merge=fstab --check 2>&1 | sed "s|$PWD/||"
echo "status ${PIPESTATUS[0]}"
