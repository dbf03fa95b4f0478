#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Profiles of getmnt1, getmnt2 and getmnt3 by gprof, as tables in Markdown.

Runs them by walking, with one thread, each in a folder of its own beside the
program (report/getmnt1/gmon.sum ...), on a tree that is given or on one that
it builds in a private mount namespace.  Needs a program of `make profile`.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import errno
import io
import json
import os
import platform
import shutil
import signal
import stat
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import flatprofile
import hosts
from measure import ENV, table

BEGIN, END = "<!-- made by make profile-report -->\n", "<!-- until here -->\n"
FIGURES = {"getmnt1": 2, "getmnt2": 3, "getmnt3": 9}
# All three have something to do on it; on Figure 4 getmnt3 ends before the first tick.
SIZE = {"dirs": 20000, "overlays": 500, "tmpfs": 500}
SMALL = {"dirs": 500, "overlays": 4, "tmpfs": 4}
TICK = 0.01      # seconds of processor time between two samples
ENOUGH = 5       # samples, to tell the time of a call, or of a run
MOST = 1000      # runs of one algorithm


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--getmnt", default=f"{TOP}/build/profile/getmnt", metavar="FILE",
                        help="the program, built by make profile")
    parser.add_argument("--update", metavar="FILE", help="write the tables there, between its marks")
    parser.add_argument("--seconds", type=float, default=5, metavar="SEC",
                        help="repeat until this much processor time is spent on each (5)")
    parser.add_argument("--small", action="store_true", help="build a small tree")
    parser.add_argument("tree", nargs="?", metavar="TREE", help="a directory to search: all below it is read")
    return parser.parse_args()


def can_run(opts):
    """None, or what is missing."""
    if not os.access(opts.getmnt, os.X_OK):
        return f"there is no {opts.getmnt}: make profile"
    if not shutil.which("gprof"):
        return "there is no gprof, which is of the package binutils: make deps"
    if opts.tree is not None:
        # Not opened, which may mount what is there.
        try:
            why = os.strerror(errno.ENOTDIR) if not stat.S_ISDIR(os.stat(opts.tree).st_mode) else \
                None if os.access(opts.tree, os.R_OK | os.X_OK) else os.strerror(errno.EACCES)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
        if why:
            return f"{opts.tree} cannot be searched: {why}: give a directory that you may read, as in make profile-report TREE=/usr"
    if opts.tree is None and os.geteuid() != 0:
        return ("needs root, to build a tree of mounts in a mount namespace of its own; without it, give a "
                "directory: make profile-report TREE=/usr")
    return None


def shown(text):
    """A text that may have names of others in it, for a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def say(text):
    """Where it is, for who waits."""
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


class Profile:
    """The runs of one algorithm, and what gprof tells of them together."""

    def __init__(self, getmnt, algorithm, tree, folder):
        self.argv = [getmnt, "-l", "-o", "TARGET", "--names=walk", f"--algorithm={algorithm}", "--threads=1",
                     f"--root={tree}", "--stats=json"]
        self.getmnt, self.algorithm, self.folder = getmnt, algorithm, folder
        self.runs, self.user, self.system, self.functions = 0, 0.0, 0.0, None
        self.calls, self.steady = {}, True      # by kind, of all runs; and all alike
        try:
            if os.path.lexists(folder):
                shutil.rmtree(folder)
            os.makedirs(folder)
        except OSError as error:
            raise RuntimeError(f"{folder}, where profiles are left, cannot be made anew: {error.strerror}: remove it, "
                               "or build where you may write") from None

    def once(self):
        """One more run."""
        prefix = f"{self.folder}/gmon.out"
        with tempfile.TemporaryFile() as err, subprocess.Popen(
                self.argv, cwd=self.folder, env={**ENV, "GMON_OUT_PREFIX": prefix}, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=err) as proc:
            _, status, used = os.wait4(proc.pid, 0)
            proc.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            lines = err.read().decode("utf-8", "replace").rstrip("\n").split("\n")
        if proc.returncode not in (0, 64):
            raise RuntimeError(f"{' '.join(self.argv)}: status {proc.returncode}: {' '.join(lines)[-300:]}")
        if not os.path.exists(f"{prefix}.{proc.pid}"):
            raise RuntimeError(f"{' '.join(self.argv)}: has left no gmon.out in {self.folder}: is {self.getmnt} of "
                               f"make profile, and can it be written there? {' '.join(lines)[-200:]}")
        try:
            stats = json.loads(lines[-1])
        except ValueError:
            raise RuntimeError(f"{' '.join(self.argv)}: no --stats=json: {lines[-1][-200:]}") from None
        os.rename(f"{prefix}.{proc.pid}", f"{self.folder}/{self.runs}.gmon")
        self.runs += 1
        self.user += used.ru_utime
        self.system += used.ru_stime
        for kind, n in stats["calls"].items():
            self.calls[kind] = self.calls.get(kind, 0) + n
            # How often it looks whether its reader is gone is a matter of time.
            self.steady &= kind == "poll" or self.calls[kind] == n * self.runs

    def too_short(self):
        """Whether no number of runs would give samples: the clock begins with each."""
        return self.runs >= 20 and self.user + self.system < self.runs * TICK / 2

    def repeat(self, seconds):
        """Run until that much processor time is spent, and have gprof add them up."""
        end = time.monotonic() + 4 * seconds
        while self.runs == 0 or (self.user + self.system < seconds and self.runs < MOST
                                 and not self.too_short() and time.monotonic() < end):
            say(f"{self.algorithm}: run {self.runs + 1}")
            self.once()
        parts = [f"{self.folder}/{i}.gmon" for i in range(self.runs)]
        before = os.getcwd()
        os.chdir(self.folder)      # gprof writes gmon.sum where it stands
        try:
            flatprofile.run("gprof", "-s", self.getmnt, *parts)
        finally:
            os.chdir(before)
        for part in parts:
            os.unlink(part)
        self.functions = flatprofile.flat(self.getmnt, f"{self.folder}/gmon.sum")
        told = {kind: n for kind, n in self.calls.items() if n}
        counted = flatprofile.crossings(self.functions)
        if counted != told:
            raise RuntimeError(f"{self.algorithm}: of {self.runs} run(s) gprof counts {counted}, --stats {told}")

    def rows(self):
        """The flat profile, of one run."""
        total = sum(f.seconds for f in self.functions)
        shown = [f for f in self.functions if f.seconds > 0 and f.seconds >= 0.005 * total or f.kind and f.calls]
        shown.sort(key=lambda f: (-f.seconds, -(f.calls or 0), f.name))
        rows, sum_so_far = [], 0.0
        for f in shown:
            sum_so_far += f.seconds
            rows.append([f"{100 * f.seconds / total:.1f}" if total else "", f"{sum_so_far / self.runs:.4f}",
                         f"{f.seconds / self.runs:.4f}", round(f.calls / self.runs) if f.calls else "",
                         f"{1e6 * f.seconds / f.calls:.2f}" if f.calls and f.seconds >= ENOUGH * TICK else "", f"`{f.name}`"])
        rest = [f for f in self.functions if f not in shown and (f.seconds > 0 or f.calls)]
        left = sum(f.seconds for f in rest)
        rows.append([f"{100 * left / total:.1f}" if total else "", f"{(sum_so_far + left) / self.runs:.4f}",
                     f"{left / self.runs:.4f}", round(sum(f.calls or 0 for f in rest) / self.runs), "",
                     f"{len(rest)} others"])
        return rows

    def sampled(self):
        """Seconds of one run that gprof has, and those in the crossings."""
        crossing = sum(f.seconds for f in self.functions if f.kind)
        return sum(f.seconds for f in self.functions) / self.runs, crossing / self.runs


def report(profiles, told, out):
    """All tables."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    print(f"{told}. {os.cpu_count()} cores ({model}), Linux {platform.release().split('-')[0]}, "
          f"load before: {os.getloadavg()[0]:.1f}. Seconds and calls are those of one run, seconds the mean.",
          file=out)
    short = [p.algorithm for p in profiles if p.user + p.system < ENOUGH * TICK * p.runs]
    if short:
        print(f"\nRuns of {', '.join(short)} are too short for a sample every {1e3 * TICK:.0f} ms, and the first "
              "comes that late: their calls are right, their times are not. A larger tree has them.", file=out)
    head = ["%time", "cumulative seconds", "self seconds", "#calls", "us/call", "name"]
    for p in profiles:
        table(f"{p.algorithm}, as in Figure {FIGURES[p.algorithm]}: {p.runs} run{'s' * (p.runs > 1)}, "
              f"{round(sum(f.seconds for f in p.functions) / TICK)} samples", head, p.rows(), out)
    kinds = [kind for kind in profiles[0].calls if any(p.calls[kind] for p in profiles)]
    if not all(p.steady for p in profiles):
        print("\nCalls differ from run to run, as the tree is changed meanwhile: they are the mean.", file=out)
    table("Calls by kind: gprof and `--stats` agree on each", ["kind", *(p.algorithm for p in profiles)],
          [[kind, *(round(p.calls[kind] / p.runs) for p in profiles)] for kind in kinds]
          + [["all", *(sum(round(n / p.runs) for n in p.calls.values()) for p in profiles)]], out)
    if any(p.calls.get("poll") for p in profiles):
        print("\nHow often poll asks whether anybody still reads is a matter of time: it is the mean.", file=out)
    rows = []
    for p in profiles:
        seen, crossing = p.sampled()
        rows.append([p.algorithm, *(f"{1e3 * s:.1f}" for s in (p.user / p.runs, p.system / p.runs, seen, crossing))])
    table("Processor time of one run, ms", ["", "user", "system", "gprof has", "of it in crossings"], rows, out)


def update(path, text):
    """Put the tables between the marks of a page."""
    with open(path, encoding="utf-8") as file:
        page = file.read()
    before, begun, rest = page.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise RuntimeError(f"{path} lacks the lines {BEGIN.strip()} and {END.strip()}")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + after)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def profile(opts, where):
    """Run all, and print the tables."""
    told = f"`{shown(opts.tree or '')}`"
    tree = opts.tree and os.path.realpath(opts.tree)
    getmnt, folder = os.path.realpath(opts.getmnt), f"{os.path.dirname(os.path.realpath(opts.getmnt))}/report"
    if tree is None:
        tree = where
        hosts.private_namespace()
        hosts.mount("tmpfs", tree, "tmpfs", 0, "size=80%,nr_inodes=8m")
        say("building a tree")
        size = SMALL if opts.small else SIZE
        host = hosts.container_host(tree, **size)
        hosts.set_times(host, "shuffled")
        told = (f"`hosts.container_host({', '.join(f'{k}={v}' for k, v in size.items())})` on tmpfs: {host.told()}")
    profiles = [Profile(getmnt, algorithm, tree, f"{folder}/{algorithm}") for algorithm in FIGURES]
    for p in profiles:
        p.repeat(opts.seconds)
    say("")
    out = io.StringIO()
    report(profiles, told, out)
    text = out.getvalue()
    sys.stdout.write(text)
    if opts.update:
        update(opts.update, text)


def main():
    """Run.  @return the exit status."""
    opts = options()
    why = can_run(opts)
    if why:
        print(f"profile-report: {shown(why)}", file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    where = tempfile.mkdtemp(prefix="profile.")
    try:
        profile(opts, where)
    except KeyboardInterrupt:
        return 130
    except (OSError, RuntimeError) as error:
        print(f"profile-report: {shown(str(error))}", file=sys.stderr)
        return 1
    finally:
        # What is mounted goes with the namespace.
        hosts.detach_below(where)
        os.rmdir(where)
    return 0


if __name__ == "__main__":
    sys.exit(main())
