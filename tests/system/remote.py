# SPDX-License-Identifier: MIT
"""getmnt search on other hosts, by --rsh: the same as a search here in every form and for every option;
servers that are missing, old, cut, silent, lying or dead; many hosts at once; one round trip; nothing
is left behind by a search that is cancelled."""
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import gm
import wire

PROGRAM = os.environ["GETMNT"]
WORK = os.environ["GETMNT_WORK"]
LIB = os.path.dirname(wire.__file__)
ENV = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "REMOTE_TEST": WORK}
gm.tmpfs(WORK, "nr_inodes=0,size=1g,mode=755")


def script(name, text, interpreter="/bin/sh"):
    """A program in the work directory."""
    path = f"{WORK}/{name}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"#!{interpreter}\n{text}\n")
    os.chmod(path, 0o755)
    return path


def server(name, text):
    """A server in Python, honest or not: `put` writes, `hello` reads the first request."""
    return script(name, f"import os, sys, time\nsys.path.insert(0, {LIB!r})\nimport wire\n"
                        "def put(data):\n    while data:\n        data = data[os.write(1, data):]\n"
                        "def hello():\n    assert wire.read(0, 16) == wire.GREETING\n"
                        "    head = wire.read(0, 8)\n    wire.read(0, int.from_bytes(head[:4], 'little'))\n"
                        "    put(wire.GREETING)\n" + text, sys.executable)


def search(*args, rsh=None, seconds=gm.RUN_SECONDS, **more):
    """Run a search."""
    rsh = [f"--rsh={rsh}"] if rsh else []
    return gm.getmnt("search", *rsh, *args, program=PROGRAM, env=ENV, cwd=WORK, seconds=seconds, **more)


def children():
    """The processes of this run, apart from this one."""
    return gm.processes_with(f"REMOTE_TEST={WORK}")


def nothing_left(tag, seconds=5):
    """Wait until all processes of this run are gone."""
    limit = time.monotonic() + seconds * gm.SLOW
    while (left := children()) and time.monotonic() < limit:
        time.sleep(0.02)
    gm.expect(not left, f"{tag}: left behind: {left}")


good = script("good", f'echo "$$ $*" >>{WORK}/log\nexec {PROGRAM} serve --stdio')

# A tree with everything.
TREE = f"{WORK}/tree"
for i in range(12):
    gm.touch(gm.mkdir(f"{TREE}/d{i}/e") + f"/f{i}.c", "x" * (i * 500))
os.symlink("d1/e/f1.c", f"{TREE}/link")
os.symlink("d2", f"{TREE}/dirlink")
os.symlink("nowhere\n\t\\x", f"{TREE}/d3/dangling")
os.symlink("..", f"{TREE}/d4/loop")
os.mkfifo(f"{TREE}/d5/fifo")
gm.mkdir(f"{TREE}/d6/closed/in")
os.chmod(f"{TREE}/d6/closed", 0)
for name in (b"new\nline", b"tab\t", b"\xff\xfe", "é".encode(), b"\xe2\x80\xae", b".hidden", b"sp ace", b"-dash", b"x" * 255):
    with open(os.fsencode(TREE) + b"/d7/" + name, "w") as f:
        f.write("text")
os.chown(f"{TREE}/d8/e", 1234, 5678)
os.chmod(f"{TREE}/d9/e", 0o6711)
try:
    os.setxattr(f"{TREE}/d9/e/f9.c", "trusted.test", b"value")
except OSError as e:
    print(f"  no extended attributes here: {e}")
gm.tmpfs(f"{TREE}/d10/mount")
gm.touch(f"{TREE}/d10/mount/below.c")


def compare(tag, *args, roots=(TREE,), ordered=False, status=None):
    """A search here and on another host print the same."""
    here = search(*args, *roots)
    there = search(*args, *(f"ssh://h{root}" for root in roots), rsh=good)
    url = b"ssh://h" + os.fsencode(WORK)
    out, err = (text.replace(url, os.fsencode(WORK)) for text in (there.out, there.err))
    # Columns of ls -l grow as wide as what came before.
    if "-l" in args or "--long" in args:
        out, here.out = (re.sub(rb" +", b" ", text) for text in (out, here.out))
    # The bytes of a path that is not UTF-8 are in base64, with its root.
    if "--format=jsonl" in args:
        out, here.out = (re.sub(rb', "path-b64": "[^"]*"', b"", text) for text in (out, here.out))
    sep = b"\0" if "-0" in args else b"\n"
    if ordered:
        same = out == here.out
    else:
        same = sorted(out.split(sep)) == sorted(here.out.split(sep))
    gm.expect(same, f"{tag}: there {sorted(out.split(sep))[:40]}\nhere {sorted(here.out.split(sep))[:40]}")
    gm.expect(sorted(err.splitlines()) == sorted(here.err.splitlines()), f"{tag}: messages {err} not {here.err}")
    gm.expect(there.status == here.status, f"{tag}: status {there.status}, not {here.status}")
    return here


FORMS = ((), ("-0",), ("-l",), ("-m",), ("--format=jsonl",), ("--count",), ("--color=always",), ("--color=always", "-l"),
         ("-o", "ATIME,BLOCKS,BTIME,CTIME,DEV,GID,GROUP,INO,LINK,MNT-ID,MODE,MTIME,NAME,NLINK,PATH,PERMS,RDEV,SIZE,TYPE,UID,USER"),
         ("-o", "PATH,XATTR,ACL,ATTRS"), ("--human-readable", "-m"))
OPTIONS = ((), ("--type=f",), ("--type=dl",), ("--follow",), ("--xdev",), ("--depth=1",), ("--access=rx",), ("--period",),
           ("--paper",), ("--cached",), ("--ahead",), ("--engine=sync",), ("--threads=1",), ("--exclude=d1*",), ("--no-hidden",),
           ("-i",), ("--size=+1k",), ("--where=( -name *.c -o -type d ) ! -path */d3/*",), ("--user=1234",), ("--perm=-6000",),
           ("--follow", "--where=-xtype l"), ("--where=-xtype f -type l",), ("--empty",), ("--changed-within=1d", "--type=f"), ("--newer=good",), ("--maxdepth=2",), ("--mindepth=3",),
           ("--exclude-type=tmpfs",), ("--ignore-vanished",), ("-e", "d1", "-e", "f*"), ("--usage=2",), ("--usage-by=type",))
for form in FORMS:
    compare(f"{form}", *form, "*")

# The attributes of a symlink that may not be followed cannot be read; a query finds the same on another host.
LOST = f"{WORK}/lost"
os.symlink("nowhere", f"{gm.mkdir(LOST)}/link")
os.chown(f"{LOST}/link", 1, 0, follow_symlinks=False)
os.chown(LOST, 4, 0)
os.chmod(LOST, 0o1777)
for args in (("-print",), ("-ls", "-o", "-print"), ("-printf", "%s\\n", "-o", "-print"), ("-print", "-printf", "%s\\n"),
             ("-printf", "%y:%f\\n", "-o", "-print"), ("-printf", "%l:%f\\n"), ("-size", "-1", "-o", "-printf", "%y\\n")):
    here = gm.getmnt("find", "-L", LOST, *args, program=PROGRAM)
    there = gm.getmnt("find", "-L", f"--rsh={good}", f"ssh://h{LOST}", *args, program=PROGRAM, env=ENV, cwd=WORK)
    gm.expect((there.out.replace(b"ssh://h", b""), there.status) == (here.out, here.status),
              f"{args}: there {there.out} {there.err}, here {here.out}")
compare("lost", "-L", "-m", "--where=! -user root", "*", roots=(LOST,))
for option in OPTIONS:
    patterns = ("*", "*.c", "/d1/e/f1.c", "d[3-7]/*|link", "nothing")
    # Without a match, only a directory here is known to exist, and has a total of 0.
    for pattern in [None] if "-e" in option else patterns[:4] if "--usage=2" in option else patterns:
        compare(f"{option} {pattern}", *option, *filter(None, [pattern]))
for sort in ("name", "inode"):
    compare(f"--sort={sort}", f"--sort={sort}", "*", "-o", "PATH,INO")
compare("--sort=-SIZE", "--sort=-SIZE", "*.c", ordered=True)
compare("--top", "--sort=-SIZE", "--top=3", "*.c", ordered=True)
first = search("--first", "*.c", f"ssh://h{TREE}", f"ssh://g{TREE}", rsh=good)
gm.expect(first.status == 0 and first.out.count(b"\n") == 1, f"--first: {first.out}")
# Files of two hosts are different ones, also if their numbers are the same; a root that is given twice is one.
sums = search("--usage", "--follow", "-b", "*", f"ssh://h{TREE}", f"ssh://g{TREE}", f"ssh://h{TREE}", rsh=good).out.decode().splitlines()
gm.expect([line.split("\t")[1] for line in sums] == [f"ssh://h{TREE}", f"ssh://g{TREE}"] and len({line.split("\t")[0] for line in sums}) == 1,
          f"--usage of two hosts: {sums}")
roots = (TREE, f"{TREE}/d1/", f"{WORK}/missing", f"{TREE}/d2/e/f2.c", f"{TREE}//d7", f"{TREE}/d5/fifo")
compare("roots", "f*|n*", roots=roots, status=1)
compare("roots", "--format=jsonl", "f*|n*", roots=roots)
missing = search("--json", "*", f"ssh://h{WORK}/missing", rsh=good).json()
gm.expect(missing["entries"] == [{"path": f"ssh://h{WORK}/missing", "error": "ENOENT", "errsource": "open",
                                  "message": "cannot be opened: No such file or directory"}], f"JSON: {missing}")
mixed = search("f1.c", f"ssh://h{TREE}", TREE, f"ssh://user@[::1]:22{TREE}/", rsh=good)
gm.expect(sorted(mixed.out.decode().split()) == sorted(f"{top}/d1/e/f1.c" for top in (
    f"ssh://h{TREE}", TREE, f"ssh://user@[::1]:22{TREE}")), f"three hosts: {mixed.out} {mixed.err}")
with open(f"{WORK}/log", encoding="utf-8") as f:
    called = {line.split(" ", 1)[1] for line in f.read().splitlines()}
gm.expect("-p 22 -l user ::1 getmnt serve --stdio" in called and "h getmnt serve --stdio" in called, f"called {called}")

# One connection for all roots of a host.
os.unlink(f"{WORK}/log")
search("f*", f"ssh://h{TREE}/d1", f"ssh://h{TREE}/d2", f"ssh://g{TREE}/d3", f"ssh://h{TREE}/d4", rsh=good)
with open(f"{WORK}/log", encoding="utf-8") as f:
    gm.expect(len(f.read().splitlines()) == 2, "one connection for each host")

# A path that looks like a root there can be named; without --rsh ssh is run, and says what is wrong.
gm.mkdir(f"{WORK}/ssh:/h/x")
local = search("*", "./ssh://h")
gm.expect(local.out == b"./ssh://h/x\n", f"./ssh: {local.out} {local.err}")
for url, why in (("ssh://-oProxyCommand=id/x", "the name of its host is not valid"),
                 ("ssh://h", "it has no directory; / is that of the whole host: ssh://HOST/"),
                 ("ssh://u:p@h/", "a password is not accepted here; ssh asks for it"),
                 ("ssh://h:x/", "its port is not a number from 1 to 65535")):
    result = search("x", url)
    gm.expect((result.status, result.err.decode()) == (1, f"getmnt: {url}: not searched: {why}\n"), f"{url}: {result.err}")

# What can go wrong.  `early`: before the server answered.
BIG = "put(wire.frame(wire.ENTRIES, b''.join(wire.item(b'/%d' % i) for i in range(500))))\n"
FAULTS = [
    # script, status of the error, message
    (script("none", 'echo "sh: 1: getmnt: not found" >&2; exit 127'), "EHOSTUNREACH",
     "not searched: getmnt cannot be run there; it must be in the PATH of a shell that is not interactive (status 127): "
     "sh: 1: getmnt: not found"),
    (script("refused", 'echo "ssh: connect to host h port 22: Connection refused" >&2; exit 255'), "EHOSTUNREACH",
     "not searched: no connection (status 255): ssh: connect to host h port 22: Connection refused"),
    (script("banner", 'printf "A\\r\\n\\r\\nB\\r\\nC\\r\\nD: Permission denied (publickey,password).\\r\\n" >&2; exit 255'),
     "EHOSTUNREACH", "not searched: no connection (status 255): B; C; D: Permission denied (publickey,password).; a "
     "password is only asked for on a terminal and for one host: use a key"),
    (script("quiet", "exit 0"), "EHOSTUNREACH", "not searched: the connection ended before getmnt answered there"),
    (script("killed", "kill -9 $$"), "EHOSTUNREACH",
     "not searched: the connection ended before getmnt answered there (killed by signal 9)"),
    (script("old", f"exec {PROGRAM} service --stdio 2>&1 >/dev/null"), "EPROTO", None),
    (script("motd", 'echo "Welcome to h"; exec sleep 100'), "EPROTO",
     'not searched to the end: its answer is not that of getmnt serve: "Welcome to h"; does a startup file of the shell there '
     "print it?"),
    (server("newer", "os.write(1, b'GETMNT\\r\\n\\2\\0\\0\\0\\0\\0\\0\\0'); time.sleep(100)"), "EPROTO",
     "not searched to the end: its getmnt speaks version 2 of the protocol, this one version 1: update the older getmnt"),
    (server("cut", "hello()\n" + BIG + "put(wire.end(500)[:20])"), "ECONNRESET",
     "not searched to the end: the connection ended before the answer was complete"),
    (server("dies", "hello()\n" + BIG + "os.kill(os.getpid(), 9)"), "ECONNRESET",
     "not searched to the end: the connection ended before the answer was complete (killed by signal 9)"),
    (server("says", "hello()\nsys.stderr.write('out of \\33[31mpaper\\n')\nsys.exit(3)"), "ECONNRESET",
     "not searched to the end: the connection ended before the answer was complete (status 3): out of \\x1b[31mpaper"),
    (server("error", "hello()\nput(wire.end(0, 12))"), "EPROTO",
     "not searched to the end: the search ended early there: Cannot allocate memory"),
    (server("refuses", "hello()\nput(wire.frame(wire.REFUSED, b'not \\33[31mtoday'))"), "EPROTO",
     "not searched to the end: refused there: not \\x1b[31mtoday"),
    (server("above", "hello()\nput(wire.frame(wire.ENTRIES, wire.item(b'/a/../../etc/passwd')))\ntime.sleep(100)"), "EPROTO",
     'not searched to the end: a path that cannot be below the directory: it has a component ".."'),
    (server("nul", "hello()\nput(wire.frame(wire.ENTRIES, wire.item(b'/a\\0b')))\ntime.sleep(100)"), "EPROTO",
     "not searched to the end: a path that cannot be below the directory: it has a NUL"),
    (server("huge", "hello()\nput(b'\\xff\\xff\\xff\\xff\\2\\0\\0\\0')\ntime.sleep(100)"), "EPROTO",
     "not searched to the end: a frame of kind 2 with 4294967295 bytes, more than 3145728"),
    (server("other", "hello()\nput(wire.frame(wire.ENTRIES, wire.item(b'/a', root=1)))\ntime.sleep(100)"), "EPROTO",
     "not searched to the end: an entry below a directory that was not requested"),
    (server("more", "hello()\nput(wire.end() + b'x')\ntime.sleep(100)"), "EPROTO",
     "not searched to the end: more was sent after the end of the answer"),
    (server("bare", "hello()\nput(wire.frame(wire.ENTRIES, wire.item(b'/a')))\ntime.sleep(100)"), "EPROTO",
     "not searched to the end: an object without its attributes"),
    (script("silent", "exec sleep 100"), "ETIMEDOUT", "not searched to the end: no answer for 1 seconds (--timeout)"),
    (server("hangs", "hello()\n" + BIG + "time.sleep(100)"), "ETIMEDOUT",
     "not searched to the end: no answer for 1 seconds (--timeout)"),
    (script("nothere", "", f"{WORK}/missing"), "ENOENT",
     "not searched: the connection cannot be started: No such file or directory"),
]
local = sorted(search("f*", TREE).out.split())


def try_fault(rsh, error, message):
    name = os.path.basename(rsh)
    timed = error == "ETIMEDOUT"
    start = time.monotonic()
    result = search("--timeout=1" if timed else "--timeout=60", "-m" if name == "bare" else "--color=never", "f*", f"ssh://h{TREE}",
                    TREE, rsh=rsh)
    took = time.monotonic() - start
    err = result.err.decode()
    gm.expect(result.status == 1 and (message is None or err == f"getmnt: ssh://h{TREE}: {message}\n"),
              f"{name}: status {result.status}, {err!r}")
    gm.expect(took < 5 * gm.SLOW, f"{name}: it took {took} s")
    if name != "bare":
        found = sorted(line for line in result.out.split(b"\n") if line.startswith(b"/"))
        gm.expect(found == local, f"{name}: the search here found {found}")
        document = search("--timeout=1" if timed else "--timeout=60", "--json", "f*", f"ssh://h{TREE}", rsh=rsh).json()
        errors = [e for e in document["entries"] if "error" in e]
        gm.expect([(e["path"], e["error"], e["errsource"]) for e in errors] == [(f"ssh://h{TREE}", error, "host")]
                  and document["complete"] is False, f"{name}: JSON {errors}")


# Several at once: most of the time they wait.
with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda fault: try_fault(*fault), FAULTS))
nothing_left("faults")
gm.expect(search("x", f"ssh://h{TREE}", rsh="'").err == f"getmnt: ssh://h{TREE}: not searched: the connection cannot be started: "
          "Invalid argument\n".encode(), "--rsh with an open quote")
# What had come before a fault is printed.
result = search("*", "ssh://h/x", rsh=f"{WORK}/dies")
gm.expect(result.out.count(b"\n") == 500 and result.out.startswith(b"ssh://h/x/0\n"), f"before the end: {result.out[:100]}")
# A server that sends nothing but signs of life is not silent.
result = search("--timeout=1", "*", "ssh://h/x", rsh=server(
    "slow", "hello()\nfor i in range(6):\n    time.sleep(0.25)\n    put(wire.frame(wire.ALIVE))\nput(wire.end())"))
gm.expect((result.status, result.err) == (0, b""), f"signs of life: {result.err}")
# Bytes for a terminal are escaped as everywhere.
hostile = server("hostile", "hello()\nput(wire.frame(wire.ENTRIES, wire.item(b'/\\33[2J\\n\\xff')) + wire.end(1))")
result = search("*", "ssh://h/x", rsh=hostile)
gm.expect(result.out == b"ssh://h/x/\33[2J\n\xff\n", f"not to a terminal: {result.out}")
gm.expect(json.loads(search("--format=jsonl", "*", "ssh://h/x", rsh=hostile).out)["path"] == "ssh://h/x/\33[2J\n\\xff", "JSON")

# One round trip: all that the client sends comes before all that the server sends.
ROUND = f"""import os, select, subprocess
real = subprocess.Popen([{PROGRAM!r}, "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
turns, last, ends = 0, None, {{0: real.stdin.fileno(), real.stdout.fileno(): 1}}
# The server's greeting does not wait for the client: it is no turn, but what comes first.
while real.stdout.fileno() in ends:
    ready = select.select(list(ends), [], [])[0]
    for fd in ready:
        data = os.read(fd, 1 << 16)
        if not data:
            os.close(ends.pop(fd))
            continue
        os.write(ends[fd], data)
        if fd != last and (fd == 0 or last is not None):
            turns, last = turns + 1, fd
open({WORK + "/turns"!r}, "w").write(str(turns))
"""
proxy = script("proxy", ROUND, sys.executable)
for args in (("search", f"--rsh={proxy}", "-m", "*", f"ssh://h{TREE}", f"ssh://h{TREE}/d1"),
             ("find", f"--rsh={proxy}", f"ssh://h{TREE}", f"ssh://h{TREE}/d1", "-type", "f", "-ls", "-o", "-printf", "%p %l\n")):
    result = gm.getmnt(*args, program=PROGRAM, env=ENV, cwd=WORK)
    gm.expect(result.out.count(b"\n") > 50, f"through the proxy: {result.out} {result.err}")
    nothing_left("proxy")
    with open(f"{WORK}/turns", encoding="ascii") as f:
        turns = f.read()
    os.unlink(f"{WORK}/turns")
    gm.expect(turns == "2", f"{args[0]}: the direction changed {turns} times: once is asked and once answered")

# Actions that the expression does not have, or none, and no attributes where -ls needs them.
for name, lie, why in (("none", "wire.item(b'/a', st=bytes(256))", "an entry has the wrong actions"),
                       ("many", "wire.item(b'/a', st=bytes(256), actions=4)", "an entry has the wrong actions"),
                       ("nothing", "wire.item(b'/a', actions=1)", "an object without its attributes")):
    rsh = server("actions-" + name, f"hello()\nput(wire.frame(wire.ENTRIES, {lie}))\ntime.sleep(100)")
    result = gm.getmnt("find", f"--rsh={rsh}", "ssh://h/x", "-ls", "-o", "-print0", program=PROGRAM, env=ENV, cwd=WORK)
    gm.expect((result.status, result.out, result.err) == (1, b"", f"getmnt: ssh://h/x: not searched to the end: {why}\n".encode()),
              f"actions {name}: {result.status} {result.out} {result.err}")

# 50 hosts, each with more than fits anywhere, and nobody who reads: few connections, little memory.
for i in range(60):
    for k in range(100):
        os.close(os.open(gm.mkdir(f"{WORK}/large/{'long' * 40}-{i}") + f"/entry-{k}", os.O_CREAT | os.O_WRONLY, 0o644))
os.unlink(f"{WORK}/log")
hosts = [f"ssh://h{i}{WORK}/large" for i in range(50)]
proc = subprocess.Popen([PROGRAM, "search", f"--rsh={good}", "-o", "PATH,SIZE", "*", *hosts], stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE, env=gm.environment(ENV), cwd=WORK)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return bool(f.read())
    except OSError:
        return False


def connected():
    """How many processes of connections run at one time: of those found in /proc, the ones that still run
    after the last was found."""
    found = [pid for pid, line in children() if b"serve" in line]
    return sum(map(is_running, found))


def resident(kind):
    with open(f"/proc/{proc.pid}/status", encoding="ascii") as f:
        return int(re.search(kind + r":\s+(\d+)", f.read())[1])


limit = time.monotonic() + gm.WAIT_SECONDS
while connected() < 16 and time.monotonic() < limit:
    time.sleep(0.05)
# Never more.  A process is not seen at the moment when it becomes getmnt.
counts = []
while not counts or (len(counts) < 10 or 16 not in counts[-10:]) and time.monotonic() < limit:
    counts.append(connected())
    time.sleep(0.05)
gm.expect(max(counts) == 16, f"{counts} connections")
idle = resident("VmRSS")
gm.expect(idle < 40 * 1024 or gm.sanitized(), f"{idle} KiB while nobody reads")
lines = set()
n = 0
for line in proc.stdout:
    n += 1
    lines.add(line.split(b"/", 3)[2])
    if n % 50000 == 0:
        # The process of a connection that was closed is not waited for: it may run for a moment while the
        # process of the next connection starts.
        gm.expect(any(connected() <= 16 for _ in range(20)), f"{connected()} connections")
        most = resident("VmHWM")
err = proc.stderr.read()
gm.expect(proc.wait() == 0 and not err, f"50 hosts: status {proc.returncode} {err}")
gm.expect(n == 50 * (6000 + 60) and len(lines) == 50, f"50 hosts: {n} lines of {len(lines)} hosts")
gm.expect(most < 48 * 1024 or gm.sanitized(), f"50 hosts need {most} KiB")
nothing_left("50 hosts")


# Cancelled: nothing is left behind, whatever ends it.
def cancelled(tag, rsh, end):
    proc = subprocess.Popen([PROGRAM, "search", f"--rsh={rsh}", "*", *hosts[:20]], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=gm.environment(ENV), cwd=WORK, start_new_session=True)
    limit = time.monotonic() + gm.WAIT_SECONDS
    while not children() or (rsh == good and not select.select([proc.stdout], [], [], 0)[0]):
        if time.monotonic() > limit:
            break
        time.sleep(0.02)
    end(proc)
    try:
        proc.wait(gm.WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        gm.fail(f"{tag}: it does not end")
        proc.kill()
    proc.stdout.close()
    proc.stderr.close()
    nothing_left(tag)


cancelled("no reader", good, lambda proc: proc.stdout.close())
cancelled("SIGTERM", good, lambda proc: proc.send_signal(signal.SIGTERM))
cancelled("SIGKILL", good, lambda proc: proc.send_signal(signal.SIGKILL))
cancelled("Ctrl-C, silent", f"{WORK}/silent", lambda proc: os.killpg(proc.pid, signal.SIGINT))
# A Ctrl-C while connections are started, and while no thread may be interrupted, as it writes to a file.
interrupts = script("interrupts", "case $1 in h0) kill -INT 0 ;; esac\nexec sleep 100")
for command in (["search"], ["find"]):
    with open(f"{WORK}/out", "wb") as out:
        proc = subprocess.Popen([PROGRAM, *command, f"--rsh={interrupts}", *(["*"] if command == ["search"] else []), *hosts[:20]],
                                stdout=out, stderr=subprocess.DEVNULL, env=gm.environment(ENV), cwd=WORK, start_new_session=True)
        gm.expect(proc.wait(gm.WAIT_SECONDS) == -signal.SIGINT, f"{command}: status {proc.returncode}")
    nothing_left(f"Ctrl-C at the start, {command}")
result = search("--first", "0", "ssh://h/x", rsh=f"{WORK}/hangs")
gm.expect((result.status, result.out) == (0, b"ssh://h/x/0\n"), f"--first with a server that hangs: {result.out} {result.err}")
nothing_left("--first")

# A server that ignores that its connection ended, and SIGTERM, is killed.
stubborn = server("stubborn", "import signal\nsignal.signal(15, signal.SIG_IGN)\nhello()\nput(wire.end())\n"
                              "while True:\n    time.sleep(1)")
start = time.monotonic()
gm.expect(search("*", "ssh://h/x", rsh=stubborn).status == 0, "a server that does not end")
gm.expect(time.monotonic() - start < 4 * gm.SLOW, f"it waits {time.monotonic() - start} s for its end")
nothing_left("stubborn")

# A full pipe: a server that does not read its request does not keep others from answering.
long = "|".join(f"{i:060}" for i in range(1000))
deaf = script("deaf", f'case $1 in deaf) exec sleep 100 ;; esac\nexec {PROGRAM} serve --stdio')
result = search("--timeout=2", long + "|f1.c", *[f"ssh://deaf/{'x' * 4000}/{i}" for i in range(100)], f"ssh://h{TREE}", rsh=deaf)
gm.expect(result.out == f"ssh://h{TREE}/d1/e/f1.c\n".encode() and result.err.count(b"no answer for 2 seconds") == 100,
          f"a full pipe: {result.out} {result.err[-300:]}")
nothing_left("deaf")
os.chmod(f"{TREE}/d6/closed", 0o700)
gm.umount(f"{TREE}/d10/mount")
gm.done()
