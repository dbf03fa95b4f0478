# getmnt find selects what GNU find selects, also in another locale.
mkdir -p t/d/e t/.hidden t/empty
for name in a b.c 'c d' é '[x]' \\ $'n\nl' "$(printf '\377.c')" README t/.. ; do
	: > "t/d/${name##*/}x"
	case $name in */*) ;; *) : > "t/d/$name" ;; esac
done
truncate -s 512 t/s512
truncate -s 513 t/s513
truncate -s 1 t/.hidden/s1
ln t/s512 t/d/linked
ln -s d t/link
ln -s nowhere t/dangling
mkfifo t/fifo
chmod 4755 t/s512
chmod 0111 t/s513
chmod 1777 t/empty
chown 1:54321 t/s513 2>/dev/null
touch -d '50 hours ago' t/d/a
touch -d 1969-12-31T23:59:58.5Z t/d/b.c

n=0
# same ARGS...: getmnt find and find print the same, with the same status
same() {
	local found expected
	n=$((n + 1))
	found=$(getmnt find "$@" 2>/dev/null | sort; echo "${PIPESTATUS[0]}")
	expected=$(find "$@" 2>/dev/null | sort; echo "${PIPESTATUS[0]}")
	[ "$found" = "$expected" ] || printf '%s: %q\n-- find: %q\n' "$*" "$found" "$expected"
}

for LC_ALL in C.UTF-8 C; do
	export LC_ALL
	echo "== names, $LC_ALL"
	while IFS= read -r pattern; do
		same t -name "$pattern"
		same t -iname "$pattern"
		same t -lname "$pattern" -o -path "t/d/$pattern"
		same t -ipath "*/$pattern"
	done <<-'END'
		?
		??
		*
		[!a]
		[[:alpha:]]
		*.c
		?.C
		\\
		\[x]
		[x
		é*
		*\
		readme
		D
	END
	for type in '' findutils-default posix-basic posix-extended sed awk; do
		for regex in 't/.' 't/d/..' '.*\(a\|b\).*' '.*(a|b).*' '.*[[:alpha:]]' 't.*n.l' '.*e{2}' '.*\.c+'; do
			same t ${type:+-regextype "$type"} -regex "$regex"
		done
	done
	same t -iregex '.*\.C'
done

echo "== attributes"
for number in 0 1 2 +0 +1 -1 -2; do
	for test in -size -links -uid -gid -mtime -mmin -atime -ctime -used; do
		same t "$test" "$number"
	done
	for unit in b c w k M G; do
		same t -size "$number$unit"
	done
done
for mode in 0 644 0111 7777 u+s +t u=rwx,g=rx,o=rx u+X a+X,u+w g=u a=r+X =755 +111 u=755 8 ''; do
	same t -perm "$mode"
	same t -perm "-$mode"
	same t -perm "/$mode"
done
for types in f d l p s f,d f,d,l,p f,f fd x ''; do
	same t -type "$types"
	same t -xtype "$types"
	same -L t -type "$types"
	same -L t -xtype "$types"
done
for date in @0 @-1.5 @-1.4 1970-01-01 '1 day ago' yesterday '2020-01-01 10:00 +0100' nonsense 2020-02-30; do
	for field in a c m; do
		same t "-newer${field}t" "$date"
	done
done
for file in t/d/a t/d/b.c t/link t/missing; do
	for test in -newer -anewer -cnewer -newerac -newerma -samefile; do
		same t "$test" "$file"
		same -L t "$test" "$file"
		same -H t "$test" "$file"
	done
done
for words in -empty -readable -writable -executable -nouser -nogroup '-user root' '-user 1' '-user nobody-99' \
	'-group 54321' '-group root' '-fstype nothing' -true -false '-inum 1' '-daystart -mtime 0' '-daystart -mtime -1'; do
	# shellcheck disable=SC2086
	same t $words
done

echo "== operators"
while IFS= read -r words; do
	# shellcheck disable=SC2086
	same t $words
done <<'END'
-name a -o -name b.c
-name d -prune -o -print
-name d -prune
-name d -prune , -print
-depth -name d -prune -o -print
! -name d -a ! ( -type f -o -type l )
-not -not -name a
( -name a , -name b.c )
-name d -print -prune -o -type f -print
-maxdepth 1
-mindepth 2
-mindepth 1 -maxdepth 1 -type d
-name x -o -maxdepth 1
! -maxdepth 1
-name d -quit
-name nothing -quit -o -print
-daystart -o -name a
-name a -daystart
! -daystart -name a
-name a -o
-o -name a
-name a -a -a -name b.c
( )
(
)
-name a )
!
-name
-nmae a
-exec true {} ; -print
-exec false ; -o -print
! -exec true ; -o -name a
-exec echo {} ;
-exec {} +
-exec echo {} {} +
-exec ;
-prune -delete
-size 1x
-maxdepth -1
-type f -size +0 -o -type d -empty
END
echo "$n expressions"
