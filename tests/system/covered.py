# SPDX-License-Identifier: MIT
"""Mounts below covered directories, with and without a namesake above."""
import gm

root = gm.Root()
gm.tmpfs(root / "a/b/c")
gm.tmpfs(root / "a/b/c/d/e")
gm.tmpfs(root / "a/b")                # covers both
gm.tmpfs(root / "a/b/other")
gm.tmpfs(root / "x/y/z")
gm.tmpfs(root / "x")                  # covers, and has the same names
gm.mkdir(root / "x/y/z/deeper")
gm.tmpfs(root / "p/q")
gm.tmpfs(root / "p")
gm.tmpfs(root / "p/q")                # covers, and has a mount of the same name
gm.tmpfs(root / "f/g")
gm.tmpfs(root / "f")
gm.touch(root / "f/g")                # a file where a directory was
root.enter()
lines = gm.check("covered")
ids = {line.point: line.id for line in lines}
rows = gm.getmnt("-J", "-l", "-o", "+ID,COVERED-BY").rows()
for row in rows:
    if row["target"] in ("/a/b/c", "/a/b/c/d/e"):
        by = row["covered-by"]
        gm.expect(str(by) in (str(ids[b"/a/b"]), "/a/b"), f"{row['target']} covered by {by}")
gm.done()
