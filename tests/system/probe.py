# SPDX-License-Identifier: MIT
"""--probe next to file systems that never answer: states, and processes that are left."""
import os
import re
import time

import gm

SECONDS = "0.8"     # of a probe; the server that answers is a thread of this script

gm.need_fs("fuse", "overlay")
root = gm.Root()
gm.tmpfs(root / "run")
gm.tmpfs(root / "ok/one")
gm.tmpfs(root / "ok/two/three")
never = gm.HungFuse(root / "never")
silent = gm.SilentFuse(root / "silent")
dead = gm.HungFuse(root / "dead")
private = gm.HungFuse(root / "private", options="default_permissions")
well = gm.FileFuse(root / "well", {"dir": b"x"})
gm.mount(root / "silent", gm.mkdir(root / "bound"), None, gm.MS_BIND)
# Mounted on the root of a hung mount: reachable.
stacked = gm.HungFuse(root / "stacked")
gm.mount("tmpfs", root / "stacked", "tmpfs")
# A hung one over a directory with mounts, which are hidden then.
gm.tmpfs(root / "over/below")
over = gm.HungFuse(root / "over")
# An overlay on it.
gm.mkdir(root / "lower")
layer = gm.FileFuse(root / "lower", {"file": b"x"})
gm.tmpfs(root / "upper")
gm.overlay(root / "layered", root / "lower", root / "upper")
root.enter()
layer.stopped = True
dead.end()

HUNG = {"/never", "/silent", "/bound", "/over", "/layered", "/lower"}
STALE = {"/dead"}
UNTESTED = HUNG | STALE | {"/private", "/well"}


def probe(*args, status=0, **more):
    """A run by the probe; its rows by target, of the top mount there."""
    began = time.monotonic()
    timeout = ["--timeout=" + SECONDS] if any(arg.startswith("--probe") for arg in args) else []
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED,ERROR", *timeout, *args, **more)
    took = time.monotonic() - began
    gm.expect(result.status == status, f"{args}: status {result.status}, {result.err[-300:]!r}")
    gm.expect(took < 10, f"{args}: took {took:.1f} s")
    return {row["target"]: row for row in result.rows() if row["state"] != "hidden"}


def expect_states(args, rows, hung, stale, untested=frozenset(), denied=frozenset()):
    for target, row in rows.items():
        want = ("hung" if target in hung else "stale" if target in stale
                else "untested" if target in untested else "denied" if target in denied else "ok")
        gm.expect(row["state"] == want, f"{args}: {target} is {row['state']}, not {want}: {row}")
        gm.expect(row["named"] != "none", f"{args}: {target} has no name")


for names in ("hint", "walk", "pure", "kernel"):
    for source in gm.SOURCES:
        how = (f"--names={names}", f"--kernel={source}")
        # IDs alone do not distinguish a covered mount from a lost one.
        rows = probe(*how, "--search-limit=0", status=64 if names == "pure" else 0)
        rows.pop(None, None)
        plain = set(rows) - UNTESTED
        expect_states(how, rows, set(), set(), UNTESTED | (plain if names == "kernel" else set()))
        args = how + ("--probe=local", "--search-limit=0")
        expect_states(args, probe(*args), set(), set(), UNTESTED)
        args = how + ("--probe=all", "--search-limit=0")
        rows = probe(*args)
        private_state = rows["/private"]["state"]
        gm.expect(private_state in ("denied", "hung"), f"{args}: private: {private_state}")
        expect_states(args, rows, HUNG | {"/private"}, STALE)
        gm.expect(rows["/well"]["named"] == "verified", f"{args}: {rows['/well']}")
        gm.expect(rows["/dead"]["error"] == "ENOTCONN", f"{args}: {rows['/dead']}")
        gm.expect(rows["/never"]["error"] == "ETIMEDOUT", f"{args}: {rows['/never']}")

# Without a descriptor for another process, a probe waits until another one ends or is
# given up.
for limit in (12, 11, 10):
    args = ("--probe=all", "--search-limit=0")
    rows = probe(*args, nofile=limit)
    expect_states((f"{limit} descriptors",), rows, HUNG | {"/private"}, STALE)

# Only mounts that answer have sizes.
result = gm.getmnt("-D", "-A", "-b", "--probe=all", "--timeout=" + SECONDS, "-r", "-o", "TARGET,SIZE")
sizes = dict((line.split() + [""])[:2] for line in result.out.decode().splitlines()[1:])
gm.expect(sizes.get("/well") == "4096" and not sizes.get("/never"), f"sizes: {sizes}")

without = gm.getmnt("-D", "-A").err
gm.expect(re.fullmatch(rb"getmnt: \d mounts without sizes: reading them can block; --probe=all reads them, with a time limit\n"
                       rb"getmnt: 2 mounts without sizes: hidden by other mounts\n", without)
          and not result.err, f"without sizes: {without} {result.err}")

# --strict changes the status; --max-time ends the run before the probes end.
probe("--probe=all", "--strict", status=64)
gm.expect(not [p for p in gm.probers().values() if p[0] != "D"], f"left: {gm.probers()}")
gm.expect(gm.probers(), "no process waits for a server that read its request")

# Processes that are left are recorded, and their superblocks not touched again.
left = set(gm.probers())
names = os.listdir("/run/getmnt")
gm.expect({int(name.split("_")[3]) for name in names} == left, f"{names}, but {left}")
info = os.stat("/run/getmnt")
gm.expect(info.st_mode & 0o7777 == 0o700 and info.st_uid == 0, f"/run/getmnt: {info}")
requests = silent.requests
for _ in range(3):
    result = gm.getmnt("--probe=all", "--timeout=" + SECONDS, "--stats=json", "-q")
    gm.expect(result.stats()["probes_left"] == 0, f"left again: {result.err}")
    gm.expect(result.stats()["probes_spared"] >= 2, f"not spared: {result.err}")
gm.expect(set(gm.probers()) == left, f"more are left: {gm.probers()}")
gm.expect(silent.requests == requests, "a superblock known to be hung got another request")

# They end with the server; the next run removes their records and probes again.
silent.end()
os.close(layer.fd)
end = time.monotonic() + gm.WAIT_SECONDS
while set(gm.probers()) & left and time.monotonic() < end:
    time.sleep(0.05)
rows = probe("--probe=all")
gm.expect(rows["/silent"]["state"] == "stale", f"after its end: {rows['/silent']}")
gm.expect(not left & {int(name.split("_")[3]) for name in os.listdir("/run/getmnt")}, "remembered")
gm.done()
