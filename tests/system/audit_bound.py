# SPDX-License-Identifier: MIT
"""getmnt audit of binds: a bind begins with what its source has of its own, and what comes along
with it or is passed on to it is of its line; none of that is told.  What is otherwise is."""
import json
import os
import tempfile

import gm

gm.need_fs("ext4", "squashfs", "overlay")
gm.need("mkfs.ext4", "mksquashfs", "losetup", "mount", "umount")
program = os.environ["GETMNT"]
top = os.path.realpath(tempfile.mkdtemp())
for name in "src", "src/sub", "b", "a", "c", "d":
    gm.mkdir(f"{top}/{name}")
gm.image(f"{top}/ext4", 16 << 20, "mkfs.ext4", "-q")
gm.run("mksquashfs", f"{top}/src", f"{top}/sq", "-quiet", "-no-progress")
os.symlink("b", f"{top}/link")
gm.mount(top, top, None, gm.MS_BIND)
gm.propagation(top, gm.MS_PRIVATE)


def told(tag, fstab, *expected, rules="DRIFT-*"):
    """Of the mounts below, CODE severity target; mount points without the directory of the test."""
    gm.touch(f"{top}/fstab", fstab.replace("@", top))
    result = gm.getmnt("audit", "--json", f"--fstab={top}/fstab", f"--only={rules}", program=program)
    gm.expect(result.status in (0, 1), f"{tag}: {result.status} {result.err}")
    found = json.loads(result.out)["findings"]
    rows = [f"{f['code']} {f['severity']} {f['target'][len(top):]}" for f in found if f["target"].startswith(f"{top}/")]
    gm.expect(rows == list(expected), f"{tag}: {rows}, not {list(expected)}")


def mounted(*how):
    gm.run("mount", *(word.replace("@", top) for word in how))


def umount(*names):
    for name in names:
        gm.run("umount", "-R", f"{top}/{name}")


# What a bind's line does not say, it has from its source.
SOURCES = [
    ("a tmpfs", ("-t", "tmpfs", "-o", "ro", "t", "@/b"), "t @/b tmpfs ro 0 0\n"),
    ("an image", ("-o", "loop,ro", "@/ext4", "@/b"), "@/ext4 @/b ext4 loop,ro 0 0\n"),
    ("a squashfs", ("-o", "loop", "@/sq", "@/b"), "@/sq @/b squashfs loop 0 0\n"),
    ("another bind", ("-o", "bind,ro", "@/src", "@/b"), "@/src @/b none bind,ro 0 0\n"),
    ("another bind, otherwise", ("-o", "bind,nosuid,noatime", "@/src", "@/b"), "@/src @/b none bind,nosuid,noatime 0 0\n"),
]
for tag, how, line in SOURCES:
    mounted(*how)
    mounted("--bind", "@/b", "@/a")
    told(f"a bind of {tag}", line + "@/b @/a none bind 0 0\n")
    told(f"a bind of {tag}, by a link", line + "@/link @/a none bind 0 0\n")
    umount("a", "b")
# It has it still where the source has it no more; and may have it alone.
mounted("-t", "tmpfs", "-o", "ro", "t", "@/b")
mounted("--bind", "@/b", "@/a")
mounted("-o", "remount,rw", "@/b")
told("a bind that stayed read-only", "t @/b tmpfs defaults 0 0\n@/b @/a none bind 0 0\n", "DRIFT-READONLY critical /a")
umount("a")
mounted("-o", "bind,nosuid", "@/b", "@/a")
told("a bind that is nosuid by itself", "t @/b tmpfs defaults 0 0\n@/b @/a none bind 0 0\n", "DRIFT-OPTIONS warning /a")
umount("a")
mounted("--bind", "@/b", "@/a")
# What flips is told of its own line, once.
mounted("-o", "remount,ro", "@/b")
told("a source that flipped", "t @/b tmpfs defaults 0 0\n@/b @/a none bind 0 0\n", "DRIFT-READONLY critical /b")
told("the same, and it is excused there", "# getmnt: ignore=DRIFT-READONLY\nt @/b tmpfs defaults 0 0\n@/b @/a none bind 0 0\n",
     "DRIFT-READONLY critical /a")
umount("a", "b")
mounted("--bind", "@/src", "@/b")
mounted("--bind", "@/b", "@/a")
mounted("-o", "remount,bind,ro", "@/b")
told("a source that alone was made read-only", "@/src @/b none bind 0 0\n@/b @/a none bind 0 0\n", "DRIFT-READONLY critical /b")
told("a bind that is not read-only with its source", "@/src @/b none bind,ro 0 0\n@/b @/a none bind 0 0\n", "DRIFT-OPTIONS warning /a")
umount("a", "b")

# What is mounted below comes along, or is passed on.
lines = "t @/b tmpfs defaults 0 0\nu @/b/t tmpfs defaults 0 0\n@/b @/a none rbind 0 0\n"
mounted("-t", "tmpfs", "t", "@/b")
gm.mkdir(f"{top}/b/t")
gm.mkdir(f"{top}/b/u")
mounted("-t", "tmpfs", "u", "@/b/t")
mounted("--rbind", "@/b", "@/a")
told("children of an rbind", lines)
mounted("--rbind", "@/a", "@/c")
told("an rbind of an rbind", lines + "@/a @/c none rbind 0 0\n")
told("an rbind of no line", lines, "DRIFT-NOT-IN-FSTAB warning /c", "DRIFT-NOT-IN-FSTAB warning /c/t")
umount("c")
mounted("-t", "tmpfs", "v", "@/a/u")
told("one that is mounted below it alone", lines, "DRIFT-NOT-IN-FSTAB warning /a/u")
umount("a/u", "a/t")
# Whether a child was there before the bind, unique IDs tell alone.
left_out = ("DRIFT-OPTIONS warning /a",) if gm.have_listmount() else ()
told("a child that is not there", lines, *left_out)
told("one that was not to be", lines.replace("rbind", "bind"))
umount("a")
mounted("--bind", "@/b", "@/a")
told("a bind that was to be recursive", lines, *left_out)
umount("a", "b/t")
mounted("--bind", "@/b", "@/a")
mounted("-t", "tmpfs", "u", "@/b/t")
told("a child that came later", lines)
umount("a")
mounted("--make-unbindable", "@/b/t")
mounted("--rbind", "@/b", "@/a")
told("one that cannot be bound", lines)
mounted("-t", "tmpfs", "v", "@/a/t")
told("another in the place of a child", lines, "DRIFT-NOT-IN-FSTAB warning /a/t")
umount("a", "b")
mounted("-t", "tmpfs", "t", "@/b")
mounted("--make-shared", "@/b")
gm.mkdir(f"{top}/b/t")
mounted("--bind", "@/b", "@/a")
mounted("-t", "tmpfs", "u", "@/b/t")
told("what a shared bind was passed on", lines.replace("rbind", "bind"))
told("and what has no line at its source", lines.replace("rbind", "bind").replace("u @/b/t", "# u @/b/t"), "DRIFT-NOT-IN-FSTAB warning /b/t")
umount("b/t", "a", "b")
gm.mkdir(f"{top}/d/dev")
mounted("--rbind", "/dev", "@/d/dev")
told("the devices of a chroot", "/dev @/d/dev none rbind 0 0\n")
umount("d/dev")

# A removed file is called a file, and a removed directory a directory; before Linux 5.8 statx has no mount
# IDs, and which of the two was removed is not known.
for source, target, word in (("src/file", "file", "file"), ("src/dir", "d", "directory")):
    (gm.touch if word == "file" else gm.mkdir)(f"{top}/{source}")
    if word == "file":
        gm.touch(f"{top}/{target}")
    mounted("--bind", f"@/{source}", f"@/{target}")
    (os.unlink if word == "file" else os.rmdir)(f"{top}/{source}")
    result = gm.getmnt("audit", "--json", f"--fstab={top}/fstab", "--only=MNT-DELETED", program=program)
    found = [(f["message"], f["hint"]) for f in json.loads(result.out)["findings"] if f["target"] == f"{top}/{target}"]
    named, new = ("directory or file", "one") if "statx-mntid" in gm.OFF else (word, word)
    gm.expect(found == [(f"the {named} that it shows was removed", f"unmount it, or bind the new {new}")], f"removed: {found}")
    umount(target)

# Beside binds: what the kernel, or mount(8), makes of a line by itself.
loop = gm.run("losetup", "-r", "-f", "--show", f"{top}/ext4").strip()
mounted("-t", "ext4", loop, "@/b")
told("a device that takes no writes", f"{loop} @/b ext4 defaults 0 0\n", "DRIFT-READONLY info /b")
umount("b")
gm.run("losetup", "-d", loop)
loop = gm.run("losetup", "-f", "--show", f"{top}/ext4").strip()
mounted("-t", "ext4", "-o", "ro", loop, "@/b")
told("one that takes them", f"{loop} @/b ext4 defaults 0 0\n", "DRIFT-READONLY critical /b")
umount("b")
gm.run("losetup", "-d", loop)
for name in "n", "n/com,ma", "n/lo":
    gm.mkdir(f"{top}/{name}")
overlay = "o @/b overlay lowerdir=@/n/com\\134,ma:@/n/lo 0 0\n"
gm.touch(f"{top}/fstab", overlay.replace("@", top))
mounted("-a", "-T", "@/fstab")
told("a layer with a comma", overlay, rules="DRIFT-*,FSTAB-OVERLAY-DIR")
told("one that is not there", overlay.replace("com", "con"), "FSTAB-OVERLAY-DIR critical /b", rules="DRIFT-*,FSTAB-OVERLAY-DIR")
umount("b")
# An image in memory has no lasting name, but the path of its line leads to it.
mounted("-t", "tmpfs", "mem", "@/d")
gm.mkdir(f"{top}/d/b")
gm.run("cp", "--sparse=always", f"{top}/ext4", f"{top}/d/ext4")
mounted("-o", "loop,ro", "@/d/ext4", "@/d/b")
lines = "mem @/d tmpfs defaults 0 0\n@/d/ext4 @/d/b ext4 loop,ro 0 0\n"
told("an image in memory", lines)
told("another image than that in memory", lines.replace("@/d/ext4", "@/ext4"), "DRIFT-SOURCE critical /d/b")
umount("d")
gm.umount(top)
gm.run("rm", "-rf", top)
gm.done()
