# SPDX-License-Identifier: MIT
"""What the simulation says of an fstab, against what mount -a makes of it.

A tree of real mounts; fstabs that are right, and others made wrong at random; what
each reproduces is foretold while the tree stands, and then tried."""
import fcntl
import os
import random
import subprocess
import tempfile

import gm

gm.need_fs("btrfs", "ext4", "xfs", "overlay")
gm.need("mkfs.btrfs", "btrfs", "mkfs.ext4", "mkfs.xfs", "losetup", "blkid", "mount", "umount")
PROVE = os.path.join(os.path.dirname(os.environ["GETMNT"]), "tests/lib/prove")
if not os.path.exists(PROVE):
    gm.skip("tests/lib/prove is not built")
BTRFS_IOC_SUBVOL_CREATE, LOOP_CLR_FD = 0x5000940e, 0x4c01
SEED = int(os.environ.get("GETMNT_SEED", "1"))
TRIES = int(os.environ.get("GETMNT_TRIES", "120"))
chance = random.Random(SEED)

root = gm.Root()
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
for program in ("mount", "umount"):
    gm.install(program, root.path)
gm.install(PROVE, root.path)
gm.mkdir(root / "run/mount")
images = tempfile.mkdtemp(dir=root / "tmp")
loops = {}
for fstype, size, mkfs in (("ext4", 32, ("mkfs.ext4", "-q", "-F")), ("xfs", 320, ("mkfs.xfs", "-q")),
                           ("btrfs", 128, ("mkfs.btrfs", "-q")), ("spare", 32, ("mkfs.ext4", "-q", "-F"))):
    gm.image(f"{images}/{fstype}.img", size << 20, *mkfs)
    loops[fstype] = gm.run("losetup", "-f", "--show", f"{images}/{fstype}.img").strip()
gm.image(root / "in file.img", 16 << 20, "mkfs.ext4", "-q", "-F")
uuid = {name: gm.run("blkid", "-p", "-o", "value", "-s", "UUID", device).strip() for name, device in loops.items()}


def release():
    for device in loops.values():
        fd = os.open(device, os.O_RDWR)
        fcntl.ioctl(fd, LOOP_CLR_FD)
        os.close(fd)


def devices():
    """All that are loops now, as prove reads them."""
    rows = []
    for line in gm.run("losetup", "-nlO", "NAME,MAJ:MIN,BACK-FILE").splitlines():
        name, number, file = line.split(None, 2)
        blkid = subprocess.run(["blkid", "-p", "-o", "export", name], stdout=subprocess.PIPE, check=False).stdout.decode()
        tags = dict(row.split("=", 1) for row in blkid.splitlines() if "=" in row)
        file = file[len(root.path):] if file.startswith(root.path) else ""
        rows.append(f"{number} {name} {tags.get('TYPE', '-')} {tags.get('UUID', '-')} - {file}\n")
    return "".join(rows)


# Each line, behind those it needs.
LINES = [
    ["UUID=" + uuid["ext4"], "/data", "ext4", "noatime,nodev"],
    ["UUID=" + uuid["xfs"], "/data/x", "xfs", "logbsize=64k"],
    [loops["btrfs"], "/pool", "btrfs", "subvol=/,noexec"],
    [loops["btrfs"], "/sub", "btrfs", "subvol=/@"],
    ["/sub/dir", "/deep", "none", "bind"],
    ["t", "/tmpfs", "tmpfs", "size=12m,mode=750"],
    ["u", "/tmpfs/in", "tmpfs", "size=1m,X-mount.mkdir"],
    ["/data/dir", "/tmpfs/bound", "none", "bind,ro,nodev,noatime,X-mount.mkdir"],
    ["/data/file", "/etc/a\\040file", "none", "bind"],
    ["/data/x", "/bind", "none", "bind"],
    ["o", "/over", "overlay", "lowerdir=/data/l1:/data/x/l2,upperdir=/data/u,workdir=/data/w"],
    ["/in\\040file.img", "/img", "ext4", "loop,nosuid"],
    ["/data", "/self", "none", "rbind"],
    ["s", "/data/dir", "tmpfs", "size=2m"],
]


def text(lines):
    return "".join(" ".join(line) + " 0 0\n" for line in lines)


def damage(lines):
    """Make an fstab wrong in one to three ways."""
    lines = [list(line) for line in lines]
    for _ in range(chance.randint(1, 3)):
        i, k = chance.randrange(len(lines)), chance.randrange(len(lines))
        what = chance.randrange(14)
        line = lines[i]
        if what <= 2:
            lines.insert(k, lines.pop(i))
        elif what == 3:
            chance.shuffle(lines)
        elif what == 4 and len(lines) > 3:
            lines.pop(i)
        elif what == 5:
            line[3] += chance.choice([",noauto", ",noexec", ",ro", ",nosuid", ",nofail", ",x-nobody=1"])
        elif what == 6:
            line[0] = chance.choice(["UUID=" + uuid["spare"], "UUID=" + uuid["xfs"], "/data/other", "/no/where",
                                     "UUID=00000000-0000-4000-8000-000000000000", "/sub", "/data/file"])
        elif what == 7:
            line[1] = chance.choice(["/data", "/data/dir", "/no/place", "/sub/dir", "/data/file", "/tmpfs/x", "/link", "/spare"])
        elif what == 8:
            line[3] = line[3].replace("12m", "13m").replace("/@", "/@none").replace(",X-mount.mkdir", "").replace("rbind", "bind")
        elif what == 9:
            lines.insert(k, list(line))
        elif what == 10:
            line[2] = chance.choice(["ext4", "xfs", "auto", "none", line[2]])
        elif what == 11:
            lines.insert(k, [chance.choice(["UUID=" + uuid["spare"], "/sub", "/data/dir", "q"]),
                             chance.choice(["/data", "/spare", "/sub/dir", "/tmpfs", "/link"]),
                             chance.choice(["auto", "none", "tmpfs"]), chance.choice(["defaults", "bind", "rbind"])])
        elif what == 12:
            line[3] = chance.choice(["defaults", "bind", "rbind", "ro", line[3]])
        elif line[2] in ("ext4", "xfs", "tmpfs"):
            # Not of btrfs: what shares a superblock has these of the first.
            line[3] += chance.choice([",sync", ",lazytime", ",dirsync", ",sync,async"]
                                     + ([",offset=4096", ",sizelimit=1048576"] if line[2] != "tmpfs" else []))
    return lines


def mounted():
    """The mounts by their IDs."""
    found = {}
    with open("/proc/self/mountinfo", "rb") as f:
        for raw in f.read().split(b"\n")[:-1]:
            fields = raw.split(b" ")
            sep = fields.index(b"-", 6)
            source = gm.unescape(fields[sep + 2])
            if source.startswith(b"/dev/loop") and fields[sep + 1] not in (b"tmpfs", b"overlay"):
                with open("/sys/block/" + source.decode()[5:] + "/loop/backing_file", "rb") as file:
                    source = os.path.basename(file.read().rstrip(b"\n"))
            else:
                source = b""
            found[int(fields[0])] = {
                "point": gm.unescape(fields[4]), "root": gm.unescape(fields[3]), "type": fields[sep + 1], "source": source,
                "dev": fields[2], "flags": frozenset(fields[5].split(b",")),
                "options": frozenset(fields[sep + 3].split(b","))}
    return found


def tops():
    """What is seen at each of the places that the tree has."""
    table, seen = mounted(), {}
    for point in POINTS:
        try:
            fd = gm.open_path(point)
        except OSError:
            continue
        try:
            mount = table.get(gm.fd_mount(fd))
        finally:
            os.close(fd)
        if mount and mount["point"] == point:
            try:
                mount["holds"] = sorted(os.listdir(point)) if mount["type"] == b"overlay" else None
            except OSError:
                mount["holds"] = None
            seen[point] = mount
    return seen


def unmount_all():
    for line in reversed(gm.mountinfo()):
        if line.point not in KEEP:
            gm.umount(line.point)


def mount_all(file):
    return subprocess.run(["/bin/mount", "-a", "-T", file], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": "/bin", "LC_ALL": "C.UTF-8"}, check=False).stdout.decode(errors="replace")


def same(point, before, after):
    """Whether a place shows the same as before."""
    one, other = before[point], after.get(point)
    if other is None:
        return False
    # Of what stands on no device: what shared it then shares it now.
    first = min(p for p in before if before[p]["dev"] == one["dev"] and before[p]["root"] == b"/") \
        if any(before[p]["dev"] == one["dev"] and before[p]["root"] == b"/" for p in before) else point
    shared = bool(one["source"]) or (first in after and after[first]["dev"] == other["dev"])
    # A bind has no options of the file system: those are the matter of another line.
    keys = ("root", "type", "source", "flags", "holds") + (() if point in BINDS else ("options",))
    return shared and all(one[key] == other[key] for key in keys)


with open(root / "devices", "w", encoding="ascii") as f:
    f.write("")
for name in ("data", "pool", "sub", "deep", "tmpfs", "bind", "over", "img", "self", "spare", "etc", "rec", "target"):
    gm.mkdir(root / name)
gm.touch(root / "etc/a file")
os.symlink("/target", root / "link")
known = devices()
root.enter()
KEEP = {line.point for line in gm.mountinfo()}
# What is in the file systems.
for path, made in (("/data", ("dir", "l1", "u", "w", "other", "x")), ("/data/x", ("l2",))):
    line = next(line for line in LINES if line[1] == path)
    subprocess.run(["/bin/mount", line[0], path], check=True, env={"PATH": "/bin"})
    for name in made:
        gm.mkdir(path + "/" + name)
gm.touch("/data/file", "x")
gm.touch("/data/l1/one", "x")
gm.touch("/data/x/l2/two", "x")
subprocess.run(["/bin/mount", loops["btrfs"], "/pool"], check=True, env={"PATH": "/bin"})
with open("/pool/.probe", "w", encoding="ascii") as f:
    f.write("x")
fd = os.open("/pool", os.O_RDONLY)
fcntl.ioctl(fd, BTRFS_IOC_SUBVOL_CREATE, bytearray(b"\0" * 8 + b"@".ljust(4088, b"\0")))
os.close(fd)
gm.mkdir("/pool/@/dir")
unmount_all()

# The tree, by its own fstab; then what is foretold of each.
with open("/good", "w", encoding="ascii") as f:
    f.write(text(LINES))
POINTS = []
mount_all("/good")
unmount_all()          # a new overlay writes its UUID
for made in ("/tmpfs/in", "/tmpfs/bound"):
    gm.expect(not os.path.lexists(made), made)
mount_all("/good")
POINTS = sorted({line.point for line in gm.mountinfo() if line.point not in KEEP})
before = tops()
BINDS = {gm.unescape(line[1].encode()) for line in LINES if line[2] == "none"}
BINDS |= {point for point in before if gm.within(point, b"/self")}
gm.expect(len(before) >= len(LINES), f"the tree: {sorted(before)}")
with open("/rec/mountinfo", "wb") as f, open("/proc/self/mountinfo", "rb") as table:
    f.write(table.read())
with open("/devices", "w", encoding="ascii") as f:
    f.write(known)
    for line in before.values():
        # The loop that mount(8) has made.
        if line["source"] == b"in file.img":
            f.write(f"{line['dev'].decode()} /dev/loop-of-file ext4 - - /in file.img\n")
files = []
for i in range(TRIES):
    files.append(f"/rec/{i}")
    with open(files[-1], "w", encoding="ascii") as f:
        f.write(text(LINES if i == 0 else damage(LINES)))
proc = subprocess.run(["/bin/prove", "/rec/mountinfo", "/devices"] + files, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                      check=False)
gm.expect(proc.returncode == 0, f"prove: {proc.returncode} {proc.stdout[-300:]}")
foretold, now = {}, None
for row in proc.stdout.split(b"\n")[:-1]:
    fields = row.split(b"\t")
    if fields[0].startswith(b"/rec/"):
        now = foretold.setdefault(fields[0].decode(), {})
    elif fields[0] != b"besides":
        now[gm.unescape(fields[2])] = fields
unmount_all()

counts = {}
wrong, shown = 0, set()
for file in files:
    words = mount_all(file)
    after = tops()
    for point, fields in foretold[file].items():
        if point not in before:
            continue
        is_same, said = same(point, before, after), fields[0] == b"same"
        key = fields[0].decode()
        counts[key] = counts.get(key, 0) + 1
        if not gm.expect(is_same == said, f"{file}: {point!r} is {'the same' if is_same else 'not the same'}, and was foretold "
                         f"to be {b' '.join(fields).decode(errors='replace')}: "
                         f"{ {k: (v, after.get(point, {}).get(k)) for k, v in before[point].items() if after.get(point, {}).get(k) != v} }"):
            wrong += file not in shown
            shown.add(file)
            if wrong <= int(os.environ.get("GETMNT_SHOW", "3")) and len(shown) == wrong:
                with open(file, encoding="ascii") as f:
                    print(f.read() + words)
    unmount_all()
    for made in ("/tmpfs/in", "/tmpfs/bound"):
        if os.path.isdir(made):
            os.removedirs(made)
    gm.mkdir("/tmpfs")
gm.expect(all(word in counts for word in ("same", "failed", "source", "options", "no line", "noauto", "hidden")),
          f"not all is tried: {counts}")
print(f"  {len(files)} fstabs: {counts}")
unmount_all()
release()
gm.done()
