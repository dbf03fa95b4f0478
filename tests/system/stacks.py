# SPDX-License-Identifier: MIT
"""Stacks: 2 and 2,000 mounts on one point, some with mounts in them."""
import gm

root = gm.Root()
gm.tmpfs(root / "two")
gm.tmpfs(root / "two/below")
gm.tmpfs(root / "two")
gm.tmpfs(root / "two/above")
gm.mkdir(root / "deep/in/here")
for i in range(2000):
    gm.tmpfs(root / "deep/in/here", "size=4k,nr_inodes=10")
gm.tmpfs(root / "deep/in/here/last")
# A stack on a root of a mount that is bound elsewhere.
gm.bind(root / "two", root / "bound")
gm.tmpfs(root / "bound")
root.enter()
lines = gm.check("stacks")
points = len({line.point for line in lines})
calls = gm.getmnt("-J", "--stats=json").stats()["calls"]
gm.expect(calls["statx"] <= points + 2, f"{calls['statx']} statx for {points} points")
result = gm.getmnt("--tree")
gm.expect(len(result.out) < 100000, f"a tree of {len(result.out)} bytes")
gm.done()
