# SPDX-License-Identifier: MIT
"""getmnt search --delegate: the server of an sshfs mount finds what a search through the mount finds, for
the patterns of tests/fixtures/search and random ones, wherever in the tree the mount is; it is believed
only if it shows the same directory.  sshfs runs a local sftp-server; the remote shell a local getmnt."""
import os
import random
import re
import subprocess
import time

from delegation import ENV, PROGRAM, WORK, Delegation, calls, script, shell, sort_lines
import gm

gm.need_features("--blocking is not delegated", "openat2")
gm.need("sshfs")
gm.need_fs("fuse")
SFTP = next((path for path in ("/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server")
             if os.path.exists(path)), None) or gm.skip("there is no sftp-server")
FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures/search")
OPTIONS = {"PERIOD": ["--period"], "PAPER_Q": ["--paper"], "EXTENDED": [], "NOCASE": ["-i"], "XDEV": ["--xdev"],
           "METADATA": ["-m"], "INCLUDEROOT": []}
COLUMNS = "TYPE,MODE,USER,GROUP,SIZE,PATH"
gm.tmpfs(WORK, "nr_inodes=0,size=1g,mode=755")
rng = random.Random(int(os.environ.get("GETMNT_SEED", time.time_ns() % 10**9)))
mounted = []


def decode(text):
    """\\ooo is a byte."""
    return re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8)]), os.fsencode(text))


def lines_of(name):
    with open(f"{FIXTURES}/{name}", encoding="utf-8", errors="surrogateescape") as file:
        return [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]


def build(top):
    """Make the trees of the fixtures, without their mounts.  @return the directories of each."""
    trees = {}
    for line in lines_of("trees"):
        kind, *fields = line.split(" ")
        fields = [decode(field) for field in fields]
        path = os.path.join(os.fsencode(top), fields[0]) if kind == "tree" else os.path.join(tree, fields[0])
        if kind in ("tree", "d", "m"):
            os.makedirs(path)
            if kind == "tree":
                tree = path
                folders = trees.setdefault(fields[0].decode(), [])
            else:
                folders.append(fields[0])
        elif kind == "l":
            os.symlink(fields[1], path)
        elif kind == "p":
            os.mkfifo(path)
        else:
            with open(path, "wb") as file:
                file.write(b"x" * rng.randrange(3000))
    return trees


def sshfs(source, point, *options):
    """Mount by sshfs."""
    gm.mkdir(os.fsdecode(point))
    # Nothing is cached: a change of the server is seen at once.
    gm.run("sshfs", *(word for option in (f"ssh_command={sftp}", "dir_cache=no,attr_timeout=0,entry_timeout=0", *options) for word in ("-o", option)), source, point)
    mounted.append(point)


def leave():
    """Unmount, which ends sshfs."""
    for point in reversed(mounted):
        gm.libc.umount2(os.fsencode(point), gm.MNT_DETACH)
    limit = time.monotonic() + gm.WAIT_SECONDS
    while subprocess.run(["pgrep", "-f", f"^sshfs .*{WORK}/"], stdout=subprocess.DEVNULL, check=False).returncode == 0:
        if time.monotonic() > limit:
            break
        time.sleep(0.02)
    time.sleep(0.1)


sftp = script("sftp", f"exec {SFTP}")
through = Delegation()
same, refused, search = through.same, through.refused, through.search
# The trees of the fixtures: all below one mount; and for each a copy, in which a directory is a mount.
trees = build(f"{WORK}/src")
sshfs(f"u@h:{WORK}/src", f"{WORK}/all")
gm.run("cp", "-a", f"{WORK}/src", f"{WORK}/mid")
points = {}
for tree, folders in trees.items():
    full = [folder for folder in folders if os.listdir(os.path.join(os.fsencode(f"{WORK}/src/{tree}"), folder))]
    if full:
        folder = os.fsdecode(rng.choice(full))
        if re.search(r"[\n:,\\]", folder):
            continue
        gm.run("rm", "-r", f"{WORK}/mid/{tree}/{folder}")
        sshfs(f"u@h:{WORK}/src/{tree}/{folder}", f"{WORK}/mid/{tree}/{folder}")
        points[tree] = folder
gm.expect(len(points) > 8, f"{points}")
rows = [row.split("\t") for row in lines_of("rows")]
rows = [row for row in rows if not {"FOLLOW", "STOPATFIRST", "R_OK", "W_OK", "X_OK"} & set(row[3].split(","))
        and not row[5].startswith("!")]
every = 2 if gm.SLOW == 1 and not gm.sanitized() else 9
for number, (tree, roots, pattern, flags, _, _) in enumerate(rows[rng.randrange(every)::every]):
    options = [word for flag in flags.split(",") if flag != "-" for word in OPTIONS[flag] if word != "-m"]
    top = ("all", "mid")[number % 2]
    roots = [f"{top}/{tree}" + ("" if root == "/" else os.fsdecode(decode(root))) for root in roots.split(" ")]
    # A root that is missing is an error, and one in the mount a connection of its own.
    same(*options, *(("-0",) if number % 3 else ("-0", "-o", COLUMNS)), "--", os.fsdecode(decode(pattern)), *roots, delegated=None)
gm.expect(through.compared > 20 and calls() > through.compared / 2, f"{through.compared} rows, {calls()} connections")
print(f"  {through.compared} rows, {calls()} connections")

# Random patterns: names on the way to a mount and below it, with wildcards.
for tree, folder in points.items():
    below = [name.decode(errors="surrogateescape") for name in os.listdir(os.fsencode(f"{WORK}/src/{tree}/{folder}"))]
    for _ in range(8 if every == 2 else 2):
        parts = folder.split("/") + [rng.choice(below)]
        parts = parts[rng.randrange(len(parts)):]
        parts = [rng.choice((re.sub(r"[][*?{}|\\,]", "?", part), "*", "**", "{" + "x,*}", part[:1].replace("{", "?") + "*")) for part in parts]
        pattern = rng.choice(("", "/", "**/")) + "/".join(parts) + rng.choice(("", "", "|*.c", "|b/*"))
        if "\n" in pattern or re.search(r"[][\\]", pattern):
            continue
        same("-0", *rng.choice(([], [f"--exclude={rng.choice(('*a*', '/*/b', 'b/*'))}"], ["--depth=2"], ["-i"])), "--", pattern,
             f"mid/{tree}", delegated=None)

# Forms, tests and options.
gm.mkdir(f"{WORK}/x/y/z")
gm.touch(f"{WORK}/x/y/z/local.c", "1")
for i in range(30):
    gm.touch(gm.mkdir(f"{WORK}/data/d{i % 3}/e{i % 5}") + f"/f{i}.c", "x" * (i * 100))
    os.utime(f"{WORK}/data/d{i % 3}/e{i % 5}/f{i}.c", (1e9 + i, 1e9 + i * 86400))
os.symlink("d1", f"{WORK}/data/link")
sshfs(f"u@h:{WORK}/data", f"{WORK}/x/y/m")
for args in (("*.c",), ("-o", "TYPE,SIZE,MTIME,PATH", "*.c"), ("*",), ("-0", "m"), ("-o", "TYPE,PATH", "m"), ("m/*",), ("/y/*/d1/**",),
             ("--count", "*"), ("--type=d", "*"), ("--type=l", "-o", "LINK,PATH", "*"), ("--size=+1000", "*.c"),
             ("--where", "-path x/y/m/d1* -size +500c", "*"), ("--where", "-regex '.*/[de]2/.*'", "*"),
             ("--where", "-name d1 -prune -o -name '*.c'", "*"), ("--where", "-mindepth 4 -maxdepth 5", "*"),
             ("--where", "-mindepth 6", "*"), ("--mindepth=5", "--maxdepth=5", "*"), ("local.c",), ("--changed-before=2002-01-01", "*"),
             ("--user=root", "*"), ("--user=nobody", "*"), ("--perm=-200", "*"), ("--exclude=e*", "*"), ("--exclude=y/m/d1", "*"),
             ("--where", "! -newermt 2001-09-20", "*.c"), ("--threads=1", "*"), ("--no-hidden", "-i", "*.C")):
    same(*args, "x")
same("*.c", "x", "x/", "./x/y", delegated=3)
same("*.c", "x/y/m", f"{WORK}/x/y/m/d1", "x/y/m/d2/", delegated=3)
same("/d1/*", "x/y/m")
same("-o", "TYPE,PATH", "*", "x/y/m/d1")
same("--depth=3", "*", "x", status=1)
same("nothing", "x")
for args in (("/y/m",), ("/{y/,}m",), ("--xdev", "*"), ("--exclude-type=fuse.sshfs", "*"), ("--maxdepth=2", "*"), ("--depth=2", "*"), ("--where", "-maxdepth 2 -size +1", "*")):
    same("-o", COLUMNS, *args, "x", status=1 if args[0] == "--depth=2" else None, delegated=None)
for args in (("--where", "-maxdepth 2", "*", "x"), ("/y/z/*", "x"), ("/*", "x"), ("--xdev", "*", "x"), ("--depth=1", "*", "x"), ("--maxdepth=2", "*", "x"), ("--exclude-type=fuse.sshfs", "*", "x"),
             ("--where", "-maxdepth 1", "*", "x"), ("--exclude=m", "*", "x")):
    same(*args, delegated=0, status=None if args[0] != "--depth=1" else 1)
first = search("--first", "*.c", "x/y/m")
gm.expect(first.status == 0 and first.out.count(b"\n") == 1, f"--first: {first.out} {first.err}")
# Devices are those of the mount, as its ID is; the rest is the server's.
out = search("-o", "DEV,INO,PATH", "f7.c", "x").out.decode().split("\t")
st, there = os.stat(f"{WORK}/x/y/m/d1/e2/f7.c"), os.stat(f"{WORK}/data/d1/e2/f7.c")
gm.expect(out[0] == f"{os.major(st.st_dev)}:{os.minor(st.st_dev)}" and int(out[1]) == there.st_ino, f"{out}")

# Mounts of several hosts in one search: each is searched by its own.
gm.mkdir(f"{WORK}/far/deep")
for i in range(50):
    gm.touch(f"{WORK}/far/deep/g{i}.c", "y" * i)
sshfs(f"u@h1:{WORK}/data", f"{WORK}/two/a/m")
sshfs(f"v@h2:{WORK}/far", f"{WORK}/two/b/m")
sshfs(f"h3:{WORK}/far/deep", f"{WORK}/two/m")
for args in (("*.c",), ("-o", COLUMNS, "*"), ("--sort=name", "*"), ("--where", "-path '*/m/d*' -size +10c", "*"), ("/[ab]/m/*",), ("m",)):
    before = calls()
    same(*args, "two", delegated={"/[ab]/m/*": 2, "m": 3}.get(args[0], 3))
    with open(f"{WORK}/log", encoding="utf-8") as file:
        hosts = {line.split(" getmnt")[0] for line in file.readlines()[before:]}
    gm.expect(hosts - {"h3"} == {"-l u h1", "-l v h2"}, f"{args}: {hosts}")
same("*.c", "x", "two/a", "two/b/m", delegated=3)
# Of one that fails the others know nothing.
lame = shell("lame", f'case $(tail -n 1 {WORK}/log) in *" h2 "*) exit 5; esac; exec')
expected = search("--blocking", "*.c", "two", rsh=False)
got = search("--blocking", "*.c", "two", rsh=lame)
gm.expect(sort_lines(got.out) == sort_lines(expected.out) and got.err.count(b"\n") == 1
          and b"two/b/m: not delegated: " in got.err and b"(status 5)" in got.err, f"one of three: {got.err}")

# A program with the library: its transport connects, here and there; without one of both it searches through the mounts.
helper = os.path.join(os.path.dirname(PROGRAM), "tests/lib/delegated")
tops = ("two/a", "two/b", "x")
if not os.path.exists(helper):
    print("  tests/lib/delegated is not built")
else:
    def program(mode, pattern="*"):
        return subprocess.run([helper, mode, PROGRAM, through.good, pattern, *tops], cwd=WORK, env=ENV, check=False, stdin=gm.null,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=gm.RUN_SECONDS)
    for pattern in ("*", "*.c", "/m/d1/**|/deep/*"):
        plain = program("nologin", pattern)
        gm.expect(plain.returncode == 0 and plain.stderr == b"0 0\n", f"nologin: {plain.returncode} {plain.stderr}")
        gm.expect(pattern != "*" or plain.stdout.count(b"\n") > 130, f"{plain.stdout}")
        for mode, counts in (("both", b"3 3"), ("nohere", b"0 0"), ("noconnect", b"3 3"), ("badhere", b"0 3")):
            if pattern.startswith("/"):
                counts = counts.replace(b"3", b"2")     # nothing in x can match
            got = program(mode, pattern)
            gm.expect(got.returncode == 0 and sort_lines(got.stdout) == sort_lines(plain.stdout) and got.stderr.strip() == counts,
                      f"{mode} {pattern}: {got.returncode} {got.stderr} {set(sort_lines(got.stdout)) ^ set(sort_lines(plain.stdout))}")
    got = program("first")
    gm.expect(got.returncode == 0 and got.stdout.count(b"\n") == 3, f"closed early: {got}")
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if gm.read(f"/proc/{pid}/cmdline").endswith("serve\0--stdio\0") and WORK in gm.read(f"/proc/{pid}/environ"):
                left.append(pid)
        except OSError:
            pass                            # it is gone
    gm.expect(not left, f"processes are left: {left}")

# What this host alone can know is searched through the mount.
for args, why in ((("-L", "*"), "symbolic links are followed"), (("--access=w", "*"), "access is checked for this user"),
                  (("--empty", "*"), "a test may have another result on the server"), (("--links=1", "*"), "a test may have another"),
                  (("--where", "-inum +5", "*"), "a test may have another"), (("--where", "-fstype fuse.sshfs", "*"), "a test may have another"),
                  (("--where", "-xtype f", "*"), "a test may have another"), (("--where=-depth", "*"), "does more than select")):
    before = calls()
    refused(why, *args, "x")
    gm.expect(calls() == before, f"{args}: a connection")

# No server, or one that shows another directory.
for name, text, why in (("dead", "echo oops >&2; exit 3", "(status 3): oops"), ("garbage", "echo hello", 'that of getmnt serve: "hello"'),
                        ("absent", "exit 127", "its server: getmnt cannot be run there"),
                        ("missing", f"exec unshare -m sh -c 'mount -t tmpfs x {WORK}/data; rmdir {WORK}/data; exec {PROGRAM} serve --stdio'",
                         "another directory"),
                        ("silent", "exec sleep 1000", "no answer for 1 seconds")):
    refused(why, "*.c", "x", *(("--timeout=1",) if name == "silent" else ()), rsh=script(name, text), blocking=name != "silent")
gm.touch(f"{WORK}/data/top", "1\n")
for change in ("touch -d 2001-01-01 .", "touch extra", "rm -r d2", "echo 1 >>top; touch -r $0/top top", "chmod 700 d1", "chown 5 d1", "chgrp 5 top",
               "touch -d 2001-01-01 d1", "rm link; touch link", "mv top tup"):
    gm.run("rm", "-rf", f"{WORK}/other")
    gm.run("cp", "-a", f"{WORK}/data", f"{WORK}/other")
    keep = "" if change.endswith(" .") else "; touch -r $0 ."
    gm.run("sh", "-c", f"cd {WORK}/other; {change}{keep}", f"{WORK}/data")
    refused("another directory", "*.c", "x", rsh=script("liar", f"exec unshare -m sh -c 'mount --bind {WORK}/other {WORK}/data; exec {PROGRAM} serve --stdio'"),
            blocking=False)
same("*.c", "x")
# One that dies, or lies, after the proof: what it said, and an error.
half = script("half", f"exec setsid sh -c '{PROGRAM} serve --stdio | (dd bs=1 status=none count=$(cat {WORK}/most); kill -9 0)'")
whole = subprocess.run([PROGRAM, "search", "--delegate", f"--rsh={script('tee', f'{PROGRAM} serve --stdio | tee {WORK}/answer')}", "*.c", "x"], cwd=WORK, env=ENV, check=False, stdin=gm.null, stdout=subprocess.PIPE).stdout
size = os.path.getsize(f"{WORK}/answer")
for cut in (size - 1, size - 70, size - 300):
    gm.touch(f"{WORK}/most", str(cut))
    got = search("*.c", "x", rsh=half)
    gm.expect(got.status == 1 and set(sort_lines(got.out)) <= set(sort_lines(whole)) and b"x/y/m: not searched to the end: " in got.err
              and got.err.count(b"\n") == 1, f"cut at {cut} of {size}: {got.status} {got.out} {got.err}")
# Mounts that do not lead to one directory of a server.
gm.mkdir(f"{WORK}/none")
sshfs(f"u@h:{WORK}/none", f"{WORK}/e/m")
refused("nothing in the directory proves", "*", "e")
gm.mkdir(f"{WORK}/data/on")
sshfs(f"u@h:{WORK}/data", f"{WORK}/n/m")
gm.tmpfs(f"{WORK}/n/m/on")
gm.touch(f"{WORK}/n/m/on/tmp.c", "")
refused("another mount is on it", "*.c", "n")
gm.umount(f"{WORK}/n/m/on")
same("*.c", "n")
# A mount on a mount: the lower one is searched through, the upper one by its server.
sshfs(f"u@h:{WORK}/src", f"{WORK}/n/m/on")
before, expected = calls(), search("--blocking", "*.c", "n", rsh=False)
got = search("--blocking", "*.c", "n")
gm.expect(got.status == 0 and sort_lines(got.out) == sort_lines(expected.out) and calls() == before + 1
          and got.err.count(b"another mount is on it") == 1, f"nested: {got.err} {calls() - before}")
gm.umount(f"{WORK}/n/m/on")
mounted.remove(f"{WORK}/n/m/on")
# A part of a file system; one of another user; relative to the home of the login; a server with a port.
gm.bind(f"{WORK}/n/m/d1", f"{WORK}/b/m")
same("*.c", "b")
same("*.c", "b/m/e1")
gm.umount(f"{WORK}/b/m")
sshfs(f"u@h:{WORK}/data", f"{WORK}/f/m", "allow_other", "uid=0")
same("*.c", "f")
sshfs("h:data", f"{WORK}/r/m", f"ssh_command={script('home', f'cd {WORK}; exec {SFTP}')}")
same("*.c", "r")
gm.expect(through.compared > 300 or every > 2, f"{through.compared} comparisons")
leave()
gm.done()
