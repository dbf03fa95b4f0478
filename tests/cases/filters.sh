# Each way to choose mounts, with its exit status.
host=$(table cli/host)
for args in "-t btrfs" "-t noext4,btrfs" "-O ro" "-O noro -t squashfs" "-S /dev/sda2" "-S 8:1" \
	"-M /home" "-M /home/" "-M /ho" "-T /" "/srv/data" "-R -M /dev" "-f -t tmpfs" "-i -t tmpfs,ext4" \
	"--real" "--pseudo" "--id 34" "--id 7" "/dev/sda1 /boot/efi" "/dev/sda1 /home" "-U -t tmpfs"; do
	echo "== $args"
	# shellcheck disable=SC2086
	status -F "$host" -n -l -o TARGET $args
done
echo "== --shadowed"
status -F "$(table cli/stacked)" -n -l -o TARGET,SOURCE --shadowed
# A mount that only the built-in filter leaves out.
for args in "-D /proc" "-I -M /proc" "--real /proc" "--pseudo /" "--real -T /proc/1" "-D -q /proc" "-D /proc/self/none" "-D sysfs" "-D -S sysfs" "-D -t sysfs" "--real sysfs /sys"; do
	# shellcheck disable=SC2086
	status -F "$(table cli/host)" $args
done
# A device or mount point is found before a FUSE whose source has the same text.
cat >fuse <<'TABLE'
20 1 8:1 / / rw - ext4 /dev/sda1 rw
30 20 7:1 / /mnt/data rw - ext4 /dev/loop1 rw
31 20 0:41 / /f1 rw - fuse.bindfs /dev/loop1 rw
32 20 0:42 / /f2 rw - fuse.bindfs /mnt/data rw
33 20 0:43 / /f3 rw - fuse.bindfs /only/here rw
TABLE
for args in /dev/loop1 /mnt/data /mnt/data/ /only/here "-S /mnt/data" "-i /dev/loop1"; do
	# shellcheck disable=SC2086
	echo "$args: $(getmnt -F fuse -l -n -o TARGET $args | tr '\n' ' ')"
done
