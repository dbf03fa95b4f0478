# SPDX-License-Identifier: MIT
"""getmnt audit to the system's log, read or not; the plugin beside what never answers,
which it leaves behind in time; what machine forms say of this machine."""
import json
import os
import re
import select
import socket
import subprocess
import threading
import time

import gm

gm.need_fs("fuse")
root = gm.Root()
gm.mkdir(root / "etc")
gm.tmpfs(root / "dev/shm")
os.symlink("getmnt", root / "bin/check_getmnt")
silent = gm.SilentFuse(root / "silent")
root.enter()
TABLE = """20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro
"""
FSTAB = """/dev/mapper/root / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults 0 2
/dev/mapper/z /a\\040b\\012c ext4 defaults,nofail 0 2
"""
gm.touch("/table", TABLE)
gm.touch("/fstab", FSTAB)
gm.touch("/many", FSTAB + "".join(f"/dev/mapper/m{i} /m{i} ext4 defaults,nofail 0 2\n" for i in range(600)))


def audit(*args, fstab="/fstab", program=gm.PROGRAM, **more):
    words = ("audit", *args) if program == gm.PROGRAM else args
    return gm.getmnt(*words, "-F", "/table", f"--fstab={fstab}", program=program, **more)


# Nobody keeps a log.
result = audit("--format=syslog")
gm.expect(result.status == 2 and not result.out and b"/dev/log: nothing was logged" in result.err, f"no log: {result.status} {result.err}")
result = audit("--syslog", "--json")
gm.expect(result.status == 2 and json.loads(result.out)["counts"]["critical"] == 1
          and json.loads(result.out)["exit_status"] == 2, f"no log, and JSON: {result.status} {result.out}")
result = audit("--syslog", program="/bin/check_getmnt")
gm.expect(result.status == 2 and result.out.startswith(b"GETMNT CRITICAL") and result.out.endswith(b"\n/dev/log: nothing was logged: No such file or directory\n") and not result.err, f"no log, a plugin: {result.out} {result.err}")
result = audit("--syslog", "--only=MNT-DUP", program="/bin/check_getmnt")
gm.expect(result.status == 3 and result.out.startswith(b"GETMNT UNKNOWN - 0 critical, 0 warning, 2 mounts; /dev/log: nothing was ") and not result.err
          and b"\n/dev/log: nothing was logged: No such file or directory\n" in result.out, f"no log, a plugin: {result.status} {result.out} {result.err}")

# A log that is read.
LINE = re.compile(r"<(\d+)>[A-Z][a-z]{2} [ 123]\d \d\d:\d\d:\d\d getmnt-audit\[\d+\]: ([^\0\n\x1b]*)")


def lines(messages):
    found = []
    for message in messages:
        match = LINE.fullmatch(message.decode())
        gm.expect(match, f"no line of a log: {message!r}")
        if match:
            found.append((int(match.group(1)) - 24, match.group(2)))
    return found


def received(sock):
    messages = []
    sock.setblocking(False)
    try:
        while piece := sock.recv(65536):
            messages.append(piece)
    except BlockingIOError:
        pass
    return messages


log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
for args in (("--format=syslog",), ("--syslog", "--canonical"), ("--syslog", "--max-time=20")):
    result = audit(*args)
    gm.expect(result.status == 1, f"{args}: status {result.status} {result.err}")
    gm.expect((not result.out) == (args == ("--format=syslog",)), f"{args}: {result.out}")
    told = lines(received(log))
    gm.expect([priority for priority, _ in told] == [6, 2, 4, 6], f"{args}: priorities of {told}")
    texts = [text for _, text in told]
    gm.expect(texts[1].startswith('critical DRIFT-READONLY target="/data" owner="fstab" line=2 fstab="/fstab"'), f"{args}: {texts}")
    gm.expect('target="/a b\\u000ac"' in texts[2], f"{args}: {texts[2]}")
    gm.expect(texts[0].startswith("1 critical, 1 warning, 1 info") and "complete=true" in texts[0]
              and 'table="recorded"' in texts[0] and "not_judged=" in texts[0], f"{args}: {texts[0]}")
result = audit("--format=syslog", fstab="/none")
told = lines(received(log))
gm.expect(result.status == 2 and len(told) == 1 and told[0][0] == 3 and told[0][1].startswith("not audited: /none: "), f"failed: {told}")
result = gm.getmnt("audit", "--format=syslog", "--only=MNT-DUP")
told = lines(received(log))
with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as f:
    boot = f.read().strip()
gm.expect(f'host="{os.uname().nodename}" boot_id="{boot}" mntns={os.stat("/proc/self/ns/mnt").st_ino} ' in told[-1][1], f"live: {told}")

gm.touch("/conf", "rule DRIFT-* off\nignore type x until=2001-01-01\nignore type y until=2001-01-01\n")
result = audit("--format=syslog", "--config=/conf")
told = lines(received(log))
gm.expect(' ignored=0 silenced=2 ' in told[0][1] and told[0][1].endswith(' expired="/conf:2" expired="/conf:3"'), f"silenced: {told}")

# A name that makes a line too long: cut, and UTF-8 still.
gm.touch("/long", FSTAB + "/dev/mapper/l /" + "\u00e9" * 2000 + "/" + "\u202e" * 1300 + " ext4 defaults,nofail 0 2\n")
result = audit("--format=syslog", fstab="/long")
told = received(log)
longest = max(told, key=len)
gm.expect(len(longest) <= 8000 and longest.decode().endswith("..."), f"a long line: {len(longest)}")
lines(told)

# One that is read late: nothing is lost.  More lines than a socket takes.
def read_late():
    time.sleep(0.2)
    while not ended.is_set() or select.select([log], [], [], 0)[0]:
        if select.select([log], [], [], 0.01)[0]:
            late.append(log.recv(65536))


late, ended = [], threading.Event()
reader = threading.Thread(target=read_late)
reader.start()
result = audit("--format=syslog", fstab="/many")
ended.set()
reader.join()
told = lines(late)
gm.expect(result.status == 1 and not result.err and len(told) > 600, f"read late: {result.status} {result.err} {len(told)}")

# One that nobody reads: no long waiting, what was lost is told, and it is not the gravest.
began = time.monotonic()
result = audit("--format=syslog", fstab="/many")
match = re.search(rb"/dev/log: (\d+) of (\d+) lines were not logged: whoever writes the log has no room", result.err)
kept = received(log)
gm.expect(result.status == 2 and match and int(match.group(2)) - int(match.group(1)) == len(kept) > 0,
          f"nobody reads: {result.status} {result.err} {len(kept)}")
first = lines(kept)[:2]
gm.expect(first[0][1].startswith("1 critical, ") and first[1][0] == 2, f"nobody reads: first is {first}")
gm.expect(time.monotonic() - began < 10, "nobody reads: it took long")
log.close()
result = audit("--format=syslog")
gm.expect(result.status == 2 and b"Connection refused" in result.err, f"the log has ended: {result.err}")

# A stream, read; one that nobody takes connections of.
os.unlink("/dev/log")
log = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
log.bind("/dev/log")
log.listen(1)
result = audit("--format=syslog")
gm.expect(result.status == 1, f"a stream: {result.status} {result.err}")
conn, _ = log.accept()
pieces = b"".join(received(conn)).split(b"\0")
gm.expect(pieces.pop() == b"" and len(lines(pieces)) == 4, f"a stream: {pieces}")
conn.close()
fill = []
for _ in range(8):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.setblocking(False)
    try:
        sock.connect("/dev/log")
    except BlockingIOError:
        break
    fill.append(sock)
result = audit("--format=syslog", seconds=15)
gm.expect(result.status == 2 and b"Resource temporarily unavailable" in result.err, f"nobody accepts: {result.status} {result.err}")
log.close()
os.unlink("/dev/log")

# Beside a server that reads and never replies: who asks it cannot be killed, and is left
# behind; whoever waits for our output to end is not kept.
for program, args, status, want in (
        ("/bin/check_getmnt", ("-t", "0.5"), 3, b"GETMNT UNKNOWN - not audited within 0.5 seconds\n"),
        (gm.PROGRAM, ("audit", "--max-time=0.5", "--jsonl"), 2, b'"failed": "not audited within 0.5 seconds"'),
        (gm.PROGRAM, ("audit", "--max-time=0.5", "--prometheus", "--output=/dev/shm/a.prom"), 2, b"")):
    began = time.monotonic()
    result = gm.getmnt(*args, "-F", "/silent/table", "--fstab=/fstab", program=program)
    took = time.monotonic() - began
    gm.expect(result.status == status and want in result.out, f"{args}: {result.status} {result.out} {result.err}")
    gm.expect(0.4 < took < 5 * gm.SLOW, f"{args}: it took {took} s")
os.symlink("/silent/told", "/dev/shm/link")
began = time.monotonic()
result = audit("--json", "--output=/dev/shm/link")
gm.expect(result.status == 2 and b"can block" in result.err, f"a link into it: {result.status} {result.err}")
gm.expect(time.monotonic() - began < 5 * gm.SLOW, "a link into it: it took long")
os.unlink("/dev/shm/link")
result = gm.getmnt("audit", "--json", before=lambda: os.close(1))
gm.expect(result.status == 2 and b"standard output" in result.err, f"stdout closed: {result.status} {result.err}")
gm.expect(silent.requests > 0, "nobody asked the server: this proves nothing")
with open("/dev/shm/a.prom", encoding="utf-8") as f:
    gm.expect("\ngetmnt_audit_success 0\n" in f.read(), "a file that tells of no failure")
gm.expect(os.listdir("/dev/shm") == ["a.prom"], f"left behind: {os.listdir('/dev/shm')}")
silent.end()


def children():
    """What runs of this test's, and not of another beside it."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/exe").endswith("getmnt") and os.path.samefile(f"/proc/{name}/root", "/"):
                found.append(name)
        except OSError:
            pass
    return found


end = time.monotonic() + 10
while children() and time.monotonic() < end:
    time.sleep(0.02)
gm.expect(not children(), f"still there when the server has gone: {children()}")

# Whoever ends the plugin ends what it does.
proc = subprocess.Popen(["/bin/check_getmnt", "-F", "/dev/stdin", "--fstab=/fstab", "-t", "600"], stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL)
while len(children()) < 2 and time.monotonic() < end + 10:
    time.sleep(0.01)
proc.kill()
proc.wait()
end = time.monotonic() + 10
while children() and time.monotonic() < end:
    time.sleep(0.02)
gm.expect(not children(), f"a child outlives the plugin: {children()}")

# What is said of this machine; and no form costs a kernel call on a mount.
for form in ("json", "jsonl", "ansible", "prometheus"):
    result = gm.getmnt("audit", f"--format={form}")
    text = result.out.decode()
    for want in (os.uname().nodename, boot, str(os.stat("/proc/self/ns/mnt").st_ino)):
        gm.expect(want in text, f"{form}: does not tell {want}")
fact = json.loads(gm.getmnt("audit", "--format=ansible").out)
digest = gm.getmnt("audit", "--digest").out.decode().strip()
gm.expect(fact["digest"] == digest, f"{fact['digest']} is not {digest}")
gm.done()
