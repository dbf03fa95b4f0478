# SPDX-License-Identifier: MIT
"""A /run that never answers does not keep --poll from telling a change with a UUID."""
import gm

gm.need("mkfs.ext4")
gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "m")
gm.loop_mount(gm.image(root / "image", 8 << 20, "mkfs.ext4", "-q"), root / "m/disk")
gm.mkdir(root / "m/other")
hung = gm.HungFuse(root / "run")
root.enter()

watch = gm.Watch("--format=jsonl", "-o", "+UUID")
gm.mount("/m/disk", "/m/other", None, gm.MS_BIND)
watch.wait(lambda: b"/m/other" in watch.out, "the bind mount to be told")
watch.end()
gm.done()
