# SPDX-License-Identifier: MIT
"""LVM, md and multipath: what is mounted is known by the device that it is on,
and its members are not taken for it; they hang with what they stand on."""
import os

import gm
import vm

gm.need("lvm", "mdadm", "dmsetup", "mkfs.ext4")
vm.modules("dm-mod", "dm-multipath", "dm-round-robin", "raid1")
vm.work()
physical = [vm.loop("pv0"), vm.loop("pv1")]


def lvm(command, *args):
    vm.lvm(command, *args, passed=physical[:1])


# The volume group stands on a device that can be suspended.
lower = vm.linear("lower", physical[0])
lvm("pvcreate", lower, physical[1])
lvm("vgcreate", "group", lower, physical[1])
lvm("lvcreate", "-y", "-Wn", "-Zn", "-n", "root", "-L", "12m", "group", lower)
lvm("lvcreate", "-y", "-Wn", "-Zn", "-n", "with-dash", "-L", "12m", "group", physical[1])
members = [vm.loop("md0"), vm.loop("md1")]
gm.run("mdadm", "--create", "/dev/md7", "--run", "--assume-clean", "--level=1", "--metadata=1.2",
       "--raid-devices=2", "--homehost=any", *members)
paths = [vm.loop("path"), vm.loop("path")]
length = vm.sectors(paths[0])
multi = vm.dm("mpathx", f"0 {length} multipath 1 queue_if_no_path 0 1 1 round-robin 0 2 1 "
              f"{vm.number(paths[0])} 1000 {vm.number(paths[1])} 1000", "mpath-xyz")
DEVICES = {"/mnt/root": "/dev/mapper/group-root", "/mnt/dash": "/dev/mapper/group-with--dash",
           "/mnt/md": "/dev/md7", "/mnt/multi": multi}
tags = {}
for target, device in DEVICES.items():
    gm.run("mkfs.ext4", "-q", "-L", os.path.basename(target), device)
    gm.run("mount", device, gm.mkdir(target))
    for i in range(8):
        gm.mkdir(f"{target}/d{i}/e")
    tags[target] = vm.blkid(device)
vm.drop_caches()

for names in ("hint", "walk", "pure", "kernel"):
    for probe in ((), ("--probe=all", "--timeout=60")):
        got = vm.rows("--names=" + names, "-t", "ext4", *probe, columns=",UUID,LABEL")
        for target, device in DEVICES.items():
            row = got.get(target, {})
            # What a loop device stands on is not known where no name was tested.
            if names == "kernel":
                gm.expect(row.get("source") == device and row.get("state") == ("ok" if probe else "untested"),
                          f"{names} {probe}: {target} on {device}: {row}")
                continue
            gm.expect(row.get("uuid") == tags[target]["UUID"] and row.get("label") == tags[target]["LABEL"]
                      and row.get("source") == device and row.get("state") == "ok",
                      f"{names} {probe}: {target} on {device}: {row}")
for target in DEVICES:
    result = gm.getmnt("-n", "-r", "-o", "TARGET", "-S", "UUID=" + tags[target]["UUID"])
    gm.expect(result.out.strip() == target.encode(), f"{target} by its UUID: {result.out}")
    result = gm.getmnt("-n", "-r", "-o", "SOURCES", target)
    gm.expect(result.out.split() == [DEVICES[target].encode()], f"{target}: sources {result.out}")
# A member, or a path, is never told to be a file system that is not mounted.
result = gm.getmnt("--unmounted", "-n", "-r", "-o", "SOURCE")
there = set(result.out.decode().split())
gm.expect(not there & set(physical + members + paths) and there >= set(DEVICES.values()),
          f"--unmounted: {there}")

# What a volume stands on is suspended: the volume hangs, its sister does not.
vm.drop_caches()
gm.run(*vm.DM, "suspend", "--noflush", "--nolockfs", "lower")
vm.beside_hung("LVM on a suspended one", {"/mnt/root"}, forms=False)
gm.run(*vm.DM, "resume", "lower")
vm.reaped("resumed")

# No path works, and I/O waits for one.
vm.drop_caches()
for path in paths:
    gm.run("dmsetup", "message", "mpathx", "0", f"fail_path {vm.number(path)}")
vm.beside_hung("no path", {"/mnt/multi"})
gm.run("dmsetup", "message", "mpathx", "0", f"reinstate_path {vm.number(paths[1])}")
vm.reaped("reinstated")
got = vm.rows("--probe=all", "--timeout=60")
gm.expect(got["/mnt/multi"]["state"] == "ok", f"reinstated: {got['/mnt/multi']}")

for target in DEVICES:
    gm.run("umount", target)
gm.run(*vm.DM, "remove", "--retry", "mpathx")
gm.run("mdadm", "--stop", "/dev/md7")
lvm("vgchange", "-an", "group")
gm.run(*vm.DM, "remove", "--retry", "lower")
for device in physical + members + paths:
    gm.run("losetup", "-d", device)
gm.done()
