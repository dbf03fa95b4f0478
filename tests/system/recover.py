# SPDX-License-Identifier: MIT
"""An mtab of real mounts, judged and made anew: as the kernel has it, and as libmount reads it."""
import collections
import json
import os
import re
import stat
import time

import gm

gm.need("findmnt", "mkfs.ext4", "losetup")
gm.need_fs("ext4", "fuse", "overlay")
NAMES = [b"two words", b"tab\there", b"new\nline", b"back\\slash", b"#hash", b"trailing ", b"literal\\040x",
         b"caf\xc3\xa9", b"inv\xff\xfe", b"a,b", b"quo\"te", b"(deleted)", b"esc\x1b[1m", b"cr\r", b" lead", b"r\xe2\x80\xaetl"]

root = gm.Root()
for program in ("findmnt", "cat"):
    gm.install(program, root.path)
gm.image(root / "img", 16 << 20, "mkfs.ext4", "-q", "-F")
gm.loop_mount(root / "img", root / "data", "sync", "lazytime", "noatime", "errors=remount-ro")
for number, name in enumerate(NAMES):
    where = os.fsencode(root.path) + b"/n/" + name
    gm.tmpfs(where, "size=1m", source=name)
    if number % 3 == 0:
        gm.tmpfs(where + b"/" + name, "size=2m,mode=700")
for number in range(5):
    gm.tmpfs(root / "stack", f"size={number + 1}m", source=f"s{number}")
gm.tmpfs(root / "stack", "size=5m", source="s4")
gm.mkdir(root / "data/dir with blank")
gm.bind(root / "data/dir with blank", root / "bound")
gm.mount(None, root / "bound", None, gm.MS_BIND | 32 | gm.MS_RDONLY)   # remount
gm.touch(root / "data/file")
gm.bind(root / "data/file", root / "etc/a file")
gm.overlay(root / "over", root / "data", gm.mkdir(root / "layers"))
gm.tmpfs(root / "covered/in")
gm.tmpfs(root / "covered")
gm.mount("second", gm.mkdir(root / "proc2"), "proc")
gm.tmpfs(root / "c", source="c root")
gm.mount("proc", gm.mkdir(root / "c/proc"), "proc")
gm.mkdir(root / "c/etc")
gm.tmpfs(root / "c/in side")
gm.install("cat", root / "c")
os.mknod(root / "dev/fuse", 0o666 | stat.S_IFCHR, os.makedev(10, 229))
hung = gm.HungFuse(root / "hung/here")               # what must not be waited for
gm.tmpfs(root / "hung/beside")
gm.mkdir(root / "run/mount")
terminals = [os.openpty() for _ in range(4)]       # while there is a /dev/pts
gm.mkdir(root / "var")
root.enter()


def recover(*args, **more):
    return gm.getmnt("recover", *args, **more)


def kernel():
    """The kernel's own mtab."""
    return gm.read_bytes("/proc/self/mounts")


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def get(path):
    return gm.read_bytes(path)


def by_libmount(path):
    """What libmount reads of an mtab: target, source, type, options."""
    out = gm.run("findmnt", "-F", path, "-C", "-rn", "-o", "TARGET,SOURCE,FSTYPE,OPTIONS")
    rows = []
    for line in out.encode().split(b"\n")[:-1]:
        fields = [re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), field)
                  for field in line.split(b" ")]
        rows.append((fields[0], fields[1], fields[2], frozenset(fields[3].split(b","))))
    return collections.Counter(rows)


def by_kernel():
    """The same of mountinfo."""
    rows = []
    with open("/proc/self/mountinfo", "rb") as f:
        for line in f.read().split(b"\n")[:-1]:
            fields = line.split(b" ")
            sep = fields.index(b"-", 6)
            options = set(fields[5].split(b",") + fields[sep + 3].split(b","))
            if b"ro" in options:
                options.discard(b"rw")
            rows.append((gm.unescape(fields[4]), gm.unescape(fields[sep + 2]), fields[sep + 1],
                         frozenset(gm.unescape(o) for o in options)))
    return collections.Counter(rows)


# Byte for byte what the kernel has, whatever names come from, and without the newer calls.
truth = kernel()
for args in ((), ("--names=walk",), ("--names=kernel",)):
    for env in (None, gm.without("listmount"), gm.without("listmount", "statx-mntid", "openat2")):
        result = recover("-p", *args, "/missing", env=env)
        same = result.out == truth
        gm.expect(same and result.status == 1, f"{args} {env}: status {result.status}, {result.err}, "
                  f"{set(result.out.splitlines()) ^ set(truth.splitlines())}")

# What is written is right, and libmount reads of it what is mounted.
result = recover("--write", "--yes")
gm.expect(result.status == 0 and get("/etc/mtab") == truth, f"written: {result.status} {result.err}")
gm.expect(by_libmount("/etc/mtab") == by_kernel(),
          f"by libmount: {by_libmount('/etc/mtab') - by_kernel()} / {by_kernel() - by_libmount('/etc/mtab')}")
result = recover("--json")
found = result.json()
gm.expect(result.status == 0 and found["right"] and found["counts"]["right"] == truth.count(b"\n"), f"right: {found}")
gm.expect(found["complete"] and found["mntns"] and found["table"], f"head: {found}")
for form in ("mnttab", "setmnt"):
    put("/var/form", recover(f"--format={form}", "-p", "/missing").out)
    gm.expect(recover(f"--format={form}", "/var/form").status == 0, f"{form} is not right")
    lines = get("/var/form").split(b"\n")[:-1]
    gm.expect(len(lines) == truth.count(b"\n") and all(len(line.split()) == {"mnttab": 5, "setmnt": 2}[form]
                                                     for line in lines), f"{form}: {lines}")

# A time is one that the mount can have: since the system was started, and not to come.
lines = recover("--format=mnttab", "-p", "/missing").out.split(b"\n")[:-1]
started = int(time.time() - float(gm.read("/proc/uptime").split()[0]))
times = (5, started - 60, started + 1, int(time.time()) - 1, int(time.time()) + 1000)
put("/var/mnttab", b"".join(line[:-1] + str(times[i] if i < len(times) else 0).encode() + b"\n" for i, line in enumerate(lines)))
wrong = [f["line"] for f in recover("--json", "/var/mnttab").json()["findings"] if f["fields"] == ["time"]]
gm.expect(wrong == [1, 2, 5], f"times: {wrong}")
kept = [line.split(b"\t")[4] for line in recover("-p", "/var/mnttab").out.split(b"\n")[:-1]]
gm.expect(kept[:6] == [b"0", b"0", b"%d" % times[2], b"%d" % times[3], b"0", b"0"], f"times: {kept[:6]}")
os.unlink("/var/mnttab")

# On a terminal nothing that is printed does harm, or is a secret.
put("/table", b"1 1 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:9 / /a\x1b[31mb\xff rw - cifs //u:pw@h/x rw,password=hunter2\n")
for args, secret in ((("-p",), False), (("--diff",), False), ((), False), (("--all",), False)):
    leader, follower = terminals.pop()
    recover("-F", "/table", *args, put("/var/empty", b"x /a\x1b[31mc cifs pass=hunter2 0 0\n"), stdout=follower)
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 65536):
            shown += piece
    except OSError:
        pass
    os.close(leader)
    gm.expect(b"\x1b" not in shown and b"\xff" not in shown and b"hunter2" not in shown and b":pw@" not in shown
              and b"31m" in shown, f"{args}: on a terminal: {shown}")
os.unlink("/var/empty")

# A mount more, one less, one with other options: told, and put right.
gm.tmpfs("/new one")
gm.umount("/data/x" if os.path.ismount("/data/x") else "/n/two words/two words")
gm.mount(None, "/layers/w" if os.path.ismount("/layers/w") else "/n/caf\u00e9", None, 32 | gm.MS_RDONLY, "size=1m")
result = recover("--json")
verdicts = {(f["verdict"], (f["expected"] or f)["target"]) for f in result.json()["findings"] if f["verdict"] != "right"}
gm.expect(verdicts == {("missing", "/new one"), ("gone", "/n/two words/two words"), ("wrong", "/n/caf\u00e9")},
          f"changes: {verdicts}")
gm.expect(recover().status == 1 and recover("--check").status == 1, "changes: status")
truth = kernel()
gm.expect(recover("--write", "--yes").status == 0 and get("/etc/mtab") == truth, "changes are not put right")

# Options that the kernel does not know: kept where somebody else says so.
put("/etc/passwd", b"root:x:0:0::/:/bin/sh\nbob:x:1000:1000::/:/bin/sh\n")
put("/etc/fstab", b"#\nimg /data ext4 user,x-fs=1,_netdev 0 0\nnone /new\\040one tmpfs x-gvfs-show,user 0 0\n")
put("/run/mount/utab", b"SRC=s4 TARGET=/stack ROOT=/ OPTS=user=alice,x-u,helper=h,_netdev\n")
hints = {b"/data": (b"user=bob,x-fs=1,x-other,user=eve,_netdev", b"user=bob,x-fs=1,_netdev"),
         b"/new\\040one": (b"x-gvfs-show,_netdev,user=eve", b"x-gvfs-show"),
         b"/over": (b"x-gvfs-show,user=bob,loop=/dev/loop0", b""), b"/proc": (b"_netdev,helper=x", b"")}
given, kept = [], []
for line in truth.split(b"\n")[:-1]:
    fields = line.split(b" ")
    more = hints.get(fields[1], (b"", b""))
    for text, one in ((given, more[0]), (kept, more[1])):
        text.append(b" ".join([*fields[:3], b",".join(filter(None, [fields[3], one])), *fields[4:]]) + b"\n")
last = max(i for i, line in enumerate(given) if b" /stack " in line)
given[last] = given[last].replace(b" 0 0", b",user=alice,x-u,helper=h,uhelper=h,x-v,_netdev 0 0")
kept[last] = kept[last].replace(b" 0 0", b",user=alice,x-u,helper=h,_netdev 0 0")
put("/etc/mtab", b"".join(given))
result = recover("--write", "--yes")
gm.expect(result.status == 0 and get("/etc/mtab") == b"".join(given), f"hints: what is right is changed: {result.err}")
result = recover("-p")
gm.expect(result.out == b"".join(kept), f"hints: {set(result.out.splitlines()) ^ set(b''.join(kept).splitlines())}")
gm.expect(recover("-p", "--names=kernel").out == b"".join(kept), "hints: --names=kernel")
gm.expect(recover("-p", "--keep=all").out.count(b"user=eve") == 2, "hints: --keep=all")
gm.expect(recover("-p", "--keep=none").out == truth, "hints: --keep=none")
put("/etc/mtab", b"".join(given) + b"garbage\n")
result = recover("--write", "--yes")
gm.expect(result.status == 0 and get("/etc/mtab") == b"".join(kept) and b"user=eve is not kept" in result.err,
          f"hints: {result.status} {result.err}")
# Of a lone witness that is wrong nothing comes.
put("/etc/fstab", b"\0\xff garbage \\0")
put("/run/mount/utab", b"garbage TARGET= OPTS=\n\0")
put("/etc/passwd", b":::\nbob\n::x")
put("/etc/mtab", b"".join(given))
gm.expect(recover("-p").out == truth, "hints: damaged witnesses")

# Links.
os.symlink("/proc", "/var/link")
for to in ("/proc/mounts", "../proc/self/mounts", "/var/link/self/mounts", "/proc2/mounts", "/proc2/self/mounts",
           "/proc/thread-self/mounts", "/proc/1/mounts", "/proc/nothing/../mounts"):
    os.unlink("/etc/mtab")
    os.symlink(to, "/etc/mtab")
    for args in ((), ("--write", "--yes"), ("--diff",), ("--json",)):
        result = recover(*args)
        gm.expect(result.status == 0 and os.readlink("/etc/mtab") == to, f"link to {to}: {result.status} {result.err}")
for to in ("/proc/self/mountinfo", "/var/link/self/mountinfo", "/proc2/self/status"):
    os.unlink("/etc/mtab")
    os.symlink(to, "/etc/mtab")
    result = recover("--write", "--yes")
    gm.expect(result.status in (1, 16) and os.readlink("/etc/mtab") == to, f"link to {to}: {result.status} {result.err}")
result = recover("--write", "--yes", "--force-file")
gm.expect(result.status == 0 and not os.path.islink("/etc/mtab") and get("/etc/mtab") == truth, f"{result.err}")
os.rename("/etc/mtab", "/var/mtab")
put("/var/mtab", truth[100:])
os.symlink("/var/mtab", "/var/between")
os.symlink("../var/between", "/etc/mtab")
result = recover("--write", "--yes", "--no-backup")
gm.expect(result.status == 0 and os.readlink("/etc/mtab") == "../var/between" and os.readlink("/var/between") == "/var/mtab"
          and get("/var/mtab") == truth, f"link to a file: {result.status} {result.err}")
gm.expect(sorted(os.listdir("/var")) == ["between", "form", "link", "mtab"], f"left: {os.listdir('/var')}")

# A file that is bound there cannot be replaced: 16, and it is as it was.
os.unlink("/etc/mtab")
put("/data/mtab", b"garbage\n")
gm.bind("/data/mtab", "/etc/mtab")
result = recover("--write", "--yes")
gm.expect(result.status == 16 and get("/etc/mtab") == b"garbage\n" and b"mount point" in result.err, f"bound: {result.err}")
gm.umount("/etc/mtab")

# As a process whose root is another directory sees it: as such a process does.
inside = gm.getmnt("/proc/self/mounts", program="/bin/cat", chroot="/c").out
result = recover("--root=/c", "-p", "/etc/mtab")
gm.expect(result.out == inside and result.status == 1, f"--root: {result.out} {inside} {result.err}")
os.symlink("../proc/self/mounts", "/c/etc/mtab")
gm.expect(recover("--root=/c").status == 0, "--root: a link is right")
os.unlink("/c/etc/mtab")
os.symlink("/../../etc/../mtab", "/c/etc/mtab")
gm.touch("/c/mtab")
result = recover("--root=/c", "--write", "--yes")
gm.expect(result.status == 0 and get("/c/mtab") == inside and not os.path.exists("/mtab"), f"--root: {result.err}")
# A rescue system: the disk's /proc is not mounted, and its table is recorded.
gm.umount("/c/proc")
for to in ("/proc/mounts", "../proc/self/mounts"):
    os.unlink("/c/etc/mtab")
    os.symlink(to, "/c/etc/mtab")
    gm.expect(recover("--root=/c").status == 0, f"--root: a dangling link to {to} is right")
os.unlink("/c/etc/mtab")
put("/table", b"1 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
result = recover("--root=/c", "-F", "/table", "--write", "--yes")
gm.expect(result.status == 0 and get("/c/etc/mtab") == b"/dev/sda1 / ext4 rw 0 0\n", f"--root -F: {result.err}")

# With a root its own fstab counts, but not next to a mount that can block.
os.symlink("/etc", "/c/x")
put("/c/etc/fstab", b"none /in\\040side tmpfs x-in 0 0\n")
put("/c/etc/mtab", inside.replace(b"size=65536k", b"size=65536k,x-in,x-out"))
if b"size=65536k" in inside and not os.path.ismount("/c/proc"):
    truth_in = b"".join(line + b"\n" for line in inside.split(b"\n")[:-1] if b" /proc " not in line)
    result = recover("--root=/c", "-p", "/etc/mtab")
    # The kernel decides what a tmpfs shows after its size.
    hinted = b"".join(line[:-4] + b",x-in 0 0\n" if b" /in\\040side " in line else line + b"\n"
                      for line in truth_in.split(b"\n")[:-1])
    gm.expect(result.out == hinted and b"x-in" in result.out, f"--root: hints: {result.out} {truth_in} {result.err}")

# A mount without a name: told, and nothing is written that would lack it.
put("/etc/mtab", b"garbage\n")
result = recover("--names=pure", "-p")
gm.expect(b"name could not be established" in result.err and result.status == 2, f"nameless: {result.status} {result.err}")
result = recover("--names=pure", "--write", "--yes")
gm.expect(result.status == 2 and get("/etc/mtab") == b"garbage\n", f"nameless: {result.status} {result.err}")


# A link of a user leads root nowhere: nothing is printed, written or made.
os.makedirs("/u/home")
put("/u/secret", b"secret of root /x tmpfs rw 0 0\n")
os.chmod("/u/secret", 0o600)
os.symlink("../secret", "/u/home/mtab")
os.symlink("../nologin", "/u/home/dangling")
os.symlink("..", "/u/home/dir")
for name in ("", "/mtab", "/dangling", "/dir"):
    os.lchown("/u/home" + name, 65534, 65534)
for args in (("--check",), ("--diff",), ("-p",), ("--json",), ("--write", "--yes"), ("--write", "--yes", "--force-file")):
    for name, link in (("mtab", "mtab"), ("dangling", "dangling"), ("dir/secret", "dir")):
        for root_args in (("/u/home/" + name,), ("--root=/u", "/home/" + name)) if name != "dangling" or "--force-file" not in args else ():
            result = recover(*args, *root_args)
            gm.expect(result.status == 2 and f"symlink /u/home/{link} belongs to uid 65534".encode() in result.err
                      and b"secret of" not in result.out + result.err, f"{args} {root_args}: {result.status} {result.out} {result.err}")
result = gm.getmnt("fstab", "--merge=/u/home/mtab", "--diff")
gm.expect(result.status == 2 and b"belongs to uid 65534" in result.err and b"secret of" not in result.out, f"{result.err}")
gm.expect(sorted(os.listdir("/u")) == ["home", "secret"] and sorted(os.listdir("/u/home")) == ["dangling", "dir", "mtab"]
          and get("/u/secret") == b"secret of root /x tmpfs rw 0 0\n", f"{os.listdir('/u')} {os.listdir('/u/home')}")
os.lchown("/u/home/dangling", 0, 0)
result = recover("--write", "--yes", "/u/home/dangling")
gm.expect(result.status == 16 and b"the target of the symlink does not exist" in result.err
          and not os.path.exists("/u/nologin"), f"dangling: {result.status} {result.err}")

# What never answers is not waited for, whatever leads into it.
os.makedirs("/d/etc")
os.symlink("/hung/here/mtab", "/d/mtab")
os.symlink("/hung/here", "/d/dir")
os.symlink("/hung/here/fstab", "/d/link")
os.symlink("../dead/fstab", "/d/etc/fstab")
dead = gm.HungFuse("/d/dead", dev="/dev/fuse")
where = {"/d/mtab": "/hung/here", "/d/dir/mtab": "/hung/here"}
for name, place in where.items():
    for args in (("--check",), ("-p",), ("--write", "--yes"), ("--names=kernel",), ("--write", "--yes", "--force-file")):
        result = recover(*args, name)
        gm.expect(result.status == 2 and f"accessing {place} can block".encode() in result.err, f"{args} {name}: {result.err}")
for args, place in ((("recover", "--root=/d", "/etc/fstab"), "/d/dead"), (("recover", "--root=/d", "/dead/fstab"), "/d/dead"),
                    (("fstab", "--merge", "--check", "/d"), "/d/dead"), (("fstab", "--merge=/d/link", "--diff"), "/hung/here")):
    result = gm.getmnt(*args)
    gm.expect(result.status == 2 and f"accessing {place} can block".encode() in result.err, f"{args}: {result.status} {result.err}")
# Nor for what bears hints out.
put("/d/file", b"hung /dead fuse rw,relatime,user_id=0,group_id=0,allow_other,x-in 0 0\n")
result = recover("--root=/d", "-p", "/file")
gm.expect(result.status is not None and b" /dead fuse " in result.out and b"x-in" not in result.out
          and b"x-in is not kept" in result.err, f"hints: {result.status} {result.out} {result.err}")
over = gm.HungFuse("/d/etc", dev="/dev/fuse")
for args in (("recover", "--root=/d", "/etc/fstab"), ("recover", "--root=/d"), ("fstab", "--merge", "--check", "/d")):
    result = gm.getmnt(*args)
    gm.expect(result.status == 2 and b"accessing /d/etc can block" in result.err, f"{args}: {result.status} {result.err}")
for fuse, place in ((over, "/d/etc"), (dead, "/d/dead")):
    gm.umount(place, gm.MNT_DETACH)
    fuse.end()
# Nor by the FILE that nobody named.
os.rename("/etc/mtab", "/etc/mtab.old")
os.symlink("/hung/here/mtab", "/etc/mtab")
result = recover()
gm.expect(result.status == 2 and b"accessing /hung/here can block" in result.err, f"default: {result.status} {result.err}")
os.rename("/etc/mtab.old", "/etc/mtab")


# The fstab of a root, where one that can block lies over it, is not waited for.
hung_etc = gm.HungFuse("/c/etc", dev="/dev/fuse")
put("/c/mtab", inside.replace(b" 0 0", b",x-in 0 0"))
result = recover("--root=/c", "-p", "/mtab")
gm.expect(b"x-in" not in result.out and result.status is not None, f"hung etc: {result.status} {result.err}")
result = recover("--root=/hung/here", "/mtab")
gm.expect(result.status == 2 and b"can block" in result.err, f"hung root: {result.status} {result.err}")
gm.umount("/c/etc", gm.MNT_DETACH)
hung_etc.end()


def calls(*args):
    """The kernel calls of a run that do not grow with the table by themselves."""
    result = recover("--stats=json", "--names=kernel", *args, env=gm.without("listmount"))
    found = json.loads(result.err.splitlines()[-1])["calls"]
    return {name: n for name, n in found.items() if name != "read"}


# Apart from the table, the number of kernel calls does not grow with mounts and lines.
few = calls("/etc/mtab")
for number in range(400):
    gm.tmpfs(f"/many/{number}", "size=1k")
put("/etc/mtab", kernel()[5000:] * 3)
gm.expect(calls("/etc/mtab") == few, f"calls: {few}, with 400 mounts {calls('/etc/mtab')}")
hung.end()
gm.done()
