# SPDX-License-Identifier: MIT
"""getmnt search as an ordinary user: what cannot be read is reported, the rest is searched; and where
directories have no types, --type looks at each entry."""
import json
import os
import stat

import gm

gm.need_fs("ext2")
MS_REMOUNT = 32
root = gm.Root()
gm.touch(root / "t/open/file", "x")
gm.touch(root / "t/closed/file", "x")
gm.touch(root / "t/blind/file", "x")        # may be entered, and not read
gm.touch(root / "t/listed/file", "x")       # may be read, and not entered
os.chmod(root / "t/closed", 0o700)
os.chmod(root / "t/blind", 0o711)
os.chmod(root / "t/listed", 0o744)
os.chmod(root / "t/open/file", 0o640)
os.chmod(root / "", 0o755)
os.chmod(root / "t", 0o755)
os.chmod(root / "t/open", 0o755)
gm.touch(root / "r/file", "x")             # a root that may be read, and not entered
gm.mkdir(root / "r/dir")
gm.mkdir(root / "many")
for i in range(12000):
    os.symlink("x", root / f"many/name-of-some-length-{i}")
for name, mode in (("r", 0o744), ("many", 0o744)):
    os.chmod(root / name, mode)
gm.mkdir(root / "l")
os.symlink("../r", root / "l/link")
image = gm.image(root / "image", 8 << 20, "mkfs.ext2", "-q", "-O", "^filetype")
gm.loop_mount(image, root / "e")
gm.touch(root / "e/file", "x")
gm.mkdir(root / "e/dir")
os.symlink("file", root / "e/link")
os.mkfifo(root / "e/dir/fifo")
os.rmdir(root / "e/lost+found")
root.enter()


def search(*args, uid=65534, **more):
    result = gm.getmnt("search", *args, uid=uid, **more)
    return result, sorted(result.out.decode().split("\n")[:-1]), result.err.decode()


for threads in ("--threads=1", "--threads=4"):
    result, names, err = search("*", "/t", threads)
    gm.expect(names == ["/t/blind", "/t/closed", "/t/listed", "/t/listed/file", "/t/open", "/t/open/file"],
              f"{names}")
    gm.expect(result.status == 1, f"status {result.status}")
    for name in ("blind", "closed"):
        gm.expect(f"getmnt: /t/{name}: cannot be opened: Permission denied\n" in err, f"{name}: {err}")
    gm.expect(len(err.splitlines()) == 2, f"what else: {err}")

# A root that cannot be read, and one below a directory that cannot be entered.
for name in ("/t/closed", "/t/blind", "/t/closed/file"):
    result, names, err = search("*", name, "/t/open")
    gm.expect(names == ["/t/open/file"] and result.status == 1, f"{name}: {names}, {result.status}")
    gm.expect(err == f"getmnt: {name}: cannot be opened: Permission denied\n", f"{name}: {err}")
result, names, err = search("*", "/t/closed", "-J")
document = result.json()
gm.expect(result.status == 1 and err == "" and not document["complete"], f"-J: {result.status}, {err}")
gm.expect([(e["path"], e["error"], e["errsource"]) for e in document["entries"]]
          == [("/t/closed", "EACCES", "open")], f"-J: {document}")

# A root that can be read, and not entered, has its names told, as find tells them; the
# names in it cannot be entered or looked at.
def readable(tag, **more):
    """Search such roots."""
    for args in ((), ("-o", "PATH"), ("--threads=4",), ("--xdev",), ("--sort=name",), ("--type=d,f",)):
        result, names, err = search("*", "/r", *args, **more)
        gm.expect(names == ["/r/dir", "/r/file"] and result.status == 1
                  and err == "getmnt: /r/dir: cannot be opened: Permission denied\n", f"{tag} {args}: {names}, {err}")
    result, names, err = search("/*", "/r/", "--stats=json", **more)
    gm.expect(names == ["/r/dir", "/r/file"] and result.status == 0 and json.loads(err)["dirs"] == 1, f"{tag}: {err}")
    for args in ((), ("-o", "PATH"), ("--sort=inode",), ("--threads=4",)):
        result, names, err = search("*", "/many", *args, **more)
        gm.expect(len(names) == len(set(names)) == 12000 and result.status == 0 and not err, f"{tag} {args}: {len(names)}, {err}")
    result, names, err = search("--first", "*", "/many", **more)
    gm.expect(len(names) == 1 and not err, f"{tag} --first: {names}, {err}")
    result, names, err = search("-m", "/*", "/r", **more)
    gm.expect(not names and len(err.splitlines()) == 2 and "attributes not available" in err, f"{tag} -m: {names}, {err}")


readable("readable")
readable("readable, no openat2", env=gm.without("openat2"))
result, names, err = search("-L", "file", "/l")
gm.expect(names == ["/l/link/file"] and result.status == 1 and "/l/link/dir: attributes not available" in err,
          f"through a link: {names}, {err}")

# Attributes below a directory that may not be entered; --access.
result, names, err = search("-o", "SIZE,PATH", "listed/file|open/file", "/t")
gm.expect(names == ["1\t/t/open/file"] and result.status == 1, f"attributes: {names}")
gm.expect("getmnt: /t/listed/file: attributes not available: Permission denied\n" in err, f"attributes: {err}")
result, names, err = search("--access=r", "/file", "/t/open")
gm.expect(names == [] and result.status == 0, f"--access: {names}, {err}")
result, names, err = search("--access=r", "/file", "/t/open", uid=0)
gm.expect(names == ["/t/open/file"], f"--access, as root: {names}, {err}")
# Write access depends on the mount, too, and on the user.
gm.bind("/t/open", "/readonly")
gm.mount(None, "/readonly", None, gm.MS_BIND | gm.MS_RDONLY | MS_REMOUNT)
gm.touch("/t/open/anybody", "x")
os.chmod("/t/open/anybody", 0o666)
for uid, top, want in ((0, "/t/open", ["anybody", "file"]), (65534, "/t/open", ["anybody"]), (0, "/readonly", []), (65534, "/readonly", [])):
    for args in ((), ("-m",), ("--first",), ("-L",)):
        result, names, err = search("--access=w", "*", top, *args, uid=uid)
        names = sorted(os.path.basename(name) for name in names)
        good = names == want if args != ("--first",) else len(names) == bool(want) and set(names) <= set(want)
        gm.expect(good and result.status == 0, f"--access=w {args}, {uid}, {top}: {names}, {err}")
os.unlink("/t/open/anybody")
# Coloured, nothing is missing for want of attributes.
result, names, err = search("--color=always", "listed/file", "/t")
gm.expect(len(names) == 1 and "file" in names[0] and "/t/listed/file" not in err,
          f"coloured: {names}, {err}")
# But a directory that is not entered is reported, and listed as a directory.
gm.mkdir("/t/listed/below")
for args in (("--color=never",), ("--color=always",), ("--color=always", "-L"), ("--color=always", "--xdev")):
    result, names, err = search("listed/*|below/*", "/t", *args, "--threads=1")
    gm.expect(len(names) == 2 and result.status == 1, f"{args}: {names}, {result.status}")
    gm.expect("getmnt: /t/listed/below: " in err and ": Permission denied\n" in err, f"{args}: {err}")
gm.expect("\x1b[01;34mbelow" in "".join(names), f"not as a directory: {names}")
os.rmdir("/t/listed/below")

# Without standard output.
for args in ((), ("-o", "PATH"), ("-J",)):
    result = gm.getmnt("search", "*", "/t/open", *args, before=lambda: os.close(1))
    gm.expect(result.status == 1, f"{args}, no standard output: {result.status}, {result.err}")

# The access time of another user's directories is preserved only where that is permitted, which
# is tried once, not in each directory.
for i in range(600):
    gm.mkdir(f"/t/many/{i % 30}/{i}")
dirs = 1 + 30 + 600
for disable in (None, "openat2"):
    for uid, refused in ((0, 0), (65534, 10)):
        result = gm.getmnt("search", "*", "/t/many", "--threads=1", "--stats=json", uid=uid,
                           env={"GETMNT_DISABLE": disable})
        calls = result.stats()["calls"]
        opens = calls["openat2"] + calls["openat"]
        gm.expect(dirs <= opens <= dirs + refused + 2 and calls["getdents64"] <= 2 * dirs,
                  f"{uid}, without {disable}: {opens} opens, {calls['getdents64']} reads of {dirs} directories")

# A file system whose directories have no types.
TYPES = {"f": "/e/file", "d": "/e/dir", "l": "/e/link", "p": "/e/dir/fifo"}
for threads in ("--threads=1", "--threads=4"):
    for letter, want in TYPES.items():
        for args in ((), ("-m",), ("-o", "TYPE,PATH"), ("--access=r",), ("--first",)):
            result, rows, err = search("--type=" + letter, "*", "/e", threads, *args, uid=0)
            gm.expect([row.split("\t")[-1] for row in rows] == [want] and result.status == 0,
                      f"--type={letter} {args}: {rows}, {err}")
    result, rows, err = search("*", "/e", threads, "-J", uid=0)
    got = {e["path"]: e["type"] for e in result.json()["entries"]}
    gm.expect(got == {path: letter for letter, path in TYPES.items()}, f"types: {got}")
# One call for each that might be of the type, and for each that might be entered.
result, _, err = search("--type=p", "*", "/e", "--threads=1", "--stats=json", uid=0)
gm.expect(json.loads(err)["calls"]["statx"] == 1 + 4, f"calls: {err}")
gm.expect(stat.S_ISFIFO(os.lstat("/e/dir/fifo").st_mode), "no FIFO there")
if not gm.sanitized():      # which has words of its own without
    gm.umount("/proc", gm.MNT_DETACH)
    readable("readable, no /proc")
gm.done()
