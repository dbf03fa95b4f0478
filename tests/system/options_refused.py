# SPDX-License-Identifier: MIT
"""Options that sshfs refuses by name, and options that it accepts: audit reports the same."""
import json
import os
import subprocess

import gm

gm.need("sshfs")
WORK = gm.Root().path
gm.mkdir(f"{WORK}/d")


def reported(lines):
    """For each line (source, type, options): the codes of its findings about options, as "TYPO warning"."""
    gm.touch(f"{WORK}/fstab", "".join(f"{source} /d{i} {fstype} noauto,{options} 0 0\n"
                                      for i, (source, fstype, options) in enumerate(lines)))
    result = gm.getmnt("audit", "--static", f"--fstab={WORK}/fstab", "--json", program=os.environ["GETMNT"])
    codes = [set() for _ in lines]
    for finding in json.loads(result.out)["findings"]:
        if finding["code"].startswith("FSTAB-OPT-"):
            codes[int(finding["target"][2:])].add(f"{finding['code'][10:]} {finding['severity']}")
    return codes


def sshfs_accepts(option):
    """Whether sshfs knows an option: it checks all options before it runs the ssh command."""
    words = ("sshfs", "-o", f"ssh_command=/bin/false,{option}", "u@h:/", f"{WORK}/d")
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=gm.RUN_SECONDS, check=False)
    gm.expect(result.returncode != 0, f"{words}: {result}")
    return b"unknown option" not in result.stderr


SSHFS = {
    "port=22": True, "PORT=22": True, "Port=22": True, "prot=22": False,
    "identityfile=/k": True, "IDENTITYFILE=/k": True, "identifyfile=/k": False,
    "serveraliveinterval=15": True, "serverAliveCountMax=3": True, "serveraliveintervall=15": False,
    "stricthostkeychecking=no": True, "userknownhostsfile=/dev/null": True, "batchMode=yes": True,
    "proxyjump=j": True, "connecttimeout=5": True, "compression=yes": True,
    "reconnect": True, "Reconnect": False, "allow_other": True, "Allow_Other": False,
}
for fstype in ("fuse.sshfs", "sshfs"):
    found = reported([("u@h:/", fstype, option) for option in SSHFS])
    for (option, accepted), codes in zip(SSHFS.items(), found):
        gm.expect(codes == (set() if accepted else {"TYPO warning"}), f"{fstype} {option}: {codes}")
for option, accepted in SSHFS.items():
    gm.expect(sshfs_accepts(option) == accepted, f"sshfs -o {option}: accepted is not {accepted}")
gm.done()
