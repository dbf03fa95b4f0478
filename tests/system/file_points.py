# SPDX-License-Identifier: MIT
"""Mount points that are files."""
import gm

root = gm.Root()
gm.touch(root / "etc/resolv.conf.real", "nameserver ::1\n")
for name in ("resolv.conf", "hosts", "hostname"):
    gm.bind(root / "etc/resolv.conf.real", root / f"etc/{name}")
gm.tmpfs(root / "box")
gm.bind(root / "etc/resolv.conf.real", root / "box/etc/resolv.conf")
for i in range(500):
    gm.touch(root / f"box/many/f{i}")
gm.bind(root / "etc/resolv.conf.real", root / "box/many/f333")
# A file on a file mount; a file mount on a device node.
gm.bind(root / "box/many/f1", root / "etc/hosts")
gm.bind(root / "dev/null", root / "box/null")
root.enter()
gm.check("files")
rows = gm.getmnt("-J", "-l", "--names=walk", "-o", "+ID,KIND").rows()
kinds = {row["target"]: row["kind"] for row in rows}
for path in ("/etc/resolv.conf", "/box/many/f333", "/box/null"):
    gm.expect(kinds.get(path) == "file", f"KIND of {path} is {kinds.get(path)}")
gm.expect(kinds.get("/box") == "dir", f"KIND of /box is {kinds.get('/box')}")
gm.done()
