# SPDX-License-Identifier: MIT
"""This machine's own mounts, where the suite runs."""
import os

import gm

program = os.environ["GETMNT"]
blocking = (b"fuse", b"fuseblk", b"nfs", b"nfs4", b"9p", b"autofs", b"cifs", b"virtiofs", b"zfs")
lines = gm.oracle()
gm.expect(lines, "no mounts")
untouched = [line.point for line in lines
             if line.fstype in blocking or line.fstype.startswith(b"fuse.")]
lines = gm.oracle(untouched)
for names, algorithm, source in gm.ONE_EACH:
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--names=" + names,
                       "--algorithm=" + algorithm, "--kernel=" + source, program=program)
    gm.compare(f"machine: {names} {source}", names, lines, result, untouched)
ids = set(gm.ids_of(gm.getmnt("-J", program=program).rows()))
gm.expect(ids == {line.id for line in lines}, "-J does not account for every line")
gm.done()
