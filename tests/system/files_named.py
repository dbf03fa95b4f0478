# SPDX-License-Identifier: MIT
"""Every option that names a file to write, given a symlink, a file or a FIFO that a user planted: root follows
no symlink of the user's and leaves its target as it was, whatever fs.protected_symlinks is set to.  Only
find -fprint and its kin follow it as find does, except in a sticky directory.  A report is written completely or
not at all."""
import os
import shutil
import signal
import stat
import time

import gm

gm.need("mkfs.ext4")
gm.need_fs("ext4")
USER, OTHER = 1000, 1001
RENAME_EXCHANGE, AT_FDCWD = 2, -100
root = gm.Root()
for name in ("etc", "data", "secret", "home/u", "sticky", "users", "index", "tmp"):
    gm.mkdir(root / name)
gm.tmpfs(root / "data")
gm.loop_mount(gm.image(root / "disk.img", 8 << 20, "mkfs.ext4", "-q"), root / "disk")
gm.mount("devpts", gm.mkdir(root / "dev/pts"), "devpts")
root.enter()
gm.touch("/disk/file", "x" * 5000)
gm.touch("/etc/fstab", "none /data tmpfs defaults 0 0\n")
for link, target in (("/dev/fd", "/proc/self/fd"), ("/dev/stdout", "/proc/self/fd/1")):
    os.symlink(target, link)
os.chmod("/sticky", 0o1777)
os.chmod("/users", 0o1777)
os.chown("/users", USER, USER)
os.chown("/home/u", USER, USER)
built = gm.getmnt("index", "build", "--index-dir=/index", "/disk")
gm.expect(built.status == 0, f"build: {built.status} {built.err}")
TABLE = gm.read("/proc/self/mountinfo")
TEXTS = {"base": "", "fstab": "none /data tmpfs defaults 0 0\n", "mtab": "x /x tmpfs rw 0 0\n"}
# Option --> command; PATH is the file.
WHOLE = {
    "--save": ["audit", "--only=FSTAB-*", "--save=PATH"],
    "--output": ["audit", "--only=FSTAB-*", "--prometheus", "--output=PATH"],
    "--svg": ["index", "report", "--index-dir=/index", "--svg=PATH", "/disk"],
    "--merge": ["fstab", "--merge=PATH", "--add=/disk", "--write", "--yes", "--force"],
    "recover": ["recover", "PATH", "--write", "--yes"],
}
LIKE_FIND = {action: ["find", "/data", action, "PATH", *more]
             for action, more in (("-fprint", []), ("-fprint0", []), ("-fprintf", ["%p\n"]), ("-fls", []))}


def text_for(option):
    return {"--merge": TEXTS["fstab"], "recover": TEXTS["mtab"]}.get(option, "")


def plant(path, kind, owner, option):
    """A user's symlink, hostile file or FIFO at a path."""
    if os.path.lexists(path):
        os.unlink(path)
    if kind == "symlink":
        os.symlink("/secret/target", path)
    elif kind == "dangling":
        os.symlink("/secret/new", path)
    elif kind == "directory":
        os.symlink("/secret", path)
    elif kind == "fifo":
        os.mkfifo(path, 0o666)
    else:
        gm.touch(path, text_for(option))
    os.chown(path, owner, owner, follow_symlinks=False)


def secret():
    return {name: (os.lstat("/secret/" + name).st_mode, gm.read("/secret/" + name)) for name in os.listdir("/secret")}


def run(option, path):
    return gm.getmnt(*(word.replace("PATH", path) for word in (WHOLE | LIKE_FIND)[option]), seconds=10 * gm.SLOW)


def try_one(option, path, refused, *words, tag=""):
    """Run it, and compare what is below /secret with what was."""
    gm.touch("/secret/target", text_for(option))
    if os.path.exists("/secret/new"):
        os.unlink("/secret/new")
    before = secret()
    result = run(option, path)
    tag = f"{option} {path} {tag}"
    if result.status is None:
        return result
    if refused:
        # 1 is a failure of index and find, and the finding of an audit.
        gm.expect(result.status in ((1,) if option in LIKE_FIND or option == "--svg" else (2, 16)),
                  f"{tag}: status {result.status} {result.err}")
        gm.expect(secret() == before, f"{tag}: followed: {secret()}")
        for word in words:
            gm.expect(word in result.err.decode(), f"{tag}: {word!r} is not in {result.err}")
    else:
        gm.expect(result.status in (0, 1), f"{tag}: status {result.status} {result.err}")
        gm.expect(secret() != before, f"{tag}: not followed")
    return result


# A whole file: through no symlink of a user's, wherever it is; into no FIFO.
for option in WHOLE:
    for top in ("/home/u", "/sticky", "/users"):
        path = f"{top}/out"
        for kind in ("symlink", "dangling"):
            plant(path, kind, USER, option)
            try_one(option, path, True, path, "belongs to uid 1000", tag=kind)
        plant(path, "directory", USER, option)
        try_one(option, path + "/target", True, "belongs to uid 1000", tag="above")
        os.unlink(path)
    # recover waits three seconds for the writer of a FIFO.
    plant("/home/u/out", "fifo", USER, option)
    try_one(option, "/home/u/out", True, "/home/u/out", tag="fifo")
    os.unlink("/home/u/out")
# As find does, except in a sticky directory that another user owns.
for option in LIKE_FIND:
    for top, owner, refused in (("/home/u", USER, False), ("/sticky", USER, True), ("/users", USER, False), ("/users", OTHER, True),
                                ("/sticky", 0, False)):
        path = f"{top}/out"
        for kind in ("symlink", "dangling"):
            plant(path, kind, owner, option)
            try_one(option, path, refused, f"the symlink {path} belongs to uid {owner}", tag=f"{kind} of {owner}")
        plant(path, "directory", owner, option)
        try_one(option, path + "/target", refused, f"the symlink {path} belongs to uid {owner}", tag=f"above, of {owner}")
        plant(path, "symlink", owner, option)
        os.symlink(path, "/tmp/chain")
        try_one(option, "/tmp/chain", refused, f"the symlink {path} belongs to uid {owner}", tag=f"chain to that of {owner}")
        os.unlink("/tmp/chain")
        os.unlink(path)
    for kind in ("file", "fifo"):
        plant("/sticky/out", kind, USER, option)
        try_one(option, "/sticky/out", True, "it belongs to uid 1000", tag=kind)
    os.unlink("/sticky/out")
# What find can write to: devices, descriptors, a FIFO with a reader, a file of another user's that is not in such a
# directory.
gm.touch("/home/u/out", "what was there before, and is longer than the new text")
os.chown("/home/u/out", USER, USER)
result = run("-fprint", "/home/u/out")
gm.expect(result.status == 0 and gm.read("/home/u/out") == "/data\n" and os.stat("/home/u/out").st_uid == USER, f"truncated: {result.err}")
for path in ("/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "/dev/stdout"):
    result = run("-fprint", path)
    gm.expect(result.out == b"/data\n" and result.status == 0, f"{path}: {result.status} {result.out} {result.err}")
result = gm.getmnt("find", "/data", "-fprint", "/proc/self/cwd/made", cwd="/tmp")
gm.expect(gm.read("/tmp/made") == "/data\n", f"through /proc/self/cwd: {result.err}")
result = gm.getmnt("find", "/data", "-fprint", "made2", cwd="/tmp")
gm.expect(gm.read("/tmp/made2") == "/data\n", f"relative: {result.err}")
gm.expect(run("-fprint", "/dev/null").status == 0, "/dev/null")
gm.expect(stat.S_IMODE(os.stat("/tmp/made").st_mode) == 0o666 & ~(os.umask(0o22) or 0o22), "the mode of a new file")
for path in ("/tmp", "/tmp/", "/", "/tmp/none/", ""):
    gm.expect(run("-fprint", path).status not in (0, None), f"{path} can be written to")
os.mkfifo("/tmp/fifo")
reader = os.fork()
if reader == 0:
    with open("/tmp/fifo", encoding="ascii") as fifo:
        os._exit(0 if fifo.read() == "/data\n" else 1)
gm.expect(run("-fprint", "/tmp/fifo").status == 0, "a FIFO")
gm.expect(os.waitpid(reader, 0)[1] == 0, "what the FIFO's reader read")

# A directory for indexes: through no symlink of another user's, neither to it nor above it.
gm.mkdir("/secret/index")
for path in ("/home/u/link", "/home/u/link/index", "/home/u/link/a/b"):
    plant("/home/u/link", "directory", USER, "")
    for command in (["index", "build"], ["index", "update"], ["index", "report"], ["index", "check"], ["search", "--index", "*"]):
        result = gm.getmnt(*command, f"--index-dir={path}", "/disk")
        gm.expect(result.status not in (0, None) and b"belongs to another user" in result.err, f"{command} {path}: {result.status} {result.err}")
    gm.expect(os.listdir("/secret/index") == [] and not os.path.exists("/secret/a"), f"{path}: {os.listdir('/secret')}")
plant("/home/u/link", "directory", 0, "")
result = gm.getmnt("index", "build", "--index-dir=/home/u/link/index", "/disk")
gm.expect(result.status == 0 and os.listdir("/secret/index"), f"root's own link: {result.status} {result.err}")
shutil.rmtree("/secret/index")

# A picture that cannot be written: the old one stays.
gm.touch("/tmp/old.svg", "old")
gm.tmpfs("/users", "size=4k,mode=755")
gm.touch("/users/old.svg", "old")
result = gm.getmnt("index", "report", "--index-dir=/index", "--svg=/users/old.svg", "/disk")
gm.expect(result.status == 1 and os.listdir("/users") == ["old.svg"] and gm.read("/users/old.svg") == "old",
          f"no space: {result.status} {result.err} {os.listdir('/users')}")
gm.umount("/users")

# The user exchanges the file and a symlink all the time.
gm.touch("/secret/target", "secret")
for name in ("/sticky/out", "/home/u/out"):
    plant(name, "file", USER, "")
for name in ("/sticky/link", "/home/u/link"):
    plant(name, "symlink", USER, "")
attacker = os.fork()
if attacker == 0:
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    while True:
        for top in (b"/sticky", b"/home/u"):
            gm.libc.renameat2(AT_FDCWD, top + b"/out", AT_FDCWD, top + b"/link", RENAME_EXCHANGE)
for option, path in (("--svg", "/home/u/out"), ("--svg", "/sticky/out"), ("-fprint", "/sticky/out")):
    end, runs, seen = time.monotonic() + (5 if gm.FULL else 0.7), 0, set()
    while runs < 10 or time.monotonic() < end:
        runs += 1
        seen.add(run(option, path).status)
    gm.expect(gm.read("/secret/target") == "secret", f"{option} {path}: followed in {runs} runs, by status {seen}")
os.kill(attacker, signal.SIGKILL)
os.waitpid(attacker, 0)
gm.umount("/dev/pts")
gm.umount("/disk")
gm.done()
