# SPDX-License-Identifier: MIT
"""What a mount depends on has no name here, or its name is that of something else: no server is
waited for, and mounts that depend on local files are entered."""
import os

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need("mkfs.ext4", "losetup")
gm.need_fs("fuse", "ext4", "overlay", "fusectl")
servers = []


def ext4(path):
    gm.image(path, 2 << 20, "mkfs.ext4", "-q", "-O", "^has_journal")
    gm.loop_mount(path, root / "fill")
    for i in range(4):
        gm.mkdir(root / f"fill/d{i}/e{i}")
    gm.umount(root / "fill")
    return path


def data(path):
    return gm.read_bytes(path)


def slow(place, files=None):
    servers.append(gm.FileFuse(root / place, files))
    return root / place


def attach(path, *options):
    return gm.run("losetup", "-f", "--show", *options, path).strip()


def by_fsconfig(place, options):
    """Mount an overlay by the new calls: fsopen, fsconfig, fsmount, move_mount.  Returns false on a kernel
    whose overlay does not know the options (before Linux 6.7)."""
    call = gm.libc.syscall
    fs = call(430, b"overlay", 0)
    for key, value in options:
        if call(431, fs, 1, key.encode(), value.encode(), 0):
            gm.expect(gm.KERNEL < (6, 7), f"{options}: {key} is refused")
            return False
    fd = -1 if call(431, fs, 6, None, None, 0) else call(432, fs, 0, 0)
    if fd < 0 and gm.KERNEL < (6, 7):
        return False        # Linux 6.1 checks the options when the mount is made
    gm.expect(fd >= 0 and call(429, fd, b"", -100, gm.mkdir(place).encode(), 4) == 0, f"{options}: not mounted")
    return True


root = gm.Root()
image = data(ext4(root / "plain.img"))
gm.tmpfs(root / "store/deep")
good, bad = [], []


def local(place, name, gone=False):
    """A mount of an image that is a local file, or was."""
    with open(root / name, "wb") as f:
        f.write(image)
    gm.loop_mount(root / name, root / place)
    if gone:
        os.unlink(root / name)
    good.append("/" + place)


local("good/kept", "store/deep/kept.img")
local("good/deleted", "store/deep/deleted.img", gone=True)
local("good/word", "store/deep/a (deleted)")
# A loop device on an image in the file system of another, and its directory by another name.
with open(root / "store/deep/outer.img", "wb") as f:
    f.truncate(16 << 20)
gm.run("mkfs.ext4", "-q", root / "store/deep/outer.img")
gm.loop_mount(root / "store/deep/outer.img", root / "good/outer")
local("good/inner", "good/outer/inner.img", gone=True)
gm.bind(root / "good/inner/d1", root / "good/part")
good.append("/good/part")

# Its server is detached; a file of the same name and size is at the place that sysfs names.
slow("gone", {"plain.img": image})
gm.loop_mount(root / "gone/plain.img", root / "bad/detached", "ro")
gm.bind(root / "bad/detached/d1", root / "bad/part")
gm.overlay(root / "bad/over", root / "bad/detached", gm.tmpfs(root / "work") + "/0")
slow("gone2", {"nothing.img": image})
gm.loop_mount(root / "gone2/nothing.img", root / "bad/nameless", "ro")
for place in ("gone", "gone2"):
    gm.umount(root / place, gm.MNT_DETACH)
bad += ["/bad/detached", "/bad/part", "/bad/nameless", "/bad/over"]

# In another namespace a server is mounted on the directory where we have a local file.
ready, told = os.pipe()
end, held = os.pipe()
other = gm.fork()
if other == 0:
    os.close(held)
    gm.unshare_mounts()
    server = gm.FileFuse(root / "store/deep", {"kept.img": image, "elsewhere.img": image})
    loops = [attach(root / "store/deep/" + name, "-r") for name in ("kept.img", "elsewhere.img")]
    os.write(told, " ".join(loops).encode())
    os.read(end, 1)
    server.stopped = True
    os.write(told, b"stopped")
    os.read(end, 1)
    os._exit(0)
for number, loop in enumerate(os.read(ready, 100).decode().split()):
    gm.mount(loop, gm.mkdir(root / f"bad/space{number}"), "ext4", gm.MS_RDONLY)
    gm.run("losetup", "-d", loop)
    bad.append(f"/bad/space{number}")

slow("layer")
slow("ly:r")
slow("b\\ck")
gm.mkdir(root / "bck")
for place in ("lower/in", "upper/u\\u", "upper/uu", "upper/w"):
    gm.mkdir(root / place)
gm.mount("none", root / "sys/fs/fuse/connections", "fusectl")
root.enter()
for number in range(256):
    if not os.path.exists(f"/dev/loop{number}"):
        os.mknod(gm.mkdir("/dev") + f"/loop{number}", 0o600 | 0o060000, os.makedev(7, number))
# Layers, by their names of other kinds.
for number, options in enumerate(("lowerdir=/lower::/layer,metacopy=on", "lowerdir=layer:/lower",
                                  "lowerdir=/lower,upperdir=/upper/u\\\\u,workdir=/upper/w",
                                  "lowerdir=/ly\\:r:/lower")):
    try:
        gm.mount("overlay", gm.mkdir(f"/bad/layers{number}"), "overlay", 0, options)
    except OSError:
        gm.expect("::" in options and gm.KERNEL < (6, 5), f"not mounted: {options}")    # "::" is of Linux 6.5
        continue
    bad.append(f"/bad/layers{number}")
gm.overlay("/good/over", "/lower", "/scratch/1")
good.append("/good/over")
for number, options in enumerate(([("lowerdir+", "/lower"), ("datadir+", "/layer"), ("metacopy", "on")],
                                  [("lowerdir+", "/ly:r"), ("lowerdir+", "/lower")], [("lowerdir+", "/b\\ck"), ("lowerdir+", "/lower")])):
    if by_fsconfig(f"/bad/fsconfig{number}", options):
        bad.append(f"/bad/fsconfig{number}")
for server in servers:
    server.stopped = True
os.write(held, b"x")
os.read(ready, 100)


def within(paths, tops):
    return {top for top in tops for path in paths if path.startswith(top + "/")}


gm.expect_untouched(good, bad, ("walk", "pure", "hint"), "TARGET,UUID,STATE")
for uid in (None, 1000):
    # Only root can prove the name of a loop device's file: while a server is hidden, none is believed.
    result = gm.getmnt("search", "*", "/good", "/bad", uid=uid, seconds=10)
    found = result.out.decode().split("\n")
    gm.expect(within(found, good) == (set(good) if uid is None else {"/good/over"}), f"search: {within(found, good)}")
    gm.expect(not within(found, bad), f"search entered {within(found, bad)}")
for args in (("audit", "--under"), ("audit", "--holders"), ("-T", "/bad/detached/d1/e1"),
             ("--output-all",), ("-D",), ("profile", "/bad")):
    gm.getmnt(*args, seconds=10)

os.write(held, b"x")
gm.done()
