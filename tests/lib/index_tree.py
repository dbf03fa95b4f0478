# SPDX-License-Identifier: MIT
"""Random changes of a tree, and an index compared with it, for index_update.py and index_watch.py."""
import json
import os
import shutil
import stat

import gm


KINDS = ("ext4", "xfs", "btrfs")


def mount_kinds(root, mib):
    """Mount an empty file system of each kind at /t/KIND below root."""
    gm.mkdir(root / "img")
    for kind in KINDS:
        gm.loop_mount(gm.image(root / f"img/{kind}", mib << 20, f"mkfs.{kind}", "-q"), root / f"t/{kind}")
    os.rmdir(root / "t/ext4/lost+found")


def write(path, mode, text):
    """Write a file, unless it is a FIFO or anything else that is not one."""
    if not os.path.lexists(path) or stat.S_ISREG(os.lstat(path).st_mode):
        with open(path, mode, encoding="ascii") as f:
            f.write(text)


class Tree:
    """A tree that is changed at random."""

    def __init__(self, top, rnd):
        self.top, self.rnd, self.count, self.dirs, self.files = top, rnd, 0, [top], []

    def look(self):
        """Find what there is."""
        self.dirs, self.files = [self.top], []
        for path, dirs, files in os.walk(self.top):
            self.dirs += [os.path.join(path, name) for name in dirs if not os.path.islink(os.path.join(path, name))]
            self.files += [os.path.join(path, name) for name in files]

    def place(self):
        """A place, often one that exists."""
        self.count += 1
        name = self.rnd.choice(["a", "b", "c", "foo", f"n{self.count % 7}", f"x{self.count}"])
        return os.path.join(self.rnd.choice(self.dirs), name)

    def change(self, in_place=True):
        """One change, which may fail."""
        rnd, place = self.rnd, self.place()
        file, dir = rnd.choice(self.files or [self.top]), rnd.choice(self.dirs)
        kind = rnd.randrange(15)
        if dir == self.top and kind in (7, 8, 9, 10):
            return
        try:
            if kind <= 2:
                write(place, "w", "z" * rnd.randrange(9000))
                self.files.append(place)
            elif kind <= 4:
                os.mkdir(place)
                self.dirs.append(place)
                if rnd.random() < .5:   # a file or directory with the name of its directory
                    os.mkdir(os.path.join(place, os.path.basename(place)))
                    gm.touch(os.path.join(place, "in"))
            elif kind == 5:
                os.unlink(file)
            elif kind == 6:
                os.rename(file, place)
            elif kind <= 8:
                os.rename(dir, place)
                self.dirs.append(place)
            elif kind <= 10 and rnd.random() < .3:
                shutil.rmtree(dir)
                if rnd.random() < .5:
                    gm.touch(dir)
            elif kind == 11:
                os.link(file, place)
            elif kind == 12:
                os.symlink("to", place)
            elif kind == 13:
                os.chmod(rnd.choice([dir, file]) if in_place else dir, rnd.choice([0o700, 0o755, 0o744]))
            elif in_place:
                write(file, "a", "more")
        except OSError:
            pass


TYPES = {stat.S_IFREG: "f", stat.S_IFDIR: "d", stat.S_IFLNK: "l", stat.S_IFIFO: "p"}


def on_disk(top):
    """What is below a directory: path --> attributes."""
    paths, rows = [top], {}
    for path, dirs, files in os.walk(top):
        paths += [os.path.join(path, name) for name in dirs + files]
    for path in paths:
        st = os.lstat(path)
        rows[path] = (TYPES[stat.S_IFMT(st.st_mode)], st.st_mode & 0o7777, st.st_uid, st.st_gid, st.st_size, st.st_nlink, st.st_ino,
                      st.st_mtime_ns, st.st_ctime_ns)
    return rows


def nanoseconds(number):
    """A time of JSON, exactly."""
    return int(number.replace(".", ""))


def in_index(top, *options):
    """What an index has below a mount point: path --> attributes, and the paths that it has twice."""
    result = gm.getmnt("index", "export", "--jsonl", *options, top)
    gm.expect(result.status == 0, f"export: {result}")
    rows, twice = {}, []
    for line in result.out.decode().splitlines():
        row = json.loads(line, parse_float=str)
        twice += [row["path"]] if row["path"] in rows else []
        rows[row["path"]] = (row["type"], int(row["mode"], 8), row["uid"], row["gid"], row["size"], row["nlink"], row["ino"],
                             nanoseconds(row["mtime"]), nanoseconds(row["ctime"]))
    return rows, twice


def differences(top, *options):
    """How an index differs from the tree; []: not at all."""
    indexed, twice = in_index(top, *options)
    seen = on_disk(top)
    return [("twice", path) for path in twice] + [
        (path, "index:", indexed.get(path), "disk:", seen.get(path))
        for path in sorted(indexed.keys() | seen.keys()) if indexed.get(path) != seen.get(path)]
