# SPDX-License-Identifier: MIT
"""A process holds the lock of its memory map while it waits for a server that never answers:
/proc/PID/map_files is not listed, with a message, and the symlinks in /proc/PID do not lead to a dead
server."""
import ctypes
import os
import signal
import subprocess
import threading
import time

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need_fs("fuse")


class Refusing(gm.FileFuse):
    """Its first reads fail, and the next is never answered."""
    reads = 0

    def answer(self, opcode, node, body):
        if opcode != 15:
            return super().answer(opcode, node, body)
        self.reads += 1
        return 5 if self.reads <= 2 else gm.never.wait()


gm.never = threading.Event()
root = gm.Root()
slow = Refusing(root / "slow", {"map": bytes(4096)})
plain = gm.FileFuse(root / "plain", {"f": b"x"})
gm.install("cat", root.path)
gm.install("ls", root.path)
root.enter()

# The page is read by readahead, then by itself, and then with the map locked: a page fault does not
# let go of it a second time.  The other thread waits to change the map, and everybody waits for it.
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.memchr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
holder = gm.fork()
if holder == 0:
    for server in (slow, plain):
        os.close(server.fd)
    at = libc.mmap(None, 4096, 1, 1, os.open("/slow/map", os.O_RDONLY), 0)
    kept = os.open("/plain/f", os.O_RDONLY)
    os.chdir("/plain")

    def change():
        time.sleep(0.3)
        libc.munmap(at, 4096)
    threading.Thread(target=change, daemon=True).start()
    libc.memchr(at, 1, 4096)
    os._exit(0)


def hangs(*argv):
    """Whether a program is still waiting after a moment."""
    program = subprocess.Popen(argv, stdin=gm.null, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        program.wait(0.3)
        return False
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
        return True


end = time.monotonic() + 5
while not hangs("/bin/cat", f"/proc/{holder}/cmdline") and time.monotonic() < end:
    time.sleep(0.1)
if not hangs("/bin/ls", f"/proc/{holder}/map_files"):
    os.kill(holder, signal.SIGKILL)
    gm.never.set()
    gm.skip("this kernel lets go of the map")
plain.stopped = True
here = f"/proc/{holder}"
os.symlink(f"{here}/map_files", "/tmp/link")
gm.bind(f"{here}/map_files", gm.mkdir("/bound") and "/bound")
gm.bind(here, "/part")

for args, without in ((("*", "/"), ()), (("*", "/proc"), ()), (("-m", "*", here), ()), (("-L", "*", here, "/tmp"), ()),
                      (("--access=r", "*", here), ()), (("map_files/00400000-00401000", here), ()), (("-l", "*", here), ()),
                      (("--engine=sync", "*", "/part"), ()), (("--engine=bulk", "-m", "*", here), ())):
    result = gm.getmnt("search", *args, seconds=10)
    if result.status is None:
        continue
    gm.expect(not any(b"map_files/" in line for line in result.out.split(b"\n")), f"{args}: map_files was read")
    gm.expect(b"--blocking enters it" in result.err, f"{args}: it is not reported: {result.err[-300:]}")
for names in ("walk", "pure"):
    for rules in ((), ("--prune=-end,-leaf,-shrink",)):
        result = gm.getmnt("-J", "-l", "-o", "TARGET,STATE", "--names=" + names, *rules, seconds=10)
        states = {row["target"]: row["state"] for row in result.rows()} if result.status is not None else {}
        gm.expect(states.get("/bound", "untested") == "untested", f"{names}: {states.get('/bound')}")
for args in (("audit", "--holders"), ("audit", "--under"), ("-D",), ("--boundaries", "--names=walk")):
    gm.getmnt(*args, seconds=10)
# A directory of that name elsewhere is nothing special; and who names it, reads it.
gm.touch(gm.mkdir("/map_files/x") + "/y")
result = gm.getmnt("search", "*", "/map_files")
gm.expect(b"/x/y" in result.out, f"/map_files: {result.out}")
result = gm.getmnt("search", "*", f"/proc/{os.getpid()}/map_files")
gm.expect(result.status == 0 and len(result.out.split()) > 3, f"own map_files: {result.status} {result.err}")

os.kill(holder, signal.SIGKILL)
gm.never.set()
os.close(slow.fd)
os.close(plain.fd)
os.waitpid(holder, 0)
gm.done()
