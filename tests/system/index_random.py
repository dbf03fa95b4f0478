# SPDX-License-Identifier: MIT
"""getmnt find --index finds what getmnt find does: random expressions on random trees, half of which have
changed since the index was built; and what GNU find does, where it has the expression.  GETMNT_SEED=N starts with another seed."""
import os
import random

import find_peer
import gm
import index_tree
from find_tree import Tree
from find_words import OPTIONS, Search, smallest

TREES, SEARCHES = (60, 60) if gm.FULL else (10, 40)
SEED = int(os.environ.get("GETMNT_SEED", "1"))
SHRINKS, EXPLAINED = 100, 4
INDEX = [b"--index", b"--index-dir=/tmp/index"]

gm.need("mkfs.ext4")
root = gm.Root()
find_peer.install(root)
gm.mkdir(root / "t")
gm.tmpfs(root / "images", "size=1g")
gm.loop_mount(gm.image(root / "images/ext4", 256 << 20, "mkfs.ext4", "-q", "-I", "256", "-N", "60000"), root / "t", "noatime")
root.enter()
gm.tmpfs("/tmp", "size=200m")

runner = find_peer.Runner()
# Not those that follow links, which --index refuses; roots are followed.
options = {word: write for word, write in OPTIONS.items() if word != b"-follow"}


def run(search, *more):
    flags = [flag for flag in search.flags if flag != b"-L"]
    argv = [*find_peer.OURS, *flags, *more, *search.argv()[len(search.flags):]]
    return runner.run(argv, find_peer.environment(search.env))


def differs(search):
    """None, or the outcomes with and without --index."""
    ours, plain = run(search, *INDEX), run(search)
    return None if ours == plain else (ours, plain)


trees = []
for number in range(TREES):
    tree = Tree.random(random.Random(f"{SEED} {number}"), mounts=False)
    tree.build(gm.mkdir(f"/t/{number}"), mounted=True)
    trees.append(tree)
for i in range(min(400 * TREES, 12_000)):
    os.close(os.open(f"{gm.mkdir('/t/more')}/{i}", os.O_CREAT | os.O_WRONLY))
result = gm.getmnt("index", "build", "--index-dir=/tmp/index", "/t")
gm.expect(result.status == 0, f"build: {result.err}")
# Changes that stay in the journal, since the index has much more than they.
for number in range(1, TREES, 2):
    changed = index_tree.Tree(f"/t/{number}", random.Random(f"{SEED} {number} changed"))
    changed.look()
    for _ in range(20):
        changed.change()
result = gm.getmnt("index", "update", "--max-age=0", "--index-dir=/tmp/index", "/t")
kept = sum(os.stat(os.path.join(at, name)).st_size for at, _, names in os.walk("/tmp/index") for name in names if name.startswith("journal"))
gm.expect(result.status == 0 and kept > 100 * TREES, f"update: {result.out} {result.err}, {kept} bytes in the journal")

found = explained = different = 0
for number, tree in enumerate(trees):
    os.chdir(f"/t/{number}")
    for turn in range(SEARCHES):
        search = Search.random(random.Random(f"{SEED} {number} {turn}"), tree, options=options)
        outcomes = differs(search)
        if outcomes:
            different += 1
            if explained < EXPLAINED:
                explained += 1
                search = smallest(search, differs, SHRINKS)
                ours, plain = differs(search)
                print("\n".join(["", *tree.commands(), find_peer.shell([b"find", *INDEX] + search.argv(), search.env),
                                 *ours.differences(plain)]), flush=True)
        else:
            out = run(search, *INDEX).out
            found += out != b""
            words = search.primaries()
            if len(search.roots) == 1 and not words & {b"-printf", b"-ls", b"-exec", b"-execdir", b"-fprint0"}:
                path = find_peer.order_problem(out, bool(words & {b"-depth", b"-d"}))
                gm.expect(path is None, f"{path!r} is not in order: {find_peer.shell(search.argv())}")
gm.expect(not different, f"{different} of {TREES * SEARCHES} searches differ")
gm.expect(found > 0.3 * TREES * SEARCHES, f"only {found} searches found something")
os.chdir("/")

# GNU find itself, where the two agree about every tree.
for words in (["-name", "*a*", "-type", "f"], ["-size", "+1k"], ["-mtime", "+1", "-user", "root"], ["-links", "2"], ["!", "-user", "0"],
              ["-type", "d", "-empty"], ["-perm", "-222"], ["-newer", "/t/0/ref"], ["-inum", "-500"], ["-iname", "*FOO*"]):
    argv = [b"/t", *map(os.fsencode, words), b"-print0"]
    env = find_peer.environment([(b"LC_ALL", b"C.UTF-8")])
    ours, theirs = runner.run(find_peer.OURS + INDEX + argv, env), runner.run(find_peer.GNU + argv, env)
    gm.expect(ours == theirs and theirs.records.total() > 2, f"{words}: {ours.differences(theirs)}")
gm.umount("/t")
gm.done()
