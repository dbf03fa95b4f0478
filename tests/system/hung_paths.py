# SPDX-License-Identifier: MIT
"""A path on what stands on a server that stopped is not followed into it: neither
where a probe has just told that it hangs, nor to watch it.  Nor is it ok, though a
probe of it is answered from memory."""
import os

import gm

gm.need("mkfs.ext4", "losetup")
gm.need_fs("fuse", "ext4", "overlay")

root = gm.Root()
gm.tmpfs(root / "run")
image = gm.image(root / "image", 8 << 20, "mkfs.ext4", "-q")
gm.loop_mount(image, root / "fill")
for n in range(12):                     # never read before, so not in the cache
    gm.mkdir(root / f"fill/d{n}/e")
gm.mkdir(root / "fill/on")
gm.umount(root / "fill")
with open(image, "rb") as file:
    server = gm.FileFuse(root / "slow", {"disk.img": file.read(), "file": b"x"})
gm.overlay(root / "layered", root / "slow", gm.tmpfs(root / "upper"))
gm.loop_mount(root / "slow/disk.img", root / "disk", "ro", "noload")
gm.tmpfs(root / "disk/on")
server.stopped = True
root.enter()

PROBES = ((), ("--probe=local",), ("--probe=all", "--timeout=0.3"), ("--poll", "-w", "100"))
fresh = 0
for probe in PROBES:
    for option in ("-T", "-M", "-R", None):
        for path in ("/layered/file", f"/disk/d{fresh % 12}/e"):
            fresh += 1
            args = [*probe, *([option] if option else []), path]
            result = gm.getmnt(*args, seconds=10 * gm.SLOW)
            gm.expect(result.status in (0, 1, 32), f"{args}: status {result.status} {result.err[-300:]!r}")
for run in range(2):
    result = gm.getmnt("--probe=all", "--timeout=0.3", "--strict", "-J", "-l")
    gm.expect(result.status == 64, f"run {run}: status {result.status} {result.err[-300:]!r}")
    states = {row["target"]: row["state"] for row in result.rows()}
    for target in ("/slow", "/layered", "/disk", "/disk/on"):
        gm.expect(states.get(target) == "hung", f"run {run}: {target} is {states.get(target)}")
    gm.expect(states.get("/run") == "ok", f"run {run}: /run is {states.get('/run')}")
os.close(server.fd)
gm.done()
