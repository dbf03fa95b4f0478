# SPDX-License-Identifier: MIT
"""getmnt index build, update and watch on a file system whose mount point cannot be read, or cannot be read
to its end: a message, status 1, and the index of before."""
import os

import gm

gm.need("mkfs.ext4", "strace")
gm.need_fs("ext4")
IX = "--index-dir=/ix"
root = gm.Root()
gm.install("strace", root.path)
gm.loop_mount(gm.image(root / "img", 32 << 20, "mkfs.ext4", "-q"), root / "t")
root.enter()
for i in range(50):
    gm.touch(f"/t/d{i % 5}/file{i}", "x")


def failing(call, error, when, *args):
    """Run a command whose n-th call on the mount point fails."""
    return gm.getmnt("-f", "-qq", "-o", "/dev/null", "-P", "/t", "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={when}",
                     gm.PROGRAM, *args, program="/bin/strace")


def state():
    place = "/ix/" + os.listdir("/ix")[0] if os.path.isdir("/ix") and os.listdir("/ix") else None
    return place and {name: gm.read_bytes(f"{place}/{name}") for name in os.listdir(place) if name != "lock"}


def check(tag, call, error, when, message, *args, always=True):
    """The command fails; or, unless always, the call was not needed.  @return whether it failed."""
    before = state()
    result = failing(call, error, when, *args)
    # Without openat2, the call that fails may also be for a directory below the mount point.
    below = "openat2" in gm.OFF and b"/t/" in result.err
    if not always and (result.status == 0 or below):
        return False
    gm.expect(result.status == 1 and message in result.err and result.out == b"",
              f"{tag}: {result.status}, {result.out}, {result.err}")
    gm.expect(state() == before, f"{tag}: the index has changed")
    return True


# There is no index yet: none is left.
check("the first build", "getdents64", "EIO", 1, b"/t: cannot be read: Input/output error", "index", "build", IX, "/t")
gm.expect(state() is None, "the first build left an index")
gm.expect(gm.getmnt("index", "build", "-q", IX, "/t").status == 0, "build")
gm.touch("/t/new", "x")
refused = 0
for error, text in (("EIO", b"Input/output error"), ("ESTALE", b"Stale file handle"), ("EACCES", b"Permission denied")):
    # The first entries, those of the walk, and the first entries again, after it.
    for when in ("1", "2", "3", "2+"):
        check(f"build, getdents64 {when}: {error}", "getdents64", error, when, b"/t: cannot be read: " + text,
              "index", "build", IX, "/t")
    for when in ("1", "2"):
        check(f"update, getdents64 {when}: {error}", "getdents64", error, when, b"/t: cannot be read: " + text,
              "index", "update", "--max-age=0", IX, "/t")
    check(f"watch: {error}", "getdents64", error, 1, b"/t: cannot be read: " + text, "index", "watch", IX, "/t")
    # Whichever opening of the mount point fails.
    for when in range(1, 12):
        for verb in ("build", "update"):
            refused += check(f"{verb}, openat {when}: {error}", "openat", error, when, b"/t: ", "index", verb, IX, "/t", always=False)
gm.expect(refused > 6, f"openat: {refused}")
gm.expect(gm.getmnt("index", "update", IX, "/t").status == 0 and gm.getmnt("index", "check", IX, "/t").status == 0, "afterwards")
gm.expect(gm.getmnt("search", "--index", IX, "--count", "*", "/t").out == b"57\n",
          f"{gm.getmnt('search', '--index', IX, '--count', '*', '/t')}")
gm.done()
