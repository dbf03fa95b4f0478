# SPDX-License-Identifier: MIT
# --static checks the text of an fstab, and nothing of this host: neither its devices nor its mounts.
cat >fstab <<'FSTAB'
UUID=0a1b2c3d-0000-4000-8000-000000000000 / ext4 defaults 0 1
GUID=0a1b /guid ext4 nofail 0 2
tmpfs /gone tmpfs sz=4 0 0
FSTAB
printf 'UUID=0a1b2c3d-0000-4000-8000-000000000000 / ext4 defaults 0 1\ntmpfs /gone tmpfs defaults 0 0\n' >clean
getmnt audit --static --fstab=fstab
echo "status $?"
getmnt audit --static --fstab=clean -v --require-complete
echo "status $?"
getmnt audit --static --fstab=clean --json | grep -c '"not_judged": \[\],'
getmnt audit --static --list-rules | cut -d' ' -f1 | paste -sd' '

echo "--- what needs the network, as systemd orders it"
printf '%s\n' '192.0.2.1:/p /persistent nfs defaults 0 0' '/persistent/a /var/lib/a none bind 0 0' >network
getmnt audit --static --fstab=network
printf '%s\n' '//nas/a /mnt/c cifs credentials=/etc/c 0 0' '/mnt/c /pool fuse.mergerfs defaults 0 0' >branch
getmnt audit --static --fstab=branch

echo "--- the root is mounted first, wherever its line is"
printf '%s\n' 'UUID=0a1b2c3d-0000-4000-8000-000000000000 /h btrfs subvol=@h,compress=zstd,nofail 0 0' 'UUID=0a1b2c3d-0000-4000-8000-000000000000 / btrfs subvol=@ 0 0' >last
getmnt audit --static --fstab=last

echo "--- a third field that is no type: the remedy depends on the fields after it"
printf '%s\n' '/a /b bind' '/a /c bind defaults 0 0' 'UUID=0a1b2c3d-0000-4000-8000-000000000000 /d defaults,nofail 0 2' \
	'UUID=0a1b2c3d-0000-4000-8000-000000000000 /e nofail ext4 0 2' 'tmpfs /f size=1m nofail 0 0' \
	'UUID=0a1b2c3d-0000-4000-8000-000000000000 /g ro ro 0 2' 'UUID=0A1B-2C3D /h FAT32' '/dev/disk/by-id/x /i crypto_LUKS nofail' >typeless
getmnt audit --static --fstab=typeless --only=FSTAB-SYNTAX,FSTAB-TYPE-UNSUPPORTED --json | jq -r '.findings[] | .target + ": " + .hint'

echo "--- without it, the rules that lack facts are listed"
printf '20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n21 20 0:20 / /gone rw - tmpfs tmpfs rw\n' >mi
getmnt audit -F mi --fstab=fstab --only='FSTAB-SRC-*,FSTAB-OPT-*,MNT-STALE'

echo "--- options"
for args in "" "--fstab=fstab --probe" "--fstab=fstab -F mi" "--fstab=fstab --root=/" "--fstab=fstab --save=x" \
	"--fstab=fstab --only=DRIFT-*"; do
	# shellcheck disable=SC2086
	getmnt audit --static $args 2>&1 | head -1
done
