# SPDX-License-Identifier: MIT
"""An initramfs with getmnt, made with our hook by each of the usual tools, unpacked, and run as a chroot
and as the root, with a system mounted below.

The tools are those installed here and those unpacked by make deps, as an overlay on / in memory, so
that this machine does not change."""
import os
import re
import shutil
import subprocess

import gm
import overlaid

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
CONTRIB = TOP + "/contrib"
TOOLS = TOP + "/build/initramfs/tree"
HOOK = "/usr/share/initramfs-tools/hooks/getmnt"
MODULE = "/usr/lib/dracut/modules.d/95getmnt"
KERNEL = "6.1.0-none"       # a kernel without modules
NAMES = ["two words", "tab\there", "back\\slash", "#hash", "caf\u00e9"]

gm.need_fs("overlay", "ext4", "xfs", "btrfs")
gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mount", "ldd")
if gm.sanitized():
    gm.skip("a sanitizer has more than what the hooks copy")


def have(program):
    return any(os.path.exists(top + path + program) for top in ("", TOOLS)
               for path in ("/usr/bin/", "/usr/sbin/"))


makers = [name for name in ("mkinitramfs", "dracut") if have(name) and have("cpio")]
if not makers:
    gm.skip("there is neither mkinitramfs nor dracut: make deps")
missing = [name for name in ("mkinitramfs", "dracut") if name not in makers]
if missing:
    gm.skip(f"there is no {missing[0]}: make deps")

# A machine like this one, that has the tools.
work = os.environ["GETMNT_WORK"]
gm.tmpfs(work, "size=1g,mode=755")
machine = overlaid.make(work, TOOLS)
gm.bind("/dev", gm.mkdir(machine + "/dev"))
gm.mkdir(machine + "/usr/lib/modules/" + KERNEL)
gm.touch(f"{machine}/boot/config-{KERNEL}", "CONFIG_RD_GZIP=y\nCONFIG_BLK_DEV_INITRD=y\n")
shutil.copy(CONTRIB + "/initramfs-tools/hooks/getmnt", machine + HOOK)
# One as a package has it, the other as make install without a PREFIX, and linked.
shutil.rmtree(machine + MODULE, ignore_errors=True)
shutil.copytree(CONTRIB + "/dracut/95getmnt", machine + "/usr/local" + MODULE[4:], dirs_exist_ok=True)
os.symlink("/usr/local" + MODULE[4:], machine + MODULE)
for path in ("/etc/initramfs-tools/conf.d", "/etc/dracut.conf.d"):
    shutil.rmtree(machine + path, ignore_errors=True)
    gm.mkdir(machine + path)


def sh(script, top=machine, status=0):
    """Run a script by the shell of a tree, entered by chroot."""
    proc = subprocess.run(["/bin/sh", "-ec", script], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "LC_ALL": "C.UTF-8", "TERM": "dumb"},
                          check=False, preexec_fn=lambda: (os.chroot(top), os.chdir("/")))
    gm.expect(proc.returncode == status, f"{script}: status {proc.returncode}: "
              f"{proc.stdout[-500:].decode(errors='replace')} {proc.stderr[-1500:].decode(errors='replace')}")
    return proc.stdout


def mkinitramfs(tree):
    sh(f"mkinitramfs -c gzip -o /tmp/image {KERNEL} && unmkinitramfs /tmp/image {tree}")


def dracut(tree):
    sh(f"dracut --force --no-kernel --no-hostonly --no-hostonly-cmdline --no-compress --nohardlink -m 'base' /tmp/image {KERNEL} && "
       f"mkdir -p {tree} && cd {tree} && cpio -idm --quiet </tmp/image")


CONFIG = {"mkinitramfs": ("/etc/initramfs-tools/conf.d/getmnt", "GETMNT=y\n"),
          "dracut": ("/etc/dracut.conf.d/getmnt.conf", 'add_dracutmodules+=" getmnt "\n')}
MAKE = {"mkinitramfs": mkinitramfs, "dracut": dracut}


def size(tree):
    return sum(os.lstat(os.path.join(where, name)).st_size for where, _, names in os.walk(tree) for name in names)


def holders(tree):
    """Where in a tree there is a program getmnt."""
    return [where for where, _, names in os.walk(tree)
            if "getmnt" in names and os.path.isfile(f"{where}/getmnt") and os.access(f"{where}/getmnt", os.X_OK)]


def libraries(tag, top):
    """The libraries of the program are in the tree, by its own dynamic linker."""
    elf = subprocess.run(["ldd", os.environ["GETMNT"]], stdout=subprocess.PIPE, check=True).stdout.decode()
    loader = re.search(r"^\s*(/\S*ld-linux\S*|/\S*ld64\S*|/\S*ld-musl\S*) \(", elf, re.M)
    if not gm.expect(loader, f"{tag}: no dynamic linker: {elf}"):
        return
    listed = sh(f"{loader.group(1)} --list /usr/bin/getmnt", top).decode()
    wanted = set(re.findall(r"^\s*(\S+\.so\S*) =>", elf, re.M))
    found = dict(re.findall(r"^\s*(\S+\.so\S*) => (/\S+) \(", listed, re.M))
    gm.expect(len(wanted) >= 4 and wanted <= set(found) and "not found" not in listed,
              f"{tag}: libraries: {wanted - set(found)} of {listed}")
    for path in found.values():
        gm.expect(os.path.exists(os.path.join(top, os.path.realpath(top + path).removeprefix(top).lstrip("/"))),
                  f"{tag}: {path} is not in the tree")


def system(images, top):
    """The system to be rescued: at a directory, from images that the tree sees as it
    would disks."""
    for fstype, mkfs, options in (
            ("ext4", ("mkfs.ext4", "-q", "-F", "-L", "rescued"), ("errors=remount-ro",)),
            ("xfs", ("mkfs.xfs", "-q"), ("nosuid", "noatime")),
            ("btrfs", ("mkfs.btrfs", "-q"), ("compress=zstd:3",))):
        image = gm.image(f"{gm.mkdir(images)}/{fstype}", (320 if fstype == "xfs" else 128) << 20, *mkfs)
        gm.loop_mount(image, top + {"ext4": "", "xfs": "/srv/x fs", "btrfs": "/home"}[fstype], *options)
    gm.touch(top + "/usr/sbin/fsck.ext4")
    gm.tmpfs(top + "/tmp", "size=9m,mode=1777")
    gm.mkdir(top + "/home/sub")
    gm.bind(gm.mkdir(top + "/srv/x fs/deep/er"), top + "/bound")
    for i, name in enumerate(NAMES):
        gm.mkdir(f"{top}/n/{name}")
        if i % 2:
            gm.tmpfs(f"{top}/n/{name}", "size=1m", source=name)
        else:
            gm.bind(top + "/home/sub", f"{top}/n/{name}")
    gm.touch(top + "/etc/fstab", "# lost\n")


def rescue(maker, top, commands):
    """Mount the system below a tree, and have its fstab made: from outside, by
    chroot, and with the tree as the root and all else gone, as after a boot."""
    gm.unshare_mounts()
    for name, fstype in (("proc", "proc"), ("sys", "sysfs"), ("dev", "devtmpfs"), ("run", "tmpfs")):
        gm.mount(fstype, gm.mkdir(f"{top}/{name}"), fstype)
    system(top + "/disks", top + "/sysroot")
    outside = gm.getmnt("fstab", top + "/sysroot", program=os.environ["GETMNT"])
    lines = [line for line in outside.out.split(b"\n") if line and not line.startswith(b"#")]
    gm.expect(outside.status == 0 and len(lines) == 5 + len(NAMES) and outside.out.count(b"UUID=") == 3
              and b" 0 1\n" in outside.out, f"{maker}: outside: {outside.status} {outside.out} {outside.err}")
    inside = gm.getmnt("fstab", "/sysroot", program="/usr/bin/getmnt", chroot=top)
    gm.expect(inside.status == 0 and inside.out == outside.out and inside.err == outside.err,
              f"{maker}: in the tree: {inside.status} {inside.out} {inside.err}, outside {outside.out}")
    # As it is typed in the rescue shell.
    gm.expect(sh("getmnt fstab /sysroot >/run/fstab; cat /run/fstab", top) == outside.out, f"{maker}: by the shell")
    found = sh("getmnt search fstab /sysroot", top)
    gm.expect(found == b"/sysroot/etc/fstab\n", f"{maker}: search: {found}")

    os.chdir(top)
    if gm.libc.pivot_root(b".", b"."):
        gm.fail(f"{maker}: pivot_root")
        return
    gm.umount(".", gm.MNT_DETACH)
    os.chdir("/")
    result = gm.getmnt("fstab", "/sysroot", program="/usr/bin/getmnt")
    gm.expect((result.status, result.out) == (0, outside.out),
              f"{maker}: as the root: {result.status} {result.out} {result.err}")
    result = gm.getmnt("-J", "-l", program="/usr/bin/getmnt")
    rows = {row["target"] for row in result.rows()}
    gm.expect(result.status == 0 and {"/", "/sysroot", "/sysroot/srv/x fs", "/sysroot/n/back\\slash"} <= rows,
              f"{maker}: as the root: {result.status} {rows} {result.err}")
    if not re.search(r"^ *recover .*not in this version", commands, re.M):
        gm.touch("/run/mtab", gm.read_bytes("/proc/self/mounts")[:200].decode("utf-8", "replace"))
        for args, status in (((), 1), (("--write", "--yes"), 0), (("--check",), 0)):
            result = gm.getmnt("recover", *args, "/run/mtab", program="/usr/bin/getmnt")
            gm.expect(result.status == status, f"{maker}: recover {args}: {result.status} {result.out} {result.err}")
    print(f"  {maker}: {len(lines)} lines, the same")


commands = gm.getmnt("--help", program=os.environ["GETMNT"]).out.decode()
for maker in makers:
    config, text = CONFIG[maker]
    MAKE[maker]("/tmp/without")
    gm.expect(not holders(machine + "/tmp/without"), f"{maker}: getmnt is in the image without the hook")
    gm.touch(machine + config, text)
    if maker == "dracut":
        os.rename(machine + "/usr/bin/getmnt", gm.mkdir(machine + "/usr/local/bin") + "/getmnt")
    MAKE[maker]("/tmp/with")
    os.unlink(machine + config)
    gm.expect(holders(machine + "/tmp/with") == [machine + "/tmp/with/usr/bin"],
              f"{maker}: {holders(machine + '/tmp/with')}")
    print(f"  {maker}: {(size(machine + '/tmp/with') - size(machine + '/tmp/without')) >> 10} KiB for it")
    # A root of its own, as the memory that an initramfs is unpacked in.
    root = gm.tmpfs(f"{work}/{maker}", "size=600m,mode=755")
    shutil.copytree(machine + "/tmp/with", root, symlinks=True, dirs_exist_ok=True)
    for tree in ("with", "without"):
        shutil.rmtree(f"{machine}/tmp/{tree}")
    libraries(maker, root)
    gm.in_child(lambda tag=maker, where=root: rescue(tag, where, commands))
gm.done()
