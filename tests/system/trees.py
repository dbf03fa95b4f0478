# SPDX-License-Identifier: MIT
"""Mount trees, each in its own namespace, in every naming mode."""
import os

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
def binds(root):
    """Bind mounts of one file system in many places, also within itself."""
    fs = gm.tmpfs(root / "fs")
    for i in range(20):
        gm.mkdir(f"{fs}/d{i}/in/side")
        gm.bind(f"{fs}/d{i}", root / f"elsewhere/e{i}")
    gm.bind(fs, root / "whole")
    gm.bind(f"{fs}/d1", f"{fs}/d2/in")          # within itself
    gm.bind(f"{fs}/d2", f"{fs}/d3/in/side")
    gm.bind(f"{fs}/d4/in", f"{fs}/d4/in")       # onto itself
    gm.tmpfs(f"{fs}/d5/in/side")
    gm.bind(fs, root / "rec", recursive=True)
    gm.bind(gm.mkdir(root / "plain/dir"), root / "plain/bound")
    gm.bind(root / "", gm.mkdir(root / "tmp/again"))
    root.enter()
    gm.check("binds")


def covered(root):
    """Mounts below covered directories, with and without a mount of the same name above."""
    for point in ("a/b/c", "a/b/c/d/e", "a/b", "a/b/other",     # a/b covers the first two
                  "x/y/z", "x", "p/q", "p", "p/q", "f/g", "f"):
        gm.tmpfs(root / point)
    gm.mkdir(root / "x/y/z/deeper")
    gm.touch(root / "f/g")                      # a file where a directory was
    root.enter()
    ids = {line.point: line.id for line in gm.check("covered")}
    for row in gm.getmnt("-J", "-l", "-o", "+ID,COVERED-BY").rows():
        if row["target"] in ("/a/b/c", "/a/b/c/d/e"):
            by = row["covered-by"]
            gm.expect(str(by) in (str(ids[b"/a/b"]), "/a/b"), f"{row['target']} covered by {by}")


def deleted(root):
    """Bind mounts whose source was removed."""
    gm.mkdir(root / "src/dir")
    gm.touch(root / "src/file")
    gm.bind(root / "src/dir", root / "on/dir")
    gm.bind(root / "src/file", root / "on/file")
    gm.bind(gm.mkdir(root / "src/kept/deleted"), root / "on/namesake")
    gm.tmpfs(root / "on/dir2")
    gm.mkdir(root / "on/dir2/x")
    gm.bind(root / "on/dir2/x", root / "on/x")
    os.rmdir(root / "on/dir2/x")
    os.rmdir(root / "src/dir")
    os.unlink(root / "src/file")
    root.enter()
    gm.expect(sum(line.deleted for line in gm.oracle()) >= 3, "no mount is deleted")
    gm.check("deleted")


def files(root):
    """Mount points that are files, also on a file mount and on a device node."""
    source = gm.touch(root / "etc/resolv.conf.real", "nameserver ::1\n")
    gm.tmpfs(root / "box")
    for i in range(500):
        gm.touch(root / f"box/many/f{i}")
    for point in ("etc/resolv.conf", "etc/hosts", "etc/hostname", "box/etc/resolv.conf",
                  "box/many/f333"):
        gm.bind(source, root / point)
    gm.bind(root / "box/many/f1", root / "etc/hosts")
    gm.bind(root / "dev/null", root / "box/null")
    root.enter()
    gm.check("files")
    rows = gm.getmnt("-J", "-l", "--names=walk", "-o", "+ID,KIND").rows()
    kinds = {row["target"]: row["kind"] for row in rows}
    for path, kind in (("/etc/resolv.conf", "file"), ("/box/many/f333", "file"),
                       ("/box/null", "file"), ("/box", "dir")):
        gm.expect(kinds.get(path) == kind, f"KIND of {path} is {kinds.get(path)}")


def moved(root):
    """Moved mounts: parents come after children in the table, and names change."""
    for point in ("a", "a/x", "a/x/y", "late"):
        gm.tmpfs(root / point)
    gm.mkdir(root / "late/here/there")
    gm.mount(root / "a", root / "late/here", None, gm.MS_MOVE)
    gm.tmpfs(root / "z/zz")
    gm.tmpfs(root / "later")
    gm.mkdir(root / "later/m")
    gm.mount(root / "late", root / "later/m", None, gm.MS_MOVE)
    gm.mount(root / "z/zz", root / "later/m/here/x/y", None, gm.MS_MOVE)    # a stack
    root.enter()
    gm.check("moved")
    os.rename("/late", "/early")
    gm.tmpfs("/early/p/q")
    os.rename("/early", "/renamed")
    gm.check("renamed")


def root_covered(root):
    """A mount over the root: this process still sees its own root below it."""
    jail = gm.mkdir(root / "jail")
    gm.install_program(jail)
    gm.mount("proc", gm.mkdir(jail + "/proc"), "proc")
    gm.tmpfs(jail + "/in/side")
    gm.tmpfs(root / "a/b")
    gm.tmpfs(root / "a/b/c")
    root.enter()

    def jailed():
        os.chroot("/jail")
        os.chdir("/")
        gm.mount("over", "/", "tmpfs")
        gm.tmpfs("/in/side/more")
        gm.check("a jail covered from inside", made=True)

    gm.in_child(jailed)
    gm.mount("over", "/", "tmpfs")
    gm.tmpfs("/a/b/later")
    gm.check("the root covered")


def escape(root):
    """A mount moved out of the bind mount that it is on has no path from the root: it is
    reported, and not searched for."""
    gm.tmpfs(root / "fs")
    gm.mkdir(root / "fs/sub/p/d")
    for i in range(50):
        gm.mkdir(root / f"fs/many/d{i}/e")
    gm.bind(root / "fs/sub", root / "m")
    gm.tmpfs(root / "m/p/d")
    os.rename(root / "fs/sub/p", root / "fs/p")
    root.enter()
    for names, algorithm, source in gm.RUNS:
        for threads in (1, 4):
            tag = f"{names} {algorithm} {source} {threads}"
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                               f"--threads={threads}", "--kernel=" + source,
                               "--algorithm=" + algorithm, "--stats=json")
            gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
            odd = [row for row in result.rows() if gm.row_states(row) - {"ok", "untested"}]
            gm.expect(all(gm.row_states(row) == {"outside"} and row["target"] is None
                          for row in odd), f"{tag}: {odd}")
            gm.expect(names != "hint" or result.stats()["dirs"] == 0, f"{tag}: it searches")


def slave(root):
    """A slave namespace with mounts that came by propagation."""
    root.enter()
    gm.propagation("/", gm.MS_SHARED, recursive=True)
    gm.tmpfs("/before")

    def in_the_slave():
        gm.unshare_mounts()
        gm.propagation("/", gm.MS_SLAVE, recursive=True)
        yield
        gm.tmpfs("/own/x")
        gm.tmpfs("/before/sub")
        gm.tmpfs("/after")              # on top of a propagated mount
        gm.check("slave")

    other = gm.Other(in_the_slave)
    gm.tmpfs("/after")
    gm.tmpfs("/after/deep")
    gm.bind("/before", "/peer")
    gm.tmpfs("/peer/shared")            # appears at /before/shared as well
    gm.check("master")
    other.end()


gm.each(binds, covered, deleted, files, moved, root_covered, escape, slave)
