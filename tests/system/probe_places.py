# SPDX-License-Identifier: MIT
"""--probe where its own places hang, and from another root."""
import os
import signal
import stat

import gm

gm.need_fs("fuse", "autofs")
root = gm.Root()
gm.mkdir(root / "run/user")
gm.tmpfs(root / "ok")
gm.tmpfs(root / "box/proc2")
gm.tmpfs(root / "box/only")
silent = gm.SilentFuse(root / "silent")
os.mknod(root / "dev/fuse", 0o600 | stat.S_IFCHR, os.makedev(10, 229))
root.enter()


def probe(tag, *args, want, status=0, says=b"", **more):
    result = gm.getmnt("-J", "-l", "--probe=all", "--timeout=0.3", *args, **more)
    gm.expect(result.status == status, f"{tag} {args}: status {result.status} {result.err[-300:]!r}")
    if result.status is None:
        return
    gm.expect(says in result.err, f"{tag} {args}: {result.err[-300:]!r}")
    states = {row["target"]: row["state"] for row in result.rows()}
    for target, state in want.items():
        gm.expect(states.get(target) == state, f"{tag} {args}: {target} is {states.get(target)}, not {state}")


# What the run, the supervisor and a worker that is left would use.  Where nothing can be
# recorded nothing is probed.
NONE = b"nothing was probed: there is no directory for the records"
for where in ("/sys/fs/cgroup", "/run/user", "/run"):
    hung = gm.HungFuse(where)
    for args in ((), ("--names=kernel",), ("--kernel=mountinfo",), ("-N", str(os.getpid()))):
        if where == "/run":
            probe(where, *args, want={where: "untested", "/silent": "untested"}, status=64, says=NONE)
        else:
            probe(where, *args, want={where: "hung", "/silent": "hung", "/ok": "ok"})
    if where == "/run/user":
        for env in ({}, {"XDG_RUNTIME_DIR": "/run/user"}, {"XDG_RUNTIME_DIR": "/run/user/4242"}):
            probe(where, want={where: "untested", "/silent": "untested"}, status=64, says=NONE, uid=4242, env=env)
        os.chown(gm.mkdir("/tmp/own"), 4242, 4242)
        probe(where, want={where: "hung", "/silent": "hung", "/ok": "ok"}, uid=4242, env={"XDG_RUNTIME_DIR": "/tmp/own"})
    gm.umount(where, gm.MNT_DETACH)
    hung.end()
silent.end()
gm.umount("/silent", gm.MNT_DETACH)

# Names of another root are not those of ours, whatever naming there is.
for names in ("hint", "kernel"):
    probe("--root", f"--names={names}", "--root=/box", want={"/only": "ok", "/proc2": "ok"})
# Ours has an automount directory where the other has a mount.
pid = gm.fork()
if pid == 0:
    os.chroot("/box")
    os.kill(os.getpid(), signal.SIGSTOP)
os.waitpid(pid, os.WUNTRACED)
trigger = gm.Autofs("/only", "direct")
for names in ("hint", "kernel"):
    probe("--task", "-N", str(pid), f"--names={names}", want={"/only": "ok", "/proc2": "ok"})
    gm.expect(not trigger.requests(), f"--task --names={names}: woken")
os.kill(pid, signal.SIGKILL)
gm.done()
