# SPDX-License-Identifier: MIT
"""getmnt index report counts as du -x does, and its sums by owner, group, type, extension, size and
age are those of find -printf; getmnt index export has every object of find, column by column.  Trees
are random, with files of several links, sparse files, names of any bytes and other mounts."""
import base64
import collections
import csv
import io
import json
import os
import random
import re
import time
import xml.etree.ElementTree

import gm

gm.need("du", "find", "mkfs.ext4", "mkfs.xfs")
gm.need_fs("xfs")
ENTRIES = 400
NOW = int(time.time())
DAY = 86400
NAMES = [b"n", b" ", b".", "é".encode(), b"-", b"a,b", b'q"', b"\xff\xfe", b"line\n", b"\\x41", "\u202e".encode(),
         b"x.c", b"tar.gz.", b".hidden.c", b"<&>"]
root = gm.Root()
gm.install("du", root.path)
gm.install("find", root.path)
gm.tmpfs(root / "tmpfs", "size=700m")
gm.loop_mount(gm.image(root / "tmpfs/ext4.img", 96 << 20, "mkfs.ext4", "-q"), gm.mkdir(root / "ext4"), "noatime")
gm.loop_mount(gm.image(root / "tmpfs/xfs.img", 400 << 20, "mkfs.xfs", "-q"), gm.mkdir(root / "xfs"), "noatime")
gm.mkdir(root / "etc")
gm.touch(root / "etc/passwd", "root:x:0:0::/:\nanna:x:1:1::/:\n")
gm.touch(root / "etc/group", "root:x:0:\n")
root.enter()


def build(top, rng, far):
    """A random tree.  @far  Links of a file are anywhere; else in one directory."""
    gm.mkdir(top)
    dirs, files = [os.fsencode(top)], []
    for i in range(ENTRIES):
        where = rng.choice(dirs)
        path = where + b"/" + rng.choice(NAMES) + str(i).encode() + rng.choice((b"", b".c", b".tar.gz", b".C\xff"))
        kind = rng.randrange(10)
        if kind < 2:
            os.mkdir(path)
            dirs.append(path)
        elif kind < 3:
            os.symlink(b"x" * rng.choice((1, 200)), path)
        elif kind < 4:
            os.mkfifo(path)
        elif kind < 6 and (near := [file for file in files if far or os.path.dirname(file) == where]):
            os.link(rng.choice(near), path)
        else:
            with open(path, "wb") as file:
                if rng.randrange(3) == 0:
                    file.truncate(rng.randrange(1 << 34))
                file.write(b"x" * rng.choice((0, 1, 5000, 70000)))
            files.append(path)
            age = rng.choice((0, 1, 7, 30, 90, 365, 730, 1461, 2922, 5844, 30000)) * DAY + rng.choice((-600, 600))
            os.utime(path, ns=((NOW - age) * 10 ** 9 + 123456789,) * 2)
        os.chown(path, rng.randrange(3), rng.randrange(3), follow_symlinks=False)


def index(*args, status=0):
    result = gm.getmnt("index", *args, "--index-dir=/tmpfs/index")
    gm.expect(result.status == status, f"{args}: status {result.status}, {result.err[-300:]}")
    return result


def report(*args):
    return json.loads(index("report", "--json", *args).out)["rows"]


def text_of(row, key):
    """A name of JSON as bytes."""
    return base64.b64decode(row[key + "-b64"]) if key + "-b64" in row else (row[key] or "").encode()


def du(*args):
    result = gm.getmnt("-0", "-x", "-B1", *args, program="/bin/du")
    gm.expect(result.status == 0, f"du {args}: {result.err[-300:]}")
    return {path: int(size) for size, path in (line.split(b"\t", 1) for line in result.out.split(b"\0")[:-1])}


FORMAT = "%p\\0%y\\0%m\\0%U\\0%G\\0%s\\0%b\\0%n\\0%i\\0%T@\\0%C@\\0%A@\\0"
FIELDS = "path type mode uid gid size blocks nlink ino mtime ctime atime".split()


def find(*tops):
    """Every object below directories, as dictionaries of bytes."""
    result = gm.getmnt(*tops, "-xdev", "-printf", FORMAT, program="/bin/find")
    gm.expect(result.status == 0, f"find {tops}: {result.err[-300:]}")
    words = result.out.split(b"\0")[:-1]
    objects = [dict(zip(FIELDS, words[i:i + len(FIELDS)])) for i in range(0, len(words), len(FIELDS))]
    for o in objects:
        o["mode"] = o["mode"].rjust(4, b"0")
        for field in FIELDS[9:]:
            # find prints ten digits; before 1970 it prints nanoseconds that count upwards.
            sec, _, digits = o[field].decode().partition(".")
            nsec = int(digits[:-1])
            if sec.startswith("-") and nsec:
                sec, nsec = f"-{-int(sec) - 1}", 10 ** 9 - nsec
            o[field] = f"{sec}.{nsec:09}".encode()
    return objects


def extension(o):
    name = o["path"].rpartition(b"/")[2]
    return name.rpartition(b".")[2] if o["type"] != b"d" and b"." in name[1:] else b""


def sums(objects, key):
    """Rows by a key; of several links the first one counts."""
    seen, rows = set(), collections.defaultdict(lambda: [0, 0, 0])
    for o in objects:
        if o["type"] != b"d" and int(o["nlink"]) > 1:
            if o["ino"] in seen:
                continue
            seen.add(o["ino"])
        row = rows[key(o)]
        row[0] += int(o["blocks"]) * 512
        row[1] += int(o["size"]) if o["type"] in b"fl" else 0
        row[2] += 1
    return dict(rows)


def size_range(o):
    bits = int(o["size"]).bit_length()
    return (0, 1) if bits == 0 else (1 << (bits - 1), 1 << bits)


def age_range(o):
    sec, _, nsec = o["mtime"].decode().partition(".")
    age = NOW - int(sec) + (sec.startswith("-") and int(nsec) > 0)
    ends = [0, 1, 7, 30, 90, 365, 730, 1461, 2922, 5844, None]
    if age < -300:
        return None, 0
    i = max(i for i, end in enumerate(ends[:-1]) if age >= end * DAY or i == 0)
    return ends[i], ends[i + 1]


def compare(tag, top, far):
    """Compare reports of a directory with du and find."""
    objects = find(top)
    for depth in (0, 1, 2, 40):
        rows = report(f"--depth={depth}", top)
        got, want = {text_of(row, "dir"): row["used"] for row in rows}, du(f"-d{depth}", top)
        gm.expect(len(got) == len(rows), f"{tag}: a directory twice")
        gm.expect(got[os.fsencode(top)] == want[os.fsencode(top)], f"{tag} {depth}: {got[os.fsencode(top)]} {want[os.fsencode(top)]}")
        gm.expect(far or got == want, f"{tag} {depth}: {set(got.items()) ^ set(want.items())}")
        sizes = [row["used"] for row in rows]
        gm.expect(sizes == sorted(sizes, reverse=True), f"{tag} {depth}: the order")
    words = {
        "user": lambda o: {b"0": "root", b"1": "anna"}.get(o["uid"], o["uid"].decode()),
        "group": lambda o: {b"0": "root"}.get(o["gid"], o["gid"].decode()),
        "type": lambda o: o["type"].decode(),
    }
    for by, key in words.items():
        got = {row[by]: [row["used"], row["apparent"], row["objects"]] for row in report(f"--by={by}", top)}
        gm.expect(got == sums(objects, key), f"{tag} {by}: {got} {sums(objects, key)}")
    got = {text_of(row, "extension"): [row["used"], row["apparent"], row["objects"]] for row in report("--by=extension", top)}
    want = sums(objects, extension)
    # Links of a file can differ in their extensions.
    gm.expect([sum(row[i] for row in got.values()) for i in range(3)] == [sum(row[i] for row in want.values()) for i in range(3)]
              and set(got) <= {extension(o) for o in objects}, f"{tag} extension: {got} {want}")
    alone = [o for o in objects if o["type"] == b"d" or o["nlink"] == b"1"]
    gm.expect(all(got[key][2] >= row[2] for key, row in sums(alone, extension).items()), f"{tag} extension: too few")
    for by, key in ("size", size_range), ("age", age_range):
        rows = report(f"--by={by}", top)
        got = {(row["from"], row["to"]): [row["used"], row["apparent"], row["objects"]] for row in rows}
        gm.expect(got == sums(objects, key), f"{tag} {by}: {got} {sums(objects, key)}")
        order = [row["from"] if row["from"] is not None else 1e30 for row in rows]
        gm.expect(order == sorted(order), f"{tag} {by}: the order {order}")
    rows = report("--by=user", "--depth=2", top)
    for place, used in du("-d2", top).items():
        total = sum(row["used"] for row in rows if text_of(row, "dir") == place)
        gm.expect(far or total == used, f"{tag}: users of {place}: {total}, not {used}")
    top3 = report("--by=user", "--depth=2", "--top=3", top)
    gm.expect(top3 == rows[:3], f"{tag}: --top: {top3} {rows[:3]}")


def unescape(field):
    """The name that an export as CSV has escaped."""
    def byte(match):
        digits = match.group(0)[2:]
        return bytes([int(digits, 16)]).decode("latin-1") if match.group(0)[1] == "x" else chr(int(digits, 16)).encode().decode("latin-1")
    raw = field.encode().decode("latin-1")
    return re.sub(r"\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}", byte, raw).encode("latin-1")


def compare_export(tag, tops):
    want = sorted(find(*tops), key=lambda o: o["path"])
    out = index("export", "--csv", *tops).out
    gm.expect(out.isascii() or out.decode(), f"{tag}: not UTF-8")
    lines = list(csv.DictReader(io.StringIO(out.decode(), newline="")))
    gm.expect(out.count(b"\n") == len(lines) + 1, f"{tag}: a field has a line break")
    got = [{key: value.encode() for key, value in line.items()} for line in lines]
    births = {}
    for line, text in zip(got, lines):
        line["path"] = unescape(text["path"])
        births[line["path"]] = line.pop("btime")
    clusters = [int(line.pop("cluster")) for line in got]
    runs = [cluster for i, cluster in enumerate(clusters) if i == 0 or cluster != clusters[i - 1]]
    gm.expect((len(runs) > 1 and runs == list(range(len(runs)))) or len(tops) > 1, f"{tag}: clusters {runs}")
    got.sort(key=lambda o: o["path"])
    for one, two in zip(got, want):
        if not gm.expect(one == two, f"{tag}: {one} {two}"):
            break
    gm.expect(len(got) == len(want), f"{tag}: {len(got)} objects, not {len(want)}")
    # This find does not know times of birth.
    out = gm.getmnt("search", "--format=jsonl", "-oPATH,BTIME", "*", *tops).out
    found = {text_of(line, "path"): line["btime"] for line in map(lambda line: json.loads(line, parse_float=str), out.splitlines())}
    for path, birth in found.items():
        gm.expect(births[path] == (birth or "").encode(), f"{tag}: {path} born {births[path]}, not {birth}")
    # The same as JSON, with other columns.
    lines = [json.loads(line) for line in index("export", "--jsonl", "-o", "PATH,SIZE,USER,NAME,MTIME", *tops).out.splitlines()]
    got = {text_of(line, "path"): line for line in lines}
    gm.expect(len(got) == len(want), f"{tag}: {len(got)} objects as JSON, not {len(want)}")
    for o in want:
        line = got.get(o["path"])
        gm.expect(line and str(line["size"]).encode() == o["size"] and text_of(line, "name") == o["path"].rpartition(b"/")[2]
                  and line["user"] == words_of_user(o), f"{tag}: {o} {line}")


def words_of_user(o):
    return {b"0": "root", b"1": "anna"}.get(o["uid"], o["uid"].decode())


def compare_svg(top):
    out = index("report", "--depth=40", "--svg=-", top).out
    gm.expect(out == index("report", "--depth=40", "--svg=-", top).out, "the picture is not the same twice")
    space = "{http://www.w3.org/2000/svg}"
    picture = xml.etree.ElementTree.fromstring(out)
    titles = [rect.find(space + "title").text.rpartition("\n")[0] for rect in picture.iter(space + "rect") if rect.find(space + "title") is not None]
    dirs = [row["dir"] for row in report("--depth=40", top)]
    gm.expect(len(titles) == min(len(dirs), 2000) == len(set(titles)), f"{len(titles)} rectangles of {len(dirs)} directories")
    index("report", "--svg=/tmpfs/usage.svg", "--depth=40", top)
    gm.expect(gm.read_bytes("/tmpfs/usage.svg") == out, "the file is another picture")


for name, far in ("ext4", False), ("xfs", True):
    build(f"/{name}/tree", random.Random(name), far)
    # More directories than a cluster has.
    for i in range(2200):
        gm.touch(f"/{name}/many/{i % 40}/{i}/file", "x")
    os.sync()
    index("build", "-q", f"/{name}")
    tag = f"{name}, new"
    compare(tag, f"/{name}", far)
    compare(tag, f"/{name}/tree", far)
    compare_export(tag, [f"/{name}"])
    # Changes are in the delta: a directory moves, another goes, files come, go and grow.
    rng = random.Random(name + " changed")
    for where, below, files in list(os.walk(os.fsencode(f"/{name}/tree"), topdown=False)):
        for file in files:
            path = where + b"/" + file
            if rng.randrange(5) == 0:
                os.unlink(path)
            elif rng.randrange(5) == 0:
                with open(where + b"/new" + file[-100:], "wb") as f:
                    f.write(b"x" * 9000)
            elif rng.randrange(5) == 0 and not os.path.islink(path) and os.path.isfile(path):
                with open(path, "ab") as f:
                    f.write(b"x" * 3000)
        if not os.listdir(where):
            os.rmdir(where)
        elif rng.randrange(4) == 0 and where.count(b"/") > 3:
            os.rename(where, os.fsencode(f"/{name}/tree/") + os.path.basename(where) + b" moved")
    os.sync()
    index("update", "-q", "--max-age=0", f"/{name}")
    tag = f"{name}, changed"
    compare(tag, f"/{name}", far)
    compare_export(tag, [f"/{name}"])
compare_export("both", ["/ext4", "/xfs"])
compare_svg("/ext4/tree")
compare_svg("/ext4")

# Mounted elsewhere, and a part of it.
gm.bind("/ext4/tree", "/part")
gm.expect(report("--depth=2", "/part")[0]["used"] == report("--depth=2", "/ext4/tree")[0]["used"], "the bind mount")

# A part with an index of its own is not counted twice; one that the other index does not have is counted.
everything, exported = report(), index("export", "--csv").out
index("build", "-q", "/part")
gm.expect(report() == everything and index("export", "--csv").out == exported, "an index within another")
gm.expect(report("/part")[0]["used"] == report("--depth=2", "/ext4/tree")[0]["used"], "the index of the bind mount")
gm.mkdir("/ext4/later")
gm.bind("/ext4/later", gm.mkdir("/later"))
index("build", "-q", "/later")
gm.expect(len(report()) == len(everything) + 1, "an index that is not within the other")
index("drop", "/part", "/later")

# Tables, and errors.
gm.touch("/ext4/file")
out = index("report", "--by=age", "/ext4").out.decode()
gm.expect(out.splitlines()[0].split() == ["USED", "APPARENT", "OBJECTS", "AGE"], out)
for args, words in [
    (["report", "/tmpfs"], "/tmpfs: has no index; getmnt index build --index-dir=/tmpfs/index /tmpfs creates it"),
    (["report", "/ext4/none"], "/ext4/none: "),
    (["report", ""], '"": No such file or directory; the current directory is "."'),
    (["report", "/proc"], "/proc: has no index: a pseudo file system"),
    (["report", "/ext4/file"], "/ext4/file: not a directory in the index of /ext4"),
    (["report", "--by=color", "/ext4"], "color"),
    (["report", "--svg=/none/x.svg", "/ext4"], "/none/x.svg: resolving its name failed: No such file or directory"),
    (["export", "/ext4"], "--csv or --jsonl is required"),
    (["export", "--csv", "--jsonl", "/ext4"], "--jsonl"),
    (["export", "--csv", "-oLINK", "/ext4"], "LINK is not in an index"),
    (["export", "--csv", "/tmpfs"], "has no index"),
]:
    result = index(*args, status=1)
    gm.expect(words.encode() in result.err, f"{args}: {result.err}")
gm.done()
