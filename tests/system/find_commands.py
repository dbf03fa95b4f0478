# SPDX-License-Identifier: MIT
"""Commands of getmnt find -exec: how many arguments they get, and what they inherit; output that cannot be
written, signals, and output to a terminal."""
import os
import resource
import signal
import subprocess

import gm

gm.need("find", "prlimit")
OURS = [os.environ["GETMNT"], "find"]
TOP = gm.tmpfs(os.environ["GETMNT_WORK"] + "/tree", "size=200m")
os.chdir(TOP)
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", **gm.DISABLED}
POINTER = 8
KIB, MIB = 1 << 10, 1 << 20


def find(*args, program=None, before=None, env=None, **more):
    more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run([*(program or OURS), *args], timeout=gm.RUN_SECONDS, check=False, preexec_fn=before,
                          env={**ENV, **(env or {})}, **more)


def same(*args, **more):
    """Both do the same."""
    left, right = find(*args, program=["find"], **more), find(*args, **more)
    gm.expect((left.returncode, left.stdout) == (right.returncode, right.stdout),
              f"{args}: find {left.returncode} {left.stdout!r:.300}, getmnt {right.returncode} {right.stdout!r:.300} {right.stderr!r:.200}")
    return right


# Arguments.
COUNT, LENGTH = 30000, 200
for number in range(COUNT):
    os.mknod(f"{number:0{LENGTH}}")
ONE = len("./") + LENGTH + 1 + POINTER
COUNTS = ["-type", "f", "-exec", "sh", "-c", "echo $#", "sh", "{}", "+"]


def counts(result, tag):
    numbers = [int(line) for line in result.stdout.split()]
    gm.expect(result.returncode == 0 and not result.stderr and sum(numbers) == COUNT,
              f"{tag}: status {result.returncode}, {numbers}, {result.stderr[-200:]}")
    return numbers


def stack(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_STACK, (limit, resource.RLIM_INFINITY))


for limit, most, env in ((8 * MIB, 2 * MIB, {}), (256 * KIB, 128 * KIB, {}), (resource.RLIM_INFINITY, 6 * MIB, {}),
                         (8 * MIB, 2 * MIB, {f"V{i}": "x" * 100000 for i in range(10)}),
                         (8 * MIB, 2 * MIB, {f"V{i}": "" for i in range(50000)})):
    for dir_form in "-exec", "-execdir":
        words = [dir_form if word == "-exec" else word for word in COUNTS]
        numbers = counts(find(".", *words, before=stack(limit), env=env), f"{limit}, {len(env)}, {dir_form}")
        used = sum(len(name) + len(value) + 2 + POINTER for name, value in {**ENV, **env}.items())
        full = numbers[:-1] or [0]
        gm.expect(min(full) * ONE + used > most - 16 * KIB and max(full) * ONE + used < most,
                  f"{limit}, {len(env)} variables: {numbers}")

# The limit shrinks while find runs: the kernel refuses a full command line, which is then divided.
numbers = counts(find(".", "-path", ".", "-exec", "sh", "-c", f"prlimit --pid $PPID --stack={256 * KIB}:", ";",
                      "-o", "-true", ",", *COUNTS, before=stack(8 * MIB)), "a limit that shrinks")
gm.expect(len(numbers) > 40, f"a limit that shrinks: {numbers}")
result = find(f"{0:0{LENGTH}}", "-exec", "true", "{}" * 700, ";", "-o", "-print")
gm.expect(result.returncode == 1 and result.stdout and b"true: Argument list too long" in result.stderr,
          f"one argument is too long: {result}")
subprocess.run("find . -type f -delete", shell=True, check=True)

# What commands inherit.
for i in range(300):
    gm.touch(f"d{i % 7}/{i}", "x")
# Of the signals 1 to 28: the C library uses 32 and 33 itself.
STATE = ("ulimit -n; ulimit -s; ulimit -c; sed -nE 's/^(Sig(Blk|Ign):).*(.{7})$/\\1\\3/p' /proc/self/status; umask; "
         "ls /proc/self/fd")
for before in (None, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (300, resource.getrlimit(resource.RLIMIT_NOFILE)[1])),
               lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM]),
               lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)):
    same("d1/1", "-exec", "sh", "-c", STATE, ";", before=before)
    same("d1/1", "-execdir", "sh", "-c", STATE, "sh", "{}", "+", before=before)
# An ignored SIGCHLD would make the kernel forget how children ended.
for command in "true", "false":
    same("d1/1", "-exec", command, ";", "-print", before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
for threads in 1, 4:
    result = find(f"--threads={threads}", ".", "-type", "f", "-exec", "printf", "{} ", ";")
    gm.expect(len(set(result.stdout.split())) == 300 == len(result.stdout.split()), f"{threads} threads: {result}")

# Output that cannot be written.
with open("/dev/full", "wb") as full:
    for words in [], ["-print0"], ["-ls"], ["-printf", "%p"], ["-name", "1", "-print", "-exec", "true", ";"]:
        result = find(".", *words, stdout=full)
        gm.expect(result.returncode == 1 and result.stderr.count(b"standard output: cannot be written: No space") == 1,
                  f"{words} to /dev/full: {result}")
result = find(".", before=lambda: os.close(1))
gm.expect(result.returncode == 1 and b"standard output" in result.stderr, f"closed: {result}")
result = find("d1/1", "-false", before=lambda: os.close(1))
gm.expect(result.returncode == 0 and not result.stderr, f"closed, without output: {result}")
small = gm.tmpfs(f"{TOP}/small", "size=4k")
result = find("d1", "-fprintf", f"{small}/out", "%1000p", "-name", "1", "-print")
gm.expect(result.returncode == 1 and result.stdout == b"d1/1\n"
          and result.stderr.count(b"small/out: No space left on device") == 1, f"a full disk: {result}")
gm.umount(small)
reading, writing = os.pipe()
os.close(reading)
result = find(".", "-printf", "%p\\n", stdout=writing)
gm.expect(result.returncode == -signal.SIGPIPE and not result.stderr, f"a broken pipe: {result}")
os.close(writing)

# A signal ends it while a command runs.
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
    with subprocess.Popen([*OURS, "d1/1", "-exec", "sh", "-c", "echo; exec sleep 1000", ";"], env=ENV, stdout=subprocess.PIPE,
                          start_new_session=True) as proc:
        proc.stdout.read(1)
        os.kill(proc.pid, number)
        gm.expect(proc.wait(gm.WAIT_SECONDS) == -number, f"signal {number}: {proc.returncode}")
        os.killpg(proc.pid, signal.SIGKILL)


# A terminal.
def terminal(program, *args):
    """The status and the sorted lines on a terminal."""
    status, text = gm.on_terminal([*program, *args], ENV)
    return status, sorted(text.split(b"\r\n"))


for name in (b"tab\t", b"new\nline", b"\x1b[31m", b"caf\xc3\xa9", b"\xff", b"\x7f", b"back\\slash", b"\xc2\x85", b"q\"'"):
    os.makedirs(b"names/" + name)
os.symlink(b"to\x1b", b"names/link")
for words in ([], ["-print"], ["-print0"], ["-printf", "%p|%f|%h|%P|%l|%y\\n"], ["-ls"], ["-printf", "%20p|%.3f\\n"],
              ["-fprint", "/dev/stdout"], ["-exec", "echo", "{}", ";"], ["-fprint", "out"]):
    gnu, ours = terminal(["find"], "names", *words), terminal(OURS, "names", *words)
    gm.expect(gnu == ours, f"on a terminal: {words}: find {gnu}, getmnt {ours}")
gm.expect(b"\x1b" in gm.read_bytes("out") and b"?" not in gm.read_bytes("out"), "a file is quoted")
gm.done()
