# SPDX-License-Identifier: MIT
"""A chroot into a plain directory: the table does not list its root."""
import os

import gm

root = gm.Root()
jail = gm.mkdir(root / "jails/one")
gm.install_program(jail)
gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
gm.tmpfs(jail + "/a/b")
gm.tmpfs(jail + "/a/b/c")
gm.mkdir(jail + "/e/f/g/h")
gm.tmpfs(jail + "/e/f/g/h/i")
gm.bind(gm.mkdir(jail + "/e/k"), jail + "/e/l")
gm.tmpfs(root / "elsewhere/x")
root.enter()


def jailed():
    os.chroot("/jails/one")
    os.chdir("/")
    gm.check("in the jail", made=True)


gm.in_child(jailed)

# From outside, as who is in it sees it: by both tables, and by a relative name.
for source in gm.SOURCES:
    for where in ("/jails/one", "one", "./one/."):
        rows = gm.getmnt("-J", "-l", "--root=" + where, "--kernel=" + source,
                         cwd="/jails").rows()
        inside = sorted(row["target"] for row in rows if "outside" not in gm.row_states(row))
        gm.expect(inside == ["/", "/a/b", "/a/b/c", "/e/f/g/h/i", "/e/l", "/proc"],
                  f"--root={where} --kernel={source}: {inside}")
# A working directory that is covered is not what its name leads to.
gm.tmpfs("/cover/a")
gm.mkdir("/cover/a/in")
os.chdir("/cover/a")
gm.tmpfs("/cover/a")
gm.mkdir("/cover/a/in")
result = gm.getmnt("--root=in", cwd=".")
gm.expect(result.status == 1, f"--root=in, in a covered directory: {result.status}")
os.chdir("/")
gm.umount("/cover/a", gm.MNT_DETACH)

# The same over an overlay's directory, and in a directory that is covered
# for everybody else.
gm.tmpfs("/jails")


def covered():
    gm.check("beside a covered jail")


gm.in_child(covered)
gm.done()
