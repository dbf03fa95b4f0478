#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "cold" of bench/run: attributes of every entry, nothing of which is in
memory.

On ext4, xfs and btrfs, on a loop image: one directory of very many files, and as
many spread over small directories.  Before each run the file system is mounted
anew and every cache dropped; the loop device reads past the cache of the file
system that its image is on.  Beside the times stand the reads of the loop device.
A row stands twice, under two names: how far these are apart is the margin, within
which nothing is found.  Where there is a memory controller all is done again with
little memory, which is where the order of the reads matters most.
"""
import math
import os
import random
import shutil
import statistics
import subprocess

import hosts
from measure import Row, ms, run_row, show, table
from scale import paired

MKFS = {"ext4": ["mkfs.ext4", "-q", "-F", "-N", "500000"], "xfs": ["mkfs.xfs", "-q", "-f"],
        "btrfs": ["mkfs.btrfs", "-q", "-f"]}
# Name, options; the first two are the same.
WAYS = [("plain", ["--engine=sync"]), ("plain again", ["--engine=sync"]),
        ("--ahead", ["--engine=sync", "--ahead"]), ("auto", [])]
BULK = ("bulk", ["--engine=bulk"])       # where the file system has such an interface
LITTLE = 64 << 20


class Image:
    """A file system on a loop device that can be made cold."""

    def __init__(self, where, fstype):
        self.image, self.top, self.fstype = f"{where}/cold.img", f"{where}/cold", fstype
        with open(self.image, "wb") as file:
            file.truncate(3 << 30)
        subprocess.run(MKFS[fstype] + [self.image], check=True, stdout=subprocess.DEVNULL)
        os.makedirs(self.top, exist_ok=True)
        self.loop = subprocess.run(["losetup", "-f", "--show", "--direct-io=on", self.image], check=True,
                                   stdout=subprocess.PIPE, text=True).stdout.strip()
        self.mounted = False
        self.mount()

    def mount(self):
        """Mount it."""
        hosts.mount(self.loop, self.top, self.fstype, hosts.MS_NOATIME)
        self.mounted = True

    def umount(self):
        """Unmount it, which writes it."""
        subprocess.run(["umount", self.top], check=True)
        self.mounted = False

    def chill(self):
        """Nothing of it is in memory."""
        self.umount()
        with open(self.image, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
            file.write("3")
        self.mount()

    def reads(self):
        """Reads of the loop device so far, and KiB."""
        with open(f"/sys/block/{os.path.basename(self.loop)}/stat", encoding="ascii") as file:
            fields = file.read().split()
        return int(fields[0]), int(fields[2]) // 2

    def end(self):
        """All of it away."""
        if self.mounted:
            self.umount()
        subprocess.run(["losetup", "-d", self.loop], check=True)
        os.unlink(self.image)


class Little:
    """A group of processes that may use little memory; `prefix` runs one in it."""

    def __init__(self):
        self.group = None
        for top, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
            group = f"{top}/getmnt-bench.{os.getpid()}"
            try:
                os.mkdir(group)
                with open(f"{group}/{limit}", "w", encoding="ascii") as file:
                    file.write(str(LITTLE))
                self.group = group
                return
            except OSError:
                if os.path.isdir(group):
                    os.rmdir(group)

    @property
    def prefix(self):
        """What a command line begins with."""
        return ["/bin/sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', self.group]

    def end(self):
        """The group away."""
        if self.group:
            os.rmdir(self.group)


def build(image, files, spread, seed=7):
    """Fill an image: a directory of so many files, or of directories of ten."""
    rng = random.Random(seed)
    numbers = list(range(files))
    rng.shuffle(numbers)
    for i, number in enumerate(numbers):
        path = f"{image.top}/d{i // 10 % 100}/e{i // 10}" if spread else f"{image.top}/big"
        if i % 10 == 0:
            os.makedirs(path, exist_ok=True)
        os.close(os.open(f"{path}/file-{number:x}", os.O_CREAT | os.O_WRONLY, 0o644))


def measure(bench, image, title, prefix, turns):
    """Every way, in turns, each cold.  @return the line of it all."""
    rows = []
    for name, options in WAYS + ([] if image.fstype == "ext4" else [BULK]):
        argv = prefix + [bench.getmnt, "search", "-o", "SIZE,PATH", *options, "--stats=json", "*", image.top]
        rows.append(Row(name, argv))
    rows.append(Row("find -size", prefix + [shutil.which("find"), image.top, "-mindepth", "1", "-size", "-99999999"]))
    for row in rows:
        row.reads, row.kib = [], []
    for turn in range(turns):
        for i in range(len(rows)):
            row = rows[(i + turn) % len(rows)]
            bench.say(f"{title}: turn {turn + 1}, {row.name}")
            image.chill()
            before = image.reads()
            run_row(row, True)
            after = image.reads()
            row.reads.append(after[0] - before[0])
            row.kib.append(after[1] - before[1])
    bench.done.setdefault("cold", []).extend(rows)
    plain, again, ahead, auto = rows[:4]
    find = rows[-1]
    reads = {row: int(statistics.median(row.reads)) for row in rows}
    table(title, ["", "process, ms", "user and system, ms", "of plain", "of find", "reads", "read, KiB", "calls"],
          [[row.name, ms(row.time), ms(row.cpu), show(paired(row.times, plain.times)),
            show(paired(row.times, find.times)), reads[row], int(statistics.median(row.kib)), show(row.calls)]
           for row in rows])
    # What three of four turns of the same against the same keep within.
    apart = sorted(max(x / y, y / x) - 1 for x, y in zip(again.times, plain.times))
    margin = apart[math.ceil(len(apart) * 3 / 4) - 1]
    slower = [row.name for row in (plain, ahead) if paired(auto.times, row.times) > 1 + margin]
    return [title.removeprefix("Cold, "), show(paired(ahead.times, plain.times)), show(paired(auto.times, plain.times)),
            show(paired(auto.times, find.times)), show(margin, 2), reads[plain] - reads[ahead],
            reads[plain] - reads[auto], f"slower than {' and '.join(slower)}" if slower else "held"]


def part(bench):
    """The whole part."""
    sizes = bench.sizes["cold"]
    little = Little()
    lines = []
    try:
        for fstype, mkfs in MKFS.items():
            if fstype not in sizes.get("fs", MKFS) or not shutil.which(mkfs[0]):
                continue
            for spread in (False, True):
                title = f"Cold, {fstype}, {sizes['files']:,} files " + ("in small directories" if spread
                                                                       else "in one directory")
                bench.say(f"{title}: building")
                image = Image(bench.where, fstype)
                try:
                    build(image, sizes["files"], spread)
                    lines.append(measure(bench, image, title, [], sizes["turns"]))
                    if little.group:
                        lines.append(measure(bench, image, f"{title}, {LITTLE >> 20} MiB of memory", little.prefix,
                                             sizes["turns"]))
                finally:
                    image.end()
    finally:
        little.end()
    table("Cold: --ahead and auto beside plain", ["", "--ahead of plain", "auto of plain", "auto of find", "margin",
                                                  "reads saved, --ahead", "reads saved, auto", "auto"], lines)
