# SPDX-License-Identifier: MIT
"""What strace sees of a run: the calls are those of --stats; no path is resolved twice, nothing is
opened without need, and every descriptor is closed on exec."""
import os
import re

import gm
from traced import TRACE, traced

gm.need_features("the calls are others", "statx-mntid", "openat2")
gm.need("strace", "mkfs.ext4")
# What the loader, libselinux (which libmount is linked with) and the C library
# do before it is our turn, or for the locale.
LIBRARIES = re.compile(r"(/usr)?/lib|/etc/ld\.so|/usr/share/locale/|/proc/filesystems$|/selinux$|"
                       r"/sys/fs/selinux$|/etc/selinux/config$|/root/|/opt/")
# Calls that leave a descriptor open on exec unless a flag says otherwise (io_uring_setup never does).
MAKE = {"open", "creat", "openat", "openat2", "dup", "dup3", "pipe", "pipe2", "socket", "socketpair",
        "accept4", "eventfd2", "epoll_create1", "inotify_init1", "fanotify_init", "memfd_create",
        "pidfd_open", "signalfd4", "timerfd_create", "open_tree", "fsopen"}
SYSFS = ["/sys", r"/sys/dev/block/\d+:\d+/(partition|loop/backing_file|device/state|dm/suspended|md/array_state|slaves)",
         "/sys/fs/fuse/connections",   # for the images in "/"
         "/proc/fs/jbd2", "/sys/fs/ext4/[^/]+/journal_task"]


def whole_lines(trace):
    """The lines of a trace; a call that another thread interrupted is one line, where it ended."""
    begun = {}
    with open(trace, encoding="utf-8", errors="replace") as f:
        for text in f.read().split("\n"):
            start = re.match(r"(\d+)(\s+.*) <unfinished \.\.\.>$", text)
            end = re.match(r"(\d+)\s+<\.\.\. \w+ resumed>(.*)", text)
            if start:
                begun[start[1]] = start[1] + start[2]
            elif end:
                yield begun.pop(end[1], end[1]) + end[2]
            else:
                yield text
    yield from begun.values()


def audit(tag, program, strace, args, opened, twice=()):
    """Look at every path and descriptor of a run.  opened: what may be opened by
    an absolute path, all of it once.  twice: what may be resolved twice."""
    if SANITIZED:
        return      # it opens things of its own
    trace = os.environ["GETMNT_WORK"] + ".trace" if not root.entered else "/tmp/trace"
    env = {"ASAN_OPTIONS": "detect_leaks=0"}
    result = gm.getmnt("-f", "-y", "-s", "5000", "-o", trace, program, *args, program=strace, env=env)
    gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
    paths, used = {}, set()
    lines = list(whole_lines(trace))
    os.unlink(trace)
    for text in lines:
        match = re.match(r'\d+\s+(\w+)\((?:(AT_FDCWD|\d+)(?:<([^>]*)>)?, )?(?:"([^"]*)")?(.*)', text)
        if not match:
            continue
        call, fd, directory, path, rest = match.groups()
        absolute = path or ""
        # sysfs is read relative to its root; a walk goes by single names.
        if directory == "/sys" and path and "/" in path and call == "openat2":
            fd, absolute = "AT_FDCWD", f"/sys/{path}"
        if fd == "AT_FDCWD" and not absolute.startswith("/"):
            absolute = f"{directory}/{absolute}"
        # The last is our probe, which opens nothing; glibc 2.36 opens the other
        # without it, and closes it at once.
        if call in MAKE and "CLOEXEC" not in rest and "gconv-modules.cache" not in text \
                and "openat2(-1, NULL, NULL, 0)" not in text:
            gm.fail(f"{tag}: not closed on exec: {text[:200]}")
        if call == "fcntl" and "F_DUPFD," in text:
            gm.fail(f"{tag}: not closed on exec: {text[:200]}")
        if call == "dup2" and not re.match(r"\d+\s+dup2\(\d+(<[^>]*>)?, [012][<)]", text):
            gm.fail(f"{tag}: not closed on exec: {text[:200]}")
        if not path or fd not in (None, "AT_FDCWD") or LIBRARIES.match(absolute) or call in (
                "execve", "write", "read", "getrandom", "getcwd"):
            continue
        paths.setdefault(absolute, []).append(call)
        if call in MAKE:
            used.add(absolute)
    for path, calls in paths.items():
        # The backing file of a loop device of another user, which is looked for.
        elsewhere = root.entered and set(calls) == {"readlinkat"} and not os.path.lexists(path)
        gm.expect(len(calls) == 1 or elsewhere or any(re.fullmatch(allowed, path) for allowed in ["/sys", *twice]),
                  f"{tag}: {path} is resolved {len(calls)} times: {calls}")
    odd = sorted(path for path in used
                 if not any(re.fullmatch(allowed, path) for allowed in [*SYSFS, *opened]))
    gm.expect(not odd, f"{tag}: opened without need: {odd[:5]}")
    for pattern in opened:
        gm.expect(any(re.fullmatch(pattern, path) for path in used), f"{tag}: {pattern} was not opened")
    gm.expect("/" in paths or "-F" in args, f"{tag}: nothing was seen")


# This machine, as it is.
SANITIZED = gm.sanitized()
root = gm.Root()
HOST_TRACER = gm.shutil.which("strace")
BOOT_ID = "/proc/sys/kernel/random/boot_id"
mountinfo = "/proc/self/mountinfo"
TABLE = [] if gm.have_listmount() else [mountinfo]
audit("this machine", os.environ["GETMNT"], HOST_TRACER, [], TABLE)
audit("this machine, -J", os.environ["GETMNT"], HOST_TRACER, ["-J"], [BOOT_ID, *TABLE])
audit("this machine, --names=kernel", os.environ["GETMNT"], HOST_TRACER, ["--names=kernel"], [mountinfo])

for i in range(20):
    gm.mkdir(root / f"d/d{i}/e/f")
gm.tmpfs(root / "d/d7/e/f")
gm.tmpfs(root / "d/d7/e/f/g")
gm.tmpfs(root / "a")
gm.tmpfs(root / "a")
gm.bind(gm.touch(root / "etc/file"), root / "etc/other")
disk = gm.loop_mount(gm.image(root / "disk.img", 8 << 20, "mkfs.ext4", "-q"), root / "disk")
number = os.stat(disk).st_dev
node = f"/dev/loop{os.minor(number)}"
with open("/proc/filesystems", encoding="ascii") as f:
    if gm.shutil.which("mkfs.xfs") and "\txfs\n" in f.read():
        gm.loop_mount(gm.image(root / "xfs.img", 320 << 20, "mkfs.xfs", "-q"), root / "xfs")
os.mknod(root.path + node, 0o60600, number)
# The tracer runs inside of the small root as well.
gm.install("strace", root.path)
root.enter()

for args in (["-J"], ["-J", "--names=walk"], ["-J", "--names=walk", "--algorithm=getmnt1"],
             ["-J", "--names=walk", "--algorithm=getmnt2"], ["-J", "--names=pure"],
             ["-J", "--names=kernel"], ["-J", "--kernel=mountinfo"],
             ["-J", "--kernel=mountinfo", "--names=walk"], ["-p", "-w0"],
             ["-p", "-w0", "--kernel=mountinfo"]):
    seen, told = traced(args)
    if seen is None:
        continue
    gm.expect(seen == told, f"{' '.join(args)}: strace sees {seen}, --stats tells {told}")

# A search counts all calls but writes of the output and a poll whether it has a reader.
for i in range(300):
    gm.touch(f"/disk/s/{i % 7}/{i}/file{i}.c")
    os.symlink("file", f"/disk/s/{i % 7}/{i}/link")
    gm.touch(f"/xfs/many/{i}")
PRINTS = ("write", "poll")
SANITIZER = ("sched_getaffinity", "sigaltstack") if SANITIZED else ()     # by its threads
FORMS = [["*"], ["-0", "file*"], ["/s/3/*/link"], ["--first", "*.c"], ["--xdev", "*"], ["-L", "*"], ["--access=w", "*.c"],
         ["--type=f", "--sort=name", "*"], ["-o", "LINK,SIZE,PATH", "*"], ["-o", "XATTR,ACL", "*.c"], ["-m", "*"], ["-m", "--ahead", "*"], ["-m", "--engine=sync", "*"],
         ["-m", "--engine=bulk", "*"],
         ["/s/3/10/link"], ["-m", "/s/3/10/link"], ["-L", "/s/3/10/link"], ["/nothing"], ["--blocking", "/s"]]
for args in FORMS:
    for threads in (1, 2):
        seen, told = traced(["search", *args, "/disk", "/xfs"], threads=threads, beside=PRINTS + SANITIZER)
        if seen is None:
            continue
        tag = f"search {' '.join(args)}, threads {threads}"
        gm.expect(seen == told, f"{tag}: strace sees {seen}, --stats tells {told}")
        gm.expect("*" in args[-1] or seen.get("getdents64") in (None, 2, 4, 6), f"{tag}: a directory was read: {seen}")
        if "--engine=bulk" in args and os.path.ismount("/xfs") and "openat2" in seen:
            gm.expect("ioctl" in seen, f"{tag}: {seen}")
# No server is requested attributes unless they are needed.
for args, flag in (([], "AT_STATX_DONT_SYNC"), (["--blocking"], "AT_STATX_SYNC_AS_STAT"),
                   (["--blocking", "--cached"], "AT_STATX_DONT_SYNC")):
    for engine in ("sync", "auto"):
        traced(["search", "-m", f"--engine={engine}", *args, "file1*.c", "/disk"])
        with open(TRACE, encoding="utf-8", errors="replace") as f:
            looks = [text for text in f if re.search(r'statx\(\d+, "file1\d*\.c"', text)]
        gm.expect(len(looks) == 111 and all(flag in text for text in looks), f"{args}, {engine}: {looks[:3]}")
if os.path.ismount("/xfs"):
    gm.umount("/xfs")

# Of a run: what may be opened, and what may be resolved twice.
gm.touch("/tmp/table", gm.read("/proc/self/mountinfo"))
gm.touch("/etc/fstab", "/dev/x /y ext4 defaults 0 0\n")
WALK = (["/"], ["/"])            # looked at by the probe at the start
SIZED = ["/", "/a", "/disk", "/etc/other", "/d/d7/e/f(/g)?"]
# A file of udev's is opened only if there is one.
TAGS = ["/dev", r"/sys/dev/block/\d+:\d+(/.*)?"]
# A device is examined before it is opened; libblkid reads sysfs itself.
TAGS_TWICE = ["/dev", r"/sys/dev/block/\d+:\d+", "/disk.img", "/sys/fs/fuse/connections"]
# The backing files of all loop devices are looked for, the images of whatever else
# runs here among them; those of one folder have its name in common.
IMAGES = "/(tmp|var/tmp)(/.*)?"
for args, opened, twice in (
        ([], [], []), (["-l"], [], []), (["-r"], [], []), (["--format=mtab"], [], []),
        (["--format=dot"], [], []), (["-J"], [BOOT_ID], []), (["--format=jsonl"], [BOOT_ID], []),
        (["--names=kernel"], [mountinfo], []), (["--stats"], [], []), (["-t", "tmpfs"], [], []),
        *(([f"--names={names}", f"--algorithm={algorithm}", "--threads=1"], *WALK)
          for names in ("walk", "pure") for algorithm in ("getmnt1", "getmnt2", "getmnt3")),
        (["-k"], [mountinfo], []),
        (["-k", "--names=walk"], [mountinfo, "/"], ["/"]),
        (["-k", "--names=kernel"], [mountinfo], []),
        # Sizes are of a descriptor that must show the mount that was tested.
        (["-D"], SIZED, SIZED), (["-I"], SIZED, SIZED),
        (["-o", "TARGET,UUID"], TAGS, TAGS_TWICE), (["-o", "+LABEL"], TAGS, TAGS_TWICE),
        (["-S", "LABEL=none", "-i"], TAGS, TAGS_TWICE),
        # Of a btrfs that is mounted somewhere, the devices are looked up.
        (["--unmounted"], TAGS + ["/sys/(class/block(/.*)?|fs/btrfs(/[0-9a-f-]{36}/(devices(/[^/]+)?|label|temp_fsid))?|module/zfs)"],
         [*TAGS_TWICE, "/sys/fs/btrfs(/[0-9a-f-]{36}/devices/[^/]+)?", IMAGES]),
        (["-N", str(os.getpid())], [f"/proc/{os.getpid()}", "/proc/self/mountinfo"], []),
        # A path that is given is followed by us, link by link.
        (["--root", "/d"], ["/d"], ["/d"]), (["--root", "/d", "--names=walk"], ["/d"], ["/d"]),
        # A file is looked at before it is opened.
        (["-F", "/tmp/table"], ["/tmp/table"], ["/tmp/table"]), (["-s"], ["/etc/fstab"], ["/etc/fstab"]),
        (["-m", "-F", "/etc/fstab"], ["/etc/fstab"], ["/etc/fstab"]),
        (["-T", "/d/d7/e/f/g"], [], ["/d/d7/e/f(/g)?"]), (["-M", "/a"], [], ["/a"]),
        (["-S", node], [], [node]), ([node], [], [node]),
        (["search", "*", "/disk/s"], ["/disk/s"], []), (["search", "-m", "/1/*", "/disk/s"], ["/disk/s"], []),
        (["search", "/s/1/1/file1.c", "/disk"], ["/disk"], [])):
    if not {"-k", "-F", "-N", "-s"} & set(args):
        opened = [*opened, *TABLE]
    audit(" ".join(args) or "default", gm.PROGRAM, "/bin/strace", args, opened, twice)
gm.done()
