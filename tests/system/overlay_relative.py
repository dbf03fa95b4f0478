# SPDX-License-Identifier: MIT
"""Overlays whose layers were given as relative names: local while no mount can block; else only where an
engine's long names exist in a directory above the mount point or above the upper layer."""
import os
import stat

import gm

gm.need_fs("fuse", "overlay")
ID, OTHER = "4f" * 32, "7a" * 32
SHORT = [f"{letter * 5}QRSTUVWXYZ2345672345A" for letter in "AB"]


def overlay(start, target, options):
    """Mount an overlay from a directory, as engines do."""
    here = os.getcwd()
    os.chdir(start)
    gm.mount("overlay", gm.mkdir(target), "overlay", 0, options)
    os.chdir(here)


def layer(path, name):
    gm.touch(gm.mkdir(path) + "/" + name)


def states():
    """The state of each mount point; and the files that a search finds."""
    result = gm.getmnt("-J", "-l", "-o", "TARGET,STATE")
    gm.expect(result.status == 0, f"status {result.status}: {result.err}")
    found = gm.getmnt("search", "--type=f", "only-*|both-*", "/")
    return {row["target"]: row["state"] for row in result.rows()}, found.out.decode().split()


def expect(tag, *blocked):
    """All overlays are local but for these, and a search enters those that are local."""
    state, found = states()
    for target, name in OVERLAYS.items():
        untested = target in blocked
        gm.expect(state[target] == ("untested" if untested else "ok"), f"{tag}: {target} is {state[target]}")
        gm.expect((f"{target}/{name}" in found) is not untested, f"{tag}: {target}: a search finds {found}")


root = gm.Root()
gm.tmpfs(root / "up")
for name in ("m", "slow" + "0" * 20, "x", "dev"):
    gm.mkdir(root / name)
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
ENGINE, SNAPSHOTS = "/var/lib/docker/overlay2", "/var/lib/containerd/snapshots"
for number, name in enumerate(SHORT):
    layer(root / f"{ENGINE.lstrip('/')}/{number}/diff", f"only-{number}")
    gm.mkdir(root / f"{ENGINE.lstrip('/')}/l")
    os.symlink(f"../{number}/diff", root / f"{ENGINE.lstrip('/')}/l/{name}")
layer(root / "x/low", "only-x")
layer(root / "x/high", "only-high")
for name in ("1/fs", f"{OTHER}/fs"):
    layer(root / f"{SNAPSHOTS.lstrip('/')}/{name}", "only-snapshot")
root.enter()
gm.tmpfs(ENGINE + "/" + ID)
for name in ("diff", "work"):
    gm.mkdir(f"{ENGINE}/{ID}/{name}")
for name in ("fs", "work"):
    gm.mkdir(f"/up/2/{name}")
LOWER = ":".join("l/" + name for name in SHORT)
# As Docker and Podman do: everything is relative.  Then by names that others have as well.  Then as containerd
# does, with numbers and with long names; the upper layer is absolute.
gm.mkdir(f"{SNAPSHOTS}/2")
gm.mount("/up/2", f"{SNAPSHOTS}/2", None, gm.MS_BIND)
overlay(ENGINE, f"{ENGINE}/{ID}/merged", f"lowerdir={LOWER},upperdir={ID}/diff,workdir={ID}/work")
overlay("/x", "/x/merged", "lowerdir=low:high")
overlay(SNAPSHOTS, "/run/1/rootfs", f"lowerdir=1/fs,upperdir={SNAPSHOTS}/2/fs,workdir={SNAPSHOTS}/2/work")
overlay(SNAPSHOTS, "/run/2/rootfs", f"lowerdir=1/fs:{OTHER}/fs")
for name in ("fs", "work"):
    gm.mkdir(f"/up/3/{name}")
gm.mkdir(f"{SNAPSHOTS}/3")
gm.mount("/up/3", f"{SNAPSHOTS}/3", None, gm.MS_BIND)
overlay(SNAPSHOTS, "/run/3/rootfs", f"lowerdir={OTHER}/fs,upperdir={SNAPSHOTS}/3/fs,workdir={SNAPSHOTS}/3/work")
OVERLAYS = {f"{ENGINE}/{ID}/merged": "only-1", "/x/merged": "only-high", "/run/1/rootfs": "only-snapshot",
            "/run/2/rootfs": "only-snapshot", "/run/3/rootfs": "only-snapshot"}
expect("nothing can block")
# Another file system can block now: a short name can be one of its directories as well, and nothing shows from which
# directory the second one with numbers was mounted.
elsewhere = gm.HungFuse("/m")
expect("a mount that can block", "/x/merged", "/run/1/rootfs", "/run/2/rootfs")
# A long name that leads to such a mount.
hung = gm.FileFuse("/slow" + "0" * 20)
overlay("/", "/lies", f"lowerdir=slow{'0' * 20}:x/low")
hung.stopped = True
OVERLAYS["/lies"] = "only-x"
expect("a layer that can block", "/x/merged", "/run/1/rootfs", "/run/2/rootfs", "/lies")
# A name that does not exist any more.
os.unlink(f"{ENGINE}/l/{SHORT[0]}")
expect("a missing name", "/x/merged", "/run/1/rootfs", "/run/2/rootfs", "/lies", f"{ENGINE}/{ID}/merged")
gm.umount("/lies")
del OVERLAYS["/lies"]
elsewhere.end()
gm.umount("/slow" + "0" * 20, gm.MNT_DETACH)
gm.umount("/m")
expect("nothing can block any more")
# An automounter is no layer.
gm.Autofs("/auto", "indirect")
expect("an automounter")
gm.done()
