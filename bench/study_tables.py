# SPDX-License-Identifier: MIT
"""The tables of docs/STUDY.md, from the counts of bench/study.py."""
import statistics

import study_model
import study_systems

# What can be had of J. M. Smith's results; docs/STUDY.md has where from.
HIS = {("getmnt1", "getmnt2"): "10.4 (40 systems); 10; 7",
       ("getmnt2", "getmnt3"): "3.7 (37 systems); 3; 2",
       ("getmnt1", "getmnt3"): "40; 15.2 on one system"}
PAIRS = list(HIS)
START = 3
HIS_SECOND = 3.7       # getmnt2/getmnt3, of which equal_ratio() asks


class Row:
    """One system, and what each algorithm counted on it."""

    def __init__(self, system):
        self.number, self.mounts = system.number, len(system.file_systems) - 1
        self.dirs, self.files, self.inner = system.dirs, system.files, system.inner_dirs
        self.deepest = system.deepest_point
        self.counts = {name: run(system) for name, run in study_model.ALGORITHMS.items()}
        self.whole = study_model.getmnt3_whole(system)

    def ratio(self, pair, more=0):
        """How many times the calls of the second the first one makes; with so
        many more for each."""
        above, below = (self.counts[name].calls + more for name in pair)
        return above / below

    def figures(self):
        """For --json."""
        def calls(count):
            return {"dirs": count.dirs, "open": count.open, "stat": count.stat,
                    "read": count.read, "calls": count.calls}
        return {"system": self.number, "mounts": self.mounts, "dirs": self.dirs,
                "files": self.files, "internal_dirs": self.inner, "deepest_mount": self.deepest,
                **{name: calls(count) for name, count in self.counts.items()},
                "getmnt3_whole": calls(self.whole),
                **{"/".join(pair): self.ratio(pair) for pair in PAIRS}}


def means(ratios):
    """Arithmetic mean, geometric mean and median."""
    return {"mean": statistics.fmean(ratios), "geometric": statistics.geometric_mean(ratios),
            "median": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}


def of_sums(rows, pair):
    """The ratio of all calls together."""
    above, below = (sum(row.counts[name].calls for row in rows) for name in pair)
    return above / below


def equal_ratio(rows, want, pair=("getmnt2", "getmnt3")):
    """How many more calls each run would have to make for a mean ratio; None if
    it is not above it without any."""
    def mean(more):
        return statistics.fmean(row.ratio(pair, more) for row in rows)
    if not 1 < want < mean(0):
        return None
    low, high = 0, 1
    while mean(high) > want:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if mean(middle) > want else (low, middle)
    return high


# Tables, each a function of rows.

def num(value):
    """A number as people read it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def table(head, rows, left=1):
    """Markdown; the first columns are text."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "".join("| " + " | ".join(cell if isinstance(cell, str) else num(cell) for cell in row) + " |\n"
                   for row in [head, rule, *rows])


def parameters(_):
    """What the systems are drawn from."""
    how = {"log": "{0} to {1}, even in the logarithm", "even": "{0} to {1}, even",
           "mean": "exponential, of a mean of {0} to {1}", "share": "in {0:.0%} of the cases"}
    return table(["parameter", "drawn", "what it is"],
                 [[f"`{name}`", how[kind].format(least, most), what]
                  for name, (kind, least, most, what) in study_systems.PARAMETERS.items()], 3)


def systems(rows):
    """The forty systems."""
    return table(["system", "mounts", "deepest", "directories", "files", "INTERNAL, %",
                  "getmnt1", "getmnt2", "getmnt3", "1/2", "2/3", "1/3"],
                 [[str(row.number), row.mounts, row.deepest, row.dirs, row.files,
                   100 * row.inner // row.dirs, *(count.calls for count in row.counts.values()),
                   *(row.ratio(pair) for pair in PAIRS)] for row in rows])


def ratios(rows):
    """Means beside his."""
    made = []
    for pair in PAIRS:
        of = means([row.ratio(pair) for row in rows])
        made.append(["/".join(pair), HIS[pair], of["mean"], of["geometric"], of["median"],
                     f"{num(of['least'])} to {num(of['most'])}", of_sums(rows, pair)])
    return table(["", "his", "mean", "geometric mean", "median", "from, to", "of all calls together"], made, 2)


def pruning(rows):
    """getmnt1/getmnt2 against the share of INTERNAL directories."""
    made = []
    for least, most in ((0, 10), (10, 20), (20, 40), (40, 101)):
        some = [row for row in rows if least <= 100 * row.inner / row.dirs < most]
        if some:
            made.append([f"{least} to {min(most, 100)} %", len(some),
                         statistics.fmean(row.dirs / row.inner for row in some),
                         statistics.fmean(row.ratio(PAIRS[0]) for row in some)])
    return table(["directories in INTERNAL file systems", "systems", "all directories / these, mean",
                  "getmnt1/getmnt2, mean"], made)


def places(rows):
    """getmnt2/getmnt3 against the level of the deepest mount point."""
    made = []
    for least, most in ((1, 2), (3, 3), (4, 99)):
        some = [row for row in rows if least <= row.deepest <= most]
        if some:
            made.append([{1: "1 or 2", 3: "3", 4: "4 and more"}[least], len(some),
                         statistics.fmean(row.counts["getmnt3"].calls for row in some),
                         statistics.fmean(row.ratio(PAIRS[1]) for row in some),
                         of_sums(some, PAIRS[1])])
    return table(["level of the deepest mount point", "systems", "calls of getmnt3, mean",
                  "getmnt2/getmnt3, mean", "of all calls together"], made)


def readings(rows):
    """getmnt3 read in two ways."""
    made = []
    for what, calls in (("until it is found", lambda row: row.counts["getmnt3"].calls),
                        ("until all below it are found too", lambda row: row.whole.calls)):
        second = means([row.counts["getmnt2"].calls / calls(row) for row in rows])
        whole = means([row.counts["getmnt1"].calls / calls(row) for row in rows])
        made.append([what, statistics.fmean(calls(row) for row in rows), second["mean"], second["geometric"],
                     second["median"], whole["mean"], whole["geometric"], whole["median"]])
    head = ["a mounted file system is missing", "calls of getmnt3, mean"]
    for pair in PAIRS[1:]:
        head += ["/".join(pair) + ", mean", "geometric mean", "median"]
    return table(head, made)


def fixed(rows):
    """What a cost that is the same for each run does to the ratios."""
    found = equal_ratio(rows, HIS_SECOND)
    made = [[what, *(statistics.fmean(row.ratio(pair, more) for row in rows) for pair in PAIRS)]
            for what, more in [("0", 0), ("100", 100), ("1,000", 1000)]
            + ([(f"{found:,}: getmnt2/getmnt3 is then {HIS_SECOND}", found)] if found else [])]
    return table(["calls' worth added to every run", *("/".join(pair) + ", mean" for pair in PAIRS)], made)


TABLES = {"parameters": parameters, "systems": systems, "ratios": ratios, "pruning": pruning,
          "places": places, "readings": readings, "fixed": fixed}


def at_start(count, stats):
    """Whether getmnt makes the model's calls of stat, and some at its start: of the
    root, and of what the kernel can."""
    return 0 <= stats["calls"]["statx"] - count.stat <= START


def real(compared):
    """What getmnt did on the same systems: [(number, [(algorithm, count, stats)])]."""
    runs = [(count, stats) for _, done in compared for _, count, stats in done]
    same = {"directories read": sum(count.dirs == stats["dirs"] for count, stats in runs),
            "entries read, `stat` of the model": sum(count.stat == stats["entries"] for count, stats in runs),
            f"`statx`, less up to {START} at its start": sum(at_start(count, stats) for count, stats in runs)}
    text = table(["the same in model and getmnt", "runs"],
                 [[what, f"{number} of {len(runs)}"] for what, number in same.items()])
    made = []
    for pair in PAIRS:
        by_name = [{name: (count, stats) for name, count, stats in done} for _, done in compared]

        def mean(value):
            return statistics.fmean(value(done[pair[0]]) / value(done[pair[1]]) for done in by_name)
        made.append(["/".join(pair), mean(lambda run: run[0].calls), mean(lambda run: run[1]["total_calls"]),
                     mean(lambda run: run[1]["discovery_seconds"]), mean(lambda run: run[1]["seconds"])])
    return text + "\n" + table(["mean ratio", "calls of the model", "all calls of getmnt",
                                "its search, s", "its whole run, s"], made)


def agrees(compared):
    """None, or what is not the same in the model and getmnt."""
    for number, done in compared:
        for name, count, stats in done:
            for what, ours, theirs, same in (
                    ("directories", count.dirs, stats["dirs"], count.dirs == stats["dirs"]),
                    ("entries", count.stat, stats["entries"], count.stat == stats["entries"]),
                    ("statx", count.stat, stats["calls"]["statx"], at_start(count, stats))):
                if not same:
                    return f"system {number}, {name}: {what}: {ours} by the model, {theirs} by getmnt"
    return None
