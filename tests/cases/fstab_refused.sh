# getmnt fstab --merge: a line whose options the kernel is known to refuse mounts nothing.
try()
{
	local type=$1 options
	shift
	for options; do
		printf '/dev/sda1 / ext4 defaults 0 1\n%s /d %s %s 0 %s\n' "$source" "$type" "$options" "$pass" >fstab
		echo "== $type $options"
		getmnt fstab -F table --id=path --merge=fstab --check 2>&1 | sed "s|$PWD/||"
		echo "status ${PIPESTATUS[0]}"
	done
}
live()
{
	source=$2 pass=$3
	printf '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 %s / /d rw,relatime - %s %s rw\n' "$4" "$1" "$2" >table
}
live ext4 /dev/sdb1 2 8:17
try ext4 nofa defaulus noatimf commit=abc commit errors=foo size=1g umask=077 =5 'noatime#x' def
echo "== as they may be"
try ext4 defaults errors=remount-ro,commit=5,data=ordered x-defaulus,nofail
live tmpfs t 0 0:40
try tmpfs size=1m,defaulus mode=rwx size=all
live nfs server:/d 0 0:40
echo "== of a type whose options are not held"
try nfs bogus,foo=bar
echo "== an option is missing that another one needs"
live xfs /dev/sdb1 0 8:17
try xfs sunit=8 norecovery
live ext4 /dev/sdb1 2 8:17
try ext4 usrjquota=aquota.user
echo "== nothing is mounted on it"
printf '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 8:17 / /d rw,relatime - ext4 /dev/sdb1 rw\n22 21 8:33 / /d/e rw,relatime - ext4 /dev/sdc1 rw\n' >table
printf '/dev/sda1 / ext4 defaults 0 1\n/dev/sdb1 /d ext4 bogus 0 2\n/dev/sdc1 /d/e ext4 defaults 0 2\n' >fstab
getmnt fstab -F table --id=path --merge=fstab --check 2>&1 | sed "s|$PWD/||"
echo "== its owner vouches for it"
sed -i '2i# getmnt: ignore=FSTAB-OPT-UNKNOWN' fstab
getmnt fstab -F table --id=path --merge=fstab --check 2>&1 | sed "s|$PWD/||"
echo "status ${PIPESTATUS[0]}"
echo "== mended: one line for each mount, without what is refused"
live ext4 /dev/sdb1 2 8:17
for options in def nofa,x-mine noatimf,ro commit=abc,commit=7 'x-a="b,c",=5,size=1g'; do
	printf '/dev/sda1 / ext4 defaults 0 1\n# mine\n%s\t/d  ext4 %s 0 2   # theirs\n' "$source" "$options" >fstab
	getmnt fstab -F table --id=path --merge=fstab --add=persistent --fix=options >mended 2>err
	echo "status $?, $(wc -l <err) messages"
	diff fstab mended | grep '^[<>]'
	getmnt fstab -F table --id=path --merge=mended --check | sed "s|$PWD/||"
done
getmnt fstab -F table --id=path --merge=fstab --fix=options --check --explain 2>&1 >/dev/null | grep refuses | sed "s|$PWD/||"
echo "== changed since the base, and kept as they are"
printf '/dev/sda1 / ext4 defaults 0 1\n%s\t/d  ext4 defaults 0 2\n' "$source" >base
getmnt fstab -F table --id=path --merge=fstab --base=base --fix=options 2>&1 >mended | sed "s|$PWD/||"
cmp fstab mended && echo "as it was"
getmnt fstab -F table --id=path --merge=fstab --options=keep 2>&1 >mended | sed "s|$PWD/||"
cmp fstab mended && echo "as it was"
