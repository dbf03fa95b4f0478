# SPDX-License-Identifier: MIT
"""Descriptors 0 to 2 closed, in every combination and output form: the run works, writes to no other
file, and reports output that could not be printed.  Also a full disk, a limit on the file size,
a file whose server refuses the data at close, and a pipe without a reader."""
import itertools
import os
import resource
import signal

import gm

root = gm.Root()
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
gm.tmpfs(root / "full", "size=16k")
have_fuse = os.path.exists("/dev/fuse")
server = gm.FileFuse(root / "refuses", {"out": b""}) if have_fuse else None
root.enter()
# From here on /dev/null does not exist.
os.unlink("/dev/null")
FORMS = gm.FORMS + [("-h",), ("-V",), ("-H",), ("--dump-completion",), ("-q",), ("--explain",),
                    ("--names=walk",), ("--stats",), ("-D",), ("-o", "NO-SUCH"), ("-F", "-")]


def closing(fds):
    def close():
        for fd in fds:
            os.close(fd)
    return close


for form in FORMS if gm.SLOW == 1 else FORMS[::2]:
    whole = gm.getmnt(*form)
    want = {("-o", "NO-SUCH"): 1, ("-F", "-"): 1}.get(form, 0)
    gm.expect(whole.status == want, f"{form}: status {whole.status}: {whole.err}")
    for count in (1, 2, 3):
        for fds in itertools.combinations(range(3), count):
            tag = f"{' '.join(form)}, {fds} closed"
            result = gm.getmnt(*form, before=closing(fds))
            if 1 in fds:
                status = 1 if whole.out else want
                gm.expect(not result.out, f"{tag}: {result.out[:100]}")
            else:
                status = want
                gm.expect(result.out == whole.out, f"{tag}: {result.out[:300]}")
            gm.expect(result.status == status, f"{tag}: status {result.status}: {result.err}")
            if status and 2 not in fds:
                gm.expect(result.err.startswith(b"getmnt: "), f"{tag}: no word of why")
            if 2 in fds:
                gm.expect(not result.err, f"{tag}: {result.err}")

# A file is not taken for a descriptor that was closed: nothing is written in it.
recorded = gm.read_bytes("/proc/self/mountinfo")
gm.touch("/tmp/table", recorded.decode())
for fds in ((0,), (1,), (2,), (0, 1, 2)):
    gm.getmnt("-F", "/tmp/table", "-J", "--stats", before=closing(fds))
    gm.getmnt("-F", "/dev/stdin", "-J", before=closing(fds))
gm.expect(gm.read_bytes("/tmp/table") == recorded, "a table was written into")


def print_into(path, form, before=None):
    out = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    result = gm.getmnt(*form, stdout=out, before=before)
    try:
        os.close(out)
    except OSError:
        pass
    return result


# A full disk; a file that may not grow (its signal being ignored, else it is
# what ends the program).
with open("/full/stuff", "wb") as f:
    try:
        f.write(bytes(1 << 20))
    except OSError:
        pass


def ignore_fsize():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


for form in gm.FORMS + [("-h",), ("-V",), ("-H",), ("--dump-completion",)]:
    for why, path, before in ((b"No space left", "/full/out", None),
                              (b"File too large", "/tmp/out", ignore_fsize)):
        result = print_into(path, form, before)
        gm.expect(result.status == 1 and why in result.err and b"standard output" in result.err,
                  f"{form} into {path}: status {result.status}: {result.err}")
    pid = gm.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Python ignores the signal, and a child inherits that.
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.dup2(os.open("/tmp/out", os.O_CREAT | os.O_WRONLY), 1)
        os.execve(gm.PROGRAM, [gm.PROGRAM, *form], {})
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    gm.expect(status == -signal.SIGXFSZ, f"{form} and SIGXFSZ: status {status}")

# A server, or a quota, that refuses only when the file is closed.
if server:
    for form in gm.FORMS:
        server.flush_error = 0
        result = print_into("/refuses/out", form)
        gm.expect(result.status == 0, f"{form}: status {result.status}: {result.err}")
        server.flush_error = 28
        result = print_into("/refuses/out", form)
        gm.expect(result.status == 1 and b"No space left" in result.err,
                  f"{form}, refused when closed: status {result.status}: {result.err}")
    server.flush_error = 0

# A full disk loses the messages on stderr, and nothing else.
for form in gm.FORMS:
    whole = gm.getmnt(*form, "--names=kernel")
    result = gm.getmnt(*form, "--names=kernel", "--stats",
                       before=lambda: os.dup2(os.open("/full/out", os.O_WRONLY), 2))
    gm.expect(result.status == 0 and result.out == whole.out,
              f"{form}, stderr on a full disk: status {result.status}")

# A pipe without a reader ends the run without a message.
for form in gm.FORMS + [("-h",), ("-H",)]:
    read, write = os.pipe()
    os.close(read)
    pid = gm.fork()
    if pid == 0:
        err = os.open("/tmp/err", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        os.dup2(write, 1)
        os.dup2(err, 2)
        # Ignored by who starts it, as python and some daemons do, too.
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.execve(gm.PROGRAM, [gm.PROGRAM, *form], {})
    os.close(write)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    gm.expect(status == -signal.SIGPIPE, f"{form} into a pipe nobody reads: status {status}")
    gm.expect(os.path.getsize("/tmp/err") == 0, f"{form}: SIGPIPE is not silent")
gm.done()
