# SPDX-License-Identifier: MIT
"""Mount tables as they are compared before and after: without what another mount of
the same would have otherwise, and what unmounts them."""
import os
import re
import subprocess

import gm

BROKEN = re.compile(rb"^# getmnt: ", re.M)      # a comment in the place of a line


def mounting_root():
    """A small root, not yet entered, in which mount(8) works."""
    root = gm.Root()
    gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
    for program in ("mount", "umount"):
        gm.install(program, root.path)
    gm.mkdir(root / "run/mount")
    return root


def sh(*argv, ok=True, chroot=None):
    """Run a program of a small root; it succeeds, or need not.  Returns its status and output."""
    proc = subprocess.run(argv, stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={"PATH": "/bin", "LC_ALL": "C.UTF-8"},
                          preexec_fn=(lambda: (os.chroot(chroot), os.chdir("/"))) if chroot else None)
    gm.expect(not ok or proc.returncode == 0, f"{argv}: {proc.returncode}: {proc.stdout.decode(errors='replace')}")
    return proc.returncode, proc.stdout


def options(text):
    return frozenset(text.split(b","))


def backing(source):
    """A loop device by its file: another may have another number."""
    try:
        with open("/sys/block/" + source.decode()[5:] + "/loop/backing_file", "rb") as f:
            return b"loop " + os.path.basename(f.read().rstrip(b"\n"))
    except (OSError, UnicodeDecodeError):
        return source


def snapshot(top=b""):
    """The mount table at and below a directory, without IDs and devices: rows of
    point, root, type, source, options of the mount, and of its file system."""
    found = []
    with open("/proc/self/mountinfo", "rb") as f:
        for raw in f.read().split(b"\n")[:-1]:
            fields = raw.split(b" ")
            sep = fields.index(b"-", 6)
            point = gm.unescape(fields[4])
            if not gm.within(point, top or b"/"):
                continue
            found.append((point[len(top):] or b"/", gm.unescape(fields[3]), fields[sep + 1],
                          backing(gm.unescape(fields[sep + 2])), options(fields[5]),
                          options(fields[sep + 3].replace(b"=" + top, b"=").replace(b":" + top, b":"))))
    return sorted(found, key=lambda row: row[:4])


def unmount_all(top, keep):
    """Unmount what is below a directory but for some, the last first."""
    for point in reversed([line.point for line in gm.mountinfo()]):
        if gm.within(point, top) and point not in keep:
            gm.umount(point)


def same(tag, before, after):
    """Expect two snapshots to be of the same mounts.  Returns whether they are."""
    gone = [row for row in before if row not in after]
    new = [row for row in after if row not in before]
    return gm.expect(not gone and not new, f"{tag}: gone: {gone}; new: {new}")


def check_lines(tag, text):
    """Every line has six fields, as libmount reads them; none is a comment by mistake."""
    rows = [row for row in text.split(b"\n") if row and not row.startswith(b"# ")]
    gm.expect(all(len(row.split()) == 6 and not row.startswith(b"#") for row in rows), f"{tag}: {rows}")
    return rows
