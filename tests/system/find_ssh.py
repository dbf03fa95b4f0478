# SPDX-License-Identifier: MIT
"""getmnt find on other hosts by the real ssh and sshd: the same as GNU find there, with the host before each
path; several hosts and roots at once; errors; what can only be done there is refused, and not done."""
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import gm
import sshd
from sshd import ENV, PROGRAM, RSH, WORK, nothing_left, url

gm.need("find")
NOATIME = 1024
TREE = gm.mkdir(f"{WORK}/tree")
gm.mount("tree", TREE, "tmpfs", NOATIME, "size=64m,mode=755")
for i in range(6):
    gm.touch(gm.mkdir(f"{TREE}/d{i}/e{i}/deep") + f"/f{i}.c", "x" * (i * 700))
    gm.touch(f"{TREE}/d{i}/F{i}.txt", "" if i % 2 else "text")
gm.mkdir(f"{TREE}/empty")
for name in (b"new\nline", b"tab\t", b"\xff\xfe", b".hidden", b"sp ace", b"-dash", b"%p", b"x" * 255):
    with open(os.fsencode(TREE) + b"/d1/" + name, "w") as f:
        f.write("text")
for name, target in (("link", "d1/F1.txt"), ("dirlink", "d2"), ("dangling", "no\nwhere"), ("self", "self"), ("d3/up", "..")):
    os.symlink(target, f"{TREE}/{name}")
os.mkfifo(f"{TREE}/fifo", 0o620)
os.mknod(f"{TREE}/dev", 0o60600, os.makedev(7, 300))
os.link(f"{TREE}/d1/F1.txt", f"{TREE}/d2/hard")
os.chown(f"{TREE}/d4/e4", 1234, 54321)
os.chmod(f"{TREE}/d4/F4.txt", 0o6751)
for i in range(6):
    os.utime(f"{TREE}/d{i}/F{i}.txt", ns=(86400 * 10 ** 9 * i, 1700000000 * 10 ** 9 + i))
gm.tmpfs(f"{TREE}/mnt", "mode=700")
gm.touch(f"{TREE}/mnt/below.c")
gm.touch(f"{WORK}/newer")
DAY = {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8"}

# ROOT is the root as it is given.  "/" at its start: the flags before the paths; "+": output in the order of depth.
EXPRESSIONS = """\
-name *.c
-iname f*.TXT
-path ROOT/d1/*
-path ROOT
-path */e?/deep
-regex ROOT/d[12]/.*\\.txt
-type d
-type f,l
-xtype f
-xtype l
-size +1k
-size -2c -type f
-empty
! -empty -type d
-links +1 -type f
-perm -4000
-perm /022 ! -type l
-uid 1234
-nouser
-nogroup -o -name fifo
-newer FILE -type f
-newermt 2023-11-14 ! -newermt 2030-01-01 -type f
-mtime +100
-lname d*
-readable -writable -type f
-executable -type f
-fstype tmpfs -name *.c
-name .* -o -name new*
-maxdepth 0
-maxdepth 1
-mindepth 1 -maxdepth 2 -type d
-mindepth 3
-xdev
+
+-depth
+-depth -type d
+-depth -empty -printf %p:\\n -o -name d1 -print
-name d1 -prune -o -print
-path ROOT/d1 -prune -o -type f -print
+-name d? -prune
( -name d1 -o -name d2 ) -prune -print -o -name *.c -print
-name d2 -print -o -name d3 -print0 -o -name d4 -printf %f%p
-type f -print , -name *.c -printf <%p>\\n , -size +0 -print
-name *.c -print -size +2k -print -size +3k -printf !%p\\n
-type l -printf %p>%l\\n -o -type d -printf %p/\\n
-printf %p|%P|%f|%h|%H|%d|%y|%m|%M|%n|%s|%k|%b|%u|%g|%U|%G|%i|%D|%l|%T+|%t|%Ts\\n
-printf %20f|%-5y|%.2P|%5s\\n
-type f -printf %s\\n
-maxdepth 0 -printf %h|%f|%P|%d|%y\\n
-ls
-name *.c -ls -o -type l -ls
-type f -fprint OUT -o -print
-type f -fprintf OUT %f\\n , -name *.c -fls OUT , -type d -print0
/-L
/-L -type l
/-L -type f -name *.c -printf %p|%y|%s\\n
/-H
/-H -type l -ls
-name nothing
-false
-type f ( -name *.c , -size +1k ) -print
-ignore_readdir_race -type d -name e*
"""


def run(program, args, root, out):
    flags = [args.pop(0)] if args and args[0] in ("-L", "-H") else []
    args = [arg.replace("ROOT", root).replace("FILE", f"{WORK}/newer").replace("OUT", out).replace("\\n", "\n") for arg in args]
    if os.path.exists(out):
        os.unlink(out)
    proc = subprocess.run([*program, *flags, root, *args], capture_output=True, timeout=gm.WAIT_SECONDS, cwd="/",
                          env=gm.environment({**ENV, **DAY}))
    written = gm.read_bytes(out) if os.path.exists(out) else b""
    return proc.returncode, proc.stdout, written, proc.stderr


def messages(err):
    """The path that each message names."""
    return sorted(re.search(rb": [^/]*(/[^:\x80-\xff]*)", line)[1] for line in err.splitlines())


def local(text, there, here):
    return text.replace(there.encode(), here.encode())


def in_order(paths, contents_first):
    """Whether each directory comes before, or after, what is in it."""
    seen, root = set(), None
    for path in paths:
        if contents_first:
            if any(other.startswith(path + b"/") for other in paths[len(seen) + 1:]):
                return False
        elif any(other.startswith(path + b"/") for other in seen):
            return False
        seen.add(path)
    return True


def compare(number, text, path=TREE):
    words = text.split(" ") if text else []
    ordered = bool(words) and words[0].startswith("+")
    if words and words[0][0] in "+/":
        words[0] = words[0][1:]
    words = [word for word in words if word]
    there = url("good", path)
    gnu = run(["find"], list(words), path, f"{WORK}/out-gnu-{number}")
    ours = run([PROGRAM, "find", RSH], list(words), there, f"{WORK}/out-ours-{number}")
    shown = []
    for status, out, written, err in (gnu, ours):
        out, written, err = (local(part, there[:len(there) - len(path)], "") for part in (out, written, err))
        if "-ls" in text or "-fls" in text:
            out, written = (re.sub(rb" +", b" ", part) for part in (out, written))
        pieces = [sorted(re.split(rb"[\n\0]", part)) for part in (out, written)]
        shown.append([status, *pieces, messages(err)])
    for left, right in zip(*shown):
        if left != right and isinstance(left, list):
            left, right = [x for x in left if x not in right][:5], [x for x in right if x not in left][:5]
        gm.expect(left == right, f"{text}: GNU find {left}, getmnt {right}")
    if ordered:
        gm.expect(in_order([line for line in ours[1].split(b"\n") if line and b":" in line], "-depth" in text), f"{text}: {ours[1]}")


def find(*args, rsh=RSH, **more):
    return gm.getmnt("find", rsh, *args, program=PROGRAM, env=ENV, cwd="/", **more)


sshd.need_login(find(url("good", TREE), seconds=gm.WAIT_SECONDS))
rows = EXPRESSIONS.split("\n")[:-1]
with ThreadPoolExecutor(4) as pool:
    jobs = [pool.submit(compare, number, text) for number, text in enumerate(rows)]
    # Roots that are no directories, that end in a slash, and the root directory.
    for more, (text, path) in enumerate((("-ls", f"{TREE}/link"), ("-printf %p|%f|%h|%P|%l\\n", f"{TREE}/dirlink"), ("/-H", f"{TREE}/dirlink"),
                                         ("-printf %p|%f|%h|%P\\n", f"{TREE}/d1/"), ("/-L -print", f"{TREE}/dangling"),
                                         ("-printf %p|%f|%y\\n", f"{TREE}/fifo"), ("-print", f"{TREE}/missing"),
                                         ("-maxdepth 1 -name tmp -printf %p|%f|%h|%P\\n", "/"), ("-maxdepth 0 -printf %f\\n", "/"))):
        jobs.append(pool.submit(compare, 1000 + more, text, path))
    for job in jobs:
        job.result()
gm.expect(len(rows) >= 60, f"{len(rows)} expressions")
nothing_left("comparisons")

# -quit ends all, also a search that goes on.
result = find(url("good", "/"), "-name", "usr", "-print", "-quit")
gm.expect(result.status == 0 and result.out == url("good", "/usr\n").encode(), f"-quit: {result.status} {result.out} {result.err}")

# Several hosts and roots, here and there; what fails is an error, and the others go on.
hosts = [url("good", f"{TREE}/d1", f"127.0.1.{n}") for n in (1, 2)]
result = find(*hosts, url("without", TREE), f"{TREE}/d1", url("good", f"{TREE}/missing"), f"ssh://127.0.0.1:2{TREE}", "-name", "F1.txt",
              "-printf", "%H %P\n")
gm.expect(sorted(result.out.decode().splitlines()) == sorted(f"{root} F1.txt" for root in (*hosts, f"{TREE}/d1")), f"hosts: {result.out}")
lines = sorted(result.err.decode().splitlines())
gm.expect(result.status == 1 and len(lines) == 3, f"hosts: {result.status} {lines}")
for target, why in ((url("without", TREE), r"not searched: getmnt cannot be run there; .*\(status 127\)"),
                    (url("good", f"{TREE}/missing"), "No such file or directory$"),
                    (f"ssh://127.0.0.1:2{TREE}", r"not searched: no connection \(status 255\)")):
    gm.expect(sum(bool(re.match(f"getmnt: {re.escape(target)}: {why}", line)) for line in lines) == 1, f"{target}: {lines}")
gm.touch(f"{WORK}/names", f"{TREE}/d2\0{hosts[0]}\0ssh://-oProxyCommand=x/\0")
result = find("-files0-from", f"{WORK}/names", "-name", "F?.txt")
gm.expect(sorted(result.out.decode().splitlines()) == sorted((f"{TREE}/d2/F2.txt", f"{hosts[0]}/F1.txt")) and result.status == 1
          and b"the name of its host is not valid" in result.err, f"-files0-from: {result.out} {result.err}")

# What can only be done there is refused before anything is searched, whatever else is a root or an action.
before = sorted(subprocess.run(["find", TREE, "-printf", "%p %i %T+\\n"], capture_output=True, check=True).stdout.splitlines())
trace = f"{WORK}/trace"
spy = gm.touch(f"{WORK}/spy", f"#!/bin/sh\necho ran >>{trace}\n")
os.chmod(f"{WORK}/spy", 0o755)
HERE = f"{TREE}/d1"
THERE = url("good", TREE)
RUN = r"only printing can; run find there: ssh -p 2201 root@127\.0\.0\.1 find \.\.\."
for args, why in ((("-delete",), f"-delete cannot be performed on another host, {RUN}"),
                  (("-name", "x", "-exec", "touch", f"{WORK}/touched", ";"), f"-exec cannot be performed on another host, {RUN}"),
                  (("-exec", "rm", "{}", "+"), f"-exec cannot be performed on another host, {RUN}"),
                  (("-execdir", "rm", "{}", ";"), f"-execdir cannot be performed on another host, {RUN}"),
                  (("-ok", "rm", "{}", ";"), f"-ok cannot be performed on another host, {RUN}"),
                  (("-okdir", "rm", "{}", ";"), f"-okdir cannot be performed on another host, {RUN}"),
                  (("-print", "-false", "-delete"), f"-delete cannot be performed on another host, {RUN}"),
                  (("-samefile", f"{TREE}/fifo"), "-samefile compares with a file of this host; use -inum"),
                  (("-printf", "%p %F"), "-printf: %F is not known of objects on another host"),
                  (("-fprintf", "/dev/stdout", "%Y"), "-fprintf: %Y is not known of objects on another host"),
                  (("-print",) * 33, "more than 32 actions; run find several times")):
    for roots in ((THERE,), (HERE, THERE)):
        result = find(*roots, *args, rsh=f"--rsh={WORK}/spy")
        gm.expect(result.status == 1 and result.out == b"" and re.fullmatch(f"getmnt: {re.escape(THERE)}: {why}\n", result.err.decode()),
                  f"{args}: {result.status} {result.out} {result.err}")
result = find("chirp://h/x", "-delete", rsh=f"--rsh={WORK}/spy")
gm.expect(result.err == b"getmnt: chirp://h/x: -delete cannot be performed on another host, only printing can\n", f"chirp: {result.err}")
after = sorted(subprocess.run(["find", TREE, "-printf", "%p %i %T+\\n"], capture_output=True, check=True).stdout.splitlines())
gm.expect(before == after and not os.path.exists(trace) and not os.path.exists(f"{WORK}/touched"), "something was done")
result = find(HERE, "-name", "F1.txt", "-exec", "echo", "{}", ";")
gm.expect(result.out == f"{HERE}/F1.txt\n".encode(), f"only here: {result.out} {result.err}")
nothing_left("refused")
gm.umount(f"{TREE}/mnt")
gm.umount(TREE)
sshd.end()
