# SPDX-License-Identifier: MIT
"""File systems that few kernels of today are built with: their names, UUID and
LABEL as blkid has them."""
import os

import gm
import vm

vm.work()
VFAT = ("mkfs.vfat", "-n", "FATTY", "-i", "1234abcd")
KINDS = [
    ("vfat", 40 << 20, VFAT),
    ("f2fs", 64 << 20, ("mkfs.f2fs", "-q", "-f", "-l", "flash")),
    ("udf", 40 << 20, ("mkudffs", "-l", "disc", "-b", "512")),
    ("ext4", 16 << 20, ("mkfs.ext4", "-q", "-L", "fourth")),
    ("xfs", 310 << 20, ("mkfs.xfs", "-q", "-L", "large")),
]
tags, devices = {}, []
for fstype, size, mkfs in KINDS:
    gm.need(mkfs[0])
    vm.modules(fstype)
    device = vm.loop(fstype, size)
    devices.append(device)
    gm.run(*mkfs, device)
    tags[f"/mnt/{fstype}"] = vm.blkid(device)
    gm.run("mount", "-t", fstype, device, gm.mkdir(f"/mnt/{fstype}"))
gm.need("genisoimage")
vm.modules("isofs")
gm.touch(vm.WORK + "/content/dir/file", "x")
gm.run("genisoimage", "-quiet", "-V", "CDROM", "-R", "-o", vm.WORK + "/iso", vm.WORK + "/content")
device = vm.loop("iso", 0, "-r")
devices.append(device)
tags["/mnt/iso"] = vm.blkid(device)
gm.run("mount", "-t", "iso9660", "-o", "ro", device, gm.mkdir("/mnt/iso"))
# A file system on one of each, where it can have a directory.
for target in tags:
    if target != "/mnt/iso":
        gm.tmpfs(target + "/a/b")
gm.tmpfs("/mnt/iso/dir")

gm.check("types")
# What a loop device stands on is not known where no name was tested.
for names in ("hint", "walk", "pure"):
    got = vm.rows("--names=" + names, "-t", "vfat,f2fs,udf,ext4,xfs,iso9660", columns=",UUID,LABEL")
    for target, tag in tags.items():
        row = got.get(target, {})
        gm.expect(row.get("uuid") == tag.get("UUID") and row.get("label") == tag.get("LABEL")
                  and row.get("uuid"), f"{names}: {target}: {row}, not {tag}")
for target, tag in tags.items():
    result = gm.getmnt("-n", "-r", "-o", "TARGET", "-S", "UUID=" + tag["UUID"])
    gm.expect(result.out.strip() == target.encode(), f"UUID={tag['UUID']}: {result.out}")
    result = gm.getmnt("-n", "-r", "-o", "TARGET", "LABEL=" + tag["LABEL"])
    gm.expect(result.out.strip() == target.encode(), f"LABEL={tag['LABEL']}: {result.out}")
got = vm.rows("--probe=all", "--timeout=60")
for target in tags:
    gm.expect(got[target]["state"] == "ok", f"--probe=all: {got[target]}")

for target in tags:
    gm.run("umount", *([target + "/a/b"] if target != "/mnt/iso" else ["/mnt/iso/dir"]))
    gm.run("umount", target)
# Not mounted, they are told so.
result = gm.getmnt("--unmounted", "-n", "-r", "-o", "SOURCE")
gm.expect(set(result.out.decode().split()) >= set(devices), f"--unmounted: {result.out}, not {devices}")
for device in devices:
    os.sync()
    gm.run("losetup", "-d", device)
gm.done()
