# What to type instead of a pattern that can never match, or that is meant for another tool.
mkdir -p t/src/sub
touch t/src/a.c t/src/sub/c.c t/README.md
cd t || exit
here=$PWD
while IFS= read -r args; do
	echo "== $args"
	eval "getmnt search $args" >out 2>err
	status=$?
	sort out
	sed "s|$here|HERE|g; /^Try/d" err
	echo "status $status"
done <<'ARGS'
.
..
/
./
./x
./src
src/
src/ .
src// .
x//y
../x
../x .
src/../b src
-- -x/
'[a]/' src
'.|..'
'a/|/b/'
'{a/,}/b'
'{.,..}'
'a/|src'
--paper '{.,..}'
-l --usage ./src
-0 src/ --type=d -- .
--files0-from=/dev/null src/
-e src/
-e . -e a
x --exclude a/
x --exclude /
x --exclude '.|..'
. -name x
. -type f -name '*.c'
'*.c' . -maxdepth 2
-- x -name
-name 'a b' .
-type f .
-print .
-exec
'*.c' . -mtime 2
-mtime 2 '*.c' .
'*.c' -ls
--where -empty '*' src
-e -name .
--newer -newer x
-e x -empty
'^src'
'\.c$' src
-i 'A.*C'
'^[ab]\.[ch]$' . src
'^(a|b)\d+$'
'\d\d'
'[a-z]+.md'
'^foo|bar$'
'x{2,3}y+'
'core.*'
'a$'
'$'
'^'
'\$x'
'^src|README.md'
nosuch
"$here/src/a.c" "$here"
"$here/src/a.c" "$here/src/"
"$here/src/b*" . "$here" .
"$here/src/a.c"
"$here/src"
"$here/none"
/
--count '^x'
-J '^x'
ARGS
