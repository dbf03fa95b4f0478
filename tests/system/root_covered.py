# SPDX-License-Identifier: MIT
"""A mount over the root itself: this process stays below it, and sees its
own root; the mount above cannot be reached by a name."""
import os

import gm

root = gm.Root()
jail = gm.mkdir(root / "jail")
gm.install_program(jail)
gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
gm.tmpfs(jail + "/in/side")
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
root.enter()


def jailed():
    os.chroot("/jail")
    os.chdir("/")
    gm.mount("over", "/", "tmpfs")
    gm.tmpfs("/in/side/more")
    gm.check("a jail covered from inside", made=True)


gm.in_child(jailed)
gm.mount("over", "/", "tmpfs")
gm.tmpfs("/a/b/later")
gm.check("the root covered")
gm.done()
