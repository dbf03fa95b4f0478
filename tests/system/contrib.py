# SPDX-License-Identifier: MIT
"""The timer, the cron jobs and the Ansible fact of contrib/, run as they are."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import gm

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
work = tempfile.mkdtemp()

# The units, as systemd reads them; the program is where it was built.
units, services = [], {}
for name in ("getmnt-audit.service", "getmnt-audit.timer", "getmnt-watch.service", "getmnt-index-update.service",
             "getmnt-index-update.timer", "getmnt-index-watch.service"):
    text = gm.read(f"{TOP}/contrib/systemd/{name}")
    gm.expect(not re.search(r"^(Private|Protect|ReadOnly|ReadWrite|Root|Bind|TemporaryFile)", text, re.M), f"{name}: a mount namespace of its own")
    units.append(f"{work}/{name}")
    gm.touch(units[-1], text.replace("/usr/bin/getmnt", os.environ["GETMNT"]))
    services[name] = text
if shutil.which("systemd-analyze"):
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", *units],
                            stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    ours = [row for row in result.stdout.decode().split("\n") if "getmnt-" in row]
    gm.expect(not ours, f"systemd-analyze: {ours}")
else:
    print("  no systemd-analyze: the units were not read")
service = services["getmnt-audit.service"]
command = re.search(r"^ExecStart=(.*)$", service, re.M).group(1).split()
statuses = {0, *(int(n) for n in re.findall(r"^SuccessExitStatus=(\d+)$", service, re.M))}

# cron's lines: as it cuts them, by sh.
lines = gm.read(f"{TOP}/contrib/cron.d/getmnt-audit").split("\n")
gm.expect(not any(row and not row.startswith("#") for row in lines), "a line that is not disabled")
jobs = [re.match(r"#(?:\S+ ){5}root (.*)", row) for row in lines]
jobs = [re.sub(r"\\%", "%", match.group(1)) for match in jobs if match]
gm.expect(len(jobs) == 2 and all("\\" not in job and "%" in job for job in jobs), f"jobs: {jobs}")

root = gm.Root()
for program in ("sh", "cat", "cksum", "cut", "uname"):
    gm.install(program, root.path)
gm.touch(root / "bin/sleep", '#!/bin/sh\ntest "$1" -ge 0 && test "$1" -lt 1800 && echo "$1" >>/slept\n')
os.chmod(root / "bin/sleep", 0o755)
gm.touch(root / "etc/machine-id", "0123456789abcdef0123456789abcdef\n")
gm.touch(root / "etc/fstab", "")
gm.mkdir(root / "var/lib/prometheus/node-exporter")
gm.mkdir(root / "dev")
shutil.copy(f"{TOP}/contrib/ansible/getmnt.fact", root / "getmnt.fact")
root.enter()


def run(words, **more):
    return subprocess.run(words, stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": "/bin:/usr/bin"},
                          timeout=60, check=False, **more)


# The watch writes its metrics where the manager makes a directory, and ends when the manager says so.
gm.mkdir("/run/getmnt-watch")
text = services["getmnt-watch.service"]
gm.expect("\nRuntimeDirectory=getmnt-watch\n" in text and "\nExecReload=/bin/kill -HUP $MAINPID\n" in text, "the watch")
words = re.search(r"^ExecStart=(.*)$", text, re.M).group(1).split()
watch = gm.Watch(*words[1:], debug=False)
watch.wait(lambda: watch.out, "the first audit")
with open("/run/getmnt-watch/getmnt.prom", encoding="ascii") as f:
    gm.expect("\ngetmnt_audit_success 1\n" in f.read(), "metrics of the watch")
gm.expect(watch.end() == 0 and not watch.err, f"the watch: {watch.proc.returncode} {watch.err}")
for fstab, status in (("", 0), ("none /gone tmpfs defaults 0 0\n", 1)):
    gm.touch("/etc/fstab", fstab)
    result = run(["/bin/getmnt", *command[1:]])
    gm.expect(result.returncode == status and status in statuses and not result.stderr
              and (b"DRIFT-NOT-MOUNTED" in result.stdout) == bool(status), f"the unit, {fstab!r}: {result}")
    result = run(["/bin/sh", "-c", jobs[0]])
    gm.expect(result.returncode == status and bool(result.stdout) == bool(status) and not result.stderr, f"cron, {fstab!r}: {result}")
    result = run(["/bin/sh", "-c", jobs[1]])
    metrics = gm.read("/var/lib/prometheus/node-exporter/getmnt.prom")
    gm.expect(result.returncode == status and not result.stdout and not result.stderr and "\ngetmnt_audit_success 1\n" in metrics
              and ('code="DRIFT-NOT-MOUNTED"' in metrics) == bool(status), f"metrics, {fstab!r}: {result} {metrics}")
slept = gm.read("/slept").split()
gm.expect(len(set(slept)) == 1, "a host waits for another time each time")
# Alpine and Devuan have no machine-id.
os.unlink("/etc/machine-id")
for job in jobs:
    result = run(["/bin/sh", "-c", job])
    gm.expect(result.returncode == 1 and not result.stderr, f"without a machine-id: {result}")
gm.expect(len(gm.read("/slept").split()) == len(slept) + len(jobs), "without a machine-id it does not wait")
# The fact of Ansible: JSON, and status 0 whatever the audit finds, or if it fails.
for fstab, status in (("", 0), ("none /gone tmpfs defaults 0 0\n", 1), (None, 2)):
    os.unlink("/etc/fstab")
    gm.touch("/etc/fstab", fstab) if fstab is not None else os.symlink("nowhere", "/etc/fstab")
    result = run(["/bin/sh", "/getmnt.fact"])
    fact = json.loads(result.stdout)
    gm.expect(result.returncode == 0 and not result.stderr and fact["exit_status"] == status
              and bool(fact["failed"]) == (status == 2), f"the fact, {fstab!r}: {result}")
shutil.rmtree(work, ignore_errors=True)
gm.done()
