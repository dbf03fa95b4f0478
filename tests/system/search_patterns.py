# SPDX-License-Identifier: MIT
"""getmnt search against others that have the same rules, on random trees: ** and braces as bash expands
them, -i as find -iname, what is excluded as what is left of everything.  And --exclude-type: which mounts
are not entered."""
import itertools
import os
import random
import subprocess
import tempfile

import gm

SEED = int(os.environ.get("GETMNT_SEED", "0")) or random.SystemRandom().randrange(1 << 30)
chance = random.Random(SEED)
print(f"  GETMNT_SEED={SEED}")
PROGRAM = os.environ["GETMNT"]
FEW = gm.SLOW > 1 or gm.sanitized()


def random_tree(top, names, size):
    """@return the paths of everything in it."""
    places = [top]
    for _ in range(size):
        path = f"{chance.choice(places)}/{chance.choice(names)}"
        if not os.path.lexists(path):
            if chance.random() < 0.6:
                os.mkdir(path)
                places.append(path)
            else:
                gm.touch(path, "")
    return {os.path.relpath(os.path.join(here, name), top) for here, folders, files in os.walk(top)
            for name in folders + files}


def searched(top, *args):
    """What is found, below top."""
    result = gm.getmnt("search", "-0", *args, top, program=PROGRAM)
    gm.expect(result.status == 0 and not result.err, f"{args}: {result.status} {result.err}")
    return {os.path.relpath(path, top) for path in gm.shown(result.out).split("\0")[:-1]}


def random_word(depth=0):
    """A part of a pattern, with balanced braces."""
    kind = chance.randrange(10 if depth < 3 else 7)
    if kind < 7:
        return chance.choice(["a", "b", "ab", "c", "*", "?", "[ab]", "/", "/", "/**/", "**", ".", "*.c", "{a}", "[!a]"])
    words = ["".join(random_word(depth + 1) for _ in range(chance.randrange(3))) for _ in range(chance.randrange(2, 4))]
    return "{" + ",".join(words) + "}"


def bash(script, top):
    return subprocess.run(["bash", "-O", "globstar", "-O", "dotglob", "-O", "nullglob", "-c", script], cwd=top, check=True,
                          stdout=subprocess.PIPE, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}).stdout.decode()


def combinations(pattern):
    """The words that bash makes of the braces alone."""
    return bash(f"set -f; printf '%s\\0' {pattern}", "/").split("\0")[:-1]


def plain(word):
    """Whether all components are names: to bash an empty one is nothing, and . a directory."""
    return not {"", ".", ".."} & set(word.split("/")) and "**/**" not in word


def against_bash(top, everything):
    """Anchored patterns: bash has no others."""
    patterns = set()
    while len(patterns) < (40 if FEW else 200):
        pattern = "".join(random_word() for _ in range(chance.randrange(1, 6)))
        words = combinations(pattern)
        if words and len(words) < 200 and all(plain(word) for word in words):
            patterns.add(pattern)
    patterns = sorted(patterns)
    answers = bash("; ".join(f"printf '%s\\0' {pattern}; printf '\\0'" for pattern in patterns), top).split("\0\0")
    hits = 0
    for pattern, answer in zip(patterns, answers):
        # A directory before ** is not below itself; a word without wildcards need not exist.
        want = {name for name in answer.split("\0") if name in everything}
        got = searched(top, "--", "/" + pattern)
        # With wildcards before it, bash may find x by x/**.
        for word in combinations(pattern) if want - got else ():
            if word.endswith("/**"):
                want -= searched(top, "--", "/" + word[:-3]) - got
        gm.expect(got == want, f"{pattern}: {sorted(got - want)} too many, {sorted(want - got)} missing")
        hits += len(want)
        # As many combinations that they are not expanded.
        more = pattern + "{,}" * 14
        gm.expect(searched(top, "--", "/" + more) == got, f"{more}: differs")
    gm.expect(hits > len(patterns), f"{hits} hits")


def against_find(top):
    """-iname, in UTF-8; it also compares bytes, so nothing that can match a part of a character."""
    for _ in range(20 if FEW else 100):
        name = "".join(chance.choice(["a", "B", "\u00e9", "\u00c9", "K", "\u0430", "\u0410", "*", "[A-B]", "[kZ]"])
                       for _ in range(chance.randrange(1, 5)))
        out = subprocess.run(["find", ".", "-mindepth", "1", "-iname", name, "-print0"], cwd=top, check=True, stdout=subprocess.PIPE,
                             env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}).stdout.decode()
        want = {os.path.normpath(path) for path in out.split("\0")[:-1]}
        got = searched(top, "-i", "--", name)
        gm.expect(got == want, f"-i {name}: {sorted(got - want)} too many, {sorted(want - got)} missing")


def excluded(top, everything):
    """What is left by several patterns, alone and together with one to find."""
    for _ in range(20 if FEW else 60):
        words = ["".join(random_word(2) for _ in range(chance.randrange(1, 4))) for _ in range(2)]
        # Patterns that can never match are refused.
        words = [word for word in words if word.strip("/") == word and any(map(plain, combinations(word)))] or ["a"]
        gone = set().union(*(searched(top, "--", word) for word in words))
        left = {name for name in everything if not any(part in gone for part in itertools.accumulate(
            name.split("/"), lambda a, b: f"{a}/{b}"))}
        options = [f"--exclude={word}" for word in words]
        for find in ("*", "/a/**", "b"):
            want = searched(top, find) & left
            for threads in ("1", "4"):
                got = searched(top, *options, f"--threads={threads}", find)
                gm.expect(got == want, f"{options} {find}: {sorted(got - want)} too many, {sorted(want - got)} missing")


def half(top):
    """To exclude half of a tree halves the work."""
    for side in ("left", "right"):
        for i in range(50):
            gm.touch(f"{top}/{side}/d{i}/f", "")
    stats = [gm.getmnt("search", *args, "--threads=1", "--stats=json", "f", top, program=PROGRAM).stats() for args in ((), ("--exclude=left",))]
    gm.expect([row["dirs"] for row in stats] == [103, 52] and [row["found"] for row in stats] == [100, 50], f"half: {stats}")


def types():
    """Mounts that are not entered; a root is."""
    gm.need_fs("fuse")
    root = gm.Root()
    for name in ("t/plain/in", "t/ram", "t/hung", "t/covered/deep", "t/links"):
        gm.mkdir(root / name)
    gm.mount("ram", root / "t/ram", "ramfs")
    gm.touch(root / "t/ram/f", "")
    gm.tmpfs(root / "t/covered")
    gm.mkdir(root / "t/covered/deep")
    gm.mount("ram", root / "t/covered/deep", "ramfs")
    gm.touch(root / "t/covered/deep/f", "")
    gm.touch(root / "t/covered/f", "")
    gm.touch(root / "t/plain/in/f", "")
    os.symlink("../ram", root / "t/links/ram")
    os.symlink("../covered", root / "t/links/covered")
    hung = gm.HungFuse(root / "t/hung")
    root.enter()
    dirs = {"/t/plain", "/t/plain/in", "/t/plain/in/f", "/t/ram", "/t/hung", "/t/covered", "/t/links", "/t/links/ram",
            "/t/links/covered"}
    inner, deep = {"/t/covered/deep", "/t/covered/f"}, {"/t/covered/deep/f"}
    for without in ((), ("openat2",), ("statx_mnt_id",), ("listmount",), ("openat2", "statx_mnt_id")):
        for args in ((), ("--threads=4",), ("--type=f,d,l",), ("-L",)):
            linked = {"/t/links/covered/deep", "/t/links/covered/f"} if "-L" in args else set()
            for given, want in (("--exclude-type=ramfs,fuse", dirs | inner | linked),
                                ("--exclude-type=ramfs,tmpfs,fuse", dirs),
                                ("--exclude-type=fuse,xfs", dirs | inner | deep | {"/t/ram/f"})):
                if "-L" in args and "xfs" in given:
                    continue
                # The root of this tree is a tmpfs too, and is entered.
                result = gm.getmnt("search", given, *args, "*", "/t", env=gm.without(*without))
                got = set(result.out.decode().splitlines())
                gm.expect(got == want and result.status == 0 and not result.err,
                          f"{given} {args} {without}: {sorted(got ^ want)} {result.err}")
        for args in ((), ("--blocking",)):
            for pattern in ("/ram/f", "/ram/[f]"):
                result = gm.getmnt("search", "--exclude-type=ramfs", "--exclude-type=fuse", *args, pattern, "/t",
                                   env=gm.without(*without))
                gm.expect(result.status == 0 and not result.out and not result.err,
                          f"{args} {pattern} {without}: {result.out} {result.err}")
            result = gm.getmnt("search", "--exclude-type=ramfs", *args, "/f", "/t/ram", env=gm.without(*without))
            gm.expect(result.status == 0 and result.out == b"/t/ram/f\n", f"root: {args} {without}: {result.out} {result.err}")
    hung.end()


with tempfile.TemporaryDirectory() as work:
    top = gm.mkdir(f"{work}/bash")
    names = random_tree(top, ["a", "b", "c", "ab", "x.c", ".h", ".a", "a.c", "{a}", "ba"], 400)
    against_bash(top, names)
    excluded(top, names)
    top = gm.mkdir(f"{work}/find")
    random_tree(top, ["".join(word) for n in (1, 2) for word in itertools.product("aAbBkK\u00e9\u00c9\u0430\u0410\u212a", repeat=n)], 600)
    against_find(top)
    half(gm.mkdir(f"{work}/half"))
types()
gm.done()
