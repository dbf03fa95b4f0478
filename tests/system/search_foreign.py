# SPDX-License-Identifier: MIT
"""getmnt search in trees that the mount table of this process does not describe: another mount
namespace, directories that a mount covers, detached trees.  Each mount is judged by its ID: what
does not block is searched, whatever this process has at the same path, and nothing that blocks is
touched."""
import ctypes
import os
import stat

import gm

gm.need_fs("fuse")
WAYS = {                   # arguments -> whether objects below W/X are found as W/X/f
    "list": ("*",), "attributes": ("-m", "*"), "link": ("-L", "*"), "link attributes": ("-L", "-m", "*"),
    "access": ("--access=r", "*"), "types": ("--type=f,d,l", "*"), "xdev": ("--xdev", "-m", "*"),
}
KINDS = ("ok", "bad", "new-ok", "new-bad", "plain")


def tree(top):
    """Directories to mount on, and links to what is in them."""
    for name in KINDS:
        gm.touch(f"{top}/w/{name}/covered", "")
    for name in KINDS:
        os.symlink(f"../w/{name}/f", f"{gm.mkdir(top + '/l')}/{name}")
    gm.touch(f"{top}/w/plain/f", "")


def good(path):
    gm.tmpfs(path)
    gm.touch(path + "/f", "")


fuses = []


def hung(path):
    fuses.append(gm.HungFuse(path))


def search(*args, env=None, **more):
    result = gm.getmnt("search", *args, env=env, seconds=10, **more)
    names = {line.split("\t")[-1] for line in result.out.decode().splitlines()}
    return result, names, result.err.decode()


def below(top, *kinds):
    return {f"{top}/{kind}{end}" for kind in kinds for end in ("", "/f")}


def expect(tag, found, want, refused, top):
    """Check objects, and that these names, and no others, are reported as not entered."""
    result, names, err = found
    gm.expect(names == want, f"{tag}: {sorted(names ^ want)} {err}")
    lines = err.splitlines()
    for name in refused:
        gm.expect(any(line.startswith(f"getmnt: {top}/{name}: ") for line in lines), f"{tag}: {name}: {err}")
    gm.expect(len(lines) == len(refused) and result.status == bool(refused), f"{tag}: {result.status} {err}")


def four_ways(tag, top, env=None, entered=("ok", "new-ok"), refused=("bad", "new-bad"), **more):
    """Search top, which has mounts on w/KIND."""
    whole = below(f"{top}/w", "plain", *entered) | {f"{top}/w/plain/covered"} | {f"{top}/w/{name}" for name in refused}
    for way, args in WAYS.items():
        want, not_entered = set(whole), set(refused)
        if "--xdev" in args:
            # What cannot be touched is refused only if more than its name is needed.
            want = {f"{top}/w/{name}" for name in ("plain", "plain/f", "plain/covered", *entered)}
        elif "-m" in args or "--access=r" in args:
            want -= {f"{top}/w/{name}" for name in refused}
        expect(f"{tag}: {way}", search(*args, top + "/w", env=env, **more), want, not_entered, top + "/w")
    for name in KINDS:
        found = {f"{top}/w/{name}/f"} if name in (*entered, "plain") else set()
        expect(f"{tag}: literal {name}", search(f"/{name}/f", top + "/w", env=env, **more), found,
               {name} & set(refused), top + "/w")
        links = {f"{top}/l/{name}"} if found else set()
        expect(f"{tag}: link to {name}", search("-L", f"/{name}", top + "/l", env=env, **more), links,
               {name} & set(refused), top + "/l")
        expect(f"{tag}: link and glob {name}", search("-L", f"/[{name[0]}]{name[1:]}", top + "/l", env=env, **more),
               links, {name} & set(refused), top + "/l")


root = gm.Root()
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()
tree("/t")
# What is good there is bad here, and the other way round.
hung("/t/w/ok")
good("/t/w/bad")


def elsewhere():
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_PRIVATE, recursive=True)
    gm.umount("/t/w/ok", gm.MNT_DETACH)
    gm.umount("/t/w/bad", gm.MNT_DETACH)
    good("/t/w/ok")
    hung("/t/w/bad")
    good("/t/w/new-ok")
    hung("/t/w/new-bad")
    os.chdir("/t/w")
    yield


other = gm.Other(elsewhere)
for disable in ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
    four_ways(f"namespace {disable}", f"/proc/{other.pid}/root/t", {"GETMNT_DISABLE": disable})
other.end()
gm.done()
