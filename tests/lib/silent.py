# SPDX-License-Identifier: MIT
"""A root with silent FUSE mounts that are probed, and the records of what they leave."""
import os
import stat
import time

import gm

STATE = "/run/getmnt"

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.tmpfs(root / "ok")
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
if gm.shutil.which("strace"):
    gm.install("strace", root.path)
root.enter()
servers = []


def fresh(count=1):
    """This number of silent mounts that no run knows."""
    while servers:
        servers.pop().end()
    settled(lambda: not gm.probers(), f"still left: {gm.probers()}")
    for line in gm.mountinfo():
        if line.point.startswith(b"/silent"):
            gm.umount(line.point.decode(), gm.MNT_DETACH)
    servers.extend(gm.SilentFuse(f"/silent{i}") for i in range(count))


def settled(true, what):
    end = time.monotonic() + gm.WAIT_SECONDS
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    gm.expect(true(), what)


def records():
    return {int(name.split("_")[3]) for name in os.listdir(STATE)}
