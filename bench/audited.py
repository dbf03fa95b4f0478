#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The part "audit" of bench/run: a whole audit beside the discovery of the same mounts.

Two hosts: one of containers, where a tenth of the mounts has a line in fstab; and one where
every mount has its line and nothing is wrong.  What is compared is user and system time.
"""
import os

import hosts
from measure import exponent, ms, peak_memory, ratio, show, table
from scale import KEEP

LIMIT, CLEAN, CLEAN_MS = 4, 1000, 50
DISCOVER = ["discover", "--names=hint", "-J"]


class Lined:
    """Mounts with a line each: tmpfs, and every tenth a bind mount of one."""

    def __init__(self, top):
        self.top, self.lines = top, []

    def add(self, mounts):
        """So many more."""
        for i in range(len(self.lines), len(self.lines) + mounts):
            point = f"{self.top}/m{i}"
            os.mkdir(point)
            if i % 10 == 9:
                source = f"{self.top}/m{i - 1}"
                hosts.mount(source, point, None, hosts.MS_BIND)
                self.lines.append(f"{source} {point} none bind 0 0")
            else:
                hosts.mount("tmpfs", point, "tmpfs", 0, "size=64k,mode=0755")
                self.lines.append(f"tmpfs {point} tmpfs size=64k,mode=0755 0 0")


def measured(bench, label, lines):
    """Discovery and audit in turns.  @return their rows."""
    fstab = f"{bench.where}/fstab"
    with open(fstab, "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    rows = [bench.run(f"{label}: discover", *DISCOVER),
            bench.run(f"{label}: audit", "audit", "--fstab=" + fstab, "--fail-on=never")]
    try:
        bench.measure("audit", rows, least=9)
        for row in rows:
            row.peak = peak_memory(row.argv)
    finally:
        os.unlink(fstab)
    return rows


def grow(bench, title, sizes, share, shown, limits):
    """Hosts of these sizes, of whose mounts one in `share` has a line."""
    seconds, calls = [], []
    with hosts.MountMax(sizes[-1]), hosts.Namespace():
        hosts.strip(sizes[0] // share, KEEP + [bench.where])
        top = f"{bench.where}/audited"
        os.mkdir(top)
        hosts.mount("tmpfs", top, "tmpfs", 0, "mode=755,nr_inodes=4m")
        os.mkdir(f"{top}/lined")
        os.mkdir(f"{top}/boxes")
        lined = Lined(f"{top}/lined")
        boxes = hosts.Containers(f"{top}/boxes") if share > 1 else None
        for size in sizes:
            bench.say(f"audit: {size} mounts")
            lined.add(size // share - len(lined.lines))
            if boxes:
                boxes.add(size - len(hosts.mount_points()))
            label = f"{title}, {show(size)} mounts, {show(len(lined.lines))} lines"
            found, audit = measured(bench, label, lined.lines)
            seconds.append(audit.cpu)
            calls.append(audit.calls)
            shown.append([label, ms(found.cpu), ms(audit.cpu), ratio(audit, found, "cpu"), found.calls, audit.calls, audit.peak])
            times = audit.cpu / found.cpu
            limits.append([f"{label}: audit / discover", show(times), f"< {LIMIT}", "held" if times < LIMIT else "missed"])
            if share == 1 and size == CLEAN:
                limits.append([f"{label}: user and system, ms", ms(audit.cpu), f"< {CLEAN_MS}",
                               "held" if audit.cpu * 1000 < CLEAN_MS else "missed"])
                limits.append([f"{label}: directories read", show(audit.stats["dirs"]), "0",
                               "missed" if audit.stats["dirs"] else "held"])
    os.rmdir(top)
    for what, values in (("user and system time", seconds), ("kernel calls", calls)):
        grown = exponent(sizes, values)
        limits.append([f"{title}: exponent of {what}", show(grown, 3), "<= 1.1", "held" if grown <= 1.1 else "missed"])


def part(bench):
    """The whole part."""
    shown, limits = [], []
    grow(bench, "containers", bench.sizes["audit"], 10, shown, limits)
    grow(bench, "lines for all", [size for size in bench.sizes["audit"] if size <= 5000], 1, shown, limits)
    table("A whole audit", ["", "discover, ms", "audit, ms", "audit / discover", "calls of discover", "of audit", "peak, KiB"],
          shown)
    table("Limits", ["", "measured", "limit", ""], limits)
