# SPDX-License-Identifier: MIT
"""Runs getmnt find and GNU find, and compares what they do."""
import collections
import os
import pickle
import re
import select
import signal

import gm
from find_tree import GROUPS, USERS, quote

ENDS = re.compile(rb"[\0\n]")


def install(root):
    """Put GNU find, commands for -exec, and names of users and groups into a small root."""
    gm.need("find")
    for program in ("find", "true", "false", "test", "echo", "rm", "chmod", "sh"):
        gm.install(program, root / "")
    gm.touch(root / "etc/passwd", "".join(f"{name.decode()}:x:{number}:0::/:/bin/sh\n" for name, number in USERS.items()))
    gm.touch(root / "etc/group", "".join(f"{name.decode()}:x:{number}:\n" for name, number in GROUPS.items()))
    for name, target in (("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        os.symlink(target, root / f"dev/{name}")


def count_records(text, aligned):
    """Count the records of a text.  If its columns are aligned, their widths depend on the order."""
    return collections.Counter(ENDS.split(re.sub(rb" +", b" ", text) if aligned else text))


def ended_early(theirs):
    """Whether GNU find ended where -execdir could not enter a directory; getmnt goes on."""
    return theirs.status == 1 and b"Failed to save working directory" in theirs.err


class Outcome:
    """What a program did: its status, its records, those in the file that it wrote, its messages."""

    def __init__(self, argv, status, out, written, err):
        self.status, self.out, self.err = status, out, err
        aligned = b"-ls" in argv or b"-fls" in argv
        self.records = count_records(out, aligned)
        self.in_file = written if written is None else count_records(written, aligned)

    def same_output(self, other):
        return (self.records, self.in_file) == (other.records, other.in_file)

    def __eq__(self, other):
        return self.status == other.status and self.same_output(other)

    def differences(self, other):
        """Lines that say how this one, of getmnt, differs from that of GNU find."""
        lines = []
        if self.status != other.status:
            lines.append(f"status {self.status}, not {other.status}")
        for what, ours, theirs in (("", self.records, other.records), (" in the file", self.in_file, other.in_file)):
            if (ours is None) != (theirs is None):
                lines.append("a file was written only by " + ("GNU find" if ours is None else "getmnt"))
            elif ours is not None:
                lines += [f"missing{what}: {record!r}" for record in list(theirs - ours)[:5]]
                lines += [f"surplus{what}: {record!r}" for record in list(ours - theirs)[:5]]
        return lines + [f"getmnt: {self.err[-300:]!r}", f"find:   {other.err[-300:]!r}"]


class Runner:
    """Runs a program with files for its output, which takes less time than pipes."""

    def __init__(self):
        self.files = [os.memfd_create(name) for name in ("out", "err")]

    def run(self, argv, env, prefix=b""):
        """Run a program in this directory.  prefix: is left out of its output."""
        for fd in self.files:
            os.truncate(fd, 0)
            os.lseek(fd, 0, os.SEEK_SET)
        actions = [(os.POSIX_SPAWN_DUP2, gm.null, 0)] + [
            (os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(self.files, 1)]
        pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
        pidfd = os.pidfd_open(pid)
        ready = select.poll()
        ready.register(pidfd, select.POLLIN)
        if not ready.poll(gm.RUN_SECONDS * 1000):
            gm.fail(f"{argv}: did not end")
            os.kill(pid, signal.SIGKILL)
        os.close(pidfd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out, err = (os.pread(fd, os.fstat(fd).st_size, 0) for fd in self.files)
        if status < 0 or b"Sanitizer" in err or b"runtime error" in err:
            gm.fail(f"{argv}: status {status}: {err[-3000:].decode(errors='replace')}")
        try:
            written = gm.read_bytes("/tmp/OUT")
            os.unlink("/tmp/OUT")
        except FileNotFoundError:
            written = None
        out, err = out.replace(prefix, b""), err.replace(prefix, b"")
        return Outcome(argv, status, out, written and written.replace(prefix, b""), err)


GNU = [b"/bin/find"]
OURS = [gm.PROGRAM.encode(), b"find"]


def environment(env):
    return {**gm.environment({}), **{key.decode(): value.decode() for key, value in env}}


def shell(argv, env=()):
    """The command as bash reads it."""
    return " ".join([f"{key.decode()}={quote(value)}" for key, value in env] + [quote(word) for word in argv])


def order_problem(out, contents_first):
    """Check that a directory comes before its contents, or after them.  @return None, or a path
    that is not where it should be.  Of a path that occurs several times the outermost counts."""
    records = [record for record in ENDS.split(out) if not record.startswith(b"line")]  # of a name with a newline
    if not contents_first:
        records.reverse()
    where = {record: at for at, record in enumerate(records)}
    for path, at in where.items():
        parent = os.path.dirname(path)
        if parent not in (b"", path) and where.get(parent, at) < at:
            return path
    return None


class Child:
    """Calls a function in a child with this user and directory, and a /tmp of its own."""

    def __init__(self, uid, where, function):
        pipe = os.pipe()
        self.pid = gm.fork()
        if self.pid == 0:
            gm.unshare_mounts()
            gm.mount("tmp", "/tmp", "tmpfs", 0, "mode=1777")
            os.chdir(where)
            if uid:
                gm.become_nobody()
            with os.fdopen(pipe[1], "wb") as file:
                pickle.dump((function(), gm.failures), file)
            os._exit(0)
        os.close(pipe[1])
        self.pipe = pipe[0]

    def result(self):
        """Wait for its end.  @return what the function returned."""
        with os.fdopen(self.pipe, "rb") as file:
            data = file.read()
        os.waitpid(self.pid, 0)
        result, failures = pickle.loads(data)
        gm.failures.extend(failures)
        return result
