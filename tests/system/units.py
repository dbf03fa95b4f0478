# SPDX-License-Identifier: MIT
"""What systemd has loaded of an fstab, as we read it, against the fstab.

Random fstabs through systemd's own generator.  The units, as src/fstab/units.c reads
them, are what a second understanding of the generator makes of the lines; merged with
these as the base nothing is held to be changed that was not, and what was changed then
is."""
import fcntl
import json
import os
import random
import re
import shutil
import subprocess

import gm

GENERATOR = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
LOADED = os.path.join(os.path.dirname(os.environ["GETMNT"]), "tests/lib/loaded")
for program in (GENERATOR, LOADED):
    if not os.path.exists(program):
        gm.skip(f"there is no {program}")
gm.need_fs("ext4")
gm.need("mkfs.ext4", "losetup", "blkid")
LOOP_CLR_FD, CLONE_NEWPID = 0x4c01, 0x20000000
SEED = int(os.environ.get("GETMNT_SEED", "1"))
TRIES = int(os.environ.get("GETMNT_TRIES", "200"))
chance = random.Random(SEED)

root = gm.Root()
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
gm.install(GENERATOR, root.path)
gm.install(LOADED, root.path)
for name in ("etc", "usr/sbin", "run/systemd"):
    gm.mkdir(root / name)
os.symlink("usr/sbin", root / "sbin")
for name in ("fsck", "fsck.ext4"):
    with open(root / f"usr/sbin/{name}", "w", encoding="ascii") as helper:
        helper.write("#!/bin/sh\nexit 0\n")
    os.chmod(root / f"usr/sbin/{name}", 0o755)
gm.image(root / "disk.img", 16 << 20, "mkfs.ext4", "-q", "-F", "-L", "my disk")
loop = gm.run("losetup", "-f", "--show", root / "disk.img").strip()
uuid = gm.run("blkid", "-p", "-o", "value", "-s", "UUID", loop).strip()
gm.install_program(root / "other")
root.enter()
UNITS = "/run/systemd/generator"
PLACES = [f"/t{i}" for i in range(8)]
for place in PLACES:
    gm.tmpfs(place, "size=1m", source="none")
gm.tmpfs("/two words", "size=1m", source="none")
gm.tmpfs("/p%h", "size=1m", source="none")
gm.mount(loop, gm.mkdir("/disk"), "ext4")
subprocess.run([gm.PROGRAM, "--version"], stdout=subprocess.DEVNULL, check=True)
os.symlink("/t3", "/link")

TARGETS = PLACES + ["/disk"] * 3 + ["/two\\040words", "/p%h", "/link", "//t4/", "/t5/./", "/t1/../t6", "/nosuch/x",
                                    "/", "/proc", "/dev/shm", "/run", "none", "relative", "/x\\134y", "/\u00e9"]
SOURCES = ["tmpfs"] * 3 + [f"UUID={uuid}", f'UUID="{uuid}"', f"/dev/disk/by-uuid/{uuid}", loop, "LABEL=my\\040disk",
                           "LABEL='my\\040disk'", "LABEL=a\\134b%h", "PARTLABEL=x/y", "LABEL=\u00e9", "PARTUUID=1-2", "UUID=",
                           "//srv/share/", "nas:/export//x", "/srv//a/./b/", "/img\\047s", "a#b", "x\\040\\040y", "%h", "/dev/sr0"]
TYPES = ["tmpfs"] * 3 + ["ext4"] * 4 + ["auto", "none", "cifs", "nfs", "nfs4", "ext4,xfs", "swap", "autofs"]
OPTIONS = ["defaults", "rw", "ro", "nosuid", "noatime", "noauto", "nofail", "size=2m", "bind", "_netdev", "user", "data=ordered",
           "x-systemd.device-timeout=3", "x-systemd.automount", "x-systemd.idle-timeout=9", "x-systemd.requires=a.service",
           "x-systemd.mount-timeout=5", "x-systemd.growfs", "x-systemd.rw-only", "x-own=1", "comment=joe's", "comment=systemd.x",
           "a\\054b", "c\\047d", "user=a\\040b", "e\\\\f", "g\\,h", 'q="x,y"', "p=%h%%", "", "tail#x", "x-systemd.wanted-by=b.target",
           "bg", "fg", "bg=yes", "x-systemd.requires-mounts-for=/t7", "x-initrd.mount", "context=\"a:b:c0,c1\"", "z\\134", "pri=3"]
TAILS = ["", " 0", " 0 0", " 0 1", " 0 2", " 1 2  ", "\t0\t2 # joe", " # joe", " 0 2x", " 0 0 x"]


def line():
    if chance.random() < 0.08:
        return chance.choice(["# a comment", "", "   ", "/dev/x /t1", "x /t2 tmpfs rw zero", "x /t4", "\t# another", "x  /t5 tmpfs  rw\r"])
    options = ",".join(chance.sample(OPTIONS, chance.choice([1, 1, 1, 2, 3, 5])))
    return chance.choice(["", "", " "]) + chance.choice([" ", "\t", "  "]).join(
        (chance.choice(SOURCES), chance.choice(TARGETS), chance.choice(TYPES), options or "rw")) + chance.choice(TAILS)


# The generator, understood a second time.

DECODED = {b"\\040": b" ", b"\\011": b"\t", b"\\012": b"\n", b"\\134": b"\\", b"\\\\": b"\\", b"\\043": b"#"}


def decoded(word):
    """As glibc's getmntent(3)."""
    return re.sub(rb"\\(?:040|011|012|134|043|\\)", lambda m: DECODED[m.group()], word)


def unmarked(source):
    """A name in /dev/disk as the tag that it is of."""
    m = re.fullmatch(rb"/dev/disk/by-(uuid|label|partuuid|partlabel)/(.*)", source)
    if m:
        value = re.sub(rb"\\x([0-9a-f]{2})", lambda x: bytes([int(x.group(1), 16)]), m.group(2))
        return m.group(1).upper() + b"=" + value
    m = re.fullmatch(rb"((?:PART)?(?:UUID|LABEL)=)([\"'])(.*)\2", source)
    return m.group(1) + m.group(3) if m else source


def plain(path):
    return re.sub(rb"(?:/\.?)+(?=/|$)", b"", b"/" + path) or b"/" if b"/" in path else path


def waited_for(fstype, options):
    """What becomes of the options of NFS in the background."""
    words = re.findall(rb"(?:[^,\\]|\\.)+", options)
    grounds = [word for word in words if word.split(b"=")[0] in (b"bg", b"fg")]
    if fstype not in (b"nfs", b"nfs4") or not grounds or not grounds[-1].startswith(b"bg") or b"x-systemd.automount" in words:
        return options
    return b"x-systemd.mount-timeout=infinity,retry=10000,nofail," + options + b",fg"


def known(options):
    return [o.replace(b"\\", b"") for o in options.split(b",")
            if o not in (b"", b"defaults") and not o.startswith((b"x-systemd.", b"comment=systemd."))]


def expected(text):
    """By place: source, type, options, pass, as they are loaded."""
    found = {}
    for raw in text.split(b"\n"):
        words = re.split(rb"[ \t]+", raw.strip(b" \t"), 5)
        if not words[0] or words[0].startswith(b"#"):
            continue
        words += [b""] * (4 - len(words))
        source, target, fstype, options = (decoded(word) for word in words[:4])
        number = re.match(rb"\s*[-+]?\d+\s+([-+]?\d+)", b" ".join(words[4:]))
        if fstype == b"swap":
            found.setdefault((b"none", unmarked(plain(source) if not re.match(rb"[A-Z]+=", source) else source)), None)
            continue
        if not target.startswith(b"/") or fstype == b"autofs":
            continue
        where = os.path.realpath(plain(target))
        if where in (b"/proc", b"/dev/shm", b"/run", b"/dev", b"/sys"):
            continue
        tag = unmarked(source)
        device = tag != source or re.match(rb"(PART)?(UUID|LABEL)=|/dev/", source)
        passno = int(number.group(1)) if number else 0
        check = device and passno != 0 and fstype in (b"ext4", b"auto") and where != b"/"
        row = (tag if device else plain(source), fstype or b"auto", known(waited_for(fstype, options)), bool(check))
        found.setdefault((where, None), row)
    return found


def generate(text, to):
    shutil.rmtree(to, ignore_errors=True)
    for path in (to, "/scratch/early", "/scratch/late"):
        gm.mkdir(path)
    with open("/etc/fstab", "wb") as f:
        f.write(text)
    subprocess.run(["/bin/systemd-fstab-generator", to, "/scratch/early", "/scratch/late"], stdin=gm.null,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": "/bin:/sbin"}, check=False)


def read(directory):
    out = subprocess.run(["/bin/loaded", "/etc/fstab", directory], stdout=subprocess.PIPE, check=True).stdout
    return [[gm.unescape(field) for field in row.split(b"\t")] for row in out.split(b"\n")[1:-1]]


def compare(tag, text):
    want, got = expected(text), {}
    oddities = 0
    for source, target, fstype, options, check, odd in read(UNITS):
        swap = fstype == b"swap"
        if odd == b"1":
            # A backslash at the end: the next line belongs to it, for systemd too.
            gm.expect(re.search(rb"\\134(\s|$)", text), f"{tag}: {target}: odd")
            oddities += 1
            if not swap:
                want.pop((target, None))
                continue
        name = unmarked(source)
        name = name if name != source or re.match(rb"[A-Z]+=", source) else plain(source)
        got[(b"none", name) if swap else (target, None)] = None if swap else (name, fstype, known(options), check == b"1")
    for key in want.keys() | got.keys():
        gm.expect(want.get(key, 0) == got.get(key, 0), f"{tag}: {key}: {got.get(key, 0)}, not {want.get(key, 0)}\n{text.decode()}")
    return len(got), oddities


def merge(*args):
    return gm.getmnt("fstab", "--merge", "--fix=source,options,pass,order,damaged", *args)


def stale(tag, **more):
    """What systemd has loaded otherwise: line of the fstab, target, and of what; whether it is known."""
    out = gm.getmnt("audit", "--json", "--only=FSTAB-SYSTEMD-STALE", **more)
    gm.expect(out.status in (0, 1), f"{tag}: {out.status} {out.err}")
    document = json.loads(out.out)
    return (sorted((f["source"] or "", f["target"], f["message"]) for f in document["findings"]),
            document["not_judged"] == [])


def entry(target, options, source="none", fstype="tmpfs", tail="0 0"):
    return f"{source} {target} {fstype} {options} {tail}\n".encode()


count = odd = swaps = changed = 0
for number in range(TRIES):
    fstab = "\n".join(line() for _ in range(chance.randrange(1, 16))).encode() + b"\n"
    generate(fstab, UNITS)
    found, oddities = compare(number, fstab)
    count += found
    odd += oddities
    swaps += any(row[2] == b"swap" for row in read(UNITS))
    # Nothing was changed.
    for args in (("--add=persistent",), ()):
        result = merge("--explain", *args)
        gm.expect(result.status in (0, 1) and b"changed since the base" not in result.err,
                  f"{number}: {result.status} {result.err.decode()}\n{fstab.decode()}")
        if not args and read(UNITS):
            told = stale(number)
            gm.expect(told == ([], True), f"{number}: stale: {told}\n{fstab.decode()}")
        if read(UNITS):
            gm.expect(b"getmnt: base: what systemd has loaded" in result.err or b"as one that was lost" in result.err,
                      f"{number}: which base: {result.err}")
gm.expect(count > 3 * TRIES and swaps > TRIES / 20, f"units: {count}, fstabs with swap: {swaps}")

# What was, is: an option, a source, a line put in or taken out.
for number in range(TRIES // 4):
    places = chance.sample(PLACES, 4)
    lines = [entry(place, "size=1m," + chance.choice(["noexec", "nodev,x-systemd.device-timeout=9", "noatime,noexec"]))
             for place in places]
    generate(b"".join(lines), UNITS)
    result = merge()
    mended = [row.split()[3] for row in result.out.splitlines()]
    gm.expect(len(mended) == 4 and b"noexec" not in result.out and b"noatime" not in result.out,
              f"changed {number}: none was: {result.out} {result.err}")
    lines[0] = entry(places[0], "noexec,mode=700")
    lines[1] = entry(places[1], "size=1m", source=f"UUID={uuid}", fstype="ext4")
    gone = lines.pop(2)
    with open("/etc/fstab", "wb") as f:
        f.write(b"".join(lines))
    place = rb"^\S+\s+%s\s" % places[2].encode()
    result = merge()
    rows = result.out.splitlines(keepends=True)
    gm.expect(all(row in rows for row in lines[:2]) and lines[2] not in rows, f"changed {number}: {result.out} {result.err}")
    gm.expect(not re.search(place, result.out, re.M), f"changed {number}: {gone} is there again: {result.out}")
    gm.expect(result.err.count(b"; changed since the base, so left") == 3, f"changed {number}: {result.err}")
    changed += 1
    told = stale(number)
    gm.expect(told == ([("", places[2], "systemd has loaded it from the fstab, which has it no more"),
                        ("/etc/fstab:1", places[0], "systemd has loaded other options"),
                        ("/etc/fstab:2", places[1], "systemd has loaded another source or type")], True), f"stale {number}: {told}")
    # Where all are to have one, that alone comes back, and is told.
    result = merge("--add=persistent")
    rows = result.out.splitlines(keepends=True)
    gm.expect(all(row in rows for row in lines[:2]) and len(re.findall(place, result.out, re.M)) == 1,
              f"back {number}: {result.out} {result.err}")
    gm.expect(result.err.count(b"; changed since the base, so left") == 2
              and result.err.count(b"; mended, though it was taken out since systemd has loaded it") == 1, f"back {number}: {result.err}")
    # Asked to, all is mended.
    result = merge("--add=persistent", "--base=none")
    gm.expect(b"noexec" not in result.out and b"base" not in result.err and places[2].encode() + b" " in result.out,
              f"none {number}: {result.out} {result.err}")
# Torn: cut, a byte of a place another, a block overwritten.  Each mount has its one line.
torn = 0
for number in range(TRIES // 2):
    lines = [entry(place, "size=1m") for place in chance.sample(PLACES, len(PLACES))]
    fstab = b"# one\n" + b"".join(lines)
    generate(fstab, UNITS)
    at = chance.randrange(len(fstab))
    if number % 3 == 0:
        fstab = fstab[:at]
    elif number % 3 == 1:
        at = fstab.index(b"/t", min(at, fstab.rindex(b"/t"))) + chance.choice((0, 1, 2))
        fstab = fstab[:at] + b"z" + fstab[at + 1:]
    else:
        block = bytes([chance.choice(b"\0\1\x7f")]) + chance.choice((b"", b"/t4 tmpfs\n", b"xyz", b"\n# ", chance.randbytes(20)))
        fstab = fstab[:at] + block + fstab[at + len(block):]
    with open("/etc/fstab", "wb") as f:
        f.write(fstab)
    result = gm.getmnt("fstab", "--merge", "--add=persistent")
    for place in PLACES:
        rows = re.findall(rb"^[ \t]*[^#\s]\S*[ \t]+%s[ \t]+(\S+)" % place.encode(), result.out, re.M)
        gm.expect(rows == [b"tmpfs"], f"torn {number}: {place}: {rows}: {fstab}: {result.out} {result.err}")
    left = [row for row in result.err.splitlines() if b"so left" in row]
    gm.expect(all(b"is mounted with other options" in row for row in left), f"torn {number}: {fstab}: {left}")
    torn += fstab.count(b"\n") > 0
gm.expect(torn > TRIES / 3, f"torn: {torn}")
# A pass, of what is mounted from an image, and so would be 0: put in since then, or another.
for before, after, left in (("0 0", "0 2", True), ("0 2", "0 1", False), ("0 2", "0 2", False)):
    other = entry("/x", "rw", "/dev/sr0", "ext4", "0 2")
    generate(other + entry("/disk", "rw", f"UUID={uuid}", "ext4", before), UNITS)
    with open("/etc/fstab", "wb") as f:
        f.write(other + entry("/disk", "rw", f"UUID={uuid}", "ext4", after))
    result = gm.getmnt("fstab", "--merge", "--fix=pass", "--explain")
    told = f"/disk: pass is {after[-1]}, and would be 0; " + ("changed since the base, so left" if left else "mended")
    gm.expect(told.encode() in result.err, f"pass {before} {after}: {result.err}")

# What is new, and a swap space that is gone; a link on the way to a mount point is followed.
generate(entry("/t1", "size=1m") + entry("/link/x", "noauto") + b"/dev/sdx none swap sw 0 0\n", UNITS)
with open("/etc/fstab", "ab") as f:
    f.write(entry("/t2", "size=1m") + b"/dev/sdy none swap sw 0 0\n")
told = stale("new")
new = "systemd has not loaded the line: nothing of it is made, waited for or ordered"
if any(row[2] == b"swap" for row in read(UNITS)):
    gm.expect(told == ([("/etc/fstab:4", "/t2", new), ("/etc/fstab:5", "/dev/sdy", new)], True), f"new: {told}")
    with open("/etc/fstab", "wb") as f:
        f.write(entry("/t1", "size=1m") + entry("/link/x", "noauto"))
    gone = "systemd has loaded it from the fstab, which has it no more"
    gm.expect(stale("gone") == ([("", "/dev/sdx", gone)], True), f"gone: {stale('gone')}")
# Of what is damaged, or cut off, nothing is said.
with open("/etc/fstab", "wb") as f:
    f.write(b"none /t1\n" + entry("/link/x", "noauto"))
gm.expect(stale("damaged") == ([], True), f"damaged: {stale('damaged')}")

# Where it does not count.
taken = entry("/t1", "size=1m") + entry("/t2", "size=1m")
generate(taken, UNITS)
with open("/etc/fstab", "wb") as f:
    f.write(taken[:len(taken) // 2])


def is_base(tag, base, *args, told=b"", **more):
    found = gm.getmnt("fstab", "--merge", "--explain", *args, **more)
    gm.expect((b"base: what systemd has loaded" in found.err) == base and told in found.err, f"{tag}: {found.status} {found.err}")
    left = b"/t2: mounted from none (tmpfs), and has no line; changed since the base, so left"
    gm.expect((left in found.err) == base, f"{tag}: {found.err}")


is_base("as it is", True)
is_base("named", True, "--merge=/etc/fstab")
is_base("named otherwise", True, "--merge=../etc/./fstab", cwd="/tmp")
is_base("by a user", True, uid=1000)
is_base("none", False, "--base=none")
shutil.copy("/etc/fstab", "/etc/other")
# One that was lost is made anew.
with open("/etc/fstab", "wb") as f:
    f.write(b"# nothing\n")
is_base("without a line", False, told=b"/etc/fstab: has no line of a mount, as one that was lost")
os.unlink("/etc/fstab")
result = merge("--add=persistent")
gm.expect(result.out.count(b"tmpfs") > len(PLACES) and b"changed since" not in result.err, f"lost: {result.out} {result.err}")
shutil.copy("/etc/other", "/etc/fstab")
# b13: what is loaded is of /etc/fstab alone.
is_base("another file", False, "--merge=/etc/other")
is_base("another base", False, "--base=/etc/other")
gm.mkdir("/t7/etc")
is_base("another root", False, "/t7")
with open("/t7/mountinfo", "wb") as f, open("/proc/self/mountinfo", "rb") as table:
    f.write(table.read())
is_base("a recorded table", False, "--tab-file=/t7/mountinfo", "--merge=/etc/fstab", "--id=path")
os.rename("/etc/fstab", "/etc/real")
os.symlink("real", "/etc/fstab")
is_base("a link", True)
os.unlink("/etc/fstab")
os.rename("/etc/real", "/etc/fstab")
# What is no unit of it is passed over: a link, a FIFO, a directory; the units of others.
os.symlink("/etc/passwd", UNITS + "/link.mount")
os.mkfifo(UNITS + "/fifo.mount")
os.mkdir(UNITS + "/dir.swap")
with open(UNITS + "/t2x.mount", "wb") as f:
    f.write(b"[Unit]\nSourcePath=/proc/cmdline\n[Mount]\nWhat=x\nWhere=/t3\n")
is_base("others beside", True)
# One that cannot be read may be of any line.
with open(UNITS + "/large.mount", "wb") as f:
    f.write(b"#" * (1 << 17))
is_base("a large one", False, told=b"/run/systemd/generator: cannot be read: File too large; what was changed since")
os.unlink(UNITS + "/large.mount")
os.chmod(UNITS + "/t1.mount", 0)
is_base("not for a user", False, uid=1000, told=b"cannot be read: Permission denied")
os.chmod(UNITS + "/t1.mount", 0o644)
# A directory that others can write to, or have made.
os.chmod(UNITS, 0o775)
is_base("writable", False)
os.chmod(UNITS, 0o755)
os.chown(UNITS, 1000, 0)
is_base("of a user", False)
os.chown(UNITS, 0, 0)
os.rename(UNITS, "/run/systemd/other")
os.symlink("other", UNITS)
is_base("behind a link", False)
os.unlink(UNITS)
is_base("not there", False)
os.rename("/run/systemd/other", UNITS)
is_base("there again", True)
for name in os.listdir(UNITS):
    if name.startswith("t"):
        os.unlink(f"{UNITS}/{name}")
is_base("no line of it", False)
told = stale("nothing loaded")
gm.expect(told == ([], False), f"nothing loaded: {told}")

# In another root than that of the first process; that is this one's in its own namespace of processes.
generate(taken, UNITS)
with open("/etc/fstab", "wb") as f:
    f.write(taken[:len(taken) // 2])


def first_process():
    gm.mount("proc", "/proc", "proc")
    is_base("the first process", True)
    for name in ("etc", "proc", "run/systemd/generator", "t1", "t2", "dev"):
        gm.mkdir("/other/" + name)
    gm.bind(UNITS, "/other/run/systemd/generator")
    gm.bind("/proc", "/other/proc")
    shutil.copy("/etc/fstab", "/other/etc/fstab")
    gm.tmpfs("/other/t2", "size=1m", source="none")
    is_base("in a chroot", False, chroot="/other")


gm.expect(gm.libc.unshare(CLONE_NEWPID) == 0, "unshare")
child = os.fork()
if child == 0:
    first_process()
    gm.done()
gm.expect(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the first process failed")

gm.umount("/disk")
fd = os.open(loop, os.O_RDWR)
fcntl.ioctl(fd, LOOP_CLR_FD)
os.close(fd)
print(f"  {TRIES} fstabs, {count} units, {odd} odd, {changed} changed, {torn} torn")
gm.done()
