# SPDX-License-Identifier: MIT
"""Without /proc, or with a restricted one: the table comes from listmount, relative paths work, and
what needs /proc explains how to mount it."""
import os
import signal

import gm

root = gm.Root(proc=False)
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
gm.mkdir(root / "removed")
root.enter()
TREE = {"/": "ok", "/sys": "ok", "/a/b": "ok", "/a/b/c": "ok", "/h": "ok", "/h/i": "hidden"}
OLD = {"GETMNT_DISABLE": "listmount"}
HOW = b"mount -t proc proc /proc"


def states(*args, **more):
    result = gm.getmnt("-J", "-l", *args, **more)
    if not gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err}"):
        return {}
    gm.expect(not result.err, f"{args}: {result.err}")
    return {row["target"]: row["state"] for row in result.rows()}


def without():
    """Without /proc/self: what does not need it works, the rest reports it."""
    for names in ("hint", "walk"):
        for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
            found = states("--names=" + names, "--algorithm=" + algorithm)
            found.pop("/proc", None)
            gm.expect(found == TREE, f"{names} {algorithm}: {found}")
    found = states("--names=kernel")
    found.pop("/proc", None)
    gm.expect(set(found) == set(TREE), f"kernel: {found}")
    for args in (("-D",), ("-o", "+UUID,LABEL"), ("--output-all",), ("-m",), ("--unmounted",),
                 ("-e", "-c"), ("--tree",), ("--format=mtab",), ("--format=fstab",),
                 ("--format=jsonl",), ("--stats",), ("--explain",), ("--boundaries",)):
        result = gm.getmnt(*args)
        gm.expect(result.status == 0 and b"/a/b/c" in result.out,
                  f"{args}: status {result.status}: {result.err}")
    gm.expect(set(states("--root", "/a/b")) >= {"/", "/c"}, "--root")

    # Relative paths: getcwd(2) needs no /proc.
    for args, cwd, want in ((("-T", "."), "/a/b/c", "/a/b/c"), (("-T", "x/y/.."), "/a/b", None),
                            (("-M", "c"), "/a/b", "/a/b/c"), (("c",), "/a/b", "/a/b/c"),
                            (("-T", "../.."), "/a/b/c", "/")):
        result = gm.getmnt("-n", "-l", "-o", "TARGET", *args, cwd=cwd)
        if want is None:
            gm.expect(result.status == 1 and b"x/y" in result.err, f"{args}: {result.err}")
        else:
            gm.expect(result.out.decode().split() == [want] and result.status == 0,
                      f"{args} in {cwd}: {result.status}, {result.out}, {result.err}")
    head = gm.getmnt("-J").json()
    gm.expect(head["host"] == os.uname().nodename and head["boot_id"] is None and head["complete"],
              f"head: {head['host']}, {head['boot_id']}, {head['complete']}")

    for args, env in (((), OLD), (("-J",), OLD), (("-D",), OLD), (("-m",), OLD), (("-k",), {}),
                      (("--kernel=mountinfo",), {}), (("--names=kernel",), OLD),
                      (("--root", "/a/b"), OLD), (("-T", "."), OLD), (("-N", "1"), {}),
                      (("-N", str(os.getpid())), OLD), (("--names=walk",), OLD)):
        result = gm.getmnt(*args, env=env)
        gm.expect(result.status == 1 and not result.out and HOW in result.err
                  and result.err.count(b"\n") == 1,
                  f"{args} without /proc: status {result.status}: {result.err}")


# A sanitizer's leak check needs /proc, and reads there how to be without it.
sanitized = gm.sanitized()
if gm.have_listmount() and not sanitized:
    without()
    gm.tmpfs("/proc")
    without()
    gm.umount("/proc")
    gm.mount("proc", "/proc", "proc")
    gm.tmpfs("/proc")
    without()
    gm.umount("/proc")
    gm.umount("/proc")
elif not sanitized:
    gm.expect(HOW in gm.getmnt().err, "without /proc and listmount")

# Options that administrators give to /proc hide other processes, or all but processes; our own
# process is visible.
others = gm.fork()
if others == 0:
    signal.pause()
for options in ("hidepid=1", "hidepid=2", "hidepid=4", "subset=pid", "subset=pid,hidepid=2"):
    gm.mount("proc", gm.mkdir("/proc"), "proc", 0, options)
    for env in ({}, OLD):
        for uid in (None, 65534):
            tag = f"{options}, {env}, {uid}"
            for names in ("hint", "walk", "kernel"):
                found = states("--names=" + names, uid=uid, env=env)
                gm.expect(set(found) == set(TREE) | {"/proc"}, f"{tag}: {names}: {found}")
            result = gm.getmnt("-N", str(others), uid=uid, env=env)
            if uid is None:
                gm.expect(result.status == 0, f"{tag}: -N: {result.status}: {result.err}")
            else:
                gm.expect(result.status == 1 and not result.out and any(
                    why in result.err for why in (b"hidepid", b"run as its owner"))
                          or result.status == 0 and b"untested; run as its owner" in result.err and b"untested" in result.out,
                          f"{tag}: -N: {result.status}: {result.err}")
            result = gm.getmnt("-l", "-n", "-o", "TARGET", "-T", ".", uid=uid, env=env, cwd="/a/b")
            gm.expect(result.out == b"/a/b\n", f"{tag}: -T .: {result.out}: {result.err}")
    gm.umount("/proc")
os.kill(others, 9)
os.waitpid(others, 0)

# A working directory without a name is reported.
gm.mount("proc", "/proc", "proc")
for env in ({}, OLD):
    for cover in (lambda: os.rmdir("/removed"), lambda: gm.tmpfs("/a/b")):
        where = "/removed" if os.path.exists("/removed") else "/a/b/c"
        os.chdir(where)
        cover()
        result = gm.getmnt("-T", ".", cwd=None, env=env)
        gm.expect(result.status == 1 and b"working directory" in result.err,
                  f"{where}: status {result.status}: {result.out}, {result.err}")
        result = gm.getmnt("-n", "-l", "-o", "TARGET", "-T", "/sys", cwd=None, env=env)
        gm.expect(result.out == b"/sys\n", f"in {where}: {result.out}, {result.err}")
        os.chdir("/")
    gm.umount("/a/b")
    gm.mkdir("/removed")
gm.done()
