# SPDX-License-Identifier: MIT
"""Sizes and percentages of file systems, compared with df(1)."""
import os
import struct
import subprocess

import gm

gm.need("df", "mkfs.ext4")
gm.need_fs("ext4", "fuse")
COLUMNS = {"SIZE": "size", "USED": "used", "AVAIL": "avail", "USE%": "pcent",
           "INO.TOTAL": "itotal", "INO.USED": "iused", "INO.AVAIL": "iavail", "INO.USE%": "ipcent"}


class SizedFuse(gm.FileFuse):
    """A FUSE mount with these numbers in statfs(2)."""

    def __init__(self, target, blocks, bfree, bavail, files, ffree):
        self.numbers = [number % 2**64 for number in (blocks, bfree, bavail, files, ffree)]
        super().__init__(target)

    def answer(self, opcode, node, body):
        if opcode == 17:
            return struct.pack("=QQQQQIIII24x", *self.numbers, 4096, 255, 4096, 0)
        return super().answer(opcode, node, body)


def fill(directory):
    """Write as an ordinary user until the file system is full."""
    os.chmod(directory, 0o777)
    subprocess.run(["dd", "if=/dev/zero", "of=fill", "bs=64k"], cwd=directory, stderr=subprocess.DEVNULL,
                   preexec_fn=gm.become_nobody, check=False)
    os.sync()


def df(target):
    """What df prints, by column of getmnt."""
    out = subprocess.run(["df", "-B1", "--output=" + ",".join(COLUMNS.values()), target], stdout=subprocess.PIPE,
                         check=True).stdout.decode()
    return dict(zip(COLUMNS, out.splitlines()[1].split()))


def getmnt(target, *args):
    row = gm.getmnt("-b", "-J", "-o", ",".join(COLUMNS), *args, "-M", target, program=os.environ["GETMNT"]).rows()[0]
    return {name: "-" if row[name.lower()] is None else str(row[name.lower()]) for name in COLUMNS}


top = os.environ["GETMNT_WORK"]
gm.tmpfs(top, "size=2g")
for name, mkfs in {"reserved": ("mkfs.ext4", "-q", "-m", "20"), "inodes": ("mkfs.ext4", "-q", "-N", "64"),
                   "none": ("mkfs.ext4", "-q", "-m", "0"), "xfs": ("mkfs.xfs", "-q"), "btrfs": ("mkfs.btrfs", "-q"),
                   "vfat": ("mkfs.vfat",)}.items():
    kind = mkfs[0].partition(".")[2]
    if gm.have_fs(kind, mkfs[0]):
        size = 320 << 20 if kind in ("xfs", "btrfs") else 32 << 20
        gm.loop_mount(gm.image(f"{top}/{name}.img", size, *mkfs), f"{top}/{name}")
    else:
        print(f"  not run: {name}: {mkfs[0]} or the type is missing")
fill(f"{top}/reserved")
for i in range(64):
    gm.touch(f"{top}/none/{i}")
try:
    for i in range(64):
        gm.touch(f"{top}/inodes/{i}")
except OSError:
    pass
gm.expect(df(f"{top}/reserved")["USE%"] == "100%" and df(f"{top}/inodes")["INO.USE%"] == "100%",
          f"df: not full: {df(f'{top}/reserved')} {df(f'{top}/inodes')}")

gm.tmpfs(f"{top}/small", "size=1m,nr_inodes=16")
gm.touch(f"{top}/small/one", "x")
gm.tmpfs(f"{top}/unlimited", "size=0,nr_inodes=0")
fuses = [SizedFuse(f"{top}/fuse{i}", *numbers) for i, numbers in enumerate((
    (1000, 999, 999, 1000, 999),            # a little is 1 %
    (1000, 100, -50, 1000, 0),              # root uses some of the reserve
    (1000, 1, 1, 10**12, 10**12 - 1),
    (1000, 400, 300, 0, 0),                 # as btrfs
    (10**15, 10**14, 3, 100, 101),          # more left than there is
    (1000, 1000, 1000, 2**63, 1),
))]
for line in gm.mountinfo():
    target = line.point.decode()
    if target.startswith(top + "/"):
        theirs, ours = df(target), getmnt(target, "--probe=all")
        gm.expect(ours == theirs, f"{target}:\n      df {theirs}\n  getmnt {ours}")
for fuse in fuses:
    os.close(fuse.fd)
gm.done()
