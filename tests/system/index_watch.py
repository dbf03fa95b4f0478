# SPDX-License-Identifier: MIT
"""getmnt index watch: a storm of changes on each file system, after which the index is what is on the disk; queues
that overflow; hard links; a renamed directory; subvolumes of btrfs; a file system that is unmounted."""
import os
import random
import signal
import subprocess
import time

import gm
from index_tree import Tree, differences, mount_kinds

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "btrfs")
gm.need_fs("ext4", "xfs", "btrfs")
IX = "--index-dir=/ix"
STORM = 60 if gm.FULL else 2     # seconds
root = gm.Root()
mount_kinds(root, 600)
gm.run("btrfs", "-q", "subvolume", "create", root / "t/btrfs/sub")
gm.bind(root / "t/btrfs/sub", root / "t/sub")
root.enter()
TOPS = ["/t/ext4", "/t/xfs", "/t/sub"]


class Watch:
    """A running getmnt index watch."""

    def __init__(self, *args, env=None):
        self.proc = subprocess.Popen([gm.PROGRAM, "index", "watch", IX, *args], stdin=gm.null, stdout=subprocess.PIPE,
                                     stderr=open("/err", "wb"), env=gm.environment(env))
        for _ in args or TOPS:
            gm.expect(b"compared" in self.proc.stdout.readline(), f"the start: {gm.read('/err')}")

    def wait(self, tag, top):
        """Until the index is what is on the disk.  Returns how long that took."""
        begin = time.monotonic()
        while True:
            wrong = differences(top, IX)
            lag = time.monotonic() - begin
            if not wrong or lag > gm.WAIT_SECONDS:
                break
            time.sleep(.05)
        gm.expect(not wrong, f"{tag}: {top}: {len(wrong)} differ: {wrong[:4]} {gm.read('/err')}")
        return lag

    def end(self, tag, status=0):
        self.proc.send_signal(signal.SIGTERM)
        out, _ = self.proc.communicate(timeout=gm.WAIT_SECONDS)
        err = gm.read("/err")
        gm.expect(self.proc.returncode == status and "Sanitizer" not in err, f"{tag}: {self.proc.returncode} {out} {err}")
        for top in TOPS:
            if os.path.ismount(top):
                result = gm.getmnt("index", "check", IX, top)
                gm.expect(result.status == 0, f"{tag}: check: {result}")
        return err


def storm(tree, seconds):
    """Changes, as fast as possible.  Returns how many a second."""
    end, done = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        tree.look()
        for _ in range(500):
            tree.change()
        done += 500
    return done / seconds


for top in TOPS:
    gm.expect(gm.getmnt("index", "build", "-q", IX, top).status == 0, f"{top}: build")
gm.touch("/t/ext4/before", "changed while nobody watches")



def is_watched(top):
    """Whether this kernel reports the changes of a file system: older ones do not for subvolumes."""
    with subprocess.Popen([gm.PROGRAM, "index", "watch", IX, top], stdin=gm.null, stdout=subprocess.PIPE, stderr=open("/err", "wb"),
                          env=gm.environment(None)) as proc:
        line = proc.stdout.readline()
        proc.terminate()
    gm.expect(b"compared" in line or (top == "/t/sub" and "cannot be watched" in gm.read("/err")), f"{top}: {line} {gm.read('/err')}")
    if not line:
        print(f"  {gm.read('/err').strip()}")
    return b"compared" in line


TOPS = list(filter(is_watched, TOPS))
watch = Watch()
lag = watch.wait("the start", "/t/ext4")
trees = [Tree(top, random.Random(i)) for i, top in enumerate(TOPS)]
for tree in trees:
    rate = storm(tree, STORM)
    lag = watch.wait("a storm", tree.top)
    print(f"  {tree.top}: {rate:.0f} changes a second; {lag:.2f} s after the last one, nothing was missing")

# Other names of an inode, a directory with many objects, and what is not in this subvolume.
top = "/t/xfs"
gm.touch(f"{top}/one", "x")
gm.mkdir(f"{top}/links")
watch.wait("one name", top)
os.link(f"{top}/one", f"{top}/links/two")
watch.wait("two names", top)
with open(f"{top}/links/two", "a", encoding="ascii") as f:
    f.write("more")
watch.wait("written by another name", top)
os.unlink(f"{top}/links/two")
watch.wait("one name again", top)
for i in range(3000):
    gm.touch(f"{top}/many/f{i}")
watch.wait("many", top)
os.rename(f"{top}/many", f"{top}/links/renamed")
watch.wait("renamed", top)
gm.touch("/t/btrfs/outside", "x")
gm.touch("/t/sub/inside", "x")
if "/t/sub" in TOPS:
    watch.wait("a subvolume", "/t/sub")
err = watch.end("the first watch", 0 if "/t/sub" in TOPS else 1)
if err:
    print(f"  {err.strip()}")

# The queue of the kernel overflows while the watch is stopped: an update follows.
with open("/proc/sys/fs/fanotify/max_queued_events", encoding="ascii") as f:
    limit = int(f.read())
for top in ("/t/ext4", "/t/xfs"):
    watch = Watch(top, env={"GETMNT_DISABLE": "queue"})
    watch.proc.send_signal(signal.SIGSTOP)
    for i in range(limit + 2000):
        os.close(os.open(f"{top}/over{i % 1000}-{i}", os.O_CREAT | os.O_WRONLY))
        os.unlink(f"{top}/over{i % 1000}-{i}")
        if i > limit:
            gm.touch(f"{top}/kept{i}")
    # On XFS, the update also finds what was modified in place.
    if top == "/t/xfs":
        os.chmod(f"{top}/links/renamed/f7", 0o604)
    watch.proc.send_signal(signal.SIGCONT)
    watch.wait("an overflow", top)
    err = watch.end("an overflow")
    gm.expect("too fast" in err and ("--max-age=0" in err) == (top == "/t/ext4"), f"no overflow: {top}: {err}")

# A file system can be unmounted; that ends its watch, and the last one the program.
watch = Watch("/t/xfs", "/t/ext4")
gm.touch("/t/xfs/last", "x")
watch.wait("before it is unmounted", "/t/xfs")
for top in ("/t/xfs", "/t/ext4"):
    end = time.monotonic() + gm.WAIT_SECONDS
    while os.path.ismount(top) and time.monotonic() < end:
        try:
            gm.umount(top)
        except OSError:     # busy: changes are being stored
            time.sleep(.05)
gm.expect(watch.proc.wait(gm.WAIT_SECONDS) == 1, f"all unmounted: {watch.proc.returncode}")
gm.expect(gm.read("/err").count("was unmounted") == 2, f"all unmounted: {gm.read('/err')}")

gm.umount("/t/sub")
gm.done()
