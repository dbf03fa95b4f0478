# SPDX-License-Identifier: MIT
"""Other roots and namespaces: chroot, --root, --task, and an unprivileged container."""
import os

import gm

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
def jail(root, path, mounted):
    """A directory or mount with the program and /proc, to enter by chroot."""
    top = gm.tmpfs(root / path) if mounted else gm.mkdir(root / path)
    gm.install_program(top)
    gm.mount("proc", gm.mkdir(top + "/proc"), "proc")
    gm.tmpfs(top + "/a/b")
    gm.tmpfs(top + "/a/b/c")
    gm.tmpfs(root / "elsewhere/x")
    return top


def check_in_jail(**more):
    def jailed():
        os.chroot("/jails/one")
        os.chdir("/")
        gm.check("in the jail", **more)
    gm.in_child(jailed)


def in_a_mount(root):
    """A chroot into a mount: other mounts are not listed, or have the state outside."""
    top = jail(root, "jails/one", True)
    gm.tmpfs(top + "/a/d")
    gm.tmpfs(top + "/a/d")
    gm.tmpfs(root / "jails/onemore")
    root.enter()
    check_in_jail()
    gm.check("outside of the jail")
    seen = {line.id: gm.shown(line.point[len(b"/jails/one"):] or b"/")
            for line in gm.oracle() if gm.within(line.point, b"/jails/one")}
    rows = gm.getmnt("-J", "-l", "-o", "+ID", "--root", "/jails/one").rows()
    inside = {gm.row_id(row): row["target"] for row in rows if "outside" not in gm.row_states(row)}
    gm.expect(inside == seen, f"--root: {inside} instead of {seen}")


def in_a_directory(root):
    """A chroot into a directory that is not a mount point: the table does not list its root."""
    top = jail(root, "jails/one", False)
    gm.mkdir(top + "/e/f/g/h")
    gm.tmpfs(top + "/e/f/g/h/i")
    gm.bind(gm.mkdir(top + "/e/k"), top + "/e/l")
    root.enter()
    check_in_jail(made=True)
    for source in gm.SOURCES:
        for where in ("/jails/one", "one", "./one/."):
            rows = gm.getmnt("-J", "-l", "--root=" + where, "--kernel=" + source,
                             cwd="/jails").rows()
            inside = sorted(row["target"] for row in rows if "outside" not in gm.row_states(row))
            gm.expect(inside == ["/", "/a/b", "/a/b/c", "/e/f/g/h/i", "/e/l", "/proc"],
                      f"--root={where} --kernel={source}: {inside}")
    # The name of a covered working directory leads to another directory.
    gm.tmpfs("/cover/a")
    gm.mkdir("/cover/a/in")
    os.chdir("/cover/a")
    gm.tmpfs("/cover/a")
    gm.mkdir("/cover/a/in")
    result = gm.getmnt("--root=in", cwd=".")
    gm.expect(result.status == 1, f"--root=in, in a covered directory: {result.status}")
    os.chdir("/")
    gm.umount("/cover/a", gm.MNT_DETACH)
    gm.tmpfs("/jails")
    gm.check("next to a covered jail")


def task(root):
    """--task: a process in another namespace, and one with another root."""
    gm.tmpfs(root / "common/x")
    jail(root, "jail", True)
    gm.tmpfs(root / "plain/dir/m")
    root.enter()

    def own_mounts():
        gm.unshare_mounts()
        for point in ("/own/y", "/own/y/z", "/common"):
            gm.tmpfs(point)
        with open("/tmp/table", "w", encoding="ascii") as f:
            for line in gm.oracle():
                f.write(f"{line.id} {int(line.reachable)} {line.point.decode()}\n")
        yield

    other = gm.Other(own_mounts)
    with open("/tmp/table", encoding="ascii") as f:
        expected = {int(id_): (point, reachable == "1")
                    for id_, reachable, point in map(str.split, f)}
    for names in ("hint", "walk", "pure"):
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--task", str(other.pid))
        gm.expect(result.status in (0, 64), f"--task, {names}: {result.status}: {result.err[-300:]}")
        rows = {gm.row_id(row): row for row in result.rows()}
        gm.expect(set(rows) == set(expected), f"--task, {names}: {sorted(rows)}, {sorted(expected)}")
        for id_, (point, reachable) in expected.items():
            row = rows.get(id_)
            if row and reachable:
                gm.expect(row["target"] == point and gm.row_states(row) == {"ok"},
                          f"--task, {names}: {point}: {row}")
            elif row and names != "pure":
                gm.expect("hidden" in gm.row_states(row), f"--task, {names}: {point}: {row}")
    other.end()

    for top in (b"/jail", b"/plain/dir"):
        def chrooted(where=top):
            os.chroot(where)
            os.chdir("/")
            yield

        other = gm.Other(chrooted)
        seen = {line.id: gm.shown(line.point[len(top):] or b"/") for line in gm.oracle()
                if gm.within(line.point, top)}
        for names in ("hint", "walk"):
            result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--task",
                               str(other.pid))
            gm.expect(result.status == 0, f"--task in {top}, {names}: {result.status}: {result.err}")
            inside = {gm.row_id(row): row["target"] for row in result.rows()
                      if gm.row_states(row) == {"ok"} and gm.row_id(row) in seen}
            gm.expect(inside == seen, f"--task in {top}, {names}: {inside} instead of {seen}")
        other.end()
    result = gm.getmnt("--task", "999999")
    gm.expect(result.status == 1 and b"999999" in result.err, f"a dead PID: {result.err}")


def paths(root):
    """--task and --root resolve a path in that root: here it leads into a hung mount."""
    gm.need_fs("fuse")
    gm.tmpfs(root / "there")
    gm.mkdir(root / "there/h/x")
    top = gm.tmpfs(root / "jail")
    gm.mkdir(top + "/there/h/x")
    os.mknod(top + "/there/h/zero", 0o600 | 0o060000, os.makedev(0, 0))
    gm.tmpfs(top + "/sub")
    os.symlink("/sub", top + "/link")
    os.mknod(root / "dev/fuse", 0o600 | 0o020000, os.makedev(10, 229))
    root.enter()

    def elsewhere():
        gm.unshare_mounts()
        gm.propagation("/", gm.MS_PRIVATE, recursive=True)
        gm.tmpfs("/own")
        yield

    other = gm.Other(elsewhere)
    pid = str(other.pid)
    gm.HungFuse("/there/h")
    for names in ("hint", "walk", "kernel"):
        for where in (("-N", pid), ("--root", "/jail")):
            for what in (("-S", "/there/h/x"), ("-S", "/there/h/zero"), ("/there/h/x",),
                         ("/there/h/x", "/there")):
                result = gm.getmnt("-q", "--names=" + names, *where, *what)
                gm.expect(result.status == 32, f"{names} {where} {what}: {result.status}: {result.err}")
            result = gm.getmnt("-rno", "TARGET", "--names=" + names, *where, "-T", "/there/h/x")
            gm.expect(result.out == (b"/there\n" if where[0] == "-N" else b"/\n"),
                      f"{names} {where}: -T: {result.out} {result.err}")
    for args, target in ((("--root", "/jail", "/link"), b"/sub\n"), (("-N", pid, "-M", "/own"), b"/own\n")):
        result = gm.getmnt("-rno", "TARGET", *args)
        gm.expect(result.out == target, f"{args}: {result.out} {result.err}")
    other.end()


def container(root):
    """An unprivileged container: a user namespace with mounts of its own."""
    gm.tmpfs(root / "a/b")
    gm.tmpfs(root / "shut/x")
    os.chown(gm.mkdir(root / "mine"), 65534, 65534)
    os.chmod(root / "shut", 0o700)
    root.enter()
    if not gm.enter_user_namespace():
        return
    gm.tmpfs("/mine/one")
    gm.tmpfs("/mine/one/two")
    lines = {line.id: line for line in gm.oracle()}
    for names, algorithm, source in gm.RUNS:
        if names == "pure":
            continue
        tag = f"{source} {names} {algorithm}"
        result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--kernel=" + source, "--names=" + names,
                           "--algorithm=" + algorithm)
        gm.expect(result.status == 0, f"{tag}: status {result.status}: {result.err[-300:]}")
        rows = {gm.row_id(row): row for row in result.rows()}
        gm.expect(set(rows) == set(lines), f"{tag}: {sorted(rows)} for {sorted(lines)}")
        for id_, line in lines.items():
            states = gm.row_states(rows.get(id_, {}))
            gm.expect(states == ({"ok"} if line.reachable else {"denied"}), f"{tag}: {line}: {states}")
    for form in gm.FORMS + [("-D",), ("--output-all",), ("-N", str(os.getpid())), ("--unmounted",),
                            ("-J", "--strict")]:
        result = gm.getmnt(*form)
        gm.expect(result.status == (64 if "--strict" in form else 0) and b"/mine/one/two" in result.out,
                  f"{form}: status {result.status}: {result.err}")


gm.each(in_a_mount, in_a_directory, task, paths, container)
