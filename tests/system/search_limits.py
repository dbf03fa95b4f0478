# SPDX-License-Identifier: MIT
"""getmnt search at its limits: a directory with very many entries, many empty directories, few
descriptors, a deep tree; in bounded memory.  GETMNT_LONG=1 (make check-long): a million entries, five
million directories, 10,000 levels."""
import os
import resource
import subprocess

import gm

gm.need_speed("the kernel has no part in it")
LONG = os.environ.get("GETMNT_LONG") == "1"
# The kernel counts what this interpreter had when it forked, 15 MiB, too.  A directory kept
# whole exceeds the bound.
ENTRIES, ENTRIES_MIB = (1000000, 64) if LONG else (150000, 20)
DIRS, DIRS_MIB = (5000000, 256) if LONG else (75000, 20)
DEEP, NESTED, WIDE, FULL = (10000, 40, 320, 20) if LONG else (5000, 10, 100, 8)
bounds = not gm.sanitized()

root = gm.Root()
gm.tmpfs(root / "t", "nr_inodes=0,size=16g")
root.enter()


def fill(path, count, make):
    gm.mkdir(path)
    fd = os.open(path, os.O_RDONLY)
    for i in range(count):
        make(f"entry-{i:07}", fd)
    os.close(fd)


def search(*args, files=None, mib=None, want=None, status=0, env=None):
    """Run a search.  @return its counts and its memory."""
    def limits():
        if files:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    process = subprocess.Popen([gm.PROGRAM, "search", *args], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=limits,
                               env={**os.environ, **(env or {})})
    found, last = 0, b""
    while chunk := process.stdout.read(1 << 20):
        found += chunk.count(b"\n")
        last = chunk
    err = process.stderr.read()
    _, code, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(code)
    tag = f"{' '.join(args)[:60]} files={files}{' waiting' if env else ''}"
    gm.expect(process.returncode == status, f"{tag}: status {process.returncode}: {err[-300:]}")
    gm.expect(found == want, f"{tag}: {found} lines, not {want}")
    if bounds and mib:
        gm.expect(usage.ru_maxrss <= mib * 1024, f"{tag}: {usage.ru_maxrss} KiB, not {mib} MiB")
    print(f"  {tag}: {found}, {usage.ru_maxrss} KiB, {usage.ru_utime + usage.ru_stime:.2f} s", flush=True)
    return last


fill("/t/big", ENTRIES, lambda name, fd: os.mknod(name, dir_fd=fd))
WAITING = gm.without("clock")     # as if calls blocked on disk I/O: in the order of inodes
for threads in ("1", "2"):
    for extra, env in (((), None), (("-m",), None), (("-L",), None), (("-m", "--ahead"), None),
                       (("-m",), WAITING)):
        search("*", "/t/big", "--threads=" + threads, *extra, mib=ENTRIES_MIB, want=ENTRIES,
               env=env)
search("*", "/t/big", files=32, mib=ENTRIES_MIB, want=ENTRIES)
search("*", "/t/big", "--sort=name", want=ENTRIES)

fill("/t/dirs", DIRS, lambda name, fd: os.mkdir(name, dir_fd=fd))
for threads in ("1", "2"):
    search("*", "/t/dirs", "--threads=" + threads, mib=DIRS_MIB, want=DIRS)
search("*", "/t/dirs", files=32, mib=DIRS_MIB, want=DIRS)

# With few descriptors there are fewer threads, and smaller batches.
for i in range(700):
    gm.mkdir(f"/t/some/{i % 20}/{i}")
for files, requested, least in ((1024, 8, 8), (1024, 32, 32), (256, 64, 8), (64, 8, 2), (32, 8, 1)):
    result = gm.getmnt("search", "*", "/t/some", f"--threads={requested}", "--stats=json",
                       before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    threads = result.stats()["threads"]
    gm.expect(least <= threads <= requested and result.out.count(b"\n") == 720,
              f"{files} descriptors, {requested} threads requested, {threads} used; {result.status}")

# Directories that are read in part, one in the other, with few descriptors.
here = "/t/nested"
for level in range(NESTED):
    fill(here, 9000, lambda name, fd: os.mknod(name, dir_fd=fd))
    here += "/entry-nested"
    os.mkdir(here)
for threads in ("1", "4"):
    for files in (32, 1024):
        search("*", "/t/nested", "--threads=" + threads, files=files, mib=DIRS_MIB, want=NESTED * 9001)

# Long paths of short names, in many directories at once; large directories at once,
# with attributes in order; and symlinks that are followed, next to directories.
long = gm.mkdir("/t/long/" + "x" * 200 + "/" + "y" * 230)
for i in range(WIDE):
    fd = os.open(gm.mkdir(f"{long}/{i}"), os.O_RDONLY)
    for k in range(1400):
        os.mknod(f"{k:x}", dir_fd=fd)
    os.close(fd)
for threads in ("2", "32"):
    search("*", long, "--threads=" + threads, mib=40, want=WIDE * 1401)
for i in range(300):
    gm.mkdir(f"/t/many/d{i}")
for i in range(FULL):
    fill(f"/t/many/d{i * 15}", 10000, lambda name, fd: os.mknod(name, dir_fd=fd))
for args, env in ((("-m",), None), (("-m", "--ahead", "--threads=8"), None),
                  (("--ahead", "-L"), None), (("-m", "--threads=8"), WAITING)):
    search("*", "/t/many", *args, mib=48, want=300 + FULL * 10000, env=env)
# Each in part, one in the other, with what waits of it.
for extra, env in ((("--ahead",), None), ((), WAITING)):
    for files in (32, 1024):
        search("*", "/t/nested", "-m", *extra, files=files, mib=48, want=NESTED * 9001, env=env)
for i in range(40):
    gm.mkdir(f"{long}/0/{i:x}.d")
fill(f"{long}/0", FULL * 3000, lambda name, fd: os.mknod(name, dir_fd=fd))
search("*", f"{long}/0", "-L", "--ahead", mib=40, want=1400 + 40 + FULL * 3000)

# Too deep for any path: made, and taken away, by descriptors.
os.mkdir("/t/deep")
fd = os.open("/t/deep", os.O_RDONLY)
for level in range(DEEP):
    os.mkdir("d", dir_fd=fd)
    os.mknod("f", dir_fd=fd)
    below = os.open("d", os.O_RDONLY, dir_fd=fd)
    os.close(fd)
    fd = below
os.close(fd)
for threads, files in (("1", 32), ("4", 32), ("4", 1024)):
    search("f", "/t/deep", "--threads=" + threads, files=files, mib=64, want=DEEP)
last = search("d", "/t/deep", "-L", mib=64, want=DEEP)
gm.expect(len(last.splitlines()[-1]) == len("/t/deep") + 2 * DEEP, "the deepest path is not complete")
gm.done()
