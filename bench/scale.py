#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "scale" of bench/run: 10 to 50,000 mounts, and many on one path.

Command lines are measured as one types them, beside findmnt's, in a mount
namespace that holds exactly so many mounts.  At the end each promise is held
against what was measured.
"""
import os
import statistics

import hosts
from measure import LONG, Row, exponent, ms, own_calls, peak_memory, show, table

FORMS = [[], ["-l"], ["-r"], ["-J"], ["--format=jsonl"],
         ["--names=kernel"], ["--names=kernel", "-l"], ["--names=kernel", "-J"]]
BESIDE = [[], ["-l"], ["-J"]]
KINDS = {"binds": ("bind mounts of directories", hosts.Binds),
         "containers": ("a container host", hosts.Containers)}
# What is kept when a namespace is stripped: what programs, /proc and perf need.
KEEP = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/proc", "/sys", "/dev"]


def name(program, args):
    """A command line as it is named."""
    return " ".join([program] + args)


def paired(above, below):
    """How many times the one is the other: the median of the turns, in each
    of which both met the same machine."""
    if len(above) != len(below):
        return statistics.median(above) / statistics.median(below)
    return statistics.median(a / b for a, b in zip(above, below))


class Scale:
    """One run of the part."""

    def __init__(self, bench, findmnt):
        self.bench, self.findmnt = bench, findmnt
        self.sizes = bench.sizes["scale"]
        self.small, self.usual = 20, 10000
        self.rows = {}               # (kind, size, name) -> row
        self.limits = []

    def measure(self, kind, size, forms, beside, **how):
        """Measure command lines in turns, then count their calls and memory."""
        rows = [self.bench.run(name("getmnt", args), *args, stats=False) for args in forms]
        rows += [Row(name("findmnt", args), [self.findmnt] + args) for args in beside]
        self.bench.measure(f"{kind}-{size}", rows, **how)
        for row in rows + [row.twin for row in rows if row.twin]:
            if row.argv[0] != self.findmnt:
                own_calls(row)
            if row.time < LONG:
                row.peak = peak_memory(row.argv)
            self.rows[kind, size, row.name] = row
        return rows

    # What is measured.

    def grow(self, kind):
        """From the smallest number of mounts to the largest."""
        title, builder = KINDS[kind]
        with hosts.MountMax(self.sizes[-1]), hosts.Namespace():
            hosts.strip(self.sizes[0] - 4, KEEP + [self.bench.where])
            top = f"{self.bench.where}/{kind}"
            os.mkdir(top)
            hosts.mount("tmpfs", top, "tmpfs", 0, "mode=755,nr_inodes=4m")
            host = builder(top)
            for size in self.sizes:
                self.bench.say(f"{kind}: {size} mounts")
                host.add(size - len(hosts.mount_points()))
                most = 201 if size == self.small else self.bench.sizes["most"]
                # Its JSON takes as long as its tree, which takes long enough.
                self.measure(kind, size, FORMS, BESIDE[:2] if size > self.usual else BESIDE,
                             least=5, most=most)
        os.rmdir(top)
        self.show_growth(kind, title)

    def pile(self, mounts):
        """So many on one path."""
        with hosts.MountMax(mounts), hosts.Namespace():
            top = f"{self.bench.where}/stack"
            os.mkdir(top)
            self.bench.say(f"stack: {mounts} mounts")
            base = len(hosts.mount_points())
            hosts.stack(top, mounts)
            rows = self.measure("stack", mounts, FORMS, [["-l"]], least=5)
        os.rmdir(top)
        table(f"{show(mounts)} mounts on one path, {base} elsewhere",
              ["", "process, ms", "user and system, ms", "calls", "statx", "peak, KiB"],
              [[row.name, ms(row.time), ms(row.cpu), row.calls,
                row.stats.get("calls", {}).get("statx", "-"), row.peak] for row in rows])
        self.calls(f"{show(mounts)} on one path", rows[:len(FORMS)], base + 1, base + mounts)

    # What is shown.

    def show_growth(self, kind, title):
        """The tables of one kind."""
        upper = [size for size in self.sizes if size >= 100]
        for what, value, form in (("process, ms", lambda r: r.time, ms),
                                  ("user and system, ms", lambda r: r.cpu, ms),
                                  ("kernel calls", lambda r: r.calls, show),
                                  ("peak memory, KiB", lambda r: r.peak, show)):
            rows = []
            for args, program in [(a, "getmnt") for a in FORMS] + [(a, "findmnt") for a in BESIDE]:
                label = name(program, args)
                values = [value(self.rows[kind, size, label])
                          if (kind, size, label) in self.rows else None for size in self.sizes]
                grown = exponent(upper, values[len(values) - len(upper):])
                rows.append([label] + [form(v) for v in values] + [show(grown, 2)])
            table(f"{title}: {what}",
                  ["mounts"] + [show(size) for size in self.sizes] + ["exponent from 100 on"], rows)
        if self.small in self.sizes:
            small = [self.rows[kind, self.small, name(program, args)]
                     for args in BESIDE for program in ("getmnt", "findmnt")]
            table(f"{title}: {self.small} mounts, {len(small[0].times)} runs in turns",
                  ["", "median, ms", "a quarter below", "a quarter above", "user and system, ms"],
                  [[row.name, ms(row.time), ms(row.quartile(1)), ms(row.quartile(3)), ms(row.cpu)]
                   for row in small])
        self.judge(kind)

    # What was promised.

    def limit(self, what, value, limit, least=True, beside="-"):
        """Hold a figure against its limit: at least, or at most."""
        held = value >= limit if least else value <= limit
        self.limits.append([what, show(value), beside, f"{'>=' if least else '<='} {limit:g}",
                            "held" if held else "missed"])

    def compare(self, kind, size, ours, theirs, limit, least=True):
        """A limit of how many times as long findmnt takes; or, at most, how
        many times as long as findmnt getmnt does."""
        a, b = self.rows.get((kind, size, theirs)), self.rows.get((kind, size, ours))
        if not a or not b:
            return
        if not least:
            a, b = b, a
        self.limit(f"{kind}, {show(size)} mounts: {a.name} / {b.name}", paired(a.times, b.times),
                   limit, least, show(paired(a.cpus, b.cpus)) if a.cpus else "-")

    def calls(self, what, rows, points, mounts):
        """The calls of runs that test every name."""
        for call, count in (("statx", points), ("statmount", mounts)):
            most = max(row.stats["calls"][call] for row in rows)
            self.limit(f"{what}: {call}, beyond {show(count)}", most - count, 2, False)

    def judge(self, kind):
        """The limits of one kind."""
        for args in BESIDE:
            self.compare(kind, self.small, name("getmnt", args), name("findmnt", args), 1)
        usual = self.usual
        self.compare(kind, usual, "getmnt", "findmnt", 10)
        self.compare(kind, usual, "getmnt --names=kernel -J", "findmnt -J", 15)
        self.compare(kind, usual, "getmnt --names=kernel -l", "findmnt -l", 1)
        self.compare(kind, usual, "getmnt -l", "findmnt -l", 1.5, False)
        self.compare(kind, 50000, "getmnt", "findmnt", 60)
        for size in self.sizes:
            row = self.rows[kind, size, "getmnt"]
            if size >= 1000:
                self.calls(f"{kind}, {show(size)} mounts", [row], size, size)

    def judge_growth(self):
        """What holds of every form and number: linear, and in how much memory."""
        series = {}
        for (kind, size, label), row in self.rows.items():
            if label.startswith("getmnt") and "other" not in label:
                series.setdefault((kind, label), []).append((size, row))
        worst = max(((row.peak or 0) / (16 * 1024 + size), f"{kind}, {show(size)} mounts: {label}")
                    for (kind, label), rows in series.items() for size, row in rows)
        self.limit(f"memory of 16 MiB and 1 KiB a mount, the most used: {worst[1]}",
                   worst[0], 1, False)
        slopes = []
        for (kind, label), rows in series.items():
            above = [(size, row) for size, row in rows if size >= 1000]
            if len(above) > 1:
                slopes.append((exponent([size for size, _ in above], [row.time for _, row in above]),
                               f"{kind}: {label}"))
        if slopes:
            self.limit(f"exponent of time from 1,000 mounts on, the greatest: {max(slopes)[1]}",
                       max(slopes)[0], 1.1, False)


def part(bench, findmnt):
    """The whole part."""
    scale = Scale(bench, findmnt)
    for kind in KINDS:
        scale.grow(kind)
    if bench.sizes["stack"]:
        scale.pile(bench.sizes["stack"])
    scale.judge_growth()
    table("Limits", ["", "measured", "by user and system", "limit", ""], scale.limits)
