# SPDX-License-Identifier: MIT
"""The kernel calls of getmnt audit on a healthy host with 1,000 mounts, each with its line: no directory is
opened, the numbers are exact, and grow only with mounts and lines."""
import os

import gm

SIZES = (200, 1000)
root = gm.Root()
for name in ("etc", "run/mount"):
    gm.mkdir(root / name)
if gm.shutil.which("strace"):
    gm.install("strace", root.path)
root.enter()
lines = ["root / tmpfs size=2g,mode=0755 0 0"]


def grow(before, count):
    """Mount `count` file systems with a line each: tmpfs, every tenth a bind."""
    for i in range(before, count):
        gm.mkdir(f"/m/{i}")
        if i % 10 == 9:
            gm.bind(f"/m/{i - 1}", f"/m/{i}")
            lines.append(f"/m/{i - 1} /m/{i} none bind 0 0")
        else:
            gm.tmpfs(f"/m/{i}", "size=64k,mode=0755")
            lines.append(f"tmpfs /m/{i} tmpfs size=64k,mode=0755 0 0")
    gm.touch("/etc/fstab", "\n".join(lines) + "\n")


def audit(tag):
    """The calls of an audit that finds nothing."""
    result = gm.getmnt("audit", "--stats=json", "--disable=FSTAB-*,MTAB-*")
    gm.expect(result.status == 0 and not result.out, f"{tag}: {result.status} {result.out} {result.err[-300:]}")
    stats = result.stats()
    gm.expect(stats["dirs"] == 0 and stats["complete"], f"{tag}: {stats}")
    return stats["calls"]


seen = []
for size, before in zip(SIZES, (0,) + SIZES):
    grow(before, size)
    calls = audit(f"{size} mounts")
    gm.expect(calls["getdents64"] == 0, f"{size} mounts: directories are read: {calls}")
    seen.append(calls)
few, many = seen
mounts = SIZES[1] - SIZES[0]
# The name of each mount is verified, and that of each line resolved, once.  The sources of binds are names of lines.
want = {"statx": 2 * mounts, "readlinkat": mounts, "openat": 0, "openat2": 0, "newfstatat": 0}
if gm.have_listmount():
    want |= {"statmount": mounts, "listmount": 0, "read": 0}
grown = {call: many[call] - few[call] for call in want}
gm.expect(grown == want, f"{mounts} mounts more: {grown}, not {want}")
rest = {call: many[call] - few[call] for call in many if call not in want and many[call] != few[call]}
gm.expect(not set(rest) - {"sched_getaffinity", "read", "pread64"}, f"calls that grow besides: {rest}")

# strace sees the same: only files are opened, and "/" as a starting point.
if os.path.exists("/bin/strace") and not gm.sanitized():
    result = gm.getmnt("-f", "-o", "/run/trace", "-e", "trace=open,openat,openat2,getdents,getdents64", gm.PROGRAM, "audit",
                       "--disable=FSTAB-*,MTAB-*", program="/bin/strace")
    gm.expect(result.status == 0, f"strace: {result.status} {result.err[-300:]}")
    with open("/run/trace", encoding="utf-8", errors="replace") as file:
        trace = file.read().split("\n")
    directories = [line for line in trace if "getdents" in line or ("O_DIRECTORY" in line and "O_PATH" not in line and "ENOENT" not in line)]
    gm.expect(any('"/etc/fstab"' in line for line in trace), f"strace has seen nothing: {trace[-5:]}")
    gm.expect(not directories, f"directories are opened: {directories[:3]}")
gm.done()
