# On this machine's mounts: what is the same on each.
status -q
status -q --names=kernel
status -q -k
status -q --kernel=mountinfo
status -q --task $$ --names=kernel
status -n -o TARGET -M /
ln -s / link
status -n -o TARGET -M link
getmnt -C -M link 2>/dev/null
echo "as it is written: $?"
getmnt -l -o STATE --names=kernel -n | sort -u | grep -vE '^(untested|hidden|outside|deleted)'
# Nothing is touched: apart from reading the kernel's tables and a device's
# description, no call but those that read the table.
getmnt -q --names=kernel --kernel=mountinfo --stats=json 2>&1 |
	python3 -c 'import json, sys
calls = json.load(sys.stdin)["calls"]
print("statx", calls["statx"] <= 2, "getdents64", calls["getdents64"], "fstatfs", calls["fstatfs"])'
getmnt -q --names=walk --search-limit=1 --stats=json 2>&1 >/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["dirs"] <= 1)'
# Sizes are read only for the columns that show them.
for columns in TARGET SIZE; do
	getmnt -M / -n -o $columns --stats=json 2>&1 >/dev/null | tail -n 1 |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["calls"]["fstatfs"] <= (sys.argv[1] == "SIZE"))' $columns
done
