# SPDX-License-Identifier: MIT
"""Lines of an fstab as mount -a and systemd's generator read them, and what getmnt audit --static
reports of them: a line that boot requires and that mount -a cannot mount is critical."""
import os
import shutil
import subprocess
import tempfile

import gm
from fstabs import HAVE_GENERATOR, generate, static_findings
from tables import sh

UUID = "aaaaaaaa-2222-3333-4444-555555555555"
gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "mount", "umount", "blkid")
root = gm.Root()
gm.devices(root.path)
for program in ("mount", "umount"):
    gm.install(program, root.path)
for name in ("run/mount", "m", "dir", "dev/disk/by-uuid", "dev/disk/by-label", "dev/mapper"):
    gm.mkdir(root / name)
loop = gm.run("losetup", "-f", "--show", gm.image(root / "img", 4 << 20, "mkfs.ext4", "-q", "-F", "-U", UUID)).strip()
held = os.open(loop, os.O_RDONLY | os.O_CLOEXEC)
gm.run("losetup", "-d", loop)
for name in (f"disk/by-uuid/{UUID}", "disk/by-label/data", "mapper/disk"):
    os.symlink(loop, root / f"dev/{name}")
made = tempfile.mkdtemp()


def boot_requires(number, line):
    """Whether the units of a line of /m make the boot require its mount."""
    fstab = f"{made}/{number}"
    gm.touch(fstab, f"#\n{line}\n")
    units_dir = generate(fstab, f"{fstab}-units")[0]
    return os.path.lexists(f"{units_dir}/local-fs.target.requires/m.mount")


# Lines of the mount point /m; whether mount -a mounts it, and whether systemd's boot requires it;
# the findings above information.
TAG, DISK = f"UUID={UUID}", "/dev/mapper/disk"
SYNTAX, TYPE, SOURCE = "FSTAB-SYNTAX critical", "FSTAB-TYPE-UNSUPPORTED critical", "FSTAB-SRC-MISSING critical"
YES, NO = True, False
# Since 2.39 mount(8) removes quotation marks around a value.
VERSION = subprocess.run(["mount", "--version"], stdin=gm.null, stdout=subprocess.PIPE, check=True).stdout.decode().split()[3]
NEW = tuple(int(word) for word in VERSION.split(".")[:2]) >= (2, 39)
ROWS = [
    # The third field is not a type.
    (f"{TAG} /m ext4 rw,nosuid 0 2", YES, YES, ""),
    (f"{TAG} /m rw,nosuid,nofail 0 2", NO, YES, SYNTAX),
    (f"{TAG} /m defaults", NO, YES, SYNTAX),
    (f"{DISK} /m noatime,nofail", NO, YES, SYNTAX),
    (f"{DISK} /m discard 0 2", NO, YES, SYNTAX),
    (f"{DISK} /m 0 0", NO, YES, SYNTAX),
    (f"{DISK} /m auto", YES, YES, ""),
    (f"{DISK} /m auto,ext4 noatime", YES, YES, ""),
    (f"{DISK} /m xfs,ext4 noatime", YES, YES, ""),
    (f"{DISK} /m ext4,noatime", YES, YES, "FSTAB-SYNTAX warning"),
    (f"{DISK} /m defaults,ext4", YES, YES, "FSTAB-SYNTAX warning"),
    (f"{DISK} /m ext4,noatime,nofail 0 0", NO, YES, SYNTAX),
    (f"{DISK} /m ext4,nofail", YES, YES, SYNTAX),
    ("tmpfs /m size=1m,mode=755 0 0", NO, YES, SYNTAX),
    ("tmpfs /m tmpfs,size=1m", YES, YES, "FSTAB-SYNTAX warning"),
    ("/dir /m bind", NO, YES, SYNTAX),
    ("/dir /m none,bind 0 0", NO, YES, SYNTAX),
    ("/dir /m bind bind", YES, YES, ""),
    ("/dir /m None bind", YES, YES, ""),
    ("s:/dir /m _netdev,ro", NO, YES, SYNTAX),
    (f"{TAG} /m EXT4 rw,nosuid 0 2", NO, YES, TYPE),
    (f"{TAG} /m EXT4 rw,nofail 0 2", NO, NO, "FSTAB-TYPE-UNSUPPORTED warning"),
    (f"{DISK} /m Auto", NO, YES, TYPE),
    (f"{DISK} /m XFS,ext4", YES, YES, ""),
    ("tmpfs /m TmpFS size=1m", NO, YES, TYPE),
    (f"{DISK} /m fstype", NO, YES, TYPE),
    (f"{DISK} /m <type> nofail", NO, NO, "FSTAB-TYPE-UNSUPPORTED warning"),
    # A backslash does not continue a line.
    (f"{DISK} /m ext4 noatime \\\n0 2", NO, YES, SYNTAX),
    (f"{DISK} /m ext4 noatime,\\\nnodev 0 2", NO, YES, SYNTAX),
    (f"{DISK} /m \\\next4 noatime 0 2", NO, YES, SYNTAX),
    ("o /m overlay lowerdir=/dir:/tmp,\\\nro 0 0", NO, YES, SYNTAX),
    (f"{DISK} /m ext4 noatime 0 2 \\\n# comment", YES, YES, "FSTAB-SYNTAX warning"),
    # Tags that no device can have.
    (f'UUID="{UUID}" /m ext4', YES, YES, ""),
    (f"UUID='{UUID}' /m auto", YES, YES, ""),
    ("LABEL=data /m ext4", YES, YES, ""),
    (f"/dev/disk/by-uuid/{UUID} /m ext4", YES, YES, ""),
    ("UUID= /m ext4", NO, YES, SOURCE),
    ('UUID="" /m ext4', NO, YES, SOURCE),
    ("LABEL= /m ext4", NO, YES, SOURCE),
    ("PARTUUID= /m ext4", NO, YES, SOURCE),
    ("/dev/disk/by-uuid/ /m ext4", NO, YES, SOURCE),
    (f"UUID={DISK} /m ext4", NO, YES, SOURCE),
    (f"UUID={TAG} /m ext4", NO, YES, SOURCE),
    ("UUID=<uuid> /m ext4", NO, YES, SOURCE),
    ("UUID=$UUID /m ext4 nofail", NO, NO, "FSTAB-SRC-MISSING warning"),
    ("/dev/disk/by-label/${LABEL} /m ext4", NO, YES, SOURCE),
    ("/dev/mapper/<name> /m ext4", NO, YES, SOURCE),
    (f"{TAG}, /m ext4", NO, YES, SOURCE),
    (f'UUID="{UUID} /m ext4', NO, YES, SOURCE),
    (f"UUID=“{UUID}” /m ext4", NO, YES, SOURCE),
    (f"UUID={UUID.replace('-', '–')} /m ext4", NO, YES, SOURCE),
    ("LABEL=“data” /m ext4", NO, YES, SOURCE),
    ("LABEL=a-label-of-17-byt /m ext4", NO, YES, SOURCE),
    (f"UUID={UUID.upper()} /m ext4", NO, YES, SOURCE),
    (f"UUID={UUID[:-1]} /m ext4", NO, YES, SOURCE),
    ("UUID=1234-5678 /m ext4", NO, YES, SOURCE),
    ("PARTUUID=1234-5678 /m ext4", NO, YES, SOURCE),
    # Invisible characters.
    (f"{TAG}\u200b /m ext4", NO, YES, SOURCE),
    (f"{TAG}\\302\\240 /m ext4", NO, YES, SOURCE),
    ("LABEL=da\u00adta /m ext4", NO, YES, SOURCE),
    (f"\ufeff{TAG} /m ext4", NO, YES, f"{SOURCE} FSTAB-SYNTAX warning"),
    (f"{DISK} /m\u200b ext4", NO, NO, "FSTAB-SYNTAX warning"),
    (f"{DISK} /m ext4 noatime\u00a0", NO, YES, SYNTAX),
    # Quotation marks in options.
    ('t /m tmpfs nosuid,context="a:b:c",x-a="b,c",comment="d",noexec', YES, YES, ""),
    ("/dir /m none bind,x-gvfs-name='My\\040Disk'", YES, YES, ""),
    ('t /m tmpfs defaults,"nofail', YES, YES, "FSTAB-ESCAPE critical"),
    ('t /m tmpfs "noauto', YES, YES, "FSTAB-ESCAPE critical"),
    ('t /m tmpfs mode=0755,"size=1m', YES, YES, "FSTAB-ESCAPE warning"),
    ('t /m tmpfs mode=0755,size=1m"', YES, YES, "FSTAB-ESCAPE warning"),
    ('/dir /m none "bind', NO, YES, "FSTAB-ESCAPE critical"),
    ('t /m tmpfs "noexec",nosuid', NO, YES, "FSTAB-ESCAPE critical"),
    ("t /m tmpfs nosuid,'noexec'", NO, YES, "FSTAB-ESCAPE critical"),
    ('t /m tmpfs "size=1m,mode=755"', NO, YES, "FSTAB-ESCAPE critical"),
    (f'{DISK} /m auto "noatime"', NO, YES, "FSTAB-ESCAPE critical"),
    (f"{DISK} /m ext4 “noatime”", NO, YES, "FSTAB-ESCAPE critical"),
    ("t /m tmpfs size='1m'", NO, YES, "FSTAB-ESCAPE critical"),
    ("t /m tmpfs size=“1m”", NO, YES, "FSTAB-ESCAPE critical"),
    (f"{DISK} /m ext4 errors='remount-ro'", NO, YES, "FSTAB-ESCAPE critical"),
    ('/dir /m none bind,"ro"', YES, YES, "FSTAB-ESCAPE warning"),
    ('t /m tmpfs size="1m"', NEW, YES, "FSTAB-ESCAPE warning"),
    (f'{DISK} /m ext4 errors="remount-ro"', NEW, YES, "FSTAB-ESCAPE warning"),
]

# A UUID must have the form that libblkid prints; libblkid prints no UUID of zeros.
for fstype, size, mkfs in (("ext4", 4, "mkfs.ext4 -q -F"), ("xfs", 320, "mkfs.xfs -q"), ("btrfs", 128, "mkfs.btrfs -q"),
                           ("swap", 4, "mkswap -q"), ("vfat", 4, "34cd12ab"), ("vfat", 4, "00000000")):
    path = f"{made}/image"
    if fstype == "vfat":
        gm.fat_image(path, size << 20, mkfs)
    elif shutil.which(mkfs.split()[0]):
        gm.image(path, size << 20, *mkfs.split())
    else:
        continue
    uuid = subprocess.run(["blkid", "-p", "-o", "value", "-s", "UUID", path], stdin=gm.null, stdout=subprocess.PIPE,
                          check=False).stdout.decode().strip()
    gm.expect(bool(uuid) == (mkfs != "00000000"), f"{fstype}: blkid prints {uuid!r}")
    os.unlink(path)
    for value, bad in ((uuid, False), (uuid.swapcase(), True), (uuid[1:], True)) if uuid else (("0000-0000", True),):
        gm.touch(f"{made}/tag", f"UUID={value} {'none' if fstype == 'swap' else '/m'} {fstype}\n")
        rows = static_findings(f"{made}/tag")
        told = [row["message"] for row in rows if row["code"] == "FSTAB-SRC-MISSING" and row["severity"] == "critical"]
        gm.expect(bool(told) == bad, f"UUID={value} {fstype}: {told}")

# The user and host that sshfs connects to.
if shutil.which("sshfs") and os.path.exists("/dev/fuse") and os.path.exists("/sbin/mount.fuse.sshfs"):
    gm.touch(f"{made}/ssh", f'#!/bin/sh\nfor word; do test "$last" = -- && echo "$word" >{made}/host; last=$word; done\nexit 1\n')
    os.chmod(f"{made}/ssh", 0o755)
    for source, fstype, host in (("sshfs#u@h:", "fuse", "u@h"), ("u@h:", "fuse.sshfs", "u@h"), ("sshfs#u@h:", "fuse.sshfs", "sshfs#u@h")):
        subprocess.run(["mount", "-t", fstype, "-o", f"ssh_command={made}/ssh", source, root / "dir"], stdin=gm.null,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        gm.expect(gm.read(f"{made}/host").strip() == host, f"{source} {fstype}: {gm.read(f'{made}/host')}")
        gm.touch(f"{made}/tag", f"{source} /m {fstype}\n")
        rows = static_findings(f"{made}/tag")
        gm.expect(bool([row for row in rows if row["code"] == "FSTAB-SRC-MISSING"]) == ("#" in host), f"{source} {fstype}: {rows}")

by_systemd = [boot_requires(number, row[0]) if HAVE_GENERATOR else row[2] for number, row in enumerate(ROWS)]
shutil.rmtree(made)
root.enter()
for (line, mounted, required, expected), requires in zip(ROWS, by_systemd):
    gm.touch("/tried", f"#\n{line}\n")
    sh("/bin/mount", "-a", "-T", "/tried", ok=False)
    found = [row for row in gm.mountinfo() if row.point == b"/m"]
    gm.expect(bool(found) == mounted, f"mount -a: {line}: {found}")
    for _ in found:
        gm.umount("/m")
    gm.expect(requires == required, f"systemd: {line}: required is {requires}")
    rows = static_findings("/tried", program=gm.PROGRAM)
    told = sorted({f"{row['code']} {row['severity']}" for row in rows if row["severity"] != "info"})
    gm.expect(" ".join(told) == expected, f"{line}: {told}, not {expected}")
    # A line that boot requires and mount -a does not mount has a critical finding.
    gm.expect(mounted or '="' in line or not required or "critical" in expected, f"{line}: not critical")
print(f"  {len(ROWS)} lines" + ("" if HAVE_GENERATOR else "; no systemd here: only mount -a is tried"))
os.close(held)
gm.done()
