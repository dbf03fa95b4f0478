# SPDX-License-Identifier: MIT
"""getmnt search and mounts: which it enters, and which it does not touch."""
import json
import os
import re

import gm

gm.need_fs("fuse", "autofs")
root = gm.Root()
gm.install("true", root / "")
gm.tmpfs(root / "t/one")
gm.touch(root / "t/one/file", "x")
gm.tmpfs(root / "t/one/two")
gm.touch(root / "t/one/two/file", "x")
gm.touch(root / "t/plain/file", "xy")
gm.touch(root / "t/mountpoint/covered", "x")
gm.bind(root / "t/plain", root / "t/mountpoint")
gm.touch(root / "t/point", "")
gm.mount(root / "t/plain/file", root / "t/point", None, gm.MS_BIND)
hung = gm.HungFuse(root / "t/hung")
gm.mkdir(root / "t/below")
under = gm.HungFuse(root / "t/below/hung")
direct = gm.Autofs(root / "t/direct", "direct")
indirect = gm.Autofs(root / "t/indirect", "indirect")
gm.tmpfs(root / "t/covered")
gm.mount("tmpfs", root / "t/covered", "tmpfs")      # a stack
gm.mkdir(root / "u/d/sub")
os.chmod(root / "u/d", 0o744)
gm.touch(root / "etc/passwd", "root:x:0:0::/:/bin/sh\nfirst:x:77:77::/:/bin/sh\n")
gm.touch(root / "etc/group", "root:x:0:\nsecond:x:77:\n")
root.enter()
FIND = {"t/one", "t/one/file", "t/one/two", "t/one/two/file", "t/plain", "t/plain/file", "t/mountpoint",
        "t/mountpoint/file", "t/point", "t/below", "t/below/hung", "t/hung", "t/direct", "t/indirect",
        "t/covered"}
BLOCKS = {"t/hung", "t/below/hung", "t/direct", "t/indirect"}


def search(*args, seconds=20, **more):
    result = gm.getmnt("search", *args, seconds=seconds, **more)
    return result, set(result.out.decode(errors="surrogateescape").split("\n")) - {""}


for disable in ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
    env = {"GETMNT_DISABLE": disable}
    for threads in ("1", "4"):
        for extra in ((), ("--cached",)):
            args = ("*", "t", "--threads=" + threads, *extra)
            result, names = search(*args, env=env)
            gm.expect(names == FIND, f"{disable} {args}: {names ^ FIND}")
            gm.expect(result.status == 1, f"{disable} {args}: status {result.status}")
            for name in BLOCKS:
                gm.expect(f"getmnt: {name}: not entered: its file system can block" in result.err.decode(),
                          f"{disable} {args}: {name} is not reported: {result.err}")
        # No attributes of mounts that can block; those of all other objects.
        result, rows = search("-m", "--format=jsonl", "*", "t", "--threads=" + threads, env=env)
        rows = [json.loads(row) for row in rows]
        got = {row["path"]: row for row in rows if "error" not in row}
        told = {(row["path"], row["errsource"]) for row in rows if "error" in row}
        gm.expect(told == {(name, "open") for name in BLOCKS} and len(rows) == len(got) + len(BLOCKS) and not result.err,
                  f"{disable}: reported: {told}, {result.err}")
        gm.expect(set(got) == FIND - BLOCKS, f"{disable}: with metadata: {set(got) ^ (FIND - BLOCKS)}")
        for name, row in got.items():
            st = os.lstat(name)
            gm.expect((row["ino"], row["size"], row["uid"]) == (st.st_ino, st.st_size, st.st_uid),
                      f"{disable}: {name}: {row}, {st}")
        # Tests that call the kernel, in the threads that read and between actions.
        for start in (("search", "*", "t", "--where=-readable"), ("find", "t", "-mindepth", "1", "-readable"),
                      ("find", "t", "-mindepth", "1", "-exec", "true", ";", "-writable", "-executable", "-o", "-readable", "-print"),
                      ("find", "-L", "t", "-mindepth", "1", "-readable")):
            result = gm.getmnt(start[0], "--threads=" + threads, *start[1:], env=env, seconds=20)
            names = set(result.out.decode().split("\n")) - {""}
            lost = {name for name in BLOCKS if f"getmnt: {name}: not entered: its file system can block ".encode() in result.err}
            gm.expect(lost == BLOCKS and names <= FIND - BLOCKS and result.status == 1 and ("-exec" in start or names == FIND - BLOCKS),
                      f"{disable} {start}: {names ^ (FIND - BLOCKS)}, {result.err}")
        # Anchored and literal patterns, through and at mounts that can block.
        for pattern, want in (("/one/two/file", {"t/one/two/file"}), ("/hung", {"t/hung"}), ("/hun[g]", {"t/hung"}),
                              ("/hung/x", set()), ("/direct/x", set()), ("/indirect/x", set()),
                              ("/one/*/file", {"t/one/two/file"}), ("/below/hung/*", set()),
                              ("two/file", {"t/one/two/file"}), ("/mountpoint/covered", set())):
            _, names = search(pattern, "t", "--threads=" + threads, env=env)
            gm.expect(names == want, f"{disable} {pattern}: {names}")

# Colors, which need attributes, hide no name.
result, names = search("--color=always", "*", "t", env={"LS_COLORS": "di=01;34:ow=07"})
names = {re.sub("\x1b\\[[0-9;]*[mK]", "", name) for name in names}
gm.expect(names == FIND and result.err.count(b"can block") == len(BLOCKS), f"in colours: {names ^ FIND}, {result.err}")

# --xdev: mount points are listed, and not entered.  If the kernel cannot refuse to cross, each
# directory is examined; without mount IDs, directories on another device are not entered.
ONE = {"t/one/file", "t/one/two", "t/one/two/file"}
for disable in ("", "openat2", "statx-mntid", "listmount,openat2", "listmount,openat2,statx-mntid"):
    env = {"GETMNT_DISABLE": disable}
    ids = "openat2" not in disable or "statx" not in disable
    for args in ((), ("-m",), ("--threads=4",), ("--engine=bulk",)):
        result, names = search("--xdev", "-o", "PATH", *args, "*", "t", env=env)
        gm.expect(names == FIND - ONE - ({"t/mountpoint/file"} if ids else set()), f"{disable} --xdev {args}: {names}")
        gm.expect(result.status == 0 and not result.err, f"{disable} --xdev {args}: {result.status} {result.err}")
    result, _ = search("--xdev", "-o", "SIZE", "*", "t", env=env)
    told = sorted(f"getmnt: {name}: not entered: its file system can block (--blocking enters it)" for name in BLOCKS)
    gm.expect(result.status == 1 and sorted(result.err.decode().splitlines()) == told, f"{disable} --xdev -o SIZE: {result.err}")
    for name in ("one/file", "one/two/file") + (("mountpoint/file",) if "statx" not in disable else ()):
        for args in ((), ("-L",)):
            _, names = search("--xdev", *args, f"/{name}", "t", env=env)
            gm.expect(names == set(), f"{disable} --xdev {args}, literal: {names}")
    _, names = search("--xdev", "/plain/file", "t", env=env)
    gm.expect(names == {"t/plain/file"}, f"{disable} --xdev, literal: {names}")

# A directory that may be read but not searched: its names are printed.
for disable in ("", "openat2", "listmount,openat2,statx-mntid"):
    for args in ((), ("-o", "PATH"), ("--threads=4",)):
        result, names = search("--xdev", *args, "*", "/u", env={"GETMNT_DISABLE": disable}, uid=1000)
        gm.expect(names == {"/u/d", "/u/d/sub"} and result.status == 1
                  and result.err.count(b"getmnt: ") == 1 and b"/u/d/sub: cannot be opened" in result.err,
                  f"{disable} --xdev {args}, another user: {names} {result.err}")

# MNT-ID is the ID of discover; USER and GROUP are names, else numbers.
ids = dict(reversed(line.split(" ")) for line in gm.getmnt("-rn", "-o", "ID,TARGET").out.decode().splitlines())
for name in ("one", "plain", "mountpoint", "point"):
    want = max(ids, key=lambda target: (f"/t/{name}/".startswith(target.rstrip("/") + "/"), len(target)))
    result, rows = search("-o", "MNT-ID", f"/{name}", "/t")
    gm.expect(rows == {ids[want]}, f"{name}: mount {rows}, {ids}")
for uid, user, group in ((77, "first", "second"), (54321, "54321", "54321")):
    os.chown("/t/plain/file", uid, uid)
    for args, want in ((("-o", "USER,GROUP,UID,GID"), f"{user}\t{group}\t{uid}\t{uid}"), (("-l",), f" {user} {group} ")):
        _, names = search(*args, "/plain/file", "/t")
        gm.expect(len(names) == 1 and want in names.pop(), f"{args}: not {want!r}")

# A root named by the user is entered: here a directory above a mount that can block.
_, names = search("*", "/t/below")
gm.expect(names == {"/t/below/hung"}, f"below: {names}")
os.chdir("/t/below")
result, names = search("*", cwd="/t/below")
gm.expect(names == {"./hung"} and result.status == 1, f"the current directory: {names}")
for name, trigger in (("direct", direct), ("indirect", indirect)):
    requests = trigger.requests()
    gm.expect(not requests, f"{name} was triggered: {requests[:40]!r}")
gm.done()
