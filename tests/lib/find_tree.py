# SPDX-License-Identifier: MIT
"""Random directory trees for the cases that compare getmnt find with GNU find.

    tree = Tree.random(random.Random(7))
    tree.build(b"/t")       # a tmpfs is mounted there
    tree.commands()         # the same as a shell script

A tree is a list of entries, parents first, so that one without some of its entries can be made
to find the smallest that shows a difference.
"""
import dataclasses
import os
import socket
import stat
import time

import gm

MS_NOATIME = 1024
NS = 10 ** 9
NOBODY = 65534
# Users and groups that have a name, and IDs that have none.
USERS = {b"root": 0, b"daemon": 1, b"nobody": NOBODY, b"4242": 1234}
GROUPS = {b"root": 0, b"adm": 4, b"nogroup": NOBODY, b"77": 1235}
IDS = [0, 0, 0, 1, 4, NOBODY, 1234, 1235, 4242, 77]

NAMES = [b"a", b"b", b"foo", b"Foo", b"bar.c", b"x.h", b"file.txt", b".hidden", b".git", b"with space", b" ",
         b"new\nline", b"tab\t", b"*", b"?", b"[a]", b"a*b", b"back\\slash", b"-dash", b"--", b"!", b"(", b",", b"{}",
         b"caf\xc3\xa9", b"\xff", b"bad\xfe.c", b"dot.", b"dots...", b"...", b"..x", b"~", b"'quote'", b'"', b"$HOME",
         b"%p", b"\x1b[31m", b"\xe2\x82\xac", b"long" * 50, b"A", b"0", b"1.c", b"link", b"sub", b"dir"]
UNITS = [1, 2, 512, 1024, 1 << 20, 1 << 30]
MODES = [0o644, 0o644, 0o755, 0o600, 0o000, 0o4755, 0o2711, 0o1777, 0o7777, 0o222, 0o111, 0o444, 0o640, 0o4644, 0o020]
# Not one that may be read and not entered: GNU find reports other errors there.
DIR_MODES = [0o755, 0o755, 0o755, 0o755, 0o700, 0o000, 0o711, 0o1777, 0o2755, 0o333]


@dataclasses.dataclass(frozen=True)
class Entry:
    path: bytes
    kind: str               # of find's -type; h: a hard link; m: a directory with a mount on it
    size: int = 0
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    atime: int = 0          # in nanoseconds
    mtime: int = 0
    target: bytes = b""     # of a link; of a hard link relative to the top


def random_time(rng, now):
    """A time near a border of -mtime or -mmin, in the future, or long ago."""
    what = rng.random()
    if what < 0.45:
        return now - (rng.choice([0, 1, 1, 2, 3, 7, 30, 365]) * 86400 + rng.choice([-3000, 300, 3000, 40000])) * NS
    if what < 0.8:
        return now - (rng.choice([0, 1, 2, 3, 10, 60]) * 60 + 30) * NS
    if what < 0.9:
        return now + rng.choice([100, 90000, 400000, 10 ** 8]) * NS
    return rng.choice([0, -1, 1, NS, -NS * 3 // 2, 10 ** 18 + 123456789, 2 ** 32 * NS])


class Tree:
    def __init__(self, entries):
        self.entries = entries

    @staticmethod
    def random(rng, now=None, mounts=True):
        now = now or time.time_ns()
        entries, dirs, files, taken, mounted, links = [], [b"top"], [], set(), [], 0
        # In half of the trees no directory is closed, in half no link leads back; in few a link
        # goes through what is not a directory.
        closed, loops, through = rng.random() < 0.5, rng.random() < 0.5, rng.random() < 0.1

        def add(path, kind, **more):
            mode = rng.choice((DIR_MODES if closed else [0o755, 0o777]) if kind in "dm" else MODES)
            entries.append(Entry(path, kind, mode=mode, uid=rng.choice(IDS), gid=rng.choice(IDS),
                                 atime=random_time(rng, now), mtime=random_time(rng, now), **more))
            taken.add(path)

        def mount_of(path):
            return next((top for top in mounted if gm.within(path, top)), None)

        entries.append(Entry(b"top", "d", mode=0o755, mtime=now, atime=now))
        for _ in range(rng.randint(10, 70)):
            parent = rng.choice(dirs)
            path = parent + b"/" + rng.choice(NAMES)
            if path in taken or path.count(b"/") > 6:
                continue
            what = rng.random()
            if what < 0.3:
                add(path, "d")
                dirs.append(path)
            elif what < 0.65:
                size = rng.choice([0, 0, rng.choice(UNITS) * rng.choice([1, 1, 2, 3]) + rng.choice([-1, 0, 1])])
                add(path, "f", size=max(size, 0))
                files.append(path)
            elif what < 0.7:
                same = [file for file in files if mount_of(file) == mount_of(path)]
                if same:
                    entries.append(Entry(path, "h", target=rng.choice(same)))
                    taken.add(path)
            elif what < 0.85:
                up = path.count(b"/") * b"../"
                name = os.path.basename(path)
                somewhere = up + rng.choice(sorted(taken) + [b"top"])
                # Of links to directories there are few: with -L each is entered from each.
                links += 1
                near = [somewhere, somewhere, b"..", b".", name] if links <= 4 and loops else [up + rng.choice(files or [b"ref"])]
                add(path, "l", target=rng.choice(near + [b"nowhere", b"../x/y", up + b"outside", b"/dev/null"] + [up + b"ref/x"] * through))
            elif what < 0.88 and mounts:
                add(path, "m")
                dirs.append(path)
                mounted.insert(0, path)
            else:
                add(path, rng.choice("pscb"))
        entries += [Entry(b"outside", "d", mode=0o755, mtime=now, atime=now), Entry(b"outside/in", "f", mtime=now, atime=now),
                    Entry(b"ref", "f", mtime=now - 86400 * NS, atime=now - 3600 * NS), Entry(b"link", "l", target=b"top"),
                    Entry(b"dangling", "l", target=b"none"), Entry(b"-root", "d", mode=0o755),
                    Entry(b"-root/in", "f")]
        return Tree(entries)

    def build(self, where, mounted=False):
        """Make the tree on a new tmpfs, without access times, so that a search leaves no trace; or
        where something is mounted."""
        if not mounted:
            gm.mount("tree", where, "tmpfs", MS_NOATIME, "size=1g,mode=755")
        at = os.fsencode(where) + b"/"
        for entry in self.entries:
            path = at + entry.path
            if entry.kind in "dm":
                os.mkdir(path)
                if entry.kind == "m":
                    gm.mount("nested", path, "tmpfs", MS_NOATIME, "size=1m")
            elif entry.kind == "f":
                with open(path, "wb") as file:
                    file.truncate(entry.size)
            elif entry.kind == "l":
                os.symlink(entry.target, path)
            elif entry.kind == "h":
                os.link(at + entry.target, path)
            elif entry.kind == "s":
                with socket.socket(socket.AF_UNIX) as unix:
                    here = os.open(os.path.dirname(path), os.O_PATH)
                    # By a descriptor: the address of a socket is short.
                    unix.bind(b"/proc/self/fd/%d/" % here + os.path.basename(path)[:60])
                    os.rename(os.path.basename(path)[:60], os.path.basename(path), src_dir_fd=here, dst_dir_fd=here)
                    os.close(here)
            else:
                kind = {"p": stat.S_IFIFO, "c": stat.S_IFCHR, "b": stat.S_IFBLK}[entry.kind]
                os.mknod(path, kind | 0o600, os.makedev(7, 300) if kind != stat.S_IFIFO else 0)
        for entry in reversed(self.entries):
            if entry.kind != "h":
                path = at + entry.path
                os.chown(path, entry.uid, entry.gid, follow_symlinks=False)
                if entry.kind != "l":
                    os.chmod(path, entry.mode)
                os.utime(path, ns=(entry.atime, entry.mtime), follow_symlinks=False)

    @staticmethod
    def remove(where):
        gm.umount(where, gm.MNT_DETACH)

    def without(self, index):
        """This tree without an entry, what is in it, and hard links to these."""
        gone = self.entries[index].path
        left = [e for e in self.entries if not gm.within(e.path, gone)]
        kept = {e.path for e in left}
        return Tree([e for e in left if e.kind != "h" or e.target in kept])

    def commands(self):
        """The commands that make the tree in an empty directory, as lines."""
        make = {"d": "mkdir {p}", "m": "mkdir {p}; mount -t tmpfs nested {p}", "f": "truncate -s {e.size} {p}",
                "l": "ln -sT -- {t} {p}", "h": "ln -T -- {t} {p}", "p": "mkfifo {p}", "c": "mknod {p} c 7 300",
                "b": "mknod {p} b 7 300", "s": "python3 -c 'import socket, sys; socket.socket(1).bind(sys.argv[1])' {p}"}
        lines, last = [], []
        for e in self.entries:
            p = quote(b"./" + e.path if e.path.startswith(b"-") else e.path)
            lines.append(make[e.kind].format(p=p, t=quote(e.target), e=e))
            if e.kind != "h":
                chmod = "" if e.kind == "l" else f"; chmod {e.mode:o} {p}"
                last.append(f"chown -h {e.uid}:{e.gid} {p}{chmod}; touch -had {seconds(e.atime)} {p}; "
                            f"touch -hmd {seconds(e.mtime)} {p}")
        return lines + last[::-1]


def seconds(ns):
    """A time as touch(1) reads it."""
    return f"@{'-' if ns < 0 else ''}{abs(ns) // NS}.{abs(ns) % NS:09}"


def quote(word):
    """A word as bash reads it."""
    if word and all(c in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=,:%@" for c in word):
        return word.decode()
    if all(32 <= c < 127 for c in word):
        return "'" + word.decode().replace("'", "'\\''") + "'"
    return "$'" + "".join(chr(c) if 32 <= c < 127 and c not in b"'\\" else f"\\x{c:02x}" for c in word) + "'"
