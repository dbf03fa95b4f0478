# SPDX-License-Identifier: MIT
"""Over ssh: without a terminal and with one, into a pipe that is closed early;
and a client that is killed leaves no getmnt behind.  The server is dropbear, on
the loopback of a network namespace of its own, with throwaway keys."""
import fcntl
import os
import signal
import socket
import struct
import subprocess
import time

import gm

gm.need_speed("the kernel has no part in it")
gm.need("ssh", "ssh-keygen", "dropbear", "dropbearkey")
PROGRAM = os.environ["GETMNT"]
PORT = 2222
os.environ["PATH"] += ":/usr/sbin:/sbin"
if gm.libc.unshare(0x40000000):                                 # CLONE_NEWNET
    gm.skip("no network namespaces")
with socket.socket() as sock:                                   # ifconfig lo up
    fcntl.ioctl(sock, 0x8914, struct.pack("16sH14x", b"lo", 0x41))

# All that is made lies on one tmpfs, the home of root as dropbear sees it.
home = gm.tmpfs(os.environ["GETMNT_WORK"], "size=64m,mode=700")
gm.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home + "/key")
gm.run("dropbearkey", "-t", "ed25519", "-f", home + "/host")
gm.mkdir(home + "/.ssh")
os.chmod(home + "/.ssh", 0o700)
os.rename(home + "/key.pub", home + "/.ssh/authorized_keys")
os.chmod(home + "/.ssh/authorized_keys", 0o600)
gm.touch(home + "/passwd", f"root:x:0:0:root:{home}:/bin/sh\n")
gm.bind(home + "/passwd", "/etc/passwd")
# A search that takes its time, ten seconds: one tree of directories, many times.
for i in range(3000):
    gm.mkdir(f"{home}/tree/a{i % 30}/b{i}")
for i in range(1500):
    gm.bind(home + "/tree", gm.mkdir(f"{home}/times/t{i}"))
SEARCH = f"{PROGRAM} -l -T / -R --names=walk --algorithm=getmnt1 --threads=1"

with open(home + "/log", "wb") as log:
    server = subprocess.Popen(["dropbear", "-F", "-E", "-m", "-s", "-r", home + "/host", "-P", "",
                               "-p", f"127.0.0.1:{PORT}"], stdin=gm.null, stdout=log, stderr=log)
SSH = ["ssh", "-F", "none", "-p", str(PORT), "-i", home + "/key", "-o", "BatchMode=yes", "-o",
       "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
       "-o", "IdentitiesOnly=yes"]
HOST = "root@127.0.0.1"


def ssh(*words, stdin=gm.null):
    return subprocess.Popen([*SSH, *words], stdin=stdin, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def run(*words, stdin=gm.null):
    proc = ssh(*words, stdin=stdin)
    try:
        out, err = proc.communicate(timeout=gm.RUN_SECONDS)
    except subprocess.TimeoutExpired:
        proc.kill()
        out, err = proc.communicate()
        gm.fail(f"ssh {words}: it hangs")
    return gm.Result(proc.returncode, out, err)


def left():
    """The processes of this mount namespace that run the program."""
    found = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and os.path.samefile(f"/proc/{pid}/exe", PROGRAM) and \
                    os.readlink(f"/proc/{pid}/ns/mnt") == os.readlink("/proc/self/ns/mnt"):
                found.append(int(pid))
        except OSError:
            pass
    return found


end = time.monotonic() + 10
while run("-T", HOST, "true").status != 0 and time.monotonic() < end:
    time.sleep(0.1)
local = subprocess.run([PROGRAM], stdout=subprocess.PIPE, check=False).stdout
if local.count(b"\n") < 1500:
    gm.fail(f"a short table: {local[-300:]}")

for words in (("-T", HOST, PROGRAM), (HOST, PROGRAM), ("-n", HOST, PROGRAM),
              ("-T", HOST, f"{PROGRAM} <&-")):
    result = run(*words)
    gm.expect(result.status == 0 and not result.err and len(result.out.split(b"\n")) == len(
        local.split(b"\n")), f"{words}: status {result.status}: {result.out[-200:]} {result.err}")
    gm.expect(b"\x1b" not in result.out and b"\r" not in result.out, f"{words}: as for a terminal")
result = run("-T", HOST, f"{PROGRAM} -J")
gm.expect(result.status == 0 and len(gm.ids_of(result.rows())) > 1500, f"-J: {result.status}")
result = run(HOST, f"{PROGRAM} | head -1")
gm.expect(result.status == 0 and result.out.count(b"\n") == 1 and not result.err,
          f"| head -1: {result.status}: {result.out} {result.err}")
result = run(HOST, f"{PROGRAM} -T /no/such; echo $?")
gm.expect(result.out == b"1\n" and b"/no/such" in result.err, f"an error: {result.out} {result.err}")
result = run("-T", HOST, f"{PROGRAM} -F - -n -l -o TARGET", stdin=os.open(
    "/proc/self/mountinfo", os.O_RDONLY))
gm.expect(result.status == 0 and result.out.count(b"\n") > 1500, f"-F -: {result.status} {result.err}")
result = run("-tt", HOST, f"{PROGRAM} -l -n -o TARGET")
gm.expect(result.status == 0 and result.out.count(b"\n") > 1500, f"-tt: {result.status} {result.err}")
gm.expect(not left(), f"left behind: {left()}")

# The client dies: in the middle of a search, with a terminal and without; and
# when its output is not read.
for words, stop in ((("-T", HOST, SEARCH), False), (("-tt", HOST, SEARCH), False),
                    (("-T", HOST, f"setsid {SEARCH} 2>&1"), False),
                    (("-T", HOST, f"{PROGRAM} --output-all -J"), True)):
    proc = ssh(*words)
    end = time.monotonic() + 10
    while not left() and proc.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    if stop:
        proc.send_signal(signal.SIGSTOP)
    time.sleep(0.05)
    began = gm.expect(left() or stop, f"{words[0]}: it was over before the client was killed")
    proc.kill()
    proc.communicate()
    end = time.monotonic() + 3
    while left() and time.monotonic() < end:
        time.sleep(0.01)
    gm.expect(not left(), f"{words}: left behind")

server.terminate()
server.wait()
gm.done()
