# SPDX-License-Identifier: MIT
"""getmnt search on other hosts by the real ssh and sshd, on loopback in a network namespace: results,
what ssh says when it fails, passwords on a terminal, many hosts at once."""
import os
import pty
import re
import select
import signal
import subprocess
import time

import gm
import sshd
from sshd import ENV, PROGRAM, RSH, WORK, nothing_left, servers, url


def search(*args, rsh=RSH, **more):
    return gm.getmnt("search", rsh, *args, program=PROGRAM, env=ENV, cwd="/", **more)


TREE = f"{WORK}/tree"
for i in range(30):
    gm.touch(gm.mkdir(f"{TREE}/d{i}/'sp ace' $x") + f"/f{i}.c", "x" * i)
first = search("*", url("good", TREE), seconds=gm.WAIT_SECONDS)
sshd.need_login(first)
for args in ((), ("-m",), ("--format=jsonl",), ("--count",), ("-l", "--type=d"), ("--size=+5",)):
    here, there = search(*args, "*", TREE), search(*args, "*", url("good", TREE))
    lines = [sorted(out.replace(url("good", TREE).encode(), TREE.encode()).splitlines()) for out in (here.out, there.out)]
    gm.expect(lines[0] == lines[1] and len(lines[0]) > 0 and (there.status, there.err) == (0, b""),
              f"{args}: {there.err} {lines}")
forced = search("*.c", url("forced", TREE))
gm.expect((forced.status, forced.out.count(b"\n")) == (0, 30), f"a forced command: {forced.err}")

# What ssh says is the reason.
for tag, target, rsh, expected in (
        ("no getmnt", url("without", TREE), RSH, r"not searched: getmnt cannot be run there; .* \(status 127\): .*getmnt.*not found"),
        ("no key", url("good", TREE), f"--rsh=ssh -F {WORK}/keyless",
         r"not searched: no connection \(status 255\): .*Permission denied \(publickey.*\)\.; a password is only asked for on a "
         "terminal and for one host: use a key"),
        ("a password and no terminal", url("password", TREE), RSH, r"no connection \(status 255\): .*Permission denied \(.*use a key"),
        ("an unknown host key", url("good", TREE, "127.0.2.1"), RSH,
         r"not searched: no connection \(status 255\): .*Host key verification failed\."),
        ("nobody listens", f"ssh://127.0.0.1:2{TREE}", RSH, r"no connection \(status 255\): .*port 2: Connection refused"),
        ("no such host", f"ssh://nosuchhost.invalid{TREE}", RSH, r"no connection \(status 255\): .*nosuchhost\.invalid")):
    result = search("*", target, TREE, rsh=rsh)
    gm.expect(result.status == 1 and re.fullmatch(f"getmnt: {re.escape(target)}: .*{expected}.*\n", result.err.decode()),
              f"{tag}: {result.status} {result.err}")
    gm.expect(result.out.count(b"\n") == 90, f"{tag}: the search here found {result.out.count(b'x')}")
nothing_left("failures")


# A password is asked for on the terminal, for one host and not for two.
def on_terminal(*targets):
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(PROGRAM, ["getmnt", "search", RSH, "*", *targets], gm.environment({**ENV, "TERM": "xterm"}))
    text, asked = b"", 0
    end = time.monotonic() + gm.WAIT_SECONDS
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            more = os.read(terminal, 4096)
        except OSError:
            break
        if not more:
            break
        text += more
        while text.count(b"assword:") > asked:
            asked += 1
            # Progress would be written over the prompt.
            time.sleep(0.5)
            text += os.read(terminal, 4096) if select.select([terminal], [], [], 0)[0] else b""
            gm.expect(text.endswith(b"assword: "), f"after the prompt: {text[-100:]}")
            os.write(terminal, b"wrong\n")
    os.waitpid(pid, 0)
    os.close(terminal)
    return asked, text


asked, text = on_terminal(url("password", TREE))
gm.expect(asked == 1 and b"Permission denied" in text, f"one host: asked {asked} times: {text}")
asked, text = on_terminal(url("password", TREE), url("password", TREE, "127.0.1.1"))
gm.expect(asked == 0 and text.count(b"use a key") == 2, f"two hosts: asked {asked} times: {text}")
nothing_left("passwords")

# Many hosts at once.
MANY = 50 if gm.FULL else 12
for i in range(10):
    for k in range(100):
        os.close(os.open(gm.mkdir(f"{WORK}/large/{'long' * 40}-{i}") + f"/entry-{k}", os.O_CREAT | os.O_WRONLY, 0o644))
hosts = [url("good", f"{WORK}/large", f"127.0.1.{n}") for n in range(1, MANY + 1)]
proc = subprocess.Popen([PROGRAM, "search", RSH, "-o", "SIZE,PATH", "*", *hosts], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        env=gm.environment(ENV), cwd="/")
found, count, most = set(), 0, 0
for line in proc.stdout:
    count += 1
    found.add(line.split(b"@")[1].split(b":")[0])
    if count % 10000 == 0:
        with open(f"/proc/{proc.pid}/status", encoding="ascii") as f:
            most = int(re.search(r"VmHWM:\s+(\d+)", f.read())[1])
err = proc.stderr.read()
gm.expect(proc.wait() == 0 and not err and len(found) == MANY and count == MANY * 1010, f"{MANY} hosts: {len(found)}, {count} lines, {err}")
gm.expect(most < 48 * 1024 or gm.sanitized(), f"{MANY} hosts need {most} KiB")
nothing_left("many hosts")

# The connection is cut in the middle; the search is cancelled.
for tag in ("cut", "cancelled"):
    proc = subprocess.Popen([PROGRAM, "search", RSH, "-m", "*", *hosts[:1] * 20], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=gm.environment(ENV), cwd="/")
    proc.stdout.readline()
    if tag == "cancelled":
        proc.terminate()
    else:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    line = f.read()
                with open(f"/proc/{pid}/status", encoding="ascii") as f:
                    parent = int(re.search(r"PPid:\s+(\d+)", f.read())[1])
            except OSError:
                continue
            if line.startswith(b"sshd: ") and parent in [server.pid for server in servers]:
                os.kill(int(pid), signal.SIGKILL)
    out, err = proc.communicate(timeout=gm.WAIT_SECONDS)
    if tag == "cut":
        gm.expect(proc.returncode == 1 and err.count(b"not searched to the end: the connection ended before the answer was complete")
                  == 20, f"cut: {proc.returncode} {set(err.splitlines())} {err.count(b'not searched')}")
    else:
        gm.expect(proc.returncode == -signal.SIGTERM and not err, f"cancelled: {proc.returncode} {err}")
    nothing_left(tag)
sshd.end()
