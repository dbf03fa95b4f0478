# SPDX-License-Identifier: MIT
"""getmnt index update: after random changes of a tree the index is what is on the disk; a renamed directory is
one change; an unchanged tree costs one statx a directory; names that mounts cover are not touched."""
import os
import random
import resource
import stat
import time

import gm
from index_tree import Tree, differences, mount_kinds, on_disk

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "strace")
gm.need_fs("ext4", "xfs", "btrfs")
IX = "--index-dir=/ix"
MANY = 2000
NAMES = 210000
root = gm.Root()
mount_kinds(root, 300)
gm.install("strace", root.path)
root.enter()


def update(top, *options, status=0):
    result = gm.getmnt("index", "update", IX, *options, top)
    gm.expect(result.status == status, f"{top}: update {options}: {result}")
    return result.out.decode()


def agree(tag, top):
    wrong = differences(top, IX)
    gm.expect(not wrong, f"{tag}: {len(wrong)} differ: {wrong[:5]}")
    rows = gm.getmnt("index", "status", "--json", IX).json()["filesystems"]
    told = [(row["entries"], row["dirs"]) for row in rows if row["target"] == top]
    walked = [(len(dirs), len(files)) for _, dirs, files in os.walk(os.fsencode(top))]
    there = (1 + sum(map(sum, walked)), len(walked))
    gm.expect(told == [there], f"{tag}: status has {told}, not {there}")


def checked(top):
    result = gm.getmnt("index", "check", IX, top, seconds=3 * gm.RUN_SECONDS)   # /many under ASan
    gm.expect(result.status == 0, f"{top}: check: {result}")


for seed, kind in enumerate(("ext4", "xfs", "btrfs")):
    top = f"/t/{kind}"
    gm.expect(gm.getmnt("index", "build", "-q", IX, top).status == 0, f"{top}: build")
    tree = Tree(top, random.Random(seed))
    for turn in range(30 if gm.FULL else 8):
        tree.look()
        # On ext4, files that are modified in place need --max-age.
        in_place = turn % 2 == 0 or kind != "ext4"
        for _ in range(tree.rnd.choice([1, 5, 50, 300])):
            tree.change(in_place)
        update(top, *(["--max-age=0"] if in_place and kind == "ext4" else []))
        agree(f"{top}, turn {turn}", top)
    checked(top)

# A directory of many files and its subdirectories: renamed, then moved into another directory.
top = "/t/xfs"
for i in range(MANY):
    gm.touch(f"{top}/big/sub/f{i}", "x")
    os.makedirs(f"{top}/big/d{i % 50}/e", exist_ok=True)
gm.mkdir(f"{top}/other")
update(top)
time.sleep(4.1)
update(top)
gm.expect("read" not in update(top), "an unchanged tree is read")
for old, new in (("big", "huge"), ("huge", "other/big")):
    os.rename(f"{top}/{old}", f"{top}/{new}")
    out = update(top)
    gm.expect("1 directory moved" in out and "added" not in out and "removed" not in out, f"a rename: {out}")
    agree(f"{old} renamed", top)

# The cost of nothing: one call for each directory, and one more for each with subdirectories.
time.sleep(4.1)
update(top)
before = update(top)
gm.expect("read" not in before, f"settled: {before}")

# A restored tree: more directories than one thread reads, and directories of more entries than are read at a time.
top = "/t/ext4"
WIDE, LARGE = 300, 9000


def restore(path, text):
    """Make a tree, or change everything in it."""
    for i in range(WIDE):
        for k in range(5):
            # Not in place: only an update with --max-age looks for that on ext4.
            if os.path.exists(f"{path}/w{i}/v/f{k}"):
                os.unlink(f"{path}/w{i}/v/f{k}")
            gm.touch(f"{path}/w{i}/v/f{k}", text)
    for i in range(LARGE):
        gm.touch(f"{path}/large{i % 2}/{text}{i:050}")
    os.makedirs(f"{path}/large1/{text}sub", exist_ok=True)


# Calls of statx(2) for a directory, at most.  Without openat2, two more check whether the directory is a mount.
EACH = 6 if "openat2" in gm.OFF else 4


def looks(top, *options):
    """How many calls of statx(2) an update makes."""
    result = gm.getmnt("-f", "-e", "trace=statx", "-o", "/trace", gm.PROGRAM, "index", "update", "-q", IX, *options, top,
                       program="/bin/strace", env=gm.NO_LEAKS)
    gm.expect(result.status == 0, f"{top}: traced: {result}")
    return gm.read("/trace").count("statx(")


objects = len(on_disk(top))
for name in ("new", "again"):
    restore(f"{top}/restored", name)
    made = len(on_disk(top)) - objects
    # Each new object once; each directory to compare it and when it is read.
    count, most = looks(top), made + EACH * (objects + 2 * WIDE) + 100
    gm.expect(made < count < most, f"restored: {name}: {count} looks, for {made} objects")
    agree(f"restored: {name}", top)
for i in range(WIDE):
    gm.touch(f"{top}/restored/w{i}/v/f0", f"modified {i}")
    os.unlink(f"{top}/restored/w{i}/v/f1")
for i in range(0, LARGE, 3):
    os.unlink(f"{top}/restored/large{i % 2}/new{i:050}")
count, most = looks(top, "--max-age=0"), len(on_disk(top)) + EACH * (objects + 2 * WIDE) + 100
gm.expect(count < most, f"everything: {count} looks, not {most}")
agree("everything is read", top)
# Directories that are moved into others which are read in the same run.
for i in range(0, WIDE - 1, 2):
    gm.touch(f"{top}/restored/w{i}/v/more")
    os.rename(f"{top}/restored/w{i}", f"{top}/restored/w{i + 1}/v/moved{i}")
out = update(top)
gm.expect(f"{WIDE // 2} directories moved" in out and "directories removed" not in out, f"moved: {out}")
agree("moved into directories that are read", top)
checked(top)
top = "/t/xfs"

# What a mount covers is kept, and not touched; what it uncovers is read.
if not os.path.exists("/dev/fuse"):
    os.mknod(gm.mkdir("/dev") + "/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
hung = gm.HungFuse("/t/xfs/other/big/d7")
out = update(top)
gm.expect("removed" not in out, f"covered: {out}")
hung.end()
gm.umount("/t/xfs/other/big/d7", gm.MNT_DETACH)
agree("uncovered", top)

# So many new names that their changes are not kept until the end.
gm.tmpfs("/many")
gm.expect(gm.getmnt("index", "build", "-q", IX, "/many").status == 0, "/many: build")
gm.touch("/many/d/f")
for i in range(NAMES):
    os.link("/many/d/f", f"/many/d/{i:0250}")
MOST = 80 << 20     # of the journal; all of them take more
result = gm.getmnt("index", "update", "-q", IX, "/many", before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, MOST)))
gm.expect(result.status == 0, f"{NAMES} names: {result}")
out = gm.getmnt("find", "--index", "--index-dir=/ix", "/many").out
gm.expect(out.count(b"\n") == NAMES + 3, f"{NAMES} names: {out.count(10)}")
checked("/many")
gm.umount("/many")

# A file system that is not mounted: an error only if it is named.
gm.umount("/t/btrfs")
result = gm.getmnt("index", "update", "-q", IX)
gm.expect(result.status == 0 and b"not mounted" in result.err, f"unmounted: {result}")
gm.done()
