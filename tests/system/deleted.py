# SPDX-License-Identifier: MIT
"""A bind mount whose source was removed."""
import os

import gm

root = gm.Root()
gm.mkdir(root / "src/dir")
gm.touch(root / "src/file")
gm.bind(root / "src/dir", root / "on/dir")
gm.bind(root / "src/file", root / "on/file")
gm.bind(gm.mkdir(root / "src/kept/deleted"), root / "on/namesake")
gm.tmpfs(root / "on/dir2")
gm.mkdir(root / "on/dir2/x")
gm.bind(root / "on/dir2/x", root / "on/x")
os.rmdir(root / "on/dir2/x")
os.rmdir(root / "src/dir")
os.unlink(root / "src/file")
root.enter()
lines = gm.oracle()
gm.expect(sum(line.deleted for line in lines) >= 3, "the case itself: nothing deleted")
gm.check("deleted")
gm.done()
