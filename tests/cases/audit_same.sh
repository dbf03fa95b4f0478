# SPDX-License-Identifier: MIT
# Whether a line is that of the mount on its place, where names say little: of recorded hosts, and
# of tables of which nothing else is known.
A=8a4b6f0c-33c5-4f5e-b7a1-0d9c2e7f5b21 R=2f0e3c54-9f0b-4d3a-8c4e-6f1d2a7b9e10

# A host whose mountinfo is at standard input, below that of all: DIR ROOT-SOURCE.
make_host()
{
	mkdir -p "$1"/{proc/self,proc/sys/fs,etc,run/udev/data,sys/dev/block,sys/class/block,dev/disk/by-uuid,usr/sbin,usr/lib/modules,usr/lib/systemd}
	(
		cd "$1" || exit
		echo '90000.00 0.00' >proc/uptime; mkdir -p proc/self/ns proc/1; ln -s 'pid:[4026531836]' proc/self/ns/pid; ln -s / proc/1/root
		{
			echo "21 1 8:2 / / rw,relatime - ext4 ${2-/dev/sda2} rw"
			echo "22 21 0:20 / /sys rw,nosuid,nodev,noexec,relatime - sysfs sysfs rw"
			echo "23 21 0:21 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw"
			echo "24 21 0:5 / /dev rw,nosuid,relatime - devtmpfs udev rw,size=4012340k,mode=755"
			echo "26 21 0:23 / /run rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=806124k,mode=755"
			cat
		} >proc/self/mountinfo
		printf 'Filename\tType\tSize\tUsed\tPriority\n' >proc/swaps
		echo 100000 >proc/sys/fs/mount-max
		touch usr/sbin/fsck.ext4 usr/lib/systemd/systemd
		ln -s usr/lib lib
		for i in 2 3; do
			uuid=$R
			[ $i = 2 ] || uuid=$A
			printf 'E:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\nE:ID_FS_UUID_ENC=%s\n' "$uuid" >run/udev/data/b8:$i
			install -m 1600 /dev/null dev/sda$i && touch -d @8.00000000$i dev/sda$i
			ln -s ../../sda$i "dev/disk/by-uuid/$uuid"
			mkdir -p sys/devices/virtual/block/sda$i
			echo 8:$i >sys/devices/virtual/block/sda$i/dev
			echo 1000 >sys/devices/virtual/block/sda$i/size
			echo $i >sys/devices/virtual/block/sda$i/partition
			ln -s ../../devices/virtual/block/sda$i sys/class/block/sda$i
			ln -s ../../devices/virtual/block/sda$i sys/dev/block/8:$i
		done
	)
}
# The findings, each with its severity and target.
told()
{
	getmnt audit "$@" --json | findings | awk '{ print $1, $2, $4 }'
}
told_of()
{
	recorded "$1" audit --json | findings | awk '{ print $1, $2, $4 }'
}

echo "--- healthy"
make_host h <<END
40 21 8:2 /usr/lib/modules /srv/c/mod ro,relatime - ext4 /dev/sda2 rw
41 21 0:23 /dbus /srv/c/dbus rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=806124k,mode=755
END
mkdir -p h/run/dbus h/var h/srv/c/{mod,dbus}
ln -s ../run h/var/run
cat >h/etc/fstab <<END
UUID=$R / ext4 defaults 0 1
/lib/modules /srv/c/mod none bind,ro 0 0
/var/run/dbus /srv/c/dbus none bind 0 0
END
recorded h audit
echo "status $?"

echo "--- swap on zram that has a line, and one of another priority"
printf '/dev/zram0 none swap defaults,pri=100 0 0\nLABEL=zram1 none swap sw,nofail 0 0\n/dev/zram2 none swap pri=5 0 0\n/dev/zram3 none swap sw 0 0\n' >f
printf 'Filename\tType\tSize\tUsed\tPriority\n' >swaps
for i in 0 2 4; do
	printf '/dev/zram%s\tpartition\t8135676\t0\t100\n' $i >>swaps
done
echo '21 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw' >m
told -F m --swaps=swaps --fstab=f

echo "--- another directory than the link leads to, and one that is not there"
sed 's|/usr/lib/modules /srv|/usr/lib /srv|' h/proc/self/mountinfo >m && mv m h/proc/self/mountinfo
rm -r h/run/dbus
told_of h

echo "--- a root by the kernel's name for it; not any other mount by that name"
make_host r /dev/root </dev/null
for line in '/dev/root / auto' 'rootfs / auto' 'rootfs / rootfs' '/dev/root / xfs'; do
	echo "$line defaults 1 1" >r/etc/fstab
	told_of r
done
printf 'UUID=%s / ext4 defaults 0 1\n/dev/root /mnt ext4 noauto 0 0\n' $R >r/etc/fstab
told_of r

echo "--- what there is once, at a second place; a part of it, and what there is more than once"
make_host c <<END
30 21 0:25 / /d rw,relatime - tmpfs tmpfs rw
40 21 0:20 / /srv/c/sys rw,relatime - sysfs sysfs rw
41 21 0:21 / /srv/c/proc rw,relatime - proc proc rw
42 21 0:5 / /srv/c/dev rw,relatime - devtmpfs none rw,size=4012340k,mode=755
43 21 0:20 /kernel /srv/c/kernel rw,relatime - sysfs sysfs rw
44 21 0:25 / /srv/c/d rw,relatime - tmpfs tmpfs rw
END
cat >c/etc/fstab <<END
UUID=$R / ext4 defaults 0 1
sysfs /srv/c/sys sysfs defaults 0 0
proc /srv/c/proc proc defaults 0 0
none /srv/c/dev devtmpfs mode=755 0 0
sysfs /srv/c/kernel sysfs defaults 0 0
tmpfs /d tmpfs defaults 0 0
tmpfs /srv/c/d tmpfs defaults 0 0
END
told_of c

echo "--- a name that no device has: reported once, whatever is mounted"
make_host n <<END
40 21 8:3 / /d rw,relatime - ext4 /dev/sda3 rw
END
for line in "UUID=${A^^} /d ext4 defaults" "UUID=${A^^} /d ext4 nofail" "UUID:$A /d ext4 nofail" "/dev/sdz9 /d ext4 nofail" "UUID=$R /d ext4 nofail"; do
	printf 'UUID=%s / ext4 defaults 0 1\n%s 0 2\n' $R "$line" >n/etc/fstab
	told_of n
done
printf 'UUID=%s / ext4 defaults 0 1\n/run/nothing /d none bind 0 0\n' $R >n/etc/fstab
told_of n
sed -i '2i # getmnt: ignore=FSTAB-BIND-SRC' n/etc/fstab
recorded n audit

echo "--- efs of Amazon: a helper makes NFS of it, of the requested directory"
cat >m <<END
21 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw
22 21 0:50 / /efs rw,relatime - nfs4 127.0.0.1:/ rw,vers=4.1,rsize=1048576,wsize=1048576,hard,noresvport,proto=tcp,port=20354,timeo=600,addr=127.0.0.1
23 21 0:51 / /plain rw,relatime - nfs4 fs-02.efs.eu-west-1.amazonaws.com:/ rw,vers=4.1,addr=10.0.0.2
24 21 0:52 / /part rw,relatime - nfs4 127.0.0.1:/a rw,vers=4.1,addr=127.0.0.1
25 21 0:53 / /other rw,relatime - nfs4 fs-02.efs.eu-west-1.amazonaws.com:/ rw,vers=4.1,addr=10.0.0.2
26 21 0:54 / /ro ro,relatime - nfs4 127.0.0.1:/ rw,vers=4.1,addr=127.0.0.1
END
cat >f <<END
fs-01:/ /efs efs _netdev,noresvport,tls,iam 0 0
fs-02 /plain efs _netdev 0 0
fs-03:/ /part efs _netdev,tls 0 0
fs-04:/ /other efs _netdev 0 0
fs-05:/ /ro efs _netdev,tls 0 0
/dev/sda9 /sgi efs noauto 0 0
fs-06:/ /late efs noauto,_netdev 0 0
END
told -F m --fstab=f
getmnt fstab -F m --merge=f --fix=source --diff 2>/dev/null | grep '^[-+]f'

echo "--- an image of a cloud, as a container: of devices information, of others as ever"
mkdir -p l/{proc/self,sys/class/block,etc,run/systemd,usr/lib/systemd}
echo '90000.00 0.00' >l/proc/uptime
touch l/usr/lib/systemd/systemd
cat >l/proc/self/mountinfo <<END
21 1 0:44 / / rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
23 21 0:101 / /proc rw,relatime - proc proc rw
END
cat >l/etc/fstab <<END
LABEL=cloudimg-rootfs / ext4 discard,errors=remount-ro 0 1
LABEL=UEFI /boot/efi vfat umask=0077 0 1
tmpfs /scratch tmpfs defaults 0 0
END
told_of l
for mark in run/systemd/container .dockerenv run/.containerenv run/WSL/; do
	echo "$mark"
	mkdir -p l/run/WSL
	case $mark in */) ;; *) rmdir l/run/WSL && touch "l/$mark" ;; esac
	told_of l
	rm -rf "l/${mark%/}"
done

echo "--- a subvolume that may be the default; not so if others are named, or if it is another file system"
cat >m <<END
21 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw
22 21 0:40 /@def /srv rw,relatime - btrfs /dev/sdb rw,subvolid=257,subvol=/@def
END
for line in /dev/sdb UUID=$A /dev/sdc; do
	echo "$line /srv btrfs defaults 0 0" >f
	told -F m --fstab=f --only=DRIFT-*
done
echo '23 21 0:40 /@home /home rw,relatime - btrfs /dev/sdb rw,subvolid=258,subvol=/@home' >>m
printf '/dev/sdb /srv btrfs defaults 0 0\n/dev/sdb /home btrfs subvol=@home 0 0\n' >f
told -F m --fstab=f --only=DRIFT-*

echo "--- devices by their numbers, servers by what a line can be served by, parts of a file system"
# Two hosts: after the fault comes the nearest correct case.
for host in wrong right; do
	of() { [ $host = wrong ] && echo "$1" || echo "$2"; }
	while IFS='|' read -r wrong right; do
		of "$wrong" "$right"
	done <<-END >m
		40 21 8:17 / /a rw,relatime - ext4 /dev/sdb1 rw|40 21 8:3 / /a rw,relatime - ext4 /dev/sda3 rw
		41 21 8:3 /old /b rw,relatime - ext4 /dev/sda3 rw|41 21 8:3 / /b rw,relatime - ext4 /dev/sda3 rw
		42 21 0:70 / /c rw,relatime - fuse.sshfs u@h:/ rw,user_id=0,group_id=0|42 21 8:3 / /c rw,relatime - ext4 /dev/sda3 rw
		43 21 0:71 / /d rw,relatime - ceph 10.0.0.1:6789:/ rw|43 21 0:71 / /d rw,relatime - tmpfs tmpfs rw
		44 21 8:17 / /e rw,relatime - fuseblk /dev/sdb1 rw,user_id=0,group_id=0|44 21 8:3 / /e rw,relatime - fuseblk /dev/sda3 rw,user_id=0,group_id=0
		45 21 0:72 / /f rw,relatime - nfs n:/ rw,vers=3,addr=192.0.2.1|45 21 0:72 / /f rw,relatime - nfs4 n:/ rw,vers=4.2,addr=192.0.2.1
		46 21 8:18 / /g rw,relatime - ext4 /dev/sdb2 rw|46 21 253:0 / /g rw,relatime - ext4 /dev/mapper/above rw
		47 21 0:73 / /h rw,relatime - fuse.x a rw,user_id=0,group_id=0|47 21 0:73 / /h rw,relatime - fuse.x a rw,user_id=0,group_id=0
		48 21 8:3 /old /i rw,relatime - ext4 /dev/sda3 rw|48 21 8:3 /old /i rw,relatime - ext4 /dev/sda3 rw
	END
	make_host "$host" <m
	mkdir -p "$host"/{a,b,c,d,e,f,g,h,i}
	printf '%s\tpartition\t8135676\t0\t-2\n' /dev/sd"$(of b3 a3)" >>"$host"/proc/swaps
	echo "root=8:$(of 3 2)" >"$host"/proc/cmdline
	cat >"$host"/etc/fstab <<-END
		UUID=$R / ext4 defaults 0 1
		UUID=$A /a ext4 defaults 0 2
		UUID=$A /b ext4 defaults 0 2
		UUID=$A /c ext4 defaults 0 2
		tmpfs /d tmpfs defaults 0 0
		UUID=$A /e ntfs-3g defaults 0 0
		n:/ /f nfs4 defaults 0 0
		UUID=$A /g ext4 defaults 0 2
		a /h $(of nfs xfuse) defaults 0 0
		UUID=$A /i ext4 $(of defaults X-mount.subdir=old) 0 2
		UUID=$A none swap sw 0 0
	END
done
# What stands on it has its tags as well.
mkdir -p right/sys/devices/virtual/block/sda3/holders/dm-0
for host in wrong right; do
	echo "$host"
	recorded "$host" audit --only='DRIFT-*,SWAP-*,BOOT-ROOT' --fail-on=warning --jsonl |
		python3 -c 'import json, sys
for f in json.load(sys.stdin)["findings"]:
    if f["severity"] != "info":
        print(f["code"], f["severity"], f["target"], f["actual"] or "")'
done

echo "--- a root of a subvolume that its line does not name"
echo '21 1 0:40 /@ / rw,relatime - btrfs /dev/sda2 rw,subvolid=256,subvol=/@
22 21 0:40 /@home /home rw,relatime - btrfs /dev/sda2 rw,subvolid=257,subvol=/@home' >m
printf '/dev/sda2 / btrfs defaults 0 0\n/dev/sda2 /home btrfs subvol=@home 0 0\n' >f
told -F m --fstab=f --only=DRIFT-*
sed -i 's|/ btrfs defaults|/ btrfs subvol=@|' f
told -F m --fstab=f --only=DRIFT-*

echo "--- the difference of a line and its mount is named: a number, a directory, a layer; and what is equal"
cat >m <<END
21 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw
22 21 0:40 /@home /home rw,relatime - btrfs /dev/sdb rw,subvolid=312,subvol=/@home
23 21 0:40 /@srv /srv rw,relatime - btrfs /dev/sdb rw,subvolid=313,subvol=/@srv
24 21 0:40 / /top rw,relatime - btrfs /dev/sdb rw,subvolid=5,subvol=/
25 21 0:41 / /o rw,relatime - overlay o ro,lowerdir=/a:/b
26 21 8:3 /sub /d rw,relatime - ext4 /dev/sda3 rw
END
cat >f <<END
/dev/sda2 / ext4 defaults 0 0
/dev/sdb /home btrfs subvolid=257,subvol=/@home 0 0
/dev/sdb /srv btrfs subvolid=257 0 0
/dev/sdb /top btrfs subvolid=257 0 0
o /o overlay ro,lowerdir=/b:/a 0 0
/dev/sda3 /d ext4 defaults 0 0
END
getmnt audit -F m --fstab=f --only=DRIFT-SOURCE --json | grep -o '"expected.*hint'
getmnt fstab -F m --id=path --merge=f --check 2>&1 | grep -o ' line .: .*but.*'
getmnt fstab -F m --id=path --merge=f --fix=source 2>/dev/null | grep /home
sed -i 's|subvolid=257,|subvolid=0x138,|; s|subvolid=257 0|subvol=@srv/ 0|; /top/s|subvol=@srv/|subvolid=0|; s|/b:/a|/a:/b|; s|d ext4 defaults|d ext4 X-mount.subdir=sub|' f
told -F m --fstab=f --only=DRIFT-*

echo "--- of a table, where a link may be"
printf '21 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n22 21 8:2 /usr/lib/modules /c/mod rw,relatime - ext4 /dev/sda2 rw\n' >m
echo '/lib/modules /c/mod none bind 0 0' >f
told -F m --fstab=f
getmnt fstab -F m --merge=f --add=/ --check 2>&1 | grep /c/mod
echo "--- and where none is"
echo '23 21 8:2 /lib/modules /c/two rw,relatime - ext4 /dev/sda2 rw' >>m
echo '/usr/lib/modules /c/two none bind 0 0' >>f
told -F m --fstab=f
