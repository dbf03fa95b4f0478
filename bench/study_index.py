#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""study_index.py TREE: the query sets of Magellan (Table 4) on an index of TREE, beside find, plocate
and SQLite in the same run; what the index costs to build, to keep and to update.

    set 1   name and owner
    set 2   the same, below a directory
    set 3   owner, modified within a day of a time, and at least of a size

The parameters of each query come from an object drawn at random (fixed seed).  Each answer is
compared with that of SQLite, whose table is filled from the output of find, so with find's.  The
times of getmnt and of sqlite3 are those of whole processes, from posix_spawn to the end of the
output; those of SQLite are of a query in an open connection.  Everything is warm.

TREE is a mount point; bench/index_tree.py fills one.  With "/", --work should be on another file
system, and nothing else should write.  --write FILE replaces the section between the marks
"MARK begin" and "MARK end" in FILE.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time

import search

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(HERE)
DAY = 86400


def spawn(argv, out):
    """Run a command with its output in the file `out`.  @return (seconds, status, peak in KiB)."""
    actions = [(os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    start = time.perf_counter()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions)
    _, status, usage = os.wait4(pid, 0)
    return time.perf_counter() - start, os.waitstatus_to_exitcode(status), usage.ru_maxrss


def owner(path):
    """The owner of a file; None: it is gone, or its path too long."""
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * percent / 100))]


def size_of(top):
    return sum(os.lstat(f"{path}/{name}").st_blocks * 512
               for path, _, names in os.walk(top) for name in names)


class Study:
    def __init__(self, args, work):
        self.args = args
        self.tree = os.path.realpath(args.tree)
        self.top = self.tree.rstrip("/")    # what the paths below it begin with
        self.sqlite3 = shutil.which("sqlite3")
        self.work = work
        self.dir = args.index or f"{work}/index"
        self.out = f"{work}/out"
        self.lines = []

    def say(self, text=""):
        print(text, flush=True)
        self.lines.append(text)

    def getmnt(self, *words):
        return [self.args.getmnt, *words]

    def run(self, argv):
        seconds, status, peak = spawn(argv, self.out)
        if status:
            sys.exit(f"study_index: {' '.join(argv)}: status {status}")
        return seconds, peak

    def build(self):
        """Time of a search with attributes, of a build, of an update."""
        columns = "PATH,TYPE,MODE,USER,SIZE,BLOCKS,MTIME,CTIME,ATIME,INO"
        listing = self.getmnt("search", "--xdev", "-o", columns, "**", self.tree)
        index = self.getmnt("index", "build", "--index-dir", self.dir, self.tree)
        update = self.getmnt("index", "update", "--index-dir", self.dir, self.tree)
        times = {"search": [], "build": [], "update": []}
        for _ in range(self.args.tries):
            times["search"].append(self.run(listing)[0])
            shutil.rmtree(self.dir, ignore_errors=True)
            os.mkdir(self.dir, 0o700)
            seconds, peak = self.run(index)
            times["build"].append(seconds)
        time.sleep(4)           # what changed within 3 s of a build is not trusted
        self.run(update)
        for _ in range(self.args.tries):
            times["update"].append(self.run(update)[0])
        walk, built, updated = (statistics.median(times[key]) for key in ("search", "build", "update"))
        return columns, walk, built, updated, peak, size_of(self.dir)

    def report_costs(self, columns, walk, built, updated, peak, size):
        self.say(f"| | | |\n|---|---|---|\n"
                 f"| `getmnt search -o {columns}` | {walk:.2f} s | |\n"
                 f"| `getmnt index build` | {built:.2f} s | {built / walk:.2f} of the search |\n"
                 f"| memory of the build | {peak / 1024:.0f} MiB | |\n"
                 f"| size | {size / 1e6:.0f} MB | {size / self.count:.1f} bytes an object |\n"
                 f"| `getmnt index update`, nothing changed | {updated:.3f} s | {updated / built:.3f} of the build |\n")

    def load(self):
        """Fill SQLite's table from the output of find.  The time of find is that of one query by it."""
        start = time.perf_counter()
        find = subprocess.Popen(["find", self.tree, "-xdev", "-printf", r"%p\0%f\0%U\0%T@\0%s\0"],
                                stdout=subprocess.PIPE, bufsize=1 << 20)
        path = self.database = f"{self.work}/files.sqlite"
        self.sql = sqlite3.connect(path)
        self.sql.text_factory = bytes
        self.sql.execute("pragma journal_mode = off")
        self.sql.execute("pragma synchronous = off")
        self.sql.execute("pragma cache_size = -1000000")
        self.sql.execute("pragma mmap_size = 8000000000")
        self.sql.execute("create table files (path blob, name blob, uid integer, mtime real, size integer)")

        def rows():
            rest = b""
            while block := find.stdout.read(1 << 22):
                *words, rest = (rest + block).split(b"\0")
                whole = len(words) // 5 * 5
                for i in range(0, whole, 5):
                    yield words[i], words[i + 1], int(words[i + 2]), float(words[i + 3]), int(words[i + 4])
                rest = b"\0".join([*words[whole:], rest])
        self.sql.executemany("insert into files values (?, ?, ?, ?, ?)", rows())
        find.wait()
        self.sql.execute("create index by_name on files (name, uid)")
        self.sql.execute("create index by_time on files (uid, mtime)")
        self.sql.execute("create index by_size on files (uid, size)")
        self.sql.execute("analyze")
        self.sql.commit()
        self.count, self.most = self.sql.execute("select count(*), max(rowid) from files").fetchone()
        print(f"loaded {self.count} rows into SQLite: {time.perf_counter() - start:.0f} s, "
              f"{os.path.getsize(path) / 1e6:.0f} MB", flush=True)

    def draw(self, rng):
        while True:
            row = self.sql.execute("select path, name, uid, mtime, size from files where rowid = ?",
                                   (rng.randrange(self.most) + 1,)).fetchone()
            # Names with special characters of patterns would need quoting; bytes that are not text too.
            if row and re.fullmatch(rb"[A-Za-z0-9_.+,@=-]+", row[1]) and not re.search(rb"[^ -~]", row[0]):
                return row

    def query(self, number, rng):
        """@return (words of find after the paths, path, SQL, its values)."""
        path, name, uid, mtime, size = self.draw(rng)
        if number == 3:
            low, high = int(mtime) - DAY, int(mtime) + DAY
            words = ["-uid", str(uid), "-newermt", f"@{low}", "!", "-newermt", f"@{high}",
                     "-size", f"+{max(size - 1, 0)}c"]
            return (words, self.tree, "select path from files where uid = ? and mtime > ? and mtime <= ? "
                    "and size > ?", (uid, low, high, max(size - 1, 0)))
        words = ["-name", name.decode(), "-uid", str(uid)]
        below = self.tree
        if number == 2:
            parts = path.decode()[len(self.top):].split("/")[1:-1]
            below = "/".join([self.top, *parts[:rng.randrange(len(parts) + 1)]]) or "/"
        sql = "select path from files where name = ? and uid = ?"
        values = (name, uid)
        if below != self.tree:      # then no "/" is at its end
            sql += " and (path = ? or (path >= ? and path < ?))"
            values += (below.encode(), f"{below}/".encode(), f"{below}0".encode())
        return words, below, sql, values

    def answers(self, argv):
        seconds, _ = self.run(argv)
        with open(self.out, "rb") as file:
            return seconds, sorted(file.read().split(b"\0")[:-1])

    def cli(self, sql, values):
        """The time of a query by the program sqlite3, and how many lines it printed."""
        for value in values:
            text = value.decode().replace("'", "''") if isinstance(value, bytes) else str(value)
            quoted = f"cast('{text}' as blob)" if isinstance(value, bytes) else text
            sql = sql.replace("?", quoted, 1)
        seconds, _ = self.run([self.sqlite3, "-readonly", "-cmd", "pragma mmap_size = 8000000000",
                               self.database, sql])
        with open(self.out, "rb") as file:
            return seconds, file.read().count(b"\n") - 1       # the pragma prints a line

    def plocate(self):
        """Make plocate's database.  @return a function that answers query set 1, or None."""
        program, updatedb, env = search.index_programs()
        if not program:
            return None
        database = f"{self.work}/plocate.db"
        os.environ.update(env)
        start = time.perf_counter()
        with open("/proc/self/mounts", encoding="utf-8") as file:
            mounts = [line.split()[1] for line in file]
        others = " ".join(path for path in mounts if path != self.tree and path.startswith(f"{self.top}/") and "\\" not in path)
        subprocess.run([updatedb, "-l", "no", "-o", database, "-U", self.tree,
                        "--prunepaths", others, "--prunefs", "", "--prunenames", ""], check=True)
        print(f"updatedb: {time.perf_counter() - start:.1f} s, {os.path.getsize(database) / self.count:.1f} "
              "bytes an object", flush=True)

        def ask(name, uid):
            start = time.perf_counter()
            found = subprocess.run([program, "-d", database, "-0", "-b", f"\\{name}"], check=False,
                                   stdout=subprocess.PIPE).stdout.split(b"\0")[:-1]
            found = [path for path in found if owner(path) == uid]
            return time.perf_counter() - start, sorted(found)
        return ask

    def sets(self):
        ask = self.plocate()
        self.say("| set | | p50 | p90 | p99 | most | results (median) | clusters opened |\n"
                 "|---|---|---|---|---|---|---|---|")
        for number in (1, 2, 3):
            rng = random.Random(number)
            times = {"getmnt": [], "SQLite": [], "sqlite3": [], "find": [], "plocate": []}
            opened, found, wrong, exists = [], [], 0, 0
            for i in range(self.args.queries):
                words, below, sql, values = self.query(number, rng)
                argv = self.getmnt("find", "--index", "--index-dir", self.dir, below, "-xdev", *words, "-print0")
                seconds, got = self.answers(argv)
                times["getmnt"].append(seconds)
                start = time.perf_counter()
                rows = self.sql.execute(sql, values).fetchall()
                times["SQLite"].append(time.perf_counter() - start)
                expected = sorted(row[0] for row in rows)
                found.append(len(got))
                if self.sqlite3 and not any(b"\n" in path for path in expected):
                    seconds, lines = self.cli(sql, values)
                    times["sqlite3"].append(seconds)
                    wrong += lines != len(expected)
                if got != expected:
                    wrong += 1
                    only = b" ".join(sorted(set(got) ^ set(expected))[:3])
                    print(f"differs: {' '.join(argv)}: {len(got)} instead of {len(expected)}: {only}", flush=True)
                if i < self.args.finds:
                    seconds, got = self.answers(["find", below, "-xdev", *words, "-print0"])
                    times["find"].append(seconds)
                    wrong += got != expected
                if ask and number == 1:
                    seconds, got = ask(words[1], int(words[3]))
                    times["plocate"].append(seconds)
                    self.others += got != expected
                if i % 10 == 0:
                    run = subprocess.run([*argv[:2], "--stats=json", *argv[2:]], check=False,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                    stats = json.loads(run.stderr.splitlines()[-1]).get("index", {})
                    opened.append(stats.get("opened", 0))
                    exists = stats.get("clusters", 0)
            for name, values in times.items():
                if not values:
                    continue
                figures = " | ".join(f"{value * 1000:.2f} ms" for value in
                                     (*(percentile(values, p) for p in (50, 90, 99)), max(values)))
                more = f"{statistics.median(found):.0f} | {statistics.mean(opened):.1f} of {exists}" \
                    if name == "getmnt" else f"({len(values)} queries) | " if len(values) < self.args.queries else " | "
                self.say(f"| {number} | {name} | {figures} | {more} |")
            self.wrong += wrong

    def all(self):
        # Before load(): ru_maxrss of a child includes the memory of its parent at the time of the spawn.
        costs = None if self.args.index else self.build()
        self.load()
        self.wrong = self.others = 0
        self.say(f"{self.count:,} objects; {self.args.queries} queries of each set, drawn from the data; "
                 f"{os.cpu_count()} processors.\n")
        if costs:
            self.report_costs(*costs)
        self.sets()
        self.say(f"\nAnswers that differ from find's: {self.wrong}"
                 + (f"; of plocate: {self.others}." if self.others else "."))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--getmnt", default=f"{TOP}/build/release/getmnt")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--finds", type=int, default=3, help="queries that find answers, too")
    parser.add_argument("--index", metavar="DIR", help="an index of TREE: none is built, and only the query sets are measured")
    parser.add_argument("--tries", type=int, default=3, help="builds and updates")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--mark", default="index-study", help="of the section in FILE")
    parser.add_argument("--work", metavar="DIR", help="where the index and the databases are made")
    parser.add_argument("tree", help="a mount point")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(prefix="study_index.", dir=args.work) as work:
        study = Study(args, work)
        study.all()
    if args.write:
        with open(args.write, encoding="utf-8") as file:
            text = file.read()
        begin, end = f"<!-- {args.mark} begin -->", f"<!-- {args.mark} end -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        with open(args.write, "w", encoding="utf-8") as file:
            file.write(before + begin + "\n" + "\n".join(study.lines) + "\n" + end + after)
    return 1 if study.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
