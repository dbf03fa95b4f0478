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
for source in ("listmount", "mountinfo"):
    for names in ("hint", "walk", "pure"):
        if source == "listmount" and not gm.have_listmount():
            continue
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                           "--kernel=" + source, "--stats=json")
        tag = f"{names} {source}"
        gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
        odd = [row for row in result.rows() if gm.row_states(row) - {"ok", "untested"}]
        gm.expect(all(gm.row_states(row) == {"outside"} and row["target"] is None
                      for row in odd), f"{tag}: {odd}")
        if names == "hint":
            gm.expect(result.stats()["dirs"] == 0, f"{tag}: it searches")
gm.done()
