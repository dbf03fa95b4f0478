#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""index_tree.py [--files N] [--like DIR] TO: fill the directory TO with N files whose names, sizes,
times and numbers per directory are distributed as below DIR (default: /), for bench/study_index.py.

The tree of DIR is copied as often as necessary, without its contents: files are sparse.  A name that
DIR has once is changed in each copy; one that it has several times stays, so that frequent names
stay frequent.  Times move by up to 3 years; owners are 300 users, a few of whom own most.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import collections
import multiprocessing
import os
import random
import stat

SKIP = ("/proc", "/sys", "/dev", "/run", "/tmp")
USERS = 300
MOST_SIZE = 1 << 30


def read(top, most):
    """[(path below top, [(name, size, mtime)])], of directories on the file system of top."""
    dirs = []
    device = os.lstat(top).st_dev
    waiting = collections.deque([""])
    count = 0
    while waiting and count < most:
        below = waiting.popleft()
        files = []
        try:
            entries = list(os.scandir(f"{top.rstrip('/')}/{below}"))
        except OSError:
            continue
        for entry in entries:
            path = f"{below}/{entry.name}".lstrip("/")
            try:
                st = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(st.st_mode):
                if st.st_dev == device and f"{top.rstrip('/')}/{path}" not in SKIP:
                    waiting.append(path)
            else:
                files.append((entry.name, min(st.st_size, MOST_SIZE), int(st.st_mtime)))
        dirs.append((below, files))
        count += 1 + len(files)
    return dirs


def copy(job):
    """Make a copy of the tree, of at most `files` objects."""
    top, number, files = job
    rng = random.Random(number)
    weights = [1 / (i + 1) for i in range(USERS)]
    owners = {}
    made = 0
    for below, content in SAMPLE:
        if made >= files:
            break
        part = "/".join(below.split("/")[:2])
        if part not in owners:
            owners[part] = 10000 + rng.choices(range(USERS), weights)[0]
        owner = owners[part]
        path = f"{top}/copy{number:03}/{below}"
        os.makedirs(path, exist_ok=True)
        made += 1
        fd = os.open(path, os.O_PATH)
        shift = rng.randrange(3 * 365 * 86400)
        for name, size, mtime in content[:files - made]:
            if NAMES[name] == 1:
                stem, dot, extension = name.rpartition(".")
                if not stem:
                    stem, dot, extension = name, "", ""
                name = f"{stem[:180]}{rng.randrange(1 << 30):x}{dot}{extension}"[-250:]
            try:
                file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=fd)
            except OSError:
                continue
            size = int(size * rng.uniform(0.5, 2))
            if size:
                os.ftruncate(file, size)
            os.fchown(file, owner, owner % 50 + 20000)
            time = max(mtime - shift - rng.randrange(86400), 1)
            os.utime(file, ns=(time * 10 ** 9, time * 10 ** 9 + rng.randrange(10 ** 9)))
            os.close(file)
            made += 1
        os.close(fd)
        os.chown(path, owner, owner % 50 + 20000)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=1000000, help="objects to make (1,000,000)")
    parser.add_argument("--like", default="/", help="the tree that is copied (/)")
    parser.add_argument("to", help="an existing directory")
    args = parser.parse_args()
    global SAMPLE, NAMES
    SAMPLE = read(args.like, args.files)
    NAMES = collections.Counter(name for _, files in SAMPLE for name, _, _ in files)
    each = sum(1 + len(files) for _, files in SAMPLE)
    jobs = [(args.to, i, min(each, args.files - i * each))
            for i in range((args.files + each - 1) // each)]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        made = sum(pool.imap_unordered(copy, jobs))
    print(f"{args.to}: {made} objects, like {each} of {args.like}")


if __name__ == "__main__":
    main()
