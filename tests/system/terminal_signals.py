# SPDX-License-Identifier: MIT
"""Signals while a search shows progress on a terminal: the line is cleared before the program dies of
the signal or is stopped by it, and progress goes on afterwards.  GETMNT_SIGNALS and GETMNT_SEED as in
signals.py."""
import fcntl
import os
import random
import select
import signal
import struct
import termios
import time

import gm

COUNT = max(1, int(os.environ.get("GETMNT_SIGNALS", "24")) // 24)
SEED = int(os.environ.get("GETMNT_SEED", str(random.randrange(1 << 32))))
random.seed(SEED)
print(f"  GETMNT_SEED={SEED}")
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE,
          signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGVTALRM,
          signal.SIGIO, signal.SIGTSTP]
CLEAR = b"\r\x1b[K"

# Terminals, while there is a /dev/pts: as many as are used at once.
terminals = []
for _ in ENDING:
    shows, writes = os.openpty()
    fcntl.ioctl(writes, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    terminals.append((shows, writes))
root = gm.Root()
for i in range(2000):
    gm.mkdir(root / f"long/tree/a{i % 30}/b{i}")
for i in range(1500):
    gm.bind(root / "long/tree", gm.mkdir(root / f"long/t{i}"))
root.enter()


def start(writes, threads):
    """A search of many seconds, in a process group of its own."""
    return os.posix_spawn(
        gm.PROGRAM, [gm.PROGRAM, "-l", "--names=walk", "--algorithm=getmnt1", f"--threads={threads}"],
        {"LC_ALL": "C.UTF-8", "TERM": "xterm", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")},
        setpgroup=0, setsigdef=[signal.SIGPIPE, signal.SIGINT],
        file_actions=[(os.POSIX_SPAWN_DUP2, gm.null, 0), (os.POSIX_SPAWN_DUP2, writes, 1),
                      (os.POSIX_SPAWN_DUP2, writes, 2)])


def shown(shows, until=0.0):
    """What a terminal got, at least until something is there."""
    text = b""
    while select.select([shows], [], [], 0.02 if text else until)[0]:
        text += os.read(shows, 65536)
    return text


seen = 0
for turn in range(COUNT):
    pids = [start(writes, random.choice((1, 4))) for _, writes in terminals]
    # Progress is shown from the first second on: stop the searches until then.
    time.sleep(0.02)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(1.1)
    random.shuffle(ENDING)
    for pid, number, (shows, _) in zip(pids, ENDING, terminals):
        tag = f"{number.name} {turn}"
        os.kill(pid, signal.SIGCONT)
        text = shown(shows, 5)
        gm.expect(b"directories, " in text, f"{tag}: no progress: {text[-200:]}")
        time.sleep(random.random() * 0.3)
        os.kill(pid, number)
        if number == signal.SIGTSTP:
            info = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            gm.expect(info.si_code == os.CLD_STOPPED, f"{tag}: not stopped: {info}")
            text += shown(shows)
            gm.expect(text.endswith(CLEAR), f"{tag}: stopped, and left on the terminal: {text[-100:]}")
            # It goes on, shows where it is, and can be stopped and ended again.
            os.kill(pid, signal.SIGCONT)
            more = shown(shows, 5)
            gm.expect(b"directories, " in more, f"{tag}: continued, no progress: {more}")
            os.kill(pid, number)
            info = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            gm.expect(info.si_code == os.CLD_STOPPED, f"{tag}: not stopped again: {info}")
            gm.expect((more + shown(shows)).endswith(CLEAR), f"{tag}: left on the terminal again")
            os.kill(pid, signal.SIGCONT)
            number = signal.SIGTERM
            os.kill(pid, number)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        text += shown(shows)
        gm.expect(status == -number, f"{tag}: status {status}")
        gm.expect(text.endswith(CLEAR), f"{tag}: left on the terminal: {text[-100:]}")
        gm.expect(text.count(CLEAR) > 1, f"{tag}: nothing was cleared")
        seen += 1
print(f"  {seen} signals on a terminal")
gm.done()
