# SPDX-License-Identifier: MIT
"""Old kernels: each interface switched off, and all of them."""
import gm

root = gm.Root()
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c/d")
gm.tmpfs(root / "a/e")
gm.tmpfs(root / "a/e")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
gm.bind(gm.mkdir(root / "plain/dir/sub"), root / "plain/bound")
gm.bind(gm.touch(root / "etc/file"), root / "etc/other")
gm.bind(root / "a/b", root / "again")
root.enter()
for off in ("listmount", "openat2", "uring", "listmount,openat2", "statx-mntid",
            "listmount,statx-mntid,openat2,uring"):
    by_dev = "statx-mntid" in off
    runs = [run for run in gm.RUNS if "listmount" not in off or run[2] == "mountinfo"]
    gm.check("without " + off, runs=runs, env={"GETMNT_DISABLE": off}, strict=not by_dev)
    if "listmount" in off:
        result = gm.getmnt("--kernel=listmount", env={"GETMNT_DISABLE": off})
        gm.expect(result.status == 1 and b"listmount" in result.err,
                  f"--kernel=listmount without it: status {result.status}: {result.err}")

# Without mount IDs a mount of a device of its own is found all the same.
rows = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=walk",
                 env={"GETMNT_DISABLE": "listmount,statx-mntid,openat2"}).rows()
named = {row["target"]: row["named"] for row in rows}
for path in ("/a/b/c/d", "/a/e", "/proc"):
    gm.expect(named.get(path) in ("walked", "inferred"), f"by device: {path}: {named.get(path)}")
rows = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=walk", "--identity=dev").rows()
named = {row["target"]: row["named"] for row in rows}
for path in ("/a/b/c/d", "/a/e", "/proc"):
    gm.expect(named.get(path) in ("walked", "inferred"),
              f"--identity=dev: {path}: {named.get(path)}")
gm.done()
