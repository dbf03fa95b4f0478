# SPDX-License-Identifier: MIT
"""An ext4 on a device-mapper target that is suspended: every answer but its own."""
import os

import gm
import vm

gm.need("dmsetup", "mkfs.ext4", "losetup")
vm.modules("dm-mod")
vm.work()
loop = vm.loop("disk")
other = vm.loop("other")
device, alive = vm.linear("still", loop), vm.linear("alive", other)
for name in (device, alive):
    gm.run("mkfs.ext4", "-q", "-L", os.path.basename(name), name)
for name, target in ((device, "still"), (alive, "alive")):
    gm.run("mount", name, gm.mkdir(f"/mnt/{target}"))
for i in range(20):
    gm.mkdir(f"/mnt/still/d{i}/e")
gm.mkdir("/mnt/still/bound")
gm.touch("/mnt/still/image", "x" * 100)
gm.image("/mnt/still/image", 8 << 20, "mkfs.ext4", "-q", "-L", "within")
gm.tmpfs("/mnt/still/d3/e")
gm.loop_mount("/mnt/still/image", "/mnt/within")
gm.run("umount", "/mnt/within")
gm.loop_mount("/mnt/still/image", "/mnt/within")
tags = vm.blkid(alive)
vm.drop_caches()

got = vm.rows("-t", "ext4", columns=",UUID,LABEL")
for target in ("/mnt/still", "/mnt/alive", "/mnt/within"):
    gm.expect(target in got and got[target]["state"] == "ok" and got[target]["uuid"],
              f"before: {got.get(target)}")
gm.expect(got["/mnt/alive"]["uuid"] == tags["UUID"] and got["/mnt/alive"]["label"] == "alive",
          f"{got['/mnt/alive']}, not {tags}")

vm.drop_caches()
gm.run(*vm.DM, "suspend", "--noflush", "--nolockfs", "still")
vm.beside_hung("suspended", {"/mnt/still", "/mnt/within", "/mnt/still/d3/e"},
               cached={"/mnt/within"})
gm.expect(gm.probers(), "nobody waits for the device")
gm.run(*vm.DM, "resume", "still")
vm.reaped("resumed")
got = vm.rows("--probe=all", "--timeout=60")
for target in ("/mnt/still", "/mnt/alive", "/mnt/within", "/mnt/still/d3/e"):
    gm.expect(got[target]["state"] == "ok", f"resumed: {got[target]}")

# With its file system frozen, and somebody who writes.
gm.run(*vm.DM, "suspend", "still")
pid = gm.fork()
if pid == 0:
    gm.touch("/mnt/still/written", "x")
    os._exit(0)
vm.beside_hung("frozen", {"/mnt/still", "/mnt/within", "/mnt/still/d3/e"},
               forms=False, cached={"/mnt/within"})
gm.run(*vm.DM, "resume", "still")
os.waitpid(pid, 0)
vm.reaped("thawed")

for target in ("/mnt/within", "/mnt/still/d3/e", "/mnt/still", "/mnt/alive"):
    gm.run("umount", target)
for name in ("still", "alive"):
    gm.run(*vm.DM, "remove", "--retry", name)
gm.run("losetup", "-d", loop, other)
gm.done()
