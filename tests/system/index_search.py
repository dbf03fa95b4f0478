# SPDX-License-Identifier: MIT
"""getmnt search --index: every option of search, roots below a mount point, mounts and binds of today,
what changed since the index was built (--fresh), an index that is missing, damaged or not ours; and how
much of the index is read."""
import json
import os
import random

import gm

gm.need("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs")
gm.need_fs("xfs", "btrfs")
IMAGES = {"ext4": ("mkfs.ext4", "-q"), "xfs": ("mkfs.xfs", "-q"), "btrfs": ("mkfs.btrfs", "-q")}
root = gm.Root()
gm.install("cat", root.path)
gm.tmpfs(root / "images", "size=1500m")
for name, mkfs in IMAGES.items():
    gm.loop_mount(gm.image(root / f"images/{name}", 320 << 20, *mkfs), gm.mkdir(root / name), "noatime")
root.enter()
gm.mkdir("/index")
INDEX = ("--index", "--index-dir=/index")
rng = random.Random(24)


def build_tree(top):
    """A tree with some thousand files of several owners, sizes and times, and names of any bytes."""
    dirs = [top]
    for i in range(3000):
        where = rng.choice(dirs[-40:])
        path = os.fsencode(f"{where}/{rng.choice(('file', 'Name', 'ä', '.h', 'a b', 'x'))}{i}{rng.choice(('.c', '.h', '.txt', '', '.C', '.'))}")
        kind = rng.randrange(12)
        if kind == 0:
            os.mkdir(path)
            dirs.append(os.fsdecode(path))
        elif kind == 1:
            os.symlink("target", path)
        elif kind == 2:
            os.mkfifo(path + b"\xff\n")
        else:
            with open(path, "wb") as file:
                file.truncate(rng.choice((0, 0, 1, 1000, 4096, 5 << 20, rng.randrange(1 << 30))))
            os.chown(path, rng.choice((0, 0, 1, 1000)), rng.choice((0, 100)))
            os.chmod(path, rng.choice((0o644, 0o755, 0o600, 0o4755)))
            os.utime(path, (1, rng.randrange(1, 2_000_000_000)))


def build(*mounts):
    result = gm.getmnt("index", "build", "--index-dir=/index", *mounts)
    gm.expect(result.status == 0, f"index build {mounts}: {result.err[-500:]}")


def records(result):
    """What was found, whose order is not defined."""
    end = b"\0" if b"\0" in result.out else b"\n"
    return sorted(result.out.split(end))


def same(*args, command="search", cwd="/"):
    """Compare with a search of directories.  @return what --index printed."""
    ours = gm.getmnt(command, *INDEX, *args, cwd=cwd)
    plain = gm.getmnt(command, *args, cwd=cwd)
    one, two = records(ours), records(plain)
    gm.expect(one == two and ours.status == plain.status == 0,
              f"{command} {args}: status {ours.status}, {plain.status}; surplus {sorted(set(one) - set(two))[:3]}, "
              f"missing {sorted(set(two) - set(one))[:3]}; {ours.err[-300:]}")
    return ours


def fails(message, *args, status=1):
    result = gm.getmnt("search", *args)
    gm.expect(result.status == status and message.encode() in result.err, f"{args}: status {result.status}, {result.err}")


for name in IMAGES:
    build_tree(f"/{name}")
    for other in (".c", "a.c", "ma\u212a", "MAK", "ma\u0130", "x.", "."*3):
        gm.touch(f"/{name}/{other}")
    # Covered while the index is made: of this directory nothing but the name is in it.
    gm.tmpfs(gm.mkdir(f"/{name}/point"))
    gm.touch(f"/{name}/back\\")
build("/ext4", "/xfs", "/btrfs")

for name in IMAGES:
    gm.umount(f"/{name}/point")
    os.chown(f"/{name}/point", 1777, 1777)
    gm.expect(same(f"/{name}", "-uid", "1777", command="find").out == f"/{name}/point\n".encode(), "a directory that was covered")
    # A pattern that ends in a backslash matches nothing; an escaped backslash is one.
    for words in (("-name", "back\\"), ("-name", "back\\\\"), ("-name", "\\back\\\\"), ("-iname", "Back\\\\"), ("-iname", "*mak"), ("-iname", "ma[ki]"), ("-iname", "*.C"), ("-name", "*.c"), ("-name", "?*.c"), ("-name", "*."), ("-name", "[m]a*")):
        same(f"/{name}", *words, command="find")
    gm.expect(len(records(same("-i", "mak", f"/{name}"))) == 3, "Kelvin's sign")

# The same as without it: patterns and every kind of output, on each file system.
for name in IMAGES:
    top = f"/{name}"
    for pattern in ("*", "*.c", "file1.c", "*12*", "x*/**/*.h", "/*", "{x,ä}1*", "[xf]*9.C", "*.c|*.h"):
        gm.expect(same("-0", pattern, top).out or "/**/" in pattern or pattern == "file1.c", f"{pattern}: nothing found")
    for args in (("-i", "*.C"), ("--type=d", "*"), ("--no-hidden", "*"), ("--exclude=x*", "*.c"), ("--size=+1k", "*"),
                 ("--user=1000", "--newer=/index", "*"), ("--perm=-4000", "*"), ("--where=-size +1k ! -uid 0", "*.c"), ("-m", "*.txt"),
                 ("--maxdepth=2", "*"), ("--mindepth=3", "x*"), ("--sort=-SIZE", "--top=20", "*.c"), ("--sort=name", "*.h"), ("--access=x", "*.c"),
                 ("--usage", "*"), ("--usage=1", "*"), ("--usage-by=user", "*"), ("--count", "*.C"), ("-o", "PATH,TYPE,SIZE,LINK", "x*"),
                 ("--exec-batch", "cat", "{}", ";", "*5.txt"), ("--empty", "*"), ("-l", "--sort=PATH", "*1.c"),
                 ("-l", "--size=-2k", "*"), ("--usage=1", "--size=-2k", "*"), ("--where=-mindepth 3 -size -2k", "*")):
        if args[0] == "--exec-batch":
            args = ("--type=f", "--size=-2k", args[-1], top, *args[:-1])
            same(*args)
        else:
            same("--blocking", *args, top)
    ours, plain = (json.loads(gm.getmnt("search", *more, "-J", "-m", "*.c", top).out) for more in (INDEX, ()))
    gm.expect(sorted(ours["entries"], key=lambda o: o["path"]) == sorted(plain["entries"], key=lambda o: o["path"]), f"{top}: JSON differs")

# Roots: a directory below the mount point, several, relative, with a slash, a file.
deep = max((os.path.join(at, d) for at, dirs, _ in os.walk("/ext4") for d in dirs), key=lambda path: path.count("/"))
gm.expect(deep.count("/") > 4, deep)
same("*", os.path.dirname(deep))
same("*.c", deep, "/xfs")
same("*", "ext4/", "xfs")
same("*", ".", cwd=os.path.dirname(deep))
same(".", "-name", "*.h", command="find", cwd=deep.rsplit("/", 2)[0])
same("/ext4", "-depth", "-type", "d", command="find")
same("/ext4", "-type", "d", "-name", "x*", "-prune", "-o", "-name", "*.c", "-print0", command="find")

# Mounts of today: mounted twice, elsewhere, a directory of it, read-only.
part = max((entry.path for entry in os.scandir("/ext4") if entry.is_dir() and entry.name != "lost+found"),
           key=lambda path: sum(name.endswith(".c") for name in os.listdir(path)))
gm.bind("/ext4", gm.mkdir("/twice"))
gm.bind(part, gm.mkdir("/part"))
gm.bind("/xfs", gm.mkdir("/moved"))
gm.umount("/xfs")
for where in ("/twice", "/part", "/moved"):
    same("-0", "-m", "*", where)
gm.bind("/moved", "/xfs")
# Another mount covers a directory: what is below is not found, the index of the mount continues.
gm.bind("/btrfs", part)
result = same("*.c", "/ext4")
gm.expect(os.fsencode(part) + b"/" in result.out, "the index of the other mount was not used")
same("/ext4", "-type", "d", command="find")
same("/ext4", "-xdev", command="find")
same("--xdev", "*", "/ext4")
same("/ext4", "-mount", command="find")
same("/ext4", "-path", part, "-prune", "-o", "-print", command="find")
same("/ext4", "-path", part, "-printf", "%p %D %i %F %s %y\n", command="find")
same("--usage", "*", "/ext4")
same("-0", "*", "/twice")       # not covered there
gm.umount(part)
# A mount without an index is told, and its root found; one of a file is a file.
gm.tmpfs(gm.mkdir("/image"), "size=10m")
gm.bind("/image", part)
gm.mount("proc", gm.mkdir("/proc2"), "proc")
gm.bind("/proc2", pseudo := next(entry.path for entry in os.scandir("/ext4") if entry.is_dir() and entry.path != part))
got = gm.getmnt("search", *INDEX, "--stats=json", "nonesuch.name", "/ext4")
gm.expect(got.err.count(b"not searched: ") == 1 and b"kept in memory only" in got.err, f"--stats: {got.err}")
gm.umount(pseudo)
result = gm.getmnt("find", *INDEX, "/ext4", "-path", part + "*")
gm.expect(result.out.decode() == part + "\n" and result.status == 0, f"a covered directory: {result.out}, {result.err}")
gm.expect(result.err.decode() == f"getmnt: {part}: not searched: kept in memory only; search without --index to find what is there\n",
          f"in memory: {result.err}")
gm.umount(part)
os.rename("/index", "/aside")
os.mkdir("/index")
build("/ext4")
gm.bind("/btrfs", part)
result = gm.getmnt("search", *INDEX, "*.c", "/ext4")
gm.expect(f"{part}: not searched: this mount has no index; getmnt index build --index-dir=/index {part}" in result.err.decode() and result.status == 0,
          f"no note of a mount: {result.status}, {result.err}")
gm.umount(part)
file = next(entry.path for entry in os.scandir("/ext4") if entry.is_file() and entry.stat().st_size > 0)
gm.touch("/other", "some text\n")
gm.bind("/other", file)
same("/ext4", "-path", file, "-ls", command="find")
same("/ext4", "-size", "10c", command="find")
gm.umount(file)
fails("the mount /xfs has no index; getmnt index build --index-dir=/index /xfs creates it", *INDEX, "*", "/xfs")
fails("/proc: not searched: this type of file system cannot be indexed", *INDEX, "*", "/proc")
os.rmdir("/index") if not os.listdir("/index") else os.rename("/index", "/less")
fails("the mount /xfs has no index", *INDEX, "*", "/xfs")
os.rename("/aside", "/index")

# Options that exclude it.
fails("cannot be combined with --follow", *INDEX, "-L", "*", "/ext4")
fails("cannot be combined with a PATH on another host", *INDEX, "*", "ssh://localhost/")
fails("--fresh: requires --index", "--fresh=3", "*", "/ext4")
fails('"soon": must be a number of seconds', "--index", "--fresh=soon", "*", "/ext4")

# How much is read: clusters, leaves, and no directory.
stats = gm.getmnt("search", *INDEX, "--stats=json", "file7.c", "/ext4").stats()
gm.expect(stats["index"]["clusters"] >= 1 and stats["index"]["opened"] <= 1 and stats["dirs"] == 0, f"{stats['index']}")
none = gm.getmnt("search", *INDEX, "--stats=json", "nonesuch.name", "/ext4").stats()
gm.expect(none["index"]["opened"] == none["index"]["rows"] == 0 and none["index"]["age"] >= 0, f"{none['index']}")
# Of one leaf, because the attributes of /ext4/point are not known.
for words, most in ((("--where=-uid 7777",), 256), (("--where=-size +100G",), 256), (("--where=-newermt 2040-01-01",), 256), (("--size=+900M",), 3000)):
    stats = gm.getmnt("search", *INDEX, "--stats=json", *words, "*", "/ext4").stats()
    gm.expect(stats["index"]["rows"] <= most, f"{words}: {stats['index']}")
plain = {call: n for call, n in none["calls"].items() if n}
found = gm.getmnt("search", *INDEX, "--stats=json", "-m", "*.c", "/ext4").stats()
gm.expect({call: n for call, n in found["calls"].items() if n} == plain and found["found"] > 100,
          f"calls depend on what is found: {found['calls']}, {plain}")

# What changed since: found as it was, unless it is looked at again.
names = [entry.path for entry in os.scandir("/ext4") if entry.is_file() and entry.name.endswith(".c")][:3]
gm.expect(len(names) == 3, f"too few files: {names}")
os.unlink(names[0])
os.truncate(names[1], 123456)
os.rename(part, "/ext4/renamed")
gm.touch("/ext4/new.c")
was = gm.getmnt("find", *INDEX, "/ext4", "-name", "*.c").out.decode().split("\n")
now = gm.getmnt("find", *INDEX, "--fresh=0", "/ext4", "-name", "*.c")
left = now.out.decode().split("\n")
gm.expect(names[0] in was and names[0] not in left and names[1] in left, f"--fresh: {names}, {now.err}")
gm.expect(any(path.startswith(part + "/") for path in was) and not any(path.startswith(part + "/") for path in left), "--fresh: a moved directory")
gm.expect("/ext4/new.c" not in left and now.status == 0, f"--fresh: {now.err}")
gm.expect(gm.getmnt("find", *INDEX, "--fresh=1h", "/ext4", "-name", "*.c").out.decode().split("\n") == was, "--fresh=1h looks again")
gm.expect(gm.getmnt("find", *INDEX, "--fresh=0", "/ext4", "-size", "123456c").out == b"", "--fresh: what did not match is looked at")
result = gm.getmnt("find", *INDEX, "--fresh=0", "/ext4", "-path", names[1], "-printf", "%s")
gm.expect(result.out == b"123456", f"--fresh: {result.out}")
gm.expect(gm.getmnt("find", *INDEX, "/ext4", "-path", names[2], "-delete").status == 0 and not os.path.exists(names[2]), "-delete")

# What is no longer as the index has it: it is printed, but not deleted, and no command gets it.
stale = ("-path", names[1], "-not", "-size", "123456c")
gm.expect(gm.getmnt("find", *INDEX, "/ext4", *stale).out.decode() == names[1] + "\n", "stale")
for action in (("-exec", "cat", "{}", ";"), ("-execdir", "cat", "{}", "+"), ("-delete",)):
    result = gm.getmnt("find", *INDEX, "/ext4", *stale, *action)
    gm.expect(result.status == 0 and result.out + result.err == b"" and os.path.exists(names[1]), f"stale {action}: {result.err} {len(result.out)}")
for action in ((), ("--exec", "cat", "{}"), ("--exec-batch", "cat", "{}"), ("--exec-dir", "cat", "{}")):
    result = gm.getmnt("search", *INDEX, "--where=! -size 123456c", os.path.basename(names[1]), "/ext4", *action)
    gm.expect(result.status == 0 and (result.out != b"") == (action == ()), f"stale {action}: {result}")

result = gm.getmnt("search", *INDEX, os.path.basename(names[1]), "/ext4", "--exec-dir", "cat")
gm.expect(result.status == 0 and len(result.out) == 123456, f"--exec-dir: {result.status} {len(result.out)} {result.err}")

# Not ours, damaged.
os.chmod("/index", 0o700)
result = gm.getmnt("search", *INDEX, "*", "/ext4", uid=1000)
gm.expect(result.status == 1 and b"/index: cannot be used" in result.err, f"another user: {result.err}")
for at, _, files in os.walk("/index"):
    for name in files:
        if name.startswith(("segment", "manifest")):
            path = os.path.join(at, name)
            data = bytearray(gm.read_bytes(path))
            for i in range(len(data) // 3, len(data), 97):
                data[i] ^= 0x55
            with open(path, "wb") as damaged:
                damaged.write(data)
result = gm.getmnt("search", *INDEX, "*", "/ext4")
gm.expect(result.status == 1 and b"is damaged" in result.err and b"getmnt index build" in result.err, f"damaged: {result.status}, {result.err[-300:]}")
gm.done()
