# What getmnt recover refuses, and with which status.
host=$(table cli/host)
touch file
for args in --nosuch --format=x --keep=x --names=x --format -F "-F nosuch file" "file file" "--print --diff" "--print --json" \
	"--json --write" "--diff --write" "--check --diff" "--names=walk -F $host" --yes --force --no-backup --format=setmnt \
	"--root=. etc/mtab" "--root= /etc/mtab" "--root=/x --names=kernel" - /dev/stdin /dev/fd/0 "-F $host --root=/nowhere /etc/x"; do
	# shellcheck disable=SC2086
	getmnt recover $args >out 2>err </dev/null
	echo "status $?, $(wc -c <out) bytes: ${args//$TOP\/tests\/fixtures\//}: $(head -n 1 err)"
done
status recover ''
status recover --help
# A table of which not all could be read is no ground to take lines away.
getmnt recover -F "$host" -p missing >mtab
{ cat "$host"; echo garbage; } >torn
status recover -F torn mtab
sed -i 1d mtab
status recover -F torn --write --yes mtab
getmnt recover -F torn --write --yes --force --no-backup mtab >/dev/null 2>&1
echo "status $?"
status recover -F "$host" mtab
# An fstab is not replaced by the mounts of now.
for line in 'UUID=dead-beef /b ext4 ro 0 2' 'PARTLABEL=x /b ext4 ro 0 0' '/dev/sda2 none swap pri=1 0 0' \
	'/dev/sda1 / ext4 defaults 0 1' '/dev/sdb1 /b ext4 ro,noauto 0 0' '/f none x sw 0 0' \
	'/dev/disk/by-uuid/0a1b /b ext4 rw 0 0' '/dev/sdb1 /b ext4 rw,users 0 0' \
	'/dev/sda1 / ext4 errors=remount-ro 0 1'; do
	printf '# comment\n%s\n' "$line" >lines
	status recover -F "$host" --write --yes lines
done
for name in fstab fstab.bak host1.fstab; do
	cp mtab "$name"
	status recover -F "$host" --write --yes "$name"
	cmp mtab "$name"
done
