# SPDX-License-Identifier: MIT
"""The smallest root: the program and its libraries, no /dev, /run, /sys or /etc, nothing writable, as in
a minimal container; in a chroot, without capabilities, and as an ordinary user."""
import os
import shutil

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need("mkfs.ext4")
gm.need_fs("ext4")
img = gm.image(gm.os.environ["GETMNT_WORK"] + ".img", 4 << 20, "mkfs.ext4", "-q", "-L", "LABELLED",
               "-U", "01234567-89ab-cdef-0123-456789abcdef")
root = gm.Root(sysfs=False)
gm.loop_mount(img, root / "disk")
os.unlink(img)
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
gm.mkdir(root / "shut")
gm.tmpfs(root / "shut/x")
os.chmod(root / "shut", 0o700)
gm.bind(gm.touch(root / "x/file"), root / "x/other")
jail = gm.mkdir(root / "jail")
gm.install_program(jail)
shutil.rmtree(jail + "/dev")
gm.tmpfs(jail + "/in/side")
gm.tmpfs(jail + "/in/side/more")
gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
shutil.rmtree(root / "dev")
os.rmdir(root / "tmp")
root.enter()
gm.mount(None, "/", None, 32 | gm.MS_RDONLY)        # MS_REMOUNT
gm.expect(sorted(os.listdir("/")) == ["a", "bin", "disk", "h", "jail", "lib", "lib64", "proc",
                                      "shut", "x"], f"the root has {os.listdir('/')}")

# What the loop device stands on is not known without /sys.
gm.check("bare root", untouched=["/disk"])
lines = gm.oracle()
for form in gm.FORMS:
    result = gm.getmnt(*form)
    gm.expect(result.status == 0 and not result.err and b"/a/b/c" in result.out,
              f"{form}: status {result.status}: {result.err}")
# What only devices, udev and sysfs tell is empty, and what lies on a disk that
# nothing is known of is still named.
for args in (("-D",), ("-I",), ("-e",), ("-c",), ("--output-all",),
             ("-o", "TARGET,UUID,LABEL,PARTUUID,PARTLABEL"), ("-J", "--output-all")):
    result = gm.getmnt(*args)
    gm.expect(result.status == 0 and b"/disk" in result.out,
              f"{args}: status {result.status}: {result.out[-300:]} {result.err}")
result = gm.getmnt("--unmounted")
gm.expect(result.status == 64 and b"mount -t sysfs" in result.err and b"/disk" in result.out,
          f"--unmounted: status {result.status}: {result.err}")
rows = gm.getmnt("-J", "-l", "-o", "TARGET,STATE,UUID,LABEL,SIZE").rows()
disk = [row for row in rows if row["target"] == "/disk"]
gm.expect(len(disk) == 1 and disk[0]["state"] == "untested" and disk[0]["uuid"] is None,
          f"the disk: {disk}")
for args in (("-S", "UUID=01234567-89ab-cdef-0123-456789abcdef"), ("LABEL=LABELLED",),
             ("-S", "/dev/loop0"), ("-M", "/a")):
    result = gm.getmnt(*args)
    gm.expect(result.status in (0, 32), f"{args}: status {result.status}: {result.err}")
for args in (("-s",), ("-F", "/etc/fstab"), ("-m", "-F", "/etc/mtab"), ("-T", "/etc/x")):
    result = gm.getmnt(*args)
    gm.expect(result.status == 1 and result.err.startswith(b"getmnt: ") and not result.out,
              f"{args}: status {result.status}: {result.err}")


def drop_capabilities():
    """Drop all capabilities for good."""
    for number in range(64):
        gm.libc.prctl(24, number, 0, 0, 0)              # PR_CAPBSET_DROP
    gm.libc.prctl(47, 4, 0, 0, 0)                       # PR_CAP_AMBIENT_CLEAR_ALL
    header = (gm.ctypes.c_uint32 * 2)(0x20080522, 0)
    gm.libc.capset(header, (gm.ctypes.c_uint32 * 6)())
    gm.libc.prctl(38, 1, 0, 0, 0)                       # PR_SET_NO_NEW_PRIVS


def states(*args, **more):
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", *args, **more)
    if not gm.expect(result.status == 0, f"{args}, {more}: status {result.status}: {result.err}"):
        return {}
    return {gm.row_id(row): gm.row_states(row) for row in result.rows()}


# Root without capabilities may enter its own directories; an ordinary user may not.
for names in ("hint", "walk"):
    for source in gm.SOURCES:
        for tag, more in (("no capabilities", {"before": drop_capabilities}),
                          ("an ordinary user", {"uid": 65534}),
                          ("an ordinary user without", {"uid": 65534, "before": drop_capabilities})):
            found = states("--names=" + names, "--kernel=" + source, **more)
            gm.expect(set(found) == {line.id for line in lines}, f"{tag}: not all: {found}")
            for line in lines:
                want = {"ok"} if line.reachable else {"hidden"}
                if line.point == b"/disk":
                    want = {"untested"}
                elif "uid" in more and line.point == b"/shut/x":
                    want = {"denied"}
                gm.expect(found.get(line.id) == want,
                          f"{tag}, {names} {source}: {line}: {found.get(line.id)}")
        for uid in (None, 65534):
            for args in (("-D",), ("--output-all",), ("-N", str(os.getpid()))):
                result = gm.getmnt(*args, uid=uid, before=drop_capabilities)
                # The mounts of a task whose root may not be opened are listed, and not tested.
                says = b"kernel's names are listed, untested" if args[0] == "-N" else b""
                gm.expect(result.status == 0 and result.out and says in result.err,
                          f"{args} as {uid} without capabilities: {result.status}: {result.err}")

# In a chroot as small: a plain directory, its mounts below it.
for names in ("hint", "walk", "kernel"):
    for before in (None, drop_capabilities):
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, chroot="/jail",
                           before=before)
        gm.expect(result.status == 0, f"chroot, {names}: status {result.status}: {result.err}")
        inside = {row["target"] for row in result.rows()
                  if not gm.row_states(row) & {"outside", "hidden"}}
        gm.expect(inside >= {"/in/side", "/in/side/more", "/proc"}, f"chroot, {names}: {inside}")
gm.done()
