# SPDX-License-Identifier: MIT
"""Directories deeper than PATH_MAX, with mounts below them."""
import os

import gm

root = gm.Root()
base = gm.mkdir(root / "deep")
gm.mkdir(root / "near")
root.enter()
# 50 levels of 200 bytes: 10,000 bytes; mounts at every fifth level.
name = b"n" * 200
fd = os.open("/deep", os.O_RDONLY | os.O_DIRECTORY)
for level in range(50):
    os.mkdir(name, dir_fd=fd)
    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
    if level % 5 == 4:
        gm.mount("deep", f"/proc/self/fd/{below}", "tmpfs", 0, "size=1m")
        os.close(below)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=fd)
    os.close(fd)
    fd = below
os.close(fd)
gm.tmpfs("/near/by")
lines = gm.oracle()
longest = max(len(line.point) for line in lines)
reached = sum(1 for line in lines if line.reachable)
print(f"  the longest name has {longest} bytes; {reached} of {len(lines)} reachable")
gm.expect(longest > 9000, "the case itself: no long names")
gm.check("deep")
gm.done()
