# SPDX-License-Identifier: MIT
"""genfstab and getmnt side by side: each system is mounted, its fstab made by both,
all unmounted, and mounted again by what they made.

The table of the outcome is that of docs/GENFSTAB.md, which is held against it here;
make compare-genfstab writes it.  With GETMNT_SHOW in the environment all that was made is
printed."""
import os
import re
import shutil
import subprocess
import time

import gm
from tables import sh, snapshot, unmount_all

DOC = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../docs/GENFSTAB.md")
TOOLS = ("genfstab", "getmnt fstab", "getmnt fstab --genfstab")
# What a kernel or libmount must be asked for by another name is not a file system's own.
VFS = {"rw", "ro", "bind", "rbind", "nosuid", "suid", "nodev", "dev", "noexec", "exec", "noatime", "atime", "relatime",
       "strictatime", "nodiratime", "defaults", "nofail", "nosymfollow", "_netdev"}
MANY = 200

gm.need("genfstab", "findmnt", "lsblk", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs", "mount", "umount")
gm.need_fs("btrfs", "ext4", "xfs", "overlay")
if gm.sanitized():
    gm.skip("it compares outputs, which a sanitizer does not change")
VERSION = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "arch-install-scripts"], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode() or "of another origin"

work = os.environ["GETMNT_WORK"]
gm.tmpfs(work, "size=2g,mode=755")
root = work + "/root"
host = gm.mkdir(work + "/host")
gm.mkdir(root)
images = gm.mkdir(work + "/images")
# Nothing of this machine's own; and what udev would have noted of the devices.
gm.tmpfs("/run", "size=8m,mode=755")

# A disk of this machine, which is none of the systems.
gm.loop_mount(gm.image(images + "/host", 16 << 20, "mkfs.ext4", "-q", "-F"), host)

# The systems' root: with what mounts the rest.
gm.image(images + "/base", 96 << 20, "mkfs.ext4", "-q", "-F")
gm.loop_mount(images + "/base", root)
for program in ("mount", "umount"):
    gm.install(program, root)
gm.touch(root + "/usr/sbin/fsck.ext4")
for name in ("proc", "sys", "dev", "run", "check", "etc"):
    gm.mkdir(f"{root}/{name}")
gm.umount(root)


class System:
    """A system to be mounted below ROOT, by a function of the same name."""

    def __init__(self):
        self.loops = []
        self.unmount = []       # before anything is judged
        self.fuse = None

    def at(self, path):
        return root + path

    def attach(self, image):
        """Attach an image as a disk, which stays when nothing is mounted."""
        device = gm.run("losetup", "-f", "--show", image).strip()
        self.loops.append(device)
        return device

    def disk(self, target, *opts, fstype="ext4", mkfs=()):
        """A disk of its own, mounted; returns it."""
        image = f"{images}/disk{len(self.loops)}"
        tools = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q"), "btrfs": ("mkfs.btrfs", "-q")}
        gm.image(image, {"ext4": 16, "xfs": 320, "btrfs": 128}[fstype] << 20, *tools[fstype], *mkfs)
        return self.mount(self.attach(image), target, *opts)

    def mount(self, device, target, *opts):
        mount_in_order()
        gm.run("mount", "-o", ",".join(opts) or "defaults", device, gm.mkdir(self.at(target)))
        return device


def udev():
    """What udev knows of the loop devices."""
    shutil.rmtree("/run/udev", ignore_errors=True)
    for line in gm.run("losetup", "-n", "-O", "NAME,MAJ:MIN").splitlines():
        name, number = line.split()
        proc = subprocess.run(["blkid", "-p", "-o", "udev", name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        if proc.returncode == 0:
            gm.touch(f"/run/udev/data/b{number}", "I:1\n" + "".join(
                f"E:{row}\n" for row in proc.stdout.decode().splitlines()))


# The systems.  Each says what it is; the numbers are those of known defects.

def g1(s):
    """names with a blank, a tab, a newline, a backslash"""
    for name in ("two words", "tab\there", "new\nline", "back\\slash"):
        s.disk("/n/" + name)


def g1_more(s):
    """names with `#`, a comma, UTF-8, and a byte that is none"""
    for name in ("#hash", "a,b", "caf\u00e9", os.fsdecode(b"inv\xff")):
        s.disk("/n/" + name)


def plain_hash(s):
    """a tmpfs called `#scratch`, with `-P`"""
    gm.tmpfs(s.at("/scratch"), "size=1m", source="#scratch")


def plain_part(s):
    """a directory of a disk that is mounted nowhere as a whole"""
    s.disk("/whole")
    gm.bind(gm.mkdir(s.at("/whole/dir")), s.at("/part"))
    gm.umount(s.at("/whole"))


def plain_propagation(s):
    """a mount that was made unbindable"""
    s.disk("/data")
    gm.propagation(s.at("/data"), gm.MS_UNBINDABLE)


def g12_options(s):
    """`nofail`, which nobody keeps, and `x-systemd.device-timeout=5`, which mount(8) does"""
    s.disk("/data", "nofail", "x-systemd.device-timeout=5")


def g1_label(s):
    """a LABEL with a blank, asked for by `-L`"""
    s.disk("/data", mkfs=("-L", "my disk"))
    gm.run("e2label", gm.run("findmnt", "-no", "SOURCE", root).strip(), "root")


def g2(s):
    """a name that ends in the four characters `\\040`"""
    s.disk("/n/ab\\040")


def g3(s):
    """two disks on one directory"""
    s.disk("/stack")
    s.disk("/stack", "nodev")


def g4(s):
    """a bind of a directory outside of ROOT"""
    gm.bind(gm.mkdir(host + "/ext"), s.at("/out"))


def g5(s):
    """a bind whose source was removed"""
    s.disk("/data")
    gm.bind(gm.mkdir(s.at("/data/gone")), s.at("/bound"))
    os.rmdir(s.at("/data/gone"))


def g6(s):
    """a bind from a disk with options of its own"""
    s.disk("/data", "resuid=65534", "errors=remount-ro")
    gm.bind(gm.mkdir(s.at("/data/dir")), s.at("/bound"))


def g7(s):
    """a file that a container engine has bound from outside, as /etc/hosts"""
    gm.bind(gm.touch(host + "/hosts"), gm.touch(s.at("/etc/hosts")))
    s.own = {b"/etc/hosts"}


def g8(s):
    """the root on tmpfs"""
    s.disk("/data")


def g8_overlay(s):
    """an overlay of two directories of the root"""
    for name in ("lower", "up", "work"):
        gm.mkdir(s.at("/srv/" + name))
    gm.mkdir(s.at("/over"))
    gm.mount("overlay", s.at("/over"), "overlay", 0,
             f"lowerdir={s.at('/srv/lower')},upperdir={s.at('/srv/up')},workdir={s.at('/srv/work')}")


def g8_tmpfs(s):
    """a tmpfs with a size, which no unit mounts"""
    gm.tmpfs(s.at("/srv/scratch"), "size=3m,mode=1777")


def plain_again(s):
    """a disk under two names, and a bind of a directory in it"""
    disk = s.disk("/data")
    gm.mkdir(s.at("/data/dir"))
    s.mount(disk, "/again", "noexec")
    gm.bind(s.at("/again/dir"), s.at("/bound"))


def g10(s):
    """btrfs: a subvolume, and a bind of a plain directory"""
    disk = s.disk("/pool", "subvol=/", fstype="btrfs")
    gm.run("btrfs", "-q", "subvolume", "create", s.at("/pool/@"))
    gm.mkdir(s.at("/pool/@/dir"))
    s.mount(disk, "/sub", "subvol=@")
    gm.bind(s.at("/sub/dir"), gm.mkdir(s.at("/bound")))


def g11(s):
    """FUSE, with a server that does not answer"""
    s.fuse = gm.HungFuse(s.at("/remote"), fstype="fuse.bucketfs", source="bucket")
    s.unjudged = {b"/remote"}       # the helper that mounts it is not there


def g13(s):
    """swap on zram, and on a disk"""
    disk = s.attach(gm.image(images + "/swap", 8 << 20, "mkswap", "-q"))
    gm.touch(work + "/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
             "/dev/zram0                              partition\t8188\t\t0\t\t100\n"
             f"{disk}                              partition\t8188\t\t0\t\t-2\n")
    gm.mount(work + "/swaps", "/proc/swaps", None, gm.MS_BIND)
    s.unmount = ["/proc/swaps"]


def g14(s):
    """an automounter's directory, and a session's /run/user, with `-P`"""
    s.autofs = gm.Autofs(s.at("/net"), "indirect")
    gm.tmpfs(s.at("/run/user/1000"), "size=1m,mode=700")
    s.own = {b"/net", b"/run/user/1000"}


def g16(s):
    """a disk that has no UUID, with `-U`"""
    s.disk("/data", mkfs=("-U", "clear"))


def g17(s):
    """a disk and its copy, with the same UUID"""
    disk = s.disk("/data")
    gm.umount(s.at("/data"))
    copy = s.attach(shutil.copy(images + "/disk0", images + "/copy"))
    s.mount(disk, "/data")
    s.mount(copy, "/copy", "ro")
    s.unjudged = {b"/data", b"/copy"}   # what is mounted differs from time to time


def g19(s):
    """xfs, and ext4 where ROOT has no fsck.ext4"""
    s.disk("/x", fstype="xfs")
    s.disk("/data")
    os.unlink(s.at("/usr/sbin/fsck.ext4"))


def g20(s):
    """a bind from a disk that was mounted again since"""
    disk = s.disk("/z")
    s.mount(disk, "/keep")
    gm.bind(gm.mkdir(s.at("/z/dir")), s.at("/a"))
    gm.umount(s.at("/z"))
    s.mount(disk, "/z")
    gm.umount(s.at("/keep"))


def g20_hidden(s):
    """a disk below a directory that another disk covers"""
    s.disk("/srv/data/in")
    s.disk("/srv/data")


def plain(s):
    """three disks, a read-only bind, a directory of a btrfs"""
    s.disk("/data", "noatime", "nodev")
    s.disk("/home", "compress=zstd:3", fstype="btrfs")
    s.disk("/srv", "nosuid", fstype="xfs")
    gm.bind(gm.mkdir(s.at("/data/dir")), s.at("/bound"))
    gm.mount(None, s.at("/bound"), None, gm.MS_BIND | gm.MS_RDONLY | 32)


# Systems that are recorded tables, since they need servers or other kernels: what findmnt and
# getmnt are given to read.  A line is right or wrong by its fields.

DISK = "20 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n"


def g9(rows):
    """9p, of whose share a directory is mounted"""
    yield "/share", any(row[1] == b"/share" and row[2] == b"none" for row in rows), "a bind from itself"


g9.table = "30 20 0:30 /sub /share rw,relatime - 9p share rw,trans=virtio\n"


def g11_nfs(rows):
    """NFS"""
    for row in rows:
        run = [o for o in row[3].decode().split(",") if o.partition("=")[0] in ("addr", "clientaddr", "mountaddr", "mountport")]
        yield row[1].decode(), bool(run), f"options of its run ({', '.join(run)})"
    yield "/srv", not any(row[1] == b"/srv" for row in rows), "no line"


g11_nfs.table = ("30 20 0:30 / /srv rw,relatime - nfs4 server:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,"
                 "hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.5\n")


def g12(rows):
    """CIFS, with a password that only the kernel knows"""
    yield "/mail", any(row[1] == b"/mail" for row in rows), "a line without password or credentials"


g12.table = "30 20 0:30 / /mail rw,relatime - cifs //server/mail rw,vers=3.1.1,username=post,uid=0,addr=192.0.2.5\n"


def g14_zfs(rows):
    """datasets of zfs, which zfs mounts"""
    yield "/tank", any(row[2] == b"zfs" for row in rows), "a line"


g14_zfs.table = "30 20 0:30 / /tank rw,relatime - zfs tank rw,xattr,noacl\n"


def g19_portal(rows):
    """a FUSE mount of a session, of a type newer than the list"""
    yield "/run/user/1000/doc", any(row[2].startswith(b"fuse") for row in rows), "a line"


g19_portal.table = "30 20 0:30 / /run/user/1000/doc rw,nosuid,nodev,relatime - fuse.portal portal rw,user_id=1000,group_id=1000\n"

RECORDED = [g9, g11_nfs, g12, g14_zfs, g19_portal]

# Flags of genfstab, where they are not -U.
FLAGS = {g1_label: ["-L"], plain_hash: ["-U", "-P"], g8_overlay: ["-U", "-P"], g14: ["-U", "-P"]}
SYSTEMS = [plain, plain_again, plain_part, plain_hash, plain_propagation, g1, g1_more, g1_label, g2, g3, g4, g5, g6, g7, g8,
           g8_overlay, g8_tmpfs, g10, g11, g12_options, g13, g14, g16, g17, g19, g20, g20_hidden]


class Made:
    """What a tool made: its lines, and what it said."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.rows = [[gm.unescape(field) for field in line.split()] for line in out.split(b"\n")
                     if line.strip() and not line.lstrip().startswith(b"#")]
        self.comments = [line for line in out.split(b"\n") if line.startswith(b"# getmnt: no line for ")]


def make(tool, system=None):
    flags = FLAGS.get(system, ["-U"])
    if tool == "genfstab":
        proc = subprocess.run(["genfstab", *flags, root], stdin=gm.null, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=gm.RUN_SECONDS,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
        return Made(proc.returncode, proc.stdout, proc.stderr)
    args = ["--genfstab", *flags] if "--genfstab" in tool else ["--id=label"] if system is g1_label else []
    result = gm.getmnt("fstab", *args, root, program=os.environ["GETMNT"])
    return Made(result.status, result.out, result.err)


def code(name):
    """A name in a cell of the table."""
    name = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    return "`" + name.replace("\n", "\\n").replace("\t", "\\t").replace("|", "\\|") + "`"


def told(made, target):
    """Whether there is a comment instead of a line."""
    name = re.sub(rb"[\0-\037\\]", lambda m: b"\\%03o" % m.group()[0], target)
    return any(line.startswith((b"# getmnt: no line for %s (" % shown, b"# getmnt: no line for %s:" % shown))
               for line in made.comments for shown in (name, target))


def differ(want, got):
    """How a mount differs from what it was."""
    words = []
    for what, i in (("root", 1), ("type", 2), ("source", 3)):
        if want[i] != got[i]:
            words.append(f"another {what}")
    for i in (4, 5):
        if want[i] != got[i]:
            words.append("options " + ", ".join([f"-{o.decode()}" for o in sorted(want[i] - got[i])]
                                                + [f"+{o.decode()}" for o in sorted(got[i] - want[i])]))
    return ", ".join(words)


def judge_root(made, before, wrong, comments):
    """The line of / is not mounted by mount -a: elsewhere, by itself."""
    want = next(row for row in before if row[0] == b"/")
    rows = [row for row in made.rows if len(row) > 1 and row[1] == b"/"]
    if not rows:
        (comments if told(made, b"/") else wrong).append("no line for `/`")
        return
    escaped = [re.sub(rb"[\s\\#]", lambda m: b"\\%03o" % m.group()[0], field) for field in rows[0]]
    escaped[1] = b"/check"
    with open(root + "/fstab.root", "wb") as f:
        f.write(b" ".join(escaped) + b"\n")
    status, out = sh("/bin/mount", "-T", "/fstab.root", "/check", ok=False, chroot=root)
    got = [row for row in snapshot(os.fsencode(root)) if row[0] == b"/check"]
    if status or not got:
        wrong.append("the line of `/` does not mount")
    else:
        # Mounted a second time, it has no options of its own but those of its line.
        difference = differ(want, got[0])
        if difference:
            wrong.append(f"`/`: {difference}")
        gm.umount(root + "/check")


def judge(system, s, made, before, keep):
    """Mount what was made, and compare.  Returns what is wrong, and what is told."""
    wrong, comments = [], []
    own, unjudged = getattr(s, "own", set()), getattr(s, "unjudged", set())
    unmount_all(os.fsencode(root), keep)
    aux = []
    for name, fstype in (("proc", "proc"), ("sys", "sysfs"), ("dev", "devtmpfs"), ("run", "tmpfs")):
        gm.mount(fstype, gm.mkdir(f"{root}/{name}"), fstype)
        aux.append(os.fsencode("/" + name))
    with open(root + "/fstab.made", "wb") as f:
        f.write(made.out)
    judge_root(made, before, wrong, comments)
    status, out = sh("/bin/mount", "-a", "-T", "/fstab.made", ok=False, chroot=root)
    after = [row for row in snapshot(os.fsencode(root)) if row[0] not in aux]
    left = list(after)
    missing = []
    for row in before:
        if row in left:
            left.remove(row)
        elif row[0] != b"/" and row[0] not in own:
            missing.append(row)
    left = [row for row in left if row[0] != b"/"]
    # The uppermost is what is seen.
    for row in missing:
        other = [now for now in left if now[0] == row[0]]
        if row[0] in unjudged:
            comments += [code(row[0])] if told(made, row[0]) else []
            left = [now for now in left if now[0] != row[0]]
        elif other:
            left.remove(other[0])
            wrong.append(f"{code(row[0])}: {differ(row, other[0])}")
        elif told(made, row[0]):
            comments.append(code(row[0]))
        else:
            named = any(len(r) > 1 and r[1] == row[0] for r in made.rows)
            wrong.append(f"{code(row[0])}: " + ("its line does not mount" if named else "not mounted, nothing said"))
    for row in left:
        wrong.append(f"{code(row[0])}: mounted, and was not")
    for row in made.rows:
        if len(row) > 3 and row[1] not in {b[0] for b in before} | {b"none"}:
            wrong.append(f"a line for {code(row[1])}")
        if len(row) > 3 and row[1] in own:
            wrong.append(f"a line for {code(row[1])}, which is another's")
        elif len(row) != 6:
            wrong.append(f"a line of {len(row)} fields")
    targets = [row[1] for row in made.rows if len(row) > 1 and row[1] != b"none"]
    for target in sorted(set(targets)):
        if targets.count(target) > 1:
            wrong.append(f"{targets.count(target)} lines for {code(target)}")
    if status and not wrong and not unjudged:
        wrong.append(f"`mount -a` fails: {out.decode(errors='replace').strip()}")
    # What mounting does not show.
    for row in made.rows:
        if len(row) < 6:
            continue
        mine = {o.decode(errors="replace") for o in row[3].split(b",")}
        if "bind" in mine and mine - VFS and not any(o.startswith(("x-", "X-")) for o in mine - VFS):
            wrong.append(f"{code(row[1])}: a bind with options of a file system ({', '.join(sorted(mine - VFS))})")
        if system is g11 and any(o.startswith(("user_id=", "fd=")) for o in mine):
            wrong.append(f"{code(row[1])}: options of its run ({', '.join(sorted(o for o in mine if o.startswith(('user_id=', 'group_id=', 'fd='))))})")
        if system is g16 and row[0].startswith(b"/dev/"):
            wrong.append(f"{code(row[1])}: by its name of today, though `-U` was asked for; status {made.status}")
        if system is g12_options and row[1] == b"/data":
            lost = sorted({"nofail", "x-systemd.device-timeout=5"} - mine)
            if lost:
                wrong.append(f"{code(row[1])}: without {', '.join(lost)}")
        if system is plain_propagation and row[1] == b"/data" and "unbindable" not in mine:
            wrong.append(f"{code(row[1])}: propagates as what it is mounted on")
        if system is g13 and row[0].startswith(b"/dev/zram"):
            wrong.append("a line for swap on zram")
        if system is g19 and row[5] not in (b"0",):
            wrong.append(f"{code(row[1])}: pass {row[5].decode()}, and there is nothing to run")
    if system is g13:
        swaps = [row for row in made.rows if len(row) > 2 and row[2] == b"swap" and not row[0].startswith(b"/dev/zram")]
        if len(swaps) != 1 or not swaps[0][0].startswith(b"UUID="):
            wrong.append("no line by UUID for the swap on a disk")
    if system is g17:
        uuids = [row[0] for row in made.rows if len(row) > 1 and row[1] in (b"/data", b"/copy")]
        if len(uuids) > 1 and len(set(uuids)) == 1:
            wrong.append("`/data` and `/copy` by one UUID: either disk may come")
    return wrong, comments


def cell(wrong, comments):
    if wrong:
        return "**wrong**: " + "; ".join(dict.fromkeys(wrong))
    if comments:
        return "a comment instead: " + ", ".join(dict.fromkeys(comments))
    return "right"


plugs = []
mount_now = gm.mount


def mount_in_order(*args):
    """Mount with an ID above all below ROOT: findmnt, and so genfstab, goes by them, and
    the kernel gives the lowest that is free."""
    highest = max([line.id for line in gm.mountinfo() if gm.within(line.point, os.fsencode(root))], default=0)
    while True:
        point = gm.mkdir(f"{work}/plugs/{len(plugs)}")
        mount_now("plug", point, "tmpfs", 0, "size=4k")
        plugs.append(point)
        if next(line.id for line in gm.mountinfo() if line.point == os.fsencode(point)) > highest:
            break
    if args:
        mount_now(*args)


def end(s, keep):
    """Unmount a system, and let go of its disks."""
    for point in s.unmount:
        gm.umount(point)
    s.unmount = []
    if s.fuse:
        s.fuse.end()
    s.fuse = None
    if keep is None:
        return
    unmount_all(os.fsencode(root), keep)
    gm.umount(root)
    for device in s.loops:
        gm.run("losetup", "-d", device)


def start(system):
    """Mount a system.  Returns it, and the mount points that stay."""
    shutil.copy(images + "/base", images + "/root")
    s = System()
    if system is g8:
        gm.loop_mount(images + "/root", gm.mkdir(work + "/from"))
        gm.tmpfs(root, "size=64m,mode=755", source="root")
        shutil.copytree(work + "/from", root, symlinks=True, dirs_exist_ok=True)
        gm.umount(work + "/from")
    else:
        gm.loop_mount(images + "/root", root)
    keep = {line.point for line in gm.mountinfo()}
    system(s)
    return s, keep


def run(system):
    """All tools on one system.  Returns its row."""
    cells = []
    gm.mount = mount_in_order
    s, keep = start(system)
    gm.mount = mount_now
    while plugs:
        gm.umount(plugs.pop())
    udev()
    before = snapshot(os.fsencode(root))
    made = [make(tool, system) for tool in TOOLS]
    end(s, None)
    for tool, result in zip(TOOLS, made):
        wrong, comments = judge(system, s, result, before, keep)
        cells.append(cell(wrong, comments))
        if os.environ.get("GETMNT_SHOW"):
            print(f"--- {system.__name__} {tool}: {result.status}\n{result.out.decode(errors='replace')}{result.err.decode(errors='replace')}")
    end(s, keep)
    return cells


def run_recorded(system):
    """Those tools that take a recorded table, on one."""
    table = gm.touch(work + "/table", DISK + system.table)
    gm.touch(work + "/bin/findmnt", f'#!/bin/sh\nexec {shutil.which("findmnt")} --tab-file {table} "$@"\n')
    os.chmod(work + "/bin/findmnt", 0o755)
    proc = subprocess.run(["genfstab", "/"], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={"PATH": work + "/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
    ours = gm.getmnt("fstab", "-F", table, "--id=path", program=os.environ["GETMNT"])
    cells = []
    for made in (Made(proc.returncode, proc.stdout, proc.stderr), Made(ours.status, ours.out, ours.err)):
        gm.expect(any(row[:3] == [b"/dev/sda2", b"/", b"ext4"] for row in made.rows),
                  f"{system.__name__}: {made.out} {made.err}")
        wrong = [f"{code(name)}: {why}" for name, bad, why in system(made.rows) if bad]
        cells.append(cell(wrong, [code(name) for name, _, _ in system(made.rows) if told(made, name.encode())]))
    return [*cells, "takes no table"]


def twice():
    """appended twice to ROOT/etc/fstab, by `>>`"""
    cells = []
    shutil.copy(images + "/base", images + "/root")
    gm.loop_mount(images + "/root", root)
    s = System()
    s.disk("/data")
    udev()
    for tool in TOOLS:
        name = gm.touch(root + "/etc/fstab")
        args = ["genfstab", "-U"] if tool == "genfstab" else [os.environ["GETMNT"], *tool.split()[1:],
                                                              *(["-U"] if "--genfstab" in tool else [])]
        status = []
        for _ in range(2):
            with open(name, "ab") as f:
                status.append(subprocess.run([*args, root], stdin=gm.null, stdout=f, stderr=subprocess.DEVNULL,
                                             check=False).returncode)
        with open(name, "rb") as f:
            n = sum(line.split()[1:2] == [b"/data"] for line in f)
        cells.append(cell([f"{n} lines for `/data`"] if n > 1 else [], []) if n else f"refused, status {status[0]}")
    unmount_all(os.fsencode(root), set())
    for device in s.loops:
        gm.run("losetup", "-d", device)
    return cells


def many():
    """how long it takes, with @ mounts"""
    cells = []
    shutil.copy(images + "/base", images + "/root")
    gm.loop_mount(images + "/root", root)
    for i in range(MANY):
        gm.bind(gm.mkdir(f"{root}/from/{i}"), gm.mkdir(f"{root}/to/{i}"))
    for tool in TOOLS:
        began = time.monotonic()
        result = make(tool)
        seconds = time.monotonic() - began
        gm.expect(len(result.rows) == MANY + 1, f"{tool}: {len(result.rows)} lines of {MANY} mounts")
        cells.append(f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms")
    unmount_all(os.fsencode(root), set())
    return cells


def same_but_times(text):
    """The table without times, with what is wrong sorted: genfstab goes by the IDs of mounts."""
    text = re.sub(r"\d[\d.]* (ms|s)\b", "N", text)
    return "\n".join(" | ".join("; ".join(sorted(cell.removeprefix("**wrong**: ").split("; "))) for cell in row.split(" | "))
                     for row in text.split("\n"))


table = []
for system in SYSTEMS:
    number = system.__name__.partition("_")[0]
    table.append(["" if number == "plain" else number, system.__doc__, *run(system)])
for system in RECORDED:
    table.append([system.__name__.partition("_")[0], system.__doc__ + " (recorded)", *run_recorded(system)])
table.append(["g15", twice.__doc__, *twice()])
table.append(["g18", many.__doc__.replace("@", str(MANY)), *many()])
table.sort(key=lambda row: int(row[0][1:] or 0))

# What is said of getmnt, whatever the page says.
UNKNOWN = (plain_propagation.__doc__, g12_options.__doc__)     # to be known by nobody, but from an old fstab
LIKE_IT = (*UNKNOWN, twice.__doc__, g8_tmpfs.__doc__)           # what an installer relies on
for row in table:
    gm.expect(("**wrong**" in row[3]) == (row[1] in UNKNOWN), f"{row[1]}: getmnt fstab: {row[3]}")
    gm.expect(("**wrong**" in row[4]) == (row[1] in LIKE_IT), f"{row[1]}: getmnt fstab --genfstab: {row[4]}")

text = "".join("| " + " | ".join(row) + " |\n" for row in
               [["", "what is mounted", *(f"`{tool}`" for tool in TOOLS)], ["---"] * 5, *table])
text = f"genfstab {VERSION}:\n\n{text}"
BEGIN, END = "<!-- made by make compare-genfstab -->\n", "<!-- until here -->\n"
with open(DOC, encoding="utf-8") as f:
    page = f.read()
before, _, rest = page.partition(BEGIN)
old, _, after = rest.partition(END)
if os.environ.get("GETMNT_UPDATE"):
    with open(DOC, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + text + END + after)
    print(text)
elif old.partition(":")[0] != text.partition(":")[0]:
    print(f"  docs/GENFSTAB.md is of another genfstab than {VERSION}; only what is said of getmnt is compared")
    theirs = [row.split(" | ") for row in old.split("\n") if row.startswith("| ")][2:]
    gm.expect([same_but_times(" | ".join(row[3:])) for row in table]
              == [same_but_times(" | ".join(row[3:])).rstrip(" |") for row in theirs],
              f"docs/GENFSTAB.md tells otherwise; make compare-genfstab writes it: {text}")
else:
    for want, got in zip(same_but_times(old).split("\n"), same_but_times(text).split("\n")):
        gm.expect(want == got, f"docs/GENFSTAB.md has {want}, and it is {got}: make compare-genfstab writes it")
    gm.expect(old.count("\n") == text.count("\n"), "docs/GENFSTAB.md has another number of lines")
print(f"  {len(table)} systems; genfstab is wrong about {sum('**wrong**' in row[2] for row in table)}")
gm.done()
