# SPDX-License-Identifier: MIT
"""A program with privileges of its own: what its caller sets in the environment neither
switches off a protection nor names a file to be read."""
import os
import shutil

import gm

root = gm.Root()
gm.touch(root / "etc/fstab", "tmpfs /a tmpfs defaults 0 0\n")
secret = gm.touch(root / "secret", "hidden /b tmpfs defaults 0 0\n")
os.chmod(secret, 0o600)
root.enter()
shutil.copy(gm.PROGRAM, "/bin/privileged")
os.chmod("/bin/privileged", 0o4755)
DISABLE = {"GETMNT_DISABLE": "openat2,listmount"}
TABLES = {"LIBMOUNT_FSTAB": "/secret", "LIBMOUNT_MTAB": "/secret"}


def both(*args, env):
    """What an ordinary user sees of the plain program, and of the privileged one."""
    results = [gm.getmnt(*args, env=env, program=program, uid=65534)
               for program in (gm.PROGRAM, "/bin/privileged")]
    return [result.out + result.err for result in results]


plain, privileged = both("--version", env=DISABLE)
gm.expect(b"switched off" in plain and b"switched off" not in privileged, f"--version: {plain} {privileged}")
has_openat2 = b", openat2" in privileged
# search() of the library reads the variable itself.
plain, privileged = both("search", "--stats", "*", "/etc", env=DISABLE)
gm.expect(b" openat2 " not in plain and (b" openat2 " in privileged) == has_openat2,
          f"search: {plain} {privileged}")
for option in ("-s", "-m"):
    plain, privileged = both(option, "-l", env=TABLES)
    gm.expect(b"/secret: cannot be read" in plain and b"hidden" not in privileged
              and b"/secret" not in privileged, f"{option}: {plain} {privileged}")
gm.done()
