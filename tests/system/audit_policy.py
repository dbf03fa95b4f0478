# SPDX-License-Identifier: MIT
"""The configuration of getmnt audit: the order of files, invalid files and lines, files that others may
write or that can block; and requirements compared with real mounts."""
import json
import os

import gm

gm.need("mount", "umount")
root = gm.Root()
for program in ("mount", "umount"):
    gm.install(program, root.path)
for name in ("etc/getmnt/audit.conf.d", "tmp", "srv/a", "srv/b", "var", "plain", "other/etc/getmnt", "other/tmp", "other/dup", "other/bound", "other/twice", "hung", "trigger"):
    gm.mkdir(root / name)
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
root.enter()
gm.propagation("/", gm.MS_PRIVATE)
gm.run("mount", "-t", "tmpfs", "-o", "size=1m,nosuid,nodev", "t", "/tmp")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m", "a", "/srv/a")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m", "v", "/var")
gm.run("mount", "-t", "tmpfs", "-o", "size=1m,nosuid", "o", "/other/tmp")
gm.propagation("/var", gm.MS_SHARED)
with open("/etc/fstab", "w", encoding="utf-8") as file:
    file.write("root / tmpfs defaults 0 0\nt /tmp tmpfs size=1m,nosuid,nodev 0 0\nv /var tmpfs size=1m 0 0\n")


def put(name, text, mode=0o644):
    """Write a file of /etc/getmnt."""
    path = "/etc/getmnt/" + name
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def audit(*args):
    """The findings, as CODE target source, and the number of ignored ones."""
    result = gm.getmnt("audit", "--json", "--only=DRIFT-NOT-IN-FSTAB,POLICY-*,MNT-PROPAGATION", *args)
    gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
    document = json.loads(result.out)
    found = sorted(f"{f['code']} {f['target']} {f['source']}" for f in document["findings"] if f["severity"] != "info")
    return found, document["counts"]["silenced"]


def expect_findings(tag, want, silenced=0, args=()):
    got = audit(*args)
    gm.expect(got == (sorted(want), silenced), f"{tag}: {got}, not {(sorted(want), silenced)}")


def refused(tag, word, *args):
    """Status 2, a message with a word in it, and no output that looks clean."""
    for more in ((), ("--json",), ("--show-config",)):
        result = gm.getmnt("audit", *args, *more)
        document = json.loads(result.out) if more == ("--json",) and result.out else None
        silent = document["failed"] and document["exit_status"] == 2 and not document["findings"] if document else not result.out
        gm.expect(result.status == 2 and word in result.err.decode() and silent, f"{tag} {more}: {result.status} {result.out} {result.err}")


A, O = "DRIFT-NOT-IN-FSTAB /srv/a None", "DRIFT-NOT-IN-FSTAB /other/tmp None"
expect_findings("without files", [A, O])

# The order of files.
put("audit.conf", "severity info DRIFT-* target=/srv/*\n")
expect_findings("audit.conf", [O])
put("audit.conf.d/20-more.conf", "severity warning DRIFT-* target=/srv/a\nignore * target=/other/*\n")
expect_findings("a later file wins", [A], 1)
put("audit.conf.d/30-last.conf", "ignore DRIFT-* target=/srv/a\n")
expect_findings("another file", [], 2)
put("audit.conf.d/10-first.conf", "severity critical DRIFT-*\n")
expect_findings("one before changes nothing", [], 2)
for name in (".hidden.conf", "40-more", "50-more.conf~", "conf", "60.conf.bak", ".conf"):
    put("audit.conf.d/" + name, "this is no statement\n")
expect_findings("what is not read", [], 2)
result = gm.getmnt("audit", "--show-config")
gm.expect(result.status == 0 and result.out.decode().split("\n") == [
    "/etc/getmnt/audit.conf:1: severity info DRIFT-* target=/srv/*",
    "/etc/getmnt/audit.conf.d/10-first.conf:1: severity critical DRIFT-*",
    "/etc/getmnt/audit.conf.d/20-more.conf:1: severity warning DRIFT-* target=/srv/a",
    "/etc/getmnt/audit.conf.d/20-more.conf:2: ignore * target=/other/*",
    "/etc/getmnt/audit.conf.d/30-last.conf:1: ignore DRIFT-* target=/srv/a", ""], f"--show-config: {result.out} {result.err}")
expect_findings("one that is named instead", [A], 1, ["--config=/etc/getmnt/audit.conf.d/20-more.conf"])
expect_findings("none", [A, O], 0, ["--config=none"])
result = gm.getmnt("audit", "-v", "--only=DRIFT-NOT-IN-FSTAB")
gm.expect(result.status == 0 and b"ignored by /etc/getmnt/audit.conf.d/30-last.conf:1: warning DRIFT-NOT-IN-FSTAB /srv/a\n" in result.out
          and b"2 ignored by the configuration" in result.out, f"-v: {result.out} {result.err}")
# With a recorded table no file is read.
gm.touch("/plain/table", gm.read("/proc/self/mountinfo"))
expect_findings("a recorded table", [A, O], 0, ["--tab-file=/plain/table", "--fstab=/etc/fstab"])
expect_findings("a recorded table, and a file", [A], 1,
        ["--tab-file=/plain/table", "--fstab=/etc/fstab", "--config=/etc/getmnt/audit.conf.d/20-more.conf"])

# An invalid line is reported with its place, and nothing is audited.
put("audit.conf.d/15-wrong.conf", "# one\nignore DRIFT-OPTION\n")
refused("a wrong line", "getmnt: /etc/getmnt/audit.conf.d/15-wrong.conf:2: unknown rule \"DRIFT-OPTION\"")
expect_findings("and not read", [A, O], 0, ["--config=none"])
put("audit.conf.d/15-wrong.conf", "#" * (1 << 20) + "#")
refused("too large", "15-wrong.conf: larger than 1048576 bytes")
put("audit.conf.d/15-wrong.conf", "", 0o664)
refused("the group may write", "15-wrong.conf: writable by others than root (mode 0664)")
put("audit.conf.d/15-wrong.conf", "", 0o646)
refused("all may write", "15-wrong.conf: writable by others than root (mode 0646)")
os.chown(put("audit.conf.d/15-wrong.conf", ""), 1000, 0)
refused("another's", "15-wrong.conf: owned by uid 1000")
os.unlink("/etc/getmnt/audit.conf.d/15-wrong.conf")
os.symlink("/nowhere", "/etc/getmnt/audit.conf.d/15-wrong.conf")
refused("a link to nothing", "15-wrong.conf: dangling symlink")
os.unlink("/etc/getmnt/audit.conf.d/15-wrong.conf")
for name, to in (("/etc/getmnt/audit.conf", "nowhere"), ("/etc/getmnt/audit.conf.d", "/nowhere/else"), ("/etc/getmnt", "/nowhere"), ("/etc/getmnt", None)):
    os.rename(name, name + ".kept")
    if to:
        os.symlink(to, name)
    else:
        gm.touch(name, "")
    refused(f"{name}, which leads to {to}", f"getmnt: {name}: " + ("dangling symlink" if to else "not a directory"))
    expect_findings(f"{name}, with --config=none", [A, O], 0, ["--config=none"])
    os.unlink(name)
    os.rename(name + ".kept", name)
os.rename("/etc/fstab", "/etc/fstab.kept")
os.symlink("gone/fstab", "/etc/fstab")
result = gm.getmnt("audit", "--config=none")
gm.expect(result.status == 2 and not result.out and b"getmnt: /etc/fstab: dangling symlink" in result.err, f"an fstab that leads nowhere: {result.out} {result.err}")
os.unlink("/etc/fstab")
result = gm.getmnt("audit", "--config=none", "--only=FSTAB-*")
gm.expect(result.status == 0 and not result.err, f"no fstab: {result.out} {result.err}")
os.rename("/etc/fstab.kept", "/etc/fstab")
os.mkfifo("/etc/getmnt/audit.conf.d/15-wrong.conf", 0o644)
refused("a FIFO", "15-wrong.conf: cannot be read: it is not a regular file")
os.unlink("/etc/getmnt/audit.conf.d/15-wrong.conf")
os.mkdir("/etc/getmnt/audit.conf.d/15-wrong.conf")
refused("a directory", "15-wrong.conf: cannot be read: Is a directory")
os.rmdir("/etc/getmnt/audit.conf.d/15-wrong.conf")
os.chmod("/etc/getmnt/audit.conf.d", 0o777)
refused("a directory that all may write", "audit.conf.d: writable by others than root (mode 0777)")
os.chmod("/etc/getmnt/audit.conf.d", 0o755)
refused("one that is not there", "/nowhere: cannot be read: No such file or directory", "--config=/nowhere")
# Other users than root may read any file.
os.chown(put("audit.conf.d/15-wrong.conf", "", 0o666), 1000, 1000)
result = gm.getmnt("audit", "--only=DRIFT-NOT-IN-FSTAB", uid=1000)
gm.expect(result.status == 0, f"not root: {result.status} {result.out} {result.err}")
put("audit.conf.d/15-wrong.conf", "", 0o600)
result = gm.getmnt("audit", "--only=DRIFT-NOT-IN-FSTAB", uid=1000)
gm.expect(result.status == 2 and b"15-wrong.conf: cannot be read: Permission denied" in result.err, f"denied: {result.status} {result.err}")
os.unlink("/etc/getmnt/audit.conf.d/15-wrong.conf")

# A symlink is followed, unless it leads to what can block.
os.rename("/etc/getmnt/audit.conf", "/plain/conf")
os.symlink("/plain/conf", "/etc/getmnt/audit.conf")
expect_findings("a link", [], 2)
os.unlink("/etc/getmnt/audit.conf")
trigger = gm.Autofs("/trigger", "direct")
os.symlink("/trigger/conf", "/etc/getmnt/audit.conf")
refused("below an automount", "/etc/getmnt/audit.conf: accessing it can block")
refused("below an automount, named", "/trigger/conf: not read: accessing /trigger can block; name another file", "--config=/trigger/conf")
gm.expect(not trigger.requests(), "the automount was triggered")
hung = gm.HungFuse("/hung", dev="/dev/fuse") if os.path.exists("/dev/fuse") else None
if hung:
    os.unlink("/etc/getmnt/audit.conf")
    os.symlink("/hung/conf", "/etc/getmnt/audit.conf")
    refused("below a hung server", "/etc/getmnt/audit.conf: accessing it can block")
    refused("below a hung server, named", "/hung/x: not read: accessing /hung can block", "--config=/hung/x")
    hung.end()
    gm.umount("/hung", gm.MNT_DETACH)
os.unlink("/etc/getmnt/audit.conf")
gm.umount("/trigger", gm.MNT_DETACH)
for name in os.listdir("/etc/getmnt/audit.conf.d"):
    os.unlink("/etc/getmnt/audit.conf.d/" + name)

# Requirements.
HEALTHY = """ignore DRIFT-*
require /tmp nosuid,nodev,rw,exec,size=1024k,private
require /var suid,shared
require / mountpoint
"""
CONF = "/etc/getmnt/audit.conf"
put("audit.conf", HEALTHY)
expect_findings("healthy", [], 2)


def planted(tag, want, undo, silenced=2):
    expect_findings(tag, want, silenced)
    for argv in undo:
        gm.run(*argv)
    expect_findings(tag + ", undone", [], 2)


gm.run("mount", "-o", "remount,suid,nodev,size=1m", "/tmp")
planted("suid", [f"POLICY-OPTION /tmp {CONF}:2"], [("mount", "-o", "remount,nosuid,nodev,size=1m", "/tmp")])
gm.run("mount", "-o", "remount,nosuid,nodev,size=2m", "/tmp")
planted("another size", [f"POLICY-OPTION /tmp {CONF}:2"], [("mount", "-o", "remount,nosuid,nodev,size=1m", "/tmp")])
gm.run("umount", "/tmp")
planted("not mounted", [f"POLICY-PARTITION /tmp {CONF}:2"],
        [("mount", "-t", "tmpfs", "-o", "size=1m,nosuid,nodev", "t", "/tmp")])
gm.run("mount", "--make-private", "/var")
planted("private", [f"MNT-PROPAGATION /var {CONF}:3"], [("mount", "--make-shared", "/var")])
# The uppermost mount is checked.
gm.run("mount", "-t", "tmpfs", "-o", "nosuid", "cover", "/tmp")
planted("covered", [f"POLICY-OPTION /tmp {CONF}:2"], [("umount", "/tmp")])

# --root reads the files below it.
gm.touch("/other/etc/getmnt/audit.conf", "require /tmp nosuid\nrequire /tmp noexec\nrequire /var mountpoint\n")
gm.touch("/other/etc/fstab", "")
os.chmod("/other/etc/getmnt/audit.conf", 0o644)
OTHER = "/other/etc/getmnt/audit.conf"
got = [line for line in audit("--root=/other")[0] if line.startswith(("POLICY", "MNT-PROPAGATION"))]
gm.expect(got == [f"POLICY-OPTION /tmp {OTHER}:2", f"POLICY-PARTITION /var {OTHER}:3"], f"--root: {got}")
result = gm.getmnt("audit", "--root=/other", "-v")
gm.expect(b"does not exist" in result.out, f"--root: {result.out}")

# Mount points have the names that a system with this root gives them, in all findings and as operands.
for _ in range(2):
    gm.run("mount", "-t", "tmpfs", "-o", "size=1m", "d", "/other/dup")
    gm.run("mount", "--bind", "/srv/a", "/other/bound")
for _ in range(2):
    gm.run("mount", "--bind", "/plain", "/other/twice")
os.symlink("/twice", "/other/link")
for operands, want in (((), {"/dup", "/bound", "/twice"}), (("/",), {"/dup", "/bound", "/twice"}), (("/twice",), {"/twice"}),
                       (("/link",), {"/twice"}), (("/missing/../dup",), {"/dup"}), (("dup", "./bound"), {"/dup", "/bound"}), (("/other/dup",), None),
                       (("/srv/a",), None), (("../srv/a",), None)):
    result = gm.getmnt("audit", "--root=/other", "--json", "--only=MNT-DUP,MNT-SHADOWED", *operands, cwd="/other")
    document = json.loads(result.out)
    got = {row["target"] for row in document["findings"] if row["severity"] != "info"} if result.status < 2 else None
    gm.expect(got == want, f"--root {operands}: {got} {result.err}")
gm.touch("/other/etc/getmnt/audit.conf", "ignore MNT-DUP target=/twice\nignore MNT-* target=/other/*\n")
result = gm.getmnt("audit", "--root=/other", "--json", "--only=MNT-DUP,MNT-SHADOWED", "/twice")
gm.expect(result.status == 0 and json.loads(result.out)["counts"]["silenced"] == 1, f"--root, ignored: {result.out}")

gm.done()
