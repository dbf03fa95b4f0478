# SPDX-License-Identifier: MIT
"""Thousands of mounts on one path: one statx for all of them, a row for each, and trees
whose depth a reader of JSON can handle.

The kernel's time to report them grows with the square of their number, so that 3,000 are
mounted and 8,000 recorded; GETMNT_SCALE=full uses 32,000 of each."""
import json
import re
import sys

import gm
import hosts

RECORDED = 32000 if gm.FULL else 8000
MOUNTS = 32000 if gm.FULL else 3000
SECONDS = 90 * gm.SLOW

sys.setrecursionlimit(10000)


def run(*args):
    result = gm.getmnt(*args, seconds=SECONDS)
    gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err[-300:]}")
    return result


def depth(rows):
    """How many levels of rows there are."""
    levels = 0
    while rows:
        levels += 1
        rows = [child for row in rows for child in row.get("children", [])]
    return levels


with hosts.MountMax(MOUNTS):
    root = gm.Root()
    gm.mkdir(root / "deep/in/here")
    hosts.stack(root / "deep/in/here", MOUNTS)
    gm.tmpfs(root / "deep/in/here/last")
    root.enter()
    lines = gm.mountinfo()
    ids, points = sorted(line.id for line in lines), {line.point for line in lines}
    gm.expect(len(ids) == MOUNTS + len(points) - 1, f"{len(ids)} mounts, {len(points)} points")

    # Live: the calls, and that the stack is one name.
    columns = "ID,TARGET,NAMED,STATE"
    for args in (("-l", "-n", "-o", columns), ("-r", "-n", "-o", columns),
                 ("--format=jsonl", "-o", columns)):
        result = run(*args, "--stats=json")
        stats = result.stats()
        calls = stats["calls"]
        gm.expect(calls["statx"] == len(points), f"{args}: {calls['statx']} statx")
        # statmount would walk up the stack three times for each mount, mountinfo once.
        gm.expect(calls["statmount"] <= 2049 and stats["table"] == "mountinfo",
                  f"{args}: {calls['statmount']} statmount, {stats['table']}")
        if args[0] == "--format=jsonl":
            rows = [json.loads(line) for line in result.out.splitlines()]
            rows = [(row["id"], row["target"], row["named"], row["state"]) for row in rows]
        else:
            rows = [line.split() for line in result.out.decode().splitlines()]
            rows = [(int(row[0]), *row[1:]) for row in rows]
        gm.expect(sorted(row[0] for row in rows) == ids, f"{args}: {len(rows)} rows")
        here = [row[2:] for row in rows if row[1] == "/deep/in/here"]
        gm.expect(here.count(("verified", "ok")) == 1
                  and here.count(("inferred", "hidden")) == MOUNTS - 1,
                  f"{args}: {len(here)} rows, not one of them on top: {set(here)}")

# Each output format, on a recorded table.
ids = list(range(1, RECORDED + 3))
with open("/tmp/table", "w", encoding="ascii") as file:
    file.write("1 1 0:1 / / rw - tmpfs root rw\n")
    for number in ids[1:-1]:
        file.write(f"{number} {number - 1} 0:{number} / /on/it rw - tmpfs none rw,size=4k\n")
    file.write(f"{ids[-1]} {ids[-2]} 0:1 / /on/it/last rw - tmpfs last rw\n")
for args, most in ((("-J",), 3), (("-J", "-l"), 1), (("-J", "--stacks=nest"), 513)):
    rows = run("-F", "/tmp/table", *args).rows()
    gm.expect(sorted(gm.ids_of(rows)) == ids, f"{args}: not every mount is in the document")
    gm.expect(depth(rows) == most, f"{args}: {depth(rows)} levels")
out = run("-F", "/tmp/table", "-n").out.decode()
gm.expect(len(out.splitlines()) == 3 and f"(+{RECORDED - 1} beneath)" in out,
          f"a tree of {len(out.splitlines())} lines")
out = run("-F", "/tmp/table", "-n", "--stacks=nest", "-o", "TARGET").out.decode()
widest = max(len(line) for line in out.splitlines())
gm.expect(len(out.splitlines()) == len(ids) and widest < 2 * 520,
          f"a nested tree of {len(out.splitlines())} lines, {widest} wide")
for args in (("-P", "-o", "ID"), ("-l", "-n", "-o", "ID"), ("-r", "-n", "-o", "ID")):
    out = run("-F", "/tmp/table", *args).out
    gm.expect(sorted(map(int, re.findall(rb"\d+", out))) == ids, f"{args}: not every mount")
gm.done()
