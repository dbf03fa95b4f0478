# SPDX-License-Identifier: MIT
"""J. M. Smith's three algorithms (CUCS-323-88) on the machines of
study_systems, by counting: no file system is touched.

All three begin at the root knowing, from the kernel's table of mounts, which
file system is mounted on which one, and no name.  A directory is opened, read,
and each entry but "." and ".." is asked for by stat(2): whether it is a
directory stands nowhere else in 1988, and that it is a mount point is seen by
its device number.

    getmnt1   depth-first, everything, to exhaustion
    getmnt2   depth-first; a LEAF, on which nothing is mounted, is not entered;
              to exhaustion
    getmnt3   breadth-first; a file system is a LEAF as soon as nothing missing is
              mounted on it, and then nothing more of it is read; the end is when
              nothing is missing at all

What "missing" is can be read in two ways.  In getmnt3() a mounted file system
is missing until it is found, as in getmnt itself.  In getmnt3_whole() it is
until all below it are found too: found LEAVES alone are taken out of the tree,
and the end is when its root is one.
"""
from collections import deque

ENTRY = 16           # bytes of a name in a directory of System V: 2 and 14
BLOCK = 1024         # bytes that are read at once
PER_READ = BLOCK // ENTRY


class Count:
    """What a run did: directories, calls, and mount points found.  A read of a
    directory's end, which gives nothing, is a read; a close is an open again,
    and not counted."""
    __slots__ = ("dirs", "stat", "read", "found")

    def __init__(self):
        self.dirs = self.stat = self.read = self.found = 0

    @property
    def open(self):
        """Directories are opened once each."""
        return self.dirs

    @property
    def calls(self):
        """All of them."""
        return self.open + self.stat + self.read

    def whole(self, entries):
        """A directory that is read to its end."""
        self.dirs += 1
        self.stat += entries
        self.read += -(-(entries + 2) // PER_READ) + 1

    def part(self, entries):
        """A directory that is read up to this entry."""
        self.dirs += 1
        self.stat += entries
        self.read += -(-(entries + 2) // PER_READ)


def exhaust(system, leaves):
    """getmnt1, and without leaves getmnt2."""
    count = Count()
    stack = [system.file_systems[0].root]
    while stack:
        at = stack.pop()
        count.whole(at.entries)
        for _, kid in at.kids:
            if kid.over is None:
                stack.append(kid)
                continue
            count.found += 1
            if leaves or not kid.over.leaf:
                stack.append(kid.over.root)
    return count


def getmnt1(system):
    """Depth-first, everything."""
    return exhaust(system, True)


def getmnt2(system):
    """Depth-first, without LEAF file systems."""
    return exhaust(system, False)


def breadth_first(system, whole):
    """getmnt3, with what is missing read in one way or the other.

    What waits is taken in the order in which it was found, but of one directory
    the mount points behind all other directories: they are known to be on
    another file system before they are opened."""
    count = Count()
    missing = {fs: len(fs.mounts) for fs in system.file_systems}
    left = len(system.file_systems) - 1
    queue = deque([(system.file_systems[0], system.file_systems[0].root)])
    while queue and left:
        fs, at = queue.popleft()
        if not missing[fs]:
            continue
        dirs, mounts, last = [], [], None
        for place, kid in at.kids:
            if kid.over is None:
                dirs.append((fs, kid))
                continue
            count.found += 1
            left -= 1
            if missing[kid.over]:
                mounts.append((kid.over, kid.over.root))
            if not whole:
                missing[fs] -= 1
            elif not missing[kid.over]:
                take_out(missing, fs)
            if not missing[fs]:
                last, dirs = place, []
                break
        if last is None:
            count.whole(at.entries)
        else:
            count.part(last + 1)
        queue.extend(dirs)
        queue.extend(mounts)
    return count


def take_out(missing, fs):
    """A LEAF on this file system was found; and so on, up to the root."""
    missing[fs] -= 1
    while not missing[fs] and fs.on is not None:
        fs = fs.on
        missing[fs] -= 1


def getmnt3(system):
    """Breadth-first, in a tree that shrinks."""
    return breadth_first(system, False)


def getmnt3_whole(system):
    """The same, in a tree that only found LEAVES are taken out of."""
    return breadth_first(system, True)


ALGORITHMS = {"getmnt1": getmnt1, "getmnt2": getmnt2, "getmnt3": getmnt3}
