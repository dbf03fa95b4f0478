# SPDX-License-Identifier: MIT
"""Mounts, directories and files that come and go during the walk: never a
failure, never a false "lost", never a wrong name or state for what stayed."""
import os
import time

import gm

root = gm.Root()
for i in range(30):
    gm.mkdir(root / f"w/d{i}/e/f")
for i in range(10):
    gm.tmpfs(root / f"stay/s{i}/in/side")
gm.mkdir(root / "go")
root.enter()
stay = {line.id: line for line in gm.oracle()}
pid = gm.fork()
if pid == 0:
    end = time.monotonic() + 60
    n = 0
    while time.monotonic() < end:
        n += 1
        path = f"/go/g{n % 17}"
        gm.tmpfs(path, "size=4k,nr_inodes=20")
        gm.tmpfs(path + "/in", "size=4k,nr_inodes=20")
        gm.mkdir(f"/w/d{n % 30}/new{n}/x")
        if n % 3 == 0:
            gm.mount(path, gm.mkdir(f"/go/moved{n % 5}"), None, gm.MS_MOVE)
            gm.umount(f"/go/moved{n % 5}", gm.MNT_DETACH)
        else:
            gm.umount(path, gm.MNT_DETACH)
        os.rmdir(path) if n % 2 else None
        os.rmdir(f"/w/d{n % 30}/new{n}/x")
        os.rename(f"/w/d{n % 30}/new{n}", f"/w/d{n % 30}/old")
        os.rmdir(f"/w/d{n % 30}/old")
    gm.done()
for turn in range(12):
    for names, algorithm, source in gm.RUNS:
        if source == "listmount" and not gm.have_listmount():
            continue
        tag = f"turn {turn}: {names} {algorithm} {source}"
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                           "--algorithm=" + algorithm, "--kernel=" + source)
        if result.status is None:
            continue
        try:
            document = result.json()
        except ValueError as error:
            gm.fail(f"{tag}: status {result.status}, no JSON: {error}: {result.err[-200:]}")
            continue
        rows = document["filesystems"]
        odd = [row for row in rows if gm.row_states(row) & {"lost", "unsearched"}]
        # A mount that moves about may be missed, and told so; one that is not
        # there any more may not be called lost.
        gm.expect(result.status == (64 if odd else 0), f"{tag}: status {result.status}: "
                  f"{document.get('incomplete_reasons')}: {odd[:2]}: {result.err[-200:]}")
        gm.expect(not any("lost" in gm.row_states(row) for row in odd), f"{tag}: lost: {odd[:2]}")
        found = {gm.row_id(row): row for row in rows}
        for id_, line in stay.items():
            row = found.get(id_)
            if row is None or row["target"] != gm.shown(line.point) or \
                    gm.row_states(row) != {"ok"}:
                gm.fail(f"{tag}: {line}: {row}")
    if len(gm.failures) > 20:
        break
os.kill(pid, 9)
os.waitpid(pid, 0)
gm.done()
