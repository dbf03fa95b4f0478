# SPDX-License-Identifier: MIT
"""The processes of --probe are killed, signaled, or stopped repeatedly, and many runs probe at the same
time: each run ends, and what it leaves is recorded."""
import json
import os
import signal
import subprocess
import threading
import time

import gm
from silent import STATE, fresh, records, servers, settled

BOUND = 15           # seconds: beyond it a run hangs


def start(*args):
    """A run in the middle of its probes: its process, and its supervisor."""
    proc = subprocess.Popen([gm.PROGRAM, "-J", "-l", "--probe=all", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    settled(lambda: all(server.requests > 0 for server in servers), "the servers get no request")
    return proc, next(pid for pid, (_, parent) in gm.probers().items() if int(parent) == proc.pid)


def ended(tag, proc):
    """What a run printed, and its messages."""
    try:
        out, err = proc.communicate(timeout=BOUND)
    except subprocess.TimeoutExpired:
        proc.kill()
        gm.fail(f"{tag}: has no end")
        out, err = proc.communicate()
    return out, err


def expect_recorded(tag, count):
    settled(lambda: len(gm.probers()) == count and all(state == "D" for state, _ in gm.probers().values()),
            f"{tag}: left: {gm.probers()}, not {count}")
    gm.expect(set(gm.probers()) <= records(), f"{tag}: left: {gm.probers()}, recorded: {records()}")
    stats = gm.getmnt("-q", "--probe=all", "--timeout=0.3", "--stats=json").stats()
    gm.expect(stats["probes_left"] == 0 and stats["probes_spared"] == count and set(gm.probers()) == records(),
              f"{tag}: again: {stats} {gm.probers()} {records()}")


# The supervisor is killed, alone and with the run.
for victims in ("supervisor", "run", "run supervisor", "supervisor run"):
    fresh(2)
    proc, super_ = start("--timeout=60")
    for victim in victims.split():
        os.kill(proc.pid if victim == "run" else super_, signal.SIGKILL)
    out, err = ended(victims, proc)
    if victims == "supervisor":
        gm.expect(proc.returncode == 64 and b"mounts could not be probed" in err
                  and {row["target"]: row["state"] for row in json.loads(out)["filesystems"]}["/silent0"] == "untested",
                  f"{victims}: {proc.returncode} {err} {out}")
    expect_recorded(victims, 2)

def workers_of(pid):
    return [worker for worker, (_, parent) in gm.probers().items() if int(parent) == pid]


# A stopped supervisor is continued.
fresh(1)
proc, super_ = start("--timeout=0.3")
os.kill(super_, signal.SIGSTOP)
out, err = ended("stopped once", proc)
gm.expect(proc.returncode == 0 and b'"hung"' in out, f"stopped once: {proc.returncode} {out} {err}")
expect_recorded("stopped once", 1)

# A unit is stopped: each of its processes is sent a signal, the supervisor first.
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    fresh(1)
    proc, super_ = start("--timeout=60")
    for pid in (super_, *workers_of(super_), proc.pid):
        os.kill(pid, number)
    ended(f"signal {number}", proc)
    gm.expect(proc.returncode == -number, f"signal {number}: {proc.returncode}")
    expect_recorded(f"signal {number}", 1)

# The run dies between the end of a worker and the supervisor's message, which strace delays.
if os.path.exists("/bin/strace"):
    fresh(1)
    proc, super_ = start("--timeout=60")
    strace = subprocess.Popen(["/bin/strace", "-qq", "-p", str(super_), "-o", "/tmp/trace", "-e",
                               "trace=sendmsg", "-e", "inject=sendmsg:delay_enter=1000000"])

    def traced():
        return "TracerPid:\t0\n" not in gm.read(f"/proc/{super_}/status")

    settled(traced, "the supervisor is not traced")
    for pid in workers_of(super_):
        os.kill(pid, signal.SIGKILL)
    time.sleep(0.3)
    proc.kill()
    ended("a message to nobody", proc)
    strace.wait(BOUND)
    expect_recorded("a message to nobody", 1)

# It is stopped, and stopped again whenever it goes on.
fresh(1)
proc, super_ = start("--timeout=0.3")
stopping = threading.Event()


def stop():
    while not stopping.wait(0.002):
        try:
            os.kill(super_, signal.SIGSTOP)
        except OSError:
            return


thread = threading.Thread(target=stop)
thread.start()
began = time.monotonic()
out, err = ended("stopped", proc)
# It may get its work done in between.
gm.expect(proc.returncode == 0 or (proc.returncode == 64 and b"mounts could not be probed" in err), f"stopped: {proc.returncode} {err}")
print(f"  stopped again and again: {time.monotonic() - began:.1f} s", flush=True)
stopping.set()
thread.join()
expect_recorded("stopped", 1)

# Many runs at once probe one after another; those that cannot wait so long report it.  Each mount is
# probed once.
fresh(5)
procs = [subprocess.Popen([gm.PROGRAM, "-J", "-l", "--probe=all", "--timeout=0.3"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) for _ in range(20)]
for proc in procs:
    out, err = ended("many at once", proc)
    gm.expect(proc.returncode == 0 or (proc.returncode == 64 and b"another run is probing" in err),
              f"many at once: {proc.returncode} {err}")
expect_recorded("many at once", 5)

fresh(0)
gm.getmnt("-q", "--probe=all")
gm.expect(not os.listdir(STATE), f"at the end: {os.listdir(STATE)}")

# A /dev that never answers, which has /dev/null.
gm.HungFuse("/dev")
states = gm.states("--probe=all", "--timeout=0.3", seconds=BOUND)
gm.expect(states.get("/dev") == "hung" and states.get("/run") == "ok", f"hung /dev: {states}")
gm.done()
