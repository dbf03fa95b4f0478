# SPDX-License-Identifier: MIT
"""Every path that a command opens as root is in the table of docs/SECURITY.md ("Every path that is
opened as root") for that command; every row of the table is about a path that is opened, and names
existing tests."""
import os
import re
import socket
import stat

import gm

gm.need("strace", "mkfs.ext4", "mkfs.btrfs")
gm.need_fs("ext4", "btrfs")
if gm.sanitized():
    gm.skip("the sanitizer opens things of its own")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
OPENS = "open,openat,openat2,creat,open_tree,connect"
# What a call must have of each of the ways to open that the page names.
HOW = {"entry": "RESOLVE_NO_XDEV|O_EXCL|O_PATH", "regular": "O_NONBLOCK", "named": "O_NONBLOCK", "kernel": "O_NONBLOCK"}
if "openat2" in os.environ.get("GETMNT_DISABLE", ""):
    HOW["entry"] = "O_EXCL|O_PATH|O_NONBLOCK"
TITLE = "## Every path that is opened as root"
# What stands for a name of the user's, in the table and here.
OPERANDS = {"FILE": "/keep/(file|out|base|conf|table|swaps|fstab)", "ROOT": "/sub", "PATH": "/disk", "DIR": "/(etc|keep|sub/etc)"}


def rows():
    """The rows of the table: patterns, what each call has in it, commands, the line."""
    text = gm.read(SOURCES + "/docs/SECURITY.md")
    gm.expect(text.count(TITLE) == 1, "the section is missing")
    found = []
    for line in text.partition(TITLE)[2].partition("\n## ")[0].split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or set(cells[0]) <= {"-"} or cells[0] == "path":
            continue
        gm.expect(len(cells) == 5 and all(cells), f"a row has five cells: {line}")
        tests = re.findall(r"`([\w/]+\.(?:py|c|sh))`", cells[4])
        gm.expect(tests, f"no test: {line}")
        for test in tests:
            path = test if "/" in test else "tests/system/" + test
            gm.expect(os.path.exists(f"{SOURCES}/{path}"), f"there is no test {test}")
        kind = ("O_DIRECTORY|open_tree" if cells[0].startswith("directories ") else "O_PATH" if cells[0].startswith("looks at ")
                else HOW.get(re.match(r"\w*", cells[3]).group(), ""))
        found.append(([compile_pattern(name) for name in re.findall(r"`([^`]+)`", cells[0])], kind,
                      {word.strip() for word in cells[1].split(",")}, line))
    return found


def compile_pattern(name):
    """** matches any part of a path, * any part of a name; an operand is the one used here."""
    parts = re.split(r"(\*\*|\*|\b(?:FILE|ROOT|PATH|DIR)\b)", name)
    return re.compile("".join({"**": ".*", "*": "[^/]*", **OPERANDS}.get(part) or re.escape(part) for part in parts))


TABLE = rows()
root = gm.Root()
for name in ("etc/getmnt/audit.conf.d", "keep", "run/udev/data", "run/mount", "run/blkid", "run/systemd/system",
             "etc/systemd/system", "data", "sub/etc", "sub/x"):
    gm.mkdir(root / name)
gm.tmpfs(root / "data")
gm.tmpfs(root / "data/below")
gm.tmpfs(root / "sub/x")
number = os.stat(gm.loop_mount(gm.image(root / "disk.img", 8 << 20, "mkfs.ext4", "-q"), root / "disk")).st_dev
btrfs = gm.loop_mount(gm.image(root / "btrfs.img", 128 << 20, "mkfs.btrfs", "-q"), root / "btrfs")
for disk in (number, os.stat(btrfs).st_dev):
    os.mknod(f"{root.path}/dev/loop{os.minor(disk)}", 0o60600, disk)
gm.install("strace", root.path)
root.enter()
gm.touch("/keep/table", gm.read("/proc/self/mountinfo"))
gm.touch("/keep/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
gm.touch("/keep/conf")
for path in ("/etc/fstab", "/keep/fstab", "/sub/etc/fstab"):
    gm.touch(path, "none /data tmpfs defaults 0 0\n/dev/nothing /x xfs defaults,nofail 0 0\nLABEL=y none swap sw 0 0\n")
gm.touch("/etc/mtab", "x /x tmpfs rw 0 0\n")
gm.touch("/keep/file", "x /x tmpfs rw 0 0\n")
gm.touch("/etc/crypttab")
gm.touch("/etc/passwd", "root:x:0:0:::\n")
gm.touch("/etc/group", "root:x:0:\n")
gm.touch("/etc/machine-id", "0" * 32 + "\n")
gm.touch("/etc/getmnt/audit.conf")
gm.touch("/etc/getmnt/audit.conf.d/a.conf")
gm.touch("/run/mount/utab")
gm.touch("/run/blkid/blkid.tab")
gm.touch(f"/run/udev/data/b7:{os.minor(number)}", "E:ID_FS_TYPE=ext4\n")
used, unseen = set(), set()


def opened(trace):
    """The absolute paths that a trace opens."""
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            match = re.match(r'\d+\s+(\w+)\((?:(AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"([^"]*)"', line)
            if not match:
                continue
            _, fd, directory, path = match.groups()
            if fd is None or path.startswith("/"):
                yield path, line
            else:
                yield os.path.normpath(f"{directory or ''}/{path}").replace("//", "/") if path else directory, line


def look(command, *args, status=(0, 1, 2, 16, 32, 64)):
    result = gm.getmnt("-f", "-y", "-s", "5000", "-e", "trace=" + OPENS, "-o", "/tmp/trace", gm.PROGRAM,
                       *([command] if command != "discover" else []), *args, program="/bin/strace")
    gm.expect(result.status in status, f"{args}: {result.status} {result.err[-300:]}")
    for path, line in opened("/tmp/trace"):
        rows = [i for i, (patterns, kind, commands, _) in enumerate(TABLE)
                if re.search(kind, line) and (command in commands or "all" in commands) and any(pattern.fullmatch(path) for pattern in patterns)]
        used.update(rows)
        if not rows and (command, path) not in unseen:
            unseen.add((command, path))
            gm.fail(f"{command} ({' '.join(args)}) opens {path}, which no row has: {line.strip()[:160]}")
    os.unlink("/tmp/trace")


for args in ([], ["-J"], ["-k", "--names=kernel"], ["--names=walk", "--algorithm=getmnt1"], ["--names=pure"], ["-o", "TARGET,UUID,LABEL,SIZE"],
             ["-D"], ["--unmounted"], ["-N", str(os.getpid())], ["--root=/sub"], ["-F", "/keep/table"], ["-s"], ["-m"], ["-T", "/data/below"],
             ["/disk"], ["--probe=all"], ["--boundaries"], ["--explain"],
             ["--poll", "--timeout=200"]):
    look("discover", *args)
for args in (["*", "/disk"], ["-m", "-o", "USER,GROUP,SIZE,PATH", "*", "/disk"], ["-L", "-m", "--engine=bulk", "*", "/disk"], ["--access=w", "*", "/disk"]):
    look("search", *args)


def elsewhere():
    gm.unshare_mounts()
    yield


other = gm.Other(elsewhere)
look("search", "*", f"/proc/{other.pid}/root/keep")
other.end()
for args in ([], ["--probe=all", "--under", "--holders"], ["--jsonl", "--swaps=/keep/swaps", "--fstab=/keep/fstab", "--config=/keep/conf"],
             ["--root=/sub"], ["--save=/keep/base"], ["--baseline=/keep/base", "--save=/keep/base"], ["--prometheus", "--output=/keep/out"],
             ["--max-time=20"], ["--show-config"]):
    look("audit", *args)
for args in ([], ["/sub"], ["--genfstab", "/sub"], ["--merge=/keep/fstab", "--add=/disk", "--write", "--yes", "--force"],
             ["--merge", "--add=/disk", "--write", "--yes", "--force"]):
    look("fstab", *args)
for args in (["/keep/file", "--write", "--yes"], ["/etc/mtab", "--check"], ["-p"]):
    look("recover", *args)
for args in (["/disk", "--total-time=0.2"], ["--live", "--total-time=0.2"], ["/disk", "--layers", "--repeats=1", "--total-time=3"]):
    look("profile", *args)
for i, (*_, line) in enumerate(TABLE):
    if i not in used and "elsewhere" not in line:
        gm.fail(f"no run opened this: {line[:150]}")
gm.umount("/disk")
gm.umount("/btrfs")
gm.done()
