# SPDX-License-Identifier: MIT
"""getmnt search in trees that the mount table of this process does not describe: another mount
namespace, directories that a mount covers, detached trees.  Each mount is judged by its ID: what
does not block is searched, whatever this process has at the same path, and nothing that blocks is
touched."""
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


def four_ways(tag, top, env=None, entered=("ok", "new-ok"), refused=("bad", "new-bad"), links=True):
    """Search top, which has mounts on w/KIND."""
    whole = below(f"{top}/w", "plain", *entered) | {f"{top}/w/plain/covered"} | {f"{top}/w/{name}" for name in refused}
    for way, args in WAYS.items():
        want, not_entered = set(whole), set(refused)
        if "--xdev" in args:
            # What cannot be touched is refused only if more than its name is needed.
            want = {f"{top}/w/{name}" for name in ("plain", "plain/f", "plain/covered", *entered)}
        elif "-m" in args or "--access=r" in args:
            want -= {f"{top}/w/{name}" for name in refused}
        expect(f"{tag}: {way}", search(*args, top + "/w", env=env), want, not_entered, top + "/w")
    for name in KINDS:
        found = {f"{top}/w/{name}/f"} if name in (*entered, "plain") else set()
        expect(f"{tag}: literal {name}", search(f"/{name}/f", top + "/w", env=env), found,
               {name} & set(refused), top + "/w")
        if not links:
            continue
        linked = {f"{top}/l/{name}"} if found else set()
        expect(f"{tag}: link to {name}", search("-L", f"/{name}", top + "/l", env=env), linked,
               {name} & set(refused), top + "/l")
        expect(f"{tag}: link and glob {name}", search("-L", f"/[{name[0]}]{name[1:]}", top + "/l", env=env),
               linked, {name} & set(refused), top + "/l")


MODES = ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid")
MS_NOSYMFOLLOW = 256
OPEN_TREE, CLONE, RECURSIVE, AT_FDCWD = 428, 1, 0x8000, -100


def mounts(top):
    for kind in ("ok", "new-ok"):
        good(f"{top}/w/{kind}")
    for kind in ("bad", "new-bad"):
        hung(f"{top}/w/{kind}")


def all_modes(tag, top, **more):
    for disable in MODES:
        four_ways(f"{tag} {disable}", top, {"GETMNT_DISABLE": disable}, **more)


root = gm.Root()
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()
tree("/t")
# What is good in the other namespace blocks here, and the other way round.
hung("/t/w/ok")
good("/t/w/bad")
tree("/own")
mounts("/own")
all_modes("own", "/own")


def elsewhere():
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_PRIVATE, recursive=True)
    gm.umount("/t/w/ok", gm.MNT_DETACH)
    gm.umount("/t/w/bad", gm.MNT_DETACH)
    mounts("/t")
    gm.tmpfs("/t/no")
    os.symlink("../w/plain/f", "/t/no/link")
    gm.mount(None, "/t/no", None, 32 | MS_NOSYMFOLLOW)
    yield


other = gm.Other(elsewhere)
all_modes("namespace", f"/proc/{other.pid}/root/t")
for disable in MODES:
    expect(f"nosymfollow {disable}", search("-L", "*", f"/proc/{other.pid}/root/t/no", env={"GETMNT_DISABLE": disable}),
           {f"/proc/{other.pid}/root/t/no/link"}, {"link"}, f"/proc/{other.pid}/root/t/no")
held = os.open(f"/proc/{other.pid}/root/t", os.O_PATH), os.open(f"/proc/{other.pid}/ns/mnt", os.O_RDONLY)


# Below a mount that covers the working directory of a process.
def covered(cover):
    def steps():
        os.chdir(f"/{cover}/t")
        mounts(".")
        globals()[cover](f"/{cover}")
        yield
    return steps


for cover in ("good", "hung"):
    tree(f"/{cover}/t")
    below_it = gm.Other(covered(cover))
    all_modes(f"covered by {cover}", f"/proc/{below_it.pid}/cwd")
    _, names, err = search("*", ".", cwd=f"/proc/{below_it.pid}/cwd/w/plain")
    gm.expect(names == {"./f", "./covered"} and not err, f"covered by {cover}: {names} {err}")
    below_it.end()

# Trees whose mounts no process has: detached ones, and those of a namespace without a process.
other.end()
fd = gm.libc.syscall(OPEN_TREE, AT_FDCWD, b"/own", CLONE | RECURSIVE)
gm.expect(fd >= 0, "open_tree")
for tag, fd in (("detached", fd), ("namespace without a process", held[0])):
    for disable in MODES:
        # Before Linux 5.6 no link is followed there.
        four_ways(f"{tag} {disable}", f"/proc/{os.getpid()}/fd/{fd}", {"GETMNT_DISABLE": disable},
                  entered=(), refused=("bad", "new-bad", "ok", "new-ok"), links="openat2" not in disable)
gm.done()
