#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "collect" of bench/run: what thousands of hosts have told, put together.

Lines are such as getmnt audit --jsonl prints, of hosts r0n000 to r999n099 with 20
findings each, no two with the same targets.
"""
import json
import os
import subprocess

from measure import LONG, Row, exponent, ms, peak_memory, show, spawn, table

FINDINGS = 20
CODES = ["DRIFT-NOT-MOUNTED", "DRIFT-OPTIONS", "DRIFT-READONLY", "DRIFT-SOURCE", "FSTAB-NOFAIL", "FSTAB-ORDER",
         "FSTAB-PASSNO", "FSTAB-SECRET", "FSTAB-SRC-UNSTABLE", "FSTAB-SWAP", "FS-ERRORS", "MNT-DELETED", "MNT-DUP",
         "MNT-SHADOWED", "MNT-STALE", "MTAB-STALE", "POLICY-OPTION", "SWAP-EXTRA", "SWAP-NOT-ACTIVE", "UNIT-FAILED"]
SEVERITIES = ["info", "warning", "critical"]
BOUND = 256 << 10     # KiB, of 10,000 hosts


def line(host, number):
    """What a host tells."""
    findings = [{"code": CODES[i], "severity": SEVERITIES[i % 3], "target": f"/srv/{number}/data-{i}", "owner": "fstab",
                 "message": "the line is not mounted as it says", "expected": "rw,nosuid,nodev", "actual": "rw,relatime",
                 "hint": "mount it, or change its line", "source": f"/etc/fstab:{i + 1}"} for i in range(FINDINGS)]
    counts = {word: sum(f["severity"] == word for f in findings) for word in reversed(SEVERITIES)}
    return json.dumps({
        "findings": findings, "counts": {**counts, "ignored": 0, "silenced": 0}, "expired": [],
        "not_judged": ["MNT-STALE", "MNT-TIMEOUT"], "failed": None, "exit_status": 1, "fstab": "/etc/fstab", "root": "/",
        "mounts": 40, "time": 1795000000 + number % 3600, "seconds": 0.012, "schema": 1, "version": "0.1.0", "host": host,
        "boot_id": f"{number:08x}-0000-4000-8000-000000000000", "mntns": 4026531841, "table": "listmount", "complete": True,
        "incomplete_reasons": []})


def part(bench):
    """The whole part."""
    sizes = bench.sizes["collect"]
    forms = [("text", []), ("--json", ["--json"])]
    rows, limits, seconds, peaks = [], [], {}, {}
    for size in sizes:
        bench.say(f"collect: {size} hosts")
        path = f"{bench.where}/{size}.jsonl"
        with open(path, "w", encoding="utf-8") as file:
            for i in range(size):
                file.write(line(f"r{i // 100}n{i % 100:03}", i) + "\n")
        try:
            measured = [Row(f"{size} {name}", [bench.getmnt, "audit", "--collect", "--fail-on=never", *args, path])
                        for name, args in forms]
            for row in measured:
                # Of the processor, since what else runs stretches the time of a process.
                while len(row.times) < 3 and sum(row.times) < LONG:
                    took, cpu, row.status, _ = spawn(row.argv)
                    row.times.append(took)
                    row.cpus.append(sum(cpu))
            bench.done.setdefault("collect", []).extend(measured)
            screen = subprocess.run(measured[0].argv, check=True, capture_output=True).stdout
            for row, (name, _) in zip(measured, forms):
                seconds.setdefault(name, []).append(row.cpu)
                peaks[size, name] = row.peak = peak_memory(row.argv)
                rows.append([f"{show(size)}, {name}", show(os.path.getsize(path) / (1 << 20)), ms(row.time), ms(row.cpu),
                             show(row.cpu / size * 1e6), row.peak])
            limits.append([f"{show(size)} hosts: lines of the screen", show(screen.count(b"\n")), "<= 40",
                           "held" if screen.count(b"\n") <= 40 else "missed"])
        finally:
            os.unlink(path)
    table(f"Collected: hosts with {FINDINGS} findings each",
          ["hosts", "MiB read", "process, ms", "user and system, ms", "us a host", "peak, KiB"], rows)
    for name, _ in forms:
        if (10000, name) in peaks:
            limits.append([f"10,000 hosts, {name}: peak, KiB", show(peaks[10000, name]), f"< {show(BOUND)}",
                           "held" if peaks[10000, name] < BOUND else "missed"])
        grown = exponent(sizes, seconds[name])
        limits.append([f"{name}: exponent of user and system time", show(grown, 3), "<= 1.1", "held" if grown <= 1.1 else "missed"])
    table("Limits", ["", "measured", "limit", ""], limits)
