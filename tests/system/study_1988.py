# SPDX-License-Identifier: MIT
"""The counts of bench/study.py, a model of Smith's algorithms, are those of getmnt with the rules of
1988 on the same trees; docs/STUDY.md has the tables that the model prints."""
import argparse
import copy
import os
import subprocess
import sys
import types

import gm
import study
import study_model
import study_real
import study_systems
import study_tables

gm.need_features("the calls are others", "statx-mntid", "openat2")
DOC = os.path.realpath(os.path.join(os.path.dirname(__file__), "../../docs/STUDY.md"))
TOP = os.environ["GETMNT_WORK"]
BUILT = (3, 13, 26, 37)

# In the order that tmpfs lists directories in, each algorithm as getmnt's.
compared = []
for number in BUILT:
    compared.append((number, study_real.compare(study_systems.System(number), TOP, os.environ["GETMNT"],
                                                study_model.ALGORITHMS)))
gm.expect(study_tables.agrees(compared) is None, study_tables.agrees(compared))
for number, done in compared:
    for name, count, stats in done:
        # The root is found, too.
        gm.expect(count.found + 1 == stats["named"]["walked"] == stats["states"]["ok"],
                  f"system {number}, {name}: {count.found} found by the model, {stats['named']} by getmnt")
    dirs = [count.dirs for _, count, _ in done]
    gm.expect(dirs[0] > dirs[1] > dirs[2], f"system {number}: nothing is saved: {dirs}")
print("  directories", {number: [count.dirs for _, count, _ in done] for number, done in compared})

# What is compared would be seen to differ: one directory, one entry, one more statx.
for what in ("dirs", "entries", "statx"):
    wrong = copy.deepcopy(compared)
    stats = wrong[-1][1][-1][2]
    if what == "statx":
        stats["calls"]["statx"] += study_tables.START
    else:
        stats[what] += 1
    gm.expect(study_tables.agrees(wrong), f"another number of {what} is taken for the same")

# Small enough to be counted by hand: / has two directories at places 0 and 2, and
# mount points at 3 and 4, of which the first has one on it, at place 1 in a
# directory after 70 files.


def hand():
    """/a /b, a mount on /m with one on /m/d/n, and one on /z."""
    def directory(files, *kids):
        made = study_systems.Directory("")
        made.files, made.kids = files, list(kids)
        return made
    root, m, n, z = (study_systems.FileSystem(path, "") for path in ("/", "/m", "/m/d/n", "/z"))
    for fs, on in ((m, root), (z, root), (n, m)):
        fs.on = on
        on.mounts.append(fs)
    points = {fs: directory(0) for fs in (m, n, z)}
    for fs, point in points.items():
        point.over = fs
    root.root = directory(2, (0, directory(3)), (2, directory(0, (0, directory(5)))), (3, points[m]), (4, points[z]))
    m.root = directory(70, (70, directory(1, (1, points[n]))))
    n.root, z.root = directory(9), directory(0)
    return types.SimpleNamespace(file_systems=[root, m, n, z])


for name, run, want in (
        # dirs, stat: / 6, a 3, b 1, b/ 5, m 71, m/d 2, n 9, z 0
        ("getmnt1", study_model.getmnt1, (8, 97, 17)), ("getmnt2", study_model.getmnt2, (6, 88, 13)),
        # / up to place 4, then m, then m/d; of the other reading a and b too.
        ("getmnt3", study_model.getmnt3, (3, 78, 5)), ("getmnt3 whole", study_model.getmnt3_whole, (6, 88, 12))):
    count = run(hand())
    gm.expect((count.dirs, count.stat, count.read) == want, f"{name}: {count.dirs, count.stat, count.read}, not {want}")

def page():
    """The page, its figures for each system, and a page with one digit changed."""
    rows = study.count(study.options([]))
    tables = {name: make(rows) for name, make in study_tables.TABLES.items()}
    for row in rows:
        one_two, two_three, _ = (row.ratio(pair) for pair in study_tables.PAIRS)
        gm.expect(one_two > 1 and two_three > 1, f"system {row.number}: {one_two}, {two_three}")
        gm.expect(two_three <= 60 or row.counts["getmnt3"].calls < 300, f"system {row.number}: {two_three}")
    text = gm.read(DOC)
    gm.expect(study.write(argparse.Namespace(write=None, check=DOC), tables) == 0, "docs/STUDY.md: make study writes it")
    other = TOP + "/other.md"
    with open(other, "w", encoding="utf-8") as file:
        file.write(text.replace("| 40 | 5 |", "| 40 | 6 |"))
    with open(os.devnull, "w", encoding="utf-8") as sys.stderr:
        changed = study.write(argparse.Namespace(write=None, check=other), tables)
    sys.stderr = sys.__stderr__
    gm.expect(changed == 1, "a changed page is taken for the same")
    gm.expect(study.write(argparse.Namespace(write=other, check=None), tables) == 0, "it is not written")
    gm.expect(gm.read(other) == text, "what was written is another page")
    gm.expect(sorted(os.listdir(TOP)) == ["other.md"], f"something is left: {os.listdir(TOP)}")
    os.unlink(other)


def refused(want, *args):
    """A run that ends with status 2 and this message."""
    done = subprocess.run([sys.executable, study.__file__, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    gm.expect(done.returncode == 2 and want in done.stderr.decode() and not done.stdout,
              f"{args}: status {done.returncode}: {done.stderr.decode()[-200:]}")


if os.path.exists(DOC):
    page()
else:
    print("  there is no docs/STUDY.md here: its tables are not compared")
refused("'-1' is no number from 0 to 999999999", "--seed=-1")
refused("'7-3' is no number of a system, nor a range: 1 to 999", "--systems=1,7-3")
refused("there is no /nowhere: make it first", "--real", "--getmnt=/nowhere")
refused("not with --table, --json, --seed or --systems", "--check=x", "--seed=3")
gm.done()
