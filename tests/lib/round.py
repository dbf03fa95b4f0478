#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""round: every form of output, read back by other programs, gives the bytes that were put in.

  round GETMNT

Makes a mountinfo of 300 mounts with hostile names, the same in each run: as mount points,
sources, types, options and roots.  Prints each form that was read back, or what differs.
Works in the current directory.
"""
import base64
import ctypes
import ctypes.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

GETMNT = sys.argv[1]
PIECES = [bytes([byte]) for byte in range(1, 256) if byte != ord("/")] + [
    b" ", b"\t", b"\n", b"\r\n", b"#", b"\\", b'"', b"'", b"&", b"<", b">", b"$", b"`", b"$(x)", b"%s", b"%n", b"%",
    b"&#8238;", b"&#x202e;", b"&#1;", b"&amp;", b"&lt;", b"&nbsp;", b"&amp;#8238;", b"<!--", b"-->", b"]]>", b"--", b"<b>",
    b"\\040", b"\\134040", b"\\011", b"\\012", b"\\000", b"\\777", b"\\x41", b"\\x5cx41", b"\\u202e", b"\\U000e0041", b"\\n", b"\\N",
    b"\\l", b"\\G", b"\\'", b"\\\"", b"//deleted".replace(b"/", b""), b" (deleted)", b"\\040(deleted)", b"  ", b"   ", b"- x", b" - ",
    b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\xf0\x9f\x98", b"\xc2\x9b", b"\x1b[31m", b"\x7f",
    *(chr(code).encode() for code in (0x85, 0xa0, 0xad, 0x301, 0x34f, 0x61c, 0x200b, 0x200d, 0x200e, 0x2028, 0x2029, 0x202a, 0x202b,
                                      0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x3164, 0xfeff, 0xfffd, 0xfffe, 0xffff,
                                      0xe0041, 0x1f600)),
    b"{", b"}", b"[", b"]", b"(", b")", b";", b"|", b"!", b"*", b"?", b"~", b"=", b":", b"a", b"Z", b"0", b"none", b"defaults"]


def make_names(count):
    """Names of 1 to 12 pieces; every 50th is long, and each byte is in some name."""
    rnd = random.Random(1988)
    names, seen = [], set()
    for byte in range(1, 256):
        if byte != ord("/"):
            names.append(b"b" + bytes([byte]) + (b"" if byte % 2 else b"e"))
    while len(names) < 255 + count:
        pieces = rnd.choices(PIECES, k=rnd.randint(1, 12))
        name = b"".join(pieces) * (400 if len(names) % 50 == 0 else 1)
        if name not in seen and name not in (b".", b".."):
            seen.add(name)
            names.append(name)
    return names


def encode(text, escaped):
    """As the kernel escapes it."""
    return b"".join(b"\\%03o" % byte if byte in escaped else bytes([byte]) for byte in text)


PATH, SOURCE, OPTION = b" \t\n\\", b" \t\n\\#", b" \t\n\\,"
NAMES = make_names(300)
FIELDS = ("target", "source", "fstype", "options")
failed = False


def wrong(text):
    global failed
    failed = True
    print("WRONG", text[:600])


def run(*args, out=None):
    with open(out, "wb") if out else open(os.devnull, "wb") as f:
        proc = subprocess.run([GETMNT, *args], stdin=subprocess.DEVNULL, stdout=f if out else subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, env={"LC_ALL": "C.UTF-8"})
    if b"\n" in proc.stderr.replace(b"getmnt: ", b"", 1).strip(b"\n") and "audit" not in args and "fstab" not in args:
        wrong(f"{args}: messages {proc.stderr!r}")
    return proc


def same(form, found, want):
    found, want = sorted(found), sorted(want)
    if found != want:
        odd = [(a, b) for a, b in zip(found, want) if a != b] or [(len(found), len(want))]
        wrong(f"{form}: {len(found)} for {len(want)}: {odd[0][0]!r} for {odd[0][1]!r}")
    else:
        print(f"{form}: {len(found)} as they are")


rows, table = [], [b"1 0 8:1 / / rw - ext4 /dev/root rw"]
for i, name in enumerate(NAMES):
    source, fstype, value = NAMES[-i], NAMES[(7 * i) % len(NAMES)], NAMES[(11 * i) % len(NAMES)]
    source = b"s" + source if source.startswith(b"/") else source
    rows.append((b"/" + name, source, fstype, b"rw,o=" + value, b"/r" + name))
    table.append(b"%d 1 0:%d %s %s rw - %s %s rw,o=%s" % (
        i + 2, i + 2, encode(b"/r" + name, PATH), encode(b"/" + name, PATH), encode(fstype, SOURCE), encode(source, SOURCE),
        encode(value, OPTION)))
with open("table", "wb") as f:
    f.write(b"\n".join(table) + b"\n")
WANT = [row[:4] for row in rows] + [(b"/", b"/dev/root", b"ext4", b"rw")]
ROOTED = rows + [(b"/", b"/dev/root", b"ext4", b"rw", b"/")]


# JSON: by Python and by jq.
def exact(row, key):
    if key + "-b64" in row:
        return base64.b64decode(row[key + "-b64"])
    return (row[key] or "").encode("utf-8")


def flat(found):
    for row in found:
        yield row
        yield from flat(row.get("children", []))


def by_jq(text):
    if not shutil.which("jq"):
        return None
    proc = subprocess.run(["jq", "-c", "."], input=text, capture_output=True, check=False)
    if proc.returncode or proc.stderr:
        wrong(f"jq: {proc.stderr!r}")
    return [json.loads(line) for line in proc.stdout.split(b"\n") if line]


COLUMNS = "TARGET,SOURCE,FSTYPE,OPTIONS,FSROOT"
for args in (("-J",), ("-J", "-l"), ("--format=jsonl",)):
    text = run(*args, "-v", "-F", "table", "-o", COLUMNS).stdout
    documents = [json.loads(line) for line in text.decode().split("\n") if line] if "jsonl" in args[0] else [json.loads(text)]
    if (again := by_jq(text)) is not None and again != documents:
        wrong(f"{args}: jq reads something else than Python")
    found = documents if "jsonl" in args[0] else flat(documents[0]["filesystems"])
    same(" ".join(args), [tuple(exact(row, key) for key in (*FIELDS, "fsroot")) for row in found], ROOTED)


# Raw and pairs: by the documented escape; pairs by a shell.
def unhex(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m.group(1), 16)]), text)


text = run("-r", "-n", "-v", "-F", "table", "-o", COLUMNS).stdout
same("-r", [tuple(unhex(field) for field in row.split(b" ")) for row in text.split(b"\n")[:-1]], ROOTED)
with open("pairs", "wb") as f:
    f.write(run("-P", "-v", "-F", "table", "-o", COLUMNS).stdout)
proc = subprocess.run(["bash", "-c", 'while IFS= read -r line; do eval "$line"; printf "%b\\0" "$TARGET" "$SOURCE" "$FSTYPE"'
                       ' "$OPTIONS" "$FSROOT"; done <pairs'], capture_output=True, env={"LC_ALL": "C"}, check=False)
words = proc.stdout.split(b"\0")[:-1]
if proc.stderr:
    wrong(f"bash: {proc.stderr!r}")
same("-P by bash", [tuple(words[i:i + 5]) for i in range(0, len(words), 5)], ROOTED)

# mtab, fstab, setmnt: by libmount, findmnt, and the escapes of fstab(5).
LIBMOUNT = ctypes.CDLL(ctypes.util.find_library("mount") or "libmount.so.1")
LIBC = ctypes.CDLL(None)
for library, name in ((LIBMOUNT, "mnt_new_table"), (LIBMOUNT, "mnt_new_iter"), (LIBC, "setmntent"), (LIBC, "getmntent")):
    getattr(library, name).restype = ctypes.c_void_p
for name in FIELDS:
    getattr(LIBMOUNT, "mnt_fs_get_" + name).restype = ctypes.c_char_p
    getattr(LIBMOUNT, "mnt_fs_get_" + name).argtypes = [ctypes.c_void_p]


def by_libmount(path):
    lt, walk, fs = LIBMOUNT.mnt_new_table(), LIBMOUNT.mnt_new_iter(0), ctypes.c_void_p()
    rc = LIBMOUNT.mnt_table_parse_file(ctypes.c_void_p(lt), path.encode())
    if rc:
        wrong(f"libmount: {path}: {rc}")
    found = []
    while LIBMOUNT.mnt_table_next_fs(ctypes.c_void_p(lt), ctypes.c_void_p(walk), ctypes.byref(fs)) == 0:
        found.append(tuple(getattr(LIBMOUNT, "mnt_fs_get_" + field)(fs) for field in FIELDS))
    return found


def by_getmntent(path):
    """A file as the C library reads it: type and options are not decoded, and \\043 is not known."""
    stream = LIBC.setmntent(path.encode(), b"r")
    found = []
    while entry := LIBC.getmntent(ctypes.c_void_p(stream)):
        source, target = (ctypes.cast(entry, ctypes.POINTER(ctypes.c_char_p))[i] for i in (0, 1))
        found.append((target, source.replace(b"\\043", b"#")))
    LIBC.endmntent(ctypes.c_void_p(stream))
    return found


def by_findmnt(path):
    proc = subprocess.run(["findmnt", "--tab-file", path, "-P", "-o", "TARGET,SOURCE,FSTYPE,OPTIONS"], capture_output=True,
                          check=False, env={"LC_ALL": "C.UTF-8"})
    return [tuple(unhex(field) for field in re.findall(rb'="([^"]*)"', row)) for row in proc.stdout.split(b"\n") if row]


def unescape(text):
    return re.sub(rb"\\([0-3][0-7]{2})", lambda m: bytes([int(m.group(1), 8)]), text)


SHORT = [row[:2] for row in WANT if sum(map(len, row)) < 1000]      # the C library cuts lines
for form in ("mtab", "fstab"):
    run("--format=" + form, "-F", "table", out=form)
    same(f"{form} by libmount", by_libmount(form), WANT)
    same(f"{form} by findmnt", by_findmnt(form), WANT)
    same(f"{form} by getmntent", [row for row in by_getmntent(form) if row in SHORT], SHORT)
    again = run("-m" if form == "mtab" else "-s", "-F", form, "--format=" + form).stdout
    with open(form, "rb") as f:
        if again != f.read():
            wrong(f"{form}: read and written again it is another")
same("setmnt", [tuple(unescape(field) for field in reversed(row.split(b" ")))
                for row in run("--format=setmnt", "-F", "table").stdout.split(b"\n")[:-1]], [row[:2] for row in WANT])
for args in (("-p", "--format=mtab"), ("-p", "--format=mnttab")):
    run("recover", "-F", "table", *args, "mtab", out="made")
    if args[1] == "--format=mtab":
        same("recover by libmount", by_libmount("made"), WANT)
    else:
        with open("made", "rb") as f:
            same("recover as mnttab", [tuple(unescape(field) for field in (row.split(b"\t")[k] for k in (1, 0, 2, 3)))
                                       for row in f.read().split(b"\n")[:-1]], WANT)


# SVG: by Graphviz and a parser of XML.
def plain(text):
    """What escape_terminal() writes, decoded."""
    def decode(m):
        return bytes([int(m.group(1), 16)]) if m.group(1) else chr(int(m.group(2) or m.group(3), 16)).encode()
    return re.sub(rb"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})", decode, text)


def spaces(text):
    """Graphviz makes no-break spaces of blanks that follow each other, and drops some at the ends."""
    return text.replace("\u00a0".encode(), b" ").strip(b" ")


if shutil.which("dot"):
    run("--format=dot", "-F", "table", out="drawing")
    proc = subprocess.run(["dot", "-T", "svg", "drawing"], capture_output=True, check=False)
    if proc.returncode or proc.stderr:
        wrong(f"dot: {proc.stderr!r}")
    found = []
    for group in xml.etree.ElementTree.fromstring(proc.stdout).iter("{http://www.w3.org/2000/svg}g"):
        texts = [text.text or "" for text in group.findall(".//{http://www.w3.org/2000/svg}text")]
        if group.get("class") == "node":
            found.append(tuple(spaces(plain(text.encode())) for text in texts))
    same("SVG", found, [(spaces(row[0]), spaces(row[2] + b" " + row[1] + (b"[" + row[4] + b"]" if row[4] != b"/" else b"")))
                        for row in ROOTED])

# The audit, whose findings have the names: JSON, Prometheus.
with open("wanted", "wb") as f:
    for i, row in enumerate(rows):
        f.write(b"%s %s ext4 nosuchopt 0 0\n" % (encode(b"/dev/" + row[0][1:], SOURCE), encode(row[0], PATH)))
audit = ("audit", "-F", "table", "--fstab=wanted", "--config=none", "-v")
proc = run(*audit, "-J")
report = json.loads(proc.stdout)
if (again := by_jq(proc.stdout)) is not None and again != [report]:
    wrong("audit -J: jq reads something else than Python")
named = {}
for finding in report["findings"]:
    where = re.fullmatch(r"wanted:(\d+)", finding.get("source") or "")
    if where:
        named.setdefault(int(where.group(1)), exact(finding, "target"))
same("audit -J", list(named.values()), [row[0] for row in rows])
proc = run(*audit, "--jsonl")
if json.loads(proc.stdout)["findings"] != report["findings"]:
    wrong("audit --jsonl: other findings than by -J")
if (again := by_jq(proc.stdout)) is not None and again != [json.loads(proc.stdout)]:
    wrong("audit --jsonl: jq reads something else than Python")
proc = run(*audit, "--prometheus")
read = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "forms.py"), "prometheus"], input=proc.stdout,
                      capture_output=True, check=False)
if read.returncode or b"WRONG" in read.stdout:
    wrong(f"audit --prometheus: {read.stdout!r} {read.stderr!r}")
labels = re.findall(rb'^getmnt_audit_finding\{.*target="((?:[^"\\\n]|\\.)*)",owner="fstab"', proc.stdout, re.M)
targets = {unhex(re.sub(rb"\\(.)", lambda m: b"\n" if m.group(1) == b"n" else m.group(1), label)) for label in labels
           if not label.endswith(b"...")}
odd = targets - {row[0] for row in rows}
if odd or len(targets) < 300:
    wrong(f"audit --prometheus: {len(targets)} targets, {sorted(odd)[:1]}")
print("audit --prometheus: each target is one of the table")

# A search of files with these names.
os.mkdir("files")
files = [name for name in NAMES if len(name) < 256]
for name in files:
    with open(b"files/" + name, "wb"):
        pass
same("search -0", run("search", "-0", "*", "files").stdout.split(b"\0")[:-1], [b"files/" + name for name in files])
same("search --format=jsonl", [exact(json.loads(line), "path") for line in
                               run("search", "--format=jsonl", "*", "files").stdout.decode().split("\n")[:-1]],
     [b"files/" + name for name in files])
text = run("search", "-J", "*", "files").stdout
if (again := by_jq(text)) is not None and again != [json.loads(text)]:
    wrong("search -J: jq reads something else than Python")
sys.exit(failed)
