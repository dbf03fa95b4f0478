# SPDX-License-Identifier: MIT
"""Options that the kernel or sshfs refuses by name, and options that it accepts: audit reports the same."""
import ctypes
import errno
import json
import os
import shutil
import subprocess
import tempfile

import gm
from fstabs import static_findings

gm.need_fs("ext4", "btrfs", "overlay")
gm.need("mkfs.btrfs", "setarch")
WORK = gm.Root().path
gm.mkdir(f"{WORK}/d")


def reported(lines):
    """For each line (source, type, options): the codes of its findings about options, as "TYPO warning"."""
    gm.touch(f"{WORK}/fstab", "".join(f"{source} /d{i} {fstype} noauto,{options} 0 0\n"
                                      for i, (source, fstype, options) in enumerate(lines)))
    codes = [set() for _ in lines]
    for finding in static_findings(f"{WORK}/fstab"):
        if finding["code"] in ("FSTAB-OPT-TYPO", "FSTAB-OPT-UNKNOWN"):
            codes[int(finding["target"][2:])].add(f"{finding['code'][10:]} {finding['severity']}")
    return codes


def sshfs_accepts(option):
    """Whether sshfs knows an option: it checks all options before it runs the ssh command."""
    words = ("sshfs", "-o", f"ssh_command=/bin/false,{option}", "u@h:/", f"{WORK}/d")
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=gm.RUN_SECONDS, check=False)
    gm.expect(result.returncode != 0, f"{words}: {result}")
    return b"unknown option" not in result.stderr


SSHFS = {
    "port=22": True, "PORT=22": True, "Port=22": True, "prot=22": False,
    "identityfile=/k": True, "IDENTITYFILE=/k": True, "identifyfile=/k": False,
    "serveraliveinterval=15": True, "serverAliveCountMax=3": True, "serveraliveintervall=15": False,
    "stricthostkeychecking=no": True, "userknownhostsfile=/dev/null": True, "batchMode=yes": True,
    "proxyjump=j": True, "connecttimeout=5": True, "compression=yes": True,
    "reconnect": True, "Reconnect": False, "allow_other": True, "Allow_Other": False,
}
if shutil.which("sshfs"):
    for fstype in ("fuse.sshfs", "sshfs"):
        found = reported([("u@h:/", fstype, option) for option in SSHFS])
        for (option, accepted), codes in zip(SSHFS.items(), found):
            gm.expect(codes == (set() if accepted else {"TYPO warning"}), f"{fstype} {option}: {codes}")
    for option, accepted in SSHFS.items():
        gm.expect(sshfs_accepts(option) == accepted, f"sshfs -o {option}: accepted is not {accepted}")


def kernel_accepts(fstype, option):
    """Whether the parser of a file system of this kernel knows an option and its value."""
    context = gm.libc.syscall(gm.FSOPEN, fstype.encode(), 0)
    if context < 0:
        raise OSError(ctypes.get_errno(), f"fsopen {fstype}")
    accepts = gm.set_option(context, option)
    code = ctypes.get_errno()
    os.close(context)
    gm.expect(accepts or code == errno.EINVAL, f"fsconfig {fstype} {option}: {os.strerror(code)}")
    return accepts


# By type: options that the kernel refuses, and that it accepts.
KERNEL = {
    "btrfs": ("recovery inode_cache noinode_cache check_int check_int_data check_int_print_mask=1 alloc_start=1 "
              "subvolrootid=5 nologreplay ignorebadroots ignoredatacsums noclear_cache umask=022 nouser_xattr",
              "norecovery usebackuproot acl noacl ssd nossd enospc_debug max_inline=1 rescan_uuid_tree rescue=nologreplay "
              "discard=async space_cache=v2 nospace_cache clear_cache degraded thread_pool=2"),
    "ext4": ("noacl nouser_xattr offusrjquota removed xip umask=022 uid=1 size=1g compress=zstd nologreplay",
             "acl user_xattr errors=remount-ro commit=5 delalloc noauto_da_alloc nombcache init_itable=10 lazytime"),
    "ext3": ("noacl nouser_xattr", "acl user_xattr"),
    "overlay": ("bogusopt umask=022 noacl size=1m",
                "xino=auto metacopy=on redirect_dir=on index=off userxattr volatile default_permissions uuid=on verity=off"),
    "proc": ("devmode=0444 mode=0555 uid=1", "hidepid=2 hidepid=invisible gid=1 subset=pid"),
    "devpts": ("size=1m errors=continue", "mode=620 gid=5 uid=1 ptmxmode=666 max=100 newinstance"),
    "hugetlbfs": ("huge=always noswap", "mode=0770 uid=1 gid=1 size=4m nr_inodes=10"),
    "tmpfs": ("umask=022 pagesize=2M bogusopt", "mode=0755 size=1m nr_inodes=10 huge=never"),
    "xfs": ("barrier nobarrier umask=022 commit=5 user_xattr", "inode64 noquota logbufs=8 largeio swalloc nouuid"),
}
for fstype, (refused, accepted) in KERNEL.items():
    rows = [(word, False) for word in refused.split()] + [(word, True) for word in accepted.split()]
    found = reported([("s" if fstype in ("overlay", "tmpfs") else "/dev/vda1", fstype, option) for option, _ in rows])
    for (option, accepts), codes in zip(rows, found):
        gm.expect(bool(codes) != accepts, f"{fstype} {option}: {codes}")
        if gm.KERNEL >= (6, 16) and gm.have_fs(fstype):
            gm.expect(kernel_accepts(fstype, option) == accepts, f"fsconfig {fstype} {option}: accepted is not {accepts}")

# The first space cache of btrfs: refused on a file system that has a free space tree.
store = tempfile.mkdtemp()
gm.mkdir(f"{store}/d")
for features, accepting in (("free-space-tree", {"clear_cache,space_cache=v1"}),
                            ("^free-space-tree", {"space_cache=v1", "space_cache"})):
    path = gm.image(f"{store}/btrfs.img", 128 << 20, "mkfs.btrfs", "-q", "-f", "-R", features)
    for options in ("space_cache=v1", "space_cache", "clear_cache,space_cache=v1"):
        if "^" in features and "clear_cache" in options:
            continue
        made = subprocess.run(["mount", "-o", f"loop,{options}", path, f"{store}/d"], stdin=subprocess.DEVNULL,
                              capture_output=True, check=False)
        gm.expect((made.returncode == 0) == (options in accepting), f"{features} {options}: {made}")
        if made.returncode:
            continue
        # A mount that shows the option proves that the kernel accepts it.
        gm.touch(f"{WORK}/fstab", f"{path} {store}/d btrfs loop,noauto,space_cache=v1 0 0\n")
        result = gm.getmnt("audit", f"--fstab={WORK}/fstab", "--only=FSTAB-OPT-UNKNOWN", program=os.environ["GETMNT"])
        gm.expect(b"space_cache" not in result.out, f"{options}: {result.out} {result.err}")
        gm.umount(f"{store}/d")
shutil.rmtree(store)

# A kernel that still accepts the option.
gm.touch(f"{WORK}/fstab", "/dev/null /nosuch ext4 noauto,noacl 0 0\n")
for prefix, severity in (((), "warning"), (("setarch", "--uname-2.6"), "info")):
    result = gm.getmnt("audit", f"--fstab={WORK}/fstab", "--only=FSTAB-OPT-UNKNOWN", "--json", "-v",
                       program=os.environ["GETMNT"], prefix=prefix)
    found = [finding["severity"] for finding in json.loads(result.out)["findings"]]
    if gm.KERNEL >= (6, 1):
        gm.expect(found == [severity], f"{prefix}: {result}")
gm.done()
