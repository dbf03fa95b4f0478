# SPDX-License-Identifier: MIT
"""What systemd's fstab generator and getmnt audit --static make of an fstab."""
import os
import subprocess

import gm

GENERATOR = "/usr/lib/systemd/system-generators/systemd-fstab-generator"
HAVE_GENERATOR = os.path.exists(GENERATOR)


def need_generator():
    """Skip the case where the generator is missing."""
    if not HAVE_GENERATOR:
        gm.skip("there is no systemd-fstab-generator")


def generate(fstab, where):
    """Make units of an fstab in a new directory.  Returns the directory of the usual units, the status of the
    generator, and its messages."""
    dirs = [gm.mkdir(f"{where}/{name}") for name in ("normal", "early", "late")]
    proc = subprocess.run([GENERATOR, *dirs], stdin=gm.null, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SYSTEMD_FSTAB": fstab, "SYSTEMD_LOG_TARGET": "console"})
    return dirs[0], proc.returncode, proc.stdout.decode(errors="replace")


def static_findings(fstab, *args, program=os.environ["GETMNT"]):
    """The findings of getmnt audit --static in an fstab."""
    return gm.getmnt("audit", "--static", f"--fstab={fstab}", "--json", *args, program=program).json()["findings"]
