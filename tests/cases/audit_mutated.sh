# SPDX-License-Identifier: MIT
# A baseline in which a key is renamed, removed or doubled, a value has another type, or a rule, an owner or a line
# is unknown, is refused with file, line and remedy.  A baseline without an optional key is another baseline: the
# difference is reported.  The same for the words of a configuration.
cat >table <<'T'
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/mapper/r rw
21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/mapper/data rw
22 20 0:42 / /run/user/7 rw - tmpfs tmpfs rw
23 20 0:25 / /run rw - tmpfs tmpfs rw
T
cat >fstab <<'T'
/dev/mapper/r / ext4 defaults 0 1
T
printf 'Filename Type Size Used Priority\n/dev/zram0 partition 9 0 5\n' >swaps
export NO_COLOR=1
getmnt audit -F table --fstab=fstab --swaps=swaps --save=base --include=session >save.log
# A sanitized program is slow: every tenth mutation of a kind.
EVERY=1
! grep -q __asan_init "$GETMNT" || EVERY=10
export EVERY
cat >mutate.py <<'PYTHON'
import json, os, subprocess

lines = [json.loads(line) for line in open("base", encoding="utf-8")]
# What stays valid without this key; of an entry, an absent text is an empty one.
OPTIONAL = {"source", "uuid", "fstype", "root", "options", "owner", "light", "target"}
EVERY = int(os.environ["EVERY"])
tried, problems = {}, []


def audit(*more):
    return subprocess.run([os.environ["GETMNT"], "audit", "-F", "table", "--fstab=fstab", "--swaps=swaps", "--include=session", "--fail-on=info",
                           "--only=BASE-*,DRIFT-*,MNT-*", *more], capture_output=True)


def mutated(kind, number, text, refused=True):
    """The file with another line, or without it (None)."""
    tried[kind] = tried.get(kind, 0) + 1
    if tried[kind] % EVERY != 1 % EVERY:
        return
    parts = [json.dumps(line).encode() + b"\n" for line in lines]
    parts[number] = b"" if text is None else text.encode() + b"\n"
    open("bad", "wb").write(b"".join(parts))
    result = audit("--baseline=bad")
    at = b"bad:" if text is None else b"bad:%d: " % (number + 1)
    if refused and not (result.returncode == 2 and b"getmnt: " + at in result.stderr and b"--save a new one" in result.stderr and not result.stdout):
        problems.append((kind, text, result.returncode, result.stderr))
    if not refused and not (result.returncode == 1 and (b"BASE-CHANGED" in result.stdout or b"new)" in result.stdout or b" 1 new" in result.stdout)):
        problems.append((kind, text, result.returncode, result.stdout, result.stderr))


clean = audit("--baseline=base")
if clean.returncode not in (0, 1) or b"BASE-" in clean.stdout:
    problems.append(("as it is", clean))
for number, line in enumerate(lines):
    head, end = number == 0, number == len(lines) - 1
    for key, value in line.items():
        rest = {k: v for k, v in line.items() if k != key}
        # A line that begins otherwise is of no baseline at all: another message.
        first = head and key == "getmnt_baseline"
        for name in (key + "x", key.upper(), "", key + "\u0001") if not first else ():
            mutated("renamed", number, json.dumps({name if k == key else k: v for k, v in line.items()}))
        for other in (None, 7, 7.5, True, False, [], {}, ["x"], [1], {"x": 1}, "x") if not first else ():
            # Another text or time, no rules and no owners are those of another baseline.
            valid = other == "x" and key not in ("finding", "mount") or other == [] or other == 7 and key == "time"
            if type(other) is not type(value) or not valid and other != value:
                mutated("another type or value", number, json.dumps({**line, key: other}))
        mutated("doubled", number, json.dumps(line)[:-1] + f', "{key}": {json.dumps(value)}' + "}")
        if not first and (head or end or key not in OPTIONAL or key in ("finding", "mount", "swap")):
            mutated("removed", number, json.dumps(rest))
        elif key in ("source", "fstype", "options", "root") and "mount" in line and value:
            mutated("removed, optional", number, json.dumps(rest), refused=False)
    mutated("added", number, json.dumps({**line, "later": 1}))
    if not head:
        mutated("a line removed", number, None)
rules = lines[0]["rules"]
for rule in ("NEW-CODE", "", rules[0].lower(), rules[0] + " ", rules[0][:-1], "MNT-*", "\u00e4"):
    mutated("unknown rule", 0, json.dumps({**lines[0], "rules": rules + [rule]}))
    for number, line in enumerate(lines):
        if "finding" in line and rule:
            mutated("unknown rule", number, json.dumps({**line, "finding": rule}))
for owner in ("user", "", "SESSION", 1):
    mutated("unknown owner", 0, json.dumps({**lines[0], "include": ["session", owner]}))
kinds = {kind for line in lines for kind in ("mount", "swap", "finding", "end") if kind in line}
if kinds != {"mount", "swap", "finding", "end"}:
    problems.append(("the baseline lacks a kind of line", sorted(kinds)))
# The configuration.
for text in ("ignored MNT-DUP", "ignore NEW-CODE", "ignore MNT-DUP,NEW-CODE", "ignore MNT-DUP later=1", "ignore MNT-DUP Target=/a", "ignore MNT-DUP target",
             "severity high MNT-DUP", "ignore MNT-DUP owner=nobody-such", "ignore MNT-DUP until=soon", "require /data nosuidd", "Require /data ro"):
    open("conf", "w").write(text + "\n")
    result = audit("--config=conf")
    tried["configuration"] = tried.get("configuration", 0) + 1
    if result.returncode != 2 or b"conf:1: " not in result.stderr or result.stdout:
        problems.append((text, result.returncode, result.stderr))
for problem in problems[:20]:
    print(problem)
print(f"{len(problems)} problems")
if len(tried) != 10 or min(tried.values()) < 4 or sum(tried.values()) < 300:
    print("too few:", tried)
PYTHON
python3 mutate.py
