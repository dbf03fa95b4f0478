# SPDX-License-Identifier: MIT
"""Dead and hung FUSE mounts of an ordinary user, as many as the user likes: every format names each
finding of the system, and no fstab gets a line with text that the user chose."""
import json
import os

import gm

MANY = 520
EVIL = "-oProxyCommand=touch${IFS}/pwned:/y"

gm.need_fs("fuse")
root = gm.Root()
gm.tmpfs(root / "run")
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /tmp tmpfs nofail 0 0\nnone /zz tmpfs nofail 0 0\n")
gm.tmpfs(root / "tmp")


def of_user(name, source, fstype="fuse.sshfs"):
    """A mount as fusermount makes it for the user 1500: the kernel uses the last user_id."""
    return gm.HungFuse(root / f"home/joe/{name}", source=source, fstype=fstype,
                       flags=gm.MS_NOSUID | gm.MS_NODEV, options="user_id=1500,allow_other")


for i in range(MANY):
    of_user(f"dead{i}", f"joe@h{i}:/x").end()
hung = [of_user("hung", "joe@h:/x"), of_user("evil", EVIL), of_user("disk", "/dev/sda1", "fuse.ext4"),
        of_user("service", "lxcfs", "fuse.lxcfs"), gm.HungFuse(root / "zhung", source="r:/x", fstype="fuse.sshfs")]
gm.HungFuse(root / "zdead", source="r:/y", fstype="fuse.sshfs").end()
root.enter()


def getmnt(*args):
    """The result of a run, with its output as text."""
    result = gm.getmnt(*args)
    result.out = os.fsdecode(result.out)
    result.err = os.fsdecode(result.err)
    return result


PROBE = ("--probe=all", "--probe-timeout=0.3", "--only=MNT-*,DRIFT-*")
result = getmnt("audit", "--json", *PROBE)
gm.expect(result.status == 1, f"audit: {result.status} {result.err}")
document = json.loads(result.out)
ours = {(f["code"], f["severity"], f["target"]) for f in document["findings"]
        if not (f["owner"] or "").startswith("user")}
theirs = [f for f in document["findings"] if (f["owner"] or "") == "user:1500"]
real = {("MNT-TIMEOUT", "critical", "/zhung"), ("MNT-STALE", "critical", "/zdead"), ("DRIFT-NOT-MOUNTED", "warning", "/zz")}
gm.expect(real <= ours, f"of the system: {ours}")
gm.expect({f["severity"] for f in theirs} == {"warning"} and len(theirs) == 50, f"of the user: {theirs}")
left = document["left_out"]
gm.expect(left["critical"] == 0 and left["warning"] == MANY + 4 - 50 and left["info"] >= MANY, f"left out: {left}")
gm.expect(document["counts"]["critical"] == 2, f"{document['counts']}")

for form in ("text", "nagios", "prometheus"):
    result = getmnt("audit", f"--format={form}", *(["--verbose"] if form != "prometheus" else []), *PROBE)
    for code, severity, target in real:
        gm.expect(any(code in line and (form == "text" or target in line) for line in result.out.splitlines()),
                  f"{form}: {code} {target}: {result.out[-2000:]}")
    said = f'findings_left_out{{severity="warning"}} {left["warning"]}' if form == "prometheus" else \
        f"left out, of users' mounts: 0 critical, {left['warning']} warnings, {left['info']} informational"
    gm.expect(said in result.out, f"{form}: no {said!r}: {result.out[-2000:]}")
    gm.expect(result.out.count("/home/joe") <= 110, f"{form}: {result.out.count('/home/joe')} names of the user's")

for args in ((), ("--genfstab", "/"), ("--merge", "--add=persistent")):
    result = getmnt("fstab", *args)
    lines = [line for line in result.out.splitlines() if not line.startswith("#")]
    gm.expect(not any("/home/joe" in line or "ProxyCommand" in line for line in lines), f"{args}: {lines}")
    gm.expect(any("r:/x" in line and "/zhung" in line for line in lines), f"{args}: none of root's: {lines} {result.err}")
result = getmnt("fstab", "--merge", "--add=/home/joe/hung")
lines = [line.split() for line in result.out.splitlines() if "/home/joe" in line and line[0] != "#"]
gm.expect(len(lines) == 1 and lines[0][0] == "joe@h:/x" and "nofail" in lines[0][3].split(","), f"named: {lines}")
result = getmnt("fstab", "--merge", "--add=/home/joe/evil")
gm.expect("ProxyCommand" not in result.out and "taken for options" in result.err, f"named: {result.out} {result.err[-500:]}")
for fuse in hung:
    fuse.end()
gm.done()
