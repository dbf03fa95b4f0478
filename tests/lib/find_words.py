# SPDX-License-Identifier: MIT
"""Random expressions of find, for the cases that compare getmnt find with GNU find.

    search = Search.random(random.Random(7), tree)
    search.argv()       # the arguments
    search.smaller()    # searches with less in them, to find the smallest that shows a difference

An expression is a tree of lists: ["test", word...], ["!", word, node], [operator, word, node...]
with the operator a, o or a comma; word is how it is written ("" or "-a" or "-and").
"""
import dataclasses
import os
import re

from find_tree import GROUPS, IDS, USERS

SYNTAXES = [b"emacs", b"findutils-default", b"posix-basic", b"posix-extended", b"posix-egrep", b"posix-awk", b"gnu-awk",
            b"grep", b"egrep", b"ed", b"sed", b"awk", b"posix-minimal-basic"]
TIMES = b"@HIklMprSTXZaAbBcdDhjmUwWxyY+FgGV"
FORMATS = [b"%p", b"%f", b"%h", b"%P", b"%H", b"%d", b"%D", b"%i", b"%n", b"%s", b"%b", b"%k", b"%S", b"%m", b"%M", b"%u",
           b"%g", b"%U", b"%G", b"%y", b"%Y", b"%l", b"%F", b"%a", b"%c", b"%t", b"%%", b"%-12f|", b"%12f", b"%.3f", b"%05d",
           b"%-5d|", b"%+d", b"% d", b"%#m", b"%6m", b"%-8y|", b"%012s", b"%-7u|", b"%20p", b"%.2Y"]
ESCAPES = [b"\\101", b"\\a\\b\\f\\r\\t\\v", b"\\\\", b"x", b" ", b"\xff", b"\\7"]
DATES = [b"@0", b"@-1", b"@1000000000", b"1970-01-01", b"2001-09-09 01:46:40", b"2026-11-25", b"2020-02-29T12:00", b"2038-01-19"]


class Words:
    """Writes the arguments of primaries, so that some of the objects of a tree match."""

    def __init__(self, rng, tree):
        self.rng = rng
        self.paths = [entry.path for entry in tree.entries]
        # GNU find opens the file of -samefile, and would wait for a FIFO.
        self.files = [e.path for e in tree.entries if e.kind in "fhd"] + [b"link", b"dangling"]
        self.entries = tree.entries
        self.targets = [e.target for e in tree.entries if e.kind == "l"]

    def sign(self):
        return self.rng.choice([b"", b"+", b"-"])

    def number(self, values):
        return self.sign() + b"%d" % self.rng.choice(values)

    def age(self, values):
        return self.sign() + self.rng.choice([b"%d" % self.rng.choice(values)] * 9 + [b"0.5", b"1.5", b"2.0", b".9", b"3."])

    def glob(self, text):
        """A pattern that may match a text."""
        rng = self.rng
        if rng.random() < 0.1:
            return rng.choice([b"*", b"?", b"*.*", b".*", b"[a-z]*", b"[!a-z]*", b"*[[:space:]]*", b"[[:upper:]]*", b"??*",
                               b"*.[ch]", b"[", b"[]", b"[]a]*", b"*\\*", b"\\", b"", b"*//*", b"***", b"[a", b"[[:foo:]]*", b"[b-a]"])
        start = rng.randrange(len(text) + 1)
        out = b""
        for i in range(len(text)):
            one = text[i:i + 1]
            what = rng.random()
            if i >= start and what < 0.5:
                if what < 0.2:
                    out += b"*"
                    if rng.random() < 0.5:
                        return out
                    continue
                one = rng.choice([b"?", b"[" + one + b"]", b"[!" + one + b"]", b"[^xyz]", b"[a-m]", b"*" + one, one.swapcase()])
            elif one in b"*?[\\" and what < 0.8:
                one = b"\\" + one
            out += one
        return out

    def regex(self, path):
        """A regular expression that may match a path."""
        rng = self.rng
        out = b""
        for i in range(0, len(path), 3):
            piece = path[i:i + 3]
            what = rng.random()
            if what < 0.4:
                out += b"".join(b"." if c in b"*?[]\\$^+|(){}.\n" else bytes([c]) for c in piece)
            elif what < 0.5:
                return out + b".*"
            else:
                out += rng.choice([b".*", b"[^/]*", b"[a-z./]*", b"\\(x\\|.*\\)", b"(x|.*)", b".+", b".?", b"\\w*", b"[[:alnum:]]*",
                                   b".\\{0,3\\}", b".{0,3}", b"...", b"\\.", b"/", b".*\\b", b"^", b"$", b"\\(.\\)\\1", b"a\\|b"])
        return out

    def base(self):
        return os.path.basename(self.rng.choice(self.paths))

    def path(self):
        return self.rng.choice([b"", b"./"]) + self.rng.choice(self.paths)

    def perm(self):
        rng = self.rng
        mode = rng.choice(self.entries).mode
        if rng.random() < 0.5:
            return rng.choice([b"", b"-", b"/"]) + rng.choice([b"%o", b"0%o"]) % rng.choice([mode, mode, mode & 0o222, mode & 0o7000, 0])
        clauses = []
        for _ in range(rng.randint(1, 3)):
            clauses.append(rng.choice([b"", b"u", b"g", b"o", b"a", b"ug", b"go"]) + rng.choice(b"+=-=").to_bytes(1, "big")
                           + rng.choice([b"", b"r", b"w", b"x", b"rw", b"rwx", b"s", b"t", b"X", b"u", b"g", b"o"]))
        return rng.choice([b"", b"-", b"/"]) + b",".join(clauses)

    def types(self, letters):
        return b",".join(b"%c" % c for c in self.rng.sample(letters, self.rng.choice([1, 1, 1, 2, 3])))

    def size(self):
        unit, letter = self.rng.choice([(1, b"c"), (2, b"w"), (512, b"b"), (512, b""), (1024, b"k"), (1 << 20, b"M"), (1 << 30, b"G")])
        return self.sign() + b"%d" % (max(0, self.rng.choice(self.entries).size // unit + self.rng.choice([0, 0, 0, 1, -1]))) + letter

    def newer(self):
        rng = self.rng
        x, y = rng.choice("acm"), rng.choice("acmt")
        return [b"-newer%c%c" % (ord(x), ord(y)), rng.choice(DATES) if y == "t" else self.path()]

    def user(self, table):
        return self.rng.choice(list(table) + [b"%d" % self.rng.choice(IDS)])

    def format(self):
        """A format whose output ends a line."""
        rng = self.rng
        out = b""
        for _ in range(rng.randint(1, 5)):
            what = rng.random()
            if what < 0.2:
                out += b"%" + rng.choice(b"act").to_bytes(1, "big").upper() + rng.choice(TIMES).to_bytes(1, "big")
            else:
                out += rng.choice(FORMATS if what < 0.85 else ESCAPES)
        return out + rng.choice([b"\\n", b"\\0", b"\\n\\cnever"])

    def command(self):
        """A command that succeeds or fails, and changes nothing."""
        return self.rng.choice([[b"true"], [b"false"], [b"test", b"-d", b"{}"], [b"test", b"x{}", b"!=", b"x./{}"], [b"echo", b"{}", b"x{}"]])

    def inode(self):
        """An inode number: on a tmpfs they are small."""
        return b"%d" % self.rng.randrange(1, len(self.entries) + 2)


# Every test that has no effect: its word, and how its arguments are written.
TESTS = {
    b"-name": lambda w: [w.glob(w.base())], b"-iname": lambda w: [w.glob(w.base().swapcase())],
    b"-path": lambda w: [w.glob(w.path())], b"-ipath": lambda w: [w.glob(w.path().swapcase())],
    b"-wholename": lambda w: [w.glob(w.path())], b"-iwholename": lambda w: [w.glob(w.path())],
    b"-lname": lambda w: [w.glob(w.rng.choice(w.targets))], b"-ilname": lambda w: [w.glob(w.rng.choice(w.targets).swapcase())],
    b"-regex": lambda w: [w.regex(w.path())], b"-iregex": lambda w: [w.regex(w.path().swapcase())],
    b"-type": lambda w: [w.types(b"fdlpscb")], b"-xtype": lambda w: [w.types(b"fdlpscb")],
    b"-size": lambda w: [w.size()], b"-empty": lambda w: [], b"-true": lambda w: [], b"-false": lambda w: [],
    b"-perm": lambda w: [w.perm()], b"-links": lambda w: [w.number([0, 1, 2, 3, 4])],
    b"-user": lambda w: [w.user(USERS)], b"-group": lambda w: [w.user(GROUPS)], b"-nouser": lambda w: [], b"-nogroup": lambda w: [],
    b"-uid": lambda w: [w.number(IDS)], b"-gid": lambda w: [w.number(IDS)],
    b"-readable": lambda w: [], b"-writable": lambda w: [], b"-executable": lambda w: [],
    b"-atime": lambda w: [w.age([0, 1, 2, 3, 7, 30])], b"-mtime": lambda w: [w.age([0, 1, 2, 3, 7, 30])],
    b"-ctime": lambda w: [w.age([0, 1])], b"-amin": lambda w: [w.age([0, 1, 2, 3, 4, 11])],
    b"-mmin": lambda w: [w.age([0, 1, 2, 3, 4, 11])], b"-cmin": lambda w: [w.age([0, 1])], b"-used": lambda w: [w.age([0, 1, 4, 5])],
    b"-newer": lambda w: [w.path()], b"-anewer": lambda w: [w.path()], b"-cnewer": lambda w: [w.path()], b"-newerXY": None,
    b"-samefile": lambda w: [w.rng.choice(w.files)], b"-inum": lambda w: [w.sign() + w.inode()],
    b"-fstype": lambda w: [w.rng.choice([b"tmpfs", b"proc", b"ext4"])], b"-prune": lambda w: [],
}
# Options that may stand anywhere and are true.
OPTIONS = {
    b"-daystart": lambda w: [], b"-regextype": lambda w: [w.rng.choice(SYNTAXES)], b"-depth": lambda w: [], b"-d": lambda w: [],
    b"-maxdepth": lambda w: [b"%d" % w.rng.choice([0, 1, 2, 3, 9])], b"-mindepth": lambda w: [b"%d" % w.rng.choice([0, 1, 2, 3])],
    b"-xdev": lambda w: [], b"-mount": lambda w: [], b"-noleaf": lambda w: [], b"-ignore_readdir_race": lambda w: [],
    b"-noignore_readdir_race": lambda w: [], b"-nowarn": lambda w: [], b"-warn": lambda w: [], b"-follow": lambda w: [],
}
ACTIONS = {
    b"-print": lambda w: [], b"-print0": lambda w: [], b"-printf": lambda w: [w.format()], b"-ls": lambda w: [],
    b"-fprint": lambda w: [b"/tmp/OUT"], b"-fprint0": lambda w: [b"/dev/stdout"], b"-fls": lambda w: [b"/tmp/OUT"],
    b"-fprintf": lambda w: [b"/tmp/OUT", w.format()], b"-exec": lambda w: w.command() + [b";"],
    b"-execdir": lambda w: w.command() + [b";"],
}


class Maker:
    """Writes expressions."""

    def __init__(self, rng, words, tests, actions, options):
        self.rng, self.words = rng, words
        self.tests, self.actions, self.options = list(tests), list(actions), list(options)

    def test(self):
        word = self.rng.choice(self.tests)
        if word == b"-newerXY":
            return ["test", *self.words.newer()]
        if word in (b"-lname", b"-ilname") and not self.words.targets:
            word = b"-name"
        return ["test", word, *TESTS[word](self.words)]

    def option(self):
        word = self.rng.choice(self.options)
        return ["test", word, *OPTIONS[word](self.words)]

    def action(self):
        word = self.rng.choice(self.actions)
        return ["test", word, *ACTIONS[word](self.words)]

    def node(self, depth):
        rng = self.rng
        what = rng.random()
        if depth <= 0 or what < 0.25:
            return self.test()
        if what < 0.4:
            return ["!", rng.choice([b"!", b"-not"]), self.node(depth - 1)]
        if what < 0.58:
            word = rng.choice([b"", b"", b"-a", b"-and"])
            # GNU find does not count some options as part of an expression: not "-o -daystart".
            extra = [self.option()] if not word and rng.random() < 0.1 else []
            return ["a", word] + [self.node(depth - 1) for _ in range(rng.randint(2, 3))] + extra
        return ["o", rng.choice([b"-o", b"-or"])] + [self.node(depth - 1) for _ in range(rng.randint(2, 3))]

    def expression(self):
        rng = self.rng
        node = self.node(rng.choice([0, 1, 1, 2, 2, 3]))
        what = rng.random()
        if what < 0.3 or not self.actions:
            return node
        if what < 0.6:
            return ["a", b"", node, self.action()]
        if what < 0.75:
            return ["o", b"-o", ["a", b"", self.test(), ["test", b"-prune"]], ["a", b"", node, self.action()]]
        if what < 0.85:
            return [",", b",", ["a", b"", node, self.action()], ["a", b"", self.node(1), self.action()]]
        return ["o", b"-o", ["a", b"", node, self.action(), self.test()], self.action()]


STRENGTH = {",": 0, "o": 1, "a": 2, "!": 3, "test": 4}


def render(node, above=0):
    """The words of an expression, in parentheses where they are needed."""
    kind = node[0]
    if kind == "test":
        return node[1:]
    if kind == "!":
        return [node[1]] + render(node[2], 3)
    out = []
    for child in node[2:]:
        # Equal ones in parentheses, too: how they are grouped is part of the tree.
        out += ([node[1]] if out and node[1] else []) + render(child, STRENGTH[kind] + 1)
    return [b"(", *out, b")"] if STRENGTH[kind] < above else out


def smaller_nodes(node):
    """Expressions with one part less."""
    if node[0] == "test":
        return
    parts = node[2:]
    yield from (part for part in parts if part[0] != "test" or part[1] not in OPTIONS)
    if node[0] != "!" and len(parts) > 2:
        for i in range(len(parts)):
            yield node[:2] + parts[:i] + parts[i + 1:]
    for i, part in enumerate(parts):
        for less in smaller_nodes(part):
            yield node[:2] + parts[:i] + [less] + parts[i + 1:]


@dataclasses.dataclass(frozen=True)
class Search:
    flags: tuple = ()       # -H, -L, -P, -O1
    roots: tuple = ()
    options: tuple = ()     # of words each
    node: object = None
    env: tuple = ()         # of names and values

    @staticmethod
    def random(rng, tree, tests=TESTS, actions=ACTIONS, options=OPTIONS):
        words = Words(rng, tree)
        maker = Maker(rng, words, tests, actions, options)
        dirs = [e.path for e in tree.entries if e.kind == "d" and e.path.startswith(b"top")]
        odd = [b"link", b"link/", b"dangling", b"missing", b"ref", b"ref/", b"top/", b"top//", b"./top", b".", b"top/.", b"top/../top",
               b"", b"./-root", b"outside", rng.choice(words.paths), rng.choice(dirs), rng.choice(dirs) + b"//", b"/proc/self/cwd/top"]
        odd = [root for root in odd if not root.startswith(b"-")]
        roots = rng.choice([[b"top"], [b"top"], [b"top"], [rng.choice(odd)], [rng.choice(odd), b"top"], [], [rng.choice(odd), rng.choice(odd)]])
        flags = rng.choice([[], [], [], [b"-H"], [b"-L"], [b"-L"], [b"-P"], [b"-L", b"-P"], [b"-H", b"-L"], [b"-O2"], [b"-O3", b"-H"]])
        options = [tuple(maker.option()[1:]) for _ in range(rng.choice([0, 0, 1, 1, 2]))]
        env = [(b"LC_ALL", rng.choice([b"C", b"C.UTF-8"])), (b"TZ", rng.choice([b"UTC", b"CET-1CEST,M3.5.0,M10.5.0/3", b"XXX9:30"]))]
        return Search(tuple(flags), tuple(roots), tuple(options), maker.expression() if rng.random() < 0.97 else None, tuple(env))

    def argv(self):
        words = [word for option in self.options for word in option] + (render(self.node) if self.node else [])
        return [*self.flags, *self.roots, *words]

    def smaller(self):
        """Searches with one part less."""
        for i in range(len(self.roots)):
            if len(self.roots) > 1:
                yield dataclasses.replace(self, roots=self.roots[:i] + self.roots[i + 1:])
        if self.roots != (b"top",):
            yield dataclasses.replace(self, roots=(b"top",))
        if self.node:
            yield dataclasses.replace(self, node=None)
            for node in smaller_nodes(self.node):
                yield dataclasses.replace(self, node=node)
        for i in range(len(self.options)):
            yield dataclasses.replace(self, options=self.options[:i] + self.options[i + 1:])
        for i in range(len(self.flags)):
            yield dataclasses.replace(self, flags=self.flags[:i] + self.flags[i + 1:])

    def primaries(self):
        """The primaries that occur."""
        return {word for word in self.argv() if re.fullmatch(rb"-[a-z_0-9]+|-newer..", word)}


def smallest(search, differs, most):
    """The smallest search for which differs() is still true, after at most about `most` calls of it."""
    found = True
    while found and most > 0:
        found = False
        for less in search.smaller():
            most -= 1
            if differs(less):
                search, found = less, True
                break
    return search
