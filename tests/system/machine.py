# SPDX-License-Identifier: MIT
"""The mounts and the audit of the machine that runs the tests."""
import json
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
# The audit of this machine: nothing above information, if its fstab is that of the tests.
result = gm.getmnt("audit", "--jsonl", program=program)
document = json.loads(result.out)
found = [f"{f['code']} {f['target']}: {f['message']}" for f in document["findings"] if f["severity"] != "info"]
gm.expect(result.status == (1 if found else 0), f"audit: status {result.status} {found} {result.err}")
if "GETMNT_TEST_FSTAB" in os.environ:
    gm.expect(not found, f"audit: {found}")
gm.done()
