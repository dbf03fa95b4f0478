# SPDX-License-Identifier: MIT
"""On a terminal: names are harmless, OPTIONS is truncated and TARGET is not, and a long walk shows
progress, which is cleared at the end; without a terminal nothing of this is printed."""
import fcntl
import os
import select
import signal
import stat
import struct
import termios
import time

import gm

gm.need_speed("the kernel has no part in it")

def terminal(columns):
    """A pseudo terminal: what the program writes to, and what shows it."""
    shows, writes = os.openpty()
    fcntl.ioctl(writes, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return shows, writes


def on_terminal(args, out, err, pause=0.0, after=0.01):
    """Run with descriptors 1 and 2 as given.  pause: stop it for a while."""
    pid = gm.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_RDWR), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.execve(gm.PROGRAM, [gm.PROGRAM, *args],
                  {"LC_ALL": "C.UTF-8", "TERM": "xterm",
                   "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")})
    if pause:
        time.sleep(after)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(pause)
        os.kill(pid, signal.SIGCONT)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def shown_on(shows):
    text = b""
    while select.select([shows], [], [], 0.1)[0]:
        text += os.read(shows, 65536)
    return text


narrow, wide = terminal(60), terminal(500)
progress = terminal(80)
root = gm.Root()
long = "a-long-name-that-is-wider-than-the-terminal-" * 2
gm.tmpfs(root / f"t/{long}")
for name in (b"esc\x1b[31mred", b"bel\x07", b"c1\xc2\x9b2J", b"new\nline", b"inv\xff"):
    gm.tmpfs(os.fsencode(root / "n/") + name)
for i in range(100):
    for j in range(100):
        gm.mkdir(root / f"d/e{i}/f{j}")
os.mknod(root / "fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()
null = os.open("/dev/null", os.O_RDWR)

for args in (["-l"], ["--tree"], ["-l", "-o", "TARGET,OPTIONS"]):
    for name, (shows, writes) in (("narrow", narrow), ("wide", wide)):
        status = on_terminal(args, writes, null)
        text = shown_on(shows)
        gm.expect(status == 0, f"{args}, {name}: status {status}")
        gm.expect(long.encode() in text, f"{args}, {name}: TARGET is cut")
        for harm in (b"\x1b[31m", b"\x07", b"\xc2\x9b", b"\xff"):
            gm.expect(harm not in text, f"{args}, {name}: {harm!r} is written as it is")
        gm.expect(b"\\x1b[31mred" in text, f"{args}, {name}: no \\x1b: {text[-300:]!r}")

# A walk that was stopped for longer than a second prints progress.
shows, writes = progress
walk = ["--names=walk", "--algorithm=getmnt1", "-l", "-n", "-o", "ID"]
seen = b""
for turn in range(10):
    status = on_terminal(walk, wide[1], writes, pause=1.2, after=0.004 * 1.7 ** turn)
    seen = shown_on(shows)
    gm.expect(status == 0, f"progress: status {status}")
    shown_on(wide[0])
    if seen:
        break
gm.expect(b"directories" in seen, f"no progress is shown: {seen!r}")
gm.expect(seen.endswith(b"\r\x1b[K"), f"progress is left on the terminal: {seen[-100:]!r}")
out = os.open("/tmp/err", os.O_CREAT | os.O_RDWR, 0o600)
on_terminal(walk, wide[1], out, pause=1.2)
gm.expect(os.fstat(out).st_size == 0, "progress off a terminal")

# Progress includes probes in flight.
gm.tmpfs("/run")
hung = gm.HungFuse("/hung", dev="/fuse")
status = on_terminal(("--probe=all", "--timeout=2", "-l", "-o", "TARGET,STATE"), null, progress[1])
text = shown_on(progress[0])
gm.expect(status == 0, f"--probe: status {status}")
gm.expect(text == b"", f"stdout is no terminal: {text!r}")
status = on_terminal(("--probe=all", "--timeout=2", "-l", "-o", "TARGET,STATE"), wide[1], progress[1])
text = shown_on(progress[0])
gm.expect(b"1 not answered yet" in text and b"/hung" in text, f"progress: {text[:300]!r}")
gm.expect(text.endswith(b"\r\x1b[K"), f"progress is left: {text[-60:]!r}")
gm.done()
