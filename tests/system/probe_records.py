# SPDX-License-Identifier: MIT
"""--probe where its records belong to others, cannot be written, or are garbage, where no process can be
created, and in a container that shares /run: each run ends, and forgets no process."""
import fcntl
import os
import resource
import time

import gm
from silent import STATE, fresh, records, servers

CLONE_NEWPID, CLONE_NEWNS, MS_REMOUNT = 0x20000000, 0x20000, 32


# The directory stays locked.
fresh(1)
os.mkdir(STATE, 0o700)
lock = os.open(STATE, os.O_RDONLY | os.O_DIRECTORY)
fcntl.flock(lock, fcntl.LOCK_EX)
for args in (("--timeout=0.3",), ("--timeout=60", "--max-time=0.3")):
    began = time.monotonic()
    result = gm.getmnt("-J", "--probe=all", *args)
    gm.expect(result.status == 64 and b"another run is probing, or was stopped" in result.err
              and time.monotonic() - began < 15 * gm.SLOW, f"locked: {args}: {result.status} {result.err}")
os.close(lock)
gm.expect(not gm.probers() and servers[0].requests == 0, f"locked: {gm.probers()}")


def refused(tag, text, error=None, **more):
    """Nothing silent is touched, and why is reported."""
    result = gm.getmnt("-J", "-l", "-o", "+ERROR", "--probe=all", "--timeout=0.3", **more)
    rows = {row["target"]: row for row in result.rows()}
    # "/" is the first, and nothing else is looked at then.
    gm.expect(result.status == 64 and text in result.err and rows["/silent0"]["state"] == "untested"
              and rows["/"]["error"] == error, f"{tag}: {result.status} {result.err} {rows}")
    gm.expect(not gm.probers() and servers[0].requests == 0, f"{tag}: {gm.probers()}")


# The directory can be locked, but not written; is full of directories; has garbage.
gm.mount(None, "/run", None, MS_REMOUNT | gm.MS_RDONLY)
refused("read-only", b"could not be written to /run/getmnt (for other users than root: $XDG_RUNTIME_DIR/getmnt, or /tmp/getmnt-UID): Read-only file system", "EROFS")
gm.mount(None, "/run", None, MS_REMOUNT)
gm.tmpfs("/run", "size=64k,nr_inodes=2")
os.mkdir(STATE, 0o700)
refused("full", b"could not be written to /run/getmnt (for other users than root: $XDG_RUNTIME_DIR/getmnt, or /tmp/getmnt-UID): No space left on device", "ENOSPC")
gm.umount("/run")
for i in range(5000):
    os.mkdir(f"{STATE}/{i}")
refused("many directories", b"has too many files; remove them")
for i in range(5000):
    os.rmdir(f"{STATE}/{i}")
for name in ("x" * 255, "\n\033[31m", *(str(i) for i in range(100))):
    gm.touch(f"{STATE}/{name}", "garbage" * 100000 if name == "1" else "")
result = gm.getmnt("-q", "--probe=all", "--timeout=0.3")
gm.expect(len(os.listdir(STATE)) == 1, f"garbage: {os.listdir(STATE)}")

# No process can be created, or only the supervisor.
gm.mkdir("/own")
os.chmod("/own", 0o700)
os.chown("/own", 4242, 4242)
fresh(1)
for limit, text in ((0, b"cannot start a prober"), (2, b"a mount could not be probed: Resource temporarily unavailable")):
    before = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
    refused(f"{limit} processes", text, "EAGAIN" if limit else None, uid=4242, before=before, env={"XDG_RUNTIME_DIR": "/own", **gm.NO_LEAKS})
gm.expect(not os.listdir("/own/getmnt"), f"no process, and a record: {os.listdir('/own/getmnt')}")

# A container that shares /run has its own process IDs.
fresh(2)
ready, go, done = os.pipe(), os.pipe(), os.pipe()


def contained():
    """In the container: a first process that reaps."""
    gm.mount("proc", "/proc", "proc")
    gm.umount("/silent0", gm.MNT_DETACH)
    stats = gm.getmnt("-q", "--probe=all", "--timeout=0.3", "--stats=json").stats()
    gm.expect(stats["probes_left"] == 1, f"container: {stats}")
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    # Those of the host are not seen, and not forgotten.
    stats = gm.getmnt("-q", "--probe=all", "--timeout=0.3", "--stats=json").stats()
    gm.expect(stats["probes_left"] == 0 and stats["probes_spared"] == 1, f"container, again: {stats}")
    os.write(done[1], b"x")
    os.read(go[0], 1)


if os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC:
    print("  this is a container: one in it was not tried", flush=True)
else:
    gm.getmnt("-q", "--probe=local")
    gm.expect(not os.listdir(STATE), f"before the container: {os.listdir(STATE)}")
    pid = gm.fork()
    if pid == 0:
        for server in servers:
            os.close(server.fd)     # else the connection had no end
        gm.libc.unshare(CLONE_NEWPID | CLONE_NEWNS)
        gm.in_child(contained)
        os._exit(1 if gm.failures else 0)
    os.read(ready[0], 1)
    gm.expect(len(os.listdir(STATE)) == 1, f"container: {os.listdir(STATE)}")
    # The host finds the container's by its time, and leaves one of its own.
    for left in (1, 0):
        result = gm.getmnt("-J", "-l", "--probe=all", "--timeout=0.3", "--stats=json")
        stats = result.stats()
        gm.expect(stats["probes_left"] == left and stats["probes_spared"] == 2 - left and len(os.listdir(STATE)) == 2,
                  f"host: {stats} {os.listdir(STATE)}")
    os.write(go[1], b"x")
    os.read(done[0], 1)
    gm.expect(len(os.listdir(STATE)) == 2, f"container: forgotten: {os.listdir(STATE)}")
    # With the server of the one the container ends; the host removes its record.
    os.write(go[1], b"x")
    servers.pop(1).end()
    gm.expect(os.waitpid(pid, 0)[1] == 0, "in the container")
    gm.getmnt("-q", "--probe=all", "--timeout=0.3")
    gm.expect(len(os.listdir(STATE)) == 1, f"the container is gone: {os.listdir(STATE)}")
fresh(0)
gm.getmnt("-q", "--probe=all")
gm.expect(not os.listdir(STATE), f"at the end: {os.listdir(STATE)}")
gm.done()
