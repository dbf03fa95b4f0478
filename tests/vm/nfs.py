# SPDX-License-Identifier: MIT
"""NFS mounts, hard and soft, of a server of this machine, which then stops."""
import os
import time

import gm
import vm

vm.modules("nfsd", "nfsv4")
vm.work()
gm.tmpfs("/mnt/export")
gm.mkdir("/mnt/export/dir/sub")
gm.touch("/mnt/export/file", "x")
server = vm.NfsServer("/mnt/export 127.0.0.1(rw,fsid=0,no_root_squash,no_subtree_check,insecure)\n")
DATA = "vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1,proto=tcp,"
HARD, SOFT = "/mnt/hard", "/mnt/soft"
gm.mount("127.0.0.1:/", gm.mkdir(HARD), "nfs4", 0, DATA + "hard")
gm.mount("127.0.0.1:/", gm.mkdir(SOFT), "nfs4", 0, DATA + "soft,timeo=10,retrans=1,nosharecache")
gm.tmpfs(HARD + "/dir/sub")
print(os.listdir(SOFT))
NAMES = {HARD, SOFT, HARD + "/dir/sub"}

# While it is there.
for names in ("hint", "walk", "kernel"):
    got = vm.rows("--names=" + names)
    for target in NAMES:
        gm.expect(got[target]["state"] == "untested", f"{names}: {got[target]}")
    got = vm.rows("--names=" + names, "--probe=all", "--timeout=60")
    for target in NAMES:
        gm.expect(got[target]["state"] == "ok", f"{names} --probe=all: {got[target]}")

server.stop()
time.sleep(1)
vm.beside_hung("stopped", NAMES, after=("hung", "stale"))

# It comes back, and so do they.
server.start()
vm.reaped("started again")
got = vm.rows("--probe=all", "--timeout=100")
for target in NAMES:
    gm.expect(got[target]["state"] == "ok", f"started again: {got[target]}")
for target in (HARD + "/dir/sub", HARD, SOFT):
    gm.run("umount", "-i", target)
server.end()
assert "nfs4" not in gm.read("/proc/self/mountinfo")
gm.done()
