#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""index_fleet.py DIR: the questions of contrib/index/fleet.sql on the indexes of many generated hosts,
for docs/INDEX.md.

Each host is like this machine's root: the same system files, with times of its own; and data, two
fifths of its clusters, with names, sizes, times and owners of its own.  No file system is made: the
script writes what `getmnt index export --csv` would print, and contrib/index/parquet.py reads it.

DIR gets the Parquet files (and is not removed).  --write FILE replaces the section between the marks
"index-fleet" in FILE.  Needs duckdb and pyarrow: make deps-fleet.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import os
import random
import re
import statistics
import subprocess
import time

import index_tree

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(HERE)
BEGIN, END = "<!-- index-fleet begin -->", "<!-- index-fleet end -->"
ROWS, DIRS, LEAF, DAY = 20000, 2000, 256, 86400
NOW = int(time.time()) // DAY * DAY
HEAD = "cluster,path,type,mode,uid,gid,size,blocks,nlink,ino,mtime,ctime,atime,btime\n"
DATA = (2, 5)           # clusters that are data, of how many
RUNS = 5


def kd_order(rows, by=0):
    """Rows (path, type, uid, size, mtime, number) in the order of a cluster: leaves of a K-D tree."""
    if len(rows) <= LEAF:
        return rows
    rows = sorted(rows, key=lambda row: row[2 + by])
    half = len(rows) // 2
    return kd_order(rows[:half], (by + 1) % 3) + kd_order(rows[half:], (by + 1) % 3)


def clusters_of(top, files):
    """The objects below a directory, in clusters."""
    clusters, rows, dirs = [], [], 0
    left, number = files, 0
    rng = random.Random(0)
    for below, content in sorted(index_tree.read(top, files)):
        if left <= 0:
            break
        if rows and (len(rows) + len(content) >= ROWS or dirs >= DIRS):
            clusters.append(rows)
            rows, dirs = [], 0
        rows.append((f"/{below}" if below else "/", "d", 0, 4096, NOW - rng.randrange(900 * DAY), number))
        rows += [(f"/{below}/{name}".replace("//", "/"), "f", 0, size, mtime, number + 1 + i)
                 for i, (name, size, mtime) in enumerate(content[:left - 1])]
        number += 1 + len(content)
        left -= 1 + len(content)
        dirs += 1
    clusters.append(rows)
    return [kd_order(rows) for rows in clusters]


def quoted(path):
    """As the export has it, for names of this machine."""
    path = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return '"' + path.replace('"', '""') + '"' if "," in path or '"' in path else path


def export(number, clusters, out):
    """Write the export of a host."""
    rng = random.Random(number)
    installed = NOW - rng.randrange(700 * DAY)
    users = [10000 + number * 7 + int(300 * rng.random() ** 3) for _ in range(40)]
    count = 0
    out.write(HEAD)
    for cluster, rows in enumerate(clusters):
        data = cluster % DATA[1] < DATA[0]
        lines = []
        owner = 0
        for path, kind, uid, size, mtime, ino in rows:
            count += 1
            ino += 1000 * number
            random_bits = rng.getrandbits(29)
            changed = installed + random_bits % 100000
            if data:
                if random_bits % 50 == 0:
                    owner = users[random_bits % len(users)]
                uid = owner
                mtime -= random_bits % (300 * DAY)
                changed = max(mtime, installed)
                if kind == "f":
                    # Half of the names are the host's own.
                    path = path if random_bits & 1 else f"{path}.{random_bits:x}"
                    size = size * (random_bits % 1000 + 500) // 1000
            path = quoted(path)
            stamp = f"{changed}.{random_bits:09}"
            lines.append(f"{cluster},{path},{kind},{'0755' if kind == 'd' else '0644'},{uid},{uid},{size},{(size + 4095) // 4096 * 8},"
                         f"1,{ino},{mtime}.{random_bits if data else 0:09},{stamp},{stamp},{stamp}\n")
        out.write("".join(lines))
    return count


def make(args, clusters):
    """Write the Parquet files of all hosts.  Returns rows, seconds of parquet.py."""
    rows, seconds = 0, 0.0
    text = os.path.join(args.dir, "export.csv")
    for number in range(args.hosts):
        with open(text, "w", encoding="utf-8") as f:
            rows += export(number, clusters, f)
        start = time.perf_counter()
        subprocess.run([sys.executable, f"{TOP}/contrib/index/parquet.py", f"--host=host{number:03}", "fleet", text], check=True,
                       cwd=args.dir, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": f"{TOP}/build/duckdb"})
        seconds += time.perf_counter() - start
    os.remove(text)
    return rows, seconds


def measure(args, rows, seconds):
    """The section as text."""
    import duckdb
    os.chdir(args.dir)
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"SET threads = {args.threads}")
    db.execute("SET enable_external_file_cache = false")   # each run reads the files again
    size = sum(os.path.getsize(f"{top}/{name}") for top, _, names in os.walk("fleet") for name in names)
    groups, bloom = db.execute("""SELECT count(DISTINCT (file_name, row_group_id)), sum(bloom_filter_length)
                                  FROM parquet_metadata('fleet/**/*.parquet')""").fetchone()
    answers = []
    with open(f"{TOP}/contrib/index/fleet.sql", encoding="ascii") as f:
        statements = db.extract_statements(f.read())
    for statement in statements:
        if statement.type != duckdb.StatementType.SELECT:
            db.execute(statement)
            continue
        if not answers:
            # What the first three questions are about is drawn from the data.
            name, owner, below, near, least = db.execute("""
                SELECT name, uid, regexp_extract(dir, '^/[^/]+/[^/]+'), mtime, size FROM file
                WHERE host = 'host001' AND uid <> 0 AND type = 'f' AND size > 0 AND dir LIKE '/%/%/%'
                ORDER BY ino % 997, ino LIMIT 1""").fetchone()
            db.execute("SET VARIABLE name = ?", [name])
            db.execute("SET VARIABLE owner = ?", [owner])
            db.execute("SET VARIABLE below = ?", [below])
            db.execute("SET VARIABLE near = ?", [near])
            db.execute("SET VARIABLE least = ?", [least])
        times, processor = [], []
        for _ in range(RUNS):
            start, cpu = time.perf_counter(), time.process_time()
            found = len(db.execute(statement.query).fetchall())
            times.append(time.perf_counter() - start)
            processor.append(time.process_time() - cpu)
        plan = db.execute("EXPLAIN ANALYZE " + statement.query).fetchall()[0][1]
        scanned = re.search(r"Row Groups Scanned: (\d+) / (\d+)", plan)
        title = re.findall(r"^-- (.*?)[.:,]?$", statement.query, re.M)
        answers.append((title[-1] if title else "", scanned[1] if scanned else "?", found,
                        statistics.median(times), statistics.median(processor)))
    lines = [f"{args.hosts} hosts, {rows:,} objects, {groups:,} row groups of {rows // groups:,} objects; {size / rows:.1f} bytes an "
             f"object, {bloom / rows:.1f} of them Bloom filters. `parquet.py` takes {seconds / args.hosts:.1f} s a host "
             f"({rows / seconds:,.0f} objects a second). DuckDB {duckdb.__version__}, {args.threads} "
             f"{'thread' if args.threads == 1 else 'threads'}, files cached; the median of {RUNS} runs:", "",
             f"| question | row groups read, of {groups:,} | rows of the answer | ms | processor, ms |",
             "|---|---:|---:|---:|---:|"]
    lines += [f"| {title} | {scanned} | {found} | {wall * 1000:.0f} | {cpu * 1000:.0f} |" for title, scanned, found, wall, cpu in answers]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--files", type=int, default=200000, help="objects of a host (200,000)")
    parser.add_argument("--like", default="/", help="the tree that hosts are like (/)")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of DuckDB")
    parser.add_argument("--write", metavar="FILE", help="the page to change")
    parser.add_argument("dir", metavar="DIR", help="an existing directory with 1 GB of room")
    args = parser.parse_args()
    sys.path.insert(0, f"{TOP}/build/duckdb")
    args.write = args.write and os.path.abspath(args.write)
    rows, seconds = make(args, clusters_of(args.like, args.files))
    section = measure(args, rows, seconds)
    print(section)
    if args.write:
        with open(args.write, encoding="utf-8") as f:
            before, _, rest = f.read().partition(BEGIN)
        with open(args.write, "w", encoding="utf-8") as f:
            f.write(f"{before}{BEGIN}\n\n{section}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
