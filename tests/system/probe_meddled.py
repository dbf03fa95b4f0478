# SPDX-License-Identifier: MIT
"""--probe while its processes are stopped, told to end, or cannot be set up."""
import os
import signal
import stat
import subprocess
import time

import gm

BOUND = 15          # seconds: beyond it a run hangs

gm.need_fs("fuse")
gm.need("strace")
root = gm.Root()
gm.tmpfs(root / "run")
gm.HungFuse(root / "never")
silent = gm.SilentFuse(root / "silent")
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
gm.install("strace", root.path)
root.enter()


def start(*args):
    """A run in the middle of its probes.  Its process, supervisor and workers."""
    asked = silent.requests
    proc = subprocess.Popen([gm.PROGRAM, "-l", "--probe=all", *args], stdout=subprocess.PIPE)
    while silent.requests == asked:
        time.sleep(0.01)
    mine = gm.probers()
    super_ = next(pid for pid, (_, parent) in mine.items() if int(parent) == proc.pid)
    return proc, super_, [pid for pid, (_, parent) in mine.items() if int(parent) == super_]


def renew():
    """A server that no run knows."""
    global silent
    silent.end()
    gm.umount("/silent", gm.MNT_DETACH)
    silent = gm.SilentFuse("/silent")


def traced(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return "TracerPid:\t0\n" not in status.read()


def expect_remembered(tag):
    for _ in range(200):
        left = gm.probers()
        if left and all(state == "D" for state, _ in left.values()):
            break
        time.sleep(0.02)
    names = {int(name.split("_")[3]) for name in os.listdir("/run/getmnt")}
    gm.expect(len(left) == 1 and set(left) <= names, f"{tag}: {left} are left, remembered are {names}")


# Somebody stops the supervisor: it is told to go on.
proc, super_, _ = start("--timeout=0.3")
os.kill(super_, signal.SIGSTOP)
try:
    out = proc.communicate(timeout=BOUND)[0].decode()
    gm.expect(proc.returncode == 0 and out.count("hung ") >= 2, f"stopped: {proc.returncode} {out}")
except subprocess.TimeoutExpired:
    gm.fail("a supervisor was stopped, and the run waits for it")
    os.kill(super_, signal.SIGCONT)
    proc.communicate()
expect_remembered("stopped")

# A unit is stopped: each of its processes is sent SIGTERM, the supervisor first.
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    renew()
    proc, super_, workers = start("--timeout=60")
    for pid in (super_, *workers, proc.pid):
        os.kill(pid, number)
    gm.expect(proc.wait(BOUND) == -number, f"signal {number}: {proc.returncode}")
    expect_remembered(f"signal {number}")

# The run dies between the end of a worker and the message of it, which strace holds up.
renew()
proc, super_, workers = start("--timeout=60")
strace = subprocess.Popen(["/bin/strace", "-qq", "-p", str(super_), "-o", "/tmp/trace", "-e", "trace=sendmsg",
                           "-e", "inject=sendmsg:delay_enter=1000000"])
end = time.monotonic() + gm.WAIT_SECONDS
while not traced(super_) and time.monotonic() < end:
    time.sleep(0.01)
for pid in workers:
    os.kill(pid, signal.SIGKILL)
time.sleep(0.3)
proc.kill()
proc.wait(BOUND)
strace.wait(BOUND)
expect_remembered("a message to nobody")

# A /dev that never answers, from where descriptors 0 to 2 are usually opened.
renew()
gm.HungFuse("/dev")
result = gm.getmnt("-J", "-l", "--probe=all", "--timeout=0.3", seconds=BOUND)
states = {row["target"]: row["state"] for row in result.rows()} if result.status == 0 else {}
gm.expect(states.get("/dev") == "hung" and states.get("/run") == "ok", f"hung /dev: {result.status} {states}")
gm.done()
