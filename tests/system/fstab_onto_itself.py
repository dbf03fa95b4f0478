# SPDX-License-Identifier: MIT
"""A disk that is bound onto itself read-only, like the store of NixOS: the line makes it writable
again, and the line of such a bind is kept."""
import os
import re
import tempfile

import gm
from tables import check_lines, mounting_root, sh, unmount_all

gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "mount", "umount")
root = mounting_root()
top = root.path
image = tempfile.mkdtemp() + "/disk"
gm.image(image, 32 << 20, "mkfs.ext4", "-q", "-F")
loop = gm.run("losetup", "-f", "--show", image).strip()
keep = {line.point for line in gm.mountinfo()}
gm.mkdir(root / "store")


def flags():
    """Whether each mount of the stack, from the lowest, is read-only."""
    with open("/proc/self/mountinfo") as f:
        return [row[5][:2] for row in (line.split() for line in f) if row[4] == str(root / "store")]


sh("/bin/mount", loop, "/store", chroot=top)
gm.bind(root / "store", root / "store")
sh("/bin/mount", "-o", "remount,bind,ro", "/store", chroot=top)
gm.expect(flags() == ["rw", "ro"], f"made: {flags()}")
result = gm.getmnt("fstab", top, program=os.environ["GETMNT"])
rows = [row.split() for row in check_lines("line", result.out)]
gm.expect(result.status == 1, f"line: {result.status} {result.err}")
gm.expect([row[3] for row in rows if row[1] == b"/store"] == [b"defaults"], f"line: {result.out}")
gm.expect(re.search(rb"^# getmnt: no line for /store \(ext4 .*: it is bound onto itself", result.out, re.M),
          f"comment: {result.out}")
text = b"".join(b" ".join(row) + b"\n" for row in rows if row[1] == b"/store")
for further, expected in ((b"", ["rw"]), (b"/store /store none bind,ro 0 0\n", ["rw", "ro"])):
    unmount_all(os.fsencode(top), keep)
    with open(root / "fstab", "wb") as f:
        f.write(text + further)
    sh("/bin/mount", "-a", "-T", "/fstab", chroot=top)
    gm.expect(flags() == expected, f"mounted again: {flags()}, expected: {expected}")
    result = gm.getmnt("fstab", top, f"--merge={root / 'fstab'}", "--check", program=os.environ["GETMNT"])
    gm.expect(b"other options" not in result.err and b"line 2" not in result.err, f"merge: {result.err}")
unmount_all(os.fsencode(top), keep)
gm.run("losetup", "-d", loop)
gm.done()
