# SPDX-License-Identifier: MIT
"""Hostile names: every byte, blanks, escapes, invalid UTF-8, terminal sequences, invisible characters;
as mount points, sources, types, options, roots of bind mounts.  What the kernel has is reported byte by
byte; on a terminal and in messages the names are harmless.  tests/lib/round.py has each form read back by
other programs."""
import base64
import fcntl
import os
import re
import select
import struct
import termios
import unicodedata

import gm

NAMES = [b"two words", b"tab\there", b"new\nline", b"back\\slash", b"#hash", b"trailing ", b" leading",
         b"literal\\040escape", b"\\040", b"\\134", b"\\011x", b"inv\xff\xfealid", b"\xc0\xaf",
         b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"caf\xc3\xa9", b"\xe2\x80", b"esc\x1b[31m", b"bel\x07",
         b"quote\"'`$(x)!", b"$HOME", b"\x7f", b"\xc2\x9b2J", b"\x9b2J", b"...", b"-n", b"--help",
         b"a" * 255, b"\xff" * 255, b"\n" * 255, b"x\\x41", b"\\u202e", b"\r", b"\r\n", b"deleted",
         b"x (deleted)", b"x\\040(deleted)", b"a,b", b"a:b", b"a=b", b"<b>&amp;", b"{}", b"[1]", b"%s%n",
         b"\x1b]0;title\x07", b"\x1b]8;;http:x\x1b\\", b"\x1bP1$r", b"\xc2\x9d0;t\xc2\x9c",
         "\u202eevil".encode(), "zero\u200bwidth\u200d\ufeff".encode(), "\u2028\u2029".encode(),
         "\u2066x\u2069".encode(), "\U000e0041".encode(), "e\u0301\U0001f600".encode(), b"none",
         b"|- x", "\u2514\u2500 x".encode(), b"'", b"\\", b"\\\\", b" ", b"\t", b"~", b"*", b"?"]
NAMES += [b"b" + bytes([byte]) for byte in range(1, 256) if byte != ord("/")]
if gm.SLOW > 1:
    NAMES = NAMES[:60] + NAMES[60::8]
shows, writes = os.openpty()
fcntl.ioctl(writes, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
root = gm.Root()
base = os.fsencode(gm.tmpfs(root / "n", "size=64m"))
for i, name in enumerate(NAMES):
    path = base + b"/" + name
    gm.tmpfs(path, "size=1m", source=(b"src " if i % 2 else b"") + name)
    if i % 3 == 0 or len(name) > 2:
        gm.tmpfs(path + b"/in/" + name, "size=1m", source=name + b"/" + name)
    if i % 3 == 0:
        os.makedirs(path + b"/b/" + name)
        gm.bind(path + b"/b/" + name, path + b"/b/" + name)
servers = []
have_fuse = os.path.exists("/dev/fuse")
for i, name in enumerate(NAMES if have_fuse else []):
    if i < 60:
        servers.append(gm.HungFuse(root / f"fuse/f{i}", source=name, fstype=b"fuse." + name[:80]))
root.enter()
# In options: an overlay's layers, whose paths are followed.
os.mkdir("/n/lowest")
overlays = NAMES[:60] if "\toverlay\n" in gm.read("/proc/filesystems") else []
for i, name in enumerate(overlays):
    if b"," not in name and len(name) < 99:
        os.makedirs(b"/n/layers/" + name)
        gm.mount("overlay", gm.mkdir(f"/laid/l{i}"), "overlay", 0, b"lowerdir=/n/lowest:/n/layers/"
                 + name.replace(b"\\", b"\\\\").replace(b":", b"\\:"))
lines = gm.check("names", untouched=["/fuse"])
FIELDS = ("target", "source", "fstype", "options")
with open("/proc/self/mounts", "rb") as f:
    kernel = [tuple(gm.unescape(field) for field in line.split(b" ")[:4])
              for line in f.read().split(b"\n") if line]
by_id = {line.id: line for line in lines}
expect_rows = sorted((target, source, fstype, options) for source, target, fstype, options in kernel)
gm.expect(len({line.point for line in lines}) == len(lines), "the names are not of one mount each")


def same(tag, found):
    """Compare rows of bytes, as (target, source, fstype, options)."""
    found = sorted(found)
    gm.expect(len(found) == len(expect_rows), f"{tag}: {len(found)} rows for {len(expect_rows)}")
    odd = [(have, should) for have, should in zip(found, expect_rows) if have != should]
    for have, should in odd[:2]:
        gm.fail(f"{tag}: {have} for {should}")


def exact(row, key):
    """The bytes of a JSON string; of invalid UTF-8, from the key with the encoded bytes."""
    if key + "-b64" in row:
        return base64.b64decode(row[key + "-b64"])
    value = row[key]
    return b"" if value is None else value.encode("utf-8")


def flat(rows):
    for row in rows:
        yield row
        yield from flat(row.get("children", []))


for args in (("-J",), ("-J", "-l"), ("--format=jsonl",)):
    out = gm.getmnt(*args, "-v", "-o", "TARGET,SOURCE,FSTYPE,OPTIONS,FSROOT,ID").out.decode("utf-8")
    if args[0] == "-J":
        rows = list(flat(gm.json.loads(out)["filesystems"]))
    else:
        rows = [gm.json.loads(line) for line in out.split("\n")[:-1]]
    same(" ".join(args), [tuple(exact(row, key) for key in FIELDS) for row in rows])
    for row in rows:
        line = by_id[row["id"]]
        gm.expect(exact(row, "fsroot") == line.root, f"{args}: fsroot {row['fsroot']!r} of {line.root}")
        gm.expect(row["target"] == gm.shown(line.point), f"{args}: {row['target']!r} of {line.point}")
    gm.expect(not [c for c in out if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"],
              f"{args}: control or unseen characters")


def harmless(tag, text, terminal=False):
    """Nothing that a terminal obeys, or that is not seen."""
    if terminal:
        text = text.replace(b"\r\n", b"\n")
    text = text.replace(b"\n\t", b"\n")      # dot's own
    try:
        odd = {c for c in text.decode("utf-8")
               if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cn", "Cs") and c != "\n"}
    except UnicodeDecodeError as error:
        odd = error
    gm.expect(not odd, f"{tag}: {odd}")


# For readers: off a terminal and on one, in UTF-8 and without, every form.
def on_terminal(args, env):
    pid = os.posix_spawn(gm.PROGRAM, [gm.PROGRAM, *args],
                         {"TERM": "xterm", "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), **env},
                         file_actions=[(os.POSIX_SPAWN_DUP2, gm.null, 0),
                                       (os.POSIX_SPAWN_DUP2, writes, 1),
                                       (os.POSIX_SPAWN_DUP2, writes, 2)])
    text, status = b"", None
    while status is None or select.select([shows], [], [], 0.02)[0]:
        if select.select([shows], [], [], 0.05)[0]:
            text += os.read(shows, 65536)
        elif status is None:
            got, code = os.waitpid(pid, os.WNOHANG)
            status = os.waitstatus_to_exitcode(code) if got else None
    gm.expect(status == 0, f"{args} on a terminal: status {status}")
    return text


for form in gm.FORMS:
    for locale in ("C.UTF-8", "C"):
        env = {"LC_ALL": locale}
        text = gm.getmnt(*form, env=env).out
        if not form[0].startswith(("--format=mtab", "--format=fstab", "--format=setmnt")):
            harmless(f"{form} {locale}", text)
        harmless(f"{form} {locale} on a terminal", on_terminal(form, env), True)
    shown = on_terminal(form, {"LC_ALL": "C.UTF-8"}).replace(b"\r\n", b"\n")
    if form[0] in ("--format=mtab", "--format=fstab"):
        same(f"{form} on a terminal", [tuple(gm.unescape(row.split(b" ")[k]) for k in (1, 0, 2, 3))
                                       for row in shown.split(b"\n")[:-1]])
for form in (("-l", "-n"), ("--tree", "-n")):
    out = gm.getmnt(*form, "-o", "TARGET").out
    gm.expect(len(out.rstrip(b"\n").split(b"\n")) == len(lines), f"{form}: not a line for each mount")
dot = gm.getmnt("--format=dot").out.decode("utf-8")
for line in dot.split("\n")[2:-2]:
    gm.expect(re.fullmatch(r'\tm\d+ (\[label="(?:[^"\\]|\\.)*", [^"]*\];|-> m\d+;)', line),
              f"dot: {line!r}")

# In messages, whatever the name came by.
for turn, name in enumerate(NAMES[:70]):
    text = name.decode("utf-8", "surrogateescape")
    with open(b"/tmp/" + name[:200], "wb") as f:
        f.write(b"1 2 garbage " + name + b"\n")
    commands = (("-T", "/nowhere/" + text), ("/nowhere/" + text,), ("-M", "/nowhere" + text),
                 ("-S", "LABEL=" + text), ("-F", "/tmp/" + os.fsdecode(name[:200])),
                 ("-F", "/nowhere/" + text), ("-o", text), ("-o", "+" + text), ("--root=/nowhere/" + text,),
                 ("-N", text), ("--names=" + text,), ("--" + text,), ("--prune=+" + text,),
                 ("--search-limit=" + text,), ("--debug", "-q", "-T", "/n/" + text), ("-t", text, "-q"),
                 ("--format=" + text,), ("--id=" + text,), (text, text), ("-s", "-F", "/nowhere/" + text))
    for args in (commands * 2)[3 * turn % len(commands):][:3]:
        result = gm.getmnt(*args)
        gm.expect(result.status in (0, 1, 32), f"{args}: status {result.status}")
        harmless(f"{args}: stderr", result.err)
        gm.expect(result.err.count(b"\n") <= 4, f"{args}: more lines than were meant: {result.err}")
    os.unlink(b"/tmp/" + name[:200])
for server in servers:
    server.end()
gm.done()
