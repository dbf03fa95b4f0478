# SPDX-License-Identifier: MIT
"""Ended by a signal in the middle of a walk: it dies of that signal, and what
it printed is no document that could be taken for whole."""
import json
import os
import signal
import time

import gm

root = gm.Root()
for i in range(300):
    for j in range(100):
        gm.mkdir(root / f"d/e{i}/f{j}")
gm.tmpfs(root / "z/m")
root.enter()
ended = 0
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
    for delay in (0.01, 0.03, 0.06):
        out = os.open("/tmp/out", os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        pid = gm.fork()
        if pid == 0:
            os.dup2(out, 1)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(gm.PROGRAM, [gm.PROGRAM, "-J", "--names=walk", "--algorithm=getmnt1"],
                      {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")})
        time.sleep(delay)
        os.kill(pid, number)
        _, status = os.waitpid(pid, 0)
        status = os.waitstatus_to_exitcode(status)
        with open("/tmp/out", encoding="utf-8") as f:
            text = f.read()
        os.close(out)
        if status == 0:
            json.loads(text)
            continue
        ended += 1
        gm.expect(status == -number, f"{number.name}: status {status}")
print(f"  {ended} of 12 ended by a signal")
gm.expect(ended, "none was ended")
gm.expect(os.listdir("/tmp") == ["out"], f"left behind: {os.listdir('/tmp')}")
gm.done()
