# SPDX-License-Identifier: MIT
"""getmnt snapshot: an audit of it tells what one of the host tells, and nothing in it says
whose host it was."""
import json
import os
import re
import shutil
import tempfile

import gm

gm.need_fs("ext4", "overlay")
gm.need("mkfs.ext4", "losetup", "mkswap", "blkid", "mount", "umount")
images = tempfile.mkdtemp()
UUIDS = []


def disk(name, *mkfs):
    """A loop device, which ends with its last user."""
    gm.image(f"{images}/{name}", 16 << 20, *mkfs)
    loop = gm.run("losetup", "-f", "--show", f"{images}/{name}").strip()
    os.unlink(f"{images}/{name}")
    UUIDS.append(gm.run("blkid", "-p", "-o", "value", "-s", "UUID", loop).strip())
    return loop


data = disk("data", "mkfs.ext4", "-q", "-L", "gmprivate")
twin = disk("twin", "mkfs.ext4", "-q", "-L", "gmprivate")
swap = disk("swap", "mkswap", "-q")
# The command line of this machine; in a container it is another's.
if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]":
    gm.touch(f"{images}/cmdline", f"quiet root=UUID={UUIDS[0]} rd.iscsi.password=hunter2 own=swordfish rootflags=x,password=hunter2 ro\n")
    gm.bind(f"{images}/cmdline", "/proc/cmdline")
    result = gm.getmnt("snapshot", f"{images}/snap", program=os.environ["GETMNT"])
    gm.expect(result.status == 0, f"of the machine: {result.err}")
    got = open(f"{images}/snap/proc/cmdline", encoding="ascii").read()
    gm.expect(re.fullmatch(r"root=UUID=a0{7}(-0{4}){3}-[0-9a-f]{12} rd.iscsi.password=\*\*\* rootflags=x,password=\*\*\* ro\n", got), got)
    gm.run("umount", "/proc/cmdline")
shutil.rmtree(images)
root = gm.Root()
for program in ("mount", "umount", "losetup"):
    gm.install(program, root.path)
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
for name in ("run/mount", "etc", "data", "t", "low", "over", "src", "src/gone", "bound", "late", "home/gmuser", "s"):
    gm.mkdir(root / name)
root.enter()
HOST = os.uname().nodename
NEVER = [*UUIDS, "gmprivate", "gmnas", "gmcorp", "10.11.12.13", "hunter2", "swordfish", "gmuser", "gmadmin",
         "telephone", "fd00:1234::7"]
if len(HOST) > 3:
    NEVER.append(HOST)

with open("/etc/fstab", "w", encoding="utf-8") as file:
    file.write(f"""# ask gmadmin, telephone 1234
root / tmpfs size=2g,mode=0755 0 0
UUID={UUIDS[0]} /data ext4 noatime,errors=remount-ro 0 2
LABEL=gmprivate /late ext4 defaults 0 2
UUID=01234567-89ab-4def-8123-456789abcdef /usb ext4 defaults 0 2
UUID={UUIDS[2]} none swap sw 0 0
t /t tmpfs size=1m,mode=0755,nosuid 0 0
//gmnas.gmcorp.example/share /s cifs noauto,username=gmadmin%swordfish,password=hunter2,domain=gmcorp 0 0
10.11.12.13:/export /s nfs noauto,addr=10.11.12.13 0 0
[fd00:1234::7]:/export /s nfs noauto 0 0
gmnas:/home /home/gmuser nfs noauto 0 0
/src /bound none bind 0 0
overlay /over overlay lowerdir=/low:/nolow 0 0
# getmnt: ignore=FSTAB-TGT-MISSING
{data} /else ext4 noauto,noatime 0 2
/dev/gmnone /off foofs defaults 0 0
""")
gm.touch("/etc/crypttab", f"a {twin} /home/gmuser/key luks\nb UUID={UUIDS[1]} none luks\n")
gm.run("mount", "-t", "ext4", "-o", "noatime,errors=remount-ro", data, "/data")


def snapshot(name, *args):
    result = gm.getmnt("snapshot", *args, name)
    gm.expect(result.status == 0 and not result.out and not result.err,
              f"snapshot {name} {args}: {result.status} {result.out} {result.err}")


def audit(*args):
    """What is told, and what is not judged."""
    result = gm.getmnt("audit", "--json", *args)
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    return json.loads(result.out)


def brief(document):
    return sorted(f"{f['code']} {f['severity']} {f['owner']} {f['target']}" for f in document["findings"])


def same(tag, number, least):
    """An audit here, and of two snapshots: with names, and without."""
    here = audit()
    snapshot(f"/names{number}", "--keep-names")
    snapshot(f"/snap{number}")
    named, nameless = audit(f"--root=/names{number}"), audit(f"--root=/snap{number}")
    whole = [[{k: v for k, v in f.items() if k != "source"} for f in document["findings"]] for document in (here, named)]
    gm.expect(whole[0] == whole[1], f"{tag}: {whole[0]}, not of the snapshot: {whole[1]}")
    gm.expect([f["code"] for f in here["findings"]] == [f["code"] for f in nameless["findings"]],
              f"{tag}: {brief(here)}, without names {brief(nameless)}")
    targets = [f["target"] for f in here["findings"] if f["target"] and not any(n in f["target"] for n in NEVER)]
    others = [f["target"] for f in nameless["findings"]]
    gm.expect(all(t in others for t in targets), f"{tag}: {targets}, without names {others}")
    for document in (named, nameless):
        gm.expect(document["not_judged"] == here["not_judged"], f"{tag}: {here['not_judged']}, {document['not_judged']}")
    gm.expect({*least} <= {f["code"] for f in here["findings"]}, f"{tag}: {brief(here)} lacks of {least}")
    return f"/snap{number}"


def clean(top):
    """Nothing in it says whose it was."""
    for path, dirs, files in os.walk(top):
        for name in dirs + files:
            full = f"{path}/{name}"
            if os.path.islink(full):
                text = os.readlink(full)
            else:
                gm.expect(os.path.isdir(full) or os.path.isfile(full), f"{full}: neither a file nor a directory")
                text = "" if os.path.isdir(full) else open(full, encoding="utf-8", errors="replace").read()
            for never in NEVER:
                gm.expect(never not in name and never not in text.replace("\\x2d", "-"), f"{full} has {never}: {text[:200]}")


clean(same("as it is", 1, {"DRIFT-NOT-MOUNTED", "SWAP-NOT-ACTIVE", "FSTAB-SECRET", "BOOT-CRYPTTAB",
                           "FSTAB-OVERLAY-DIR", "FSTAB-TGT-MISSING"}))

gm.run("mount", "-o", "remount,ro", "/data")
gm.run("mount", "--bind", "/src/gone", "/bound")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0755", "t", "/t")
gm.run("mount", "-t", "tmpfs", "x", "/late")
os.rmdir("/src/gone")
os.symlink("/t", "/else")
gm.touch("/etc/mtab", "gone /gone ext4 rw 0 0\n")
os.chmod("/etc/fstab", 0o666)
gm.mkdir("/etc/getmnt")
gm.touch("/etc/getmnt/audit.conf", "# gmadmin says so\nrequire /t noexec\nseparate /home\n")
# Units: one that is not mounted, one with other options by a drop-in, a swap space that is not used.
gm.touch("/usr/lib/systemd/systemd", "")
units = gm.mkdir("/etc/systemd/system/multi-user.target.wants")
gm.mkdir("/etc/systemd/system/low.mount.d")
gm.touch("/etc/systemd/system/home-gmuser-x.mount", """; ask gmadmin
[Unit]
Description=of gmcorp, \\
  telephone 1234
[Mount]
What=//gmnas.gmcorp.example/x
Where=/home/gmuser/x
Type=cifs
Options=username=gmadmin,password=hunter2
""")
gm.touch("/etc/systemd/system/low.mount", "[Mount]\nWhat=tmpfs\nWhere=/low\nType=tmpfs\n")
gm.touch("/etc/systemd/system/low.mount.d/a.conf", "# gmadmin\n[Mount]\nOptions=nosuid,nodev,size=1m\n")
gm.touch("/etc/systemd/system/gmswap.swap", "[Swap]\nWhat=/gmswap\nOptions=pri=3\n")
for name in ("home-gmuser-x.mount", "low.mount", "gmswap.swap"):
    os.symlink(f"../{name}", f"{units}/{name}")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/low")
planted = same("faults", 2, {"DRIFT-READONLY", "DRIFT-OPTIONS", "MNT-DELETED", "MTAB-STALE", "FSTAB-MODE",
                             "POLICY-OPTION", "POLICY-PARTITION", "DRIFT-SOURCE"})
clean(planted)
said = [f["source"].replace("/names2", "") for f in audit("--root=/names2")["findings"] if "/systemd/" in (f["source"] or "")]
gm.expect(sorted(said) == ["/etc/systemd/system/gmswap.swap:2", "/etc/systemd/system/home-gmuser-x.mount:7",
                           "/etc/systemd/system/low.mount.d/a.conf:3"], f"units: {said}")

# Nothing of here is in what is told of it.
gm.run("umount", "/late")
gm.run("umount", "/t")
gm.touch("/etc/fstab", "")
os.unlink("/etc/mtab")
gm.touch("/etc/crypttab", "")
before, after = audit("--root=/names2"), audit(f"--root={planted}")
gm.expect(len(before["findings"]) > 10 and brief(before) != brief(audit()), f"of the host of now: {brief(before)}")
gm.expect([f["code"] for f in before["findings"]] == [f["code"] for f in after["findings"]], "they differ now")

# Comments stay if that is asked for, and nothing else.
gm.touch("/etc/fstab", "# telephone 1234\n# getmnt: ignore=FSTAB-NOFAIL\n//gmnas/x /s cifs noauto,password=hunter2 0 0\n")
snapshot("/comments", "--keep-comments")
snapshot("/plain")
texts = [open(f"/{name}/etc/fstab", encoding="utf-8").read() for name in ("comments", "plain")]
gm.expect(texts[0] == "# telephone 1234\n# getmnt: ignore=FSTAB-NOFAIL\n//server1/x /s cifs noauto,password=*** 0 0\n", texts[0])
gm.expect(texts[1] == texts[0].replace(" telephone 1234", ""), texts[1])
gm.expect(os.stat("/plain").st_mode & 0o777 == 0o700, f"mode {os.stat('/plain').st_mode:o}")

# What can block is not written to.
gm.mkdir("/hung")
hung = gm.HungFuse("/hung") if os.path.exists("/dev/fuse") else None
if hung:
    result = gm.getmnt("snapshot", "/hung/x")
    gm.expect(result.status == 2 and b"/hung/x" in result.err, f"where it can block: {result.status} {result.err}")
    snapshot("/beside")
    hung.end()

# It is there whole, or not at all; and what is there stays.
gm.mkdir("/empty")
snapshot("/empty/")
result = gm.getmnt("snapshot", "/empty")
gm.expect(result.status == 2 and b"/empty" in result.err and os.path.exists("/empty/getmnt-snapshot"), f"again: {result.err}")
gm.touch("/file", "x")
for name in ("/file", "/nowhere/x", "/file/x"):
    result = gm.getmnt("snapshot", name)
    gm.expect(result.status == 2 and name.encode() in result.err, f"{name}: {result.status} {result.err}")
gm.mkdir("/full")
gm.mount("none", "/full", "tmpfs", 0, "size=16k,nr_inodes=20")
result = gm.getmnt("snapshot", "/full/x")
gm.expect(result.status == 2 and result.err.endswith(b": No space left on device; make room, or name one elsewhere\n") and not os.listdir("/full"),
          f"a full disk: {result.status} {result.err} {os.listdir('/full')}")
gm.run("umount", "/full")
gm.expect(not [n for n in os.listdir("/") if n.startswith(".")], f"left behind: {os.listdir('/')}")
gm.run("umount", "/bound")
gm.run("umount", "/data")
for loop in (data, twin, swap):
    gm.run("losetup", "-d", loop)
gm.done()
