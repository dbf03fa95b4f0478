# SPDX-License-Identifier: MIT
"""getmnt audit of planted faults: a host of real mounts that is as it should be is clean,
then faults are planted in it, and what is told must be these, and nothing else.

Next to each fault is the nearest healthy case: the line as it was before, which is
part of the clean host, or the host once the fault is undone.  Every rule of --list-rules
must have fired here; the last lines of this file see to that."""
import contextlib
import fcntl
import json
import os
import shutil
import sys
import tempfile

import fstabs
import gm

gm.need_fs("ext4", "overlay", "xfs", "btrfs", "squashfs")
gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mksquashfs", "losetup", "mkswap", "blkid", "mount", "umount", "btrfs")
GONE = "01234567-89ab-cdef-0123-456789abcdef"
GOING_DOWN = 0x8004587d     # FS_IOC_SHUTDOWN
gm.hide_init()
images = tempfile.mkdtemp()
loops, held = {}, []


def disk(name, size, *mkfs):
    """A loop device with a file system; it ends with its last user.  @return its UUID."""
    where = f"{top}/images/{name}" if loops else f"{images}/{name}"
    if mkfs:
        gm.image(where, size << 20, *mkfs)
    loops[name] = gm.run("losetup", "-f", "--show", where).strip()
    held.append(os.open(loops[name], os.O_RDWR | os.O_CLOEXEC))
    gm.run("losetup", "-d", loops[name])
    return gm.run("blkid", "-p", "-o", "value", "-s", "UUID", loops[name]).strip()


# The root is an ext4, built on the small one.
outer = gm.Root(proc=False, sysfs=False)
tag = os.path.basename(images)[-8:].lower()
ROOT = disk("root", 640, "mkfs.ext4", "-q", "-L", f"r{tag}")
top = gm.mkdir(outer / "root")
gm.mount(loops["root"], top, "ext4", 0, "errors=remount-ro")
gm.mkdir(f"{top}/images/empty")
EXT4 = disk("ext4", 32, "mkfs.ext4", "-q", "-L", f"e{tag}")
XFS = disk("xfs", 320, "mkfs.xfs", "-q", "-L", f"x{tag}")
BTRFS = disk("btrfs", 128, "mkfs.btrfs", "-q")
OTHER = disk("other", 32, "mkfs.ext4", "-q")
SWAP = disk("swap", 16, "mkswap", "-q")
OLD_SWAP = disk("old-swap", 16, "mkswap", "-q")
LUKS = disk("luks", 16, "mkfs.ext4", "-q")
gm.fat_image(f"{top}/images/fat", 2 << 20, "34cd12ab")
FAT = disk("fat", 2)
shutil.copy(f"{top}/images/ext4", f"{top}/images/copy")     # of the same UUID
gm.run("mksquashfs", f"{top}/images/empty", f"{top}/images/sq", "-quiet", "-no-progress")
for name in os.listdir(outer.path):
    if name != "root":
        gm.run("cp", "-a", f"{outer.path}/{name}", top)
shutil.rmtree(images)
gm.mount("proc", gm.mkdir(f"{top}/proc"), "proc")
gm.mount("sysfs", gm.mkdir(f"{top}/sys"), "sysfs")
for name in ("mount", "umount", "losetup", "btrfs", "sh", "rm", "chmod", "chown"):
    gm.install(name, top)
for name in ("etc", "run/mount", "root", "data", "var", "home", "srv/b", "srv/src", "srv/elsewhere", "tmp", "over", "low", "layers",
             "bound", "sq", "late", "space here", "new", "disk", "mnt/img", "mnt/late", "nfs", "cifs", "usb", "boot/efi", "opt"):
    gm.mkdir(f"{top}/{name}")
if fstabs.HAVE_GENERATOR:
    gm.install(fstabs.GENERATOR, top)
for name in ("fsck.ext4", "fsck.vfat", "mount.nfs", "mount.nfs4", "mount.cifs"):
    gm.touch(f"{top}/sbin/{name}")
gm.touch(f"{top}/lib/modules/{os.uname().release}/modules.alias", "alias fs-vfat vfat\nalias fs-nfs nfs\nalias fs-cifs cifs\n")
gm.touch(f"{top}/lib/modules/{os.uname().release}/modules.dep", "")
gm.touch(f"{top}/srv/file", "x")
gm.touch(f"{top}/etc/bound.conf", "")
for name in ("cred", "key"):
    gm.touch(f"{top}/root/{name}", "x")
    os.chmod(f"{top}/root/{name}", 0o600)
os.symlink("var", f"{top}/link")
os.symlink("../proc/self/mounts", f"{top}/etc/mtab")
# A /dev of its own, with all block devices that there are, and loop devices to come.
os.mknod(f"{top}/fuse", 0o020600, os.makedev(10, 229))
os.mknod(f"{top}/dev/loop-control", 0o020600, os.makedev(10, 237))
for number in range(64):
    os.mknod(f"{top}/dev/loop{number}", 0o060600, os.makedev(7, number))
for name in os.listdir("/sys/dev/block"):
    node = f"{top}/dev/{os.path.basename(os.readlink(f'/sys/dev/block/{name}'))}"
    if not os.path.exists(node):
        os.mknod(node, 0o060600, os.makedev(*map(int, name.split(":"))))
for place in ("disk/by-path", "mapper", "disk/by-uuid"):
    gm.mkdir(f"{top}/dev/{place}")
ISCSI = "/dev/disk/by-path/ip-10.0.0.1:3260-iscsi-iqn.2001-04.example:x-lun-0"
os.symlink(loops["other"], f"{top}{ISCSI}")
ROOT_LINK = f"/dev/disk/by-uuid/{ROOT}"
os.symlink(loops["root"], f"{top}{ROOT_LINK}")
os.symlink(loops["other"], f"{top}/dev/mapper/vg-data")
outer.path = top
outer.enter()
# Only these devices are listed, not those of other runs on this machine.
gm.mount("listed", "/sys/class/block", "tmpfs", 0, "mode=0755")


def show(loop):
    """Let a device be listed.  @return the link that does it."""
    link = f"/sys/class/block/{os.path.basename(loop)}"
    os.symlink(f"../../devices/virtual/block/{os.path.basename(loop)}", link)
    return link


for disk_name in loops:
    if disk_name != "root":     # whose image is gone
        show(loops[disk_name])

FSTAB = f"""# the mounts of this host
{ROOT_LINK} / ext4 errors=remount-ro 0 1
UUID={EXT4} /data ext4 nofail,noatime,errors=remount-ro 0 2
LABEL=x{tag} /var xfs defaults 0 0
UUID={BTRFS} /home btrfs subvol=/@home,compress=zstd 0 0
UUID={BTRFS} /srv/b btrfs nofail,subvol=@b,compress=zstd 0 0
t /tmp tmpfs size=1m,mode=1777,nosuid,nodev,noexec 0 0
overlay /over overlay lowerdir=/low,upperdir=/layers/up,workdir=/layers/work 0 0
/srv/src /bound none bind,ro 0 0
/srv/file /etc/bound.conf none bind 0 0
/images/sq /sq squashfs nofail,loop,ro 0 0
u /space\\040here tmpfs size=1m 0 0
UUID={SWAP} none swap sw,pri=5 0 0
//server/share /cifs cifs noauto,credentials=/root/cred 0 0
server:/export /nfs nfs noauto,_netdev 0 0
{ISCSI} /disk ext4 noauto,_netdev 0 0
none /new tmpfs noauto,x-systemd.idle-timeout=1min 0 0
UUID={FAT} /boot/efi vfat noauto,umask=0077 0 1
"""
SWAPS = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
SWAPPED = SWAPS + f"{loops['swap']}                              partition\t16380\t\t0\t\t5\n"


def put(text=FSTAB, path="/etc/fstab"):
    if os.path.islink(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


MOUNTS = {
    "/data": ("-t", "ext4", "-o", "noatime,errors=remount-ro", loops["ext4"]),
    "/var": ("-t", "xfs", loops["xfs"]),
    "/home": ("-t", "btrfs", "-o", "subvol=/@home,compress=zstd", loops["btrfs"]),
    "/srv/b": ("-t", "btrfs", "-o", "subvol=@b,compress=zstd", loops["btrfs"]),
    "/tmp": ("-t", "tmpfs", "-o", "size=1m,mode=1777,nosuid,nodev,noexec", "t"),
    "/over": ("-t", "overlay", "-o", "lowerdir=/low,upperdir=/layers/up,workdir=/layers/work", "overlay"),
    "/bound": ("-o", "bind,ro", "/srv/src"),
    "/etc/bound.conf": ("--bind", "/srv/file"),
    "/sq": ("-t", "squashfs", "-o", "loop,ro", "/images/sq"),
    "/space here": ("-t", "tmpfs", "-o", "size=1m", "u"),
}


def mount(target, *how):
    gm.run("mount", *(how or MOUNTS[target]), target)


def umount(target):
    gm.run("umount", target)


put()
put(SWAPPED, "/swaps")
# In memory, as what hides a file of the kernel's: of a disk that is told.
gm.mkdir("/run/line")
gm.mount("line", "/run/line", "tmpfs", 0, "mode=0755")
put(f"root={ROOT_LINK} ro quiet resume=UUID={SWAP}\n", "/run/line/cmdline")
gm.mkdir("/layers/up")
gm.mkdir("/layers/work")
mount("/late", "-t", "btrfs", loops["btrfs"])
for name in ("@home", "@b", "@other"):
    gm.run("btrfs", "subvolume", "create", f"/late/{name}")
umount("/late")
for name in MOUNTS:
    mount(name)
gm.bind("/run/line/cmdline", "/proc/cmdline")

fired, faults = {}, 0


def audit(*args):
    """The findings, as CODE severity target."""
    result = gm.getmnt("audit", "--jsonl", "--swaps=/swaps", *args)
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    document = json.loads(result.out)
    return sorted(f"{f['code']} {f['severity']} {f['target']}" for f in document["findings"]), document


def clean(name):
    """The nearest healthy case: no finding, not even an informational one."""
    got, document = audit()
    detail = [(f["code"], f["target"], f["message"], f["expected"], f["actual"]) for f in document["findings"]]
    gm.expect(got == [], f"{name}: healthy, but {detail}")


def told(name, expected, *args, count=1):
    """Of what is planted exactly this."""
    global faults
    faults += count
    got, document = audit(*args)
    for row in expected:
        fired.setdefault(row.split()[0], name)
    more, less = [row for row in got if row not in expected], [row for row in expected if row not in got]
    detail = [(f["code"], f["target"], f["message"], f["expected"], f["actual"]) for f in document["findings"]
              if f"{f['code']} {f['severity']} {f['target']}" in more]
    gm.expect(got == sorted(expected), f"{name}: missed {less}; told {detail}")


clean("as it was made")


def edited(name, old, new, expected):
    """One piece of the fstab, written otherwise."""
    gm.expect(FSTAB.count(old) == 1, f"{name}: the fstab has {FSTAB.count(old)} times {old!r}")
    put(FSTAB.replace(old, new))
    told(name, expected)
    put()


def added(name, text, expected):
    """Lines after the existing ones."""
    put(FSTAB + text)
    told(name, expected)
    put()


E, X, B = f"UUID={EXT4}", f"LABEL=x{tag}", f"UUID={BTRFS}"
EDITED = [
    ("an option misspelt", "noatime,errors", "noatmie,errors", ["FSTAB-OPT-TYPO critical /data", "DRIFT-OPTIONS warning /data"]),
    ("an option of systemd, misspelt", "x-systemd.idle-timeout", "x-systemd.idel-timeout", ["FSTAB-OPT-TYPO warning /new"]),
    ("an option of another type", "xfs defaults", "xfs defaults,data=ordered", ["FSTAB-OPT-UNKNOWN warning /var"]),
    ("a value that there is not", "errors=remount-ro 0 2", "errors=remount-rw 0 2", ["FSTAB-OPT-UNKNOWN warning /data", "DRIFT-OPTIONS warning /data"]),
    ("a commit below 0", "ext4 nofail,noatime", "ext4 nofail,commit=-1,noatime", ["FSTAB-OPT-UNKNOWN warning /data"]),
    ("too many buffers", "xfs defaults", "xfs logbufs=9", ["FSTAB-OPT-UNKNOWN warning /var", "DRIFT-OPTIONS warning /var"]),
    ("a flag with a value", "ext4 nofail,noatime", "ext4 nofail,discard=1,noatime", ["FSTAB-OPT-UNKNOWN warning /data", "DRIFT-OPTIONS warning /data"]),
    ("what goes only with ro", "xfs defaults", "xfs norecovery", ["FSTAB-OPT-CONFLICT warning /var"]),
    ("a version that there is not", "nfs noauto,", "nfs noauto,vers=5,", ["FSTAB-OPT-UNKNOWN warning /nfs"]),
    ("an option of NFS misspelt", "nfs noauto,", "nfs noauto,hrad,", ["FSTAB-OPT-TYPO warning /nfs"]),
    ("a share left out", "//server/share", "//server", ["FSTAB-SRC-MISSING warning /cifs"]),
    ("an option of CIFS misspelt", "credentials=/root", "credentails=/root", ["FSTAB-OPT-TYPO warning /cifs"]),
    ("an invalid size", "t /tmp tmpfs size=1m", "t /tmp tmpfs size=1mb", ["FSTAB-OPT-UNKNOWN warning /tmp", "DRIFT-OPTIONS warning /tmp"]),
    ("options of a later subvolume", "subvol=@b,compress", "subvol=@b,nodatacow,compress",
     ["FSTAB-OPT-CONFLICT warning /srv/b"]),
    ("ro and rw", "nofail,noatime", "nofail,ro,rw,noatime", ["FSTAB-OPT-CONFLICT warning /data"]),
    ("a blank after a comma", "nofail,noatime", "nofail, noatime", ["FSTAB-SYNTAX critical /data"]),
    ("a comma too many fields", "xfs defaults 0 0", "xfs defaults 0 0 0", ["FSTAB-SYNTAX warning /var"]),
    ("the mount point left out", f"{X} /var xfs", f"{X} xfs", ["FSTAB-SYNTAX critical xfs", "DRIFT-NOT-IN-FSTAB warning /var"]),
    ("a blank not escaped", "/space\\040here", "/space here", ["FSTAB-SYNTAX critical /space", "DRIFT-NOT-IN-FSTAB warning /space here"]),
    ("a tab as \\t", "/space\\040here", "/space\\there", ["FSTAB-ESCAPE critical /space\\there", "FSTAB-TGT-MISSING warning /space\\there", "DRIFT-NOT-MOUNTED warning /space\\there", "DRIFT-NOT-IN-FSTAB warning /space here"]),
    ("a negative pass", f"ext4 nofail,noatime,errors=remount-ro 0 2", "ext4 nofail,noatime,errors=remount-ro 0 -2", ["FSTAB-PASSNO warning /data"]),
    ("a priority that there is not", "sw,pri=5", "sw,pri=50000", [f"FSTAB-SWAP warning UUID={SWAP}"]),
    ("the UUID of a disk that was taken out", f"{E} /data", f"UUID={GONE[:-1]}d /data", ["FSTAB-SRC-MISSING warning /data"]),
    ("the same of a disk that is needed", f"{X} /var", f"UUID={GONE[:-1]}d /var", ["FSTAB-SRC-MISSING critical /var"]),
    ("a tag that mount does not know", f"{X} /var", f"GUID={EXT4} /var", ["FSTAB-SRC-MISSING critical /var"]),
    ("an image that there is not", "/images/sq", "/images/qs", ["FSTAB-SRC-MISSING warning /sq"]),
    ("a device by the kernel's name", f"{E} /data", f"{loops['ext4']} /data", ["FSTAB-SRC-UNSTABLE warning /data"]),
    ("a bind of a directory that there is not", "/srv/src /bound", "/srv/scr /bound", ["FSTAB-BIND-SRC critical /bound"]),
    ("an overlay without a lower layer", "lowerdir=/low,", "lowerdir=/lwo,", ["FSTAB-OVERLAY-DIR critical /over"]),
    ("an overlay without a workdir", ",workdir=/layers/work", "", ["FSTAB-OVERLAY-DIR critical /over"]),
    ("an invalid time", "idle-timeout=1min", "idle-timeout=1mn", ["FSTAB-OPT-UNKNOWN warning /new"]),
    ("a directory bound onto a file", "/srv/file /etc/bound.conf", "/srv /etc/bound.conf", ["FSTAB-TGT-MISSING warning /etc/bound.conf", "DRIFT-SOURCE critical /etc/bound.conf"]),
    ("a mount point that there is not", "none /new", "none /nwe", ["FSTAB-TGT-MISSING info /nwe"]),
    ("a mount point that is a symlink", "none /new", "none /link", ["FSTAB-TGT-SYMLINK info /link"]),
    ("a mount point that is a file", "none /new", "none /srv/file", ["FSTAB-TGT-MISSING warning /srv/file"]),
    ("ext4 for an xfs", "/var xfs", "/var ext4", ["FSTAB-TYPE-MISMATCH critical /var", "DRIFT-TYPE warning /var"]),
    ("a type that there is not", "/var xfs", "/var xsf", ["FSTAB-TYPE-UNSUPPORTED critical /var", "FSTAB-TYPE-MISMATCH critical /var", "DRIFT-TYPE warning /var"]),
    ("vfat where the kernel has none", "none /new tmpfs", "none /new tmpsf", ["FSTAB-TYPE-UNSUPPORTED warning /new"]),
    ("a type whose helper is missing", "/cifs cifs", "/cifs davfs", ["FSTAB-HELPER-MISSING warning /cifs"]),
    ("no nofail", "ext4 nofail,noatime", "ext4 noatime", ["FSTAB-NOFAIL info /data"]),
    ("no timeout", "nofail,noatime", "nofail,x-systemd.device-timeout=0,noatime", ["FSTAB-NOFAIL info /data"]),
    ("all can read the ESP", "umask=0077", "umask=0022", ["FSTAB-ESP-MASK info /boot/efi"]),
    ("a password", "credentials=/root/cred", "username=u,password=hunter2", ["FSTAB-SECRET warning /cifs"]),
    ("a password of a URL", "//server/share /cifs cifs", "https://u:hunter2@h/x /cifs cifs", ["FSTAB-SECRET warning /cifs", "FSTAB-SRC-MISSING warning /cifs"]),
    # What is mounted is another.
    ("the line taken out", "u /space\\040here tmpfs size=1m 0 0\n", "", ["DRIFT-NOT-IN-FSTAB warning /space here"]),
    ("the line made a comment", f"{E} /data", f"# {E} /data", ["DRIFT-NOT-IN-FSTAB warning /data"]),
    ("another subvolume", "subvol=/@home", "subvol=/@other", ["DRIFT-SOURCE critical /home"]),
    ("another subvolume by its id", "subvol=/@home", "subvolid=258", ["DRIFT-SOURCE critical /home"]),
    ("another lower layer", "lowerdir=/low,", "lowerdir=/opt,", ["DRIFT-SOURCE critical /over"]),
    ("another file bound", "/srv/file /etc", "/root/cred /etc", ["DRIFT-SOURCE critical /etc/bound.conf"]),
    ("another option in the line", "xfs defaults", "xfs noexec", ["DRIFT-OPTIONS warning /var"]),
    ("noatime removed from the line", "nofail,noatime", "nofail", ["DRIFT-OPTIONS warning /data"]),
    ("another size in the line", "here tmpfs size=1m", "here tmpfs size=2m", ["DRIFT-OPTIONS warning /space here"]),
    ("another type in the line", "here tmpfs size=1m", "here ramfs defaults", ["DRIFT-TYPE warning /space here"]),
    ("ro removed from the line", "none bind,ro", "none bind", ["DRIFT-READONLY critical /bound"]),
]
for row in EDITED:
    edited(*row)
ADDED = [
    ("a mount point twice", "v /space\\040here tmpfs size=1m 0 0\n", ["FSTAB-DUP-TARGET warning /space here"]),
    ("a swap space twice", f"UUID={SWAP} none swap sw 0 0\n", [f"FSTAB-DUP-SOURCE warning UUID={SWAP}"]),
    ("one file system in two places, by two names", f"UUID={XFS} /late xfs nofail 0 0\n", ["FSTAB-DUP-SOURCE info /late", "DRIFT-NOT-MOUNTED warning /late"]),
    ("a line not mounted", "none /late tmpfs defaults 0 0\n", ["DRIFT-NOT-MOUNTED warning /late"]),
    ("the parent after its child", "m /mnt/late tmpfs defaults 0 0\nm /mnt tmpfs size=1m 0 0\n",
     ["FSTAB-ORDER critical /mnt/late", "DRIFT-NOT-MOUNTED warning /mnt/late", "DRIFT-NOT-MOUNTED warning /mnt"]),
    ("a bind before what it binds", "/mnt/late /late none bind 0 0\nm /mnt tmpfs size=1m 0 0\n",
     ["FSTAB-ORDER critical /late", "DRIFT-NOT-MOUNTED warning /late", "DRIFT-NOT-MOUNTED warning /mnt"]),
    ("iSCSI without _netdev", f"{ISCSI} /late ext4 nofail 0 0\n", ["FSTAB-NETDEV warning /late", "DRIFT-NOT-MOUNTED warning /late"]),
    ("needed on what may be missing", "/data/x /late none bind 0 0\n", ["FSTAB-NOFAIL warning /late", "DRIFT-NOT-MOUNTED warning /late"]),
    ("no newline at the end, and half a line", f"{E} /la", ["FSTAB-SYNTAX critical /la"]),
    ("a swap space not in use", f"UUID={LUKS} none swap sw 0 0\n", [f"FSTAB-TYPE-MISMATCH critical UUID={LUKS}", f"SWAP-NOT-ACTIVE warning UUID={LUKS}"]),
]
for row in ADDED:
    added(*row)
# Ends of lines.
for name, text, expected in (
        ("CR LF", FSTAB.replace("\n", "\r\n"), ["FSTAB-SYNTAX warning /"]),
        ("a byte order mark", "\ufeff" + FSTAB[2:], ["FSTAB-SYNTAX critical mounts"]),
        ("a NUL", FSTAB.replace("nofail,noatime", "nofail\0noatime"), ["FSTAB-SYNTAX critical /data"]),
        ("a no-break space", FSTAB.replace("nofail,noatime", "nofail,\u00a0noatime"), ["FSTAB-SYNTAX critical /data", "DRIFT-OPTIONS warning /data"]),
):
    put(text)
    told(name, expected)
    put()
for name, text in (("no newline at the end", FSTAB[:-1]), ("tabs for blanks", FSTAB.replace(" ", "\t")), ("blanks before", FSTAB.replace("\n", "\n "))):
    put(text)
    clean(name)
    put()
# UUIDs of two lines exchanged.
put(FSTAB.replace(f"{E} /data", "HERE").replace(f"{X} /var", f"{E} /var").replace("HERE", f"{X} /data"))
told("two UUIDs exchanged", ["FSTAB-TYPE-MISMATCH critical /data", "FSTAB-TYPE-MISMATCH critical /var", "DRIFT-SOURCE critical /data", "DRIFT-SOURCE critical /var"])
put()
clean("after all edits")
added("a line that is excused", "# getmnt: ignore=DRIFT-NOT-MOUNTED\nnone /late tmpfs defaults 0 0\nnone /usb tmpfs defaults 0 0\n",
      ["DRIFT-NOT-MOUNTED warning /usb"])


def planted(name, how, undo, expected, *args):
    """A fault of a mount or of another file; the command that undoes it gives the nearest healthy case."""
    how()
    told(name, expected, *args)
    undo()
    clean(name + ", undone")


def sh(*argv):
    return lambda: gm.run(*argv)


def again(target):
    def undo():
        umount(target)
        mount(target)
    return undo


def instead(target, *how):
    def plant():
        umount(target)
        mount(target, *how)
    return plant


def file(path, text):
    return lambda: put(text, path)


def gone(path):
    return lambda: os.unlink(path)


def gone_source():
    os.rmdir("/srv/src")


def remade_source():
    umount("/bound")
    os.mkdir("/srv/src")
    mount("/bound")


def remount(target, options):
    return sh("mount", "--options-source=disable", "-o", "remount," + options, target)


DATA, TMP, BEFORE = "noatime,errors=remount-ro", "size=1m,nosuid,nodev,noexec", "DRIFT-OPTIONS warning /tmp"
planted("read-only", remount("/data", "ro," + DATA), remount("/data", "rw," + DATA), ["DRIFT-READONLY critical /data"])
planted("read-only by its mount alone", sh("mount", "-o", "remount,bind,ro,noatime", "/data"),
        sh("mount", "-o", "remount,bind,rw,noatime", "/data"), ["DRIFT-READONLY critical /data"])
planted("noexec put in", remount("/data", "noexec," + DATA), remount("/data", "exec," + DATA), ["DRIFT-OPTIONS warning /data"])
planted("noatime lost", remount("/data", "relatime,errors=remount-ro"), remount("/data", DATA), ["DRIFT-OPTIONS warning /data"])
planted("noexec lost", remount("/tmp", "exec,nosuid,nodev"), remount("/tmp", TMP), [BEFORE])
planted("nosuid lost", remount("/tmp", "suid,nodev,noexec"), remount("/tmp", TMP), [BEFORE])
planted("nodev lost", remount("/tmp", "dev,nosuid,noexec"), remount("/tmp", TMP), [BEFORE])
planted("another size", remount("/tmp", "size=2m,nosuid,nodev,noexec"), remount("/tmp", TMP), [BEFORE])
planted("a bind writable", sh("mount", "-o", "remount,bind,rw", "/bound"), sh("mount", "-o", "remount,bind,ro", "/bound"), ["DRIFT-OPTIONS warning /bound"])
planted("not mounted", lambda: umount("/space here"), lambda: mount("/space here"), ["DRIFT-NOT-MOUNTED warning /space here"])
planted("a bind not made", lambda: umount("/etc/bound.conf"), lambda: mount("/etc/bound.conf"), ["DRIFT-NOT-MOUNTED warning /etc/bound.conf"])
planted("another disk", instead("/data", "-t", "ext4", "-o", DATA, loops["other"]), again("/data"), ["DRIFT-SOURCE critical /data"])


def part_of_disk():
    """A directory of what the line mounts, in its place."""
    umount("/data")
    gm.run("mount", "-t", "ext4", "-o", DATA, loops["ext4"], "/late")
    gm.run("mount", "--bind", gm.mkdir("/late/old"), "/data")
    umount("/late")


planted("a directory of the disk", part_of_disk, again("/data"), ["DRIFT-SOURCE critical /data"])
planted("another subvolume mounted", instead("/home", "-t", "btrfs", "-o", "subvol=/@other", loops["btrfs"]), again("/home"), ["DRIFT-SOURCE critical /home"])
planted("the top of the btrfs", instead("/home", "-t", "btrfs", loops["btrfs"]), again("/home"), ["DRIFT-SOURCE critical /home"])
planted("another directory bound", instead("/bound", "-o", "bind,ro", "/srv/elsewhere"), again("/bound"), ["DRIFT-SOURCE critical /bound"])
planted("a tmpfs for a disk", instead("/space here", "-t", "ramfs", "u"), again("/space here"), ["DRIFT-TYPE warning /space here"])
planted("nobody's", sh("mount", "-t", "tmpfs", "nobody", "/late"), sh("umount", "/late"), ["DRIFT-NOT-IN-FSTAB warning /late"])
planted("nobody's disk", sh("mount", "-t", "ext4", loops["other"], "/late"), sh("umount", "/late"), ["DRIFT-NOT-IN-FSTAB warning /late"])
planted("nobody's bind", sh("mount", "--bind", "/srv/elsewhere", "/late"), sh("umount", "/late"), ["DRIFT-NOT-IN-FSTAB warning /late"])
planted("its directory removed", gone_source, remade_source, ["MNT-DELETED warning /bound", "FSTAB-BIND-SRC critical /bound"])
planted("covered", sh("mount", "-t", "tmpfs", "cover", "/data"), sh("umount", "/data"), ["MNT-SHADOWED warning /data", "DRIFT-NOT-IN-FSTAB warning /data"])
planted("twice", sh("mount", "--bind", "/data", "/data"), sh("umount", "/data"), ["MNT-DUP warning /data"])
planted("swapped off", file("/swaps", SWAPS), file("/swaps", SWAPPED), [f"SWAP-NOT-ACTIVE warning UUID={SWAP}"])
planted("a swap space of nobody", file("/swaps", SWAPPED + f"{loops['other']} partition 16380 0 -2\n"), file("/swaps", SWAPPED),
        [f"SWAP-EXTRA warning {loops['other']}"])
planted("another priority", file("/swaps", SWAPPED.replace("\t5\n", "\t-2\n")), file("/swaps", SWAPPED), [f"DRIFT-OPTIONS warning UUID={SWAP}"])
planted("no fsck", sh("rm", "/sbin/fsck.ext4"), file("/sbin/fsck.ext4", ""), ["FSTAB-HELPER-MISSING warning /", "FSTAB-HELPER-MISSING warning /data"])
copied = []


def copied_disk():
    loop = gm.run("losetup", "-f", "--show", "/images/copy").strip()
    copied.extend([loop, show(loop)])


def take_back():
    os.unlink(copied[1])
    gm.run("losetup", "-d", copied[0])


planted("a disk and its copy", copied_disk, take_back, ["FSTAB-SRC-AMBIGUOUS critical /data"])
# Beside the fstab.
REGULAR = "MTAB-REGULAR info /etc/mtab"


def mtab(change):
    put(change(gm.read("/proc/self/mounts")), "/etc/mtab")


def mtab_link(to="../proc/self/mounts"):
    os.unlink("/etc/mtab")
    os.symlink(to, "/etc/mtab")


planted("an mtab of its own", lambda: mtab(lambda text: text), mtab_link, [REGULAR])
planted("an mtab of yesterday", lambda: mtab(lambda text: text + "/dev/sdz1 /gone ext4 rw 0 0\n"), mtab_link, [REGULAR, "MTAB-STALE warning /etc/mtab"])
planted("an mtab that lacks a mount", lambda: mtab(lambda text: text.replace(" /var ", " /vra ")), mtab_link, [REGULAR, "MTAB-STALE warning /etc/mtab"])
planted("an mtab that is torn", lambda: mtab(lambda text: text + "\x01\x02 x\n"), mtab_link, [REGULAR, "MTAB-CORRUPT warning /etc/mtab"])
planted("an mtab that leads nowhere", lambda: mtab_link("/nowhere"), mtab_link, ["MTAB-CORRUPT warning /etc/mtab"])
planted("all may write the fstab", sh("chmod", "0666", "/etc/fstab"), sh("chmod", "0644", "/etc/fstab"), ["FSTAB-MODE critical None"])
planted("the group may write it", sh("chmod", "0664", "/etc/fstab"), sh("chmod", "0600", "/etc/fstab"), ["FSTAB-MODE critical None"])
planted("it is another's", sh("chown", "1000", "/etc/fstab"), sh("chown", "0", "/etc/fstab"), ["FSTAB-MODE critical None"])
gm.run("chmod", "0644", "/etc/fstab")
planted("all may read the credentials", sh("chmod", "0644", "/root/cred"), sh("chmod", "0640", "/root/cred"), ["FSTAB-SECRET warning /cifs"])
planted("nobody comes to credentials that all may read", lambda: (os.chmod("/root/cred", 0o644), os.chmod("/root", 0o750)),
        lambda: (os.chmod("/root/cred", 0o600), os.chmod("/root", 0o755)), [])
# The command line, and the crypttab.
LINE = f"root={ROOT_LINK} ro quiet resume=UUID={SWAP}\n"


def boots(name, text, expected):
    planted(name, file("/run/line/cmdline", text), file("/run/line/cmdline", LINE), expected)


boots("a root that there is not", "root=/dev/gone ro\n", ["BOOT-ROOT critical /"])
boots("a root by a UUID that there is not", f"root=UUID={GONE} ro\n", ["BOOT-ROOT critical /"])
boots("another root", f"root=UUID={OTHER} ro\n", ["BOOT-ROOT warning /"] * 2)     # than is mounted, and than the fstab has
boots("resumes from what is gone", f"root={ROOT_LINK} resume=UUID={GONE}\n", [f"BOOT-ROOT warning UUID={GONE}"])
boots("resumes from a disk", f"root={ROOT_LINK} resume=UUID={OTHER}\n", [f"BOOT-ROOT warning UUID={OTHER}"])
boots("resumes from a swap space of old", f"root={ROOT_LINK} resume=UUID={OLD_SWAP}\n", [f"BOOT-ROOT warning UUID={OLD_SWAP}"])


def crypt(name, text, expected, more=""):
    put(FSTAB + more)
    planted(name, file("/etc/crypttab", text), lambda: (gone("/etc/crypttab")(), put()), expected)


put(f"# name device key options\nsw UUID={SWAP} /dev/urandom swap\nlater /dev/gone none luks,noauto,plain\n", "/etc/crypttab")
crypt("its device is gone", f"vault UUID={GONE} none luks\n", ["BOOT-CRYPTTAB warning vault"])
crypt("its device is no LUKS", f"vault UUID={OTHER} none luks\n", ["BOOT-CRYPTTAB warning vault"])
crypt("a disk that is overwritten at each boot", f"vault UUID={EXT4} /dev/urandom swap\n", ["BOOT-CRYPTTAB critical vault"])
crypt("a disk with something on it", f"vault UUID={LUKS} /dev/urandom tmp\n", ["BOOT-CRYPTTAB warning vault"])
crypt("an option of it misspelt", f"vault UUID={OTHER} none plian\n", ["BOOT-CRYPTTAB warning vault"])
crypt("its key is gone", f"vault UUID={OTHER} /root/kye plain\n", ["BOOT-CRYPTTAB warning vault"])
os.chmod("/root/key", 0o604)
crypt("all may read its key", f"vault UUID={OTHER} /root/key plain\n", ["BOOT-CRYPTTAB warning vault"])
os.chmod("/root/key", 0o600)
crypt("its name twice", f"vault UUID={OTHER} none plain\nvault UUID={LUKS} none plain\n", ["BOOT-CRYPTTAB warning vault"])
crypt("its name is another in the fstab", f"vault UUID={OTHER} none plain\n",
      ["FSTAB-SRC-MISSING critical /opt", "DRIFT-NOT-MOUNTED warning /opt"], "/dev/mapper/valut /opt ext4 defaults 0 2\n")

# What systemd has loaded, and what has failed.
def systemctl(text):
    gm.touch("/usr/bin/systemctl", f"#!/bin/sh\nprintf '{text}'\n")
    os.chmod("/usr/bin/systemctl", 0o755)


def shown(name, where, state="active", **more):
    """A unit as systemctl prints it."""
    rows = {"Id": name, "Where": where, "LoadState": "loaded", "ActiveState": state, "Result": "success", **more}
    return "".join(f"{key}={value}\\n" for key, value in rows.items()) + "\\n"


OF_FSTAB = {"SourcePath": "/etc/fstab", "FragmentPath": "/run/systemd/generator/data.mount"}
UNIT = shown("data.mount", "/data", NeedDaemonReload="no", **OF_FSTAB)
FAILED = shown("data.mount", "/data", "failed", **OF_FSTAB)
LATE = {"FragmentPath": "/etc/systemd/system/mnt-late.mount", "WantedBy": "multi-user.target"}
gm.mkdir("/run/systemd/system")
systemctl(UNIT)
clean("next to systemd")


def units(text):
    return lambda: systemctl(text)


planted("a unit that has failed", units(FAILED), units(UNIT), ["UNIT-FAILED warning /data"])
planted("a failed unit that does not exist any more", units(FAILED.replace("=loaded", "=not-found")), units(UNIT), ["UNIT-FAILED info /data"])
planted("an fstab that systemd has not loaded", units(UNIT.replace("Reload=no", "Reload=yes")), units(UNIT), ["FSTAB-SYSTEMD-STALE warning None"])
planted("a unit that is not mounted", units(UNIT + shown("mnt-late.mount", "/mnt/late", "inactive", **LATE)), units(UNIT),
        ["DRIFT-NOT-MOUNTED warning /mnt/late"])
gm.run("mount", "-o", f"remount,noexec,{DATA}", "/data")
told("noexec, and no drop-in", ["DRIFT-OPTIONS warning /data"])
systemctl(UNIT.removesuffix("\\n") + "DropInPaths=/etc/systemd/system/data.mount.d/override.conf\\n")
told("noexec, and a drop-in that may say so", ["DRIFT-OPTIONS info /data"])
gm.run("mount", "-o", "remount,exec," + DATA, "/data")
# Mounts of units are reported with their owner; without --include those of a unit are not missing in the fstab.
OWNED = {"/usb": shown("usb.automount", "/usb", FragmentPath="/run/systemd/generator.late/usb.automount", WantedBy="local-fs.target"),
         "/opt": shown("opt.mount", "/opt", FragmentPath="/run/systemd/generator/opt.mount"),
         "/mnt/img": shown("mnt-img.mount", "/mnt/img", SourcePath="/etc/fstab"),
         "/late": shown("late.mount", "/late", FragmentPath="/etc/systemd/system/late.mount")}
systemctl(UNIT + "".join(OWNED.values()))
for name in ("/usb", "/opt"):
    gm.run("mount", "--bind", gm.mkdir("/gone"), name)
    os.rmdir("/gone")
for name in ("/mnt/img", "/late"):
    gm.run("mount", "-t", "tmpfs", "own", name)
told("mounts of units", ["MNT-DELETED warning /usb", "MNT-DELETED warning /opt", "DRIFT-NOT-IN-FSTAB warning /mnt/img"])
owners = {f["target"]: f["owner"] for f in audit("--include=gpt-auto,unit", "--only=MNT-DELETED")[1]["findings"]}
gm.expect(owners == {"/usb": "gpt-auto", "/opt": "unit"}, f"owners of units: {owners}")
for name in OWNED:
    umount(name)
shutil.rmtree("/run/systemd")
# What there was before.
saved = gm.getmnt("audit", "--swaps=/swaps", "--save=/base")
gm.expect(saved.status == 0, f"--save: {saved.status} {saved.err}")
told("all is as it was", [], "--baseline=/base", count=0)
planted("a mount that came", sh("mount", "-t", "tmpfs", "nobody", "/late"), sh("umount", "/late"),
        ["BASE-CAME warning /late", "DRIFT-NOT-IN-FSTAB warning /late"], "--baseline=/base")
planted("one that went", lambda: umount("/tmp"), lambda: mount("/tmp"), ["BASE-WENT warning /tmp", "DRIFT-NOT-MOUNTED warning /tmp"],
        "--baseline=/base")
planted("one that changed", sh("mount", "-o", "remount,bind,noexec", "/data"), sh("mount", "-o", "remount,bind,exec", "/data"),
        ["BASE-CHANGED warning /data", "DRIFT-OPTIONS warning /data"], "--baseline=/base")


# What lies below, and what is held.
def below(name):
    gm.touch(f"/tmp/below/{name}", "")
    mount("/tmp/below", "-t", "ext4", loops["other"])


def away():
    umount("/tmp/below")
    shutil.rmtree("/tmp/below")


NOBODYS = "DRIFT-NOT-IN-FSTAB warning /tmp/below"
planted("data below a mount", lambda: below("data"), away, ["MNT-UNDER-NOT-EMPTY warning /tmp/below", NOBODYS], "--under")
planted("nothing of weight below one", lambda: below(".keep"), away, [NOBODYS], "--under")
begun = [row for row in audit("--holders")[0] if row.startswith("MNT-HELD")]     # by what this test was begun with
mount("/late", "-t", "ext4", loops["other"])
with open("/late/held", "w", encoding="ascii"):
    gm.run("umount", "-l", "/late")
    told("open, and mounted nowhere; a line is of it", [*begun, "MNT-HELD info None", "MNT-HELD warning /disk"], "--holders")
told("no longer open", begun, "--holders", count=0)
# Without an fstab, what has no line is for information; one that is named must exist.
os.rename("/etc/fstab", "/etc/other")
document = audit()[1]
gm.expect(document["fstab"] is None and "DRIFT-NOT-IN-FSTAB" not in document["not_judged"]
          and {f["severity"] for f in document["findings"] if f["code"] == "DRIFT-NOT-IN-FSTAB"} == {"info"}, f"no fstab: {document}")
result = gm.getmnt("audit", "--fstab=/etc/fstab")
gm.expect(result.status == 2 and not result.out, f"no such file: {result.status} {result.out} {result.err}")
os.rename("/etc/other", "/etc/fstab")
# What the configuration requires.
gm.mkdir("/etc/getmnt")
put("require /tmp nosuid,nodev,noexec,private\nrequire /var rw\n", "/etc/getmnt/audit.conf")
clean("as it is required")
CONF = "/etc/getmnt/audit.conf"
for name, text, expected in (
        ("an option that is required", "require /var nodev\n", ["POLICY-OPTION warning /var"]),
        ("a mount that is required", "require /opt nosuid\n", ["POLICY-PARTITION warning /opt"]),
        ("a mount point of its own", "require /opt mountpoint\n", ["POLICY-PARTITION warning /opt"]),
        ("another propagation", "require /tmp shared\n", ["MNT-PROPAGATION warning /tmp"])):
    planted(name, file(CONF, text), file(CONF, ""), expected)
# The limit of mounts.
put("100000\n", "/run/line/limit")
gm.bind("/run/line/limit", "/proc/sys/fs/mount-max")
clean("a limit far away")
with open("/proc/self/mountinfo", encoding="ascii") as table:
    count = len(table.readlines())
planted("a limit that is near", file("/run/line/limit", f"{count * 5 // 4}\n"), file("/run/line/limit", f"{count * 2}\n"), ["MNT-LIMIT warning None"])
planted("a limit that is reached", file("/run/line/limit", f"{count}\n"), file("/run/line/limit", "100000\n"), ["MNT-LIMIT critical None"])
# What does not answer, in a root of its own: a root on an image that cannot be seen is held to
# block where anything does.
child = os.fork()
if child == 0:
    gm.unshare_mounts()
    gm.mount("root", "/opt", "tmpfs")
    for name in os.listdir("/"):
        if os.path.isdir(f"/{name}") and (name == "bin" or name.startswith("lib")):
            shutil.copytree(f"/{name}", f"/opt/{name}", symlinks=True)
    for name in ("proc", "sys"):
        gm.mount(name, gm.mkdir(f"/opt/{name}"), "proc" if name == "proc" else "sysfs")
    gm.mkdir("/opt/etc")
    gm.mkdir("/opt/run")
    hung = gm.HungFuse("/opt/late", dev="/fuse")
    outer.path = "/opt"
    outer.enter()
    put("root / tmpfs defaults 0 0\nhung /late fuse allow_other,suid,dev 0 0\n")
    put(SWAPS, "/swaps")
    gm.touch("/sbin/mount.fuse")
    clean("without options")
    dead = ("--probe=all", "--probe-timeout=1")
    told("a mount that does not answer", ["MNT-TIMEOUT critical /late"], *dead)
    hung.end()
    told("a mount whose daemon is gone", ["MNT-STALE critical /late"], *dead)
    gm.umount("/late", gm.MNT_DETACH)
    sys.stdout.flush()
    os._exit(1 if gm.failures else 0)
gm.expect(os.waitpid(child, 0)[1] == 0, "what does not answer")
faults += 2
fired["MNT-TIMEOUT"] = fired["MNT-STALE"] = "what does not answer"
# Errors of file systems, which stay.
gm.touch(f"/sys/fs/ext4/{os.path.basename(loops['ext4'])}/trigger_fs_error", "planted")
# Some kernels reject writes and show neither ro nor emergency_ro: stable ones with "ext4: don't set SB_RDONLY after
# filesystem errors", before 6.15.
with open("/proc/self/mountinfo", encoding="latin-1") as f:
    shown = {word for line in f if line.split()[4] == "/data" for word in line.split()[-1].split(",")}
failed = ["FS-ERRORS critical /data"] + ["DRIFT-READONLY critical /data"] * bool({"ro", "emergency_ro"} & shown)
told("an error of ext4", failed)
xfs = os.open("/var", os.O_RDONLY)
fcntl.ioctl(xfs, GOING_DOWN, b"\x02\0\0\0")
os.close(xfs)
told("an XFS that was shut down", failed + ["FS-ERRORS critical /var", "MNT-STALE critical /var"])
print(f"  {faults} faults, of {len(fired)} rules")
rules = {line.split()[0] for line in gm.getmnt("audit", "--list-rules").out.decode().splitlines()}
gm.expect(faults >= 60, f"{faults} faults")
gm.expect(rules == set(fired), f"rules that have not fired: {sorted(rules - set(fired))}; that are none: {sorted(set(fired) - rules)}")
gm.done()
