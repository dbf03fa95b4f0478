# SPDX-License-Identifier: MIT
"""getmnt audit of real mounts: a tree that matches its fstab is clean; each planted fault is found, and
nothing else."""
import json
import os
import tempfile

import gm

gm.need_fs("ext4", "overlay")
gm.need("mkfs.ext4", "losetup", "mkswap")
root = gm.Root()
for program in ("mount", "umount", "losetup", "sh"):
    gm.install(program, root.path)
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
gm.mkdir(root / "run/mount")
gm.mkdir(root / "etc")
# Outside of the root: its disks, which end with their loop devices.
images = tempfile.mkdtemp()
for name in ("data", "other"):
    gm.image(f"{images}/{name}", 16 << 20, "mkfs.ext4", "-q")
device = {name: gm.run("losetup", "-f", "--show", f"{images}/{name}").strip() for name in ("data", "other")}
for name in ("data", "other"):
    os.unlink(f"{images}/{name}")
os.rmdir(images)
for name in ("data", "t", "over", "low", "up", "work", "bound", "late/in", "src", "swap"):
    gm.mkdir(root / name)
root.enter()

FSTAB = f"""# the fstab
root / tmpfs size=2g,mode=0755 0 0
{device['data']} /data ext4 noatime,errors=remount-ro 0 2
t /t tmpfs size=1m,mode=0755,nosuid 0 0
/src /bound none bind 0 0
overlay /over overlay lowerdir=/low,upperdir=/t/up,workdir=/t/work,x-systemd.requires=/t 0 0
none /off tmpfs noauto 0 0
UUID=00000000-0000-0000-0000-000000000000 /usb vfat noauto,user 0 0
"""
with open("/etc/fstab", "w", encoding="utf-8") as file:
    file.write(FSTAB)
gm.run("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", device["data"], "/data")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0755,nosuid", "t", "/t")
for name in ("/t/up", "/t/work"):
    gm.mkdir(name)
gm.run("mount", "--bind", "/src", "/bound")
gm.run("mount", "-t", "overlay", "-o", "lowerdir=/low,upperdir=/t/up,workdir=/t/work", "overlay", "/over")


def audit(*args):
    """The findings, as CODE severity target, without those about the root of the test."""
    result = gm.getmnt("audit", "--json", "--disable=FSTAB-*", *args)
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    document = json.loads(result.out)
    found = sorted(f"{f['code']} {f['severity']} {f['target']}" for f in document["findings"]
                   if f["severity"] != "info")
    gm.expect((result.status == 1) == bool(found), f"{args}: status {result.status}, {found}")
    return found


gm.expect(audit() == [], f"healthy: {audit()}")
result = gm.getmnt("audit", "--only=DRIFT-*,MNT-*,SWAP-*")
gm.expect(result.status == 0 and not result.out, f"healthy: {result.status} {result.out} {result.err}")


def planted(tag, expected, undo):
    """A fault gives these findings; it is undone afterwards."""
    got = audit()
    gm.expect(got == sorted(expected), f"{tag}: {got}, not {sorted(expected)}")
    undo()
    gm.expect(audit() == [], f"{tag}, undone: {audit()}")


def sh(*argv):
    return lambda: gm.run(*argv)


gm.run("mount", "-o", "remount,ro", "/data")
planted("read-only", ["DRIFT-READONLY critical /data"], sh("mount", "-o", "remount,rw", "/data"))
gm.run("mount", "-o", "remount,noexec,noatime", "/data")
planted("another option", ["DRIFT-OPTIONS warning /data"], sh("mount", "-o", "remount,exec,noatime", "/data"))
gm.run("mount", "-o", "remount,size=2m", "/t")
planted("another size", ["DRIFT-OPTIONS warning /t"], sh("mount", "-o", "remount,size=1m,nosuid", "/t"))
gm.run("umount", "/data")
planted("not mounted", ["DRIFT-NOT-MOUNTED warning /data"],
        sh("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", device["data"], "/data"))
gm.run("umount", "/data")
gm.run("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", device["other"], "/data")


def back():
    gm.run("umount", "/data")
    gm.run("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", device["data"], "/data")


planted("another device", ["DRIFT-SOURCE critical /data"], back)
gm.run("mount", "-t", "tmpfs", "nobody", "/late")
planted("nobody's", ["DRIFT-NOT-IN-FSTAB warning /late"], sh("umount", "/late"))
gm.run("umount", "/bound")
gm.run("mount", "--bind", "/low", "/bound")


def rebind():
    gm.run("umount", "/bound")
    gm.run("mount", "--bind", "/src", "/bound")


planted("another directory", ["DRIFT-SOURCE critical /bound"], rebind)
gm.mkdir("/gone")
gm.run("umount", "/bound")
gm.run("mount", "--bind", "/gone", "/bound")
os.rmdir("/gone")
planted("a directory that was removed", ["MNT-DELETED warning /bound"], rebind)
# Mounts of units, by a systemctl that prints this.
UNITS = [("boot.automount", "/boot", "/run/systemd/generator.late/boot.automount", "WantedBy=local-fs.target"),
         ("opt.mount", "/opt", "/run/systemd/generator/opt.mount", ""), ("srv-line.mount", "/srv/line", "/run/systemd/generator/srv-line.mount",
          "SourcePath=/etc/fstab"), ("srv-idle.mount", "/srv/idle", "/etc/systemd/system/srv-idle.mount", "")]
gm.mkdir("/run/systemd/system")
gm.mkdir("/usr/bin")
shown = "\n".join(f"Id={name}\nWhere={where}\nFragmentPath={path}\nLoadState=loaded\nActiveState=active\n{more}\n"
                  for name, where, path, more in UNITS)
gm.touch("/usr/bin/systemctl", f"#!/bin/sh\necho '{shown}'\n")
os.chmod("/usr/bin/systemctl", 0o755)
for name in ("/boot", "/opt"):
    gm.mkdir("/gone")
    gm.run("mount", "--bind", "/gone", gm.mkdir(name))
    os.rmdir("/gone")
gm.expect(audit() == ["MNT-DELETED warning /boot", "MNT-DELETED warning /opt"], f"of units: {audit()}")
document = json.loads(gm.getmnt("audit", "--json", "--include=gpt-auto,unit", "--only=MNT-DELETED").out)
owners = {f["target"]: f["owner"] for f in document["findings"]}
gm.expect(owners == {"/boot": "gpt-auto", "/opt": "unit"}, f"owners of units: {document['findings']}")
for name in ("/boot", "/opt"):
    gm.run("umount", name)
names = ("/srv/line", "/srv/idle", "/srv/none")
for name in names:
    gm.run("mount", "-t", "tmpfs", "own", gm.mkdir(name))
expected = ["DRIFT-NOT-IN-FSTAB warning /srv/line", "DRIFT-NOT-IN-FSTAB warning /srv/none"]
gm.expect(audit() == expected, f"of units: {audit()}")
for name in names:
    gm.run("umount", name)
gm.run("mount", "--bind", "/data", "/data")
got = audit()
gm.expect("MNT-DUP warning /data" in got, f"mounted twice: {got}")
gm.run("umount", "/data")
gm.expect(audit() == [], f"mounted twice, undone: {audit()}")
gm.run("mount", "-t", "tmpfs", "cover", "/t")
got = audit()
gm.expect("MNT-SHADOWED warning /t" in got and "DRIFT-SOURCE critical /t" not in got, f"covered: {got}")
gm.run("umount", "/t")
gm.expect(audit() == [], f"covered, undone: {audit()}")
with open("/etc/fstab", "a", encoding="utf-8") as file:
    file.write("# getmnt: ignore=DRIFT-NOT-MOUNTED\nnone /excused tmpfs defaults 0 0\nnone /told tmpfs defaults 0 0\n")
gm.expect(audit() == ["DRIFT-NOT-MOUNTED warning /told"], f"excused: {audit()}")

# A file that can block is not read; a missing one is reported.
os.unlink("/etc/fstab")
result = gm.getmnt("audit", "--json")
document = json.loads(result.out)
gm.expect(result.status == 0 and document["fstab"] is None and "DRIFT-NOT-IN-FSTAB" not in document["not_judged"]
          and {row["severity"] for row in document["findings"] if row["code"] == "DRIFT-NOT-IN-FSTAB"} == {"info"},
          f"no fstab: {result.status} {result.out} {result.err}")
result = gm.getmnt("audit", "--fstab=/etc/fstab")
gm.expect(result.status == 2 and not result.out, f"no such file: {result.status} {result.out} {result.err}")
hung = gm.HungFuse("/hung", dev="/dev/fuse") if os.path.exists("/dev/fuse") else None
if hung:
    result = gm.getmnt("audit", "--fstab=/hung/fstab")
    gm.expect(result.status == 2 and b"can block" in result.err, f"hung: {result.status} {result.err}")
    result = gm.getmnt("audit", "--only=MNT-*")
    gm.expect(result.status in (0, 1), f"beside a hung one: {result.status} {result.err}")
    hung.end()
for name in ("/data", "/over", "/t", "/bound"):
    gm.run("umount", name)
for loop in device.values():
    gm.run("losetup", "-d", loop)
gm.done()
