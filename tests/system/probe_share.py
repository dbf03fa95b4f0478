# SPDX-License-Identifier: MIT
"""--probe next to a user whose mounts never answer, and are mounted again and again: the processes left
are limited, mounts that were not probed are reported, and the mounts of others are probed."""
import json
import os
import select
import stat
import threading
import time

import gm

SHARE = 16           # PROBER_LEFT_USER
MOUNTS, ROUNDS = 40, 4
STATE = "/run/getmnt"
PROBE = ("-J", "-l", "-o", "+ERROR", "--probe=all", "--timeout=0.4")

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /ok tmpfs defaults 0 0\n")
gm.tmpfs(root / "ok")
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()

# One thread reads the requests to all servers, and never replies.
poll = select.epoll()
servers = {}         # descriptor -> server


def swallow():
    while True:
        for fd, event in poll.poll():
            try:
                if event & select.EPOLLERR or not os.read(fd, 1 << 17):
                    poll.unregister(fd)
            except OSError:
                pass


def silent(target, user):
    server = gm.HungFuse(target, user=user)
    os.set_blocking(server.fd, False)
    servers[server.fd] = server
    poll.register(server.fd, select.EPOLLIN)
    return server


def end(server):
    try:
        poll.unregister(server.fd)
    except FileNotFoundError:
        pass         # it was unmounted, and nobody waited
    del servers[server.fd]
    server.end()


def states(result):
    return {row["target"]: (row["state"], row["error"]) for row in result.rows() if row["state"] != "hidden"}


def count(found, what):
    return sum(1 for target, row in found.items() if target.startswith("/user/") and row == what)


def records():
    """Owners of those that are recorded."""
    return sorted(name.split("_")[5] for name in os.listdir(STATE))


def settled(true, what):
    finish = time.monotonic() + gm.WAIT_SECONDS
    while not true() and time.monotonic() < finish:
        time.sleep(0.02)
    gm.expect(true(), what)


def fresh():
    """Mounts of user 1000 that no run knows; those before are unmounted, not ended."""
    for name in os.listdir("/user") if os.path.isdir("/user") else []:
        gm.umount("/user/" + name, gm.MNT_DETACH)
    return [silent(f"/user/m{i}", 1000) for i in range(MOUNTS)]


HUNG, UNTESTED = ("hung", "ETIMEDOUT"), ("untested", "EDQUOT")
threading.Thread(target=swallow, daemon=True).start()
first = fresh()
result = gm.getmnt(*PROBE)
found = states(result)
gm.expect(count(found, HUNG) == SHARE and count(found, UNTESTED) == MOUNTS - SHARE and found["/ok"][0] == "ok",
          f"the first round: {found}")
gm.expect(len(gm.probers()) == SHARE and records() == ["1000"] * SHARE, f"the first round: {gm.probers()} {records()}")
gm.expect(result.status == 64 and b"--probe: 24 mounts were not probed: /user/m" in result.err
          and b"(user 1000)" in result.err and b"at most 16 of one user" in result.err, f"{result.err}")
reasons = result.json()["incomplete_reasons"]
gm.expect(len(reasons) == 1 and "24 mounts were not probed" in reasons[0] and "and 19 more" in reasons[0], f"{reasons}")

# The mounts are unmounted and new ones are made: no more processes are left.
for number in range(1, ROUNDS):
    fresh()
    if number == 1:
        silent("/other", 1001)
        silent("/root", 0)
        # What lies below a mount of the user, or stands on one, is the user's, too.
        layer = gm.FileFuse("/layer", {"file": b"x"}, user=1000)
        gm.tmpfs("/upper")
        gm.overlay("/layered", "/layer", "/upper")
    if number == 2:
        result = gm.getmnt("audit", "--json", "--only=MNT-*", "--probe=all", "--probe-timeout=0.4")
        document = json.loads(result.out)
        hung = sorted(f["target"] for f in document["findings"] if f["code"] == "MNT-TIMEOUT")
        gm.expect(hung == ["/other", "/root"] and not document["complete"]
                  and "42 mounts were not probed" in document["incomplete_reasons"][0], f"audit: {result.status} {document}")
        gm.expect({"MNT-STALE", "MNT-TIMEOUT"} <= set(document["not_judged"]), f"audit: {document['not_judged']}")
        result = gm.getmnt("audit", "--only=MNT-*", "--probe=all", "--probe-timeout=0.4")
        gm.expect(b"incomplete: 42 mounts were not probed" in result.err, f"audit: {result.err}")
    result = gm.getmnt(*PROBE)
    found = states(result)
    gm.expect(count(found, UNTESTED) == MOUNTS and found["/ok"][0] == "ok" and found["/other"] == HUNG and found["/root"] == HUNG
              and found["/layer"] == found["/layered"] == UNTESTED, f"round {number}: {found}")
    gm.expect(len(gm.probers()) == SHARE + 2 and records() == ["0"] + ["1000"] * SHARE + ["1001"],
              f"round {number}: {len(gm.probers())} processes, {records()}")

# When the servers of the first round end there is room again.
for server in first:
    end(server)
settled(lambda: len(gm.probers()) == 2, f"the servers have ended: {gm.probers()}")
# A probe that a busy machine did not start in time is no process, but has a record until the next run.
for _ in range(5):
    found = states(gm.getmnt(*PROBE))
    if len(gm.probers()) == SHARE + 2:
        break
gm.expect(count(found, HUNG) + count(found, UNTESTED) == MOUNTS and len(gm.probers()) == SHARE + 2
          and records() == ["0"] + ["1000"] * SHARE + ["1001"], f"again: {found} {gm.probers()} {records()}")

for server in list(servers.values()):
    end(server)
settled(lambda: not gm.probers(), f"processes left: {gm.probers()}")
for target in ("/layered", "/layer", "/other", "/root", *("/user/" + name for name in os.listdir("/user"))):
    gm.umount(target, gm.MNT_DETACH)
result = gm.getmnt(*PROBE)
gm.expect(result.status == 0 and not records(), f"at the end: {result.status} {result.err} {records()}")
gm.done()
