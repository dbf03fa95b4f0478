# SPDX-License-Identifier: MIT
"""A machine like this one to be changed at will: an overlay on /, in memory."""
import os
import shutil

import gm


def make(work, tools=None, lower="/"):
    """Mount it below a directory that is in memory; what is in the tree `tools` is
    added, or lies above / in `lower`, as lowerdir= has it.  It has /proc and /sys, and
    nothing in /dev.  Returns where it is."""
    upper, top = gm.mkdir(work + "/upper"), gm.mkdir(work + "/machine")
    if tools and os.path.isdir(tools):
        shutil.copytree(tools, upper, symlinks=True, dirs_exist_ok=True)
    gm.mount("machine", top, "overlay", 0, f"lowerdir={lower},upperdir={upper},workdir={gm.mkdir(work + '/work')}")
    gm.mount("proc", gm.mkdir(top + "/proc"), "proc")
    gm.mount("sysfs", gm.mkdir(top + "/sys"), "sysfs")
    for path in ("/tmp", "/var/tmp"):
        gm.tmpfs(top + path, "size=512m,mode=1777")
    if os.path.lexists(top + "/usr/bin/getmnt"):     # perhaps a symlink to the program
        os.unlink(top + "/usr/bin/getmnt")
    shutil.copy(os.environ["GETMNT"], top + "/usr/bin/getmnt")
    return top
