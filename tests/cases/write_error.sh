# Output that cannot be written is an error: of a full disk, and of a standard output that was closed
# from the start, unless there is nothing to print.
[ -e /dev/full ] || skip "there is no /dev/full"
echo '/dev/sda1 / ext4 defaults 0 1' >fstab
echo '/dev/sda1 / ext4 rw 0 0' >mtab
table cli/host >path
while read -r line; do
	read -ra words <<<"${line//TABLE/$(cat path)}"
	set -- "${words[@]}"
	getmnt "$@" >/dev/full 2>full
	full=$?
	getmnt "$@" >&- 2>closed
	echo "$full $? $line" \
	     "$(sed -n 's/.*standard output: cannot be written\(:[^;]*\).*/\1/p' full closed | tr -d '\n')"
done <<'END'
-F TABLE
-J -F TABLE
-P -F TABLE
-r -F TABLE
--format=mtab -F TABLE
--format=dot -F TABLE
--format=jsonl -F TABLE
--help
--version
help search
-q -F TABLE
search --threads=1 fstab .
search --threads=1 --json fstab .
search --threads=1 absent .
search --help
fstab -F TABLE
fstab -F TABLE --merge=fstab
fstab --help
recover --print -F TABLE mtab
recover --json -F TABLE mtab
recover --help
audit --static --fstab=fstab
audit --static --fstab=fstab --json
audit --help
profile --help
END
