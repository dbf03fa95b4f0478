# SPDX-License-Identifier: MIT
"""A mount that moves into a FUSE between the table and its test is not looked for
in there; sizes are not those of a mount that came on top since.  One call is held
up by strace to let them."""
import os
import stat
import struct
import time

import gm

LOOKUP = 1


class Dirs(gm.FileFuse):
    """Has /d/e."""

    def attr(self, node):
        return struct.pack("=QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0,
                           stat.S_IFDIR | 0o755, 2, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode != LOOKUP:
            return super().answer(opcode, node, body)
        inode = {b"d": 2, b"e": 3}.get(body.split(b"\0")[0])
        return struct.pack("=QQQQII", inode, 0, 0, 0, 0, 0) + self.attr(inode) if inode else 2


gm.need("strace")
gm.need_fs("fuse")
root = gm.Root()
server = Dirs(root / "fz")
gm.tmpfs(root / "a")
gm.tmpfs(root / "b", "size=1m")
gm.install("strace", root.path)
root.enter()


def held(call, what, *args):
    """Start getmnt with its call of that name that names WHAT held up; its PID,
    half a second before that goes on."""
    command = [gm.PROGRAM, "--threads=1", *args]
    env = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}
    gm.getmnt("-o", "/tmp/trace", "-e", f"trace={call}", *command, program="/bin/strace", env=env)
    with open("/tmp/trace", encoding="utf-8") as trace:
        calls = [line for line in trace if line.startswith(call)]
    when = next(i for i, line in enumerate(calls, 1) if what in line)
    pid = gm.fork()
    if pid == 0:
        out = os.open("/tmp/out", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execve("/bin/strace", ["strace", "-o", "/tmp/trace", "-f", "-e", f"trace={call}", "-e",
                                  f"inject={call}:delay_enter=1500000:when={when}", *command], env)
    time.sleep(0.7)
    return pid


def ended(pid):
    """Wait for it; whether it came to its end."""
    end, child = time.monotonic() + gm.WAIT_SECONDS, 0
    while not child and time.monotonic() < end:
        child, _ = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    return bool(child)


# Sizes are those of the mount of the row, or none.
pid = held("openat2", '"/b"', "-n", "-l", "-b", "-o", "TARGET,SIZE", "/b")
gm.tmpfs("/b", "size=2m")
gm.expect(ended(pid), "the sizes do not end")
with open("/tmp/out", "rb") as out:
    shown = out.read().split()
gm.expect(shown == [b"/b"], f"sizes of another mount: {shown}")

pid = held("statx", '"/a"', "-J", "-l")
gm.mount("/a", "/fz/d/e", None, gm.MS_MOVE)
server.stopped = True
done = ended(pid)
gm.expect(done, "it waits for the FUSE")
os.close(server.fd)
if not done:
    os.waitpid(pid, 0)
gm.done()
