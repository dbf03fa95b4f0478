# SPDX-License-Identifier: MIT
"""Mounts that never answer, mounts on and below them, and idle automounts are not touched."""
import os

import gm


def hung(root):
    """FUSE mounts whose server never answers; mounts in them, and a bind mount of one."""
    gm.need_fs("fuse")
    gm.tmpfs(root / "ok/one")
    gm.tmpfs(root / "ok/two/three")
    gm.HungFuse(root / "hung/here")
    gm.HungFuse(root / "hung/private", options="default_permissions")
    gm.tmpfs(root / "hung/beside")
    gm.mount(root / "hung/here", gm.mkdir(root / "bound"), None, gm.MS_BIND)
    root.enter()
    gm.check("hung", untouched=["/hung/here", "/hung/private", "/bound"])
    for args in (("-D",), ("--tree",), ("-l", "--output-all"), ("--boundaries", "--names=walk"),
                 ("-T", "/hung/here"), ("/hung/here",), ("-M", "/hung/here"), ("--explain",)):
        result = gm.getmnt(*args)
        gm.expect(result.status in (0, 32), f"{args}: status {result.status}: {result.err[-200:]}")


def overlays(root):
    """Overlays whose lower directory is on a FUSE mount that stops answering."""
    gm.need_fs("fuse", "overlay")
    # An attacker can choose names with one hash: FNV-1a of these two is the same.
    gm.tmpfs(root / "sg32TRs7x25rhJ")
    servers = [gm.FileFuse(root / name) for name in ("slow", "place", "nN79J0F2DA4UuI")]
    gm.tmpfs(root / "up")
    gm.tmpfs(root / "ok/one")
    gm.mkdir(root / "links")
    for name, target in (("rel", "../slow"), ("abs", "/links/rel"), ("harmless", "/ok")):
        os.symlink(target, root / ("links/" + name))
    root.enter()
    # The kernel keeps names as they were given, with symlinks.  "/place" and "/ok/one" are
    # mounted over their own lower directory, so that its name leads to the overlay.
    for number, (target, lower) in enumerate((
            ("/merged", "/slow"), ("/linked", "/links/abs"), ("/harmless", "/links/harmless"),
            ("/place", "/place"), ("/ok/one", "/ok/one"), ("/collides", "/nN79J0F2DA4UuI"))):
        gm.overlay(target, lower, f"/up/work{number}")
    gm.tmpfs("/merged/inner")
    for server in servers:
        server.stopped = True
    gm.check("overlay on FUSE", untouched=["/slow", "/merged", "/linked", "/place",
                                           "/nN79J0F2DA4UuI", "/collides"])


def stacked(root):
    """Mounts on the root of one that can block are found as any other; what they cover is not
    touched."""
    gm.need_fs("fuse", "autofs")
    gm.HungFuse(root / "fuse")
    direct = gm.Autofs(root / "auto/direct", "direct")
    for point in ("fuse", "auto/direct"):
        gm.mount("over", root / point, "tmpfs")
        gm.tmpfs(root / (point + "/in"))
    root.enter()
    gm.check("stacked on what blocks")
    gm.expect_idle("stacked", {"direct": direct})


def over_a_directory(root):
    """A hung FUSE mount over a directory with mounts below: no naming mode goes through it."""
    gm.need_fs("fuse")
    gm.tmpfs(root / "k")
    gm.tmpfs(root / "k/deep/er")
    gm.HungFuse(root / "k/deep")
    root.enter()
    for args in (["--names=pure"], ["--names=pure", "--algorithm=getmnt1"], ["--names=walk"],
                 ["--names=walk", "--prune=-unreachable"], ["--names=hint", "--prune=-unreachable"],
                 ["--names=pure", "--identity=dev"], ["--names=walk", "--identity=dev"],
                 ["--names=pure", "--algorithm=getmnt2", "--prune=-leaf,-unlooked"]):
        result = gm.getmnt("-J", "-l", *args, seconds=15)
        gm.expect(result.status in (0, 64), f"{args}: status {result.status}: {result.err[-200:]}")
        states = {row["source"]: gm.row_states(row) for row in result.rows()}
        gm.expect(states["hung"] & {"untested", "hidden"}, f"{args}: {states}")


def automounts(root):
    """Idle automounts are reported as untested, and stay idle."""
    gm.need_fs("autofs")
    triggers = {kind: gm.Autofs(root / f"auto/{kind}", kind) for kind in ("direct", "indirect", "offset")}
    gm.tmpfs(root / "ok/one/two")
    gm.tmpfs(root / "auto/beside")
    root.enter()
    gm.check("autofs", untouched=["/auto/" + kind for kind in triggers])
    gm.expect_idle("autofs", triggers)


def places(root):
    """/sys/dev, /run and /dev that never answer: no run waits for them."""
    gm.need_fs("fuse")
    gm.need("mkfs.ext4")
    gm.mkdir(root / "run")
    gm.loop_mount(gm.image(root / "tmp/image", 4 << 20, "mkfs.ext4", "-q"), root / "disk")
    for where in ("sys/dev", "run", "dev"):     # on /sys itself libselinux waits before main()
        gm.HungFuse(root / where)
    root.enter()
    for args in ((), ("--names=walk", "--search-limit=0"), ("--kernel=mountinfo",),
                 ("-o", "+UUID,LABEL,SIZE"), ("-o", "+UUID", "--probe=all", "--timeout=0.3"),
                 ("--probe=local",)):
        result = gm.getmnt("-J", "-l", *args)
        # Without /run a probe cannot be recorded.
        refused = any(arg.startswith("--probe") for arg in args)
        gm.expect(result.status == (64 if refused else 0)
                  and (b"nothing was probed" in result.err) == refused,
                  f"{args}: status {result.status} {result.err[-300:]!r}")
        states = {row["target"]: row["state"] for row in result.rows()} if result.out else {}
        for where in ("/sys/dev", "/run", "/dev"):
            gm.expect(states.get(where) == "untested", f"{args}: {where} is {states.get(where)}")
    gm.touch("/etc/fstab", "UUID=1234 /x ext4 defaults 0 0\n")
    own = ("--task", str(os.getpid()))
    for args in (("--names=kernel", "-o", "UUID"), ("--names=kernel", "-o", "ID,LABEL"), ("--task", "1"),
                 (*own, "-o", "+UUID"), ("-s", "-e", "-F", "/etc/fstab"),
                 (*own, "--poll", "-w", "100", "-T", "/disk")):
        result = gm.getmnt(*args)
        gm.expect(result.status in (0, 1), f"{args}: status {result.status} {result.err[-300:]!r}")
    watch = gm.Watch("--format=jsonl", "-o", "+UUID")
    gm.mount("/disk", gm.mkdir("/other"), None, gm.MS_BIND)
    watch.wait(lambda: b"/other" in watch.out, "the bind mount to be reported")
    watch.end()


gm.each(hung, overlays, stacked, over_a_directory, automounts, places)
