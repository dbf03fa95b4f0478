# SPDX-License-Identifier: MIT
"""--poll under a storm: with events each mount, umount and move is reported once,
in its order; by either way what is told, one after the other, makes the table
that there is in the end; and its memory does not grow."""
import collections
import threading

import gm

PLACES = 40
root = gm.Root()
gm.tmpfs(root / "m", source="ground")
gm.tmpfs(root / "m/kept", source="kept")
for place in range(PLACES):
    gm.mkdir(root / f"m/p{place}")
gm.mkdir(root / "m/end")
gm.mkdir(root / "m/kept/in")
root.enter()


def storm(turns):
    """Mounts, stacks, moves, remounts and umounts.  Returns how many of each."""
    made = collections.Counter()
    for turn in range(turns):
        path, other = f"/m/p{turn % PLACES}", f"/m/p{(turn * 7 + 1) % PLACES}"
        gm.mount(f"s{turn}", path, "tmpfs", 0, "size=4k,nr_inodes=4")
        made["mount"] += 1
        if turn % 5 == 1:
            gm.mount(f"top{turn}", path, "tmpfs", 0, "size=4k,nr_inodes=4")
            gm.umount(path)
            made["mount"] += 1
            made["umount"] += 1
        if turn % 3 == 0 and other != path:
            gm.mount(path, other, None, gm.MS_MOVE)
            made["move"] += 1
            path = other
        if turn % 4 == 2:
            gm.mount(None, path, None, 32 | gm.MS_BIND | gm.MS_RDONLY)
        if turn % 20:
            gm.umount(path, gm.MNT_DETACH)
            made["umount"] += 1
    return made


def run(turns):
    watches = [gm.Replay(*args, env=env) for args, env in gm.WATCHES]
    made = storm(turns)
    gm.tmpfs("/m/end", source="the end")
    for replay in watches:
        watch, tag = replay.watch, f"{turns} turns: {replay.watch.name}"
        watch.wait(lambda w=watch: b"the end" in w.out, "the end")
        rows = replay.check(tag)
        told = collections.Counter(row["action"] for row in rows)
        blank = sum(row["target"] is None for row in rows)
        print(f"  {tag}: {dict(told)}, {blank} gone before they were seen")
        if watch.by_events():
            told["mount"] -= 1
            for action in ("mount", "umount", "move"):
                gm.expect(told[action] == made[action],
                          f"{tag}: {told[action]} of {made[action]} {action}")
        gm.expect(b"lost" not in watch.err, f"{tag}: {watch.err}")
        gm.expect(watch.end() == -15, f"{tag}: status {watch.proc.returncode}")
    gm.umount("/m/end")
    for place in range(PLACES):
        while True:
            try:
                gm.umount(f"/m/p{place}")
            except OSError:
                break


run(200)
run(3000 if gm.SLOW == 1 else 600)


# The same mount there and back: each of its moves is told.
watch = gm.Watch("--format=jsonl", "--poll=move")
if watch.by_events():
    at, there = "/m/kept", "/m/p0"
    for _ in range(2001):
        gm.mount(at, there, None, gm.MS_MOVE)
        at, there = there, at
    rows = watch.wait_rows(2001)
    gm.mount(at, there, None, gm.MS_MOVE)
    rows = watch.wait_rows(2002)
    gm.expect(len(rows) == 2002, f"{len(rows)} of 2002 moves")
    gm.expect(rows[-1]["target"] == "/m/kept", f"in the end: {rows[-1]}")
    for old, new in zip(rows, rows[1:]):
        gm.expect(new["old-target"] == old["target"], f"from elsewhere: {old}, {new}")
watch.end()

def memory(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


def pairs(place, turns):
    for _ in range(turns):
        gm.mount("x", f"/m/p{place}", "tmpfs", 0, "size=4k,nr_inodes=4")
        gm.umount(f"/m/p{place}")


def together(turns):
    threads = [threading.Thread(target=pairs, args=(place, turns)) for place in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


# Several at once: 100,000 events, and memory does not grow.
watch = gm.Watch("-r", "-n", "-o", "ACTION,ID")
together(5000)
first = memory(watch.pid)
together(20000)
if watch.by_events():
    watch.wait(lambda: watch.out.count(b"\n") >= 100000, "100,000 events")
    gm.expect(watch.out.count(b"\n") == 100000 and b"lost" not in watch.err,
              f"{watch.out.count(b'umount')} umounts, {watch.err[-200:]}")
last = memory(watch.pid)
print(f"  memory: {first} KiB after 20,000 events, {last} KiB after 100,000")
if not gm.sanitized():
    gm.expect(last - first < 1024, f"memory grew from {first} to {last} KiB")
watch.end()
gm.done()
