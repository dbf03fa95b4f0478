# SPDX-License-Identifier: MIT
"""contrib/fleet/findings.sql on the reports of 10,000 hosts: DuckDB gives the answers that a plain
count gives."""
import collections
import json
import os
import sys

import gm

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOSTS = 10000
MISSING = {17, 4242, 9999}          # hosts that do not report
FAILED = 5000                       # a host that could not be audited
sys.path.insert(0, f"{TOP}/build/duckdb")
try:
    import duckdb
except ImportError:
    gm.skip("there is no duckdb: make deps-fleet")


def finding(code, severity, target):
    return {"code": code, "severity": severity, "target": target, "owner": "fstab", "message": f"{code} at {target}",
            "expected": None, "actual": None, "hint": None, "source": None}


def findings(i):
    """What the audit of host i finds."""
    if i == FAILED:
        return []
    found = [finding("MNT-SHADOWED", "info", "/old")] if i % 2 else []
    if i % 7 == 0:
        found += [finding("DRIFT-OPTIONS", "warning", "/tmp"), finding("DRIFT-OPTIONS", "warning", "/srv")]
    if i % 1000 == 1:
        found.append(finding("DRIFT-READONLY", "critical", "/data"))
    if i == 4321:
        found.append(finding("MNT-LIMIT", "critical", None))
        found.append(finding("DRIFT-OPTIONS", "warning", "/only here"))
    return found


os.chdir(os.environ["GETMNT_WORK"])
# A real report is the template of each line.
gm.touch(os.path.abspath("fstab"), "none /gone tmpfs defaults 0 0\n")
result = gm.getmnt("audit", f"--fstab={os.path.abspath('fstab')}", "--jsonl", "--config=none", program=os.environ["GETMNT"])
gm.expect(result.status == 1, f"audit: {result.status} {result.err}")
real = json.loads(result.out)
gm.expect(set(real["findings"][0]) == set(finding("", "", "")), f"keys of a finding: {real['findings'][0]}")
all_of = {f"node{i:05}": findings(i) for i in range(HOSTS) if i not in MISSING}
with open("fleet.jsonl", "w", encoding="utf-8") as f:
    for host, found in all_of.items():
        failed = "memory ran out" if host == f"node{FAILED:05}" else None
        f.write(json.dumps({**real, "host": host, "findings": found, "failed": failed}) + "\n")
gm.touch(os.path.abspath("hosts.txt"), "".join(f"node{i:05}\n" for i in range(HOSTS)))

flat = [(host, f) for host, found in all_of.items() for f in found]
rank = {"critical": 0, "warning": 1, "info": 2}
count, hosts, places = collections.Counter(), collections.defaultdict(set), collections.defaultdict(set)
for host, f in flat:
    key = (f["severity"], f["code"])
    count[key] += 1
    hosts[key].add(host)
    if f["severity"] != "info":
        places[f["code"], f["target"]].add(host)
want = [
    sorted(((*key, n, len(hosts[key])) for key, n in count.items()), key=lambda row: (rank[row[0]], -row[3], row[1])),
    sorted((host, f["code"], f["target"], f["message"]) for host, f in flat if f["severity"] == "critical"),
    sorted((min(who), code, target) for (code, target), who in places.items() if len(who) == 1),
    sorted([(f"node{i:05}", "no report") for i in MISSING] + [(f"node{FAILED:05}", "memory ran out")]),
]
gm.expect([len(rows) for rows in want] == [4, 11, 2, 4], f"the expected answers: {[len(rows) for rows in want]}")
want[1].sort(key=lambda row: (row[0], row[1]))
database = duckdb.connect()
answers = []
with open(f"{TOP}/contrib/fleet/findings.sql", encoding="ascii") as f:
    for statement in database.extract_statements(f.read()):
        answer = database.execute(statement)
        if statement.type == duckdb.StatementType.SELECT:
            answers.append(answer.fetchall())
for i, (is_now, rows) in enumerate(zip(answers, want, strict=True)):
    gm.expect(is_now == rows, f"query {i}: {is_now[:5]}, not {rows[:5]}")
gm.done()
