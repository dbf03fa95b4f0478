# SPDX-License-Identifier: MIT
"""Mounts on the very root of one that could block: no name is resolved through
it, so they are found and judged as any other; what they cover stays alone."""
import gm

gm.need_fs("fuse", "autofs")
root = gm.Root()
gm.HungFuse(root / "fuse")
gm.mount("over", root / "fuse", "tmpfs")
gm.tmpfs(root / "fuse/in")
direct = gm.Autofs(root / "auto/direct", "direct")
gm.mount("mounted", root / "auto/direct", "tmpfs")
gm.tmpfs(root / "auto/direct/in")
gm.tmpfs(root / "ok")
root.enter()
gm.check("stacked on what blocks")
asked = direct.requests()
gm.expect(not asked, f"the trigger was pulled: {asked[:40]!r}")
gm.done()
