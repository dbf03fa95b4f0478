# getmnt audit, on recorded tables: each finding, and the nearest that is healthy.
audit()
{
	getmnt audit -F table --fstab=fstab "$@"
	echo "status $?"
}
root="20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw"
echo "/dev/mapper/root / ext4 defaults 0 1" >line
# told NAME MOUNTS LINES: with the root, and its line.
told()
{
	echo "== $1"
	printf '%s\n%b' "$root" "$2" >table
	{ cat line; printf '%b' "$3"; } >fstab
	audit "${@:4}"
}
data='21 20 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw\n'
told "clean: silent" "$data" '/dev/mapper/data /data ext4 defaults 0 2\n'
told "clean, and told" "$data" '/dev/mapper/data /data ext4 defaults 0 2\n' -v
told "not mounted" "" '/dev/mapper/data /data ext4 defaults 0 2\n'
told "noauto" "" '/dev/mapper/data /data ext4 noauto 0 2\n'
told "an automount that waits" '21 20 0:40 / /data rw,relatime - autofs systemd-1 rw,fd=6,pgrp=1,timeout=0,minproto=5,maxproto=5,direct\n' \
	'/dev/mapper/data /data ext4 noauto,x-systemd.automount 0 2\n'
told "an automount that is not set up" "" '/dev/mapper/data /data ext4 noauto,x-systemd.automount 0 2\n'
told "no line" "$data" ""
told "excused" "" '# getmnt: ignore=DRIFT-NOT-MOUNTED\n/dev/mapper/data /data ext4 defaults 0 2\n' -v
told "another source" "$data" '/dev/mapper/other /data ext4 defaults 0 2\n'
told "another type" '21 20 0:40 / /t rw,relatime - tmpfs t rw\n' 't /t ramfs defaults 0 0\n'
told "other options" '21 20 8:2 / /data rw,noexec,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n'
told "read-only" '21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro\n' '/dev/mapper/data /data ext4 defaults 0 2\n'
told "read-only, and meant so" '21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro\n' '/dev/mapper/data /data ext4 ro 0 2\n'
told "an error below" '21 20 8:2 / /data rw,relatime - ext4 /dev/mapper/data ro\n' '/dev/mapper/data /data ext4 errors=remount-ro 0 2\n'
told "an error below, since 6.15" '21 20 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw,emergency_ro\n' '/dev/mapper/data /data ext4 defaults 0 2\n'
told "an error below, and no line, of a container's and somebody's" '21 20 8:2 / /var/lib/kubelet/pods/u/v rw,relatime - ext4 /dev/rbd0 rw,emergency_ro\n22 20 8:3 / /srv/a rw,relatime - ext4 /dev/mapper/a ro\n23 20 8:4 / /b rw,relatime - xfs /dev/mapper/b ro\n24 20 8:5 / /c ro,relatime - ext4 /dev/mapper/c ro\n25 20 8:5 /x /d rw,relatime - ext4 /dev/mapper/c ro\n' '' --only=FS-ERRORS,DRIFT-READONLY
told "shut down, of a line and twice of none" "${data/ rw\\n/ rw,shutdown\\n}"'22 20 8:3 / /e rw,relatime - ext4 /dev/rbd0 rw,shutdown\n23 20 8:3 /x /f rw,relatime - ext4 /dev/rbd0 rw,shutdown\n' '/dev/mapper/data /data ext4 defaults 0 2\n' --only=FS-ERRORS,DRIFT-READONLY
told "one file system, of two lines" '21 20 0:70 /a /a rw,relatime - btrfs /dev/mapper/p ro,subvol=/a\n22 20 0:70 /b /b rw,relatime - btrfs /dev/mapper/p ro,subvol=/b\n' '/dev/mapper/p /a btrfs subvol=a 0 0\n/dev/mapper/p /b btrfs subvol=b 0 0\n'
told "excused, of what is mounted" '21 20 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw,shutdown\n22 21 0:50 / /data rw,relatime - tmpfs t rw\n23 20 8:1 /srv/x//deleted /x rw,relatime - ext4 /dev/mapper/root rw\n' '# getmnt: ignore=MNT-*,FS-ERRORS,FSTAB-DUP-TARGET\n/dev/mapper/data /data ext4 defaults 0 2\n# getmnt: ignore=FSTAB-DUP-TARGET\nt /data tmpfs defaults 0 0\n# getmnt: ignore=MNT-DELETED\n/srv/x /x none bind 0 0\n'
told "excused, by the line of what is over it" "$data"'22 21 0:50 / /data rw,relatime - tmpfs t rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n# getmnt: ignore=FSTAB-DUP-TARGET,MNT-SHADOWED\nt /data tmpfs defaults 0 0\n'
told "hidden by what came before" "22 20 8:3 / /data/in rw,relatime - xfs /dev/mapper/in rw\n$data" \
	'/dev/mapper/data /data ext4 defaults 0 2\n/dev/mapper/in /data/in xfs defaults 0 0\n'
told "twice" "$data"'22 21 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n'
told "five times, and another twice" "$data$(for i in 22 23 24 25; do printf '%s %s 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw\\n' $i $((i - 1)); done)30 20 8:3 / /e rw - ext4 /dev/mapper/e rw\n31 30 8:3 / /e rw - ext4 /dev/mapper/e rw\n" '/dev/mapper/data /data ext4 defaults 0 2\n' --only=MNT-DUP
told "bound onto itself read-only" "$data"'22 21 8:2 / /data ro,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n'
told "the same, by a line" "$data"'22 21 8:2 / /data ro,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n/data /data none bind,ro 0 0\n'
told "bound onto itself writable" '21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data rw\n22 21 8:2 / /data rw,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 ro 0 2\n'
told "bound onto itself by a line, with the same flags" "$data"'22 21 8:2 / /data rw,relatime shared:1 - ext4 /dev/mapper/data rw\n' '/dev/mapper/data /data ext4 defaults 0 2\n/data /data none bind,shared 0 0\n' --only=MNT-DUP
told "another line at such a bind" "$data"'22 21 8:2 / /data ro,relatime - ext4 /dev/mapper/data rw\n' '/dev/mapper/other /data ext4 defaults 0 2\n'
told "removed" '21 20 8:1 /srv/x//deleted /x rw,relatime - ext4 /dev/mapper/root rw\n' '/srv/x /x none bind 0 0\n'
told "of a container, and removed" '21 20 8:1 /srv/x//deleted /var/lib/docker/volumes/a/b/c rw,relatime - ext4 /dev/mapper/root rw\n' '' -v
told "the same, asked for" '21 20 8:1 /srv/x//deleted /var/lib/docker/volumes/a/b/c rw,relatime - ext4 /dev/mapper/root rw\n' '' --include=session,container
told "the same, of another owner" '21 20 8:1 /srv/x//deleted /var/lib/docker/volumes/a/b/c rw,relatime - ext4 /dev/mapper/root rw\n' '' --include=session
# live ROOT MOUNT...: of a root of layers, with the line of a live system, and one of another place.
live()
{
	echo "== $1"
	printf '%s\n' "20 1 0:50 / / rw,relatime - overlay $2" '21 20 0:51 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw' "${@:3}" >table
	printf 'overlay / overlay rw 0 0\ntmpfs /tmp tmpfs nosuid,nodev 0 0\noverlay /o overlay noauto 0 0\n' >fstab
	audit
}
medium='22 20 11:0 / /run/live/medium ro - iso9660 /dev/sr0 ro'
live "a live system" 'overlay rw,lowerdir=/run/live/rootfs/a.squashfs/,upperdir=/run/live/overlay/rw,workdir=/run/live/overlay/work' "$medium" \
	'23 20 7:0 / /run/live/rootfs/a.squashfs ro - squashfs /dev/loop0 ro' '24 20 8:9 / /srv/live rw - ext4 /dev/mapper/live rw'
live "casper" '/cow rw,lowerdir=/minimal.squashfs,upperdir=/cow/upper,workdir=/cow/work' '22 20 11:0 / /cdrom ro - iso9660 /dev/sr0 ro' \
	'23 20 7:0 / /rofs ro - squashfs /dev/loop0 ro'
live "a root that keeps nothing" 'overlayroot rw,lowerdir=/media/root-ro,upperdir=/media/root-rw/overlay,workdir=/media/root-rw/w' \
	'22 20 8:1 / /media/root-ro ro - ext4 /dev/mapper/root ro' '23 20 0:52 / /media/root-rw rw - tmpfs tmpfs-root rw'
live "layers of somewhere else" 'overlay rw,lowerdir=/var/lib/docker/overlay2/l/A,upperdir=/var/lib/docker/overlay2/b/diff,workdir=/w' "$medium" \
	'23 20 8:2 / /var/lib rw - ext4 /dev/mapper/lib rw' '24 20 11:0 / /cdrom ro - iso9660 /dev/sr0 ro'
told "of damaged lines, and of none" "$data"'22 20 8:3 / /e rw,relatime - ext4 /dev/mapper/e rw\n23 20 8:4 / /f rw,relatime - ext4 /dev/mapper/f rw\n' '/dev/mapper/data /data ext4 defaults, nofail 0 2\n/dev/mapper/e /e ext4 nofail 0 x\n' --only=FSTAB-SYNTAX,DRIFT-\*
told "a version of NFS, which no remount changes" '21 20 0:40 / /n rw,relatime - nfs4 srv:/n rw,vers=4.1,hard,addr=10.0.0.1\n' 'srv:/n /n nfs vers=4.2 0 0\n' --only=DRIFT-\*
told "of a user, and of root, by FUSE" '21 20 0:40 / /home/joe/h rw,nosuid,nodev,relatime - fuse.sshfs h: rw,user_id=1000,group_id=1000\n22 20 0:41 / /home/joe/r rw,nosuid,nodev,relatime - fuse.sshfs r: rw,user_id=0,group_id=0\n' ''
told "in memory that is set up at boot" '21 20 252:1 / /var/log rw,relatime - ext4 /dev/zram1 rw\n' '' -v --only=DRIFT-\*
echo "== the root has no line"
printf '%s\n%b' "$root" "$data" >table
echo '/dev/mapper/data /data ext4 defaults 0 2' >fstab
audit
echo "== owners"
printf '%s\n' "$root" '21 20 8:1 /a//deleted /run/user/0/a rw - ext4 /dev/mapper/root rw' \
	'22 20 8:1 /a//deleted /snap/a/1 rw - ext4 /dev/mapper/root rw' '23 20 8:1 /a//deleted /run/credentials/x rw - ext4 /dev/mapper/root rw' \
	'24 20 8:1 /a//deleted /run/media/u/d rw - ext4 /dev/mapper/root rw' '25 20 0:9 /x//deleted /srv/ns rw - nsfs nsfs rw' \
	'26 20 8:1 /a//deleted /var/lib/containers/storage/overlay/a rw - ext4 /dev/mapper/root rw' \
	'27 20 8:1 /a//deleted /srv/own rw - ext4 /dev/mapper/root rw' '28 20 0:8 /x//deleted /tank rw - zfs tank rw' \
	'29 20 8:1 /a//deleted /srv/line rw - ext4 /dev/mapper/root rw' >table
{ cat line; echo '/a /srv/line none bind 0 0'; } >fstab
audit --json --only=MNT-DELETED --include=session,snap,credentials,udisks,nsfs,container,zfs | sed -n 's/.*"target": \("[^"]*"\), "owner": \("[^"]*"\).*/\1 \2/p'
echo "== swap"
printf 'Filename Type Size Used Priority\n/dev/mapper/a partition 100 0 -2\n/dev/zram0 partition 100 0 100\n' >swaps
told "in use" "" '/dev/mapper/a none swap sw 0 0\n' --swaps=swaps
told "not in use; in use and of no line" "" '/dev/mapper/b none swap sw 0 0\n' --swaps=swaps
echo "== options"
told "the fstab by itself" "" '/dev/mapper/x none xfs defualts 0 0\n/dev/mapper/y /y ext4 noauto 0 -1\n'
told "only" "$data" '/dev/mapper/y /y ext4 defaults 0 -1\n' --only='SWAP-*,FSTAB-PASSNO'
told "without" "$data" '/dev/mapper/y /y ext4 defaults 0 -1\n' --disable=DRIFT-NOT-IN-FSTAB,DRIFT-NOT-MOUNTED --fail-on=critical
told "JSON" "$data" 'x y z\n/dev/mapper/y /y ext4 defaults 0 2\n' --json | sed -E 's/"version": ".*"/"version": VERSION/; s/"(time|seconds)": [0-9.]+/"\1": N/'
told "a secret" '21 20 0:40 / /s rw,relatime - cifs //h/s rw,username=u\n' '//other/s /s cifs username=u,password=hunter2 0 0\n'
getmnt audit -F table
getmnt audit -F table --fstab=none
echo "status $?"
getmnt audit --only=FSTAB
getmnt audit operand
getmnt audit --fail-on=always
getmnt audit --include=docker
getmnt audit -F table --fstab=fstab --probe
getmnt audit -F table --fstab=fstab --under
getmnt audit -F table --fstab=fstab --holders
getmnt audit --probe-timeout=1e9
echo "status $?"
getmnt audit --list-rules | grep -c .
getmnt audit --list-rules --only='SWAP-*' --json
getmnt audit --explain SWAP-EXTRA,FSTAB-ESCAPE
printf '/dev/sda1 %s tmpfs defualts 0 0\n' /a /a/b /ab >below
for paths in /a /a/b/ "/ab /a/b" /c "--save=x /a"; do
	# shellcheck disable=SC2086
	status audit -F "$(table cli/host)" --fstab=below --only=FSTAB-OPT-TYPO $paths 2>&1 | grep -v '^ '
done
echo "== what hosts have shown"
printf 'Filename Type Size Used Priority\n/dev/dm-3 partition 100 0 -2\n/var/swap file 100 0 -3\n' >swaps
shown='21 20 8:17 / /mnt/x rw,relatime - ext4 /dev/sdb1 rw\n22 20 8:33 / /media/ann/STICK rw,nosuid,nodev,relatime - vfat /dev/sdc1 rw
23 20 8:1 /nix/store /nix/store ro,relatime - ext4 /dev/mapper/root rw\n24 20 8:1 /srv/a /srv/a rw,relatime - ext4 /dev/mapper/root rw
25 20 8:1 /srv/b /srv/c ro,relatime - ext4 /dev/mapper/root rw\n26 20 0:50 / /pool rw,relatime - zfs pool rw\n27 26 0:51 / /pool rw,relatime - zfs pool/b rw\n'
told "warnings, and what is info beside them" "$shown" '/dev/mapper/vg-swap none swap sw 0 0\n' --swaps=swaps -v
told "a partition is no volume" "" '/dev/sda9 none swap sw 0 0\n' --swaps=swaps
echo "== what a review has found"
bare="21 20 8:2 / /d ro,relatime - ext4 /dev/sdb1 ro,emergency_ro\n"
told "a source that cannot be resolved, read-only" "$bare" 'UUID=0a1b /d ext4 defaults 0 2\n' --only='DRIFT-*' -v
told "the same, and meant so" "$bare" 'UUID=0a1b /d ext4 ro 0 2\n' --only='DRIFT-*' -v
told "read-only by an error, and other options" "21 20 0:50 / /d rw,relatime - tmpfs none ro,size=64k\n" \
	'none /d tmpfs size=1m 0 0\n' --only='DRIFT-*'
told "read-only, and other options" "21 20 0:50 / /d ro,relatime - tmpfs none rw,size=64k\n" 'none /d tmpfs size=1m 0 0\n' --only='DRIFT-*'
# Of what no line is made of, what the line names is held against it: here; not so there.
told "options where the source cannot be told, or is the system's" \
	'21 20 8:2 / /d rw,relatime - ext4 /dev/sdb1 rw,commit=60,sync
22 20 8:3 / /d/ok rw,nosuid,noatime - ext4 /dev/sdb2 rw,commit=30,lazytime
23 20 0:40 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,size=2097152k
24 20 0:41 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw,hidepid=invisible
25 20 0:42 / /run rw,nosuid,nodev - tmpfs tmpfs rw,size=65536k,mode=755
26 20 0:43 / /m rw,nosuid,nodev,relatime - fuse.mergerfs 1:2 rw,user_id=0,group_id=0,allow_other
27 20 0:44 / /m2 rw,noatime - fuse.mergerfs 1:2 rw,user_id=0,group_id=0\n' 'UUID=0a1b /d ext4 noatime,nosuid,commit=30,user_xattr 0 2
UUID=0a1c /d/ok ext4 noatime,nosuid,commit=30,lazytime,async 0 2
tmpfs /dev/shm tmpfs nosuid,noexec,size=1g 0 0
proc /proc proc defaults,hidepid=2 0 0
tmpfs /run tmpfs nosuid,size=64m,mode=0755 0 0
/a:/b /m fuse.mergerfs noatime,allow_other,category.create=mfs 0 0
/a:/b /m2 fuse.mergerfs rw,suid,noatime,cache.files=off 0 0\n' --only='DRIFT-*' -v
told "FUSE names its source as it likes" '21 20 0:40 / /m rw - fuse.mergerfs 1:2 rw\n' '/a:/b /m fuse.mergerfs defaults 0 0\n' --only='DRIFT-*' -v
told "FUSE with and without the flags of libfuse" '21 20 0:40 / /g rw,relatime - fuse.glusterfs srv:/vol rw\n22 20 0:41 / /d rw,nosuid,nodev,relatime - fuse https://dav/x rw\n23 20 0:42 / /s rw,relatime - fuse.sshfs h:/srv rw\n' \
	'srv:/vol /g glusterfs _netdev 0 0\nhttps://dav/x /d davfs _netdev 0 0\nh:/srv /s fuse.sshfs nosuid 0 0\n' --only='DRIFT-*'
told "a secret of what hides another" '21 20 8:2 / /d rw - ext4 /dev/sdb1 rw\n22 21 0:40 / /d rw - fuse.davfs https://u:hunter2@h/ rw\n' '/dev/sdb1 /d ext4 defaults 0 2\n' --only=MNT-SHADOWED
told "a file of a secret" '' '//h/s /s cifs noauto,credentials=/root/c 0 0\n' --only=FSTAB-SECRET
: >empty
getmnt audit -F empty --fstab=fstab
echo "status $?"
getmnt audit --show-config --json
echo old >kept
getmnt audit -F empty --fstab=fstab --output=kept
echo "status $?, $(cat kept)"
