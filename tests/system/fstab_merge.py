# SPDX-License-Identifier: MIT
"""An fstab that is broken, merged with what is mounted, mounts the same tree again.

Real mounts, in a small root: broken, merged into its place, all unmounted, mount -a,
compared.  Then what is only told; links; devices by their other names; and ROOT."""
import os
import random
import re
import tempfile

import gm
import tables
from tables import same, sh

gm.need_fs("btrfs", "ext4", "overlay")
gm.need("mkfs.btrfs", "btrfs", "mkfs.ext4", "losetup", "mount", "umount")

root = tables.mounting_root()
gm.mkdir(root / "etc")
images = gm.mkdir(root / "img")
gm.image(f"{images}/ext4.img", 64 << 20, "mkfs.ext4", "-q", "-F", "-L", "my data")
gm.image(f"{images}/btrfs.img", 128 << 20, "mkfs.btrfs", "-q")
gm.image(f"{images}/other.img", 16 << 20, "mkfs.ext4", "-q", "-F")
random.seed(5)


def snapshot():
    """The mount table; the source of a mount without a device is a mere name, and may be another."""
    return [(point, part, fstype, b"-" if fstype in (b"tmpfs", b"overlay") else source, options)
            for point, part, fstype, source, options, _ in tables.snapshot()]


def put(text, path="/etc/fstab"):
    with open(path, "wb") as f:
        f.write(text)


def got(path="/etc/fstab"):
    return gm.read_bytes(path)


def build():
    sh("/bin/mount", "-o", "loop,noatime,nodev", "/img/ext4.img", gm.mkdir("/data"))
    sh("/bin/mount", "-o", "loop,subvol=/@", "/img/btrfs.img", gm.mkdir("/pool"))
    gm.tmpfs("/two words", "size=8m,mode=750", source="t#1")
    for name in ("lower", "up", "work", "dir"):
        gm.mkdir("/data/" + name)
    gm.bind("/data/dir", gm.mkdir("/bound"))
    gm.mount("overlay", gm.mkdir("/over"), "overlay", 0, "lowerdir=/data/lower,upperdir=/data/up,workdir=/data/work")
    gm.tmpfs("/pool/in", "size=4m", source="inner")


top = root.path
loop = gm.run("losetup", "-f", "--show", f"{images}/btrfs.img").strip()
scratch = tempfile.mkdtemp()
gm.mount(loop, scratch, "btrfs")
gm.run("btrfs", "-q", "subvolume", "create", scratch + "/@")
gm.mkdir(scratch + "/@/in")
gm.umount(scratch)
gm.run("losetup", "-d", loop)

# From outside, the file is ROOT's; a link in it leads within ROOT.
gm.tmpfs(root / "srv/x", source="outside")
gm.mkdir(root / "conf")
os.symlink("/conf/table", root / "etc/fstab")
put(b"# mine\n", root / "conf/table")
result = gm.getmnt("fstab", top, "--merge", "--add=/srv/x", "--write", "--yes", program=os.environ["GETMNT"])
gm.expect(result.status == 0, f"root: {result.status} {result.err}")
gm.expect(re.fullmatch(rb"# mine\noutside +/srv/x +tmpfs .*\n", got(root / "conf/table")), f"root: {got(root / 'conf/table')}")
gm.expect(os.path.islink(root / "etc/fstab"), "root: the link is gone")
again = gm.getmnt("fstab", "--merge", top, "--add=/srv/x", program=os.environ["GETMNT"])
gm.expect(again.out == got(root / "conf/table"), f"root: again: {again.out}")
os.unlink(root / "etc/fstab")
gm.umount(root / "srv/x")
# A mount point by a link: as it leads there, not here.
gm.tmpfs(root / "data/home", source="h")
os.symlink("/data/home", root / "home")
os.symlink(top + "/data/home", root / "out")
put(b"h /home tmpfs defaults,mode=755 0 0\n", root / "etc/fstab")
linked = gm.getmnt("fstab", "--merge", top, "--add=/data/home", program=os.environ["GETMNT"])
gm.expect(linked.out == b"h /home tmpfs defaults,mode=755 0 0\n", f"root: a link there: {linked.out} {linked.err}")
put(b"h /out tmpfs defaults,mode=755 0 0\n", root / "etc/fstab")
linked = gm.getmnt("fstab", "--merge", top, "--add=/data/home", program=os.environ["GETMNT"])
gm.expect(linked.out.count(b"tmpfs") == 2, f"root: a link that leads there only from here: {linked.out} {linked.err}")
for name in ("etc/fstab", "home", "out"):
    os.unlink(root / name)
gm.umount(root / "data/home")

shows, writes = os.openpty()
root.enter()
os.symlink("/two words", "/words")
keep = {line.point for line in gm.mountinfo()}
build()
before = snapshot()
HEAD = (b"# /etc/fstab: static file system information.\n#\n# joe's notes\n\n"
        b"/dev/nosuch  /backup\txfs  noauto,nofail  0\t0   # when there is a disk\n\n# what is mounted\n\n")
first = gm.getmnt("fstab")
gm.expect(first.status == 0, f"plan: {first.status} {first.err}")
lines = [line for line in first.out.split(b"\n") if line and not line.startswith(b"#")]
good = HEAD + b"\n".join(lines) + b"\n"
put(good)

# Nothing to do: nothing done.
for args in ((), ("--add=persistent",), ("--fix=source,options,pass,order,damaged",)):
    result = gm.getmnt("fstab", "--merge", *args)
    gm.expect(result.status == 0 and result.out == good and not result.err, f"{args}: {result.status} {result.err}")
result = gm.getmnt("fstab", "--merge", "--write", "--yes", "--add=persistent")
gm.expect(result.status == 0 and got() == good and len(os.listdir("/etc")) == 1, f"written: {os.listdir('/etc')}")

ROUNDS = 12 if gm.SLOW > 1 or gm.sanitized() else 40


def flip(line, field):
    """A line with a bit of a field changed; no blank."""
    fields = re.split(rb"(\s+)", line)
    word = bytearray(fields[2 * field])
    word[random.randrange(len(word))] ^= 1 << random.randrange(3)
    fields[2 * field] = bytes(word)
    return b"".join(fields)


def broken():
    """The good one, broken: bits, cuts, blocks; not in options, which --add leaves."""
    rows = list(lines)
    for _ in range(random.randrange(1, 4)):
        i, k = random.randrange(len(rows)), random.randrange(len(rows))
        way = random.randrange(8)
        if way == 0:
            del rows[i:i + 1 + random.randrange(3)]
        elif way == 1:
            rows.insert(k, rows[i])
        elif way == 2:
            rows[i], rows[k] = rows[k], rows[i]
        elif way == 3:
            rows[i] = flip(rows[i], random.randrange(3)) if len(rows[i].split()) > 3 else rows[i]
        elif way == 4:
            rows[i] = rows[i][:random.randrange(1, rows[i].index(b"/", 1) + 2)] if b"/" in rows[i][1:] else b"x"
        elif way == 5:
            rows[i] = b"\0" * len(rows[i])
        elif way == 6:
            rows[i] = rows[i].replace(b" 0 ", b" 0 x", 1)
        else:
            rows.insert(k, bytes(random.randrange(33, 256) for _ in range(20)))
        rows = rows or [b"/dev/nosuch"]
    return HEAD + random.choice((b"\n", b"\r\n")).join(rows) + random.choice((b"\n", b""))


for turn in range(ROUNDS):
    bad = broken()
    put(bad)
    result = gm.getmnt("fstab", "--merge", "--add=persistent", "--fix=order", "--write", "--yes")
    gm.expect(result.status == 0, f"{turn}: {result.status} {result.err}")
    text = got()
    gm.expect(text.startswith(HEAD), f"{turn}: the head is another: {text}")
    left = gm.getmnt("fstab", "--merge", "--add=persistent", "--fix=order")
    gm.expect(left.out == text, f"{turn}: merged again, it is another:\n{text}\n{left.out}")
    for line in bad.split(b"\n"):
        kept = line.rstrip(b"\r").replace(b"\\", b"\\134").replace(b"\0", b"\\000") if b"\0" in line else line
        gm.expect(kept in text, f"{turn}: lost: {line} in {text}")
    tables.unmount_all(b"/", keep)
    out = sh("/bin/mount", "-a", ok=False)[1]
    if not same(f"{turn}", before, snapshot()):
        print(f"{bad.decode(errors='replace')}\nbecame\n{text.decode(errors='replace')}\nmount: {out}\n{result.err.decode()}")
        tables.unmount_all(b"/", keep)
        put(good)
        sh("/bin/mount", "-a")

# A lost one.
os.unlink("/etc/fstab")
result = gm.getmnt("fstab", "--merge", "--add=persistent", "--write", "--yes")
gm.expect(result.status == 0, f"lost: {result.status} {result.err}")
tables.unmount_all(b"/", keep)
sh("/bin/mount", "-a")
same("lost", before, snapshot())

# A device by its other names, and a mount point by a link, are no difference.
with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
    device = re.search(r" /data .* - ext4 (\S+) ", f.read()).group(1)
os.symlink(device, "/dev/getmnt-test")
try:
    for source in (device, "/dev/getmnt-test", "/img/../img/ext4.img", 'LABEL="my\\040data"'):
        name = source.encode()
        text = re.sub(rb"(?m)^\S+( +/data )", lambda m, name=name: name + m.group(1), good)
        text = text.replace(b"/two\\040words ", b"/words ")
        put(text)
        result = gm.getmnt("fstab", "--merge", "--add=persistent")
        gm.expect(result.out == text, f"{source}: {result.out} {result.err}")
finally:
    os.unlink("/dev/getmnt-test")
text = re.sub(rb"(?m)^\S+( +/data )", rb"/img/other.img\1", good)
put(text)
result = gm.getmnt("fstab", "--merge", "--fix=source")
gm.expect(result.out == good, f"another: {result.out}")
result = gm.getmnt("fstab", "--merge")
gm.expect(result.status == 1 and result.out == text and b"/data: mounts /img/other.img (ext4), but the mount there is /img/ext4.img"
          in result.err and b"--fix=source" in result.err, f"another source is not reported: {result.err}")

# Options as they are now.
put(good)
sh("/bin/mount", "-o", "remount,nosuid", "/two words")
result = gm.getmnt("fstab", "--merge", "--fix=options", "--write", "--yes")
gm.expect(result.status == 0 and got() != good, f"options: {result.status} {result.err}")
now = snapshot()
tables.unmount_all(b"/", keep)
sh("/bin/mount", "-a")
same("options", now, snapshot())

# --options=keep has what only the file knows.
put(good.replace(b"size=8m", b"x-own.note=1,size=8m").replace(b"size=8192k", b"x-own.note=1,size=8192k"))
for args in (("--options=keep",), ("--merge", "--options=keep")):
    result = gm.getmnt("fstab", *args)
    gm.expect(b"x-own.note=1" in result.out, f"{args}: {result.out} {result.err}")

# Not into itself.
for redirect in ("wb", "ab"):
    put(good)
    with open("/etc/fstab", redirect) as f:
        result = gm.getmnt("fstab", "--merge", stdout=f)
    gm.expect(result.status == 2 and b"--write" in result.err and got() == (good if redirect == "ab" else b""),
              f"{redirect}: {result.status} {result.err}")

# The fstab of another root: told, with the ROOT to be named, and not written.
NOTE = b"getmnt: %s/etc/fstab: is the fstab of %s, and compared with what is mounted in %s; \"getmnt fstab --merge %s\" compares it"
gm.mkdir("/two words/etc")
gm.mkdir("/tmp/other")
there = "/two words/etc/fstab"
OTHER = NOTE % (b"/two words", b"/two words", b"/", b"'/two words'")
put(b"# theirs\n", there)
put(b"# a copy\n", "/tmp/other/fstab")
put(good)
for args in ((f"--merge={there}",), ("--merge", there), (f"--merge={there}", "/"), ("--merge", "/words/etc/../etc/fstab")):
    result = gm.getmnt("fstab", *args, "--add=/data")
    gm.expect(result.status == 1 and OTHER in result.err and b"/data" in result.out, f"another root {args}: {result.status} {result.err}")
    result = gm.getmnt("fstab", *args, "--add=/data", "--write", "--yes")
    gm.expect(result.status == 2 and OTHER in result.err and not result.out and b"Not written; --force" in result.err
              and got(there) == b"# theirs\n", f"another root {args}, written: {result.status} {result.err}")
for args in (("--merge", "/two words"), (f"--merge={there}", "/two words"), ("--merge",), ("--merge=/etc/fstab",),
             ("--merge=/tmp/other/fstab",), ("--merge", "/etc/fstab", "/")):
    result = gm.getmnt("fstab", *args)
    gm.expect(result.status in (0, 1) and b"is the fstab of" not in result.err, f"this root {args}: {result.status} {result.err}")
result = gm.getmnt("fstab", "--merge=/etc/fstab", "/two words", "--write", "--yes", "--add=/")
gm.expect(result.status == 2 and NOTE % (b"", b"/", b"/two words", b"/") in result.err and got() == good,
          f"the other way round: {result.status} {result.err}")
os.rename("/etc/fstab", "/etc/real")
os.symlink(there, "/etc/fstab")
for args in ((), ("--merge=/etc/fstab",)):
    result = gm.getmnt("fstab", "--merge", *args, "--add=/data", "--diff")
    gm.expect(b"is the fstab of" not in result.err and b"+" in result.out, f"a link to it {args}: {result.status} {result.err}")
os.unlink("/etc/fstab")
os.rename("/etc/real", "/etc/fstab")
result = gm.getmnt("fstab", f"--merge={there}", "--add=/data", "--write", "--yes", "--force")
gm.expect(result.status == 0 and OTHER in result.err and b"/data" in got(there), f"forced: {result.status} {result.err}")

# On a terminal without secrets, which is told; elsewhere whole.
secret = b"//srv/share  /cifs\tcifs  noauto,username=joe,password=hunter2\x1b[2J,ro  0\t0\n"
row = next(row for row in good.splitlines(keepends=True) if b"/two" in row)
for args, whole in (((), True), (("--diff", "--fix=options"), True), (("--write", "--yes", "--fix=options"), False)):
    put(good.replace(row, row.replace(b"size=8", b"size=9") + secret))
    result = gm.getmnt("fstab", "--merge", *args)
    gm.expect((b"hunter2" in result.out) == whole and b"hunter2" not in result.err, f"secret {args}: {result.out} {result.err}")
    put(good.replace(row, row.replace(b"size=8", b"size=9") + secret))
    result = gm.getmnt("fstab", "--merge", *args, stdout=writes)
    text = os.read(shows, 1 << 16).replace(b"\r\n", b"\n")
    gm.expect(b"hunter2" not in text + result.err and b"\x1b" not in text and b"password=***" in text,
              f"secret {args} on a terminal: {text} {result.err}")
    if not args:
        gm.expect(b"\n//srv/share  /cifs\tcifs  noauto,username=joe,password=***,ro  0\t0\n" in text, f"shown: {text}")
        gm.expect(b"getmnt: secrets are masked as ***" in result.err, f"masking is not reported: {result.err}")
gm.done()
