# SPDX-License-Identifier: MIT
"""getmnt search in a file system that can block and that the user named: it is entered, however it is
named; others that can block are not.  A name that the file system lists but does not have is reported
where more than the name is needed."""
import errno
import json
import os
import stat
import struct
import threading

import gm

gm.need_fs("fuse")


class TreeFuse(gm.FileFuse):
    """A FUSE mount with directories (None), links (text) and files (bytes); False is
    listed, and is not there.  A name is looked up as it is or, if the case is ignored, in lower case."""

    def __init__(self, target, tree, ignores_case=False, inodes=None, statx=False):
        self.ignores_case = ignores_case
        self.statx, self.asked = statx, False
        self.inodes = inodes or {}                              # name -> the number of its inode
        self.paths = [b"", *map(os.fsencode, tree)]
        self.what = [None, *tree.values()]
        super().__init__(target)

    def attr(self, node):
        what = self.what[node - 1]
        kind = stat.S_IFDIR if what is None else stat.S_IFLNK if isinstance(what, str) else stat.S_IFREG
        inode = self.inodes.get(self.paths[node - 1].decode(), node)
        return struct.pack("=QQQQQQIIIIIIIIII", inode, len(what or ""), 0, 0, 0, 0, 0, 0, 0, kind | 0o755,
                           1 + (what is None), 0, 0, 0, 4096, 0)

    def answer(self, opcode, node, body):
        here = self.paths[node - 1]
        if opcode == 1:                                         # LOOKUP
            path = os.path.join(here, body.split(b"\0")[0])
            path = path.lower() if self.ignores_case else path
            number = self.paths.index(path) + 1 if path in self.paths else 0
            if not number or self.what[number - 1] is False:
                return errno.ENOENT
            return struct.pack("=QQQQII", number, 0, 0, 0, 0, 0) + self.attr(number)
        if opcode == 52 and self.statx:                         # STATX: only type, UID and size
            self.asked = True
            kind = self.attr(node)
            mode, nlink, uid, gid = struct.unpack_from("=IIII", kind, 60)
            return struct.pack("=QII16xIIQIIIH2xQQQQ64xIIII112x", 0, 0, 0, 0x209, 4096, 0, nlink, uid, gid, mode,
                               node, 7, 8, 0, 0, 0, 0, 0)
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
TreeFuse(root / "ghosts", {"file": b"x", "ghost": False, "to-ghost": "ghost", "dir": None, "dir/ghost": False})
LONG = "n" * 1000                                               # longer than NAME_MAX
TreeFuse(root / "long", {LONG: None, f"{LONG}/{LONG}": b"x", "link": f"{LONG}/{LONG}", f"{LONG}l": "link",
                         "dir": f"/long/{LONG}", f"{LONG}/up": f"../{LONG}"})
TreeFuse(root / "case", {"dir": None, "dir/file": b"x", "dir/link": "file"}, ignores_case=True)
TreeFuse(root / "same", {"one": None, "one/x": b"", "two": None, "two/x": b"", "two/below": None, "two/below/x": b""},
         inodes={"one": 77, "two": 77, "two/below": 77})
# An overlay's type does not say whether it ignores case.
gm.overlay(root / "over", root / "case", gm.tmpfs(root / "upper"))
partial = TreeFuse(root / "partial", {"file": b"x"}, statx=True)
gm.HungFuse(root / "t/hung")
root.enter()
TREE = {"abs", "dir", "dir/below", "dir/hung", "file", "hung", "out", "to-dir", "to-file", "up"}
FOLLOWED = {"abs", "abs/below", "dir", "dir/below", "file", "out", "out/x", "to-dir", "to-dir/below",
            "to-file", "up"}


def search(*args, **more):
    result = gm.getmnt("search", *args, **more)
    return result, set(result.out.decode().split("\n")) - {""}, result.err.decode()


def elsewhere():
    """A namespace with mounts that our table does not have."""
    gm.unshare_mounts()
    gm.bind("/case", gm.mkdir("/away/case"))
    gm.bind("/proc", gm.mkdir("/away/proc"))
    yield


gm.mkdir("/away")
away = gm.Other(elsewhere)
PROC = f"/proc/{away.pid}/root/away/proc"
event = threading.Event()
for disable in ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
    env = {"GETMNT_DISABLE": disable}
    for args in ((), ("-L",), ("--threads=4",), ("--xdev",), ("-L", "--xdev")):
        tag = f"{disable} {args}"
        follow, xdev = "-L" in args, "--xdev" in args
        result, names, err = search("*", "/t/fuse", *args, env=env)
        want = FOLLOWED - ({"out/x"} if xdev else set()) if follow else TREE
        gm.expect(names == {f"/t/fuse/{name}" for name in want}, f"{tag}: {names}")
        # dir/hung is reported by each of its three names.
        gm.expect(result.status == follow and len(err.splitlines()) == (4 if follow else 0), f"{tag}: {err}")
        for pattern, found in (("/file", True), ("/dir", True), ("/dir/below", True), ("/none", False),
                               ("/[f]ile", True), ("/to-file", True), ("/to-dir/below", follow),
                               ("/abs/below", follow), ("/up", True), ("/out/x", follow and not xdev)):
            result, names, err = search(pattern, "/t/fuse", *args, env=env)
            gm.expect(names == ({f"/t/fuse{pattern}".replace("[f]", "f")} if found else set()) and not err,
                      f"{tag}: {pattern}: {names} {err}")
    for args in (("/fuse/file", "/t"), ("/hung/x", "/t"), ("-L", "/hung/x", "/t/fuse")):
        result, names, err = search(*args, env=env)
        gm.expect(result.status == 1 and not names and "not entered: its file system can block" in err,
                  f"{disable} {args}: {names} {err}")

    # Names longer than NAME_MAX.
    for pattern, follow, want in (
            ("*", (), {LONG, f"{LONG}/{LONG}", f"{LONG}/up", "link", f"{LONG}l", "dir"}),
            ("*", ("-L",), {LONG, f"{LONG}/{LONG}", "link", f"{LONG}l", "dir", f"dir/{LONG}", f"{LONG}/up", "dir/up"}),
            (f"/{LONG}/{LONG}", (), {f"{LONG}/{LONG}"}), (f"/dir/{LONG}", ("-L",), {f"dir/{LONG}"}),
            (f"/{LONG}l", ("-L", "--type=f"), {f"{LONG}l"})):
        result, names, err = search(pattern, "/long", *follow, env=env)
        gm.expect(names == {f"/long/{name}" for name in want}, f"{disable}: {pattern[:9]} {follow}: {err[-200:]}")

    # Only names that are listed are found.
    for pattern, top, want in (("/dir/file", "", "/dir/file"), ("/DIR/file", "", ""), ("/dir/FILE", "", ""),
                               ("/FILE", "/dir", ""), ("/FILE", "/Dir", ""), ("/file", "/Dir", "/Dir/file"),
                               ("/dir/LINK", "", ""), ("/dir/link", "", "/dir/link"), ("/[d]IR", "", "")):
        for where in ("/case", "/over", f"/proc/{away.pid}/root/away/case"):
            for more in ((), ("--blocking",), ("-L",), ("-L", "--blocking"), ("--depth=2",)):
                result, names, err = search(pattern, where + top, *more, env=env)
                gm.expect(names == ({where + want} if want else set()), f"{disable}: {pattern} {where}{top} {more}: {names} {err}")
    gm.expect(search("/case/dir", "/", env=env)[1] == set(), f"{disable}: /case/dir")
    # A thread can be looked up in /proc.
    thread = threading.Thread(target=event.wait)
    thread.start()
    gm.expect(os.path.exists(f"/proc/{thread.native_id}"), "no /proc/TID")
    for pattern, want in ((str(thread.native_id), False), (str(os.getpid()), True)):
        for args, path in (((f"/{pattern}", "/proc"), f"/proc/{pattern}"),
                           ((f"/{pattern}", PROC), f"{PROC}/{pattern}"),
                           ((f"/proc/{pattern}/comm", "/"), f"/proc/{pattern}/comm")):
            for follow in ((), ("-L",), ("--blocking",)):
                if "--blocking" in follow and path.endswith("comm"):
                    continue                                    # it would enter a mount that hangs
                result, names, err = search(*follow, *args, env=env)
                gm.expect(names == ({path} if want else set()), f"{disable}: {args} {follow}: {names} {err}")
    event.set()
    thread.join()
    event.clear()
away.end()

# Directories with one inode number, as in mergerfs and 9p, are all entered; one that is below its own number
# counts as a loop, as for find -L, and is reported.
for follow, want in (((), {"one", "one/x", "two", "two/x", "two/below", "two/below/x"}),
                     (("-L",), {"one", "one/x", "two", "two/x", "two/below"})):
    result, names, err = search("*", "/same", *follow)
    gm.expect(names == {f"/same/{name}" for name in want} and result.status == bool(follow)
              and err.count("/same/two/below: not entered: leads to itself") == bool(follow), f"{follow}: {names} {err}")

# Attributes that the file system does not return (Linux 6.6 asks it) are unknown, and not 0.
result, names, err = search("--format=jsonl", "-o", "PATH,UID,SIZE,GID,NLINK,MODE,BLOCKS,MTIME", "/[f]ile", "/partial")
row = json.loads(result.out)
if partial.asked:
    gm.expect(row == {"path": "/partial/file", "uid": 0, "size": 7, "gid": None, "nlink": None, "mode": None,
                      "blocks": None, "mtime": None}, f"partial: {row} {err}")
    for args, want in ((("-m",), "f\t\t\t0\t\t7\t\t\t/partial/file\n"),
                       (("-o", "PERMS,SIZE,CTIME,INO"), "\t7\t\t\n")):
        result, names, err = search(*args, "/[f]ile", "/partial")
        gm.expect(result.out.decode() == want and not err, f"partial: {args}: {result.out} {err}")
    result, names, err = search("-l", "/[f]ile", "/partial")
    gm.expect(result.out.decode().split() == ["?" * 10, "?", "root" if b"root" in result.out else "0", "?", "7", "?",
                                              "/partial/file"], f"partial: -l: {result.out} {err}")
else:
    print("  this kernel does not ask FUSE for statx")

# A vanished file is reported unless only its name is needed; a symlink to it is an entry.
THERE, GHOSTS = {"/ghosts/dir", "/ghosts/file", "/ghosts/to-ghost"}, {"/ghosts/ghost", "/ghosts/dir/ghost"}
for args, source in (((), None), (("--access=r",), "access"), (("--access=w", "--threads=4"), "access"),
                     (("--access=r", "-L"), "access"), (("-m",), "stat"), (("--access=r", "-m"), "stat")):
    result, rows, err = search("--format=jsonl", "*", "/ghosts", *args)
    rows = [json.loads(row) for row in rows]
    found = {row["path"] for row in rows if "error" not in row}
    told = {(row["path"], row["error"], row["errsource"]) for row in rows if "error" in row}
    gm.expect(found == (THERE if source else THERE | GHOSTS), f"{args}: {found}")
    gm.expect(told == ({(name, "ENOENT", source) for name in GHOSTS} if source else set()), f"{args}: {told}")
    gm.expect(result.status == bool(source), f"{args}: {result.status}")
    result, rows, err = search("--format=jsonl", "--ignore-vanished", "*", "/ghosts", *args)
    gm.expect({json.loads(row)["path"] for row in rows} == found and result.status == 0 and not err,
              f"--ignore-vanished {args}: {rows} {err}")
result = gm.getmnt("find", "/ghosts", "-mindepth", "1", "-ignore_readdir_race", "-links", "-100")
gm.expect(set(result.out.decode().split()) == THERE and result.status == 0 and not result.err,
          f"-ignore_readdir_race: {result.out} {result.err}")
result, names, err = search("--access=r", "/ghost|/file", "/ghosts")
gm.expect(names == {"/ghosts/file"} and err == "getmnt: /ghosts/ghost: access cannot be checked: No such file or directory\n",
          f"--access: {names} {err}")
gm.done()
