# SPDX-License-Identifier: MIT
"""Bare places: descriptors 0 to 2 closed, no /proc, no environment."""
import os
import signal

import gm

root = gm.Root(proc=False)
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
root.enter()

# A sanitizer's leak check needs /proc, and reads there how to be without it.
with open(gm.PROGRAM, "rb") as program:
    sanitized = b"__asan_init" in program.read()
if gm.have_listmount() and not sanitized:
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED")
    gm.expect(result.status == 0, f"without /proc: status {result.status}: {result.err}")
    targets = {row["target"] for row in result.rows()}
    gm.expect({"/", "/sys", "/a/b", "/a/b/c"} <= targets, f"without /proc: {targets}")
if not sanitized:
    result = gm.getmnt("--kernel=mountinfo")
    gm.expect(result.status == 1 and b"/proc" in result.err,
              f"mountinfo without /proc: status {result.status}: {result.err}")

gm.mount("proc", gm.mkdir("/proc"), "proc")
gm.check("with /proc", env={"LC_ALL": "C"})

# Descriptors closed: it works, and nothing is written into another file.
for closed in ((0,), (0, 1), (0, 1, 2), (2,)):
    pid = gm.fork()
    if pid == 0:
        for fd in range(3):
            os.dup2(os.open("/dev/null", os.O_RDWR), fd)
        for fd in closed:
            os.close(fd)
        os.closerange(3, 100)
        os.execve(gm.PROGRAM, [gm.PROGRAM, "--names=walk"], {})
    _, status = os.waitpid(pid, 0)
    status = os.waitstatus_to_exitcode(status)
    gm.expect(status == 0, f"{closed} closed: status {status}")
# But a document that nobody can read was cut.
for form, want in (("-J", 1), ("--format=jsonl", 1), ("-l", 0)):
    pid = gm.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 2)
        os.close(1)
        os.execve(gm.PROGRAM, [gm.PROGRAM, form], {})
    _, status = os.waitpid(pid, 0)
    gm.expect(os.waitstatus_to_exitcode(status) == want, f"{form} >&-: {status}")
pid = gm.fork()
if pid == 0:
    os.dup2(os.open("/dev/full", os.O_WRONLY) if os.path.exists("/dev/full") else
            os.open("/sys/kernel/uevent_seqnum", os.O_RDONLY), 1)
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    os.execve(gm.PROGRAM, [gm.PROGRAM, "-J"], {})
_, status = os.waitpid(pid, 0)
gm.expect(os.waitstatus_to_exitcode(status) == 1, f"unwritable output: {status}")

# A pipe that nobody reads is silent.
read, write = os.pipe()
os.close(read)
pid = gm.fork()
if pid == 0:
    err = os.open("/tmp/err", os.O_CREAT | os.O_WRONLY, 0o600)
    os.dup2(write, 1)
    os.dup2(err, 2)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(gm.PROGRAM, [gm.PROGRAM], {})
os.waitpid(pid, 0)
gm.expect(os.path.getsize("/tmp/err") == 0, "SIGPIPE is not silent")
gm.done()
