# SPDX-License-Identifier: MIT
"""getmnt search --delegate on mounts of NFS, of a server of this machine: the same results as through the
mounts, with versions 3 and 4; and no belief in a server that shows anything else: a snapshot, a copy, the
list of exports, other file systems below, one whose ID says nothing."""
import os
import subprocess
import time

from delegation import PROGRAM, WORK, Delegation, calls, shell
import gm
import vm

vm.modules("nfsd", "nfsv4", "nfsv3", "xfs", "btrfs")
vm.work()
SRV = gm.mkdir("/srv")
gm.tmpfs(SRV, "size=1g")
OPTIONS = "127.0.0.1(rw,no_subtree_check,insecure,no_root_squash"
OTHER_ID = "the server has another ID for the file system"
loops = []


def disk(fstype, at, *options):
    """A new file system, mounted."""
    loops.append(vm.loop(os.path.basename(at) + "." + fstype, 320 << 20))
    gm.run(f"mkfs.{fstype}", "-q", *options, loops[-1])
    gm.run("mount", "-t", fstype, loops[-1], gm.mkdir(at))


def fill(top):
    """A tree."""
    for i in range(12):
        path = f"{gm.mkdir(f'{top}/d{i % 3}/e{i % 4}')}/f{i}.c"
        gm.touch(path, "x" * (i * 100))
        os.utime(path, (1e9 + i, 1e9 + i * 86400))
        os.chmod(path, 0o600 + i)
        os.chown(path, i % 3, i % 2)
    os.symlink("d1/e1", f"{top}/link")
    gm.touch(gm.mkdir(f"{top}/.hidden") + "/f.c", "")
    gm.mkdir(f"{top}/none")


disk("ext4", "/srv/e", "-F")
disk("xfs", "/srv/x")
disk("btrfs", "/srv/b")
gm.run("btrfs", "subvolume", "create", "/srv/b/vol")
gm.tmpfs(gm.mkdir("/srv/t"))
for top in ("/srv/e", "/srv/x", "/srv/b/vol", "/srv/t"):
    fill(top)
gm.run("btrfs", "subvolume", "create", "/srv/b/vol/d1/inner")
gm.touch("/srv/b/vol/d1/inner/inside.c", "")
os.sync()
# Root's directory is as before, and so is its inode.
gm.run("btrfs", "subvolume", "snapshot", "/srv/b/vol", "/srv/b/snap")
gm.touch("/srv/b/vol/d0/e0/later.c", "")
gm.run("cp", "-a", "/srv/e", "/srv/copy")
# Only "shown" is exported: the directories above are lists of exports, of the same inodes.
gm.touch(gm.mkdir("/srv/e/part/only/shown") + "/s.c", "")
gm.touch(gm.mkdir("/srv/x/part/only/shown") + "/s.c", "")
gm.touch(gm.mkdir("/srv/x/part/only/secret") + "/t.c", "")
EXPORTS = {"/srv/e": OPTIONS, "/srv/b/vol": OPTIONS, "/srv/x/part/only/shown": OPTIONS, "/srv/t": OPTIONS + ",fsid=5"}
server = vm.NfsServer("".join(f"{path} {options})\n" for path, options in EXPORTS.items()), three=True)


def export(**changes):
    """Change exports: their last components, with options."""
    for path in list(EXPORTS):
        EXPORTS[path] = changes.get(os.path.basename(path), EXPORTS[path])
    gm.touch("/etc/exports", "".join(f"{path} {options})\n" for path, options in EXPORTS.items()))
    gm.run("exportfs", "-ra")
    gm.run("exportfs", "-f")


through = Delegation("admin@filer")
same, search = through.same, through.search
mounted = []
nobody = shell("nobody", "exec setpriv --reuid=65534 --regid=65534 --clear-groups")
os.chmod(WORK, 0o755)


def refused(why, *args, **more):
    """The mount is the root, which is entered."""
    through.refused(why, *args, blocking=False, **more)


def mount(version, source, name, *options):
    target = gm.mkdir(f"{WORK}/m/{name}")
    gm.run("mount", "-t", "nfs", "-o", ",".join((f"vers={version}", *options)), f"127.0.0.1:{source}", target)
    mounted.append(target)
    return target


def umount():
    while mounted:
        gm.run("umount", "-R", mounted.pop())


def volumes(target):
    """The ID that the server sends for a mount."""
    info = os.stat(target)
    dev = f"{os.major(info.st_dev)}:{os.minor(info.st_dev)}"
    return next(line.split()[4] for line in gm.read("/proc/fs/nfsfs/volumes").splitlines()[1:] if line.split()[3] == dev)


def liar(name, other, path):
    """A server whose path is another directory."""
    return shell(name, f"exec unshare -m sh -c 'mount --bind {other} {path}; cd {WORK}; exec \"$@\"' sh")


for version in ("4.2", "3"):
    print(f"version {version}")
    began = time.monotonic()
    for name, source in (("e", "/srv/e"), ("b", "/srv/b/vol"), ("s", "/srv/x/part/only/shown")):
        print(f"  {source}: {volumes(mount(version, source, name))}")

    # Patterns and queries; in a part of the mount; a mount of a part.
    for args in (("*",), ("*.c",), ("/e/d1/**",), ("m/*",), ("-o", "TYPE,MODE,USER,GROUP,SIZE,MTIME,INO,NLINK,CTIME,LINK,PATH", "*"),
                 ("--where", "-path m/e/d1* -size +500c", "*"), ("--where", "! -uid 0 -newermt 2001-09-12", "*.c"),
                 ("--where", "-name d1 -prune -o -type f", "*"), ("--exclude=e*", "*"), ("--type=dl", "*"), ("--no-hidden", "-i", "*.C"),
                 ("--maxdepth=3", "*"), ("--count", "*")):
        same(*args, "m", delegated=1 if args[-1] == "/e/d1/**" else 2 if args[0] == "--exclude=e*" else 3)
    same("*", "m/e/d1", "m/b/d1", f"{WORK}/m/s/", delegated=3)
    same("*", "m/e/none")
    same("--xdev", "*", "m/b")
    same("*", os.path.relpath(mount(version, "/srv/e/d2", "d2"), WORK))
    same("*", os.path.relpath(mount(version, "/srv/e/none", "none"), WORK))
    got = search("--delegate", "*", "m/e")
    gm.expect(got.status == 0 and b"a login on its server is needed" in got.err, f"no login: {got.err}")
    got = gm.getmnt("search", f"--rsh={through.good}", "--delegate=filer", "*", "m/e", cwd=WORK, program=PROGRAM)
    gm.expect(got.status == 0 and not got.err, f"another login: {got.status} {got.err}")

    # A server that shows another directory there: a copy, which has other inodes; a snapshot, which has the same.
    refused("another directory", "*", "m/e", rsh=liar("copy", "/srv/copy", "/srv/e"))
    through.refused("another directory", "*", os.path.dirname(mount(version, "/srv/e", "below/e")), rsh=f"{WORK}/copy")
    gm.run("umount", mounted.pop())
    refused(OTHER_ID, "*", "m/b", rsh=liar("snapshot", "/srv/b/snap", "/srv/b/vol"))
    refused("its server: No such file or directory", "*", "m/b", rsh=liar("nothing", "/srv/copy", "/srv/b"))

    # Something is mounted below, which the client sees or not.
    disk("ext4", "/srv/e/part/only/shown", "-F")
    fill("/srv/e/part/only/shown")
    refused("its server: something else is mounted on it", "*", "m/e")
    same("*", "m/e/d1")
    # With crossmnt the client mounts it when it is entered: as find does, and without --blocking it is left alone.
    export(e=OPTIONS + ",crossmnt")
    mount(version, "/srv/e", "cross", "nosharecache")
    got = search("*", "m/cross", rsh=False)
    gm.expect(got.status == 1 and got.err == b"getmnt: m/cross/part/only/shown: not entered: its file system can block (--blocking enters it)\n"
              and b"shown/d1" not in got.out and "/m/cross/part" not in gm.read("/proc/self/mountinfo"), f"crossmnt: {got.status} {got.err}")
    got = search("--blocking", "*", "m/cross", rsh=False)
    gm.expect(got.status == 0 and not got.err and b"m/cross/part/only/shown/d1/e1/f1.c\n" in got.out, f"crossmnt: {got.status} {got.err}")
    gm.umount(f"{WORK}/m/cross/part/only/shown")
    through.refused("its server: something else is mounted on it", "*.c", "m/cross", blocking=False, first=True)
    gm.umount(f"{WORK}/m/cross/part/only/shown")
    gm.run("umount", mounted.pop())
    export(e=OPTIONS)
    gm.run("umount", "/srv/e/part/only/shown")
    gm.run("losetup", "-d", loops.pop())
    same("*", "m/e")
    gm.bind("/srv/t", "/srv/e/none")
    refused("its server: something else is mounted on it", "*.c", "m/e")
    gm.umount("/srv/e/none")

    # What proves nothing: an ID that the administrator chose; a list of exports.
    mount(version, "/srv/t", "t")
    refused(OTHER_ID, "*", "m/t")
    if version == "4.2":
        mount(version, "/", "root")
        refused("its server: something else is mounted on it", "--maxdepth=1", "*", "m/root")
        for name, source in (("list", "/srv/x"), ("part", "/srv/x/part")):
            shown = mount(version, source, name) + ("/part" if name == "list" else "")
            gm.expect(os.listdir(f"{shown}/only") == ["shown"], f"{source}: the list of exports has more")
            # The server gives a list the ID of its file system, or one of its own: then each export in it is a mount.
            one = volumes(shown) == volumes(f"{WORK}/m/s")
            print(f"  {source}: {volumes(shown)}, a list of exports with {'the same' if one else 'another'} ID")
            for login in (True, nobody):
                refused("its server: NFS shows only the exports below it" if one else "another mount is on it", "--maxdepth=1", "*",
                        f"m/{name}", rsh=login)

    # root_squash: here root is nobody, and so is the login.
    export(e="127.0.0.1(rw,no_subtree_check,insecure,root_squash")
    os.chmod("/srv/e/d2", 0o700)
    mount(version, "/srv/e", "squashed", "nosharecache")
    expected = same("*", "m/squashed", rsh=nobody)
    gm.expect(expected.status == 1 and b"d2: cannot be opened: Permission denied" in expected.err, f"root_squash: {expected.err}")
    os.chmod("/srv/e/d2", 0o755)
    os.chmod("/srv/e", 0o700)
    vm.drop_caches()
    got = search("*", "m/squashed")
    gm.expect(got.status == 1 and b"cannot be looked at here" in got.err, f"root_squash of all: {got.err}")
    os.chmod("/srv/e", 0o755)
    export(e=OPTIONS)
    umount()

    # Attributes that the client has cached: what is old is not believed; the directory itself is looked at.
    target = mount(version, "/srv/e", "e", "actimeo=600")
    for top in ("", "/d1"):
        os.listdir(target + top)
        os.stat(target + top)
        gm.touch(f"/srv/e{top}/top", "1")
        got = search("--count", "*", "m/e" + top)
        gm.expect(got.status == 0 and not got.err, f"an old directory: {got.err}")
        same("*", "m/e" + top)
    os.unlink("/srv/e/d1/top")
    os.stat(target + "/top")
    gm.touch("/srv/e/top", "12")
    refused("another directory, or this one is changing", "*.c", "m/e")
    vm.drop_caches()
    same("*", "m/e")
    os.unlink("/srv/e/top")
    umount()
    print(f"  {through.compared} comparisons, {calls()} connections, {time.monotonic() - began:.0f} s", flush=True)

# XFS, whose ID is not that of statfs(2).
export(shown=OPTIONS)
EXPORTS["/srv/x"] = OPTIONS
export()
for version in ("4.2", "3"):
    print("  xfs:", volumes(mount(version, "/srv/x", "x")))
    same("*", "m")
    umount()

# A server that is gone: the process that looks is given up.
mount("4.2", "/srv/e", "e")
server.stop()
time.sleep(1)
began = time.monotonic()
got = search("--timeout=2", "*", "m")
took = time.monotonic() - began
gm.expect(got.status == 1 and b"it cannot be looked at here: no answer for 2 seconds" in got.err, f"hung: {got.status} {got.out} {got.err}")
left = subprocess.run(["pgrep", "-x", "getmnt"], stdout=subprocess.PIPE, check=False).stdout if gm.shutil.which("pgrep") else b""
gm.expect(not left, f"processes are left: {left}")
print(f"  hung: {took:.1f} s")
server.start()
umount()
server.end()
for path in ("/srv/t", "/srv/b", "/srv/x", "/srv/e", SRV):
    gm.run("umount", path)
for device in loops:
    gm.run("losetup", "-d", device)
gm.done()
