# SPDX-License-Identifier: MIT
"""Memory runs out in a library: each allocation of a run fails, one in each run.  The output is the
same as usual, or an error is reported.  A good line of an fstab is not called damaged, and no column
is left empty."""
import os
import shutil

import gm

if gm.sanitized():
    gm.skip("a sanitizer has allocation functions of its own")
NOMEM = os.path.join(os.path.dirname(os.environ["GETMNT"]), "tests/lib/nomem.so")
if not os.path.exists(NOMEM):
    gm.skip("tests/lib/nomem.so is not built")
root = gm.Root(sysfs=False)
shutil.copy(NOMEM, root / "nomem.so")
gm.tmpfs(root / "a/b")
gm.touch(root / "etc/fstab", "tmpfs /a/b tmpfs size=64m 0 0\n/dev/sda1 /gone ext4 nofail 0 2\n")
gm.touch(root / "etc/mtab", "tmpfs /a/b tmpfs rw 0 0\n")
root.enter()

for args in (("fstab", "--merge", "--diff", "--fix=damaged"), ("recover", "--print"),
             ("-s", "-l"), ("-l", "-o", "TARGET,SOURCE,FSTYPE,OPTIONS"), ("-H",), ("-J",), ("-P", "-o", "TARGET,SOURCES,UUID,SIZE"),
             ("audit", "--only=FSTAB-SYNTAX,FSTAB-SRC-MISSING,FSTAB-TGT-MISSING"),
             ("find", "--threads=1", "/etc", "/a", "-depth", "(", "-name", "*tab", "-o", "-size", "+9", ")", "-printf", "%p %u %T+ %Y %Z\n",
              "-ls", "-fprint", "/tmp/out", "-exec", "/none", "x{}", ";", "-o", "-execdir", "/none", "{}", "+"),
             ("find", "--threads=1", "/etc", "/a", "-type", "d", "-exec", "/none", ";", "-prune", "-o", "-print0"),
             ("search", "--threads=1", "--sort=-MTIME", "--top=5", "-o", "SIZE,XATTR,LINK,PATH", "*", "/etc", "/a"),
             ("search", "--threads=1", "--usage=2", "--usage-by=user", "-J", "*", "/etc", "/a"),
             ("search", "--threads=1", "--sort=PATH", "*", "/etc", "/a", "--exec-batch", "/none", "{}", "x")):
    usual = gm.getmnt(*args, env={"LD_PRELOAD": "/nomem.so", "NOMEM_COUNT": "/tmp/count"})
    count = int(gm.read("/tmp/count"))
    gm.expect(count > 30, f"{args}: {count} allocations: nothing is tried")
    for at in range(1, count + 1):
        result = gm.getmnt(*args, env={"LD_PRELOAD": "/nomem.so", "NOMEM_AT": str(at)})
        same = (result.status, result.out, result.err) == (usual.status, usual.out, usual.err)
        gm.expect(same or result.err != usual.err or result.status != usual.status,
                  f"{args}, allocation {at} of {count}: {result.status}: {result.out[-200:]}")
        failed = 2 if args[0] in ("audit", "fstab", "recover") else 1
        gm.expect(same or result.out == usual.out or result.status >= failed,
                  f"{args}, allocation {at} of {count}: status {result.status}: {result.out[-200:]} {result.err[-200:]}")
        gm.expect(b"is no line of fstab" not in result.out + result.err, f"{args}, {at}: {result.out} {result.err}")
gm.done()
