# SPDX-License-Identifier: MIT
"""getmnt audit compared with its own past, with real mounts: added, removed and changed mounts are
reported, and nothing else; another number of a loop device is no change.  A baseline of another host,
one that others may write or that can block is never compared.  A baseline is not replaced if the
report could not be printed.  The case audit_baseline has damaged files and new findings."""
import ctypes
import json
import os
import shutil
import socket

import gm

gm.need("mkfs.ext4", "losetup", "mount", "umount")
root = gm.Root()
for program in ("mount", "umount", "losetup"):
    gm.install(program, root.path)
for name in ("etc", "tmp", "var", "srv/a", "srv/b", "img", "bound", "stack", "keep", "images", "trigger", "run", "home", "data"):
    gm.mkdir(root / name)
gm.devices(root.path)   # no log of the machine
for name in ("one", "two", "spare"):
    gm.image(root / f"images/{name}", 16 << 20, "mkfs.ext4", "-q")
root.enter()
gm.propagation("/", gm.MS_PRIVATE)
gm.touch("/etc/fstab", "root / tmpfs defaults 0 0\n/dev/none /when ext4 noauto 0 0\n")


def tmpfs(target, *options):
    gm.run("mount", "-t", "tmpfs", "-o", ",".join(("size=1m",) + options), "t", gm.mkdir(target))


tmpfs("/tmp", "nosuid", "nodev")
tmpfs("/var")
tmpfs("/home")
BASE = "/keep/base"


def loop(image):
    return gm.run("losetup", "-f", "--show", image).strip()


def mount_loop(device):
    """Mount a loop device, which ends with the mount."""
    gm.run("mount", device, "/img")
    gm.run("losetup", "-d", device)


first = loop("/images/one")
mount_loop(first)
gm.run("mount", "--bind", "/img", "/bound")


def audit(*args, **more):
    return gm.getmnt("audit", "--only=BASE-*", "--json", "--fail-on=info", *args, **more)


def changes(*args, **more):
    """The findings: CODE severity target expected actual."""
    result = audit(f"--baseline={BASE}", *args, **more)
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    return sorted(" ".join((f["code"], f["severity"], f["target"], f["expected"], "->", f["actual"])) for f in json.loads(result.out)["findings"])


def expect_changes(tag, *want, args=(), **more):
    got = changes(*args, **more)
    gm.expect(got == sorted(want), f"{tag}: {got}, not {sorted(want)}")


def refused(tag, word, *args, **more):
    """Status 2, a message with a word in it, and no output that looks clean."""
    result = audit(*args, **more)
    document = json.loads(result.out) if result.out else None
    gm.expect(result.status == 2 and word in result.err.decode() and (not document or document["failed"]),
              f"{tag}: {result.status} {result.out[:300]} {result.err}")


def read(path):
    return gm.read_bytes(path)


result = audit(f"--save={BASE}")
gm.expect(result.status == 0, f"save: {result.status} {result.err}")
gm.expect(os.stat(BASE).st_mode & 0o7777 == 0o644 and os.listdir("/keep") == ["base"], f"the file: {os.listdir('/keep')}")
saved = read(BASE)
expect_changes("nothing was done")
expect_changes("by a user", uid=1000)
expect_changes("by another table", env={"GETMNT_DISABLE": "listmount"})
result = audit(f"--save={BASE}2")
gm.expect(read(BASE + "2").splitlines()[1:-1] == saved.splitlines()[1:-1], "twice saved, and not alike")

# Added and removed mounts.
tmpfs("/srv/a")
expect_changes("came", "BASE-CAME warning /srv/a not mounted -> t (tmpfs)")
gm.run("umount", "/srv/a")
expect_changes("came and went")
gm.run("umount", "/var")
expect_changes("went", "BASE-WENT warning /var t (tmpfs) -> not mounted")
tmpfs("/var")
expect_changes("made anew")
gm.run("mount", "--move", "/home", "/data")
expect_changes("moved", "BASE-CAME warning /data not mounted -> t (tmpfs)", "BASE-WENT warning /home t (tmpfs) -> not mounted")
gm.run("mount", "--move", "/data", "/home")
tmpfs("/stack")
tmpfs("/stack")
expect_changes("a stack", *["BASE-CAME warning /stack not mounted -> t (tmpfs)"] * 2)
gm.run("umount", "/stack")
gm.run("umount", "/stack")

# Changed mounts.
gm.run("mount", "-o", "remount,suid,nodev,size=1m", "/tmp")
expect_changes("suid", "BASE-CHANGED warning /tmp nosuid -> without nosuid")
gm.run("mount", "-o", "remount,nosuid,nodev,size=2m", "/tmp")
expect_changes("another size", "BASE-CHANGED warning /tmp size=1024k -> size=2048k")
gm.run("mount", "-o", "remount,nodev,nosuid,size=1m", "/tmp")
expect_changes("as it was")
gm.run("mount", "--make-shared", "/var")
expect_changes("shared", "BASE-CHANGED warning /var without shared -> shared")
gm.run("mount", "--make-private", "/var")
gm.run("mount", "-o", "remount,ro", "/img")
expect_changes("read-only, by both mounts", "BASE-CHANGED warning /bound without ro -> ro", "BASE-CHANGED warning /img rw -> ro")
gm.run("mount", "-o", "remount,rw", "/img")
expect_changes("writable again")

# The same file system by another loop device.
gm.run("umount", "/bound")
gm.run("umount", "/img")
held, other = [], loop("/images/spare")
while not held or other == first:
    held.append(other)
    other = loop("/images/one")
for device in held:
    gm.run("losetup", "-d", device)
mount_loop(other)
gm.run("mount", "--bind", "/img", "/bound")
gm.expect(other != first, f"the loop device has the same number: {other}")
expect_changes("another loop device")
# Another file system by the same loop device.
gm.run("umount", "/bound")
gm.run("umount", "/img")
mount_loop(loop("/images/two"))
gm.run("mount", "--bind", "/img", "/bound")
got = changes()
gm.expect(len(got) == 2 and all(line.startswith("BASE-CHANGED warning /") and "/images/one (ext4" in line and "-> /images/two (ext4" in line for line in got),
          f"another file system: {got}")
gm.run("umount", "/bound")
gm.run("umount", "/img")
mount_loop(loop("/images/one"))
gm.run("mount", "--bind", "/img", "/bound")
expect_changes("as it was, at the end")

tmpfs("/srv/b")
# Compared, then replaced; not if the report could not be printed.
shutil.copy(BASE, "/keep/roll")
full = os.open("/dev/full", os.O_WRONLY)
for args in ((), ("--max-time=30",)):
    result = audit("--baseline=/keep/roll", "--save=/keep/roll", *args, stdout=full)
    gm.expect(result.status == 2 and read("/keep/roll") == saved, f"a full disk {args}: {result.status} {result.err}")
os.close(full)
result = audit("--baseline=/keep/roll", "--save=/keep/roll", "--max-time=30")
gm.expect(result.status == 1 and b'"BASE-CAME"' in result.out, f"rolled: {result.out}")
result = audit("--baseline=/keep/roll", "--save=/keep/roll")
gm.expect(result.status == 0 and b"BASE-" not in result.out, f"rolled, and again: {result.out}")
gm.run("umount", "/srv/b")

# Of another host.
if ctypes.CDLL(None).unshare(0x04000000) == 0:
    name = socket.gethostname()
    socket.sethostname("other-name")
    refused("another host", f"saved on host {name}, this is other-name", f"--baseline={BASE}")
    socket.sethostname(name)
# Files that others may write, and what is not a regular file.
os.chmod(BASE, 0o664)
refused("the group may write", "writable by others than root (mode 0664)", f"--baseline={BASE}")
os.chmod(BASE, 0o644)
os.chown(BASE, 1000, 0)
refused("another's", "owned by uid 1000", f"--baseline={BASE}")
os.chown(BASE, 0, 0)
os.mkdir("/keep/dir")
refused("a directory", "/keep/dir: it is a directory; give a file", "--baseline=/keep/dir")
os.mkfifo("/keep/fifo", 0o644)
refused("a FIFO", "/keep/fifo: cannot be read: it is a FIFO that nobody writes to", "--baseline=/keep/fifo")
refused("a link to an fstab", "not overwritten: not a baseline of getmnt", "--save=/etc/fstab")
trigger = gm.Autofs("/trigger", "direct")
os.symlink("/trigger/base", "/keep/link")
for option in ("--baseline", "--save"):
    refused("below an automount", "accessing /trigger can block; name another file", f"{option}=/trigger/base")
    refused("through a link", "accessing /trigger can block; name another file", f"{option}=/keep/link")
gm.expect(not trigger.requests(), "the automount was triggered")
expect_changes("a trigger", "BASE-CAME warning /trigger not mounted -> getmnt-test (autofs)")
gm.umount("/trigger", gm.MNT_DETACH)

gm.run("umount", "/bound")
gm.run("umount", "/img")
gm.done()
