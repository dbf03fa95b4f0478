# SPDX-License-Identifier: MIT
"""getmnt search prints results and progress while a directory delays it; output to a file ends with a
whole line whenever a signal ends the search.  Years that do not fit into an int."""
import errno
import fcntl
import json
import os
import select
import signal
import stat
import struct
import subprocess
import termios
import threading
import time

import gm

gm.need_speed("the kernel has no part in it")


class SlowFuse(gm.FileFuse):
    """A file and a directory, which is opened when `go` is set."""
    NODES = {b"file": 2, b"slow": 3}

    def __init__(self, target):
        self.go = threading.Event()
        super().__init__(target)

    def attr(self, node):
        folder = node != 2
        return struct.pack("=QQQQQQIIIIIIIIII", node, 0, 0, 0, 0, 0, 0, 0, 0, 0o755 | (
            stat.S_IFDIR if folder else stat.S_IFREG), 1 + folder, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        if opcode == 1:                                         # LOOKUP
            number = self.NODES.get(body.split(b"\0")[0])
            return struct.pack("=QQQQII", number, 0, 0, 0, 0, 0) + self.attr(number) if number else errno.ENOENT
        if opcode == 27 and node == 3:                          # OPENDIR
            self.go.wait(gm.WAIT_SECONDS)
        if opcode == 28 and node == 1 and struct.unpack_from("=QQ", body)[1] == 0:   # READDIR
            return b"".join(struct.pack("=QQII", number, at, 4, kind) + name + bytes(4) for at, (name, number, kind)
                            in enumerate(((b"file", 2, 8), (b"slow", 3, 4)), 1))
        return super().answer(opcode, node, body)


class SlowFile(gm.FileFuse):
    """A file that is written slowly, a page by a call; `text` is what came so far."""

    def __init__(self, target):
        self.text = b""
        self.begun = threading.Event()
        super().__init__(target, {"out": b""})

    def answer(self, opcode, node, body):
        if opcode == 16:                                        # WRITE
            size = struct.unpack_from("=QQI", body)[2]
            self.text += body[40:40 + size]
            if size == 4096:                                    # it is not the last
                self.begun.set()
            time.sleep(0.003)
        return super().answer(opcode, node, body)


shows, writes = os.openpty()
full = os.open("/dev/full", os.O_WRONLY)
root = gm.Root()
fuse = SlowFuse(root / "t")
slow = SlowFile(root / "slow")
gm.tmpfs(root / "m", "nr_inodes=0,size=1g")
for i in range(300):
    folder = gm.mkdir(root / f"m/{'long' * 40}/{i}")
    fd = os.open(folder, os.O_RDONLY)
    for k in range(200):
        os.mknod(f"entry-{k}", dir_fd=fd)
    os.close(fd)
few = gm.mkdir(root / f"few/{'long' * 40}")
for i in range(800):
    gm.touch(f"{few}/{i}")
root.enter()
for sig in (signal.SIGINT, signal.SIGHUP):                        # whoever called us
    signal.signal(sig, signal.SIG_DFL)
ENV = {"LC_ALL": "C.UTF-8", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")}


def start(args, out, err=gm.null, **env):
    return subprocess.Popen([gm.PROGRAM, "search", *args], stdin=gm.null, stdout=out, stderr=err, env={**ENV, **env})


for args in ((), ("--threads=4",), ("--format=jsonl",), ("-l",), ("-o", "SIZE,PATH", "-0"), ("--json",)):
    for reads_on in (True, False):
        fuse.go.clear()
        proc = start([*args, "*", "/t"], subprocess.PIPE)
        text = b""
        while b"/t/file" not in text and select.select([proc.stdout], [], [], gm.WAIT_SECONDS)[0]:
            more = os.read(proc.stdout.fileno(), 4096)
            if not more:
                break
            text += more
        gm.expect(b"/t/file" in text and not fuse.go.is_set(), f"{args}: nothing comes: {text!r}")
        if not reads_on:
            proc.stdout.close()
            time.sleep(0.4)
        fuse.go.set()
        status = proc.wait()
        gm.expect(status == (0 if reads_on else -signal.SIGPIPE), f"{args}: {status}")

# Progress is printed as well.
fuse.go.clear()
proc = start(["nothing", "/t"], writes, writes, TERM="xterm")
text = b""
end = time.monotonic() + gm.WAIT_SECONDS
while b" found: /t" not in text and time.monotonic() < end:
    if select.select([shows], [], [], 0.2)[0]:
        text += os.read(shows, 65536)
gm.expect(b"directories, 0 found: /t" in text, f"no progress: {text!r}")
fuse.go.set()
gm.expect(proc.wait() == 0, "with progress")
while select.select([shows], [], [], 0.1)[0]:
    text += os.read(shows, 65536)
gm.expect(text.endswith(b"\r\x1b[K"), f"left on the terminal: {text[-100:]!r}")

# Whenever the search is ended, the file holds whole lines.
for args, end in (((), b"\n"), (("-0",), b"\0"), (("-o", "SIZE,PATH"), b"\n"), (("--format=jsonl",), b"\n")):
    ended = some = 0
    for turn in range(6):
        with open("/out", "wb+") as out:
            proc = start([*args, "*", "/m"], out)
            time.sleep(0.008 * turn)
            proc.send_signal((signal.SIGINT, signal.SIGTERM)[turn % 2])
            ended += proc.wait() < 0
            out.seek(0)
            text = out.read()
        some += len(text) > 0
        gm.expect(not text or text.endswith(end), f"{args}: ends with {text[-300:]!r}")
    gm.expect(ended > 0 and some > 0, f"{args}: {ended} were ended before their end, {some} had printed something")

# Also while the thread that prints ten times a second is at it.
for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    slow.text = b""
    slow.begun.clear()
    fuse.go.clear()
    with open("/slow/out", "wb") as out:
        proc = start(["*", f"/m/{'long' * 40}/0", "/t"], out)
        gm.expect(slow.begun.wait(gm.WAIT_SECONDS), "nothing is written while the search is held up")
        proc.send_signal(sig)
        fuse.go.set()
        gm.expect(proc.wait() == -sig, f"{sig}: {proc.returncode}")
    lines = slow.text.split(b"\n")
    gm.expect(lines[-1] == b"" and len(lines) > 1 + 200, f"{sig}: {len(lines)} lines, {lines[-1]!r}")

# An output that cannot be written ends the search, with a message.  If stdout is closed from the start,
# all is searched, and it is an error if there was something to print.
for args in ((), ("-J",), ("--format=jsonl",), ("-o", "SIZE,PATH"), ("-l",)):
    result = gm.getmnt("search", *args, "*", "/m", "/m", "/m", "--stats=json", stdout=full)
    gm.expect(result.status == 1 and b"No space left" in result.err, f"{args}: {result.status} {result.err[-200:]}")
    if "-l" not in args:                                        # it is all held before it is aligned
        stats = json.loads(next(line for line in result.err.split(b"\n") if line.startswith(b"{")))
        gm.expect(stats["dirs"] < 900, f"{args}: {stats}")
    result = gm.getmnt("search", *args, "*", "/m", "/m/gone", before=lambda: os.close(1))
    told = "gone" in (result.out + result.err).decode() or args == ("-J",) or args == ("--format=jsonl",)
    gm.expect(result.status == 1 and told, f"{args}, closed: {result.status} {result.err[-200:]}")
    for pattern in ("*", "*-7", "nothing"):
        result = gm.getmnt("search", *args, pattern, "/m", before=lambda: os.close(1))
        lost = pattern != "nothing" or args == ("-J",)
        gm.expect(result.status == lost and (b"cannot be written" in result.err) == lost,
                  f"{args} {pattern}, closed: {result.status} {result.err[-200:]}")

# A signal ends the search also when nobody reads its results or messages.
for out, err in ((True, False), (False, True)):
    reader, writer = os.pipe()
    with open("/out", "wb") as file:
        # A missing root is reported each time.
        proc = start(["*", *(["/few"] if out else ["/none"] * 3000)], writer if out else file, writer if err else gm.null)
        os.close(writer)
        waiting, end = 0, time.monotonic() + gm.WAIT_SECONDS
        while waiting <= 60000 and time.monotonic() < end:
            waiting = struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0]
            time.sleep(0.05)
        gm.expect(waiting > 60000, f"{out} {err}: {waiting} bytes wait in the pipe")
        proc.send_signal(signal.SIGTSTP)
        _, status = os.waitpid(proc.pid, os.WUNTRACED)
        gm.expect(os.WIFSTOPPED(status), f"{out} {err}: not stopped: {status}")
        proc.send_signal(signal.SIGCONT)
        proc.send_signal(signal.SIGTERM)
        gm.expect(proc.wait() == -signal.SIGTERM, f"{out} {err}: {proc.returncode}")
    os.close(reader)

# A reader that waits for room, and one that does not.
for flags in (0, os.O_NONBLOCK):
    out, into = os.pipe()
    os.set_blocking(into, not flags)
    proc = start(["*", "/m"], into)
    os.close(into)
    time.sleep(0.2)
    with os.fdopen(out, "rb") as reader:
        lines = reader.read().split(b"\n")
    gm.expect(proc.wait() == 0 and len(lines) == 1 + 1 + 300 + 300 * 200, f"{flags}: {len(lines)} lines")

# The same of standard error: no message is lost, nor the counts.
missing = [f"/none/{i:0200}" for i in range(1000)]
for flags in (0, os.O_NONBLOCK):
    for stats in ("--stats", "--stats=json"):
        err, into = os.pipe()
        os.set_blocking(into, not flags)
        proc = start(["*", stats, *missing], gm.null, into)
        while proc.poll() is None and select.select([], [into], [], 0)[1]:   # there is room
            time.sleep(0.01)
        os.close(into)
        with os.fdopen(err, "rb") as reader:
            text = reader.read()
        reported = text.count(b"\ngetmnt: /none/") + text.startswith(b"getmnt: /none/")
        gm.expect(proc.wait() == 1 and reported == len(missing) and (b"errors 1000" in text or b'"errors":1000,' in text),
                  f"{flags} {stats}: {reported} messages, {text[-200:]}")

# Years that do not fit into an int.
gm.touch("/m/last/file")
for seconds, date in ((67767976233532799, "2147483647-12-31 23:59"), (67767976233532800, "2147483648-01-01 00:00"),
                      (2**63 - 1, "292277026596-12-04 15:30"), (-2**63, "-292277022657-01-27 08:29")):
    os.utime("/m/last/file", (seconds, seconds))
    result = gm.getmnt("search", "-l", "/file", "/m/last")
    gm.expect(f" {date} /m/last/file" in result.out.decode(), f"{seconds}: {result.out}")
gm.done()
