# SPDX-License-Identifier: MIT
"""getmnt audit of a host besides its fstab, where it cannot be read or read only in part: mtab, crypttab,
systemctl; and file systems that report errors of several devices or have shut down.  planted.py has the
faults of each rule."""
import fcntl
import json
import os
import shutil
import struct
import time

import gm

gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "mount", "umount")
GOINGDOWN = 0x8004587d        # XFS_IOC_GOINGDOWN, and ext4's
gm.hide_init()
root = gm.Root()
images = gm.mkdir(root / "images")


def disk(name, *mkfs, size=32):
    """A loop device that is freed with its last user."""
    gm.image(f"{images}/{name}", size << 20, *mkfs)
    loop = gm.run("losetup", "-f", "--show", f"{images}/{name}").strip()
    os.unlink(f"{images}/{name}")
    return loop


def told(only, *args):
    """The findings as "CODE severity target", and the rules that were not checked."""
    result = gm.getmnt("audit", "--json", f"--only={only}", *args)
    gm.expect(result.status in (0, 1), f"{only} {args}: {result.status} {result.err}")
    document = json.loads(result.out)
    return [f"{f['code']} {f['severity']} {f['target']}" for f in document["findings"]], document["not_judged"]


def says(tag, only, expected, unjudged=()):
    """Expect these findings, and that these rules were not checked."""
    got = told(only)
    gm.expect(got == (expected, list(unjudged)), f"{tag}: {got}, not {expected} {unjudged}")


types = gm.read("/proc/filesystems").split()
disks = {"ext4": disk("ext4", "mkfs.ext4", "-q")}
btrfs = []
if "btrfs" in types and gm.shutil.which("mkfs.btrfs") and gm.shutil.which("btrfs"):
    btrfs = [disk(name, "true", size=128) for name in ("b1", "b2")]
    gm.run("mkfs.btrfs", "-q", "-f", "-d", "raid1", "-m", "raid1", *btrfs)
if "xfs" in types and gm.shutil.which("mkfs.xfs"):
    disks["xfs"] = disk("xfs", "mkfs.xfs", "-q", size=320)
for program in ("mount", "umount", "losetup", "sh", "sleep", *(["btrfs"] if btrfs else [])):
    gm.install(program, root.path)
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
for name in ("run/mount", "etc", "e", "b", "again"):
    gm.mkdir(root / name)
root.enter()
gm.touch("/etc/fstab", "")
gm.touch("/other", "UUID=dead-beef /backup ext4 nofail 0 2\n")
other = gm.getmnt("audit", "--fstab=/other", "/backup").out
gm.expect(b"not checked here: " in other, f"the fstab of another host, not known to be clean: {other}")
os.symlink("late/pkg", "/pkg")
gm.touch("/other", "/pkg/fonts /fonts none bind,nofail 0 0\nUUID=0a1b /late ext4 nofail 0 2\n")
other = gm.getmnt("audit", "--fstab=/other", "--only=FSTAB-ORDER").out
gm.expect(b"the source /late/pkg/fonts is on /late, which line 2 mounts after it" in other, f"a dangling link: {other}")
says("no mtab", "MTAB-*", [])
os.mkfifo("/etc/mtab")
found, unjudged = told("MTAB-*")
gm.expect(not found and "MTAB-STALE" in unjudged, f"a pipe: {found} {unjudged}")
os.unlink("/etc/mtab")

# A device of two that is missing.
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

# A file system that shut down is reported once for all its mounts; it is not accessed.
for fstype, device in disks.items():
    gm.run("mount", "-t", fstype, device, "/e")
    gm.run("mount", "--bind", "/e", "/again")
    says(f"{fstype} is well", "FS-ERRORS", [])
    fd = os.open("/e", os.O_RDONLY)
    fcntl.ioctl(fd, GOINGDOWN, struct.pack("I", 2))
    os.close(fd)
    result = gm.getmnt("audit", "--only=FS-ERRORS")
    shown = fstype == "xfs" or ",shutdown" in gm.read("/proc/self/mountinfo")
    if shown:
        gm.expect(result.out.count(b"shut down after an error") == 1 and result.status == 1, f"{fstype} has shut down: {result.out}")
    else:
        print("  this kernel does not show that ext4 has shut down")
    gm.run("umount", "/again")
    gm.run("umount", "/e")

# Units: systemctl answers, fails, prints part of its output, or never ends.
NOT = ["UNIT-FAILED"]
says("no manager", "UNIT-FAILED", [], NOT)
gm.mkdir("/run/systemd/system")
says("no systemctl", "UNIT-FAILED", [], NOT)


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
    says(text, "UNIT-FAILED", [], NOT)
    gm.expect(time.monotonic() - began < 15 * gm.SLOW, f"{text}: it took {time.monotonic() - began:.1f} s")
shutil.rmtree("/run/systemd")

# The crypttab: where a finding is, and files that cannot be read.
gm.touch("/etc/crypttab", f"a {disks['ext4']} none plain\nb /dev/gone /gone luks\na {disks['ext4']} none plain\n")
gm.touch("/etc/fstab", "/dev/mapper/b /b ext4 defaults 0 2\n")
found, _ = told("BOOT-CRYPTTAB")
gm.expect(sorted(found) == ["BOOT-CRYPTTAB critical b", "BOOT-CRYPTTAB warning a", "BOOT-CRYPTTAB warning b"], f"wrong: {found}")
result = gm.getmnt("audit", "--only=BOOT-CRYPTTAB")
gm.expect(result.status == 1 and b"(/etc/crypttab:2)" in result.out, f"where: {result.out}")
# Below another root: mappings that its crypttab opens at boot do not exist now, and their content is not known.
gm.mkdir("/below/etc")
gm.touch("/below/etc/crypttab", f"# name device\nvault {disks['ext4']} none plain\nlazy\t{disks['ext4']} none plain,noauto\ninner /dev/mapper/vault none luks\n")
gm.touch("/below/etc/veritytab", f"usr {disks['ext4']} {disks['ext4']} 00\n")
gm.touch("/below/etc/fstab", f"/dev/mapper/vault /a ext4 defaults 0 2\n/dev/mapper/lazy /b ext4 defaults 0 2\n"
         "/dev/mapper/vg-lv /d ext4 defaults 0 2\n/dev/mapper/usr /usr ext4 ro 0 0\n")
missing = "FSTAB-SRC-MISSING,BOOT-CRYPTTAB"
found, _ = told(missing, "--root=/below")
gm.expect(sorted(found) == ["BOOT-CRYPTTAB info inner", *(f"FSTAB-SRC-MISSING info {target}" for target in ("/a", "/b", "/d", "/usr"))],
          f"mappings below a root: {found}")
result = gm.getmnt("audit", "--root=/below", f"--only={missing}", "-v")
for text in ("does not exist now: it is a mapping, and line 2 of /etc/crypttab opens it at boot", "now, but it may be in a mapping that is not open: line 2",
             "it is a mapping, and line 1 of /etc/veritytab opens it"):
    gm.expect(text in result.out.decode(), f"{text}: {result.out}")
result = gm.getmnt("audit", "--root=/below", "--only=DRIFT-NOT-MOUNTED", "/b", "/d")
gm.expect(result.out.count(b"open the mapping, and mount it") == 1, f"the hint of a mapping: {result.out}")
# If crypttab has no such line, or the device of the line is missing, the sources in the fstab are missing.
gm.touch("/below/etc/crypttab", "vault /dev/gone none plain\n#lazy /dev/gone none plain\n")
os.unlink("/below/etc/veritytab")
found, _ = told(missing, "--root=/below")
gm.expect(sorted(found) == ["BOOT-CRYPTTAB critical vault", *(f"FSTAB-SRC-MISSING critical {target}" for target in ("/b", "/d", "/usr")),
                            "FSTAB-SRC-MISSING info /a"], f"no mappings below a root: {found}")
os.unlink("/below/etc/crypttab")
gm.touch("/below/etc/crypttab.initramfs", f"vault {disks['ext4']} none plain\n")
found, _ = told(missing, "--root=/below")
gm.expect(sorted(found) == [f"FSTAB-SRC-MISSING info {target}" for target in ("/a", "/b", "/d", "/usr")], f"of the initial RAM disk: {found}")
os.unlink("/below/etc/crypttab.initramfs")


def calls(count):
    """The number of system calls of an audit of this number of lines, whose devices are missing, and of mappings."""
    gm.touch("/below/etc/crypttab", "".join(f"m{i} /dev/gone{i} none plain\n" for i in range(count)))
    gm.touch("/below/etc/fstab", "".join(f"UUID=0a1b2c3d-4e5f-4789-8abc-{i:012} /m{i} ext4 noauto 0 2\n" for i in range(count)))
    return sum(gm.getmnt("audit", "--root=/below", f"--only={missing}", "--stats=json").stats()["calls"].values())


# Mappings that are not open are searched for once, not for each line.
few, many = calls(50), calls(200)
gm.expect(many < 5 * few, f"calls: {few} of 50 lines, {many} of 200")
os.unlink("/below/etc/crypttab")
gm.touch("/below/etc/fstab", "")
for tag, make, below in (("a NUL byte", lambda path: gm.touch(path, "a\0b\n"), ""),
                         ("too large", lambda path: gm.touch(path, "x" * (1 << 21)), ""), ("a pipe", os.mkfifo, ""),
                         ("a link to itself", lambda path: os.symlink("crypttab", path), ""),
                         ("a link to itself, below", lambda path: os.symlink("crypttab", path), "/below")):
    if os.path.lexists(f"{below}/etc/crypttab"):
        os.unlink(f"{below}/etc/crypttab")
    make(f"{below}/etc/crypttab")
    result = gm.getmnt("audit", *([f"--root={below}"] if below else []))
    why = "cannot be read: Too many levels" if "link" in tag else ""
    gm.expect(result.status == 2 and f"{below}/etc/crypttab: {why}".encode() in result.err, f"{tag}: {result.status} {result.err}")
for loop in (*disks.values(), *btrfs[:1]):
    gm.run("losetup", "-d", loop)
gm.done()
