# SPDX-License-Identifier: MIT
"""A mount whose place was moved out of the bind that it is on: it has no path
from our root.  It is told, and nothing is searched for."""
import os

import gm

root = gm.Root()
gm.tmpfs(root / "fs")
gm.mkdir(root / "fs/sub/p/d")
for i in range(50):
    gm.mkdir(root / f"fs/many/d{i}/e")
gm.mount(root / "fs/sub", gm.mkdir(root / "m"), None, gm.MS_BIND)
gm.tmpfs(root / "m/p/d")
os.rename(root / "fs/sub/p", root / "fs/p")
root.enter()
for source in gm.SOURCES:
    for names, algorithm, threads in (
            ("hint", "getmnt3", 1), ("walk", "getmnt1", 1), ("walk", "getmnt2", 1),
            ("walk", "getmnt3", 1), ("walk", "getmnt1", 4), ("pure", "getmnt3", 1)):
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, f"--threads={threads}",
                           "--kernel=" + source, "--algorithm=" + algorithm, "--stats=json")
        tag = f"{names} {algorithm} {source} {threads}"
        gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
        odd = [row for row in result.rows() if gm.row_states(row) - {"ok", "untested"}]
        gm.expect(all(gm.row_states(row) == {"outside"} and row["target"] is None
                      for row in odd), f"{tag}: {odd}")
        if names == "hint":
            gm.expect(result.stats()["dirs"] == 0, f"{tag}: it searches")
gm.done()
