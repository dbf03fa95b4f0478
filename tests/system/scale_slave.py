# SPDX-License-Identifier: MIT
"""A slave mount namespace with 3,000 mounts (GETMNT_SCALE=full: 10,000), half of them
propagated after it was made, seen from within and by --task from outside."""
import os

import gm
import hosts

MOUNTS = 10000 if gm.FULL else 3000
SECONDS = 90


def by_id(result, tag):
    """The rows of a document by their IDs."""
    gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
    return {gm.row_id(row): row for row in result.rows()}


def check(source, task=None):
    """Every mount has the mount point and peer group of mountinfo, and is a slave."""
    table = f"/proc/{task or 'self'}/mountinfo"
    with open(table, encoding="utf-8") as file:
        want = {}
        for line in file:
            before, _ = line.split(" - ")
            fields = before.split(" ")
            want[int(fields[0])] = (fields[4], " ".join(fields[6:]))
    args = ["-J", "-l", "-o", "ID,TARGET,PROPAGATION,OPT-FIELDS,NAMED,STATES", "--stats=json"]
    args += ["--task=%d" % task] if task else ["--kernel=" + source]
    result = gm.getmnt(*args, seconds=SECONDS)
    rows, tag = by_id(result, source), f"{source}, {len(want)} mounts"
    gm.expect(rows.keys() == want.keys(), f"{tag}: {len(rows)} rows")
    odd = [row for id_, row in rows.items()
           if (row["target"], row["opt-fields"] or "") != want.get(id_)]
    gm.expect(not odd, f"{tag}: {len(odd)} differ from mountinfo: {odd[:2]}")
    # The root covers another one: pivot_root.
    slaves = [row for row in rows.values() if row["propagation"] == "private,slave"]
    gm.expect(len(slaves) >= MOUNTS, f"{tag}: {len(slaves)} slaves")
    odd = [row for row in rows.values() if row["named"] != "verified" or row["states"] != ["ok"]]
    gm.expect(not odd, f"{tag}: {len(odd)} are not verified: {odd[:2]}")
    calls, points = result.stats()["calls"], {point for point, _ in want.values()}
    # The root of a task takes one more statx: it is not the "/" examined at the start.
    gm.expect(calls["statx"] == len(points) + (task is not None), f"{tag}: {calls['statx']} statx")
    statmounts = len(want) + 1 if source == "listmount" else int(gm.have_listmount())
    gm.expect(calls["statmount"] == statmounts, f"{tag}: {calls['statmount']} statmount")


with hosts.MountMax(MOUNTS):
    root = gm.Root()
    gm.mkdir(root / "host")
    root.enter()
    gm.propagation("/", gm.MS_SHARED, recursive=True)
    host = hosts.Binds("/host")
    host.add(MOUNTS // 2)
    come, ready = os.pipe(), os.pipe()
    pid = gm.fork()
    if pid == 0:
        gm.unshare_mounts()
        gm.propagation("/", gm.MS_SLAVE, recursive=True)
        os.write(ready[1], b"x")
        os.read(come[0], 1)
        sources = ["mountinfo"] + (["listmount"] if gm.have_listmount() else [])
        for which in sources:
            check(which)
        os.write(ready[1], b"x")
        os.read(come[0], 1)
        gm.done()
    os.close(ready[1])
    os.read(ready[0], 1)
    host.add(MOUNTS - MOUNTS // 2)      # these propagate to the slave
    os.write(come[1], b"x")
    if gm.expect(os.read(ready[0], 1), "the slave ended early"):
        check("task", pid)
        os.write(come[1], b"x")
    _, status = os.waitpid(pid, 0)
    gm.expect(status == 0, "in the slave")
gm.done()
