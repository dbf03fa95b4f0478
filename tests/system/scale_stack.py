# SPDX-License-Identifier: MIT
"""Thousands of mounts on one path: one statx for all of them, a row for each, and
trees that end where a reader of JSON would.

6,000 are mounted, and with GETMNT_SCALE=full 32,000: to tell of each the kernel
takes a step for each one below it.  32,000 are recorded.  With GETMNT_SCALE=small
2,000 and 8,000."""
import json
import os
import re
import sys

import gm
import hosts

SCALE = os.environ.get("GETMNT_SCALE")
RECORDED = 8000 if SCALE == "small" else 32000
MOUNTS = RECORDED if SCALE == "full" else 2000 if SCALE == "small" else 6000
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
        # Not by three walks of the kernel for each, where it can be one.
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
                  f"{args}: of {len(here)} one is on top: {set(here)}")

# Recorded: the forms.
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
