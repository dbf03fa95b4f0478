# getmnt find: options, messages, -ok, -files0-from; tests/system/find_*.py compare it with GNU find.
umask 022
mkdir -p t/a/b 't/sp ace'
echo x >t/a/1
printf '\0' | head -c 3000 >t/a/b/2
ln -s a t/link
ln -s nowhere t/dangling
touch $'t/new\nline'
# The order is that of the directory.
sorted() { echo "== $*"; getmnt find "$@" 2>&1 | LC_ALL=C sort; }
try() { echo "== $*"; getmnt find "$@" 2>&1; echo "status $?"; }
sorted t
sorted t/ -maxdepth 1
(cd t && sorted)
sorted -H t/link
sorted -L t -type l
sorted t -name b -prune -o -type f -print
sorted t -depth -path 't/a*'
sorted --threads=1 t -type f -printf '%P %s %d\n'
sorted --blocking -P -O3 t -exclude -name a
sorted t -name '[12]' -exec echo {} x{}y \;
sorted t -type f -name 1 -execdir echo {} +
try -D tree t \( -name 'a*' -o -size +1k \) ! -empty -maxdepth 1
try -D help
echo "== -ok"
printf 'y\nn\n' | getmnt find t/a/1 t/a/b/2 -ok echo found {} \; -print 2>&1
echo "status $?"
printf 't/a/1\0t/link\0' | try -files0-from -
printf 't/a/1\0\0' >names
try -files0-from names
try t -files0-from names
try -files0-from missing
echo "== --stats"
getmnt find --stats t -name 1 2>&1 | grep -oE '^t/a/1|^directories.*'
getmnt find --stats=json t -name 1 2>&1 >/dev/null | grep -oE '"dirs":[0-9]+,"entries":[0-9]+,"found":[0-9]+'
echo "== bad"
for words in missing "t missing -name 1" "--nosuch t" "-O t" "-Ox t" "-D x t" "-D" "--threads=x t" "t -nosuch" "t -naem x" \
	"t -name" "t -name x y" "t ( -name x" "t -name x )" "t -exec" "t -exec ;" "t -exec true" "t -exec true {} {} +" \
	"t -ok true {} +" "t -printf" "t -printf %" "t -printf %( " "t -fprint /proc/self/none" "t -size x" "t -user nosuch" \
	"t -newer nosuch" "t -type x" "t -perm +x" "t -regextype x" "t -context x" "t -help" "t -maxdepth -1" \
	"t -prune -delete" "t -ok true ; -files0-from -"; do
	# shellcheck disable=SC2086
	(set -f; try $words)
done
try ''
try t -execdir true \; 2>&1 | tail -n 1
PATH=$PATH:. try t -execdir true \;
PATH=:$PATH try t -okdir true \;
PATH=bin:$PATH try t -execdir true \;
try t/a/1 -printf '%q\q%A'
echo "== -delete"
sorted t/a -delete
try t -mindepth 1 -maxdepth 1 -delete
try t -print
echo "== help"
getmnt find -help | head -n 5
[ "$(getmnt find --help)" = "$(getmnt find -h)" ] && [ "$(getmnt help find)" = "$(getmnt find -help)" ] && echo same
[ "$(getmnt find -version)" = "$(getmnt --version)" ] && [ "$(getmnt find --version)" = "$(getmnt --version)" ] && echo same
echo "== a directory that was removed is empty"
# valgrind is a shell script, which complains.
(mkdir gone && cd gone && rmdir ../gone && getmnt find . -printf '%p\n' && getmnt search --count '*') 2>&1 |
	grep -v '^sh: .*getcwd'
echo "status ${PIPESTATUS[0]}"
echo "== a command removes the root before it is read"
mkdir -p gone/a && try gone -exec rm -r {} \; -print
mkdir -p gone/a && try gone -mindepth 1 -exec rm -r {} \;
mkdir -p gone && try gone -ignore_readdir_race -exec rm -r {} \; -print
