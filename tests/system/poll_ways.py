# SPDX-License-Identifier: MIT
"""--poll where there are no events, or other mounts: as an ordinary user, in a
user namespace, in a chroot, without /proc, of another process."""
import os
import signal

import gm

root = gm.Root()
gm.tmpfs(root / "m", source="ground")
for name in ("a", "b", "jail", "mine"):
    gm.mkdir(root / f"m/{name}")
os.chown(root / "m/mine", 65534, 65534)
gm.install_program(gm.tmpfs(root / "m/jail", source="jail"))
gm.mkdir(root / "m/jail/in")
gm.mount("proc", gm.mkdir(root / "m/jail/proc"), "proc")
root.enter()


def actions(watch):
    return [(row["action"], row["target"], row["source"]) for row in watch.rows()]


def change(watch, path, shown, title):
    """Mount, remount and unmount; each is reported."""
    gm.mount("x", path, "tmpfs", 0, "size=4k")
    watch.wait_rows(1)
    gm.mount(None, path, None, 32 | gm.MS_BIND | gm.MS_RDONLY)
    watch.wait_rows(2)
    gm.umount(path)
    watch.wait_rows(3)
    want = [(action, shown, "x") for action in ("mount", "remount", "umount")]
    gm.expect(actions(watch) == want, f"{title}: {actions(watch)}")


# An ordinary user may not have events of this namespace.
watch = gm.Watch("--format=jsonl", prepare=gm.become_nobody)
gm.expect(not watch.by_events(), f"a user by events: {watch.err}")
change(watch, "/m/a", "/m/a", "a user")
gm.expect(watch.end(signal.SIGINT) == -2, "a user: its end")

# In a chroot what is outside of it is not told, however it moves.
for args, env in gm.WATCHES:
    watch = gm.Watch("--format=jsonl", *args, env=env,
                     prepare=lambda: (os.chroot("/m/jail"), os.chdir("/")))
    gm.mount("out", "/m/a", "tmpfs", 0, "size=4k")
    gm.mount("/m/a", "/m/b", None, gm.MS_MOVE)
    change(watch, "/m/jail/in", "/in", f"a chroot, {watch.name}")
    # From outside to within is a mount, and back an umount.
    gm.mount("/m/b", "/m/jail/in", None, gm.MS_MOVE)
    watch.wait_rows(4)
    gm.mount("/m/jail/in", "/m/a", None, gm.MS_MOVE)
    watch.wait_rows(5)
    gm.umount("/m/a")
    change_rows = actions(watch)[3:]
    gm.expect(change_rows == [("mount", "/in", "out"), ("umount", "/in", "out")],
              f"a chroot, {watch.name}: {change_rows}")
    watch.end()

# Without /proc there is nothing to wait on.
gm.umount("/m/jail/proc")
if not gm.sanitized():      # whose leak check needs it
    result = gm.getmnt("-p", "-w100", chroot="/m/jail")
    gm.expect(result.status == 1 and b"mount -t proc" in result.err and not result.out,
              f"without /proc: {result.status}, {result.err}")


def contained():
    """An unprivileged container has events of its own namespace."""
    if not gm.enter_user_namespace():
        return
    for args, env in gm.WATCHES:
        own = gm.Watch("--format=jsonl", *args, env=env)
        change(own, "/m/mine", "/m/mine", f"a container, {own.name}")
        print(f"  a container, {own.name}: events {own.by_events()}")
        gm.expect(own.end() == -15, f"a container, {own.name}: its end")


gm.in_child(contained)

# Another process: the mounts of its namespace, until it ends.
def theirs():
    gm.unshare_mounts()
    yield
    for _ in range(3):
        gm.mount("theirs", "/m/b", "tmpfs", 0, "size=4k")
        yield
        gm.umount("/m/b")
        yield


other = gm.Other(theirs)
watch = gm.Watch("--format=jsonl", "-o", "+TID", "--task", str(other.pid))
gm.expect(not watch.by_events(), "the events of another namespace")
gm.mount("ours", "/m/a", "tmpfs", 0, "size=4k")
for turn in range(3):
    for more in (1, 2):
        other.step()
        watch.wait_rows(2 * turn + more)
gm.umount("/m/a")
want = [("mount", "/m/b", "theirs"), ("umount", "/m/b", "theirs")] * 3
gm.expect(actions(watch) == want, f"--task: {actions(watch)}")
gm.expect(all(row["tid"] == other.pid for row in watch.rows()), f"--task: {watch.rows()[0]}")
other.end()
status = watch.status()
gm.expect(status == 0 and b"has ended" in watch.err, f"--task that ends: {status}, {watch.err}")
result = gm.getmnt("-p", "--task", "999999")
gm.expect(result.status == 1 and b"999999" in result.err, f"a dead PID: {result.err}")
gm.done()
