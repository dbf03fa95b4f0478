# SPDX-License-Identifier: MIT
"""--poll touches nothing but the kernel's table: mounts that hang and
automounts that come and go are reported and not touched."""
import os
import re

import gm

gm.need("strace")
gm.need_fs("fuse", "autofs")
root = gm.Root()
gm.install("strace", root.path)
gm.tmpfs(root / "m", source="ground")
os.mknod(root / "dev/fuse", 0o666 | gm.stat.S_IFCHR, os.stat("/dev/fuse").st_rdev)
there = gm.HungFuse(root / "hung/before")
root.enter()

# What a watch that has begun does not do.
NEVER = {"statx", "newfstatat", "stat", "lstat", "open", "openat2", "readlink", "readlinkat",
         "getdents64", "statfs", "fstatfs", "access", "name_to_handle_at"}
for args, env in gm.WATCHES:
    watch = gm.Watch("--format=jsonl", *args, env={**env, "ASAN_OPTIONS": "detect_leaks=0"},
                     prefix=("/bin/strace", "-D", "-o", "/tmp/trace"))
    with open("/tmp/trace", encoding="utf-8", errors="replace") as f:
        begun = f.read().count("\n")
    rows = 0

    def told(n, title):
        global rows
        rows += n
        watch.wait_rows(rows)
        gm.expect(len(watch.rows()) == rows, f"{watch.name}: {title}: {watch.rows()[rows:]}")

    hung = gm.HungFuse("/m/hung")
    told(1, "a server that does not answer")
    gm.mount(None, "/m/hung", None, 32 | gm.MS_BIND | gm.MS_RDONLY)
    told(1, "its remount")
    gm.mount("/m/hung", gm.mkdir("/m/elsewhere"), None, gm.MS_MOVE)
    told(1, "its move")
    gm.umount("/m/elsewhere", gm.MNT_DETACH)
    told(1, "its end")
    hung.end()
    direct, indirect = gm.Autofs("/m/direct", "direct"), gm.Autofs("/m/indirect", "indirect")
    told(2, "automounters")
    for name in ("direct", "indirect"):
        gm.umount("/m/" + name, gm.MNT_DETACH)
        told(1, name)
    for name, trigger in (("direct", direct), ("indirect", indirect)):
        requests = trigger.requests()
        gm.expect(not requests, f"{watch.name}: {name} was triggered: {requests[:40]!r}")
    watch.end()
    seen = {}
    with open("/tmp/trace", encoding="utf-8", errors="replace") as f:
        for text in f.read().split("\n")[begun:]:
            match = re.match(r"(\w+)\((.*)", text)
            if not match:
                continue
            name = match.group(1)
            seen[name] = seen.get(name, 0) + 1
            if name in NEVER and "AT_EMPTY_PATH" not in text:
                gm.fail(f"{watch.name}: {text[:200]}")
            if name == "openat" and ', "mountinfo", O_RDONLY' not in text:
                gm.fail(f"{watch.name}: {text[:200]}")
    print(f"  {watch.name}: {seen}")
there.end()
gm.done()
