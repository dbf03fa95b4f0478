# SPDX-License-Identifier: MIT
"""Few descriptors, as by ulimit -n 32: wide and deep trees are walked.  With all
but none it is told what could not be read."""
import gm

root = gm.Root()
for i in range(40):
    gm.mkdir(root / ("wide/w%d/" % i + "/".join("xyz"[j % 3] for j in range(12))))
gm.tmpfs(root / ("deep/" + "/".join(f"d{i}" for i in range(100))))
gm.tmpfs(root / "wide/w39/x/y/z/x/y/z/m")
gm.tmpfs(root / "wide/w3/x/y/m")
root.enter()
lines = gm.oracle()
for limit in (32, 16, 12, 7, 6, 5, 4):
    for names, algorithm, source in gm.RUNS:
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                           "--algorithm=" + algorithm, "--kernel=" + source, nofile=limit)
        gm.compare(f"{limit} descriptors: {names} {algorithm} {source}", names, lines, result,
                   strict=limit >= 12, made=limit < 12)
gm.done()
