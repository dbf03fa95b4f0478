# Bad input to search: status 1, a message that names it, nothing on standard
# output; what cannot be searched is reported, and the rest is searched.
mkdir -p t/d
touch t/file t/d/found
ln -s nowhere t/dangling
ln -s d t/todir
while IFS= read -r args; do
	echo "== $args"
	eval "getmnt search $args" 2>err >out
	echo "status $?, $(wc -c <out) bytes out"
	cat err
done <<'ARGS'
''
'[' t
'a[!' t
'[[:nosuch:]]' t
'a|b[' t
'x\' t
-o NOSUCH x t
-o
--type= x t
--type=, x t
--type=f,q x t
--type x t
--access=rx,w,q x t
--depth x t
--depth=1000001 x t
--depth=0 x t
--depth=+5 x t
--depth=' 5' x t
--depth='5 ' x t
--threads= x t
--threads=0x5 x t
--threads=-1 x t
--stats=xml x t
--color=sometimes x t
--engine=ring x t
--engine x t
--first=1 x t
-x x t
-dash x t
-Jdash x t
x t -lx
-Jo
-lé x t
x -$'\xc3'l t
--un=x x
--nosuch x t
-J -l x t
--count -m x t
-0 -l x t
-0 --count x t
--
ARGS
echo "== roots"
status search found t/file t/none t/dangling t 2>&1
status search found t "" 2>&1
status search found t/todir 2>&1
status search found "t/$(printf 'n%.0s' {1..300})" 2>&1 | sed 's/nnnn*/n.../'
echo "== too deep: what is looked up, and what is searched for"
mkdir -p t/deep/a/b
touch t/deep/a/b/c t/deep/file
ln -s a t/deep/link
for pattern in /a/b/c "/a/b/[c]" /a/b/none "/a/b/[n]one" /a/b "/a/[b]" /file/b/c /none/b/c /link/b/c; do
	for depth in 1 2; do
		echo "$pattern $depth: $(status search --depth=$depth "$pattern" t/deep 2>&1 | tr '\n' ' ')"
	done
done
status search -L --depth=1 /link/b/c t/deep 2>&1
status search -J --depth=1 /a/b/c t/deep 2>&1 | grep -e path -e status
echo "== long patterns"
status search "$(printf 'x%.0s' {1..70000})" t 2>&1 | sed 's/xxx*/x.../'
status search "$(printf 'x%.0s' {1..59})é[" t 2>&1
status search "$(printf 'é%.0s' {1..30})[" t 2>&1
status search "$(printf 'x%.0s' {1..58})é"$'\xff[' t 2>&1
status search -o "$(printf 'x%.0s' {1..59})é" x t 2>&1
status discover -o "$(printf 'x%.0s' {1..59})é" 2>&1
echo "== the rest is searched"
status search --count found t/none t 2>&1
status search --type=f,d,l --access=r,w "/*" t/d 2>&1
echo "== standard output"
if [ -e /dev/full ]; then
	getmnt search "*" t >/dev/full
	echo "status $?"
	getmnt search -J "*" t >/dev/full
	echo "status $?"
fi
echo "== links in a circle"
mkdir -p circle/below
ln -s self circle/self
ln -s .. circle/below/up
status search -L "self|up" circle 2>&1 | sort
