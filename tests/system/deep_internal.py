# SPDX-License-Identifier: MIT
"""One mount 12 levels down in an INTERNAL file system of 30,000 files."""
import os
import gm

root = gm.Root()
top = gm.tmpfs(root / "data", "size=512m,nr_inodes=100000")
for i in range(30):
    for j in range(30):
        path = gm.mkdir(f"{top}/a{i}/b{j}/c/d")
        for k in range(32):
            os.close(os.open(f"{path}/f{k}", os.O_CREAT | os.O_WRONLY))
gm.tmpfs(f"{top}/a17/b21/c/d/" + "/".join(f"l{i}" for i in range(8)))
root.enter()
gm.check("12 levels down")
gm.check("12 levels down, four threads", args=("--threads=4",), nested=False)
result = gm.getmnt("-J", "--names=walk", "--stats=json", "--threads=1", "--prune=-nlink")
without = result.stats()["dirs"]
result = gm.getmnt("-J", "--names=walk", "--stats=json", "--threads=1")
pruned = result.stats()["dirs"]
print(f"  directories read: {pruned}, without link counts {without}")
gm.expect(pruned <= without, "link counts save nothing")
gm.done()
