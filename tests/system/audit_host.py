# SPDX-License-Identifier: MIT
"""getmnt audit of a host besides its fstab: mtab, permissions of the fstab, errors that file
systems report, crypttab, kernel command line."""
import fcntl
import json
import os
import shutil
import struct
import time

import gm

gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "blkid", "mount", "umount")
root = gm.Root()
images = gm.mkdir(root / "images")   # on the mount that becomes the root: the names stay valid
program = os.environ["GETMNT"]
GOINGDOWN = 0x8004587d        # XFS_IOC_GOINGDOWN, and ext4's


def disk(name, *mkfs, size=32):
    """A loop device that is freed with its last user."""
    gm.image(f"{images}/{name}", size << 20, *mkfs)
    loop = gm.run("losetup", "-f", "--show", f"{images}/{name}").strip()
    os.unlink(f"{images}/{name}")
    return loop


def told(only, *args):
    """The findings as "CODE severity target", and the rules that were not checked."""
    result = gm.getmnt("audit", "--json", f"--only={only}", *args, program=program)
    gm.expect(result.status in (0, 1), f"{only} {args}: {result.status} {result.err}")
    document = json.loads(result.out)
    return [f"{f['code']} {f['severity']} {f['target']}" for f in document["findings"]], document["not_judged"]


def says(tag, only, expected, *args):
    """Expect these findings, and that the rules were checked."""
    found, unjudged = told(only, *args)
    gm.expect(sorted(found) == sorted(expected) and not unjudged, f"{tag}: {found} {unjudged}, not {expected}")


ext4 = disk("ext4", "mkfs.ext4", "-q", "-L", "gm-host")
uuid = gm.run("blkid", "-o", "value", "-s", "UUID", ext4).strip()
# The kernel command line, in this machine's own root; in a container it belongs to the host.
if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]":
    with open("/proc/self/mountinfo", encoding="ascii") as f:
        mounts = [line.split() for line in f]
    source = [line[line.index("-") + 2] for line in mounts if line[4] == "/"][-1]
    line, fstab = f"{images}/cmdline", f"{images}/fstab"
    gm.touch(fstab, f"{source} / auto defaults 0 1\n")
    gm.touch(line, "")
    gm.bind(line, "/proc/cmdline")

    def boots(tag, text, expected, *unjudged):
        """Expect these findings for a command line."""
        gm.touch(line, text)
        got = told("BOOT-ROOT", f"--fstab={fstab}")
        gm.expect(got == (expected, list(unjudged)), f"{tag}: {got}, not {expected} {unjudged}")

    whole = source.startswith("/dev/") and os.path.exists(source)
    if whole:
        boots("right", f"quiet root={source} ro", [])
        boots("no such root", "root=/dev/gone", ["BOOT-ROOT critical /"])
        boots("another", f"root=UUID={uuid}", ["BOOT-ROOT warning /", "BOOT-ROOT warning /"])
        boots("nothing to resume", f"root={source} resume=/dev/gone", ["BOOT-ROOT warning /dev/gone"])
        boots("resumes from a disk", f"root={source} resume={ext4}", [f"BOOT-ROOT warning {ext4}"])
    else:
        print(f"  the root is {source}, of no device: root= is not judged")
    boots("of the initial RAM disk", "root=nfs:h:/srv", [], "BOOT-ROOT")
    boots("none", "quiet", [], "BOOT-ROOT")
    gm.run("umount", "/proc/cmdline")
    os.unlink(line)
    os.unlink(fstab)
else:
    print("  this is a container: the command line is not judged")

xfs = None
btrfs = []
with open("/proc/filesystems", encoding="ascii") as f:
    types = f.read().split()
if "btrfs" in types and gm.shutil.which("mkfs.btrfs") and gm.shutil.which("btrfs"):
    btrfs = [disk(name, "true", size=128) for name in ("b1", "b2")]
    gm.run("mkfs.btrfs", "-q", "-f", "-d", "raid1", "-m", "raid1", *btrfs)

if "xfs" in types and gm.shutil.which("mkfs.xfs"):
    xfs = disk("xfs", "mkfs.xfs", "-q", size=320)
for program in ("mount", "umount", "losetup", "sh", "sleep", *(["btrfs"] if btrfs else [])):
    gm.install(program, root.path)
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
for name in ("run/mount", "etc", "e", "b", "again"):
    gm.mkdir(root / name)
root.enter()
program = "/bin/getmnt"
gm.run("mount", "-t", "ext4", "-o", "errors=continue", ext4, "/e")
gm.run("mount", "--bind", "/e", "/again")
gm.touch("/etc/fstab", "")

# The mtab.
MTAB = "MTAB-*"
says("none", MTAB, [])
os.symlink("../proc/self/mounts", "/etc/mtab")
says("a link", MTAB, [])
os.unlink("/etc/mtab")
os.symlink("/nowhere", "/etc/mtab")
says("a link to nowhere", MTAB, ["MTAB-CORRUPT warning /etc/mtab"])
os.unlink("/etc/mtab")
with open("/proc/self/mounts", encoding="utf-8") as f:
    table = f.read()
gm.touch("/etc/mtab", table)
says("a file that is right", MTAB, ["MTAB-REGULAR info /etc/mtab"])
gm.touch("/etc/mtab", table + "gone /gone ext4 rw 0 0\n")
says("a line of nothing", MTAB, ["MTAB-REGULAR info /etc/mtab", "MTAB-STALE warning /etc/mtab"])
gm.touch("/etc/mtab", table[: len(table) // 2] + "\0\1\2\n")
# A damaged file: one finding.
says("half of it", MTAB, ["MTAB-REGULAR info /etc/mtab", "MTAB-CORRUPT warning /etc/mtab"])
os.unlink("/etc/mtab")
os.mkfifo("/etc/mtab")
found, unjudged = told(MTAB)
gm.expect(not found and "MTAB-STALE" in unjudged, f"a pipe: {found} {unjudged}")
os.unlink("/etc/mtab")

# Owner and mode of the fstab.
says("of root", "FSTAB-MODE", [])
for mode, uid, wrong in ((0o664, 0, True), (0o646, 0, True), (0o600, 0, False), (0o644, 1000, True)):
    os.chmod("/etc/fstab", mode)
    os.chown("/etc/fstab", uid, 0)
    says(f"{mode:o} of {uid}", "FSTAB-MODE", ["FSTAB-MODE critical None"] if wrong else [])
os.chown("/etc/fstab", 0, 0)

# Errors that file systems report, once for each.
says("no errors", "FS-ERRORS", [])
trigger = f"/sys/fs/ext4/{os.path.basename(ext4)}/trigger_fs_error"
if os.path.exists(trigger):
    gm.touch(trigger, "planted")
    says("an error", "FS-ERRORS", ["FS-ERRORS critical /e"])
    result = gm.getmnt("audit", "--only=FS-ERRORS")
    gm.expect(b"actual: 1: the last in " in result.out, f"an error: {result.out}")
else:
    print("  no trigger_fs_error: an error of ext4 was not made")
gm.run("umount", "/again")
gm.run("umount", "/e")
if btrfs:
    gm.run("mount", "-t", "btrfs", btrfs[0], "/b")
    says("two devices", "FS-ERRORS", [])
    gm.run("umount", "/b")
    gm.run("btrfs", "device", "scan", "--forget")
    gm.run("losetup", "-d", btrfs[1])
    gm.run("mount", "-t", "btrfs", "-o", "degraded,ro", btrfs[0], "/b")
    says("one of two", "FS-ERRORS", ["FS-ERRORS critical /b"])
    gm.run("umount", "/b")
    gm.run("btrfs", "device", "scan", "--forget")
else:
    print("  no btrfs here: a missing device was not tried")

# A file system that shut down; it is not accessed.
for device, fstype in ((ext4, "ext4"), (xfs, "xfs")):
    if not device:
        print("  no xfs here: one that has shut down was not tried")
        continue
    gm.run("mount", "-t", fstype, device, "/e")
    gm.run("mount", "--bind", "/e", "/again")
    told_before, _ = told("FS-ERRORS")
    says(f"{fstype} is well", "FS-ERRORS", told_before)
    fd = os.open("/e", os.O_RDONLY)
    fcntl.ioctl(fd, GOINGDOWN, struct.pack("I", 2))
    os.close(fd)
    result = gm.getmnt("audit", "--only=FS-ERRORS")
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        shown = fstype == "xfs" or ",shutdown" in f.read()
    if shown:
        gm.expect(result.out.count(b"shut down after an error") == 1 and result.status == 1, f"{fstype} has shut down: {result.out}")
    else:
        print("  this kernel does not show that ext4 has shut down")
    gm.run("umount", "/again")
    gm.run("umount", "/e")

# Units: systemctl answers, fails, prints part of its output, or never ends.
found, unjudged = told("UNIT-FAILED")
gm.expect((found, unjudged) == ([], ["UNIT-FAILED"]), f"no manager: {found} {unjudged}")
gm.mkdir("/run/systemd/system")
found, unjudged = told("UNIT-FAILED")
gm.expect((found, unjudged) == ([], ["UNIT-FAILED"]), f"no systemctl: {found} {unjudged}")


def systemctl(text):
    gm.touch("/usr/bin/systemctl", "#!/bin/sh\n" + text)
    os.chmod("/usr/bin/systemctl", 0o755)


UNITS = "Id=-.mount\nActiveState=active\nWhere=/\n\nId=a.mount\nActiveState=failed\nResult=exit-code\nWhere=/a\n\n"
systemctl("case \"$*\" in 'show --all --no-pager --property=Id,'*' -- *.mount *.automount *.swap') ;; *) exit 1 ;; esac\n"
          f"test -z \"$HOME\" || exit 1\nread line && exit 1\necho '{UNITS}'\n")
os.environ["HOME"] = "/root"
says("failed", "UNIT-FAILED", ["UNIT-FAILED warning /a"])
for text in ("exit 1", "printf 'Id=a.mount\\nActiveState=failed\\n'; kill -9 $$", "exec sleep 1000", "sleep 1000 &\nexit 0"):
    systemctl(text + "\n")
    began = time.monotonic()
    found, unjudged = told("UNIT-FAILED")
    gm.expect((found, unjudged) == ([], ["UNIT-FAILED"]), f"{text}: {found} {unjudged}")
    gm.expect(time.monotonic() - began < 15 * gm.SLOW, f"{text}: it took {time.monotonic() - began:.1f} s")
shutil.rmtree("/run/systemd")

# The crypttab.
says("no crypttab", "BOOT-CRYPTTAB", [])
gm.touch("/etc/crypttab", f"# name\nv {ext4} none plain\n")
says("right", "BOOT-CRYPTTAB", [])
gm.touch("/etc/crypttab", f"sw {ext4} /dev/urandom swap\n")
says("overwritten", "BOOT-CRYPTTAB", ["BOOT-CRYPTTAB warning sw"])
gm.touch("/etc/crypttab", f"a {ext4} none plain\nb /dev/gone /gone luks\na {ext4} none plain\n")
gm.touch("/etc/fstab", "/dev/mapper/b /b ext4 defaults 0 2\n")
says("wrong", "BOOT-CRYPTTAB", ["BOOT-CRYPTTAB critical b", "BOOT-CRYPTTAB warning b", "BOOT-CRYPTTAB warning a"])
result = gm.getmnt("audit", "--only=BOOT-CRYPTTAB")
gm.expect(result.status == 1 and b"(/etc/crypttab:2)" in result.out, f"where: {result.out}")
gm.touch("/etc/crypttab", "a\0b\n")
result = gm.getmnt("audit")
gm.expect(result.status == 2 and b"/etc/crypttab: " in result.err, f"a NUL byte: {result.status} {result.err}")
gm.touch("/etc/crypttab", "x" * (1 << 21))
result = gm.getmnt("audit")
gm.expect(result.status == 2 and b"/etc/crypttab: " in result.err, f"too large: {result.status} {result.err}")
os.unlink("/etc/crypttab")
os.mkfifo("/etc/crypttab")
result = gm.getmnt("audit")
gm.expect(result.status == 2 and b"/etc/crypttab: " in result.err, f"a pipe: {result.status} {result.err}")
os.unlink("/etc/crypttab")
gm.mkdir("/below/etc")
gm.touch("/below/etc/fstab", "")
for below in ("", "/below"):
    os.symlink("crypttab", below + "/etc/crypttab")
    result = gm.getmnt("audit", *([f"--root={below}"] if below else []))
    gm.expect(result.status == 2 and f"getmnt: {below}/etc/crypttab: cannot be read: Too many levels".encode() in result.err, f"a link to itself: {result.status} {result.err}")
for loop in (ext4, *btrfs[:1], *([xfs] if xfs else [])):
    gm.run("losetup", "-d", loop)
gm.done()
