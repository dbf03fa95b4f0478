# SPDX-License-Identifier: MIT
"""The number of calls is linear in mounts, depth and directories, with the same number for each
additional one; entries cost reads of their directory, and no other calls."""
import random

import gm
import hosts

WAYS = {"hint": ("--names=hint",)}
WAYS.update((way, ("--names=walk", "--algorithm=" + way, "--threads=1"))
            for way in ("getmnt1", "getmnt2", "getmnt3"))
# A table is read by pages; from some size on the number of processors is read, once; and
# poll checks from time to time whether somebody still reads the output.
APART = ("read", "listmount", "sched_getaffinity", "poll")
# On an older kernel other calls are made, whose number for each object is constant as well.
EXACT = "listmount" in gm.SOURCES and not gm.DISABLED


def calls_of(*args):
    """The calls of one run, those of all ways to open as one."""
    result = gm.getmnt("-l", "--root=/t", *args, "--stats=json")
    gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err[-300:]}")
    calls = result.stats()["calls"]
    calls["open"] = calls.pop("openat") + calls.pop("openat2")
    return {call: count for call, count in calls.items() if call not in APART}


def built(build, size, ways=None):
    """Build below /t, count by each way, take it away.  @return way -> calls."""
    gm.mount("ground", "/t", "tmpfs", 0, "size=1g,mode=755")
    try:
        build(size)
        return {way: calls_of(*args) for way, args in (ways or WAYS).items()}
    finally:
        gm.umount("/t", gm.MNT_DETACH)


def linear(tag, build, size, expected, ways=None):
    """At size, 2 size and 4 size: each kind of call grows by the same for each one,
    and by what is expected."""
    one, two, four = (built(build, size * factor, ways) for factor in (1, 2, 4))
    for way, wanted in expected.items():
        grown = {}
        for call in one[way]:
            first = two[way][call] - one[way][call]
            second = four[way][call] - two[way][call]
            gm.expect(second == 2 * first and first % size == 0,
                      f"{tag}: {way}: {call}: not linear: {one[way][call]}, {two[way][call]}, "
                      f"{four[way][call]} at {size}, {2 * size}, {4 * size}")
            if first:
                grown[call] = first // size
        gm.expect(grown == wanted or not EXACT, f"{tag}: {way}: one more costs {grown}, and not {wanted}")


def flat(mounts):
    hosts.Flat("/t").add(mounts)


def nested(levels):
    hosts.descend("/t", levels, True)


def deep(levels):
    hosts.descend("/t", levels, False)


def leaf(directories):
    """Directories without mounts, below another file system."""
    gm.tmpfs(gm.mkdir("/t/leaf"), "size=1g")
    hosts.Host("/t/leaf").grow("/t/leaf", directories, 0, random.Random(1))


def near(directories):
    """The same, and a mount at their top."""
    leaf(directories)
    gm.tmpfs(gm.mkdir("/t/leaf/mount"))


def crowd(entries):
    hosts.crowd("/t", entries)


root = gm.Root()
gm.mkdir(root / "t")
root.enter()

TABLED = {"statx": 1, "statmount": 1}
READ = {"open": 1, "getdents64": 2, "close": 1}     # a directory is read until nothing comes
linear("mounts", flat, 100, {
    "hint": TABLED,
    "getmnt1": {"statx": 2, "statmount": 1, "open": 2, "getdents64": 2, "close": 2},
    "getmnt2": TABLED, "getmnt3": TABLED})
if EXACT:
    linear("mounts, mountinfo", flat, 100, {"hint": {"statx": 1}},
           {"hint": ("--names=hint", "--kernel=mountinfo")})
searched = {"statx": 2, "statmount": 1, "open": 2, "getdents64": 2, "close": 2}
linear("mounts one below the other", nested, 50, {
    "hint": TABLED, "getmnt1": searched, "getmnt2": searched,
    # What all of its mounts were found in is not read to the end.
    "getmnt3": {**searched, "getdents64": 1}})
linear("depth", deep, 50, {
    "hint": {}, **{way: {"statx": 1, **READ} for way in ("getmnt1", "getmnt2", "getmnt3")}})
linear("directories that can have none", leaf, 200, {
    "hint": {}, "getmnt1": READ, "getmnt2": {}, "getmnt3": {}})
linear("directories next to a mount", near, 200, {
    "hint": {}, "getmnt1": {"statx": 1, **READ}, "getmnt2": {"statx": 1, **READ}})

# Entries: the types come with the names, so no call reads them.
few, many = (built(crowd, entries) for entries in (100, 10000))
for name, less in few.items():
    more = dict(many[name])
    reads = more.pop("getdents64") - less.pop("getdents64")
    gm.expect(more == less, f"entries: {name}: {less} for 100, {more} for 10,000")
    gm.expect(0 <= reads <= 100 and (reads == 0) == (name == "hint"),
              f"entries: {name}: {reads} more reads of a directory")
told = {"getmnt3": (*WAYS["getmnt3"], "--prune=-dtype")}
counts = [built(crowd, entries, told)["getmnt3"]["statx"] for entries in (100, 1000)]
gm.expect(counts[1] - counts[0] == 900, f"without types: {counts} statx for 100 and 1,000")
gm.done()
