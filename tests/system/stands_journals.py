# SPDX-License-Identifier: MIT
"""The log device of an XFS and the external journal of an ext4: a mount is entered while it is on a
local file, and not touched when it is on the file of a server that stops."""
import os

import gm

gm.need("mkfs.ext4", "mkfs.xfs", "losetup")
gm.need_fs("fuse", "ext4", "xfs")
os.environ.update(TEST_DIR="x", TEST_DEV="x", QA_CHECK_FS="1")   # mkfs.xfs then makes small ones
MKFS = {"xfs": (("mkfs.xfs", "-q", "-l", "size=8m,logdev={}", "{}"),),
        "ext4": (("mkfs.ext4", "-q", "-F", "-O", "journal_dev", "{}"), ("mkfs.ext4", "-q", "-J", "device={}", "{}"))}


def loop(path, mib=0):
    """Attach a file, which is made if it has a size, to a loop device."""
    if mib:
        with open(path, "wb") as f:
            f.truncate(mib << 20)
    return gm.run("losetup", "-f", "--show", path).strip()


class Disk:
    """A file system with a directory "d" and a log on another device."""

    def __init__(self, fstype, place):
        self.fstype, self.place = fstype, "/" + place
        self.main, self.log = loop(root / place + ".img", 64), loop(root / place + ".log", 16)
        for command in MKFS[fstype]:
            devices = [self.log, self.main]
            gm.run(*(word.format(devices.pop(0)) if "{}" in word else word for word in command))
        self.mount()
        gm.mkdir(root / place + "/d")

    def mount(self, *options):
        name = {"xfs": "logdev", "ext4": "journal_path"}[self.fstype]
        gm.run("mount", "-t", self.fstype, "-o", ",".join((*options, f"{name}={self.log}")), self.main,
               gm.mkdir(root.path + self.place))

    def move_log(self):
        """Let a server have the log."""
        gm.umount(root.path + self.place)
        gm.run("losetup", "-d", self.log)
        with open(root.path + self.place + ".log", "rb") as f:
            servers.append(gm.FileFuse(root.path + "/slow" + self.place, {"log": f.read()}))
        self.log = loop(f"{root.path}/slow{self.place}/log")
        self.mount("ro")

    def detach(self):
        """Let the loop devices end with the mount."""
        for device in (self.main, self.log):
            gm.run("losetup", "-d", device)


def check(good, bad, chroot=None):
    for names in ("walk", "pure", "hint"):
        rows = gm.getmnt("-J", "-l", "-o", "TARGET,STATE", "--names=" + names, chroot=chroot, seconds=10).rows()
        states = {row["target"]: row["state"] for row in rows}
        for target in good + bad:
            gm.expect(states.get(target, "untested") == ("ok" if target in good else "untested"),
                      f"{names}: {target}: {states.get(target)}")
    found = gm.getmnt("search", "*", "/", chroot=chroot, seconds=10).out.decode().split("\n")
    for target in good + bad:
        gm.expect((target + "/d" in found) == (target in good), f"search: {target}")
    gm.getmnt("-J", "-l", "--output-all", chroot=chroot, seconds=10)


servers = []
root = gm.Root()
disks = [Disk(fstype, name + fstype) for name in ("good-", "") for fstype in MKFS]
gm.loop_mount(gm.image(root / "plain.img", 8 << 20, "mkfs.ext4", "-q"), root / "plain")
gm.mkdir(root / "plain/d")
check(["/plain", "/good-xfs", "/good-ext4", "/xfs", "/ext4"], [], chroot=root.path)
for disk in disks[2:]:
    disk.move_log()
for disk in disks:
    disk.detach()
root.enter()
for server in servers:
    server.stopped = True
# The kernel does not show which ext4 uses which external journal.
check(["/plain", "/good-xfs"], ["/good-ext4", "/xfs", "/ext4"])
for server in servers:
    os.close(server.fd)
gm.done()
