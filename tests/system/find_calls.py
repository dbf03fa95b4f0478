# SPDX-License-Identifier: MIT
"""What getmnt find asks the kernel: attributes only of objects whose name and type leave the answer
open, and no directory that is pruned or too deep."""
import os

import gm

gm.need_features("the calls are others", "statx-mntid", "openat2")
root = gm.Root()
gm.install("true", root / "")
gm.touch(root / "etc/passwd", "root:x:0:0::/:/bin/sh\n")
gm.touch(root / "etc/group", "root:x:0:\n")
top = gm.tmpfs(root / "t")
for i in range(5):
    for j in range(7):
        gm.touch(f"{top}/d{i}/{j}.c", "x")
        gm.touch(f"{top}/d{i}/{j}.h")
    gm.mkdir(f"{top}/d{i}/sub")
for i in range(3):
    gm.touch(f"{top}/skip/in{i}/below/x.c", "x")
    os.symlink("d0/0.c", f"{top}/link{i}")
gm.touch(gm.tmpfs(f"{top}/mnt") + "/dir/y.c")
root.enter()

C, H, LINKS = 5 * 7 + 3 + 1, 5 * 7, 3
FILES = C + H
PRUNED = 7                          # skip, and what is in it
MOUNTED = 2                         # mnt and mnt/dir
DIRS = 1 + 5 * 2 + PRUNED + MOUNTED
ALL = FILES + LINKS + DIRS


def count(*args, flags=(), env=None):
    """The calls of a search."""
    result = gm.getmnt("find", *flags, "--threads=1", "--stats=json", "/t", *args, env=env)
    gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err[-300:]}")
    return result.stats()


def opened(stats):
    return stats["calls"]["openat2"] + stats["calls"]["openat"]


plain = count("-name", "none")
for args in ((), ("-name", "*.c"), ("-type", "f"), ("-type", "f,l", "!", "-iname", "*.h"), ("-path", "*/d0/*"), ("-print0",),
             ("-regex", ".*c"), ("-mindepth", "2"), ("-name", "*.c", "-o", "-type", "d"), ("-printf", "%p %f %h %P %H %d %y\\n"),
             ("-exec", "true", "{}", "+"), ("-name", "0.c", "-exec", "true", "{}", ";"), ("-name", "0.h", "-execdir", "true", ";"),
             ("-fstype", "tmpfs"), ("-false",), ("-depth",), ("-size", "+1M", "-name", "none"), ("-name", "none", "-empty"),
             ("!", "-name", "*", "-user", "root"), ("-name", "*.c", "-o", "-name", "*", "-o", "-links", "1"),
             ("-type", "p", "-readable")):
    stats = count(*args)
    more = stats["calls"]["statx"] - plain["calls"]["statx"]
    gm.expect(more == 0, f"{args}: {more} calls of statx more")
    gm.expect(opened(stats) <= opened(plain) + 1 and stats["dirs"] == DIRS and stats["calls"]["readlinkat"]
              == plain["calls"]["readlinkat"], f"{args}: {stats}")

# One statx for each object whose name and type leave the answer open.
NOT_C = ALL - C
for args, want in ((("-name", "*.c", "-size", "+1M"), C), (("-size", "+1M", "-name", "*.c"), C), (("-type", "f", "-size", "-9k"), FILES),
                   (("-size", "+1M"), ALL), (("-name", "*.c", "-o", "-size", "+1M"), NOT_C), (("!", "-name", "*.c", "-links", "+1"), NOT_C),
                   (("-name", "*.c", ",", "-name", "*.h", "-newer", "/t/d0/0.c"), H), (("-type", "l", "-user", "root"), LINKS),
                   (("-user", "root", "-size", "-9k", "-perm", "-1", "-mtime", "-1", "-type", "f"), FILES), (("-perm", "644"), ALL),
                   (("-name", "*.h", "-printf", "%s %m %u\\n"), H), (("-links", "1", "-printf", "%s\\n"), ALL), (("-type", "f", "-ls"), FILES),
                   (("-type", "f", "-nouser"), FILES), (("-samefile", "/t/d0/0.c", "-type", "f"), FILES), (("-mmin", "-1", "-type", "d"), DIRS),
                   (("-type", "f", "-empty"), FILES)):
    stats = count(*args)
    known = 1 if args[0] == "-samefile" or "-newer" in args else 0      # of the file in the expression
    more = stats["calls"]["statx"] - plain["calls"]["statx"] - known
    # The root's attributes are known.
    gm.expect(more in (want, want - 1), f"{args}: {more} calls of statx more, not {want}")
    gm.expect(stats["dirs"] == DIRS, f"{args}: {stats['dirs']} directories read, not {DIRS}")

# What is looked up otherwise.
for args, call, want in ((("-lname", "d*"), "readlinkat", LINKS), (("-name", "link0", "-lname", "d*"), "readlinkat", 1),
                         (("-type", "l", "-printf", "%l\\n"), "readlinkat", LINKS), (("-name", "*.h", "-readable"), "faccessat2", H),
                         (("-readable", "-name", "*.h"), "faccessat2", H)):
    stats = count(*args)
    more = stats["calls"][call] - plain["calls"][call]
    gm.expect(more == want, f"{args}: {more} calls of {call} more, not {want}")
# Whether a directory is empty, without its attributes; a mount point is followed step by step, by 4 calls.
for args, want in ((("-type", "d", "-empty"), 4), (("-empty", "-type", "d", "-exec", "true", "{}", "+"), 4),
                   (("-type", "d", "!", "-empty", "-name", "d*"), 0)):
    stats = count(*args)
    more = stats["calls"]["statx"] - plain["calls"]["statx"]
    gm.expect(more == want, f"{args}: {more} calls of statx more, not {want}")
    gm.expect(stats["calls"]["getdents64"] <= plain["calls"]["getdents64"] + 2 * DIRS, f"{args}: {stats}")

# Directories that are not opened.
for args, less in ((("-maxdepth", "0"), DIRS), (("-maxdepth", "1"), DIRS - 1), (("-maxdepth", "2"), DIRS - 1 - 7),
                   (("-name", "skip", "-prune", "-o", "-print"), PRUNED), (("-path", "/t/skip", "-prune", "-o", "-name", "*.c"), PRUNED),
                   (("-name", "skip", "-type", "d", "-prune"), PRUNED), (("-exclude", "-name", "skip"), PRUNED),
                   (("-xdev",), MOUNTED), (("-mount",), MOUNTED), (("-prune",), DIRS), (("-name", "d?", "-prune", "-print"), 10),
                   (("-name", "skip", "-links", "+0", "-prune"), PRUNED)):
    stats = count(*args)
    gm.expect(stats["dirs"] == DIRS - less, f"{args}: {stats['dirs']} directories read, not {DIRS - less}")
    # A mount point is opened several times.
    gm.expect(opened(plain) - opened(stats) >= less, f"{args}: {opened(stats)} opens, {opened(plain)} without; not {less} less")
gm.done()
