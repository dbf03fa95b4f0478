# SPDX-License-Identifier: MIT
"""getmnt audit --watch in a storm of mounts: what it costs, and that it knows the final state."""
import os
import time

import gm

if not gm.FULL:
    gm.skip("a storm of a minute runs with GETMNT_SCALE=full")
STILL, SECONDS, RATE, PLACES = 2000, 40, 1000, 50
root = gm.Root()
for place in range(STILL):
    gm.mount("still", gm.mkdir(root / f"still/{place}"), "tmpfs", 0, "size=4k,nr_inodes=4")
for place in range(PLACES):
    gm.mkdir(root / f"p{place}")
gm.touch(root / "etc/fstab", "".join(f"none /p{place} tmpfs rw,size=4k,nr_inodes=4 0 0\n" for place in range(PLACES)))
root.enter()


def used(pid):
    """Seconds of processor time of a process and its children that have ended."""
    with open(f"/proc/{pid}/stat", encoding="latin-1") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")


def peak(pid):
    """The most memory that a process has used, in KiB; 0: it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            return next((int(line.split()[1]) for line in f if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


watch = gm.Watch("audit", "--watch", "--only=DRIFT-NOT-MOUNTED", "--jsonl", "--stats", debug=False)
watch.wait_rows(1)
# The storm begins after the rest that follows the first audit.
time.sleep(5)
begin, before, mounted, most, done = time.monotonic(), used(watch.pid), set(), 0, 0
while time.monotonic() < begin + SECONDS:
    place = done * 7 % PLACES
    if place in mounted:
        gm.umount(f"/p{place}")
        mounted.remove(place)
    else:
        gm.mount("none", f"/p{place}", "tmpfs", 0, "size=4k,nr_inodes=4")
        mounted.add(place)
    done += 1
    if done % 20 == 0:
        most = max([most, *map(peak, children(watch.pid))])
        time.sleep(max(0.0, begin + done / RATE - time.monotonic()))
share = (used(watch.pid) - before) / (time.monotonic() - begin)
audits, own = watch.err.count(b"kernel calls:"), peak(watch.pid)
print(f"  {done / SECONDS:.0f} changes a second, {audits} audits: {share:.1%} of a processor, {own} KiB, in an audit {most} KiB")
gm.expect(audits >= 3 and done >= SECONDS * RATE / 2, f"{done} changes, {audits} audits")
if not gm.sanitized():
    gm.expect(share <= 0.05, f"{share:.1%} of a processor")
    gm.expect(own <= 32 << 10 and 0 < most <= 32 << 10, f"{own} KiB, {most} KiB in an audit")

# The lines, one after the other, make the final state.
wanted = {f"/p{place}" for place in range(PLACES) if place not in mounted}


def told():
    rows = watch.rows()
    state = {f["target"] for f in rows[0]["findings"]}
    for row in rows[1:]:
        if row["event"] == "start":
            state = {f["target"] for f in row["findings"]}
        else:
            (state.add if row["event"] == "new" else state.remove)(row["target"])
    return state


watch.wait(lambda: told() == wanted, "the final state")
gm.expect(watch.end() == 0 and told() == wanted, f"end: {watch.proc.returncode}")
gm.done()
