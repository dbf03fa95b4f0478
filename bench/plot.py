#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""plot.py DIR: draw what bench/run --plot DIR has written there once more.

NAME.dat is text for gnuplot and for people: two lines of comment, the title and
what the size is of; then for each way a block, its name and a line for each size.
"""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
COLUMNS = "size calls user-and-system-ms real-ms peak-KiB"


def lacking():
    """None, or what is missing to draw."""
    return None if shutil.which("gnuplot") else "--plot needs gnuplot: make deps-bench"


def write(where, name, title, unit, blocks):
    """The data of one picture.  blocks: way -> rows of numbers, None where there is none."""
    os.makedirs(where, exist_ok=True)
    lines = [f"# {title}", f"# {unit}", f"# {COLUMNS}"]
    for way, rows in blocks.items():
        lines.append(f'"{way}"')
        lines += [" ".join("?" if value is None else f"{value:.6g}" if isinstance(value, float)
                           else str(value) for value in row) for row in rows]
        lines += ["", ""]
    with open(f"{where}/{name}.dat", "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip("\n") + "\n")


def draw(where, name):
    """The picture of one file of data."""
    with open(f"{where}/{name}.dat", encoding="utf-8") as file:
        title, unit = (file.readline()[1:].strip() for _ in range(2))
        ways = sum(line.startswith('"') for line in file)
    if not ways:
        raise RuntimeError(f"{name}.dat: nothing to draw: no run of it ended within the bound")
    argv = ["gnuplot", "-c", f"{HERE}/growth.gp", f"{where}/{name}.dat", f"{where}/{name}.svg",
            title, unit, str(ways)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"gnuplot: {name}.dat: {done.stderr.strip()}")


def main():
    """Draw again.  @return the exit status."""
    if len(sys.argv) != 2:
        print("plot: usage: bench/plot.py DIR", file=sys.stderr)
        return 1
    names = sorted(os.path.basename(path)[:-4] for path in glob.glob(f"{glob.escape(sys.argv[1])}/*.dat"))
    why = lacking() if names else f"no .dat in {sys.argv[1]}: bench/run --part growth --plot writes them"
    if why:
        print(f"plot: {why}", file=sys.stderr)
        return 1
    try:
        for name in names:
            draw(sys.argv[1], name)
    except (OSError, RuntimeError) as error:
        print(f"plot: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
