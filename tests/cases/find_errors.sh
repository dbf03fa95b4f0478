# Bad input to find: status 1, a message that names it, nothing on standard output, and nothing
# executed or deleted, not even by actions that come before it.
mkdir -p t/d
touch t/file t/d/found
printf 't\0' >names
mkfifo t/fifo
before=$(find . | sort)
while IFS= read -r args; do
	echo "== $args"
	eval "getmnt find $args" 2>err >out </dev/null
	echo "status $?, $(wc -c <out) bytes out"
	cat err
done <<'ARGS'
t -nosuch
t -nmae x
t -exec touch executed \; -delete -maxdeth 1
-Z t
--nosuch t
t -name
t -size
t -fprintf out
t -maxdepth
t -maxdepth x
t -maxdepth -1
t -size 5q
t -size x
t -size ''
t -mtime x
t -mmin 1x
t -links +-1
t -inum 1.5
t -uid x
t -used x
t -newermt 'not a date'
t -newer t/none
t -newerxm t
t -newermq t
t -newerqm t
t -samefile t/none
t -user nosuch-user
t -group nosuch-group
t -user ''
t -perm 8
t -perm u~x
t -perm +222
t -perm ''
t -type q
t -type f,
t -type ''
t -type ff
t -xtype f,f
t -regextype nosuch
t -regex '\('
t -fstype
t -exec touch executed
t -exec touch executed {}
t -exec \;
t -exec {} +
t -exec touch executed {} {} +
t -exec touch 'x{}' {} +
t -ok touch executed +
t -execdir
t \( -name x
t -name x \)
t \( \)
t !
t ! -o -name x
t -o -name x
t -name x -o
t -name x -a
t , -name x
t -name x ,
t -name x -a -o -name y
t -prune -delete
t -delete -prune
t -name d -prune -o -delete
. -name t -exec touch executed \; -delete -prune
t -printf
t -name x t/d
t -name x -- t/d
t --index -name x
t -context x
t -D nosuch
-D nosuch t
-Ox t
t -help -name x
t -version
t -exclude
t -exclude -print
t -exclude -exclude -name x
t -fprint none/out
t -files0-from none
t -files0-from names
names -files0-from names
-files0-from
-files0-from - -ok rm {} \;
t -quit -nosuch
t -exec touch executed \; -name
t -delete -newer none
t -delete -user nosuch-user
t -delete -exec touch executed \; -size x
t -delete \(
ARGS
echo "== PATH with the current directory"
PATH=".:$PATH" status find t -execdir touch executed \; 2>&1
PATH="$PATH:" status find t -okdir touch executed \; 2>&1
PATH="bin:$PATH" status find t -execdir touch executed {} + 2>&1
echo "== what is there"
[ "$(find . ! -name out ! -name err | sort)" = "$before" ] || find . | sort
echo "== warnings"
for args in '-name x -maxdepth 1' '-name a/b' '-printf %q' "-printf '\\q'" '-path t/d/' '-d' '-perm /000' '-name x -depth'; do
	echo "== $args"
	eval "getmnt find t -warn $args" 2>err >out
	echo "status $?"
	cat err
done
echo "== roots"
status find none t/d 2>&1
status find t/d "" 2>&1
status find t/file/ t/d 2>&1
echo "== standard output"
if [ -e /dev/full ]; then
	getmnt find t >/dev/full
	echo "status $?"
	getmnt find t -fprint /dev/full
	echo "status $?"
fi
getmnt find t >&-
echo "status $?"
