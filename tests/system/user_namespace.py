# SPDX-License-Identifier: MIT
"""An unprivileged container: a user namespace of its own, mounts of its own."""
import os

import gm

root = gm.Root()
gm.tmpfs(root / "a/b")
gm.mkdir(root / "shut/x")
gm.tmpfs(root / "shut/x")
gm.mkdir(root / "mine")
os.chown(root / "mine", 65534, 65534)
os.chmod(root / "shut", 0o700)
root.enter()


def contained():
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    if gm.libc.unshare(0x10000000 | gm.CLONE_NEWNS):
        print("  no user namespaces here")
        return
    gm.libc.prctl(4, 1, 0, 0, 0)
    for name, text in (("setgroups", "deny"), ("uid_map", "0 65534 1"), ("gid_map", "0 65534 1")):
        with open("/proc/self/" + name, "w", encoding="ascii") as f:
            f.write(text)
    gm.tmpfs("/mine/one")
    gm.tmpfs("/mine/one/two")
    lines = {line.id: line for line in gm.oracle()}
    for source in gm.SOURCES:
        for names, algorithm in (("hint", "getmnt3"), ("walk", "getmnt1"), ("walk", "getmnt3")):
            tag = f"{source} {names} {algorithm}"
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--kernel=" + source,
                               "--names=" + names, "--algorithm=" + algorithm)
            gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
            rows = {gm.row_id(row): row for row in result.rows()}
            gm.expect(set(rows) == set(lines), f"{tag}: {sorted(rows)} for {sorted(lines)}")
            for id_, line in lines.items():
                states = gm.row_states(rows.get(id_, {}))
                gm.expect(states == ({"ok"} if line.reachable else {"denied"}),
                          f"{tag}: {line}: {states}")
    for form in gm.FORMS + [("-D",), ("--output-all",), ("-N", str(os.getpid())), ("--unmounted",),
                            ("-J", "--strict")]:
        result = gm.getmnt(*form)
        gm.expect(result.status == (64 if "--strict" in form else 0) and b"/mine/one/two" in result.out,
                  f"{form}: status {result.status}: {result.err}")


gm.in_child(contained)
gm.done()
