# SPDX-License-Identifier: MIT
"""Mounts made by propagation and by recursive binds: mount -a of the fstab makes the same mounts again, no
more, with the same propagation.

Each row is mounted below a shared or private directory in a namespace of its own; its fstab is mounted in
another."""
import json
import os
import re
import tempfile

import gm
from tables import sh

gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "mount", "umount")
program = os.environ["GETMNT"]
work = os.path.realpath(tempfile.mkdtemp())
top = gm.mkdir(work + "/top")
gm.image(work + "/image", 64 << 20, "mkfs.ext4", "-q", "-F")
loop = gm.run("losetup", "-f", "--show", work + "/image").strip()
sh("/bin/mount", loop, top)
for name in "A/m", "A/n", "A/s/t", "B", "C", "R", "D/d/e":
    gm.mkdir(f"{top}/{name}")


def mounts():
    """Mount point, root, type, source, propagation with its groups numbered anew."""
    rows = []
    with open("/proc/self/mountinfo") as f:
        for row in map(str.split, f):
            dash = row.index("-")
            if row[4].startswith(top + "/"):
                source = row[dash + 2] if row[dash + 1] == "tmpfs" else ""
                rows.append((row[4][len(top):], row[3], row[dash + 1], source, row[5], " ".join(row[6:dash])))
    rows.sort()
    seen = {}
    def number(match):
        return f"{match.group(1)}:{seen.setdefault(match.group(2), len(seen))}"
    return [row[:5] + (re.sub(r"(shared|master):(\d+)", number, re.sub(r" ?propagate_from:\d+", "", row[5])),) for row in rows]


def in_namespace(shared, function):
    """What a function returns in a new namespace whose root is shared, as under systemd, or private."""
    def child():
        gm.unshare_mounts()
        if shared:
            sh("/bin/mount", "--make-rshared", "/")
        with open(work + "/result", "w") as f:
            json.dump(function(), f)
    gm.in_child(child)
    with open(work + "/result") as f:
        return json.load(f)


def mount(words):
    if words.startswith("mkdir "):
        os.makedirs(words.split()[1].replace("@", top), exist_ok=True)
    else:
        sh("/bin/mount", *words.replace("@", top).split())


def run(*args):
    result = gm.getmnt(*args, program=program)
    return result.status, os.fsdecode(result.out).replace(top, "@"), os.fsdecode(result.err).replace(top, "@")


def made(setup):
    """What is mounted, and its lines and comments."""
    for words in setup:
        mount(words)
    status, out, err = run("fstab", "--id=path")
    rows = [re.sub(" +", " ", row) for row in out.splitlines() if "@/" in row]
    return mounts(), [row for row in rows if row[0] != "#"], [row for row in rows if row[0] == "#"], err


def again(lines):
    gm.touch(work + "/fstab", "".join(row + "\n" for row in lines).replace("@", top))
    sh("/bin/mount", "-a", "-T", work + "/fstab")
    return mounts()


BIND = "--bind @/A @/B"
X = "-t tmpfs x @/A/m"
# Name, commands, mount points of copies with their origins.
ROWS = [
    ("a bind, then a mount", (BIND, X), {"/B/m": "/A/m"}),
    ("a mount at the other peer", (BIND, "--bind @/B @/C", "-t tmpfs x @/B/m"), {"/A/m": "/B/m", "/C/m": "/B/m"}),
    ("a private bind", ("-o bind,private @/A @/B", X), {}),
    ("a bind made private later", (BIND, "--make-private @/B", X), {}),
    ("a private bind with a bind of its own", ("-o bind,private @/A @/B", X, "--bind @/A/m @/B/m"), {}),
    ("a recursive bind", (X, "--rbind @/A @/B"), {"/B/m": "/A/m"}),
    ("a recursive bind, then a mount", (X, "--rbind @/A @/B", "-t tmpfs y @/A/n"), {"/B/m": "/A/m", "/B/n": "/A/n"}),
    ("a bind between two mounts", (X, BIND, "-t tmpfs y @/A/n"), {"/B/n": "/A/n"}),
    ("a bind after a mount", (X, BIND), {}),
    ("a slave", ("-o bind,slave @/A @/B", X), {"/B/m": "/A/m"}),
    ("a slave with a mount of its own", ("-o bind,slave @/A @/B", X, "-t tmpfs y @/B/n"), {"/B/m": "/A/m"}),
    ("a slave that is shared", ("-o bind,slave,shared @/A @/B", X), {"/B/m": "/A/m"}),
    ("slaves by a recursive bind", (X, "-o rbind,rslave @/A @/B"), {"/B/m": "/A/m"}),
    ("a mount below a copy", (BIND, X, "mkdir @/A/m/in", "-t tmpfs y @/B/m/in"), {"/B/m": "/A/m", "/A/m/in": "/B/m/in"}),
    ("a mount below a copy of a slave", ("-o bind,slave @/A @/B", X, "mkdir @/A/m/in", "-t tmpfs y @/B/m/in"),
     {"/B/m": "/A/m"}),
    ("a private tmpfs", ("-o private -t tmpfs x @/A/m", "-t tmpfs y @/C"), {}),
    ("an unbindable tmpfs", ("-o unbindable -t tmpfs x @/A/m", "--rbind @/A @/B"), {}),
    ("binds in each other", ("--bind @/A @/A/s", "--bind @/A @/A/m"), {"/A/s/m": "/A/m"}),
    ("a bind of the whole", ("--bind @ @/R", X), {"/R/A/m": "/A/m"}),
    ("a bind onto itself", ("--bind @/A @/A", X), {"/A/m": "/A/m"}),
    ("a private bind onto itself", ("-o bind,private @/A @/A", X), {}),
]
PRIVATE = [
    ("binds where the root is private", (BIND, X), {}),
    ("a recursive bind where the root is private", (X, "--rbind @/A @/B"), {}),
    ("a shared tmpfs where the root is private", ("-o shared -t tmpfs x @/D", "mkdir @/D/in", "--bind @/D @/C",
                                                  "-t tmpfs y @/D/in"), {"/C/in": "/D/in"}),
]
for shared, rows in (True, ROWS), (False, PRIVATE):
    for tag, setup, copies in rows:
        live, lines, comments, err = in_namespace(shared, lambda: made(setup))
        for copy, origin in copies.items():
            comment = f"# getmnt: no line for @{copy} "
            gm.expect(any(row.startswith(comment) and f"a copy of the mount on @{origin}, made by" in row for row in comments),
                      f"{tag}: {copy}: {comments}")
        gm.expect(len(comments) == len(copies) and len(lines) + len(copies) == len(live), f"{tag}: {lines} {comments}")
        gm.expect("reproduce" not in err, f"{tag}: {err}")
        new = in_namespace(shared, lambda: again(lines))
        gm.expect(new == live, f"{tag}: {lines}: {new}, not {live}")
sh("/bin/umount", top)
gm.run("losetup", "-d", loop)
gm.done()
