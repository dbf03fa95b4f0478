#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layers.py --getmnt FILE --update DIR: where the time of each algorithm goes, drawn.

Runs `getmnt profile --layers` on a tree as in Smith's Figure 4, built in a private mount
namespace, and below --path (default /usr) with warm and with cold caches.  Writes
DIR/layers.tsv, a line for each row of each run; draws DIR/layers.svg from it with gnuplot; and
replaces the tables in DIR/PROFILE.md.  Needs root.

On a busy machine a run mostly waits for a processor, which says nothing about getmnt.  So each
is tried --tries times, and the one that waited least is taken; the waiting that is left stands
in the tables, not in the picture.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import hosts

HERE = os.path.dirname(os.path.realpath(__file__))
BEGIN, END = "<!-- layers: made by make profile-layers -->", "<!-- layers: until here -->"
KERNEL = ("openat2", "getdents64", "statx", "close", "statmount")
GROUPS = [("own", "our own code"), ("libc", "the C library"), ("libraries", "other libraries"),
          ("user", "our code and the libraries"), ("faults", "page faults"),
          ("crossing", "the crossing")]
GROUPS += [("work " + call, "kernel: " + call) for call in KERNEL]
GROUPS += [("work", "kernel: other calls"), ("waiting", "waiting for the device"),
           ("processor", "no processor free"), ("clocks", "the clocks"),
           ("rest", "not accounted for")]
TREE = {"dirs": 7400, "files": 3, "mounts": 32}
# Of other programs, and of the clocks' inexactness.
UNDRAWN = ("processor", "rest")


class Wrong(Exception):
    """An error that ends the program."""


def profile(getmnt, arguments):
    """One study, as a dictionary."""
    argv = [getmnt, "profile", "--layers", "--json", "--repeats=1", *arguments]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 64):
        raise Wrong(f"{' '.join(argv)}: exit status {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def seconds_of(run, layer):
    """How much of a run is of a layer."""
    return sum(row["seconds"] for row in run["rows"] if row["layer"] == layer)


def best(getmnt, arguments, names, tries):
    """Of each algorithm the run that waited least for a processor; and the costs."""
    found, costs = {}, None
    for _ in range(tries):
        study = profile(getmnt, arguments)
        costs = costs or study["costs"]
        for run in study["layers"]:
            if run["name"] not in names or not run["made"]:
                continue
            share = seconds_of(run, "processor") / run["real"]
            if run["name"] not in found or share < found[run["name"]][0]:
                found[run["name"]] = (share, run)
    missing = [name for name in names if name not in found]
    if missing:
        raise Wrong(f"{', '.join(missing)}: never run with clocks, for want of time")
    return [found[name][1] for name in names], costs


def group_of(row):
    """Under which name of GROUPS a row is drawn."""
    if row["layer"] != "work":
        return row["layer"]
    return f"work {row['call']}" if row["call"] in KERNEL else "work"


def groups_of(run):
    """Seconds of a run by group."""
    sums = dict.fromkeys((key for key, _ in GROUPS), 0.0)
    for row in run["rows"]:
        sums[group_of(row)] += row["seconds"]
    return sums


def used(runs):
    """The groups that any run has something to show of."""
    sums = [groups_of(run) for _, run in runs]
    return [(key, title) for key, title in GROUPS if any(abs(one[key]) > 1e-9 for one in sums)]


def milliseconds(seconds):
    """As many digits as tell something."""
    ms = seconds * 1e3
    return f"{ms:.{3 if abs(ms) < 10 else 1 if abs(ms) < 1000 else 0}f}"


def write_rows(path, runs):
    """The data, all of it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("run\tlayer\tcall\tms\tshare\tcount\n")
        for title, run in runs:
            for row in run["rows"]:
                file.write(f"{title}\t{row['layer']}\t{row['call'] or '-'}\t{row['seconds'] * 1e3:.6f}"
                           f"\t{row['share']:.6f}\t{row['count']:g}\n")


def draw(where, runs):
    """The picture, by way of a matrix of shares."""
    columns = [(key, title) for key, title in used(runs) if key not in UNDRAWN]
    lines = ["\t".join(["run", *(title for _, title in columns)])]
    for title, run in runs:
        sums = groups_of(run)
        whole = sum(sums[key] for key, _ in columns)
        name = f"{title}\\n{milliseconds(whole)} ms"
        lines.append("\t".join([name, *(f"{sums[key] / whole * 100:.4f}"
                                        for key, _ in columns)]))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".tsv") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        argv = ["gnuplot", "-c", f"{HERE}/layers.gp", file.name, f"{where}/layers.svg", str(len(columns))]
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Wrong(f"gnuplot: {done.stderr.strip()}")


def table(runs):
    """All runs, for the page: milliseconds, and shares as in the picture."""
    lines = ["| layer | " + " | ".join(title for title, _ in runs) + " |",
             "|---|" + "---:|" * len(runs)]
    sums = [groups_of(run) for _, run in runs]
    for key, title in used(runs):
        cells = []
        for one, (_, run) in zip(sums, runs):
            whole = run["real"] - one["processor"]
            share = "" if key in UNDRAWN else f" ({one[key] / whole:.0%})"
            cells.append(f"{milliseconds(one[key])}{share}" if abs(one[key]) > 1e-9 else "")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    lines.append("| **all, ms** | " + " | ".join(f"**{milliseconds(run['real'])}**" for _, run in runs)
                 + " |")
    lines.append("| calls | " + " | ".join(f"{run['total_calls']:,}" for _, run in runs) + " |")
    return lines


def table_of_calls(runs):
    """What one call costs in the kernel, without the crossing."""
    kinds = sorted({row["call"] for _, run in runs for row in run["rows"] if row["layer"] == "work"},
                   key=lambda kind: -max(row["count"] for _, run in runs for row in run["rows"]
                                         if row["layer"] == "work" and row["call"] == kind))
    lines = ["| ns a call, beside the crossing | " + " | ".join(title for title, _ in runs) + " |",
             "|---|" + "---:|" * len(runs)]
    for kind in kinds:
        cells = []
        for _, run in runs:
            rows = [row for row in run["rows"] if row["layer"] == "work" and row["call"] == kind]
            cells.append(f"{rows[0]['seconds'] / rows[0]['count'] * 1e9:,.0f}" if rows else "")
        lines.append(f"| {kind} | " + " | ".join(cells) + " |")
    return lines


def split(path, begin=BEGIN, end=END):
    """Return the text of a page before its two marks, between them, and after them."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(begin) != 1 or text.count(end) != 1:
        raise Wrong(f"{path}: has not one '{begin}' and one '{end}'")
    return text.split(begin)[0], text.split(begin)[1].split(end)[0], text.split(end)[1]


def replace(path, lines, begin=BEGIN, end=END):
    """Put lines between the marks of a page."""
    head, _, tail = split(path, begin, end)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write("\n".join([head + begin, *lines, end + tail]))
    os.rename(path + ".new", path)


def measure(opts):
    """Make all runs.  @return [(title, run)], costs."""
    all_three = ["getmnt1", "getmnt2", "getmnt3"]
    with tempfile.TemporaryDirectory(prefix="getmnt-layers.") as top, hosts.Namespace():
        hosts.mount("tmpfs", top, "tmpfs", 0, "size=80%,nr_inodes=1m")
        hosts.set_times(hosts.figure4(top, **TREE), "shuffled")
        runs, costs = best(opts.getmnt, [top], all_three, opts.tries)
    titled = list(zip(all_three, runs))
    warm, _ = best(opts.getmnt, [opts.path], ["getmnt1"], opts.tries)
    titled.append((f"getmnt1 {opts.path}", warm[0]))
    if not opts.warm:
        cold, _ = best(opts.getmnt, ["--cold", opts.path], ["getmnt1"], 1)
        titled.append((f"getmnt1 {opts.path} cold", cold[0]))
    return titled, costs


def main():
    """Measure, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--getmnt", required=True)
    parser.add_argument("--update", required=True, metavar="DIR")
    parser.add_argument("--path", default="/usr")
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--warm", action="store_true", help="do not drop caches")
    opts = parser.parse_args()
    if not shutil.which("gnuplot"):
        raise Wrong("gnuplot is missing: make deps-bench")
    runs, costs = measure(opts)
    write_rows(f"{opts.update}/layers.tsv", runs)
    draw(opts.update, runs)
    lines = ["", f"On {os.uname().release}, {os.cpu_count()} processors; in one of the runs, and in others about so, an "
             f"empty call takes {costs['empty_call']:.0f} ns, timing one {costs['clock_inside'] + costs['clock_outside']:.0f} ns "
             "and a look at the scheduler on top after each piece of 5 microseconds, "
             f"a page at its first use {costs['page_fault']:.0f} ns. Milliseconds, and what that is of the time in which it had a "
             "processor, or slept:", "",
             *table(runs), "", *table_of_calls(runs), ""]
    replace(f"{opts.update}/PROFILE.md", lines)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Wrong, OSError, ValueError) as error:
        print(f"layers: {error}", file=sys.stderr)
        sys.exit(1)
