# SPDX-License-Identifier: MIT
"""getmnt find and GNU find: random expressions on random trees give the same records and status, also
where the tree is on another host.

Each tree and expression comes from a seed.  Of an expression that makes a difference the smallest
part that still does is printed, with the smallest tree and the command.  GETMNT_SEED=N starts
with another seed."""
import collections
import dataclasses
import os
import random
import re

import find_peer
import gm
from find_peer import Child
from find_tree import NOBODY, Tree
from find_words import ACTIONS, OPTIONS, TESTS, Search, smallest

# Ages of files are chosen half a minute from borders: a tree is older than that nowhere.
TREES, SEARCHES, AT_ONCE = (200, 50, 8) if gm.FULL else (8, 20, 8)
SHRINKS = 300       # runs to make a difference smaller
EXPLAINED = 6       # differences that are made smaller
SEED = int(os.environ.get("GETMNT_SEED", "1"))


def follows(search):
    return any(flag in (b"-H", b"-L") for flag in search.flags) or b"-follow" in search.primaries()


# The other host, by a program in place of ssh; what is refused there; and what shows the host before each path.
HOST = b"ssh://h"
LOCAL = {b"-exec", b"-execdir", b"-ok", b"-okdir", b"-delete", b"-samefile"}
SHOWS = {b"-path", b"-ipath", b"-wholename", b"-iwholename", b"-regex", b"-iregex"}


def is_pure(node):
    return node[0] != "test" and all(is_pure(part) for part in node[2:]) or node[0] == "test" and node[1] not in ACTIONS


def has_pure_comma(node):
    """Whether both operands of a comma have no effect."""
    return node is not None and node[0] != "test" and (
        node[0] == "," and is_pure(node) or any(has_pure_comma(part) for part in node[2:]))


# Differences that are meant, as getmnt-find(8) says: why, and which searches may show them.
MEANT = {
    "POSIX.1-2024: -mount leaves out what is on another file system; that of GNU find is -xdev":
        lambda search, tree: b"-mount" in search.primaries()
        and (follows(search) or any(entry.kind == "m" for entry in tree.entries)),
    "POSIX: a link through what is not a directory is a broken link; GNU find reports it and leaves it out":
        lambda search, tree: follows(search) and any(entry.target.endswith(b"ref/x") for entry in tree.entries),
    "The value of a comma is that of its right operand; GNU find exchanges operands without effect":
        lambda search, tree: has_pure_comma(search.node),
    "-O has no effect; with -O2 and -O3 GNU find evaluates -prune before or after what it should":
        lambda search, tree: {b"-O2", b"-O3"} & set(search.flags) and b"-prune" in search.primaries(),
    "A root is printed as it is written; GNU find drops a slash of several at its end with -depth":
        lambda search, tree: search.primaries() & {b"-depth", b"-d"} and any(root.endswith(b"//") for root in search.roots),
}


def is_meant(search, tree):
    return any(shows(search, tree) for shows in MEANT.values())


def matters(search, ours, theirs):
    """Whether a difference of outcomes matters."""
    # It warns of -perm /000.
    lines = [line for line in theirs.err.splitlines() if b"have specified a mode pattern" not in line]
    if find_peer.ended_early(theirs):
        return False
    # It looks up more than decides the result, and where that fails has status 1: we look first at
    # what costs nothing.
    if (ours.status == 0 and theirs.status == 1 and ours.same_output(theirs) and lines and b"-xtype" in search.primaries()
            and all(line.endswith((b": Too many levels of symbolic links", b": Permission denied")) for line in lines)):
        return False
    # Where attributes cannot be read, its -fstype is false, and we know the type.
    lost = ours.status == theirs.status == 1 and follows(search) and b"Permission denied" in ours.err
    return not (lost and b"-fstype" in search.primaries())


class Comparison:
    """Compares the programs in this directory."""

    def __init__(self):
        self.runner = find_peer.Runner()

    def run(self, program, search):
        return self.runner.run(program + search.argv(), find_peer.environment(search.env))

    def both(self, search):
        """The outcomes of getmnt and of GNU find."""
        return self.run(find_peer.OURS, search), self.run(find_peer.GNU, search)

    def differs(self, search):
        """None, or both outcomes, if each program does the same when it is run again."""
        ours, theirs = self.both(search)
        if ours == theirs or not matters(search, ours, theirs):
            return None
        again = self.both(search)
        return (ours, theirs) if again[0] == ours and again[1] == theirs else None

    def elsewhere(self, search):
        """None, or both outcomes that differ, where the roots of getmnt are on another host."""
        here = os.fsencode(os.getcwd())
        search = dataclasses.replace(search, roots=tuple(here + b"/" + root for root in search.roots or (b".",)),
                                     env=tuple((b"LC_ALL", b"C.UTF-8") if name == b"LC_ALL" else (name, value)
                                               for name, value in search.env))
        there = dataclasses.replace(search, roots=tuple(HOST + root for root in search.roots))
        env = find_peer.environment(search.env)
        ours = self.runner.run([*find_peer.OURS, b"--rsh=/rsh", *there.argv()], env, HOST)
        theirs = self.runner.run(find_peer.GNU + search.argv(), env)
        return (ours, theirs) if ours != theirs and matters(search, ours, theirs) else None

    def smallest(self, search, tree):
        """The smallest search that shows a difference."""
        return smallest(search, lambda less: not is_meant(less, tree) and self.differs(less), SHRINKS)


def fits_elsewhere(search):
    """Whether getmnt does all of it on another host, with the same result."""
    return not (search.primaries() & (LOCAL | SHOWS)
                or re.search(rb"%[-+ #0-9.]*[FYZ]|%[-+ #0-9.]+[hHp]", b" ".join(search.argv())))


def check_order(search, out):
    """Check where directories are in the output, if that is of paths alone."""
    words = search.primaries()
    if len(search.roots) > 1 or words & {b"-printf", b"-ls", b"-exec", b"-execdir", b"-fprint0"}:
        return
    path = find_peer.order_problem(out, bool(words & {b"-depth", b"-d"}))
    gm.expect(path is None, f"{path!r} is not in order: {find_peer.shell([b'find'] + search.argv(), search.env)}")


def run_searches(trees, explained):
    """Run the searches on trees that are built.  @return counts, and searches that differ."""
    counts, primaries = collections.Counter(), collections.Counter()
    different = []
    compare = Comparison()
    for seed, tree in trees:
        os.chdir(f"/t/{seed}")
        for turn in range(SEARCHES):
            search = Search.random(random.Random(f"{seed} {turn}"), tree)
            if is_meant(search, tree):
                continue
            ours, theirs = compare.both(search)
            counts.update(searches=1, found=theirs.out != b"", failed=theirs.status != 0)
            primaries.update(word.decode() for word in search.primaries())
            if fits_elsewhere(search):
                counts["elsewhere"] += 1
                differ = compare.elsewhere(search)
                if differ:
                    gm.fail(f"elsewhere, {os.getcwd()}: {find_peer.shell([b'find'] + search.argv(), search.env)}\n"
                            + "\n".join(differ[0].differences(differ[1])))
            if ours == theirs:
                check_order(search, ours.out)
            elif compare.differs(search):
                counts["different"] += 1
                if len(different) + explained < EXPLAINED:
                    different.append((tree, compare.smallest(search, tree)))
    return counts, primaries, different


def build(tree, where):
    gm.mkdir(where)
    tree.build(where)


def explain(tree, search, uid):
    """Print a difference on the smallest tree that shows it."""
    def differs(less):
        try:
            build(less, "/t/less")
            return Child(uid, "/t/less", lambda: Comparison().differs(search)).result()
        except OSError:
            return None
        finally:
            Tree.remove("/t/less")

    at = len(tree.entries) - 1
    while at >= 0:
        less = tree.without(at)
        if less.entries and differs(less):
            tree = less
        at = min(at, len(tree.entries)) - 1
    outcomes = differs(tree)
    lines = outcomes[0].differences(outcomes[1]) if outcomes else ["it is gone when the tree is made again"]
    user = f"setpriv --reuid={uid} --regid={uid} --clear-groups " if uid else ""
    print("\n".join(["", *tree.commands(), user + find_peer.shell([b"find"] + search.argv(), search.env), *lines]), flush=True)


root = gm.Root()
find_peer.install(root)
gm.touch(root / "rsh", f'#!/bin/sh\nexec {gm.PROGRAM} serve --stdio\n')
os.chmod(root / "rsh", 0o755)
root.enter()
counts, primaries, explained = collections.Counter(), collections.Counter(), 0
for start in range(0, TREES, AT_ONCE):
    children = []
    for uid in (0, NOBODY):
        seeds = [f"{SEED}.{uid}.{number}" for number in range(start, start + AT_ONCE)]
        trees = [(seed, Tree.random(random.Random(seed))) for seed in seeds]
        for seed, tree in trees:
            build(tree, f"/t/{seed}")
        children.append((uid, trees, Child(uid, "/t", lambda: run_searches(trees, explained))))
    for uid, trees, child in children:
        some, words, different = child.result()
        for seed, _ in trees:
            Tree.remove(f"/t/{seed}")
        counts += some
        primaries += words
        explained += len(different)
        for tree, search in different:
            explain(tree, search, uid)
gm.expect(not counts["different"], f"{counts['different']} of {counts['searches']} searches differ")

# The searches test something.
print(f"  {counts['searches']} searches: {counts['found']} with output, {counts['failed']} with status 1, {counts['elsewhere']} also on "
      "another host", flush=True)
gm.expect(counts["found"] > 0.4 * counts["searches"], "too many searches find nothing")
unused = [word for word in {*TESTS, *OPTIONS} - {b"-newerXY"} if not primaries[word.decode()]]
gm.expect(not unused or not gm.FULL, f"not used: {unused}")
gm.done()
