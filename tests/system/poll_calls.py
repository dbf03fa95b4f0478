# SPDX-License-Identifier: MIT
"""--poll: what newer system calls do to mounts, and to the root itself: by every
way of watching what is told makes the table that there is."""
import collections
import ctypes
import os
import struct

import gm

OPEN_TREE, MOVE_MOUNT, MOUNT_SETATTR = 428, 429, 442
AT_FDCWD, AT_EMPTY_PATH, AT_RECURSIVE = -100, 0x1000, 0x8000


def call(number, *args):
    result = gm.libc.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"system call {number}")
    return result


def open_tree(path, flags=1):
    return call(OPEN_TREE, AT_FDCWD, path.encode(), flags)


def attach(tree, path, flags=0):
    """Mount a detached tree; flags 0x200: beneath what is there."""
    call(MOVE_MOUNT, tree, b"", AT_FDCWD, path.encode(), 4 | flags)
    os.close(tree)


def setattr_(path, on, recursive=False):
    attr = struct.pack("=QQQQ", on, 0, 0, 0)
    call(MOUNT_SETATTR, AT_FDCWD, path.encode(), AT_RECURSIVE if recursive else 0, attr, len(attr))


root = gm.Root()
new = gm.tmpfs(root / "new", source="new root")
gm.install_program(new)
gm.mkdir(new + "/proc")
gm.mkdir(new + "/old")
gm.mkdir(new + "/tmp")
gm.tmpfs(root / "m", source="ground")
for name in ("a", "b", "c"):
    gm.mkdir(root / f"m/{name}")
root.enter()
gm.tmpfs("/m/a", source="A")
gm.tmpfs("/m/a/in", source="in")
gm.tmpfs("/m/a/in/side", source="side")
watches = [gm.Replay(*args, env=env) for args, env in gm.WATCHES]


def step(title, action, expected):
    """Make changes; expected: the number of reports of each action."""
    before = [len(replay.watch.lines()) for replay in watches]
    action()
    for replay, count in zip(watches, before):
        rows = replay.check(f"{title}: {replay.watch.name}")[count:]
        told = dict(collections.Counter(row["action"] for row in rows))
        gm.expect(told == expected, f"{title}: {replay.watch.name}: {told}, not {expected}: {rows}")


step("a detached tree", lambda: attach(open_tree("/m/a", 1 | AT_RECURSIVE), "/m/b"), {"mount": 3})
step("the options of a tree", lambda: setattr_("/m/b", 8, recursive=True), {"remount": 3})
step("a tree that moves", lambda: gm.mount("/m/b", "/m/c", None, gm.MS_MOVE), {"move": 3})
step("a tree that goes", lambda: gm.umount("/m/c", gm.MNT_DETACH), {"umount": 3})
try:
    step("beneath", lambda: attach(open_tree("/m/a/in"), "/m/a", 0x200), {"mount": 1})
    step("the upper one goes", lambda: gm.umount("/m/a", gm.MNT_DETACH), {"umount": 3})
    step("and the other", lambda: gm.umount("/m/a"), {"umount": 1})
except OSError as error:
    print(f"  no mount beneath another here: {error}")
step("a mount", lambda: gm.tmpfs("/m/b", source="bound"), {"mount": 1})
step("its bind", lambda: attach(open_tree("/m/b"), "/m/c"), {"mount": 1})
hidden = os.open("/m/c", os.O_PATH)
step("a cover", lambda: gm.tmpfs("/m", source="cover"), {"mount": 1})
gm.mkdir("/m/c")
step("moved by its descriptor, out of the dark",
     lambda: call(MOVE_MOUNT, hidden, b"", AT_FDCWD, b"/m", 4), {"move": 1})
os.close(hidden)


def elsewhere():
    """Remove the directory of a mount, in another namespace: the mount goes."""
    pid = gm.fork()
    if pid == 0:
        gm.unshare_mounts()
        for path in ("/m", "/m", "/m/b"):
            gm.umount(path, gm.MNT_DETACH)
        os.rmdir("/m/b")
        gm.done()
    gm.expect(os.waitpid(pid, 0)[1] == 0, "the other namespace")


step("its directory is removed elsewhere", elsewhere, {"umount": 1})



def pivot():
    os.chdir("/new")
    gm.libc.pivot_root(b".", b"old")
    os.chdir("/")
    if needs_proc:
        gm.mount("proc", "/proc", "proc")


# The root is another, without /proc: names are others, and what was the root is below it.
# The table needs it where there is no listmount, and a leak check always.
needs_proc = gm.sanitized() or "listmount" not in gm.SOURCES
pivot()
for replay in watches:
    # For a moment the new root is not below that of the watch, which is still the old one.
    replay.check(f"pivot_root: {replay.watch.name}")
if not needs_proc:
    gm.mount("proc", "/proc", "proc")
gm.umount("/old", gm.MNT_DETACH)
for replay in watches:
    replay.check(f"the old root goes: {replay.watch.name}")
    gm.expect(replay.watch.end() == -15, f"{replay.watch.name}: status {replay.watch.proc.returncode}")
gm.done()
