# --explain: the rules, and in which algorithm each is on; --prune switches it.
# Rules may be added: only those that are promised are looked at.
host=$(table cli/host)
promised='^(leaf|shrink|end|unreachable|dtype|nlink|unlooked|pseudo|likely|boundary) '
for algorithm in getmnt3 getmnt2 getmnt1; do
	echo "== $algorithm"
	getmnt -F "$host" -l -n -o TARGET -M / --algorithm=$algorithm --explain |
		grep -E "$promised" | awk '{ print $1, $2 }'
done
echo "== --prune"
getmnt -F "$host" -r -n -o TARGET -M / --explain --prune=-leaf,-end,+end 2>&1 >/dev/null |
	grep -E "$promised" | awk '$2 == "no"'
