# SPDX-License-Identifier: MIT
"""An fstab of what only a whole machine has makes the same tree again: LVM, md,
multipath, dm-crypt, partitions, vfat, f2fs, udf, iso9660, NFS, 9p, swap.

Made, all unmounted, mount -a, compared; what is foretold of it, against what mount -a
makes; merged; and an mtab of the same."""
import os
import random
import re
import subprocess

import gm
import vm
from tables import BROKEN, check_lines, same, snapshot, unmount_all

gm.need("lvm", "mdadm", "dmsetup", "sfdisk", "mount.nfs", "mkfs.vfat", "mkfs.f2fs", "mkudffs", "genisoimage",
        "mkfs.exfat", "mkfs.jfs", "mkfs.xfs", "mkfs.btrfs", "mkfs.ext4")
vm.modules("dm-mod", "dm-multipath", "dm-round-robin", "dm-crypt", "dm-snapshot", "raid1", "vfat", "msdos", "f2fs", "udf",
           "isofs", "exfat", "jfs", "9p", "9pnet_virtio", "nfsv3", "overlay")
DISK = "/dev/vdc"
ODD = "/mnt/odd names"
RUN_TIME = (b"addr=", b"clientaddr=", b"mountaddr=", b"mountport=", b"mountproto=", b"mountvers=", b"namlen=", b"seclabel")
TURNS = int(os.environ.get("GETMNT_TURNS", "1"))
random.seed(5)


def sh(*argv, ok=True):
    proc = subprocess.run(argv, stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={"PATH": "/usr/sbin:/usr/bin", "LC_ALL": "C.UTF-8"})
    text = proc.stdout.decode(errors="replace")
    gm.expect(not ok or proc.returncode == 0, f"{argv}: {proc.returncode}: {text}")
    return text


# Partitions by what is in them.
SIZES = {"pv0": 240, "pv1": 600, "md0": 64, "md1": 64, "path": 64, "crypt": 64, "efi": 40, "fat": 40, "fat2": 40, "fat3": 40,
         "dos": 16, "f2fs": 64, "f2fs2": 64, "udf": 40, "udf2": 40, "iso": 16, "iso2": 16, "exfat": 40, "jfs": 40,
         "btr0": 128, "btr1": 128, "ext3": 32, "ext2": 32}
script = "label: gpt\n" + "".join(f"size={size}MiB, name={name}\n" for name, size in SIZES.items())
subprocess.run(["sfdisk", "-q", "--no-tell-kernel", DISK], input=script.encode(), check=True)
gm.run("blockdev", "--rereadpt", DISK)
PART = {name: f"{DISK}{number}" for number, name in enumerate(SIZES, 1)}

# What is made of them.
gm.run("mdadm", "--create", "/dev/md7", "--run", "--assume-clean", "--level=1", "--metadata=1.0",
       "--raid-devices=2", "--homehost=any", PART["md0"], PART["md1"])
vm.lvm("pvcreate", PART["pv0"], PART["pv1"], "/dev/md7")
vm.lvm("vgcreate", "group", PART["pv0"], PART["pv1"])
for name, size in (("root", 64), ("with-dash", 32), ("names", 32), ("swap", 16), ("log", 68), ("big", 320)):
    vm.lvm("lvcreate", "-y", "-Wn", "-Zn", "-n", name, "-L", f"{size}m", "group")
vm.lvm("vgcreate", "on-md", "/dev/md7")
vm.lvm("lvcreate", "-y", "-Wn", "-Zn", "-n", "vol_1.x", "-L", "16m", "on-md")
vm.dm("mpathx", f"0 {vm.sectors(PART['path'])} multipath 3 queue_if_no_path queue_mode bio 0 1 1 round-robin 0 1 1 "
      f"{vm.number(PART['path'])} 1000", "mpath-xyz")
vm.dm("x", f"0 {vm.sectors(PART['crypt'])} crypt aes-xts-plain64 {'0123456789abcdef' * 4} 0 {PART['crypt']} 0",
      "CRYPT-LUKS2-00112233445566778899aabbccddeeff-x")
MAPPED = {"root": "/dev/mapper/group-root", "dash": "/dev/mapper/group-with--dash", "names": "/dev/mapper/group-names",
          "swap": "/dev/mapper/group-swap", "log": "/dev/mapper/group-log", "big": "/dev/mapper/group-big",
          "md": "/dev/mapper/on--md-vol_1.x", "multi": "/dev/mapper/mpathx", "luks": "/dev/mapper/x"}

gm.touch(vm.WORK + "/content/Directory/File With A Long Name.text", "x")
for name in ("root", "dash", "names", "md", "multi", "luks"):
    gm.run("mkfs.ext4", "-q", "-F", MAPPED[name])
gm.run("mkfs.xfs", "-q", "-f", "-l", f"logdev={MAPPED['log']},size=64m", MAPPED["big"])
for number, name in enumerate(("efi", "fat", "fat2", "fat3", "dos")):
    gm.run("mkfs.vfat", "-n", name.upper(), "-i", f"1234ab{number:02}", PART[name])
for name in ("f2fs", "f2fs2"):
    gm.run("mkfs.f2fs", "-q", "-f", PART[name])
for name in ("udf", "udf2"):
    gm.run("mkudffs", "-l", name, "-b", "512", PART[name])
for name in ("iso", "iso2"):
    gm.run("genisoimage", "-quiet", "-V", name, "-J", "-R", "-o", PART[name], vm.WORK + "/content")
gm.run("mkfs.exfat", PART["exfat"])
gm.run("mkfs.jfs", "-q", PART["jfs"])
gm.run("mkfs.btrfs", "-q", "-f", PART["btr0"], PART["btr1"])
gm.run("mkfs.ext3", "-q", "-F", PART["ext3"])
gm.run("mkfs.ext2", "-q", "-F", PART["ext2"])
gm.run("mkswap", MAPPED["swap"])
gm.run("sh", "-c", f"rm -r {vm.WORK}/content")

# What a snapshot of LVM has, its origin has as well: no tag is its alone.
vm.lvm("lvcreate", "-y", "-s", "-n", "snap", "-L", "16m", "group/root")

gm.run("ip", "address", "replace", "::1/128", "dev", "lo")
gm.tmpfs("/srv/export")
gm.mkdir("/srv/export/dir/a b")
server = vm.NfsServer("/srv/export 127.0.0.1(rw,fsid=0,no_root_squash,no_subtree_check,insecure) "
                      "::1(rw,fsid=0,no_root_squash,no_subtree_check,insecure)\n", three=True)

# Source, type, options, target; each behind those it needs.
MOUNTS = [
    (MAPPED["root"], "ext4", "noatime,commit=30,nobarrier", "/srv/lvm"),
    (MAPPED["dash"], "ext4", "data=journal,errors=remount-ro,nodev,nosuid", "/srv/dash"),
    (MAPPED["names"], "ext4", "defaults", ODD),
    (MAPPED["md"], "ext4", "noexec,strictatime,lazytime", "/srv/md"),
    (MAPPED["multi"], "ext4", "init_itable=20,_netdev", "/srv/multi"),
    (MAPPED["luks"], "ext4", "sync,dirsync", "/srv/crypt"),
    (MAPPED["big"], "xfs", f"logdev={MAPPED['log']},logbsize=64k,usrquota,wsync,nodiratime", "/srv/big"),
    (PART["ext3"], "ext3", "resuid=7,data=writeback", "/srv/ext3"),
    (PART["ext2"], "ext2", "ro,x-mine=1", "/srv/ext2"),
    (PART["btr0"], "btrfs", "compress=zstd:3,autodefrag,commit=60", "/srv/btrfs"),
    (PART["efi"], "vfat", "umask=0077", "/boot/efi"),
    (PART["fat"], "vfat", "fmask=0133,dmask=0022,uid=7,gid=8,tz=UTC,nosuid,nodev", "/srv/fat"),
    (PART["fat2"], "vfat", "codepage=850,iocharset=iso8859-1,shortname=winnt,check=s,quiet,flush,errors=continue", "/srv/fat2"),
    (PART["fat3"], "vfat", "umask=000,iocharset=utf8,showexec,sys_immutable,rodir,usefree,allow_utime=0002,time_offset=-60,ro",
     "/srv/fat3"),
    (PART["dos"], "msdos", "umask=0007,dots,check=r", "/srv/dos"),
    (PART["f2fs"], "f2fs", "defaults", "/srv/f2fs"),
    (PART["f2fs2"], "f2fs", "background_gc=off,noinline_data,nobarrier,mode=lfs,active_logs=4,noextent_cache,"
     "fsync_mode=strict,alloc_mode=reuse,noacl,nouser_xattr,nodiscard", "/srv/f2fs2"),
    (PART["udf"], "udf", "uid=7,gid=8,umask=027,iocharset=utf8", "/srv/udf"),
    (PART["udf2"], "udf", "mode=0640,dmode=0750,shortad,ro,noadinicb,unhide,undelete", "/srv/udf2"),
    (PART["iso"], "iso9660", "ro", "/srv/iso"),
    (PART["iso2"], "iso9660", "ro,norock,nojoliet,map=o,check=r,uid=7,gid=8,mode=0440,dmode=0550,nodev", "/srv/iso2"),
    (PART["exfat"], "exfat", "fmask=0133,uid=7,iocharset=iso8859-1,time_offset=60,errors=continue", "/srv/exfat"),
    (PART["jfs"], "jfs", "errors=continue,uid=7,umask=022,usrquota", "/srv/jfs"),
    ("127.0.0.1:/", "nfs4", "retry=0", "/srv/nfs4"),
    ("127.0.0.1:/dir", "nfs", "retry=0,vers=4.1,soft,timeo=50,retrans=3,_netdev,x-systemd.automount,nosuid", "/srv/nfs41"),
    ("[::1]:/dir", "nfs", "retry=0,vers=4.2,nosharecache,actimeo=7,noac,sec=sys,ro", "/srv/nfs six"),
    ("127.0.0.1:/srv/export", "nfs", "retry=0,vers=3,hard,rsize=32768,wsize=16384,nordirplus", "/srv/nfs3"),
    ("127.0.0.1:/srv/export/dir", "nfs", "retry=0,vers=3,soft,nolock,mountproto=udp,proto=tcp,lookupcache=pos,noacl", "/srv/nfs3 soft"),
    ("127.0.0.1:/srv/export/dir/a b", "nfs", "retry=0,vers=3,local_lock=flock,acregmin=5,acdirmax=9,bg", "/srv/nfs3 blank"),
    ("share", "9p", "trans=virtio,version=9p2000.L,msize=65536,access=client,cache=loose", "/srv/9p"),
]
NAMES = ["two words", "tab\there", "back\\slash", "#hash", "caf\u00e9", "literal\\040x", "new\nline", "trailing "]


def build(first):
    """Mount all; what is in the file systems is made once."""
    for source, fstype, options, target in MOUNTS:
        sh("mount", "-t", fstype, "-o", options, source, gm.mkdir(target))
    if first:
        for target in ("/srv/lvm", "/srv/fat", "/srv/dash"):
            for name in ("dir", "l", "u", "w"):
                gm.mkdir(f"{target}/{name}")
        for name in NAMES:
            gm.mkdir(f"{ODD}/{name}")
        gm.image("/srv/lvm/an image", 8 << 20, "mkfs.ext4", "-q", "-F")
        gm.image("/srv/fat/FAT.IMG", 8 << 20, "mkfs.vfat", "-n", "INNER", "-i", "1234abff")
        gm.run("fallocate", "-l", "8M", "/srv/lvm/swap file")
        os.chmod("/srv/lvm/swap file", 0o600)
        gm.run("mkswap", "/srv/lvm/swap file")
    for name in NAMES:
        gm.bind("/srv/dash/dir", f"{ODD}/{name}")
        gm.bind(f"{ODD}/{name}", "/mnt/of/" + name)
    gm.bind("/srv/fat/dir", gm.mkdir("/srv/of fat"))
    sh("mount", "-o", "remount,bind,ro,noexec,nosuid,nodev,relatime", "/srv/of fat")
    gm.bind("/srv/nfs4/dir/a b", gm.mkdir("/srv/of nfs"))
    sh("mount", "-o", "loop,nodev", "/srv/lvm/an image", gm.mkdir("/srv/loop"))
    sh("mount", "-o", "loop,umask=0027", "/srv/fat/FAT.IMG", gm.mkdir("/srv/loop fat"))
    gm.mount("overlay", gm.mkdir("/srv/over"), "overlay", 0,
             "lowerdir=/srv/lvm/l:/srv/dash/l,upperdir=/srv/lvm/u,workdir=/srv/lvm/w")
    gm.tmpfs("/srv/md/mem", "size=1m,mode=700")
    swap_on()


def swap_on():
    sh("swapon", "-p", "5", MAPPED["swap"])
    sh("swapon", "/srv/lvm/swap file")


def swaps():
    """The swap spaces, with the priority of those that were given one."""
    rows = [line.split() for line in gm.read("/proc/swaps").split("\n")[1:-1]]
    return sorted((row[0], row[1], row[2], row[4] if int(row[4]) >= 0 else "-") for row in rows)


def clear():
    for row in swaps():
        sh("swapoff", row[0].replace("\\040", " "))
    unmount_all(b"/", keep)


def mount_all(text, ok=True):
    """Mount what an fstab says; what mount(8) and swapon(8) have to say."""
    with open("/etc/fstab", "wb") as f:
        f.write(text)
    return sh("mount", "-a", ok=ok) + sh("swapon", "-a", ok=ok)


def table():
    """The mount table, without what a client of NFS finds out at each time."""
    return [row[:5] + (frozenset(o for o in row[5] if not (row[2].startswith(b"nfs") and o.startswith(RUN_TIME))),)
            for row in snapshot()]


def foretold(result, lines):
    """How many mounts are said to be the same again, and of how many."""
    found = re.search(rb"reproduces (\d+) of (\d+) mounts", result.err)
    return (int(found[1]), int(found[2])) if found else (lines, lines)


def right(before, after, wanted):
    """How many of those that are wanted are there again; a bind has no options of its own."""
    found = {row[0]: row for row in after}
    return sum(row == found.get(row[0]) for row in before if row[0] in wanted)


def again(now):
    """See that there is what is wanted, for what comes next."""
    if now != before or swaps() != swapped:
        clear()
        build(False)
        gm.expect(table() == before, "built anew, it is another")


def targets(rows):
    """Of lines, but for those of swap."""
    return {gm.unescape(row.split()[1]) for row in rows} - {b"none"}


keep = {line.point for line in gm.mountinfo()}
build(True)
clear()
build(False)
before, swapped = table(), swaps()
gm.expect(len(swapped) == 2, f"swap: {swapped}")

# In each way.
texts = {}
for policy in ("minimal", "live"):
    for id_ in ("auto", "uuid", "path"):
        tag = f"{policy} {id_}"
        result = gm.getmnt("fstab", "--id=" + id_, "--options=" + policy)
        rows = check_lines(tag, result.out)
        wanted = targets(rows)
        texts[policy, id_] = result.out
        # The snapshot and its origin have one UUID.
        missing = re.findall(rb"^# getmnt: no line for ([^\n]*)", result.out, re.M)
        told = [b"/srv/lvm "] if id_ == "uuid" else []
        gm.expect(len(missing) >= len(told) and all(any(line.startswith(word) for line in missing) for word in told)
                  and (id_ == "uuid" or not missing), f"{tag}: {missing}")
        gm.expect(result.status == (1 if missing else 0), f"{tag}: {result.status} {result.err}")
        words = {gm.unescape(row.split()[1]): (row.split()[0], row.split()[3].split(b",")) for row in rows}
        for target, (source, options) in words.items():
            gm.expect(not any(o.startswith(RUN_TIME) for o in options), f"{tag}: {target} {options}")
            gm.expect((b"_netdev" in options) == (target in (b"/srv/multi", b"/srv/nfs41")), f"{tag}: {target} {options}")
        for name in MAPPED.values():
            here = any(row.split()[0] == name.encode() for row in rows)
            gm.expect(here == (id_ != "uuid" and name != MAPPED["log"]), f"{tag}: {name}: {here}")
        uuids = sum(source.startswith(b"UUID=") for source, _ in words.values())
        gm.expect(uuids > (20 if id_ == "uuid" else 10) if id_ != "path" else not uuids, f"{tag}: {uuids} UUID=")
        clear()
        said = mount_all(result.out)
        after = table()
        wanted_rows = [row for row in before if row[0] in wanted | keep]
        same(tag, wanted_rows, [row for row in after if row[0] in wanted | keep])
        expected = [row for row in before if row[0] not in wanted | keep]
        gm.expect(len(wanted) + len(missing) >= len(MOUNTS) + 2 * len(NAMES) + 6, f"{tag}: {len(wanted)} lines")
        gm.expect(len(expected) <= len(missing), f"{tag}: neither a line nor a comment: {expected}")
        got = right(before, after, wanted), len(wanted)
        gm.expect(foretold(result, len(wanted)) == got, f"{tag}: foretold {foretold(result, len(wanted))}, and it is {got}: "
                  f"{result.err} {said}")
        if not missing:
            gm.expect(swaps() == swapped, f"{tag}: swap: {swaps()}, not {swapped}")
        print(f"  {tag}: {got[0]} of {got[1]} mounts, {len(missing)} without a line", flush=True)
        again(after)

# Merged: what is missing, and what is broken.
good = texts["minimal", "auto"]
lines = [line for line in good.split(b"\n") if line and not line.startswith(b"#")]
empty = gm.touch(vm.WORK + "/fstab")


def put(text):
    with open(empty, "wb") as f:
        f.write(text)


def damaged(*more):
    """The fstab, with a fourth of the lines of what is unmounted made wrong."""
    broken = [line.split() for line in lines]
    mine = [number for number, line in enumerate(broken) if gm.unescape(line[1]) not in keep | {b"none"}]
    for number in random.sample(mine, len(mine) // 4):
        line = broken[number]
        match random.randrange(6):
            case 0:
                line[0] = random.choice([b"UUID=1234-ABCD", b"/dev/mapper/none"])
            case 1:
                line[1] = b"/mnt/none"
            case 2:
                line[2] = random.choice([b"vfat", b"ext4", b"xfs"])
            case 3:
                line[3] += random.choice([b",noexec", b",ro", b",noatime", *more])
            case 4:
                line[0] = line[1] = line[2] = b"#"
            case 5:
                other = random.choice(mine)
                broken[number], broken[other] = broken[other], broken[number]
    return b"".join(b" ".join(line) + b"\n" for line in broken)


def mounted_as(tag, result, exact=True, good=True):
    """See what a merged text makes against what was foretold of it."""
    wanted = targets(lines)
    clear()
    said = mount_all(result.out, ok=good)
    after = table()
    if exact:
        same(tag, before, after)
        gm.expect(swaps() == swapped, f"{tag}: swap: {swaps()}, not {swapped}")
    got = right(before, after, wanted), len(wanted)
    if not gm.expect(foretold(result, len(wanted)) == got, f"{tag}: foretold {foretold(result, len(wanted))}, and it is {got}"):
        found = {row[0]: row for row in after}
        wrong = [(row, found.get(row[0])) for row in before if row[0] in wanted and row != found.get(row[0])]
        print(f"{result.err.decode(errors='replace')}\n{said}\n{wrong}", flush=True)
    again(after)
    print(f"  {tag}: {got[0]} of {got[1]} mounts", flush=True)


# An mtab of these.
truth = gm.read_bytes("/proc/self/mounts")
for text in (b"", truth[:len(truth) // 2], truth[200:], truth.replace(b" nfs ", b" nfs4 ").replace(b"vfat", b"\0\xff")):
    put(text)
    result = gm.getmnt("recover", "-p", empty)
    gm.expect(result.status == 1 and result.out == truth, f"recover: {result.status} {result.err} "
              f"{set(result.out.splitlines()) ^ set(truth.splitlines())}")
    result = gm.getmnt("recover", "--write", "--yes", "--no-backup", empty)
    with open(empty, "rb") as f:
        gm.expect(result.status == 0 and f.read() == truth, f"recover --write: {result.status} {result.err}")

put(b"")
result = gm.getmnt("fstab", "--merge=" + empty, "--add=persistent")
gm.expect(result.status == 0, f"merged into nothing: {result.status} {result.err}")
mounted_as("merged into nothing", result)
put(good)
result = gm.getmnt("fstab", "--merge=" + empty, "--add=persistent", "--fix=source,options,pass,order,damaged")
gm.expect(result.status == 0 and result.out == good and not result.err, f"merged into the same: {result.status} {result.err}")
for turn in range(TURNS):
    text = damaged()
    put(text)
    result = gm.getmnt("fstab", "--merge=" + empty, "--add=persistent", "--fix=options,order")
    # (What is noauto is left so.)
    gm.expect(result.status in (0, 1) and b"reproduces" not in result.err, f"damaged {turn}: {result.status} {result.err}\n{text}")
    mounted_as(f"damaged {turn}", result, good=False)
    put(result.out)
    once_more = gm.getmnt("fstab", "--merge=" + empty, "--add=persistent", "--fix=options,order")
    gm.expect(once_more.out == result.out, f"damaged {turn}: merged again, another")
# As it is: how much it makes is told.
for turn in range(TURNS):
    text = damaged(b",noauto")
    put(text)
    result = gm.getmnt("fstab", "--merge=" + empty)
    gm.expect(result.status == 1 and result.out == text, f"left {turn}: {result.status} {result.err}")
    mounted_as(f"left {turn}", result, exact=False, good=False)

clear()
server.end()
gm.umount("/srv/export")
gm.umount("/proc/fs/nfsd")
gm.touch("/etc/fstab")
for name in ("mpathx", "x"):
    gm.run(*vm.DM, "remove", "--retry", name)
vm.lvm("vgchange", "-an", "group", "on-md")
gm.run("mdadm", "--stop", "/dev/md7")
gm.run("sfdisk", "-q", "--delete", "--no-reread", DISK)
gm.run("blockdev", "--rereadpt", DISK)
gm.done()
