# SPDX-License-Identifier: MIT
"""getmnt search in a file system that can block and that the user named: it is entered
as any other, by every way to it; what else can block is not."""
import errno
import os
import stat
import struct

import gm

gm.need_fs("fuse")


class TreeFuse(gm.FileFuse):
    """A FUSE mount with directories (None), links (text) and files (bytes)."""

    def __init__(self, target, tree):
        self.paths = [b"", *map(os.fsencode, tree)]
        self.what = [None, *tree.values()]
        super().__init__(target)

    def attr(self, node):
        what = self.what[node - 1]
        kind = stat.S_IFDIR if what is None else stat.S_IFLNK if isinstance(what, str) else stat.S_IFREG
        return struct.pack("=QQQQQQIIIIIIIIII", node, len(what or ""), 0, 0, 0, 0, 0, 0, 0, kind | 0o755,
                           1 + (what is None), 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        here = self.paths[node - 1]
        if opcode == 1:                                         # LOOKUP
            path = os.path.join(here, body.split(b"\0")[0])
            if path not in self.paths:
                return errno.ENOENT
            number = self.paths.index(path) + 1
            return struct.pack("=QQQQII", number, 0, 0, 0, 0, 0) + self.attr(number)
        if opcode == 5:                                         # READLINK
            return os.fsencode(self.what[node - 1])
        if opcode == 28:                                        # READDIR
            names = [(number, os.path.basename(path)) for number, path in enumerate(self.paths, 1)
                     if path and os.path.dirname(path) == here]
            out = b""
            for at, (number, name) in enumerate(names[struct.unpack_from("=QQI", body)[1]:], 1):
                kind = struct.unpack_from("=I", self.attr(number), 60)[0] >> 12
                entry = struct.pack("=QQII", number, at, len(name), kind) + name
                out += entry + bytes(-len(entry) % 8)
            return out
        return super().answer(opcode, node, body)


root = gm.Root()
gm.touch(root / "out/x", "")
TreeFuse(root / "t/fuse", {
    "file": b"x", "dir": None, "dir/below": b"", "to-file": "file", "to-dir": "dir", "abs": "/t/fuse/dir",
    "up": "dir/../file", "out": "/out", "hung": "/t/hung/x", "dir/hung": "../../hung"})
gm.HungFuse(root / "t/hung")
root.enter()
TREE = {"abs", "dir", "dir/below", "dir/hung", "file", "hung", "out", "to-dir", "to-file", "up"}
FOLLOWED = {"abs", "dir", "dir/below", "file", "out", "out/x", "to-dir", "to-file", "up"}


def search(*args, **more):
    result = gm.getmnt("search", *args, **more)
    return result, set(result.out.decode().split("\n")) - {""}, result.err.decode()


for disable in ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
    env = {"GETMNT_DISABLE": disable}
    for args in ((), ("-L",), ("--threads=4",), ("--xdev",), ("-L", "--xdev")):
        tag = f"{disable} {args}"
        follow, xdev = "-L" in args, "--xdev" in args
        result, names, err = search("*", "/t/fuse", *args, env=env)
        want = FOLLOWED - ({"out/x"} if xdev else set()) if follow else TREE
        gm.expect(names == {f"/t/fuse/{name}" for name in want}, f"{tag}: {names}")
        gm.expect(result.status == follow and len(err.splitlines()) == (2 if follow else 0), f"{tag}: {err}")
        for pattern, found in (("/file", True), ("/dir", True), ("/dir/below", True), ("/none", False),
                               ("/[f]ile", True), ("/to-file", True), ("/to-dir/below", follow),
                               ("/abs/below", follow), ("/up", True), ("/out/x", follow and not xdev)):
            result, names, err = search(pattern, "/t/fuse", *args, env=env)
            gm.expect(names == ({f"/t/fuse{pattern}".replace("[f]", "f")} if found else set()) and not err,
                      f"{tag}: {pattern}: {names} {err}")
    for args in (("/fuse/file", "/t"), ("/hung/x", "/t"), ("-L", "/hung/x", "/t/fuse")):
        result, names, err = search(*args, env=env)
        gm.expect(result.status == 1 and not names and "is on a file system that can block" in err,
                  f"{disable} {args}: {names} {err}")
gm.done()
