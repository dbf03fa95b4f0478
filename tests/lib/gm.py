# SPDX-License-Identifier: MIT
"""The library of the system cases: mounts, a small root, the oracle.

A case is a Python script in tests/system/ that tests/system/run.sh starts in a private mount
namespace.  It makes a small root (a tmpfs with the program, its libraries, /proc and /sys),
makes mounts below it, and enters it by pivot_root.  Then check() compares getmnt with the
oracle, an independent reader of /proc/self/mountinfo that finds which mounts can be reached by
opening each name with O_PATH and reading the mount ID from /proc/self/fdinfo.

    import gm
    root = gm.Root()
    gm.tmpfs(root / "a/b")
    root.enter()
    gm.check("nested")
    gm.done()
"""
import atexit
import codecs
import ctypes
import errno
import json
import os
import re
import resource
import shutil
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import traceback

libc = ctypes.CDLL(None, use_errno=True)
null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)   # also where there is none

# Python loads codecs on first use; after enter() their files cannot be reached.
for codec in ("ascii", "latin-1", "idna"):
    codecs.lookup(codec)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_BIND, MS_MOVE, MS_REC = 1, 2, 4, 4096, 8192, 16384
MS_UNBINDABLE, MS_PRIVATE, MS_SLAVE, MS_SHARED = 1 << 17, 1 << 18, 1 << 19, 1 << 20
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
CLONE_NEWNS = 0x20000
# Numbers of calls for all architectures, and commands of fsconfig(2).
FSOPEN, FSCONFIG, FSPICK = 430, 431, 433
FSCONFIG_SET_FLAG, FSCONFIG_SET_STRING, FSCONFIG_CMD_RECONFIGURE = 0, 1, 7
PROGRAM = "/bin/getmnt"     # inside a small root

# How many times slower than usual this machine is.
SLOW = int(os.environ.get("GETMNT_SLOW", "1"))
# Whether to run the large sizes of make check-full.
FULL = os.environ.get("GETMNT_SCALE") == "full"

# A run that takes longer than this hangs.
RUN_SECONDS = 20 * SLOW

# With vfork(), all of this process waits until a child has called exec.  Before that, the child closes files;
# a file of a FUSE mount is closed by the server, which can be a thread of this process: both wait for ever.
subprocess._USE_VFORK = False

# Failures that a case prints; all are counted.
SHOWN_FAILURES = 30

def without(*words):
    """The environment that disables these features of the program as well."""
    return {"GETMNT_DISABLE": ",".join(filter(None, [os.environ.get("GETMNT_DISABLE"), *words]))}


# The features that are disabled in every run, unless a run says otherwise.
DISABLED = {key: value for key, value in os.environ.items() if key == "GETMNT_DISABLE"}
OFF = set(filter(None, os.environ.get("GETMNT_DISABLE", "").split(",")))
# The version of the kernel: (6, 1).
KERNEL = tuple(map(int, os.uname().release.split(".")[:2]))

# Whether statx(2) returns mount IDs.  Without them, mounts with one device number are not tested.
HAVE_IDS = "statx-mntid" not in OFF

failures = []
in_part = False     # whether this process runs a part of a case, see each()
abandoned = []      # processes that did not die


def fail(message):
    """Note a failure; the case goes on."""
    failures.append(message)
    if len(failures) <= SHOWN_FAILURES:
        print("  FAIL " + message, flush=True)


def expect(condition, message):
    if not condition:
        fail(message)
    return bool(condition)


def skip(why):
    """End the case, or this part of it, as skipped."""
    if in_part:
        print("  not run: " + why)
        done()
    with os.fdopen(3, "w") as f:
        f.write(why)
    os._exit(77)


def done():
    """End the case."""
    if len(failures) > SHOWN_FAILURES:
        print(f"  and {len(failures) - SHOWN_FAILURES} more")
    sys.stdout.flush()
    os._exit(1 if failures else 0)


def _excepthook(*args):
    traceback.print_exception(*args)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)


sys.excepthook = _excepthook


@atexit.register
def _not_done():
    print("  FAIL the case ended without gm.done()", flush=True)
    os._exit(1)


# Mounts.

def _bytes(path):
    return os.fsencode(path) if path is not None else None


def _errno(what):
    number = ctypes.get_errno()
    raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, fstype=None, flags=0, data=None):
    if libc.mount(_bytes(source), _bytes(target), _bytes(fstype), ctypes.c_ulong(flags),
                  _bytes(data)):
        _errno(f"mount {source!r} on {target!r}")


def umount(target, flags=0):
    if libc.umount2(_bytes(target), flags):
        _errno(f"umount {target!r}")


def mkdir(path):
    os.makedirs(path, exist_ok=True)
    return path


def touch(path, text=""):
    mkdir(os.path.dirname(path))
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def read(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def read_bytes(path):
    with open(path, "rb") as f:
        return f.read()


def tmpfs(path, data="size=64m", source="tmpfs"):
    """Mount a tmpfs on a path, which is created if needed."""
    mount(source, mkdir(path), "tmpfs", 0, data)
    return path


def bind(source, target, recursive=False):
    """Bind a directory or a file; the target is created if needed."""
    if not os.path.lexists(target):
        if os.path.isdir(source):
            mkdir(target)
        else:
            touch(target) if isinstance(target, str) else os.close(
                os.open(target, os.O_CREAT | os.O_WRONLY))
    mount(source, target, None, MS_BIND | (MS_REC if recursive else 0))
    return target


def overlay(target, lower, work, source="overlay"):
    """Mount an overlay; work is a directory on a tmpfs for upper and work."""
    mkdir(target)
    mkdir(work + "/u")
    mkdir(work + "/w")
    mount(source, target, "overlay", 0,
          f"lowerdir={lower},upperdir={work}/u,workdir={work}/w")
    return target


def set_option(fd, option):
    """Set an option by fsconfig(2).  Returns whether the kernel accepts it; else errno says why."""
    name, equals, value = option.partition("=")
    return libc.syscall(FSCONFIG, fd, FSCONFIG_SET_STRING if equals else FSCONFIG_SET_FLAG, name.encode(),
                        value.encode() if equals else None, 0) == 0


def reconfigure(path, *options):
    """Change options of a superblock by fspick(2) and fsconfig(2), which causes no event.  Returns whether the kernel
    accepts all of them; None if it has no fspick(2)."""
    fd = libc.syscall(FSPICK, -100, path.encode(), 1)
    if fd < 0:
        return None
    good = all([set_option(fd, option) for option in options])
    good = libc.syscall(FSCONFIG, fd, FSCONFIG_CMD_RECONFIGURE, None, None, 0) == 0 and good
    os.close(fd)
    return good


def propagation(path, flag, recursive=False):
    mount(None, path, None, flag | (MS_REC if recursive else 0))


def unshare_mounts():
    if libc.unshare(CLONE_NEWNS):
        _errno("unshare")


def run(*argv):
    """Run a program of the system, before the root is entered."""
    proc = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if proc.returncode:
        raise RuntimeError(f"{argv}: status {proc.returncode}: {proc.stdout.decode()}")
    return proc.stdout.decode()


def need_features(why, *words):
    """Skip the case if GETMNT_DISABLE names one of these."""
    off = set(words) & OFF
    if off:
        skip(f"without {', '.join(sorted(off))}: {why}")


def find_program(name):
    """The path of a program of the system, before the root is entered; None if it is missing."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def need(*programs):
    """Skip the case where a program is missing."""
    for program in programs:
        if not find_program(program):
            skip(f"there is no {program}")


def need_speed(why):
    """Skip the case on a slow machine."""
    if SLOW > 1:
        skip("not run on a slow machine: " + why)


def have_fs(fstype, mkfs=None):
    """Whether the kernel has a file system, and this program that makes it exists."""
    with open("/proc/filesystems", encoding="ascii") as f:
        return fstype in {line.split()[-1] for line in f} and (mkfs is None or find_program(mkfs) is not None)


def need_fs(*types):
    """Skip the case where the kernel lacks a file system."""
    for fstype in types:
        if not have_fs(fstype):
            skip(f"this kernel has no {fstype}")


def image(path, size, *mkfs):
    """Make a file system image; the path is the last argument of mkfs."""
    with open(path, "wb") as f:
        f.truncate(size)
    run(*mkfs, path)
    return path


def fat_image(path, size, serial):
    """Make as little of a FAT as blkid recognizes; the serial number is in hexadecimal."""
    with open(path, "wb") as f:
        f.write(bytes.fromhex("eb3c90") + b"mkfs.fat" + bytes.fromhex("0002 04 0100 02 0002 0010 f8 0c00 2000 0200 00000000 00000000 80 00 29")
                + bytes.fromhex(serial) + b"NO NAME    FAT12   " + bytes(448) + bytes.fromhex("55aaf8ffff"))
        f.truncate(size)
    return path


def loop_mount(img, target, *options):
    """Mount an image; its loop device is detached at umount."""
    run("mount", "-o", ",".join(("loop",) + options), img, mkdir(target))
    return target


def install(program, top, name=None):
    """Copy a program and its libraries into a directory that becomes a root."""
    program = shutil.which(program) or program
    mkdir(top + "/bin")
    shutil.copy(os.path.realpath(program), name or f"{top}/bin/{os.path.basename(program)}")
    for path in re.findall(r"(?:=> )?(/\S+) \(0x", run("ldd", program)):
        mkdir(top + os.path.dirname(path))
        shutil.copy(os.path.realpath(path), top + path)


def install_program(top):
    """Copy getmnt, its libraries and /dev/null into a directory that becomes a root."""
    install(os.environ["GETMNT"], top, top + PROGRAM)
    mkdir(top + "/dev")
    if not os.path.lexists(top + "/dev/null"):
        os.mknod(top + "/dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        os.chmod(top + "/dev/null", 0o666)


def devices(top):
    """Make a /dev in a directory that becomes a root, so that the machine's stays unchanged."""
    nodes = [("zero", stat.S_IFCHR, 1, 5), ("full", stat.S_IFCHR, 1, 7),
             ("urandom", stat.S_IFCHR, 1, 9), ("loop-control", stat.S_IFCHR, 10, 237)]
    nodes += [(f"loop{i}", stat.S_IFBLK, 7, i) for i in range(256)]
    for name, kind, major, minor in nodes:
        os.mknod(f"{mkdir(top + '/dev')}/{name}", 0o600 | kind, os.makedev(major, minor))


class Root:
    """A small root, not yet entered.  root / "a/b" is a path below it."""

    def __init__(self, proc=True, sysfs=True, where=None):
        self.path = where or os.environ["GETMNT_WORK"]
        mount("root", self.path, "tmpfs", 0, "size=2g,mode=755")
        install_program(self.path)
        mkdir(self / "tmp")
        os.chmod(self / "tmp", 0o1777)
        if proc:
            mount("proc", mkdir(self / "proc"), "proc")
        if sysfs:
            mount("sysfs", mkdir(self / "sys"), "sysfs")
        self.entered = False

    def __truediv__(self, name):
        if isinstance(name, bytes):
            return _bytes(self.path) + b"/" + name
        return f"{self.path}/{name}"

    def keep_names(self):
        """Keep paths from before enter() valid after it, such as the layers of an overlay."""
        mkdir(self / os.path.dirname(self.path).strip("/"))
        os.symlink("/", self / self.path.strip("/"))

    def enter(self):
        """Make it the root of this process, and detach the old one."""
        os.chdir(self.path)
        if libc.pivot_root(b".", b"."):
            _errno("pivot_root")
        umount(".", MNT_DETACH)
        os.chdir("/")
        self.path = ""
        self.entered = True
        return self


# The oracle.

class Line:
    """A line of mountinfo."""

    def __init__(self, raw):
        fields = raw.split(b" ")
        self.id, self.parent = int(fields[0]), int(fields[1])
        self.dev = fields[2].decode()
        self.root, self.point = unescape(fields[3]), unescape(fields[4])
        sep = fields.index(b"-", 6)
        self.fstype = unescape(fields[sep + 1])
        self.source = unescape(fields[sep + 2])
        self.reachable = False
        self.deleted = self.root.endswith(b"//deleted") and not self.fstype == b"nsfs"

    def __repr__(self):
        return f"{self.id} {brief(self.point)!r} ({self.fstype.decode()})"


def brief(name):
    """A long name shortened for a message."""
    return name if len(name) < 100 else name[:40] + (b"..." if isinstance(
        name, bytes) else "...") + name[-40:]


def unescape(field):
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m.group(1), 8)]), field)


def open_path(path, dirfd=None):
    """open(O_PATH | O_NOFOLLOW), also of names longer than PATH_MAX."""
    flags = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
    if len(path) < 4000:
        return os.open(path, flags)
    fd = os.open(b"/", flags)
    for part in path.split(b"/"):
        if part:
            try:
                below = os.open(part, flags, dir_fd=fd)
            finally:
                os.close(fd)
            fd = below
    return fd


def fd_mount(fd):
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as f:
        return int(re.search(r"^mnt_id:\s*(\d+)", f.read(), re.M).group(1))


def within(path, top):
    return path == top or path.startswith(top.rstrip(b"/") + b"/")


def mountinfo():
    """The lines of mountinfo."""
    with open("/proc/self/mountinfo", "rb") as f:
        return [Line(raw) for raw in f.read().split(b"\n") if raw]


def oracle(untouched=()):
    """The lines of mountinfo with reachable set; None at or below a name in untouched, which is
    not opened."""
    lines = mountinfo()
    for line in lines:
        if any(within(line.point, top) for top in untouched):
            line.reachable = None
            continue
        try:
            fd = open_path(line.point)
        except OSError:
            continue
        line.reachable = fd_mount(fd) == line.id
        os.close(fd)
    return lines


def shown(name):
    """A name as in JSON: invalid UTF-8 as \\xhh."""
    return name.decode("utf-8", "backslashreplace")


# Running the program.

class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def json(self):
        return json.loads(self.out.decode("utf-8"))

    def rows(self):
        return self.json()["filesystems"]

    def stats(self):
        return json.loads(self.err.decode().rstrip("\n").split("\n")[-1])


def processes_with(variable):
    """The processes that have NAME=VALUE in their environment: (PID, command line)."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                has = f"{variable}\0".encode() in f.read()
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
        except OSError:
            continue
        if has and line:
            found.append((pid, line))
    return found


# For a run that is traced, or may create no process: there LeakSanitizer cannot work.
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}


def environment(env):
    """The usual environment with these variables; None removes one."""
    every = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb", "TZ": "UTC",
             "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=1"), **DISABLED, **(env or {})}
    return {key: value for key, value in every.items() if value is not None}


def getmnt(*args, env=None, program=PROGRAM, chroot=None, nofile=None, uid=None, cwd="/",
           seconds=RUN_SECONDS, prefix=(), before=None, stdout=subprocess.PIPE):
    """Run the program; a run that hangs is killed and fails the case.

    env: see environment().  before: called in the child directly before execve()."""
    # Without preexec_fn, Popen uses vfork(), which takes half the time.
    def prepare():
        if chroot:
            os.chroot(chroot)
            os.chdir("/")
        if nofile:
            resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        if before:
            before()

    if program == "/bin/strace":
        env = {**NO_LEAKS, **(env or {})}
    proc = subprocess.Popen([*prefix, program, *args], stdin=null, stdout=stdout,
                            stderr=subprocess.PIPE, env=environment(env), cwd=cwd, start_new_session=True,
                            preexec_fn=prepare if chroot or nofile or uid is not None or before else None)
    try:
        out, err = proc.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        proc.kill()
        try:
            out, err = proc.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            out, err = b"", b"(it cannot be killed)"
            abandoned.append(proc)
        fail(f"getmnt {' '.join(args)}: did not end in {seconds} s: {err[-300:]!r}")
        return Result(None, out, err)
    if proc.returncode < 0 or b"Sanitizer" in err or b"runtime error" in err:
        fail(f"getmnt {' '.join(args)}: status {proc.returncode}: "
             f"{err[-3000:].decode(errors='replace')}")
    return Result(proc.returncode, out, err)


WAIT_SECONDS = 30 * SLOW     # a wait that takes longer fails the case


def on_terminal(args, env):
    """Run a program on a new pseudo terminal.  Returns its status and what the terminal shows.

    It is not the controlling terminal of the program.  When the leader of a session ends, the kernel discards
    output on its terminal that has not been read yet (pty_flush_buffer() in drivers/tty/pty.c)."""
    shows, writes = os.openpty()
    with subprocess.Popen(args, stdin=writes, stdout=writes, stderr=writes, env=env) as proc:
        os.close(writes)
        text = b""
        try:
            while more := os.read(shows, 65536):
                text += more
        except OSError:                 # EIO: the last writer has closed it
            pass
        os.close(shows)
        return proc.wait(), text


def plain(options):
    """Options without those that tmpfs shows on some kernels only."""
    return options.replace(",inode64", "")


class Watch:
    """A running getmnt --poll; threads read its output."""

    def __init__(self, *args, env=None, program=PROGRAM, prefix=(), prepare=None, debug=True):
        words = ["--poll", "--debug", *args] if debug else list(args)
        self.name = " ".join((env or {}).values()) + " " + " ".join(args)
        self.proc = subprocess.Popen([*prefix, program, *words], stdin=null,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     env=environment(env), cwd="/", preexec_fn=prepare)
        self.pid, self.out, self.err = self.proc.pid, b"", b""
        self.readers = [threading.Thread(target=self._read, args=(pipe, name), daemon=True)
                        for pipe, name in ((self.proc.stdout, "out"), (self.proc.stderr, "err"))]
        for reader in self.readers:
            reader.start()
        if debug:
            self.wait(lambda: b"watching" in self.err or self.proc.poll() is not None, "to begin")

    def _read(self, pipe, name):
        while True:
            data = os.read(pipe.fileno(), 1 << 16)
            if not data:
                return
            setattr(self, name, getattr(self, name) + data)

    def wait(self, true, what):
        """Wait until something is true."""
        end = time.monotonic() + WAIT_SECONDS
        while not true():
            if time.monotonic() > end:
                fail(f"{self.name}: waited for {what}; out {self.out[-500:]!r}, "
                     f"err {self.err[-500:]!r}")
                return False
            time.sleep(0.01)
        return True

    def _sleeps(self):
        with open(f"/proc/{self.pid}/stat", "rb") as f:
            return f.read().rpartition(b")")[2].split()[0] == b"S"

    def wait_idle(self):
        """Wait until it sleeps again after it was woken by an event."""
        self.wait(self._sleeps, "its sleep")

    def lines(self):
        """The complete lines so far."""
        return plain(self.out.decode("utf-8", "backslashreplace")).split("\n")[:-1]

    def rows(self):
        """The objects of --format=jsonl so far."""
        return [json.loads(line) for line in self.lines()]

    def wait_rows(self, n):
        """Wait for n objects.  Returns all objects."""
        self.wait(lambda: self.out.count(b"\n") >= n, f"{n} lines")
        return self.rows()

    def by_events(self):
        """Whether it uses fanotify."""
        return b"by fanotify" in self.err

    def end(self, number=15):
        """End it by a signal; returns its status."""
        self.proc.send_signal(number)
        return self.status()

    def status(self):
        """Wait for its end and the rest of its output.  Returns its status."""
        self.wait(lambda: self.proc.poll() is not None, "its end")
        for reader in self.readers:
            reader.join(WAIT_SECONDS)
        if b"Sanitizer" in self.err or b"runtime error" in self.err:
            fail(f"{self.name}: {self.err[-3000:].decode(errors='replace')}")
        return self.proc.returncode


def have_listmount():
    """Whether the kernel has listmount(2)."""
    # No kernel has it without mount IDs in statx.
    if {"listmount", "statx-mntid"} & OFF:
        return False
    ctypes.set_errno(0)
    libc.syscall(458, None, None, ctypes.c_size_t(0), 0)
    return ctypes.get_errno() != 38


# The values of --kernel= that this kernel supports.
SOURCES = ("listmount", "mountinfo") if have_listmount() else ("mountinfo",)
# Arguments and environment to watch by fanotify, listmount and mountinfo.
WATCHES = [((), {}), ((), {"GETMNT_DISABLE": "fanotify"}), (("--kernel=mountinfo",), {})]


class Replay:
    """A watch and the mounts at its start: its changes, applied one after the other, must give
    the current mounts."""

    def __init__(self, *args, env=None):
        unique = "listmount" in SOURCES and "--kernel=mountinfo" not in args
        self.key = "uniq-id" if unique else "id"
        self.before = self.there()
        self.watch = Watch(*args, "--format=jsonl", env=env)

    def there(self):
        """The current mounts: ID -> [mount point, options]."""
        rows = getmnt("-J", "-l", "--names=kernel", "-o", "TARGET,ID,UNIQ-ID,OPTIONS").rows()
        return {row[self.key]: [row["target"], plain(row["options"])] for row in rows}

    def outcome(self, misfit=lambda row: None):
        """The mounts after all reported changes; misfit is called for a change that contradicts
        earlier ones."""
        mounts = {id_: list(mount) for id_, mount in self.before.items()}
        for row in self.watch.rows():
            id_, action, now = row[self.key], row["action"], [row["target"], row["options"]]
            old = mounts.get(id_)
            if action == "umount":
                if old != [row["old-target"], row["old-options"]]:
                    misfit(row)
                mounts.pop(id_, None)
                continue
            if (old is not None) if action == "mount" else (
                    old is None or action == "move" and old[0] != row["old-target"]
                    or action == "remount" and old[1] != row["old-options"]):
                misfit(row)
            mounts[id_] = [now[0], old[1]] if action == "move" and old else now
        return mounts

    def check(self, tag):
        """Wait until the changes give the current mounts.  Returns the changes."""
        there = self.there()
        self.watch.wait(lambda: self.outcome() == there, f"{tag}: the current table")
        outcome = self.outcome(lambda row: fail(f"{tag}: contradicts earlier changes: {row}"))
        expect(outcome == there, f"{tag}: differs from the current table: "
               f"{[m for m in outcome.items() if there.get(m[0]) != m[1]][:3]}, "
               f"{[m for m in there.items() if outcome.get(m[0]) != m[1]][:3]}")
        return self.watch.rows()


RUNS = [(names, algorithm, source)
        for source in SOURCES
        for names, algorithms in (("hint", ("getmnt3",)),
                                  ("walk", ("getmnt1", "getmnt2", "getmnt3")),
                                  ("pure", ("getmnt1", "getmnt2", "getmnt3")))
        for algorithm in algorithms]
# Every output format.
FORMS = [("--tree",), ("-l",), ("-r",), ("-P",), ("-J",), ("-J", "-l"), ("--format=jsonl",),
         ("--format=mtab",), ("--format=fstab",), ("--format=setmnt",), ("--format=dot",)]
ONE_EACH = [run_ for run_ in RUNS if run_[1] == "getmnt3"]


def sanitized():
    """Whether the program is built with the address sanitizer."""
    with open(os.environ["GETMNT"] if os.path.exists(os.environ["GETMNT"]) else PROGRAM,
              "rb") as program:
        return b"__asan_init" in program.read()


def row_states(row):
    states = row.get("states") or []
    return set(states.split(",") if isinstance(states, str) else states)


def row_id(row):
    value = row.get("id")
    return int(value) if value not in (None, "") else None


def ids_of(rows):
    """Every mount ID in nested JSON: rows, their children and stacks."""
    found = []
    for row in rows:
        if isinstance(row, (int, str)):
            found.append(int(row))
            continue
        if row_id(row) is not None:
            found.append(row_id(row))
        for key in ("children", "stacked"):
            if isinstance(row.get(key), list):
                found += ids_of(row[key])
    return found


def compare(tag, names, lines, result, untouched=(), outside=(), made=False, status=None,
            strict=HAVE_IDS):
    """Compare one run with the oracle.

    outside: IDs of mounts that must be outside.  made: a row for a root that is not a mount is
    accepted.  strict=False: without mount IDs, or while mounts change: names must be right, but
    states may differ."""
    if result.status is None:
        return
    try:
        rows = result.rows()
    except (ValueError, KeyError) as error:
        fail(f"{tag}: no JSON ({error}); status {result.status}; "
             f"{result.out[:200]!r} {result.err[-500:]!r}")
        return
    problems = []
    if status is None:
        status = {0, 64} if names == "pure" or not strict else {0}
    if result.status not in status:
        problems.append(f"status {result.status}, stderr {result.err[-300:]!r}")

    by_id = {}
    for row in rows:
        if row_id(row) in by_id:
            problems.append(f"mount {row_id(row)} has two rows")
        by_id[row_id(row)] = row
    expected = {line.id for line in lines}
    for id_ in sorted(k for k in by_id if k not in expected):
        if not (made and by_id[id_].get("target") == "/") and id_ not in outside:
            problems.append(f"a row that is in no mountinfo: {by_id[id_]}")

    for line in lines:
        row = by_id.get(line.id)
        if row is None:
            problems.append(f"{line}: no row")
            continue
        target, named, states = row.get("target"), row.get("named"), row_states(row)
        want = shown(line.point)
        if not states:
            problems.append(f"{line}: no states: {row}")
        if target is not None and target != want:
            problems.append(f"{line}: wrong name {brief(target)!r}, {named}, {states}")
            continue
        if not strict:
            continue
        if line.reachable is None:
            if not states & {"untested", "hidden"}:
                problems.append(f"{line}: must not be touched: {named}, {states}")
            continue
        if line.reachable:
            if target is None:
                problems.append(f"{line}: reachable, not named: {named}, {states}")
            elif names == "hint" and named != "verified":
                problems.append(f"{line}: reachable, named {named} by a hint, {states}")
            elif names in ("walk", "pure") and named != "walked" and want != "/":
                problems.append(f"{line}: reachable, named {named} by a walk, {states}")
            if names == "pure" and line.deleted:
                pass        # unknown by IDs alone
            elif line.deleted and "deleted" not in states:
                problems.append(f"{line}: deleted, but {states}")
            elif not line.deleted and states != {"ok"}:
                problems.append(f"{line}: reachable, but {states}")
        elif names == "pure":
            if "ok" in states:
                problems.append(f"{line}: cannot be reached, but {states}")
        elif "hidden" not in states:
            problems.append(f"{line}: cannot be reached, but {states}")
    for problem in problems[:4]:
        fail(f"{tag}: {problem}")
    if len(problems) > 4:
        fail(f"{tag}: and {len(problems) - 4} more")


def check(tag, runs=None, untouched=(), env=None, args=(), nested=True, **more):
    """Run the program in every naming mode, and compare with the oracle."""
    tops = [_bytes(top) for top in untouched]
    lines = oracle(tops)
    reachable = sum(1 for line in lines if line.reachable)
    started = time.monotonic()
    count = 0
    for names, algorithm, source in RUNS if runs is None else runs:
        result = getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                        "--algorithm=" + algorithm, "--kernel=" + source,
                        "--search-limit=100000000", *args, env=env)
        compare(f"{tag}: {names} {algorithm} {source}", names, lines, result, tops, **more)
        count += 1
    if nested:
        result = getmnt("-J", *args, env=env)
        if result.status is not None:
            try:
                ids = set(ids_of(result.rows()))
                missing = [line for line in lines if line.id not in ids]
                expect(not missing, f"{tag}: -J does not account for {missing[:5]}")
            except (ValueError, KeyError) as error:
                fail(f"{tag}: -J: no JSON ({error}): {result.err[-300:]!r}")
    print(f"  {tag}: {len(lines)} mounts, {reachable} reachable, {count} runs, "
          f"{time.monotonic() - started:.2f} s", flush=True)
    return lines


def fork():
    """os.fork(); the child is killed when this process ends."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        failures.clear()
        libc.prctl(1, 9)    # PR_SET_PDEATHSIG, SIGKILL
    return pid


def in_child(*functions):
    """Run functions in child processes at the same time; their failures count as failures of the case."""
    started = {}
    for function in functions:
        pid = fork()
        if pid == 0:
            try:
                function()
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            done()
        started[pid] = function.__name__
    for pid, name in started.items():
        if os.waitpid(pid, 0)[1]:
            failures.append(f"{name}: in a child")


def each(*parts, together=False):
    """Run functions, each in a mount namespace with a small root of its own, and end the case.  Parts that mostly wait run at
    the same time."""
    def alone(part):
        def run_part():
            global in_part
            in_part = True
            unshare_mounts()
            part(Root())
        run_part.__name__ = part.__name__
        return run_part

    if together:
        in_child(*map(alone, parts))
    else:
        for part in parts:
            in_child(alone(part))
    done()


class Other:
    """A process that runs a generator function; it waits for step() after each yield."""

    def __init__(self, steps):
        self.go, self.ready = os.pipe(), os.pipe()
        self.pid = fork()
        if self.pid == 0:
            for _ in steps():
                os.write(self.ready[1], b"x")
                os.read(self.go[0], 1)
            done()
        os.close(self.ready[1])
        os.read(self.ready[0], 1)

    def step(self):
        """Let it run up to the next yield."""
        os.write(self.go[1], b"x")
        os.read(self.ready[0], 1)

    def end(self):
        """Let it run to its end."""
        os.write(self.go[1], b"x")
        _, status = os.waitpid(self.pid, 0)
        expect(status == 0, "in the other process")


def become_nobody():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)


def hide_init():
    """Let this process and its children not see the root of process 1: they take theirs for it, as on a host with a
    service manager.  Its root is hidden anyway in many sandboxes."""
    try:
        os.stat("/proc/1/root")
    except PermissionError:
        return
    head, data = struct.pack("=Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    if libc.capget(head, data):
        _errno("capget")
    sets = list(struct.unpack("=6I", data.raw))
    for i in range(3):                          # effective, permitted, inheritable
        sets[i] &= ~(1 << 19)                   # CAP_SYS_PTRACE
    if libc.prctl(24, 19, 0, 0, 0) or libc.capset(head, struct.pack("=6I", *sets)):     # PR_CAPBSET_DROP
        _errno("capset")
    try:
        os.stat("/proc/1/root")
        fail("the root of process 1 is not hidden")
    except PermissionError:
        pass


def enter_user_namespace():
    """As nobody, in new user and mount namespaces.  @return False where that is not allowed."""
    become_nobody()
    if libc.unshare(0x10000000 | CLONE_NEWNS):
        print("  no user namespaces here")
        return False
    libc.prctl(4, 1, 0, 0, 0)       # PR_SET_DUMPABLE, for /proc/self
    for name, text in (("setgroups", "deny"), ("uid_map", "0 65534 1"), ("gid_map", "0 65534 1")):
        with open("/proc/self/" + name, "w", encoding="ascii") as f:
            f.write(text)
    return True


def commands():
    """The commands that --help lists."""
    text = getmnt("--help").out.decode().partition("\nCommands (")[2].partition("\n\n")[0]
    found = re.findall(r"^   (\w+)  ", text, re.M)
    expect("discover" in found and "audit" in found, f"the commands in --help: {found}")
    return found


def states(*args, status=(0,), **more):
    """Run with these options.  @return mount point -> STATE."""
    result = getmnt("-J", "-l", *args, **more)
    if result.status is None:
        return {}
    expect(result.status in status, f"{args}: status {result.status}: {result.err[-300:]!r}")
    return {row["target"]: row["state"] for row in result.rows()} if result.out else {}


def expect_idle(tag, triggers):
    """Check that no automount (name -> Autofs) was triggered."""
    for name, trigger in triggers.items():
        requests = trigger.requests()
        expect(not requests, f"{tag}: {name} was triggered: {requests[:300]!r}")


def expect_untouched(good, bad, names, columns="TARGET,STATE"):
    """Check in each naming mode that the mounts in bad are untouched and those in good ok."""
    for way in names:
        result = getmnt("-J", "-l", "-o", columns, "--names=" + way, seconds=10)
        if result.status is None:
            continue
        states = {row["target"]: row["state"] for row in result.rows()}
        for target in good:
            expect(states.get(target) == "ok", f"{way}: {target}: {states.get(target)}")
        for target in bad:
            state = states.get(target, "untested")
            expect(state == "untested", f"{way}: touched: {target}: {state}")


# FUSE, without a library: the answer to INIT.
FUSE_INIT = struct.pack("=IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 16, 0, 0)


class HungFuse:
    """A FUSE mount whose server answers INIT and never reads again."""

    def __init__(self, target, dev="/dev/fuse", options="allow_other", source="hung",
                 fstype="fuse", flags=0, user=0, file=False):
        """file: the root of the mount is a file; the target is made as one."""
        self.fd = os.open(dev, os.O_RDWR | os.O_CLOEXEC)
        mode = stat.S_IFREG | 0o644 if file else stat.S_IFDIR | 0o755
        if not file:
            mkdir(target)
        elif not os.path.lexists(target):
            touch(target)
        mount(source, target, fstype, flags,
              f"fd={self.fd},rootmode={mode:o},user_id={user},group_id=0,{options}")
        opcode, unique = struct.unpack_from("=IQ", os.read(self.fd, 65536), 4)
        assert opcode == 26, "FUSE_INIT"
        os.write(self.fd, struct.pack("=IiQ", 16 + len(FUSE_INIT), 0, unique) + FUSE_INIT)

    def end(self):
        """End the connection, which unblocks the processes that wait for it."""
        os.close(self.fd)


def probers():
    """The probers of this mount namespace: PID -> state and parent."""
    found = {}
    own = os.readlink("/proc/self/ns/mnt")
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                head, _, rest = f.read().rpartition(")")
            if "getmnt-probe" in head and os.readlink(f"/proc/{name}/ns/mnt") != own:
                continue
        except OSError:
            continue
        if head.endswith("(getmnt-probe") and rest.split()[0] not in "ZX":
            found[int(name)] = tuple(rest.split()[:2])
    return found


class SilentFuse(HungFuse):
    """A FUSE mount whose server reads requests and never replies: processes that wait for it
    cannot be killed."""

    def __init__(self, target, source="silent", **more):
        super().__init__(target, source=source, **more)
        self.requests = 0
        self.ended = threading.Event()
        os.set_blocking(self.fd, False)
        self.thread = threading.Thread(target=self.swallow, daemon=True)
        self.thread.start()

    def swallow(self):
        while not self.ended.wait(0.002):
            try:
                os.read(self.fd, 1 << 17)
                self.requests += 1
            except BlockingIOError:
                pass

    def end(self):
        self.ended.set()
        self.thread.join()
        super().end()


class FileFuse:
    """A FUSE mount with files in its root, whose server can be stopped.  Written data is
    discarded; closing a file returns flush_error."""

    def __init__(self, target, files=None, user=0, source="slow", fstype="fuse"):
        self.files = [(b"", b"")] + [(_bytes(name), data) for name, data in (files or {}).items()]
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        self.stopped = False
        self.flush_error = 0
        mount(source, mkdir(target), fstype, 0,
              f"fd={self.fd},rootmode=40755,user_id={user},group_id=0,allow_other")
        threading.Thread(target=self.serve, daemon=True).start()

    def attr(self, node):
        size = len(self.files[node - 1][1])
        mode = stat.S_IFDIR | 0o755 if node == 1 else stat.S_IFREG | 0o644
        return struct.pack("=QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0,
                           mode, 2 if node == 1 else 1, 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        """The reply: an error number, or bytes."""
        if opcode == 26:                                        # INIT
            return FUSE_INIT
        if opcode == 3:                                         # GETATTR
            return struct.pack("=QII", 0, 0, 0) + self.attr(node)
        if opcode == 1:                                         # LOOKUP
            for number, (name, _) in enumerate(self.files, 1):
                if name and name == body.split(b"\0")[0]:
                    return struct.pack("=QQQQII", number, 0, 0, 0, 0, 0) + self.attr(number)
            return errno.ENOENT
        if opcode in (27, 14):                                  # OPENDIR, OPEN
            return struct.pack("=QII", 1, 0, 0)
        if opcode == 15:                                        # READ
            _, offset, size = struct.unpack_from("=QQI", body)
            return self.files[node - 1][1][offset:offset + size]
        if opcode == 16:                                        # WRITE
            return struct.pack("=II", struct.unpack_from("=QQI", body)[2], 0)
        if opcode == 4:                                         # SETATTR
            return struct.pack("=QII", 0, 0, 0) + self.attr(node)
        if opcode == 25:                                        # FLUSH
            return self.flush_error or b""
        if opcode in (28, 44, 29, 18):                          # READDIR, RELEASE
            return b""
        if opcode == 17:                                        # STATFS
            return struct.pack("=QQQQQIIII24x", 1, 1, 1, 1, 1, 4096, 255, 4096, 0)
        return errno.ENOSYS

    def serve(self):
        while True:
            try:
                request = os.read(self.fd, 1 << 17)
            except OSError:
                return
            if self.stopped:
                return
            opcode, unique, node = struct.unpack_from("=IQQ", request, 4)
            if opcode in (2, 42, 36):                           # FORGET, INTERRUPT
                continue
            reply = self.answer(opcode, node, request[40:])
            error = -reply if isinstance(reply, int) else 0
            body = b"" if isinstance(reply, int) else reply
            try:
                os.write(self.fd, struct.pack("=IiQ", 16 + len(body), error, unique) + body)
            except OSError:
                pass


class Autofs:
    """A raw autofs mount; requests to the daemon arrive in a pipe."""

    def __init__(self, target, kind, source="getmnt-test"):
        self.pipe, write = os.pipe()
        os.set_blocking(self.pipe, False)
        mount(source, mkdir(target), "autofs", 0,
              f"fd={write},pgrp={os.getpgrp()},minproto=5,maxproto=5,{kind}")
        os.close(write)

    def requests(self):
        """The requests since the last call; b'' if it was left idle."""
        try:
            return os.read(self.pipe, 65536)
        except BlockingIOError:
            return b""


