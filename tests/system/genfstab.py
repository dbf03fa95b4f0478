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
from types import SimpleNamespace

import gm
from tables import sh, snapshot, unmount_all

DOC = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../docs/GENFSTAB.md")
TOOLS = ("genfstab", "getmnt fstab", "getmnt fstab --genfstab")
# Options that the kernel or libmount knows by another name are not those of a file system.
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

# A disk of this machine, which belongs to none of the systems.
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
    """A system that is mounted below ROOT by its steps, each of which returns it."""

    def __init__(self):
        self.loops = []
        self.unmount = []       # before anything is judged
        self.fuse = self.autofs = None

    def at(self, path):
        return root + path

    def do(self, step, *args):
        step(*args)
        return self

    def attach(self, image):
        """Attach an image as a disk, which stays when nothing is mounted."""
        self.loops.append(gm.run("losetup", "-f", "--show", image).strip())
        return self

    def disk(self, target, *opts, fstype="ext4", mkfs=()):
        """Mount a disk of its own."""
        image = f"{images}/disk{len(self.loops)}"
        tools = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q"), "btrfs": ("mkfs.btrfs", "-q")}
        gm.image(image, {"ext4": 16, "xfs": 320, "btrfs": 128}[fstype] << 20, *tools[fstype], *mkfs)
        return self.attach(image).again(target, *opts)

    def again(self, target, *opts, disk=-1):
        """Mount the last disk."""
        mount_in_order()
        return self.do(gm.run, "mount", "-o", ",".join(opts) or "defaults", self.loops[disk], gm.mkdir(self.at(target)))

    def bind(self, source, target):
        """Bind a directory, which is made."""
        return self.do(gm.bind, gm.mkdir(self.at(source)), gm.mkdir(self.at(target)))


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


def code(name):
    """A name in a cell of the table."""
    name = name.decode("utf-8", "backslashreplace") if isinstance(name, bytes) else name
    return "`" + name.replace("\n", "\\n").replace("\t", "\\t").replace("|", "\\|") + "`"


def lines(made):
    """The lines of six fields, each with its options."""
    return [(row, {o.decode(errors="replace") for o in row[3].split(b",")}) for row in made.rows if len(row) >= 6]


# What mounting does not show.

def check_fuse(made):
    run = ("user_id=", "group_id=", "fd=")
    return [f"{code(row[1])}: options of its run ({', '.join(sorted(o for o in mine if o.startswith(run)))})"
            for row, mine in lines(made) if any(o.startswith(("user_id=", "fd=")) for o in mine)]


def check_kept(made):
    lost = [(row, sorted({"nofail", "x-systemd.device-timeout=5"} - mine)) for row, mine in lines(made) if row[1] == b"/data"]
    return [f"{code(row[1])}: without {', '.join(words)}" for row, words in lost if words]


def check_unbindable(made):
    return [f"{code(row[1])}: propagates as what it is mounted on" for row, mine in lines(made)
            if row[1] == b"/data" and "unbindable" not in mine]


def check_swaps(made):
    swaps = [row for row in made.rows if len(row) > 2 and row[2] == b"swap" and not row[0].startswith(b"/dev/zram")]
    good = len(swaps) == 1 and swaps[0][0].startswith(b"UUID=")
    return (["a line for swap on zram" for row, _ in lines(made) if row[0].startswith(b"/dev/zram")]
            + ([] if good else ["no line by UUID for the swap on a disk"]))


def check_uuid(made):
    return [f"{code(row[1])}: by its present device name, although `-U` was given; status {made.status}"
            for row, _ in lines(made) if row[0].startswith(b"/dev/")]


def check_twins(made):
    uuids = [row[0] for row in made.rows if len(row) > 1 and row[1] in (b"/data", b"/copy")]
    return ["`/data` and `/copy` by one UUID: either disk may come"] if len(uuids) > 1 and len(set(uuids)) == 1 else []


def check_pass(made):
    return [f"{code(row[1])}: pass {row[5].decode()}, and there is nothing to run" for row, _ in lines(made) if row[5] != b"0"]


# The systems: number of a known defect, what it is, and what mounts it.

def build_swaps(s):
    s.attach(gm.image(images + "/swap", 8 << 20, "mkswap", "-q"))
    gm.touch(work + "/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
             "/dev/zram0                              partition\t8188\t\t0\t\t100\n"
             f"{s.loops[0]}                              partition\t8188\t\t0\t\t-2\n")
    gm.mount(work + "/swaps", "/proc/swaps", None, gm.MS_BIND)
    s.unmount = ["/proc/swaps"]


def build_names(*names):
    return lambda s: [s.disk("/n/" + name) for name in names]


def system(number, doc, build, flags=("-U",), own=(), unjudged=(), check=None, **facts):
    """own: mounts of others.  unjudged: what is mounted differs from time to time, or its helper does not exist.
    unknown: nobody can know it, but from an old fstab.  expected: what an installer relies on."""
    return SimpleNamespace(number=number, doc=doc, build=build, flags=flags, own=set(own), unjudged=set(unjudged),
                           check=check or (lambda made: []), memory=facts.get("memory"), unknown=facts.get("unknown"),
                           expected=facts.get("expected"))


SYSTEMS = [
    system("", "three disks, a read-only bind, a directory of a btrfs",
           lambda s: s.disk("/data", "noatime", "nodev").disk("/home", "compress=zstd:3", fstype="btrfs")
           .disk("/srv", "nosuid", fstype="xfs").bind("/data/dir", "/bound")
           .do(gm.mount, None, s.at("/bound"), None, gm.MS_BIND | gm.MS_RDONLY | 32)),
    system("", "a disk under two names, and a bind of a directory in it",
           lambda s: s.disk("/data").again("/again", "noexec").bind("/again/dir", "/bound")),
    system("", "a directory of a disk that is mounted nowhere as a whole",
           lambda s: s.disk("/whole").bind("/whole/dir", "/part").do(gm.umount, s.at("/whole"))),
    system("", "a tmpfs called `#scratch`, with `-P`", lambda s: gm.tmpfs(s.at("/scratch"), "size=1m", source="#scratch"),
           ("-U", "-P")),
    system("", "a mount that was made unbindable",
           lambda s: s.disk("/data").do(gm.propagation, s.at("/data"), gm.MS_UNBINDABLE), check=check_unbindable),
    system("g1", "names with a blank, a tab, a newline, a backslash",
           build_names("two words", "tab\there", "new\nline", "back\\slash")),
    system("g1", "names with `#`, a comma, UTF-8, and a byte that is not UTF-8",
           build_names("#hash", "a,b", "caf\u00e9", os.fsdecode(b"inv\xff"))),
    system("g1", "a LABEL with a blank, by `-L`", lambda s: s.disk("/data", mkfs=("-L", "my disk"))
           .do(gm.run, "e2label", gm.run("findmnt", "-no", "SOURCE", root).strip(), "root"), ("-L",)),
    system("g2", "a name that ends in the four characters `\\040`", build_names("ab\\040")),
    system("g3", "two disks on one directory", lambda s: s.disk("/stack").disk("/stack", "nodev")),
    system("g4", "a bind of a directory outside of ROOT", lambda s: gm.bind(gm.mkdir(host + "/ext"), s.at("/out"))),
    system("g5", "a bind whose source was removed",
           lambda s: s.disk("/data").bind("/data/gone", "/bound").do(os.rmdir, s.at("/data/gone"))),
    system("g6", "a bind from a disk with options of its own",
           lambda s: s.disk("/data", "resuid=65534", "errors=remount-ro").bind("/data/dir", "/bound")),
    system("g7", "a file that a container engine has bound from outside, as /etc/hosts",
           lambda s: gm.bind(gm.touch(host + "/hosts"), gm.touch(s.at("/etc/hosts"))), own=[b"/etc/hosts"]),
    system("g8", "the root on tmpfs", lambda s: s.disk("/data"), memory=True),
    system("g8", "an overlay of two directories of the root",
           lambda s: [gm.mkdir(s.at(name)) for name in ("/srv/lower", "/srv/up", "/srv/work")] and gm.mount(
               "overlay", gm.mkdir(s.at("/over")), "overlay", 0,
               f"lowerdir={s.at('/srv/lower')},upperdir={s.at('/srv/up')},workdir={s.at('/srv/work')}"), ("-U", "-P")),
    system("g8", "a tmpfs with a size, which no unit mounts", lambda s: gm.tmpfs(s.at("/srv/scratch"), "size=3m,mode=1777"),
           expected=True),
    system("g10", "btrfs: a subvolume, and a bind of a plain directory",
           lambda s: s.disk("/pool", "subvol=/", fstype="btrfs")
           .do(gm.run, "btrfs", "-q", "subvolume", "create", s.at("/pool/@")).again("/sub", "subvol=@").bind("/sub/dir", "/bound")),
    system("g11", "FUSE, with a server that does not answer",
           lambda s: setattr(s, "fuse", gm.HungFuse(s.at("/remote"), fstype="fuse.bucketfs", source="bucket")),
           unjudged=[b"/remote"], check=check_fuse),
    system("g12", "`nofail`, which nobody keeps, and `x-systemd.device-timeout=5`, which mount(8) does",
           lambda s: s.disk("/data", "nofail", "x-systemd.device-timeout=5"), check=check_kept, unknown=True),
    system("g13", "swap on zram, and on a disk", build_swaps, check=check_swaps),
    system("g14", "an automounter's directory, and a session's /run/user, with `-P`",
           lambda s: s.do(setattr, s, "autofs", gm.Autofs(s.at("/net"), "indirect"))
           .do(gm.tmpfs, s.at("/run/user/1000"), "size=1m,mode=700"), ("-U", "-P"), own=[b"/net", b"/run/user/1000"]),
    system("g16", "a disk that has no UUID, with `-U`", lambda s: s.disk("/data", mkfs=("-U", "clear")), check=check_uuid),
    system("g17", "a disk and its copy, with the same UUID",
           lambda s: s.disk("/data").do(gm.umount, s.at("/data")).attach(shutil.copy(images + "/disk0", images + "/copy"))
           .again("/data", disk=0).again("/copy", "ro"), unjudged=[b"/data", b"/copy"], check=check_twins),
    system("g19", "xfs, and ext4 where ROOT has no fsck.ext4",
           lambda s: s.disk("/x", fstype="xfs").disk("/data").do(os.unlink, s.at("/usr/sbin/fsck.ext4")), check=check_pass),
    system("g20", "a bind from a disk that was mounted again since",
           lambda s: s.disk("/z").again("/keep").bind("/z/dir", "/a").do(gm.umount, s.at("/z")).again("/z")
           .do(gm.umount, s.at("/keep"))),
    system("g20", "a disk below a directory that another disk covers", lambda s: s.disk("/srv/data/in").disk("/srv/data")),
]

# Systems that are recorded tables, since they need servers or other kernels: what findmnt and
# getmnt are given to read.  A line is right or wrong by its fields: name, whether it is wrong, why.

DISK = "20 1 8:2 / / rw,relatime - ext4 /dev/sda2 rw\n"


def check_nfs(rows):
    for row in rows:
        run = [o for o in row[3].decode().split(",") if o.partition("=")[0] in ("addr", "clientaddr", "mountaddr", "mountport")]
        yield row[1].decode(), bool(run), f"options of its run ({', '.join(run)})"
    yield "/srv", not any(row[1] == b"/srv" for row in rows), "no line"


RECORDED = [
    ("g9", "9p, of whose share a directory is mounted", "/sub /share rw,relatime - 9p share rw,trans=virtio",
     lambda rows: [("/share", any(row[1] == b"/share" and row[2] == b"none" for row in rows), "a bind from itself")]),
    ("g11", "NFS", "/ /srv rw,relatime - nfs4 server:/export rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,hard,"
     "proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=192.0.2.9,local_lock=none,addr=192.0.2.5", check_nfs),
    ("g12", "CIFS, with a password that only the kernel knows",
     "/ /mail rw,relatime - cifs //server/mail rw,vers=3.1.1,username=post,uid=0,addr=192.0.2.5",
     lambda rows: [("/mail", any(row[1] == b"/mail" for row in rows), "a line without password or credentials")]),
    ("g14", "datasets of zfs, which zfs mounts", "/ /tank rw,relatime - zfs tank rw,xattr,noacl",
     lambda rows: [("/tank", any(row[2] == b"zfs" for row in rows), "a line")]),
    ("g19", "a FUSE mount of a session, of a type newer than the list",
     "/ /run/user/1000/doc rw,nosuid,nodev,relatime - fuse.portal portal rw,user_id=1000,group_id=1000",
     lambda rows: [("/run/user/1000/doc", any(row[2].startswith(b"fuse") for row in rows), "a line")]),
]


class Made:
    """What a tool made: its lines, and what it said."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.rows = [[gm.unescape(field) for field in line.split()] for line in out.split(b"\n")
                     if line.strip() and not line.lstrip().startswith(b"#")]
        self.comments = [line for line in out.split(b"\n") if line.startswith(b"# getmnt: no line for ")]


def make(tool, flags=("-U",)):
    if tool == "genfstab":
        proc = subprocess.run(["genfstab", *flags, root], stdin=gm.null, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=gm.RUN_SECONDS,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
        return Made(proc.returncode, proc.stdout, proc.stderr)
    args = ["--genfstab", *flags] if "--genfstab" in tool else ["--id=label"] if "-L" in flags else []
    result = gm.getmnt("fstab", *args, root, program=os.environ["GETMNT"])
    return Made(result.status, result.out, result.err)


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


def judge(system, made, before, keep):
    """Mount the new fstab, and compare.  Returns what is wrong, and the messages."""
    wrong, comments = [], []
    own, unjudged = system.own, system.unjudged
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
    for row, mine in lines(made):
        if "bind" in mine and mine - VFS and not any(o.startswith(("x-", "X-")) for o in mine - VFS):
            wrong.append(f"{code(row[1])}: a bind with options of a file system ({', '.join(sorted(mine - VFS))})")
    wrong += system.check(made)
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
    if system.memory:
        gm.loop_mount(images + "/root", gm.mkdir(work + "/from"))
        gm.tmpfs(root, "size=64m,mode=755", source="root")
        shutil.copytree(work + "/from", root, symlinks=True, dirs_exist_ok=True)
        gm.umount(work + "/from")
    else:
        gm.loop_mount(images + "/root", root)
    keep = {line.point for line in gm.mountinfo()}
    system.build(s)
    return s, keep


def start_in_order(system):
    """Start a system whose IDs rise in the order of mounting: again, if another process of the
    machine freed a lower ID just before one of its mounts."""
    while True:
        gm.mount = mount_in_order
        s, keep = start(system)
        gm.mount = mount_now
        while plugs:
            gm.umount(plugs.pop())
        ids = [line.id for line in gm.mountinfo() if gm.within(line.point, os.fsencode(root))]
        if ids == sorted(ids):
            return s, keep
        end(s, keep)


def run(system):
    """All tools on one system.  Returns its row."""
    cells = []
    s, keep = start_in_order(system)
    udev()
    before = snapshot(os.fsencode(root))
    made = [make(tool, system.flags) for tool in TOOLS]
    end(s, None)
    for tool, result in zip(TOOLS, made):
        wrong, comments = judge(system, result, before, keep)
        cells.append(cell(wrong, comments))
        if os.environ.get("GETMNT_SHOW"):
            print(f"--- {system.doc} {tool}: {result.status}\n{result.out.decode(errors='replace')}{result.err.decode(errors='replace')}")
    end(s, keep)
    return cells


def run_recorded(name, row, check):
    """Those tools that take a recorded table, on one."""
    table = gm.touch(work + "/table", f"{DISK}30 20 0:30 {row}\n")
    gm.touch(work + "/bin/findmnt", f'#!/bin/sh\nexec {shutil.which("findmnt")} --tab-file {table} "$@"\n')
    os.chmod(work + "/bin/findmnt", 0o755)
    proc = subprocess.run(["genfstab", "/"], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={"PATH": work + "/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
    ours = gm.getmnt("fstab", "-F", table, "--id=path", program=os.environ["GETMNT"])
    cells = []
    for made in (Made(proc.returncode, proc.stdout, proc.stderr), Made(ours.status, ours.out, ours.err)):
        gm.expect(any(row[:3] == [b"/dev/sda2", b"/", b"ext4"] for row in made.rows),
                  f"{name}: {made.out} {made.err}")
        wrong = [f"{code(target)}: {why}" for target, bad, why in check(made.rows) if bad]
        cells.append(cell(wrong, [code(target) for target, _, _ in check(made.rows) if told(made, target.encode())]))
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


table = [[case.number, case.doc, *run(case)] for case in SYSTEMS]
table += [[number, f"{name} (recorded)", *run_recorded(name, row, check)] for number, name, row, check in RECORDED]
table.append(["g15", twice.__doc__, *twice()])
table.append(["g18", many.__doc__.replace("@", str(MANY)), *many()])
table.sort(key=lambda row: int(row[0][1:] or 0))

# What is said of getmnt, whatever the page says.
unknown = [case.doc for case in SYSTEMS if case.unknown]
like_it = [case.doc for case in SYSTEMS if case.expected] + [*unknown, twice.__doc__]
for row in table:
    gm.expect(("**wrong**" in row[3]) == (row[1] in unknown), f"{row[1]}: getmnt fstab: {row[3]}")
    gm.expect(("**wrong**" in row[4]) == (row[1] in like_it), f"{row[1]}: getmnt fstab --genfstab: {row[4]}")

text = "".join("| " + " | ".join(row) + " |\n" for row in
               [["", "what is mounted", *(f"`{tool}`" for tool in TOOLS)], ["---"] * 5, *table])
text = f"genfstab {VERSION}:\n\n{text}"
BEGIN, END = "<!-- made by make compare-genfstab -->\n", "<!-- until here -->\n"
page = gm.read(DOC)
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
              f"docs/GENFSTAB.md differs; make compare-genfstab writes it: {text}")
else:
    for want, got in zip(same_but_times(old).split("\n"), same_but_times(text).split("\n")):
        gm.expect(want == got, f"docs/GENFSTAB.md has {want}, and it is {got}: make compare-genfstab writes it")
    gm.expect(old.count("\n") == text.count("\n"), "docs/GENFSTAB.md has another number of lines")
print(f"  {len(table)} systems; genfstab is wrong about {sum('**wrong**' in row[2] for row in table)}")
gm.done()
