# SPDX-License-Identifier: MIT
"""getmnt fstab --merge where systemd has loaded the fstab: if the file changed since, lines that differ
from the mounts are kept; and hosts where what systemd has loaded does not matter.

systemctl is a script here.  tests/fleet/managed.py uses systemd."""
import os
import shutil

import gm

CLONE_NEWPID = 0x20000000
gm.hide_init()
root = gm.Root()
for name in ("etc", "usr/bin", "run/systemd/system", "t1/etc", "t2", "t3", "other"):
    gm.mkdir(root / name)
gm.install_program(root / "other")
gm.install("sh", root.path)
root.enter()
for place in ("/t1", "/t2", "/t3"):
    gm.tmpfs(place, "size=1m", source="none")


def entry(target, options="size=1m"):
    return f"none {target} tmpfs {options} 0 0\n"


def loaded(*places, changed):
    """Have systemd loaded an fstab with lines of these places."""
    text = "Id=-.mount\\nWhere=/\\nLoadState=loaded\\nActiveState=active\\n\\n"
    for place in places:
        text += (f"Id={place[1:]}.mount\\nWhere={place}\\nLoadState=loaded\\nActiveState=active\\nSourcePath=/etc/fstab\\n"
                 f"FragmentPath=/run/systemd/generator/{place[1:]}.mount\\nNeedDaemonReload={'yes' if changed else 'no'}\\n\\n")
    gm.touch("/usr/bin/systemctl", f"#!/bin/sh\nprintf '{text}'\n")
    os.chmod("/usr/bin/systemctl", 0o755)


def merge(*args, **more):
    return gm.getmnt("fstab", "--merge", "--fix=source,options,pass,order,damaged", *args, **more)


LEFT = b"; changed since the base, so left"
BASE = b" was changed since systemd loaded it, so lines that differ are left"
# The options of one line differ, and another line is missing.
gm.touch("/etc/fstab", entry("/t1", "size=1m,noexec") + entry("/t3"))
loaded("/t1", "/t2", "/t3", changed=False)
result = merge()
gm.expect(result.out == (entry("/t1") + entry("/t3")).encode() and BASE not in result.err and LEFT not in result.err,
          f"not changed: {result.out} {result.err}")
loaded("/t1", "/t2", "/t3", changed=True)
result = merge()
gm.expect(result.out == (entry("/t1", "size=1m,noexec") + entry("/t3")).encode() and result.err.count(LEFT) == 2 and BASE in result.err,
          f"changed: {result.out} {result.err}")
# Where all mounts are to have a line, the missing one is added, and reported.
result = merge("--add=persistent")
gm.expect(b" /t2 " in result.out and b"noexec" in result.out
          and b"fixed, although it was removed after systemd loaded it" in result.err, f"back: {result.out} {result.err}")
result = merge("--add=persistent", "--base=none")
gm.expect(b" /t2 " in result.out and b"noexec" not in result.out and BASE not in result.err, f"no base: {result.out} {result.err}")


def counts(tag, expected, *args, told=b"", **more):
    """Whether what systemd has loaded counts."""
    found = gm.getmnt("fstab", "--merge", "--explain", *args, **more)
    gm.expect((BASE in found.err) == expected and told in found.err, f"{tag}: {found.status} {found.err}")


counts("as it is", True)
counts("named", True, "--merge=/etc/fstab")
counts("named otherwise", True, "--merge=../etc/./fstab", cwd="/tmp")
counts("by a user", True, uid=1000)
counts("no base", False, "--base=none")
shutil.copy("/etc/fstab", "/etc/other")
counts("another file", False, "--merge=/etc/other")
counts("another base", False, "--base=/etc/other")
gm.mkdir("/t3/etc")
counts("another root", False, "/t3")
with open("/t3/mountinfo", "wb") as f, open("/proc/self/mountinfo", "rb") as table:
    f.write(table.read())
counts("a recorded table", False, "--tab-file=/t3/mountinfo", "--merge=/etc/fstab", "--id=path")
os.rename("/etc/fstab", "/etc/real")
os.symlink("real", "/etc/fstab")
counts("a link", True)
os.unlink("/etc/fstab")
gm.touch("/etc/fstab", "# nothing\n")
counts("a file without a line", False, told=b"/etc/fstab: has no line of a mount: it counts as lost")
os.rename("/etc/real", "/etc/fstab")
loaded(changed=True)
counts("no line loaded", False)
gm.touch("/usr/bin/systemctl", "#!/bin/sh\nexit 1\n")
counts("systemctl fails", False)
loaded("/t1", "/t2", "/t3", changed=True)


def first_process():
    """In another root than that of PID 1; and in the root of PID 1 of a PID namespace."""
    gm.mount("proc", "/proc", "proc")
    counts("the first process", True)
    for name in ("etc", "proc", "run/systemd/system", "t1", "t2", "dev", "usr/bin"):
        gm.mkdir("/other/" + name)
    gm.bind("/proc", "/other/proc")
    for name in ("etc/fstab", "usr/bin/systemctl"):
        shutil.copy("/" + name, "/other/" + name)
    gm.tmpfs("/other/t2", "size=1m", source="none")
    counts("in a chroot", False, chroot="/other")


gm.expect(gm.libc.unshare(CLONE_NEWPID) == 0, "unshare")
child = os.fork()
if child == 0:
    first_process()
    gm.done()
gm.expect(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the first process failed")
gm.done()
