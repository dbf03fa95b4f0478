# SPDX-License-Identifier: MIT
"""--probe where the directories that it uses hang, from another root, in a chroot, and without /proc."""
import os
import signal
import stat

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
gm.need_fs("fuse")


def places(root):
    """The directories that a probe uses hang, and the names are those of another root."""
    gm.need_fs("autofs")
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
            # A directory that can block is not touched: the next directory is used.
            for env in ({}, {"XDG_RUNTIME_DIR": "/run/user"}, {"XDG_RUNTIME_DIR": "/run/user/4242"}):
                probe(where, want={where: "hung", "/silent": "hung", "/ok": "ok"}, uid=4242, env=env)
            os.chown(gm.mkdir("/tmp/own"), 4242, 4242)
            probe(where, want={where: "hung", "/silent": "hung", "/ok": "ok"}, uid=4242, env={"XDG_RUNTIME_DIR": "/tmp/own"})
        gm.umount(where, gm.MNT_DETACH)
        hung.end()
    silent.end()
    gm.umount("/silent", gm.MNT_DETACH)

    # Names of another root are not names of this one, with each way of naming.
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


def in_a_chroot(root):
    """Where "/" is a directory of a mount that has no name there, what lies below it is probed,
    and what lies outside is not."""
    gm.tmpfs(root / "m", "size=512m")
    gm.tmpfs(root / "m/point", "size=256m")
    JAILS = {"a directory": gm.mkdir(root / "m/jail"), "a mount point": root / "m/point",
             "what is covered": gm.mkdir(root / "m/covered")}
    servers, jails = [gm.HungFuse(root / "outside")], {}
    for name, jail in JAILS.items():
        gm.install_program(jail)
        gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
        gm.mkdir(jail + "/run")
        gm.tmpfs(jail + "/in/side")
        gm.tmpfs(jail + "/in/side/more")
        gm.tmpfs(jail + "/over/below")
        gm.tmpfs(jail + "/over")
        servers.append(gm.HungFuse(jail + "/hung"))
        jails[name] = os.open(jail, os.O_PATH)
    gm.tmpfs(root / "m/covered", "size=256m")
    root.enter()
    WELL = {"/proc", "/in/side", "/in/side/more", "/over"}

    def enter(jail):
        os.fchdir(jail)
        os.chroot(".")

    for name, jail in jails.items():
        for source in gm.SOURCES:
            for names in ("hint", "walk", "kernel"):
                for probe, hung in (("--probe=local", "untested"), ("--probe=all", "hung")):
                    tag = f"{name}: {source} {names} {probe}"
                    result = gm.getmnt("-J", "-l", "--names=" + names, "--kernel=" + source, "--timeout=0.4",
                                       "--strict", probe, before=lambda: enter(jail))
                    if result.status is None:
                        continue
                    rows = [row for row in result.rows() if "outside" not in row["states"]]
                    states = {row["target"]: row["state"] for row in rows}
                    gm.expect(all(states.get(target) == "ok" for target in WELL), f"{tag}: {states}")
                    gm.expect(states.get("/hung") == hung and states.get("/over/below") == "hidden"
                              and not set(states) & {"/outside", "/m"}, f"{tag}: {states}")
                    gm.expect(result.status == (64 if hung == "hung" else 0), f"{tag}: {result.status}")


def no_proc(root):
    """A probe whose process is left is not repeated without /proc either."""
    if gm.sanitized():
        gm.skip("a sanitizer's leak check needs /proc")
    if not gm.have_listmount():
        gm.skip("without /proc the table comes from listmount alone")
    gm.tmpfs(root / "run")
    gm.mkdir(root / "elsewhere")
    server = gm.SilentFuse(root / "silent")
    root.enter()
    gm.mount("proc", "/elsewhere", "proc")
    gm.umount("/proc")

    def left():
        """Workers of this mount namespace that wait forever."""
        n = 0
        for name in filter(str.isdigit, os.listdir("/elsewhere")):
            try:
                with open(f"/elsewhere/{name}/stat", "rb") as f:
                    n += (b"(getmnt-probe) D" in f.read()
                          and os.readlink(f"/elsewhere/{name}/ns/mnt") == namespace)
            except OSError:
                pass
        return n

    namespace = os.readlink("/elsewhere/self/ns/mnt")
    gm.expect(left() == 0, "a worker waits before the first run")
    for run in range(3):
        result = gm.getmnt("--probe=all", "--timeout=0.4", "-r", "-n", "-o", "TARGET,STATE")
        gm.expect(b"/silent hung\n" in result.out, f"run {run}: {result.status} {result.out!r} {result.err[-300:]!r}")
        gm.expect(left() == 1, f"run {run}: {left()} workers wait")
    server.end()


gm.each(places, in_a_chroot, no_proc)
