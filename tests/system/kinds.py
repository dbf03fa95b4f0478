# SPDX-License-Identifier: MIT
"""File systems, directories and mount points of each kind, and the limits of a search."""
import ctypes
import os
import socket
import stat
import subprocess

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
ALGORITHMS = ("getmnt1", "getmnt2", "getmnt3")


def btrfs(root):
    """Mounted and unmounted btrfs subvolumes."""
    gm.need_fs("btrfs")
    gm.need("mkfs.btrfs", "btrfs", "losetup")
    top = gm.loop_mount(gm.image(root / "img", 256 << 20, "mkfs.btrfs", "-q"), root / "pool")
    for name in ("@", "@home", "unmounted", "@home/nested"):
        gm.run("btrfs", "-q", "subvolume", "create", f"{top}/{name}")
    gm.mkdir(f"{top}/unmounted/d/e")
    gm.mkdir(f"{top}/@/mnt")
    gm.run("btrfs", "-q", "subvolume", "snapshot", f"{top}/@home", f"{top}/snap")
    dev = gm.run("findmnt", "-n", "-o", "SOURCE", top).strip().split("[")[0]
    for name, point in (("@", "sys2"), ("@home", "home"), ("@home/nested", "sys2/mnt")):
        gm.run("mount", "-o", "subvol=" + name, dev, gm.mkdir(root / point))
    gm.tmpfs(f"{top}/unmounted/d/e")            # below a boundary that is not a mount
    root.enter()
    gm.check("btrfs")
    for algorithm in ALGORITHMS:
        document = gm.getmnt("-J", "--names=walk", "--boundaries", "--algorithm=" + algorithm).json()
        met = sorted(b["path"] for b in document["boundaries"] if not b["path"].startswith("/sys/"))
        gm.expect(met == ["/home/nested", "/pool/@", "/pool/@home", "/pool/@home/nested",
                          "/pool/snap", "/pool/unmounted"], f"{algorithm}: {met}")


def subvolume_anew(root):
    """A subvolume with the name of a deleted one: its line has the former number, and mounts nothing."""
    gm.need_fs("btrfs")
    gm.need("mkfs.btrfs", "btrfs", "losetup")
    top = gm.loop_mount(gm.image(root / "img", 256 << 20, "mkfs.btrfs", "-q"), root / "pool")
    numbers = []
    for command in ("create", "delete", "create"):
        gm.run("btrfs", "-q", "subvolume", command, f"{top}/@home")
        if command == "create":
            numbers.append(gm.run("btrfs", "inspect-internal", "rootid", f"{top}/@home").strip())
            gm.run("btrfs", "-q", "subvolume", "create", f"{top}/{numbers[-1]}")
    former, now = numbers
    dev = gm.run("findmnt", "-n", "-o", "SOURCE", top).strip().split("[")[0]
    text = f"{dev} {root / 'home'} btrfs subvolid={{}},subvol=/@home 0 0\n"
    for number, mounts in ((former, False), (now, True)):
        gm.touch(root / "fstab", text.format(number))
        gm.mkdir(root / "home")
        status = subprocess.run(["mount", "--fstab", root / "fstab", root / "home"], stderr=subprocess.DEVNULL, check=False).returncode
        gm.expect((status == 0) == mounts, f"subvolid={number}: mount: {status}")
    gm.touch(root / "fstab", text.format(former))
    told = [f"{dev} (btrfs): subvolid={number},subvol=/@home" for number in numbers]
    rows = gm.getmnt("audit", "--fstab=" + (root / "fstab"), "--only=DRIFT-SOURCE", "--json", program=os.environ["GETMNT"]).json()["findings"]
    gm.expect([[row["expected"], row["actual"]] for row in rows] == [told], f"audit: {rows}")
    err = gm.getmnt("fstab", "--merge=" + (root / "fstab"), program=os.environ["GETMNT"]).err
    gm.expect(f"mounts {told[0]}, but the mount there is {told[1]}".encode() in err, f"merge: {err}")


def types(root):
    """squashfs, overlay, tmpfs, ext4 and xfs, with mounts in them."""
    gm.need_fs("squashfs", "overlay", "ext4", "xfs")
    gm.need("mkfs.ext4", "mkfs.xfs", "mksquashfs", "losetup")
    root.keep_names()

    def fill(top):
        for i in range(10):
            gm.mkdir(f"{top}/d{i}/e/f")
        gm.touch(f"{top}/d3/file")
        return top

    ext4 = fill(gm.loop_mount(gm.image(root / "ext4.img", 32 << 20, "mkfs.ext4", "-q"), root / "ext4"))
    xfs = fill(gm.loop_mount(gm.image(root / "xfs.img", 320 << 20, "mkfs.xfs", "-q"), root / "xfs"))
    gm.run("mksquashfs", fill(root / "sq.src"), root / "sq.img", "-quiet", "-no-progress")
    squash = gm.loop_mount(root / "sq.img", root / "squash")
    low = fill(gm.tmpfs(root / "low"))
    over = gm.overlay(root / "over", low, root / "low/.w")
    ro = gm.mkdir(root / "over.ro")
    gm.mount("overlay", ro, "overlay", 0, f"lowerdir={squash}:{ext4}")
    for top in (ext4, xfs, squash, over, ro):
        gm.tmpfs(f"{top}/d7/e/f")
        gm.tmpfs(f"{top}/d7/e/f/g")
        gm.bind(f"{ext4}/d3/file", f"{top}/d3/file")
    root.enter()
    gm.check("types")
    gm.check("types, four threads", args=("--threads=4",), nested=False)


def access_times(root):
    """A walk leaves access times unchanged."""
    gm.need_fs("ext4")
    gm.need("mkfs.ext4", "losetup")
    top = gm.mkdir(root / "t")
    gm.loop_mount(gm.image(root / "img", 16 << 20, "mkfs.ext4", "-q"), top, "strictatime")
    for i in range(20):
        gm.mkdir(f"{top}/a{i}/b/c")
    gm.tmpfs(f"{top}/a11/b/c")
    root.enter()
    paths = [folder for folder, _, _ in os.walk("/t") if folder != "/t/a11/b/c"]
    for path in paths:
        os.utime(path, (1, 1))
    before = {path: os.stat(path).st_atime for path in paths}
    for algorithm in ALGORITHMS:
        gm.getmnt("-J", "--names=walk", "--algorithm=" + algorithm)
    changed = [path for path in paths if before[path] != os.stat(path).st_atime]
    gm.expect(len(before) > 50, "too few directories to test with")
    gm.expect(not changed, f"{len(changed)} access times changed: {changed[:3]}")
    # O_NOATIME is refused in another user's directories; that is not an error.
    os.chmod("/t", 0o755)
    result = gm.getmnt("-J", "--names=walk", uid=65534)
    gm.expect(result.status == 0, f"as nobody: status {result.status}: {result.err[-300:]}")


def special_points(root):
    """Mount points that are a FIFO, socket, device or symlink are not opened."""
    top = gm.tmpfs(root / "s/p")
    real = gm.touch(root / "real")
    os.mkfifo(top + "/fifo")
    os.mkfifo(top + "/lone-fifo")           # would block a process that opens it
    os.mkfifo(root / "s/source")
    gm.bind(root / "s/source", gm.touch(top + "/fifo-on-file"))
    os.chdir(top)
    socket.socket(socket.AF_UNIX).bind("socket")
    os.chdir("/")
    os.mknod(top + "/device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    for name in ("fifo", "socket", "device"):
        gm.bind(real, f"{top}/{name}")
    # On a symbolic link itself: open_tree and move_mount do not follow it.
    os.symlink("/nowhere", top + "/link")
    fd = gm.libc.syscall(428, -100, real.encode(), 1 | os.O_CLOEXEC)
    if fd >= 0:
        done = gm.libc.syscall(429, fd, b"", -100, (top + "/link").encode(), 4)
        print("  a mount on a symbolic link:",
              "made" if done == 0 else os.strerror(ctypes.get_errno()))
        os.close(fd)
    root.enter()
    gm.check("special")


def masks(root):
    """Mounts in /proc and /sys, as container runtimes use to hide parts of them."""
    gm.tmpfs(root / "sys/fs/cgroup")
    gm.tmpfs(root / "sys/fs/cgroup/a")
    gm.mount("sysfs", root / "sys/kernel", "tmpfs")
    gm.mount("masked", root / "proc/fs", "tmpfs")
    null = root / "dev/null"
    for source, target in ((root / "proc/sys", "proc/sys"), (root / "proc/irq", "proc/irq"),
                           (null, "proc/version"), (null, "proc/sys/kernel/hostname"),
                           (gm.touch(root / "tmp/ns"), "tmp/ns")):
        gm.bind(source, root / target)
    root.enter()
    for name in ("net", "uts"):
        gm.bind("/proc/self/ns/" + name, gm.touch("/tmp/" + name))
    gm.check("masks")


def path_max(root):
    """Directories deeper than PATH_MAX, with mounts below them."""
    gm.mkdir(root / "deep")
    gm.mkdir(root / "near")
    root.enter()
    # 50 levels of 200 bytes; a mount at every fifth level.
    name, flags = b"n" * 200, os.O_RDONLY | os.O_DIRECTORY
    fd = os.open("/deep", flags)
    for level in range(50):
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, flags, dir_fd=fd)
        if level % 5 == 4:
            gm.mount("deep", f"/proc/self/fd/{below}", "tmpfs", 0, "size=1m")
            os.close(below)
            below = os.open(name, flags, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    gm.tmpfs("/near/by")
    gm.expect(max(len(line.point) for line in gm.oracle()) > 9000, "no long names to test with")
    gm.check("deep")


def figure4(root):
    """A hierarchy as in Smith's Figure 4, and what each algorithm saves."""
    for top in ("usr", "var", "home", "srv", "opt", "tmp/scratch", "usr/local", "usr/src", "var/log",
                "var/spool", "var/spool/mail", "usr/local/lib", *(f"home/u{i}" for i in range(12)),
                *(f"srv/a{i}/data" for i in range(6))):
        gm.tmpfs(root / top)
    # Directories to search in, on INTERNAL and on LEAF file systems.
    for top in ("etc", "usr/lib", "usr/local/lib", "home/u3", "srv", "opt", "var/log"):
        for i in range(30):
            gm.mkdir(root / f"{top}/d{i}/e{i}/f")
    root.enter()
    lines = gm.check("figure 4")
    counts = []
    for algorithm in ALGORITHMS:
        stats = gm.getmnt("-J", "--names=walk", "--algorithm=" + algorithm, "--stats=json",
                          "--threads=1").stats()
        counts.append((stats["dirs"], sum(stats["calls"].values())))
    for what, (one, two, three) in zip(("directories", "calls"), zip(*counts)):
        gm.expect(one > two > three, f"pruning saves no {what}: {counts}")
    # Good hints: one statx for each mount point, plus 2.
    points = len({line.point for line in lines})
    for names, most, source in [("kernel", 2, "mountinfo")] + [("hint", points + 2, source)
                                                             for source in gm.SOURCES]:
        stats = gm.getmnt("-J", "--names=" + names, "--stats=json", "--kernel=" + source).stats()
        calls = stats["calls"]
        gm.expect(calls.get("statx", 0) <= most, f"{names}, {source}: {calls.get('statx')} statx")
        gm.expect(not calls.get("getdents64") and stats["dirs"] == 0, f"{names}: it searches: {stats}")


def limits(root):
    """Limits of a search: what was not searched is reported by state and status."""
    for i in range(200):
        gm.mkdir(root / f"t/d{i}/e/f/g")
    for point in ("t/d150/e/f/g", "a", "a/b", "a/b/c"):
        gm.tmpfs(root / point)
    root.enter()
    for args in (["--search-limit=20"], ["--depth=2"], ["--max-time=0.001", "--algorithm=getmnt1"]):
        result = gm.getmnt("-J", "-l", "--names=walk", *args)
        document = result.json()
        states = {row["target"]: gm.row_states(row) for row in document["filesystems"]}
        gm.expect(result.status == 64, f"{args}: status {result.status}")
        gm.expect(document["complete"] is False and document["incomplete_reasons"],
                  f"{args}: complete: {document['complete']}")
        gm.expect("unsearched" in states["/t/d150/e/f/g"], f"{args}: {states}")
        gm.expect(not any("lost" in s for s in states.values()), f"{args}: lost: {states}")
    # "/a" is read, "/a/b" is found in it, and "/a/b/c" is not searched for.
    rows = gm.getmnt("-J", "-l", "-o", "+NAMED", "--names=walk", "--depth=1").rows()
    named = {row["target"]: row["named"] for row in rows}
    gm.expect(named["/a/b"] == "walked" and named["/a/b/c"] == "kernel", f"--depth=1: {named}")
    gm.states("--names=walk", "--search-limit=100000")
    # A hint that fails starts no search.
    dirs = gm.getmnt("-J", "--names=hint", "--search-limit=1", "--stats=json").stats()["dirs"]
    gm.expect(dirs == 0, f"hints: {dirs} directories were searched")


def arguments(root):
    """Devices, tags and paths as arguments, as findmnt reads them."""
    gm.need_fs("ext4", "overlay")
    gm.need("mkfs.ext4", "losetup", "findmnt")
    data, uuid = root / "data", "12345678-abcd-4bcd-8bcd-1234567890ab"
    gm.loop_mount(gm.image(root / "img", 4 << 20, "mkfs.ext4", "-q", "-L", "My Disk", "-U", uuid), data)
    dev = gm.run("findmnt", "-n", "-o", "SOURCE", data).strip()
    number = dev.removeprefix("/dev/loop")
    gm.bind(gm.mkdir(data + "/d"), gm.mkdir(root / "sub"))
    gm.mkdir(root / "low")
    gm.overlay(gm.mkdir(root / "ovl"), root / "low", root / "work")
    # Pseudo file systems with the names of others.
    gm.tmpfs(root / "t1", source=dev)
    gm.tmpfs(root / "t2", source=root / "sub")
    os.symlink(dev, root / "link")
    os.symlink("data", root / "name")
    top = root.path
    rows = [dev, "link", "./link", top + "/link", "/dev//loop" + number, "/dev/../dev/loop" + number, "loop" + number,
            "7:" + number, "LABEL=My Disk", "LABEL=my disk", "label=My Disk", 'LABEL="My Disk"', "UUID=" + uuid,
            "UUID=" + uuid.upper(), "uuid=" + uuid, f'UUID="{uuid}"', "UUID=", "PARTUUID=x", data, data + "/",
            f"/{top}//data", top + "/./data", top + "/sub/../data", data + "/d", "data", "./data", "data/", "name", "name/",
            top + "/name/", "overlay", "sub", "./sub/", top + "/sub", top + "/sub/", top + "/t1", ".", "/", "/nosuch", "nosuch"]
    pairs = [[dev, data], [dev, "data"], ["link", data + "/"], ["LABEL=My Disk", "data"], ["UUID=" + uuid, "name"],
             [dev, top + "/sub"], [dev, top + "/t1"], [top + "/sub", top + "/t2"], [dev, "/nosuch"]]
    for row in [[*option, word] for word in rows for option in ((), ("-S",), ("-M",), ("-T",))] + pairs:
        args = ("-n", "-r", "-o", "TARGET", *row)
        theirs = subprocess.run(["findmnt", *args], cwd=top, capture_output=True, check=False)
        ours = gm.getmnt(*args, cwd=top, program=os.environ["GETMNT"])
        gm.expect(theirs.stdout == ours.out and (theirs.returncode == 0) == (ours.status == 0),
                  f"{row}: findmnt: {theirs.stdout}; getmnt: {ours.status}, {ours.out}")


def fields(root):
    """Alone, a column or format shows what it shows next to all columns: its row names the fields of the
    table that it needs."""
    gm.tmpfs(root / "data", "size=1m,mode=700", source="a source")
    gm.bind(gm.mkdir(root / "data/d"), root / "sub")
    gm.run("mount", "--make-shared", root / "sub")
    root.enter()
    if "listmount" in gm.OFF or gm.KERNEL < (6, 8):
        return      # a line of mountinfo has all fields
    table = ("--names=kernel", "--kernel=listmount")
    whole = gm.getmnt(*table, "-J", "-l", "--output-all").rows()
    for column in set(whole[0]) - {"tid"}:                 # its own, in each run
        alone = gm.getmnt(*table, "-J", "-l", "-o", column).rows()
        gm.expect(alone == [{column: row[column]} for row in whole], f"{column}: {alone}")
    for form in ("mtab", "fstab", "setmnt", "dot"):
        alone, among = (gm.getmnt(*table, "--format=" + form, *columns).out
                        for columns in (("-o", "ID"), ("--output-all",)))
        gm.expect(alone and alone == among, f"{form}: {alone}; with all columns: {among}")


gm.each(arguments, btrfs, fields, subvolume_anew, types, access_times, special_points, masks, path_max, figure4,
        limits)
