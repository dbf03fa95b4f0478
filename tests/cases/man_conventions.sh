# getmnt(8): help and version on standard output; messages on standard error;
# a mount point named as a command; an empty environment.
for args in --help -h --version -V --list-columns "discover --help"; do
	# shellcheck disable=SC2086
	getmnt $args >out 2>err
	echo "$args: status $?, $(wc -l <err) lines of messages, $([ -s out ] && echo text)"
done
getmnt -F "$(table cli/host)" -- profile
echo "status $?"
env -i "$GETMNT" -F "$(table cli/host)" -n -l -o TARGET | wc -l
GETMNT_DISABLE=nosuchword,listmount,statx-mntid,openat2,fanotify,uring getmnt -V | sed -n '3s/ (switched off by GETMNT_DISABLE)/ OFF/gp'
GETMNT_DISABLE=openat2,nosuchword,listmount getmnt -V | sed -n 3p | tr , '\n' | grep -o "no .*(switched off"
