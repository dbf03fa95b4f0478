# SPDX-License-Identifier: MIT
"""A chain of 400 mounts, each in the one before; and 10,000 binds in one
directory: what each costs does not grow with their number."""
import time

import gm

root = gm.Root()
path = root / "chain"
for i in range(400):
    path = gm.tmpfs(path + "/m", "size=4k,nr_inodes=10")
gm.mkdir(gm.tmpfs(root / "many", "nr_inodes=50000") + "/src")
root.enter()
gm.check("chain")
for i in range(10000):
    gm.mount("/many/src", gm.mkdir(f"/many/dst/b{i}"), None, gm.MS_BIND)
gm.check("10,000 binds", runs=[run for run in gm.RUNS if run[2] == "listmount"])
for names in ("hint", "walk"):
    start = time.monotonic()
    gm.getmnt("-J", "--names=" + names)
    seconds = time.monotonic() - start
    print(f"  10,000 binds, --names={names}: {seconds:.2f} s")
    gm.expect(seconds < 5, f"{names}: {seconds:.2f} s for 10,000 mounts")
gm.done()
