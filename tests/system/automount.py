# SPDX-License-Identifier: MIT
"""An idle automount stays idle through every option of every command, with each of the words that
--help lists, and when a path on it or below it is named: direct, indirect with and without existing
keys, offset, and x-systemd.automount.  What is mounted on one is reported."""
import os
import re
import subprocess

import gm

gm.need_features("--blocking wakes automounts", "openat2")
gm.need_fs("autofs")
root = gm.Root()
gm.tmpfs(root / "run")
triggers = {kind: gm.Autofs(root / f"auto/{kind}", kind) for kind in ("direct", "indirect", "offset")}
# systemd's: direct, of its own name, and below other mounts.
gm.tmpfs(root / "data")
triggers["systemd"] = gm.Autofs(root / "data/unit", "direct", source="systemd-1")
triggers["keys"] = gm.Autofs(root / "auto/keys", "indirect")
gm.mkdir(root / "auto/keys/idle")               # browse mode: there, and not mounted
gm.tmpfs(root / "auto/keys/one")                # as the daemon does it: we are its group
gm.tmpfs(root / "auto/keys/one/below")
triggers["active"] = gm.Autofs(root / "auto/active", "direct")
gm.mount("real", root / "auto/active", "tmpfs", 0, None)
gm.tmpfs(root / "auto/active/below")
gm.tmpfs(root / "auto/beside")
gm.mkdir(root / "plain/dir")
os.symlink("/auto/direct", root / "plain/direct")
os.symlink("/auto/indirect/key", root / "plain/key")
os.symlink("../auto/keys", root / "plain/keys")
gm.touch(root / "etc/fstab", "none /auto/direct tmpfs defaults 0 0\n"
         "none /auto/indirect/key tmpfs noauto,x-systemd.automount 0 0\n")
root.enter()
gm.touch("/tmp/table", gm.read("/proc/self/mountinfo"))
runs = 0


def run(*args, **more):
    """Run, and check the status and that no automount was triggered."""
    global runs
    runs += 1
    result = gm.getmnt(*args, **more)
    statuses = {"audit": (0, 1, 2, 3), "fstab": (0, 1, 2), "recover": (0, 1, 2, 16)}.get(args[0] if args else None, (0, 1, 32, 64, None))
    gm.expect(result.status in statuses, f"{args}: status {result.status}: {result.err[-300:]}")
    gm.expect_idle(" ".join(args), triggers)
    return result


# What is mounted on an active one is reported, and so are the idle ones.
for names in ("hint", "walk", "pure", "kernel"):
    for source in ("listmount", "mountinfo"):
        if source == "listmount" and not gm.have_listmount():
            continue
        result = run("-J", "-l", "-o", "+ID,NAMED", "--names=" + names, "--kernel=" + source)
        states = {}
        for row in result.rows():
            states.setdefault(row["target"], set()).add(row["state"])
        for path in ("/auto/direct", "/auto/indirect", "/auto/offset", "/data/unit", "/auto/keys"):
            gm.expect(states.get(path) == {"untested"}, f"{names} {source}: {path}: {states.get(path)}")
        for path in ("/auto/active", "/auto/active/below"):
            want = "untested" if names == "kernel" else "ok"
            gm.expect(want in states.get(path, ()), f"{names} {source}: {path}: {states.get(path)}")
        for path in ("/auto/keys/one", "/auto/keys/one/below"):
            gm.expect(path in states and "lost" not in states[path],
                      f"{names} {source}: {path}: {states.get(path)}")

# The values of an option, by what --help calls its argument.
RULES = [line.split()[0] for line in gm.getmnt("--explain", "-q", "--names=walk").err.decode().split("\n")
         if line.startswith(" ")] or ["leaf"]
PATHS = ["/", "/auto", "/auto/direct", "/auto/direct/", "/auto/direct/x", "/auto/direct/x/../y",
         "/auto/direct/.", "/auto/direct/..", "/auto/direct/../beside", "/auto/indirect",
         "/auto/indirect/", "/auto/indirect/key", "/auto/indirect/key/deep", "/auto/offset/x",
         "/data/unit", "/data/unit/x/", "/auto/keys/idle", "/auto/keys/idle/", "/auto/keys/idle/x",
         "/auto/keys/one", "/auto/keys/one/below/x", "/auto/keys/other", "/auto/active",
         "/auto/active/below", "//auto//direct", "/plain/direct", "/plain/direct/", "/plain/direct/x",
         "/plain/key", "/plain/key/deep", "/plain/keys/idle", "/plain/keys/more", "/plain/dir/../direct/x"]
VALUES = {"DIR": PATHS, "FILE": ["/tmp/table", "/nowhere"],
          "FILE|none": ["none", "/nowhere", "/tmp/table"], "PID": [str(os.getpid()), "1"],
          "PATH": PATHS, "SPEC": ["getmnt-test", "systemd-1", "LABEL=x", "UUID=y", *PATHS],
          "LIST": ["autofs", "noautofs", "rw,direct", "tmpfs"], "NUMBER": ["1", "999999999"],
          "N": ["0", "1", "3"], "NUM": ["0.3"], "SEC": ["0.3"], "AGE": ["1h"], "SIZE": ["1M"],
          "+RULE,-RULE": [sign + rule for rule in RULES for sign in "+-"],
          "[+]COL,...": ["+" + name for name in (
              "SIZE", "UUID", "SOURCES", "KIND", "INO.USED", "LABEL", "NS", "PROPAGATION")],
          "LETTERS": ["d", "fl"], "rwx": ["r", "wx"], "WHEN": ["always", "auto"], "ENGINE": ["sync", "bulk"],
          "MOUNT,...": ["persistent", "/auto/direct,/auto/indirect/key"],
          "WHAT,...": ["source,options,pass,order,damaged"], "CODE,...": ["DRIFT-*", "FSTAB-ORDER,SWAP-EXTRA"],
          "OWNER,...": ["automount,container"],
          "NAME": ["getmnt1", "getmnt2", "getmnt3"], "WAY": ["forward", "backward", "listmount", "mountinfo"],
          "HOW": ["hint", "walk", "pure", "kernel"], "ACTION,...": ["mount", "umount,move"],
          "N[,SEC]": ["10", "0,1"], "SEVERITY": ["warning", "never"], "ID": ["path", "uuid"],
          "WHICH": ["live", "all"], "FORMAT": ["mtab", "mnttab"],
          "FORM": ["paths", "long", "json", "jsonl"], "COLS": ["PATH,SIZE"], "[+]COLUMNS": ["LINK", "+SIZE,MNT-ID,TYPE,USER"],
          "TIME": ["2d", "2020-01-01"], "PATTERN": ["x", "/auto/*"], "TYPE,...": ["tmpfs,autofs"], "GROUP": ["0"],
          "USER": ["0"], "MODE": ["/111"], "EXPRESSION": ["-xtype d -o -empty", "-readable -fstype autofs"],
          "COMMAND": ["false"], "SECONDS": ["1"], "[-]COL": ["-SIZE", "XATTR"], "DEPTH": ["2"], "D": ["0", "2"], "KEY": ["type"],
          "SEC": ["0"], "METHODS": ["hostname"], "LOGIN": ["nosuch.invalid"], "COMMAND...": ["true"]}


def options_of(command):
    """The options of a command's --help, each with each value: argument lists."""
    text = gm.getmnt(*command, "--help").out.decode()
    found = {}
    for name, optional, value, word in re.findall(
            r"^ (?:-\w,|   ) +(--[\w-]+)(?:(\[?)=(\S+)| ([A-Z]+|\[\+\]\S+))?", text, re.M):
        found[name] = (optional, (value[:-1] if optional else value) or word)
    names = set(re.findall(r"--[a-z][\w-]+", "\n".join(
        line[:40] for line in text.split("\n") if re.match(r"^ (-\w,|   ) ? ?--", line))))
    gm.expect(names == set(found), f"{command}: options not understood: {sorted(names ^ set(found))}")
    lists = []
    for name, (optional, argument) in sorted(found.items()):
        if not argument:
            lists.append([name])
            continue
        values = VALUES.get(argument) or (argument.split("|") if re.fullmatch(r"[\w+|-]+", argument)
                                          and ("|" in argument or argument.islower()) else None)
        if name == "--output" and argument == "FILE":
            values = ["/tmp/told", "/nowhere/told"]      # it is written
        if name == "--save":
            values = ["/tmp/kept", "/nowhere/kept"]      # so is this
        if values is None:
            gm.fail(f"{name}: what is {argument}?  Give this test a value for it")
            continue
        if optional:
            lists.append([name])
        lists += [[f"{name}={value}"] for value in values]
    return lists


def is_long(option):
    """Whether it only ends when it is ended."""
    return option[0].startswith("--poll")


total = 0
INDEX = ["--index-dir=/tmp/index"]
run("index", "build", *INDEX, "/tmp")
for command in [*gm.commands(), "index build", "index update", "index watch", "index status", "index check",
                "index drop", "index report", "index export"]:
    bases = {"discover": [[], ["--names=walk"], ["--output-all", "-l"], ["--probe=all", "--probe-timeout=0.3"]],
             "fstab": [[], ["/auto"], ["/auto/direct"], ["--merge", "--fix=source,order"],
                       ["--merge", "--add=persistent", "--diff"]],
             "find": [["/", "-empty"], ["-L", "/", "-xtype", "l"], ["/auto", "/plain", "-readable", "-o", "-ls"]],
             "serve": [["--stdio"]],
             "search": [["*", "/"], ["x/*", "/auto", "/data"], ["/auto/direct/*", "/"]],
             "audit": [[], ["--root=/auto"], ["--root=/auto/direct", "-v"], ["--probe=all", "--probe-timeout=0.3"]],
             "recover": [["/plain/mtab"], ["/nowhere/mtab"], []],
             "index": [[]],
             "index build": [INDEX, [*INDEX, "/auto/direct"], [*INDEX, "/auto/direct/x"], [*INDEX, "/auto/active"]],
             "index watch": [[*INDEX, "/auto/direct"], [*INDEX, "/auto/indirect/key"]],
             **{f"index {name}": [[*INDEX, "/"], [*INDEX, "/auto/direct"], [*INDEX, "/auto/indirect/key"], INDEX]
                for name in ("update", "status", "check", "drop", "report", "export")},
             "profile": [["/plain", "--total-time=0.3"], ["/auto", "--total-time=0.3"], ["--live", "--total-time=0.3"],
                         ["/auto/direct", "--total-time=0.3"]]}
    if command not in bases:
        gm.fail(f"{command}: a new command; give this test operands for it")
        continue
    command = command.split()
    options = options_of(command)
    total += len(options)
    # To a kernel most are alike.
    for turn, option in enumerate(options if gm.SLOW == 1 else options[::3]):
        if option[0].startswith("--watch"):
            continue    # audits until it is ended: audit_watch.py
        if is_long(option):
            result = run(*command, *option, "--timeout=200", "--first-only")
            continue
        # Each option with one of the operands in turn; in check-full with two.
        for base in (turn, turn + 1)[:2 if gm.FULL else 1]:
            of = bases[" ".join(command)]
            operands = of[base % len(of)]
            # With both, the search enters other namespaces through /proc/PID/root; their mounts are not known.
            if "-L" not in operands or "--blocking" not in option:
                run(*command, *option, *operands)
for args in (["search", "*", "/"], ["search", "-m", "*", "/auto"], ["find", "/", "-empty"], ["find", "/plain", "-xtype", "d"]):
    run(args[0], "--index", *INDEX, *args[1:])
print(f"  {total} options, {runs} runs")

# Places as operands, and in company; from a working directory on one.
for turn, path in enumerate(PATHS):
    ways = ((path,), ("-R", path), ("-T", path, "-R", "--names=walk"), ("-M", path, "-J", "-R"),
            ("getmnt-test", path), ("-D", "-T", path), ("-C", "-T", path), ("-c", path),
            ("-T", path, "--probe=all", "--timeout=0.3"), ("--root", path, "--names=walk"),
            ("-N", str(os.getpid()), "-T", path))
    for args in (ways * 2)[5 * turn % len(ways):][:5 if gm.SLOW == 1 else 2]:
        run(*args)
# (What is named to search, or as a file to be read, is meant to be looked into.)
for pattern in ("/auto/direct", "/auto/direct/x", "/auto/indirect/key", "auto/keys/idle/*", "unit/*"):
    run("search", pattern, "/")
for path in PATHS:
    run("recover", "--root=" + path, "--names=walk")
for cwd in ("/auto/indirect", "/auto/keys", "/auto", "/plain")[:4 if gm.SLOW == 1 else 2]:
    for path in (".", "..", "key", "idle/x", "./one", "direct/x", "../auto/direct/x", "keys/idle"):
        for args in (("-T", path), ("-M", path), (path,), ("--root", path)):
            run(*args, cwd=cwd)
print(f"  {runs} runs")

# The automounts work: opening a path below one triggers it.
proc = subprocess.Popen(["/bin/getmnt", "-F", "/auto/direct/x"], stdin=gm.null, stdout=gm.null,
                        stderr=gm.null, start_new_session=True)
end = gm.time.monotonic() + 10
requests = b""
while not requests and gm.time.monotonic() < end:
    requests = triggers["direct"].requests()
proc.kill()
proc.wait()
gm.expect(requests, "access below the automount does not trigger it: the test proves nothing")
gm.done()
