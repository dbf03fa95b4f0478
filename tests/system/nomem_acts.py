# SPDX-License-Identifier: MIT
"""Memory runs out while find, search and audit act: each allocation of a run fails, alone or with all that
follow.  Only the right commands are run, in the right directories, only the right names are removed, and
files get whole lines.  Status 0 (or the usual one) means that all was done."""
import json
import os
import re
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


# What must not be found: another type of file system, excluded names, what a test is false for.
for name, text in ("u/a", "x"), ("u/a-not", "x"), ("u/empty", ""):
    gm.touch(f"{TOP}/{name}", text)
gm.mkdir(TOP + "/u/ram")
gm.mount("ramfs", TOP + "/u/ram", "ramfs")
gm.touch(TOP + "/u/ram/a", "x")


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
    (SEARCH[:-1] + ("u", "--exclude-type=ramfs", "--exclude=*not", "--where=-size +0c", "--exec", *RECORD), [(BASE, "u/a")], False),
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


def counted(args, status=0):
    """Run it without a failure.  Returns the number of its allocations, and the result."""
    result = gm.getmnt(*args, cwd=TOP, program=PROGRAM, env={"LD_PRELOAD": NOMEM, "NOMEM_COUNT": COUNT})
    gm.expect(result.status == status and not result.err, f"{args}: {result.status} {result.err}")
    return int(gm.read(COUNT)), result


def runs(args, status=0, alone=None):
    """Run it with each failure.  Yields what happened, after the tree was made again.

    alone: the same without a child process, whose allocations are not counted."""
    plant()
    if os.path.exists(FILE):
        os.unlink(FILE)
    count, usual = counted(args, status)
    gm.expect(count > 5, f"{args}: {count} allocations")
    yield "no failure", usual
    if alone:
        count += counted(alone, status)[0]
        begin = 0
    else:
        # Most allocations of the beginning read the table of mounts; they have a test of their own.
        begin = counted((*args[:2], *(("nothing", "t") if args[0] == "search" else ("t", "-false"))))[0] * 3 // 4
    for more in {}, {"NOMEM_ON": "1"}:
        for at in range(1, count + 1):
            if not gm.FULL and at % (23 if 12 < at < begin else 3 if more or alone else 1):
                continue
            plant()
            if os.path.exists(FILE):
                os.unlink(FILE)
            result = gm.getmnt(*args, cwd=TOP, program=PROGRAM, env={"LD_PRELOAD": NOMEM, "NOMEM_AT": str(at), **more})
            gm.expect(result.status == status or result.err, f"{args}, {at}: status {result.status} without a message")
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

# State files: whole, or not there.
gm.touch(TOP + "/table", "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
         f"21 20 8:2 / /{LONG} rw - ext4 /dev/mapper/{LONG} rw\n22 20 0:27 / /smb rw - cifs //u:word@srv/x rw,password=w\n")
gm.touch(TOP + "/fstab", f"/dev/sda1 / ext4 defaults 0 1\n/dev/mapper/{LONG} /{LONG} ext4 nofail,nosuid 0 2\n")
AUDIT = ("audit", "--fstab=fstab", "-F", "table")


def stable(text):
    """The text of a file without what changes between runs."""
    return re.sub(r'"(time|seconds)": [0-9.]+|^getmnt_audit_(?:time|duration|last)\S* \S+$', r'"\1": 0', text, flags=re.M)


for more in ("--save=file",), ("--prometheus", "--output=file"), ("--jsonl", "--output=file"):
    usual = None
    status = gm.getmnt(*AUDIT, cwd=TOP, program=PROGRAM).status
    for tag, result in runs((*AUDIT, *more, "--max-time=60"), status, AUDIT):
        text = stable(gm.read(FILE)) if os.path.exists(FILE) else None
        usual = usual or text
        failed = text and re.search(r'^getmnt_audit_success 0$|"failed": "', text, flags=re.M)
        if text and "--jsonl" in more:
            json.loads(text)
        gm.expect(text in (None, usual) or failed, f"{tag}: {result.status}, {text}")
        if result.status == status:
            gm.expect(text == usual, f"{tag}: status {status}, but {text}")
gm.done()
