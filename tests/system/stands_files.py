# SPDX-License-Identifier: MIT
"""Mounts on files of a server that stops: another device of a btrfs, erofs without a loop
device.  Those on local files are entered, by an ordinary user as well."""
import os
import struct

import gm

gm.need("mkfs.ext4", "mkfs.btrfs", "losetup")
gm.need_fs("fuse", "ext4", "btrfs")


def erofs():
    """An image of a file system with one directory, "d"."""
    def inode(block, size):
        return struct.pack("<HHHHIIIIHHI", 0, 0, 0o40755, 2, size, 0, block, 1, 0, 0, 0)

    def names(*entries):
        at, heads, text = 12 * len(entries), b"", b""
        for nid, name in entries:
            heads += struct.pack("<QHBB", nid, at + len(text), 2, 0)
            text += name
        return heads + text

    top, below = names((1, b"."), (1, b".."), (2, b"d")), names((2, b"."), (1, b".."))
    head = struct.pack("<IIIBBHQQIIII16s16sI", 0xe0f5e1e2, 0, 0, 12, 0, 1, 2, 0, 0, 4, 1, 0, b"1", b"", 0)
    blocks = (bytes(1024) + head, bytes(32) + inode(2, len(top)) + inode(3, len(below)), top, below)
    return b"".join(block.ljust(4096, b"\0") for block in blocks)


def data(path):
    with open(path, "rb") as f:
        return f.read()


root = gm.Root()
good, bad = [], []
for name in ("a", "b", "c", "d"):
    with open(root / name, "wb") as f:
        f.truncate(40 << 20)
gm.image(root / "top.img", 8 << 20, "mkfs.ext4", "-q")
gm.loop_mount(root / "top.img", root / "good/top")
gm.mkdir(root / "good/top/d")
good.append("/good/top")
with open(root / "good/top/erofs.img", "wb") as f:
    f.write(erofs())
for place, names in (("good/pool", "ab"), ("bad/pool", "cd")):
    gm.run("mkfs.btrfs", "-q", "-M", "-m", "single", "-d", "single", *(root / name for name in names))
server = gm.FileFuse(root / "slow", {"d": data(root / "d"), "erofs.img": erofs()})
for place, files, of in (("good/pool", ("a", "b"), good), ("bad/pool", ("c", "slow/d"), bad)):
    loops = [gm.run("losetup", "-f", "--show", *(("-r",) if of is bad else ()), root / name).strip() for name in files]
    gm.run("mount", "-t", "btrfs", "-o", ",".join(["device=" + loop for loop in loops] + ["ro"] * (of is bad)), loops[0],
           gm.mkdir(root / place))
    for loop in loops:
        gm.run("losetup", "-d", loop)
    of.append("/" + place)
gm.mkdir(root / "good/pool/d")
root.enter()
for source, place, of in (("/good/top/erofs.img", "/good/erofs", good), ("/slow/erofs.img", "/bad/erofs", bad),
                          ("slow/erofs.img", "/bad/relative", bad)):
    try:
        gm.mount(source, gm.mkdir(place), "erofs", gm.MS_RDONLY)
        of.append(place)
    except OSError:     # a kernel before 6.12
        pass
server.stopped = True

gm.expect_untouched(good, bad, ("walk", "pure"))
for uid in (None, 1000):
    found = set(gm.getmnt("search", "*", "/good", "/bad", uid=uid, seconds=10).out.decode().split("\n"))
    for target in good:
        gm.expect(target + "/d" in found, f"search as {uid}: {target} is not entered")
    for target in bad:
        gm.expect(not any(path.startswith(target + "/") for path in found), f"search as {uid}: {target} is entered")
for args in (("audit", "--under"), ("-T", "/bad/pool/d"), ("-D",)):
    gm.getmnt(*args, seconds=10)
gm.done()
