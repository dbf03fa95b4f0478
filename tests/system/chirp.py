# SPDX-License-Identifier: MIT
"""getmnt search in chirp://: the real chirp_server, alone in a network namespace.  What the rows of
tests/fixtures/search expect, by its search and by listing directories; each method of authentication;
a server that cannot search, refuses to, lies, is silent or gone."""
import collections
import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import gm
from rows import OPTIONS, ROWS, build, decode, found, one_by_one

PROGRAM, WORK = os.environ["GETMNT"], os.environ["GETMNT_WORK"]
CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1
REFUSED = "need the server's search"

gm.need("chirp_server")
if gm.libc.unshare(CLONE_NEWNET):
    gm.skip("no network namespace")
with socket.socket() as lo:
    fcntl.ioctl(lo, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
gm.tmpfs(WORK, "mode=755")
os.chmod(os.path.dirname(WORK), 0o711)   # the server is another user
TOP = gm.mkdir(f"{WORK}/trees")
build(TOP)
os.chmod(TOP, 0o777)
PROOFS = gm.mkdir(f"{WORK}/proofs")
os.chmod(PROOFS, 0o1777)
servers = []


def serve(name, methods=("unix", "hostname", "address"), rights="unix:* rwl\naddress:127.0.0.1 rwl\nhostname:localhost rwl\n"):
    """Start a server, which must not be outside of a network namespace: it would announce itself.
    @return its port."""
    where = gm.mkdir(f"{WORK}/{name}")
    os.chmod(where, 0o777)
    gm.touch(f"{where}/acl", rights)
    process = subprocess.Popen(
        ["chirp_server", "-r", TOP, "-u", "127.0.0.1", "-I", "127.0.0.1", "-Z", f"{where}/port", "-A", f"{where}/acl",
         "--inherit-default-acl", "-y", where, "-c", PROOFS, "-i", "nobody", "-t", "60", "-M", "50",
         *(word for method in methods for word in ("-a", method))],
        env={"PATH": os.environ["PATH"], "CATALOG_HOST": "127.0.0.1"}, stdin=gm.null, stdout=gm.null, stderr=gm.null,
        start_new_session=True, preexec_fn=lambda: gm.libc.prctl(1, signal.SIGKILL))     # PR_SET_PDEATHSIG
    servers.append(process)
    limit = time.monotonic() + 20 * gm.SLOW
    # For a moment its name is that of a directory.
    while not (os.path.isfile(f"{where}/port") and os.path.getsize(f"{where}/port")):
        if time.monotonic() > limit or process.poll() is not None:
            gm.fail(f"{name}: the server does not start")
            end()
        time.sleep(0.02)
    with open(f"{where}/port", encoding="ascii") as file:
        return int(file.read())


def end():
    for process in servers:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    gm.done()


def search(*args, **more):
    return gm.getmnt("search", *args, program=PROGRAM, **more)


def told(result):
    return f"{result.status}, {result.out[-500:]!r}, {result.err[-500:]!r}"


def loops(tree):
    """Whether following links in a tree has no end; the server would not come to an end either."""
    for path, names, _ in os.walk(f"{TOP}/{tree}", followlinks=True):
        here = os.path.realpath(path)
        if path.count("/") > 50 or any(f"{here}/".startswith(os.path.realpath(f"{path}/{name}") + "/") for name in names):
            return True
    return False


def row_is_as_expected(row, way, endless):
    """Whether a row holds on the server; None if it says nothing about it."""
    tree, roots, pattern, flags, _, expected = row.split("\t")
    flags = set() if flags == "-" else set(flags.split(","))
    access = flags & {"R_OK", "W_OK", "X_OK"}
    listed = way or "XDEV" in flags
    # A name that begins with a newline ends a listing; our --access does not check links.
    if (tree in endless and not listed) or (tree == "special" and listed) or expected.startswith("!"):
        return None
    roots = ["" if root == "/" else gm.shown(decode(root)) for root in roots.split(" ")]
    # getmnt takes a file here as a result; the server does not.
    if any(os.path.isfile(f"{TOP}/{tree}{root}") for root in roots):
        return None
    spelled = {f"{URL}/{tree}{'/.' * i}{root}": ("", root) for i, root in enumerate(roots)}
    options = [word for flag in flags for word in OPTIONS[flag]] + way
    result = search("--format=jsonl", *options, "--", os.fsdecode(decode(pattern)), *spelled)
    tag = f"{' '.join(options)}: {row}"
    if listed and (access or "FOLLOW" in flags):
        return gm.expect(result.status == 1 and REFUSED in result.err.decode() + result.out.decode(), f"{tag}: {told(result)}")
    got = found(one_by_one(result), spelled, "INCLUDEROOT" in flags)[""]
    want = collections.Counter(gm.shown(decode(name)) for name in expected.split(" ") if name != "-")
    for name in [name for names in (got, want) for name in names if access]:
        if os.path.islink(f"{TOP}/{tree}{roots[0]}{name}"):
            got.pop(name, None), want.pop(name, None)
    if "STOPATFIRST" in flags:
        hits = [name for name in want if name.startswith("/")]
        return gm.expect(not got - want and sum(n for name, n in got.items() if name in hits) == bool(hits), f"{tag}: {dict(got)}")
    return gm.expect(got == want, f"{tag}: {dict(got - want)} too many, {dict(want - got)} missing; {result.err}")


PORT = serve("all")
URL = f"chirp://localhost:{PORT}"
endless = {tree for tree in os.listdir(TOP) if loops(tree)}
every, held = 1 if gm.FULL else 6, 0
for way in ([], ["--engine=sync"]):
    for number, row in enumerate(ROWS):
        if number % every == len(way) % every:
            held += row_is_as_expected(row, way, endless) is not None
gm.expect(held > len(ROWS) // every and "types" in endless, f"{held} rows, {endless}")


# Attributes, in every form, with each method of authentication; no file is left.
def attributes(url, *options):
    result = search("-o", "TYPE,MODE,NLINK,UID,GID,SIZE,BLOCKS,INO,DEV,MTIME,PATH", *options, "*", url)
    rows = sorted(line.decode().replace(url, "").split("\t") for line in result.out.splitlines())
    return result, [row[:9] + [row[9].split(".")[0]] + row[10:] for row in rows]


local = attributes(f"{TOP}/server")[1]
gm.expect(len(local) > 10, f"{local}")
for methods in ("unix", "hostname", "address"):
    port = serve(methods, [methods])
    for given in (f"unix:{PROOFS}", f"unix:{PROOFS},hostname,address", "address", "hostname", None):
        option = [f"--chirp-auth={given}"] if given else []
        result, rows = attributes(f"chirp://127.0.0.1:{port}/server", *option)
        # By default the file of the method unix is to be in /tmp.
        if methods in (given or "hostname,address"):
            gm.expect(rows == local and result.status == 0, f"{methods} {given}: {told(result)}")
        else:
            why = b"requires to create" if given is None else b"does not offer it"
            gm.expect(not rows and result.status == 1 and why in result.err, f"{methods} {given}: {told(result)}")
        gm.expect(not os.listdir(PROOFS), f"{methods} {given}: left: {os.listdir(PROOFS)}")
for option in ("--size=-1k", "--size=+1", "--where=-type d -o -links 1 -name 'f*'", "--mindepth=3", "--maxdepth=2",
               "--exclude=foo", "--type=d", "-i", "--newer=" + PROGRAM):
    want = sorted(search(option, "[fb]*|[A-D]", f"{TOP}/server").out.replace(TOP.encode(), b"").splitlines())
    for way in ([], ["--engine=sync"]):
        result = search(option, *way, "[fb]*|[A-D]", f"{URL}/server")
        got = sorted(result.out.replace(URL.encode(), b"").splitlines())
        gm.expect(got == want and result.status == 0, f"{option} {way}: {want} {told(result)}")
result = search("-l", "bar", f"{URL}/server/a")
gm.expect(result.out.count(b"\n") == 2 and b"-rw-r--r--" in result.out, f"{told(result)}")
result = search("-o", "BTIME,MNT-ID,LINK", "--format=jsonl", "bar", f"{URL}/server/a/b/c")
gm.expect(json.loads(result.out) == {"btime": None, "mnt-id": None, "link": None}, f"{told(result)}")

# Links: a loop is left out, listed or searched, and followed on request.
loop = gm.mkdir(f"{TOP}/loop/d")
gm.touch(f"{loop}/x")
os.symlink("..", f"{loop}/up")
for way, count in (((), 1), (("--engine=sync",), 1), (("--first",), 1), (("-L",), 41)):
    result = search("--count", *way, "x", f"{URL}/loop")
    gm.expect(0 < int(result.out or 0) <= count and (count == 1) == (int(result.out) == 1) and result.status == 0, f"{way}: {told(result)}")

# find: the same as here, with the host before each path; what the server cannot tell is refused, and so is what acts there.
def find(where, *args):
    result = gm.getmnt("find", "--chirp-auth=hostname", *args, program=PROGRAM)
    return result.status, sorted(re.split(rb"[\n\0]", result.out.replace(where.encode(), b""))), result.err.replace(where.encode(), b"")


ALL = "%p|%P|%f|%h|%H|%d|%y|%m|%n|%s|%b|%U|%G|%i|%Ts\n"
FINDS = ((), ("-type", "f"), ("-printf", ALL), ("-maxdepth", "0"), ("-maxdepth", "0", "-printf", ALL), ("-maxdepth", "1"), ("-mindepth", "2"),
         ("-name", "bar", "-print0", "-o", "-type", "d", "-printf", "%p/\n", ",", "-size", "+0", "-print"), ("-path", "ROOT/a/*"), ("-xdev",),
         ("-name", "[fb]*", "!", "-newermt", "2100-01-01", "-ls"), ("-links", "1", "-perm", "-444"), ("-false",), ("-quit",))


def compare_find(args, root):
    outcomes = [find(where, f"{where}/{root}", *(arg.replace("ROOT", f"{where}/server") for arg in args)) for where in (TOP, URL)]
    gm.expect(outcomes[0] == outcomes[1] and (outcomes[0][0] == 1) == (root == "nothing"), f"find {root} {args}: {outcomes}")
    gm.expect(len(outcomes[0][1]) > 1 or args or root == "nothing", f"find {root}: {outcomes}")


with ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda pair: compare_find(*pair), [(args, root) for args in FINDS for root in (
        "server", "loop/d/up", *(("server/a/", "server/a/b/c/bar", "nothing") if len(args) < 4 else ()))]))
status, out, err = find(URL, "-H", f"{URL}/loop/d/up", "-maxdepth", "0", "-printf", "%y")
gm.expect((status, out) == (0, [b"d"]), f"find -H: {status} {out} {err}")
for args, why in ((("-readable",), "not searched: a Chirp server cannot tell what these tests need"),
                  (("-name", "x", "-prune", "-o", "-print"), "not searched: a Chirp server cannot tell what these tests need"),
                  (("-delete",), "-delete cannot be performed on another host, only printing can\n")):
    status, out, err = find("", f"{URL}/server", *args)
    gm.expect(status == 1 and out == [b""] and err.decode().startswith(f"getmnt: {URL}/server: {why}"), f"find {args}: {status} {out} {err}")

# One who may only list: the server's search refuses, and its directories are listed.
port = serve("lists", rights="hostname:localhost rl\n")
result = search("bar", f"chirp://localhost:{port}/server")
gm.expect(result.status == 0 and result.out.count(b"/bar\n") == 6, f"rl: {told(result)}")


class Proxy(threading.Thread):
    """Between a client and the server: it answers "search" as if it could not, and counts requests, and
    the reads that they come in."""
    def __init__(self, status):
        super().__init__(daemon=True)
        self.status, self.requests, self.reads = status, [], 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"chirp://localhost:{self.listener.getsockname()[1]}"
        self.start()

    def run(self):
        client, _ = self.listener.accept()
        server = socket.create_connection(("127.0.0.1", PORT))
        threading.Thread(target=self.back, args=(server, client), daemon=True).start()
        while data := client.recv(65536):
            self.reads += 1
            for line in data.splitlines(True):
                self.requests.append(line)
                if self.status and line.startswith(b"search "):
                    client.sendall(self.status)
                else:
                    server.sendall(line)
        server.close()

    @staticmethod
    def back(server, client):
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                client.sendall(data)


bars = sorted(search("bar", f"{TOP}/server").out.replace(TOP.encode(), b"").splitlines())
for status, ways in ((b"", 1), (b"-8\n", 0), (b"-1\n", 0)):
    proxy = Proxy(status)
    result = search("--chirp-auth=hostname", "bar", f"{proxy.url}/server")
    got = sorted(result.out.replace(proxy.url.encode(), b"").splitlines())
    kinds = collections.Counter(line.split()[0] for line in proxy.requests)
    gm.expect(got == bars and result.status == 0, f"{status}: {told(result)}")
    gm.expect(kinds[b"search"] == 1 and (kinds[b"getlongdir"] == 0) == bool(ways), f"{status}: {kinds}")
    # The method, the search, and all that is to be known of links at once; or one read a level.
    gm.expect(proxy.reads <= (3 if ways else 2 + 5), f"{status}: {proxy.reads} reads, {proxy.requests}")
proxy = Proxy(b"-8\n")
result = search("--chirp-auth=hostname", "--access=r", "bar", f"{proxy.url}/server")
gm.expect(result.status == 1 and b"--access and --follow need" in result.err, f"{told(result)}")


def lie(*answers, hold=0):
    """A server of one client that sends what it likes.  @return its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run():
        client, _ = listener.accept()
        with contextlib.suppress(OSError):
            for answer in answers:
                client.recv(65536)
                client.sendall(answer)
            while hold == "more":
                client.sendall(b"0:/x::\n" * 10000)
            time.sleep(hold)
        client.close()
    threading.Thread(target=run, daemon=True).start()
    return f"chirp://localhost:{listener.getsockname()[1]}/"


YES = b"yes\nyes\nyes\nhostname\nlocalhost\n"
for why, url in (("no connection: Connection refused", "chirp://127.0.0.1:1/"),
                 ("no connection: ", "chirp://no-such-host.invalid/"),
                 ("no answer for 1 seconds", lie(YES, hold=30)),
                 ("before the answer was complete", lie(YES, b"0\n0:/x::\n")),
                 ("component \"..\"", lie(YES, b"0\n0:/../x::\n\n")),
                 ("too large", lie(YES, b"0\n0:/x:1 2 3 4 5 6 7 8 9 10 11 12 99999999999999999999:\n\n")),
                 ("too long", lie(YES, b"0\n0:/" + b"x" * (2 << 20))),
                 ("more than its answer", lie(YES, b"0\n\n0\n\n")),
                 ("no Chirp server", lie(b"SSH-2.0-OpenSSH_9.6\r\n")),
                 ("is this the port", lie()),
                 ("no directory", "chirp://localhost"), ("port is not a number", "chirp://localhost:x/"),
                 ("who the user is", "chirp://me@localhost/"),
                 ("does not sort", lie(YES)), ("cannot tell what", lie(YES))):
    option = {"does not sort": ["--sort=name"], "cannot tell what": ["--where=-readable"]}.get(why, [])
    begun = time.monotonic()
    result = search("--chirp-auth=hostname", "--timeout=1", *option, "x", url, f"{TOP}/loop")
    gm.expect(result.status == 1 and why in result.err.decode() and result.out.endswith(b"/loop/d/x\n"), f"{why}: {told(result)}")
    gm.expect(time.monotonic() - begun < 10 * gm.SLOW, f"{why}: {time.monotonic() - begun} s")
# An answer that never ends, for somebody who has enough.
with subprocess.Popen([PROGRAM, "search", "--chirp-auth=hostname", "x", lie(YES, b"0\n", hold="more")], stdin=gm.null,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
    run.stdout.readline()
    run.stdout.close()
    gm.expect(run.wait(10 * gm.SLOW) != 0, "an endless answer")
print(f"  {held} of {2 * len(ROWS) // every} rows")
end()
