# getmnt audit --collect: what hosts have told, put together; of lines that are as they should
# be, of such that are not, and of hosts that are not there.
cat >make.py <<'PY'
import json, sys, time
now = int(time.time())
def line(host, found=(), ago=60, **more):
    of = {name: sum(s == name for _, s in found) for name in ("critical", "warning", "info")}
    audit = {"findings": [{"code": code, "severity": severity, "target": "/x\x1b[31m", "owner": None, "message": "m", "expected": None,
                           "actual": None, "hint": None, "source": None} for code, severity in found],
             "counts": {**of, "ignored": 0, "silenced": 0}, "expired": [], "not_judged": [], "failed": None, "exit_status": 0,
             "fstab": "/etc/fstab", "root": "/", "mounts": 20, "time": now - ago, "seconds": 0.1, "schema": 1, "version": "0.1.0",
             "host": host, "boot_id": None, "mntns": 1, "table": "listmount", "complete": True, "incomplete_reasons": []}
    return json.dumps({**audit, **more}) + "\n"
def put(name, *lines):
    with open(name, "w", encoding="utf-8", newline="") as f:
        f.write("".join(lines))
hosts = [f"node{i:02}" for i in range(1, 13)]
put("clean", *(line(h, [("FSTAB-NOFAIL", "info")], exit_status=int(h == "node01")) for h in hosts))
put("some", line("rack1-a1.example", [("DRIFT-READONLY", "critical"), ("MNT-DUP", "warning"), ("MNT-DUP", "warning")]),
    line("rack1-a2.example", [("MNT-DUP", "warning")]), line("rack2-a1.example", [("MNT-DUP", "warning"), ("MNT-OF-TOMORROW", "critical")]),
    line("rack2-a2.example", [("MNT-DUP", "warning")]), line("half", complete=False, incomplete_reasons=["a mount \x1b[31mdid not answer"]),
    line("none", failed="/etc/fstab: cannot be read: Permission denied", complete=False, exit_status=2), line("old", ago=90000),
    line("ahead", ago=-9000), line("unasked", not_judged=["MNT-STALE", "MNT-TIMEOUT"]))
put("bad", line("again", [("MNT-DUP", "critical")], ago=99), line("again"), line("again", [("MNT-DUP", "critical")], ago=98),
    line("newer", schema=2), line("older", schema=0), line("cut")[:-30] + "\n", "ssh: connect to host \x1b[31mnode7: timed out\n", "\r\n",
    line("less", counts={"critical": 0, "warning": 1, "info": 0}), line(None), line("saysone", exit_status=1), line("saysboth", incomplete_reasons=["x"]), line("evil\x1b]0;x\x07,[1-9]"), line("last")[:-1])
put("empty", "\n")
put("hosts", "# all of them\nnode[01-12]\t half none # and these\nold,ahead,unasked rack[1-2]-a[1-2].example\n")
put("wrong", "node[1-3]\nnode[3-1]\n")
# Many, so that a screen is too small.
put("many", *(line(f"h{i}", [(f"CODE-{'ABCDEFGHIJ'[j % 10]}-{j}", ("warning", "critical")[j % 2]) for j in range(60)]
                   + [("MNT-DUP", "info")]) for i in range(1, 60, 2)), *(line(f"f{i}", failed=f"why {i}") for i in range(9)),
    *(f"damaged {i}\n" for i in range(9)))
PY
python3 make.py
collect()
{
	status audit --collect "$@" 2>&1
}
schema()
{
	getmnt audit --collect --json "$@" 2>/dev/null | python3 "$TOP/tests/lib/forms.py" json "$TOP/docs/collect.schema.json"
}
echo "== clean, and all are there"
printf 'node[01-12]\n' >clean.hosts
collect --hosts=clean.hosts --max-age=1h clean
collect --fail-on=info - <clean
echo "== not so"
collect --hosts=hosts --max-age=1d clean some
collect --verbose --only=MNT-DUP,MNT-STALE --fail-on=critical some | cut -c1-120
collect --fail-on=never clean
collect --require-complete clean some | tail -n 1
echo "== lines that are none, files that cannot be read"
collect bad empty /nowhere .
collect --hosts=wrong clean
echo "== as a document"
schema --hosts=hosts --max-age=1d clean some bad empty /nowhere
getmnt audit --collect --json --hosts=hosts --max-age=1d clean some bad empty >doc 2>/dev/null
python3 - <<'PY'
import json
doc = json.load(open("doc", encoding="utf-8"))
print({key: value for key, value in doc["counts"].items()}, doc["exit_status"], doc["max_age"], doc["fail_on"])
for group in doc["findings"] + doc["not_judged"] + doc["states"]:
    print({key: value for key, value in group.items()})
print({kind: [place["source"] for place in value["places"]] for kind, value in doc["lines"].items() if kind != "taken"}, doc["lines"]["taken"])
print(doc["unreadable"], [h["source"] for h in doc["hosts"] if h["host"] == "again"])
PY
echo "== one screen"
getmnt audit --collect many >out 2>err
echo "status $?, $(cat out err | wc -l) lines, of at most $(wc -L <out) columns"
head -n 4 out
tail -n 6 out
cat err
getmnt audit --collect --verbose many 2>&1 | grep -c CODE
echo "== into a file; what does not go together"
getmnt audit --collect --output=told clean
echo "status $?"
head -n 1 told
for args in "" "--fstab=x clean" "--jsonl clean" "--syslog clean" "--max-age=1w clean" "--max-time=3 clean"; do
	# shellcheck disable=SC2086
	collect $args | head -n 1
done
status audit --max-age=1h 2>&1 | head -n 1
status audit --hosts=hosts 2>&1 | head -n 1
