# --explain: each rule, and in which algorithm it is on; --prune switches it.
host=$(table cli/host)
for algorithm in getmnt3 getmnt2 getmnt1; do
	echo "== $algorithm"
	getmnt -F "$host" -l -n -o TARGET -M / --algorithm=$algorithm --explain | awk 'NR > 3 { print $1, $2 }'
done
echo "== --prune"
getmnt -F "$host" -r -n -o TARGET -M / --explain --prune=-leaf,-end,+end 2>&1 >/dev/null | awk '$2 == "no"'
