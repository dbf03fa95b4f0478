# SPDX-License-Identifier: MIT
"""getmnt find -xdev and -mount: neither enters another mount, nor a subvolume of btrfs, which has a
device number of its own; -mount does not report it either (POSIX.1-2024)."""
import os

import gm

gm.need("mkfs.btrfs", "btrfs", "losetup", "find")
gm.need_fs("btrfs")
root = gm.Root()
gm.install("find", root.path)
gm.mkdir(root / "img")
gm.loop_mount(gm.image(root / "img/btrfs", 512 << 20, "mkfs.btrfs", "-q"), gm.mkdir(root / "t"))
gm.mkdir(root / "t/dir")
for name in ("sub", "dir/deep"):
    gm.run("btrfs", "-q", "subvolume", "create", root / f"t/{name}")
gm.tmpfs(gm.mkdir(root / "t/mnt"))
for name in ("sub", "dir", "dir/deep", "mnt"):
    gm.touch(root / f"t/{name}/file", "x")
# A link out of a mount, upwards, to an empty directory.
gm.mkdir(root / "empty")
os.symlink("../../empty", root / "t/mnt/up")
root.enter()

FOUND = {"-xdev": {"", "/dir", "/dir/deep", "/dir/file", "/mnt", "/sub"}, "-mount": {"", "/dir", "/dir/file"}}
for disabled in ("", "openat2", "statx-mntid", "openat2,statx-mntid,listmount"):
    for more in ([], ["-depth"], ["-type", "d"], ["-size", "-9"]):
        for way in (["--threads=1"], ["--threads=4", "--blocking"], ["-L"]):
            for word, found in FOUND.items():
                args = [*way, "/t", word, *more]
                got = gm.getmnt("find", *args, env={"GETMNT_DISABLE": disabled})
                names = {line[2:] for line in got.out.decode().split("\n")[:-1]}
                expected = {name for name in found if "-type" not in more or not name.endswith("file")}
                gm.expect(got.status == 0 and names == expected,
                          f"{disabled} {args}: {sorted(names ^ expected)}, status {got.status}: {got.err}")
for more in ([], ["-depth"], ["-type", "d"]):
    peer, ours = (gm.getmnt(*start, "/t", "-xdev", *more, program=program).out.split(b"\n")
                  for start, program in (([], "/bin/find"), (["find"], gm.PROGRAM)))
    gm.expect(sorted(peer) == sorted(ours), f"-xdev {more}: not as find")
for args in (["-L", "/t/mnt", "-depth", "-empty"], ["/t/mnt", "-d", "-follow", "-empty"], ["-L", "/t/mnt", "-empty"]):
    peer, ours = (gm.getmnt(*start, *args, program=program) for start, program in (([], "/bin/find"), (["find"], gm.PROGRAM)))
    gm.expect(peer.out == ours.out == b"/t/mnt/up\n" and ours.status == 0, f"{args}: {ours}, find: {peer}")
inside = gm.getmnt("find", "/t/sub", "-xdev").out.decode().split("\n")[:-1]
gm.expect(inside == ["/t/sub", "/t/sub/file"], f"from a subvolume: {inside}")
gm.done()
