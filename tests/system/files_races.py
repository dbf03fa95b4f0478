# SPDX-License-Identifier: MIT
"""A user replaces a directory by a symlink and plants names in it, in a tight loop, while root runs the
commands that write there, and a search: nothing outside that directory is created, changed, removed or
shown, and no run hangs.  10,000 runs of each by make check-long (GETMNT_LONG=1), otherwise two seconds."""
import os
import signal
import time

import gm

LONG = os.environ.get("GETMNT_LONG") == "1"
RUNS, SECONDS = (int(os.environ.get("GM_RUNS", "10000")), None) if LONG else (None, 2.5)
USER = 1000
RENAME_EXCHANGE, AT_FDCWD = 2, -100
root = gm.Root()
for name in ("etc", "data", "secret/sub", "home/u/d"):
    gm.mkdir(root / name)
root.enter()
gm.touch("/etc/fstab", "none /data tmpfs defaults 0 0\n")
NAMES = ("base", "rep.prom", "fstab", "mtab")
FSTAB, MTAB = "# the user's\n", "x /x tmpfs rw 0 0\n"
for name in NAMES:
    gm.touch("/secret/" + name, {"fstab": FSTAB, "mtab": MTAB}.get(name, ""))
    gm.touch(f"/secret/.{name}.getmnt-new", "left by another\n")
gm.touch("/secret/sub/topsecret")
os.symlink("/secret", "/home/u/link")
for path in ("/home/u", "/home/u/d"):
    os.chown(path, USER, USER)
os.chown("/home/u/link", USER, USER, follow_symlinks=False)


def user(act, *args):
    try:
        act(*args)
    except OSError:
        pass


def write(path, text):
    """It does not wait for a reader, should it be a FIFO that was left."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK | os.O_NOFOLLOW, 0o644)
    os.write(fd, text.encode())
    os.close(fd)


def attack(swaps):
    """What the user does, without end."""
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    n = 0
    while True:
        n += 1
        name = NAMES[n % len(NAMES)]
        beside = [f"/home/u/d/{name}", *(f"/home/u/d/.{name}.getmnt-{what}" for what in ("lock", "new", "old"))][n // 4 % 4]
        if swaps:
            gm.libc.renameat2(AT_FDCWD, b"/home/u/d", AT_FDCWD, b"/home/u/link", RENAME_EXCHANGE)
            time.sleep(0.0003 * (n % 4))
            continue
        user(os.unlink, beside)
        user((os.symlink, os.link)[n // 16 % 2], f"/secret/{name}", beside)
        user(os.unlink, beside)
        if n % 5 == 0:
            user(os.mkfifo, beside)
            user(os.unlink, beside)
        if beside.endswith("b") and n % 3 == 0:
            user(write, beside, FSTAB if name == "fstab" else MTAB)


def outside():
    """All that is not the user's: names, bytes, owners, modes, times."""
    found = {}
    for top in ("/secret", "/etc", "/data"):
        for directory, names, files in os.walk(top):
            for path in [directory, *(os.path.join(directory, name) for name in names + files)]:
                st = os.lstat(path)
                text = open(path, "rb").read() if os.path.isfile(path) else b""
                found[path] = (st.st_ino, st.st_mode, st.st_uid, st.st_gid, st.st_mtime_ns, text)
    return found, sorted(os.listdir("/"))


before = outside()
attackers = []
for swaps in (True, False):
    pid = os.fork()
    if pid == 0:
        try:
            attack(swaps)
        finally:
            os._exit(1)
    attackers.append(pid)
COMMANDS = (
    (["audit", "--only=FSTAB-*", "--save=/home/u/d/base"], (0, 1, 2)),
    (["audit", "--only=FSTAB-*", "--prometheus", "--output=/home/u/d/rep.prom"], (0, 1, 2)),
    (["fstab", "--merge=/home/u/d/fstab", "--add=/", "--write", "--yes", "--force"], (0, 1, 2, 16)),
    (["recover", "/home/u/d/mtab", "--write", "--yes"], (0, 1, 2, 16)),
    (["search", "*", "/home/u"], (0, 1, 64)),
)
for command, allowed in COMMANDS:
    seen, end, runs = {}, SECONDS and time.monotonic() + SECONDS / len(COMMANDS), 0
    while runs < RUNS if RUNS else runs < 20 or time.monotonic() < end:
        runs += 1
        result = gm.getmnt(*command)
        seen[result.status] = seen.get(result.status, 0) + 1
        if not gm.expect(result.status in allowed and b"topsecret" not in result.out, f"{command}: {result.status} {result.err[-300:]}"):
            break
    print(f"  {command[0]} {command[-1]}: {runs} runs, by status {seen}")
    gm.expect(len(seen) > 1 or not LONG, f"{command}: no run met the race: {seen}")
    gm.expect(outside() == before, f"{command}: changed outside: "
              f"{[item for item in outside()[0].items() if before[0].get(item[0]) != item[1]][:3]} {outside()[1]}")
for pid in attackers:
    gm.expect(os.waitpid(pid, os.WNOHANG) == (0, 0), "who attacks has ended")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
gm.done()
