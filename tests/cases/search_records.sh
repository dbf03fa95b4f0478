# search: lines that the workers make are those that are made of records, which --sort asks for.
mkdir -p t/plain t/$'new\nline' t/$'esc\e[2J' 't/back\slash' t/é/$'\xff' 't/sp ace/tab	'
long=t/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})/$(printf 'f%.0s' {1..200})
mkdir -p "$long/below"
for dir in t/plain t/$'new\nline' t/$'esc\e[2J' 't/back\slash' t/é/$'\xff' 't/sp ace/tab	' "$long" "$long/below"; do
	printf x >"$dir/one"
	: >"$dir"/$'a\\\n\x80b'
	ln -s one "$dir/link"
done
ln -s ../plain t/é/dir
mkdir t/many
(cd t/many && seq -f 'file-%g' 3000 | xargs touch)
pairs=0
lines=$PWD/lines records=$PWD/records
same() {
	pairs=$((pairs + 1))
	# Under valgrind, where a run takes a second, some of them.
	[ -z "${GETMNT_WRAP-}" ] || [ $((pairs % 13)) -eq 0 ] || return 0
	local sort=(sort)
	[ "$1" = -0 ] && sort=(sort -z)
	getmnt search "$@" | "${sort[@]}" >"$lines"
	getmnt search --sort=inode "$@" | "${sort[@]}" >"$records"
	if ! [ -s "$lines" ] || ! cmp "$lines" "$records"; then
		printf 'not the same: %s\n' "$*"
	fi
}
for columns in PATH NAME SIZE,PATH PATH,SIZE TYPE,NAME,PATH,MODE,PERMS,RDEV,DEV,MNT-ID \
	INO,NLINK,UID,GID,BLOCKS,ATIME,BTIME,CTIME,MTIME,NAME USER,PATH LINK,PATH; do
	for options in "" "--follow" "--access=rw" "--threads=4" "--type=f" "--ahead"; do
		for root in t ./t/ t//é; do
			# shellcheck disable=SC2086
			same -o "$columns" $options "*" "$root"
			# shellcheck disable=SC2086
			same -0 -o "$columns" $options "*" "$root"
		done
	done
done
same "*" t
same -0 "*" t
# Enough for threads; more than is read at a time, of which the rest waits in an order.
mkdir -p u/{1..20}/{1..20} v
for dir in u/*/*; do : >"$dir/file"; done
(cd v && seq -f 'file-%g' 9000 | xargs touch)
for columns in SIZE,PATH TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO,PATH; do
	same --threads=4 -o "$columns" "*" u
	same --threads=4 -o "$columns" "*" u/1 v u/2
	same --ahead -o "$columns" "*" v
	same --xdev -o "$columns" "/1/*/file|/2*" u
	same -o "$columns" "*" "$PWD/v" "$PWD//u/"
done
(cd t && same -o SIZE,PATH "*")
echo "$pairs pairs"
echo "== as they come: one run in the order of inodes, then the next"
getmnt search --threads=1 --ahead -o INO,MODE,NLINK,UID,GID,SIZE,MTIME,PATH "*" v |
	awk '$1 < last { ++runs } { last = $1 } END { print runs < 3 ? "few" : runs }'
echo "== as they are"
getmnt search -o SIZE,TYPE,PATH,NAME "one" t/plain t/$'new\nline' 't/back\slash' t/é 't/sp ace' | sort
