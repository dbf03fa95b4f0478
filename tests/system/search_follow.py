# SPDX-License-Identifier: MIT
"""getmnt search --follow and mounts: links that lead to or through mounts that can block are
reported and touch nothing; others are followed."""
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
TWO = ({"t/dir/file", "t/all/dir", "t/all/mounted", "t/all/mounted/file"},
       {"t/all/dir", "t/all/dir/file", "t/all/mounted", "t/all/mounted/file"})

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
        gm.expect(names in [TREE | more for more in TWO], f"{disable} {args}: {names ^ (TREE | TWO[0])}")
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
# --blocking: everything is entered (this tree has no hung mount).
os.chdir("/other")
os.symlink("/other/mounted", "link")
result = gm.getmnt("search", "-L", "--blocking", "*", "/other", seconds=20)
gm.expect(result.status == 0 and b"/other/mounted/file" in result.out + result.err, f"asked for: {result.err}")
for name, trigger in (("direct", direct), ("indirect", indirect)):
    asked = trigger.requests()
    gm.expect(not asked, f"{name} was triggered: {asked[:40]!r}")
gm.done()
