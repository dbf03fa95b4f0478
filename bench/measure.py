#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run commands, interleaved, and tell what they cost.

A row is a command line with its figures.  Times are of whole processes, from
before the spawn to the end; "search" is what getmnt says that discovery took
of it.  Kernel calls are getmnt's own count; those of other programs come
from perf, where there is one, and have the dynamic linker's in them.
"""
import ctypes
import json
import math
import os
import random
import re
import select
import shutil
import signal
import statistics
import sys
import tempfile
import time

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long
ENV = {"PATH": os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin"), "LC_ALL": "C.UTF-8"}


class Row:
    """A command, and what was measured of it."""

    def __init__(self, name, argv, bound=0):
        self.name = name
        self.argv = argv
        self.bound = bound           # seconds; 0: none
        self.times = []              # seconds, of whole processes
        self.users = []              # seconds, in the program
        self.systems = []            # seconds, in the kernel for it
        self.cpus = []               # seconds, of user and system
        self.searches = []           # seconds, getmnt's own
        self.stats = {}              # getmnt's
        self.other_calls = None      # perf's count
        self.peak = None             # KiB
        self.over = False            # did not end within the bound
        self.status = None
        self.twin = None             # the same, by another revision
        self.out = "/dev/null"       # where its output goes
        self.env = {}                # beside what all have

    @property
    def time(self):
        """Median, in seconds."""
        return statistics.median(self.times) if self.times else None

    @property
    def cpu(self):
        """Median of user and system time, in seconds."""
        return statistics.median(self.cpus) if self.cpus else None

    @property
    def user(self):
        """Median of user time, in seconds."""
        return statistics.median(self.users) if self.users else None

    @property
    def system(self):
        """Median of system time, in seconds."""
        return statistics.median(self.systems) if self.systems else None

    def quartile(self, number):
        """A quartile of the time, in seconds."""
        return statistics.quantiles(self.times)[number - 1] if len(self.times) > 1 else self.time

    @property
    def search(self):
        """Median of what discovery took."""
        return statistics.median(self.searches) if self.searches else None

    @property
    def calls(self):
        """Kernel calls, or None; of a search with those by which it learned of the mounts."""
        if "total_calls" not in self.stats:
            return self.other_calls
        return self.stats["total_calls"] + self.stats.get("mounts_read", {}).get("total_calls", 0)

    @property
    def table_calls(self):
        """Of the calls, those that read the mount table."""
        calls = self.stats.get("calls", {})
        return sum(calls.get(name, 0) for name in ("listmount", "statmount", "read"))

    @property
    def found(self):
        """Mounts that discovery named by touching them."""
        named = self.stats.get("named", {})
        return sum(named.get(name, 0) for name in ("walked", "verified", "inferred"))

    def figures(self):
        """For --json."""
        return {"name": self.name, "argv": [os.path.basename(self.argv[0])] + self.argv[1:],
                "seconds": self.times, "median": self.time, "cpu": self.cpu,
                "user": self.user, "system": self.system,
                "search": self.search,
                "calls": self.calls, "stats": self.stats, "peak_kib": self.peak,
                "over": self.bound if self.over else None, "status": self.status,
                "compared": self.twin.figures() if self.twin else None}


def spawn(argv, bound=0, err=None, out="/dev/null", env=None):
    """Run to the end, or for `bound` seconds.  @env  Beside ENV.
    @return (seconds, (of user, of system), status, over)."""
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    if err is None:
        actions.append((os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0))
    else:
        actions.append((os.POSIX_SPAWN_DUP2, err, 2))
    if out != "/dev/null" and os.path.exists(out):
        os.unlink(out)     # to free what the last one wrote is not this one's time
    begin = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, {**ENV, **(env or {})}, file_actions=actions)
    over = False
    try:
        if bound:
            fd = os.pidfd_open(pid)
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            over = not poll.poll(bound * 1000)
            os.close(fd)
            if over:
                os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return (time.perf_counter() - begin, (used.ru_utime, used.ru_stime),
            os.waitstatus_to_exitcode(status), over)


LONG = 10     # seconds; what takes longer is run once


def run_row(row, keep):
    """One run of a row; it is kept if it is to be, or is the only one."""
    with tempfile.TemporaryFile() as err:
        seconds, cpu, row.status, killed = spawn(row.argv, row.bound and row.bound * 1.5 + 1,
                                                 err.fileno(), row.out, row.env)
        err.seek(0)
        text = err.read().decode("utf-8", "replace")
    last = text.strip().rsplit("\n", 1)[-1]
    if last.startswith("{"):
        row.stats = json.loads(last)
    elif row.status not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{' '.join(row.argv)}: status {row.status}: {text.strip()}")
    row.over = killed or bool(row.bound and seconds >= row.bound)
    if keep or row.over or seconds > LONG:
        row.times.append(seconds)
        row.users.append(cpu[0])
        row.systems.append(cpu[1])
        row.cpus.append(sum(cpu))
        if "discovery_seconds" in row.stats:
            row.searches.append(row.stats["discovery_seconds"])
    return seconds


def interleaved(rows, budget, least=3, most=15, say=None):
    """Measure rows in turns: each as often as `budget` seconds of it allow,
    after one run that does not count.  What runs into its bound, or takes
    long, is left at that one."""
    rows = rows + [row.twin for row in rows if row.twin]
    want = {}
    for row in rows:
        if say:
            say(row.name)
        seconds = run_row(row, False)
        if row.over or seconds > LONG:
            want[row] = 0
        else:
            want[row] = max(least, min(most, int(budget / max(seconds, 1e-6))))
    for row in rows:
        if row.twin:
            want[row] = want[row.twin] = min(want[row], want[row.twin])
    for turn in range(max(want.values())):
        if say:
            say(f"turn {turn + 1}")
        # What a row leaves behind, in caches and to be written, is not always the same one's to meet.
        for row in random.Random(turn).sample(rows, len(rows)):
            if turn < want[row]:
                run_row(row, True)


def count_calls(row, perf=shutil.which("perf")):
    """Kernel calls of a program that does not count its own, by perf."""
    if not perf or row.over or row.time > LONG:
        return
    with tempfile.NamedTemporaryFile("r") as out:
        argv = [perf, "stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-o", out.name, "--"]
        spawn(argv + row.argv, 60, env=row.env)
        match = re.search(r"^(\d+),[^,]*,raw_syscalls:sys_enter", out.read(), re.M)
    row.other_calls = int(match[1]) if match else None


def own_calls(row):
    """Kernel calls of getmnt by its own count, where it was measured without."""
    with tempfile.TemporaryFile() as err:
        spawn(row.argv + ["--stats=json"], 60, err.fileno())
        err.seek(0)
        row.stats = json.loads(err.read().decode().rstrip("\n").rsplit("\n", 1)[-1])


def peak_memory(argv):
    """Peak resident memory of a command in KiB, or None.

    ru_maxrss of a child begins at that of the process it was spawned from:
    this interpreter's.  VmHWM is asked when the child is about to exit.
    """
    traceme, cont, setoptions, traceexit = 0, 7, 0x4200, 0x40
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            if _libc.ptrace(traceme, 0, None, None) == 0:
                os.execve(argv[0], argv, ENV)
        finally:
            os._exit(127)
    peak = None
    try:
        _, status = os.waitpid(pid, 0)
        if os.WIFSTOPPED(status):
            _libc.ptrace(setoptions, pid, None, traceexit)
        while os.WIFSTOPPED(status):
            number = os.WSTOPSIG(status)
            if status >> 16:
                with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
                    match = re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M)
                peak = int(match[1]) if match else None
            _libc.ptrace(cont, pid, None, 0 if number == signal.SIGTRAP else number)
            _, status = os.waitpid(pid, 0)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return peak


def exponent(sizes, values):
    """The growth exponent: the slope by least squares of the logs."""
    points = [(math.log(n), math.log(v)) for n, v in zip(sizes, values) if v]
    if len(points) < 2:
        return None
    mx = statistics.fmean(x for x, _ in points)
    my = statistics.fmean(y for _, y in points)
    return sum((x - mx) * (y - my) for x, y in points) / sum((x - mx) ** 2 for x, _ in points)


def show(value, digits=3):
    """A number as people read it."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}"


def ms(seconds):
    """Seconds as milliseconds."""
    return show(seconds * 1000) if seconds is not None else "-"


def time_of(row):
    """The median in ms, or what it did not end in."""
    return f"over {row.bound:g} s" if row.over else ms(row.time)


def calls_of(row):
    """The calls, or at least so many."""
    text = show(row.calls)
    return f"over {text}" if row.over and row.calls else text


def ratio(above, below, what="time"):
    """above/below as text; what did not end is a bound."""
    a, b = getattr(above, what), getattr(below, what)
    if a is None or not b or below.over:
        return "-"
    return ("over " if above.over else "") + show(a / b)


def table(title, head, rows, out=sys.stdout):
    """A table, in Markdown that reads as plain text."""
    cells = [[show(c) for c in row] for row in rows]
    widths = [max(len(r[i]) for r in [head] + cells) for i in range(len(head))]

    def line(row):
        return "| " + " | ".join(c.ljust(w) if i == 0 else c.rjust(w)
                                 for i, (c, w) in enumerate(zip(row, widths))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":"
                          for i, w in enumerate(widths)) + "|"
    print(f"\n### {title}\n", file=out)
    for text in [line(head), rule] + [line(row) for row in cells]:
        print(text, file=out)
    out.flush()
