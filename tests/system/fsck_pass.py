# SPDX-License-Identifier: MIT
"""FSTAB-PASSNO for file systems that no fsck can check, compared with the warnings of systemd's fstab generator."""
import gm
from fstabs import generate, need_generator, static_findings

need_generator()
WORK = gm.Root().path

# Source, type and options of a line, whether systemd warns, and whether audit does.  systemd checks no image,
# but fsck -A does; systemd says nothing of a device whose type has no fsck.
ROWS = [
    ("tank/a", "zfs", "defaults", True, True), ("h1:/v", "glusterfs", "defaults", True, True),
    ("tag", "virtiofs", "defaults", True, True), ("u@h2:", "sshfs", "defaults", True, True),
    ("https://h3/", "davfs", "defaults", True, True), ("u@h4:", "fuse.sshfs", "defaults", True, True),
    ("/a:/b", "mergerfs", "defaults", True, True), ("/c:/d", "fuse.mergerfs", "defaults", True, True),
    ("s3fs#bucket", "fuse", "defaults", True, True), ("h5:/x", "nfs", "defaults", True, True),
    ("host", "9p", "defaults", True, True), ("t", "tmpfs", "defaults", True, True),
    ("/e", "none", "bind", True, True), ("/f", "ecryptfs", "defaults", True, True), ("/g", "bindfs", "defaults", True, True),
    ("ubi0:x", "ubifs", "defaults", True, True), ("r:b", "rclone", "defaults", True, True),
    ("/i.img", "ext4", "loop", True, False), ("/j.img", "auto", "loop", True, False),
    ("/k.sqfs", "squashfs", "loop", True, True),
    ("/dev/vda1", "ext4", "defaults", False, False), ("/dev/vda2", "xfs", "defaults", False, False),
    ("/dev/vda3", "ntfs-3g", "defaults", False, False), ("/dev/vda4", "auto", "defaults", False, False),
    ("UUID=0c1f76a0-4b0c-4d6c-9a3b-0a2b3c4d5e6f", "bcachefs", "defaults", False, False),
    ("LABEL=l", "foofs", "defaults", False, False), ("/dev/ubi0_1", "ubifs", "defaults", False, False),
    ("/dev/sr0", "iso9660", "defaults", False, True), ("/dev/vda5", "fuse.exfat", "defaults", False, True),
]
gm.touch(f"{WORK}/fstab", "".join(f"{source} /d{i} {fstype} nofail,{options} 0 2\n"
                                  for i, (source, fstype, options, _, _) in enumerate(ROWS)))
text = generate(f"{WORK}/fstab", f"{WORK}/units")[2]
found = {finding["target"] for finding in static_findings(f"{WORK}/fstab") if finding["code"] == "FSTAB-PASSNO"}
for i, (source, fstype, _, systemd, reported) in enumerate(ROWS):
    gm.expect((f'Checking was requested for "{source}", but it is not a device' in text) == systemd,
              f"{source} {fstype}: systemd warns is not {systemd}: {text}")
    gm.expect((f"/d{i}" in found) == reported, f"{source} {fstype}: reported is not {reported}")
gm.done()
