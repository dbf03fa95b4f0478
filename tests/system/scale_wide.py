# SPDX-License-Identifier: MIT
"""2,500 and 10,000 mounts, binds and containers: call counts are exact, and each output
format has every mount.  GETMNT_SCALE=full: 5,000 and 50,000."""
import json
import re

import gm
import hosts

gm.need_features("the calls are others", "statx-mntid")
PAGE = 2048         # IDs of one listmount call
SIZES = (5000, 50000) if gm.FULL else (2500, 10000)
SECONDS = 90 * gm.SLOW      # a run that takes longer hangs


def table():
    """The mount IDs in mountinfo, and the points."""
    lines = gm.mountinfo()
    return [line.id for line in lines], {line.point for line in lines}


def run(*args):
    """Run with --stats.  @return (result, calls)."""
    result = gm.getmnt(*args, "--stats=json", seconds=SECONDS)
    gm.expect(result.status == 0, f"{args}: status {result.status}: {result.err[-300:]}")
    return result, result.stats()["calls"]


def counts(tag, calls, **want):
    """Compare counts of calls."""
    seen = {call: calls[call] for call in want}
    gm.expect(seen == want, f"{tag}: expected {want}, actual {seen}")


def check_calls(ids, points):
    """The calls of each source and naming mode."""
    mounts = len(ids)
    # Probing the kernel takes one statx (that of "/"), one listmount, one statmount.
    pages = 1 + mounts // PAGE + 1
    probe, one, each = 1, 1, mounts + 1
    if "listmount" not in gm.SOURCES:
        # A failing probe, unless the call is disabled; then everything comes from mountinfo.
        probe = 0 if gm.OFF & {"listmount", "statx-mntid"} else 1
        pages, one, each = probe, 0, 0
    tag = f"{mounts} mounts"
    for form in ((), ("-l",), ("-J",)):
        counts(f"{tag}: {form}", run(*form)[1], statx=len(points), statmount=each,
               listmount=pages, getdents64=0)
    counts(f"{tag}: -k", run("-k", "-l")[1], statx=len(points), statmount=one, listmount=probe)
    calls = run("--names=kernel", "-l")[1]
    counts(f"{tag}: kernel", calls, statx=1, statmount=one, listmount=probe, getdents64=0)
    counts(f"{tag}: kernel, 64-bit IDs", run("--names=kernel", "-l", "-o", "UNIQ-ID")[1], statx=1,
           statmount=each, listmount=pages)


def check_forms(ids, points):
    """Each output format has every mount."""
    want = sorted(ids)
    for args in (("-J", "-l"), ("-J",), ("-J", "-k", "-l"), ("-J", "--names=kernel"),
                 ("-J", "--stacks=nest")):
        rows = run(*args)[0].rows()
        gm.expect(sorted(gm.ids_of(rows)) == want, f"{args}: mounts are missing in the document")
    rows = run("-J", "-l", "-o", "TARGET,ID,NAMED,STATES")[0].rows()
    odd = [row for row in rows if row["named"] not in ("verified", "inferred")
           or row["states"] not in (["ok"], ["hidden"])]
    gm.expect(not odd, f"{len(odd)} mounts are not verified: {odd[:3]}")

    result = run("--format=jsonl", "-o", "ID")[0]
    lines = [json.loads(line)["id"] for line in result.out.splitlines()]
    gm.expect(sorted(lines) == want, f"jsonl: {len(lines)} lines for {len(want)} mounts")
    for args in (("-l", "-n", "-o", "ID"), ("-r", "-n", "-o", "ID"), ("-P", "-o", "ID"),
                 ("-l", "-n", "-o", "ID", "--names=kernel")):
        result = run(*args)[0]
        lines = [int(number) for number in re.findall(rb"\d+", result.out)]
        gm.expect(sorted(lines) == want, f"{args}: {len(lines)} lines for {len(want)} mounts")
    for args in ((), ("--names=kernel",), ("--format=mtab",), ("--format=setmnt",)):
        result = run(*args, "-n")[0]
        lines = len(result.out.splitlines())
        # Mounts stacked on one point are one row of a tree.
        least = len(points) if not args or "kernel" in args[0] else len(ids)
        gm.expect(least <= lines <= len(ids), f"{args}: {lines} lines")
    result = run("--format=dot")[0]
    nodes = len(re.findall(rb"^\tm\d+ \[", result.out, re.M))
    gm.expect(nodes == len(points) and result.out.endswith(b"}\n"), f"dot: {nodes} nodes")


with hosts.MountMax(SIZES[-1]):
    root = gm.Root()
    for top in ("binds", "containers"):
        gm.mkdir(root / top)
    root.enter()
    kinds = (hosts.Binds("/binds"), hosts.Containers("/containers"))
    for size in SIZES:
        for kind in kinds:
            kind.add((size - len(gm.mountinfo())) // (1 if kind is kinds[-1] else 2))
        all_ids, all_points = table()
        gm.expect(len(all_ids) == size, f"{len(all_ids)} mounts were made")
        check_calls(all_ids, all_points)
        check_forms(all_ids, all_points)
        if size == SIZES[0]:
            gm.check("walked", [names for names in gm.ONE_EACH if names[0] != "hint"])
    # For a stack this deep getmnt otherwise reads mountinfo, which lacks 64-bit IDs; a mount is still found by its ID.
    if gm.KERNEL >= (6, 8) and "listmount" not in gm.OFF:
        gm.tmpfs(root / "stack")
        for _ in range(5000):
            gm.bind("/stack", "/stack")
        unique = gm.getmnt("--kernel=listmount", "-nro", "UNIQ-ID", "-M", "/").out.decode().strip()
        for args in ((), ("-m",), ("--names=kernel",)):
            result = gm.getmnt(*args, "--uniq-id", unique, "-nro", "TARGET")
            gm.expect(result.out == b"/\n", f"{args} --uniq-id: {result.status} {result.out} {result.err}")
gm.done()
