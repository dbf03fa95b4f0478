#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""J. M. Smith's experiment of 1988 again: getmnt1, 2 and 3 on forty systems, by
counting calls.

Tables in Markdown, those of docs/STUDY.md, go to standard output.  The same
seed gives the same counts everywhere.  With --real, which needs root, each
system is built of tmpfs in a mount namespace of its own, and getmnt runs on it
by the rules of 1988; where it and the model differ, the status is 1.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import gc
import json
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, HERE)

import hosts
import study_model
import study_real
import study_systems
import study_tables

MOST = 999
BEGIN, END = "<!-- made by make study: {} -->\n", "<!-- until here -->\n"


def seed(text):
    """The value of --seed."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 to 999999999")
    return int(text)


def numbers(text):
    """The value of --systems."""
    chosen = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= MOST:
            raise argparse.ArgumentTypeError(
                f"{part!r} is no number of a system, nor a range: 1 to {MOST}, as in 1-40 or 3,13,20-24")
        chosen += [n for n in range(first, last + 1) if n not in chosen]
    return chosen


def options(argv):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=seed, default=study_systems.SEED, metavar="N",
                        help=f"draw other systems ({study_systems.SEED})")
    parser.add_argument("--systems", type=numbers, default=list(range(1, study_systems.SYSTEMS + 1)),
                        metavar="N,N-N,...", help=f"these systems (1-{study_systems.SYSTEMS})")
    parser.add_argument("--table", action="append", choices=[*study_tables.TABLES],
                        help="this table alone (may be repeated)")
    parser.add_argument("--json", action="store_true", help="every count, as JSON")
    parser.add_argument("--real", action="store_true", help="build them, and run getmnt on them; needs root")
    parser.add_argument("--getmnt", default=f"{TOP}/getmnt", metavar="FILE", help="that program (./getmnt)")
    doc = parser.add_mutually_exclusive_group()
    doc.add_argument("--write", metavar="FILE", help="put the tables where FILE, docs/STUDY.md, has them")
    doc.add_argument("--check", metavar="FILE", help="status 1 if FILE has other tables than these")
    opts = parser.parse_args(argv)
    if opts.real and os.geteuid() != 0:
        parser.error("--real needs root, for mounts in a mount namespace of its own; "
                     "without --real the model is run alone")
    if opts.real and not os.access(opts.getmnt, os.X_OK):
        parser.error(f"there is no {opts.getmnt}: make it first, or name it by --getmnt=FILE")
    if (opts.write or opts.check) and (opts.table or opts.json or opts.seed != study_systems.SEED
                                       or opts.systems != parser.get_default("systems")):
        parser.error("--write and --check are of all tables of the forty systems: "
                     "not with --table, --json, --seed or --systems")
    if opts.json and opts.table:
        parser.error("--json has every count: not with --table")
    return opts


def progress(text):
    """What is done, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def count(opts):
    """Count on all systems.  @return rows."""
    rows = []
    for number in opts.systems:
        progress(f"system {number}")
        rows.append(study_tables.Row(study_systems.System(number, opts.seed)))
        gc.collect()
    progress("")
    return rows


def compare(opts):
    """Run getmnt on all systems.  @return what study_tables.real() takes."""
    compared, here = [], os.getcwd()
    with tempfile.TemporaryDirectory(prefix="getmnt-study.") as top, hosts.Namespace():
        for number in opts.systems:
            progress(f"system {number}, built")
            system = study_systems.System(number, opts.seed)
            compared.append((number, study_real.compare(system, top, opts.getmnt, study_model.ALGORITHMS)))
            gc.collect()
    os.chdir(here)      # leaving a mount namespace leads to "/"
    progress("")
    return compared


def replace(page, name, text, path):
    """A page with another table of this name."""
    before, begin, rest = page.partition(BEGIN.format(name))
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise study_real.Failed(f"{path}: there is no place for the table {name}: {BEGIN.format(name).strip()}")
    return before + begin + text + end + after


def write(opts, tables):
    """--write and --check.  @return the exit status."""
    path = opts.write or opts.check
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new = old
    for name, text in tables.items():
        new = replace(new, name, text, path)
    if opts.check:
        for want, got in zip(new.split("\n"), old.split("\n")):
            if want != got:
                print(f"{path} has: {got}\n{' ' * len(path)} now: {want}\nmake study writes it", file=sys.stderr)
                break
        return int(new != old)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=os.path.dirname(path) or ".", delete=False) as file:
        file.write(new)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), os.stat(path).st_mode & 0o777)
    os.replace(file.name, path)
    return 0


def main(argv=None):
    """All of it.  @return the exit status."""
    opts = options(argv)
    gc.disable()        # of the trees nothing is garbage before all of one is
    rows = count(opts)
    tables = {name: make(rows) for name, make in study_tables.TABLES.items()
              if not opts.table or name in opts.table}
    compared = compare(opts) if opts.real else []
    status = 0
    if opts.real:
        differs = study_tables.agrees(compared)
        if differs:
            print(f"study.py: {differs}", file=sys.stderr)
            status = 1
        if not opts.check:
            tables["real"] = study_tables.real(compared)
    if opts.write or opts.check:
        return write(opts, tables) or status
    if opts.json:
        print(json.dumps({"seed": opts.seed, "systems": [row.figures() for row in rows],
                          "means": {"/".join(pair): study_tables.means([row.ratio(pair) for row in rows])
                                    for pair in study_tables.PAIRS},
                          "getmnt": [{"system": number, **{name: stats for name, _, stats in done}}
                                     for number, done in compared]}, indent=1))
    else:
        print("\n".join(tables.values()), end="")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    except OSError as error:
        print(f"study.py: {error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(1)
    except (study_real.Failed, subprocess.TimeoutExpired) as error:
        print(f"study.py: {error}", file=sys.stderr)
        sys.exit(1)
