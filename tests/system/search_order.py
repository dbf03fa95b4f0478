# SPDX-License-Identifier: MIT
"""The order in which getmnt search asks for attributes: by itself, that of inode
numbers in large directories of ext4, where the directory's own is that of a hash;
elsewhere as it comes, and with --ahead everywhere."""
import gm

gm.need("mkfs.ext4", "mkfs.xfs")
gm.need_fs("xfs")
FILES = 12000
root = gm.Root()
gm.tmpfs(root / "tmpfs", "size=200m")
gm.loop_mount(gm.image(root / "tmpfs/ext4.img", 64 << 20, "mkfs.ext4", "-q", "-N", "20000"), gm.mkdir(root / "ext4"))
gm.loop_mount(gm.image(root / "tmpfs/xfs.img", 400 << 20, "mkfs.xfs", "-q"), gm.mkdir(root / "xfs"))
root.enter()
for place in ("/ext4", "/xfs", "/tmpfs"):
    gm.mkdir(f"{place}/big")
    for i in range(FILES):
        gm.touch(f"{place}/big/{i * 2654435761 % (1 << 32):x}")


def order(*args):
    """Inode numbers as they come out, and the kernel calls."""
    result = gm.getmnt("search", "-o", "INO", "--threads=1", "--stats=json", *args)
    gm.expect(result.status == 0, f"{args}: status {result.status}, {result.err[-300:]}")
    return [int(line) for line in result.out.split()], result.stats()["calls"]


def sorted_from(numbers):
    """Where the part begins that is in order to the end."""
    at = len(numbers) - 1
    while at > 0 and numbers[at - 1] < numbers[at]:
        at -= 1
    return at


for place in ("/ext4", "/xfs", "/tmpfs"):
    plain, calls = order("--engine=sync", "*", place + "/big")
    gm.expect(len(plain) == FILES and calls["statx"] < FILES + 20 and calls["fstatfs"] == 0,
              f"{place}: {len(plain)}, {calls}")
    ahead, _ = order("--ahead", "*", place + "/big")
    gm.expect(sorted(plain) == ahead, f"{place}: not in order: {sorted_from(ahead)}")
    auto, calls = order("*", place + "/big")
    gm.expect(sorted(auto) == ahead, f"{place}: auto finds other entries")
    gm.expect(calls["statx"] < FILES + 20, f"{place}: {calls}")
    if place == "/ext4":
        gm.expect(sorted_from(plain) > FILES / 2, "ext4: there was nothing to be put in order")
        gm.expect(4096 <= sorted_from(auto) < 8192, f"ext4: in order from {sorted_from(auto)} on")
        gm.expect(calls["fstatfs"] == 1, f"ext4: {calls}")
    else:
        gm.expect(auto == plain, f"{place}: auto has another order")
    # Of what is not looked at, no order is asked for.
    calls = gm.getmnt("search", "--threads=1", "--stats=json", "*", place + "/big").stats()["calls"]
    gm.expect(calls["fstatfs"] == 0 and calls["statx"] < 20, f"{place}: names alone: {calls}")
gm.done()
