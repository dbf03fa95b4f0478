# SPDX-License-Identifier: MIT
"""Every command in a chroot of a rescue system: without /sys, without /proc, without /run, and without
all three.  The fstab names a device node without a driver.  No command crashes, and each reports what
is missing."""
import json
import os
import stat

import gm

gm.need_features("nor /proc: the mount of the root is not known", "statx-mntid")
gm.need("mkfs.ext4")
gm.need_fs("ext4")
img = gm.image(os.environ["GETMNT_WORK"] + ".img", 8 << 20, "mkfs.ext4", "-q", "-L", "LABELLED",
               "-U", "01234567-89ab-cdef-0123-456789abcdef")
root = gm.Root()
jail = gm.mkdir(root / "jail")
gm.install_program(jail)
gm.loop_mount(img, jail + "/disk")
os.unlink(img)
os.mknod(jail + "/dev/disk", 0o600 | stat.S_IFBLK, os.stat(jail + "/disk").st_dev)
os.mknod(jail + "/dev/odd", 0o600 | stat.S_IFBLK, os.makedev(250, 77))
gm.tmpfs(jail + "/a/b")
gm.tmpfs(jail + "/nameless", source="")
for name in ("proc", "run", "sys", "tmp", "data"):
    gm.mkdir(f"{jail}/{name}")
FSTAB = """/dev/odd /mnt/odd ext4 defaults 0 2
/dev/odd /a/b tmpfs defaults 0 0
/dev/odd none swap sw 0 0
/dev/disk /disk ext4 defaults 0 2
UUID=99999999-89ab-cdef-0123-456789abcdef /data xfs defaults 0 2
LABEL=GONE /gone ext4 nofail 0 2
PARTUUID=01234567-89 /data xfs nofail 0 2
/dev/mapper/luks /luks ext4 nofail 0 2
/a /mnt/bind none bind 0 0
overlay /ov overlay lowerdir=/a,upperdir=/b,workdir=/c 0 0
server:/x /nfs nfs _netdev 0 0
/dev/odd
"""
gm.touch(jail + "/etc/fstab", FSTAB)
gm.touch(jail + "/etc/crypttab", "luks /dev/odd none luks\ny PARTUUID=01234567-89 none swap\n")
gm.touch(jail + "/etc/mtab", "/dev/odd /a/b ext4 rw 0 0\n/dev/disk /disk ext4 rw 0 0\n")
sanitized = gm.sanitized()
root.enter()
os.chroot("/jail")
os.chdir("/")

# The arguments of a run, and the statuses that it may end with.
DISCOVER = (0, {0, 32, 64})
JUDGED = (1, {0, 1, 2})
COMMANDS = [(form, *DISCOVER) for form in gm.FORMS] + [
    (("-D",), *DISCOVER), (("-I", "-e", "-c"), *DISCOVER), (("-J", "--output-all"), *DISCOVER),
    (("--unmounted",), *DISCOVER), (("--names=walk",), *DISCOVER), (("--names=kernel",), *DISCOVER),
    (("--identity=dev",), *DISCOVER), (("--probe=all",), *DISCOVER), (("--root=/a",), *DISCOVER),
    (("--explain", "--boundaries", "--stats"), *DISCOVER), (("-s", "-e"), *DISCOVER),
    (("-m",), *DISCOVER), (("-S", "LABEL=LABELLED"), *DISCOVER), (("/dev/odd",), *DISCOVER),
    (("-S", "/dev/odd"), *DISCOVER), (("-S", "250:77"), *DISCOVER), (("-T", "/disk"), *DISCOVER),
    (("--kernel=mountinfo",), 0, {0, 1}), (("-N", "1"), 0, {0, 1, 64}), (("-V",), 0, {0}),
    (("-p", "-w", "1"), 0, {0, 1}),
    (("fstab",), *JUDGED), (("fstab", "--genfstab", "-U", "/"), *JUDGED),
    (("fstab", "--explain", "--options=live", "--id=path"), *JUDGED),
    (("fstab", "--merge"), *JUDGED), (("fstab", "--merge=/etc/fstab", "--check"), *JUDGED),
    (("fstab", "--merge", "--diff", "--add=persistent", "--base=none",
      "--fix=source,options,pass,order,damaged"), *JUDGED),
    (("fstab", "--merge=/tmp/fstab", "--fix=damaged", "--write", "--yes"), *JUDGED),
    (("recover",), *JUDGED), (("recover", "-J"), *JUDGED), (("recover", "--diff"), *JUDGED),
    (("audit",), *JUDGED), (("audit", "--fstab=/etc/fstab", "-v"), *JUDGED),
    (("audit", "--json"), *JUDGED), (("audit", "--jsonl"), *JUDGED),
    (("audit", "--prometheus"), *JUDGED),
    (("audit", "--nagios"), 2, {0, 1, 2, 3}),
    (("audit", "--probe=all", "--under", "--holders", "--stats"), *JUDGED),
    (("audit", "--save=/tmp/baseline"), *JUDGED), (("audit", "--baseline=/tmp/baseline"), *JUDGED),
    (("audit", "--require-complete"), 2, {2}),
    (("search", "-l", "*", "/etc"), 0, {0}), (("search", "-J", "-m", "*", "/disk"), 0, {0}),
    (("search", "--engine=bulk", "--blocking", "-m", "*", "/disk"), 0, {0}),
    (("profile", "--repeats=1", "--total-time=1", "--max-time=1", "/a"), 0, {0, 64}),
]
LIVE = ("proc", "sysfs", "tmpfs")
AS_USER = (("audit",), ("fstab",), ("fstab", "--merge"), ("--output-all",))


def run(lacking, args, usual, allowed, **more):
    result = gm.getmnt(*args, **more)
    tag = f"without {lacking or 'nothing'}: getmnt {' '.join(args)} {more or ''}"
    # What is not there may make a status worse, and never makes it better.
    if not lacking and not more:
        allowed = allowed - {2} | {usual} if args[0] in ("audit", "fstab", "recover") else allowed
    gm.expect(result.status in allowed, f"{tag}: status {result.status}: {result.err}")
    gm.expect(b"(null)" not in result.out + result.err, f"{tag}: {result.out}, {result.err}")
    if "--stats" not in args:
        gm.expect(all(line.startswith(b"getmnt: ") for line in result.err.splitlines()),
                  f"{tag}: {result.err}")
    gm.expect(result.out or result.err or "-p" in args or "--write" in args or "-S" in args,
              f"{tag}: not a word")
    if result.out and (("-J" in args and args[0] != "search") or "--json" in args):
        json.loads(result.out)
    return result


def all_commands(lacking):
    results = {}
    gm.touch("/tmp/fstab", FSTAB)
    for args, usual, allowed in COMMANDS:
        results[args] = run(lacking, args, usual, allowed)
    for args in AS_USER:
        run(lacking, args, *(JUDGED if "-" not in args[0] else (0, {0, 1, 64})), uid=65534)
    return results


def unmount(lacking):
    for point in ("/proc", "/run", "/sys"):
        if point not in lacking:
            gm.umount(point, gm.MNT_DETACH)


for lacking in ([], ["/run"], ["/sys"], ["/proc"], ["/proc", "/run", "/sys"]):
    if sanitized and "/proc" in lacking:
        continue            # a sanitizer's leak check needs /proc
    for point, fstype in (("/proc", "proc"), ("/run", "tmpfs"), ("/sys", "sysfs")):
        if point not in lacking:
            gm.mount(fstype, point, fstype)
    if "/proc" in lacking and not gm.have_listmount():
        # Nothing lists the mounts: each command that needs them says so.
        for args in [*gm.FORMS, ("audit",), ("fstab",), ("fstab", "--merge"), ("recover",)]:
            result = gm.getmnt(*args)
            gm.expect(result.status in (1, 2) and b"is /proc mounted? mount -t proc proc /proc\n" in result.err,
                      f"without {lacking}, nor listmount: {args}: {result.status}: {result.err}")
        unmount(lacking)
        continue
    results = all_commands(lacking)
    for command in [[]] + [[command] for command in gm.commands()]:
        result = gm.getmnt(*command, "--help")
        gm.expect(result.status == 0 and result.out.startswith(b"Usage:") and not result.err,
                  f"without {lacking}: {command} --help: {result.status}: {result.err}")

    for form in (("-l",), ("-J",)):
        out = results[form].out
        gm.expect(b"/disk" in out and b"/a/b" in out and b"/nameless" in out,
                  f"without {lacking}: {form}: {out}")
    # An identifier is not called missing when the devices cannot be listed.
    result = results[("audit",)]
    gm.expect((b"mount -t sysfs" in result.err) == ("/sys" in lacking),
              f"without {lacking}: audit: {result.err}")
    gm.expect(b"no device has" not in result.out and b"FSTAB-SYNTAX" in result.out,
              f"without {lacking}: audit: {result.out}")
    merged = results[("fstab", "--merge")].out.decode()
    gm.expect(FSTAB.splitlines()[0] in merged.splitlines(), f"without {lacking}: merge: {merged}")
    if "/sys" in lacking and "/proc" not in lacking:
        gm.expect(b"/sys is not mounted" in results[("fstab",)].out,
                  f"without /sys: fstab: {results[('fstab',)].out}")
    lines = gm.read("/tmp/fstab").splitlines()
    gm.expect(lines[:-1] == FSTAB.splitlines()[:-1] and lines[-1].startswith("# getmnt: line 12: "),
              f"without {lacking}: fixed: {lines}")
    unmount(lacking)
gm.done()
