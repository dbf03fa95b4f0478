# Options that a line asks for, and what the kernel shows of them (tests/fixtures/options): the same, or what
# is otherwise.  The merge and the check of what it makes must be of one mind.
rows=0
while IFS=$'\t' read -r type line flags shown expect; do
	[ "${type:0:1}" != "#" ] || continue
	rows=$((rows + 1))
	# Under valgrind some; to it most are alike.
	[ -z "${GETMNT_WRAP-}" ] || [ $((rows % 13)) -eq 0 ] || continue
	source=/dev/sda2 root=/ dev=8:2 live=$type pass=0
	case $type in
	tmpfs | ramfs | overlay | proc) source=$type dev=0:40 ;;
	nfs | nfs4) source=server:/export dev=0:40 ;;
	cifs) source=//server/share dev=0:40 ;;
	9p | virtiofs) source=share dev=0:40 ;;
	ceph) source=10.0.0.1:/ dev=0:40 ;;
	lustre) source=10.0.0.1@tcp:/fs dev=0:40 ;;
	fuse.* | sshfs) source=ann@host:/srv dev=0:40 ;;
	btrfs) root=/@ dev=0:40 ;;
	auto) live=ext4 pass=2 ;;
	ext? | vfat | exfat | f2fs | hfsplus) pass=2 ;;
	esac
	[ "$type" != sshfs ] || live=fuse.sshfs
	printf '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 %s %s /d %s - %s %s %s\n' \
		"$dev" "$root" "$flags" "$live" "$source" "$shown" >table
	printf '/dev/sda1 / ext4 defaults 0 1\n%s /d %s %s 0 %s\n' "$source" "$type" "$line" "$pass" >fstab
	getmnt fstab -F table --id=path --merge=fstab --check >out 2>err
	got=$?
	told=$(sed -n 's/.*: is mounted with other options: \(.*\); --fix=options$/\1/p' err)
	if [ "$expect" = = ]; then
		if [ $got -ne 0 ] || [ -n "$told" ] || ! grep -q 'reproduces 2 of 2' out; then
			printf '%s %s\n  %s\n  status %s\n' "$type" "$line" "$shown" "$got"
			cat err out
		fi
	elif [ $got -ne 1 ] || [ "$told" != "$expect" ]; then
		printf '%s %s\n  %s\n  status %s: %s\n' "$type" "$line" "$shown" "$got" "$told"
	else
		# Mended, it is the same.
		getmnt fstab -F table --id=path --merge=fstab --fix=options >mended 2>/dev/null
		if ! getmnt fstab -F table --id=path --merge=mended --check >out 2>err || ! grep -q 'reproduces 2 of 2' out; then
			echo "mended:"
			cat mended err out
		fi
	fi
done <"$(table options/rows)"
echo "$rows rows"
