# SPDX-License-Identifier: MIT
"""Each command that reads an index while its segment file is truncated, or has a page that cannot be read:
it prints what is true, then a message with the mount point and the remedy, and its status is 1.  An update
stores nothing."""
import errno
import json
import os
import re
import signal
import struct
import subprocess
import time

import gm

gm.need("mkfs.ext4", "strace")
gm.need_fs("ext4", "fuse")
IX = "--index-dir=/ix"
FILES = 12000
PAGE = 4096
root = gm.Root()
gm.install("strace", root.path)
gm.loop_mount(gm.image(root / "img", 64 << 20, "mkfs.ext4", "-q"), root / "t")
gm.bind("/dev", gm.mkdir(root / "dev"))
root.enter()
for i in range(FILES):
    if i % 40 == 0:
        os.mkdir(f"/t/d{i // 40}")
    gm.touch(f"/t/d{i // 40}/file-{i * 7919 % 100003}.{'abcdef'[i % 6]}")
gm.expect(gm.getmnt("index", "build", "-q", IX, "/t").status == 0, "build")
place = "/ix/" + os.listdir("/ix")[0]
segment = next(f"{place}/{name}" for name in os.listdir(place) if name.startswith("segment"))
whole = gm.read_bytes(segment)
manifest = gm.read_bytes(f"{place}/manifest")

READERS = {
    "search": ("search", "--index", "*e-1*", "/t"),
    "search by size": ("search", "--index", "--where=-size 0", "*", "/t"),
    "search, JSON": ("search", "-J", "--index", "*.a", "/t"),
    "find": ("find", "--index", "/t", "-name", "*1*", "-printf", "%p %i\\n"),
    "report": ("index", "report", "--depth=2", "/t"),
    "report by extension": ("index", "report", "--by=extension", "--json", "/t"),
    "export": ("index", "export", "--jsonl", "/t"),
    "check": ("index", "check", "/t"),
    "status": ("index", "status"),
}


def with_dir(args, path="/ix"):
    return (*args[:2], f"--index-dir={path}", *args[2:])


def verify(tag, result, right):
    """The result of a run that met a lost page, or did not need it.  @return whether it did."""
    if result.status == 0:
        gm.expect(tag.startswith(("status", "update")) or result.out == right, f"{tag}: another result: {result.out[:200]}")
        return False
    err = (result.out if "JSON" in tag else result.err).decode()
    gm.expect(result.status == 1 and "/t" in err and ("is damaged" in err or "has an input/output error" in err)
              and re.search(r"getmnt index build --index-dir=\S+ /t\b", err), f"{tag}: {result.status}, {err[-300:]}")
    if "JSON" in tag and result.out:
        document = json.loads(result.out)
        gm.expect(document["complete"] is False, f"{tag}: {document['complete']}")
    elif not tag.startswith("update"):
        more = set(result.out.splitlines()) - set(right.splitlines())
        gm.expect(not more, f"{tag}: printed what is not true: {list(more)[:3]}")
    return True


def stopped(args):
    """Start a command that stops when it has mapped the segment.  @return the tracer, the process."""
    gm.touch("/tmp/trace")
    tracer = subprocess.Popen(
        ["/bin/strace", "-f", "-qq", "-o", "/tmp/trace", "-P", segment, "-e", "trace=mmap", "-e", "inject=mmap:signal=SIGSTOP:when=1",
         gm.PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=gm.environment(gm.NO_LEAKS))
    end = time.monotonic() + gm.WAIT_SECONDS
    while time.monotonic() < end and tracer.poll() is None:
        trace = gm.read("/tmp/trace")
        if "stopped by SIGSTOP" in trace:
            return tracer, int(trace.split()[0])
        time.sleep(0.005)
    gm.fail(f"{args}: was not stopped: {tracer.poll()}, {gm.read('/tmp/trace')}")
    tracer.kill()
    return tracer, None


def cut_while_stopped(tag, args, right, size):
    tracer, pid = stopped(args)
    os.truncate(segment, size)
    if pid:
        os.kill(pid, signal.SIGCONT)
    out, err = tracer.communicate(timeout=gm.RUN_SECONDS)
    met = verify(f"{tag}, {size} bytes", gm.Result(tracer.returncode, out, err), right)
    with open(segment, "r+b") as file:
        file.write(whole)
    return met


# Truncated while a command is stopped with the file in memory.
STEP = PAGE if gm.FULL else len(whole) // 6 // PAGE * PAGE
for tag, args in READERS.items():
    args = with_dir(args)
    plain = gm.getmnt(*args)
    gm.expect(plain.status == 0 and plain.out, f"{tag}: {plain}")
    met = [cut_while_stopped(tag, args, plain.out, size) for size in range(0, len(whole), STEP)]
    gm.expect(any(met) or tag == "status", f"{tag}: never met it")

# An update, which keeps the index; what was lost was not removed.
for size in range(0, len(whole), STEP):
    gm.touch(f"/t/d1/new{size}")
    before = sorted(os.listdir(place))
    if cut_while_stopped("update", ("index", "update", "--max-age=0", IX, "/t"), b"", size):
        gm.expect(gm.read_bytes(f"{place}/manifest") == manifest and sorted(os.listdir(place)) == before,
                  f"update, {size} bytes: {os.listdir(place)}")
    gm.expect(gm.getmnt("index", "check", IX, "/t").status == 0, f"after an update, {size} bytes")
    if gm.read_bytes(f"{place}/manifest") != manifest:
        break
segment = next(f"{place}/{name}" for name in os.listdir(place) if name.startswith("segment"))
whole = gm.read_bytes(segment)
gm.expect(cut_while_stopped("update by watch", ("index", "watch", IX, "/t"), b"", 0), "watch: never met it")
gm.expect(gm.getmnt("index", "check", IX, "/t").status == 0, "after watch")
result = gm.getmnt("index", "update", IX, "/t")
gm.expect(result.status == 0, f"update: {result}")

# Truncated while the output waits: what was printed stays.
segment = next(f"{place}/{name}" for name in os.listdir(place) if name.startswith("segment"))
whole = gm.read_bytes(segment)
for tag in ("export", "find"):
    args = with_dir(READERS["export"] if tag == "export" else ("find", "--index", "/t", "-printf", "%p %i %s %n %t\\n"))
    plain = gm.getmnt(*args)
    proc = subprocess.Popen([gm.PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=gm.environment(None))
    end = time.monotonic() + gm.WAIT_SECONDS
    while time.monotonic() < end and "pipe_write" not in gm.read(f"/proc/{proc.pid}/wchan"):
        time.sleep(0.005)
    os.truncate(segment, 0)
    out, err = proc.communicate(timeout=gm.RUN_SECONDS)
    gm.expect(verify(f"{tag}, waiting", gm.Result(proc.returncode, out, err), plain.out) and out, f"{tag}, waiting: {len(out)}")
    with open(segment, "r+b") as file:
        file.write(whole)


# A bad sector: a file system that cannot read a page of the segment.
class BadSector(gm.FileFuse):
    """The index in a directory of its own; pages of its segment fail with EIO."""

    def __init__(self, target):
        self.bad = set()
        self.names = [b"", os.fsencode(os.path.basename(place)), *map(os.fsencode, sorted(os.listdir(place)))]
        self.data = [b"", b"", *(gm.read_bytes(os.path.join(os.fsencode(place), name)) for name in self.names[2:])]
        super().__init__(target)

    def attr(self, node):
        mode = 0o40700 if node <= 2 else 0o100600
        size = len(self.data[node - 1])
        return struct.pack("=QQQQQQIIIIIIIIII", node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, PAGE, 0)

    def answer(self, opcode, node, body):
        if opcode == 1:                                         # LOOKUP
            name = body.split(b"\0")[0]
            if name not in self.names[1:] or (node == 1) != (self.names.index(name) == 1):
                return errno.ENOENT
            child = self.names.index(name) + 1
            return struct.pack("=QQQQII", child, 0, 0, 0, 0, 0) + self.attr(child)
        if opcode == 15:                                        # READ
            _, at, size = struct.unpack_from("=QQI", body)
            pages = range(at // PAGE, (at + size + PAGE - 1) // PAGE)
            if self.names[node - 1].startswith(b"segment") and self.bad.intersection(pages):
                return errno.EIO
            return self.data[node - 1][at:at + size]
        if opcode == 28:                                        # READDIR
            _, begin, _ = struct.unpack_from("=QQI", body)
            names = self.names[1:2] if node == 1 else self.names[2:]
            out = b""
            for i, name in enumerate(names[begin:], begin + 1):
                entry = struct.pack("=QQII", i + 1, i, len(name), 4 if node == 1 else 8) + name
                out += entry + bytes(-len(entry) % 8)
            return out
        return super().answer(opcode, node, body)


fuse = BadSector("/bad")
pages = len(whole) // PAGE
met = dict.fromkeys(READERS, 0)
for tag, args in READERS.items():
    right = gm.getmnt(*with_dir(args, "/bad"))
    gm.expect(right.status == 0 and right.out, f"{tag}, FUSE: {right}")
    for page in range(0, pages + 1, 1 if gm.FULL else max(1, pages // 8)):
        fuse.bad = {page}
        # Nothing is in the cache of the kernel.
        with open(f"/bad/{os.fsdecode(fuse.names[1])}/{os.path.basename(segment)}", "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        met[tag] += verify(f"{tag}, page {page}", gm.getmnt(*with_dir(args, "/bad")), right.out)
        fuse.bad = set()
gm.expect(all(met[tag] for tag in READERS if tag != "status"), f"never met: {met}")
gm.done()
