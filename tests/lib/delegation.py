# SPDX-License-Identifier: MIT
"""Searches by getmnt search --delegate, compared with searches through the same mounts.

The remote shell is a script that runs the program on this host, in the directory of the case."""
import os

import gm

PROGRAM = os.environ["GETMNT"]
WORK = os.environ["GETMNT_WORK"]
ENV = {"PATH": os.environ["PATH"], "HOME": WORK}


def script(name, text):
    path = f"{WORK}/{name}"
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return path


def shell(name, command="exec"):
    """A remote shell that runs `getmnt serve --stdio` by a command, and notes each connection."""
    return script(name, f'echo "$*" >>{WORK}/log\n[ "$1" = -l ] && shift 2\ncd {WORK}\nshift\n'
                        f'[ "$*" = "getmnt serve --stdio" ] || exit 9\n{command} {PROGRAM} serve --stdio')


class Delegation:
    """Searches with a login, and a remote shell."""

    def __init__(self, login=""):
        self.option = f"--delegate={login}" if login else "--delegate"
        self.good = shell("good")
        self.compared = 0
        open(f"{WORK}/log", "w", encoding="ascii").close()

    def search(self, *args, rsh=True, **more):
        """A delegated search, or one through the mounts."""
        args = [self.option, f"--rsh={rsh if isinstance(rsh, str) else self.good}", *args] if rsh else args
        return gm.getmnt("search", *args, program=PROGRAM, env=ENV, cwd=WORK, **more)

    def same(self, *args, delegated=1, status=None, rsh=True):
        """The same objects, with --blocking and without; `delegated` mounts are searched by their servers."""
        expected = self.search("--blocking", *args, rsh=False)
        if b"can never match" in expected.err:
            return expected
        gm.expect(not expected.err.startswith(b"getmnt: -"), f"{args}: {expected.err}")
        for way in ((), ("--blocking",)):
            before = calls()
            got = self.search(*way, *args, rsh=rsh)
            tag = f"{way} {args}"
            gm.expect(sort_lines(got.out) == sort_lines(expected.out),
                      f"{tag}: {set(sort_lines(got.out)) ^ set(sort_lines(expected.out))}")
            gm.expect(got.status == (expected.status if status is None else status) and sort_lines(got.err) == sort_lines(expected.err),
                      f"{tag}: status {got.status} {got.err} instead of {expected.status} {expected.err}")
            if delegated is not None:
                gm.expect(calls() - before == delegated, f"{tag}: {calls() - before} instead of {delegated} connections")
        self.compared += 1
        return expected

    def refused(self, why, *args, rsh=True, blocking=True, first=False):
        """Nothing is delegated: one message, and the results of a search through the mounts, which is done first or second."""
        if first:
            got = self.search("--blocking", *args, rsh=rsh)
        expected = self.search("--blocking", *args, rsh=False)
        if not first:
            got = self.search("--blocking", *args, rsh=rsh)
        gm.expect(got.status == expected.status and sort_lines(got.out) == sort_lines(expected.out),
                  f"{args}: {got.status} {got.out} {got.err}")
        gm.expect(got.err.decode().count("not delegated") == 1 and why in got.err.decode(), f"{args}: {got.err} instead of {why}")
        if blocking:
            got = self.search(*args, rsh=rsh)
            lines = got.err.decode().splitlines()
            gm.expect(got.status == 1 and len(lines) == 2 and "not delegated: " in lines[0] and why in lines[0]
                      and lines[1].endswith("not entered: its file system can block (--blocking enters it)"),
                      f"{args}: {got.status} {got.err}")


def calls():
    """The connections until now."""
    with open(f"{WORK}/log", encoding="utf-8") as file:
        return len(file.readlines())


def sort_lines(out):
    return sorted(out.split(b"\0" if b"\0" in out else b"\n"))
