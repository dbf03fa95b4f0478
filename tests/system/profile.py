# SPDX-License-Identifier: MIT
"""getmnt profile: its calls are those of getmnt, to the last one; rows that are stopped say
so; what is built is the same each time, for everybody, and nothing of it is left."""
import json
import os
import pty
import re
import signal
import subprocess
import time

import gm

ALGORITHMS = ("getmnt1", "getmnt2", "getmnt3")
root = gm.Root()
for name in ("t/usr", "t/usr/local", "t/home/u1", "t/home/u2", "t/srv/a/data", "t/var"):
    gm.tmpfs(root / name)
for i in range(20):
    gm.touch(root / f"t/usr/d{i}/e/f{i}", "x")
    gm.mkdir(root / f"t/home/u1/d{i}/e")
    gm.mkdir(root / f"t/etc/d{i}/e/f")
gm.mkdir(root / "plain/d")
gm.install_program(root / "plain")
gm.mount("proc", gm.mkdir(root / "plain/proc"), "proc")
os.chmod(root / "", 0o755)
hung = gm.HungFuse(root / "hung") if os.path.exists("/dev/fuse") else None
master, slave = pty.openpty()
building = pty.openpty()
root.enter()


# Where a topology is built there is no /proc, which the search for leaks needs.
NO_PROC = {"ASAN_OPTIONS": "detect_leaks=0"}


def profile(*args, status=0, **more):
    if not any(arg[0] == "/" or arg == "--live" for arg in args):
        more["env"] = NO_PROC
    result = gm.getmnt("profile", "--json", *args, **more)
    gm.expect(status is None or result.status == status, f"{args}: status {result.status}: {result.err[-500:]}")
    return result.json()


def users_have_namespaces():
    """Whether an ordinary user can make one here."""
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
        os._exit(1 if gm.libc.unshare(0x10000000 | gm.CLONE_NEWNS) else 0)
    able = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    print("  user namespaces: " + ("yes" if able else "no"))
    return able


def own(*args):
    """What getmnt itself tells of a run."""
    return gm.getmnt("--names=walk", "--threads=1", "--stats=json", *args).stats()


# The same calls, directories and entries as --stats tells: below a path, of each row.
path = "/t"
document = profile(path, "--repeats=1", "--max-time=20")
rows = [("--algorithm=" + row["name"], row) for row in document["algorithms"]]
gm.expect([row["name"] for row in document["algorithms"]] == list(ALGORITHMS), "algorithms")
rows += [("--prune=-" + row["without"], row) for row in document["rules"]]
gm.expect(len(rows) > 10, f"rows {len(rows)}")
for option, row in rows:
    stats = own(option, "--root=" + path)
    tag = f"{path} {option}"
    gm.expect(row["state"] == "done" and not row["varies"], f"{tag}: {row['state']}")
    for key in ("calls", "total_calls", "dirs", "entries", "errors"):
        gm.expect(row[key] == stats[key], f"{tag}: {key}: {row[key]} for {stats[key]}")
    gm.expect(sum(row["kinds"].values()) == row["total_calls"], f"{tag}: kinds {row['kinds']}")
    gm.expect(row["times"] and all(t["loops"] >= 1 and t["real"] > 0 for t in row["times"]), f"{tag}: times")
    gm.expect(row["user"] + row["system"] <= row["real"] * 1.5 + 0.01, f"{tag}: more processor than time")
gm.expect(document["complete"] and document["in_memory"] and document["fstype"] == "tmpfs", f"{path}: {document['fstype']}")
three = {row["name"]: row for row in document["algorithms"]}
gm.expect(three["getmnt1"]["dirs"] > three["getmnt2"]["dirs"] > three["getmnt3"]["dirs"], "pruning saves nothing")

# What is said of how it was measured.
document = profile("/t", "--repeats=2", "--seed=7")
gm.expect(document["seed"] == 7 and document["root"] == "/t" and document["topology"] is None and not document["live"],
          f"place {document['root']}")
gm.expect(len(document["order"]) == document["turns"] == 3, f"turns {document['turns']}")
gm.expect(all(sorted(turn) == sorted(document["order"][0]) for turn in document["order"])
          and len({tuple(turn) for turn in document["order"]}) > 1, "order")
gm.expect([[t["turn"] for t in row["times"]] for row in document["algorithms"]] == [[0, 1, 2]] * 3, "turns of a row")
for key in ("schema", "version", "host", "boot_id", "mntns", "seconds", "ratios"):
    gm.expect(document[key] is not None, f"no {key}")
for ratio in document["ratios"]:
    of, to = (next(r for r in document["algorithms"] if r["name"] == ratio[k]) for k in ("of", "to"))
    gm.expect(abs(ratio["calls"]["ratio"] - of["total_calls"] / to["total_calls"]) < 1e-3
              and ratio["calls"]["bound"] == "is", f"ratio {ratio}")

# As a table.
text = gm.getmnt("profile", "/t", "--repeats=1").out.decode()
for word in ("7 mounts", "below /t (tmpfs)", "getmnt1 / getmnt3", "WITHOUT", "nlink"):
    gm.expect(word in text, f"no {word!r}: {text}")
text = gm.getmnt("profile", "/t/var", "--repeats=1").out.decode()
gm.expect("1 mount " in text and "Nothing is mounted below it" in text, f"one mount: {text}")

# Bad paths.
for path, words in (("/nowhere", "No such file"), ("/t/usr/d1/e/f1", "Not a directory")):
    result = gm.getmnt("profile", path)
    gm.expect(result.status == 1 and result.out == b"" and words in result.err.decode()
              and result.err.count(b"\n") == 1, f"{path}: {result.status}, {result.err}")
result = gm.getmnt("profile", "--cold", "/t", uid=65534)
gm.expect(result.status == 1 and b"drop_caches" in result.err and result.out == b"", f"--cold: {result.err}")

# The kernel's caches dropped: by a file that stands for theirs, which are not ours alone.
with open("/tmp/drop_caches", "w", encoding="ascii") as f:
    f.write("0")
gm.bind("/tmp/drop_caches", "/proc/sys/vm/drop_caches")
document = profile("--cold", "--repeats=1", "/t")
with open("/tmp/drop_caches", encoding="ascii") as f:
    gm.expect(f.read() == "3", "no caches were dropped")
gm.expect(document["cold"] and document["in_memory"] and all(t["loops"] == 1 for t in document["rules"][0]["times"]), "cold")
text = gm.getmnt("profile", "--cold", "--repeats=1", "/t").out.decode()
gm.expect("dropped before each run; but this file system lies in memory" in text, f"cold: {text}")
gm.umount("/proc/sys/vm/drop_caches")

# What can block is not touched.
if hung:
    result = gm.getmnt("profile", "/hung/x")
    gm.expect(result.status == 1 and b"can block" in result.err and result.out == b"", f"hung: {result.status}, {result.err}")
document = profile("--live", "--repeats=1", "--max-time=5")
gm.expect(document["live"] and all(row["state"] == "done" for row in document["algorithms"]), "beside a hung server")

# A topology: everybody's is the same, and nothing of it is seen, nor left.
with open("/tmp/topology", "w", encoding="ascii") as f:
    f.write("seed 5\ndirs / 300 5 5 2\nmount /a\nmount /a/b\ndirs /a 100 4 4\nmount /c/d/e\nfiles /c/d 9\n")
with open("/tmp/mountinfo", "wb") as f:
    f.write(open("/proc/self/mountinfo", "rb").read())
os.chmod("/tmp/topology", 0o644)
before = open("/proc/self/mountinfo", "rb").read(), sorted(os.listdir("/")), sorted(os.listdir("/tmp"))
first = profile("--topology=/tmp/topology", "--repeats=1")
runs = [profile("--topology=/tmp/topology", "--repeats=1", "--seed=3")]
if users_have_namespaces():
    runs.append(profile("--topology=/tmp/topology", "--repeats=1", uid=65534))
for other in runs:
    for rows in ("algorithms", "rules"):
        gm.expect([row["calls"] for row in first[rows]] == [row["calls"] for row in other[rows]]
                  and [row["dirs"] for row in first[rows]] == [row["dirs"] for row in other[rows]], f"{rows}: not the same calls")
gm.expect(first["topology"] == {"name": "/tmp/topology", "seed": 5, "mounts": 3, "dirs": 405, "files": 609}
          and [row["mounts"] for row in first["algorithms"]] == [4] * 3, f"{first['topology']}")
# The root is no directory that was made; a table that is recorded has two of its own.
gm.expect(first["algorithms"][0]["dirs"] - 405 in (1, 3) and first["complete"], f"{first['algorithms'][0]['dirs']} directories built")
document = profile("--topology=/tmp/mountinfo", "--repeats=1")
gm.expect(document["algorithms"][2]["mounts"] == len({line.point for line in gm.mountinfo()}), "the mounts of a mountinfo")
document = profile("--repeats=1")
gm.expect(document["topology"]["name"] == "built in" and document["seconds"] < 60 * gm.SLOW, f"{document['seconds']} s")
for text, words in (("files / 2\nmount /f1/x\n", ":2: /f1/x: cannot be made"), ("mount /../x\n", ":1: ")):
    with open("/tmp/bad", "w", encoding="ascii") as f:
        f.write(text)
    result = gm.getmnt("profile", "--topology=/tmp/bad", env=NO_PROC)
    gm.expect(result.status == 1 and result.out == b"" and "/tmp/bad" + words in result.err.decode(), f"{text}: {result.err}")
os.unlink("/tmp/bad")
after = open("/proc/self/mountinfo", "rb").read(), sorted(os.listdir("/")), sorted(os.listdir("/tmp"))
gm.expect(before == after, f"it left something: {before} {after}")

# Where no namespace can be had, or mounts cannot be kept from others, that is said.
for uid in (None, 65534):
    result = gm.getmnt("profile", chroot="/plain", program="/bin/getmnt", uid=uid, env=NO_PROC)
    gm.expect(result.status == 1 and result.out == b"" and b"the topology: " in result.err and b"PATH" in result.err,
              f"a chroot, {uid}: {result.status}, {result.err}")
gm.expect(before[0] == open("/proc/self/mountinfo", "rb").read(), "a chroot: it left something")

# Rows that are stopped, or not run.
with open("/tmp/wide", "w", encoding="ascii") as f:
    f.write("dirs / 60000 5 20\nmount /z/y/x\n")
document = profile("--topology=/tmp/wide", "--max-time=0.02", "--repeats=1", status=64)
one, two, three = document["algorithms"]
gm.expect(one["state"] == "stopped" and 0 < one["dirs"] < 60000 and one["limit"] <= 0.02, f"stopped: {one}")
gm.expect(not document["complete"] and document["incomplete_reasons"], "complete")
if three["state"] == "done":
    gm.expect(document["ratios"][2]["calls"]["bound"] == "over", f"{document['ratios'][2]}")
text = gm.getmnt("profile", "--topology=/tmp/wide", "--max-time=0.02", "--repeats=1", env=NO_PROC)
gm.expect(text.status == 64 and b"over 0.02 s, stopped at " in text.out, f"stopped: {text.out.decode()}")
with open("/tmp/small", "w", encoding="ascii") as f:
    f.write("mount /a\n")
text = gm.getmnt("profile", "--topology=/tmp/small", "--total-time=0.001", "--repeats=1", env=NO_PROC)
gm.expect(text.status == 64 and text.out.count(b"not run: the time was up") > 10, f"not run: {text.out.decode()}")

# Building has the same end.  Deep paths take long.
with open("/tmp/deep", "w", encoding="ascii") as f:
    f.write("mount /m\ndirs " + "/a" * 500 + " 290000 3 1000\n")
begun = time.monotonic()
text = gm.getmnt("profile", "--topology=/tmp/deep", "--total-time=0.2", env=NO_PROC)
gm.expect(text.status == 1 and text.out == b"" and text.err.count(b"\n") == 1 and time.monotonic() - begun < 2 * gm.SLOW
          and re.search(rb"/tmp/deep: the time was up while the topology was built: \d+000 of 290502 .*--total-time", text.err),
          f"built: {text.status}, {text.err}")
with subprocess.Popen([gm.PROGRAM, "profile", "--topology=/tmp/deep", "--total-time=1.5"], stdin=gm.null, stdout=building[1],
                      stderr=building[1], env={"PATH": "/bin", "TERM": "xterm", **NO_PROC}) as proc:
    os.close(building[1])
    shown = b""
    try:
        while piece := os.read(building[0], 65536):
            shown += piece
    except OSError:
        pass        # the end of a terminal
gm.expect(proc.returncode == 1 and re.search(rb"\r\x1b\[Kbuilding: \d+000 of 290502 directories", shown)
          and b"\r\x1b[Kgetmnt: /tmp/deep: the time was up" in shown, f"building: {proc.returncode}, {shown[-300:]}")

# A process that dies takes but its row with it: one that has run for a while, and is not about to end.
def busy_child(parent):
    end = time.monotonic() + gm.WAIT_SECONDS
    before = []
    while time.monotonic() < end:
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as f:
            words = f.read().split()
        if words and words == before:
            return int(words[0])
        before = words
        time.sleep(0.02)
    return None


with open("/tmp/less", "w", encoding="ascii") as f:
    f.write("dirs / 20000 5 20\nmount /z/y/x\n")
for option in ([], ["--json"]):
    with subprocess.Popen([gm.PROGRAM, "profile", "--topology=/tmp/less", "--repeats=1", *option], stdin=gm.null,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": "/bin", **NO_PROC}) as proc:
        os.kill(busy_child(proc.pid), signal.SIGKILL)
        out, err = proc.communicate(timeout=gm.RUN_SECONDS * 3)
    gm.expect(proc.returncode == 64 and re.fullmatch(rb"getmnt: getmnt\d: [^\n]*its process has died; [^\n]*\n", err),
              f"a process that died: {proc.returncode}, {err}")
    if option:
        document = json.loads(out)
        rows = document["algorithms"] + document["rules"]
        died = [row for row in rows if row["died"]]
        gm.expect(len(died) == 1 and died[0]["limit"] is None and all(row["state"] == "done" for row in rows if not row["died"]),
                  f"rows: {[(row['state'], row['died']) for row in rows]}")
        gm.expect(not document["complete"] and "has died" in document["incomplete_reasons"][-1], f"{document['incomplete_reasons']}")
    else:
        gm.expect(len(re.findall(rb"its process died( at \d+ directories)?|the process of a later run died", out)) == 1
                  and b"getmnt1 / getmnt2" in out, out.decode())

# On a terminal it tells where it is, and leaves nothing of that.
with subprocess.Popen([gm.PROGRAM, "profile", "--topology=/tmp/topology", "--repeats=15"], stdin=gm.null, stdout=slave,
                      stderr=slave, env={"PATH": "/bin", "TERM": "xterm", **NO_PROC}) as proc:
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:
        pass        # the end of a terminal
gm.expect(proc.returncode == 0, "on a terminal")
gm.expect(re.search(rb"getmnt\d( without \w+)?, turn \d+: \d+ directories", shown), f"no progress: {shown[:300]}")
gm.expect(b"\r\x1b[KWhat it costs" in shown and b"\x1b" not in shown.partition(b"What it costs")[2], f"the line stands: {shown[-300:]}")

# Ended by a signal: its processes end, and nothing is mounted.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    with subprocess.Popen([gm.PROGRAM, "profile"], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True, env={"PATH": "/bin", **NO_PROC}) as proc:
        time.sleep(0.5)
        proc.send_signal(number)
        # To the end: whoever holds it has ended.
        out = proc.communicate(timeout=gm.WAIT_SECONDS)[0]
        gm.expect(proc.returncode == -number and out == b"", f"signal {number}: {proc.returncode}, {out}")
gm.expect(before[0] == open("/proc/self/mountinfo", "rb").read(), "a signal: it left something")
# A directory that may not be read is not measured as if it was empty.
os.mkdir("/closed", 0o700)
result = gm.getmnt("profile", "/closed", "--repeats=1", uid=65534)
gm.expect(result.status == 1 and result.out == b"" and b"getmnt: /closed: it cannot be read" in result.err,
          f"closed: {result.status} {result.out[-300:]} {result.err}")
if hung:
    hung.end()
gm.done()
