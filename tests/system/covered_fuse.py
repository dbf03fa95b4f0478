# SPDX-License-Identifier: MIT
"""A FUSE that never answers, mounted over a directory that mounts lie below:
no way of naming goes through it, with any rule switched off."""
import gm

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "k")
gm.tmpfs(root / "k/deep/er")
gm.tmpfs(root / "ok")
hung = gm.HungFuse(root / "k/deep")
root.enter()
for args in (["--names=pure"], ["--names=pure", "--algorithm=getmnt1"], ["--names=walk"],
             ["--names=walk", "--prune=-unreachable"], ["--names=hint", "--prune=-unreachable"],
             ["--names=pure", "--identity=dev"], ["--names=walk", "--identity=dev"],
             ["--names=pure", "--algorithm=getmnt2", "--prune=-leaf,-unlooked"]):
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", *args, seconds=15)
    gm.expect(result.status in (0, 64), f"{args}: status {result.status}: {result.err[-200:]}")
    if result.status in (0, 64):
        states = {row["source"]: gm.row_states(row) for row in result.rows()}
        gm.expect("untested" in states["hung"] or "hidden" in states["hung"], f"{args}: {states}")
hung.end()
gm.done()
