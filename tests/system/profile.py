# SPDX-License-Identifier: MIT
"""getmnt profile: its calls are those of getmnt, to the last one; rows that are stopped say
so; nothing that can block is touched; and nothing is left, however it ends."""
import json
import os
import pty
import re
import resource
import signal
import subprocess
import time

import gm
import profile_page

ALGORITHMS = ["getmnt1", "getmnt2", "getmnt3"]
WIDE = 12000        # directories of /wide: enough for a run to be stopped in time
PAGE = profile_page.block(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/PROFILE.md"))
root = gm.Root()
for name in ("t/usr", "t/usr/local", "t/home/u1", "t/home/u2", "t/srv/a/data", "t/var", "wide"):
    gm.tmpfs(root / name)
for i in range(20):
    gm.touch(root / f"t/usr/d{i}/e/f{i}", "x")
    gm.mkdir(root / f"t/home/u1/d{i}/e")
    gm.mkdir(root / f"t/etc/d{i}/e/f")
for i in range(WIDE // 100):
    os.mkdir(root / f"wide/{i}")
    for k in range(99):
        os.mkdir(root / f"wide/{i}/{k}")
gm.tmpfs(root / "wide/z/y/x")
os.chmod(root / "", 0o755)
hung = gm.HungFuse(root / "hung") if os.path.exists("/dev/fuse") else None
master, slave = pty.openpty()
root.enter()


def profile(*args, status=0, **more):
    result = gm.getmnt("profile", "--json", *args, **more)
    gm.expect(result.status == status, f"{args}: status {result.status}: {result.err[-500:]}")
    return result.json()


def table(*args, status=0):
    result = gm.getmnt("profile", "--repeats=1", *args)
    gm.expect(result.status == status, f"{args}: status {result.status}: {result.err[-500:]}")
    return result.out.decode()


# The page has what the program prints.
missing = profile_page.texts(PAGE) - profile_page.texts(gm.getmnt("profile", "--repeats=3", "/t").out.decode())
gm.expect(not missing, f"docs/PROFILE.md has what is not printed; make profile-page: {sorted(missing)}")


def start(*args, **more):
    return subprocess.Popen([gm.PROGRAM, "profile", *args], stdin=gm.null, env={"PATH": "/bin", "TERM": "xterm"}, **more)


# The calls, directories and entries of each row are those that --stats reports, also where a run raises
# the limit on open files.
limits = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
document = profile("/t", "--repeats=1", "--max-time=20")
algorithms = document["algorithms"]
gm.expect([row["name"] for row in algorithms] == ALGORITHMS, "algorithms")
rows = [("--algorithm=" + row["name"], row) for row in algorithms]
rows += [("--prune=-" + row["without"], row) for row in document["rules"]]
gm.expect(len(rows) > 10, f"rows {len(rows)}")
for option, row in rows:
    stats = gm.getmnt("--names=walk", "--threads=1", "--stats=json", option, "--root=/t").stats()
    gm.expect(row["state"] == "done" and not row["varies"], f"{option}: {row['state']}")
    for key in ("calls", "total_calls", "dirs", "entries", "errors"):
        gm.expect(row[key] == stats[key], f"{option}: {key}: {row[key]}, --stats has {stats[key]}")
    gm.expect(sum(row["kinds"].values()) == row["total_calls"], f"{option}: kinds {row['kinds']}")
    gm.expect(row["times"] and all(t["loops"] >= 1 and t["real"] > 0 for t in row["times"]), f"{option}: times")
    gm.expect(row["user"] + row["system"] <= row["real"] * 1.5 + 0.01, f"{option}: more processor than time")
gm.expect(document["complete"] and document["in_memory"] and document["fstype"] == "tmpfs", document["fstype"])
gm.expect(algorithms[0]["dirs"] > algorithms[1]["dirs"] > algorithms[2]["dirs"], "pruning saves nothing")

resource.setrlimit(resource.RLIMIT_NOFILE, limits)

# How it was measured.
document = profile("/t", "--repeats=2", "--seed=7")
algorithms = {row["name"]: row for row in document["algorithms"]}
gm.expect(document["seed"] == 7 and document["root"] == "/t" and not document["live"], f"place {document['root']}")
gm.expect(len(document["order"]) == document["turns"] == 3, f"turns {document['turns']}")
gm.expect(all(sorted(turn) == sorted(document["order"][0]) for turn in document["order"])
          and len({tuple(turn) for turn in document["order"]}) > 1, "order")
gm.expect(all([t["turn"] for t in row["times"]] == [0, 1, 2] for row in algorithms.values()), "turns of a row")
for key in ("schema", "version", "host", "boot_id", "mntns", "seconds", "ratios"):
    gm.expect(document[key] is not None, f"no {key}")
for ratio in document["ratios"]:
    wanted = algorithms[ratio["of"]]["total_calls"] / algorithms[ratio["to"]]["total_calls"]
    gm.expect(abs(ratio["calls"]["ratio"] - wanted) < 1e-3 and ratio["calls"]["bound"] == "is", f"ratio {ratio}")

# Tables.
for path, words in (("/t", ("7 mounts", "below /t (tmpfs)", "getmnt1 / getmnt3", "WITHOUT", "nlink")),
                    ("/t/var", ("1 mount ", "Nothing is mounted below this directory"))):
    text = table(path)
    for word in words:
        gm.expect(word in text, f"{path}: no {word!r}: {text}")

# Refused: one message, and no output.
os.mkdir("/closed", 0o700)
refused = [("/nowhere", None, b"No such file"), ("/t/usr/d1/e/f1", None, b"Not a directory"),
           ("/closed", 65534, b"getmnt: /closed: "), ("/t", 65534, b"drop_caches")]
if hung:
    refused.append(("/hung/x", None, b"can block"))
for path, uid, words in refused:
    result = gm.getmnt("profile", path, *(["--cold"] if b"drop" in words else []), uid=uid)
    gm.expect(result.status == 1 and result.out == b"" and words in result.err and result.err.count(b"\n") == 1,
              f"{path}: {result.status}, {result.err}")

# The kernel's caches are dropped, by a file in place of the kernel's, which all processes share.
gm.touch("/tmp/drop_caches", "0")
gm.bind("/tmp/drop_caches", "/proc/sys/vm/drop_caches")
document = profile("--cold", "--repeats=1", "/t")
gm.expect(gm.read("/tmp/drop_caches") == "3", "no caches were dropped")
gm.expect(document["cold"] and all(t["loops"] == 1 for t in document["rules"][0]["times"]), "cold")
gm.expect("dropped before each run, but this file system" in table("--cold", "/t"), "cold: no note")
gm.umount("/proc/sys/vm/drop_caches")

# What can block is not touched.
document = profile("--live", "--repeats=1", "--max-time=5")
gm.expect(document["live"] and all(row["state"] == "done" for row in document["algorithms"]), "next to a hung server")
if hung:
    hung.end()

# Runs that are stopped, or not made.
document = profile("/wide", "--max-time=0.01", "--repeats=1", status=64)
one, two, three = document["algorithms"]
gm.expect(one["state"] == "stopped" and 0 < one["dirs"] < WIDE and one["limit"] <= 0.01, f"stopped: {one}")
gm.expect(not document["complete"] and document["incomplete_reasons"], "complete")
if three["state"] == "done":
    gm.expect(document["ratios"][2]["calls"]["bound"] == "over", f"{document['ratios'][2]}")
text = table("/wide", "--max-time=0.01", status=64)
gm.expect("stopped after 0.01 s and " in text, f"stopped: {text}")
text = table("/t", "--total-time=0.001", status=64)
gm.expect(text.count("not run: no time left") > 10, f"not run: {text}")


def busy_child(parent):
    """A child that has run for a while, and is not about to end."""
    before = []
    for _ in range(int(gm.WAIT_SECONDS / 0.02)):
        words = gm.read(f"/proc/{parent}/task/{parent}/children").split()
        if words and words == before:
            return int(words[0])
        before = words
        time.sleep(0.02)
    return None


# When the process of a run dies, only its row is lost.
for option in ([], ["--json"]):
    with start("/wide", "--repeats=1", *option, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as proc:
        os.kill(busy_child(proc.pid), signal.SIGKILL)
        out, err = proc.communicate(timeout=gm.RUN_SECONDS * 3)
    gm.expect(proc.returncode == 64 and re.fullmatch(rb"getmnt: getmnt\d: [^\n]*the process of a run died; [^\n]*\n", err),
              f"a process that died: {proc.returncode}, {err}")
    if option:
        document = json.loads(out)
        rows = document["algorithms"] + document["rules"]
        died = [row for row in rows if row["died"]]
        gm.expect(len(died) == 1 and died[0]["limit"] is None and all(row["state"] == "done" for row in rows if not row["died"]),
                  f"rows: {[(row['state'], row['died']) for row in rows]}")
        gm.expect(not document["complete"] and "died" in document["incomplete_reasons"][-1], f"{document['incomplete_reasons']}")
    else:
        gm.expect(len(re.findall(rb"its process died( at \d+ directories)?|a later run's process died", out)) == 1
                  and b"getmnt1 / getmnt2" in out, out.decode())

# On a terminal it shows its progress, and clears that line.
with start("/wide", "--repeats=5", stdout=slave, stderr=slave) as proc:
    os.close(slave)
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:
        pass        # the end of a terminal
gm.expect(proc.returncode == 0, "on a terminal")
gm.expect(re.search(rb"getmnt\d( without \w+)?, turn \d+: \d+ directories", shown), f"no progress: {shown[:300]}")
gm.expect(b"\r\x1b[KCost of" in shown and b"\x1b" not in shown.partition(b"Cost of")[2], f"the line stands: {shown[-300:]}")

# A signal ends it and the processes that it started.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    with start("/wide", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as proc:
        busy_child(proc.pid)
        proc.send_signal(number)
        # Until the pipe is closed by all who hold it.
        out = proc.communicate(timeout=gm.WAIT_SECONDS)[0]
        gm.expect(proc.returncode == -number and out == b"", f"signal {number}: {proc.returncode}, {out}")
gm.done()
