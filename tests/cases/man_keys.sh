# The keys of --stats=json, and of a JSON document, are a promise.
getmnt -J -F "$(table cli/should-fail-lines)" --explain --stats=json >out 2>err
echo "status $?"
tail -n 1 err >stats
python3 - <<'PY'
import json
def show(what, value):
    print(what + ":", *value)
stats = json.load(open("stats"))
show("stats", stats)
show("calls", stats["calls"])
show("named", stats["named"])
show("states", stats["states"])
print(all(rule["rule"] in stats["rules"] for rule in json.load(open("out"))["rules"]))
print(sum(stats["calls"].values()) == stats["total_calls"])
document = json.load(open("out"))
show("document", document)
show("row", document["filesystems"][0])
show("problem", document["problems"][0])
show("rule", document["rules"][0])
print(document["complete"], document["incomplete_reasons"], document["schema"])
PY
getmnt -J -F "$(table cli/host)" -t xyzfs 2>/dev/null | python3 -c 'import json, sys; print(list(json.load(sys.stdin)))'
# Boundaries are met by a search of what is there: of nothing, here.
mkdir none
getmnt -J --root "$PWD/none" --boundaries --depth 1 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["boundaries"])'
for args in "-F nosuchfile" --nosuch; do
	# shellcheck disable=SC2086
	getmnt -J $args 2>/dev/null | wc -c
done
