# SPDX-License-Identifier: MIT
"""search --usage counts as du does: random trees with files of several links, sparse files, symlinks
and other mounts.  In which directory a file with several links counts is checked by a model: in the
first of those where it is, in the order of the rows."""
import json
import os
import random
import stat

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need("du", "mkfs.ext4", "mkfs.xfs")
gm.need_fs("xfs")
TREES, ENTRIES = 12, 300
root = gm.Root()
gm.install("du", root.path)
gm.tmpfs(root / "tmpfs", "size=500m")
gm.loop_mount(gm.image(root / "tmpfs/ext4.img", 64 << 20, "mkfs.ext4", "-q"), gm.mkdir(root / "ext4"))
gm.loop_mount(gm.image(root / "tmpfs/xfs.img", 400 << 20, "mkfs.xfs", "-q"), gm.mkdir(root / "xfs"))
root.enter()


def build(top, rng, links):
    """A random tree.  @links  Where files of several links are: "none", "near" (in one directory), "far"."""
    gm.mkdir(top)
    dirs, files = [top], []
    for i in range(ENTRIES):
        where = rng.choice(dirs)
        path = f"{where}/{rng.choice(('n', ' ', '.', 'é', '-', 'sub'))}{i}"
        kind = rng.randrange(10)
        if kind < 2:
            os.mkdir(path)
            dirs.append(path)
        elif kind < 3:
            os.symlink("x" * rng.choice((1, 200)), path)
        elif kind < 5 and links != "none" and files:
            near = [file for file in files if links == "far" or os.path.dirname(file) == where]
            if near:
                os.link(rng.choice(near), path)
        else:
            with open(path, "wb") as file:
                if rng.randrange(3) == 0:
                    file.truncate(rng.randrange(1 << 34))
                file.write(b"x" * rng.choice((0, 1, 5000, 70000)))
            os.chown(path, rng.randrange(3), rng.randrange(3))
            files.append(path)
    return dirs


def rows(*args, status=0):
    """What is printed: size by the rest of the line."""
    result = gm.getmnt("search", "--usage", "-b", "-0", *args)
    gm.expect(result.status == status, f"{args}: status {result.status}, {result.err[-300:]}")
    lines = [line.split(b"\t", 1) for line in result.out.split(b"\0")[:-1]]
    gm.expect(len(dict((path, 0) for _, path in lines)) == len(lines), f"{args}: a path twice")
    return {os.fsdecode(path): int(size) for size, path in lines}


def du(*args):
    result = gm.getmnt("-0", "-B1", *args, program="/bin/du")
    gm.expect(result.status == 0, f"du {args}: {result.err[-300:]}")
    return {os.fsdecode(path): int(size) for size, path in (line.split(b"\t", 1) for line in result.out.split(b"\0")[:-1])}


def apparent(*args):
    """du since 9.2: directories have no size."""
    sizes = du("--apparent-size", *args)
    for path in sizes:
        sizes[path] -= sum(os.lstat(below).st_size for below, _, _ in os.walk(path))
    return sizes


def order(path):
    """The key of a row: a directory after those in it."""
    return [(0, os.fsencode(name)) for name in path.split("/")] + [(1, b"")]


def model(top, depth, key=lambda st: None):
    """Rows by (directory, key)."""
    seen, parts, sums = {}, [], {}
    for where, _, names in os.walk(top):
        for name in [""] + names + [name for name in os.listdir(where) if name not in names]:
            path = os.path.join(where, name) if name else where
            st = os.lstat(path)
            if stat.S_ISDIR(st.st_mode) and name:
                continue
            row = "/".join(where.split("/")[:len(top.split("/")) + depth])
            if st.st_nlink > 1 and not stat.S_ISDIR(st.st_mode):
                seen.setdefault((st.st_dev, st.st_ino), []).append((order(row), row, st))
            else:
                parts.append((row, st))
    parts += [min(places, key=lambda place: place[0])[1:] for places in seen.values()]
    for row, st in parts:
        while True:
            sums[row, key(st)] = sums.get((row, key(st)), 0) + st.st_blocks * 512
            if row == top:
                break
            row = os.path.dirname(row)
    return sums


for number in range(TREES):
    place = ("/tmpfs", "/ext4", "/xfs")[number % 3]
    links = ("none", "near", "far")[number // 3 % 3]
    top = f"{place}/t{number}"
    rng = random.Random(number)
    dirs = build(top, rng, links)
    os.sync()
    for depth in (0, 1, 2, 9):
        for args in (["--threads=1"], ["--threads=4"], ["--engine=bulk"], ["--ahead", "--threads=3"]):
            tag = f"{top}, {links}, {depth} {args}"
            got, want = rows(f"--usage={depth}", *args, "*", top), du(f"-d{depth}", top)
            gm.expect(got.keys() == want.keys() and got[top] == want[top], f"{tag}: {got} {want}")
            gm.expect(links == "far" or got == want, f"{tag}: {got} {want}")
            sums = {path: size for (path, _), size in model(top, depth).items()}
            gm.expect(got == sums, f"{tag}: the model: {got} {sums}")
            gm.expect(list(got) == sorted(got, key=order), f"{tag}: the order: {list(got)}")
        if links != "far":
            got, want = rows(f"--usage={depth}", "--apparent-size", "*", top), apparent(f"-d{depth}", top)
            gm.expect(got == want, f"{top} {depth}, apparent: {got} {want}")
    for by, key in (("user", lambda st: str(st.st_uid)), ("group", lambda st: str(st.st_gid)),
                    ("type", lambda st: "d" if stat.S_ISDIR(st.st_mode) else "l" if stat.S_ISLNK(st.st_mode) else "f")):
        got = rows(f"--usage-by={by}", "--usage=1", "--threads=2", "*", top)
        want = {f"{name}\t{path}": size for (path, name), size in model(top, 1, key).items()}
        names = {"root": "0", "daemon": "1", "bin": "2", "sys": "3"}
        got = {"\t".join((names.get(line.split("\t")[0], line.split("\t")[0]), line.split("\t", 1)[1])): size
               for line, size in got.items()}
        gm.expect(got == want, f"{top} by {by}: {got} {want}")
    # Several roots: a file with links in both counts in the first.
    pair = [path for path in dirs if os.path.dirname(path) == top][:2]
    got, want = rows("*", *pair), du("-s", *pair)
    gm.expect(got == want, f"{pair}: {got} {want}")
    # Only what matches: without the root, and of one type.
    lines = gm.getmnt("search", "-0", "-o", "INO,BLOCKS,TYPE,PATH", "sub*", top).out.split(b"\0")[:-1]
    for types in ("bcdflps", "f"):
        blocks = {ino if kind != b"d" else path: int(size) for ino, size, kind, path in (line.split(b"\t", 3) for line in lines)
                  if kind.decode() in types}
        got = rows(f"--type={types}", "sub*", top)
        gm.expect(got == {top: 512 * sum(blocks.values())}, f"{top} {types}: {got} {blocks}")

# Long paths, which are not lines; a link back, with which everything counts once.
deep = "/tmpfs/deep"
gm.mkdir(deep)
here = os.open(deep, os.O_PATH)
for i in range(30):
    name = f"{i}" + "x" * 200
    os.mkdir(name, dir_fd=here)
    here = os.open(name, os.O_PATH, dir_fd=here)
    with open(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w", encoding="ascii") as f:
        f.write("x" * 5000)
    os.link("file", "again", src_dir_fd=here, dst_dir_fd=here)
os.link("again", "/tmpfs/other", src_dir_fd=here)
for depth in (0, 3, 12):
    got, want = rows(f"--usage={depth}", "*", deep), du(f"-d{depth}", deep)
    gm.expect(got == want, f"{deep}: {got} {want}")
# du does not count links that lead nowhere.
links = [os.path.join(where, name) for top in ("/ext4/t1", "/xfs/t2") for where, _, names in os.walk(top) for name in names]
dangling = sum(os.lstat(path).st_blocks * 512 for path in links if os.path.islink(path))
os.symlink("/xfs/t2", "/ext4/t1/link")
os.symlink("/xfs/t2", "/ext4/t1/again")
got = rows("-L", "*", "/ext4/t1")
result = gm.getmnt("-0", "-B1", "-sL", "/ext4/t1", program="/bin/du")
gm.expect(dangling and got["/ext4/t1"] == int(result.out.split(b"\t")[0]) + dangling, f"-L: {got}, {dangling}, {result.out}")

# Other mounts: counted, or neither they nor their roots.
gm.mkdir("/tmpfs/m/mount")
gm.touch("/tmpfs/m/file", "x" * 9000)
gm.mkdir("/tmpfs/m/bind")
gm.tmpfs("/tmpfs/m/mount", "size=1m")
gm.touch("/tmpfs/m/mount/file", "x" * 7000)
for args, ours in ((["-x"], ["--xdev"]), ([], [])):
    got, want = rows("--usage=2", *ours, "*", "/tmpfs/m"), du("-d2", *args, "/tmpfs/m")
    gm.expect(got == want, f"{ours}: {got} {want}")
got, want = rows("--xdev", "*", "/tmpfs/m/mount"), du("-sx", "/tmpfs/m/mount")
gm.expect(got == want, f"--xdev, a mount as the root: {got} {want}")
gm.bind("/ext4", "/tmpfs/m/bind")
gm.expect(rows("--xdev", "*", "/tmpfs/m") == du("-sx", "/tmpfs/m"), "--xdev, a bind")

# Errors are reported, and the rest is counted.
result = gm.getmnt("search", "--usage", "--json", "*", "/tmpfs/m", "/none", "/tmpfs/m/file")
got = json.loads(result.out)
gm.expect(result.status == 1 and [entry.get("path") for entry in got["entries"]] == ["/none", "/tmpfs/m", "/tmpfs/m/file"]
          and got["entries"][2]["size"] == du("/tmpfs/m/file")["/tmpfs/m/file"]
          and got["entries"][1]["size"] == du("-s", "/tmpfs/m")["/tmpfs/m"] and not got["complete"], f"errors: {result.out}")
gm.done()
