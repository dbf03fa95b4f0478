# SPDX-License-Identifier: MIT
"""findmnt --verify and getmnt audit on the same fstab files.

Each row is an fstab with or without a known fault.  docs/VERIFY.md has the findings of both programs;
make compare-verify updates it.  The findings of getmnt are checked here, whatever findmnt prints."""
import json
import os
import re
import subprocess

import gm

gm.need_fs("ext4")
gm.need("findmnt", "mkfs.ext4", "mkswap", "losetup", "blkid", "mount", "umount")
DOC = os.path.join(os.path.dirname(__file__), "../../docs/VERIFY.md")
root = gm.Root()
gm.devices(root.path)   # its links are not the machine's
for program in ("findmnt", "mkfs.ext4", "mkswap", "losetup", "blkid", "umount", "true"):
    gm.install(program, root.path)
for name in ("etc", "a", "a/b", "data", "home", "low", "run/mount", "two words", "m"):
    gm.mkdir(root / name)
for name in ("mount.nfs", "mount.ceph", "fsck.ext4"):
    gm.touch(root / f"sbin/{name}", "")
gm.touch(root / f"lib/modules/{os.uname().release}/modules.alias", "# a kernel that has no modules\n")
gm.touch(root / f"lib/modules/{os.uname().release}/modules.dep", "")
doc = os.open(DOC, os.O_RDWR) if os.access(DOC, os.W_OK) else None
root.enter()

def device(name, *made):
    """A loop device by a name that stays."""
    loop = gm.run("losetup", "-f", "--show", gm.image(f"/{name}.img", 16 << 20, *made)).strip()
    link = "/dev/disk/by-uuid/" + gm.run("blkid", "-p", "-o", "value", "-s", "UUID", loop).strip()
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(loop, link)
    return loop, link


(DISK_LOOP, DISK), (SWAP_LOOP, SWAP) = device("disk", "mkfs.ext4", "-q", "-F", "-L", "data"), device("swap", "mkswap", "-q")
BLANK_LOOP, BLANK = gm.run("losetup", "-f", "--show", gm.image("/blank.img", 16 << 20, "true")).strip(), "/dev/disk/by-id/blank"
os.makedirs(os.path.dirname(BLANK), exist_ok=True)
os.symlink(BLANK_LOOP, BLANK)
GONE = "01234567-89ab-cdef-0123-456789abcdef"

# Number of findmnt's defect (b) or check (v), what it is, the lines, and whether something is wrong; for what is, the codes.
ROWS = [
    ("", "a disk, a swap space, a tmpfs, a bind", f"{DISK} /data ext4 nofail 0 2\n{SWAP} none swap sw 0 0\n"
     "tmpfs /a/b tmpfs size=1m 0 0\n/low /home none bind 0 0\n", None),
    ("", "a line of two fields", f"{DISK} /data\n{DISK}\n", "FSTAB-SYNTAX"),
    ("", "a line above the one that it needs", f"tmpfs /a/b tmpfs defaults 0 0\n{DISK} /a ext4 defaults 0 2\n", "FSTAB-ORDER"),
    ("b1", "`/` after a directory below it", f"tmpfs /home tmpfs defaults 0 0\n{DISK} / ext4 defaults 0 1\n", "FSTAB-ORDER (info)"),
    ("", "two lines of one mount point", f"{DISK} /data ext4 defaults 0 2\ntmpfs /data tmpfs defaults 0 0\n", "FSTAB-DUP-TARGET"),
    ("b11", "two lines of one place, of which one is for another day", f"{DISK} /data ext4 nofail 0 2\ntmpfs /data tmpfs noauto 0 0\n", None),
    ("", "a disk that is not there", "/dev/gone /data ext4 defaults 0 2\n", "FSTAB-SRC-MISSING"),
    ("b2", "a disk that is not there, and may be", "/dev/gone /data ext4 nofail 0 2\n", None),
    ("", "a stick that is not there, with `noauto`", f"UUID={GONE} /data ext4 noauto,user 0 0\n", None),
    ("b3", "a bind of a directory that is not there", "/no/such /data none bind 0 0\n", "FSTAB-BIND-SRC"),
    ("b4", "`bogusopt`", f"{DISK} /data ext4 nofail,bogusopt 0 2\n", "FSTAB-OPT-UNKNOWN"),
    ("b4", "`noexc`", f"{DISK} /data ext4 nofail,noexc 0 2\n", "FSTAB-OPT-TYPO"),
    ("b4", "`defautls,noaouto`", f"{DISK} /data ext4 defautls,noaouto 0 2\n", "FSTAB-OPT-TYPO"),
    ("b5", "`ro,rw`", f"{DISK} /data ext4 nofail,ro,rw 0 2\n", "FSTAB-OPT-CONFLICT"),
    ("b5", "`size=1m,size=2m`", "tmpfs /data tmpfs size=1m,size=2m 0 0\n", "FSTAB-OPT-CONFLICT"),
    ("b6", "a check of a bind", "/low /data none bind 0 2\n", "FSTAB-PASSNO"),
    ("b6", "dump 7, pass 9", f"{DISK} /data ext4 nofail 7 9\n", "FSTAB-PASSNO"),
    ("b7", "an overlay without its lower directory", "overlay /data overlay lowerdir=/nosuch,upperdir=/low,workdir=/a 0 0\n", "FSTAB-OVERLAY-DIR"),
    ("b8", "`discard=o` of a swap space", f"{SWAP} none swap discard=o 0 0\n", "FSTAB-SWAP"),
    ("b8", "`pri=99999999` of a swap space", f"{SWAP} none swap pri=99999999 0 0\n", "FSTAB-SWAP"),
    ("b8", "two swap spaces on `none`", f"{SWAP} none swap sw 0 0\n/dev/gone none swap sw,nofail 0 0\n", None),
    ("b9", "an escape of two digits", f"{DISK} /two\\04words ext4 nofail 0 2\n", "FSTAB-ESCAPE"),
    ("b9", "a bind of a name in quotes", '"/low" /data none bind 0 0\n', "FSTAB-ESCAPE"),
    ("", "a blank, escaped", f"{DISK} /two\\040words ext4 nofail 0 2\n", None),
    ("b10", "a blank between options", f"{DISK} /data ext4 nofail, noatime 0 2\n", "FSTAB-SYNTAX"),
    ("v15", "a directory in place of a disk", "/low /data ext4 defaults 0 2\n", "FSTAB-SRC-MISSING"),
    ("v15", "a directory in place of a swap space", "/low none swap sw 0 0\n", "FSTAB-SRC-MISSING"),
    ("v16", "`/dev/null` in place of a disk", "/dev/null /data ext4 defaults 0 2\n", "FSTAB-SRC-MISSING"),
    ("v18", "`none` without `bind`", "/low /data none defaults 0 0\n", "FSTAB-TYPE-UNSUPPORTED"),
    ("v20", "a disk that holds nothing", f"{BLANK} /data auto defaults 0 0\n", "FSTAB-TYPE-MISMATCH"),
    ("", "`bnid`", "/low /data none bnid 0 0\n", "FSTAB-OPT-TYPO"),
    ("", "a type that there is not", f"{DISK} /data ext5 nofail 0 2\n", "FSTAB-TYPE-UNSUPPORTED"),
    ("b14", "ceph, which is no path of this system", "10.0.0.1:6789:/ /data ceph noauto,name=x 0 0\n", None),
    ("", "a mount point by a relative name", f"{DISK} data ext4 nofail 0 2\n", "FSTAB-SYNTAX"),
    ("b18", "a line of what is mounted with other options", "tmpfs /m tmpfs size=2m,mode=0700 0 0\n", "DRIFT-OPTIONS"),
    ("b18", "a line that is not mounted", "tmpfs /home tmpfs size=1m 0 0\n", "DRIFT-NOT-MOUNTED"),
    ("b24", "a UUID without `UUID=`", f"{GONE} /data ext4 defaults 0 2\n", "FSTAB-SRC-MISSING"),
    ("", "an empty file", "", None),
    ("", "comments alone", "# nothing\n\n", None),
]
VERSION = subprocess.run(["findmnt", "--version"], stdout=subprocess.PIPE, check=True).stdout.decode().split()[-1]


def findmnt(text):
    """The errors and warnings of findmnt."""
    gm.touch("/etc/tried", text)
    result = subprocess.run(["findmnt", "--verify", "--tab-file", "/etc/tried"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=gm.null, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, timeout=60, check=False)
    found = [row.strip() for row in result.stdout.decode(errors="replace").split("\n")]
    return [row for row in found if re.match(r"\[[EW]\]|.*parse error at line|.*can't read", row)]


def getmnt(text, only, info):
    """The codes of getmnt's findings above information, or of these codes."""
    gm.touch("/etc/tried", text)
    result = gm.getmnt("audit", "--json", "--fstab=/etc/tried", f"--only={only}", "--config=none")
    gm.expect(result.status in (0, 1), f"{text!r}: {result.status} {result.err}")
    findings = json.loads(result.out)["findings"]
    if info:
        gm.expect(all(f["severity"] == "info" for f in findings), f"{text!r}: {findings}")
        return sorted({f["code"] + " (info)" for f in findings})
    return sorted({f["code"] for f in findings if f["severity"] != "info"})


def cell(told, wrong, right):
    if wrong:
        return f"{', '.join(told)}" if right else ("**nothing**" if not told else f"**another**: {', '.join(told)}")
    return "nothing" if not told else f"**{', '.join(told)}**"


def plain(text):
    """Without what differs from run to run."""
    return text.replace(DISK, "DISK").replace(SWAP, "SWAP").replace("|", "\\|")


gm.tmpfs("/m", "size=1m,mode=0700", source="tmpfs")
table, missed, cried = [], 0, 0
for number, what, lines, code in ROWS:
    theirs = findmnt(lines)
    if what.startswith("a line of what is mounted"):
        ours = getmnt(lines, "FSTAB-*,DRIFT-OPTIONS", False)
    else:
        ours = getmnt(lines, "FSTAB-*,DRIFT-NOT-MOUNTED" if code == "DRIFT-NOT-MOUNTED" else "FSTAB-*", code and "info" in code)
    gm.expect(ours == ([code] if code else []), f"{what}: {ours}, not {code}")
    short = sorted({plain(re.sub(r"^\[([EW])\] +", r"\1: ", row)) for row in theirs})
    missed += bool(code) and not theirs
    cried += not code and bool(theirs)
    table.append([number, what, cell(short, code, theirs), cell([f"`{name}`" for name in ours], code, code in ours)])
gm.run("umount", "/m")
for loop, link in ((DISK_LOOP, DISK), (SWAP_LOOP, SWAP), (BLANK_LOOP, BLANK)):
    os.unlink(link)
    gm.run("losetup", "-d", loop)

text = "".join("| " + " | ".join(row) + " |\n" for row in
               [["", "what the fstab has", "`findmnt --verify`", "`getmnt audit`"], ["---"] * 4, *table])
text = f"findmnt of util-linux {VERSION}:\n\n{text}"
BEGIN, END = "<!-- made by make compare-verify -->\n", "<!-- until here -->\n"
page = os.read(doc, 1 << 20).decode() if doc is not None else ""
before, _, rest = page.partition(BEGIN)
old, _, after = rest.partition(END)
if os.environ.get("GETMNT_UPDATE"):
    new = (before + BEGIN + text + END + after).encode()
    os.pwrite(doc, new, 0)
    os.ftruncate(doc, len(new))
    print(text)
elif old.partition(":")[0] == text.partition(":")[0]:
    for want, got in zip(old.split("\n"), text.split("\n")):
        gm.expect(want == got, f"docs/VERIFY.md has {want}, and it is {got}: make compare-verify writes it")
    gm.expect(old.count("\n") == text.count("\n"), "docs/VERIFY.md has another number of lines")
else:
    print(f"  docs/VERIFY.md is of another findmnt than {VERSION}; only what is said of getmnt is compared")
print(f"  {len(table)} fstabs; findmnt says nothing of {missed} faults, and cries at {cried} that have none")
gm.done()
