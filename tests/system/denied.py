# SPDX-License-Identifier: MIT
"""An ordinary user, with 1,000 mounts below 0700 and 0710 directories on a root of many directories:
nothing is searched, no directory is opened."""
import os

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
root = gm.Root()
for i in range(100):
    for j in range(100):
        gm.mkdir(root / f"many/d{i}/e{j}")
for i in range(1000):
    top = gm.mkdir(root / f"closed{i % 2}/box{i % 10}")
    gm.tmpfs(f"{top}/m{i}", "size=4k,nr_inodes=10")
os.chmod(root / "closed0", 0o700)
os.chmod(root / "closed1", 0o710)
gm.tmpfs(root / "open")
root.enter()
lines = gm.oracle()
gm.check("root", runs=gm.ONE_EACH)
for source in gm.SOURCES:
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--stats=json", "--kernel=" + source,
                       uid=65534)
    if result.status is None:
        continue
    stats, calls = result.stats(), result.stats()["calls"]
    gm.expect(result.status == 0, f"{source}: status {result.status}: {result.err[-500:]}")
    gm.expect(calls.get("getdents64", 0) == 0, f"{source}: it reads directories: {calls}")
    gm.expect(stats["dirs"] == 0, f"{source}: it searches: {stats['dirs']} directories")
    opened = calls.get("openat", 0) + calls.get("openat2", 0)
    gm.expect(opened < 30, f"{source}: {opened} files opened: {calls}")
    gm.expect(calls.get("statx", 0) < 1100, f"{source}: {calls['statx']} statx")
    denied = 0
    ids = set()
    for row in result.rows():
        ids.add(gm.row_id(row))
        target, states = row["target"] or "", gm.row_states(row)
        if target.startswith("/closed"):
            denied += "denied" in states
        elif not target.startswith(("/proc", "/sys")):
            gm.expect(states == {"ok"}, f"{source}: {target}: {states}")
    gm.expect(denied == 1000, f"{source}: {denied} of 1,000 are denied")
    gm.expect(ids == {line.id for line in lines}, f"{source}: not every line is accounted for")
    strict = gm.getmnt("--strict", "--kernel=" + source, uid=65534)
    gm.expect(strict.status == 64, f"{source}: --strict: status {strict.status}")
# A search counts each directory that it may not read, and tells of each mount
# that may lie in one.
for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
    for source in gm.SOURCES:
        for threads in ("1", "4"):
            tag = f"walk {algorithm} {source} {threads}"
            args = ["--names=walk", "--algorithm=" + algorithm, "--kernel=" + source,
                    "--threads=" + threads, "--prune=+leaf"]
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--stats=json", *args, uid=65534)
            if result.status != 0:
                gm.fail(f"{tag}: status {result.status}: {result.err[-300:]}")
                continue
            stats = result.stats()
            gm.expect(stats["denied_dirs"] == 2 and stats["errors"] == 2 and stats["vanished"] == 0,
                      f"{tag}: {stats['denied_dirs']} denied, {stats['errors']} errors")
            gm.expect(stats["states"].get("denied") == 1000 and not stats["states"].get("lost"),
                      f"{tag}: {stats['states']}")
            gm.expect(b"unreadable 2 (denied 2), vanished 0" in gm.getmnt(
                "-q", "--stats", *args, uid=65534).err, f"{tag}: --stats as text")
# What can be passed through and not be read is tested by name in the end.
os.chmod("/closed0", 0o711)
for names in ("hint", "walk"):
    rows = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, uid=65534).rows()
    states = {gm.row_states(row) == {"ok"} for row in rows
              if (row["target"] or "").startswith("/closed0/")}
    gm.expect(states == {True}, f"{names}: below 0711: {states}")
os.chmod("/closed0", 0o700)
# A search by this user ends, and reports that mounts are missing.
result = gm.getmnt("-J", "-l", "-o", "+ID", "--names=pure", uid=65534)
gm.expect(result.status == 64, f"pure: status {result.status}")
gm.done()
