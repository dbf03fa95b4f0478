# SPDX-License-Identifier: MIT
"""getmnt search on a file system with I/O errors: a directory that cannot be opened, one whose reading
fails in the middle, a name that cannot be looked up.  Each is reported with EIO and its path, the rest
is found, and the status is 1; with every engine."""
import errno
import json
import os
import stat
import struct

import gm

gm.need_fs("fuse")
FEW, MANY = 2, 300        # names in a directory
ANSWER = 60               # names that the file system tells at once
DIRS = 160                # for threads to be started


class Failing(gm.FileFuse):
    """A tree of paths that fail with EIO by their names: open*, when it is opened;
    read*, when it is read on; stat*, when it is looked up."""

    def __init__(self, target, paths):
        self.nodes = [None, ""]
        self.inside = {1: []}
        for path in sorted(paths):
            parent = self.nodes.index(path.rpartition("/")[0], 1)
            self.inside[parent].append(len(self.nodes))
            if path in DIRECTORIES:
                self.inside[len(self.nodes)] = []
            self.nodes.append(path)
        self.numbers = {path: number for number, path in enumerate(self.nodes)}
        super().__init__(target)

    def fails(self, node, how):
        return os.path.basename(self.nodes[node]).startswith(how)

    def attr(self, node):
        mode = stat.S_IFDIR | 0o755 if node in self.inside else stat.S_IFREG | 0o644
        return struct.pack("=QQQQQQIIIIIIIIII", node, node, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def lookup(self, node, name):
        """The node of a name, or an error number, negative."""
        child = self.numbers.get(f"{self.nodes[node]}/{name}")
        if child is None:
            return -errno.ENOENT
        return -errno.EIO if self.fails(child, "stat") else child

    def read(self, node, begin, size):
        """Entries from a place on."""
        if begin > 0 and self.fails(node, "read"):
            return errno.EIO
        out = b""
        for place, child in enumerate(self.inside[node][begin:begin + ANSWER], begin + 1):
            name = os.fsencode(os.path.basename(self.nodes[child]))
            entry = struct.pack("=QQII", child, place, len(name), 4 if child in self.inside else 8) + name
            entry += bytes(-len(entry) % 8)
            if len(out) + len(entry) > size:
                break
            out += entry
        return out

    def answer(self, opcode, node, body):
        if opcode == 1:                                         # LOOKUP
            child = self.lookup(node, os.fsdecode(body.split(b"\0")[0]))
            return -child if child < 0 else struct.pack("=QQQQII", child, 0, 0, 0, 0, 0) + self.attr(child)
        if opcode == 27 and self.fails(node, "open"):           # OPENDIR
            return errno.EIO
        if opcode == 28:                                        # READDIR
            _, begin, size = struct.unpack_from("=QQI", body)
            return self.read(node, begin, size)
        if opcode == 44:                                        # READDIRPLUS
            return errno.ENOSYS
        return super().answer(opcode, node, body)


DIRECTORIES = {"/open", "/read", "/read-many", "/stat-dir", "/fine", "/d"}
DIRECTORIES |= {f"/d/{'open' if i % 20 == 7 else 'x'}{i}" for i in range(DIRS)}
PATHS = set(DIRECTORIES)
for directory in DIRECTORIES:
    # In one of ten of the names of a large directory something fails.
    PATHS |= {f"{directory}/{'stat' if i % 10 == 9 else 'f'}{i}" for i in range(MANY if "many" in directory else FEW)}
PATHS |= {"/stat-file", "/file"}
root = gm.Root()
fuse = Failing(root / "t", PATHS)
root.enter()

CLOSED = {"/open", "/stat-dir"} | {path for path in DIRECTORIES if path.startswith("/d/open")}
UNREAD = set(sorted(path for path in PATHS if path.startswith("/read-many/"))[ANSWER:])
SEEN = {path for path in PATHS if os.path.dirname(path) not in CLOSED} - UNREAD
STATS = {path for path in SEEN if os.path.basename(path).startswith("stat")}
MESSAGES = {"open": "cannot be opened", "read": "cannot be read to its end", "stat": "attributes not available",
            "access": "access cannot be checked"}


def search(*args, status=1, **more):
    """The results, and the errors with their paths."""
    result = gm.getmnt("search", "--format=jsonl", *args, **more)
    rows = [json.loads(line) for line in result.out.splitlines()]
    errors = [row for row in rows if "error" in row]
    gm.expect(result.status == status and not result.err, f"{args}: {result.status}, {result.err}")
    for row in errors:
        gm.expect(row["error"] == "EIO" and row["message"] == f"{MESSAGES[row['errsource']]}: Input/output error",
                  f"{args}: {row}")
    found = [row["path"].removeprefix("/t") for row in rows if "error" not in row]
    told = [(row["path"].removeprefix("/t"), row["errsource"]) for row in errors]
    gm.expect(len(set(found)) == len(found) and len(set(told)) == len(told), f"{args}: told twice")
    return set(found), set(told)


def check(args, failed=(), source="stat", **more):
    """Search for all.  failed: what cannot be looked at, and is."""
    found, told = search(*args, "*", "/t", **more)
    wanted = {(path, "open") for path in CLOSED} | {("/read", "read"), ("/read-many", "read")}
    wanted |= {(path, source) for path in failed}
    if ("/stat-dir", "stat") in wanted:
        wanted.remove(("/stat-dir", "open"))                    # it is known not to be there
    for what, got, want in (("objects", found, SEEN - set(failed)), ("errors", told, wanted)):
        gm.expect(got == want, f"{args}: {what}: {sorted(got - want)[:5]} too many, {sorted(want - got)[:5]} missing")


for args in ((), ("--threads=1",), ("--threads=4",), ("--sort=name",), ("--xdev",),
             *((f"--engine={engine}",) for engine in ("sync", "bulk"))):
    check(args)
for engine in ("auto", "sync", "bulk"):
    for args in (("--threads=1",), ("--threads=4",), ("--ahead", "--threads=1"), ("--ahead", "--threads=4")):
        check(("-m", f"--engine={engine}", *args), STATS)
check(("-m",), STATS, env=gm.without("clock"))
check(("-L",), {"/stat-dir"})
check(("--access=r",), STATS, "access")

# An anchored pattern meets only errors where it can match.
# FUSE may ignore case: a literal pattern is looked for in the listing, which needs no attributes.
for pattern, found, told in (("/file", {"/file"}, set()), ("/stat-file", {"/stat-file"}, set()),
                             ("/fine/*", {"/fine/f0", "/fine/f1"}, set()), ("/open/*", set(), {("/open", "open")}),
                             ("/stat-dir/*", set(), {("/stat-dir", "open")}), ("/stat-dir", {"/stat-dir"}, set()),
                             ("/read/f?", {"/read/f0", "/read/f1"}, {("/read", "read")})):
    got = search("--blocking", pattern, "/t", status=1 if told else 0)
    gm.expect(got == (found, told), f"{pattern}: {got}")
for name in ("/open", "/stat-dir"):
    got = search("*", "/t" + name, "/t/fine")
    gm.expect(got == ({"/fine/f0", "/fine/f1"}, {(name, "open")}), f"a root: {got}")

# As text, and as a document.
result = gm.getmnt("search", "-m", "/st*|/open/*|/read/*", "/t")
gm.expect(result.status == 1 and len(result.out.splitlines()) == 2, f"{result.status}, {result.out}")
gm.expect(sorted(result.err.decode().splitlines()) == [
    "getmnt: /t/open: cannot be opened: Input/output error",
    "getmnt: /t/read: cannot be read to its end: Input/output error",
    "getmnt: /t/stat-dir: attributes not available: Input/output error",
    "getmnt: /t/stat-file: attributes not available: Input/output error"], f"{result.err}")
for args, found, errors in ((("-0",), SEEN, len(CLOSED) + 2), (("-0", "-o", "SIZE,PATH"), SEEN - STATS, len(CLOSED) + 1 + len(STATS))):
    for threads in ("--threads=1", "--threads=4"):
        result = gm.getmnt("search", *args, threads, "*", "/t")
        lines = [line.split("\t")[-1] for line in result.out.decode().split("\0")[:-1]]
        gm.expect(result.status == 1 and sorted(lines) == sorted("/t" + path for path in found), f"{args}: {result.status}")
        gm.expect(len(result.err.splitlines()) == errors, f"{args}: {result.err}")
document = gm.getmnt("search", "-J", "/open/*|/file", "/t").json()
gm.expect(document["found"] == document["errors"] == 1 and not document["complete"], f"{document}")
result = gm.getmnt("search", "--count", "/open/*|/file", "/t")
gm.expect(result.status == 1 and result.out == b"1\n", f"{result.status}, {result.out}")
gm.done()
