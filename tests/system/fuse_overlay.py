# SPDX-License-Identifier: MIT
"""An overlay whose lower directory is on a FUSE that stops answering."""
import os

import gm

gm.need_fs("fuse", "overlay")

root = gm.Root()
server = gm.FileFuse(root / "slow")
covered = gm.FileFuse(root / "place")
# Whoever makes up names can make two of one hash: FNV-1a of these is the same.
gm.tmpfs(root / "sg32TRs7x25rhJ")
collides = gm.FileFuse(root / "nN79J0F2DA4UuI")
gm.tmpfs(root / "up")
gm.tmpfs(root / "ok/one")
gm.mkdir(root / "links")
os.symlink("../slow", root / "links/rel")
os.symlink("/links/rel", root / "links/abs")
os.symlink("/ok", root / "links/harmless")
root.enter()
# Now, so that lowerdir= has a name that can be followed.
gm.overlay("/merged", "/slow", "/up/work")
gm.tmpfs("/merged/inner")
# The kernel keeps the names that it was given, links and all.
gm.overlay("/linked", "/links/abs", "/up/work2")
gm.overlay("/harmless", "/links/harmless", "/up/work3")
# Over its own lower directory: that name leads to itself now.
gm.overlay("/place", "/place", "/up/work4")
gm.overlay("/ok/one", "/ok/one", "/up/work5")
gm.overlay("/collides", "/nN79J0F2DA4UuI", "/up/work6")
server.stopped = covered.stopped = collides.stopped = True
untouched = ["/slow", "/merged", "/linked", "/place", "/nN79J0F2DA4UuI", "/collides"]
gm.check("overlay on FUSE", untouched=untouched)
gm.done()
