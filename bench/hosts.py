#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mount hierarchies to measure discovery on, built in a private mount namespace.

Each builder fills a directory, which should be the root of a mount, mounts
what belongs there and returns a Host.  They are deterministic: the same
sizes and seed give the same tree, up to the order in which a file system
lists a directory.
"""
import ctypes
import os
import random
import signal
import sys

_libc = ctypes.CDLL(None, use_errno=True)
MS_NOATIME, MS_BIND, MS_REC, MS_PRIVATE = 1024, 4096, 16384, 1 << 18
MNT_DETACH, CLONE_NEWNS = 2, 0x20000


def mount(source, target, fstype, flags=0, data=None):
    """mount(2)."""
    def enc(text):
        return os.fsencode(text) if text is not None else None
    if _libc.mount(enc(source), enc(target), enc(fstype), ctypes.c_ulong(flags), enc(data)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def detach_below(top):
    """All mounts at or below a directory away."""
    with open("/proc/self/mountinfo", "rb") as file:
        points = [line.split(b" ")[4] for line in file]
    top = os.fsencode(top)
    for point in reversed(points):
        if point == top or point.startswith(top + b"/"):
            _libc.umount2(point, MNT_DETACH)


def detach(target):
    """umount2(2) of a mount and all below it; what is in use goes later."""
    if _libc.umount2(os.fsencode(target), MNT_DETACH) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def private_namespace():
    """Enter a mount namespace of our own (CLONE_NEWNS)."""
    if _libc.unshare(CLONE_NEWNS) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), "unshare")
    mount(None, "/", None, MS_REC | MS_PRIVATE)


class Namespace:
    """A mount namespace of our own for a while.  What was mounted in it is
    gone when it is left."""

    def __enter__(self):
        self.before = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        private_namespace()
        return self

    def __exit__(self, *what):
        if _libc.setns(self.before, CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "the mount namespace cannot be left")
        os.close(self.before)


class MountMax:
    """Room for `mounts` in a mount namespace: fs.mount-max is raised where it is
    lower, and given back, also when a signal ends the process.  It is of the
    whole machine: what another has set meanwhile is left."""

    PATH = "/proc/sys/fs/mount-max"
    ENDS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)

    def __init__(self, mounts, spare=1000):
        self.want, self.had, self.handlers = mounts + spare, None, {}

    def read(self):
        """The limit that is in force."""
        with open(self.PATH, encoding="ascii") as file:
            return int(file.read())

    def write(self, value):
        """Set it."""
        with open(self.PATH, "w", encoding="ascii") as file:
            file.write(str(value))

    def __enter__(self):
        had = self.read()
        if had < self.want:
            for number in self.ENDS:
                if signal.getsignal(number) == signal.SIG_DFL:
                    self.handlers[number] = signal.signal(
                        number, lambda number, frame: sys.exit(128 + number))
            self.had = had
            self.write(self.want)
        return self

    def __exit__(self, *what):
        if self.had is not None and self.read() == self.want:
            self.write(self.had)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)


class Host:
    """What was built: `dirs`, `files`, directories without any below them
    (`ends`), the deepest level, and the mount points in order."""

    def __init__(self, top):
        self.top = top
        self.dirs = self.files = self.ends = self.deepest = 0
        self.points = []
        self.opaque = set()      # points below which no times are set

    def mkdir(self, path):
        """A directory with those above it."""
        if os.path.isdir(path):
            return path
        self.mkdir(os.path.dirname(path))
        os.mkdir(path)
        self.dirs += 1
        self.deepest = max(self.deepest, path.count("/") - self.top.count("/"))
        return path

    def touch(self, path):
        """An empty file, by one call."""
        os.mknod(path, 0o100644)
        self.files += 1

    def mount(self, source, point, fstype, data, opaque=False):
        """A mount on a directory made for it."""
        mount(source, self.mkdir(point), fstype, 0, data)
        self.points.append(point)
        if opaque:
            self.opaque.add(point)

    def grow(self, top, dirs, files, rng, depth=11):
        """Add a tree of `dirs` directories with `files` files in each on
        average (some have none, some have many), shaped as a /usr: of the
        directories that have others below them most have one or two and a
        few have dozens, and about two thirds have none (measured on /usr:
        62 %); most lie at levels 7 to 12."""
        made, levels, parents = [top], [0], set()
        base = top.count("/") - self.top.count("/")
        while len(made) <= dirs:
            at = rng.randrange(max(0, len(made) - 400) if rng.random() < 0.3 else 0, len(made))
            if levels[at] >= depth:
                continue
            parents.add(at)
            fan = rng.choices((1, 2, 3, 4, 8, 30), (76, 13, 5, 2, 2, 2))[0]
            for _ in range(min(fan, dirs + 1 - len(made))):
                path = f"{made[at]}/{rng.getrandbits(40):010x}"
                os.mkdir(path)
                made.append(path)
                levels.append(levels[at] + 1)
                for i in range(int(rng.expovariate(1 / (files + 0.5))) if files else 0):
                    self.touch(f"{path}/f{i}")
        self.dirs += len(made) - 1
        self.ends += len(made) - len(parents)
        self.deepest = max(self.deepest, base + max(levels))
        return made

    def told(self):
        """The shape, in words."""
        return (f"{self.dirs:,} directories ({100 * self.ends // max(1, self.dirs)} % of them "
                f"without any below), {self.files:,} files, {len(self.points):,} mounts, "
                f"deepest level {self.deepest}")


def figure4(top, dirs=170000, files=6, mounts=34, seed=4):
    """Smith's Figure 4 at the size of today: file systems near the root, some
    with file systems below them.  Of the directories 12 % lie in the root
    and the others in file systems that carry none, as on a machine whose
    users' files are not on its root; this share, and nothing else, is what
    getmnt1/getmnt2 shows."""
    rng = random.Random(seed)
    host = Host(top)
    inner = dirs * 12 // 100
    for name in ("usr", "var", "etc", "opt"):
        host.mkdir(f"{top}/{name}")
        host.grow(f"{top}/{name}", inner // 4, files, rng)
    names = ["tmp", "boot", "usr/src", "usr/spool", "usr/spool/mail", "var/log", "var/tmp",
             "home", "proj", "srv"]
    names += [f"home/{c}" for c in "abcdefgh"]
    names += [f"proj/{c}" for c in "abcdefgh"]
    names += [f"srv/{c}" for c in "abcdefgh"]
    names = names[:mounts]
    leaves = [n for n in names if not any(m.startswith(n + "/") for m in names)]
    for name in names:
        host.mount("tmpfs", f"{top}/{name}", "tmpfs", "size=1g,nr_inodes=4m")
        if name in leaves:
            host.grow(f"{top}/{name}", (dirs - inner) // len(leaves), files, rng)
    return host


def container_host(top, dirs=20000, overlays=500, tmpfs=500, files=6, seed=5):
    """A container host: a system of `dirs` directories; images, whose layers
    lie unpacked beside the containers' overlays, at depth 6; pods with
    tokens on tmpfs at depth 8."""
    rng = random.Random(seed)
    host = Host(top)
    for name, share in (("usr", 60), ("etc", 5), ("opt", 15), ("home", 10), ("var/cache", 10)):
        host.mkdir(f"{top}/{name}")
        host.grow(f"{top}/{name}", dirs * share // 100, files, rng)

    store = host.mkdir(f"{top}/var/lib/docker/overlay2")
    images = []
    for _ in range(max(1, overlays // 12)):
        layers = []
        for layer in range(4):
            home = f"{store}/{rng.getrandbits(256):064x}"
            host.mkdir(f"{home}/diff")
            host.mkdir(f"{home}/work")
            host.touch(f"{home}/link")
            host.grow(f"{home}/diff", 300 if layer == 0 else rng.randint(2, 40), files, rng)
            layers.insert(0, f"{home}/diff")
        images.append(layers)
    pods = host.mkdir(f"{top}/var/lib/kubelet/pods")
    for i in range(max(overlays, tmpfs)):
        if i < overlays:
            home = f"{store}/{rng.getrandbits(256):064x}"
            host.mkdir(f"{home}/diff")
            host.mkdir(f"{home}/work")
            host.grow(f"{home}/diff", rng.randint(0, 6), files, rng)
            lower = ":".join(images[rng.randrange(len(images))])
            host.mount("overlay", f"{home}/merged", "overlay",
                       f"lowerdir={lower},upperdir={home}/diff,workdir={home}/work", True)
        if i < tmpfs:
            pod = f"{pods}/{rng.getrandbits(128):032x}"
            host.mkdir(f"{pod}/containers/app")
            host.touch(f"{pod}/containers/app/{rng.getrandbits(32):08x}")
            host.mkdir(f"{pod}/plugins/kubernetes.io~empty-dir/wrapped_token")
            host.touch(f"{pod}/etc-hosts")
            host.mkdir(f"{pod}/volumes/kubernetes.io~empty-dir/tmp")
            point = f"{pod}/volumes/kubernetes.io~projected/kube-api-access"
            host.mount("tmpfs", point, "tmpfs", "size=64k")
            host.mkdir(f"{point}/..data")
    return host


def deep(top, files=300000, per_dir=10, seed=6):
    """One mount 12 levels down in an INTERNAL file system of many files."""
    rng = random.Random(seed)
    host = Host(top)
    made = host.grow(top, files // per_dir, per_dir, rng, depth=14)
    base = top.count("/")
    path = rng.choice([p for p in made if p.count("/") - base == 4])
    while path.count("/") - base < 11:
        path += f"/{rng.getrandbits(40):010x}"
    host.mount("tmpfs", f"{path}/{rng.getrandbits(40):010x}", "tmpfs", "size=1m")
    return host


def plain(top, dirs=100000, files=10, mounts=0, seed=7):
    """A tree with no mount in it, or with a few."""
    rng = random.Random(seed)
    host = Host(top)
    made = host.grow(top, dirs, files, rng)
    for i in range(mounts):
        host.mount("tmpfs", f"{rng.choice(made)}/mount{i}", "tmpfs", "size=64k")
    return host


def mount_points():
    """The mount points of this namespace, in the order of the table."""
    with open("/proc/self/mountinfo", "rb") as file:
        return [os.fsdecode(line.split(b" ")[4]) for line in file]


def strip(mounts, keep):
    """Detach mounts, the last first, until there are no more than `mounts`;
    but none that a path of `keep` lies in or below."""
    points = mount_points()
    for point in reversed(points):
        if len(points) <= mounts:
            break
        if not any((path + "/").startswith(point.rstrip("/") + "/") for path in keep):
            detach(point)
            points = mount_points()


class Binds:
    """Bind mounts of directories, as a host exports, chroots and sandboxes
    have them: 200 services, each with a few directories of data."""

    def __init__(self, top):
        self.top, self.made = top, 0
        # A mount of its own: to copy one that has 50,000 children takes long.
        self.source = f"{top}/data"
        os.mkdir(self.source)
        mount("tmpfs", self.source, "tmpfs", 0, "mode=755")

    def add(self, mounts):
        """So many more."""
        for i in range(self.made, self.made + mounts):
            source = f"{self.source}/volumes/vol{i // 200:03d}/export{i % 200:03d}"
            point = f"{self.top}/srv/service{i % 200:03d}/root/data/vol{i // 200:03d}"
            os.makedirs(source)
            os.makedirs(point)
            mount(source, point, None, MS_BIND)
            self.made = i + 1


class Flat:
    """Mounts where a search comes upon each at once: a thousand to a directory,
    each the same empty one, bound."""

    def __init__(self, top):
        self.top, self.made, self.source = top, 0, f"{top}/source"
        os.mkdir(self.source)
        mount("tmpfs", self.source, "tmpfs", 0, "size=64k")

    def add(self, mounts):
        """So many more."""
        for i in range(self.made, self.made + mounts):
            point = f"{self.top}/{i // 1000:03d}/{i % 1000:03d}"
            os.makedirs(point)
            mount(self.source, point, None, MS_BIND)
            self.made = i + 1


def descend(top, levels, each):
    """Directories, one below the other, deeper than a path can tell: the last is
    mounted on, or each."""
    above = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for level in range(levels):
        os.mkdir("d", dir_fd=above)
        fd = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
        if each or level == levels - 1:
            mount("tmpfs", f"/proc/self/fd/{fd}", "tmpfs", 0, "size=64k")
            os.close(fd)
            fd = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=above)
        os.close(above)
        above = fd
    os.close(above)


def crowd(top, entries):
    """A mount point, and so many files made beside it later: tmpfs, which lists
    what came last first, lists it behind them all."""
    os.mkdir(f"{top}/mount")
    mount("tmpfs", f"{top}/mount", "tmpfs", 0, "size=64k")
    for i in range(entries):
        os.mknod(f"{top}/{i:07d}", 0o100644)


class Containers:
    """A container host: each container has an overlay of four layers, a
    /dev/shm, a network namespace, a token on tmpfs and a bound volume."""

    EACH = 5

    def __init__(self, top, seed=9):
        self.top, self.made, self.rng = top, 0, random.Random(seed)
        self.snap = f"{top}/containerd/snapshots"
        self.volumes = f"{top}/volumes"
        for path in (self.snap, self.volumes, f"{top}/netns"):
            os.makedirs(path)
        for path in (self.snap, self.volumes):
            mount("tmpfs", path, "tmpfs", 0, "mode=755,nr_inodes=4m")
        for i in range(40):
            os.makedirs(f"{self.snap}/{i}/fs")

    def container(self):
        """The five mounts of one: yields after each."""
        number, name = self.made // self.EACH, f"{self.rng.getrandbits(256):064x}"
        top, run = self.top, f"{self.top}/run/{name}"
        pod = f"{top}/pods/{self.rng.getrandbits(128):032x}/volumes"
        own = f"{self.snap}/{40 + number}"
        os.makedirs(f"{own}/fs")
        os.makedirs(f"{own}/work")
        os.makedirs(f"{run}/rootfs")
        lower = ":".join(f"{self.snap}/{i}/fs" for i in self.rng.sample(range(40), 4))
        mount("overlay", f"{run}/rootfs", "overlay", 0,
              f"lowerdir={lower},upperdir={own}/fs,workdir={own}/work")
        yield
        os.makedirs(f"{run}/shm")
        mount("shm", f"{run}/shm", "tmpfs", 0, "size=65536k")
        yield
        netns = f"{top}/netns/cni-{name[:32]}"
        os.mknod(netns, 0o100644)
        mount("/proc/self/ns/net", netns, None, MS_BIND)
        yield
        token = f"{pod}/kubernetes.io~projected/kube-api-access-{name[:5]}"
        os.makedirs(token)
        mount("tmpfs", token, "tmpfs", 0, "size=1048576k")
        yield
        volume, point = f"{self.volumes}/pvc-{name[:32]}", f"{pod}/kubernetes.io~local-volume/data"
        os.mkdir(volume)
        os.makedirs(point)
        mount(volume, point, None, MS_BIND)
        yield

    def add(self, mounts):
        """So many more."""
        for _ in range(mounts):
            if self.made % self.EACH == 0:
                self.building = self.container()
            next(self.building)
            self.made += 1


def _new_call(number, *args):
    """A system call that the C library has no name for."""
    value = _libc.syscall(ctypes.c_long(number), *args)
    if value < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), f"system call {number}")
    return value


def stack(point, mounts):
    """So many mounts on one path.  To put them there one by one takes time
    that grows with the square; a stack that is copied onto itself doubles."""
    open_tree, move_mount = 428, 429
    clone, recursive, empty, move_empty = 0x80001, 0x8000, 0x1000, 0x44
    bottom = None
    for bit in f"{mounts:b}":
        for flags in ([recursive] if bottom is not None else []) + ([0] if bit == "1" else []):
            on = os.open(point, os.O_PATH)
            source = -1 if bottom is None else bottom
            path = os.fsencode(point) if bottom is None else b""
            copy = _new_call(open_tree, ctypes.c_int(source), path,
                             ctypes.c_uint(clone | empty | flags))
            _new_call(move_mount, ctypes.c_int(copy), b"", ctypes.c_int(on), b"",
                      ctypes.c_uint(move_empty))
            os.close(on)
            if bottom is None:
                bottom = copy
            else:
                os.close(copy)
    os.close(bottom)


def set_times(host, how, seed=8):
    """Times of change of all directories outside overlays.

    busy      as built, but one directory in five, anywhere, changed since
    shuffled  drawn from two years, whatever a directory holds
    adverse   shuffled, and those above a mount are older than all others
    """
    rng = random.Random(seed)
    now = 1_700_000_000
    above = set()
    for point in host.points:
        while len(point) > len(host.top):
            above.add(point)
            point = os.path.dirname(point)
    work = [host.top]
    while work:
        path = work.pop()
        if path in host.opaque:
            continue
        with os.scandir(path) as entries:
            work += [e.path for e in entries if e.is_dir(follow_symlinks=False)]
        if how == "busy":
            if rng.random() < 0.2:
                os.utime(path)
            continue
        when = now - rng.randrange(2 * 365 * 86400)
        if how == "adverse" and path in above:
            when -= 10 * 365 * 86400
        os.utime(path, (when, when))


BUILDERS = {"figure4": figure4, "container": container_host, "deep": deep}
