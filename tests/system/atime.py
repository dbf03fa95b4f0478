# SPDX-License-Identifier: MIT
"""A walk leaves access times as they were."""
import os

import gm

gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup")
root = gm.Root()
top = gm.mkdir(root / "t")
gm.loop_mount(gm.image(root / "img", 16 << 20, "mkfs.ext4", "-q"), top, "strictatime")
for i in range(20):
    gm.mkdir(f"{top}/a{i}/b/c")
gm.tmpfs(f"{top}/a11/b/c")
root.enter()


def atimes():
    found = [folder for folder, _, _ in os.walk("/t") if folder != "/t/a11/b/c"]
    for path in found:
        os.utime(path, (1, 1))
    return {path: os.stat(path).st_atime for path in found}


before = atimes()
for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
    gm.getmnt("-J", "--names=walk", "--algorithm=" + algorithm)
after = {path: os.stat(path).st_atime for path in before}
changed = [path for path in before if before[path] != after[path]]
gm.expect(len(before) > 50, "the case itself: too few directories")
gm.expect(not changed, f"{len(changed)} access times changed: {changed[:3]}")
# Somebody else's directories cannot be opened so; it is no error.
os.chmod("/t", 0o755)
result = gm.getmnt("-J", "--names=walk", uid=65534)
gm.expect(result.status == 0, f"as nobody: status {result.status}: {result.err[-300:]}")
gm.done()
