#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""profile_page.py --getmnt FILE --update PAGE: what `getmnt profile` prints about a tree as in Smith's Figure 4.

The tree is built in memory, in a private mount namespace, which needs root.  The output replaces the lines between
two marks of the page; tests/system/profile.py compares the texts there with those of the program.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import hosts
import layers

BEGIN, END = "<!-- profile: made by make profile-page -->", "<!-- profile: until here -->"
SHOWN = "/tmp/tree"     # the name of the tree in the page


def texts(output):
    """Return the lines of an output without numbers, names of directories and the width of columns, which differ
    from run to run."""
    found = set()
    for line in output.splitlines():
        line = re.sub(r"(?<= below )\S+", "DIR", line.strip())
        words = [word for word in line.split() if not re.fullmatch(r"[-+<>]*[\d.,]*", word)]
        # The number that was removed decided between singular and plural.
        found.add(re.sub(r"\b(turn|mount)s\b", r"\1", " ".join(words)))
    return found - {""}


def block(page):
    """Return the output that a page shows."""
    return layers.split(page, BEGIN, END)[1]


def main():
    """Profile the tree, and replace the output in the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--getmnt", required=True)
    parser.add_argument("--update", required=True, metavar="PAGE")
    opts = parser.parse_args()
    getmnt, page = os.path.abspath(opts.getmnt), os.path.abspath(opts.update)
    with tempfile.TemporaryDirectory(prefix="getmnt-profile.") as top, hosts.Namespace():
        hosts.mount("tmpfs", top, "tmpfs", 0, "size=80%,nr_inodes=1m")
        hosts.set_times(hosts.figure4(top, **layers.TREE), "shuffled")
        done = subprocess.run([getmnt, "profile", top], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise layers.Wrong(f"getmnt profile: exit status {done.returncode}: {done.stderr.strip()}")
    text = done.stdout.replace(top, SHOWN)
    layers.replace(page, ["", *("    " + line if line else "" for line in text.rstrip("\n").split("\n")), ""], BEGIN, END)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (layers.Wrong, OSError, ValueError) as error:
        print(f"profile_page: {error}", file=sys.stderr)
        sys.exit(1)
