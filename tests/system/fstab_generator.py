# SPDX-License-Identifier: MIT
"""Findings about lines of an fstab, compared with the units that systemd's generator makes of the lines."""
import os
import shutil
import subprocess
import tempfile

import gm
from fstabs import GENERATOR, generate, need_generator, static_findings

need_generator()
TOP = tempfile.mkdtemp()


class Made:
    """The units that the generator makes of an fstab.

    what: sources by the names of units; started: by these names, the directories *.requires, *.wants that
    have the unit; status, out: exit status and messages of the generator."""

    def __init__(self, text):
        top = tempfile.mkdtemp(dir=TOP)
        self.fstab = f"{top}/fstab"
        gm.touch(self.fstab, text)
        units_dir, self.status, self.out = generate(self.fstab, top)
        self.what, self.started = {}, {}
        for where, _, names in os.walk(units_dir):
            for name in names:
                path = f"{where}/{name}"
                if os.path.islink(path):
                    self.started.setdefault(name, set()).add(os.path.basename(where))
                elif name.endswith(".mount"):
                    with open(path, encoding="ascii") as file:
                        self.what[name] = [line[5:-1] for line in file if line.startswith("What=")][0]

    def starts(self, name):
        """Whether a mount is made at boot or on access."""
        return f"{name}.mount" in self.started or f"{name}.automount" in self.started


def findings(made, code):
    return static_findings(made.fstab, "--only=" + code)


AUTO, FORMER, UNIT = "x-systemd.automount", "comment=systemd.automount", "x-systemd.wanted-by=multi-user.target"
UUID = "UUID=11111111-2222-4333-8444-555555555555"
OPTIONS = ["defaults", "nofail", "noauto", AUTO, FORMER, UNIT, "x-systemd.required-by=a.service", "noauto,nofail", f"noauto,{AUTO}",
           f"noauto,{FORMER}", f"noauto,{UNIT}", "noauto,x-systemd.required-by=a.service", f"noauto,{UNIT},{AUTO}", "noauto,x-systemd.after=a.service"]
PAIRED = ["nofail", "noauto", AUTO, f"noauto,{FORMER}", f"noauto,{UNIT}"]


def judge_started():
    """A device name matters where something mounts the line; the boot needs it where local-fs.target requires the mount."""
    for options in OPTIONS:
        made = Made(f"/dev/sdb1 /x ext4 {options} 0 0\n")
        found = findings(made, "FSTAB-SRC-UNSTABLE")
        gm.expect(bool(found) == made.starts("x"), f"{options}: {found}, and systemd starts {made.started}")
        found = findings(made, "FSTAB-NOFAIL")
        needed = "local-fs.target.requires" in made.started.get("x.mount", ())
        gm.expect(bool(found) == needed, f"{options}: {found}, and systemd starts {made.started}")
    print(f"  systemd: {len(OPTIONS)} lines that something starts or not")


def judge_pairs():
    """Two lines of one mount point: the generator fails at the second, and only the options of the first count."""
    alone = {options: Made(f"UUID=1 /x ext4 {options} 0 0\n").starts("x") for options in PAIRED}
    for one in PAIRED:
        for two in PAIRED:
            made = Made(f"UUID=1 /x ext4 {one} 0 0\nUUID=2 /x ext4 {two} 0 0\n")
            found = findings(made, "FSTAB-DUP-TARGET")
            gm.expect(made.status and "Duplicate entry" in made.out and made.what["x.mount"].endswith("/1"), f"{one}; {two}: {made.out}")
            gm.expect(len(found) == 1 and found[0]["source"].endswith(":2"), f"{one}; {two}: {found}")
            both = "noauto" not in one and "noauto" not in two
            gm.expect(made.starts("x") == alone[one], f"{one}; {two}: {made.started}")
            for row in found:
                gm.expect(row["severity"] == ("warning" if both or alone[two] else "info"), f"{one}; {two}: {row}")
                gm.expect(("is noauto" in row["message"]) == (alone[two] and not alone[one]), f"{one}; {two}: {row}")
                gm.expect(("mounts only this line" in row["message"]) == ("noauto" in one and "noauto" not in two), f"{one}; {two}: {row}")
                gm.expect("noauto" not in row["hint"], f"{one}; {two}: {row}")
    for lines in ("UUID=1 /x ext4 noauto 0 0\nUUID=2 /y ext4 noauto 0 0\n", "UUID=1 none swap noauto 0 0\nUUID=2 none swap noauto 0 0\n",
                  "UUID=1 /dev/shm ext4 noauto 0 0\nUUID=2 /dev/shm ext4 noauto 0 0\n"):
        made = Made(lines)
        gm.expect(made.status == 0 and not findings(made, "FSTAB-DUP-TARGET"), f"{lines}{made.out}")
    print(f"  systemd: {len(PAIRED) ** 2} pairs of lines of one mount point")


def judge_mappings():
    """A line of an fstab pulls in the mapping that it names, even if the crypttab says noauto; cryptsetup.target
    pulls in only mappings without noauto."""
    generator = os.path.dirname(GENERATOR) + "/systemd-cryptsetup-generator"
    if not os.path.exists(generator):
        print("  systemd-cryptsetup-generator is missing")
        return
    top = tempfile.mkdtemp(dir=TOP)
    gm.touch(f"{top}/crypttab", f"vault {UUID} none luks\nlazy {UUID} none luks,noauto\n")
    dirs = [gm.mkdir(f"{top}/{name}") for name in ("normal", "early", "late")]
    subprocess.run([generator, *dirs], stdin=gm.null, stdout=gm.null, stderr=gm.null, check=True, env={"SYSTEMD_CRYPTTAB": f"{top}/crypttab"})
    for name in ("vault", "lazy"):
        needed = f"{top}/normal/dev-mapper-{name}.device.requires/systemd-cryptsetup@{name}.service"
        always = f"{top}/normal/cryptsetup.target.requires/systemd-cryptsetup@{name}.service"
        gm.expect(os.path.lexists(needed) and os.path.lexists(always) == (name == "vault"), f"{name}: {os.listdir(dirs[0])}")
    gm.mkdir(f"{top}/root/etc")
    gm.touch(f"{top}/root/etc/crypttab", gm.read(f"{top}/crypttab"))
    gm.touch(f"{top}/root/etc/fstab", "".join(f"/dev/mapper/{name} /{name} ext4 defaults 0 2\n" for name in ("vault", "lazy", "valut")))
    told = gm.getmnt("audit", f"--root={top}/root", "--only=FSTAB-SRC-MISSING", "--json", program=os.environ["GETMNT"]).json()["findings"]
    levels = {row["target"]: row["severity"] for row in told}
    gm.expect(levels == {"/vault": "info", "/lazy": "info", "/valut": "critical"}, f"mappings: {told}")


# Options that mount(8) does not pass on to the file system when it remounts.
GENERAL = {"ro", "rw", "defaults", "noatime", "x-systemd.growfs"}


def remounts(path, options):
    """Whether the kernel remounts a file system with options as mount(8) passes them on since util-linux 2.39."""
    good = gm.reconfigure(path, "ro" if "ro" in options else "rw", *(option for option in options if option not in GENERAL))
    if good is None:
        gm.skip("the kernel has no fspick(2)")
    return good


def judge_images():
    """A root that is an image: the boot remounts it with the options of its line."""
    top = gm.tmpfs(tempfile.mkdtemp(dir=TOP))
    a, b, upper, work, on = (gm.mkdir(f"{top}/{name}") for name in ("a", "b", "upper", "work", "on"))
    lines = [f"{UUID} / {fstype} {options} 0 0" for fstype in ("btrfs", "ext4") for options in (
        "defaults", "ro", "ro,noatime,x-systemd.growfs", "subvol=root,compress=zstd:1,ro", "subvol=root", "errors=remount-ro", "rw,noatime")]
    images = [("composefs", f"lowerdir={a}:{b}", "overlay"), ("overlay", f"lowerdir={a}:{b}", "overlay"), ("composefs", f"lowerdir={a},upperdir={upper},workdir={work}", "overlay")]
    if gm.have_fs("squashfs", "mksquashfs"):
        gm.touch(f"{a}/file")
        subprocess.run(["mksquashfs", a, f"{top}/image", "-quiet", "-no-progress"], stdin=gm.null, stdout=gm.null, check=True)
        loop = gm.run("losetup", "-r", "-f", "--show", f"{top}/image").strip()
        images.append((loop, "", "squashfs"))
    for source, data, fstype in images:
        sealed = "upperdir" not in data
        gm.mount(source, on, fstype, gm.MS_RDONLY if sealed else 0, data)
        shown = [line.split() for line in gm.read("/proc/self/mountinfo").splitlines() if line.split()[4] == on][0]
        shown[1], shown[4] = "1", "/"
        gm.touch(f"{top}/table", " ".join(shown) + "\n")
        for line in lines:
            good = remounts(on, line.split()[3].split(","))
            gm.touch(f"{top}/fstab", line + "\n")
            told = gm.getmnt("audit", "-F", f"{top}/table", f"--fstab={top}/fstab", "--only=DRIFT-SOURCE", "--json", program=os.environ["GETMNT"])
            found = [row for row in told.json()["findings"] if "remounting the root" in row["message"]]
            gm.expect(len(found) == (not good), f"{fstype} {data}: {line}: {found}, and the kernel {'remounts' if good else 'refuses'} it")
            gm.expect(all("overlay, overlay" not in row["message"] for row in found), f"{line}: {found}")
            gm.expect(all(row["severity"] == "critical" and "comment the line out" in row["hint"] for row in found), f"{line}: {found}")
            merged = gm.getmnt("fstab", "-F", f"{top}/table", f"--merge={top}/fstab", program=os.environ["GETMNT"])
            gm.expect(fstype != "overlay" or (b"comment the line out" in merged.err) == (not good), f"{line}: {merged.err}")
        gm.umount(on)
        if fstype == "squashfs":
            gm.run("losetup", "-d", source)
    gm.umount(top)
    print(f"  {len(images)} images, each with {len(lines)} lines of the root")


try:
    judge_started()
    judge_pairs()
    judge_mappings()
    judge_images()
finally:
    shutil.rmtree(TOP, ignore_errors=True)
gm.done()
