#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""large: tables of a size that only linear work gets through in time.

  large ROW    write the files mountinfo and fstab of a row

Each row is one kind of input that somebody else chooses, of hundreds of kilobytes or more: work
in its square takes more than 5 seconds in one of the commands at least, and linear work a few
tenths of a second.
"""
import sys

ROOT = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
OPTIONS = 60_000


def mount(options="rw", vfs="rw", fstype="ext4", source="/dev/sdb1", target="/a", root="/", number=2):
    return f"{number} 1 8:{number} {root} {target} {vfs} - {fstype} {source} {options}\n"


def line(options="defaults", fstype="ext4", source="/dev/sdb1", target="/a"):
    return f"{source} {target} {fstype} {options} 0 0\n"


def each(form, count=OPTIONS):
    return ",".join(form.format(i) for i in range(count))


def of_options(options, vfs=None, fstype="ext4"):
    """One mount and its line, both with these options."""
    return mount("rw," + options, "rw," + (vfs or "nodev"), fstype), line(options, fstype)


def binds(count=30_000):
    """Binds whose lines name other directories, which no mount shows."""
    return ("".join(mount(root=f"/y{i}", target=f"/m{i}", number=2).replace("2 1 8:2", f"{i + 2} 1 8:1") for i in range(count)),
            "".join(line("bind", "none", f"/x{i}", f"/m{i}") for i in range(count)))


def devices(count=60_000):
    """Mounts whose device numbers have one place in a map that is not seeded: map64_hash() backwards."""
    whole, text = 1 << 64, []

    def unshift(value, n):
        found = value
        for _ in range(64 // n):
            found = value ^ found >> n
        return found

    factors = [pow(factor, -1, whole) for factor in (0x94d049bb133111eb, 0xbf58476d1ce4e5b9, 0x100000001b3)]
    for i in range(count):
        key = unshift(i << 24, 31) * factors[0] % whole
        key = unshift(key, 27) * factors[1] % whole
        key = unshift(key, 30) * factors[2] % whole
        text.append(f"{i + 2} 1 {key >> 32}:{key & 0xffffffff} / /m{i} rw - ext4 /dev/sd{i} rw\n")
    return "".join(text), ""


ROWS = {
    "distinct": lambda: of_options(each("o{0}=1"), each("o{0}=2")),
    "near": lambda: of_options(each("nofai{0}")),
    "quoted": lambda: of_options(each('key="x')),
    "quoted-options": lambda: of_options(each("'key=x")),
    "equals": lambda: of_options("a" + 5 * OPTIONS * "="),
    "users": lambda: of_options(3 * OPTIONS * "user="),
    "types": lambda: of_options("x", fstype=10 * OPTIONS * "," + "x"),
    "components": lambda: (mount(root=OPTIONS * "/a", target="/b") + mount(target="/c", number=3).replace(" 8:3 ", " 8:2 "),
                           line("bind", "none", "/c" + OPTIONS * "/a", "/b")),
    "binds": binds,
    "devices": devices,
}
mounts, lines = ROWS[sys.argv[1]]()
with open("mountinfo", "w", encoding="ascii") as f:
    f.write(ROOT + mounts)
with open("fstab", "w", encoding="ascii") as f:
    f.write(line(source="/dev/sda1", target="/") + lines)
