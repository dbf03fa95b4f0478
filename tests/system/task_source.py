# SPDX-License-Identifier: MIT
"""--task and --root with a path: it is looked up in that root, not in ours."""
import os

import gm

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "there")
gm.mkdir(root / "there/h/x")
jail = gm.tmpfs(root / "jail")
gm.mkdir(jail + "/there/h/x")
os.mknod(jail + "/there/h/zero", 0o600 | 0o060000, os.makedev(0, 0))
gm.tmpfs(jail + "/sub")
os.symlink("/sub", jail + "/link")
os.mknod(root / "dev/fuse", 0o600 | 0o020000, os.makedev(10, 229))
root.enter()
ready, end = os.pipe(), os.pipe()
pid = gm.fork()
if pid == 0:
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_PRIVATE, recursive=True)
    gm.tmpfs("/own")
    os.write(ready[1], b"x")
    os.read(end[0], 1)
    gm.done()
os.read(ready[0], 1)
# In our root the path leads into what never answers; in theirs it is a directory.
gm.HungFuse("/there/h")
for names in ("hint", "walk", "kernel"):
    for where in (("-N", str(pid)), ("--root", "/jail")):
        for what in (("-S", "/there/h/x"), ("-S", "/there/h/zero"), ("/there/h/x",),
                     ("/there/h/x", "/there")):
            result = gm.getmnt("-q", "--names=" + names, *where, *what)
            gm.expect(result.status == 32,
                      f"{names} {where} {what}: status {result.status}: {result.err}")
        result = gm.getmnt("-rno", "TARGET", "--names=" + names, *where, "-T", "/there/h/x")
        gm.expect(result.out == (b"/there\n" if where[0] == "-N" else b"/\n"),
                  f"{names} {where}: -T: {result.out} {result.err}")
result = gm.getmnt("-rno", "TARGET", "--root", "/jail", "/link")
gm.expect(result.out == b"/sub\n", f"a link in another root: {result.out} {result.err}")
result = gm.getmnt("-rno", "TARGET", "--task", str(pid), "-M", "/own")
gm.expect(result.out == b"/own\n", f"a mount of the task: {result.out} {result.err}")
os.write(end[1], b"x")
os.waitpid(pid, 0)
gm.done()
