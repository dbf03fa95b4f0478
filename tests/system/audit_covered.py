# SPDX-License-Identifier: MIT
"""getmnt audit --under: what lies in the directories that something is mounted on, seen without
unmounting, attaching, waking or waiting for anything."""
import json
import os

import gm

MS_SHARED_REC = gm.MS_SHARED | gm.MS_REC

gm.need_fs("ext4", "fuse", "autofs")
gm.need("mkfs.ext4", "mount")
gm.hide_init()
root = gm.Root()
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /direct tmpfs noauto,x-systemd.automount 0 0\n")
# A systemd that has no unit for /direct.
gm.mkdir(root / "run/systemd/system")
gm.mkdir(root / "usr/bin")
gm.install("sh", root.path)
gm.touch(root / "usr/bin/systemctl", "#!/bin/sh\necho 'Id=-.mount\nWhere=/'\n")
os.chmod(root / "usr/bin/systemctl", 0o755)
image = root / "disk.img"
gm.image(image, 32 << 20, "mkfs.ext4", "-q")


def fill(place, *names):
    """A directory with files."""
    for name in names:
        gm.touch(f"{root / place}/{name}", "data")


for place in ("data", "empty", "keep", "one", "self", "ov", "bound", "tmp", "big", "hidden", "covered", "direct", "idle", "over", "w"):
    gm.mkdir(root / place)
fill("data", "a\n\x1b", "b", "c", "d")
fill("keep", ".gitkeep", ".keep")
fill("one", "x")
fill("self", "x")
fill("ov", "x")
fill("bound", "x")
fill("tmp", "x", "y")
fill("direct", "x")
fill("idle", "x")
fill("over", "x")
fill("big", *(f"a long name of a file {i:04}" for i in range(2000)))
gm.touch(root / "file", "x")
loop = gm.loop_mount(image, root / "data")
fill("data", "y", "z")
gm.mkdir(root / "data/sub")
fill("data/sub", "x")
for place in ("data/sub", "empty", "keep", "one"):
    gm.mount(root / "data", root / place, None, gm.MS_BIND)
gm.tmpfs(root / "tmp")
gm.tmpfs(root / "big")
gm.mount(root / "self", root / "self", None, gm.MS_BIND)
gm.mount(root / "file", gm.touch(root / "under") or root / "under", None, gm.MS_BIND)
os.utime(root / "bound", (0, 0))      # relatime: a read changes it
atime = os.stat(root / "bound").st_atime_ns
gm.mount(root / "tmp", root / "bound", None, gm.MS_BIND)
# Automounts: idle, triggered, and indirect.
triggers = [gm.Autofs(root / "idle", "direct"), gm.Autofs(root / "direct", "direct", source="systemd-1"), gm.Autofs(root / "keys", "indirect")]
gm.tmpfs(root / "direct")
gm.tmpfs(root / "keys/key")
# A server that stops answering, with a mount in it.
server = gm.FileFuse(root / "served", {"f": b"data"})
gm.mount(root / "file", root / "served/f", None, gm.MS_BIND)
server.stopped = True
# A hidden mount is not looked at; all mounts of a stack cover one directory.
fill("covered", "x")
gm.mkdir(root / "hidden/below")
gm.tmpfs(root / "hidden/below")
gm.tmpfs(root / "hidden")
gm.tmpfs(root / "over", source="first")
gm.touch(root / "over/in the first", "x")
gm.tmpfs(root / "over", source="second")
root.enter()
try:
    gm.tmpfs("/w")
    gm.overlay("/ov", "/ov", "/w")
except OSError:
    print("  no overlay here: one upon its own layer was not tried")
gm.mount(None, "/", None, MS_SHARED_REC)


def under(*args, only="MNT-UNDER-NOT-EMPTY", **more):
    """SEVERITY of each target; messages; what is not judged; the document."""
    result = gm.getmnt("audit", "--json", f"--only={only}", "--under", "--stats=json", *args, seconds=20, **more)
    gm.expect(result.status in (0, 1), f"{args} {more}: {result.status} {result.err}")
    document = json.loads(result.out)
    findings = document["findings"]
    return {f["target"]: f["severity"] for f in findings}, {f["target"]: f["message"] for f in findings}, document["not_judged"], result


before = gm.read_bytes("/proc/self/mountinfo")
WANTED = {"/data": "warning", "/data/sub": "warning", "/one": "warning", "/tmp": "info", "/big": "info", "/bound": "info", "/hidden": "info",
          "/over": "info"}
found, messages, unjudged, result = under()
gm.expect(found == WANTED, f"found: {found}")
gm.expect(unjudged == ["MNT-UNDER-NOT-EMPTY"], f"mounts that can block are not reported as unchecked: {unjudged}")
gm.expect("4 entries" in messages["/data"] and messages["/data"].endswith(" ..."), f"/data: {messages}")
gm.expect("hides 1 entry of" in messages["/one"] and messages["/one"].endswith(": x"), f"/one: {messages}")
gm.expect("2 entries" in messages["/tmp"] and "at least " in messages["/big"], f"/tmp, /big: {messages}")
gm.expect("hides 1 entry" in messages["/over"] and messages["/over"].endswith(": x"), f"of a stack: {messages}")
calls = result.stats()["calls"]
gm.expect(calls["open_tree"] == 2, f"one clone for each mount that others are on: {calls['open_tree']}")
for trigger in triggers:
    gm.expect(not trigger.requests(), "an automount was triggered")
gm.expect(gm.read_bytes("/proc/self/mountinfo") == before, "the table of mounts has changed")
# With --include=automount triggered automounts are included, but not idle ones.
found, _, _, _ = under("--include=automount")
gm.expect(found == {**WANTED, "/direct": "info"}, f"automounts: {found}")
for trigger in triggers:
    gm.expect(not trigger.requests(), "an automount was triggered")
# Control characters in names are escaped, on a terminal and in a pipe.
text = gm.getmnt("audit", "--only=MNT-UNDER-*", "--under")
gm.expect(text.status == 1 and b"\x1b" not in text.out, f"a name with escapes: {text.out}")

# Without --under nothing is looked at.
result = gm.getmnt("audit", "--json", "--only=MNT-UNDER-*", "--stats=json")
document = json.loads(result.out)
gm.expect(not document["findings"] and document["not_judged"] == ["MNT-UNDER-NOT-EMPTY"], f"without --under: {document}")
gm.expect(result.stats()["calls"]["open_tree"] == 0, "open_tree was called without --under")
# Where looking is not possible the rule is not checked, and nothing is reported.
found, _, unjudged, _ = under(uid=1000)
gm.expect((found, unjudged) == ({}, ["MNT-UNDER-NOT-EMPTY"]), f"a user: {found} {unjudged}")
# On older kernels it is possible.
for words in ("openat2", "statx-mntid", "listmount", "listmount,statx-mntid,openat2,uring"):
    found, _, unjudged, _ = under(env=gm.without(words))
    gm.expect((found, unjudged) == (WANTED, ["MNT-UNDER-NOT-EMPTY"]), f"without {words}: {found} {unjudged}")
result = gm.getmnt("audit", "--require-complete", "--only=MNT-UNDER-*", "--under", uid=1000)
gm.expect(result.status == 2, f"--require-complete of a user: {result.status}")
# When nothing blocks any more all mounts are checked.
gm.umount("/served", gm.MNT_DETACH)
gm.umount("/keys/key", gm.MNT_DETACH)
found, _, unjudged, _ = under()
gm.expect((found, unjudged) == (WANTED, []), f"without what can block: {found} {unjudged}")
for place in ("/over", "/over", "/direct", "/bound", "/data/sub", "/empty", "/keep", "/one", "/data"):
    gm.umount(place, gm.MNT_DETACH)
gm.expect(os.stat("/bound").st_atime_ns == atime, "it was seen that somebody has looked")
gm.done()
