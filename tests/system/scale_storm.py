# SPDX-License-Identifier: MIT
"""Three processes mount, stack, nest, move and bind as fast as they can, next to 500 mounts
that stay (GETMNT_SCALE=full: 2,000).  In every naming mode and from both sources no mount is
wrongly reported lost, those that stay keep name and state, and an incomplete answer says why."""
import collections
import itertools
import os
import time

import gm
import hosts

STAY = 2000 if gm.FULL else 500
SECONDS = 60        # a run that takes longer hangs
FOR = 20 if gm.FULL else 5      # seconds of storm; each mode runs at least once


def gusts(top):
    """The steps that one process repeats; each undoes what it did."""
    small = "size=4k,nr_inodes=20"

    def umount(path):
        # A search may have a directory open.
        gm.umount(path, gm.MNT_DETACH)

    def beside():
        for i in range(20):
            gm.tmpfs(f"{top}/b{i}", small)
        for i in range(20):
            umount(f"{top}/b{i}")

    def stacked():
        for i in range(30):
            gm.tmpfs(f"{top}/stack", small)
        for i in range(30):
            umount(f"{top}/stack")

    def nested():
        path = f"{top}/nest"
        for i in range(15):
            gm.tmpfs(path, small)
            path += "/n"
        umount(f"{top}/nest")

    def moved():
        gm.tmpfs(f"{top}/from", small)
        gm.tmpfs(f"{top}/from/in", small)
        for i in range(10):
            gm.mount(f"{top}/from", gm.mkdir(f"{top}/to"), None, gm.MS_MOVE)
            gm.mount(f"{top}/to", f"{top}/from", None, gm.MS_MOVE)
        umount(f"{top}/from")

    def bound():
        for i in range(10):
            gm.bind("/stay/srv/service001", f"{top}/bound{i}", recursive=True)
        for i in range(10):
            umount(f"{top}/bound{i}")

    def covering():
        gm.tmpfs(f"{top}/cover/a/b", small)
        gm.tmpfs(f"{top}/cover/a", small)
        umount(f"{top}/cover/a")
        umount(f"{top}/cover/a/b")
        os.rmdir(f"{top}/cover/a/b")

    return (beside, stacked, nested, moved, bound, covering)


root = gm.Root()
gm.mkdir(root / "stay")
hosts.Binds(root / "stay").add(STAY)
for number in range(3):
    gm.mkdir(root / f"go{number}")
root.enter()
stay = {line.id: line for line in gm.oracle()}
gm.expect(all(line.reachable for line in stay.values()), "not all that stays can be reached")

children = []
for number in range(3):
    child = gm.fork()
    if child == 0:
        for gust in itertools.cycle(gusts(f"/go{number}")):
            gust()
    children.append(child)

runs = [run for run in gm.RUNS + [("kernel", "getmnt3", source) for source in
                                  ("listmount", "mountinfo")]
        if run[2] != "listmount" or gm.have_listmount()]
seen = collections.Counter()
started = time.monotonic()
for turn, (names, algorithm, source) in enumerate(itertools.cycle(runs)):
    if turn >= len(runs) and time.monotonic() - started > FOR or len(gm.failures) > 10:
        break
    tag = f"turn {turn}: {names} {algorithm} {source}"
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                       "--algorithm=" + algorithm, "--kernel=" + source, "--stats=json",
                       seconds=SECONDS)
    if result.status is None:
        continue
    try:
        document, stats = result.json(), result.stats()
    except ValueError as error:
        gm.fail(f"{tag}: status {result.status}, no JSON: {error}: {result.err[-300:]}")
        continue
    seen["runs"] += 1
    seen["gone"] += stats["gone"]
    seen["mounts that came"] += len(document["filesystems"]) - len(stay)
    odd = [row for row in document["filesystems"] if gm.row_states(row) & {"lost", "unsearched"}]
    seen["unsearched"] += len(odd)
    gm.expect(not any("lost" in gm.row_states(row) for row in odd), f"{tag}: lost: {odd[:2]}")
    whole = document["complete"]
    gm.expect(bool(document["incomplete_reasons"]) != whole and (whole or odd),
              f"{tag}: complete: {whole}, {document['incomplete_reasons']}, {odd[:1]}")
    gm.expect(result.status == (0 if whole else 64), f"{tag}: status {result.status}, "
              f"complete: {whole}: {result.err[-300:]}")
    rows = {gm.row_id(row): row for row in document["filesystems"]}
    gm.expect(len(rows) == len(document["filesystems"]), f"{tag}: an ID has two rows")
    missed = []
    for id_, line in stay.items():
        row = rows.get(id_)
        if row is None or row["target"] != gm.shown(line.point) or gm.row_states(row) != {
                "untested" if names == "kernel" else "ok"}:
            missed.append((line, row))
    gm.expect(not missed, f"{tag}: {len(missed)} mounts that stay are wrong: {missed[:2]}")

for child in children:
    pid, status = os.waitpid(child, os.WNOHANG)
    gm.expect(pid == 0, f"a process of the storm ended: {status}")
    if pid == 0:
        os.kill(child, 9)
        os.waitpid(child, 0)
gm.expect(seen["mounts that came"] > 0, f"no run saw a mount of the storm: {dict(seen)}")
print(f"  {', '.join(f'{what} {n}' for what, n in seen.items())}", flush=True)
gm.done()
