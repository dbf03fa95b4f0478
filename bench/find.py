#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "find" of bench/run: getmnt find beside find, bfs and fd.

A tree of about a million files, warm, of which few are large, a third is old,
and half is of another user; command lines in turns, each to a file of its own,
which must hold the same paths.
"""
import os
import time

import hosts
from measure import table
from search import Search

USER, UID = "daemon", 1


def mark(top):
    """Make the files of a tree differ in size, time and owner."""
    old = time.time() - 10 * 86400
    number = 0
    for where, _, files, fd in os.fwalk(top):
        for name in files:
            number += 1
            if number % 97 == 0:
                os.truncate(os.path.join(where, name), 200 << 10)
            if number % 2:
                os.chown(name, UID, 0, dir_fd=fd)
            if number % 3 == 0:
                os.utime(name, (old, old), dir_fd=fd)


class Find(Search):
    """One run of the part."""

    def ours(self, name, *args):
        """A row of getmnt find."""
        row = self.bench.run(name, "find", self.top, *args, stats=False)
        for one in filter(None, (row, row.twin)):
            one.argv.insert(2, "--stats=json")
            one.out = self.out
        return row

    def compare(self, *expression, fd=()):
        """Measure an expression, and what fd calls it."""
        text = " ".join(expression)
        ours, again = self.ours(f"getmnt find {text}", *expression), self.ours("the same again", *expression)
        find = self.theirs(f"find {text}", [self.find, self.top, *expression])
        bfs = self.bfs and self.theirs(f"bfs {text}", [self.bfs, self.top, *expression])
        fd = self.fd and self.theirs(f"fd -u {' '.join(fd)}", [self.fd, "-u", *fd, self.top])
        self.group(f"`{text}`", [row for row in (ours, again, find, bfs, fd) if row],
                   [("find", [find], 3 if "-name" in expression else 2), ("the quicker of bfs and fd", [bfs, fd], 1)])


def part(bench):
    """The whole part."""
    bench.say("find: building")
    near = "/mnt" if os.path.isdir("/mnt") and not bench.where.startswith("/mnt/") else None
    top = bench.tree(near)
    try:
        host = hosts.plain(top, **bench.sizes["walk"], files=10)
        mark(top)
        bench.remount(top)
        print(f"\n## find: {host.dirs:,} directories, {host.files:,} files, warm")
        find = Find(bench, top)
        find.compare("-name", "f1*7", fd=("-g", "f1*7"))
        find.compare("-type", "f", "-size", "+100k", fd=("-t", "f", "-S", "+100ki", "."))
        find.compare("-mtime", "-2", "-user", USER, fd=("--changed-within", "2d", "--owner", USER, "."))
    finally:
        bench.drop(top)
    table("Limits", ["", "measured", "limit", ""], find.limits)
