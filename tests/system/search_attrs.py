# SPDX-License-Identifier: MIT
"""The columns ATTRS, XATTR and ACL of getmnt search: what chattr and setxattr have set, with every way
to read attributes."""
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
for fstype, size, *mkfs in (("ext4", 64, "mkfs.ext4", "-q", "-O", "verity", "-b", "4096"), ("xfs", 400, "mkfs.xfs", "-q"),
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


def access_list():
    """An access control list with an entry of another user."""
    entries = ((1, 7, -1), (2, 5, 1000), (4, 5, -1), (16, 5, -1), (32, 5, -1))
    return struct.pack("=I", 2) + b"".join(struct.pack("=HHi", *entry) for entry in entries)


ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
NAMES = {
    "none": [], "link": ["trusted.of the link"], "fifo": ["trusted.1,2"], "one": ["user.one"], "odd": ["trusted.a\nb,c"],
    "many": [f"user.{i:0100}" for i in range(5)], "listed": [ACCESS, "user.one"], "dir": [ACCESS, DEFAULT], "sub": [DEFAULT],
}
# A tmpfs has user attributes since Linux 6.6.
for top in ("/ext4/x", "/xfs/x", "/btrfs/x", *(["/tmpfs/x"] if gm.KERNEL >= (6, 6) else [])):
    gm.mkdir(top)
    for name, names in NAMES.items():
        path = f"{top}/{name}"
        if name in ("dir", "sub"):
            os.mkdir(path)
        elif name == "fifo":
            os.mkfifo(path)
        elif name == "link":
            os.symlink("one", path)
        else:
            gm.touch(path)
        for xattr in names:
            os.setxattr(path, xattr, access_list() if "_acl_" in xattr else b"x", follow_symlinks=False)
    acls = {name: [word for word in ("access", "default") if "system.posix_acl_" + word in names] for name, names in NAMES.items()}
    for args in ([], ["--threads=4"], ["--engine=bulk"], ["--sort=NAME"], ["--sort=-XATTR"], ["--sort=LINK", "-o", "+LINK"]):
        for env in (None, gm.without("listxattrat")):
            result = gm.getmnt("search", "-J", "-o", "NAME,XATTR,ACL", *args, "*", top, "--stats=json", env=env)
            entries, calls = json.loads(result.out)["entries"], result.stats()["calls"]
            if "LINK" in str(args):
                gm.expect({entry["path"]: entry["link"] for entry in entries}[f"{top}/link"] == "one", f"{top} {args}: {entries}")
                continue
            got = {entry["name"]: sorted(name.replace("\\x0a", "\n") for name in entry["xattr"]
                                         if "SGI_ACL" not in name) for entry in entries}
            gm.expect(result.status == 0 and got == NAMES, f"{top} {args} {env}: {got}")
            gm.expect({entry["name"]: entry["acl"] for entry in entries} == acls, f"{top} {args} {env}: {entries}")
            gm.expect(calls["listxattr" if env or gm.KERNEL < (6, 13) else "listxattrat"] == len(NAMES), f"{top} {args} {env}: {calls}")
    result = gm.getmnt("search", "-L", "-o", "PATH,XATTR", "link|many", top)
    got = {path: set(names.split(",")) for path, names in (line.split("\t") for line in result.out.decode().splitlines())}
    gm.expect(got == {f"{top}/link": {"user.one"}, f"{top}/many": set(NAMES["many"])}, f"{top} -L: {got}")
# Without /proc an old kernel does not tell; and a sanitizer does not find its options.
if not gm.sanitized():
    gm.umount("/proc", 2)
    result = gm.getmnt("search", "-J", "-o", "XATTR,ACL", "one", "/ext4/x", env=gm.without("listxattrat"))
    gm.expect(json.loads(result.out)["entries"] == [{"xattr": None, "acl": None}] and result.status == 0, f"no /proc: {result.out}")
gm.done()
