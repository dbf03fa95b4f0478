# SPDX-License-Identifier: MIT
"""Mounts that depend on files of a server that stops (loop devices, an overlay, another device of a
btrfs, erofs) are not touched, searched, or opened for a tag; those that depend on local files are."""
import os
import struct

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need("mkfs.ext4", "mkfs.btrfs", "losetup")
gm.need_fs("fuse", "ext4", "btrfs", "overlay")
UUIDS = dict(zip(("top", "hung", "laid"), ("01234567-89ab-4cde-8123-45678900000" + n for n in "123")))


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


def ext4(path, name):
    """An image with directories that were never read, so that they are not in the cache."""
    gm.image(path, 8 << 20, "mkfs.ext4", "-q", "-U", UUIDS[name], "-L", "x" + name)
    gm.loop_mount(path, root / "fill")
    for i in range(20):
        gm.mkdir(root / f"fill/d{i}/e")
    for name in ("d", "z/m"):
        gm.mkdir(root / f"fill/{name}")
    gm.umount(root / "fill")
    return path


def data(path):
    return gm.read_bytes(path)


def node(path):
    """Make the block device of a mount in the root's /dev."""
    dev = os.stat(path).st_dev
    os.mknod(root / f"dev/loop{os.minor(dev)}", 0o600 | 0o060000, dev)
    return f"/dev/loop{os.minor(dev)}"


root = gm.Root()
gm.tmpfs(root / "run")
good, bad = ["/good/top"], ["/bad/hung", "/bad/hung/z/m", "/bad/laid", "/merged"]
pools = []
for name in "abcd":
    with open(root / name, "wb") as f:
        f.truncate(40 << 20)
for names in ("ab", "cd"):
    gm.run("mkfs.btrfs", "-q", "-M", "-m", "single", "-d", "single", *(root / name for name in names))
server = gm.FileFuse(root / "slow", {"d": data(root / "d"), "erofs.img": erofs(),
                                     "disk.img": data(ext4(root / "tmp/image", "hung"))})
gm.overlay(root / "merged", root / "slow", gm.tmpfs(root / "up") + "/w")
node(gm.loop_mount(ext4(root / "top.img", "top"), root / "good/top"))
hung = node(gm.loop_mount(root / "slow/disk.img", root / "bad/hung", "ro", "noload"))
laid = node(gm.loop_mount(ext4(root / "merged/laid.img", "laid"), root / "bad/laid"))
gm.tmpfs(root / "bad/hung/z/m")
with open(root / "good/top/erofs.img", "wb") as f:
    f.write(erofs())
for place, files, of in (("good/pool", ("a", "b"), good), ("bad/pool", ("c", "slow/d"), bad)):
    loops = [gm.run("losetup", "-f", "--show", *(("-r",) if of is bad else ()), root / name).strip()
             for name in files]
    gm.run("mount", "-t", "btrfs", "-o",
           ",".join(["device=" + loop for loop in loops] + ["ro"] * (of is bad)), loops[0],
           gm.mkdir(root / place))
    for loop in loops:
        gm.run("losetup", "-d", loop)
    of.append("/" + place)
gm.mkdir(root / "good/pool/d")
root.enter()
for source, place, of in (("/good/top/erofs.img", "/good/erofs", good),
                          ("/slow/erofs.img", "/bad/erofs", bad),
                          ("slow/erofs.img", "/bad/relative", bad)):
    try:
        gm.mount(source, gm.mkdir(place), "erofs", gm.MS_RDONLY)
        of.append(place)
    except OSError:     # a kernel before 6.12
        pass
server.stopped = True

gm.expect_untouched(good, bad, ("walk", "pure"))
for uid in (None, 1000):
    found = gm.getmnt("search", "*", "/good", "/bad", uid=uid, seconds=10).out.decode().split("\n")
    for target in good:
        gm.expect(target + "/d" in found, f"search as {uid}: {target} is not entered")
    for target in bad:
        gm.expect(not any(path.startswith(target + "/") and path not in bad for path in found),
                  f"search as {uid}: {target} is entered")
for args in (("audit", "--under"), ("-T", "/bad/pool/d"), ("-D",)):
    gm.getmnt(*args, seconds=10)

# No device is opened for its tags.
for names in ("hint", "walk", "pure"):
    result = gm.getmnt("-J", "-l", "-o", "TARGET,UUID,LABEL,SOURCES,STATE", "--names=" + names, "-t", "ext4")
    rows = {row["target"]: row for row in result.rows()}
    gm.expect(rows["/good/top"]["uuid"] == UUIDS["top"], f"{names}: {rows['/good/top']}")
    for target in ("/bad/hung", "/bad/laid"):
        row = rows[target]
        gm.expect((row["uuid"], row["label"], row["state"]) == (None, None, "untested"), f"{names}: opened: {row}")
# A path is not followed there either, whatever fields the table has; nor is a root.
result = gm.getmnt("--names=kernel", "--probe", "-J", "-o", "TARGET", "--root=/bad/hung/d", seconds=10)
gm.expect(b"can block" in result.err, f"--root: {result.err}")
for args in (["-T", "/bad/hung/d"], ["-T", "/bad/laid/d"]):
    for kernel in ([], ["--kernel=listmount"] * ("listmount" not in os.environ.get("GETMNT_DISABLE", "") and gm.KERNEL >= (6, 8))):
        links = {}
        for columns in ("TARGET", "TARGET,MAJ:MIN", "TARGET,SOURCE", "TARGET,OPTIONS"):
            result = gm.getmnt("-J", "-o", columns, "--names=kernel", "--stats=json", *kernel, *args, seconds=10)
            links[columns] = result.stats()["calls"]["readlinkat"]
        gm.expect(len(set(links.values())) == 1, f"{kernel} {args}: {links}")
# With --names=kernel no file under a loop device is known, however the mount is found.
for args in (["-M", "/good/top"], ["-T", "/good/top/d"], ["-S", gm.getmnt("-n", "-o", "SOURCE", "/good/top").out.decode().strip()]):
    result = gm.getmnt("-r", "-n", "-o", "UUID", "--names=kernel", *args)
    gm.expect(not result.out.strip(), f"--names=kernel {args}: {result.out}")
result = gm.getmnt("-r", "-n", "-o", "UUID", "--names=kernel", "-t", "ext4")
gm.expect(not result.out.strip(), f"--names=kernel: {result.out}")
gm.touch("/fstab", f"UUID={UUIDS['hung']} /x ext4 defaults 0 0\n")
for args, status, out in (
        (("-S", "UUID=" + UUIDS["top"]), 0, b"/good/top\n"), (("-S", "UUID=" + UUIDS["hung"]), 32, b""),
        (("LABEL=xlaid",), 32, b""), (("-S", hung), 0, b"/bad/hung\n"),
        (("--unmounted", "-S", laid), 0, b"/bad/laid\n"), (("--unmounted", "-t", "ext4"), 0, None),
        (("-e", "-s", "-F", "/fstab"), 0, b"/x\n")):
    result = gm.getmnt("-r", "-n", "-o", "TARGET", *args)
    gm.expect(result.status == status and out in (None, result.out),
              f"{args}: status {result.status}: {result.out} {result.err}")
for target, status in (("/good/top", 0), ("/bad/hung", 1), ("/bad/laid", 1)):
    result = gm.getmnt("-r", "-n", "-o", "SOURCE", "--names=walk", "--root", target, "--target", "/")
    gm.expect(result.status == status and (status == 0) == (b"can block" not in result.err),
              f"--root={target}: status {result.status}: {result.out} {result.err}")

# A path into such a mount is not followed: neither after a probe found it hung, nor by --poll.
# A probe that is answered from memory does not make the mount ok.
for number, probe in enumerate(((), ("--probe=local",), ("--probe=all", "--timeout=0.3"), ("--poll", "-w", "100"))):
    for option in ("-T", "-M", "-R", None):
        for path in ("/merged/d", f"/bad/hung/d{number}/e"):
            args = [*probe, *([option] if option else []), path]
            result = gm.getmnt(*args, seconds=10 * gm.SLOW)
            gm.expect(result.status in (0, 1, 32), f"{args}: status {result.status} {result.err[-300:]!r}")
for _ in range(2):
    states = gm.states("--probe=all", "--timeout=0.3", "--strict", status=(64,))
    for target in ("/slow", "/merged", "/bad/hung", "/bad/hung/z/m"):
        gm.expect(states.get(target) == "hung", f"{target} is {states.get(target)}")
    gm.expect(states.get("/run") == "ok", f"/run is {states.get('/run')}")

gm.umount("/sys")
for args in (("--names=walk",), ("--names=pure", "--algorithm=getmnt1"), ("-D",), ("--output-all",),
             ("--unmounted",), ("--root", "/bad/hung"), ("-T", "/bad/hung/d1/e")):
    result = gm.getmnt("-J", "-l", "-o", "+STATE", *args)
    if result.status in (0, 64):
        states = {row["target"]: row["state"] for row in result.rows()}
        gm.expect(states.get("/bad/hung", "untested") == "untested", f"{args} without /sys: {states}")
os.close(server.fd)
gm.done()
