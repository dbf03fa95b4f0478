#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "search" of bench/run: getmnt search beside find, bfs, fd, du and plocate.

One tree of about a million files, warm; command lines in turns, each to a file
of its own, which must hold the same paths.  A row stands twice, under two
names: how far the two are apart is what a ratio cannot say.  plocate is another
thing: it reads an index that was made before, no directory.
"""
import glob
import hashlib
import os
import shutil
import statistics

import cold
import hosts
from measure import Row, calls_of, ms, run_row, show, spawn, table
from scale import paired


def peer(*names):
    """The first of some programs that is installed; or None."""
    return next((path for path in map(shutil.which, names) if path), None)


def index_programs():
    """plocate and its updatedb, and what these need in the environment: those that are
    installed, or unpacked by build-aux/deps.  @return three times None without."""
    tree = f"{os.path.dirname(os.path.dirname(os.path.realpath(__file__)))}/build/plocate/tree/usr"
    path = ":".join([os.environ.get("PATH", ""), "/usr/sbin", f"{tree}/bin", f"{tree}/sbin"])
    plocate, updatedb = (shutil.which(name, path=path) for name in ("plocate", "updatedb.plocate"))
    if not plocate or not updatedb:
        return None, None, None
    libraries = ":".join(glob.glob(f"{tree}/lib/*-linux-*"))
    return plocate, updatedb, {"LD_LIBRARY_PATH": libraries} if libraries else {}


def paths_of(row, out):
    """Run a command once.  @return how many paths it wrote, the last of each line, and a sum
    that does not hang on their order."""
    spawn([arg for arg in row.argv if arg != "--stats=json"], out=out, env=row.env)
    total, lines = 0, 0
    with open(out, "rb") as file:
        for line in file:
            path = line.rstrip(b"\n").rsplit(b"\t", 1)[-1].rstrip(b"/")
            digest = hashlib.blake2b(path, digest_size=8).digest()
            total = (total + int.from_bytes(digest, "little")) & (1 << 64) - 1
            lines += 1
    return lines, total


class Search:
    """One run of the part."""

    def __init__(self, bench, top):
        self.bench, self.top = bench, top
        self.out = f"{bench.where}/out"
        self.limits = []
        self.find, self.bfs, self.fd = peer("find"), peer("bfs"), peer("fdfind", "fd")
        self.du = peer("du")
        self.plocate, self.updatedb, self.env = index_programs()
        self.index = f"{bench.where}/index"

    def ours(self, name, *args):
        """A row of getmnt's."""
        row = self.bench.run(name, "search", *args, self.top)
        row.out = self.out
        if row.twin:
            row.twin.out = self.out
        return row

    def theirs(self, name, argv):
        """A row of another's."""
        row = Row(name, argv)
        row.out = self.out
        return row

    def group(self, title, rows, least, beside=()):
        """Measure rows in turns.  @beside  Others in the same turns, of other paths."""
        turns = self.bench.sizes["walk_turns"]
        self.bench.measure("search", rows + list(beside), least=turns, most=turns)
        best = rows[0]
        told = {row.name: paths_of(row, self.out) for row in rows}
        different = {name for name, paths in told.items() if paths != told[best.name]}
        table(title, ["", "calls", "process, ms", "user and system, ms", "times as long",
                      "lines", "the same paths"],
              [[row.name, calls_of(row), ms(row.time), ms(row.cpu), show(paired(row.times, best.times)),
                told[row.name][0], "no" if row.name in different else "yes"] for row in rows])
        if different:
            raise RuntimeError(f"{title}: other paths than {best.name}: {', '.join(sorted(different))}")
        for what, against, factor in least:
            against = [row for row in against if row]
            if not against:
                continue
            quickest = min(against, key=lambda row: row.time)
            value = paired(quickest.times, best.times)
            self.limits.append([f"{title}: {what} ({quickest.name})", show(value), f">= {factor:g}",
                                "held" if value >= factor else "missed"])

    def indexed(self):
        """Make the index of plocate, anew and again.  @return its row and these; or None, []."""
        if not self.plocate:
            return None, []
        argv = [self.updatedb, "-U", self.top, "-o", self.index, "--require-visibility", "no",
                "--prune-bind-mounts", "no", "--prunefs", "", "--prunepaths", "", "--prunenames", ""]
        anew, again = (Row(name, argv) for name in ("updatedb, without an index", "updatedb, of the same again"))
        # What is below it has its path, and so no root of its own.
        plocate = self.theirs("plocate", [self.plocate, "-d", self.index, f"{self.top}/"])
        for row in (anew, again, plocate):
            row.env = self.env
        for turn in range(self.bench.sizes["walk_turns"]):
            self.bench.say(f"updatedb: turn {turn + 1}")
            if os.path.exists(self.index):
                os.unlink(self.index)
            run_row(anew, True)
            run_row(again, True)
        self.bench.done.setdefault("search", []).extend([anew, again])
        return plocate, [anew, again]

    def names(self):
        """Names alone; a pattern with few hits."""
        plocate, index = self.indexed()
        a, b = self.ours("getmnt search '*'", "*"), self.ours("the same again", "*")
        few = self.ours("getmnt search 'f1*7'", "f1*7")
        find = self.theirs("find", [self.find, self.top, "-mindepth", "1"])
        bfs = self.bfs and self.theirs("bfs", [self.bfs, self.top, "-mindepth", "1"])
        dfs = self.bfs and self.theirs("bfs -S dfs", [self.bfs, "-S", "dfs", self.top, "-mindepth", "1"])
        fd = self.fd and self.theirs("fd -u", [self.fd, "-u", ".", self.top])
        rows = [row for row in (a, b, find, bfs, dfs, fd, plocate) if row]
        self.group("Names", rows, [("find", [find], 3), ("the quicker of bfs and fd", [bfs, fd], 2.5)], [few])
        if index:
            table(f"The index that plocate reads: {os.path.getsize(self.index) >> 10:,} KiB, made before",
                  ["", "process, ms", "user and system, ms", "times as long as names"],
                  [[row.name, ms(row.time), ms(row.cpu), show(row.time / a.time)] for row in index])
        slower = paired(few.times, a.times)
        table("A pattern with few hits", ["", "calls", "process, ms", "times as long as names"],
              [[few.name, calls_of(few), ms(few.time), show(slower)]])
        apart = abs(1 - paired(a.times, b.times))
        spread = statistics.quantiles([x / y for x, y in zip(a.times, b.times)])
        table("The same against the same", ["", "median apart", "a quarter below", "a quarter above"],
              [["names", show(apart, 2), show(spread[0]), show(spread[2])]])

    def metadata(self):
        """What needs the attributes of every entry.  -size is a test that all pass."""
        ours = self.ours("getmnt search -o SIZE,PATH '*'", "-o", "SIZE,PATH", "*")
        again = self.ours("the same again", "-o", "SIZE,PATH", "*")
        every = [self.top, "-mindepth", "1", "-size", "-99999999"]
        printf = [self.top, "-mindepth", "1", "-printf", "%s\\t%p\\n"]
        sized = [self.theirs(f"{os.path.basename(program)} -size", [program] + every)
                 for program in (self.find, self.bfs) if program]
        printed = [self.theirs(f"{os.path.basename(program)} -printf", [program] + printf)
                   for program in (self.find, self.bfs) if program]
        self.group("Attributes of every entry", [ours, again] + sized + printed,
                   [("with -size", [row], 2) for row in sized])

    def usage(self):
        """Disk usage, of the directories in the root."""
        rows = [self.ours(f"getmnt search --usage=1{threads} -b '*'", "--usage=1", *threads.split(), "-b", "*")
                for threads in ("", " --threads=1")]
        du = self.du and self.theirs("du -d1 -B1", [self.du, "-d1", "-B1", self.top])
        self.group("Disk usage", rows + [row for row in (du,) if row], [("du", [du], 2)])

    def bunch(self, title, pattern):
        """An anchored pattern, which reads the directories of some levels and no other:
        what a bunch of so many costs each way of asking for attributes."""
        rows = [self.ours(f"getmnt search --engine={engine} {what}".rstrip(), f"--engine={engine}", "--threads=1",
                          *columns, pattern)
                for engine in ("sync", "bulk")
                for what, columns in (("", []), ("-o SIZE,PATH", ["-o", "SIZE,PATH"]))]
        turns = self.bench.sizes["walk_turns"]
        self.bench.measure("search", rows, least=turns, most=turns)
        kinds = ("statx", "ioctl", "syncfs")
        table(f"A bunch of directories{title}: '{pattern}', one thread",
              ["", "directories", "entries", "calls", *kinds, "process, ms"],
              [[row.name, row.stats["dirs"], row.stats["entries"], calls_of(row), *(row.stats["calls"][kind] for kind in kinds),
                ms(row.time)] for row in rows])


def bunches(bench):
    """The same on images of their own, in directories so large that XFS and btrfs are
    asked for many inodes at once."""
    sizes = bench.sizes["bunch"]
    for fstype, mkfs in cold.MKFS.items():
        if not shutil.which(mkfs[0]):
            continue
        bench.say(f"bunch, {fstype}: building")
        image = cold.Image(bench.where, fstype)
        try:
            for i in range(sizes["dirs"]):
                path = f"{image.top}/d{i}"
                os.mkdir(path)
                for j in range(sizes["files"]):
                    os.mknod(f"{path}/file-{j:x}", 0o100644)
            Search(bench, image.top).bunch(f" of {sizes['files']} files, {fstype}", "/d*/*")
        finally:
            image.end()


def part(bench):
    """The whole part."""
    bench.say("search: building")
    # Paths of 108 bytes; on a root file system they have 70 to 90.
    near = "/mnt" if os.path.isdir("/mnt") and not bench.where.startswith("/mnt/") else None
    top = bench.tree(near)
    try:
        host = hosts.plain(top, **bench.sizes["walk"], files=10)
        bench.remount(top)
        print(f"\n## Search: {host.dirs:,} directories, {host.files:,} files, warm")
        search = Search(bench, top)
        search.names()
        search.metadata()
        search.usage()
        search.bunch("", "/*/*/*")
    finally:
        bench.drop(top)
    bunches(bench)
    table("Limits", ["", "measured", "limit", ""], search.limits)
