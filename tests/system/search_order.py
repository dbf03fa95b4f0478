# SPDX-License-Identifier: MIT
"""The order in which getmnt search reads attributes: that of the directory; with --ahead, or if calls
block on disk I/O, that of inode numbers.  An ext4 directory is in hash order."""
import gm

gm.need("mkfs.ext4", "mkfs.xfs")
gm.need_fs("xfs")
FILES, FIRST, BUFFER = 12000, 4096 + 2050, 2050   # what is in order by itself; a buffer more
root = gm.Root()
gm.tmpfs(root / "tmpfs", "size=200m")
gm.loop_mount(gm.image(root / "tmpfs/ext4.img", 64 << 20, "mkfs.ext4", "-q", "-N", "20000"), gm.mkdir(root / "ext4"))
gm.loop_mount(gm.image(root / "tmpfs/xfs.img", 400 << 20, "mkfs.xfs", "-q"), gm.mkdir(root / "xfs"))
root.enter()
for place in ("/ext4", "/xfs", "/tmpfs"):
    gm.mkdir(f"{place}/big")
    for i in range(FILES):
        gm.touch(f"{place}/big/{i * 2654435761 % (1 << 32):x}")


def order(*args, env=None, threads=1):
    """Inode numbers as they come out, and the kernel calls."""
    result = gm.getmnt("search", "-o", "INO", f"--threads={threads}", "--stats=json", *args, env=env)
    gm.expect(result.status == 0, f"{args}: status {result.status}, {result.err[-300:]}")
    return [int(line) for line in result.out.split()], result.stats()["calls"]


def runs(numbers):
    """The lengths of the parts that are in order."""
    lengths, last = [], float("inf")
    for number in numbers:
        if number < last:
            lengths.append(0)
        lengths[-1] += 1
        last = number
    return lengths


for place in ("/ext4", "/xfs", "/tmpfs"):
    plain, calls = order("--engine=sync", "*", place + "/big")
    gm.expect(len(plain) == FILES and calls["statx"] < FILES + 20, f"{place}: {len(plain)}, {calls}")
    # How long it waits is not known here; but it costs nothing.
    auto, calls = order("*", place + "/big")
    gm.expect(sorted(auto) == sorted(plain) and calls["statx"] < FILES + 20, f"{place}: auto: {calls}")
    # As if it waited: a buffer, until that is known; a first part; all the rest.
    auto, calls = order("*", place + "/big", env=gm.without("clock"))
    lengths = runs(auto)
    gm.expect(sorted(auto) == sorted(plain) and calls["statx"] < FILES + 20 and calls["fstatfs"] <= 1,
              f"{place}: waiting: {calls}")
    if place == "/ext4":
        gm.expect(len(lengths) <= 3 and lengths[0] < BUFFER and calls["fstatfs"] == 1,
                  f"{place}: waiting: in order: {lengths[:9]}, {calls}")
    if place == "/ext4":
        gm.expect(len(runs(plain)) > 100, "ext4: there was nothing to be put in order")
    for engine in ("auto", "sync", "bulk"):
        ahead, _ = order("--ahead", "--engine=" + engine, "*", place + "/big")
        gm.expect(sorted(ahead) == sorted(plain), f"{place}: {engine}: other entries")
        lengths = runs(ahead)
        gm.expect(len(lengths) == 1 or len(lengths) == 2 and 4096 <= lengths[0] < FIRST, f"{place}: {engine}: in order: {lengths[:5]}")
    # By many threads in portions, each in order; on XFS, which would have one wait for the
    # other, as by one.
    for args, env in ((["--ahead"], None), ([], gm.without("clock"))):
        shared, _ = order(*args, "*", place + "/big", env=env, threads=4)
        gm.expect(sorted(shared) == sorted(plain), f"{place}: {args}: other entries by threads")
        if place == "/xfs":
            gm.expect(len(runs(shared)) <= 2, f"{place}: {args}: divided: {runs(shared)[:9]}")
    calls = gm.getmnt("search", "--threads=1", "--stats=json", "*", place + "/big").stats()["calls"]
    gm.expect(calls["statx"] < 20, f"{place}: names alone: {calls}")
gm.done()
