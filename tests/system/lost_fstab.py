# SPDX-License-Identifier: MIT
"""docs/LOST-FSTAB.md, run as it is written, by one shell, on a machine with a disk of its own: the output
of each command equals the page (make run-docs updates the page)."""
import os
import re
import shutil
import stat

import gm
import overlaid
import page

DAMAGED = """# The system disk, replaced in March
UUID=66666666-bbbb-4bbb-8bbb-666666666666 / ext4 defaults 0 1
LABEL=backup\t/backup\txfs\tnoauto,nofail\t0 0\t# in the safe
UUID=55555555-aaaa-4aa"""
UUIDS = ["11111111-aaaa-4aaa-8aaa-111111111111", "22222222-bbbb-4bbb-8bbb-222222222222",
         "33333333-cccc-4ccc-8ccc-333333333333", "55555555-aaaa-4aaa-8aaa-555555555555",
         "66666666-bbbb-4bbb-8bbb-666666666666"]

gm.need_fs("overlay", "ext4", "btrfs")
gm.need("mkfs.ext4", "mkfs.btrfs", "btrfs", "blkid", "mount", "umount", "losetup", "chroot", "cmp", "bash")
if gm.sanitized():
    gm.skip("a root of its own has no sanitizer's libraries")
recipe = page.Page("LOST-FSTAB.md", "rescue# ")
# A btrfs discards without a request since Linux 6.2.  The column of options is 15 wide.
if gm.KERNEL < (6, 2):
    recipe.text = re.sub(r"\S*discard=async,\S*", lambda m: m[0].replace("discard=async,", "").ljust(15), recipe.text)

work = os.environ["GETMNT_WORK"]
gm.tmpfs(work, "size=1g,mode=755")
top = overlaid.make(work)
for path in ("/mnt", "/media"):
    shutil.rmtree(top + path, ignore_errors=True)
    gm.mkdir(top + path)
gm.tmpfs(top + "/run", "size=8m,mode=755")
gm.tmpfs(top + "/dev", "size=1m,mode=755")
for name in ("null", "zero", "urandom", "loop-control"):
    number = os.stat("/dev/" + name).st_rdev
    os.mknod(f"{top}/dev/{name}", stat.S_IFCHR | 0o666, number)

# The disk.
disk = gm.tmpfs(top + "/images", "size=600m")
gm.image(disk + "/sda1", 32 << 20, "mkfs.ext4", "-q", "-F", "-b", "1024", "-U", UUIDS[0])
gm.image(disk + "/sda2", 96 << 20, "mkfs.ext4", "-q", "-F", "-b", "4096", "-L", "system", "-U", UUIDS[1])
gm.image(disk + "/sda3", 128 << 20, "mkfs.btrfs", "-q", "-L", "pool", "-U", UUIDS[2])
gm.image(disk + "/sdb1", 32 << 20, "mkfs.ext4", "-q", "-F", "-b", "1024", "-U", UUIDS[3])
gm.image(disk + "/sdb2", 96 << 20, "mkfs.ext4", "-q", "-F", "-b", "4096", "-U", UUIDS[4])
at = gm.mkdir(work + "/at")
for name, text in (("sda2", "UUID=22222222-bbbb-4bb\n"), ("sdb2", DAMAGED)):
    gm.loop_mount(f"{disk}/{name}", at)
    gm.install("mount", at)
    for point in ("boot", "home", "srv", "var/www", "tmp", "proc", "sys", "dev", "run"):
        gm.mkdir(f"{at}/{point}")
    gm.touch(at + "/usr/sbin/fsck.ext4")
    gm.touch(at + "/etc/fstab", text)
    gm.umount(at)
gm.loop_mount(disk + "/sda3", at)
for name in ("@home", "@srv"):
    gm.run("btrfs", "-q", "subvolume", "create", f"{at}/{name}")
gm.mkdir(at + "/@srv/www")
gm.umount(at)
loops = {}
for name in ("sda1", "sda2", "sda3", "sdb1", "sdb2"):
    device = gm.run("losetup", "-f", "--show", f"{disk}/{name}").strip()
    loops[device] = name
    os.mknod(f"{top}/dev/{name}", stat.S_IFBLK | 0o660, os.stat(device).st_rdev)
    os.mknod(top + device, stat.S_IFBLK | 0o660, os.stat(device).st_rdev)
known = gm.getmnt("fstab", "--help", program=os.environ["GETMNT"]).out.decode()

# All else is gone from here on.
os.chdir(top)
if gm.libc.pivot_root(b".", b"."):
    gm.fail("pivot_root")
    gm.done()
gm.umount(".", gm.MNT_DETACH)
os.chdir("/")


def plain(_command, text):
    for device, name in loops.items():
        text = re.sub(device + r"\b", "/dev/" + name, text)
    text = re.sub(r'UUID_SUB="[^"]*"', 'UUID_SUB="44444444-dddd-4ddd-8ddd-444444444444"', text)
    return re.sub(r"\.getmnt-[0-9TZ]+", ".getmnt-20261122T083000Z", text)


recipe.run(known, plain, lambda command: "1" if " --diff" in command else "0")     # there is a difference
gm.expect(recipe.count >= 20, f"only {recipe.count} commands on the page")
for device in loops:
    gm.run("losetup", "-d", device)
gm.done()
