# SPDX-License-Identifier: MIT
"""A profile by gprof has the counts of --stats, and of strace of a debug build in the same run; make
profile-report reports what it needs."""
import argparse
import os
import shutil
import subprocess
import sys

import flatprofile
import gm
import profile_report
from traced import traced

gm.need("strace", "gprof")
BUILD = os.path.dirname(os.environ["GETMNT"])
if os.path.basename(BUILD) != "debug":
    gm.skip("next to a debug build")
PROFILE = os.path.join(os.path.dirname(BUILD), "profile/getmnt")
if not os.access(PROFILE, os.X_OK):
    gm.skip(f"there is no {PROFILE}: make profile")
GPROF = shutil.which("gprof")

root = gm.Root()
for i in range(20):
    gm.mkdir(root / f"d/d{i}/e/f")
for point in ("d/d7/e/f", "d/d7/e/f/g", "d/d9", "d/a", "d/a"):
    gm.tmpfs(root / point)
gm.mkdir(root / "d/a/x/y")
gm.bind(gm.touch(root / "d/file"), root / "d/other")
os.mkfifo(root / "d/pipe")
gm.mkdir(root / "run")      # records of probes

# The report: what it needs, and what it writes.
options = argparse.Namespace(getmnt=PROFILE, tree=None)


def lacks(what, expected):
    """What is missing is reported."""
    why = profile_report.can_run(options)
    gm.expect(expected in (why or "nothing"), f"{what}: {why}")


gm.expect(profile_report.can_run(options) is None, "something is missing, as root")
os.seteuid(65534)
lacks("not root", "TREE=/usr")
options.tree = "/usr"
gm.expect(profile_report.can_run(options) is None, "a tree that the user names requires root")
os.seteuid(0)
for options.tree, expected in ((root / "d/pipe", "Not a directory"), (root / "none", "No such file")):
    lacks(options.tree, expected)
path, os.environ["PATH"] = os.environ["PATH"], "/nowhere"
lacks("no gprof", "binutils")
os.environ["PATH"] = path
options.getmnt = root / "none"
lacks("no program", "make profile")


def report(program, *args):
    """The report of a copy of a program, in a writable directory."""
    shutil.copy(program, gm.mkdir(root / "tmp/copy") + "/getmnt")
    return subprocess.run([sys.executable, profile_report.__file__, "--getmnt", root / "tmp/copy/getmnt",
                           "--seconds", "0", *args], capture_output=True, text=True, check=False)


page = gm.touch(root / "tmp/page.md", f"before\n{profile_report.BEGIN}old\n{profile_report.END}after\n")
done = report(PROFILE, "--small", "--update", page)
gm.expect(done.returncode == 0, f"the report: {done.returncode}: {done.stderr[-300:]}")
text = gm.read(page)
gm.expect(text == f"before\n{profile_report.BEGIN}{done.stdout}{profile_report.END}after\n", "the page is another")
for word in ("getmnt1, as in Figure 2: 1 run,", "getmnt2, as in Figure 3", "getmnt3, as in Figure 9",
             "| #calls |", "`sys_getdents64`", " 8 mounts", "agree on each"):
    gm.expect(word in done.stdout, f"the report lacks {word}")
sums = [os.path.exists(root / f"tmp/copy/report/getmnt{i}/gmon.sum") for i in (1, 2, 3)]
gm.expect(all(sums), f"gmon.sum is left for {sums}")
done = report(os.environ["GETMNT"], root / "d")
gm.expect(done.returncode == 1 and "left no gmon.out" in done.stderr and done.stderr.count("\n") == 1,
          f"of a debug build: {done.returncode}: {done.stderr[-300:]}")
os.rename(root / "tmp/copy/report", root / "tmp/copy/old")
gm.touch(root / "tmp/copy/report")
done = report(PROFILE, root / "d")
gm.expect(done.returncode == 1 and "cannot be made anew: Not a directory" in done.stderr, f"no folder: {done.stderr[-300:]}")
os.unlink(root / "tmp/copy/report")
# The page of another program is not touched.
done = report(PROFILE, "--update", gm.touch(root / "tmp/other.md", "mine\n"), root / "d")
gm.expect(done.returncode == 1 and "lacks the lines" in done.stderr, f"no marks: {done.stderr[-300:]}")

PROFILED, GMON = "/bin/profiled", "/tmp/gmon"
shutil.copy(PROFILE, root.path + PROFILED)
gm.install("strace", root.path)
gm.install(GPROF, root.path)
root.enter()


def profiled(tag):
    """The functions of the run that has left its profile; no other process has."""
    left = [f"/tmp/{name}" for name in os.listdir("/tmp") if name.startswith("gmon.")]
    if not gm.expect(len(left) == 1, f"{tag}: {len(left)} profiles are left"):
        return []
    functions = flatprofile.flat(PROFILED, left[0], "/bin/gprof")
    os.unlink(left[0])
    return functions


def steady(calls):
    """What does not depend on time."""
    return {kind: n for kind, n in calls.items() if kind != "poll"}


WALK = ["-l", "--root=/d", "--names=walk", "--algorithm"]
AGAIN = ("-e", "inject=getdents64:error=EINTR:when=3")
for args, options in ((WALK + ["getmnt1"], ()), (WALK + ["getmnt2"], ()), (WALK + ["getmnt3"], ()),
                      (WALK + ["getmnt1"], AGAIN), (["-D"], ()),
                      (["-J", "--names=walk", "--kernel=mountinfo", "--root=/d"], ())):
    tag = " ".join([*args, *options])
    seen, told = traced(args, options=options)
    seen_profiled, told_profiled = traced(args, PROFILED, {"GMON_OUT_PREFIX": GMON}, options)
    if seen is None or seen_profiled is None:
        continue
    functions = profiled(tag)
    counted = flatprofile.crossings(functions)
    gm.expect(seen == told, f"{tag}: strace sees {seen}, --stats tells {told}")
    gm.expect(seen_profiled == told_profiled == counted, f"{tag}, profiled: strace sees {seen_profiled}, "
              f"--stats prints {told_profiled}, gprof counts {counted}")
    gm.expect(steady(told) == steady(told_profiled), f"{tag}: debug {told}, profile {told_profiled}")
    # The requested calls, and how often the kernel was entered.
    calls = {f.name: f.calls or 0 for f in functions}
    gm.expect(calls["os_getdents"] + bool(options) == calls["sys_getdents64"] == told.get("getdents64", 0),
              f"{tag}: {calls['os_getdents']} and {calls['sys_getdents64']} of {told}")

# Untraced, and other commands; one with a process of its own, which counts for itself.
for args, forks in ((["--names=walk", "--threads=4"], 0), (["fstab"], 0), (["audit"], 0), (["--probe"], 1)):
    result = gm.getmnt(*args, "--stats=json", program=PROFILED, env={"GMON_OUT_PREFIX": GMON})
    told = {kind: n for kind, n in result.stats()["calls"].items() if n}
    counted = flatprofile.crossings(profiled(" ".join(args)))
    if not forks:
        gm.expect(counted == told, f"{args}: gprof counts {counted}, --stats tells {told}")
    else:
        gm.expect(counted.get("clone") == forks and all(n <= told.get(kind, 0) for kind, n in counted.items()),
                  f"{args}: gprof counts {counted}, --stats tells {told}")

# Each kind of call is one function; the compiler has split or copied none of os/.
names = {f.name for f in functions}
kinds = {f.kind for f in functions if f.kind}
missing = set(result.stats()["calls"]) ^ kinds
gm.expect(not missing, f"kinds without a function, or the other way round: {missing}")
split = [name for name in names if "." in name]
gm.expect(not split, f"functions in parts: {split[:5]}")
gm.expect({"os_statx", "os_openat", "os_openat2", "os_read", "os_close", "os_opendir"} <= names, "the facade is not there")
gm.done()
