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

# The same over an overlay's directory, and in a directory that is covered
# for everybody else.
gm.tmpfs("/jails")


def covered():
    gm.check("beside a covered jail")


gm.in_child(covered)
gm.done()
