# SPDX-License-Identifier: MIT
"""NFS mounts, hard and soft, of a server of this machine, which then stops."""
import os
import time

import gm
import vm

gm.need("rpc.mountd", "exportfs")
vm.modules("nfsd", "nfsv4")
vm.work()
for path in ("/var/lib/nfs/v4recovery", "/run/sendsigs.omit.d"):
    gm.mkdir(path)
for path in ("etab", "rmtab", "xtab", "state"):
    gm.touch("/var/lib/nfs/" + path)
gm.tmpfs("/mnt/export")
gm.mkdir("/mnt/export/dir/sub")
gm.touch("/mnt/export/file", "x")
gm.touch("/etc/exports", "/mnt/export 127.0.0.1(rw,fsid=0,no_root_squash,no_subtree_check,insecure)\n")
gm.mount("nfsd", "/proc/fs/nfsd", "nfsd")


def tell(name, text):
    with open("/proc/fs/nfsd/" + name, "w", encoding="ascii") as f:
        f.write(text)


tell("nfsv4leasetime", "10")
tell("nfsv4gracetime", "10")
gm.run("exportfs", "-ra")
gm.run("rpc.mountd", "--no-nfs-version", "3", "--no-nfs-version", "2")
gm.run("rpc.nfsd", "--no-nfs-version", "3", "--tcp", "--no-udp", "--port", "2049", "2")
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

tell("threads", "0")
time.sleep(1)
vm.beside_hung("stopped", NAMES, after=("hung", "stale"))

# It comes back, and so do they.
gm.run("rpc.nfsd", "--no-nfs-version", "3", "--tcp", "--no-udp", "--port", "2049", "2")
vm.reaped("started again")
got = vm.rows("--probe=all", "--timeout=100")
for target in NAMES:
    gm.expect(got[target]["state"] == "ok", f"started again: {got[target]}")
for target in (HARD + "/dir/sub", HARD, SOFT):
    gm.run("umount", "-i", target)
tell("threads", "0")
with open("/proc/self/mountinfo", encoding="ascii") as f:
    assert "nfs4" not in f.read()
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            with open(f"/proc/{name}/comm", encoding="latin-1") as f:
                comm = f.read().strip()
        except OSError:
            continue
        if comm == "rpc.mountd":
            os.kill(int(name), 15)
gm.done()
