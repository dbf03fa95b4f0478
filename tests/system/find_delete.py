# SPDX-License-Identifier: MIT
"""getmnt find and GNU find: the same random expressions with -delete, rm and chmod do the same to
two copies of a random tree.  GETMNT_SEED=N starts with another seed."""
import collections
import os
import random

import find_peer
import gm
from find_peer import Child
from find_tree import NOBODY, Tree
from find_words import OPTIONS, TESTS, Search

TREES = 1000 if gm.FULL else 80
SEED = int(os.environ.get("GETMNT_SEED", "1"))
# Tests whose result a copy, or the search itself, changes.
CHANGED = {b"-ctime", b"-cmin", b"-cnewer", b"-newerXY", b"-used", b"-inum", b"-links", b"-empty", b"-samefile",
           b"-readable", b"-writable", b"-executable", b"-prune", b"-mtime", b"-mmin", b"-newer", b"-xtype"}
# Options that differ by intention (find_random.py), or with which links decide what is found.
EXCEPT = {b"-depth", b"-d", b"-follow", b"-mount", b"-ignore_readdir_race"}
# What is done to the objects that are found, and what follows.
ACTIONS = {
    "delete": [[b"-delete"]],
    "rm": [[b"-exec", b"rm", b"-f", b"{}", b";"]],
    "rm +": [[b"-exec", b"rm", b"-f", b"{}", b"+"]],
    "execdir rm": [[b"-execdir", b"rm", b"-f", b"{}", b";"]],
    "execdir rm +": [[b"-execdir", b"rm", b"-f", b"{}", b"+"]],
    # In this order, since for -prune GNU find looks at an object, which must still be there.
    "rm -r": [[b"-prune"], [b"-exec", b"rm", b"-rf", b"{}", b";"]],
    "rm -r, entered": [[b"-exec", b"rm", b"-rf", b"{}", b";"]],
    "rm -r, contents first": [[b"-depth"], [b"-exec", b"rm", b"-r", b"{}", b";"]],
    "chmod": [[b"-exec", b"chmod", b"700", b"{}", b";"]],
    "chmod +": [[b"-depth"], [b"-execdir", b"chmod", b"600", b"{}", b"+"]],
}


def random_search(rng, tree, actions):
    """A search whose expression ends with these actions."""
    search = Search.random(rng, tree, [word for word in TESTS if word not in CHANGED], {},
                           [word for word in OPTIONS if word not in EXCEPT])
    some = ["o", b"-o", search.node or ["test", b"-true"], ["test", b"-name", b"[a-m]*"]]
    node = ["a", b"", some, *(["test", *words] for words in actions), ["test", b"-print0"]]
    return Search(tuple(flag for flag in search.flags if flag != b"-L"), (b"top",), search.options, node, search.env)


def listing():
    """What is in the tree: each path with its mode, and the size of files."""
    found = set()
    for top, dirs, files in os.walk("/t"):
        for name in dirs + files:
            path = os.path.join(top, name)
            st = os.lstat(path)
            found.add((path, st.st_mode, 0 if name in dirs else st.st_size))
    return found


def run(program, tree, search, uid):
    """Build the tree, and run the program in it.  @return its outcome, and what is there before
    and after."""
    tree.build("/t")
    before = listing()
    outcome = Child(uid, "/t", lambda: find_peer.Runner().run(
        program + search.argv(), find_peer.environment(search.env))).result()
    after = listing()
    Tree.remove("/t")
    return outcome, before, after


def compare(tree, search, uid):
    """Run both.  @return lines that say how they differ, and whether GNU find changed something."""
    ours, _, ours_left = run(find_peer.OURS, tree, search, uid)
    theirs, before, theirs_left = run(find_peer.GNU, tree, search, uid)
    lines = [f"left by getmnt only: {entry}" for entry in sorted(ours_left - theirs_left)[:5]]
    lines += [f"left by GNU find only: {entry}" for entry in sorted(theirs_left - ours_left)[:5]]
    if find_peer.ended_early(theirs):
        return [], True
    if ours != theirs or lines:
        lines += ours.differences(theirs)
    return lines, theirs_left != before


def opened():
    """A command can make a directory accessible before it is entered."""
    for kind in ("-exec", "-execdir"):
        for tests in ((), ("-type", "d"), ("!", "-perm", "-700")):
            os.makedirs("/t/closed/in/side")
            for path in ("/t/closed/in/side", "/t/closed/in", "/t/closed"):
                os.chown(path, NOBODY, NOBODY)
                os.chmod(path, 0)
            argv = ["/t/closed", *tests, kind, "chmod", "700", "{}", ";", "-print"]
            result = gm.getmnt("find", *argv, uid=NOBODY)
            gm.expect(result.out == b"/t/closed\n/t/closed/in\n/t/closed/in/side\n" and result.status == 0,
                      f"{argv}: {result.out}, {result.err}")
            os.removedirs("/t/closed/in/side")
            os.makedirs("/t", exist_ok=True)


root = gm.Root()
find_peer.install(root)
gm.mkdir(root / "t")
root.enter()
opened()
changed = collections.Counter()
for number in range(TREES):
    rng = random.Random(f"delete {SEED} {number}")
    tree = Tree.random(rng)
    name = list(ACTIONS)[number % len(ACTIONS)]
    search = random_search(rng, tree, ACTIONS[name])
    uid = rng.choice([0, NOBODY])
    lines, does_change = compare(tree, search, uid)
    changed[name] += does_change
    if lines:
        gm.fail("\n".join([f"{number}, user {uid}: {find_peer.shell([b'find'] + search.argv(), search.env)}", *lines]))
print(f"  {TREES} trees; changed by: {dict(changed)}")
gm.expect(len(changed) == len(ACTIONS) and all(changed.values()), "an action changes nothing")
gm.done()
