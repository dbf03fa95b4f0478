# SPDX-License-Identifier: MIT
"""What src/fstab/order.h says of the order of lines, against mount -a and systemd.

Random fstabs, right and then with lines moved or made noauto.  mount -a mounts each of them in a
small root; what a line mounts there is known by the name of a file in it.  systemd's generator makes
units of others, and systemd-analyze looks for ordering cycles among them."""
import os
import random
import shutil
import subprocess
import tempfile

import gm
from fstabs import HAVE_GENERATOR, generate, static_findings
from tables import mounting_root, sh

ORDERS = os.path.join(os.path.dirname(os.environ["GETMNT"]), "tests/lib/orders")
if not os.path.exists(ORDERS):
    gm.skip("tests/lib/orders is not built")
gm.need_fs("ext4", "overlay")
gm.need("mkfs.ext4", "mount", "umount")
SEED = int(os.environ.get("GETMNT_SEED", "1"))
TRIES = int(os.environ.get("GETMNT_TRIES", "60"))
chance = random.Random(SEED)


def orders(files):
    """By file: whether mount -a mounts each line, by its number; and the findings."""
    out = subprocess.run([ORDERS, *files], stdout=subprocess.PIPE, check=True).stdout.decode()
    mounts, findings = {name: {} for name in files}, {name: [] for name in files}
    for name, word, line, other in (row.split() for row in out.splitlines()):
        if word == "mount":
            mounts[name][int(line)] = other == "yes"
        else:
            findings[name].append((word, int(line), int(other)))
    return mounts, findings


# systemd.

def systemd_line(place, places):
    """A line of a place, that names others; of a place without a line systemd would drop the job."""
    options = []
    if chance.random() < 0.2:
        options.append(chance.choice(["nofail", "_netdev", "noauto", "x-systemd.automount", "noauto,x-systemd.automount", "comment=systemd.automount"]))
    if chance.random() < 0.25:
        other = chance.choice(places)
        options.append(chance.choice([f"x-systemd.requires={other}", f"x-systemd.after={other[1:].replace('/', '-')}.mount",
                                      f"x-systemd.before={other}", f"x-systemd.requires-mounts-for={other}/x"]))
    kind = chance.randrange(4)
    if kind == 0:
        return " ".join(["nas:/x", place, "nfs", ",".join(options) or "rw"])
    if kind == 1:
        return " ".join(["t", place, "tmpfs", ",".join(options) or "rw"])
    return " ".join([chance.choice(PLACES) + "/s", place, "none", ",".join(["bind"] + options)])


PLACES = [f"/g{i}" for i in range(4)] + ["/g0/a", "/g0/a/b", "/g1/a", "/g2/a"]
# As little of a system as has the order of one.
UNITS = {
    "local-fs-pre.target": "", "local-fs.target": "DefaultDependencies=no\nAfter=local-fs-pre.target",
    "remote-fs-pre.target": "", "remote-fs.target": "DefaultDependencies=no\nAfter=remote-fs-pre.target",
    "swap.target": "DefaultDependencies=no", "network.target": "", "umount.target": "",
    "sysinit.target": "Wants=local-fs.target swap.target\nAfter=local-fs.target swap.target",
    "basic.target": "Requires=sysinit.target\nAfter=sysinit.target", "shutdown.target": "DefaultDependencies=no",
    "network-online.target": "Wants=net.service\nAfter=network.target net.service",
    "net.service": "Before=network-online.target\n[Service]\nType=oneshot\nExecStart=/bin/true",
    "default.target": "Requires=basic.target\nWants=remote-fs.target\nAfter=basic.target remote-fs.target",
}


def cycle(fstab, units, made):
    """What systemd says of the units of an fstab, if they have an ordering cycle; where the generator puts them."""
    made = generate(fstab, made)[0]
    out = subprocess.run(["systemd-analyze", "--man=no", "verify", "default.target"], stdin=gm.null, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, check=False,
                         env={"PATH": "/usr/bin:/bin", "SYSTEMD_UNIT_PATH": f"{made}:{units}"}).stdout.decode()
    return (out if "ordering cycle" in out else ""), made


def judge_systemd(top, units):
    files, cycles, found = [], 0, {}
    for number in range(TRIES):
        places = chance.sample(PLACES, chance.randrange(2, 7))
        files.append(f"{top}/{number}")
        gm.touch(files[-1], "".join(systemd_line(place, places) + " 0 0\n" for place in places))
        found[files[-1]] = cycle(files[-1], units, f"{top}/made/{number}")[0]
    findings = orders(files)[1]
    for name in files:
        faults = [row for row in findings[name] if row[0] in ("cycle", "deadlock")]
        cycles += bool(faults)
        with open(name, encoding="ascii") as file:
            gm.expect(bool(faults) == bool(found[name]), f"{name}: {faults}, and systemd says {found[name]}\n{file.read()}")
    gm.expect(TRIES / 8 < cycles < TRIES, f"{cycles} fstabs with a cycle")
    print(f"  systemd: {TRIES} fstabs, {cycles} with a cycle")


NFS, CIFS, DISK = "192.0.2.1:/p /p nfs defaults 0 0\n", "//s/p /p cifs defaults 0 0\n", "/dev/vdb1 /p ext4 _netdev 0 0\n"
AUTO = "192.0.2.1:/p /p nfs noauto,x-systemd.automount 0 0\n"
OVERLAY, FOR = "o /x overlay lowerdir=/p/l,upperdir=/p/u,workdir=/p/w", ",x-systemd.requires-mounts-for=/p"
# Lines; the options that make systemd mount the last line after /p; whether systemd sees its need without them.
NETWORK = [(above + line, options, seen) for above in (NFS, CIFS, DISK, AUTO) for line, options, seen in (
    ("/p/x /x none bind", ",_netdev", True), ("/p/i /x ext4 loop", ",_netdev", True), ("/p/i /x ext4 ro", ",_netdev" + FOR, True),
    ("/dev/vdc1 /p/x ext4 defaults", ",_netdev", True), (OVERLAY, ",_netdev" + FOR, False),
    ("/p:/l /x fuse.mergerfs defaults", ",_netdev" + FOR, False),
    ("bindfs#/p/l /x fuse defaults", ",_netdev" + FOR, False), ("x /x fuse.unionfs-fuse dirs=/p/l=RW:/l=RO", ",_netdev" + FOR, False),
    ("x /x fuse.fuse-overlayfs lowerdir=/p/l,upperdir=/p/u,workdir=/p/w", ",_netdev" + FOR, False),
    # Of the whole source as one path systemd sees the first directories.
    ("/p/a:/p/b /x fuse.mergerfs defaults", ",_netdev" + FOR, True))]


def judge_network(top, units):
    """What needs the network: it is found, and the options that getmnt audit names are right."""
    for number, (text, options, seen) in enumerate(NETWORK):
        name = f"{top}/network{number}"
        unit = ("p-x" if " /p/x " in text else "x") + ".mount"
        texts = {"": text, "fixed": text + options, "after": text + options + ",x-systemd.before=/p", "hidden": text + ",_netdev,x-systemd.before=/p"}
        for kind, lines in texts.items():
            gm.touch(name + kind, lines + " 0 0\n")
        found = {kind: cycle(name + kind, units, f"{name}made{kind}") for kind in texts}
        findings = orders([name, name + "fixed"])[1]
        late = "/local-fs.target.requires/" + unit
        gm.expect([row for row in findings[name] if row[:2] == ("deadlock", 2)], f"no finding: {text}")
        gm.expect(bool(found[""][0]) == seen and os.path.lexists(found[""][1] + late), f"{text}: {found['']}")
        gm.expect(not found["fixed"][0] and not os.path.lexists(found["fixed"][1] + late), f"{text}{options}: {found['fixed']}")
        gm.expect(not [row for row in findings[name + "fixed"] if row[1] == 2], f"{text}{options}: {findings[name + 'fixed']}")
        # A line that is after /p makes a cycle if it is to be before.
        gm.expect(bool(found["after"][0]), f"{text}{options}: not after /p")
        gm.expect(bool(found["hidden"][0]) == (FOR not in options), f"{text}: _netdev alone: {found['hidden']}")
    print(f"  systemd: {len(NETWORK)} lines that need the network")


AUTOMOUNTS = ["/dev/vdc1 /p/x ext4 x-systemd.automount", "/dev/vdc1 /p/x ext4 comment=systemd.automount", "//s/x /p/x cifs noauto,x-systemd.automount", "/dev/vdc1 /p/x ext4 nofail,x-systemd.automount"]


def judge_automounts(top, units):
    """An automount below what needs the network: _netdev does not help, a plain mount does."""
    for number, (above, line) in enumerate((above, line) for above in (NFS, DISK, AUTO) for line in AUTOMOUNTS):
        name = f"{top}/automount{number}"
        option = "comment=systemd.automount" if "comment" in line else "x-systemd.automount"
        plain = line.replace("noauto,", "").replace(option, "_netdev")
        for kind, text, wrong in (("", line, True), ("netdev", line + ",_netdev", True), ("plain", plain, False)):
            gm.touch(name + kind, above + text + " 0 0\n")
            found = cycle(name + kind, units, f"{name}made{kind}")[0]
            hints = [row["hint"] for row in static_findings(name + kind, "--only=FSTAB-ORDER")]
            gm.expect(bool(found) == wrong, f"{above}{text}: systemd says {found}")
            gm.expect(len(hints) == wrong and all(hint.startswith("remove " + option) for hint in hints), f"{above}{text}: {hints}")
    print(f"  systemd: {number + 1} automounts below what needs the network")


# Mount points, options of a line with a layer there, and whether systemd mounts it after them.
BLANK, QUOTE, SLASH, COMMA = "/my\\040disk", "/it's", "/b\\134x", "/c,x"
WORDS = [(point, "x-systemd.requires" + option, ordered) for point, option, ordered in (
    (BLANK, f"-mounts-for={BLANK}", False), (BLANK, f'-mounts-for="{BLANK}"', True), (BLANK, f"-mounts-for='{BLANK}'", True),
    (BLANK, "-mounts-for=/my\\134\\040disk", True), (BLANK, "-mounts-for=/my\\134\\134\\040disk", True),
    (COMMA, "-mounts-for=/c\\134,x", True), (BLANK, "-mounts-for=/my\\134x20disk", False),
    (BLANK, f"-mounts-for=/q\\040'{BLANK}'", True), (BLANK, f"-mounts-for='{BLANK}", False),
    (BLANK, f"={BLANK}", True), (BLANK, "=my\\134x20disk.mount", True), (BLANK, "=my\\134\\134x20disk.mount", True),
    (QUOTE, f"-mounts-for={QUOTE}", False), (QUOTE, f'-mounts-for="{QUOTE}"', True), (QUOTE, f"={QUOTE}", True),
    (SLASH, f"-mounts-for={SLASH}", False), (SLASH, "=b\\134x5cx.mount", True), (COMMA, "=c\\134x2cx.mount", True),
    ("/a%b", "-mounts-for=/a%b", True), ("/d", "-mounts-for=/q/../d", False), ("/t\\011x", "=/t\\011x", True))]


# Lines that are ordered against a target; whether systemd has a cycle.
TARGETS = [(line, wrong) for line, wrong in (
    ("/dev/vdb /d ext4 x-systemd.requires=network-online.target", True), ("/dev/vdb /d ext4 _netdev,x-systemd.requires=network-online.target", False),
    ("/dev/vdb /d ext4 nofail,x-systemd.requires=network-online.target", False), ("/srv/a /d none bind,x-systemd.requires=basic.target", True),
    ("/dev/vdb /d ext4 x-systemd.after=sysinit.target", True), ("/dev/vdb /d ext4 nofail,x-systemd.after=basic.target", False),
    ("/dev/vdb /d ext4 noauto,x-systemd.after=basic.target", False), ("/dev/vdb /d ext4 x-systemd.before=local-fs.target", False),
    ("s:/p /n nfs x-systemd.requires=network-online.target", False), ("s:/p /n nfs x-systemd.before=local-fs.target", True),
    ("s:/p /n nfs nofail,x-systemd.before=sysinit.target", True))]


def judge_targets(top, units):
    for number, (line, wrong) in enumerate(TARGETS):
        name = f"{top}/target{number}"
        gm.touch(name, line + " 0 0\n")
        found = cycle(name, units, name + "made")[0]
        told = static_findings(name, "--only=FSTAB-ORDER")
        gm.expect(bool(found) == wrong == bool(told), f"{line}: {told}, and systemd says {found}")
    print(f"  systemd: {len(TARGETS)} lines ordered against a target")


def judge_words(top, units):
    """How systemd reads the paths of an option."""
    for number, (point, option, ordered) in enumerate(WORDS):
        name = f"{top}/words{number}"
        gm.touch(name, f"t {point} tmpfs x-systemd.after=/o 0 0\no /o overlay lowerdir=/l:/m,{option} 0 0\n")
        found = cycle(name, units, name + "made")[0]
        faults = [row for row in orders([name])[1][name] if row[0] == "cycle"]
        gm.expect(bool(found) == ordered == bool(faults), f"{point} {option}: {faults}, and systemd says {found}")
    print(f"  systemd: {len(WORDS)} names of what a line waits for")


POINTS = """/dev /dev/shm /dev/shm/x /dev/pts /dev/hugepages /dev/mqueue /dev/console /dev/x /proc /proc/x /proc/sys /proc/sys/x /proc/kmsg
/proc/sys/kernel/random/boot_id /proc/sys/fs/binfmt_misc /sys /sys/fs/cgroup /sys/fs/cgroup/cpu/x /sys/fs/pstore /sys/fs/bpf /sys/fs/bpf/x
/sys/fs/selinux /sys/fs/smackfs /sys/kernel/security /sys/kernel/debug /sys/kernel/tracing /sys/kernel/config /sys/firmware/efi/efivars
/sys/fs/fuse/connections /selinux /run /run/lock /run/lock/x /run/user /run/host /run/host/x /run/x /tmp /var/tmp /usr /home""".split()


def judge_skipped(top):
    """The mount points whose lines systemd skips: its API file systems."""
    name, made = f"{top}/points", gm.mkdir(f"{top}/points-made")
    gm.touch(name, "".join(f"/dev/vdb{i} {point} ext4 defaults 0 0\n" for i, point in enumerate(POINTS)))
    made = cycle(name, top, made)[1]
    wheres = set()
    for unit in os.listdir(made):
        if unit.endswith(".mount"):
            with open(f"{made}/{unit}", encoding="ascii") as file:
                wheres.update(line[6:-1] for line in file if line.startswith("Where="))
    told = {row["target"] for row in static_findings(name, "--only=FSTAB-DUP-TARGET")}
    gm.expect(told == set(POINTS) - wheres, f"skipped: {sorted(told ^ (set(POINTS) - wheres))}")
    print(f"  systemd: {len(told)} of {len(POINTS)} mount points are skipped")


if HAVE_GENERATOR and shutil.which("systemd-analyze"):
    TOP = tempfile.mkdtemp()
    UNIT_DIR = gm.mkdir(f"{TOP}/units")
    for unit_name, unit_text in UNITS.items():
        gm.touch(f"{UNIT_DIR}/{unit_name}", f"[Unit]\n{unit_text}\n")
    judge_systemd(TOP, UNIT_DIR)
    judge_network(TOP, UNIT_DIR)
    judge_automounts(TOP, UNIT_DIR)
    judge_targets(TOP, UNIT_DIR)
    judge_words(TOP, UNIT_DIR)
    judge_skipped(TOP)
    shutil.rmtree(TOP)
else:
    print("  no systemd here: only mount -a is tried")

# mount -a.

root = mounting_root()
source = gm.mkdir(root / "tmp/source")
gm.touch(f"{source}/is-img")
gm.image(root / "img", 1 << 20, "mkfs.ext4", "-q", "-F", "-d", source)
DEEP = 3


def make(path, who, deep):
    """A directory of known contents."""
    gm.touch(f"{path}/is-{who}")
    if not path.endswith(("/x", "/y")):     # what is there if nothing is mounted has none
        os.link(root / "img", f"{path}/img")
    for name in ("x", "y", "s", "l"):
        if deep < DEEP:
            make(gm.mkdir(f"{path}/{name}"), f"{who}.{name}", deep + 1)


STORES = "ABCD"
for store in STORES:
    make(gm.mkdir(root / f"store/{store}"), store, 0)
# Some mount points exist in what is mounted below, too.
for place in range(8):
    gm.mkdir(root / f"p{place}")
    for name in ("x", "y", "s", "l", "x/x", "x/s", "x/l") if place % 2 else ():
        gm.mkdir(root / f"p{place}/{name}")
gm.install(ORDERS, root.path)
ORDERS = "/bin/orders"
root.enter()
KEEP = {line.point for line in gm.mountinfo()}


class Mount:
    """A line: fields, what is in it, how deep that has directories, and what else is in it."""

    def __init__(self, fields, who, deep, other=None):
        self.fields, self.who, self.deep, self.other = fields, who, deep, other


def random_lines():
    lines, free = [], list(range(8))
    for number in range(chance.randint(4, 9)):
        # Of mount points within others what is bound may be right though it is covered later.
        full = [line for line in lines if line.deep < DEEP and line.fields[1].count("/") == 1]
        above = [line for line in lines if line.deep < DEEP or line.who.startswith("t")]
        options = []
        target = f"/p{free.pop(chance.randrange(len(free)))}" if free else None
        if above and chance.random() < 0.45:
            parent = chance.choice(above)
            name = chance.choice("xy")
            if parent.who.startswith("t"):
                name = f"n{number}"
                options = ["X-mount.mkdir"]
            target = f"{parent.fields[1]}/{name}"
        if not target or any(line.fields[1] == target for line in lines):
            continue
        kind = chance.randrange(6) if full else chance.randrange(2)
        of, other = (chance.choice(full), chance.choice(full)) if full else (None, None)
        if kind == 0:
            lines.append(Mount([f"t{number}", target, "tmpfs", ["size=1m"] + options], f"t{number}", DEEP))
        elif kind == 1 or of is None:
            store = chance.choice(STORES)
            lines.append(Mount([f"/store/{store}", target, "none", ["bind"] + options], store, 0))
        elif kind <= 3:
            lines.append(Mount([f"{of.fields[1]}/s", target, "none", ["bind"] + options], f"{of.who}.s", of.deep + 1))
        elif kind == 4 and of.who != other.who:
            layers = f"lowerdir={of.fields[1]}/l:{other.fields[1]}/l"
            lines.append(Mount([f"o{number}", target, "overlay", [layers] + options], f"{of.who}.l", DEEP, f"{other.who}.l"))
        else:
            lines.append(Mount([f"{of.fields[1]}/img", target, "ext4", ["loop", "ro"] + options], "img", DEEP))
    return lines


def damage(lines):
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        lines.insert(chance.randrange(len(lines)), lines.pop(chance.randrange(len(lines))))
    if chance.random() < 0.1:
        chance.shuffle(lines)
    if chance.random() < 0.3:
        chance.choice(lines).fields[3].append(chance.choice(("noauto", "nofail", "noauto,auto")))
    return lines


def seen(line):
    """Whether a line's mount is what its mount point shows."""
    target = line.fields[1]
    if line.fields[2] == "tmpfs":
        try:
            fd = gm.open_path(target)
        except OSError:
            return False
        mount = gm.fd_mount(fd)
        os.close(fd)
        return any(row.id == mount and row.source == line.who.encode() and row.point == target.encode() for row in gm.mountinfo())
    return all(os.path.exists(f"{target}/is-{who}") for who in (line.who, line.other or line.who))


def right(lines):
    """Whether each line, and what it lies on, is seen."""
    by_target = {line.fields[1]: line for line in lines}
    good = {}
    for target in sorted(by_target, key=len):
        above = [other for other in by_target if target.startswith(other + "/")]
        good[target] = seen(by_target[target]) and all(good[other] for other in above)
    return good


sets, files = [], []
for number in range(TRIES):
    sets.append(damage(random_lines()))
    files.append(f"/fstab{number}")
    gm.touch(files[-1], "".join(f"{source} {target} {fstype} {','.join(options)} 0 0\n"
                                for source, target, fstype, options in (line.fields for line in sets[-1])))
mounts = orders(files)[0]
counts = {True: 0, False: 0}
for name, lines in zip(files, sets):
    words = sh("/bin/mount", "-a", "-T", name, ok=False)[1].decode(errors="replace")
    got = right(lines)
    for number, line in enumerate(lines, 1):
        good = mounts[name][number]
        counts[good] += 1
        if not gm.expect(got[line.fields[1]] == good, f"{name}:{number}: expected {good}, actual {not good}"):
            print(gm.read(name) + words)
    for row in reversed(gm.mountinfo()):
        if row.point not in KEEP:
            gm.umount(row.point)
gm.expect(counts[False] > TRIES / 2 and counts[True] > 2 * TRIES, f"lines: {counts}")
print(f"  mount -a: {len(files)} fstabs, {counts[True]} lines right, {counts[False]} not")
gm.done()
