# SPDX-License-Identifier: MIT
"""A large directory: threads share the reading of attributes, and find the same as one thread."""
import os
import re

import gm

gm.need("strace")
FILES, DIRS, PORTION = 10000, 300, 2048
root = gm.Root()
gm.tmpfs(root / "t", "nr_inodes=0,size=1g")
gm.install("strace", root.path)
root.enter()
gm.mkdir("/t/big")
for i in range(FILES):
    gm.touch(f"/t/big/{i:x}")
for i in range(DIRS):
    gm.mkdir(f"/t/big/dir{i}")
    gm.touch(f"/t/big/dir{i}/below", "x" * i)
os.symlink("dir7", "/t/big/link")
os.symlink("nothing", "/t/big/dangling")
entries = FILES + 2 * DIRS + 3


def search(*args, **more):
    result = gm.getmnt("search", "*", "/t", "--stats=json", *args, **more)
    gm.expect(result.status == 0, f"{args}: status {result.status}, {result.err[-300:]}")
    return sorted(result.out.split(b"\n")[:-1]), result.stats()


for columns in (("-o", "SIZE,TYPE,INO,PATH"), ("-L", "-m", "-0"), ("--format=jsonl", "--type=f,l", "-m")):
    plain, _ = search("--threads=1", "--engine=sync", *columns)
    for engine in ("sync", "auto"):
        for threads in ("2", "8"):
            for env in (None, gm.without("clock")):
                for files in (None, 64):
                    got, stats = search(f"--engine={engine}", f"--threads={threads}", *columns, env=env, nofile=files)
                    tag = f"{columns} {engine} {threads} {env} {files}"
                    gm.expect(got == plain, f"{tag}: {len(got)} lines, not {len(plain)}")
                    gm.expect(stats["calls"]["statx"] >= FILES,
                              f"{tag}: {stats['calls']['statx']} statx")

# --sort orders the whole directory.
for key, columns in (("name", ("-o", "SIZE,NAME")), ("name", ("-m",)), ("inode", ("-o", "SIZE,INO"))):
    for engine in ("sync", "auto"):
        for threads in ("2", "8"):
            result = gm.getmnt("search", "/*", "/t/big", f"--sort={key}", f"--engine={engine}", f"--threads={threads}", *columns)
            got = [line.split(b"\t")[-1] for line in result.out.split(b"\n")[:-1]]
            expected = sorted(got, key=int if key == "inode" else None)
            gm.expect(result.status == 0 and len(got) == FILES + DIRS + 2 and got == expected,
                      f"{key} {engine} {threads} {columns}: status {result.status}, {len(got)} lines, not in order")

# For names alone no attributes are read.
_, stats = search("--threads=2")
gm.expect(stats["entries"] == entries and stats["calls"]["statx"] < 100, f"names: {stats}")

# Each thread reads a part, and no entry is read twice.  Which thread reads a portion is the scheduler's choice.
least = 0
for _ in range(20 if not gm.sanitized() else 0):
    result = gm.getmnt("-f", "-o", "/tmp/trace", "-e", "trace=statx", gm.PROGRAM, "search", "--engine=sync",
                       "--threads=3", "-o", "SIZE,PATH", "*", "/t/big", program="/bin/strace")
    gm.expect(result.status == 0, f"strace: {result.status}, {result.err[-300:]}")
    with open("/tmp/trace", encoding="ascii") as f:
        calls = re.findall(r'^(\d+) +statx\(\d+, "([0-9a-f]+)", ', f.read(), re.M)
    names = [name for _, name in calls]
    gm.expect(len(names) == len(set(names)) == FILES, f"{len(names)} calls for {len(set(names))} names")
    parts = sorted(sum(who == pid for who, _ in calls) for pid in {pid for pid, _ in calls})
    least = max(least, *parts[-2:-1], 0)
    if least >= PORTION // 2:
        break
gm.expect(least >= PORTION // 2 or gm.sanitized(), f"no second thread read more than {least}")
gm.done()
