# SPDX-License-Identifier: MIT
"""New system calls that fail with EPERM or ENOSYS, as under the seccomp of container runtimes and on
old kernels: each alone, and all.  No name and no state is wrong; what is unknown is reported.  The
same with GETMNT_DISABLE."""
import ctypes
import json
import os
import re
import stat
import struct

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")


def mount_id(path):
    """The mount ID of a file, as /proc has it."""
    fd = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as info:
        number = next(int(line.split()[1]) for line in info if line.startswith("mnt_id:"))
    os.close(fd)
    return number


def disabled():
    """Each interface switched off, and all of them."""
    gm.unshare_mounts()
    small = gm.Root()
    gm.tmpfs(small / "a/b")
    gm.tmpfs(small / "a/b/c/d")
    gm.tmpfs(small / "a/e")
    gm.tmpfs(small / "a/e")
    gm.tmpfs(small / "h/i")
    gm.tmpfs(small / "h")
    gm.bind(gm.mkdir(small / "plain/dir/sub"), small / "plain/bound")
    gm.bind(gm.touch(small / "etc/file"), small / "etc/other")
    gm.bind(small / "a/b", small / "again")
    small.enter()
    for off in ("listmount", "openat2", "uring", "listmount,openat2", "statx-mntid",
                "listmount,statx-mntid,openat2,uring"):
        by_dev = "statx-mntid" in off
        # No kernel has listmount(2) without mount IDs.
        listed = "listmount" not in off and not by_dev
        runs = [run for run in gm.RUNS if listed or run[2] == "mountinfo"]
        gm.check("without " + off, runs=runs, env={"GETMNT_DISABLE": off}, strict=not by_dev)
        if not listed:
            result = gm.getmnt("--kernel=listmount", env={"GETMNT_DISABLE": off})
            gm.expect(result.status == 1 and b"listmount" in result.err,
                      f"--kernel=listmount without it: status {result.status}: {result.err}")

    # Without mount IDs a mount of a device of its own is found all the same.
    rows = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=walk",
                     env={"GETMNT_DISABLE": "listmount,statx-mntid,openat2"}).rows()
    named = {row["target"]: row["named"] for row in rows}
    for path in ("/a/b/c/d", "/a/e", "/proc"):
        gm.expect(named.get(path) in ("walked", "inferred"), f"by device: {path}: {named.get(path)}")
    rows = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=walk", "--identity=dev").rows()
    named = {row["target"]: row["named"] for row in rows}
    for path in ("/a/b/c/d", "/a/e", "/proc"):
        gm.expect(named.get(path) in ("walked", "inferred"),
                  f"--identity=dev: {path}: {named.get(path)}")


gm.in_child(disabled)
gm.need_speed("its kernel is old enough by itself")
# clone3 and faccessat2 are the C library's; the rest of the last line nobody's
# yet, but that a later version could come to use.
NEW = {"openat2": 437, "statmount": 457, "listmount": 458, "clone3": 435, "faccessat2": 439,
       "close_range": 436, "io_uring_setup": 425, "io_uring_enter": 426,
       "io_uring_register": 427, "mount_setattr": 442, "open_tree": 428}
NR = {"x86_64": {"statx": 332, "name_to_handle_at": 303, "fanotify_init": 300,
                 "fanotify_mark": 301, "getrandom": 318, "rseq": 334, "sched_getaffinity": 204,
                 "prlimit64": 302, "uname": 63},
      "aarch64": {"statx": 291, "name_to_handle_at": 264, "fanotify_init": 262,
                  "fanotify_mark": 263, "getrandom": 278, "rseq": 293, "sched_getaffinity": 123,
                  "prlimit64": 261, "uname": 160}}.get(os.uname().machine)
if not NR:
    gm.skip("the filter is not written for this machine")
NR.update(NEW)
if gm.sanitized():
    # The sanitizer cannot do without: the latter asks of each thread for its stack.
    del NR["prlimit64"], NR["sched_getaffinity"]
ERRORS = {"EPERM": 1, "ENOSYS": 38}


def forbid(names, error):
    """Install a filter under which these calls fail."""
    code = [(0x20, 0, 0, 0)]                                    # the number
    for i, name in enumerate(names):
        code.append((0x15, len(names) - i, 0, NR[name]))
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050000 | error)]
    text = b"".join(struct.pack("=HBBI", *row) for row in code)
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("@HxxxxxxP", len(code), ctypes.addressof(buffer))
    if gm.libc.prctl(38, 1, 0, 0, 0) or gm.libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


root = gm.Root()
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c/d")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
gm.bind(gm.touch(root / "etc/file"), root / "etc/other")
# Enough for threads: of the table, and of the walk.
for i in range(260):
    gm.tmpfs(root / f"m/m{i}", "size=4k,nr_inodes=10")
for i in range(20):
    for j in range(20):
        gm.mkdir(root / f"w/a{i}/b{j}")
os.chown(gm.touch(root / "w/owned", "text"), 1000, 1001)
os.mknod(root / "w/null", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
root.enter()


def forms(tag, forbidden, turn=None):
    """Each form works, and prints no message; a turn is for every fourth of them."""
    all_forms = gm.FORMS + [("-D",), ("-T", "/w/a1"), ("--root", "/a"), ("-N", str(os.getpid())),
                            ("--boundaries",), ("--output-all", "-l"), ("-V",)]
    for form in all_forms if gm.FULL or turn is None else all_forms[turn % 4::4]:
        result = gm.getmnt(*form, before=lambda: forbid(*forbidden))
        # Without mount IDs the image of the loop device is not known to be local.
        err = re.sub(rb"getmnt: 1 mount without sizes.*\n", b"", result.err)
        gm.expect(result.status == 0 and result.out and not err,
                  f"{tag}: {form}: status {result.status}: {result.err}")


def runs(tag, forbidden, table, strict):
    """table: whether listmount works.  strict: whether mount IDs work."""
    lines = gm.oracle()
    for names, algorithm, source in gm.ONE_EACH:
        for more in (("--threads=1",), ("--threads=4",)):
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--kernel=" + source,
                               "--search-limit=100000000", *more, before=lambda: forbid(*forbidden))
            where = f"{tag}: {names} {source} {more[0]}"
            if source == "listmount" and not table:
                gm.expect(result.status == 1 and not result.out and b"--kernel=mountinfo" in result.err,
                          f"{where}: status {result.status}: {result.err}")
                continue
            gm.compare(where, names, lines, result, strict=strict)


def searches(tag, forbidden, strict):
    """The same is found, with the same attributes.  strict: with --xdev too, where a bind has no
    device of its own."""
    attributes = ("-o", "PATH,PERMS,NLINK,UID,GID,SIZE,BLOCKS,MTIME,CTIME,INO,DEV,RDEV")
    for more in (("/w",), (*attributes, "/w"), ("--xdev", "/a"), ("--xdev", "/w")) + ((("--xdev", "/etc"),) if strict else ()):
        want = gm.getmnt("search", "--threads=1", "*", *more)
        got = gm.getmnt("search", "--threads=4", "*", *more, before=lambda: forbid(*forbidden))
        gm.expect(got.status == 0 and want.out and sorted(got.out.split(b"\n")) == sorted(want.out.split(b"\n")),
                  f"{tag}: search {more}: {got.status} {got.err} {len(got.out)} {len(want.out)}")


for error, number in ERRORS.items():
    for turn, name in enumerate(NR):
        tag = f"{name}: {error}"
        forms(tag, ([name], number), turn + number)
        searches(tag, ([name], number), name != "statx")
        if name in ("statx", "openat2", "statmount", "listmount", "clone3"):
            runs(tag, ([name], number), name not in ("listmount", "statmount"), name != "statx")
    for names in (["openat2", "statmount", "listmount"], ["openat2", "statmount", "listmount", "clone3"],
                  list(NR)):
        tag = f"{len(names)} calls: {error}"
        forms(tag, (names, number))
        searches(tag, (names, number), False)
        runs(tag, (names, number), False, "statx" not in names)
    # Without mount IDs, mounts with their own device are found.
    result = gm.getmnt("-J", "-l", "-o", "+NAMED", "--names=walk", before=lambda: forbid(list(NR), number))
    named = {row["target"]: row["named"] for row in result.rows()}
    for path in ("/a/b/c/d", "/m/m259", "/proc"):
        gm.expect(named.get(path) in ("walked", "inferred"), f"by device, {error}: {path}: {named.get(path)}")

# A filter may return any error: EACCES, EINVAL.  What only statx returns is unknown, and not 0; mount IDs come from /proc.
for number in (1, 13, 22, 38):
    refused = {"before": lambda number=number: forbid(["statx"], number)}
    searches(f"statx: error {number}", (["statx"], number), False)
    for more in (("*", "/w"), ("-L", "*", "/w"), ("/owned", "/w")):
        rows = [json.loads(row) for row in gm.getmnt("search", "--format=jsonl", "-o", "PATH,SIZE,UID,BTIME,MNT-ID",
                                                     *more, **refused).out.splitlines()]
        owned = [row for row in rows if row["path"] == "/w/owned"]
        gm.expect(owned == [{"path": "/w/owned", "size": 4, "uid": 1000, "btime": None, "mnt-id": mount_id("/w/owned")}]
                  and all(row["btime"] is None and row["mnt-id"] == mount_id(row["path"]) for row in rows),
                  f"statx: {number}: {more}: {rows[:3]}")

# An audit in a child also works if prctl() is refused, by which the child would end together with its parent.
if not gm.sanitized():
    NR["prctl"] = {"x86_64": 157, "aarch64": 167}[os.uname().machine]
    AUDIT = ("audit", "--static", "--fstab", gm.touch("/etc/fstab"), "--max-time=60")
    want = gm.getmnt(*AUDIT)
    got = gm.getmnt(*AUDIT, before=lambda: forbid(["prctl"], ERRORS["EPERM"]))
    gm.expect(want.status in (0, 1) and (got.status, got.out, got.err) == (want.status, want.out, want.err),
              f"audit without prctl: {got.status} {got.out} {got.err}, not {want.status} {want.out}")

# The number of threads, and none where they cannot be created.
WALK = ("-q", "--names=walk", "--threads=4", "--algorithm=getmnt1", "--stats=json")
threads = gm.getmnt(*WALK).stats()["threads"]
gm.expect(threads == 4, f"{threads} threads")
threads = gm.getmnt(*WALK, before=lambda: forbid(["clone3"], ERRORS["EPERM"])).stats()["threads"]
gm.expect(threads == 0, f"{threads} threads without clone3")
gm.done()
