# SPDX-License-Identifier: MIT
"""/sys/dev, /run and /dev that never answer: devices are not known, and no run waits."""
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
    gm.expect(result.status == 0, f"{args}: status {result.status} {result.err[-300:]!r}")
    states = {row["target"]: row["state"] for row in result.rows()} if result.status == 0 else {}
    for where in ("/sys/dev", "/run", "/dev"):
        want = "hung" if "--probe=all" in args else "untested"
        gm.expect(states.get(where) == want, f"{args}: {where} is {states.get(where)}, not {want}")
gm.done()
