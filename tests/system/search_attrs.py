# SPDX-License-Identifier: MIT
"""The column ATTRS of getmnt search: what chattr has set, with every way to read attributes."""
import errno
import fcntl
import json
import os
import struct

import gm

gm.need("chattr", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs")
gm.need_fs("xfs", "btrfs")
ENABLE_VERITY = 0x40806685   # of linux/fsverity.h
SET = {"i": "immutable", "a": "append", "d": "nodump", "c": "compressed"}
root = gm.Root()
gm.tmpfs(root / "tmpfs", "size=800m")
for fstype, size, *mkfs in (("ext4", 64, "mkfs.ext4", "-q", "-O", "verity"), ("xfs", 400, "mkfs.xfs", "-q"),
                            ("btrfs", 200, "mkfs.btrfs", "-q")):
    gm.loop_mount(gm.image(root / f"tmpfs/{fstype}.img", size << 20, *mkfs), gm.mkdir(root / fstype))
gm.install("chattr", root.path)
root.enter()


def verity(path):
    """Make a file with verity.  @return whether the kernel has it."""
    gm.touch(path, "x" * 5000)
    fd = os.open(path, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, ENABLE_VERITY, struct.pack("=III116x", 1, 1, 4096))
        return True
    except OSError as error:
        gm.expect(error.errno in (errno.EOPNOTSUPP, errno.ENOTTY), f"{path}: {error}")
        os.unlink(path)
        return False
    finally:
        os.close(fd)


for top in ("/ext4", "/xfs", "/btrfs"):
    letters = ["", "i", "a", "d", "ia", "iad"] + (["c", "ci"] if top == "/btrfs" else [])
    for flags in letters:
        gm.touch(f"{top}/{flags or 'none'}")
    gm.mkdir(f"{top}/dir-a")
    gm.mkdir(f"{top}/mount")
    gm.tmpfs(f"{top}/mount", "size=1m")
    for flags in letters[1:]:
        result = gm.getmnt("+" + flags, f"{top}/{flags}", program="/bin/chattr")
        gm.expect(result.status == 0, f"chattr +{flags}: {result.err}")
    gm.getmnt("+a", f"{top}/dir-a", program="/bin/chattr")
    want = {flags or "none": [word for letter, word in SET.items() if letter in flags] for flags in letters}
    if top != "/xfs" and verity(f"{top}/verity"):
        want["verity"] = ["verity"]
    want |= {"dir-a": ["append"], "mount": ["mount-root"]}
    for args in ([], ["--threads=4"], ["--engine=bulk"], ["--engine=sync", "--ahead"], ["--sort=ATTRS"]):
        result = gm.getmnt("search", "-o", "NAME,ATTRS", *args, "/[!l]*", top)
        got = dict(line.split("\t") for line in result.out.decode().splitlines())
        gm.expect(result.status == 0 and got == {name: ",".join(words) for name, words in want.items()}, f"{top} {args}: {got}")
        result = gm.getmnt("search", "-J", "-o", "NAME,ATTRS", *args, "/[!l]*", top)
        got = {entry["name"]: entry["attrs"] for entry in json.loads(result.out)["entries"]}
        gm.expect(got == want, f"{top} {args}: {got}")
    for flags in letters[1:] + ["dir-a"]:
        gm.getmnt("-ia", f"{top}/{flags}", program="/bin/chattr")
gm.done()
