# SPDX-License-Identifier: MIT
"""The rows of tests/fixtures/search, on every file system, with every way to read attributes, as lines
made by workers and as single entries, with one thread and several.  One run searches the tree of a
row on all file systems, each below its own root."""
import collections
import json
import os

import gm
from rows import NOBODY, OPTIONS, ROWS, build, decode, found, one_by_one

# Attributes make the ways differ; without them they are one.  Without a clock it is
# held that the disk is waited for.
WAYS = [[], ["--threads=4"], ["-m", "--engine=sync"], ["-m", "--engine=sync", "--ahead"],
        ["-m", "--ahead"],
        ["-m", "--engine=bulk"], ["-m", "--engine=bulk", "--ahead"], ["-m", "clock"]]


def lines(result):
    """Those of -0: paths alone, as workers write them."""
    return [(gm.shown(path), "") for path in result.out.split(b"\0")[:-1]]


def check(tops, row, way, by_lines=False):
    """Search for one row, on several file systems at once."""
    tree, roots, pattern, flags, entered, expected = row.split("\t")
    flags = [] if flags == "-" else flags.split(",")
    roots = ["" if root == "/" else gm.shown(decode(root)) for root in roots.split(" ")]
    # Each root is spelled in a way of its own, so that it is known which an entry is of.
    spelled = {f"{top}/{tree}{'/.' * i}{root}": (top, root) for top in tops for i, root in enumerate(roots)}
    options = [word for flag in flags for word in OPTIONS[flag]] + way
    if by_lines:
        options = [word for word in options if word != "-m"]
    given = [option for option in options if option != "clock"]
    result = gm.getmnt("search", "-0" if by_lines else "--format=jsonl", *given, "--stats=json",
                       "--", os.fsdecode(decode(pattern)), *spelled, env=gm.without("clock") if "clock" in options else {},
                       uid=NOBODY if {"R_OK", "W_OK", "X_OK"} & set(flags) else None)
    tag = f"{' '.join(options)}: {row}"
    if expected.startswith("!"):
        gm.expect(result.status == 1 and b"invalid pattern" in result.err, f"{tag}: {result.status}, {result.err}")
        return
    if entered == "0" and expected == "-":
        gm.expect(result.status == 1 and b"can never match" in result.err and not result.out, f"{tag}: {result.err}")
        return
    want = collections.Counter(gm.shown(decode(name)) for name in expected.split(" ") if name != "-")
    # To the library a root is a directory; to the command a file is an object that is compared by its name.
    files = [name for name in want if name.startswith("OPEN:ENOTDIR:")]
    for name in files:
        del want[name]
        gm.expect(pattern in ("*", "bar"), f"{tag}: it is not known whether {name} matches")
        if pattern == "*":
            want["/" + name.partition("/")[2] if "INCLUDEROOT" in flags else ""] += 1
    if by_lines:
        want = collections.Counter(name for name in want.elements() if name[:1] in ("", "/"))
    for top, got in found((lines if by_lines else one_by_one)(result), spelled, "INCLUDEROOT" in flags).items():
        if "STOPATFIRST" in flags:
            hits = [name for name in want if name.startswith("/")]
            gm.expect(not got - want and sum(n for name, n in got.items() if name in hits) == bool(hits),
                      f"{top} {tag}: {dict(got)}")
        else:
            gm.expect(got == want, f"{top} {tag}: {dict(got - want)} too many, {dict(want - got)} missing")
    stats = json.loads(result.err.split(b"\n")[-2])
    gm.expect(entered == "-" or stats["dirs"] <= int(entered) * len(tops), f"{tag}: {stats['dirs']} directories")


def stat_calls(fstype, tree):
    """Calls of the file system's own interface, and those for attributes, of a tree."""
    stats = gm.getmnt("search", "-m", "--engine=bulk", "--threads=1", "--stats=json", "*", f"/{fstype}/trees/{tree}").stats()
    return stats["calls"]["ioctl"], stats["calls"]["statx"], stats["found"]


def escaped(name):
    return "".join(c if c.isalnum() or c == "/" or ord(c) > 127 else "\\" + c for c in name)


def same(tops, name, way):
    """A literal pattern, which may be looked up, finds what the same pattern with a bracket finds."""
    folder, _, last = name.rpartition("/")
    patterns = ("/" + escaped(name), f"/{escaped(folder + '/' if folder else '')}[{last[0]}]{escaped(last[1:])}")
    got = [gm.getmnt("search", "-0", *way, "--", pattern, *tops) for pattern in patterns]
    gm.expect(len({(result.status, bytes(sorted(result.out)), result.err) for result in got}) == 1,
              f"{patterns} {way}: {[(result.out, result.err) for result in got]}")
    return len(got[0].out.split(b"\0")) - 1


gm.need_fs("overlay")
root = gm.Root()
gm.tmpfs(root / "tmpfs")
for fstype, *mkfs in (("ext4", "mkfs.ext4", "-q"), ("xfs", "mkfs.xfs", "-q"), ("btrfs", "mkfs.btrfs", "-q")):
    if gm.have_fs(fstype, mkfs[0]):
        gm.loop_mount(gm.image(root / f"{fstype}.img", 400 << 20, *mkfs), root / fstype)
for name in ("low", "up", "work", "overlay"):
    gm.mkdir(root / f"tmpfs/{name}")
root.enter()
points = build("/tmpfs/low")
gm.mount("o", "/tmpfs/overlay", "overlay", 0, "lowerdir=/tmpfs/low,upperdir=/tmpfs/up,workdir=/tmpfs/work")
for point in points:
    gm.bind(f"/tmpfs/low/{point}", f"/tmpfs/overlay/{point}")
tops = ["/tmpfs/low", "/tmpfs/overlay"]
for fstype in ("ext4", "xfs", "btrfs"):
    if os.path.ismount("/" + fstype):
        build(gm.mkdir(f"/{fstype}/trees"))
        tops.append(f"/{fstype}/trees")
every = 1 if gm.SLOW == 1 and not gm.sanitized() else 7
for number, row in enumerate(ROWS[::every]):
    # A search that ends at the first result runs on one file system, another one for each way.
    first = "STOPATFIRST" in row
    for turn, way in enumerate(WAYS):
        check([tops[(number + turn) % len(tops)]] if first else tops, row, way)
    check([tops[number % len(tops)]] if first else tops, row, WAYS[number % 2], by_lines=True)
gm.expect(len(ROWS) > 600, f"{len(ROWS)} rows")
names = sorted({os.path.relpath(os.path.join(here, name), top) for top in tops for here, folders, files in os.walk(top)
                for name in folders + files if name[0].isalnum()})
hits = 0
for number, name in enumerate(name for name in names[::1 + len(names) // 20] + [name for name in names if "limits" in name]):
    for spelled in (name, name.swapcase()):
        for way in ((), ("-L",), ("--blocking",)):
            hits += same(tops, spelled, way)
gm.expect(hits > 100, f"{hits} names were found literally")
# Only large directories have enough entries for calls together.
without = {"bulk", "openat2"} & gm.OFF
for fstype in ("xfs", "btrfs"):
    if f"/{fstype}/trees" in tops and not without:
        small, large = stat_calls(fstype, "deep"), stat_calls(fstype, "wide")
        gm.expect(large[0] > small[0] and small[1] > small[2] and large[1] < large[2] * 3 // 4, f"{fstype}: {small}, {large}")
print(f"  {len(ROWS[::every])} rows, {len(WAYS) + 1} ways, each on {', '.join(tops)}")
gm.done()
