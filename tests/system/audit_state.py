# SPDX-License-Identifier: MIT
"""getmnt audit --probe, run repeatedly next to servers that never answer: a probe that is left running is
recorded and not repeated; without --probe nothing waits."""
import fcntl
import glob
import json
import os
import re
import shutil
import stat
import threading
import time

import gm

RUNS = int(os.environ.get("GM_RUNS", "20"))
STATE = "/run/getmnt"
MS_REMOUNT = 32
UNASKED = {"MNT-STALE", "MNT-TIMEOUT"}

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /ok tmpfs defaults 0 0\n")
gm.tmpfs(root / "ok")
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
silent = gm.SilentFuse(root / "silent")
hung = gm.HungFuse(root / "hung")
gm.mount(root / "silent", gm.mkdir(root / "bound"), None, gm.MS_BIND)
root.enter()
SERVERS = ["/hung", "/silent"]


def audit(*args, status=(0, 1), **more):
    """The mounts that do not answer, with their messages; the document; the run."""
    result = gm.getmnt("audit", "--json", "--only=MNT-*", *args, **more)
    gm.expect(result.status in status, f"{args} {more}: {result.status} {result.err}")
    document = json.loads(result.out)
    return {f["target"]: f["message"] for f in document["findings"] if f["code"] == "MNT-TIMEOUT"}, document, result


def probe(**more):
    return audit("--probe=all", "--probe-timeout=0.2", **more)


def settled(true, what):
    end = time.monotonic() + gm.WAIT_SECONDS
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    gm.expect(true(), what)


# Without --probe nothing is created or probed.
audit()
gm.expect(not os.path.exists(STATE), "without --probe there is a directory")

# Repeated runs.
descriptors = len(os.listdir("/proc/self/fd"))
found, document, _ = probe()
gm.expect(sorted(found) == SERVERS and not UNASKED & set(document["not_judged"]), f"the first: {document}")
gm.expect("still" not in str(found), f"the first: {found}")
left, requests = gm.probers(), silent.requests
gm.expect(len(left) == 1, f"left: {left}")
pid = next(iter(left))
before = time.time()
for number in range(1, RUNS):
    found, _, _ = probe()
    gm.expect(sorted(found) == SERVERS, f"run {number}: {found}")
    gm.expect(re.fullmatch(f"still does not answer: process {pid} waits for it since "
                           r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["/silent"]), f"run {number}: {found}")
    gm.expect(gm.probers() == left, f"run {number}: {gm.probers()}, not {left}")
gm.expect(silent.requests == requests, "a server recorded as silent got a request")
gm.expect(len(os.listdir(STATE)) == 1, f"remembered: {os.listdir(STATE)}")
gm.expect(len(os.listdir("/proc/self/fd")) == descriptors, "descriptors")
print(f"  {RUNS} runs: {len(left)} process left, {(time.time() - before) / RUNS:.2f} s each", flush=True)

# With --probe a run waits a moment for another that has the directory; without it does not.
lock = os.open(STATE, os.O_RDONLY | os.O_DIRECTORY)
fcntl.flock(lock, fcntl.LOCK_EX)
_, _, result = audit("--stats=json")
gm.expect(result.stats()["calls"]["flock"] == 0, "an audit without --probe has asked for the lock")
found, document, result = audit("--probe=all", "--probe-timeout=0.2", "--stats=json", status=(2,))
gm.expect(result.stats()["calls"]["flock"] > 1, "an audit with --probe has not waited for the lock")
gm.expect(not found and UNASKED <= set(document["not_judged"]) and not document["complete"]
          and "another run is probing" in str(document["incomplete_reasons"]), f"the lock is held: {document}")
threading.Timer(1, os.close, [lock]).start()
found, document, _ = probe()
gm.expect(sorted(found) == SERVERS and document["complete"], f"the lock was held for a second: {document}")
# A probe that is left running does not hold the lock.
silent.end()
settled(lambda: not gm.probers(), f"the server has ended: {gm.probers()} are left")
gm.umount("/bound", gm.MNT_DETACH)
gm.umount("/silent", gm.MNT_DETACH)
silent = gm.SilentFuse("/silent")
probe()
gm.expect(len(gm.probers()) == 1 and len(os.listdir(STATE)) == 1, f"a new server: {gm.probers()} {os.listdir(STATE)}")
lock = os.open(STATE, os.O_RDONLY | os.O_DIRECTORY)
fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.close(lock)

# A directory that others may write is refused, and nothing is probed.
requests = silent.requests


def refused(tag, text, **more):
    found, document, result = probe(status=(2,), **more)
    gm.expect(not found and UNASKED <= set(document["not_judged"]) and text in str(document["incomplete_reasons"]),
              f"{tag}: {document}")
    gm.expect(silent.requests == requests, f"{tag}: the mount was probed")
    result = gm.getmnt("audit", "--only=MNT-*", "--probe=all", **more)
    gm.expect(result.status == 2 and b"getmnt" in result.err and text.encode() in result.err, f"{tag}: {result.err}")


OURS = "is not a directory with mode 0700 of this user"
os.rename(STATE, "/run/other")
kept = os.listdir("/run/other")
os.symlink("other", STATE)
refused("a symlink", OURS)
gm.expect(os.listdir("/run/other") == kept, "something was done through a symlink")
os.unlink(STATE)
os.symlink("gone", STATE)
refused("a symlink to nothing", OURS)
gm.expect(not os.path.lexists("/run/gone"), "a directory was made through a symlink")
os.unlink(STATE)
os.mkfifo(STATE, 0o700)
refused("a FIFO", OURS)
os.unlink(STATE)
gm.touch(STATE)
refused("a file", OURS)
os.unlink(STATE)
os.mkdir(STATE, 0o700)
for mode, uid in ((0o777, 0), (0o710, 0), (0o700, 1000)):
    os.chmod(STATE, mode)
    os.chown(STATE, uid, 0)
    refused(f"mode {mode:o} of {uid}", OURS)
gm.expect(not os.listdir(STATE), f"something was written: {os.listdir(STATE)}")
os.rmdir(STATE)
# Where no directory can be created, and where it can block.
gm.mount(None, "/run", None, MS_REMOUNT | gm.MS_RDONLY)
refused("read-only", "is its file system read-only")
gm.mount(None, "/run", None, MS_REMOUNT)
other = gm.HungFuse("/run")
refused("/run can block", "on a file system that cannot block")
gm.umount("/run", gm.MNT_DETACH)
other.end()

# An ordinary user has a directory in XDG_RUNTIME_DIR, or else in /run/user, or in /tmp.
user = {"uid": 1000}
gm.mkdir("/run/user/1000")
gm.mkdir("/run/user/1001")
os.chmod("/run/user/1000", 0o700)
os.chown("/run/user/1000", 1000, 1000)
os.symlink("1000", "/run/user/link")
os.symlink("user", "/run/users")


def runtime(value):
    return {**user, "env": {"XDG_RUNTIME_DIR": value}}


refused("one by a link", OURS, **runtime("/run/user/link"))
refused("one through a link", OURS, **runtime("/run/users/1000"))
refused("one upwards", OURS, **runtime("/run/user/1001/../1000"))
os.chmod("/run/user/1000", 0o777)
refused("one that all may write to", OURS, **runtime("/run/user/1000"))
os.chmod("/run/user/1000", 0o700)
gm.expect(not os.listdir("/run/user/1000"), "something was made")
before = len(gm.probers())
for number in range(3):
    found, document, _ = probe(**runtime("/run/user/1000"))
    gm.expect("/silent" in found and document["complete"], f"of a user, run {number}: {document}")
info = os.stat("/run/user/1000/getmnt")
gm.expect(stat.S_IMODE(info.st_mode) == 0o700 and info.st_uid == 1000, f"of a user: {info}")
gm.expect(len(gm.probers()) == before + 1 and len(os.listdir("/run/user/1000/getmnt")) == 1, f"of a user: {gm.probers()}")

# Without the variable, and if it names no directory of this user, the same directory is used: no second
# process is started.
OTHERS = {"none": user, "relative": runtime("run/user/1000"), "long": runtime("/run/" + "x" * 4000), "another's": runtime("/run/user/1001"),
          "not there": runtime("/run/user/1002"), "empty": runtime(""), "closed": runtime("/run/closed/1000")}
gm.mkdir("/run/closed/1000")
os.chmod("/run/closed", 0o700)
for tag, more in OTHERS.items():
    found, document, _ = probe(**more)
    gm.expect("/silent" in found and document["complete"], f"{tag}: {document}")
    gm.expect(len(gm.probers()) == before + 1 and not glob.glob("/tmp/getmnt*"), f"{tag}: {gm.probers()} {os.listdir('/tmp')}")
# Without a session the directory is in /tmp; a file there that another user may have made is refused.
os.rename("/run/user/1000", "/run/user/away")
TMP = "/tmp/getmnt-1000"
requests = silent.requests
for tag, make in (("another's", lambda: os.mkdir(TMP, 0o700)), ("a link", lambda: os.symlink("/run/user/away/getmnt", TMP)),
                  ("a file", lambda: gm.touch(TMP)), ("open to others", lambda: (os.mkdir(TMP), os.chown(TMP, 1000, 1000)))):
    make()
    refused("in /tmp, " + tag, OURS, **user)
    (os.rmdir if os.path.isdir(TMP) and not os.path.islink(TMP) else os.unlink)(TMP)
os.chmod("/tmp", 0o777)
refused("a /tmp that is not sticky", OURS, **user)
os.chmod("/tmp", 0o1777)
for number in range(2):
    for tag, more in OTHERS.items():
        found, document, _ = probe(**more)
        gm.expect("/silent" in found and document["complete"], f"in /tmp, {tag}: {document}")
info = os.stat(TMP)
gm.expect(stat.S_IMODE(info.st_mode) == 0o700 and info.st_uid == 1000 and len(os.listdir(TMP)) == 1, f"in /tmp: {info} {os.listdir(TMP)}")
gm.expect(len(gm.probers()) == before + 2, f"in /tmp: {gm.probers()}")
os.rename("/run/user/away", "/run/user/1000")

# When the servers end, no process and no record is left.
silent.end()
hung.end()
settled(lambda: not gm.probers(), f"processes left: {gm.probers()}")
os.rename("/run/other", STATE)
probe()
probe(**runtime("/run/user/1000"))
os.rename("/run/user/1000", "/run/user/away")
probe(**user)
gm.expect(not os.listdir(TMP), f"remembered in /tmp: {os.listdir(TMP)}")
os.rename("/run/user/away", "/run/user/1000")
gm.expect(not os.listdir(STATE) and not os.listdir("/run/user/1000/getmnt"),
          f"remembered: {os.listdir(STATE)} {os.listdir('/run/user/1000/getmnt')}")
shutil.rmtree(STATE)
for target in SERVERS:
    gm.umount(target, gm.MNT_DETACH)
gm.done()
