# SPDX-License-Identifier: MIT
"""Forty machines of 1988, for bench/study.py: a root file system and those
mounted on it, near the root or one below another, as a System V machine had
them.

What varies, and between what, stands in PARAMETERS and nowhere else.  It was
written down before the first run and is fitted to no result: no figure of
J. M. Smith's (CUCS-323-88) stands in this file, nor does one of ours.  All is
drawn from a seed, by Random.random() alone, whose numbers are the same in every
version of Python.
"""
import math
import random

SEED = 1988
SYSTEMS = 40

# name: (how it is drawn, least, most, what it is).  "log": evenly on a logarithmic
# scale, so that small ones are as frequent as large ones; "even"; "share": yes
# in so many of the systems; "mean": of an exponential distribution, whose mean
# is drawn evenly for each file system.
PARAMETERS = {
    "mounts": ("log", 3, 40, "file systems mounted, besides the root"),
    # What is mounted, as long as there are so many.  /usr always is.
    "/tmp": ("share", 0.7, None, "a file system of its own"),
    "/usr/spool": ("share", 0.4, None, "a file system of its own"),
    "/usr/src": ("share", 0.4, None, "a file system of its own"),
    "/usr/tmp": ("share", 0.25, None, "a file system of its own"),
    "/usr/local": ("share", 0.25, None, "a file system of its own"),
    "/usr/spool/news": ("share", 0.2, None, "a file system of its own"),
    "/usr/spool/uucp": ("share", 0.1, None, "a file system of its own"),
    # All others are users'.
    "users in /": ("share", 0.6, None, "users' file systems are /a1, /a2, ..."),
    "users in /u": ("share", 0.2, None, "they are /u/a1, ...; else /usr/a1, ..."),
    "one below another": ("share", 0.12, None, "of users' file systems: mounted in an earlier one"),
    "levels down": ("even", 1, 3, "the mount point of such a one, in the earlier one"),
    # Files that are no directories, of each file system.
    "files of /": ("log", 600, 2500, "files, without /dev"),
    "files of /dev": ("log", 100, 600, "device files"),
    "files of /tmp": ("log", 5, 200, "files; of /usr/tmp too"),
    "files of /usr": ("log", 3000, 12000, "files"),
    "files of /usr/spool": ("log", 300, 4000, "files"),
    "files of /usr/src": ("log", 2000, 15000, "files"),
    "files of /usr/local": ("log", 200, 3000, "files"),
    "files of /usr/spool/news": ("log", 2000, 15000, "files"),
    "files of /usr/spool/uucp": ("log", 50, 500, "files"),
    "files of users": ("log", 500, 12000, "files, of each users' file system"),
    # How they lie.
    "files in a directory": ("mean", 5, 20, "files in one directory"),
    "deepest": ("even", 4, 10, "levels of directories below the root of a file system"),
    "at the top": ("even", 0.0, 0.3, "share of directories made in the root of their file system"),
    "in what is new": ("even", 0.0, 0.6, "share made in one of the 20 directories made last; "
                       "all others in any one, with even chance"),
}

# What each file system has whatever is drawn; in it are the other directories
# of it made as well, but not in lost+found.
STANDARD = {
    "/": ("bin", "dev", "dev/dsk", "dev/rdsk", "etc", "etc/init.d", "etc/rc.d", "lib", "lost+found",
          "install", "mnt", "save", "shlib", "bck"),
    "/usr": ("adm", "bin", "include", "include/sys", "lib", "lib/acct", "lib/spell", "lib/terminfo",
             "lib/uucp", "local", "lost+found", "mail", "man", "news", "spool", "spool/cron",
             "spool/lp", "spool/news", "spool/uucp", "src", "tmp"),
    "/usr/spool": ("cron", "lost+found", "lp", "news", "uucp"),
    "/usr/src": ("cmd", "head", "lib", "lost+found", "uts"),
}
ALWAYS = ("lost+found",)
NO_PARENT = {"lost+found", "dev", "dsk", "rdsk"}


class Directory:
    """A directory: so many files, and directories at their places among them,
    by rising place.  One that is a mount point has the file system on it in
    `over`, and is empty below."""
    __slots__ = ("name", "files", "kids", "over")

    def __init__(self, name):
        self.name, self.files, self.kids, self.over = name, 0, [], None

    @property
    def entries(self):
        """Names in it, without "." and ".."."""
        return self.files + len(self.kids)


class FileSystem:
    """One: its root directory, where it is mounted, and what is mounted on it."""

    def __init__(self, path, role):
        self.path, self.role = path, role
        self.root, self.on, self.mounts = Directory(""), None, []
        self.by_path, self.made = {}, []     # of the directories in it
        self.dirs = self.files = 0

    @property
    def leaf(self):
        """Whether nothing is mounted on it."""
        return not self.mounts


class System:
    """One machine: its file systems, the root first, each behind the one that
    it is mounted on."""

    def __init__(self, number, seed=SEED):
        self.number, self.seed = number, seed
        self.rng = random.Random(seed * 1000 + number)
        self.file_systems, self.planned = [], {}
        self.grow_all()

    # Draws.

    def even(self, least, most):
        """A number of [least, most], with even chance; whole if they are."""
        if isinstance(least, int):
            return least + int(self.rng.random() * (most - least + 1))
        return least + self.rng.random() * (most - least)

    def draw(self, name):
        """A value of a parameter."""
        how, least, most, _ = PARAMETERS[name]
        if how == "share":
            return self.rng.random() < least
        if how == "log":
            return int(round(math.exp(self.even(math.log(least), math.log(most)))))
        return self.even(least, most)

    # File systems.

    def at(self, path):
        """The file system that a path lies in, and the path in it."""
        fs = max((fs for fs in self.file_systems
                  if fs.path == "/" or path == fs.path or path.startswith(fs.path + "/")),
                 key=lambda fs: len(fs.path))
        return fs, path[len(fs.path):].strip("/")

    def directory(self, fs, path, levels):
        """A directory of a file system, made if it is not there."""
        if path in fs.by_path:
            return fs.by_path[path]
        parent, _, name = path.rpartition("/")
        above = self.directory(fs, parent, levels)
        made = Directory(name)
        above.kids.append((0, made))
        fs.by_path[path] = made
        levels[path] = levels[parent] + 1
        fs.dirs += 1
        return made

    def mount(self, path, role):
        """Mount a file system and fill it."""
        on, inside = self.at(path) if self.file_systems else (None, "")
        fs = FileSystem(path, role)
        if on:
            levels = {name: name.count("/") + 1 if name else 0 for name in on.by_path}
            point = self.directory(on, inside, levels)
            assert point.over is None
            on.dirs -= 1                  # it is covered: the root on it is counted
            point.over, fs.on = fs, on
            on.mounts.append(fs)
        self.file_systems.append(fs)
        self.grow(fs)
        return fs

    def grow(self, fs):
        """The directories of a file system.  Files are given to them later."""
        levels, parents = {"": 0}, [""]
        fs.by_path[""] = fs.root
        fs.dirs = 1
        for path in STANDARD.get(fs.path, ALWAYS):
            whole = "/".join((fs.path.rstrip("/"), path))
            if any(whole.startswith(point + "/") for point in self.planned):
                continue                  # it would be covered
            self.directory(fs, path, levels)
            if path.split("/")[-1] not in NO_PARENT and whole not in self.planned:
                parents.append(path)
        mean = self.draw("files in a directory")
        fs.files = self.draw("files of " + fs.role)
        deepest, top, new = (self.draw(name) for name in ("deepest", "at the top", "in what is new"))
        number = 0
        while fs.dirs < fs.files / mean:
            number += 1
            which = self.rng.random()
            if which < top:
                parent = ""
            elif which < top + new:
                parent = parents[max(0, len(parents) - self.even(1, 20))]
            else:
                parent = parents[self.even(0, len(parents) - 1)]
            path = f"{parent}/d{number}".lstrip("/")
            if levels[parent] < deepest:
                self.directory(fs, path, levels)
                parents.append(path)

    def plan(self):
        """The system's own file systems, in the order of mounting, and how many
        are left for users."""
        left = self.draw("mounts") - 1
        planned = {"/usr": "/usr"}
        for path in ("/tmp", "/usr/spool", "/usr/src", "/usr/tmp", "/usr/local",
                     "/usr/spool/news", "/usr/spool/uucp"):
            if self.draw(path) and left > 0:
                left -= 1
                planned[path] = "/tmp" if path == "/usr/tmp" else path
        return planned, left

    def users(self, left):
        """Where users' file systems are mounted, each drawn when those before
        it are there."""
        below = "" if self.draw("users in /") else None
        in_u = self.draw("users in /u")
        if below is None:
            below = "/u" if in_u else "/usr"
        for number in range(1, left + 1):
            earlier = [fs for fs in self.file_systems if fs.role == "users"]
            inside = None
            if self.draw("one below another") and earlier:
                inside = self.inside(earlier[self.even(0, len(earlier) - 1)], number)
            yield inside or f"{below}/a{number}"

    def inside(self, fs, number):
        """A mount point so many levels down in a file system."""
        above = self.draw("levels down") - 1
        parents = [path for path, made in fs.by_path.items()
                   if made.over is None and (path.count("/") + 1 if path else 0) == above
                   and path.split("/")[-1] not in NO_PARENT]
        if not parents:
            parents = [""]
        path = parents[self.even(0, len(parents) - 1)]
        return "/".join(part for part in (fs.path, path, f"b{number}") if part)

    def grow_all(self):
        """All file systems; then the files in their directories, and the places
        of directories and of mount points among them."""
        self.planned, left = self.plan()
        self.mount("/", "/")
        for path, role in self.planned.items():
            self.mount(path, role)
        for path in self.users(left):
            self.mount(path, "users")
        for fs in self.file_systems:
            self.fill(fs)

    def fill(self, fs):
        """Give the files of a file system to its directories by weights that
        are exponential, and shuffle what each directory has."""
        open_dirs = [(path, made) for path, made in fs.by_path.items()
                     if made.over is None and path not in ("lost+found", "dev", "dev/dsk", "dev/rdsk")]
        weights = [-math.log(1.0 - self.rng.random()) for _ in open_dirs]
        whole = sum(weights)
        given = 0
        for (_, made), weight in zip(open_dirs, weights):
            made.files = int(fs.files * weight / whole)
            given += made.files
        fs.files = given
        if fs.path == "/":
            nodes = self.draw("files of /dev")
            for path, share in (("dev", 2), ("dev/dsk", 4), ("dev/rdsk", 4)):
                fs.by_path[path].files = nodes // share
                fs.files += nodes // share
        for made in fs.by_path.values():
            self.place(made)

    def place(self, made):
        """Places for the directories in one, and their order, by chance."""
        if not made.kids:
            return
        kids = [kid for _, kid in made.kids]
        for i in range(len(kids) - 1, 0, -1):
            k = self.even(0, i)
            kids[i], kids[k] = kids[k], kids[i]
        places = set()
        while len(places) < len(kids):
            places.add(self.even(0, made.entries - 1))
        made.kids = list(zip(sorted(places), kids))

    # What it came to.

    @property
    def dirs(self):
        """Directories that can be reached."""
        return sum(fs.dirs for fs in self.file_systems)

    @property
    def files(self):
        """Files that are no directories."""
        return sum(fs.files for fs in self.file_systems)

    @property
    def inner_dirs(self):
        """Directories of file systems that others are mounted on."""
        return sum(fs.dirs for fs in self.file_systems if not fs.leaf)

    @property
    def deepest_point(self):
        """The level of the deepest mount point; one in / has 1."""
        return max(fs.path.count("/") for fs in self.file_systems[1:])
