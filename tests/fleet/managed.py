# SPDX-License-Identifier: MIT
"""A host that systemd manages: it boots in namespaces of its own, on a layer above this
machine's files; its timer runs the audit, and what systemd has loaded, failed to mount or
was told by a drop-in is judged as it says itself."""
import json
import os
import signal
import subprocess
import time

import gm

SYSTEMD = "/lib/systemd/systemd"
BOOT = 90 * gm.SLOW       # seconds that it may take
if not os.access(SYSTEMD, os.X_OK):
    gm.skip("there is no systemd")
gm.need("systemctl", "journalctl", "systemd-analyze", "nsenter")
gm.need_fs("overlay", "cgroup2")

where = os.getcwd()
root, layers = gm.mkdir(f"{where}/root"), gm.mkdir(f"{where}/layers")
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
gm.run("mount", "-t", "tmpfs", "-o", "mode=0755", "layers", layers)
up, work = gm.mkdir(f"{layers}/up"), gm.mkdir(f"{layers}/work")
gm.run("mount", "-t", "overlay", "-o", f"lowerdir=/,upperdir={up},workdir={work}", "/dev/host", root)
for name in ("etc/systemd/system", "etc/getmnt"):
    gm.run("rm", "-rf", f"{root}/{name}")
    os.makedirs(f"{root}/{name}")
gm.run("cp", os.environ["GETMNT"], f"{root}/usr/bin/getmnt")
for unit in ("getmnt-audit.service", "getmnt-audit.timer"):
    gm.run("cp", f"{TOP}/contrib/systemd/{unit}", f"{root}/etc/systemd/system/{unit}")
# Now, and not within the hour.
os.mkdir(f"{root}/etc/systemd/system/getmnt-audit.timer.d")
gm.touch(f"{root}/etc/systemd/system/getmnt-audit.timer.d/now.conf",
         "[Timer]\nOnCalendar=\nOnActiveSec=1s\nAccuracySec=1ms\nRandomizedDelaySec=0\n")
GOOD = "tmpfs /good tmpfs size=1m 0 0\n"
gm.touch(f"{root}/etc/fstab", GOOD)
gm.touch(f"{root}/etc/machine-id", "")
gm.touch(f"{root}/etc/crypttab", "")
for name in ("good", "late", "bad", "hand"):
    os.makedirs(f"{root}/{name}", exist_ok=True)

START = """set -e
mount --make-rprivate /
cd "$1"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=0755,nosuid,nodev tmpfs run
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs tmp
mount -t tmpfs -o mode=0755,nosuid tmpfs dev
for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 0666 dev/${node%:*} c 1 ${node#*:}
done
mknod -m 0666 dev/tty c 5 0
ln -s /proc/self/fd dev/fd
pivot_root . mnt
umount -l /mnt
exec env -i container=getmnt-test PATH=/usr/sbin:/usr/bin:/sbin:/bin "$2" --unit=basic.target --show-status=no --log-target=null
"""
boot = subprocess.Popen(["unshare", "-m", "-p", "-u", "-i", "-C", "-f", "--kill-child", "sh", "-c", START, "sh", root, SYSTEMD], stdin=gm.null,
                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
began = time.monotonic()


def first():
    """The process that is its init; None."""
    with open(f"/proc/{boot.pid}/task/{boot.pid}/children", encoding="ascii") as f:
        pids = f.read().split()
    return pids[0] if pids else None


def at(*argv):
    """Run on that host.  @return status, output, errors."""
    proc = subprocess.run(["nsenter", "-t", first(), "-m", "-p", "-u", "-i", "-C", "-r", "-w", *argv], stdin=gm.null,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60 * gm.SLOW, check=False)
    return proc.returncode, proc.stdout.decode(), proc.stderr.decode()


def up_and_running():
    """Whether it has booted."""
    try:
        with open(f"/proc/{first()}/comm", encoding="ascii") as f:
            return f.read() == "systemd\n" and at("systemctl", "is-system-running")[1].strip() in ("running", "degraded")
    except OSError:
        return False


def wait(condition, seconds=60 * gm.SLOW):
    """Until it is so.  @return whether it came to be."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end or boot.poll() is not None:
            return False
        time.sleep(0.2)
    return True


def audit(*args):
    """What the audit tells above mere information: codes with targets."""
    status, out, err = at("getmnt", "audit", "--json", *args)
    if not gm.expect(status in (0, 1) and not err, f"audit {args}: {status} {err[-300:]}"):
        return set()
    return {(one["code"], one["target"]) for one in json.loads(out)["findings"] if one["severity"] != "info"}


def put(text, path="/etc/fstab"):
    """Write a file of that host."""
    gm.expect(at("sh", "-c", f"printf '%s' '{text}' >{path}")[0] == 0, f"cannot write {path}")


if not wait(up_and_running, BOOT):
    why = boot.stderr.read().decode()[-300:] if boot.poll() is not None else "it does not come up"
    boot.kill()
    boot.wait()
    gm.skip(f"systemd does not boot in namespaces here: {why.strip()}")
print(f"  booted in {time.monotonic() - began:.1f} s: {at('systemctl', '--version')[1].splitlines()[0]}")

# As the units are shipped, and healthy.
status, out, err = at("systemd-analyze", "--man=no", "verify", "/etc/systemd/system/getmnt-audit.service", "/etc/systemd/system/getmnt-audit.timer")
gm.expect(status == 0 and not out + err, f"verify: {status} {out} {err}")
found = audit()
gm.expect(not found - {("DRIFT-NOT-IN-FSTAB", "/tmp")}, f"healthy: {found}")

# A line that it has not loaded; then loaded, and mounted.
put(GOOD + "tmpfs /late tmpfs size=2m 0 0\n")
found = audit()
gm.expect(("FSTAB-SYSTEMD-STALE", None) in found, f"not loaded: {found}")
gm.expect(at("systemctl", "daemon-reload")[0] == 0 and at("systemctl", "start", "late.mount")[0] == 0, "late.mount")
found = audit()
gm.expect(not [one for one in found if one[1] == "/late"], f"loaded, and mounted: {found}")

# One that it cannot mount.
put(GOOD + "tmpfs /bad tmpfs size=rubbish 0 0\n")
at("systemctl", "daemon-reload")
gm.expect(at("systemctl", "start", "bad.mount")[0] != 0, "bad.mount was mounted")
found = audit()
gm.expect({one[0] for one in found if one[1] in ("/bad", "bad.mount")} >= {"UNIT-FAILED"}, f"failed: {found}")
at("systemctl", "reset-failed")

# A drop-in of the line's unit: a difference from the line is information.
at("mkdir", "-p", "/etc/systemd/system/good.mount.d")
put("[Mount]\nOptions=size=4m\n", "/etc/systemd/system/good.mount.d/more.conf")
put(GOOD)
at("systemctl", "daemon-reload")
gm.expect(at("systemctl", "restart", "good.mount")[0] == 0 and "size=4096k" in at("cat", "/proc/mounts")[1], "the drop-in is not taken")
found = audit()
gm.expect(not [one for one in found if one[1] == "/good"], f"a drop-in: {found}")
at("rm", "-r", "/etc/systemd/system/good.mount.d")
at("systemctl", "daemon-reload")
gm.expect(at("systemctl", "restart", "good.mount")[0] == 0, "good.mount")

# The timer: findings go to the journal, and are no failure of the unit, which sees what is mounted by hand.
put(GOOD)
at("systemctl", "daemon-reload")
at("mount", "-t", "tmpfs", "nobody", "/hand")
gm.expect(at("systemctl", "start", "getmnt-audit.timer")[0] == 0, "the timer does not start")


def show(name):
    """A property of the service."""
    return at("systemctl", "show", "-P", name, "getmnt-audit.service")[1].strip()


ran = wait(lambda: show("ExecMainStartTimestampMonotonic") not in ("", "0") and show("ActiveState") == "inactive")
gm.expect(ran, f"the timer has run nothing: {at('systemctl', 'list-timers', '--all')[1]}")
gm.expect((show("Result"), show("ExecMainStatus")) == ("success", "1"), f"the service: {show('Result')} {show('ExecMainStatus')}")
journal = at("journalctl", "--no-pager", "-o", "cat", "-t", "getmnt-audit")[1]
gm.expect("/hand\n  warning   DRIFT-NOT-IN-FSTAB" in journal, f"the journal: {journal[-1500:]}")
gm.expect(at("systemctl", "is-failed", "getmnt-audit.service")[1].strip() != "failed", "findings are a failure")

os.kill(int(first()), signal.SIGKILL)
boot.wait()
gm.done()
