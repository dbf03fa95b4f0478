# SPDX-License-Identifier: MIT
"""--task: the mounts of a process in another namespace, and of another root."""
import os

import gm

root = gm.Root()
gm.tmpfs(root / "common/x")
jail = gm.tmpfs(root / "jail")
gm.install_program(jail)
gm.tmpfs(jail + "/in/side")
gm.tmpfs(jail + "/in/side/more")
gm.mkdir(root / "plain/dir")
gm.tmpfs(root / "plain/dir/m")
root.enter()
ready, end = os.pipe(), os.pipe()
pid = gm.fork()
if pid == 0:
    gm.unshare_mounts()
    gm.tmpfs("/own/y")
    gm.tmpfs("/own/y/z")
    gm.tmpfs("/common")
    with open("/tmp/table", "w", encoding="ascii") as f:
        for line in gm.oracle():
            f.write(f"{line.id} {int(line.reachable)} {line.point.decode()}\n")
    os.write(ready[1], b"x")
    os.read(end[0], 1)
    gm.done()
os.read(ready[0], 1)
expected = {}
with open("/tmp/table", encoding="ascii") as f:
    for text in f:
        id_, reachable, point = text.split()
        expected[int(id_)] = (point, reachable == "1")
for names in ("hint", "walk", "pure"):
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--task", str(pid))
    if result.status not in (0, 64):
        gm.fail(f"--task, {names}: status {result.status}: {result.err[-300:]}")
        continue
    rows = {gm.row_id(row): row for row in result.rows()}
    gm.expect(set(rows) == set(expected), f"--task, {names}: {sorted(rows)}, {sorted(expected)}")
    for id_, (point, reachable) in expected.items():
        row = rows.get(id_)
        if row and reachable:
            gm.expect(row["target"] == point and gm.row_states(row) == {"ok"},
                      f"--task, {names}: {point}: {row}")
        elif row and names != "pure":
            gm.expect("hidden" in gm.row_states(row), f"--task, {names}: {point}: {row}")

# A process of this namespace whose root is elsewhere: a mount, a directory.
for top in (b"/jail", b"/plain/dir"):
    pid2 = gm.fork()
    if pid2 == 0:
        os.chroot(top)
        os.chdir("/")
        os.write(ready[1], b"x")
        os.read(end[0], 1)
        gm.done()
    os.read(ready[0], 1)
    seen = {line.id: gm.shown(line.point[len(top):] or b"/") for line in gm.oracle()
            if gm.within(line.point, top)}
    for names in ("hint", "walk"):
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--task", str(pid2))
        if result.status != 0:
            gm.fail(f"--task in {top}, {names}: status {result.status}: {result.err[-300:]}")
            continue
        inside = {gm.row_id(row): row["target"] for row in result.rows()
                  if gm.row_states(row) == {"ok"} and gm.row_id(row) in seen}
        gm.expect(inside == seen, f"--task in {top}, {names}: {inside} instead of {seen}")
    os.kill(pid2, 9)
    os.waitpid(pid2, 0)
result = gm.getmnt("--task", "999999")
gm.expect(result.status == 1 and b"999999" in result.err, f"a dead PID: {result.err}")
os.write(end[1], b"x")
os.waitpid(pid, 0)
gm.done()
