# SPDX-License-Identifier: MIT
"""getmnt profile --layers: the rows add up to the run's time, its calls are those without
clocks, and without --layers no clock of the processor is read."""
import collections
import os
import re

import gm

gm.need("strace")
# What os_init() asks the kernel before the clock is set.
PROBES = {"statx": 3, "openat2": 1, "listmount": 2, "statmount": 2, "uname": 1}
ALGORITHMS = ["getmnt1", "getmnt2", "getmnt3"]
USER = {"own", "libc", "libraries"}
root = gm.Root()
for name in ("t/usr", "t/usr/local", "t/home/u1", "t/var"):
    gm.tmpfs(root / name)
for i in range(60):
    gm.touch(root / f"t/usr/d{i}/e/f{i}", "x")
for i in range(30):
    for k in range(20):
        gm.mkdir(root / f"t/etc/d{i}/{k}/e")
os.chmod(root / "", 0o755)
gm.install("strace", root.path)
root.enter()


def profile(*args, **more):
    result = gm.getmnt("profile", "--json", "--repeats=1", *args, **more)
    gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err[-500:]}")
    return result.json()


def check(tag, document):
    """What must hold of any run with clocks."""
    gm.expect([run["name"] for run in document["layers"]] == ALGORITHMS, f"{tag}: algorithms")
    gm.expect(0 < document["costs"]["empty_call"] < 1e6 and 0 < document["costs"]["clock_inside"] < 1e5,
              f"{tag}: costs {document['costs']}")
    for run, row in zip(document["layers"], document["algorithms"]):
        gm.expect(run["made"] and run["same_calls"] and run["runs"] >= 1, f"{tag}: {run}")
        rows, real = run["rows"], run["real"]
        layers = collections.Counter(one["layer"] for one in rows)
        gm.expect(abs(sum(one["seconds"] for one in rows) - real) < 1e-9 * len(rows), f"{tag}: no sum: {run}")
        gm.expect(abs(sum(one["share"] for one in rows) - 1) < 1e-5 * len(rows), f"{tag}: no whole: {run}")
        gm.expect(all(one["seconds"] >= 0 for one in rows if one["layer"] != "rest"), f"{tag}: below 0: {run}")
        gm.expect(rows[-1]["layer"] == "rest" and all(layers[one] == 1 for one in ("rest", "clocks", "crossing", "faults")),
                  f"{tag}: {layers}")
        gm.expect(layers["user"] == 1 and not USER & set(layers) or layers["own"] == 1 and not layers["user"],
                  f"{tag}: {layers}")
        gm.expect((run["samples"] < 100) == (layers["user"] == 1), f"{tag}: {run['samples']} samples: {layers}")
        gm.expect(sum(one["seconds"] for one in rows if one["layer"] in ("work", "waiting", "crossing")) < real,
                  f"{tag}: more in calls than at all")
        # Each call, and no other, was timed.
        timed = {one["call"]: one["count"] for one in rows if one["layer"] == "work"}
        gm.expect(sum(timed.values()) == run["total_calls"], f"{tag}: {timed}")
        for call, count in row["calls"].items():
            least = max(count - PROBES.get(call, 0), 0)
            gm.expect(least <= timed.get(call, 0) <= count, f"{tag}: {call}: {timed.get(call)} timed of {count}")
        # The clocks and the scheduler agree on how long it had no processor.
        if not gm.sanitized():
            gm.expect(abs(rows[-1]["seconds"]) < 0.2 * real + 0.005, f"{tag}: not accounted for: {rows[-1]}")


document = profile("--layers", "--max-time=0.5", "/t", uid=65534)
check("a path, by nobody", document)
gm.expect(any(row["layer"] == "processor" for row in document["layers"][0]["rows"])
          or not os.path.exists("/proc/self/schedstat"), "schedstat was not read")

# As tables; where there is no time for samples, or for clocks, that is said.
text = gm.getmnt("profile", "--layers", "--repeats=1", "--max-time=0.3", "/t").out.decode()
for words in ("Where the time goes", "the crossing", "kernel: getdents64", "these clocks", "not accounted for"):
    gm.expect(words in text, f"no {words!r}: {text}")
gm.expect(len(re.findall(r"^LAYER +MS +SHARE +COUNT +NS EACH$", text, re.M)) == 3
          and len(re.findall(r"^total +[0-9.]+ +100.0% ", text, re.M)) == 3, f"tables: {text}")
gm.expect(len(re.findall(r"^getmnt[123], mean of \d+ runs? \([0-9.]+ ms without clocks\):$", text, re.M)) == 3,
          f"heads: {text}")
text = gm.getmnt("profile", "--layers", "--repeats=1", "--total-time=0.000001", "/t").out.decode()
gm.expect(len(re.findall(r"^getmnt[123]: not run with clocks: no time left", text, re.M)) == 3, f"no time: {text}")

# Without it nothing of the kind is in the document, and the kernel's clock is not read.
gm.expect(not {"layers", "costs"} & set(profile("/t", "--max-time=1")), "layers without --layers")
# Only the traced calls stop, one kind in a run: a run that strace slows at each
# call, or at each signal of the sampler, comes to no end before its limit.
if not gm.sanitized():
    for call, word in (("clock_gettime", "CLOCK_THREAD_CPUTIME_ID"), ("timer_create", "timer_create(CLOCK_MONOTONIC")):
        for args, expected in (([], False), (["--layers"], True)):
            result = gm.getmnt("-f", "--seccomp-bpf", "-e", f"trace={call}", "-e", "signal=none", "-o", "/tmp/trace",
                               gm.PROGRAM, "profile", "/t", "--repeats=1", "--max-time=3", *args, program="/bin/strace")
            gm.expect(result.status == 0, f"strace {call} {args}: {result.status} {result.out[-300:]} {result.err[-300:]}")
            trace = gm.read("/tmp/trace")
            gm.expect((word in trace) == expected, f"{call} {args}: {result.out[-300:]} {trace[:500]}")
gm.done()
