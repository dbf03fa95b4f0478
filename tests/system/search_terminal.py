# SPDX-License-Identifier: MIT
"""getmnt search on a terminal: names are escaped, colors follow the options, progress comes after a second and is
gone before anything is printed, at the end, and at a signal.  search_flow.py has what is
printed while a search goes on."""
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

import gm

gm.need_speed("the kernel has no part in it")
CLEAR = b"\r\x1b[K"


def terminal(columns):
    shows, writes = os.openpty()
    fcntl.ioctl(writes, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    return shows, writes


shows, writes = terminal(70)
root = gm.Root()
for name in (b"esc\x1b[31mred", b"bel\x07", b"c1\xc2\x9b2J", b"new\nline", b"inv\xff", b"plain", b"x.tar"):
    gm.touch(os.fsencode(root / "n/") + name)
gm.mkdir(root / "n/dir")
for i in range(2000):
    gm.mkdir(root / f"long/tree/a{i % 30}/b{i}")
for i in range(1500):
    gm.bind(root / "long/tree", gm.mkdir(root / f"long/t{i}"))
gm.touch(root / "long/needle")
root.enter()


def start(args, out, err, **env):
    environment = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "PATH": "/bin",
                   "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), **env}
    return os.posix_spawn(
        gm.PROGRAM, [gm.PROGRAM, "search", *args], environment, setpgroup=0,
        setsigdef=[signal.SIGPIPE, signal.SIGINT],
        file_actions=[(os.POSIX_SPAWN_DUP2, gm.null, 0), (os.POSIX_SPAWN_DUP2, out, 1),
                      (os.POSIX_SPAWN_DUP2, err, 2)])


def ended(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shown(until=0.0):
    text = b""
    while select.select([shows], [], [], 0.1 if text else until)[0]:
        text += os.read(shows, 65536)
    return text


def on_terminal(*args, **env):
    status = ended(start(args, writes, writes, **env))
    gm.expect(status == 0, f"{args}: status {status}")
    return shown(1)


# Names, with and without colours.
for args, env, color in (((), {}, True), (("-l",), {}, True), (("--color=never",), {}, False),
                         ((), {"NO_COLOR": "1"}, False), ((), {"NO_COLOR": ""}, True),
                         ((), {"TERM": "dumb"}, False), ((), {"TERM": ""}, False), (("-o", "PATH"), {}, False), (("-0",), {}, False),
                         (("--color=always",), {"NO_COLOR": "1"}, True), (("-J",), {}, False),
                         (("--format=jsonl",), {}, False)):
    text = on_terminal(*args, "*", "/n", **env)
    if args == ("-0",):
        continue            # byte for byte, as requested
    for harm in (b"\x1b[31mred", b"\x07", b"\xc2\x9b", b"\xff", b"new\n", b"new\r\n"):
        gm.expect(harm not in text, f"{args}: {harm!r} is written as it is: {text!r}")
    gm.expect((b"\x1b[01;34m" in text) == color, f"{args} {env}: colour: {text!r}")
    gm.expect(color or b"\x1b" not in text, f"{args} {env}: an escape sequence: {text!r}")
text = on_terminal("*", "/n", LS_COLORS="di=35:*.tar=31")
gm.expect(b"\x1b[35m/n/\x1b[0m\x1b[31mx.tar\x1b[0m" in text, f"LS_COLORS: {text!r}")
text = on_terminal("*", "/n", LS_COLORS="di=\x1b[2J:*.tar=31\x07:ln=1;\\e")
gm.expect(b"\x1b[2J" not in text and b"\x07" not in text and b"\\e" not in text, f"hostile: {text!r}")
# Of these every sequence is one that sets a colour.
gm.expect(re.sub(rb"\x1b\[[0-9;]*m", b"", text).count(b"\x1b") == 0, f"sequences: {text!r}")

# Progress: a search that was stopped for longer than a second prints some.
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
for turn, number in enumerate(ENDING):
    threads = str(1 + turn % 2 * 3)
    tag = f"{number.name}, {threads} threads"
    pid = start(["nothing|needle", "/long", "--threads=" + threads], writes, writes)
    time.sleep(0.02)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(1.1)
    os.kill(pid, signal.SIGCONT)
    text = b""
    end = time.monotonic() + gm.WAIT_SECONDS
    while b" found: /long" not in text and time.monotonic() < end:
        text += shown(1)
    gm.expect(b"directories, " in text and b" found: /long" in text, f"{tag}: no progress: {text[-200:]}")
    for line in text.split(CLEAR):
        gm.expect(len(line.decode(errors="replace")) <= 70, f"{tag}: wider than the terminal: {line}")
    os.kill(pid, number)
    status = ended(pid)
    text += shown()
    gm.expect(status == -number, f"{tag}: status {status}")
    gm.expect(b" found: " not in text.split(CLEAR)[-1], f"{tag}: left on the terminal: {text[-100:]}")

# A line of progress is cleared before results and messages.
pid = start(["/a*/nothing|*b1|x", "/long/tree", "/none", "/long"], writes, writes)
time.sleep(0.02)
os.kill(pid, signal.SIGSTOP)
time.sleep(1.1)
os.kill(pid, signal.SIGCONT)
text = shown(5) + shown(1)
os.kill(pid, signal.SIGINT)
ended(pid)
text += shown()
for line in text.split(b"\r\n"):
    last = line.split(CLEAR)[-1]
    gm.expect(b" found: " not in last or line == text.split(b"\r\n")[-1],
              f"printed after the progress line: {line[-200:]}")

# None of it off a terminal, or where only one of the two is.
with open("/err", "wb+") as err:
    pid = start(["nothing", "/long"], writes, err.fileno())
    time.sleep(1.5)
    os.kill(pid, signal.SIGTERM)
    gm.expect(ended(pid) == -signal.SIGTERM, "SIGTERM")
    gm.expect(os.fstat(err.fileno()).st_size == 0 and shown() == b"", "progress off a terminal")

# SIGINT: earlier results are printed; a truncated document is no success.
for args in (["*", "/long"], ["-J", "*", "/long"], ["-l", "*", "/long"]):
    proc = subprocess.Popen([gm.PROGRAM, "search", *args], stdin=gm.null, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env={"LC_ALL": "C.UTF-8"})
    first = proc.stdout.read(4096)
    proc.send_signal(signal.SIGINT)
    rest, err = proc.communicate()
    gm.expect(first and proc.returncode == -signal.SIGINT, f"{args}: SIGINT: status {proc.returncode}")
    gm.expect(err == b"", f"{args}: SIGINT: {err!r}")
gm.done()
