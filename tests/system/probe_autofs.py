# SPDX-License-Identifier: MIT
"""--probe next to automounts: idle ones stay idle; what is mounted on others is touched."""
import os
import signal

import gm

gm.need_features("an automount that is made after the table was read is woken", "openat2")
gm.need_fs("autofs", "fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "storm")
direct = gm.Autofs(root / "direct", "direct")
indirect = gm.Autofs(root / "indirect", "indirect")
active = gm.Autofs(root / "active", "direct")
gm.mount("real", root / "active", "tmpfs", 0, None)
gm.tmpfs(root / "active/below")
keys = gm.Autofs(root / "keys", "indirect")
gm.tmpfs(root / "keys/one")             # as the daemon does it: we are its group
gm.tmpfs(root / "keys/one/below")
gm.mkdir(root / "keys/idle")            # browse mode: there, and not mounted
gm.mkdir(root / "keys/hung")
hung = gm.HungFuse(root / "keys/hung")
triggers = {"direct": direct, "indirect": indirect, "active": active, "keys": keys}
root.enter()
STATES = {"/direct": "untested", "/indirect": "untested", "/keys": "untested", "/active": "ok",
          "/active/below": "ok", "/keys/one": "ok", "/keys/one/below": "ok", "/keys/hung": "hung"}

# Mounts that come and go, in another namespace: for what is looked
# up without waiting the kernel has then no answer but "again".
storm = gm.fork()
if storm == 0:
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_PRIVATE, recursive=True)
    while True:
        gm.tmpfs("/storm")
        gm.umount("/storm")
for names in ("hint", "walk", "pure", "kernel"):
    for probe in ("local", "all"):
        args = (f"--names={names}", f"--probe={probe}", "--timeout=0.3", "--search-limit=0")
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", *args)
        gm.expect(result.status == 0, f"{args}: status {result.status} {result.err[-300:]!r}")
        rows = {row["target"]: row for row in result.rows() if row["state"] != "hidden"}
        for target, state in STATES.items():
            want = state if probe == "all" or target in ("/active", "/active/below") else "untested"
            gm.expect(rows[target]["state"] == want, f"{args}: {target}: {rows[target]}")
        for name, trigger in triggers.items():
            requests = trigger.requests()
            gm.expect(not requests, f"{args}: {name} was triggered: {requests[:40]!r}")
os.kill(storm, signal.SIGKILL)
os.waitpid(storm, 0)

# A mount that appears and disappears all the time: its key is not requested.
gm.umount("/keys/hung", gm.MNT_DETACH)
gm.umount("/keys/one/below")
gm.umount("/keys/one")
pid = gm.fork()
if pid == 0:
    while True:
        os.makedirs("/keys/one", exist_ok=True)
        gm.mount("real", "/keys/one", "tmpfs", 0, None)
        gm.umount("/keys/one", gm.MNT_DETACH)
        os.rmdir("/keys/one")
for _ in range(200):
    result = gm.getmnt("-q", "--probe=all", "--timeout=0.3")
    gm.expect(result.status == 0, f"in the storm: status {result.status} {result.err}")
os.kill(pid, signal.SIGKILL)
os.waitpid(pid, 0)
requests = keys.requests()
gm.expect(not requests, f"in the storm: {len(requests) // 304} requests: {requests[:60]!r}")
gm.done()
