# SPDX-License-Identifier: MIT
"""What root opens, changes and starts is in the tables of docs/SECURITY.md: each command and sub-command runs
under strace; each open, each call that changes a name or a file, each program and each socket must match a row for
that command, and each row must match something, and name existing tests.  Mounts and namespaces are not touched."""
import os
import re
import shutil
import signal
import stat
import subprocess
import time

import gm

gm.need_features("entries are opened in other ways", "openat2")
gm.need("strace", "mkfs.ext4", "mkfs.btrfs", "sh")
gm.need_fs("ext4", "btrfs", "fuse")
if gm.sanitized():
    gm.skip("the sanitizer opens things of its own")
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.dirname(os.path.dirname(HERE))
# What a call must have of each of the ways to open that the page names.
HOW = {"entry": "RESOLVE_NO_XDEV|O_EXCL|O_PATH", "regular": "O_NONBLOCK", "named": "O_NONBLOCK", "kernel": "O_NONBLOCK", "as": "O_NOFOLLOW",
       "reads": "O_RDONLY"}
SYSTEMCTL = shutil.which("systemctl")
NO_OPENAT2 = "openat2" in gm.OFF
if NO_OPENAT2:
    HOW["entry"] = "O_EXCL|O_PATH|O_NONBLOCK"
OPENED, CHANGED, STARTED = (f"## Every {what} as root" for what in ("path that is opened", "path that is changed", "program that is started"))
# Call --> what it does, as the table has it.
OPENS = {"open", "openat", "openat2", "creat", "open_tree"}
CHANGES = {"create": "open openat openat2 creat", "write": "open openat openat2", "truncate": "truncate ftruncate", "remove": "unlink unlinkat rmdir",
           "rename": "rename renameat renameat2", "link": "link linkat", "symlink": "symlink symlinkat", "mkdir": "mkdir mkdirat",
           "mknod": "mknod mknodat", "mode": "chmod fchmod fchmodat fchmodat2", "owner": "chown fchown lchown fchownat",
           "times": "utime utimes futimesat utimensat",
           "attributes": "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr"}
OF_CALL = {call: change for change, calls in CHANGES.items() for call in calls.split() if call not in OPENS}
# A process with another root reads a name there; no mount and no namespace is changed.
NEVER = {"mount", "umount2", "pivot_root", "move_mount", "fsopen", "fsmount", "fspick", "mount_setattr", "swapon", "swapoff"}
OTHERS = {"execve", "execveat", "connect", "bind", "chroot", "setns", "unshare"}
TRACED = ",".join(sorted(OPENS | set(OF_CALL) | NEVER | OTHERS)).replace("fchmodat2,", "")
# What stands for a name of the user's, in the tables and here.
OPERANDS = {"FILE": "(/keep/(file|out|base|conf|table|swaps|fstab|names|usage.svg)|/dev/null)", "ROOT": "/sub", "PATH": "/(disk|keep/tree)", "DIR": "/(etc|keep|sub/etc)",
            "INDEX": "/(var/lib/getmnt/index|keep/index)", "COMMAND": "(/bin/true|/keep/traced)"}


def rows(title, first):
    """The rows of a table: patterns, words of the first cell before them, commands, how, the line."""
    text = gm.read(SOURCES + "/docs/SECURITY.md")
    gm.expect(text.count(title + "\n") == 1, f"{title}: the section is missing")
    found = []
    for line in text.partition(title + "\n")[2].partition("\n## ")[0].split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or set(cells[0]) <= {"-"} or cells[0] == first:
            continue
        gm.expect(len(cells) == 5 and all(cells), f"a row has five cells: {line}")
        tests = re.findall(r"`([\w/]+\.(?:py|c|sh))`", cells[4])
        gm.expect(tests, f"no test: {line}")
        for test in tests:
            path = test if "/" in test else "tests/system/" + test
            gm.expect(os.path.exists(f"{SOURCES}/{path}"), f"there is no test {test}")
        commands = {word.strip() for word in cells[1].split(",")}
        words = cells[0].partition("`")[0].replace(",", " ").split()
        found.append(([compile_pattern(name) for name in re.findall(r"`([^`]+)`", cells[0])], words, commands, cells[3], line))
    return found


def compile_pattern(name):
    """** matches any part of a path, * any part of a name; an operand is the one used here."""
    parts = re.split(r"(\*\*|\*|\b(?:" + "|".join(OPERANDS) + r")\b)", name)
    return re.compile("".join({"**": ".*", "*": "[^/]*", **OPERANDS}.get(part) or re.escape(part) for part in parts))


OPEN_ROWS = [(patterns, "O_DIRECTORY|open_tree" if words == ["directories"] else "O_PATH" if words == ["looks", "at"] else HOW.get(re.match(r"\w*", how).group(), ""),
              commands, line) for patterns, words, commands, how, line in rows(OPENED, "path")]
CHANGE_ROWS = [(patterns, word, commands, line) for patterns, words, commands, _, line in rows(CHANGED, "change") for word in words]
START_ROWS = [(patterns, "", commands, line) for patterns, _, commands, _, line in rows(STARTED, "program or socket")]
gm.expect({row[1] for row in CHANGE_ROWS} <= set(CHANGES) | {"chroot"}, "the table of changes has an unknown change")
used, unseen, ran = set(), set(), set()


def match(table, command, path, what, line):
    """Find the rows of a call; without one it is a failure."""
    found = [id(row) for row in table if (row[2] & {command, command.partition(" ")[0], "all"}) and any(pattern.fullmatch(path) for pattern in row[0])
             and (re.search(row[1], line) if table is OPEN_ROWS else row[1] in ("", what))]
    used.update(found)
    if not found and (command, what, path) not in unseen:
        unseen.add((command, what, path))
        gm.fail(f"{command}: {what} {path}, which no row has: {line.strip()[:200]}")


# A descriptor or AT_FDCWD, with its path, before a string.
NAMED = re.compile(r'(?:(?:AT_FDCWD|\d+)(?:<([^>]*)>)?, )?"((?:[^"\\]|\\.)*)"')


def join(directory, path):
    if path.startswith("/"):
        return path
    return os.path.normpath(f"{directory or ''}/{path}").replace("//", "/") if path else directory


def names_of(call, args):
    """The paths that a call names."""
    if call.startswith("symlink"):
        args = args.partition(", ")[2]
    found = [join(*pair) for pair in NAMED.findall(args)]
    # The last string of these is a value; the descriptor is what is changed.
    if "xattr" in call or not found:
        on = re.match(r"\d+<([^>]*)>", args)
        found = [on[1]] if on else found[:1]
    gm.expect(found, f"not understood: {call}({args}")
    return found if call.startswith(("rename", "link")) else found[:1] or [""]


def read_trace(trace, command):
    """Check each call of a trace, up to the programs that are started."""
    ran.add(command)
    gone, first = set(), True
    with open(trace, encoding="utf-8", errors="replace") as file:
        for line in file:
            resumed = re.match(r"(\d+)\s+<\.\.\. execve\w* resumed>.*= 0$", line)
            if resumed:
                gone.add(resumed[1])
            call = re.match(r"(\d+)\s+(\w+)\((.*)", line)
            # strace does not know statmount() and listmount(), which name no path; openat2() without a name only
            # tells whether the kernel has it.
            if not call or call[1] in gone or call[2].startswith("syscall_") or call[3].startswith("-1, NULL, NULL"):
                continue
            pid, name, args = call.groups()
            if name in ("execve", "execveat"):
                if not first:
                    match(START_ROWS, command, names_of(name, args)[0], "starts", line)
                    if line.rstrip().endswith("= 0"):
                        gone.add(pid)
                first = False
            elif name in ("connect", "bind"):
                at = re.search(r'sun_path=@?"([^"]*)"', args)
                match(START_ROWS, command, at[1] if at else args, name, line)
            elif name == "chroot":
                match(CHANGE_ROWS, command, names_of(name, args)[0], "chroot", line)
            elif name in NEVER or name in ("setns", "unshare"):
                gm.fail(f"{command}: {line[:200]}")
            elif name in OPENS:
                path = names_of(name, args)[0]
                # Without openat2, a descriptor of O_PATH is opened again: the result is what it refers to.
                again = re.search(r" = \d+<([^>]*)>", line)
                if again and re.fullmatch(r"/proc/self/fd/\d+", path):
                    path = again[1]
                match(OPEN_ROWS, command, path, "opens", line)
                if re.search("O_CREAT|O_TMPFILE", line) or name == "creat":
                    match(CHANGE_ROWS, command, path, "create", line)
                elif re.search("O_WRONLY|O_RDWR", line):
                    match(CHANGE_ROWS, command, path, "write", line)
            else:
                for path in names_of(name, args):
                    match(CHANGE_ROWS, command, path, OF_CALL[name], line)
    os.unlink(trace)


STRACE = ["/bin/strace", "-f", "-y", "-s", "5000", "-e", "trace=" + TRACED, "-o"]


def look(command, *args, status=(0, 1, 2, 16, 32, 64), text=b"", env=None):
    """Run a command, and check what it opens."""
    words = command.split() if command != "discover" else []
    proc = subprocess.run([*STRACE, "/tmp/trace", gm.PROGRAM, *words, *args], input=text, capture_output=True, env=gm.environment(env), cwd="/keep",
                          timeout=gm.RUN_SECONDS, check=False)
    gm.expect(proc.returncode in status, f"{command} {args}: {proc.returncode} {proc.stderr[-300:]}")
    read_trace("/tmp/trace", command)
    return proc


def look_running(command, *args, act, word):
    """Run a command that runs until a signal; act() once it has printed something, and wait for a word."""
    proc = subprocess.Popen([*STRACE, "/tmp/trace", gm.PROGRAM, *command.split(), *args], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env=gm.environment({"NOTIFY_SOCKET": "/run/notify"}), cwd="/keep")
    out = proc.stdout.readline()
    act()
    while out and word not in out:
        out = proc.stdout.readline()
    gm.expect(word in out, f"{command} {args}: {word} is not printed")
    os.kill(int(gm.read("/tmp/trace").split()[0]), signal.SIGTERM)
    proc.communicate(timeout=gm.WAIT_SECONDS)
    read_trace("/tmp/trace", command)


root = gm.Root()
for name in ("etc/getmnt/audit.conf.d", "keep", "run/udev/data", "run/mount", "run/blkid", "run/systemd/system", "usr/bin",
             "etc/systemd/system", "data", "sub/etc", "sub/x"):
    gm.mkdir(root / name)
gm.tmpfs(root / "data")
gm.tmpfs(root / "data/below")
gm.tmpfs(root / "sub/x")
number = os.stat(gm.loop_mount(gm.image(root / "disk.img", 8 << 20, "mkfs.ext4", "-q"), root / "disk")).st_dev
btrfs = gm.loop_mount(gm.image(root / "btrfs.img", 128 << 20, "mkfs.btrfs", "-q"), root / "btrfs")
for disk in (number, os.stat(btrfs).st_dev):
    os.mknod(f"{root.path}/dev/loop{os.minor(disk)}", 0o60600, disk)
far = gm.FileFuse(root / "far", source="root@far:/sub", fstype="fuse.sshfs")
for program in ("strace", "sh", "true"):
    gm.install(program, root.path)
root.enter()
# Each command and sub-command that --help lists: it must run below, and no row may name another.
COMMANDS = {*gm.commands(), *(f"index {word}" for word in re.findall(r"^   (\w+)  ", gm.getmnt("index", "--help").out.decode(), re.M))} - {"index"}
for row in (*OPEN_ROWS, *CHANGE_ROWS, *START_ROWS):
    gm.expect(row[2] <= COMMANDS | {"all", "index"}, f"unknown commands {sorted(row[2] - COMMANDS)}: {row[3]}")
gm.touch("/keep/table", gm.read("/proc/self/mountinfo"))
gm.touch("/keep/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
gm.touch("/keep/conf")
FSTAB = "none /data tmpfs defaults 0 0\n/dev/nothing /x xfs defaults,nofail 0 0\nLABEL=y none swap sw 0 0\n"
for path in ("/etc/fstab", "/keep/fstab", "/sub/etc/fstab"):
    gm.touch(path, FSTAB)
gm.touch("/etc/mtab", "x /x tmpfs rw 0 0\n")
gm.touch("/keep/file", "x /x tmpfs rw 0 0\n")
gm.touch("/keep/names", "/disk\0")
for name in ("crypttab", "crypttab.initramfs", "veritytab", "integritytab"):
    gm.touch(f"/etc/{name}")
    gm.touch(f"/sub/etc/{name}")
gm.touch("/etc/passwd", "root:x:0:0:::\n")
gm.touch("/etc/group", "root:x:0:\n")
gm.touch("/etc/machine-id", "0" * 32 + "\n")
gm.touch("/etc/getmnt/audit.conf")
gm.touch("/etc/getmnt/audit.conf.d/a.conf")
gm.touch("/run/mount/utab")
gm.touch("/run/blkid/blkid.tab")
gm.touch(f"/run/udev/data/b7:{os.minor(number)}", "E:ID_FS_TYPE=ext4\n")
for name in ("a", "b", "sub/c", "sub/d"):
    gm.touch("/disk/" + name, name * 3000)
    gm.touch("/btrfs/" + name, name)


def put(path, text):
    gm.touch(path, "#!/bin/sh\n" + text)
    os.chmod(path, 0o755)


put("/usr/bin/systemctl", "exit 0\n")
# The other hosts are this one: the real ssh is in remote_ssh.py.
put("/usr/bin/ssh", "exec /bin/getmnt serve --stdio\n")
put("/keep/traced", f"exec {' '.join(STRACE)} /tmp/served /bin/getmnt serve --stdio\n")

for args in ([], ["-J"], ["-k", "--names=kernel"], ["--names=walk", "--algorithm=getmnt1"], ["--names=pure"], ["-o", "TARGET,UUID,LABEL,SIZE"],
             ["-D"], ["--unmounted"], ["-N", str(os.getpid())], ["--root=/sub"], ["-F", "/keep/table"], ["-s"], ["-m"], ["-T", "/data/below"],
             ["/disk"], ["--probe=all"], ["--boundaries"], ["--explain"],
             ["--poll", "--timeout=200"]):
    look("discover", *args)

# The index, and what reads it.
for command, args in (("build", ["/disk", "/btrfs"]), ("build", ["/disk"]), ("build", ["--index-dir=/keep/index", "/disk"]), ("status", []), ("check", []),
                      ("export", ["--csv", "/disk"]), ("export", ["--jsonl", "/disk"]), ("report", ["/disk"]), ("report", ["--by=user", "/disk"]),
                      ("report", ["--svg=/keep/usage.svg", "/disk"]), ("report", ["--svg=/keep/usage.svg", "/disk"])):
    gm.expect(look("index " + command, *args).returncode == 0, f"index {command} {args}")
gm.touch("/disk/new")
os.unlink("/disk/a")
gm.expect(look("index update").returncode == 0, "index update")
look_running("index watch", act=lambda: None, word=b"compared")
look("search", "--index", "*", "/disk")
look("search", "--index", "--index-dir=/keep/index", "--fresh=0", "-m", "*", "/disk")
look("find", "--index", "/disk", "-ls")

for args in (["*", "/disk"], ["-m", "-o", "USER,GROUP,SIZE,PATH", "*", "/disk"], ["-L", "-m", "--engine=bulk", "*", "/disk"], ["--access=w", "*", "/disk"],
             ["--files0-from=/keep/names", "*"], ["--newer=/keep/file", "*", "/disk"], ["--usage", "*", "/disk"], ["--exec=/bin/true", "--", "a*", "/disk"],
             ["*", "/disk", "--exec", "/bin/true"], ["*", "/disk", "--exec-batch", "/bin/true"], ["--delegate", "--timeout=5", "*", "/far"],
             ["*", "ssh://far/disk"], ["--rsh=/keep/traced", "*", "ssh://far/disk"]):
    look("search", *args)
gm.expect(gm.getmnt("search", "-m", "--rsh=/keep/traced", "*", "ssh://far/disk").status == 0, "a server")
read_trace("/tmp/served", "serve")


def elsewhere():
    gm.unshare_mounts()
    yield


other = gm.Other(elsewhere)
look("search", "*", f"/proc/{other.pid}/root/keep")
other.end()

# find, with each of its actions, and each test that reads something else.
gm.mkdir("/keep/tree/sub")
gm.touch("/keep/tree/sub/file")
for args in (["-print"], ["-print0"], ["-ls"], ["-printf", "%p %u %g %F\n"], ["-fprint", "/keep/out"], ["-fprint0", "/keep/out"], ["-fls", "/keep/out"],
             ["-fprintf", "/keep/out", "%p"], ["-fprint", "/dev/null"], ["-exec", "/bin/true", "{}", ";"], ["-exec", "true", "{}", "+"],
             ["-execdir", "/bin/true", "{}", ";"], ["-execdir", "/bin/true", "{}", "+"], ["-ok", "/bin/true", "{}", ";"], ["-okdir", "/bin/true", "{}", ";"],
             ["-newer", "/keep/file"], ["-samefile", "/disk/b"], ["-user", "root", "-nouser"], ["-fstype", "ext4"], ["-empty"], ["-xtype", "f"],
             ["-lname", "x"], ["-readable"]):
    look("find", "/disk", *args, text=b"y\n" * 20)
look("find", "-L", "/disk", "-newerBt", "2020-01-01")
look("find", "-files0-from", "/keep/names")
look("find", "ssh://far/disk", "-ls")
look("find", "/keep/tree", "-depth", "-delete")
gm.expect(not os.path.exists("/keep/tree"), "-delete")

for args in ([], ["--probe=all", "--under", "--holders"], ["--jsonl", "--swaps=/keep/swaps", "--fstab=/keep/fstab", "--config=/keep/conf"],
             ["--root=/sub"], ["--save=/keep/base"], ["--baseline=/keep/base", "--save=/keep/base"], ["--prometheus", "--output=/keep/out"],
             ["--max-time=20"], ["--show-config"], ["--static"], ["-F", "/keep/table"]):
    look("audit", *args)
look_running("audit", "--watch", act=lambda: gm.touch("/etc/fstab", FSTAB + "none /new tmpfs defaults 0 0\n"), word=b"/new")
for args in ([], ["/sub"], ["--genfstab", "/sub"], ["--merge=/keep/fstab", "--add=/disk", "--write", "--yes", "--force"],
             ["--merge", "--add=/disk", "--write", "--yes", "--force"]):
    look("fstab", *args)
for args in (["/keep/file", "--write", "--yes"], ["/etc/mtab", "--check"], ["-p"]):
    look("recover", *args)
for args in (["/disk", "--total-time=0.2"], ["--live", "--total-time=0.2"], ["/disk", "--layers", "--repeats=1", "--total-time=3"]):
    look("profile", *args)
for args in (["/disk"], ["--index-dir=/keep/index", "/disk"]):
    gm.expect(look("index drop", *args).returncode == 0, "index drop")
gm.expect(ran == COMMANDS, f"not run: {sorted(COMMANDS - ran)}")
for row in (*OPEN_ROWS, *CHANGE_ROWS, *START_ROWS):
    # Without openat2 a prober does not open /dev/null.
    missing = (NO_OPENAT2 and "`/dev/null`" in row[3]) or (not SYSTEMCTL and "/systemctl`" in row[3])
    if id(row) not in used and "elsewhere" not in row[3] and not missing:
        gm.fail(f"no run did this ({row[1]}): {row[3][:150]}")
gm.umount("/far")
gm.umount("/disk")
gm.umount("/btrfs")
gm.done()
