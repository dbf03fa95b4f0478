# SPDX-License-Identifier: MIT
"""Memory runs out while find and search act: each allocation of a run fails, alone or with all that
follow.  Only the right commands are run, in the right directories, only the right names are removed, and
files get whole lines.  Status 0 means that all was done."""
import os
import shutil

import gm

if gm.sanitized():
    gm.skip("a sanitizer has allocation functions of its own")
PROGRAM = os.environ["GETMNT"]
NOMEM = os.path.join(os.path.dirname(PROGRAM), "tests/lib/nomem.so")
if not os.path.exists(NOMEM):
    gm.skip("tests/lib/nomem.so is not built")
TOP = gm.tmpfs(os.environ["GETMNT_WORK"] + "/tree")
COUNT, FILE = TOP + "/count", TOP + "/file"
# Longer than the first block of a buffer, so that its parts are separate allocations.
LONG = "l" * 90
NAMES = [f"t/{LONG}/-rf", f"t/{LONG}/{LONG}", f"t/{LONG}/-x/-rf", "t/-rf", "t/a"]
# What it got, and where.
RECORD = ("sh", "-c", 'printf "%s|" "${PWD##*/}" "$@"; echo .', "sh")


def plant():
    shutil.rmtree(TOP + "/t", ignore_errors=True)
    for name in NAMES:
        gm.touch(f"{TOP}/{name}", "x")


def tree():
    return {os.path.join(at, name) for at, dirs, files in os.walk(TOP + "/t") for name in dirs + files}


def local(name):
    """What is recorded in the directory of a name."""
    return os.path.basename(os.path.dirname(f"{TOP}/{name}")), "./" + os.path.basename(name)


ALL = sorted(NAMES)
FIND = ("find", "--threads=1", "t", "-type", "f")
SEARCH = ("search", "--threads=1", "--type=f", "*", "t")
BASE = os.path.basename(TOP)
DIRS = ["t", f"t/{LONG}", f"t/{LONG}/-x"]
# Each run: arguments, the set of the records that are right, and whether a record is a batch: a directory, and
# any of its arguments.
RUNS = [
    (FIND + ("-execdir", *RECORD, "{}", ";"), [local(name) for name in ALL], False),
    (FIND + ("-execdir", *RECORD, "x{}", ";"), [(a, "x" + b) for a, b in map(local, ALL)], False),
    (FIND + ("-execdir", *RECORD, "{}", "+"), [local(name) for name in ALL], True),
    (FIND[:3] + ("-depth", "-execdir", *RECORD, "{}", "+"), [local(name) for name in ALL + DIRS], True),
    (FIND + ("-exec", *RECORD, "{}", ";"), [(BASE, name) for name in ALL], False),
    (FIND + ("-exec", *RECORD, "{}", "+"), [(BASE, name) for name in ALL], True),
    (SEARCH + ("--exec", *RECORD, "{/}"), [(BASE, name) for name in (
        "./-rf", LONG, "./-rf", "./-rf", "a")], False),
    (SEARCH + ("--exec", *RECORD, "{}"), [(BASE, name) for name in ALL], False),
    (SEARCH + ("--exec-dir", *RECORD, "{}"), [local(name) for name in ALL], False),
    (SEARCH + ("--exec-batch", *RECORD, "{}"), [(BASE, name) for name in ALL], True),
]


def records(out, batch):
    """The records as pairs of a directory and an argument."""
    found = []
    for line in out.decode().splitlines():
        place, *args, end = line.split("|")
        gm.expect(end == "." and (args if batch else len(args) == 1), f"a wrong record: {line}")
        found += [(place, arg) for arg in args]
    return found


def runs(args):
    """Run it with each failure.  Yields what happened, after the tree was made again."""
    plant()
    usual = gm.getmnt(*args, cwd=TOP, program=PROGRAM, env={"LD_PRELOAD": NOMEM, "NOMEM_COUNT": COUNT})
    count = int(gm.read(COUNT))
    gm.expect(usual.status == 0 and not usual.err and count > 30, f"{args}: {usual.status} {usual.err} {count}")
    yield "no failure", usual
    # Most allocations of the beginning read the table of mounts; they have a test of their own.
    idle = gm.getmnt(*args[:2], *(("nothing", "t") if args[0] == "search" else ("t", "-false")),
                     cwd=TOP, program=PROGRAM, env={"LD_PRELOAD": NOMEM, "NOMEM_COUNT": COUNT})
    begin = int(gm.read(COUNT)) * 3 // 4
    gm.expect(idle.status == 0, f"{args}: {idle.err}")
    for more in {}, {"NOMEM_ON": "1"}:
        for at in range(1, count + 1):
            if not gm.FULL and at % (23 if at < begin else 3 if more else 1):
                continue
            plant()
            if os.path.exists(FILE):
                os.unlink(FILE)
            result = gm.getmnt(*args, cwd=TOP, program=PROGRAM, env={"LD_PRELOAD": NOMEM, "NOMEM_AT": str(at), **more})
            gm.expect(result.status == 0 or result.err, f"{args}, {at}: status {result.status} without a message")
            yield f"{' '.join(args)[:60]}, allocation {at} of {count} {more}", result


for args, right, batch in RUNS:
    done = 0
    for tag, result in runs(args):
        done += 1
        found = records(result.out, batch)
        gm.expect(set(found) <= set(right), f"{tag}: wrong: {set(found) - set(right)}")
        if result.status == 0:
            gm.expect(sorted(found) == sorted(right), f"{tag}: status 0, but {found}")
    gm.expect(done > 20, f"{args}: only {done} runs")

plant()
kept = {f"{TOP}/{name}" for name in NAMES if not name.endswith("-rf")}
whole = tree()
for tag, result in runs(FIND[:3] + ("-name", "-rf", "-delete")):
    left, removed = tree(), whole - tree()
    gm.expect(kept <= left and all(os.path.basename(name) == "-rf" for name in removed), f"{tag}: removed {removed}")
    if result.status == 0:
        gm.expect(len(removed) == 3, f"{tag}: status 0, but removed {removed}")

for action, lines in ((("-fprint", FILE), {name + "\n" for name in ALL}),
                      (("-fprintf", FILE, "%p %f %s\n"), {f"{name} {os.path.basename(name)} 1\n" for name in ALL})):
    for tag, result in runs(FIND + action):
        text = gm.read(FILE) if os.path.exists(FILE) else ""
        found = text.splitlines(keepends=True)
        gm.expect(set(found) <= lines and len(found) == len(set(found)), f"{tag}: {text!r}")
        if result.status == 0:
            gm.expect(set(found) == lines, f"{tag}: status 0, but {text!r}")
gm.done()
