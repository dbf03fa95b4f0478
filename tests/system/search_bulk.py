# SPDX-License-Identifier: MIT
"""getmnt search --engine=bulk: xfs and btrfs return attributes of many files in one call, to root; where
that is refused, the same is found without a message.  While files are written, the attributes reported
for a file were true at some time of the search.  tests/unit/test_many.c compares all engines on each
file system."""
import ctypes
import os
import signal
import socket
import struct
import subprocess
import time

import gm

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs", "losetup")
gm.need_features("the calls are others", "statx-mntid", "openat2")
gm.need_fs("ext4", "xfs", "btrfs")
FILES = 600
NOBODY = 65534
BULK = ("xfs", "btrfs")

root = gm.Root()
root.keep_names()
gm.mkdir(root / "img")
for kind in ("ext4", "xfs", "btrfs"):
    gm.loop_mount(gm.image(root / f"img/{kind}", 512 << 20, f"mkfs.{kind}", "-q"), root / f"t/{kind}")
gm.run("btrfs", "-q", "subvolume", "create", root / "t/btrfs/sub")


def build(top):
    """Files of all kinds, not written to the disk yet."""
    def path(name):
        return os.path.join(top, name)
    for name in ("many", "odd", "holes", "point", "deep/er/and/deeper"):
        gm.mkdir(path(name))
    for i in range(FILES):
        name = path(f"many/{i * 2654435761 % 2**32:x}")
        with open(name, "wb") as f:
            f.write(b"x" * (i % 7 * i))
            if i % 5 == 0:
                f.truncate(i * 1000)
        if i % 3 == 0:
            os.chown(name, 1000 + i, 2000 + i)
        if i % 10 == 0:
            os.link(name, path(f"many/{i}-link"))
            os.symlink(("x/" * 450)[:i % 900 + 1], path(f"many/{i}-sym"))
        if i % 100 == 0:
            os.mkdir(path(f"many/{i}-dir"))
    for i in range(FILES):
        gm.touch(path(f"holes/{i}"), "x")
    for i in range(FILES):
        if i % 3 == 0 or i % 300 < 150:
            os.unlink(path(f"holes/{i}"))
    for i in range(30):
        gm.touch(path(f"odd/file{i}"), "y" * 5000)
        os.mkfifo(path(f"odd/fifo{i}"))
        os.mknod(path(f"odd/device{i}"), 0o60600, os.makedev(300, i))
        gm.touch(path(f"deep/er/and/deeper/{i}"), "z")
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(path("odd"))
        s.bind("socket")
        os.chdir("/")
    os.utime(path("odd/file1"), (-5, 1 << 33) if top.endswith("btrfs") else (5, 1 << 31))
    gm.tmpfs(path("point"))
    gm.touch(path("point/inside"), "zz")


os.rmdir(root / "t/ext4/lost+found")
for kind in ("ext4", "xfs", "btrfs"):
    build(root / "t/" + kind)
for i in range(200):
    gm.touch(root / f"t/btrfs/sub/f{i}", "s" * i)
gm.run("btrfs", "-q", "subvolume", "snapshot", root / "t/btrfs/sub", root / "t/btrfs/snap")
for i in range(0, 200, 7):
    gm.touch(root / f"t/btrfs/snap/f{i}", "other")

# With other owners on the mount than in the file system, if this kernel has that.
idmapped = False
if os.uname().machine in ("x86_64", "aarch64"):
    child = subprocess.Popen(["unshare", "--user", "sleep", "60"])
    while os.readlink(f"/proc/{child.pid}/ns/user") == os.readlink("/proc/self/ns/user"):
        time.sleep(0.01)
    for name in ("uid_map", "gid_map"):
        gm.touch(f"/proc/{child.pid}/{name}", "0 100000 65536")
    namespace = os.open(f"/proc/{child.pid}/ns/user", os.O_RDONLY)
    for kind in BULK:
        tree = gm.libc.syscall(428, -100, os.fsencode(root / f"t/{kind}/many"), 1 | os.O_CLOEXEC)
        attr = struct.pack("=QQQQ", 0x100000, 0, 0, namespace)
        if tree >= 0 and gm.libc.syscall(442, tree, b"", 0x1000, attr, len(attr)) == 0:
            gm.mkdir(root / f"mapped/{kind}")
            idmapped = gm.libc.syscall(429, tree, b"", -100, os.fsencode(root / f"mapped/{kind}"), 4) == 0
        if tree >= 0:
            os.close(tree)
    os.close(namespace)
    child.send_signal(signal.SIGKILL)
    child.wait()
root.enter()
COLUMNS = ",".join(line.split()[0] for line in gm.getmnt("search", "-H").out.decode().splitlines())


def find(top, *args, tag="", **more):
    """The results with all columns, and the calls."""
    result = gm.getmnt("search", "--format=jsonl", "--stats=json", "-o", COLUMNS, *args, "*", top, **more)
    lines = result.err.decode().splitlines()
    gm.expect(result.status == 0 and len(lines) == 1, f"{tag} {top} {args}: {result.status} {lines[:-1]}")
    return sorted(result.out.splitlines()), result.stats()


def same(got, want, tag):
    different = [pair for pair in zip(got, want) if pair[0] != pair[1]]
    gm.expect(len(got) == len(want) and not different,
              f"{tag}: {len(got)} of {len(want)}, {len(different)} different: {different[:2]}")


def calls(stats):
    return [stats["calls"][name] for name in ("ioctl", "syncfs")]


for kind in ("ext4", "xfs", "btrfs"):
    top = "/t/" + kind
    # The kernel may write blocks between the two searches.
    for _ in range(5):
        got, stats = find(top, "--engine=bulk", "--threads=3")
        want, plain = find(top, "--engine=sync", "--threads=1")
        if got == want:
            break
    gm.expect(len(want) > 1.5 * FILES, f"{kind}: {len(want)}")
    same(got, want, kind)
    if kind in BULK:
        gm.expect(stats["calls"]["ioctl"] > 3 and stats["calls"]["syncfs"] == 1
                  and stats["calls"]["statx"] < plain["calls"]["statx"] / 2, f"{kind}: {stats}")
    else:
        gm.expect(calls(stats) == [0, 0], f"{kind}: {stats['calls']}")

    # Where it is refused, it is tried once, without a message.
    once = [1 if kind in BULK else 0, 0]
    find(top, uid=NOBODY)       # it reads directories, which then were read
    got, stats = find(top, "--engine=bulk", "--threads=3", uid=NOBODY)
    same(got, find(top, uid=NOBODY)[0], f"{kind}, nobody")
    gm.expect(calls(stats) == once, f"{kind}, nobody: {stats['calls']}")
    got, stats = find(top, "--engine=bulk", before=lambda: gm.libc.unshare(0x10000000))
    gm.expect(len(got) == len(want) and calls(stats) == once, f"{kind}, user namespace: {stats['calls']}")
    got, stats = find(top, "--engine=bulk", env={"GETMNT_DISABLE": "bulk"})
    same(got, find(top)[0], f"{kind}, without")
    gm.expect(calls(stats) == [0, 0], f"{kind}, without: {stats['calls']}")
    # By other ways to the mounts, and without knowing which block.
    for disable, extra in (("listmount", ()), ("openat2", ()), ("", ("--blocking",)), ("", ("--xdev",)), ("", ("-L",))):
        args = ("--type=f", *extra)
        got, stats = find(top, "--engine=bulk", *args, env={"GETMNT_DISABLE": disable})
        same(got, find(top, "--engine=sync", *args, env={"GETMNT_DISABLE": disable})[0], f"{kind}, {disable}, {extra}")
        # Without openat2 a directory may be on another mount once it is open.
        gm.expect((stats["calls"]["ioctl"] > 3) == (kind in BULK and disable != "openat2"),
                  f"{kind}, {disable}, {extra}: {stats['calls']}")
    got, stats = find(top, "--engine=bulk", env={"GETMNT_DISABLE": "statx-mntid"})
    same(got, find(top)[0], f"{kind}, no mount IDs")
    # Not for directories, and not where only names are needed.
    got, stats = find(top, "--engine=bulk", "--type=d")
    same(got, find(top, "--type=d")[0], f"{kind}, directories")
    gm.expect(calls(stats) == [0, 0], f"{kind}, directories: {stats['calls']}")
    result = gm.getmnt("search", "--engine=bulk", "--stats=json", "*", top)
    gm.expect(calls(result.stats()) == [0, 0], f"{kind}, names: {result.stats()['calls']}")

# Others' owners are shown.
for kind in BULK if idmapped else ():
    got, stats = find("/mapped/" + kind, "--engine=bulk")
    same(got, find("/mapped/" + kind)[0], f"{kind}, ID mapping")
    gm.expect(calls(stats) == [0, 0] and any(b'"uid":100000' in line or b'"uid": 100000' in line for line in got),
              f"{kind}, ID mapping: {stats['calls']} {got[:1]}")

# Where a policy refuses the calls.
NR = {"x86_64": (16, 306), "aarch64": (29, 267)}.get(os.uname().machine)


def forbid():
    """Let ioctl and syncfs fail with EPERM."""
    code = [(0x20, 0, 0, 0), (0x15, 2, 0, NR[0]), (0x15, 1, 0, NR[1]), (0x06, 0, 0, 0x7fff0000),
            (0x06, 0, 0, 0x00050001)]
    text = b"".join(struct.pack("=HBBI", *row) for row in code)
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("@HxxxxxxP", len(code), ctypes.addressof(buffer))
    if gm.libc.prctl(38, 1, 0, 0, 0) or gm.libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


for kind in BULK if NR else ():
    got, stats = find("/t/" + kind, "--engine=bulk", "--threads=1", before=forbid)
    same(got, find("/t/" + kind)[0], f"{kind}, seccomp")
    gm.expect(calls(stats) == [1, 0], f"{kind}, seccomp: {stats['calls']}")

# A file covered by a mount has the attributes of the mount.
gm.touch("/other", "something else")
for kind in BULK:
    gm.bind("/other", f"/t/{kind}/odd/file7")
    got, stats = find(f"/t/{kind}", "--engine=bulk", "--xdev")
    same(got, find(f"/t/{kind}", "--xdev")[0], f"{kind}, file covered")
    gm.expect(calls(stats) == [0, 0], f"{kind}, file covered: {stats['calls']}")
    gm.umount(f"/t/{kind}/odd/file7")


# A writer: files grow, by appending and by being replaced, and get the number
# of their name as owner, before they have that name.  The numbers of inodes that
# were replaced are soon those of others.
GROW, SWAP = 100, 1500


def write(top):
    gm.libc.prctl(1, signal.SIGKILL)        # not without us
    os.chdir(top)
    turn = 0
    while True:
        turn += 1
        for i in range(SWAP):
            new = os.open("new", os.O_CREAT | os.O_WRONLY)
            os.truncate(new, 100 * turn)
            os.chown(new, i, i)
            os.close(new)
            os.rename("new", f"swap{i}")
            if i % (SWAP // GROW) == 0:
                with open(f"grow{i * GROW // SWAP}", "ab") as grown:
                    grown.write(b"a" * 100)


def sizes(top):
    return {f"{name}{i}": os.stat(f"{top}/{name}{i}").st_size
            for name, n in (("grow", GROW), ("swap", SWAP)) for i in range(n)}


for kind in BULK:
    top = gm.mkdir(f"/t/{kind}/written")
    for name, n in (("grow", GROW), ("swap", SWAP)):
        for i in range(n):
            gm.touch(f"{top}/{name}{i}", "x")
            os.chown(f"{top}/{name}{i}", i, i)
    writer = os.fork()
    if writer == 0:
        try:
            write(top)
        finally:
            os._exit(1)
    answered = turns = 0
    end = time.monotonic() + 2
    while time.monotonic() < end:
        turns += 1
        least = sizes(top)
        result = gm.getmnt("search", "--engine=bulk", "--stats=json", "-o", "NAME,UID,SIZE,NLINK", "*", top,
                           *(("--ahead",) if turns % 4 else ()))
        most = sizes(top)
        answered += result.stats()["calls"]["ioctl"]
        for line in result.out.decode().splitlines():
            name, uid, size, nlink = line.split("\t")
            if name == "new":
                continue
            # statx(2) itself may come upon a file that is being replaced.
            gm.expect(least[name] <= int(size) <= most[name] and int(uid) == int(name[4:]) and nlink in "01",
                      f"{kind}, {name}: {line!r}, {least[name]} to {most[name]}")
    gm.expect(answered > 2 * turns, f"{kind}: {answered} calls in {turns} turns next to the writer")
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    same(find(top, "--engine=bulk")[0], find(top, "--engine=sync")[0], f"{kind}, written")
gm.done()
