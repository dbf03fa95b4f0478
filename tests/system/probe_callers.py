# SPDX-License-Identifier: MIT
"""No caller that waits for a run of --probe waits for the processes that it left."""
import fcntl
import os
import signal
import stat
import subprocess
import time

import gm

BOUND = 10          # seconds: beyond it a caller hangs; a probe takes 0.3

gm.need_fs("fuse")
gm.need("bash", "flock", "cat")
root = gm.Root()
gm.tmpfs(root / "run")
gm.tmpfs(root / "ok")
for program in ("bash", "flock", "cat"):
    gm.install(program, root.path)
has_cgroup = os.path.isfile("/proc/cgroups")
if has_cgroup:
    try:
        gm.mount("cgroup2", root / "sys/fs/cgroup", "cgroup2")
    except OSError:
        has_cgroup = False
servers = []
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()
PROBE = "getmnt --probe=all --timeout=0.3"


def fresh():
    """New servers, one that never reads and one that never replies: those
    before are recorded, and not probed again."""
    for number, server in enumerate(servers):
        server.end()
        gm.umount(f"/hung{number}", gm.MNT_DETACH)
    servers[:] = [gm.HungFuse("/hung0"), gm.SilentFuse("/hung1")]


def settled():
    """Those whose server has ended end."""
    end = time.monotonic() + gm.WAIT_SECONDS
    while gm.probers() and time.monotonic() < end:
        time.sleep(0.02)


def shell(script, **more):
    """Run a script; it must end, and all that wait for its output as well."""
    fresh()
    began = time.monotonic()
    proc = subprocess.Popen(["/bin/bash", "-c", script], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
                            env={"PATH": "/bin:/usr/bin", "LC_ALL": "C.UTF-8"}, **more)
    try:
        out, _ = proc.communicate(timeout=BOUND)
    except subprocess.TimeoutExpired:
        proc.kill()
        gm.fail(f"{script}: somebody still waits after {BOUND} s")
        return ""
    out = out.decode()
    gm.expect(out.count("hung") >= 4, f"{script}: {out}")
    gm.expect("D" in {state for state, _ in gm.probers().values()},
              f"{script}: nothing was left, so nothing was tried")
    print(f"  {script[:50]!r}: {time.monotonic() - began:.1f} s", flush=True)
    return out


shell(f'x=$({PROBE} -l); echo "$x"')
shell(f"{PROBE} -l | cat")
shell(f"{PROBE} -l | cat | cat")
# The usual lock of a cron job: the second run gets the lock of the first.
out = shell(f"flock -n /run/lock {PROBE} -l; flock -n /run/lock bash -c 'echo again'")
gm.expect("again" in out, f"the lock is still held: {out}")
# A descriptor that the caller keeps, whatever its number.
shell(f"exec 3>&1 4>&1 7>&1 200>&1; {PROBE} -l")
# As by ssh without a terminal: no session, nothing on stdin.
shell(f"{PROBE} -l", start_new_session=True)
# Descriptors 0 to 2 closed.
shell(f"{PROBE} -l <&- 2>&- | cat")

if has_cgroup:
    unit = f"/sys/fs/cgroup/getmnt-test-{os.getpid()}"
    os.mkdir(unit)
    shell(f"echo $$ > {unit}/cgroup.procs; {PROBE} -l; echo 0 > /sys/fs/cgroup/cgroup.procs")
    inside = gm.read(f"{unit}/cgroup.procs").split()
    gm.expect(not inside, f"a unit would wait for {inside}")
    try:
        os.rmdir(unit)
    except OSError as error:
        gm.fail(f"the unit's cgroup is still in use: {error}")
else:
    print("  no cgroup2: KillMode=control-group was not tried")

# The time of the run is over before that of a probe is.
fresh()
result = gm.getmnt("--probe=all", "--timeout=60", "--max-time=0.5", "-J", seconds=BOUND)
gm.expect(result.status == 64 and result.json()["complete"] is False,
          f"--max-time: status {result.status}")
gm.expect("time of the run" in str(result.json()["incomplete_reasons"]), f"--max-time: {result.json()}")
gm.expect({row["state"] for row in result.rows()[0]["children"] if row["target"].startswith("/hung")}
          == {"untested"}, "--max-time: a probe that was cut says nothing")
left = gm.probers()
gm.expect(all(state == "D" for state, _ in left.values()), f"--max-time left {left}")
gm.expect(len(os.listdir("/run/getmnt")) == len(left), "--max-time: not remembered")

# The run is killed in the middle: its probers end, or are remembered.
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
    fresh()
    proc = subprocess.Popen([gm.PROGRAM, "--probe=all", "--timeout=60"], stdout=subprocess.DEVNULL)
    while len(gm.probers()) < 3 or servers[1].requests == 0:
        time.sleep(0.01)
    proc.send_signal(number)
    gm.expect(proc.wait(BOUND) == -number, f"signal {number}: {proc.returncode}")
    end = time.monotonic() + gm.WAIT_SECONDS
    while time.monotonic() < end:
        left = gm.probers()
        if all(state == "D" for state, _ in left.values()) and len(left) == 1:
            break
        time.sleep(0.02)
    gm.expect(len(left) == 1 and all(state == "D" for state, _ in left.values()),
              f"signal {number}: {left} are left")
    names = {int(name.split("_")[3]) for name in os.listdir("/run/getmnt")}
    gm.expect(set(left) <= names, f"signal {number}: {left} are not remembered: {names}")

# A directory that others may write to is not trusted: nothing is probed, for nothing could be
# recorded, and each run would leave one more.
def refused(tag):
    fresh()
    result = gm.getmnt("--probe=all", "--timeout=0.3", "--stats=json", "-q")
    stats = result.stats()
    gm.expect(stats["states"]["hung"] == 0 and stats["probes"] == 0 and not stats["complete"]
              and b"nothing was probed: /run/getmnt" in result.err, f"{tag}: {result.err}")
    settled()
    gm.expect(not gm.probers(), f"{tag}: left: {gm.probers()}")


os.chmod("/run/getmnt", 0o777)
refused("an open directory")
os.rename("/run/getmnt", "/run/other")
os.symlink("other", "/run/getmnt")
kept = os.listdir("/run/other")
refused("a link")
gm.expect(os.listdir("/run/other") == kept, "something was done through a link")
# Many at once, one after another, whatever lock the caller holds.
fresh()
os.unlink("/run/getmnt")
with open("/run/lock", "w", encoding="ascii") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Each waits three seconds for its turn.
    procs = [subprocess.Popen([gm.PROGRAM, "--probe=all", "--timeout=0.3", "-q"], stderr=subprocess.PIPE) for _ in range(8)]
    for proc in procs:
        _, err = proc.communicate(timeout=BOUND)
        gm.expect(proc.returncode == 0 or (proc.returncode == 64 and b"another run is probing" in err),
                  f"one of many: {proc.returncode} {err}")
    gm.expect(0 in [proc.returncode for proc in procs], "none of many has probed")
fresh()
settled()
gm.expect(not gm.probers(), f"left at the end: {gm.probers()}")
gm.done()
