# SPDX-License-Identifier: MIT
"""Devices whose I/O ends in a file system that blocks are not opened for a tag;
nor is what lies on them searched, with /sys or without."""
import os

import gm

gm.need("mkfs.ext4", "losetup")
gm.need_fs("fuse", "ext4", "overlay")
GOOD, BAD, LAID = ("01234567-89ab-4cde-8123-45678900000" + n for n in "123")


def ext4(path, uuid):
    gm.image(path, 8 << 20, "mkfs.ext4", "-q", "-U", uuid, "-L", "x" + uuid[-1])
    # Directories that were never read are not in the cache.
    gm.loop_mount(path, root / "fill")
    for i in range(20):
        gm.mkdir(root / f"fill/d{i}/e")
    gm.mkdir(root / "fill/z/m")
    gm.umount(root / "fill")
    return path


def node(path):
    """Make the block special file of a mount's device in the root's /dev."""
    dev = os.stat(path).st_dev
    os.mknod(root / f"dev/loop{os.minor(dev)}", 0o600 | 0o060000, dev)
    return f"/dev/loop{os.minor(dev)}"


root = gm.Root()
with open(ext4(root / "bad.img", BAD), "rb") as image:
    server = gm.FileFuse(root / "slow", {"disk.img": image.read()})
os.unlink(root / "bad.img")
gm.overlay(root / "merged", root / "slow", gm.tmpfs(root / "up") + "/w")
ext4(root / "merged/laid.img", LAID)
node(gm.loop_mount(ext4(root / "good.img", GOOD), root / "good"))
bad = node(gm.loop_mount(root / "slow/disk.img", root / "bad", "ro", "noload"))
laid = node(gm.loop_mount(root / "merged/laid.img", root / "laid"))
gm.tmpfs(root / "bad/z/m")
server.stopped = True
root.enter()

for names in ("hint", "walk", "pure"):
    result = gm.getmnt("-J", "-l", "-o", "TARGET,UUID,LABEL,SOURCES,STATE", "--names=" + names,
                       "-t", "ext4")
    if result.status is None:
        continue
    rows = {row["target"]: row for row in result.rows()}
    gm.expect(rows["/good"]["uuid"] == GOOD, f"{names}: the good one: {rows['/good']}")
    for target in ("/bad", "/laid"):
        gm.expect(rows[target]["uuid"] is None and rows[target]["label"] is None
                  and rows[target]["state"] == "untested", f"{names}: opened: {rows[target]}")

# Where nothing was tested, no file that a loop stands on is known.
result = gm.getmnt("-r", "-n", "-o", "UUID", "--names=kernel", "-t", "ext4")
gm.expect(not result.out.strip(), f"--names=kernel: {result.out}")
for args, status, out in (
        (("-S", "UUID=" + GOOD), 0, b"/good\n"), (("-S", "UUID=" + BAD), 32, b""),
        (("LABEL=x3",), 32, b""), (("-S", bad), 0, b"/bad\n"), (("--unmounted", "-S", laid), 0, b"/laid\n"),
        (("--unmounted", "-t", "ext4"), 0, None), (("-e", "-s", "-F", "/fstab"), 0, b"/x\n")):
    with open("/fstab", "w", encoding="ascii") as f:
        f.write(f"UUID={BAD} /x ext4 defaults 0 0\n")
    result = gm.getmnt("-r", "-n", "-o", "TARGET", *args)
    gm.expect(result.status == status and out in (None, result.out),
              f"{args}: status {result.status}: {result.out} {result.err}")
# As a root, before anything was tested: where the file lies is told by the table.
for target, status in (("/good", 0), ("/bad", 1), ("/laid", 1)):
    result = gm.getmnt("-r", "-n", "-o", "SOURCE", "--names=walk", "--root", target, "--target", "/")
    gm.expect(result.status == status and (status == 0) == (b"can block" not in result.err),
              f"--root={target}: status {result.status}: {result.out} {result.err}")
gm.umount("/sys")
for args in (("--names=walk",), ("--names=pure", "--algorithm=getmnt1"), ("-D",), ("--output-all",),
             ("--unmounted",), ("--root", "/bad"), ("-T", "/bad/d1/e")):
    result = gm.getmnt("-J", "-l", "-o", "+STATE", *args)
    if result.status in (0, 64):
        states = {row["target"]: row["state"] for row in result.rows()}
        gm.expect(states.get("/bad", "untested") == "untested", f"{args} without /sys: {states}")
gm.done()
