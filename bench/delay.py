#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow connection: run a command, and delay what goes in and out of it.

    bench/delay.py MILLISECONDS [--count FILE] COMMAND [ARGUMENT ...]

Each byte arrives half of the round trip later, in both directions; nothing else is limited.  With
--count, a line is added to FILE at the end: the number of round trips, which is how often the
direction changed from out to in.  As --rsh of getmnt and as ssh_command of sshfs it stands for a
server that is MILLISECONDS away.
"""
import collections
import os
import select
import subprocess
import sys
import time

ROOM = 1 << 20      # bytes on the way, in each direction


class Way:
    """One direction."""

    def __init__(self, source, sink, delay):
        self.source, self.sink, self.delay = source, sink, delay
        self.waiting = collections.deque()      # (when it arrives, bytes)
        self.size = 0
        self.ended = False

    def take(self):
        """Read what there is.  Returns whether it was anything."""
        data = os.read(self.source, 1 << 16)
        if data:
            self.waiting.append((time.monotonic() + self.delay, data))
            self.size += len(data)
        self.ended = not data
        return bool(data)

    def due(self):
        """Seconds until the next bytes arrive, or None."""
        return max(0, self.waiting[0][0] - time.monotonic()) if self.waiting else None

    def give(self):
        """Write what has arrived.  Returns False if nobody reads."""
        try:
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                data = self.waiting.popleft()[1]
                self.size -= len(data)
                while data:
                    data = data[os.write(self.sink, data):]
        except BrokenPipeError:
            return False
        return True


def run(delay, count, argv):
    """Returns the status of the command."""
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out = Way(0, child.stdin.fileno(), delay / 2)
    back = Way(child.stdout.fileno(), 1, delay / 2)
    trips, last = 0, None
    while not (back.ended and not back.waiting):
        reading = [way.source for way in (out, back) if not way.ended and way.size < ROOM]
        dues = [due for due in (out.due(), back.due()) if due is not None]
        ready = select.select(reading, [], [], min(dues) if dues else None)[0]
        for way in (out, back):
            if way.source in ready and way.take():
                trips += way is back and last is out
                last = way
            if not way.give():
                way.ended = True
                way.waiting.clear()
        if out.ended and not out.waiting and child.stdin:
            child.stdin.close()
            child.stdin = None
    if count:
        with open(count, "a", encoding="ascii") as file:
            file.write(f"{trips}\n")
    return child.wait()


def main():
    """The command line."""
    argv = sys.argv[1:]
    if len(argv) < 2:
        sys.exit(__doc__)
    delay, count = float(argv.pop(0)) / 1000, None
    if argv[0] == "--count":
        count, argv = argv[1], argv[2:]
    sys.exit(run(delay, count, argv))


if __name__ == "__main__":
    main()
