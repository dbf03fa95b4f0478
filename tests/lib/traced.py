# SPDX-License-Identifier: MIT
"""The calls of a run between its marks, by strace and by --stats.

The tracer is in the small root that was entered (gm.install("strace", ...))."""
import re

import gm

# Calls of the memory allocator, the clock, the threads and qsort() are not counted.
IGNORED = {"sysinfo", "brk", "mmap", "munmap", "mremap", "madvise", "mprotect", "futex", "clock_gettime",
           "faccessat", "writev", "clone3", "clone", "set_robust_list", "rseq", "rt_sigprocmask", "exit",
           "gettid", "sched_yield", "rt_sigaction", "rt_sigreturn"}
TRACE = "/tmp/trace"


def traced(args, program=gm.PROGRAM, env=None, options=(), threads=1, beside=()):
    """The calls by name between the marks, and those that --stats tells; None, None
    where the run has failed.  options: of strace.  beside: calls that it does not count."""
    result = gm.getmnt("-f", *options, "-o", TRACE, program, *args, "--stats=json", f"--threads={threads}",
                       program="/bin/strace", env={"GETMNT_MARK": "1", "ASAN_OPTIONS": "detect_leaks=0",
                                                   **(env or {})})
    if result.status not in (0, 64):
        gm.fail(f"strace {args}: status {result.status}: {result.err[-500:]}")
        return None, None
    counts, inside, marks, freeing = {}, False, 0, set()
    with open(TRACE, encoding="utf-8", errors="replace") as f:
        for text in f:
            match = re.match(r"(\d+)\s+(?:syscall_(0x[0-9a-f]+)|(\w+))\(", text)
            if not match:
                continue
            thread, name = match.group(1), match.group(3) or {
                "0x1c9": "statmount", "0x1ca": "listmount", "0x1d1": "listxattrat"}.get(match.group(2), match.group(2))
            # free() opens, reads and closes this file, the first time that it shrinks the heap of a thread.
            if '"/proc/sys/vm/overcommit_memory"' in text:
                freeing.add(thread)
                continue
            if thread in freeing and name in ("read", "close"):
                if name == "close":
                    freeing.remove(thread)
                continue
            if name.startswith("faccessat") and "getmnt:" in text:
                marks += 1
                inside = "getmnt:begin" in text
            elif inside and name not in IGNORED and name not in beside:
                counts[name] = counts.get(name, 0) + 1
    gm.expect(marks >= 2, f"{args}: {marks} marks; is this a debug build?")
    stats = result.stats()
    told = {k: v for k, v in stats["calls"].items() if v}
    # A search separates calls by what it knows of the mounts.
    for name, count in stats.get("mounts_read", {}).get("calls", {}).items():
        if count:
            told[name] = told.get(name, 0) + count
    return counts, {k: v for k, v in told.items() if k not in IGNORED}
