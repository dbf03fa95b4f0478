#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "growth" of bench/run: how calls, time and memory grow.

A series is a hierarchy that is built again at each of some sizes, in a mount
namespace of its own; on each size the names by hint and the three searches run
in turns.  What did not end within the bound says where it stopped, and is not
run on what is larger; what has no room says so.
"""
import contextlib
import os
import random

import hosts
import plot
from measure import calls_of, exponent, ms, peak_memory, show, table
from scale import KEEP

# Name -> (the size, what is built at each).
SERIES = {
    "mounts": ("mounts", "Mounts, a thousand to a directory"),
    "nested": ("mounts", "Mounts, one below the other"),
    "deep": ("levels", "One mount below directories, one in the other"),
    "leaf": ("directories", "Directories in a file system that carries no mount"),
    "near": ("directories", "Directories, and one mount at the top of them"),
    "far": ("directories", "Directories, and one mount at the lowest level"),
    "entries": ("entries", "Files in a directory, and one mount that is listed last"),
}
WAYS = {"hint": ["--names=hint"]}
WAYS.update((way, ["--names=walk", f"--algorithm={way}", "--threads=1"])
            for way in ("getmnt1", "getmnt2", "getmnt3"))
EACH, SPARE = 2048, 1 << 30     # bytes of memory: for each entry, and to be left


class NoRoom(Exception):
    """A tree of this size does not fit."""


def need_room(top, entries):
    """So many entries fit, in inodes and in memory."""
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) for line in file if line.startswith("MemAvailable:"))
    if os.statvfs(top).f_favail < entries:
        raise NoRoom("not run: too few inodes")
    if free * 1024 < entries * EACH + SPARE:
        raise NoRoom("not run: too little memory")


def counted(row):
    """Its calls but for the look, by the clock, whether anybody still reads the output."""
    return row.calls - row.stats["calls"]["poll"]


def few(value):
    """A difference as people read it; what is noise beside the others is 0."""
    if value is None or abs(value) >= 1000:
        return "-" if value is None else f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.0005 else "0"


class Growth:
    """One run of the part."""

    def __init__(self, bench, where):
        self.bench, self.sizes, self.where = bench, bench.sizes["growth"], where
        self.rows = {}               # (series, way, size) -> row, or why there is none
        self.ended = set()           # (series, way): no larger one

    # What is built.  Each yields the series that what stands now is of.

    def mounts(self, top, size):
        """All mounts of the namespace are counted: it is as few as it needs before."""
        host = hosts.Flat(top)
        have = len(hosts.mount_points())
        if have > size:
            raise NoRoom(f"not run: {have} mounts are needed to run at all")
        host.add(size - have)
        yield "mounts"

    @staticmethod
    def nested(top, size):
        """Mounts, one below the other."""
        hosts.descend(top, size, True)
        yield "nested"

    @staticmethod
    def deep(top, size):
        """One mount, far down."""
        hosts.descend(top, size, False)
        yield "deep"

    def directories(self, top, size):
        """One tree, on which three series are measured."""
        tree = self.bench.tree(f"{top}/tree")
        try:
            need_room(tree, size)
            host = hosts.Host(tree)
            made = host.grow(tree, size - 2, 0, random.Random(10))
            depth = max(path.count("/") for path in made)
            far = random.Random(11).choice([path for path in made if path.count("/") == depth])
            points = {"near": f"{tree}/mount", "far": f"{far}/mount"}
            for point in points.values():
                os.mkdir(point)
            hosts.set_times(host, "shuffled")
            yield "leaf"
            for series, point in points.items():
                hosts.mount("tmpfs", point, "tmpfs", 0, "size=64k")
                yield series
                hosts.detach(point)
        finally:
            self.bench.drop(tree)

    def entries(self, top, size):
        """One directory."""
        tree = self.bench.tree(f"{top}/tree")
        try:
            need_room(tree, size)
            hosts.crowd(tree, size)
            yield "entries"
        finally:
            self.bench.drop(tree)

    @contextlib.contextmanager
    def ground(self):
        """A file system to build on, in a namespace of few mounts."""
        top = f"{self.bench.where}/growth"
        os.mkdir(top)
        try:
            with hosts.Namespace():
                hosts.strip(0, KEEP + [self.bench.where])
                hosts.mount("tmpfs", top, "tmpfs", 0, "mode=755,size=80%,nr_inodes=8m")
                yield top
        finally:
            os.rmdir(top)

    # What is measured.

    def measure(self, series, size, top):
        """All ways on what stands there."""
        rows = {}
        for way, args in WAYS.items():
            if (series, way) in self.ended:
                self.rows[series, way, size] = "not run: a smaller one did not end"
            else:
                rows[way] = self.bench.run(way, "-l", "-o", "TARGET", f"--root={top}", *args,
                                           bound=self.sizes["bound"])
        if rows:
            self.bench.measure(f"growth-{series}-{size}", list(rows.values()))
        want = sum((point + "/").startswith(top + "/") for point in hosts.mount_points())
        for way, row in rows.items():
            if not row.over and (row.status != 0 or row.found != want):
                raise RuntimeError(f"{series}, {size}: {way}: status {row.status}, "
                                   f"{row.found} of {want} mounts were named")
            self.rows[series, way, size] = row
            if row.over:
                self.ended.add((series, way))
            else:
                row.peak = peak_memory(row.argv)

    def grow(self, build, of):
        """One hierarchy at all its sizes; of: the series that are measured on it."""
        for size in self.sizes[of[0]]:
            self.bench.say(f"{of[0]}: {size}: building")
            with self.ground() as top:
                try:
                    with contextlib.closing(build(top, size)) as stages:
                        for series in stages:
                            self.measure(series, size, top)
                except NoRoom as why:
                    self.rows.update(((series, way, size), str(why)) for series in of for way in WAYS)

    def run(self):
        """All series, and what they say."""
        # A namespace has mounts that no table of it shows.
        with hosts.MountMax(self.sizes["mounts"][-1], spare=100):
            self.grow(self.mounts, ["mounts"])
        self.grow(self.nested, ["nested"])
        self.grow(self.deep, ["deep"])
        self.grow(self.directories, ["leaf", "near", "far"])
        self.grow(self.entries, ["entries"])
        for series in SERIES:
            self.show(series)
        self.show_exponents()
        if self.where:
            self.draw()

    # What is shown.

    def of(self, series, way):
        """The rows of a way, by size."""
        return {size: row for (a, b, size), row in self.rows.items() if (a, b) == (series, way)}

    def measured(self, series, way):
        """Those of them that ended, by size."""
        return {size: row for size, row in self.of(series, way).items()
                if not isinstance(row, str) and not row.over}

    def show(self, series):
        """Every figure of a series."""
        unit, title = SERIES[series]
        lines = []
        for way in WAYS:
            for size, row in self.of(series, way).items():
                if isinstance(row, str):
                    lines.append([way, size] + ["-"] * 5 + [row, "-"])
                    continue
                dirs = row.stats.get("dirs")
                real = ms(row.time) if not row.over else \
                    f"over {row.bound:g} s, stopped at {show(dirs)} directories"
                lines.append([way, size, calls_of(row) if row.over else counted(row), dirs, row.stats.get("entries"),
                              ms(row.user), ms(row.system), real, row.peak])
        table(f"Growth: {title}",
              ["", unit, "calls", "directories read", "entries read", "user, ms", "system, ms",
               "real, ms", "peak, KiB"], lines)

    def show_exponents(self):
        """The slopes, and what one more costs."""
        lines = []
        for series, (unit, title) in SERIES.items():
            for way in WAYS:
                rows = self.measured(series, way)
                sizes = sorted(rows)[-3:]
                if len(sizes) < 2:
                    lines.append([title, way, "-"] + ["too few ended"] + ["-"] * 6)
                    continue
                slopes = [exponent(sizes, [value(rows[size]) for size in sizes])
                          for value in (counted, lambda r: r.cpu, lambda r: r.time,
                                        lambda r: r.peak)]
                one, two = rows[sizes[-2]], rows[sizes[-1]]
                more = sizes[-1] - sizes[-2]
                memory = (two.peak - one.peak) * 1024 / more if one.peak and two.peak else None
                lines.append([title, way, f"{show(sizes[0])} to {show(sizes[-1])}"]
                             + ["-" if slope is None else f"{slope:.2f}".replace("-0.00", "0.00")
                                for slope in slopes]
                             + [few((counted(two) - counted(one)) / more),
                                few(round((two.cpu - one.cpu) * 1e6 / more, 2)),
                                few(memory and round(memory))])
        table("Growth: exponents, and what one more costs between the two largest",
              ["", "", "from, to", "calls", "user and system", "real", "memory", "calls of one more",
               "us", "bytes"], lines)

    def draw(self):
        """The data, and the pictures of them."""
        for series, (unit, title) in SERIES.items():
            blocks = {way: [(size, counted(row), row.cpu * 1000, row.time * 1000, row.peak)
                            for size, row in sorted(self.measured(series, way).items())]
                      for way in WAYS if self.measured(series, way)}
            if not blocks:
                print(f"\n{title}: nothing to draw, no run ended.")
                continue
            plot.write(self.where, series, title, unit, blocks)
            plot.draw(self.where, series)


def part(bench):
    """The whole part."""
    Growth(bench, bench.plot).run()
