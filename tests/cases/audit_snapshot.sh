# SPDX-License-Identifier: MIT
# getmnt audit --root of snapshots written by hand (getmnt-snapshot(8)): a healthy host,
# faults, what is not recorded, and what is meant to lead out of it or to be waited for.
one=11111111-1111-4111-8111-111111111111 two=22222222-2222-4222-8222-222222222222

make_host()
{
	mkdir -p "$1"/{proc/self,proc/sys/fs,etc,run/udev/data,run/systemd/generator,sys/dev/block,sys/class/block,dev/disk/by-uuid,usr/sbin,usr/bin,usr/lib/modules/6.1}
	(
		cd "$1" || exit
		printf 'getmnt snapshot 1\n# by hand\nhost=web1\nkernel=6.1\nuptime=86400.25\ntime=1700000000\nfstab-mode=0644\nfstab-uid=0\nlater=1\n' >getmnt-snapshot
		ln -s usr/sbin sbin
		ln -s usr/bin bin
		ln -s usr/lib lib
		cat >proc/self/mountinfo <<-END
			22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
			23 22 0:20 / /proc rw,nosuid shared:2 - proc proc rw
			27 22 8:2 / /srv/data rw,relatime shared:6 - ext4 /dev/sda2 rw
		END
		printf 'Filename\tType\tSize\tUsed\tPriority\n' >proc/swaps
		echo "BOOT_IMAGE=/vmlinuz root=UUID=$one ro quiet" >proc/cmdline
		echo 100000 >proc/sys/fs/mount-max
		printf 'nodev\tproc\nnodev\ttmpfs\n\text4\n' >proc/filesystems
		echo 'alias fs-xfs xfs' >usr/lib/modules/6.1/modules.alias
		printf 'UUID=%s / ext4 errors=remount-ro 0 1\nUUID=%s /srv/data ext4 defaults,nofail 0 2\n' "$one" "$two" >etc/fstab
		ln -s ../proc/self/mounts etc/mtab
		: >usr/sbin/fsck.ext4
		printf 'Id=-.mount\nActiveState=active\nWhere=/\n' >systemctl-show
		printf '[Unit]\nSourcePath=/etc/fstab\n[Mount]\nWhat=/dev/disk/by-uuid/%s\nWhere=/\nType=ext4\nOptions=errors=remount-ro\n' "$one" >run/systemd/generator/-.mount
		printf '[Unit]\nSourcePath=/etc/fstab\n[Mount]\nWhat=/dev/disk/by-uuid/%s\nWhere=/srv/data\nType=ext4\nOptions=defaults,nofail\n' "$two" >run/systemd/generator/srv-data.mount
		for i in 1 2; do
			uuid=$one
			[ $i = 1 ] || uuid=$two
			printf 'E:ID_FS_TYPE=ext4\nE:ID_FS_USAGE=filesystem\nE:ID_FS_UUID_ENC=%s\n' "$uuid" >run/udev/data/b8:$i
			ln -s getmnt:block:8:$i dev/sda$i
			ln -s ../../sda$i "dev/disk/by-uuid/$uuid"
			mkdir -p sys/devices/pci/block/sda/sda$i sys/fs/ext4/sda$i
			echo 8:$i >sys/devices/pci/block/sda/sda$i/dev
			echo 1000 >sys/devices/pci/block/sda/sda$i/size
			echo $i >sys/devices/pci/block/sda/sda$i/partition
			ln -s ../../devices/pci/block/sda/sda$i sys/class/block/sda$i
			ln -s ../../devices/pci/block/sda/sda$i sys/dev/block/8:$i
			echo 0 >sys/fs/ext4/sda$i/errors_count
		done
	)
}

echo "--- healthy"
make_host h
status audit --root=h -v
status audit --root=h --jsonl | grep -o '"host": "[^"]*"\|"boot_id": [^,]*\|"mntns": [^,]*\|"table": "[^"]*"\|"root": "[^"]*"'

echo "--- faults"
make_host f
cat >>f/etc/fstab <<END
UUID=33333333-3333-4333-8333-333333333333 /gone ext4 nofail 0 2
/dev/sdz1 /z ext4 noauto 0 0
/dev/sda2 none swap sw 0 0
x /odd foofs noauto 0 0
x /srv/there tmpfs noauto 0 0
x /srv/notthere tmpfs noauto 0 0
x /top tmpfs noauto 0 0
END
mkdir f/srv f/srv/there
sed -i 's,^27 22 8:2 / /srv/data rw,27 22 8:2 / /srv/data ro,' f/proc/self/mountinfo
sed -i 's/fstab-mode=0644/fstab-mode=0666/' f/getmnt-snapshot
echo 3 >f/proc/sys/fs/mount-max
echo 7 >f/sys/fs/ext4/sda2/errors_count
echo "root=UUID=$two" >f/proc/cmdline
printf 'Id=srv-data.mount\nActiveState=failed\nResult=exit-code\nWhere=/srv/data\n' >f/systemctl-show
rm f/etc/mtab f/run/systemd/generator/srv-data.mount
echo 'gone /gone ext4 rw 0 0' >f/etc/mtab
printf 'c /dev/sdz2 none luks\n' >f/etc/crypttab
mkdir -p f/etc/systemd/system/gone.mount.d f/run/systemd/system
ln -s /dev/null f/etc/systemd/system/srv-data.mount
ln -s /dev/null f/etc/systemd/system/dev-sda2.swap
ln -s /dev/null f/etc/systemd/system/auto.automount
echo 'x /auto tmpfs nofail,x-systemd.automount 0 0' >>f/etc/fstab
printf '[Mount]\nWhere=/srv/there\n' >f/run/systemd/system/srv-there.mount
status audit --root=f -v

echo "--- an answer for each: a fstab of here, swap spaces of here, a configuration"
printf 'UUID=%s /srv/data ext4 defaults,nofail 0 2\n' $two >own
printf 'Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n' >swaps
echo 'require /srv/data nodev' >conf
status audit --root=h --fstab=own --swaps=swaps --config=conf
mkdir h/etc/getmnt
echo 'require / nodev' >h/etc/getmnt/audit.conf
status audit --root=h/ --show-config
status audit --root=h
rm -r h/etc/getmnt
status audit --root=h --probe

echo "--- not recorded, not judged"
mkdir -p bare/proc/self bare/etc
echo 'getmnt snapshot 1' >bare/getmnt-snapshot
cp h/proc/self/mountinfo bare/proc/self
cp h/etc/fstab bare/etc
echo '/dev/sdq none swap sw 0 0' >>bare/etc/fstab
status audit --root=bare -v
: >bare/etc/.getmnt-part
rm bare/etc/fstab
status audit --root=bare -v

echo "--- what leads out, or is waited for"
echo 'x /secret tmpfs defaults 0 0' >outside
bad()
{
	echo "-- $1"
	rm -rf x
	cp -a h x
	(cd x && eval "$2")
	status audit --root=x -v 2>&1 | sed 's/^/   /'
}
bad "a link out, by .." 'rm etc/fstab; ln -s ../../../../../../../../../outside etc/fstab'
bad "... to a name that is there" "rm etc/fstab; ln -s $PWD/outside etc/fstab"
bad "a directory out" "rm -r etc; ln -s $PWD etc"
bad "a link to itself" 'rm etc/fstab; ln -s fstab etc/fstab'
bad "a FIFO" 'rm etc/fstab; mkfifo etc/fstab'
bad "a FIFO for the table" 'rm proc/self/mountinfo; mkfifo proc/self/mountinfo'
bad "a link to a process" 'rm proc/self/mountinfo; ln -s /proc/self/mountinfo proc/self/mountinfo'
bad "devices for files" 'ln -s getmnt:block:8:1 etc/crypttab'
bad "no table" 'rm proc/self/mountinfo'
bad "an empty table" ': >proc/self/mountinfo'
bad "a huge fstab" 'truncate -s 1T etc/fstab'
bad "huge attributes, and FIFOs" 'truncate -s 1T sys/fs/ext4/sda1/errors_count run/udev/data/b8:2; rm sys/fs/ext4/sda2/errors_count; mkfifo sys/fs/ext4/sda2/errors_count; rm sys/devices/pci/block/sda/sda1/size; mkfifo sys/devices/pci/block/sda/sda1/size'
bad "another version" 'echo "getmnt snapshot 2" >getmnt-snapshot'
bad "a marker that is none" 'echo nonsense >>getmnt-snapshot'
bad "a time that is none" 'sed -i s/uptime=.*/uptime=abc/ getmnt-snapshot'
bad "a mode that is none" 'sed -i s/fstab-mode=.*/fstab-mode=9/ getmnt-snapshot'
bad "a marker that is a link" 'rm getmnt-snapshot; ln -s ../outside getmnt-snapshot'
bad "no marker: another root" 'rm getmnt-snapshot' | sed 's/[0-9]* info/N info/' | tail -n 1 | grep -c status

echo "--- one made: usage"
status snapshot
status snapshot a b
status snapshot --bad a
status snapshot h

echo "--- no list of devices"
make_host n
rm -r n/sys/class
echo '/dev/sda2 none swap sw,noauto 0 0' >>n/etc/fstab
status audit --root=n
