# SPDX-License-Identifier: MIT
"""Without /proc, too, a probe that was left behind is not made again."""
import os

import gm

gm.need_fs("fuse")
if gm.sanitized():
    gm.skip("a sanitizer's leak check needs /proc")
if not gm.have_listmount():
    gm.skip("without /proc the table is listmount's alone")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "elsewhere")
server = gm.SilentFuse(root / "silent")
root.enter()
gm.mount("proc", "/elsewhere", "proc")
gm.umount("/proc")


def left():
    """Workers that wait for ever."""
    n = 0
    for name in filter(str.isdigit, os.listdir("/elsewhere")):
        try:
            with open(f"/elsewhere/{name}/stat", "rb") as stat:
                n += b"(getmnt-probe) D" in stat.read()
        except OSError:
            pass
    return n


before = left()      # of whoever else runs here
for run in range(3):
    result = gm.getmnt("--probe=all", "--timeout=0.4", "-r", "-n", "-o", "TARGET,STATE")
    gm.expect(b"/silent hung\n" in result.out, f"run {run}: {result.status} {result.out!r} {result.err[-300:]!r}")
    gm.expect(left() - before == 1, f"run {run}: {left()} workers wait, {before} before")
server.end()
gm.done()
