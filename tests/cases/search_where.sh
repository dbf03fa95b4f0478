# getmnt search by attributes: each option selects what find's test selects.
mkdir -p t/d/e t/empty
truncate -s 1024 t/k1
truncate -s 1025 t/d/k1+
truncate -s 2M t/d/m2
: > t/d/e/zero
ln t/k1 t/d/linked
chmod 4755 t/d/m2
chmod 600 t/k1
touch -d '3 days ago' t/d/m2
touch -d '90 minutes ago' t/k1
touch -d 2020-01-01 t/d/e/zero

# both "OPTIONS OF SEARCH" "TESTS OF FIND"
both() {
	local found expected
	# shellcheck disable=SC2086
	found=$(eval "getmnt search '*' t $1" | sort)
	expected=$(eval "find t -mindepth 1 $2" | sort)
	if [ "$found" = "$expected" ]; then
		echo "$1: $(echo "$found" | grep -c .)"
	else
		printf '%s\n' "$1: differs" "$found" "-- find: $expected"
	fi
}

echo "== options"
both "--size=1k" "-size 1024c"
both "--size=+1k" "-size +1023c"
both "--size=-1K" "-size -1025c"
both "--size=-0" "-size 0c"
both "--size=+0" ""
both "--size=+1KiB --size=-1M --type=f" "-type f -size +1023c -size -1048577c"
both "--changed-within=2h" "-newermt '2 hours ago'"
both "--changed-within='2 days'" "-newermt '2 days ago'"
both "--changed-before=1d" "! -newermt '1 day ago'"
both "--changed-before=2020-06-01" "! -newermt 2020-06-01"
both "--newer=t/k1" "-newer t/k1"
both "--user=$(id -un) --group=$(id -g)" "-user $(id -un) -group $(id -g)"
both "--perm=600" "-perm 600"
both "--perm=-u+s" "-perm -u+s"
both "--links=2 --type=f" "-links 2 -type f"
both "--empty" "-empty"
both "--where='-name d -o -size +1M'" "'(' -name d -o -size +1M ')'"
both "--where='-name d -prune -o -true' --type=d" "-name d -prune -print -o -type d -print"
both "--where='-maxdepth 1'" "-maxdepth 1"
both "--where='-daystart -mtime 0' --changed-within=1h --where='-name \"k*\" -o -name zero'" \
	"-newermt '1 hour ago' '(' -name 'k*' -o -name zero ')'"
both "--where='! ( -name \"k*\" -o -empty )' --perm=/4000" "! '(' -name 'k*' -o -empty ')' -perm /4000"

echo "== links, also if -L comes later"
ln -s k1 t/new
touch -h -d 2019-01-01 t/new
getmnt search 'k*' t --newer=t/new | sort
getmnt search 'k*' t --newer=t/new -L
rm t/new

echo "== attributes are read only where the name leaves the answer open"
statx() {
	getmnt search --threads=1 --stats=json "$@" 2>&1 >/dev/null | tail -1 |
		sed -E 's/^\{"calls":\{([^}]*)\}.*/\1/; s/.*"statx":([0-9]+).*/\1/'
}
base=$(statx 'nosuch*' t)
echo "k*: $(($(statx 'k*' t --size=1k) - base))"
echo "a type: $(($(statx '*' t --where='-type d') - base))"
echo "*: $(($(statx '*' t --links=1) - base))"

echo "== bad"
for args in --size=1X --size= --changed-within=soon --newer=nosuch --user=nosuchuser --perm=888 \
	--links=many "--where=-nosuch" "--where=-delete" "--where=(" "--where=-true ) -o ( -true" "--where=-name 'x"; do
	getmnt search '*' t "$args" 2>&1
	echo "status $?"
done

echo "== a PATH that is a file; PATHs in a file"
for args in "'k1*' t/k1 t/d" "'*.c' t/k1" "--type=d k1 t/k1" "--size=+2k k1 t/k1" "k1 t/k1/" "'/k1' t/k1" \
	"--count k1 t/k1" "--first k1 t/k1 t"; do
	echo "$args:"
	eval "getmnt search $args" 2>&1
	echo "status $?"
done
printf 't/d\0\0t/k1\0' | getmnt search 'k1*' --files0-from=- 2>&1 | sort
printf 't/d\0t/k1' > list
getmnt search 'k1*' --files0-from=list | sort
getmnt search 'k1*' --files0-from=list t 2>&1
getmnt search 'k1*' --files0-from=none

echo "== --stats shows the query"
getmnt search --stats x t --size=+1k --user=0 2>&1 | grep ^query
getmnt search --stats=json x t --where='! ( -name a -o -empty )' 2>&1 | grep -o '"query".*'
