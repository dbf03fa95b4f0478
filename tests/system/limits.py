# SPDX-License-Identifier: MIT
"""Bounds of a search: what was not searched is told, by state and status."""
import gm

root = gm.Root()
for i in range(200):
    gm.mkdir(root / f"t/d{i}/e/f/g")
gm.tmpfs(root / "t/d150/e/f/g")
gm.tmpfs(root / "a")
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
root.enter()
for args in (["--search-limit=20"], ["--depth=2"], ["--max-time=0.001", "--algorithm=getmnt1"]):
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=walk", *args)
    document = result.json()
    states = {row["target"]: gm.row_states(row) for row in document["filesystems"]}
    gm.expect(result.status == 64, f"{args}: status {result.status}")
    gm.expect(document.get("complete") is False and document.get("incomplete_reasons"),
              f"{args}: complete: {document.get('complete')}")
    gm.expect("unsearched" in states.get("/t/d150/e/f/g", set()), f"{args}: {states}")
    gm.expect(not any("lost" in s for s in states.values()), f"{args}: lost: {states}")
# A mount is no deeper for the bound than the directory it is on: "a" is read,
# "a/b" is seen in it, and "a/b/c" is not looked for.
rows = gm.getmnt("-J", "-l", "-o", "+NAMED", "--names=walk", "--depth=1").rows()
named = {row["target"]: row["named"] for row in rows}
gm.expect(named["/a/b"] == "walked" and named["/a/b/c"] == "kernel", f"--depth=1: {named}")
result = gm.getmnt("-J", "-l", "--names=walk", "--search-limit=100000")
gm.expect(result.status == 0, f"a wide limit: status {result.status}")
# A hint that fails starts no search: a mount moved away is told by the table.
s = gm.getmnt("-J", "--names=hint", "--search-limit=1", "--stats=json").stats()
gm.expect(s["dirs"] == 0, f"hints search: {s['dirs']}")
gm.done()
