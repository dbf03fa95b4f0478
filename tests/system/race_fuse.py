# SPDX-License-Identifier: MIT
"""A FUSE that never answers, mounted on a directory between the look at it and
its opening: the walk must not go in.  strace holds the program there."""
import os
import re
import time

import gm

gm.need("strace")
gm.need_fs("fuse")
root = gm.Root()
gm.mkdir(root / "w/x/y/z")
gm.tmpfs(root / "w/x/y/z/m")
gm.tmpfs(root / "w/t")
gm.tmpfs(root / "w/t/u/v")
gm.install("strace", root.path)
os.mknod(root / "dev/fuse", 0o20600, os.makedev(10, 229))
root.enter()

ARGS = [gm.PROGRAM, "-J", "-l", "--names=walk", "--threads=1", "--prune=-likely"]
# Both ways into a directory: from its parent, and into a mount that was found.
for name, over in (("x", "/w/x"), ("t", "/w/t")):
    gm.getmnt("-o", "/tmp/trace", "-e", "trace=openat2", *ARGS, program="/bin/strace",
              env={"ASAN_OPTIONS": "detect_leaks=0"})
    with open("/tmp/trace", encoding="utf-8") as f:
        opened = re.findall(r'^openat2\([^,]*, "([^"]*)"', f.read(), re.M)
    if name not in opened:
        gm.skip("no openat2 here")
    when = opened.index(name) + 1
    pid = gm.fork()
    if pid == 0:
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
        null = os.open("/dev/null", os.O_RDWR)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv("/bin/strace", ["strace", "-o", "/tmp/trace", "-e", "trace=openat2", "-e",
                                 f"inject=openat2:delay_enter=1500000:when={when}"] + ARGS)
    time.sleep(0.7)
    hung = gm.HungFuse(over)
    end = time.monotonic() + 15
    got = 0
    while not got and time.monotonic() < end:
        got, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    gm.expect(got, f"the walk went into the FUSE on {over}, and hangs there")
    if got:
        gm.expect(os.waitstatus_to_exitcode(status) in (0, 64), f"{over}: status {status}")
    hung.end()
    if not got:
        os.waitpid(pid, 0)
    gm.umount(over, gm.MNT_DETACH)
gm.done()
