# SPDX-License-Identifier: MIT
"""Directories opened together by io_uring: the same results on each file system as without it, by
fewer calls; what cannot be opened is reported."""
import ctypes
import os
import struct

import gm

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "losetup")
gm.need_fs("ext4", "xfs", "btrfs")
WIDE, DEEP = 60, 20    # directories: WIDE of them, with DEEP in each


def together():
    """Whether this kernel has a ring, and opens directories whose names are cached."""
    ring = gm.libc.syscall(425, 1, ctypes.create_string_buffer(120))
    how = struct.pack("QQQ", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0, 0x20)
    fd = gm.libc.syscall(437, -100, b"/", ctypes.create_string_buffer(how, len(how)), len(how))
    for each in (ring, fd):
        if each >= 0:
            os.close(each)
    return ring >= 0 and fd >= 0 and not gm.DISABLED.get("GETMNT_DISABLE")


root = gm.Root()
root.keep_names()
for kind, mkfs in (("ext4", ["mkfs.ext4", "-q"]), ("xfs", ["mkfs.xfs", "-q"]), ("btrfs", ["mkfs.btrfs", "-q"])):
    gm.loop_mount(gm.image(root / f"{kind}.img", 400 << 20, *mkfs), gm.mkdir(root / f"t/{kind}"))
gm.tmpfs(root / "t/tmpfs")
gm.tmpfs(root / "layers")
for i in range(WIDE):
    for k in range(DEEP):
        gm.mkdir(root / f"layers/low/{i}/{k}")
        gm.touch(root / f"layers/low/{i}/{k}/file")
gm.overlay(root / "t/overlay", root / "layers/low", root / "layers/work")
root.enter()


def search(top, *args, disable=None, **more):
    """@return the results, the messages, and the calls."""
    r = gm.getmnt("search", "--stats=json", *args, "*", top, env={"GETMNT_DISABLE": disable}, **more)
    err = [line for line in r.err.decode().splitlines() if line.startswith("getmnt: ")]
    return sorted(r.out.split(b"\n")), sorted(err), r.stats()


for kind in ("ext4", "xfs", "btrfs", "tmpfs", "overlay"):
    top = f"/t/{kind}"
    if kind != "overlay":
        for i in range(WIDE):
            for k in range(DEEP):
                gm.mkdir(f"{top}/{i}/{k}")
                gm.touch(f"{top}/{i}/{k}/file")
    # A mount, a directory of another user, a link.
    gm.tmpfs(f"{top}/7/7")
    gm.touch(f"{top}/7/7/other")
    os.chmod(f"{top}/8", 0o700)
    os.symlink("..", f"{top}/9/up")
    for args in ((), ("--xdev",), ("-o", "SIZE,PATH"), ("-L",)):
        plain = search(top, *args, "--threads=1")[:2]
        for more in ((), ("--engine=sync",), ("--threads=4",)):
            for disable in (None, "uring", "openat2"):
                got = search(top, *args, *more, disable=disable)
                gm.expect(got[:2] == plain, f"{kind} {args} {more} {disable}: {got[:2]} {plain}")
    # A directory of another user: its name is printed, and an error.
    for uid in (0, 1000):
        plain, got = (search(top, option, uid=uid) for option in ("--engine=sync", "--engine=auto"))
        gm.expect(plain[:2] == got[:2] and bool(got[1]) == (uid > 0), f"{kind}, user {uid}: {got[1]} {plain[1]}")
    search(top)   # names are known to the kernel then
    # Overlay's names are not looked up without its own.  While anything is mounted the kernel refuses names
    # that are in its cache, and under load a reader may get few directories at a time.
    rings = together() and kind != "overlay"
    for _ in range(20):
        got = search(top, "--threads=2")[2]
        if not rings or (got["calls"]["io_uring_enter"] > 10 and got["calls"]["openat2"] < got["dirs"] * 0.8):
            break
    else:
        gm.fail(f"{kind}: not opened together: {got}")
    without = search(top, "--threads=2", disable="uring")[2]
    gm.expect(got["dirs"] == without["dirs"] > WIDE * DEEP, f"{kind}: {got}")
    gm.expect(without["calls"]["io_uring_enter"] == 0 and without["calls"]["openat2"] >= without["dirs"] - 1,
              f"{kind}: {without}")
    for name in ("--threads=1", "--engine=sync"):
        stats = search(top, name)[2]
        gm.expect(stats["calls"]["io_uring_setup"] == 0, f"{kind} {name}: {stats}")
    # Few descriptors: none for workers, and hardly enough.
    for few in (32, 48, 511, 512, 516, 530, 600):
        some = search(top, "--threads=2", nofile=few)
        gm.expect(some[:2] == search(top, "--threads=1")[:2], f"{kind}, {few} descriptors: {some[1]}")
gm.done()
