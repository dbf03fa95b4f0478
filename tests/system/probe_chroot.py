# SPDX-License-Identifier: MIT
"""--probe where "/" is a directory of a mount that has no name there: what lies
below is asked, and what lies outside is not."""
import os

import gm

gm.need_fs("fuse")
root = gm.Root()
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
gm.done()
