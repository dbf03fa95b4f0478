# SPDX-License-Identifier: MIT
"""Signals at random points of a run: it dies of the signal, or its answer is complete; stops and ignored
signals change nothing; no process and no file is left.  Each is sent GETMNT_SIGNALS times; GETMNT_SEED
repeats a run."""
import os
import random
import signal
import time

import gm

gm.need_speed("the kernel has no part in it")
COUNT = int(os.environ.get("GETMNT_SIGNALS", "16"))
SEED = int(os.environ.get("GETMNT_SEED", str(random.randrange(1 << 32))))
random.seed(SEED)
print(f"  GETMNT_SEED={SEED} GETMNT_SIGNALS={COUNT}")
# By default they end a process.
ENDING = ("INT", "TERM", "HUP", "QUIT", "PIPE", "ALRM", "USR1", "USR2", "XCPU", "VTALRM", "IO",
          "KILL")
# By default they do nothing.
PASSING = ("CHLD", "WINCH", "URG", "CONT")
STOPPING = ("TSTP", "STOP", "TTIN", "TTOU")

root = gm.Root()
for i in range(300):
    gm.tmpfs(root / f"m/m{i}", "size=4k,nr_inodes=10", source=f"source{i}")
for i in range(50):
    for j in range(50):
        gm.mkdir(root / f"d/e{i}/f{j}")
gm.tmpfs(root / "z/y/x")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
fuse = os.path.exists("/dev/fuse")
hung = gm.HungFuse(root / "hung") if fuse else None
root.enter()
gm.mkdir("/tmp/out")
WALK = ["-J", "-l", "-o", "+ID,NAMED", "--names=walk"]
COMMANDS = [["-J"], WALK + ["--threads=1"], WALK + ["--threads=4"], WALK + ["--algorithm=getmnt1"],
            ["-J", "-l", "--names=pure", "--kernel=mountinfo"], ["-J", "-o", "TARGET,SIZE,OPTIONS"], ["--format=jsonl"]]
if hung:
    COMMANDS.append(["-J", "--probe=all", "--timeout=0.02"])
ENV = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm",
       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=0")}
DEFAULT = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT]     # what Python changes


def start(args, out, **more):
    """Run in a process group of its own, as a shell does."""
    return os.posix_spawn(gm.PROGRAM, [gm.PROGRAM, *args], ENV, setpgroup=0, setsigdef=DEFAULT,
                          file_actions=[(os.POSIX_SPAWN_DUP2, gm.null, 0),
                                        (os.POSIX_SPAWN_DUP2, out, 1),
                                        (os.POSIX_SPAWN_DUP2, gm.null, 2)], **more)


def printed():
    return gm.read_bytes("/tmp/out/out")


def output():
    return os.open("/tmp/out/out", os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_CLOEXEC, 0o600)


def others():
    """Processes that run the program here."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and os.readlink(f"/proc/{pid}/root") == os.readlink("/proc/self/root") \
                    and os.path.samefile(f"/proc/{pid}/exe", gm.PROGRAM):
                found.append(int(pid))
        except OSError:
            pass
    return found


# What each prints, and how long it takes.
whole, took = [], []
for args in COMMANDS:
    times = []
    for turn in range(5):
        out = output()
        begin = time.monotonic()
        pid = start(args, out)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        times.append(time.monotonic() - begin)
        os.close(out)
        gm.expect(status in (0, 64), f"{args}: status {status}")
    whole.append(printed())
    took.append(sorted(times)[2])


print("  " + ", ".join(f"{1000 * seconds:.1f}" for seconds in took) + " ms")


def trial(tag, which, act, may_end=0, **more):
    """One run of a command, on which act(pid) is let loose at a random time.
    may_end: the signal that may end it.  @return its status."""
    args = COMMANDS[which]
    out = output()
    pid = start(args, out, **more)
    time.sleep(random.random() * took[which] * 1.1)
    act(pid)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(out)
    text, tag = printed(), f"{tag}: {' '.join(args)}"
    # A mount whose probe is left is not probed again: the answer differs.
    same = "--probe=all" in args or (whole[which] == text if status >= 0 else
                                     whole[which].startswith(text))
    gm.expect(status in (0, 64) or (status < 0 and status == -may_end), f"{tag}: status {status}")
    gm.expect(same, f"{tag}: status {status}, another answer: {text[-200:]}")
    return status


def trials(name, act, may_end=0, count=COUNT, **more):
    return [trial(f"{name} {turn}", turn % len(COMMANDS), act, may_end, **more)
            for turn in range(count)]


def nothing_left(tag):
    """No process but what dies just now, and no file."""
    end = time.monotonic() + 3
    while others() and time.monotonic() < end:
        time.sleep(0.01)
    gm.expect(not others(), f"{tag}: processes left: {others()}")
    gm.expect(os.listdir("/tmp") == ["out"] and os.listdir("/tmp/out") == ["out"],
              f"{tag}: files left: {os.listdir('/tmp')}, {os.listdir('/tmp/out')}")


for name in ENDING:
    number = getattr(signal, "SIG" + name)
    statuses = trials("SIG" + name, lambda pid: os.kill(pid, number), number)
    ended = statuses.count(-number)
    gm.expect(ended > COUNT // 8, f"SIG{name}: only {ended} of {COUNT} were ended by it")
    print(f"  SIG{name}: {ended} of {COUNT} ended by it")
    nothing_left("SIG" + name)


def shower(number):
    def send(pid):
        for _ in range(20):
            os.kill(pid, number)
            time.sleep(random.random() * 0.0005)
    return send


# What is ignored, or blocked by who starts it, ends nothing either.
for name in PASSING:
    trials("SIG" + name, shower(getattr(signal, "SIG" + name)))
signal.signal(signal.SIGHUP, signal.SIG_IGN)
trials("SIGHUP under nohup", shower(signal.SIGHUP))
signal.signal(signal.SIGHUP, signal.SIG_DFL)
trials("SIGTERM, blocked", shower(signal.SIGTERM), setsigmask=[signal.SIGTERM])
trials("all blocked", shower(signal.SIGALRM), setsigmask=signal.valid_signals())

stops = 0


def stop_and_go(number):
    def send(pid):
        global stops
        for _ in range(random.randrange(1, 6)):
            os.kill(pid, number)
            info = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if info.si_code != os.CLD_STOPPED:
                break
            stops += 1
            time.sleep(random.random() * 0.002)
            os.kill(pid, signal.SIGCONT)
            time.sleep(random.random() * 0.003)
    return send


for name in STOPPING:
    trials("SIG" + name, stop_and_go(getattr(signal, "SIG" + name)))
print(f"  stopped and continued {stops} times")
gm.expect(stops > COUNT, "hardly any was stopped")
nothing_left("stops")

# A reader that goes away: at random, after some bytes, and in the middle of a
# search of ten seconds, which then ends at once.
ended = 0
for turn in range(COUNT):
    which = turn % len(COMMANDS)
    read, write = os.pipe()
    pid = start(COMMANDS[which], write)
    os.close(write)
    time.sleep(random.random() * took[which] * random.choice((0, 1)))
    want = random.choice((0, 1, 5000, 40000, 70000))
    text = b""
    while len(text) < want:
        more = os.read(read, want - len(text))
        if not more:
            break
        text += more
    os.close(read)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    gm.expect(status in (0, 64, -signal.SIGPIPE), f"reader {turn}: status {status}")
    gm.expect("--probe=all" in COMMANDS[which] or whole[which].startswith(text),
              f"reader {turn}: {text[-200:]}")
    ended += status < 0
print(f"  {ended} of {COUNT} ended by a reader that went away")
gm.expect(ended > COUNT // 10, "hardly any reader mattered")
nothing_left("a reader")
for i in range(2000):
    gm.mkdir(f"/long/tree/a{i % 30}/b{i}")
for i in range(1200):
    gm.bind("/long/tree", gm.mkdir(f"/long/t{i}"))
for more in (["--threads=1"], ["--threads=4"]):
    read, write = os.pipe()
    pid = start(WALK + ["--algorithm=getmnt1", *more], write)
    os.close(write)
    time.sleep(0.3)
    os.close(read)
    # It looks for a reader by the clock; how far it comes until then depends on its share of a processor.
    _, status, used = os.wait4(pid, 0)
    cpu = used.ru_utime + used.ru_stime
    gm.expect(os.waitstatus_to_exitcode(status) == -signal.SIGPIPE and cpu < 5 * gm.SLOW,
              f"a long search {more}: status {status} after {cpu:.1f} s of a processor")
nothing_left("a long search")
if hung:
    hung.end()
gm.done()
