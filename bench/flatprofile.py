# SPDX-License-Identifier: MIT
"""What gprof tells of a run: its flat profile, read."""
import re
import subprocess

# Crossings that are of the kind of another in --stats (src/os/crossing.h).
KINDS = {"faccessat": "faccessat2", "writev": "write"}
PREFIX = "sys_"
ROW = re.compile(r"\s*[\d.]+\s+[\d.]+\s+([\d.]+)(?:\s+(\d+)\s+[\d.]+\s+[\d.]+)?\s+(\S+)$")


class Function:
    """A function, by its name: seconds in itself, and calls; None where it was
    not compiled for gprof, and nobody has counted."""

    def __init__(self, name, seconds, calls):
        self.name, self.seconds, self.calls = name, seconds, calls

    @property
    def kind(self):
        """The kind of kernel call, as --stats names it; None: it is none."""
        if not self.name.startswith(PREFIX):
            return None
        name = self.name[len(PREFIX):]
        return KINDS.get(name, name)


def run(gprof, *args):
    """Run gprof.  @return what it prints."""
    done = subprocess.run([gprof, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, errors="replace")
    if done.returncode:
        raise RuntimeError(f"gprof {' '.join(args[:-1])}: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def flat(program, gmon, gprof="gprof"):
    """The flat profile: all functions of the program, also those that were not
    called, in the order of gprof."""
    found = []
    for line in run(gprof, "-b", "-p", "-z", program, gmon).split("\n"):
        match = ROW.match(line)
        if match:
            seconds, calls, name = match.groups()
            found.append(Function(name, float(seconds), int(calls) if calls else None))
    if not found:
        raise RuntimeError(f"{gmon}: gprof shows no function of {program}: is it of another build?")
    return found


def crossings(functions):
    """Calls by kind, as "calls" of --stats=json has them, without those of 0."""
    calls = {}
    for function in functions:
        if function.kind and function.calls:
            calls[function.kind] = calls.get(function.kind, 0) + function.calls
    return calls
