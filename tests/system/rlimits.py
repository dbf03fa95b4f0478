# SPDX-License-Identifier: MIT
"""Low limits on descriptors, memory, stack, processes, CPU time and others: a complete answer, an error
message, or an answer marked as incomplete.  GETMNT_SCALE=full tries more limits."""
import json
import os
import resource
import signal
import subprocess

import gm



def few_descriptors(small):
    """Wide and deep trees are walked with few descriptors; with hardly any, what could not be
    read is reported."""
    for i in range(40):
        gm.mkdir(small / (f"wide/w{i}/" + "/".join("xyz"[j % 3] for j in range(12))))
    gm.tmpfs(small / ("deep/" + "/".join(f"d{i}" for i in range(100))))
    gm.tmpfs(small / "wide/w39/x/y/z/x/y/z/m")
    gm.tmpfs(small / "wide/w3/x/y/m")
    small.enter()
    lines = gm.oracle()
    for limit in (32, 12, 7, 4) if not gm.FULL else range(4, 33):
        for names, algorithm, source in gm.RUNS:
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                               "--algorithm=" + algorithm, "--kernel=" + source, nofile=limit)
            gm.compare(f"{limit} descriptors: {names} {algorithm} {source}", names, lines, result,
                       strict=limit >= 12, made=limit < 12)


def part():
    gm.unshare_mounts()
    few_descriptors(gm.Root())


gm.in_child(part)
gm.need_speed("hundreds of runs that are the same to the kernel")
root = gm.Root()
# Enough for the threads that read the table and walk.
for i in range(300):
    gm.tmpfs(root / f"m/m{i}", "size=4k,nr_inodes=10")
for i in range(20):
    for j in range(20):
        gm.mkdir(root / f"d/a{i}/b{j}")
gm.tmpfs(root / "z/y/x")
try:
    gm.mount("cgroup", gm.mkdir(root / "pids"), "cgroup", data="pids")
except OSError:
    print("  no pids controller of cgroup v1: pids.max was not tried")
root.enter()
FORMS = (("-J", "-l"), ("--tree",), ("-l", "--names=walk", "--threads=4"), ("--format=dot",),
         ("-J", "--names=walk", "--algorithm=getmnt1", "--kernel=mountinfo"))
whole = {form: gm.getmnt(*form) for form in FORMS}
for form, result in whole.items():
    gm.expect(result.status == 0 and not result.err, f"{form}: {result.status}: {result.err}")


def can_begin(name, value):
    """False where the dynamic loader dies of SIGSEGV for want of memory, before main()."""
    number = getattr(resource, "RLIMIT_" + name)
    ended = subprocess.run([gm.PROGRAM, "--version"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False,
                           preexec_fn=lambda: resource.setrlimit(number, (value, value)))
    return ended.returncode != -signal.SIGSEGV


def limited(name, value, uid=None):
    """Run every form under a limit.  @return the statuses."""
    number = getattr(resource, "RLIMIT_" + name)
    statuses = []
    for form in FORMS:
        tag = f"{name}={value}: {' '.join(form)}"
        result = gm.getmnt(*form, uid=uid, before=lambda: resource.setrlimit(number, (value, value)))
        statuses.append(result.status)
        if result.status == 0:
            gm.expect(result.out == whole[form].out, f"{tag}: wrong answer: {result.out[-300:]}")
            gm.expect(not result.err, f"{tag}: {result.err}")
        elif result.status == 1:
            gm.expect(not result.out and result.err.startswith(b"getmnt: "),
                      f"{tag}: status 1: {result.out[-200:]}, {result.err[-200:]}")
        elif result.status == 64 and form[0] == "-J":
            document = json.loads(result.out)
            gm.expect(document["complete"] is False and document["incomplete_reasons"],
                      f"{tag}: {document['incomplete_reasons']}")
        elif result.status not in (64, 127):    # 127: libraries could not be loaded
            gm.fail(f"{tag}: status {result.status}: {result.err[-300:]}")
    return statuses


def plugin(name, value):
    """Run the plugin under a limit: one line that agrees with the status, either the normal
    answer or UNKNOWN.  @return the status."""
    number = getattr(resource, "RLIMIT_" + name)
    result = gm.getmnt("audit", "--nagios", before=lambda: resource.setrlimit(number, (value, value)))
    words = {0: b"OK", 1: b"WARNING", 2: b"CRITICAL", 3: b"UNKNOWN"}
    if result.status != 127:
        word = words.get(result.status, b"?")
        gm.expect(result.status in (checked, 3) and result.out.startswith(b"GETMNT " + word + b" - ")
                  and result.out.count(b"\n") == 1 and result.out.endswith(b"\n"),
                  f"plugin, {name}={value}: {result.status}: {result.out}, {result.err}")
    return result.status


def audit_json(name, value):
    """The same for JSON: a complete document with the result of the audit."""
    number = getattr(resource, "RLIMIT_" + name)
    result = gm.getmnt("audit", "--json", before=lambda: resource.setrlimit(number, (value, value)))
    if result.status != 127:
        document = json.loads(result.out)
        gm.expect(set(document) == set(audited) and document["exit_status"] == result.status
                  and bool(document["failed"]) == (result.status == 2) and "No such" not in str(document["failed"]),
                  f"--json, {name}={value}: {result.status}: {result.out}, {result.err}")
    return result.status


KIB, MIB = 1024, 1024 * 1024
audited = json.loads(gm.getmnt("audit", "--json").out)
checked = gm.getmnt("audit", "--nagios").status
gm.expect(checked in (0, 1, 2), f"plugin: {checked}")
if not gm.sanitized():
    short = []
    every = 1 if gm.FULL else 5
    # The stack of a thread takes 8 MiB; with less, no thread starts.
    for name, sizes in (("AS", range(4 * MIB, 14 * MIB, 512 * KIB)),
                        ("DATA", [*range(512 * KIB, 1536 * KIB, 32 * KIB),
                                  *range(8 * MIB, 9 * MIB, 48 * KIB), 12 * MIB])):
        for size in sizes[::every]:
            short += limited(name, size) if can_begin(name, size) else [-signal.SIGSEGV]
        gm.expect(set(limited(name, 256 * MIB)) == {0}, f"256 MiB of {name} are not enough")
    for name, sizes in (("AS", range(4 * MIB, 8 * MIB, 96 * KIB)),
                        ("DATA", range(256 * KIB, 3072 * KIB, 64 * KIB))):
        begun = [size for size in sizes[::every] if can_begin(name, size)]
        gm.expect({audit_json(name, size) for size in begun} >= {audited["exit_status"], 2},
                  f"--json, {name}: no run failed for want of memory")
        statuses = [plugin(name, size) for size in begun]
        gm.expect(3 in statuses and checked in statuses,
                  f"plugin, {name}: {statuses}: both outcomes are expected")
    print(f"  memory: {short.count(0)} complete, {short.count(1)} failed with a message, "
          f"{short.count(127) + short.count(-signal.SIGSEGV)} did not start")
    gm.expect(short.count(1) > 5, "no run failed for want of memory")
    # A thread's stack is as large as the limit.
    for size in (64, 100, 1024):
        gm.expect(set(limited("STACK", size * KIB)) == {0}, f"a stack of {size} KiB")
gm.expect(set(limited("STACK", resource.RLIM_INFINITY)) == {0}, "an unbounded stack")
for name, value, uid in (("NPROC", 0, 65534), ("NPROC", 1, 65534), ("FSIZE", 0, None),
                         ("FSIZE", 1, None), ("CORE", 0, None), ("MEMLOCK", 0, None),
                         ("SIGPENDING", 0, None), ("MSGQUEUE", 0, None), ("CPU", 5, None),
                         ("NICE", 0, None), ("RTPRIO", 0, None)):
    if name == "NPROC" and gm.sanitized():
        continue                # its leak check forks
    gm.expect(set(limited(name, value, uid)) == {0}, f"{name}={value}")


def sorted_lines(form, before=None):
    """Run a form.  @return its status, messages and lines in an order that threads do not change."""
    result = gm.getmnt(*form, before=before)
    return result.status, result.err, sorted(result.out.split(b"\n"))


def join(group):
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as f:
        f.write("0")


# Without room for a thread the work is done by those that there are.
SEARCHES = (("search", "--threads=4", "*", "/d"), ("search", "-L", "--threads=4", "b*", "/d"),
            ("search", "--threads=4", "-o", "PATH,SIZE,MTIME", "b1?", "/d"))
if os.path.exists("/pids/cgroup.procs") and not gm.sanitized():
    group = f"/pids/getmnt-test-{os.getpid()}"
    os.mkdir(group)
    threads = []
    for most in ("1", "2", "3", "4", "max"):
        with open(f"{group}/pids.max", "w", encoding="ascii") as f:
            f.write(most)
        for form in FORMS + SEARCHES:
            got, want = sorted_lines(form, lambda: join(group)), sorted_lines(form)
            gm.expect(got == want and want[0] == 0 and want[2],
                      f"pids.max={most}: {' '.join(form)}: {got[:2]}, {len(got[2])} of {len(want[2])} lines")
        result = gm.getmnt("search", "--threads=4", "--stats=json", "no-such-name", "/d",
                           before=lambda: join(group))
        threads.append(result.stats()["threads"])
    # One thread prints; the first number of threads is of those that read.
    gm.expect(threads[0] == 1 and threads == sorted(threads) and threads[-1] == 4 and threads[2] <= 3,
              f"threads: {threads}")
    os.rmdir(group)
gm.done()
