# search -o: columns, a line an object; names that are hostile.
umask 022
mkdir -p t/d
touch t/plain 't/sp ace' t/é $'t/new\nline' $'t/tab\tname' $'t/esc\e[31m' $'t/bad\xff' 't/back\x41'
ln -s $'to\tno where' t/link
printf 12345 >t/size
chmod 4751 t/size
chmod 1777 t/d
mkfifo -m 600 t/fifo
touch -d '2001-02-03 04:05:06.789 UTC' t/size t/fifo
touch -h -d '1969-12-31 23:59:58.25 UTC' t/link
columns() { getmnt search "$@" 2>&1 | sort; echo "status ${PIPESTATUS[0]}"; }
echo "== names"
columns -o PATH "*" t
columns -o name,type,link "*" t
echo "== attributes"
columns -o TYPE,MODE,PERMS,SIZE,NLINK,MTIME,PATH "size|link|fifo" t
columns --type=d -o PERMS,PATH "*" t
columns -o +TYPE "size" t
columns -o SIZE,size,RDEV "size" t
echo "== sizes for people, in bytes, and sorted"
truncate -s 1536 t/d/1536
truncate -s 999999999999 t/d/large
truncate -s 1023 t/d/1023
for args in "" --human-readable "--human --sort=-SIZE" "--human -b" "-b --human" "--human -J --sort=SIZE"; do
	echo "$args:"
	# shellcheck disable=SC2086
	columns $args -o SIZE,NAME "1*|large" t/d | grep -v -e version -e status
done
getmnt search -l --human --sort=SIZE "1*|large" t/d | awk '{ print $5 }'
columns --human --color=never -o +SIZE "large" t/d
rm t/d/[1l]*
echo "== as stat has them"
st=$(stat -c '%i|%u|%g|%U|%G|%h|%b|%Z|%X|%Y' t/size)
got=$(getmnt search -o INO,UID,GID,USER,GROUP,NLINK,BLOCKS,CTIME,ATIME,MTIME size t | tr '\t' '|' | sed -E 's/\.[0-9]{9}//g')
[ "$st" = "$got" ] && echo same || echo "stat: $st, search: $got"
dev=$(getmnt search -o DEV size t)
[ "$dev" = "$(stat -c %Hd:%Ld t/size)" ] && echo same || echo "DEV: $dev"
# The file was changed after its creation, where the file system records that.
birth=$(stat -c %.9W t/size)
until [ "$(stat -c %.9Z t/size)" != "$birth" ]; do chmod 4751 t/size; done
[ "$(getmnt search -o BTIME size t)" = "${birth/#0.000000000/}" ] && echo same
echo "== a NUL, and nothing escaped"
getmnt search -0 -o TYPE,NAME "new*|bad*|tab*" t | sort -z | od -An -c
echo "== which there are"
getmnt search --list-columns
getmnt search -J -H | head -4
echo "== bad"
status search -o PATH,NOSUCH x t 2>&1
status search -o "" x t 2>&1
status search -o PATH, x t 2>&1
status search -o $'\e[2J' x t 2>&1
status search -o "$(printf 'PATH,%.0s' {1..130})PATH" x t 2>&1
