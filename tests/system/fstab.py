# SPDX-License-Identifier: MIT
"""An fstab that makes the same tree again: made, all unmounted, mount -a, compared.

Twice: of the whole system in a small root; and of that root, from outside, with
devices that are disks to it, entered by chroot."""
import os
import re
import shutil
import tempfile

import gm
from tables import BROKEN, check_lines, mounting_root, same, sh, snapshot, unmount_all

gm.need_fs("btrfs", "ext4", "xfs", "overlay")
gm.need("mkfs.btrfs", "btrfs", "mkfs.ext4", "mkfs.xfs", "losetup", "blkid", "mount", "umount")
NAMES = [b"two words", b"tab\there", b"new\nline", b"back\\slash", b"#hash", b"trailing ", b"literal\\040x",
         b"caf\xc3\xa9", b"inv\xff\xfe", b"a,b", b"quo\"te", b"(deleted)"]

root = mounting_root()
images = tempfile.mkdtemp()
for fstype, name, mkfs in (
        ("ext4", "ext4", ("mkfs.ext4", "-q", "-F")), ("xfs", "x f#s", ("mkfs.xfs", "-q")),
        ("btrfs", "btr\\fs", ("mkfs.btrfs", "-q"))):
    gm.image(f"{images}/{name}.img", (320 if fstype == "xfs" else 128) << 20, *mkfs)


def build(top, loops, sub):
    """The tree: sub is the btrfs tool's making, which is done once."""
    def at(path):
        return top + path
    def device(name, target, *more):
        gm.mkdir(at(target))
        sh("/bin/mount", "-o", ",".join(([] if loops.get(name) else ["loop"]) + list(more)) or "defaults",
           loops.get(name) or f"/img/{name}.img", target, chroot=top or None)
    device("ext4", "/data", "noatime", "errors=remount-ro", "nodev")
    device("x f#s", "/srv/x f#s", "logbsize=64k")
    device("btr\\fs", "/pool", "subvol=/", "noexec")
    if sub:
        for name in ("@", "@ho me", "@/nested"):
            gm.run("btrfs", "-q", "subvolume", "create", at("/pool/") + name)
        gm.mkdir(at("/pool/@/dir/deep"))
    device("btr\\fs", "/sub/b", "subvol=@")
    device("btr\\fs", "/sub/b/nested/in", "subvol=/@ho me", "ro")
    gm.bind(at("/sub/b/dir/deep"), gm.mkdir(at("/sub/deep")))      # a directory, no subvolume
    gm.tmpfs(at("/data/tmp"), "size=12m,mode=750,nr_inodes=100,uid=7")
    sh("/bin/mount", "-o", "remount,noexec,nosuid,size=12m", "/data/tmp", chroot=top or None)
    for name in ("dir", "lo wer", "lower2", "up", "work"):
        gm.mkdir(at("/data/") + name)
    gm.touch(at("/data/file"), "x")
    gm.touch(at("/data/lo wer/in"), "x")
    gm.tmpfs(at("/data/tmp/in it"), "size=1m")                     # made by mount(8): it is gone
    gm.bind(at("/data/dir"), gm.mkdir(at("/data/tmp/in it/bound")))
    gm.bind(at("/data/dir"), gm.mkdir(at("/bind")))
    sh("/bin/mount", "-o", "remount,bind,ro,noexec,relatime", "/bind", chroot=top or None)
    gm.touch(at("/etc/passwd file"))
    gm.bind(at("/data/file"), at("/etc/passwd file"))
    gm.bind(at("/data/lower2"), at("/data/lower2"))                # onto itself
    gm.mount("over lay", gm.mkdir(at("/ov er")), "overlay", 0,
             f"lowerdir={at('/data/lo wer')}:{at('/data/dir')},upperdir={at('/data/up')},workdir={at('/data/work')}")
    gm.mount("proc", gm.mkdir(at("/srv/chroot/proc")), "proc")
    gm.bind(at("/dev"), gm.mkdir(at("/srv/chroot/dev")))
    gm.mkdir(at("/data/names"))
    for i, name in enumerate(NAMES):
        path = os.fsencode(at("/n/")) + name
        gm.tmpfs(path, "size=1m", source=name)
        if i % 2:
            kept = os.fsencode(at("/data/names/")) + name
            os.makedirs(kept, exist_ok=True)
            os.makedirs(path + b"/x")   # a mount in a mount that is empty at boot: none
            os.makedirs(os.fsencode(at("/m/")) + name, exist_ok=True)
            gm.bind(kept, os.fsencode(at("/m/")) + name)


# From outside first, by chroot: devices that are attached stay what they are.
top = root.path
loops = {}
for name in ("ext4", "x f#s", "btr\\fs"):
    loops[name] = gm.run("losetup", "-f", "--show", f"{images}/{name}.img").strip()
keep = {line.point for line in gm.mountinfo()}
build(top, loops, True)
before = snapshot(os.fsencode(top))
result = gm.getmnt("fstab", top, program=os.environ["GETMNT"])
gm.expect(result.status in (0, 1), f"chroot: {result.status} {result.err}")
rows = check_lines("chroot", result.out)
with open(root / "fstab", "wb") as f:
    f.write(result.out)
gm.expect(not BROKEN.search(result.out), f"chroot: {result.out.decode(errors='replace')}")
unmount_all(os.fsencode(top), keep)
sh("/bin/mount", "-a", "-T", "/fstab", chroot=top)
same("chroot", before, snapshot(os.fsencode(top)))
unmount_all(os.fsencode(top), keep)
for device in loops.values():
    gm.run("losetup", "-d", device)

# The helpers and units are those of ROOT, links leading within it; what is beneath others,
# or was removed, is told.
gm.loop_mount(f"{images}/ext4.img", root / "data")
gm.loop_mount(f"{images}/x f#s.img", root / "x")
gm.tmpfs(root / "srv/own unit")
gm.tmpfs(root / "srv/idle")
gm.tmpfs(root / "srv/stack", source="below")
gm.tmpfs(root / "srv/stack", source="above")
gm.touch(root / "srv/idle/file")
gm.bind(root / "data/file", root / "srv/idle/file")
gm.mkdir(root / "data/gone")
gm.bind(root / "data/gone", root / "srv/gone")
os.rmdir(root / "data/gone")
gm.mkdir(root / "usr/lib/e2fsprogs")
gm.touch(root / "usr/lib/e2fsprogs/fsck", "")
gm.mkdir(root / "usr/sbin")
os.symlink("/usr/lib/e2fsprogs/fsck", root / "usr/sbin/fsck.ext4")     # within ROOT
result = gm.getmnt("fstab", top, "--explain", program=os.environ["GETMNT"])
fields = {gm.unescape(row.split()[1]): row.split() for row in check_lines("places", result.out)}
gm.expect(result.status == 1, f"places: {result.status} {result.err}")
gm.expect(fields[b"/data"][0].startswith(b"UUID=") and fields[b"/data"][5] == b"2", f"places: {fields[b'/data']}")
gm.expect(fields[b"/x"][5] == b"0", f"places: {fields[b'/x']}")
gm.expect(fields[b"/srv/stack"][0] == b"above", f"places: {fields[b'/srv/stack']}")
for text in (b"no line for /srv/stack (tmpfs below): hidden: ", b"no line for /srv/gone (ext4 /dev/loop",
             b": the file that it is mounted on is in memory"):
    gm.expect(text in result.out, f"places: {text} is not in {result.out}")
gm.expect(b"/dev: left out" in result.err and b"/proc: left out" in result.err, f"places: {result.err}")

# Not into the very file; genfstab may.
with open(root / "etc/fstab", "wb") as f:
    result = gm.getmnt("fstab", top, program=os.environ["GETMNT"], stdout=f)
    gm.expect(result.status == 2 and b"--write" in result.err, f"own file: {result.status} {result.err}")
    gm.expect(f.tell() == 0 and os.fstat(f.fileno()).st_size == 0, "own file: something was written")
# ... also where it is a link, which leads somewhere in ROOT.
os.rename(root / "etc/fstab", root / "etc/real")
os.symlink("/etc/real", root / "etc/fstab")
with open(root / "etc/real", "ab") as f:
    result = gm.getmnt("fstab", top, program=os.environ["GETMNT"], stdout=f)
    gm.expect(result.status == 2 and f.tell() == 0, f"own file by a link: {result.status} {result.err}")
os.rename(root / "etc/real", root / "etc/fstab")
os.symlink(os.environ["GETMNT"], root / "genfstab")
with open(root / "etc/fstab", "ab") as f:
    result = gm.getmnt("-U", top, program=root / "genfstab", stdout=f)
gm.expect(result.status == 1, f"genfstab: {result.status} {result.err}")
text = gm.read_bytes(root / "etc/fstab")
uuid = gm.run("blkid", "-p", "-o", "value", "-s", "UUID", f"{images}/ext4.img").strip()
gm.expect(re.search(rb"^# /dev/loop\d+\nUUID=%s\t/data     \text4      \trw,relatime\t0 2\n\n" % uuid.encode(),
                    text, re.M), f"genfstab: {text}")
gm.expect(b"tmpfs" not in b"".join(row for row in text.split(b"\n") if not row.startswith((b"#", b"root"))),
          f"genfstab: pseudo file systems: {text}")
gm.expect(re.search(rb"^root +\t/ ", text, re.M), f"genfstab: no root (g8): {text}")

# A device is probed once, however often it is mounted (g18).
source = gm.run("findmnt", "-no", "SOURCE", root / "data").strip()
for i in range(40):
    gm.mkdir(root / f"again/{i}")


def calls_of():
    """Kernel calls of a run."""
    return gm.getmnt("fstab", top, "--stats=json", program=os.environ["GETMNT"]).stats()["calls"]


# (A table as text takes more reads the longer it is.)
once = ["openat", "openat2", "pread", "ioctl"] + (["read"] if gm.have_listmount() else [])
# Other runs on this machine attach and detach loop devices, each of which is probed as well:
# a device that is probed twice is probed twice each time.
for attempt in range(10):
    calls = [calls_of()]
    for i in range(40):
        gm.run("mount", source, root / f"again/{i}")
    calls.append(calls_of())
    if all(calls[0].get(call, 0) == calls[1].get(call, 0) for call in once):
        break
    for i in range(40):
        gm.run("umount", root / f"again/{i}")
for call in once:
    gm.expect(calls[0].get(call, 0) == calls[1].get(call, 0), f"calls: {call}: {calls}")
unmount_all(os.fsencode(top), keep)
os.unlink(root / "genfstab")
os.unlink(root / "etc/fstab")
gm.run("rm", "-r", root / "usr")

# The whole system, with images that it mounts by itself.
shutil.move(images, root / "img")
root.enter()
keep = {line.point for line in gm.mountinfo()}
for policy in ("minimal", "live"):
    build("", {}, False)
    before = snapshot()
    result = gm.getmnt("fstab", "--options=" + policy)
    # Names that systemd misreads are reported, and nothing else.
    words = result.err.splitlines()
    gm.expect(result.status == 0 and words and all(b": FSTAB-SYNTAX /" in row for row in words), f"{policy}: {result.status} {result.err}")
    gm.expect(not BROKEN.search(result.out), f"{policy}: {result.out.decode(errors='replace')}")
    rows = check_lines(policy, result.out)
    with open("/fstab", "wb") as f:
        f.write(result.out)
    unmount_all(b"/", keep)
    sh("/bin/mount", "-a", "-T", "/fstab")
    same(policy, before, snapshot())
    again = gm.getmnt("fstab", "--options=" + policy)
    gm.expect(sorted(again.out.split(b"\n")) == sorted(result.out.split(b"\n")), f"{policy}: made anew, another")
    unmount_all(b"/", keep)
gm.done()
