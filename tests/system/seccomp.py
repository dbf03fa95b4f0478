# SPDX-License-Identifier: MIT
"""Under a seccomp that answers EPERM, as old container runtimes do: to the
new system calls, and to statx as well."""
import ctypes
import os
import struct

import gm

if os.uname().machine != "x86_64":
    gm.skip("the filter is written for x86_64")
NR = {"openat2": 437, "statmount": 457, "listmount": 458, "statx": 332}


def forbid(names, error=1):
    """Install a filter under which these calls fail."""
    code = [(0x20, 0, 0, 0)]                                    # the number
    for i, name in enumerate(names):
        code.append((0x15, len(names) - i, 0, NR[name]))
    code += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050000 | error)]
    text = b"".join(struct.pack("=HBBI", *row) for row in code)
    buffer = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("@HxxxxxxP", len(code), ctypes.addressof(buffer))
    if gm.libc.prctl(38, 1, 0, 0, 0) or gm.libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


root = gm.Root()
gm.tmpfs(root / "a/b")
gm.tmpfs(root / "a/b/c/d")
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
gm.bind(gm.touch(root / "etc/file"), root / "etc/other")
root.enter()
RUNS = [run for run in gm.RUNS if run[2] == "mountinfo"]


def new_calls():
    forbid(["openat2", "statmount", "listmount"])
    gm.check("without the new calls", runs=RUNS)


def no_statx():
    forbid(["openat2", "statmount", "listmount", "statx"])
    # Names may not be wrong; what cannot be known is told.
    gm.check("without statx", runs=RUNS, strict=False)
    result = gm.getmnt("-J", "-l")
    gm.expect(result.status == 0, f"without statx: status {result.status}: {result.err[-300:]}")


gm.in_child(new_calls)
gm.in_child(no_statx)
gm.done()
