# SPDX-License-Identifier: MIT
"""Write a directory to standard output as the archive that a kernel begins with."""
import os
import stat
import sys


def entry(name, mode, data=b""):
    encoded = os.fsencode(name) + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


out = sys.stdout.buffer
top = sys.argv[1]
# PID 1 needs a console for its messages.
out.write(entry("dev", stat.S_IFDIR | 0o755))
for where, dirs, files in os.walk(top):
    for name in sorted(dirs):
        out.write(entry(os.path.relpath(os.path.join(where, name), top), stat.S_IFDIR | 0o755))
    for name in sorted(files):
        path = os.path.join(where, name)
        with open(path, "rb") as f:
            out.write(entry(os.path.relpath(path, top), stat.S_IFREG | 0o755, f.read()))
out.write(entry("TRAILER!!!", 0))
