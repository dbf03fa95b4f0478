# SPDX-License-Identifier: MIT
"""contrib/index: exports of twelve hosts as Parquet, a row group a cluster; fleet.sql gives the
answers that a plain count gives, and reads only the row groups that it must."""
import collections
import csv
import datetime
import os
import random
import re
import subprocess
import sys

import gm

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, f"{TOP}/build/duckdb")
try:
    import duckdb
    import pyarrow  # pylint: disable=unused-import
except ImportError:
    gm.skip("there is no duckdb or no pyarrow: make deps-fleet")

HOSTS, CLUSTERS, ROWS = 12, 8, 400
NOW = int(datetime.datetime.now(datetime.timezone.utc).timestamp())
DAY = 86400
COLUMNS = "cluster path type mode uid gid size blocks nlink ino mtime ctime atime btime".split()
NAMES = ["authorized_keys", "a,b", 'quote"d', "\\x0aline", "é", "core", "x" * 200]
os.chdir(os.environ["GETMNT_WORK"])
rng = random.Random(24)


def row(cluster, path, kind, i):
    time = NOW - rng.choice((rng.randrange(DAY), rng.randrange(3000 * DAY), NOW + 5))
    return {
        "cluster": cluster, "path": path, "type": kind, "mode": rng.choice(("0644", "4755", "0000")),
        "uid": rng.choice((0, 0, 1000, 4294967294)), "gid": 100, "size": rng.choice((0, 7, 2000000, 300000000, 1 << 62)),
        "blocks": rng.choice((0, 8, 4096)), "nlink": rng.choice((1, 1, 1, 4)) if kind == "f" else 2,
        "ino": rng.choice((i, (1 << 64) - 1 - i)), "mtime": f"{time}.{rng.randrange(10 ** 9):09}",
        "ctime": f"{NOW}.000000000", "atime": "-1.500000000", "btime": rng.choice(("", "99999999999999999.000000001")),
    }


def export(host):
    """The rows of a host: each cluster is a part of the tree."""
    rows = [row(0, "/", "d", 2)]
    for cluster in range(CLUSTERS):
        top = f"/{('home', 'srv', 'usr')[cluster % 3]}/{cluster}"
        for i in range(ROWS):
            name = rng.choice(NAMES) + ("" if i % 50 == 0 else str(i))
            rows.append(row(cluster, f"{top}/d{i % 7}/{name}", "d" if i % 40 == 1 else "f", 1000 * cluster + i))
    rows[-1]["path"] = f"/srv/only on {host}/here"
    # The attributes of one could not be read.
    rows[7].update({column: "" for column in COLUMNS[3:]})
    return rows


def parquet(*args, text=None):
    return subprocess.run([sys.executable, f"{TOP}/contrib/index/parquet.py", *args], input=text, check=False, text=True,
                          capture_output=True, env={**os.environ, "PYTHONPATH": f"{TOP}/build/duckdb"})


every = {}
today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
for number in range(HOSTS):
    host = f"node{number:02}"
    every[host] = export(host)
    with open("export.csv", "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, COLUMNS)
        writer.writeheader()
        writer.writerows(every[host])
    with open("export.csv", encoding="utf-8", newline="") as f:
        args = [["fleet", "export.csv"], ["fleet"]][number % 2]
        result = parquet(f"--host={host}", f"--date={today}", *args, text=f.read())
    gm.expect(result.returncode == 0 and f"{len(every[host])} rows in {CLUSTERS} row groups" in result.stdout,
              f"{host}: {result.stdout} {result.stderr[-500:]}")
# Another day, which no question is about.
parquet("--host=node00", "--date=2001-02-03", "fleet", "export.csv")

# What is no export leaves nothing.
for text in ("", "path,type\n", ",".join(COLUMNS) + "\nx,/,d,0755,0,0,0,0,2,2,1.0,1.0,1.0,1.0\n"):
    result = parquet("--host=bad", f"--date={today}", "fleet", text=text)
    gm.expect(result.returncode == 1 and "parquet.py: standard input: " in result.stderr
              and not os.listdir(f"fleet/host=bad/date={today}"), f"{text!r}: {result}")
os.rmdir(f"fleet/host=bad/date={today}")

# Every value, in the order of the export.
db = duckdb.connect()
db.execute("SET TimeZone = 'UTC'")
for host, rows in every.items():
    got = db.execute(f"SELECT * FROM read_parquet('fleet/host={host}/date={today}/*', hive_partitioning = false)").fetchall()
    for (cluster, where, name, kind, mode, uid, gid, size, blocks, nlink, ino, *times), want in zip(got, rows, strict=True):
        path = f"{where}/{name}"
        if want["uid"] == "":
            gm.expect([cluster, path, kind] == [want["cluster"], want["path"], want["type"]] and {mode, uid, size, ino, *times} == {None},
                      f"{host}: {path}")
            continue
        is_now = [cluster, path, kind, mode, uid, gid, size, blocks, nlink, ino % (1 << 64)]
        gm.expect(is_now == [want["cluster"], want["path"], want["type"], int(want["mode"], 8),
                             *(want[column] for column in COLUMNS[4:10])], f"{host}: {is_now} {want}")
        for time, column in zip(times, COLUMNS[10:], strict=True):
            if not want[column] or len(want[column]) > 25:
                gm.expect(time is None, f"{host} {path}: {column} {time}")
            else:
                sec = float(want[column])
                gm.expect(abs(time.timestamp() - sec) < 0.000002, f"{host} {path}: {column} {time}, not {want[column]}")

# The questions.
flat = [dict(row, host=host, dir=row["path"].rpartition("/")[0], name=row["path"].rpartition("/")[2], at=float(row["mtime"]))
        for host, rows in every.items() for row in rows if row["uid"] != ""]


def some(wanted):
    return sorted((row["host"], row["dir"], row["name"], row["size"]) for row in flat if wanted(row))


space, owners, copies, ages = (collections.defaultdict(lambda: [0, set(), 0]) for _ in range(4))
for row in flat:
    part = row["blocks"] * 512 / (row["nlink"] if row["type"] != "d" else 1)
    parts = (row["path"] if row["type"] == "d" else row["dir"]).split("/")[1:]
    for level in range(1, min(3, len(parts)) + 1):
        if parts[level - 1]:
            space[row["host"], "/" + "/".join(parts[:level])][0] += part
    keys = [(owners, row["uid"])]
    if row["type"] == "f":
        keys.append((ages, max(int((NOW // DAY * DAY - row["at"]) // (365 * DAY)), 0)))
        if row["nlink"] == 1 and row["size"] >= 1000000:
            keys.append((copies, (row["name"], row["size"])))
    for table, key in keys:
        table[key][0] += part
        table[key][1].add(row["host"])
        table[key][2] += 1
want = [
    some(lambda row: row["name"] == "authorized_keys" and row["uid"] == 0),
    some(lambda row: row["name"] == "authorized_keys" and row["uid"] == 0 and row["path"].startswith("/home/")),
    some(lambda row: row["uid"] == 0 and row["size"] >= 100000000 and abs(row["at"] - NOW) <= DAY),
    sorted((-round(bytes), host, top) for (host, top), (bytes, _, _) in space.items())[:20],
    sorted((-round(bytes), uid, len(hosts), count) for uid, (bytes, hosts, count) in owners.items()),
    sorted((-(count - 1) * size, name, size, count, len(hosts)) for (name, size), (_, hosts, count) in copies.items() if count > 1)[:20],
    sorted((years, count, round(bytes)) for years, (bytes, _, count) in ages.items()),
]
gm.expect(all(len(rows) > 2 for rows in want), f"the expected answers: {[len(rows) for rows in want]}")
shapes = [lambda r: r[:4]] * 3 + [
    lambda r: (-r[2], r[0], r[1]), lambda r: (-r[3], r[0], r[1], r[2]), lambda r: (-r[4], r[0], r[1], r[2], r[3]), tuple]
answers = []
with open(f"{TOP}/contrib/index/fleet.sql", encoding="ascii") as f:
    for statement in db.extract_statements(f.read()):
        answer = db.execute(statement)
        if "SET VARIABLE near" in statement.query:
            db.execute(f"SET VARIABLE near = to_timestamp({NOW})")
        if statement.type == duckdb.StatementType.SELECT:
            answers.append(answer.fetchall())
for i, (got, rows) in enumerate(zip(answers, want, strict=True)):
    got = [shapes[i](row) for row in got]
    got = sorted(got) if i < 2 else got   # names that are equal
    gm.expect(got == rows, f"question {i}: {got[:5]}, not {rows[:5]}")

# A name or directory that few clusters have is looked for in these only.
for i, statement in enumerate(("SELECT count(*) FROM file WHERE name = 'here' AND dir = '/srv/only on node07'",
                               "SELECT count(*) FROM file WHERE name = 'none here'",
                               "SELECT count(*) FROM file WHERE starts_with(dir, '/home/3/')")):
    plan = db.execute("EXPLAIN ANALYZE " + statement).fetchall()[0][1]
    scanned = re.search(r"Row Groups Scanned: (\d+) / (\d+)", plan)
    if gm.expect(scanned, f"no number of row groups: {plan}"):
        most = (HOSTS - 7, 2, HOSTS)[i]   # of node07 and the hosts after it
        gm.expect(int(scanned[1]) <= most and int(scanned[2]) == HOSTS * CLUSTERS, f"{statement}: {scanned[0]}")
gm.done()
