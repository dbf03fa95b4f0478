# SPDX-License-Identifier: MIT
"""Trees of hundreds and thousands of mounts or directories, in every naming mode; with threads."""
import os
import sys

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
STACK = 3000
sys.setrecursionlimit(10000)


def stacks(root):
    """Stacks of 2 and 3,000 mounts, some with mounts in them."""
    for point in ("two", "two/below", "two", "two/above"):
        gm.tmpfs(root / point)
    gm.mkdir(root / "deep/in/here")
    for _ in range(STACK):
        gm.tmpfs(root / "deep/in/here", "size=4k,nr_inodes=10")
    gm.tmpfs(root / "deep/in/here/last")
    # A stack on the root of a mount that is bound elsewhere.
    gm.bind(root / "two", root / "bound")
    gm.tmpfs(root / "bound")
    root.enter()
    points = len({line.point for line in gm.check("stacks")})
    stats = gm.getmnt("-J", "--stats=json").stats()
    gm.expect(stats["calls"]["statx"] <= points + 2, f"{stats['calls']['statx']} statx for {points} points")
    # statmount would walk up the stack three times for each mount, mountinfo once.
    gm.expect(stats["calls"]["statmount"] <= 2049 and stats["table"] == "mountinfo",
              f"{stats['calls']['statmount']} statmount, {stats['table']}")
    for form, most in ((("-J",), 10), (("-J", "-l"), 1), (("-J", "--stacks=nest"), 520)):
        levels, rows = 0, gm.getmnt(*form).rows()
        gm.expect(len(set(gm.ids_of(rows))) >= STACK + points - 1, f"{form}: mounts are missing")
        while rows:
            levels += 1
            rows = [child for row in rows for child in row.get("children", [])]
        gm.expect(levels <= most, f"{form}: {levels} levels")
    out = gm.getmnt("-n", "--stacks=nest", "-o", "TARGET").out.decode()
    widest, count = max(map(len, out.splitlines())), out.count("\n")
    gm.expect(widest < 1200 and count >= STACK, f"a nested tree: {count} lines, {widest} wide")
    result = gm.getmnt("--tree")
    gm.expect(len(result.out) < 100000, f"a tree of {len(result.out)} bytes")


def chain(root):
    """A chain of 400 mounts, each in the one before."""
    path = root / "chain"
    for _ in range(400):
        path = gm.tmpfs(path + "/m", "size=4k,nr_inodes=10")
    root.enter()
    gm.check("chain")


def container_host(root):
    """1,000 bind and overlay mounts at depth 6 to 8, as on a container host."""
    gm.need_fs("overlay")
    root.keep_names()
    images = gm.tmpfs(root / "var/lib/images", "size=256m")
    pods = root / "var/lib/kubelet/pods"
    boxes = root / "var/lib/containers/storage/overlay"
    names = ("hosts", "resolv.conf", "hostname")
    for name in names:
        gm.touch(f"{images}/base/etc/{name}")
        gm.touch(f"{images}/files/{name}")
    for i in range(20):
        for j in range(20):
            gm.mkdir(f"{images}/layers/l{i}/d{j}/etc")
    for i in range(100):
        merged = f"{boxes}/{i:064x}/merged"
        gm.overlay(merged, images + "/base", f"{images}/scratch/{i}")
        for name in names:
            gm.bind(f"{images}/files/{name}", f"{merged}/etc/{name}")
        pod = f"{pods}/{i:036x}/volumes/kubernetes.io~"
        gm.tmpfs(pod + "projected/token", "size=4k")
        for j in range(4):
            gm.bind(f"{images}/layers/l{j}", f"{pod}empty-dir/v{j}")
        gm.bind(f"{images}/layers/l9", f"{pod}subpath/data/x{i % 7}/y")
    root.enter()
    gm.check("container host")
    gm.check("container host, four threads", args=("--threads=4",), nested=False)


def many_files(root):
    """A mount 12 levels down in a file system of 30,000 files."""
    top = gm.tmpfs(root / "data", "size=512m,nr_inodes=100000")
    for i in range(30):
        for j in range(30):
            path = gm.mkdir(f"{top}/a{i}/b{j}/c/d")
            for k in range(32):
                os.close(os.open(f"{path}/f{k}", os.O_CREAT | os.O_WRONLY))
    gm.tmpfs(f"{top}/a17/b21/c/d/" + "/".join(f"l{i}" for i in range(8)))
    root.enter()
    gm.check("12 levels down")
    gm.check("12 levels down, four threads", args=("--threads=4",), nested=False)
    dirs = [gm.getmnt("-J", "--names=walk", "--stats=json", "--threads=1", *more).stats()["dirs"]
            for more in (["--prune=-nlink"], [])]
    gm.expect(dirs[1] <= dirs[0], f"link counts save nothing: {dirs} directories")


gm.each(stacks, chain, container_host, many_files)
