# SPDX-License-Identifier: MIT
"""getmnt search while writers create, rename, replace and remove: entries that stay are found once by
every search, with their attributes; what disappears is a reported error, never the end of the search,
and never an entry that stays.  A minute by make check-long (GETMNT_LONG=1)."""
import collections
import json
import os
import time

import gm

LONG = os.environ.get("GETMNT_LONG") == "1"
SECONDS = 60 if LONG else 4
DIRS, FILES = 60, 30
WAYS = [["--engine=sync"], ["--engine=sync", "--ahead"],
        ["--engine=bulk"], ["--ahead"], ["clock"]]

root = gm.Root()
gm.tmpfs(root / "t/plain", "size=200m")
places = ["/t/plain"]
for fstype, *mkfs in (("ext4", "mkfs.ext4", "-q"), ("xfs", "mkfs.xfs", "-q"), ("btrfs", "mkfs.btrfs", "-q")):
    if gm.have_fs(fstype, mkfs[0]):
        gm.loop_mount(gm.image(root / f"{fstype}.img", 400 << 20, *mkfs), gm.mkdir(root / f"t/{fstype}"))
        places.append(f"/t/{fstype}")
# Slow: the first and the last.
slow = gm.SLOW > 1 or gm.sanitized()
places = places[::max(1, len(places) - 1)] if slow else places
root.enter()
stays = {}
for place in places:
    for d in range(DIRS):
        path = gm.mkdir(f"{place}/s{d}/deep")
        for i in range(FILES):
            with open(f"{path}/s{i}", "wb") as file:
                file.write(b"x" * (i * 100 + d))
            stays[f"{path}/s{i}"] = i * 100 + d
        gm.mkdir(f"{place}/s{d}/side")


def away(act, *paths):
    """Ignore files that another writer has removed."""
    try:
        act(*paths)
    except OSError:
        pass


def write(place, seed):
    """Create, rename, replace and remove, without end."""
    n = seed
    while True:
        n += 1
        d, e = n * 7 % DIRS, n * 13 % DIRS
        deep, side = f"{place}/s{d}/deep", f"{place}/s{e}/side"
        away(gm.touch, f"{deep}/c{n % 11}", "x")
        away(os.rename, f"{deep}/c{(n + 3) % 11}", f"{side}/c{n % 11}")
        away(os.mkdir, f"{side}/d{n % 5}")
        away(gm.touch, f"{side}/d{n % 5}/c{n % 17}", "y")
        # A directory gives way to a link, a file to a directory, and back.
        away(os.rename, f"{side}/d{(n + 1) % 5}", f"{deep}/d{n % 3}")
        away(os.symlink, "../..", f"{side}/d{(n + 1) % 5}")
        away(os.unlink, f"{side}/d{(n + 2) % 5}")
        away(os.unlink, f"{deep}/c{(n + 5) % 11}")
        away(os.unlink, f"{side}/c{(n + 6) % 11}")
        away(gm.shutil.rmtree, f"{deep}/d{(n + 1) % 3}")
        time.sleep(0.0005)


pids = []
for place in places:
    for seed in (0,) if slow else (0, 1000):
        pid = gm.fork()
        if pid == 0:
            write(place, seed)
        pids.append(pid)

begun, turn = time.monotonic(), 0
gone, found, runs = collections.Counter(), 0, 0
while time.monotonic() < begun + SECONDS or turn < (1 if slow else 2) * len(WAYS):
    way = WAYS[turn % len(WAYS)]
    env = gm.without("clock") if "clock" in way else {}      # as if the disk were waited for
    way = [*(word for word in way if word != "clock"), f"--threads={1 + turn % 4}", *(["-L"] if turn % 6 == 3 else [])]
    turn += 1
    for place in places:
        tag = f"{place} {env} {' '.join(way)}"
        # Lines, too, which the threads make.
        form = ["-m", "--format=jsonl"] if turn % 3 else ["-0", "-o", "TYPE,SIZE,PATH"]
        result = gm.getmnt("search", *form, *way, "*", place, env=env)
        if result.status is None:
            continue
        runs += 1
        seen, errors = collections.Counter(), 0
        if "-0" in form:
            errors = len(result.err.split(b"\n")) - 1
            result.out, lines = b"", result.out.decode().split("\0")[:-1]
            for kind, size, path in (line.split("\t", 2) for line in lines):
                seen[path] += 1
                if path in stays:
                    gm.expect(int(size) == stays[path] and kind == "f", f"{tag}: {kind} {size} {path}")
        for line in result.out.split(b"\n")[:-1]:
            row = json.loads(line)
            path = row["path"]
            if "error" in row:
                errors += 1
                gone[row["error"]] += 1
                gm.expect(path not in stays and row["error"] in ("ENOENT", "ENOTDIR", "ELOOP", "ESTALE"),
                          f"{tag}: {row}")
                continue
            seen[path] += 1
            if path in stays:
                gm.expect(row["size"] == stays[path] and row["type"] == "f", f"{tag}: {row}")
        wrong = [path for path in stays if path.startswith(place + "/") and seen[path] != 1]
        gm.expect(not wrong, f"{tag}: not once: {[(path, seen[path]) for path in wrong[:3]]}")
        gm.expect(result.status == bool(errors), f"{tag}: status {result.status}, {errors} errors, {result.err}")
        found += sum(seen.values())
    if len(gm.failures) > 10:
        break
    # Names alone, and an early end.
    for args in (("*s1*",), ("--first", "c*"), ("--count", "/s*/deep/*"), ("-0", "*")):
        result = gm.getmnt("search", *args, places[turn % len(places)], stdout=gm.null)
        gm.expect(result.status in (0, 1), f"{args}: {result.status}: {result.err[-200:]}")
for pid in pids:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
print(f"  {runs} searches, {found} found, {sum(gone.values())} gone: {dict(gone)}")
gm.expect(sum(gone.values()) > 0, "nothing went away: is anything written?")
gm.done()
