# SPDX-License-Identifier: MIT
"""squashfs, overlay, tmpfs, ext4 and xfs, with mounts in them."""
import gm

gm.need_fs("squashfs", "overlay", "ext4", "xfs")
gm.need("mkfs.ext4", "mkfs.xfs", "mksquashfs", "losetup")
root = gm.Root()
root.keep_names()


def fill(top):
    for i in range(10):
        gm.mkdir(f"{top}/d{i}/e/f")
    gm.touch(f"{top}/d3/file")
    return top


ext4 = fill(gm.loop_mount(gm.image(root / "ext4.img", 32 << 20, "mkfs.ext4", "-q"), root / "ext4"))
xfs = fill(gm.loop_mount(gm.image(root / "xfs.img", 320 << 20, "mkfs.xfs", "-q"), root / "xfs"))
source = fill(root / "sq.src")
gm.run("mksquashfs", source, root / "sq.img", "-quiet", "-no-progress")
squash = gm.loop_mount(root / "sq.img", root / "squash")
low = fill(gm.tmpfs(root / "low"))
over = gm.overlay(root / "over", low, root / "low/.w")
ro = gm.mkdir(root / "over.ro")
gm.mount("overlay", ro, "overlay", 0, f"lowerdir={squash}:{ext4}")
for top in (ext4, xfs, squash, over, ro):
    gm.tmpfs(f"{top}/d7/e/f")
    gm.tmpfs(f"{top}/d7/e/f/g")
    gm.bind(f"{ext4}/d3/file", f"{top}/d3/file")
root.enter()
gm.check("types")
gm.check("types, four threads", args=("--threads=4",), nested=False)
gm.done()
