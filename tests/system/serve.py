# SPDX-License-Identifier: MIT
"""getmnt serve: a client written by docs/PROTOCOL.md gets what getmnt search prints; several searches
on one connection; requests that are invalid, cut or from another version; a client that does not
read, and one that goes away."""
import fcntl
import json
import os
import signal
import struct
import subprocess
import termios
import time

import gm
import wire

gm.need("strace")
TYPES = {"b": 6, "c": 2, "d": 4, "f": 8, "l": 10, "p": 1, "s": 12}


class Server:
    """A running getmnt serve."""

    def __init__(self, prefix=(), env=None):
        self.proc = subprocess.Popen([*prefix, gm.PROGRAM, "serve", "--stdio"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                                     env=gm.environment(env), cwd="/", start_new_session=True)
        self.out = self.proc.stdout.fileno()

    def send(self, data):
        self.proc.stdin.write(data)

    def greeted(self):
        self.send(wire.GREETING)
        gm.expect(wire.read(self.out, 16) == wire.GREETING, "the server does not greet")
        return self

    def end(self):
        """Close its input.  @return its status, and the rest of its output and of its messages."""
        try:
            out, err = self.proc.communicate(timeout=gm.WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            gm.fail("the server does not end")
            out, err = self.proc.communicate()
        return self.proc.returncode, out, err


def local(pattern, *roots, args=()):
    result = gm.getmnt("search", "--format=jsonl", "-o+SIZE,INO,UID,NLINK,LINK", *args, pattern, *roots)
    return [json.loads(line) for line in result.out.splitlines()]


root = gm.Root()
gm.tmpfs(root / "m", "nr_inodes=0,size=1g")
for i in range(20):
    gm.touch(gm.mkdir(root / f"m/d{i}") + "/x.c", "x" * i)
os.symlink("d1/x.c", root / "m/link")
os.symlink("\n\\nowhere", root / "m/d2/li\nnk")
os.mkfifo(root / "m/fifo")
gm.mkdir(root / "m/trail")
gm.install("strace", root.path)
root.enter()

# The same objects as a local search, for all flags that change what is found.
server = Server().greeted()
wanted = [(pattern, flags, words, numbers) for pattern in ("*", "*.c", "/d1/x.c", "d*|link", "/nothing")
          for flags, words, numbers in ((2, (), {}), (2 | 1 << 11, ("--follow",), {}), (2, ("--type=fl",), {"types": 1 << 8 | 1 << 10}),
                                        (2, ("--depth=1",), {"depth": 1}), (2 | 1 << 12, ("--sort=name",), {}),
                                        (2 | 16, ("--access=r",), {}), (2, ("--threads=1",), {"threads": 1}))]
for pattern, flags, words, numbers in wanted:
    roots = ("/m", "/m/d1/", "/missing")
    server.send(wire.request(pattern.encode(), *(r.encode() for r in roots), flags=flags, wants=3, **numbers))
    got, end = wire.answer(server.out)
    expected = local(pattern, *roots, args=words)
    tag = f"{pattern} {words}"
    gm.expect(not isinstance(end, str) and end is not None, f"{tag}: {end}")
    rows = []
    for e in got:
        path = roots[e.root].rstrip("/") + e.path.decode() if e.path else roots[e.root]
        row = {"path": path}
        if e.err:
            row["err"] = e.err
        else:
            st = struct.unpack_from("<IIQIIIHHQQ", e.statx)
            row |= {"type": e.kind, "nlink": st[3], "uid": st[4], "ino": st[8], "size": st[9],
                    "target": e.target.decode() if e.target is not None else None}
        rows.append(row)
    wants = []
    for row in expected:
        if "error" in row:
            wants.append({"path": row["path"], "err": {"ENOENT": 2, "EOVERFLOW": 75, "ELOOP": 40}[row["error"]]})
        else:
            wants.append({"path": row["path"], "type": TYPES[row["type"]], "nlink": row["nlink"], "uid": row["uid"],
                          "ino": row["ino"], "size": row["size"], "target": row.get("link")})
    rows, wants = (sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)) for rows in (rows, wants))
    gm.expect(rows == wants, f"{tag}: served {rows}\nlocal {wants}")
    gm.expect(end[0] == 0 and end[4] == sum(not e.err for e in got) and end[5] == sum(bool(e.err) for e in got),
              f"{tag}: counts {end}")
status, out, err = server.end()
gm.expect((status, out, err) == (0, b"", b""), f"the end: {status} {out} {err}")

# All requests at once, and the end of input: each is answered.
server = Server()
server.send(wire.GREETING + wire.request(b"x.c", b"/m") * 3)
status, out, err = server.end()
gm.expect(status == 0 and out.count(wire.frame(wire.END)[4:8]) >= 3 and not err, f"three requests: {status} {err}")

# A query is evaluated there, if it has no actions; names are not looked up for a client.
server = Server().greeted()
server.send(wire.request(b"*", b"/m", query=b"( -name *.c -size +14c ) -o -type p"))
got, end = wire.answer(server.out)
gm.expect(sorted(e.path for e in got) == [b"/d%d/x.c" % i for i in range(15, 20)] + [b"/fifo"], f"a query: {got} {end}")
server.end()
for query in (b"-delete", b"-exec touch /m/touched ;", b"-fprint /m/touched", b"-newer /m/fifo", b"-user root", b"-name", b"(" * 100000):
    server = Server().greeted()
    server.send(wire.request(b"*", b"/m", query=query))
    got, end = wire.answer(server.out)
    gm.expect(isinstance(end, str) and not got and not os.path.exists("/m/touched"), f"{query[:40]}: {got} {end}")
    gm.expect(server.end()[0] == 1, f"{query[:40]}: the server goes on")

# What is not a request ends it, and says why on both sides.
big = struct.pack("<II", 5 << 20, 1)
whole = wire.request(b"*", b"/m")
UPDATE = ": update the older getmnt"
for sent, why in (
        (b"GET / HTTP/1.1\r\n\r\n", 'this is not a request of getmnt: "GET / HTTP/1.1"'),
        (b"GETMNT\r\n\2\0\0\0\0\0\0\0", "the client speaks version 2 of the protocol, the server version 1: update the older "
                                        "getmnt"),
        (wire.GREETING[:7], "the request is truncated"),
        (wire.GREETING + whole[:-1], "the request is truncated"),
        (wire.GREETING + whole[:5], "the request is truncated"),
        (wire.GREETING + whole + whole[:20], "the request is truncated"),
        (wire.GREETING + big, "a frame of kind 1 with 5242880 bytes, more than 4194304"),
        (wire.GREETING + wire.frame(3), "a frame of an unknown kind, 3"),
        (wire.GREETING + wire.frame(1, whole[8:-2]), "the request is not valid: its strings do not fill it"),
        (wire.GREETING + wire.frame(1, whole[8:30]), "the request is truncated"),
        (wire.GREETING + wire.request(b"*", b"/m", wants=1 << 20),
         "the request wants something that this version does not know" + UPDATE),
        (wire.GREETING + wire.request(b"[", b"/m"), "invalid pattern, at byte 0: no ] closes this [ before the next / or |; write \\[ for the character itself"),
        (wire.GREETING + wire.request(b"*", b"/m", flags=1 << 30), "a flag, engine or exclusion of the request is not known to this version" + UPDATE),
        (wire.GREETING + wire.request(b"*", b"/m", flags=3 << 12), "a flag, engine or exclusion of the request is not known to this version" + UPDATE),
        (wire.GREETING + wire.request(b"*", b"/m", query=b"-exec : ';'"), "-exec is an action; a server performs none"),
        (wire.GREETING + wire.request(b"*", b"/m", query=b"-fprint x"), "-fprint is an action; a server performs none"),
        (wire.GREETING + wire.request(b"*", b"/m", query=b"-print " * 33), "the query has more than 32 actions"),
        (wire.GREETING + wire.request(b"*", b"/m", query=b"-name"), '"-name" needs an argument'),
        (wire.GREETING + wire.request(b"*", b"/m", query=b"-newer /etc/passwd"),
         'the file "/etc/passwd" of -newer: Operation not permitted; check the path'),
        (wire.GREETING + wire.request(b"*", b"/m", engine=77), "a flag, engine or exclusion of the request is not known to this version" + UPDATE)):
    server = Server()
    server.send(sent)
    status, out, err = server.end()
    text = out[out.rfind(wire.frame(wire.REFUSED)[4:8]) + 4:].decode()
    gm.expect(status == 1 and text == why and err.decode() == f"getmnt: serve: {why}\n",
              f"{sent[:60]!r}: status {status}, {text!r}, {err!r}")

# A directory that NFS shows too: the IDs of its file system; an error if something is mounted in it.
server = Server().greeted()
for path, error in ((b"/m", None), (b"/m/d1", None), (b"/", 16), (b"/m/missing", 2), (b"/m", 16), (b"/m/d1", 16), (b"/m/d2", None)):
    if path == b"/m" and error:
        gm.bind("/m/d2", gm.mkdir("/m/d1/at"))
    for wants in (512 | 32, 512 | 32 | 8):
        server.send(wire.request(b"/*", path, flags=2, wants=wants, levels=2))
        got, end = wire.answer(server.out)
        own = [e for e in got if not e.path]
        gm.expect(len(own) == 1 and end[0] == 0 and own[0].err == (error or 0), f"{path} with {wants}: {got} {end}")
        if error:
            gm.expect(len(got) == 1, f"{path}: {got}")
            continue
        fsid = os.statvfs(path).f_fsid
        gm.expect(struct.unpack_from("<Q", own[0].statx, 240)[0] == fsid != 0, f"{path}: {own[0].statx[240:]} instead of {fsid:x}")
server.send(wire.request(b"/*", b"/m", flags=2, wants=32, levels=2))
got, end = wire.answer(server.out)
gm.expect(len(got) > 20 and not any(any(e.statx[240:]) for e in got), f"not wanted: {got}")
server.end()
gm.umount("/m/d1/at")
os.rmdir("/m/d1/at")

# Actions of a query say what is wanted.
server = Server().greeted()
for query, pattern, expected in ((b"-name x.c -size 3c -print", b"*", [b"/d3/x.c"]),
                                 (b"-name d4 -print -prune -o -name x.c -size 4c -print", b"*", [b"/d4"])):
    server.send(wire.request(pattern, b"/m", query=query))
    got, end = wire.answer(server.out)
    gm.expect(sorted(e.path for e in got) == expected, f"{query}: {got} {end}")

# Each object names the actions that it reaches, also where this is known only when it is sent.  Attributes come if an action
# needs them; roots at depth 0, with the targets of links; paths are compared as the client prints them.
SELF, LINKS, SIZE = 32, 2, 0x200
for query, roots, numbers, expected in (
        (b"-name d3 -print -o -name x.c -size -3c -print , -name d1* -type d -print", (b"/m",), {},
         {b"/d3": 1, b"/d0/x.c": 2, b"/d1/x.c": 2, b"/d2/x.c": 2} | {b"/d%d" % i: 4 for i in (1, *range(10, 20))}),
        (b"-depth -empty -print -o -type d -name d0 -print , -name fifo -quit", (b"/m",), {},
         {b"/trail": 1, b"/d0/x.c": 1, b"/d0": 2, b"/fifo": 4}),
        (b"-depth -empty -type d", (b"/m/trail/",), {"wants": SELF}, {b"": 1}),
        (b"-print", (b"/m", b"/m/link", b"/m/fifo"), {"wants": SELF | LINKS, "levels": 1, "mask": SIZE}, {b"": 1}),
        (b"-path ssh://h/m/d3/x.c -print -o -path ssh://h/m -print -o -path '/m*' -print", (b"/m",),
         {"wants": SELF, "prefix": b"ssh://h"}, {b"": 2, b"/d3/x.c": 1}),
        (b"-type f -print -o -print", (b"/m/d2",), {}, {b"/x.c": 1, b"/li\nnk": 2}),
        (b"-name / -print", (b"/", b"/."), {"wants": SELF, "prefix": b"ssh://h", "levels": 1}, {b"": 1}),
        (b"-name d1 -readable -print , -name d2 -xtype d -print", (b"/m",), {"levels": 2}, {b"/d1": 1, b"/d2": 2})):
    server.send(wire.request(b"*", *roots, query=query, **numbers))
    got, end = wire.answer(server.out)
    gm.expect({e.path: e.actions for e in got} == expected, f"{query}: {[(e.path, e.actions) for e in got]} {end}")
    gm.expect(all((e.statx is not None) == ("mask" in numbers) for e in got), f"{query}: attributes")
    if "mask" in numbers:
        gm.expect([(e.root, e.kind, e.target) for e in got] == [(0, 4, None), (1, 10, b"d1/x.c"), (2, 1, None)], f"{query}: {got}")
server.end()

# Roots of other hosts are names of directories here; it connects to nothing, executes nothing, writes
# no file.
server = Server(prefix=("/bin/strace", "-f", "-o", "/trace")).greeted()
server.send(wire.request(b"*", b"ssh://localhost/m", b"chirp://localhost/", b"/m", b"m", b"m\xff", flags=2, wants=7))
got, end = wire.answer(server.out)
gm.expect({(e.root, e.err) for e in got if not e.path} == {(0, 2), (1, 2), (4, 2)}, f"other roots: {got}")
server.end()
trace = open("/trace", encoding="latin-1").read()
for word in ("socket(", "connect(", "O_WRONLY", "O_RDWR", "O_CREAT", "mkdir", "unlink", "fork("):
    gm.expect(word not in trace, f"it calls {word}")
gm.expect(trace.count("execve(") == 1, "it executes something")

# A client that does not read: it waits in write(2), keeps little, and goes on.
for i in range(100):
    gm.mkdir(f"/m/many/{'long' * 40}-{i}")
    for k in range(200):
        os.close(os.open(f"/m/many/{'long' * 40}-{i}/entry-{k}", os.O_CREAT | os.O_WRONLY, 0o644))
server = Server().greeted()
server.send(wire.request(b"*", b"/m", flags=2))


def waiting():
    """The number of bytes in the pipe."""
    return struct.unpack("i", fcntl.ioctl(server.out, termios.FIONREAD, bytes(4)))[0]


limit = time.monotonic() + gm.WAIT_SECONDS
while waiting() < 1 << 16 and time.monotonic() < limit:
    time.sleep(0.01)
time.sleep(0.3)
with open(f"/proc/{server.proc.pid}/status", encoding="ascii") as f:
    kib = int(f.read().split("VmHWM:")[1].split()[0])
gm.expect(waiting() == 1 << 16, f"{waiting()} bytes are in the pipe")
gm.expect(kib < 64 * 1024 or gm.sanitized(), f"it needs {kib} KiB while nobody reads")
got, end = wire.answer(server.out)
gm.expect(len(got) == end[4] == 20000 + 101 + 20 * 2 + 4, f"then: {len(got)}, {end}")
gm.expect(server.end()[0] == 0, "it does not end well")

# A client that goes away ends it, also in the middle of a search.
server = Server().greeted()
server.send(wire.request(b"*", b"/m", flags=2))
os.read(server.out, 1000)
server.proc.stdout.close()
gm.expect(server.proc.wait(gm.WAIT_SECONDS) == -signal.SIGPIPE, f"without a reader: status {server.proc.returncode}")

# While nothing is found, a sign of life comes within some seconds.
server = Server().greeted()
start = time.monotonic()
server.send(wire.request(b"*xx", *[b"/m"] * 1200, threads=1))
kinds = set()
for kind, data in wire.frames(server.out):
    kinds.add(kind)
    if kind in (wire.ALIVE, wire.END):
        break
took = time.monotonic() - start
gm.expect(kinds in ({wire.ALIVE}, {wire.END}), f"kinds {kinds}")
gm.expect(kind == wire.ALIVE or took < 3, f"no sign of life in {took} s")
server.proc.stdout.close()
server.proc.stdin.close()
server.proc.wait(gm.WAIT_SECONDS)
gm.done()
