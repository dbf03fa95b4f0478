# SPDX-License-Identifier: MIT
"""The trees and rows of tests/fixtures/search: what a search finds, as data."""
import collections
import json
import os
import re

import gm

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures/search")
OPTIONS = {"PERIOD": ["--period"], "PAPER_Q": ["--paper"], "STOPATFIRST": ["--first"],
           "METADATA": ["-m"], "R_OK": ["--access=r"], "W_OK": ["--access=w"], "X_OK": ["--access=x"],
           "EXTENDED": [], "NOCASE": ["-i"], "FOLLOW": ["--follow"], "XDEV": ["--xdev"], "INCLUDEROOT": []}
NOBODY = 65534
MODES = {"f": 0o644, "x": 0o755, "w": 0o666, "o": 0o600}


def decode(text):
    """\\ooo is a byte."""
    return re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), os.fsencode(text))


def lines_of(name):
    with open(f"{FIXTURES}/{name}", encoding="utf-8", errors="surrogateescape") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


TREES, ROWS = lines_of("trees"), lines_of("rows")


def build(top):
    """Make every tree below top.  @return its directories that are mount points."""
    points = []
    for line in TREES:
        kind, *fields = line.split(" ")
        fields = [decode(field) for field in fields]
        if kind == "tree":
            tree = os.path.join(os.fsencode(top), fields[0])
            os.mkdir(tree)
            continue
        path = os.path.join(tree, fields[0])
        if kind in "dm":
            os.mkdir(path)
            os.chmod(path, 0o755)
        if kind == "m":
            gm.tmpfs(path, "size=1m,mode=755")
            points.append(os.path.relpath(os.fsdecode(path), top))
        elif kind in MODES:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.chmod(path, MODES[kind])
        elif kind == "p":
            os.mkfifo(path)
        elif kind == "l":
            os.symlink(fields[1], path)
    # Names and targets of links as long as they may be, names that differ in case only.
    steps = "./" * (2045 if "tmpfs" in top else 500)
    for name in ("n" * 255, "Both", "both", "\u00e9"):
        gm.touch(f"{top}/limits/{name}")
    os.symlink(steps + "both/", f"{top}/limits/dangling")
    os.symlink(steps + "both", f"{top}/limits/link")
    return points


def found(entries, spelled, with_root):
    """Paths and errors of each file system, as the rows have them."""
    names = {top: collections.Counter() for top, _ in spelled.values()}
    for path, error in entries:
        known = max((known for known in spelled if (path + "/").startswith(known + "/")), key=len)
        top, root = spelled[known]
        names[top][error + (root if with_root or error else "") + path[len(known):]] += 1
    return names


def one_by_one(result):
    """The entries of --format=jsonl."""
    rows = [json.loads(line) for line in result.out.split(b"\n")[:-1]]
    return [(row["path"], f"{row['errsource'].upper()}:{row['error']}:" if "error" in row else "")
            for row in rows]
