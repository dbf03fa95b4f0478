#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bench/run measures: each part builds its trees, measures, prints."""
import os
import shutil
import subprocess
import sys

import audited
import cold
import find
import growth
import hosts
import scale
import search
from measure import Row, calls_of, count_calls, interleaved, ms, ratio, show, spawn, table, time_of

FIND = shutil.which("find")
FINDMNT = shutil.which("findmnt")

FULL = {
    "figure4": {"dirs": 170000}, "container": {"dirs": 20000, "overlays": 500, "tmpfs": 500},
    "deep": {"files": 300000}, "walk": {"dirs": 100000}, "walk_turns": 9,
    "bunch": {"dirs": 1000, "files": 200},
    "scale": [10, 20, 100, 1000, 10000, 50000], "stack": 32000, "bound": 10, "budget": 2, "most": 15,
    "cold": {"files": 200000, "turns": 9},
    "audit": [500, 1000, 5000, 10000],
    "growth": {"mounts": [10, 100, 1000, 10000, 100000], "nested": [10, 30, 100, 300, 1000, 3000],
               "deep": [10, 100, 1000, 10000], "leaf": [1000, 10000, 100000, 1000000],
               "entries": [100, 1000, 10000, 100000, 1000000], "bound": 60},
}
QUICK = {
    "figure4": {"dirs": 17000}, "container": {"dirs": 4000, "overlays": 100, "tmpfs": 100},
    "deep": {"files": 30000}, "walk": {"dirs": 20000}, "walk_turns": 5,
    "bunch": {"dirs": 100, "files": 200},
    "scale": [10, 20, 100, 1000], "stack": 2000, "bound": 3, "budget": 0.5, "most": 7,
    "cold": {"files": 20000, "turns": 3},
    "audit": [500, 1000, 5000],
    "growth": {"mounts": [10, 100, 1000, 5000], "nested": [10, 100, 1000],
               "deep": [10, 100, 1000], "leaf": [1000, 3000, 10000, 30000],
               "entries": [100, 1000, 10000, 100000], "bound": 10},
}


class Bench:
    """Options, where trees are built, and all that was measured."""

    def __init__(self, getmnt, other, where, fs, quick):
        self.getmnt, self.other = getmnt, other
        self.where, self.fs = where, fs
        self.sizes = QUICK if quick else FULL
        self.plot = None             # the directory for pictures of the part growth
        self.done = {}               # for --json: part -> rows

    def say(self, text):
        """Progress, on a terminal only."""
        if sys.stderr.isatty():
            print(f"\r\033[K{text[:78]}", end="", file=sys.stderr, flush=True)

    def run(self, name, *args, bound=0, stats=True):
        """A row for getmnt, and one for the other revision's."""
        args = list(args) + (["--stats=json"] if stats else [])
        if bound:
            args.append(f"--max-time={bound:g}")
        row = Row(name, [self.getmnt] + args, bound)
        if self.other:
            row.twin = Row(name + " (other)", [self.other] + args, bound)
        return row

    def measure(self, part, rows, **how):
        """Measure rows in turns, and keep them."""
        how.setdefault("budget", self.sizes["budget"])
        how.setdefault("most", self.sizes["most"])
        interleaved(rows, say=lambda text: self.say(f"{part}: {text}"), **how)
        for row in rows:
            if row.argv[0] != self.getmnt:
                count_calls(row)
        self.done.setdefault(part, []).extend(rows)

    # Trees.

    def tree(self, top=None):
        """An empty file system to build in; a mount of its own."""
        top = top or f"{self.where}/tree"
        os.makedirs(top, exist_ok=True)
        if self.fs == "tmpfs":
            hosts.mount("tmpfs", top, "tmpfs", 0, "size=80%,nr_inodes=8m")
        elif self.fs == "here":
            os.makedirs(f"{self.where}/here")
            hosts.mount(f"{self.where}/here", top, None, hosts.MS_BIND)
        else:
            # It keeps its name: of a loop device whose file has none it cannot be known
            # whether it can block, so that getmnt would not touch it.
            image = f"{self.where}/image"
            with open(image, "wb") as file:
                file.truncate(8 << 30)
            make = {"ext4": ["mkfs.ext4", "-q", "-F", "-N", "1500000", "-O", "^has_journal"],
                    "xfs": ["mkfs.xfs", "-q", "-f"]}[self.fs]
            subprocess.run(make + [image], check=True)
            subprocess.run(["mount", "-o", "loop", image, top], check=True)
        return top

    def remount(self, top):
        """What is in memory of a tree is as after a first search of it, by find, and not as
        it was left by who made it."""
        if self.fs in ("ext4", "xfs"):
            subprocess.run(["umount", top], check=True)
            with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
                file.write("3")
            subprocess.run(["mount", "-o", "loop", f"{self.where}/image", top], check=True)
        spawn([shutil.which("find"), top, "-size", "-99999999"])

    def drop(self, top):
        """A tree and all its mounts away."""
        hosts.detach(top)
        if self.fs == "here":
            shutil.rmtree(f"{self.where}/here")
        elif self.fs != "tmpfs":
            os.unlink(f"{self.where}/image")

    # Parts.

    def hierarchies(self):
        """Calls and time of each algorithm on each hierarchy."""
        ratios, times = [], []
        for name, title in (("figure4", "Figure 4 at size"), ("container", "Container host"),
                            ("deep", "One mount 12 levels down")):
            self.say(f"{name}: building")
            top = self.tree()
            try:
                host = hosts.BUILDERS[name](top, **self.sizes[name])
                self.changes(name, title, host, times)
                hosts.set_times(host, "shuffled")
                ratios += self.hierarchy(name, title, host)
            finally:
                self.drop(top)
        table("Times of change, and the rule \"likely\" (getmnt3 by walking, one thread)",
              ["hierarchy", "times of change", "calls", "without likely", "search, ms",
               "without likely"],
              times)
        table("Ratios as in Smith's Figures 7 and 10",
              ["hierarchy", "", "getmnt1/getmnt2", "getmnt2/getmnt3", "getmnt1/getmnt3"], ratios)

    def walk(self, name, top, algorithm, *args, threads=None, bound=True):
        """A row of --names=walk."""
        args = list(args) + (["--threads=%d" % threads] if threads else [])
        return self.run(name, "-l", "-o", "TARGET", f"--root={top}", "--names=walk",
                        f"--algorithm={algorithm}", *args,
                        bound=self.sizes["bound"] if bound else 0)

    def hierarchy(self, name, title, host):
        """The tables of one.  @return its rows of ratios."""
        top, bound = host.top, self.sizes["bound"]
        one = {a: self.walk(f"{a}, 1 thread", top, a, threads=1)
               for a in ("getmnt1", "getmnt2", "getmnt3")}
        many = {a: self.walk(a, top, a) for a in ("getmnt1", "getmnt2", "getmnt3")}
        hint = self.run("--names=hint", "-l", "-o", "TARGET", f"--root={top}")
        beside = [Row("find -type d", [FIND, top, "-type", "d"], bound),
                  Row("find -xdev -type d", [FIND, top, "-xdev", "-type", "d"], bound),
                  Row("findmnt -l -o TARGET", [FINDMNT, "-l", "-o", "TARGET"], bound)]
        rows = list(one.values()) + list(many.values()) + [hint] + beside
        self.measure(name, rows)

        def cells(row):
            return [row.name, calls_of(row), row.table_calls if row.stats else "-",
                    row.stats.get("dirs", "-"), row.found if row.stats else "-",
                    ms(row.search), time_of(row)]
        table(f"{title}: {host.told()}",
              ["", "calls", "of them table", "directories", "named", "search, ms", "process, ms"],
              [cells(row) for row in rows])
        self.doubts(host, rows)

        rules = list(one["getmnt3"].stats.get("rules", {}))
        less = [self.walk(f"without {rule}", top, "getmnt3", f"--prune=-{rule}", threads=1)
                for rule in rules]
        base = self.walk("getmnt3", top, "getmnt3", threads=1)
        self.measure(f"{name}-rules", [base] + less, most=5, budget=self.sizes["budget"] / 2)
        table(f"{title}: getmnt3 without one rule, one thread",
              ["", "calls", "directories", "search, ms", "x calls", "x time"],
              [[row.name, calls_of(row), row.stats.get("dirs"),
                f"over {bound:g} s" if row.over else ms(row.search),
                ratio(row, base, "calls"), ratio(row, base, "search")] for row in [base] + less])

        def pair(what, rows):
            a, b, c = (rows[x] for x in ("getmnt1", "getmnt2", "getmnt3"))
            return [title, what] + [ratio(x, y, "calls" if what == "calls" else "search")
                                    for x, y in ((a, b), (b, c), (a, c))]
        return [pair("calls", one), pair("time, 1 thread", one), pair("time", many)]

    @staticmethod
    def doubts(host, rows):
        """Say which figures are not what they seem."""
        for row in rows:
            if not row.stats or row.over:
                continue
            want = len(host.points) + 1
            if row.found != want:
                print(f"\n{row.name} named {row.found} mounts of {want}.")
            if row.name.startswith("getmnt1") and row.stats["dirs"] < host.dirs:
                print(f"\n{row.name} is to read every directory, and read {row.stats['dirs']:,} of "
                      f"{host.dirs:,} ({row.stats.get('vanished', 0):,} \"vanished\").")

    def changes(self, name, title, host, rows):
        """What the rule "likely" owes to times of change."""
        for how in ("as built", "busy", "shuffled", "adverse"):
            if how != "as built":
                hosts.set_times(host, how)
            base = self.walk(how, host.top, "getmnt3", threads=1)
            less = self.walk(how + ", without likely", host.top, "getmnt3", "--prune=-likely",
                             threads=1)
            self.measure(f"{name}-times", [base, less], most=5, budget=self.sizes["budget"] / 3)
            rows.append([title, how, base.calls, less.calls, ms(base.search), ms(less.search)])

    def against_find(self):
        """getmnt1 over a plain tree beside find."""
        rows = []
        for what, args in (("no files", {"files": 0}), ("files", {"files": 10}),
                           ("files, 1 mount", None)):
            try:
                if what != "files, 1 mount":
                    self.say(f"walk: building: {what}")
                    top = self.tree()
                    host = hosts.plain(top, **self.sizes["walk"], **args)
                else:
                    host.mount("tmpfs", f"{top}/mount", "tmpfs", None)
                find = Row("find -xdev -type d", [FIND, top, "-xdev", "-type", "d"])
                walks = [self.walk("getmnt1", top, "getmnt1", bound=False),
                         self.walk("getmnt1, 1 thread", top, "getmnt1", threads=1, bound=False)]
                turns = self.sizes["walk_turns"]
                self.measure("find", [find] + walks, least=turns, most=turns)
            finally:
                if what != "files":
                    self.drop(top)
            told = f"{host.dirs:,} directories, {host.files:,} files" + \
                (", 1 mount" if what == "files, 1 mount" else "")
            rows += [[told, row.name, calls_of(row), row.stats.get("dirs", "-"), ms(row.time),
                      show(find.time / row.time), show(min(find.times) / min(row.times))]
                     for row in [find] + walks]
        table("getmnt1 beside find: medians of interleaved runs",
              ["tree", "", "calls", "directories", "process, ms", "times faster than find",
               "fastest runs"], rows)

    def scaled(self):
        """10 to 50,000 mounts."""
        scale.part(self, FINDMNT)

    def searched(self):
        """getmnt search, beside its peers."""
        search.part(self)

    def compared(self, rev):
        """All rows of both revisions."""
        table(f"This build / {rev} (below 1: this one is better)",
              ["part", "", f"{rev}, ms", "here, ms", "x time", "x search", f"{rev}, calls",
               "here, calls", "x calls"],
              [[part, row.name, time_of(row.twin), time_of(row), ratio(row, row.twin),
                ratio(row, row.twin, "search"), calls_of(row.twin), calls_of(row),
                ratio(row, row.twin, "calls")]
               for part, rows in self.done.items() for row in rows if row.twin])


PARTS = {"hierarchies": Bench.hierarchies, "walk": Bench.against_find, "scale": Bench.scaled,
         "search": Bench.searched, "find": find.part, "cold": cold.part,
         "audit": audited.part, "growth": growth.part}
