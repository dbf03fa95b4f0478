# SPDX-License-Identifier: MIT
"""Mounts made by propagation and by recursive binds: mount -a of the fstab makes the same mounts again, no
more, with the same propagation; what is reported of an fstab is what mount -a makes of it.

Each row is mounted below a shared or private directory in a namespace of its own; its fstab is mounted in
another."""
import json
import os
import random
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
    ("a bind in its own bind", ("--bind @/A @/A/s", "--bind @/A @/A/s/s"), {"/A/s": "/A/s/s"}),
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
        gm.expect("reproduce" not in err and "also mounts" not in err, f"{tag}: {err}")
        new = in_namespace(shared, lambda: again(lines))
        gm.expect(new == live, f"{tag}: {lines}: {new}, not {live}")

# A slave whose master is gone cannot be made by a line: the mounts that it would receive are reported.
LOST = ("-o bind,slave @/A @/B", "-o slave,shared -t tmpfs x @/A/s/t", "--bind @/A/s/t @/C", "mkdir @/C/in", "-t tmpfs y @/C/in")
live, lines, comments, err = in_namespace(True, lambda: made(LOST))
new = in_namespace(True, lambda: again(lines))
gm.expect("/B/s/t/in" in {row[0] for row in new} and "/B/s/t/in" not in {row[0] for row in live}, f"a lost master: {new}")
gm.expect("also mounts @/B/s/t/in" in err, f"a lost master: {err}")

# The mounts that an fstab makes are compared with the existing ones, and with the reports of merge and audit.
LINES = ["@/A @/B none bind 0 0", "x @/A/m tmpfs defaults 0 0", "@/A/m @/B/m none bind 0 0", "x @/B/m tmpfs defaults 0 0",
         "@/A @/B none rbind 0 0", "@/A @/B none bind,private 0 0", "@/A @/B none bind,slave 0 0"]
MERGES = [
    # what is mounted, the lines of the file, whether they make it, reported by the merge, by the audit
    ((BIND, X), (0, 1), True, (), ()),
    ((BIND, X), (0, 3), True, (), ()),
    ((BIND, X), (4, 1), True, (), ()),
    ((BIND, X), (0, 1, 2), False, ("line 4: @/B/m: mounted once more by this line: a copy of the mount on @/A/m",
                                   "line 4 also mounts @/B/m"), ("FSTAB-DUP-TARGET 4",)),
    ((BIND, X), (0, 1, 3), False, ("line 4 also mounts @/B/m",), ("FSTAB-DUP-TARGET 4",)),
    ((BIND, X), (1, 0), False, ("does not reproduce @/B/m: it is a copy of the mount on @/A/m, which line 2 mounts before",), ()),
    ((BIND, X), (5, 1), False, ("line 2: @/B: is mounted with other options: shared", "does not reproduce @/B/m"),
     ("DRIFT-OPTIONS 2",)),
    ((X, "--rbind @/A @/B"), (1, 4), True, (), ()),
    ((X, "--rbind @/A @/B"), (1, 0), False, ("does not reproduce @/B/m",), ()),
    ((X, BIND), (1, 0), True, (), ()),
    ((X, BIND), (0, 1), False, ("line 3 also mounts @/B/m",), ()),
    (("-o bind,private @/A @/B", X), (5, 1), True, (), ()),
    (("-o bind,private @/A @/B", X), (0, 1), False, ("line 2: @/B: is mounted with other options: private",
                                                     "line 3 also mounts @/B/m"), ("DRIFT-OPTIONS 2",)),
    (("-o bind,slave @/A @/B", X), (6, 1), True, (), ()),
    (("-o bind,slave @/A @/B", X), (0, 1), False, ("line 2: @/B: is mounted with other options: slave",), ("DRIFT-OPTIONS 2",)),
]


def merged(setup, text):
    gm.touch(work + "/old", text)
    for words in setup:
        mount(words)
    check = run("fstab", "--id=path", f"--merge={work}/old", "--check")[2]
    new = run("fstab", "--id=path", f"--merge={work}/old", "--add=persistent", "--fix=options")[1]
    audit = gm.getmnt("audit", "--json", f"--fstab={work}/old", program=program)
    found = [f"{f['code']} {f['source'].rsplit(':', 1)[1]}" for f in json.loads(audit.out)["findings"]
             if (f["target"] or "").startswith(top + "/") and f["source"]]
    for f in json.loads(audit.out)["findings"]:
        private = "private" in f["expected"] if f["code"] == "DRIFT-OPTIONS" else None
        gm.expect(private is None or ("mount --make-private" in f["hint"]) == private, f"hint: {f}")
    return mounts(), check, [row for row in new.splitlines() if "@/" in row and row[0] != "#"], found


for setup, numbers, good, reported, findings in MERGES:
    lines = [LINES[i] for i in numbers]
    tag = f"{setup}, {lines}"
    live, check, new, found = in_namespace(True, lambda: merged(setup, "".join(row + "\n" for row in [f"{loop} @ ext4 defaults 0 0"] + lines)
                                                                    .replace("@", top)))
    check = "".join(row + "\n" for row in check.splitlines() if "@/" in row)
    gm.expect(all(word in check for word in reported) and (check == "") == (reported == ()), f"{tag}: {check}")
    gm.expect(found == list(findings), f"{tag}: {found}")
    gm.expect((in_namespace(True, lambda: again(lines)) == live) == good, f"{tag}: mount -a")
    if not any("before" in word or "also mounts" in word or "reproduce" in word for word in reported) or good:
        gm.expect(in_namespace(True, lambda: again(new)) == live, f"{tag}: merged: {new}")

# Binds in each other: what hides what, and what is mounted twice.
DUP = "which also unmounts the copies that propagation made"
AT_ONCE = "propagation mounted it on @{} and on @{} at once"
NESTED = [
    (("--bind @/A @/A/s", "--bind @/A @/A/s/s"), ()),
    (("--bind @/A @/A/s", "--bind @/A @/A/m"), ()),
    (("--bind @/A @/A", X), ()),
    (("--bind @/A @/B", "--bind @/B @/A"), ()),
    (("--bind @/A @/A", "--bind @/A @/A"), (("MNT-DUP /A", "mounted twice", DUP),)),
    (("--bind @/A @/B", "--bind @/A @/B"), (("MNT-DUP /B", "mounted twice", DUP),)),
    ((BIND, X, "--bind @/A/m @/B/m"), (("MNT-DUP /B/m", "mounted twice", DUP),)),
    (("-t tmpfs -o private x @/B", "--bind @/B @/B"), (("MNT-DUP /B", "mounted twice", "unmount the upper one"),)),
    (("--bind @/A @/A/s", "--bind @/A @/A/s"),
     (("MNT-SHADOWED /A/s", "mounted on @/A, hides it", AT_ONCE.format("/A", "/A/s")),)),
    (("-t tmpfs x @/A/m", "-t tmpfs y @/A"), (("MNT-SHADOWED /A/m", "mounted on @/A, hides it", "mount it again after the parent"),)),
]


def nested(setup):
    for words in setup:
        mount(words)
    gm.touch(work + "/fstab")
    result = gm.getmnt("audit", "--json", f"--fstab={work}/fstab", "--only=MNT-DUP,MNT-SHADOWED", program=program)
    return [[f"{f['code']} {f['target'][len(top):]}", f["message"].replace(top, "@"), f["hint"].replace(top, "@")]
            for f in json.loads(result.out)["findings"] if (f["target"] or "").startswith(top + "/")]


for setup, expected in NESTED:
    found = in_namespace(True, lambda: nested(setup))
    gm.expect(len(found) == len(expected) and all(want[0] == row[0] and want[1] in row[1] and want[2] in row[2]
                                                  for want, row in zip(expected, found)), f"{setup}: {found}")

# Random binds, mounts and propagation: after mount -a, no difference between lines and mounts is reported.
NAMES = ["A", "A/m", "A/s", "A/s/t", "B", "B/m", "C", "C/s", "D/d"]
WORDS = ["", "", "", "", ",private", ",slave", ",shared", ",rprivate", ",rslave", ",unbindable", ",slave,shared"]


def random_lines(choose):
    lines, used = [], []
    for i in range(choose.randint(3, 7)):
        free = [name for name in NAMES if not any((other + "/").startswith(name + "/") for other in used)]
        if not free:
            break
        used.append(choose.choice(free))
        words = choose.choice(WORDS) + ",X-mount.mkdir"
        source = choose.choice([name for name in NAMES if name != used[-1]])
        lines.append(f"x{i} @/{used[-1]} tmpfs size=1m{words} 0 0" if choose.random() < 0.45
                     else f"@/{source} @/{used[-1]} none {choose.choice(('bind', 'bind', 'rbind'))}{words} 0 0")
    return lines


def own_lines(lines):
    gm.touch(work + "/fstab", "".join(row + "\n" for row in [f"{loop} @ ext4 defaults 0 0"] + lines).replace("@", top))
    if sh("/bin/mount", "-a", "-T", work + "/fstab", ok=False)[0]:
        return ""
    return run("fstab", "--id=path", f"--merge={work}/fstab", "--check")[2]


for name in NAMES:
    gm.mkdir(f"{top}/{name}")
for seed in range(60):
    lines = random_lines(random.Random(seed))
    check = in_namespace(seed % 4, lambda: own_lines(lines))
    gm.expect(not re.search("also mounts @/|once more|other options", check), f"{seed}: {lines}: {check}")

sh("/bin/umount", top)
gm.run("losetup", "-d", loop)
gm.done()
