# SPDX-License-Identifier: MIT
"""On ext4 a directory is at its end after an entry with the greatest possible position: no further read
is made, and no entry is missed.  On other file systems it is read until nothing is returned."""
import collections
import os

import gm

gm.need_features("directories are read to their ends", "openat2", "statx-mntid")
gm.need("mkfs.ext4", "losetup")
gm.need_fs("ext4")
KINDS = {   # whether the read that gives nothing is saved
    "ext4": (["mkfs.ext4", "-q"], True),
    "ext4-linear": (["mkfs.ext4", "-q", "-O", "^dir_index"], False),
    "ext4-inline": (["mkfs.ext4", "-q", "-O", "inline_data", "-I", "256"], None),
    "ext4-1k": (["mkfs.ext4", "-q", "-b", "1024"], True),
    "xfs": (["mkfs.xfs", "-q"], False),
    "btrfs": (["mkfs.btrfs", "-q"], False),
}

root = gm.Root()
kinds = {}
for kind, (mkfs, saves) in KINDS.items():
    if gm.have_fs(kind.split("-")[0], mkfs[0]):
        gm.loop_mount(gm.image(root / f"{kind}.img", 400 << 20, *mkfs), gm.mkdir(root / f"t/{kind}"))
        kinds[kind] = saves
gm.tmpfs(root / "t/tmpfs")
gm.tmpfs(root / "layers")
gm.mkdir(root / "layers/low/lower")
gm.overlay(root / "t/overlay", root / "layers/low", root / "layers/work")
kinds |= {"tmpfs": False, "overlay": False}
root.enter()


def build(top):
    """Directories of no entry, a few, about a block, a buffer, and many."""
    for n in (0, 1, 2, 3, 30, 60, 90, 500, 900, 1000, 1100, 7000):
        gm.mkdir(f"{top}/d{n}/empty")
        for i in range(n):
            gm.touch(f"{top}/d{n}/{i:x}" + "n" * (i * 7 % 40))
    for i in range(200):
        gm.mkdir(f"{top}/small/{i}/{i}")


def tree(top):
    """What is below a directory."""
    return collections.Counter(os.path.join(path, name) for path, dirs, files in os.walk(top) for name in dirs + files)


def search(top, *args, off=False):
    """@return what was found, and the calls."""
    r = gm.getmnt("search", "--stats=json", *args, "*", top, env={"GETMNT_DISABLE": "last-pos"} if off else None)
    gm.expect(r.status == 0, f"{top} {args}: {r.err!r}")
    return collections.Counter(r.out.decode().split("\n")[:-1]), r.stats()


for kind, saves in kinds.items():
    top = f"/t/{kind}"
    if kind.startswith("ext4"):
        os.rmdir(f"{top}/lost+found")   # of several blocks, not hashed: no such position
    build(top)
    truth = tree(top)
    for args in (["--threads=1"], ["--threads=3"], ["--threads=2", "-o", "PATH"]):
        got, stats = search(top, *args)
        gm.expect(got == truth, f"{kind} {args}: {(got - truth) | (truth - got)}")
        whole, off = search(top, *args, off=True)
        gm.expect(whole == truth, f"{kind} {args}, switched off: {(whole - truth) | (truth - whole)}")
        saved = off["calls"]["getdents64"] - stats["calls"]["getdents64"]
        dirs = stats["dirs"]
        gm.expect(dirs == off["dirs"] and dirs > 200, f"{kind}: {stats}")
        gm.expect(off["calls"]["getdents64"] >= 2 * dirs, f"{kind}: {off}")
        if saves is None:
            gm.expect(0 <= saved <= dirs, f"{kind}: {saved} of {dirs}")
        else:
            gm.expect(saved == (dirs if saves else 0), f"{kind} {args}: {saved} calls saved of {dirs} directories")

# Another type of file system below an ext4.
gm.tmpfs("/t/ext4/small/0/point")
build("/t/ext4/small/0/point")
truth = tree("/t/ext4")
got, stats = search("/t/ext4", "--threads=1")
whole, off = search("/t/ext4", "--threads=1", off=True)
inside, below = search("/t/ext4/small/0/point", "--threads=1")
saved = off["calls"]["getdents64"] - stats["calls"]["getdents64"]
gm.expect(got == truth == whole, f"with a mount below: {(got - truth) | (truth - got)}")
gm.expect(saved == stats["dirs"] - below["dirs"], f"with a mount below: {saved} of {stats['dirs']}, {below['dirs']} below")

# Discovery finds the same with and without it.
gm.tmpfs("/t/ext4/d7000/empty")
for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
    names = []
    for disable in ("", "last-pos"):
        r = gm.getmnt("--names=pure", f"--algorithm={algorithm}", "-l", "-n", "-o", "TARGET,STATE",
                      env={"GETMNT_DISABLE": disable})
        names.append(r.out)
    gm.expect(names[0] == names[1] and b"/t/ext4/d7000/empty" in names[0], f"{algorithm}: {names}")
gm.done()
