# Options that no other case tries.
host=$(table cli/host)
try()
{
	echo "== $*"
	getmnt -F "$host" -n "$@" 2>&1
	echo "status $?"
}
try -l -o TARGET -O +noatime
try -l -o TARGET -O noatime,ro
try -l -o TARGET -t nosuchfs -f
try -o TARGET -t tmpfs -f -d backward
try -l -o TARGET --real -A -f
try -l -o TARGET --real -t nfs4,cifs,vfat
try --tree -o TARGET -M /srv/data
try -R --tree -o TARGET -S /dev/sdb1
try -l -o SOURCE -v -t btrfs
try -P -y -o maj:min,use% -M /
try -l -o +NODE -M /
try -D -l -t ext4,tmpfs
try -I -l -t ext4
try -l -o TARGET,KIND,SIZE,UNIQ-ID,TID,NS -M /home
echo "== --vfs-all"
getmnt -F "$host" -n -l -o VFS-OPTIONS --vfs-all -M / | grep -oE '^rw|,(exec|suid|dev|atime|relatime),' | head -n 3
try -l -o SOURCE -c -M /home
try -l -o SOURCE -e -M /home
try -C -M /home -o TARGET
try -T /home/no/such -o TARGET
try /dev/sda1 -o TARGET
try /boot/efi -o TARGET
try /home /srv/data -o TARGET
try -J -b -o SIZE -M / --format=tree -q
try -l -o TARGET -i --id 28 -t ext4
try --uniq-id 28
