# SPDX-License-Identifier: MIT
"""A hierarchy as in Smith's Figure 4: a root with a few dozen mounts, nested
two or three levels; and what the search saves by each algorithm."""
import gm

root = gm.Root()
for top in ("usr", "var", "home", "srv", "opt", "tmp/scratch"):
    gm.tmpfs(root / top)
for name in ("usr/local", "usr/src", "var/log", "var/spool", "var/spool/mail", "usr/local/lib"):
    gm.tmpfs(root / name)
for i in range(12):
    gm.tmpfs(root / f"home/u{i}")
for i in range(6):
    gm.tmpfs(root / f"srv/a{i}/data")
# Directories to search in, on INTERNAL and on LEAF file systems.
for top in ("etc", "usr/lib", "usr/local/lib", "home/u3", "srv", "opt", "var/log"):
    for i in range(30):
        gm.mkdir(root / f"{top}/d{i}/e{i}/f")
root.enter()
lines = gm.check("figure 4")

stats = {}
for algorithm in ("getmnt1", "getmnt2", "getmnt3"):
    result = gm.getmnt("-J", "--names=walk", "--algorithm=" + algorithm, "--stats=json",
                       "--threads=1")
    stats[algorithm] = result.stats()
dirs = {name: s["dirs"] for name, s in stats.items()}
calls = {name: sum(s["calls"].values()) for name, s in stats.items()}
print(f"  directories {dirs}, calls {calls}")
gm.expect(dirs["getmnt1"] > dirs["getmnt2"] > dirs["getmnt3"], f"pruning saves nothing: {dirs}")
gm.expect(calls["getmnt1"] > calls["getmnt2"] > calls["getmnt3"], f"it saves no calls: {calls}")

# With good hints: a statx for each point that carries mounts, plus 2.
points = len({line.point for line in lines})
for source in gm.SOURCES:
    s = gm.getmnt("-J", "--names=hint", "--stats=json", "--kernel=" + source).stats()
    calls = s["calls"]
    gm.expect(calls.get("statx", 0) <= points + 2,
              f"hints, {source}: {calls.get('statx')} statx for {points} points")
    gm.expect(calls.get("getdents64", 0) == 0 and s["dirs"] == 0, f"hints read a directory: {s}")

# No touching at all.
s = gm.getmnt("-J", "--names=kernel", "--stats=json").stats()
gm.expect(s["calls"].get("getdents64", 0) == 0 and s["calls"].get("statx", 0) <= 2,
          f"--names=kernel touches: {s['calls']}")
gm.done()
