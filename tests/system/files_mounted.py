# SPDX-License-Identifier: MIT
"""Files that root opens, replaced by a FUSE file whose server never answers, a device, a FIFO or a
socket: each is refused within seconds, with a message that names it, also with --max-time.  A local
file that is bound there is read."""
import os
import socket
import stat
import time

import gm

gm.need("mkfs.ext4")
gm.need_fs("fuse", "ext4")
SECONDS = 15 * gm.SLOW      # a FIFO is waited for for three
root = gm.Root()
gm.tmpfs(root / "run", "mode=0755")
for name in ("etc/getmnt/audit.conf.d", "keep", "run/udev/data", "run/mount", "run/blkid", "etc/systemd/system", "data"):
    gm.mkdir(root / name)
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
disk = gm.loop_mount(gm.image(root / "disk.img", 8 << 20, "mkfs.ext4", "-q"), root / "disk")
number = os.stat(disk).st_dev
UDEV = f"/run/udev/data/b{os.major(number)}:{os.minor(number)}"
os.mknod(f"{root.path}/dev/loop{os.minor(number)}", 0o60600, number)
root.enter()
FSTAB = "none /data tmpfs defaults 0 0\n"
TEXTS = {"/etc/fstab": FSTAB, "/etc/crypttab": "", "/etc/mtab": "x /x tmpfs rw 0 0\n", "/etc/getmnt/audit.conf": "",
         "/etc/getmnt/audit.conf.d/a.conf": "", "/etc/machine-id": "0" * 32 + "\n", "/etc/passwd": "root:x:0:0:::\n",
         "/etc/systemd/system/data.mount": "[Mount]\nWhat=none\nWhere=/data\n", UDEV: "E:ID_FS_TYPE=ext4\n",
         "/run/mount/utab": "", "/run/blkid/blkid.tab": ""}


def reset():
    for path, text in TEXTS.items():
        if os.path.lexists(path):
            os.unlink(path)
        gm.touch(path, text)
    for name in os.listdir("/keep"):
        os.unlink("/keep/" + name)


def run(tag, args, told, status=None):
    """Run it.  told: texts that the messages must contain."""
    begin = time.monotonic()
    result = gm.getmnt(*args, seconds=SECONDS)
    if result.status is None:
        return
    gm.expect(time.monotonic() - begin < SECONDS, f"{tag}: took {time.monotonic() - begin:.1f} s")
    gm.expect(told is None or told.encode() in result.err + result.out, f"{tag}: {told!r} is not in {result.err[-400:]!r}")
    gm.expect(status is None or result.status in status, f"{tag}: status {result.status}: {result.err[-400:]!r}")
    gm.expect(result.status >= 0, f"{tag}: {result.status}")


def hung(path):
    """Mount a FUSE file over a path; returns what takes it away."""
    fuse = gm.HungFuse(path, file=True)

    def end():
        gm.umount(path, gm.MNT_DETACH)
        fuse.end()
        os.unlink(path)
    return end


SAVE, OUTPUT = ["audit", "--save=/keep/base"], ["audit", "--prometheus", "--output=/keep/rep.prom"]
MERGE = ["fstab", "--merge", "--add=/disk", "--write", "--yes", "--force"]
RECOVER = ["recover", "/etc/mtab", "--write", "--yes"]
# The covered name, the command, its message, and its possible statuses.
BESIDE = []
for directory, name, command, status in (("/keep", "base", SAVE, (2,)), ("/keep", "rep.prom", OUTPUT, (2,)),
                                         ("/etc", "fstab", MERGE, (16,)), ("/etc", "mtab", RECOVER, (16,))):
    BESIDE += [(f"{directory}/.{name}.getmnt-{what}", command, f".{name}.getmnt-{what}", status) for what in ("lock", "new")]
BESIDE += [("/etc/.fstab.getmnt-old", MERGE, ".fstab.getmnt-old", (16,)), ("/etc/.mtab.getmnt-old", RECOVER, ".mtab.getmnt-old", (16,)),
           ("/keep/base", SAVE, "/keep/base", (2,)), ("/keep/base", ["audit", "--baseline=/keep/base"], "/keep/base", (2,)),
           ("/keep/rep.prom", OUTPUT, "/keep/rep.prom", (2,)), ("/etc/fstab", MERGE, "/etc/fstab", (2, 16)),
           ("/etc/mtab", RECOVER, "/etc/mtab", (2, 16))]
FIXED = [("/etc/fstab", ["audit"], "/etc/fstab"), ("/etc/fstab", ["-s"], "/etc/fstab"), ("/etc/mtab", ["-m"], "/etc/mtab"), ("/etc/getmnt/audit.conf", ["audit"], "/etc/getmnt/audit.conf"),
         ("/etc/getmnt/audit.conf.d/a.conf", ["audit"], "audit.conf.d/a.conf"), ("/etc/crypttab", ["audit"], "/etc/crypttab"),
         ("/etc/mtab", ["audit"], None), ("/etc/machine-id", SAVE, None), ("/etc/systemd/system/data.mount", ["audit"], None),
         (UDEV, ["-o", "TARGET,UUID"], UDEV), (UDEV, ["audit"], UDEV), ("/run/mount/utab", ["fstab"], None),
         ("/run/blkid/blkid.tab", ["-o", "TARGET,UUID"], None), ("/etc/passwd", ["search", "-m", "-o", "USER,PATH", "*", "/keep"], None),
         ("/proc/swaps", ["audit"], "/proc/swaps"), ("/proc/uptime", ["audit"], None)]
for path, command, told, status in BESIDE:
    for more in ([], ["--max-time=60"] if command[0] == "audit" else None):
        if more is None:
            continue
        reset()
        end = hung(path)
        run(f"a FUSE on {path}, {command + more}", command + more, told, status)
        end()
for path, command, told in FIXED:
    reset()
    if path.startswith("/proc/"):
        fuse = gm.HungFuse(path, file=True)
        run(f"a FUSE on {path}, {command}", command, told)
        gm.umount(path, gm.MNT_DETACH)
        fuse.end()
    else:
        end = hung(path)
        run(f"a FUSE on {path}, {command}", command, told)
        end()

# The files of an index, in a directory that a user may own, and that directory.
IX = "--index-dir=/ix"
gm.mkdir("/ix")
gm.expect(gm.getmnt("index", "build", IX, "/disk").status == 0, "index build")
gm.touch("/disk/new", "x")      # so that an update writes
ONE = "/ix/" + os.listdir("/ix")[0]
for path in [ONE, *(f"{ONE}/{name}" for name in sorted(os.listdir(ONE)))]:
    for command in (["search", "--index", "*"], ["find", "--index"], ["index", "check"], ["index", "report"], ["index", "status"], ["index", "update"],
                    ["index", "build"], ["index", "drop"]):
        # What is not opened is no matter: the lock by a reader, each file by what replaces the index.
        reads = command[1] in ("check", "report", "update") or command[0] in ("search", "find")
        told = "another file system is mounted on" if reads and not (path.endswith("/lock") and command[1] != "update") else None
        fuse = gm.HungFuse(path, file=path != ONE)
        run(f"a FUSE on {path}, {command}", [*command, IX, "/disk"], told)
        gm.umount(path, gm.MNT_DETACH)
        fuse.end()
        if gm.getmnt("index", "check", IX, "/disk").status != 0:    # what could be removed is gone
            gm.getmnt("index", "drop", IX, "/disk")
            gm.expect(gm.getmnt("index", "build", IX, "/disk").status == 0, f"index build after {command}")

# A backup's name, which is one of those that are pruned.
reset()
for second in range(8):
    gm.touch(f"/etc/fstab.getmnt-20200101T00000{second}000Z", FSTAB)
end = hung("/etc/fstab.getmnt-20200101T000000000Z")
run("a FUSE on a backup", MERGE, "written", (0,))
left = sorted(name for name in os.listdir("/etc") if name.startswith("fstab.getmnt-"))
gm.expect(len(left) == 6 and left[0] == "fstab.getmnt-20200101T000000000Z", f"backups: {left}")
end()
for name in left[1:]:
    os.unlink("/etc/" + name)

# What is no regular file at a fixed path.
for path, command, told in FIXED:
    if path.startswith("/proc/"):
        continue
    for kind in ("a device", "a FIFO", "a socket"):
        reset()
        os.unlink(path)
        writer = -1
        if kind == "a device":
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 11))
        elif kind == "a FIFO":
            os.mkfifo(path, 0o600)
            writer = os.open(path, os.O_RDWR)        # which never writes
        else:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(path)
        run(f"{kind} at {path}, {command}", command, told)
        if writer >= 0:
            os.close(writer)
        os.unlink(path)

# A user's symlink in place of a file: to an endless file, and to the command's own output.
reset()
os.chmod("/keep", 0o777)
for target in ("/proc/kmsg", "/proc/self/fd/1", "/dev/null"):
    os.symlink(target, "/keep/base")
    os.chown("/keep/base", 1000, 1000, follow_symlinks=False)
    for args in (SAVE, ["audit", "--baseline=/keep/base"], ["audit", "--config=/keep/base"], ["audit", "--prometheus", "--output=/keep/base"]):
        run(f"a link to {target}, {args}", args, "/keep/base belongs to uid 1000", (2,))
    os.unlink("/keep/base")
# A link of root's is named together with its target.
os.symlink("/proc/kmsg", "/keep/base")
for args in (SAVE, ["audit", "--prometheus", "--output=/keep/base"], ["fstab", "--merge=/keep/base"]):
    run(f"a link of root's to /proc/kmsg, {args}", args, "/keep/base -> /proc/kmsg: reading it failed", (2,))
os.unlink("/keep/base")
for option in ("--fstab=", "--swaps=", "-F"):
    os.symlink("/proc/self/fd/1", "/keep/table")
    os.chown("/keep/table", 1000, 1000, follow_symlinks=False)
    run(f"a link to the own output, {option}", ["audit", "--fstab=/etc/fstab", option + "/keep/table"], "/keep/table", (2,))
    os.unlink("/keep/table")
    # What root names is read; it has nothing now.
    run(f"/proc/kmsg, {option}", ["audit", "--fstab=/etc/fstab", option + "/proc/kmsg"], "/proc/kmsg", (2,))
run("--config=/proc/kmsg", ["audit", "--config=/proc/kmsg"], "/proc/kmsg", (2,))

# What goes on working: a local file bound over a fixed path, a pipe, a link of root's.
reset()
for path in TEXTS:
    gm.bind(gm.touch("/data/" + os.path.basename(path), TEXTS[path]), path)
result = gm.getmnt("audit", "--jsonl")
gm.expect(result.status in (0, 1) and b"read" not in result.err, f"bound: {result.status} {result.err}")
for path in TEXTS:
    gm.umount(path)
for args in (["audit", "--fstab=/dev/stdin"], ["audit", "--config=/dev/stdin"], ["-F", "/dev/stdin"]):
    if not os.path.lexists("/dev/stdin"):
        os.symlink("/proc/self/fd/0", "/dev/stdin")
    text = open("/proc/self/mountinfo", "rb").read() if args[0] == "-F" else b"# nothing\n"
    proc = gm.subprocess.run([gm.PROGRAM, *args], input=text, capture_output=True, env={"LC_ALL": "C.UTF-8"}, timeout=SECONDS, check=False)
    gm.expect(proc.returncode in (0, 1), f"{args} by a pipe: {proc.returncode} {proc.stderr}")
gm.umount("/disk")
gm.done()
