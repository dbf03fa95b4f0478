# SPDX-License-Identifier: MIT
"""btrfs: subvolumes that are mounted, and others that are not."""
import json

import gm

gm.need_fs("btrfs")
gm.need("mkfs.btrfs", "btrfs", "losetup")
root = gm.Root()
img = gm.image(root / "img", 256 << 20, "mkfs.btrfs", "-q")
top = gm.loop_mount(img, root / "pool")
for name in ("@", "@home", "unmounted", "@home/nested"):
    gm.run("btrfs", "-q", "subvolume", "create", f"{top}/{name}")
gm.mkdir(f"{top}/unmounted/d/e")
gm.mkdir(f"{top}/@/mnt")
gm.run("btrfs", "-q", "subvolume", "snapshot", f"{top}/@home", f"{top}/snap")
dev = gm.run("findmnt", "-n", "-o", "SOURCE", top).strip().split("[")[0]
gm.run("mount", "-o", "subvol=@", dev, gm.mkdir(root / "sys2"))
gm.run("mount", "-o", "subvol=@home", dev, gm.mkdir(root / "home"))
gm.run("mount", "-o", "subvol=@home/nested", dev, gm.mkdir(root / "sys2/mnt"))
gm.tmpfs(f"{top}/unmounted/d/e")            # a mount beyond a boundary that is no mount
root.enter()
gm.check("btrfs")

# Every boundary of a btrfs, whether a mount is missing in it or not.
for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
    document = gm.getmnt("-J", "--names=walk", "--boundaries", "--algorithm=" + algorithm).json()
    met = sorted(b["path"] for b in document["boundaries"] if not b["path"].startswith("/sys/"))
    gm.expect(met == ["/home/nested", "/pool/@", "/pool/@home", "/pool/@home/nested",
                      "/pool/snap", "/pool/unmounted"], f"{algorithm}: {met}")
gm.done()
