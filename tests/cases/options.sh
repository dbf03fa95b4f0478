# Options that a line asks for, and what the kernel shows of them (tests/fixtures/options): the same, or what
# is otherwise.  The merge, the check of what it makes, and the audit must be of one mind.
rows=0
# A mount with a user's name has no line that could be made of it.
all='reproduces (2 of 2 mounts|1 of 1 mounts, 1 cannot be expressed in fstab)'
echo '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw' >all.table
echo '/dev/sda1 / ext4 defaults 0 1' >all.fstab
while IFS=$'\t' read -r type line flags shown expect; do
	[ "${type:0:1}" != "#" ] || continue
	rows=$((rows + 1))
	minor=$((rows + 100))
	source=/dev/mapper/d$rows root=/ dev=0:$minor live=$type pass=0
	case $type in
	tmpfs | ramfs | overlay | proc | devpts | hugetlbfs) source=$type ;;
	nfs | nfs4) source=server:/export$rows ;;
	cifs) source=//server/share$rows ;;
	9p | virtiofs | vboxsf) source=share$rows ;;
	ceph) source=10.0.0.1:/$rows ;;
	zfs) source=tank/data$rows ;;
	lustre) source=10.0.0.1@tcp:/fs$rows ;;
	fuse.* | sshfs) source=ann@host:/srv$rows ;;
	btrfs) root=/@ ;;
	auto) live=ext4 pass=2 dev=8:$minor ;;
	ext? | vfat | exfat | f2fs | hfsplus) pass=2 dev=8:$minor ;;
	*) dev=8:$minor ;;
	esac
	[ "$type" != sshfs ] || live=fuse.sshfs
	printf '%s 20 %s %s /d%s %s - %s %s %s\n' "$minor" "$dev" "$root" $rows "$flags" "$live" "$source" "$shown" | tee one >>all.table
	printf '%s /d%s %s %s 0 %s\n' "$source" $rows "$type" "$line" "$pass" | tee wanted >>all.fstab
	case "$shown $flags" in
	*emergency_ro*\ ro*) echo "/d$rows ro" >>all.expect ;;   # which the merge has nothing to mend of
	*emergency_ro*) echo "/d$rows rw,emergency_ro" >>all.expect ;;
	*) [ "$expect" = = ] || echo "/d$rows $expect" >>all.expect ;;
	esac
	# What ZFS mounts is its own: the merge makes no line of it.
	[ "$type" != zfs ] || continue
	# Under valgrind some; to it most are alike.
	[ -z "${GETMNT_WRAP-}" ] || [ $((rows % 13)) -eq 0 ] || continue
	head -n 1 all.table | cat - one >table
	head -n 1 all.fstab | cat - wanted >fstab
	getmnt fstab -F table --id=path --merge=fstab --check >out 2>err
	got=$?
	told=$(sed -n 's/.*: is mounted with other options: \(.*\); --fix=options$/\1/p' err)
	if [ "$expect" = = ]; then
		if [ $got -ne 0 ] || [ -n "$told" ] || ! grep -Eq "$all" out; then
			printf '%s %s\n  %s\n  status %s\n' "$type" "$line" "$shown" "$got"
			cat err out
		fi
	elif [ $got -ne 1 ] || [ "$told" != "$expect" ]; then
		printf '%s %s\n  %s\n  status %s: %s\n' "$type" "$line" "$shown" "$got" "$told"
	else
		# Mended, it is the same.
		getmnt fstab -F table --id=path --merge=fstab --fix=options >mended 2>/dev/null
		if ! getmnt fstab -F table --id=path --merge=mended --check >out 2>err || ! grep -Eq "$all" out; then
			echo "mended:"
			cat mended err out
		fi
	fi
done <"$(table options/rows)"
echo "$rows rows"
# Each difference is reported once, by its mount point; nothing else is reported.
getmnt audit -F all.table --fstab=all.fstab --only=DRIFT-\* --json | findings >out
awk '{ print $4, $6 }' out | sort >told
sort all.expect | diff - told && echo "the audit reports the same"
# Of devices that are not known by a name that stays, what a line names is held against them: it is no
# more than that.
sed -i 's|/dev/mapper/d|/dev/sda1|' all.table all.fstab
getmnt audit -F all.table --fstab=all.fstab --only=DRIFT-\* --json | findings >out
awk '{ print $4 }' out | sort >told
cut -d' ' -f1 all.expect | sort | comm -13 - told
echo "$(wc -l <told) of them reported where the device is not known"
