# SPDX-License-Identifier: MIT
"""The kernel calls that --stats tells are those that strace sees."""
import os
import re

import gm

gm.need("strace")
root = gm.Root()
for i in range(20):
    gm.mkdir(root / f"d/d{i}/e/f")
gm.tmpfs(root / "d/d7/e/f")
gm.tmpfs(root / "d/d7/e/f/g")
gm.tmpfs(root / "a")
gm.tmpfs(root / "a")
gm.bind(gm.touch(root / "etc/file"), root / "etc/other")
# The tracer runs inside of the small root as well.
strace = gm.run("which", "strace").strip()
gm.shutil.copy(os.path.realpath(strace), root / "bin/strace")
for path in re.findall(r"(?:=> )?(/\S+) \(0x", gm.run("ldd", strace)):
    gm.mkdir(root.path + os.path.dirname(path))
    gm.shutil.copy(os.path.realpath(path), root.path + path)
root.enter()

# What the memory allocator, the clock and the threads do is nobody's count.
IGNORED = {"brk", "mmap", "munmap", "mremap", "madvise", "mprotect", "futex", "clock_gettime",
           "faccessat", "clone3", "clone", "set_robust_list", "rseq", "rt_sigprocmask", "exit",
           "gettid", "sched_yield", "rt_sigaction", "rt_sigreturn"}


def traced(args):
    """The calls by name between the two marks, and those that --stats tells."""
    result = gm.getmnt("-f", "-o", "/tmp/trace", gm.PROGRAM, *args, "--stats=json", "--threads=1",
                       program="/bin/strace", env={"GETMNT_MARK": "1",
                                                   "ASAN_OPTIONS": "detect_leaks=0"})
    if result.status not in (0, 64):
        gm.fail(f"strace {args}: status {result.status}: {result.err[-500:]}")
        return None, None
    counts, inside, marks = {}, False, 0
    with open("/tmp/trace", encoding="utf-8", errors="replace") as f:
        for text in f:
            match = re.match(r"\d+\s+(?:syscall_(0x[0-9a-f]+)|(\w+))\(", text)
            if not match:
                continue
            name = match.group(2) or {"0x1c9": "statmount", "0x1ca": "listmount"}.get(
                match.group(1), match.group(1))
            if name.startswith("faccessat") and "getmnt:" in text:
                marks += 1
                inside = "getmnt:begin" in text
            elif inside and name not in IGNORED:
                counts[name] = counts.get(name, 0) + 1
    gm.expect(marks >= 2, f"{args}: {marks} marks; is this a debug build?")
    return counts, {k: v for k, v in result.stats()["calls"].items() if v}


for args in (["-J"], ["-J", "--names=walk"], ["-J", "--names=walk", "--algorithm=getmnt1"],
             ["-J", "--names=walk", "--algorithm=getmnt2"], ["-J", "--names=pure"],
             ["-J", "--names=kernel"], ["-J", "--kernel=mountinfo"],
             ["-J", "--kernel=mountinfo", "--names=walk"]):
    seen, told = traced(args)
    if seen is None:
        continue
    gm.expect(seen == told, f"{' '.join(args)}: strace sees {seen}, --stats tells {told}")
gm.done()
