# SPDX-License-Identifier: MIT
"""docs/LOST-FSTAB.md, run as it is written: each command of it by one shell, on a
machine with a disk of its own, whose names are those of the page; what is printed must
be what the page shows (make run-docs writes it there)."""
import os
import re
import shutil
import stat
import subprocess

import gm
import overlaid

PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../docs/LOST-FSTAB.md")
PROMPT = "rescue# "
END = "the end of a command of the page"
DAMAGED = """# The system disk, replaced in March
UUID=66666666-bbbb-4bbb-8bbb-666666666666 / ext4 defaults 0 1
LABEL=backup\t/backup\txfs\tnoauto,nofail\t0 0\t# in the safe
UUID=55555555-aaaa-4aa"""
UUIDS = ["11111111-aaaa-4aaa-8aaa-111111111111", "22222222-bbbb-4bbb-8bbb-222222222222",
         "33333333-cccc-4ccc-8ccc-333333333333", "55555555-aaaa-4aaa-8aaa-555555555555",
         "66666666-bbbb-4bbb-8bbb-666666666666"]

gm.need_fs("overlay", "ext4", "btrfs")
gm.need("mkfs.ext4", "mkfs.btrfs", "btrfs", "blkid", "mount", "umount", "losetup", "chroot", "cmp", "bash")
if not os.path.exists(PAGE):
    gm.skip("the page is not here")
if gm.sanitized():
    gm.skip("a root of its own has no sanitizer's libraries")


def commands(page, known):
    """The page in pieces: text, or a command with what it shows.  A word behind "console"
    is an option or command without which a block is no more than text."""
    pieces, shown = [], False
    for line in page.splitlines(True):
        if line.startswith("```"):
            words = line[3:].split()
            shown = words[:1] == ["console"] and all(word in known for word in words[1:])
            pieces.append(line)
        elif shown and line.startswith(PROMPT):
            pieces.append([line.removeprefix(PROMPT).rstrip("\n"), ""])
        elif shown:
            pieces[-1][1] += line
        else:
            pieces.append(line)
    return pieces


work = os.environ["GETMNT_WORK"]
gm.tmpfs(work, "size=1g,mode=755")
top = overlaid.make(work)
for path in ("/mnt", "/media"):
    shutil.rmtree(top + path, ignore_errors=True)
    gm.mkdir(top + path)
gm.tmpfs(top + "/run", "size=8m,mode=755")
gm.tmpfs(top + "/dev", "size=1m,mode=755")
for name in ("null", "zero", "urandom", "loop-control"):
    number = os.stat("/dev/" + name).st_rdev
    os.mknod(f"{top}/dev/{name}", stat.S_IFCHR | 0o666, number)

# The disk.
disk = gm.tmpfs(top + "/images", "size=600m")
gm.image(disk + "/sda1", 32 << 20, "mkfs.ext4", "-q", "-F", "-b", "1024", "-U", UUIDS[0])
gm.image(disk + "/sda2", 96 << 20, "mkfs.ext4", "-q", "-F", "-b", "4096", "-L", "system", "-U", UUIDS[1])
gm.image(disk + "/sda3", 128 << 20, "mkfs.btrfs", "-q", "-L", "pool", "-U", UUIDS[2])
gm.image(disk + "/sdb1", 32 << 20, "mkfs.ext4", "-q", "-F", "-b", "1024", "-U", UUIDS[3])
gm.image(disk + "/sdb2", 96 << 20, "mkfs.ext4", "-q", "-F", "-b", "4096", "-U", UUIDS[4])
at = gm.mkdir(work + "/at")
for name, text in (("sda2", "UUID=22222222-bbbb-4bb\n"), ("sdb2", DAMAGED)):
    gm.loop_mount(f"{disk}/{name}", at)
    gm.install("mount", at)
    for point in ("boot", "home", "srv", "var/www", "tmp", "proc", "sys", "dev", "run"):
        gm.mkdir(f"{at}/{point}")
    gm.touch(at + "/usr/sbin/fsck.ext4")
    gm.touch(at + "/etc/fstab", text)
    gm.umount(at)
gm.loop_mount(disk + "/sda3", at)
for name in ("@home", "@srv"):
    gm.run("btrfs", "-q", "subvolume", "create", f"{at}/{name}")
gm.mkdir(at + "/@srv/www")
gm.umount(at)
loops = {}
for name in ("sda1", "sda2", "sda3", "sdb1", "sdb2"):
    device = gm.run("losetup", "-f", "--show", f"{disk}/{name}").strip()
    loops[device] = name
    os.mknod(f"{top}/dev/{name}", stat.S_IFBLK | 0o660, os.stat(device).st_rdev)
    os.mknod(top + device, stat.S_IFBLK | 0o660, os.stat(device).st_rdev)
known = gm.getmnt("fstab", "--help", program=os.environ["GETMNT"]).out.decode()
update = os.environ.get("GETMNT_UPDATE")
page = open(PAGE, "r+" if update else "r", encoding="utf-8")

# All else is gone from here on.
os.chdir(top)
if gm.libc.pivot_root(b".", b"."):
    gm.fail("pivot_root")
    gm.done()
gm.umount(".", gm.MNT_DETACH)
os.chdir("/")
pieces = commands(page.read(), known)
shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True,
                         env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"})
count = 0
for piece in pieces:
    if isinstance(piece, str):
        continue
    command, shown = piece
    count += 1
    shell.stdin.write(f"{command}\nstatus=$?; echo; echo {END}; echo $status\n")
    shell.stdin.flush()
    text = ""
    for line in iter(shell.stdout.readline, ""):
        if line == END + "\n":
            break
        text += line
    status = shell.stdout.readline().strip()
    text = text.removesuffix("\n")
    if text and not text.endswith("\n"):
        text += "\n"
    for device, name in loops.items():
        text = re.sub(device + r"\b", "/dev/" + name, text)
    text = re.sub(r'UUID_SUB="[^"]*"', 'UUID_SUB="44444444-dddd-4ddd-8ddd-444444444444"', text)
    text = re.sub(r"\.getmnt-[0-9TZ]+", ".getmnt-20261122T083000Z", text)
    want = "1" if " --diff" in command else "0"     # there is a difference
    gm.expect(status == want, f"{command}: status {status}: {text}")
    piece[1] = text
    if not update:
        gm.expect(text == shown, f"{command}: the page shows\n{shown}and it is\n{text}")
shell.stdin.close()
shell.wait()
gm.expect(count >= 20, f"only {count} commands on the page")
if update:
    page.seek(0)
    page.truncate()
    page.write("".join(piece if isinstance(piece, str) else f"{PROMPT}{piece[0]}\n{piece[1]}" for piece in pieces))
page.close()
for device in loops:
    gm.run("losetup", "-d", device)
print(f"  {count} commands of the page")
gm.done()
