# SPDX-License-Identifier: MIT
"""A chroot into a mount: what is elsewhere is not seen, or outside."""
import os

import gm

root = gm.Root()
jail = gm.tmpfs(root / "jails/one")
gm.install_program(jail)
gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
gm.tmpfs(jail + "/a/b")
gm.tmpfs(jail + "/a/b/c")
gm.tmpfs(jail + "/a/d")
gm.tmpfs(jail + "/a/d")
gm.tmpfs(root / "elsewhere/x")
gm.tmpfs(root / "jails/onemore")
root.enter()


def jailed():
    os.chroot("/jails/one")
    os.chdir("/")
    gm.check("in the jail")


gm.in_child(jailed)
gm.check("outside of the jail")

# From outside, as such a process would see it.
seen = {}
for line in gm.oracle():
    if gm.within(line.point, b"/jails/one"):
        seen[line.id] = gm.shown(line.point[len(b"/jails/one"):] or b"/")
result = gm.getmnt("-J", "-l", "-o", "+ID", "--root", "/jails/one")
inside = {gm.row_id(row): row["target"] for row in result.rows()
          if "outside" not in gm.row_states(row)}
gm.expect(inside == seen, f"--root: {inside} instead of {seen}")
gm.done()
