# search --sort=COL, --top: the order of all results is that of sort(1) over a listing.
umask 022
export LC_ALL=C TZ=UTC
mkdir -p t/a/b t/c t/-d
for i in {1..60}; do
	head -c $((i * 7919 % 41 * 37)) /dev/zero >"t/a/f$i"
	touch -d "@$((i * 7919 % 23 * 50000000 - 300000000)).$((i % 5))5" "t/a/f$i"
done
chmod 4751 t/a/f7
chmod 600 t/a/f8
cp -p t/a/f1? t/a/b
cp -p t/a/f2? t/c
cp -p t/a/f3? 't/-d'
ln t/a/f1 t/c/f1
ln t/a/f1 t/c/f1again
ln -s f2 t/c/link
ln -s f10 t/c/alink
touch $'t/c/new\nline' t/c/sp\ ace t/c/name t/cc
# sorted COLUMN SORT-KEY: getmnt's order against that of sort, both ways, and the first of it.
sorted()
{
	local column=$1 key=$2 n
	getmnt search -0 -o "$column,PATH" '*' t >all
	sort -z -t $'\t' -k "1,1$key" -k 2 all >up
	sort -z -t $'\t' -k "1,1${key}r" -k 2 all >down
	for n in 1 7 200; do
		head -z -n "$n" up >want
		getmnt search -0 "--sort=$column" "--top=$n" -o "$column,PATH" '*' t | cmp - want || fail "$column up, $n"
		head -z -n "$n" down >want
		getmnt search -0 "--sort=-${column,,}" "--top=$n" -o "$column,PATH" --threads=4 '*' t |
			cmp - want || fail "$column down, $n"
	done
	getmnt search -0 "--sort=$column" '*' t >got
	cut -z -f 2- up | cmp - got || fail "$column, paths"
	getmnt search -l "--sort=-$column" '*' t | sed -E 's/.* (t\/)/\1/; s/ -> .*//' >got
	cut -z -f 2- down | tr '\n\0' 'N\n' | sed 's/newNline/new\\x0aline/; ' >want
	sed 's/ ace/ ace/' want | cmp - got || fail "$column, -l"
	echo "$column: $(tr '\0' '\n' <up | wc -l)"
}
for column in SIZE BLOCKS NLINK INO; do sorted $column n; done
for column in MODE PERMS TYPE NAME USER; do sorted $column ""; done
# Times before 1970: sort -n compares fractions of negative numbers as numbers.
for column in MTIME CTIME; do sorted $column n; done
echo "== PATH; equal values, and missing ones, which are last both ways"
getmnt search --sort=PATH --top=3 '*' t
getmnt search --sort=-PATH --top=3 '*' t
getmnt search --sort=LINK -o LINK,PATH 'f[12]|*link' t/c
getmnt search --sort=-LINK -o LINK,PATH 'f[12]|*link' t/c
echo "== names and inode numbers within each directory, as before; in capitals all results"
getmnt search --sort=name --type=f '*/f1*' t/c t/a | head -n 3
getmnt search --sort=NAME --top=3 -o NAME 'f1*' t
getmnt search --sort=inode f1 t/c | wc -l
getmnt search --sort=SIZE --sort=name --type=l '*' t/c
getmnt search --sort=name --sort=-NAME --type=l '*' t/c
echo "== several roots, colors, JSON with errors, counting"
getmnt search --sort=-NAME --top=2 'f1' t/c t/a
LS_COLORS='ln=36:fi=0' getmnt search --color --sort=NAME --type=l '*' t/c | cat -v
status search --sort=-NAME --top=1 -J 'f1*' t/c t/none 2>&1 | grep -v version
status search --sort=NAME --top=1 --format=jsonl -m -o +LINK 'alink' t/c | sed -E 's/: ?[0-9.]+/: N/g'
status search --sort=SIZE --count '*' t
status search --sort=NAME f1 t/none t/c 2>&1
echo "== bad"
while IFS= read -r args; do
	echo "$args"
	eval "status search $args x t" 2>&1 | grep -v '^Try'
done <<'ARGS'
--top=3
--top=3 --sort=name
--top=0 --sort=SIZE
--top=-1 --sort=SIZE
--top=4294967296 --sort=SIZE
--top=x --sort=SIZE
--top=1 --sort=SIZE --count
--sort=
--sort=-
--sort=--SIZE
--sort=-name,SIZE
--sort=SIZ
--sort=SIZE --first
ARGS
