#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mount hierarchies to measure discovery on, built in a private mount namespace.

Each builder makes a tree below a directory and mounts what belongs there.
They are deterministic: the same sizes and seed give the same tree.
"""
import ctypes
import os
import random

_libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18


def mount(source, target, fstype, flags=0, data=None):
    """mount(2)."""
    def enc(text):
        return os.fsencode(text) if text is not None else None
    if _libc.mount(enc(source), enc(target), enc(fstype), ctypes.c_ulong(flags), enc(data)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def private_namespace():
    """Enter a mount namespace of our own (CLONE_NEWNS)."""
    if _libc.unshare(0x00020000) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)


def grow(top, dirs, files, rng, fanout=8, depth=9):
    """A tree of about `dirs` directories with `files` files a directory,
    shaped as a system's: wide at some places, deep at others."""
    made = [top]
    levels = {top: 0}
    count = 0
    while count < dirs:
        # Prefer young directories: gives depth; a few old ones: gives width.
        parent = made[rng.randrange(max(0, len(made) - 400), len(made))] if rng.random() < 0.7 \
            else made[rng.randrange(len(made))]
        if levels[parent] >= depth:
            continue
        for _ in range(rng.randint(1, fanout)):
            path = f"{parent}/{rng.getrandbits(32):08x}"
            try:
                os.mkdir(path)
            except FileExistsError:
                continue
            made.append(path)
            levels[path] = levels[parent] + 1
            count += 1
            for i in range(files):
                os.close(os.open(f"{path}/f{i}", os.O_CREAT | os.O_WRONLY, 0o644))
            if count >= dirs:
                break
    return made


def figure4(top, dirs=170000, files=0, mounts=34, seed=4):
    """Smith's Figure 4 at the size of today: file systems near the root, some
    with file systems below them, in a large root."""
    rng = random.Random(seed)
    for name in ("usr", "var", "home", "opt", "etc", "srv"):
        os.mkdir(f"{top}/{name}")
        grow(f"{top}/{name}", dirs // 6, files, rng)
    names = ["tmp", "proj", "usr/src", "usr/spool", "var/log", "var/tmp", "home/a", "home/b"]
    points = []
    for i in range(mounts):
        if i < len(names):
            point = f"{top}/{names[i]}"
        elif i % 3 == 0 and points:
            point = f"{points[rng.randrange(len(points))]}/m{i}"
        else:
            point = f"{top}/srv/n{i}"
        os.makedirs(point, exist_ok=True)
        mount("tmpfs", point, "tmpfs", 0, "size=1m")
        points.append(point)


def container_host(top, dirs=20000, overlays=500, tmpfs=500, seed=5):
    """A container host: overlays at depth 6, secrets on tmpfs at depth 8."""
    rng = random.Random(seed)
    for name in ("usr", "etc", "opt", "home", "srv"):
        os.mkdir(f"{top}/{name}")
        grow(f"{top}/{name}", dirs // 5, 2, rng)
    os.makedirs(f"{top}/var/cache")
    grow(f"{top}/var/cache", dirs // 10, 2, rng)
    store = f"{top}/var/lib/containers/storage/overlay"
    os.makedirs(store)
    lower = f"{store}/base/diff"
    os.makedirs(lower)
    grow(lower, 50, 1, rng)
    for i in range(overlays):
        home = f"{store}/{rng.getrandbits(64):016x}"
        for name in ("diff", "work", "merged"):
            os.makedirs(f"{home}/{name}")
        mount("overlay", f"{home}/merged", "overlay", 0,
              f"lowerdir={lower},upperdir={home}/diff,workdir={home}/work")
    pods = f"{top}/var/lib/kubelet/pods"
    for i in range(tmpfs):
        pod = f"{pods}/{rng.getrandbits(64):016x}"
        for name in ("containers/app", "etc-hosts.d", "plugins", "volumes/projected/token"):
            os.makedirs(f"{pod}/{name}")
        mount("tmpfs", f"{pod}/volumes/projected/token", "tmpfs", 0, "size=64k")


def deep(top, files=300000, per_dir=10, seed=6):
    """One mount 12 levels down in an INTERNAL file system of many files."""
    rng = random.Random(seed)
    made = grow(top, files // per_dir, per_dir, rng, depth=14)
    path = top
    for level in range(11):
        path += f"/level{level}"
        os.mkdir(path)
    point = f"{path}/mount"
    os.mkdir(point)
    mount("tmpfs", point, "tmpfs", 0, "size=1m")
    return made


def flat(top, mounts):
    """Many mounts side by side."""
    for i in range(mounts):
        point = f"{top}/{i:06d}"
        os.mkdir(point)
        mount("tmpfs", point, "tmpfs", 0, "size=64k")


BUILDERS = {"figure4": figure4, "container": container_host, "deep": deep}
