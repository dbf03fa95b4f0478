# SPDX-License-Identifier: MIT
"""The limit on mounts, which is of the whole machine, is given back by the tests
that raise it, however they end; and what another set meanwhile is left."""
import fcntl
import os
import signal
import time

import gm
import hosts

probe = hosts.MountMax(0)
if not os.access(probe.PATH, os.W_OK):
    gm.skip(f"{probe.PATH} cannot be written")
# Another run of this case may be under way.
lock = os.open(probe.PATH, os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
had = probe.read()


def raised(end):
    """Raise it in a process, end that in some way.  @return (within, behind)."""
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with hosts.MountMax(had):
                os.write(tell, str(probe.read()).encode())
                end()
        except ValueError:
            pass
        finally:
            os._exit(0)
    within = int(os.read(told, 20))
    os.waitpid(pid, 0)
    return within, probe.read()


def fail():
    raise ValueError


def killed():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(20)


def another():
    probe.write(had + 5)


gm.expect(raised(lambda: None) == (had + 1000, had), "it ended")
gm.expect(raised(fail) == (had + 1000, had), "by an exception")
gm.expect(raised(killed) == (had + 1000, had), "by SIGTERM")
gm.expect(raised(another) == (had + 1000, had + 5), "another set it")
probe.write(had)
with hosts.MountMax(had - 2000):
    gm.expect(probe.read() == had, "it was raised without need")
gm.done()
