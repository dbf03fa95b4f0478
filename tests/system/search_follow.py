# SPDX-License-Identifier: MIT
"""getmnt search --follow and mounts: links that lead to or through mounts that can block are
reported and touch nothing; others are followed."""
import errno
import os

import gm

gm.need_fs("fuse", "autofs")
root = gm.Root()
gm.touch(root / "t/plain/file", "x")
gm.tmpfs(root / "other")
gm.touch(root / "other/dir/file", "x")
gm.tmpfs(root / "other/mounted")
gm.touch(root / "other/mounted/file", "x")
hung = gm.HungFuse(root / "hung")
gm.tmpfs(root / "deep")
silent = gm.HungFuse(root / "deep/hung")
direct = gm.Autofs(root / "auto/direct", "direct")
indirect = gm.Autofs(root / "auto/indirect", "indirect")
gm.bind(root / "t/plain", root / "t/bound")
for name, target in (
        ("hung", "/hung"), ("in-hung", "/hung/a/b"), ("through", "/hung/../other"), ("rel", "../hung/x"),
        ("chain", "hung"), ("deep", "../deep/hung/."), ("direct", "/auto/direct"),
        ("slash", "/auto/direct/"), ("key", "/auto/indirect/key"), ("key-below", "../auto/indirect/key/x"),
        ("proc", "/proc/self/root/hung/x")):
    os.symlink(target, root / f"t/{name}")
BLOCKED = {"hung", "in-hung", "through", "rel", "chain", "deep", "direct", "slash", "key", "key-below",
           "proc"}
os.symlink("/other/dir", root / "t/dir")
os.symlink("../other/dir/../mounted/file", root / "t/file")
os.symlink("/other", root / "t/all")
root.enter()
TREE = {"t/plain", "t/plain/file", "t/bound", "t/bound/file", "t/dir", "t/file", "t/all"}
BELOW = {"t/dir/file", "t/all/dir", "t/all/dir/file", "t/all/mounted", "t/all/mounted/file"}

for disable in ("", "listmount", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
    env = {"GETMNT_DISABLE": disable}
    for args in (("--threads=1",), ("--threads=4",), ("--threads=1", "-m")):
        result = gm.getmnt("search", "-L", "*", "t", *args, env=env, seconds=20)
        err = result.err.decode()
        gm.expect(result.status == 1, f"{disable} {args}: status {result.status} {err}")
        for name in BLOCKED:
            gm.expect(err.count(f"getmnt: t/{name}: not entered: its file system can block") == 1,
                      f"{disable} {args}: {name} is not reported: {err}")
        gm.expect(len(err.splitlines()) == len(BLOCKED), f"{disable} {args}: {err}")
        if "-m" in args:
            continue
        names = set(result.out.decode().split("\n")) - {""}
        gm.expect(names == TREE | BELOW, f"{disable} {args}: {names ^ (TREE | BELOW)}")
    for pattern, want in (("/hung", set()), ("/hung/x", set()), ("/key/x/y", set()), ("/direct/x", set()),
                          ("/dir/file", {"t/dir/file"}), ("/file", {"t/file"}), ("/through/dir", set()),
                          ("/all/mounted/*", {"t/all/mounted/file"})):
        result = gm.getmnt("search", "-L", pattern, "t", env=env)
        names = set(result.out.decode().split("\n")) - {""}
        gm.expect(names == want, f"{disable} {pattern}: {names}")

# --xdev: links to other mounts are listed, and not entered.
for disable in ("", "openat2", "listmount,openat2", "listmount,openat2,statx-mntid"):
    result = gm.getmnt("search", "-L", "--xdev", "*", "t", env={"GETMNT_DISABLE": disable})
    names = set(result.out.decode().split("\n")) - {""}
    # A bind mount of the same file system is on the same device.
    gm.expect(names == TREE - (set() if "statx" in disable else {"t/bound/file"}), f"{disable} --xdev: {names}")
# Links that the kernel does not follow: of other users in a sticky directory, on a mount with nosymfollow.
MS_NOSYMFOLLOW = 256
SYSCTL = "/proc/sys/fs/protected_symlinks"
was = open(SYSCTL).read()
gm.mkdir("/links/out")
for top, owner, mode in (("sticky", 0, 0o1777), ("users", 1000, 0o1777), ("private", 1000, 0o1755),
                         ("plain", 1000, 0o777)):
    gm.mkdir(f"/links/{top}")
    for uid in (0, 1000, 1001):
        for name, target in (("dir", "/links/out"), ("file", "/bin/getmnt"), ("dot", "../out/."),
                             ("chain", f"../plain/dir{uid}"), ("none", "none")):
            os.symlink(target, f"/links/{top}/{name}{uid}")
            os.lchown(f"/links/{top}/{name}{uid}", uid, uid)
    os.chown(f"/links/{top}", owner, owner)
    os.chmod(f"/links/{top}", mode)
gm.tmpfs("/links/no")
os.symlink("/links/out", "/links/no/dir")
gm.bind("/links/no", "/links/yes")
os.symlink("no/dir", "/links/to-no")
os.symlink("no/dir/.", "/links/below-no")
os.symlink("loop", "/links/loop")
gm.mount(None, "/links/no", None, 32 | MS_NOSYMFOLLOW)
links = [os.path.join(top, name) for top, dirs, files in os.walk("/links") for name in dirs + files
         if os.path.islink(os.path.join(top, name))]


def followed():
    """Error number -> the links for which the kernel returns it; 0: those that it follows."""
    found = {}
    for link in links:
        try:
            error = 0 if os.stat(link) else 0
        except OSError as e:
            error = e.errno
        found.setdefault(error, set()).add(link)
    return found


def compare(tag, want, uid=None):
    """Search, and compare the errors with those of the kernel."""
    for args in ((), ("--blocking",), ("--threads=1", "-m"), ("--threads=4", "-m")):
        for disable in ("", "openat2", "statx-mntid", "listmount,openat2,statx-mntid"):
            # Without openat2 owners are compared, of which another user namespace shows only one.
            if uid is None and "openat2" in disable:
                continue
            result = gm.getmnt("search", "-L", *args, "*", "/links", uid=uid, env={"GETMNT_DISABLE": disable})
            err = result.err.decode().splitlines()
            for code, text in ((errno.EACCES, "Permission denied"), (errno.ELOOP, "Too many levels")):
                names = {line.split(": ")[1] for line in err if text in line}
                gm.expect(names == want.get(code, set()),
                          f"{tag} {args} {disable}: {code}: {names ^ want.get(code, set())}")
            if "-m" not in args:
                names = set(result.out.decode().split("\n")) & set(links)
                gm.expect(names == set(links) - want.get(errno.EACCES, set()), f"{tag} {args} {disable}: {names}")


def in_user_namespace():
    """Where all owners of links and directories are the same unknown user."""
    if gm.enter_user_namespace():
        compare("user namespace", followed())


for protect in ("0", "1"):
    with open(SYSCTL, "w") as file:
        file.write(protect)
    for uid in (0, 1000, 1001):
        os.seteuid(uid)
        want = followed()
        os.seteuid(0)
        gm.expect((errno.EACCES in want) == (protect == "1"), f"kernel: {want}")
        compare(f"{protect} {uid}", want, uid)
# A link that cannot be followed has no type, and -prune is false for it; with -depth, -prune is always true.
for depth in ((), ("-depth",)):
    result = gm.getmnt("find", "-L", "/links", "-mindepth", "2", *depth, "-prune", uid=uid)
    names = set(result.out.decode().split("\n")) & want[errno.EACCES]
    gm.expect(names == (want[errno.EACCES] if depth else set()) and result.status == 1, f"find {depth} -prune: {names}")
# The attributes of such a link cannot be read: an action that needs them is false and not performed, others are.
lost = sorted(want[errno.EACCES])[0]
for action, printed in {
        ("-ls",): False, **{("-printf", f"%{c}\\n"): c in "pPfhHdZ" for c in "pPfhHdZyYlFiDsmMu"},
        ("-printf", "%y\\n", "-o", "-print"): True, ("-execdir", "false", ";", "-o", "-print"): True,
        ("-print", "-printf", "%s\\n"): True, ("-execdir", "false", ";", "-o", "-ls"): False}.items():
    result = gm.getmnt("find", "-L", os.path.dirname(lost), "-path", lost, "(", *action, ")", uid=uid)
    gm.expect(bool(result.out) == printed and result.status == 1, f"find -L {lost} {action}: {result.out}")
    result = gm.getmnt("find", lost, "-printf", "%Y\\n", uid=uid)
    gm.expect((result.out, result.status) == (b"?\n", 0) and b"Permission denied" in result.err, f"%Y: {result}")
gm.in_child(in_user_namespace)
with open(SYSCTL, "w") as file:
    file.write(was)

# Links of proc: what they lead to is entered once, by whatever process.
gm.touch("/tree/a/file", "x")
with open("/tree/a/file") as open_file:
    os.chdir("/tree")
    result = gm.getmnt("search", "-L", "*", f"/proc/{os.getpid()}", seconds=20)
    names = [line for line in result.out.decode().split("\n") if line.endswith("/a/file")]
    gm.expect(len(names) == 1, f"/proc: {names}")

# The mount ID is that of mountinfo, whichever tells mounts apart.
rows = [gm.getmnt("search", *follow, "-o", "MNT-ID,PATH", "*", "/t/plain").out for follow in ((), ("-L",), ("-L", "--xdev"))]
gm.expect(rows[0] == b"%d\t/t/plain/file\n" % gm.fd_mount(os.open("/t/plain/file", os.O_PATH)) and set(rows) == {rows[0]},
          f"MNT-ID: {rows}")

# --blocking: everything is entered (this tree has no hung mount).
os.chdir("/other")
os.symlink("/other/mounted", "link")
result = gm.getmnt("search", "-L", "--blocking", "*", "/other", seconds=20)
gm.expect(result.status == 0 and b"/other/mounted/file" in result.out + result.err, f"with --blocking: {result.err}")
for name, trigger in (("direct", direct), ("indirect", indirect)):
    requests = trigger.requests()
    gm.expect(not requests, f"{name} was triggered: {requests[:40]!r}")
gm.done()
