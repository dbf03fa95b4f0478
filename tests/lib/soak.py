# SPDX-License-Identifier: MIT
"""The soak: runs in a row next to two file systems that hang, in a storm of mounts.

    soak(seconds=3600, every=60, rate=100)

In a case of tests/system/ for some seconds (soak_short.py), by `make soak` for an
hour.  A round is a run of each kind.  Every run must end in its time, give the
hung their standing, and call no mount lost that is there; and in the end no
process, no descriptor and no file may be there that was not after the first
round.  Beside them a --poll goes on from beginning to end, and may not grow.
"""
import json
import mmap
import os
import signal
import stat
import struct
import subprocess
import threading
import time

import gm

KINDS = [
    ("--probe=all", "--timeout=2"),
    ("--names=hint",),
    ("--names=hint", "--kernel=mountinfo"),
    ("--names=walk", "--search-limit=0"),
    ("--names=walk", "--search-limit=0", "--kernel=mountinfo"),
    ("--names=walk", "--search-limit=0", "--probe=all", "--timeout=2", "--threads=4"),
    ("--names=kernel", "--probe=local"),
]


def storm(rate, made):
    """Mount, stack, move and unmount without end, some hundred mounts deep.  How
    many were mounted stands in `made`."""
    places = [f"/storm/{i}" for i in range(100)]
    mounted = []
    number = 0
    while True:
        began = time.monotonic()
        for _ in range(max(1, rate // 20)):
            place = places[number % len(places)]
            number += 1
            try:
                gm.mount("storm", place, "tmpfs", 0, "size=64k")
                made[:] = struct.pack("=Q", struct.unpack("=Q", made[:])[0] + 1)
                mounted.append(place)
                if number % 7 == 0:
                    os.mkdir(place + "/below")
                    gm.mount("storm", place + "/below", "tmpfs", 0, "size=64k")
                if number % 11 == 0:
                    gm.mount(place, f"/storm/to{number % 5}", None, gm.MS_MOVE)
                    gm.umount(f"/storm/to{number % 5}", gm.MNT_DETACH)
                    mounted.remove(place)
                while len(mounted) > 60:
                    gm.umount(mounted.pop(0), gm.MNT_DETACH)
            except OSError as error:
                print(f"  storm: {error}", flush=True)
        time.sleep(max(0, 0.05 - (time.monotonic() - began)))


def residue():
    """What a run may leave: probers, what remembers them, open files of ours."""
    try:
        remembered = sorted(os.listdir("/run/getmnt"))
    except FileNotFoundError:
        remembered = []
    zombies = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                    zombies += f"(getmnt) Z {os.getpid()} " in f.read()
            except OSError:
                pass
    return {"probers": sorted(gm.probers()), "remembered": remembered, "zombies": zombies,
            "descriptors": len(os.listdir("/proc/self/fd"))}


class Poll:
    """A --poll that goes on: its events are counted."""

    def __init__(self):
        self.proc = subprocess.Popen([gm.PROGRAM, "--poll", "--format=jsonl"], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, env={"LC_ALL": "C.UTF-8"})
        self.events = {}
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        for line in self.proc.stdout:
            action = json.loads(line)["action"]
            self.events[action] = self.events.get(action, 0) + 1

    def size(self):
        """Resident memory in KiB, and open descriptors."""
        if self.proc.poll() is not None:
            raise RuntimeError(f"--poll ended, with {self.proc.returncode}, after {self.events}")
        with open(f"/proc/{self.proc.pid}/status", encoding="ascii") as f:
            rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))
        return rss, len(os.listdir(f"/proc/{self.proc.pid}/fd"))

    def end(self):
        gm.expect(self.proc.poll() is None, f"--poll ended: {self.proc.returncode}")
        self.proc.terminate()
        self.proc.wait(10)


def judge(args, result, seconds):
    """Check one run.  @return its peak memory in KiB."""
    tag = " ".join(args)
    if result.status is None:
        return
    try:
        document = result.json()
    except ValueError as error:
        gm.fail(f"{tag}: no JSON: {error}: {result.err[-300:]!r}")
        return
    rows = document["filesystems"]
    states = [row["state"] for row in rows]
    gm.expect("lost" not in states, f"{tag}: lost: {[r for r in rows if r['state'] == 'lost'][:3]}")
    # Only mounts that change too fast may be reported.
    others = {row["target"] for row in rows if row["state"] == "unsearched"
              and not (row["target"] or "/storm/").startswith("/storm/")}
    gm.expect(not others, f"{tag}: unsearched: {others}")
    gm.expect(result.status in (0, 64), f"{tag}: status {result.status}: {result.err[-300:]!r}")
    hung = {row["target"] for row in rows if row["state"] == "hung"}
    expected = {"/never", "/silent"} if "--probe=all" in args else set()
    gm.expect(hung == expected, f"{tag}: hung: {hung}")
    for target in ("/ok/one", "/ok/two/three"):
        state = [row["state"] for row in rows if row["target"] == target]
        want = "untested" if "--names=kernel" in args and "--probe=local" not in args else "ok"
        gm.expect(state == [want], f"{tag}: {target}: {state}")
    gm.expect(seconds < 15, f"{tag}: took {seconds:.1f} s")


def soak(seconds, every, rate):
    gm.need_fs("fuse")
    root = gm.Root()
    gm.tmpfs(root / "run")
    gm.tmpfs(root / "ok/one")
    gm.tmpfs(root / "ok/two/three")
    os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
    servers = [gm.HungFuse(root / "never"), gm.SilentFuse(root / "silent")]
    gm.tmpfs(root / "storm")
    for name in [str(i) for i in range(100)] + [f"to{i}" for i in range(5)]:
        gm.mkdir(root / f"storm/{name}")
    root.enter()
    made = mmap.mmap(-1, 8)
    child = gm.fork()
    if child == 0:
        storm(rate, made)
    poll = Poll()
    began = time.monotonic()
    first = None
    rounds = runs = 0
    worst = 0.0
    while rounds < 2 or time.monotonic() - began < seconds:
        due = began + rounds * every
        time.sleep(max(0, due - time.monotonic()))
        for args in KINDS:
            started = time.monotonic()
            result = gm.getmnt("-J", "-l", *args, seconds=60)
            took = time.monotonic() - started
            worst = max(worst, took)
            judge(args, result, took)
            runs += 1
        rounds += 1
        now = residue()
        rss, fds = poll.size()
        if first is None:
            first = now
            began_at = rss, fds
            gm.expect(len(now["probers"]) == 1, f"after the first round: {now}")
        gm.expect(now == first, f"round {rounds}: {now}, after the first it was {first}")
        # Its first storm may make its tables larger; then they are large enough.  A
        # sanitizer keeps for a while what was freed.
        gm.expect(fds == began_at[1] and (rss < began_at[0] + 4096 or gm.sanitized()),
                  f"round {rounds}: --poll grew from {began_at} to {rss} KiB, {fds} descriptors")
        if every >= 10:
            print(f"  --poll: {rss} KiB, {poll.events}", flush=True)
            print(f"  {time.monotonic() - began:6.0f} s: round {rounds}, {runs} runs, "
                  f"longest {worst:.1f} s, {len(gm.failures)} failures", flush=True)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    total = struct.unpack("=Q", made[:])[0]
    gm.expect(total > (time.monotonic() - began) * rate / 8 / gm.SLOW, f"{total} mounts made no storm")
    # By mountinfo alone what came and went between two readings was not there.
    gm.expect(poll.events.get("mount", 0) > total / 4 and poll.events.get("umount", 0) > total / 4,
              f"--poll told {poll.events}, of {total} mounts")
    poll.end()
    for server in servers:
        server.end()
    for _ in range(200):
        if not gm.probers():
            break
        time.sleep(0.02)
    gm.expect(not gm.probers(), f"left when the servers have gone: {gm.probers()}")
    print(f"  {rounds} rounds, {runs} runs, longest {worst:.1f} s", flush=True)
    gm.done()
