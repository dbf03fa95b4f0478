# SPDX-License-Identifier: MIT
"""Directories and files that vanish or are replaced between the reading of their names and their
examination, and between examination and opening.  Each is counted once, no symlink is followed, nothing
is lost.  strace stops the program at that moment.  A mount that never answers and appears there is not
entered."""
import os
import re
import signal
import stat
import struct
import subprocess
import time

import gm

gm.need("strace")
root = gm.Root()
for name in "abcdefg":
    for i in range(3):
        gm.mkdir(root / f"w/{name}/sub{i}/deep")
gm.mkdir(root / "other/place")
gm.touch(root / "w/file")
gm.tmpfs(root / "other/place/m")        # what a link would lead to
gm.tmpfs(root / "w/g/sub2/deep/m")      # what is searched for
gm.tmpfs(root / "z/y")
gm.tmpfs(root / "w/t/u/v")
have_fuse = os.path.exists("/dev/fuse")


class Directories(gm.FileFuse):
    """Has the directories d and d/e."""

    def attr(self, node):
        return struct.pack("=QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0,
                           stat.S_IFDIR | 0o755, 2, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode != 1:                 # LOOKUP
            return super().answer(opcode, node, body)
        inode = {b"d": 2, b"e": 3}.get(body.split(b"\0")[0])
        return struct.pack("=QQQQII", inode, 0, 0, 0, 0, 0) + self.attr(inode) if inode else 2


if have_fuse:
    os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
gm.tmpfs(root / "moves")
gm.tmpfs(root / "sized", "size=1m")
gm.install("strace", root.path)
root.enter()
ENV = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}
# In plain order; whatever is in a directory is looked at, and then opened; but
# not /proc, where more things come and go.
BASE = ["-J", "-l", "-o", "+ID,NAMED", "--threads=1", "--stats=json"]
PLAIN = "--prune=-likely,-nlink,-unlooked,+leaf"


def traced(call, *args):
    """The calls of a kind, as (directory, name)."""
    gm.getmnt("-y", "-o", "/tmp/trace", "-e", "trace=" + call, gm.PROGRAM, *args,
              program="/bin/strace", env=ENV)
    found = []
    with open("/tmp/trace", encoding="utf-8", errors="replace") as f:
        for text in f:
            match = re.match(r'\w+\((?:\d+<([^>]*)>|AT_FDCWD(?:<[^>]*>)?)(?:, "([^"]*)")?', text)
            if match:
                found.append((match.group(1), match.group(2)))
    return found


def settled(pid):
    """Whether a process has been stopped for a while."""
    for _ in range(4):
        text = gm.read(f"/proc/{pid}/status")
        now = re.search(r"State:\s+(\w)", text).group(1), re.findall(r"ctxt_switches:\s+(\d+)", text)
        if now[0] not in "tT" or (_ and now != before):
            return False
        before = now
        time.sleep(0.01)
    return True


def interfere(tag, args, where, before, act):
    """Stop a run when it has looked at a place, or, before that, at the one
    that is listed before it; act, and let it go on."""
    calls = traced("statx", *args)
    if where not in calls or calls[calls.index(where) - 1][0] != where[0]:
        return gm.fail(f"{tag}: no look at {where}, or it is the first, in {calls}")
    when = calls.index(where) + 1 - before
    proc = subprocess.Popen(
        ["/bin/strace", "-o", "/tmp/trace", "-e", "trace=statx", "-e",
         f"inject=statx:signal=SIGSTOP:when={when}", gm.PROGRAM, *args],
        stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    end = time.monotonic() + 10
    pid = 0
    while time.monotonic() < end:
        below = gm.read(f"/proc/{proc.pid}/task/{proc.pid}/children").split()
        try:
            if below and os.path.samefile(f"/proc/{below[0]}/exe", gm.PROGRAM) and settled(below[0]):
                pid = int(below[0])
                break
        except OSError:
            pass
        time.sleep(0.005)
    if not pid:
        proc.kill()
        return gm.fail(f"{tag}: it was not stopped")
    act()
    os.kill(pid, signal.SIGCONT)
    try:
        out, err = proc.communicate(timeout=gm.RUN_SECONDS)
    except subprocess.TimeoutExpired:
        proc.kill()
        os.kill(pid, signal.SIGKILL)
        return gm.fail(f"{tag}: it hangs")
    return gm.Result(proc.returncode, out, err)


def away():
    os.rename("/w/c", "/kept")


def instead(make):
    def act():
        away()
        make("/w/c")
    return act


def unlink():
    os.rename("/w/file", "/kept")


# What happens to /w/c, and how often something is counted as vanished when it
# happens before the look, and after it.
ACTS = {"removed": (away, 1, 1),
        "replaced by a link": (instead(lambda path: os.symlink("/other/place", path)), 0, 1),
        "replaced by a link to itself": (instead(lambda path: os.symlink(path, path)), 0, 1),
        "replaced by a link up": (instead(lambda path: os.symlink("..", path)), 0, 1),
        "replaced by a FIFO": (instead(os.mkfifo), 0, 1),
        "replaced by a file": (instead(gm.touch), 0, 1),
        "replaced by a directory": (instead(os.mkdir), 0, 0),
        "covered by a mount": (lambda: gm.tmpfs("/w/c"), 0, 1),
        "covered by a bind": (lambda: gm.bind("/other", "/w/c"), 0, 1)}


def restore():
    try:
        gm.umount("/w/c", gm.UMOUNT_NOFOLLOW | gm.MNT_DETACH)
    except OSError:
        pass
    if os.path.lexists("/kept"):
        if os.path.islink("/w/c") or not os.path.isdir("/w/c"):
            if os.path.lexists("/w/c"):
                os.unlink("/w/c")
        elif not os.path.isfile("/kept"):
            os.rmdir("/w/c")
        os.rename("/kept", "/w/file" if os.path.isfile("/kept") else "/w/c")
    # What came last is listed first: one must stand before it.
    os.rename("/w/a", "/a")
    os.rename("/a", "/w/a")


lines = gm.oracle()
RUNS = [("walk", "getmnt1", "listmount"), ("walk", "getmnt2", "listmount"),
        ("walk", "getmnt3", "listmount"), ("pure", "getmnt3", "listmount"),
        ("walk", "getmnt3", "mountinfo"), ("pure", "getmnt1", "mountinfo")]
RUNS = [run for run in RUNS if run[2] in gm.SOURCES]


def check(tag, names, args, where, before, act, count):
    result = interfere(tag, args, where, before, act)
    restore()
    if not result:
        return
    gm.compare(tag, names, lines, result)
    stats = result.stats()
    gm.expect(stats["vanished"] == count, f"{tag}: {stats['vanished']} vanished, not {count}")
    gm.expect(stats["errors"] == 0 and stats["gone"] == 0 and not stats["states"].get("lost"),
              f"{tag}: {stats['errors']} errors, {stats['gone']} gone, {stats['states']}")


for names, algorithm, source in RUNS:
    args = BASE + ["--names=" + names, "--algorithm=" + algorithm, "--kernel=" + source]
    for what, (act, before_look, behind_look) in ACTS.items():
        tag = f"{names} {algorithm} {source}: {what}"
        check(tag + " when listed", names, args + [PLAIN], ("/w", "c"), True, act, before_look)
        check(tag + " when looked at", names, args + [PLAIN], ("/w", "c"), False, act, behind_look)
    # Where files are examined as well, one that is gone counts the same.
    check(f"{names} {algorithm} {source}: a file", names, args + [PLAIN + ",-dtype"],
          ("/w", "file"), True, unlink, 1)


def cover():
    """Mount a FUSE that never answers on the directory that was looked at."""
    hung.append(gm.HungFuse(path))


hung = []
for path in ("/w/c", "/w/t") if have_fuse else ():
    result = interfere("a hung FUSE on " + path, BASE + ["--names=walk", PLAIN], ("/w", path[3:]), False, cover)
    if result:
        gm.expect(result.status in (0, 64), f"a hung FUSE on {path}: status {result.status}")
    gm.umount(path, gm.MNT_DETACH)
    hung.pop().end()
    restore()

# Sizes are those of the mount of the row, or empty.
result = interfere("sizes", ["-n", "-l", "-b", "--threads=1", "-o", "TARGET,SIZE", "/sized"],
                   (None, "/sized"), False, lambda: gm.tmpfs("/sized", "size=2m"))
if result:
    gm.expect(result.out.split() == [b"/sized"], f"sizes of another mount: {result.out}")


def move():
    """Move the mount into a FUSE that stops: it is not searched there."""
    gm.mount("/moves", "/fz/d/e", None, gm.MS_MOVE)
    server.stopped = True


if have_fuse:
    server = Directories("/fz")
    interfere("moved", ["-J", "-l", "--threads=1"], (None, "/moves"), True, move)
    os.close(server.fd)
gm.done()
