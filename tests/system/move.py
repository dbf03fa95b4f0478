# SPDX-License-Identifier: MIT
"""Mounts that were moved: parents come after children, names change."""
import os

import gm

root = gm.Root()
gm.tmpfs(root / "a")
gm.tmpfs(root / "a/x")
gm.tmpfs(root / "a/x/y")
gm.tmpfs(root / "late")
gm.mkdir(root / "late/here/there")
gm.mount(root / "a", root / "late/here", None, gm.MS_MOVE)
gm.tmpfs(root / "z/zz")
gm.tmpfs(root / "later")
gm.mkdir(root / "later/m")
gm.mount(root / "late", root / "later/m", None, gm.MS_MOVE)
gm.mount(root / "z/zz", root / "later/m/here/x/y", None, gm.MS_MOVE)    # a stack by a move
root.enter()
gm.check("moved")
# And after it began: a rename of the directories above.
os.rename("/late", "/early")
gm.tmpfs("/early/p/q")
os.rename("/early", "/renamed")
gm.check("renamed")
gm.done()
