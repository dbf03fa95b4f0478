# SPDX-License-Identifier: MIT
"""--poll: each change reported once, with old and new values, by every way of watching,
and as findmnt tells it."""
import os

import gm

gm.need("findmnt")
root = gm.Root()
gm.install("findmnt", root.path)
gm.tmpfs(root / "m", source="ground")
for name in ("a", "b", "c", "d", "g/h", "s"):
    gm.mkdir(root / f"m/{name}")
gm.touch(root / "m/file")
gm.touch(root / "m/other")
root.enter()

COLUMNS = "ACTION,TARGET,SOURCE,FSTYPE,OPTIONS,OLD-TARGET,OLD-OPTIONS"
watches = [gm.Watch(*args, "--format=jsonl", "-o", COLUMNS + ",ID,UNIQ-ID", env=env)
           for args, env in gm.WATCHES]
pairs = [gm.Watch(*args, "-P", "-o", COLUMNS, env=env) for args, env in gm.WATCHES]
everything = [gm.Watch(*args, "--format=jsonl", "--poll=+propagation", env=env)
              for args, env in gm.WATCHES]
theirs = gm.Watch("--poll", "-P", "-o", COLUMNS, program="/bin/findmnt", debug=False)
# It says nothing when it begins: until it tells of a mount, it may not watch.
while not theirs.out:
    gm.tmpfs("/m/s", source="begin")
    gm.umount("/m/s")
    gm.time.sleep(0.02)
begun = theirs.lines()
for watch in watches + pairs + everything:
    gm.expect(watch.proc.poll() is None, f"{watch.name}: has ended: {watch.err}")
gm.expect(not watches[1].by_events() and not watches[2].by_events(), "events that are switched off")
print(f"  by events: {watches[0].by_events()}")

# A marker, so that all have told what was before it.
marks = 0


def mark():
    """Mount and unmount a marker, and wait until every watch has reported it."""
    global marks
    marks += 1
    name = f"mark{marks}"
    gm.tmpfs("/m/s", source=name)
    for watch in watches + pairs + everything + [theirs]:
        watch.wait(lambda w=watch: name.encode() in w.out, name)
    gm.umount("/m/s")
    for watch in watches + pairs + everything + [theirs]:
        watch.wait(lambda w=watch: sum(name in line and "umount" in line for line in w.lines()),
                   "end of " + name)


def told(watch, since):
    return [line for line in watch.lines()[since:] if "/m/s\"" not in line]


def step(title, action, expected):
    """Let something happen, of which these are the changes, each (action, target,
    options, old target, old options)."""
    mark()
    before = {id(w): len(w.lines()) for w in watches + pairs + everything + [theirs]}
    action()
    for watch in watches + pairs + everything:
        watch.wait(lambda w=watch: len(told(w, before[id(w)])) >= len(expected),
                   f"{title}: {len(expected)} changes")
    mark()
    for watch in watches:
        rows = [row for row in watch.rows()[before[id(watch)]:] if row["target"] != "/m/s"]
        got = [(row["action"], row["target"], row["options"], row["old-target"], row["old-options"])
               for row in rows]
        want = [(*change, *[None] * (5 - len(change))) for change in expected]
        # What one call does to several mounts has no order among them.
        got.sort(key=str)
        want.sort(key=str)
        gm.expect(got == want, f"{title}: {watch.name}: {got}, not {want}")
    lines = [sorted(told(w, before[id(w)])) for w in pairs + [theirs]]
    gm.expect(all(line == lines[-1] for line in lines), f"{title}: not as findmnt: {lines}")
    # Changes of propagation are reported only on request.
    for watch in everything:
        rows = [row for row in watch.rows()[before[id(watch)]:] if row["target"] != "/m/s"]
        more = [row for row in rows if row["action"] == "propagation"]
        gm.expect(len(rows) - len(more) == len(expected), f"{title}: {watch.name}: {rows}")


SIZED = "rw,relatime,size=65536k"
step("mount", lambda: gm.tmpfs("/m/a", source="A"), [("mount", "/m/a", SIZED)])
step("mount below", lambda: gm.tmpfs("/m/a/sub", source="sub"), [("mount", "/m/a/sub", SIZED)])
step("stack", lambda: gm.tmpfs("/m/a/sub", source="top"), [("mount", "/m/a/sub", SIZED)])
step("move", lambda: gm.mount("/m/a", "/m/b", None, gm.MS_MOVE),
     [("move", "/m/b", SIZED, "/m/a"), ("move", "/m/b/sub", SIZED, "/m/a/sub"),
      ("move", "/m/b/sub", SIZED, "/m/a/sub")])
step("remount of a mount", lambda: gm.mount(None, "/m/b", None, 32 | gm.MS_BIND | gm.MS_RDONLY),
     [("remount", "/m/b", "ro,relatime,size=65536k", None, SIZED)])
step("remount of a file system", lambda: gm.mount(None, "/m/b/sub", None, 32, "size=128k"),
     [("remount", "/m/b/sub", "rw,relatime,size=128k", None, SIZED)])
step("the same remount again", lambda: gm.mount(None, "/m/b/sub", None, 32, "size=128k"), [])
step("bind", lambda: gm.bind("/m/b", "/m/c"), [("mount", "/m/c", "ro,relatime,size=65536k")])
step("a bind's own options", lambda: gm.mount(None, "/m/c", None, 32 | gm.MS_BIND | 8),
     [("remount", "/m/c", "rw,noexec,relatime,size=65536k", None, "ro,relatime,size=65536k")])
step("the file system of both", lambda: gm.mount(None, "/m/c", None, 32, "size=4m"),
     [("remount", "/m/b", "ro,relatime,size=4096k", None, "ro,relatime,size=65536k"),
      ("remount", "/m/c", "rw,relatime,size=4096k", None, "rw,noexec,relatime,size=65536k")])
step("bind of a file", lambda: gm.bind("/m/file", "/m/other"), [("mount", "/m/other", SIZED)])
step("umount of a file", lambda: gm.umount("/m/other"),
     [("umount", "/m/other", SIZED, "/m/other", SIZED)])
step("shared", lambda: gm.propagation("/m/c", gm.MS_SHARED), [])
step("a peer", lambda: gm.bind("/m/c", "/m/d"), [("mount", "/m/d", "rw,relatime,size=4096k")])
gm.mkdir("/m/c/in")
step("a mount that propagates", lambda: gm.tmpfs("/m/c/in", source="both"),
     [("mount", "/m/c/in", SIZED), ("mount", "/m/d/in", SIZED)])
step("an umount that propagates", lambda: gm.umount("/m/d/in"),
     [("umount", "/m/d/in", SIZED, "/m/d/in", SIZED), ("umount", "/m/c/in", SIZED, "/m/c/in", SIZED)])
step("private again", lambda: gm.propagation("/m/c", gm.MS_PRIVATE), [])
step("umount of the top", lambda: gm.umount("/m/b/sub"),
     [("umount", "/m/b/sub", "rw,relatime,size=128k", "/m/b/sub", "rw,relatime,size=128k")])
step("a mount that covers", lambda: gm.tmpfs("/m/b", source="cover"), [("mount", "/m/b", SIZED)])
step("and goes", lambda: gm.umount("/m/b"), [("umount", "/m/b", SIZED, "/m/b", SIZED)])
step("lazy umount", lambda: gm.umount("/m/b", gm.MNT_DETACH),
     [("umount", "/m/b", "ro,relatime,size=4096k", "/m/b", "ro,relatime,size=4096k"),
      ("umount", "/m/b/sub", SIZED, "/m/b/sub", SIZED)])

# What a mount point is called changes when a directory above it does.
step("mount deep", lambda: gm.tmpfs("/m/g/h", source="deep"), [("mount", "/m/g/h", SIZED)])
step("a directory renamed", lambda: os.rename("/m/g", "/m/z"),
     [("move", "/m/z/h", SIZED, "/m/g/h")])

# Changes that the kernel does not announce are found by reading the table again.
counts = [len(watch.lines()) for watch in everything]
gm.expect(gm.reconfigure("/m/z/h", "ro"), "fsconfig ro")
gm.propagation("/m/d", gm.MS_PRIVATE)
for watch, count in zip(everything, counts):
    rows = [(row["action"], row["target"]) for row in watch.wait_rows(count + 2)[count:]]
    gm.expect(sorted(rows) == [("propagation", "/m/d"), ("remount", "/m/z/h")],
              f"fsconfig and make-private: {watch.name}: {rows}")

for watch in everything:
    rows = [(row["target"], row["old-propagation"], row["propagation"]) for row in watch.rows()
            if row["action"] == "propagation"]
    gm.expect(rows == [("/m/c", "private", "shared"), ("/m/c", "shared", "private"),
                       ("/m/d", "shared", "private")],
              f"propagation: {watch.name}: {rows}")
for watch in watches:
    rows = watch.rows()
    key = "id" if "mountinfo" in watch.name or len(gm.SOURCES) == 1 else "uniq-id"
    gm.expect(all(row[key] for row in rows), f"{watch.name}: a change without {key}")
for watch in watches + pairs + everything + [theirs]:
    gm.expect(watch.end() == -15, f"{watch.name}: status {watch.proc.returncode}")
gm.done()
