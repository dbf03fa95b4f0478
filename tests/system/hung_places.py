# SPDX-License-Identifier: MIT
"""/sys/dev, /run and /dev that never answer: devices are not known, and no run waits."""
import os

import gm

gm.need_fs("fuse")
gm.need("mkfs.ext4")
root = gm.Root()
gm.mkdir(root / "run")
gm.loop_mount(gm.image(root / "tmp/image", 4 << 20, "mkfs.ext4", "-q"), root / "disk")
for where in ("sys/dev", "run", "dev"):     # on /sys itself libselinux waits before main()
    gm.HungFuse(root / where)
root.enter()

for args in ((), ("--names=walk", "--search-limit=0"), ("--kernel=mountinfo",), ("-o", "+UUID,LABEL,SIZE"),
             ("-o", "+UUID", "--probe=all", "--timeout=0.3"), ("--probe=local",)):
    result = gm.getmnt("-J", "-l", *args)
    # Without /run there is no place for the records of a probe.
    refused = any(arg.startswith("--probe") for arg in args)
    gm.expect(result.status == (64 if refused else 0) and (b"nothing was probed" in result.err) == refused,
              f"{args}: status {result.status} {result.err[-300:]!r}")
    states = {row["target"]: row["state"] for row in result.rows()} if result.out else {}
    for where in ("/sys/dev", "/run", "/dev"):
        gm.expect(states.get(where) == "untested", f"{args}: {where} is {states.get(where)}")

# The table of a task tells nothing of our places.
for args in (("--names=kernel", "-o", "UUID"), ("--names=kernel", "-o", "ID,LABEL"), ("--task", "1"), ("--task", str(os.getpid()), "-o", "+UUID"), ("-s", "-e", "-F", "/etc/fstab"),
             ("--task", str(os.getpid()), "--poll", "-w", "100", "-T", "/disk")):
    gm.touch("/etc/fstab", "UUID=1234 /x ext4 defaults 0 0\n")
    result = gm.getmnt(*args)
    gm.expect(result.status in (0, 1), f"{args}: status {result.status} {result.err[-300:]!r}")
gm.done()
