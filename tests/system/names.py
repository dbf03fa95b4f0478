# SPDX-License-Identifier: MIT
"""Hostile names: blanks, escapes, invalid UTF-8, control bytes."""
import os

import gm

NAMES = [b"two words", b"tab\there", b"new\nline", b"back\\slash", b"#hash", b"trailing ",
         b" leading", b"literal\\040escape", b"\\134", b"inv\xff\xfealid", b"\xc0\xaf",
         b"\xed\xa0\x80", b"caf\xc3\xa9", b"\xe2\x80\xae\xe2\x80\xa8", b"esc\x1b[31m", b"bel\x07",
         b"quote\"'`$(x)", b"\x7f", b"\xc2\x9b", b"...", b"-n", b"a" * 255, b"x\\x41", b"\r", b"//"]
root = gm.Root()
base = gm.tmpfs(root / "n")
for i, name in enumerate(NAMES):
    if b"/" in name:
        continue
    path = os.fsencode(base) + b"/" + name
    gm.tmpfs(path, "size=1m", source=b"src " + name.replace(b"\n", b"\\n")[:200])
    gm.tmpfs(path + b"/in/" + name, "size=1m")
    if i % 3 == 0:
        os.makedirs(path + b"/b/" + name)
        gm.bind(path + b"/b/" + name, path + b"/b/" + name)
root.enter()
lines = gm.check("names")

# Every form holds one line for each mount, whatever its name.
for form in ("-r", "-P"):
    out = gm.getmnt(form, "-n", "-o", "ID,TARGET").out
    got = len(out.rstrip(b"\n").split(b"\n"))
    gm.expect(got == len(lines), f"{form}: {got} lines for {len(lines)} mounts")
out = gm.getmnt("--format=mtab").out
gm.expect(all(len(line.split(b" ")) >= 6 for line in out.rstrip(b"\n").split(b"\n")),
          "mtab: a line of fewer than six fields")
for form in (("-J",), ("-J", "-l"), ("--format=jsonl",)):
    out = gm.getmnt(*form).out
    try:
        out.decode("utf-8")
    except UnicodeDecodeError as error:
        gm.fail(f"{form}: not UTF-8: {error}")
gm.done()
