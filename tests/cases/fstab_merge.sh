# getmnt fstab --merge on recorded tables: lines that are kept, changed, added or reported.
host=$(table cli/host)
# The result is $PWD/merged; messages have the name of the file without its path.
merge()
{
	local status
	getmnt fstab -F "$host" --id=path --merge=fstab "$@" >merged 2>err
	status=$?
	sed "s|$PWD/||" err
	echo "status $status"
}
changes()
{
	echo "== $*"
	# What remains is reported once, below.
	getmnt fstab -F "$host" --id=path --merge=fstab "$@" 2>err >merged
	echo "status $?, $(wc -l <err) messages"
	diff fstab merged | grep '^[<>]'
}
cat >fstab <<'FSTAB'
# /etc/fstab: static file system information.
#
# <file system> <mount point>   <type>  <options>       <dump>  <pass>
# / was on /dev/sda2 during installation
/dev/sda2 /               ext4    errors=remount-ro 0       1

# others
/dev/cdrom /media/cd iso9660 noauto,user 0 0
/srv/data/www   /srv/data/www none bind,ro,noatime 0 0
/dev/mapper/vg-home	/home	ext4	nosuid,x-foo="a,b"	0	0	# mine
/dev/sda9 /mnt/nas ext4 rw 0 2
LABEL=backup  /backup  xfs defaults, nofail 0 0
/dev/sda1 /boot/efi// vfat umask=0077,x-initrd.mount
/dev/mapper/vg-home /home2 ext4 rw 0 2
FSTAB
cp fstab before
merge
cmp fstab merged && echo "the same bytes"
changes --add=persistent
changes --add=/srv/data
changes --fix=source
changes --fix=options,pass
changes --fix=damaged
changes --add=/srv/data --fix=order
changes --options=live --fix=options
changes --options=keep --add=/srv/data
echo "== named that is not there"
merge --add=/nowhere,/home
echo "== check"
merge --check >/dev/null
sed "s|$PWD|.|" merged
merge --check --add=/srv/data | tail -n 1
sed "s|$PWD|.|" merged
echo "== diff"
merge --diff --add=/srv/data | tail -n 1
sed "s|$PWD|.|" merged
cmp fstab before && echo "nothing was written"
echo "== base"
grep -v /mnt/nas fstab | sed s/nosuid,// >base
merge --base=base --fix=source,options --explain | grep -e base -e mended
diff fstab merged
echo "== torn, and cut between two lines, with a base"
printf '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 8:17 / /d rw,relatime - ext4 /dev/sdb1 rw\n' >two
printf '/dev/sda1 / ext4 rw 0 1\n/dev/sdb1 /d ext4 nofail 0 2\n' >whole
for size in 38 33 24; do
	head -c $size whole >torn
	getmnt fstab -F two --id=path --merge=torn --base=whole --add=persistent --explain 2>&1 | sed "s|$PWD/||; /not checked/d"
	echo "status ${PIPESTATUS[0]}"
done
echo "== what cannot be judged of a recorded table"
merge --explain >merged
grep "not checked" merged
echo "== the operand"
status fstab -F "$host" --id=path --merge fstab --add=/opt/app 2>/dev/null | tail -n 2
mkdir root
status fstab -F "$host" --id=path --merge fstab /srv/data --add=persistent 2>&1 >/dev/null | sed "s|$PWD/||" | tail -n 1
echo "== into itself"
exec 3>>fstab
getmnt fstab -F "$host" --id=path --merge=fstab 2>&1 >&3 | sed "s|$PWD/||"
exec 3>&-
cmp fstab before && echo "as it was"
for how in --check --diff "--write --yes"; do
	cp before fstab
	# shellcheck disable=SC2086,SC2094
	getmnt fstab -F "$host" --id=path --merge=fstab $how 2>/dev/null >fstab
	echo "$how: status $?, $(wc -c <fstab) bytes"
done
cp before fstab
rm -f fstab.getmnt-*
echo "== a base of nothing"
status fstab -F "$host" --id=path --merge=fstab --base=/dev/null 2>&1 | tail -n 1
: >nothing
status fstab -F "$host" --id=path --merge=fstab --base=nothing 2>&1 | tail -n 2
echo "== a part of a table"
head -n 1 "$host" | sed 's/^[0-9]* /x /' >part
cat "$host" >>part
printf 'UUID=x /x ext4 defaults 0 0\n' >small
for how in --check "--write --yes"; do
	# shellcheck disable=SC2086
	getmnt fstab -F part --id=path --merge=small --add=/home $how 2>&1 >/dev/null | sed "s|$PWD/||" | grep -e incomplete: -e written
	echo "status ${PIPESTATUS[0]}"
done
echo "== written"
getmnt fstab -F "$host" --id=path --merge=fstab --add=persistent >merged 2>/dev/null
getmnt fstab -F "$host" --id=path --merge=fstab --add=persistent --write >/dev/null 2>&1 </dev/null
echo "without a terminal: status $?"
cmp fstab before && echo "as it was"
getmnt fstab -F "$host" --id=path --merge=fstab --add=persistent --write --yes 2>&1 >/dev/null | sed "s|$PWD/||" | grep -e risk -e "not written"
cmp fstab before && echo "as it was"
getmnt fstab -F "$host" --id=path --merge=fstab --add=persistent --write --yes --force >/dev/null 2>&1
echo "status $?"
cmp fstab merged && echo "as it was printed"
cmp before fstab.getmnt-* && echo "as it was, in the backup"
getmnt fstab -F "$host" --id=path --merge=fstab --add=persistent --write --yes --force >/dev/null 2>&1
echo "status $?, $(find . -name 'fstab.getmnt-*' | wc -l) backup"
echo "== nothing to change, but mounts and swap spaces without a line"
printf '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n' >one
cat one - >three <<'TABLE'
21 20 8:17 / /d rw,relatime - ext4 /dev/sdb1 rw
22 20 0:30 / /t rw,relatime - tmpfs t rw
TABLE
printf 'Filename Type Size Used Priority\n/dev/sda3 partition 1000 0 -2\n' >swaps
printf '/dev/sda1 / ext4 rw 0 1\n' >small
printf '/dev/sda1 / ext4 rw 0 1\n/dev/sdb1 /d ext4 rw 0 2\nt /t tmpfs defaults 0 0\n/dev/sda3 none swap defaults 0 0\n' >full
cp small before-small
unchanged()
{
	local how
	for how in --check --diff "--write --yes"; do
		# shellcheck disable=SC2086
		getmnt fstab --id=path --merge=small $how "$@" 2>&1 | sed "s|$PWD/||" | tail -n 1 >last
		echo "$how: status ${PIPESTATUS[0]}"
		sed 's/^getmnt: //' last
	done
	cmp small before-small && echo "as it was"
}
unchanged -F one
unchanged -F three
unchanged -F three --swaps=swaps
unchanged -F one --swaps=swaps
cp full small
cp full before-small
unchanged -F three --swaps=swaps
echo "== a missing file"
status fstab -F "$host" --id=path --merge=nosuch --add=/opt/app,/home 2>&1 | sed "s|$PWD|.|"
getmnt fstab -F "$host" --id=path --merge=nosuch --write --yes 2>&1 | sed "s|$PWD|.|" | tail -n 1
echo "status ${PIPESTATUS[0]}"
test -e nosuch || echo "no file was created"
echo "== a name with all that is escaped"
printf '20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 0:30 / /a,b\\040c\\134d rw,relatime - tmpfs t rw\n' >table
: >empty
status fstab -F table --id=path --merge=empty 2>&1 | sed "s|$PWD|.|"
getmnt fstab -F table --id=path --merge=empty --add='/a\054b c\134d' 2>/dev/null
echo "== --root"
getmnt fstab -F "$host" --id=path --root=/srv/data >a 2>a2
getmnt fstab -F "$host" --id=path /srv/data >b 2>b2
cmp a b && cmp a2 b2 && echo "the same as ROOT"
getmnt fstab -F "$host" --id=path --root=/srv/data --merge fstab --add=persistent >a 2>a2
getmnt fstab -F "$host" --id=path --merge fstab /srv/data --add=persistent >b 2>b2
cmp a b && cmp a2 b2 && echo "the same with --merge"
status fstab -F "$host" --root=/srv/data /home
status fstab -F "$host" --root=
