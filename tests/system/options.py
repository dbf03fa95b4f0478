# SPDX-License-Identifier: MIT
"""Each row of tests/fixtures/options whose type this kernel has, mounted: the mounted line does not differ
from the options that the kernel shows, and another line does.  An option that only the line has, and
that the kernel would show, is reported by the audit: each row of its lacks."""
import os
import shutil
import subprocess
import tempfile

import gm

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/options/rows")
LACKS = os.path.join(os.path.dirname(ROWS), "lacks")
gm.need_fs("squashfs", "overlay", "ext4", "xfs", "btrfs")
gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mksquashfs", "losetup")
root = gm.Root()
top = root.path
gm.mkdir(root / "d")
for name in "lmuw":
    gm.mkdir(root / name)
# Outside of ROOT: disks to it.
store = tempfile.mkdtemp()
MKFS = {
    "ext4": (32, ("mkfs.ext4", "-q")), "ext3": (32, ("mkfs.ext3", "-q")), "ext2": (32, ("mkfs.ext2", "-q")),
    "xfs": (320, ("mkfs.xfs", "-q")), "btrfs": (128, ("mkfs.btrfs", "-q")),
}
# What few kernels of today are built with.
RARE = {
    "vfat": (40, ("mkfs.vfat",)), "udf": (40, ("mkudffs", "-b", "512")),
    "f2fs": (64, ("mkfs.f2fs", "-q", "-f", "-O", "extra_attr,compression")),
}
for fstype, how in RARE.items():
    if shutil.which("modprobe"):
        subprocess.run(["modprobe", "-q", fstype], check=False)
    with open("/proc/filesystems", encoding="ascii") as file:
        if fstype in file.read().split() and shutil.which(how[1][0]):
            MKFS[fstype] = how
images, devices = {}, {}
for fstype, (size, mkfs) in MKFS.items():
    images[fstype] = gm.image(f"{store}/{fstype}.img", size << 20, *mkfs)
images["squashfs"] = f"{store}/squashfs.img"
gm.run("mksquashfs", root / "l", images["squashfs"], "-quiet", "-no-progress")
for fstype, image in images.items():
    devices[fstype] = gm.run("losetup", "-f", "--show", str(image)).strip()
gm.mount(devices["btrfs"], root / "d", "btrfs")
gm.run("btrfs", "-q", "subvolume", "create", root / "d/@")
gm.umount(root / "d")

table = root / "fstab"
same = other = 0
refused = []
with open(ROWS, encoding="utf-8") as file:
    rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
for fstype, line, flags, shown, expect in rows:
    # With loop it is of an image, not of its device.
    if fstype not in (*devices, "tmpfs", "ramfs", "overlay") or "loop" in line.split(","):
        continue
    source = devices.get(fstype, fstype)
    # The mount of another line, mounted again from the options that the kernel shows.
    given = line if expect == "=" else ",".join([flags, shown])
    words = []
    for word in given.split(","):
        if fstype == "overlay" and "dir=/" in word:
            key, _, value = word.partition("=")
            word = key + "=" + ":".join(top + part for part in value.split(":"))
        words.append(word)
    options = ",".join(words)
    made = subprocess.run(["mount", "-t", fstype, "-o", options, source, root / "d"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if made.returncode:
        refused.append(f"{fstype} {given}")
        continue
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        live = [text.split(" - ")[0].split()[5] + " " + text.split(" - ")[1] for text in file if f" {top}/d " in text]
    # f2fs of Linux 6.1 has lazytime whatever is requested.
    if "nolazytime" in f"{line},{expect}".split(",") and any("lazytime" in text for text in live):
        refused.append(f"{fstype} {given}")
        gm.umount(root / "d")
        continue
    with open(table, "w", encoding="utf-8") as file:
        file.write(f"{source} /d {fstype} {line} 0 0\n")
    result = gm.getmnt("fstab", "--id=path", f"--merge={table}", "--check", top, program=os.environ["GETMNT"])
    told = [text for text in result.err.decode().splitlines()
            if "is mounted with other options" in text or "does not reproduce /d " in text]
    if expect == "=":
        same += 1
        gm.expect(not told and b"reproduces 1 of 2 mounts" in result.out,
                  f"{fstype} {line}: {live} {result.out} {result.err} {result.status}")
    else:
        other += 1
        gm.expect(told and result.status == 1, f"{fstype} {line}, and mounted by {options}: nothing is told")
    gm.umount(root / "d")

# An option of a line, mounted with it and without it.
silent = told = 0
with open(LACKS, encoding="utf-8") as file:
    rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
for fstype, line, shown, expect in rows:
    if fstype not in (*devices, "tmpfs", "proc", "devpts", "hugetlbfs", "overlay"):
        continue
    source = devices.get(fstype, fstype)
    # A btrfs discards unasked since 6.2.
    given = line if expect == "=" else "nodiscard" if "discard" in line else "defaults"
    if fstype == "overlay":
        line = line.replace("=/", f"={top}/")
        given = line if expect == "=" else line.replace(",volatile", "")
        shutil.rmtree(root / "w/work", ignore_errors=True)   # of a volatile one it is not taken again
    made = subprocess.run(["mount", "-t", fstype, "-o", given, source, root / "d"], stdin=subprocess.DEVNULL,
                          capture_output=True, check=False)
    if made.returncode:
        refused.append(f"{fstype} {given}")
        continue
    with open(table, "w", encoding="utf-8") as file:
        file.write(f"{source} {top}/d {fstype} {line} 0 0\n")
    result = gm.getmnt("audit", f"--fstab={table}", "--only=DRIFT-OPTIONS", "--jsonl", program=os.environ["GETMNT"])
    found = b'"DRIFT-OPTIONS"' in result.out
    # Without SELinux its labels are left out.
    wanted = expect != "=" and "context=" not in line
    silent += not wanted
    told += wanted
    gm.expect(found == wanted, f"{fstype} {line}, mounted by {given}: {result.out} {result.err} {result.status}")
    gm.umount(root / "d")
gm.expect(silent >= 60 and told >= 30, f"of lacks {silent} and {told} are too few")
print(f"  {told} are told of what their mounts have not, {silent} are not")
print(f"  {same} lines are the same, {other} are not; {len(refused)} refused by this kernel or mount(8): {', '.join(refused)}")
gm.expect(same >= 60 and other >= 10, "too few could be mounted")
for device in devices.values():
    gm.run("losetup", "-d", device)
shutil.rmtree(store)
gm.done()
