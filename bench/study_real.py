# SPDX-License-Identifier: MIT
"""The machines of study_systems as file systems, and getmnt on them with the
rules of 1988 alone.

Each is built of tmpfs mounts below a directory.  The order in which the kernel
lists a directory decides what getmnt3 finds first: the model is then told that
order, and has to come to the same directories, entries and calls."""
import json
import os
import subprocess

import hosts

# What 1988 did not have is off: types in directories, link counts, mounts that
# are proved unreachable, directories opened without a look, and the orders of
# the queue but breadth-first.  Mounts are told by device number.
PRUNE = "-dtype,-nlink,-unlooked,-unreachable,-likely,-pseudo,-boundary"
RULES = ["--names=pure", "--identity=dev", "--threads=1", f"--prune={PRUNE}", "--stats=json", "--quiet"]
SECONDS = 300      # what a run may take


class Failed(Exception):
    """A run of getmnt that did not go well."""


def build(system, top):
    """Make the trees of a system below the directory `top`, and have each of its
    directories told in the order that the kernel lists it in."""
    for fs in system.file_systems:
        point = top if fs.path == "/" else top + fs.path
        hosts.mount("study", point, "tmpfs", hosts.MS_NOATIME, "mode=755,nr_inodes=0")
        _fill(fs.root, point)
    for fs in system.file_systems:
        _relist(fs.root, top if fs.path == "/" else top + fs.path)


def _fill(root, path):
    """The directories and files of one file system."""
    stack = [(root, path)]
    while stack:
        at, path = stack.pop()
        for i in range(at.files):
            os.mknod(f"{path}/f{i}", 0o100644)
        for _, kid in at.kids:
            os.mkdir(f"{path}/{kid.name}")
            if kid.over is None:
                stack.append((kid, f"{path}/{kid.name}"))


def _relist(root, path):
    """Take the places of directories from what is listed."""
    stack = [(root, path)]
    while stack:
        at, path = stack.pop()
        if not at.kids:
            continue
        names = {kid.name: kid for _, kid in at.kids}
        listed = os.listdir(path)
        at.kids = [(place, names[name]) for place, name in enumerate(listed) if name in names]
        stack.extend((kid, f"{path}/{kid.name}") for _, kid in at.kids if kid.over is None)


def run(program, algorithm, top):
    """One algorithm on what was built.  @return getmnt's own counts."""
    argv = [program, *RULES, f"--algorithm={algorithm}", f"--root={top}"]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    text = done.stderr.decode("utf-8", "replace").strip()
    last = text.rsplit("\n", 1)[-1]
    if done.returncode != 0 or not last.startswith("{"):
        raise Failed(f"{' '.join(argv)}: status {done.returncode}: {text[-300:]}")
    return json.loads(last)


def compare(system, top, program, algorithms):
    """Build a system, run all algorithms on it, and take it away again.
    @return for each its name, the model's count and getmnt's."""
    try:
        build(system, top)
        return [(name, model(system), run(program, name, top)) for name, model in algorithms.items()]
    finally:
        hosts.detach_below(top)
