# An fstab without lines: mounts of disks and swap spaces are reported, but not those of a container engine
# or an image.  A damaged list of swap spaces is an error.
python3 "$TOP/tests/lib/recorded.py" unpack "$TOP/tests/fixtures/hosts" .
host=debian-installer.healthy
empty() {
	echo "-- $1"
	printf %b "$2" >$host/etc/fstab
	recorded $host audit --json >out
	echo "status $?"
	findings <out
}
empty "emptied" ""
empty "comments alone" "# nothing\n\n"
empty "its lines ended as on no Unix" "# /etc/fstab\r/dev/sda3 / ext4 defaults 0 1\r"
for name in container coreos kubernetes; do
	echo "-- $name"
	: >$name.healthy/etc/fstab
	recorded $name.healthy audit --json >out
	echo "status $?"
	findings <out
done
echo "-- swap spaces"
for text in "" "garbage\n" "Filename Type Size Used Priority\n/dev/sda4 partition 1 0 x\n"; do
	printf %b "$text" >$host/swaps
	recorded $host audit --swaps=/swaps 2>&1
	echo "status $?"
done
printf "/dev/sda4 partition 1 0 -2\n" >$host/proc/swaps
recorded $host audit 2>&1
echo "status $?"
