# SPDX-License-Identifier: MIT
"""getmnt audit next to file systems that never answer: without --probe nothing of them is
touched, with it each is told once, and a run has an end."""
import json
import os
import time

import gm

SECONDS = 10     # that a run may take with three dead servers

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /ok tmpfs defaults 0 0\n")
gm.tmpfs(root / "ok")
hung = [gm.HungFuse(root / f"hung{i}") for i in range(3)]
gm.mount(root / "hung0", gm.mkdir(root / "bound"), None, gm.MS_BIND)
dead = gm.HungFuse(root / "dead")
session = gm.HungFuse(root / "run/user/1000/doc")
private = gm.HungFuse(root / "private", options="default_permissions")
root.enter()
dead.end()
session.end()


def audit(*args, **more):
    """CODE severity target of the findings about mounts; the document."""
    began = time.monotonic()
    result = gm.getmnt("audit", "--json", "--only=MNT-*", *args, **more)
    took = time.monotonic() - began
    gm.expect(took < SECONDS * gm.SLOW, f"{args}: took {took:.1f} s")
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    document = json.loads(result.out)
    return sorted(f"{f['code']} {f['severity']} {f['target']}" for f in document["findings"]), document


found, document = audit()
gm.expect(found == [] and {"MNT-STALE", "MNT-TIMEOUT"} <= set(document["not_judged"]), f"without --probe: {found} {document}")
found, document = audit("--probe", "--probe-timeout=9")
gm.expect(found == [] and not {"MNT-STALE", "MNT-TIMEOUT"} & set(document["not_judged"]), f"local: {found} {document}")
found, document = audit("--probe=all", "--probe-timeout=1")
expected = ["MNT-STALE critical /dead", "MNT-STALE info None", *(f"MNT-TIMEOUT critical /hung{i}" for i in range(3))]
gm.expect(found in (expected, expected + ["MNT-TIMEOUT critical /private"]), f"all: {found}")
error = [f["actual"] for f in document["findings"] if f["target"] == "/dead"]
gm.expect(error == ["ENOTCONN: Transport endpoint is not connected"], f"/dead: {error}")
gm.expect(len(gm.probers()) <= 6, f"left: {gm.probers()}")
# A recorded mount is not probed again: it costs no time, and leaves no process.
left = len(gm.probers())
found, document = audit("--probe=all", "--probe-timeout=1")
gm.expect({"MNT-TIMEOUT critical /hung0"} <= set(found) and len(gm.probers()) <= left, f"again: {found} {gm.probers()}")
# By an ordinary user another's is denied, which is no fault.
gm.mkdir("/run/user/1000/own")
os.chmod("/run/user/1000/own", 0o700)
os.chown("/run/user/1000/own", 1000, 1000)
found, document = audit("--probe=all", "--probe-timeout=1", uid=1000, env={"XDG_RUNTIME_DIR": "/run/user/1000/own"})
gm.expect(not [f for f in found if "private" in f], f"of another user: {found}")
for fuse in (*hung, private):
    fuse.end()
end = time.monotonic() + gm.WAIT_SECONDS
while gm.probers() and time.monotonic() < end:
    time.sleep(0.05)
gm.expect(not gm.probers(), f"processes left: {gm.probers()}")
for target in ("/bound", *(f"/hung{i}" for i in range(3)), "/dead", "/private"):
    os.system(f"umount -l {target} 2>/dev/null")
gm.done()
