#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The question of "Search Should be a System Call", asked again: what does a search cost as plain
calls, as one local search, and as one that a server answers?

Prints the tables of docs/STUDY-SEARCH.md.  Four tasks of the paper, find, ls -lR, a glob of the
shell, and the search for a library along a path, each in three ways:

    plain       the program that people use, on the tree itself and through sshfs
    search      getmnt search on the tree itself and through sshfs
    delegated   getmnt search on ssh://server/...: one request, answered where the tree is

The server is this machine, behind a pipe that delays (bench/delay.py); nothing is cached by sshfs.
Needs sshfs and its sftp-server, and root for the mount.
"""
import sys

sys.dont_write_bytecode = True

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(HERE)
SFTP = ["/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server"]
LIBRARIES = 20       # directories in the path of the library search


def build(top, dirs):
    """A tree of `dirs` directories of 10 files, and the directories of a library path."""
    for i in range(dirs):
        path = f"{top}/tree/{i // 100:03}/{i % 100:02}"
        os.makedirs(path)
        for j in range(10):
            with open(f"{path}/file{j}{'.c' if j % 3 else '.h'}", "w", encoding="ascii"):
                pass
    for i in range(LIBRARIES):
        os.makedirs(f"{top}/lib/{i:02}")
    with open(f"{top}/lib/{LIBRARIES - 1:02}/libwanted.so", "w", encoding="ascii"):
        pass


def tasks(getmnt):
    """Name: (plain, search), as functions of the top directory."""
    def libraries(top):
        return [f"{top}/lib/{i:02}" for i in range(LIBRARIES)]

    def library(top):
        return ["sh", "-c", 'for d; do [ -e "$d/libwanted.so" ] && { echo "$d/libwanted.so"; exit; }; done',
                "sh", *libraries(top)]
    return {
        "find -name": (lambda top: ["find", f"{top}/tree", "-name", "file7.c"],
                       lambda top: [getmnt, "search", "--blocking", "file7.c", f"{top}/tree"]),
        "ls -lR": (lambda top: ["ls", "-lR", f"{top}/tree"],
                   lambda top: [getmnt, "search", "--blocking", "-l", "*", f"{top}/tree"]),
        "glob */*/*7.c": (lambda top: ["bash", "-c", "printf '%s\\n' " + shlex.quote(f"{top}/tree") + "/*/*/*7.c"],
                          lambda top: [getmnt, "search", "--blocking", "/*/*/*7.c", f"{top}/tree"]),
        "library path": (library,
                         lambda top: [getmnt, "search", "--blocking", "--first", "/libwanted.so", *libraries(top)]),
    }


def calls(argv):
    """The number of system calls of a command; None without strace."""
    if not shutil.which("strace"):
        return None
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as out:
        subprocess.run(["strace", "-f", "-c", "-U", "calls,name", "-o", out.name, *argv], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for line in out.read().splitlines():
            if line.split()[1:] == ["total"]:
                return int(line.split()[0])
    return None


def seconds(argv, runs, bound):
    """The median of the times; None if one took longer than the bound."""
    times = []
    for _ in range(runs):
        start = time.monotonic()
        try:
            subprocess.run(argv, check=False, timeout=bound, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return None
        times.append(time.monotonic() - start)
        if times[0] > bound / 4:
            break
    return statistics.median(times)


class Mount:
    """The tree through sshfs, behind a delay."""

    def __init__(self, where, top, delay, sftp):
        self.where = where
        command = f"{HERE}/delay.py {delay} {sftp}"
        # ssh_command gets the arguments of ssh, which the server must not see.
        script = f"{where}.sh"
        with open(script, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nexec {command}\n")
        os.chmod(script, 0o755)
        os.makedirs(where, exist_ok=True)
        subprocess.run(["sshfs", "-o", f"ssh_command={script},dir_cache=no,attr_timeout=0,entry_timeout=0",
                        f"server:{top}", where], check=True)

    def __enter__(self):
        return self.where

    def __exit__(self, *args):
        subprocess.run(["umount", "-l", self.where], check=False)


def delegated(argv, top, delay, count):
    """The same search, sent to the server."""
    rsh = f"{HERE}/delay.py {delay} --count {count} {HERE}/serve_here.sh {argv[0]}"
    roots = [f"ssh://server{arg}" if arg.startswith(top) else arg for arg in argv[1:]]
    return [argv[0], roots[0], f"--rsh={rsh}", *[arg for arg in roots[1:] if arg != "--blocking"]]


def text(value, bound):
    """Seconds, or that it took longer."""
    if value is None:
        return f"> {bound:g}"
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--getmnt", default=f"{TOP}/getmnt", metavar="FILE", help="the program (./getmnt)")
    parser.add_argument("--dirs", type=int, default=10000, help="directories of the tree (10000)")
    parser.add_argument("--delays", default="0,1,5,20", help="milliseconds of a round trip (0,1,5,20)")
    parser.add_argument("--bound", type=float, default=600, help="seconds that a run may take (600)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    opts = parser.parse_args()
    getmnt = os.path.realpath(opts.getmnt)
    sftp = next((path for path in SFTP if os.path.exists(path)), None)
    if not sftp or not shutil.which("sshfs"):
        sys.exit("study_search.py: needs sshfs and sftp-server (packages sshfs, openssh-sftp-server)")
    figures = []
    with tempfile.TemporaryDirectory(prefix="study-search.") as base:
        top = f"{base}/served"
        build(top, opts.dirs)
        print(f"A tree of {opts.dirs} directories with 10 files each; times in seconds.\n")
        print("| task | plain: calls | plain: s | search: calls | search: s |")
        print("|---|---:|---:|---:|---:|")
        for name, (plain, search) in tasks(getmnt).items():
            row = {"task": name, "calls": calls(plain(top)), "plain": seconds(plain(top), opts.runs, opts.bound),
                   "search_calls": calls(search(top)), "search": seconds(search(top), opts.runs, opts.bound)}
            figures.append(row)
            print(f"| {name} | {row['calls'] or '-'} | {text(row['plain'], opts.bound)} | "
                  f"{row['search_calls'] or '-'} | {text(row['search'], opts.bound)} |", flush=True)
        print("\n| task | round trip, ms | plain over sshfs | search over sshfs | delegated | round trips | ratio |")
        print("|---|---:|---:|---:|---:|---:|---:|")
        for delay in opts.delays.split(","):
            with Mount(f"{base}/mnt{delay}", top, delay, sftp) as mnt:
                for name, (plain, search) in tasks(getmnt).items():
                    count = f"{base}/trips"
                    open(count, "w", encoding="ascii").close()
                    row = {"task": name, "delay": float(delay),
                           "plain": seconds(plain(mnt), opts.runs, opts.bound),
                           "search": seconds(search(mnt), opts.runs, opts.bound),
                           "delegated": seconds(delegated(search(top), top, delay, count), opts.runs, opts.bound)}
                    with open(count, encoding="ascii") as file:
                        trips = file.read().split()
                    row["trips"] = int(trips[-1]) if trips else None
                    figures.append(row)
                    ratio = "-"
                    if row["delegated"]:
                        ratio = f"{'> ' if row['plain'] is None else ''}{(row['plain'] or opts.bound) / row['delegated']:.0f}"
                    print(f"| {name} | {delay} | {text(row['plain'], opts.bound)} | {text(row['search'], opts.bound)} | "
                          f"{text(row['delegated'], opts.bound)} | {row['trips'] if trips else '-'} | {ratio} |", flush=True)
    if opts.json:
        with open(opts.json, "w", encoding="ascii") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
