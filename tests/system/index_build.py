# SPDX-License-Identifier: MIT
"""getmnt index build, status, check and drop: what is in an index is what is on the disk, on ext4, XFS
and btrfs with subvolumes, snapshots and binds; each file system once however often it is mounted; names
of any bytes, hard links, large directories; what is wrong is reported, and the old index stays."""
import fcntl
import json
import os
import socket
import stat

import gm

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs", "losetup", "mksquashfs")
gm.need_fs("ext4", "xfs", "btrfs", "fuse", "overlay", "squashfs")
LARGE = 1_000_000 if gm.FULL else 100_000
MIB = 1 << 20
IX = "--index-dir=/ix"

root = gm.Root()
gm.mkdir(root / "img")
for kind, size in (("ext4", 4096 if gm.FULL else 512), ("xfs", 512), ("btrfs", 512)):
    more = ["-N", str(LARGE + 20_000)] if kind == "ext4" else []
    gm.loop_mount(gm.image(root / f"img/{kind}", size * MIB, f"mkfs.{kind}", "-q", *more), root / f"t/{kind}")
for name in ("@", "@home", "@/nested"):
    gm.run("btrfs", "-q", "subvolume", "create", root / f"t/btrfs/{name}")
os.rmdir(root / "t/ext4/lost+found")


def fill(top):
    """Objects of all kinds."""
    def path(name):
        return os.path.join(os.fsencode(top), name)
    for name in (b"many", b"empty", b"odd", b"point/covered", b"/".join([b"deep" * 10] * 20)):
        os.makedirs(path(name))
    for byte in range(1, 256):
        if byte != 0x2f:
            os.close(os.open(path(b"odd/" + bytes([byte]) + b"x\xff" * (byte % 120)), os.O_CREAT | os.O_WRONLY))
    for i in range(3000):
        name = path(b"many/%d" % i)
        with open(name, "wb") as f:
            f.write(b"x" * (i * 7 % 5000))
            if i % 5 == 0:
                f.truncate(i * 100_000)
        os.chown(name, i % 11, i % 7)
        os.utime(name, ns=(i * 10**18 // 1777, -i * 10**9 if i % 100 == 1 else i * 10**15 + i))
        if i % 10 == 0:
            os.link(name, path(b"odd/link%d" % i))
            os.symlink(b"x" * (1 + i % 200), path(b"many/%d-sym" % i))
    for i in range(30):
        with open(path(b"/".join([b"deep" * 10] * 20) + b"/file%d" % i), "wb") as f:
            f.write(b"y" * i)
        os.mkfifo(path(b"odd/fifo%d" % i))
        os.mknod(path(b"odd/device%d" % i), 0o60600 | stat.S_ISUID, os.makedev(300, 70000 + i))
    os.chdir(path(b"odd"))
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("socket")
    os.chdir("/")
    gm.tmpfs(os.fsdecode(path(b"point")))
    gm.touch(os.fsdecode(path(b"point/inside")), "z")


for kind in ("ext4", "xfs", "btrfs", "btrfs/@", "btrfs/@home"):
    fill(root / f"t/{kind}")
large = gm.mkdir(root / "t/ext4/large")
for i in range(LARGE):
    os.close(os.open(f"{large}/{i * 2654435761 % 2**32:x}-{i}", os.O_CREAT | os.O_WRONLY))
gm.run("btrfs", "-q", "subvolume", "snapshot", "-r", root / "t/btrfs/@home", root / "t/btrfs/old")
loop = gm.run("findmnt", "-no", "SOURCE", root / "t/btrfs").strip()
for subvol, name in (("@", "at"), ("@home", "home"), ("old", "old")):
    gm.mkdir(root / f"v/{name}")
    gm.run("mount", "-o", f"subvol={subvol}", loop, root / f"v/{name}")
gm.bind(root / "t/btrfs/@home/many", root / "v/many")
gm.bind(root / "t/ext4", root / "v/ext4")
gm.mount(None, root / "v/ext4", None, gm.MS_BIND | gm.MS_RDONLY | 32)
gm.tmpfs(root / "small", "size=600k")
devices = {}
for kind in ("ext4", "xfs"):
    image = gm.image(root / f"img/copy.{kind}", (16 if kind == "ext4" else 320) * MIB, f"mkfs.{kind}", "-q")
    gm.loop_mount(image, root / f"c/{kind}")
    gm.touch(root / f"c/{kind}/one", "1")
    gm.umount(root / f"c/{kind}")
    gm.run("cp", "--sparse=always", image, f"{image}.2")
    gm.loop_mount(image, root / f"c/{kind}")
    gm.loop_mount(f"{image}.2", root / f"d/{kind}", "nouuid" if kind == "xfs" else "rw")
    os.rename(root / f"d/{kind}/one", root / f"d/{kind}/two")
    devices[kind] = gm.run("findmnt", "-no", "SOURCE", root / f"d/{kind}").strip()
    os.open(devices[kind], os.O_RDONLY)     # kept when it is unmounted
    os.mknod(root / f"copy.{kind}", stat.S_IFBLK, os.stat(devices[kind]).st_rdev)
gm.run("mksquashfs", root / "c", root / "img/squashfs", "-quiet", "-no-progress")
gm.loop_mount(root / "img/squashfs", root / "e")
gm.install_program(root / "layer")
gm.mkdir(root / "layer/proc")
for name in ("dev", "sys"):
    gm.bind(f"/{name}", gm.mkdir(root / name))
hung = gm.HungFuse(root / "fuse")
root.keep_names()
os.sync()
root.enter()


def expected(top):
    """Path -> attributes of all that find -xdev finds, except for mount points below the top."""
    found = {}
    device = os.lstat(top).st_dev
    points = {line.point for line in gm.mountinfo()} - {os.fsencode(top)}

    def note(path):
        if path in points:
            return
        s = os.lstat(path)
        found[path] = (s.st_ino, s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_size, s.st_blocks,
                       s.st_mtime_ns, s.st_ctime_ns, s.st_rdev)
        if stat.S_ISDIR(s.st_mode) and s.st_dev == device:
            for name in os.listdir(path):
                note(os.path.join(path, name))
    note(os.fsencode(top))
    return found


FORMAT = r"%i %m %y %n %U %G %s %b %T@ %C@ %p\0"


def indexed(top):
    """The same, from the index."""
    got = gm.getmnt("find", "--index", IX, top, "-printf", FORMAT)
    gm.expect(got.status == 0, f"find --index {top}: status {got.status}, {got.err[-300:]!r}")
    return got.out.split(b"\0")[:-1]


def line(path, row):
    def ns(n):
        return b"%s%d.%09d0" % (b"-" if n < 0 else b"", abs(n) // 10**9, abs(n) % 10**9)
    kind = {stat.S_IFREG: b"f", stat.S_IFDIR: b"d", stat.S_IFLNK: b"l", stat.S_IFIFO: b"p", stat.S_IFSOCK: b"s",
            stat.S_IFBLK: b"b", stat.S_IFCHR: b"c"}[stat.S_IFMT(row[1])]
    return b"%d %o %s %d %d %d %d %d %s %s %s" % (
        row[0], stat.S_IMODE(row[1]), kind, *row[2:7], ns(row[7]), ns(row[8]), path)


def compare(tag, top):
    """Compare an index with the disk."""
    disk = sorted(line(path, row) for path, row in expected(top).items())
    points = {line.point for line in gm.mountinfo()} - {os.fsencode(top)}
    index = sorted(row for row in indexed(top) if row.split(b" ", 10)[-1] not in points)
    gm.expect(disk == index, f"{tag} {top}: {len(disk)} objects, {len(index)} in the index; only on disk: "
              f"{sorted(set(disk) - set(index))[:3]}; only in the index: {sorted(set(index) - set(disk))[:3]}")


def build(*args, status=0):
    got = gm.getmnt("index", "build", *args, seconds=gm.RUN_SECONDS * (10 if gm.FULL else 2))
    gm.expect(got.status == status, f"build {args}: status {got.status}, {got.err[-300:]!r}")
    return got


def table(*args):
    return gm.getmnt("index", "status", "--json", IX, *args).json()["filesystems"]


TOPS = ["/t/btrfs", "/t/ext4", "/t/xfs", "/v/at", "/v/home"]

# Nothing is indexed; then each file system once, by each engine and number of threads.
gm.expect(not any(row["index"] for row in table()), "status: something is indexed")
for args in ([], ["--engine=bulk", "--threads=1"], ["--engine=sync", "--threads=4"]):
    out = build(IX, *args).out.decode()
    for name in TOPS:
        gm.expect(f"\n{name}: " in "\n" + out, f"build {args}: not {name}: {out}")
    for name, why in (("/v/ext4", "another mount"), ("/v/many", "another mount"), ("/v/old", "a snapshot")):
        gm.expect(f"\n{name}: left out: " in out and why in out, f"build {args}: {name} is not left out: {out}")
    for name, apart in (("/t/btrfs", "4 mount points or subvolumes"), ("/v/at", "1 mount point or subvolume")):
        text = next(text for text in out.splitlines() if text.startswith(f"{name}: "))
        gm.expect(f", {apart} not entered, " in text, text)
    for name in TOPS:
        compare(args, name)
    got = gm.getmnt("index", "check", IX)
    gm.expect(got.status == 0 and got.out.count(b": correct\n") == 5 and not got.err, f"check: {got.out} {got.err}")

rows = {row["target"]: row for row in table()}
indexes = {name: row["index"] for name, row in rows.items() if row["index"]}
gm.expect(sorted(indexes) == sorted(TOPS), f"status: {sorted(indexes)}")
gm.expect(sorted(os.listdir("/ix")) == sorted(indexes.values()), f"{os.listdir('/ix')}")
gm.expect(os.stat("/ix").st_mode & 0o7777 == 0o700, "the mode of the directory")
for name in TOPS:
    # The tmpfs on point, and subvolumes.
    row, n = rows[name], len(expected(name)) + (not name.startswith("/v"))
    size = sum(os.stat(f"/ix/{row['index']}/{file}").st_size for file in os.listdir(f"/ix/{row['index']}"))
    gm.expect(row["entries"] == n and row["size"] == size and row["age"] < 600, f"{name}: {row}, {n} objects, {size} bytes")
    gm.expect(row["note"] == "complete", f"{name}: {row['note']}")
gm.expect(rows["/v/old"]["note"] == "a snapshot", f"{rows['/v/old']}")
gm.expect(rows["/t/ext4"]["size"] < 64 * rows["/t/ext4"]["entries"], f"more than 64 bytes for each: {rows['/t/ext4']}")
text = gm.getmnt("index", "status", IX).out.decode()
gm.expect("/t/ext4" in text and "left out" not in text and "pseudo" not in text and "in memory" not in text, text)
text = gm.getmnt("index", "status", "--all", IX).out.decode()
gm.expect("a pseudo file system" in text and "kept in memory only" in text, text)

# Elsewhere mounted, the same index.
gm.umount("/v/ext4")
gm.mkdir("/w")
gm.mount("/t/xfs", "/w", None, gm.MS_BIND)
gm.umount("/t/xfs/point")
gm.umount("/t/xfs")
gm.expect(any(row["target"] == "/w" and row["index"] == indexes["/t/xfs"] for row in table()), "mounted elsewhere")
gm.umount("/w")
rows = [row for row in table() if row["index"] == indexes["/t/xfs"]]
gm.expect(len(rows) == 1 and rows[0]["target"] is None and rows[0]["note"].startswith("not mounted"), f"{rows}")
gm.expect(gm.getmnt("index", "check", IX, indexes["/t/xfs"]).status == 0, "check by name")
gm.expect(gm.getmnt("index", "drop", IX, indexes["/t/xfs"]).status == 0, "drop by name")
gm.expect(indexes["/t/xfs"] not in os.listdir("/ix"), "dropped")

# A part of a file system, by a bind mount that is named.
build(IX, "/v/many")
compare("bind", "/v/many")
gm.expect(len(os.listdir("/ix")) == 5, f"bind: {os.listdir('/ix')}")


def refused(args, *words, status=1):
    got = gm.getmnt("index", *args)
    text = got.err.decode(errors="replace")
    gm.expect(got.status == status and all(word in text for word in words) and text.startswith("getmnt: "),
              f"{args}: status {got.status}, {text!r}")


# Bad input.
gm.mkdir("/t/ext4/many/dir")
refused(["build", IX, "/nowhere"], "/nowhere: No such file")
for operand, why in (("/nowhere", "/nowhere: No such file"), ("/proc", "cannot be indexed"), ("/t/ext4/many/dir", "not a mount point")):
    refused(["build", "--index-dir=/fresh/ix", operand], why)
    gm.expect(not os.path.lexists("/fresh"), f"build {operand} left {os.listdir('/')}")
refused(["build", IX, "/t/ext4/many/dir"], "not a mount point; use /t/ext4, the mount point")
refused(["build", IX, "/proc"], "/proc: cannot be indexed: a pseudo file system")
refused(["check", IX, "/v/old"], "/v/old: has no index; getmnt index build --index-dir=/ix /v/old creates it")
refused(["drop", IX], "no index given; --all removes all indexes")
refused(["drop", IX, "--all", "/t/ext4"], "cannot be combined")
refused(["build", "--index-dir=/proc/x/y"], "/proc/x/y: cannot be used")
refused(["build", IX, ""], '"": No such file or directory; the current directory is "."')
refused(["build", IX, "/fuse"], "/fuse: cannot be indexed: a FUSE file system")
refused(["check", IX, "/fuse"], "/fuse: has no index: a FUSE file system")
refused(["check", "--index-dir=/nowhere"], "/nowhere: has no indexes; getmnt index build --index-dir=/nowhere creates them")
refused(["export", "--csv", IX, "/proc"], "/proc: has no index: a pseudo file system")
refused(["chekc"], "did you mean \"check\"?")

# A writer at work; an index of another version; a damaged one; one that is not complete.
place = f"/ix/{indexes['/t/btrfs']}"
with open(place + "/lock", "r+b") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    refused(["build", IX, "/t/btrfs"], "/t/btrfs: its index is being written by another process")
    refused(["drop", IX, "/t/btrfs"], "/t/btrfs: its index is being written by another process")
compare("locked", "/t/btrfs")
segment = next(f"{place}/{name}" for name in os.listdir(place) if name.startswith("segment"))
manifest = gm.read_bytes(place + "/manifest")
for at in (os.stat(segment).st_size // 2, 100):
    with open(segment, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 0x10]))
refused(["check", IX, "/t/btrfs"], "/t/btrfs: its index is damaged; getmnt index build --index-dir=/ix /t/btrfs replaces it")
build(IX, "/t/btrfs")
gm.expect(gm.getmnt("index", "check", IX, "/t/btrfs").status == 0, "check after the repair")
os.unlink(place + "/manifest")
refused(["check", IX, "/t/btrfs"], "/t/btrfs: its index is not complete; getmnt index build --index-dir=/ix /t/btrfs replaces it")
with open(place + "/manifest", "wb") as f:
    f.write(manifest[:-5])
refused(["check", IX, "/t/btrfs"], "/t/btrfs: its index is damaged")
for args in (["report", "/t/btrfs/@home"], ["report", "/t/btrfs"], ["export", "--csv", "/t/btrfs"], ["update", "/t/btrfs"]):
    refused([args[0], IX, *args[1:]], "/t/btrfs: its index is damaged; getmnt index build --index-dir=/ix /t/btrfs replaces it")
with open(place + "/manifest", "wb") as f:
    f.write(manifest[:8] + b"\1" + manifest[9:])
refused(["check", IX, "/t/btrfs"], "/t/btrfs: its index has the format of another version of getmnt")
build(IX, "/t/btrfs")
compare("built again", "/t/btrfs")
# A file system that is named twice is updated once.
got = gm.getmnt("index", "update", IX, "/t/btrfs", "/t/btrfs")
gm.expect(got.status == 0 and got.out.count(b"\n") == 1 and not got.err, f"named twice: {got.out} {got.err}")

# The file system of the indexes fills up: the old index stays.
SMALL = "--index-dir=/small/ix"
build(SMALL, "/v/many")
refused(["build", SMALL, "/t/ext4"], "/t/ext4: its index in /small/ix cannot be written: No space left", "--index-dir=DIR")
gm.expect(len(os.listdir("/small/ix")) == 1, f"full: {os.listdir('/small/ix')}")
filler = os.open("/small/filler", os.O_CREAT | os.O_WRONLY)
try:
    while os.write(filler, bytes(4096)):
        pass
except OSError:
    pass
refused(["build", SMALL, "/v/many"], "/v/many: its index in /small/ix cannot be written: No space left")
gm.expect(gm.getmnt("index", "check", SMALL).status == 0, "full: check")
os.close(filler)
os.unlink("/small/filler")
build(SMALL, "/v/many")

# Another user has indexes of their own, and cannot use those of root.
os.chmod("/", 0o755)
got = gm.getmnt("index", "status", IX, uid=65534)
gm.expect(got.status == 1 and b"/ix: cannot be used: Permission denied; run as its owner" in got.err, f"nobody: {got.err}")
got = gm.getmnt("index", "build", "--index-dir=/none/a/b", "/v/home", uid=65534)
gm.expect(got.status == 1 and b"/none/a/b: cannot be used: Permission denied" in got.err, f"nobody: {got.err}")
home = gm.mkdir("/home")
os.chmod(home, 0o1777)
got = gm.getmnt("index", "build", "/v/home", uid=65534, env={"HOME": "/home/me"}, before=lambda: os.mkdir("/home/me"))
gm.expect(got.status in (0, 64) and os.path.isdir("/home/me/.cache/getmnt/index"), f"nobody: {got.status} {got.err}")
os.chmod("/v/home", 0o700)
got = gm.getmnt("index", "build", "/v/home", uid=65534, env={"HOME": "/home/me"})
gm.expect(got.status == 1 and b"/v/home: cannot be opened: Permission denied" in got.err, f"nobody: {got.status} {got.err}")
# What could be read later is in the index after an update, and the index is complete.
os.chmod("/v/home", 0o755)
os.mkdir("/v/home/closed", 0o700)
gm.touch("/v/home/closed/file", "x")


def as_user(*args, status=0):
    got = gm.getmnt(*args, uid=65534, env={"HOME": "/home/me"})
    gm.expect(got.status == status, f"nobody: {args}: {got.status} {got.err}")
    return got.out.decode(errors="replace")


as_user("index", "build", "/v/home", status=64)
text = next(text for text in as_user("index", "status").splitlines() if "complete" in text)
gm.expect("/v/home" in text and text.endswith(" incomplete: some objects could not be read"), text)
gm.expect(as_user("find", "--index", "/v/home/closed") == "/v/home/closed\n", "the start cannot be read")
os.chmod("/v/home/closed", 0o755)
as_user("index", "update", "/v/home")
gm.expect(" complete\n" in as_user("index", "status"), "complete after an update")
gm.expect("/v/home/closed/file" in as_user("find", "--index", "/v/home/closed"), "read after an update")
os.unlink("/v/home/closed/file")
os.rmdir("/v/home/closed")

# A copy of a file system has its UUID: while both are mounted, neither gets the other's index.
refused(["build", IX, "/c/ext4"], "/c/ext4: cannot be indexed: its UUID is also that of /d/ext4; unmount one of them, or change its UUID")
refused(["export", "--csv", IX, "/d/xfs"], "/d/xfs: has no index: its UUID is also that of /c/xfs; unmount one")
out = build(IX).out.decode()
gm.expect("\n/c/xfs: left out: its UUID is also that of /d/xfs; " in out, f"copies: {out}")
for kind in ("ext4", "xfs"):
    name = f"/c/{kind}"
    gm.umount(f"/d/{kind}")
    build(IX, name)
    gm.expect(gm.getmnt("find", "--index", IX, name, "-name", "one").out.decode() == f"{name}/one\n", f"{name}: alone")
    # Below the other, and covering it.
    for point in (f"/d/{kind}", name):
        gm.mount(f"/copy.{kind}", point, kind, 0, "nouuid" if kind == "xfs" else None)
        for command in (["find", "--index", IX, point], ["search", "--index", IX, "*", name]):
            got = gm.getmnt(*command)
            gm.expect(got.status == 1 and got.out in (b"", f"{point}\n".encode()) and f"the index of {command[-1]} could be that of".encode() in got.err
                      and b"whose file system has the same UUID; unmount one" in got.err, f"{command} {point}: {got.status} {got.out} {got.err}")
        rows = [row for row in table() if row["target"] in (name, f"/d/{kind}")]
        gm.expect(rows and all(not row["index"] and "its UUID is also that of" in row["note"] for row in rows), f"{rows}")
        got = gm.getmnt("index", "update", IX)
        gm.expect(b": two mounted file systems have this UUID; unmount one" in got.err and name.encode() not in got.out, f"update: {got.out} {got.err}")
        gm.umount(point)
    gm.expect(gm.getmnt("find", "--index", IX, name, "-name", "one").status == 0, f"{name}: alone again")
# A file system without a UUID: its device number says nothing.
refused(["build", IX, "/e"], "/e: cannot be indexed: without a UUID")
got = gm.getmnt("find", "--index", IX, "/e")
gm.expect(got.status == 1 and b"/e has no index: without a UUID" in got.err, f"{got}")
gm.expect(any(row["target"] == "/e" and "without a UUID" in row["note"] for row in table()), "status: no UUID")

# The root of a container, whose layers are not reachable inside the container.
gm.overlay("/box", "/layer", "/box.work")
gm.mount("proc", "/box/proc", "proc")
got = gm.getmnt("index", "build", IX, chroot="/box")
gm.expect(got.status == 0 and b"/: " in got.out and not got.err, f"a container: {got.out} {got.err}")
hung.end()

gm.expect(gm.getmnt("index", "drop", "--all", IX).status == 0 and os.listdir("/ix") == [], "drop --all")
gm.done()
