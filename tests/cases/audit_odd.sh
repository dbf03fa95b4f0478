# SPDX-License-Identifier: MIT
# What is no fault, though it looks like one: a server by its address, by a name, a network with its
# number; containers and a chroot of named wherever they are; noatime next to relatime; a comment after
# the sixth field.  Of these lines the last two alone are of other servers.  And what is one, of types
# whose options are not held: a field left out, a prefix, two versions, a path, a unit without its kind.
cat >mi <<'TABLE'
28 1 253:9 / / rw,relatime - ext4 /dev/mapper/root rw
48 28 0:62 / /nfs rw,relatime - nfs4 nas:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=10.0.0.2,local_lock=none,addr=10.0.0.1
49 28 0:62 / /nfs2 rw,relatime - nfs4 nas:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=10.0.0.2,local_lock=none,addr=10.0.0.1
50 28 0:98 / /lus rw,relatime - lustre 10.0.0.9@tcp:10.0.0.10@tcp:/scratch rw,flock,user_xattr
51 28 0:97 / /lus2 rw,relatime - lustre 10.0.0.9@tcp:/scratch2 rw,flock,user_xattr
52 28 253:0 / /srv/lv rw,relatime - xfs /dev/mapper/vg-srv rw,attr2,inode64,logbufs=8,logbsize=32k,noquota
53 28 253:1 / /at rw,noatime - ext4 /dev/mapper/vg-at rw
60 52 0:70 / /srv/lv/docker/overlay2/4f1c9a7d2be86053a1c7e94d0f62b8a35d7e1c90f4b2a6831e5d7c09b3f8a214/merged rw,relatime - overlay overlay rw,lowerdir=/srv/lv/docker/overlay2/l/6Y5IM2XC7TSNIJZZFLJCS6I4I4:/srv/lv/docker/overlay2/l/MLNUFXBYBGRSJLQNAHB5XFZ6JD,upperdir=/srv/lv/docker/overlay2/4f1c9a7d2be86053a1c7e94d0f62b8a35d7e1c90f4b2a6831e5d7c09b3f8a214/diff,workdir=/srv/lv/docker/overlay2/4f1c9a7d2be86053a1c7e94d0f62b8a35d7e1c90f4b2a6831e5d7c09b3f8a214/work
61 52 0:71 / /srv/lv/kubelet/pods/0b1c5e1f-4c2d-4b3a-9000-000000000001/volumes/kubernetes.io~projected/kube-api-access-x7x9z rw,relatime - tmpfs tmpfs rw,size=131072k
62 28 253:9 /etc/named.conf /var/named/chroot/etc/named.conf rw,relatime - ext4 /dev/mapper/root rw
63 28 0:62 / /nfs3 rw,relatime - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.1
64 28 0:62 / /nfs4 rw,relatime - nfs4 nas:/export rw,vers=4.2,addr=10.0.0.1
66 28 253:7 / /var/named/chroot/disk rw,relatime - ext4 /dev/mapper/vg-disk rw
65 28 0:99 / /lus3 rw,relatime - lustre 10.0.0.9@tcp:/scratch rw,flock
TABLE
cat >healthy <<'FSTAB'
/dev/mapper/root / ext4 defaults 0 1
nas:/export /nfs nfs _netdev,nofail 0 0
10.0.0.1:/export /nfs2 nfs _netdev,nofail 0 0
mgs1@tcp:mgs2@tcp:/scratch /lus lustre _netdev,flock,nofail 0 0
10.0.0.9@tcp0:/scratch2 /lus2 lustre _netdev,flock,nofail 0 0
/dev/mapper/vg-srv /srv/lv xfs nofail 0 0  # docker and kubelet live here
/dev/mapper/vg-at /at ext4 noatime,relatime,nofail 0 2
nas.example.com:/export /nfs3 nfs _netdev,nofail 0 0
10.0.0.7:/export /nfs4 nfs _netdev,nofail 0 0
10.0.0.9@tcp1:/scratch /lus3 lustre _netdev,flock,nofail 0 0
FSTAB
cat >faulty <<'FSTAB'
/dev/mapper/root / ext4 defaults 0 1
nas:/export /nfs nfs 0 0
nas:/export /nfs2 nfs vers=4.2,nfsvers=3,_netdev,nofail 0 0
/dev/mapper/vg-srv /srv/lv xfs nofail,nobarrier 0 0
/dev/mapper/vg-at /at ext4 noatime,nofail,x-systemd.requires=network-online 0 2
10.0.0.9@tcp:10.0.0.10@tcp:/scratch /lus lustre _netdev,flock,nofail,systemd.automount 0 0
nas:/b /nb nfs noauto,_netdev,systemd.automount 0 0
overlay /ov overlay noauto,lowerdir=/a,/b,upperdir=/up,workdir=/work 0 0
tmpfs /t tmpfs noauto,X-mount.mkdir=999 0 0
/dev/mapper/none none swap noauto,prio=5 0 0
10.0.0.9@tcp0:/scratch2 /lus2 lustre _netdev,flock,nofail 0 0
nas.example.com:/export /nfs3 nfs _netdev,nofail 0 0
nas:/export /nfs4 nfs nofail 0 0
10.0.0.9@tcp:/scratch /lus3 lustre nofail,flock 0 0
FSTAB
for fstab in healthy faulty; do
	echo "== $fstab"
	"$GETMNT" audit --tab-file=mi --fstab=$fstab --only='FSTAB-SYNTAX,FSTAB-OPT-*,DRIFT-*' -v
	echo "status $?"
done
