# SPDX-License-Identifier: MIT
"""Mounts in /proc and /sys, as container runtimes hide parts of them: what is
searched last must still be searched."""
import gm

root = gm.Root()
gm.tmpfs(root / "sys/fs/cgroup")
gm.tmpfs(root / "sys/fs/cgroup/a")
gm.mount("sysfs", root / "sys/kernel", "tmpfs")
gm.bind(root / "proc/sys", root / "proc/sys")
gm.bind(root / "proc/irq", root / "proc/irq")
gm.mount(root / "dev/null", root / "proc/version", None, gm.MS_BIND)
gm.mount(root / "dev/null", root / "proc/sys/kernel/hostname", None, gm.MS_BIND)
gm.mount("masked", root / "proc/fs", "tmpfs")
gm.bind(gm.touch(root / "tmp/ns"), root / "tmp/ns")
root.enter()
gm.mount("/proc/self/ns/net", gm.touch("/tmp/netns"), None, gm.MS_BIND)
gm.mount("/proc/self/ns/uts", gm.touch("/tmp/uts"), None, gm.MS_BIND)
gm.check("masks")
gm.done()
