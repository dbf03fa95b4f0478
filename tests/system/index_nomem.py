# SPDX-License-Identifier: MIT
"""Memory runs out in a command about indexes: each allocation of a run fails, one in each run.  A run that exits 0
has printed all its output; any other one has printed a message."""
import itertools
import os
import re
import shutil
import time

import gm

if gm.sanitized():
    gm.skip("a sanitizer has allocation functions of its own")
NOMEM = os.path.join(os.path.dirname(os.environ["GETMNT"]), "tests/lib/nomem.so")
if not os.path.exists(NOMEM):
    gm.skip("tests/lib/nomem.so is not built")
root = gm.Root(sysfs=False)
shutil.copy(NOMEM, root / "nomem.so")
gm.tmpfs(root / "a")
for name in ("one.c", "two.txt", "b/three", "b/c/four.c"):
    gm.touch(root / f"a/{name}", name)
gm.mkdir(root / "ix")
root.enter()
IX = "--index-dir=/ix"
gm.expect(gm.getmnt("index", "build", IX, "/a").status == 0, "no index")


def printed(result):
    """The output without times, ages and counts, which differ from run to run."""
    return re.sub(rb"[\d.]+[dhms]?", b"N", result.out)


numbers = itertools.count()


def prepare(args):
    """An update has one directory to read."""
    if args[:2] == ("index", "update"):
        gm.touch(f"/a/b/new{next(numbers)}")


# An update also reads directories that had changed within 3 seconds of their last reading.
limit = time.monotonic() + gm.WAIT_SECONDS
while b" read" in (out := gm.getmnt("index", "update", IX).out) and time.monotonic() < limit:
    time.sleep(0.5)
gm.expect(b" read" not in out, f"directories are always read: {out}")


for args in (("index", "build", "--threads=1", IX, "/a"), ("index", "check", IX), ("index", "check", IX, "/a"), ("index", "update", IX),
             ("index", "status", IX), ("index", "status", "--json", IX), ("index", "report", IX), ("index", "report", IX, "--by=extension"),
             ("index", "report", IX, "--json", "--by=user"), ("index", "report", IX, "--svg=-"), ("index", "export", IX, "--csv"),
             ("search", "--threads=1", "--index", IX, "*.c", "/a"), ("find", "--threads=1", "--index", IX, "/a", "-ls"), ("find", "--threads=1", "-D", "tree", "/a", "-name", "*.c")):
    prepare(args)
    usual = gm.getmnt(*args, env={"LD_PRELOAD": "/nomem.so", "NOMEM_COUNT": "/tmp/count"})
    count = int(gm.read("/tmp/count"))
    gm.expect(usual.status == 0 and usual.out, f"{args}: {usual.status}: {usual.out[:100]} {usual.err[-200:]}")
    gm.expect(count > 5, f"{args}: {count} allocations: nothing is tried")
    lost = 0
    for at in range(1, count + 1):
        prepare(args)
        result = gm.getmnt(*args, env={"LD_PRELOAD": "/nomem.so", "NOMEM_AT": str(at)})
        whole = printed(result) == printed(usual)
        gm.expect(whole if result.status == 0 else result.err or whole,
                  f"{args}, allocation {at} of {count}: {result.status}: {result.out[-200:]} {result.err[-200:]}")
        lost += not whole
    print(f"  {args}: {count} allocations, {lost} with less output", flush=True)
gm.done()
