# SPDX-License-Identifier: MIT
"""FUSE whose server never answers; mounts in it, and an overlay on it."""
import gm

gm.need_fs("fuse", "overlay")
root = gm.Root()
gm.tmpfs(root / "ok/one")
gm.tmpfs(root / "ok/two/three")
hung = gm.HungFuse(root / "hung/here")
private = gm.HungFuse(root / "hung/private", options="default_permissions")
gm.tmpfs(root / "hung/beside")
# A bind of it.
gm.mount(root / "hung/here", gm.mkdir(root / "bound"), None, gm.MS_BIND)
untouched = ["/hung/here", "/hung/private", "/bound"]
root.enter()
gm.check("hung", untouched=untouched)

result = gm.getmnt("-D", seconds=20)
gm.expect(result.status == 0, f"-D beside a hung FUSE: status {result.status}")
for args in (("--tree",), ("-l", "--output-all"), ("--boundaries", "--names=walk"),
             ("-T", "/hung/here"), ("/hung/here",), ("-M", "/hung/here"), ("--explain",)):
    result = gm.getmnt(*args, seconds=20)
    gm.expect(result.status in (0, 32), f"{args}: status {result.status}: {result.err[-200:]}")
gm.done()
