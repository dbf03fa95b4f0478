# Options of a line that its mount does not show (tests/fixtures/options/lacks): reported where the kernel would
# show it, by the audit alone; to the merge it is no difference.
echo '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw' >table
echo '/dev/sda1 / ext4 defaults 0 1' >fstab
rows=0
while IFS=$'\t' read -r type line shown told; do
	[ "${type:0:1}" != "#" ] || continue
	rows=$((rows + 1))
	source=/dev/mapper/d$rows live=$type flags=rw,relatime
	case $type in
	tmpfs | overlay | proc | devpts | hugetlbfs) source=$type ;;
	nfs | nfs4) source=server:/export$rows ;;
	cifs | smb3) source=//server/share$rows ;;
	fuse.* | sshfs) source=ann@host:/srv$rows live=fuse.sshfs flags=rw,nosuid,nodev,relatime ;;
	ntfs-3g) live=fuseblk ;;
	esac
	case ,$line, in
	*,noatime,*) flags=rw,noatime ;;
	*,nosuid,nodev,*) flags=rw,nosuid,nodev,relatime ;;
	esac
	printf '%s 20 0:%s / /d%s %s - %s %s %s\n' $((rows + 100)) $((rows + 100)) $rows $flags "$live" "$source" "$shown" >>table
	printf '%s /d%s %s %s 0 0\n' "$source" $rows "$type" "$line" >>fstab
	[ "$told" = = ] || echo "/d$rows without $told" >>expect
done <"$(table options/lacks)"
echo "$rows rows, $(wc -l <expect) reported"
getmnt audit -F table --fstab=fstab --only=DRIFT-\* --json | findings >out
awk '{ print $4, $6 }' out | sed 's/\\x20/ /g' | sort >told
sort expect | diff - told && echo "as expected"
getmnt fstab -F table --id=path --merge=fstab --check 2>&1 | grep 'other options'
# Where several lines mount one file system, the first decides; the options of a bind are those of its source.
cat >table <<'END'
20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 0:50 / /a rw,relatime - btrfs /dev/mapper/b rw,space_cache=v2,subvolid=5,subvol=/
22 20 0:50 /@ /b rw,relatime - btrfs /dev/mapper/b rw,space_cache=v2,subvolid=256,subvol=/@
23 20 0:51 / /c rw,relatime - tmpfs tmpfs rw
24 20 0:51 / /d rw,relatime - tmpfs tmpfs rw
END
cat >fstab <<'END'
/dev/sda1 / ext4 defaults 0 1
/dev/mapper/b /a btrfs defaults 0 0
/dev/mapper/b /b btrfs subvol=@,compress=zstd 0 0
tmpfs /c tmpfs size=1g 0 0
/c /d none bind,size=1g 0 0
END
getmnt audit -F table --fstab=fstab --only=DRIFT-OPTIONS
sed -i 's/btrfs defaults/btrfs compress=zstd/' fstab
getmnt audit -F table --fstab=fstab --only=DRIFT-OPTIONS --json | findings
# Nor does a line after a line of another subvolume.
sed -i -e 's/ btrfs compress=zstd/ btrfs subvol=@other/' -e '/tmpfs/d' fstab
getmnt audit -F table --fstab=fstab --only=DRIFT-\* --json | findings
# What ext4 and XFS drop on a device that cannot is for information; a FAT shows it on any.
cat >table <<'END'
20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
21 20 8:2 / /a rw,relatime - xfs /dev/mapper/a rw,noquota
22 20 8:3 / /b rw,relatime - vfat /dev/mapper/b rw,fmask=0022,dmask=0022
23 20 8:4 / /c rw,relatime - xfs /dev/mapper/c rw,noquota
END
cat >fstab <<'END'
/dev/sda1 / ext4 discard 0 1
/dev/mapper/a /a xfs discard 0 0
/dev/mapper/b /b vfat discard 0 0
/dev/mapper/c /c xfs discard,uquota 0 0
END
getmnt audit -F table --fstab=fstab --only=DRIFT-\* --json | findings
