# SPDX-License-Identifier: MIT
"""A mount that moves into a FUSE between the table and its test is not looked for
in there.  One statx is held up by strace to let it."""
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
gm.install("strace", root.path)
root.enter()
command = [gm.PROGRAM, "-J", "-l", "--threads=1"]
env = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}
gm.getmnt("-o", "/tmp/trace", "-e", "trace=statx", *command, program="/bin/strace", env=env)
with open("/tmp/trace", encoding="utf-8") as trace:
    looks = [line for line in trace if line.startswith("statx")]
when = next(i for i, line in enumerate(looks, 1) if '"/a"' in line)
pid = gm.fork()
if pid == 0:
    out = os.open("/tmp/out", os.O_RDWR | os.O_CREAT)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.execve("/bin/strace", ["strace", "-o", "/tmp/trace", "-f", "-e", "trace=statx", "-e",
                              f"inject=statx:delay_enter=1500000:when={when}", *command], env)
time.sleep(0.7)
gm.mount("/a", "/fz/d/e", None, gm.MS_MOVE)
server.stopped = True
end, ended = time.monotonic() + gm.WAIT_SECONDS, 0
while not ended and time.monotonic() < end:
    ended, _ = os.waitpid(pid, os.WNOHANG)
    time.sleep(0.05)
gm.expect(ended, "it waits for the FUSE")
os.close(server.fd)
if not ended:
    os.waitpid(pid, 0)
gm.done()
