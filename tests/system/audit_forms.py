# SPDX-License-Identifier: MIT
"""The plugin and the other formats next to a server that never answers: they end in time and leave
no process is left.  What the machine-readable formats say about this machine."""
import os
import subprocess
import time

import gm

gm.need_fs("fuse")
root = gm.Root()
gm.mkdir(root / "etc")
gm.tmpfs(root / "dev/shm")
os.symlink("getmnt", root / "bin/check_getmnt")
silent = gm.SilentFuse(root / "silent")
root.enter()
TABLE = """20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro
"""
FSTAB = """/dev/mapper/root / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults 0 2
/dev/mapper/z /a\\040b\\012c ext4 defaults,nofail 0 2
"""
gm.touch("/table", TABLE)
gm.touch("/fstab", FSTAB)


def audit(*args, fstab="/fstab", program=gm.PROGRAM, **more):
    words = ("audit", *args) if program == gm.PROGRAM else args
    return gm.getmnt(*words, "-F", "/table", f"--fstab={fstab}", program=program, **more)


# Next to a server that never replies: the process that waits for it cannot be killed and remains, but
# does not keep standard output open.
for program, args, status, want in (
        ("/bin/check_getmnt", ("-t", "0.5"), 3, b"GETMNT UNKNOWN - not audited within 0.5 seconds\n"),
        (gm.PROGRAM, ("audit", "--max-time=0.5", "--jsonl"), 2, b'"failed": "not audited within 0.5 seconds"'),
        (gm.PROGRAM, ("audit", "--max-time=0.5", "--prometheus", "--output=/dev/shm/a.prom"), 2, b"")):
    began = time.monotonic()
    result = gm.getmnt(*args, "-F", "/silent/table", "--fstab=/fstab", program=program)
    took = time.monotonic() - began
    gm.expect(result.status == status and want in result.out, f"{args}: {result.status} {result.out} {result.err}")
    gm.expect(0.4 < took < 15 * gm.SLOW, f"{args}: it took {took} s")
os.symlink("/silent/out", "/dev/shm/link")
began = time.monotonic()
result = audit("--json", "--output=/dev/shm/link")
gm.expect(result.status == 2 and b"can block" in result.err, f"a link into it: {result.status} {result.err}")
gm.expect(time.monotonic() - began < 15 * gm.SLOW, "a link into it: it took long")
os.unlink("/dev/shm/link")
result = gm.getmnt("audit", "--json", before=lambda: os.close(1))
gm.expect(result.status == 2 and b"standard output" in result.err, f"stdout closed: {result.status} {result.err}")
gm.expect(silent.requests > 0, "no request reached the server: this proves nothing")
gm.expect("\ngetmnt_audit_success 0\n" in gm.read("/dev/shm/a.prom"), "a file that does not report the failure")
gm.expect(os.listdir("/dev/shm") == ["a.prom"], f"left in /dev/shm: {os.listdir('/dev/shm')}")
silent.end()


def children():
    """The processes of this test, not of others that run at the same time."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.readlink(f"/proc/{name}/exe").endswith("getmnt") and os.path.samefile(f"/proc/{name}/root", "/"):
                found.append(name)
        except OSError:
            pass
    return found


end = time.monotonic() + 10
while children() and time.monotonic() < end:
    time.sleep(0.02)
gm.expect(not children(), f"still there when the server has gone: {children()}")

# If the plugin is killed, its child ends.
proc = subprocess.Popen(["/bin/check_getmnt", "-F", "/dev/stdin", "--fstab=/fstab", "-t", "600"], stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL)
while len(children()) < 2 and time.monotonic() < end + 10:
    time.sleep(0.01)
proc.kill()
proc.wait()
end = time.monotonic() + 10
while children() and time.monotonic() < end:
    time.sleep(0.02)
gm.expect(not children(), f"a child outlives the plugin: {children()}")

# What the formats say about this machine.
boot = gm.read("/proc/sys/kernel/random/boot_id").strip()
for form in ("json", "jsonl", "prometheus"):
    result = gm.getmnt("audit", f"--format={form}")
    text = result.out.decode()
    for want in (os.uname().nodename, boot, str(os.stat("/proc/self/ns/mnt").st_ino)):
        gm.expect(want in text, f"{form}: lacks {want}")
gm.done()
