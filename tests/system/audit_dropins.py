# SPDX-License-Identifier: MIT
"""Drop-ins of the unit that systemd makes of a line: what is mounted is held against what they say,
whatever directory they are in, and for the rest against the line.  A unit of the administrator's is
found where its directory is a link that leads elsewhere below another root."""
import json
import os
import shutil

import gm

gm.need_fs("overlay")
gm.Root().enter()
NOEXEC, REMOUNT = 8, 32
HOST = "/host"
UNITS = f"{HOST}/etc/systemd/system"
for name in ("etc/systemd/system", "run/systemd/system", "usr/lib/systemd", "data", "srv/x", "layers/m", "layers/low", "layers/two"):
    gm.mkdir(f"{HOST}/{name}")
gm.touch(f"{HOST}/usr/lib/systemd/systemd")
gm.bind(HOST, HOST)
gm.mount("tmpfs", f"{HOST}/data", "tmpfs", 0, "size=1m")
gm.mount("tmpfs", f"{HOST}/srv/x", "tmpfs", NOEXEC, "size=1m")


def told(line, *env):
    """What is told of what is mounted: code, severity, expected."""
    gm.touch(f"{HOST}/etc/fstab", line + "\n")
    result = gm.getmnt("audit", "--root=" + HOST, "--json", "--fail-on=info", "--only=DRIFT-SOURCE,DRIFT-TYPE,DRIFT-OPTIONS,DRIFT-READONLY,FSTAB-DUP-TARGET",
                       env=dict(env) or None)
    gm.expect(result.status in (0, 1) and not result.err, f"{line}: {result.status} {result.err}")
    return [(f["code"], f["severity"], f["expected"]) for f in json.loads(result.out)["findings"]]


def is_told(tag, line, *want, dropins=()):
    """The same, with drop-ins: (directory, text)."""
    for place, text in dropins:
        gm.touch(f"{gm.mkdir(f'{UNITS}/{place}')}/x.conf", text)
    got = told(line)
    gm.expect(got == list(want), f"{tag}: {got}")
    for place, _ in dropins:
        shutil.rmtree(f"{UNITS}/{place}")


X, DATA = "tmpfs /srv/x tmpfs size=1m 0 0", "tmpfs /data tmpfs size=1m 0 0"
SAFE = ("DRIFT-OPTIONS", "warning", "size=1m,nosuid")
is_told("as the line says", DATA)
is_told("noexec, unsaid", X, ("DRIFT-OPTIONS", "warning", "size=1m"))
for places in (("srv-x.mount.d",), ("srv-.mount.d",), ("mount.d",), ("mount.d", "srv-x.mount.d")):
    is_told(f"noexec, said in {places}", X, dropins=[(place, "[Mount]\nOptions=size=1m,noexec\n") for place in places])
is_told("noexec, said of what lies below", X, ("DRIFT-OPTIONS", "warning", "size=1m"),
        dropins=[("srv-x-.mount.d", "[Mount]\nOptions=size=1m,noexec\n")])
is_told("noexec, said of another name of the place", X.replace("/srv/x", "/srv//x/"), dropins=[("srv-x.mount.d", "[Mount]\nOptions=size=1m,noexec\n")])
is_told("as the line says, and not as its drop-in", DATA, SAFE, dropins=[("data.mount.d", "[Mount]\nOptions=size=1m,nosuid\n")])
is_told("neither as the line nor as its drop-in", DATA.replace("size=1m", "size=1m,nodev"), SAFE, dropins=[("data.mount.d", "[Mount]\nOptions=size=1m,nosuid\n")])
is_told("the same in both, and not mounted so", DATA.replace("1m", "1m,nosuid"), SAFE, dropins=[("data.mount.d", "[Mount]\nOptions=size=1m,nosuid\n")])
is_told("taken back", DATA.replace("1m", "1m,nosuid"), ("DRIFT-OPTIONS", "warning", "defaults"), dropins=[("data.mount.d", "[Mount]\nOptions=\n")])
is_told("options of the line that are mount(8)'s", DATA.replace("1m", "1m,nofail,x-systemd.automount"), dropins=[("data.mount.d", "[Mount]\nOptions=size=1m\n")])
is_told("a text that cannot be read", DATA.replace("1m", "1m,nosuid"), SAFE, dropins=[("data.mount.d", "[Mount]\nOptions=size=%X\n")])
is_told("another type", DATA, ("DRIFT-TYPE", "warning", "tmpfs (ramfs)"), dropins=[("data.mount.d", "[Mount]\nType=ramfs\n")])
gm.mount(None, f"{HOST}/data", None, REMOUNT | gm.MS_RDONLY, "size=1m")
READ_ONLY = told(DATA)
gm.expect([code for code, _, _ in READ_ONLY] == ["DRIFT-READONLY"], f"read-only: {READ_ONLY}")
is_told("read-only, which a drop-in says", DATA, dropins=[("data.mount.d", "[Mount]\nOptions=size=1m,ro\n")])
low, two = "/layers/low", "/layers/two"
gm.mount("overlay", f"{HOST}/layers/m", "overlay", 0, f"lowerdir={HOST}{low}:{HOST}{two}")
LAYERS = f"overlay /layers/m overlay ro,lowerdir={two}:{low} 0 0"
LAYERED = told(LAYERS)
gm.expect([code for code, _, _ in LAYERED] == ["DRIFT-SOURCE"], f"other layers: {LAYERED}")
is_told("other layers, which a drop-in says", LAYERS, dropins=[("layers-m.mount.d", f"[Mount]\nOptions=ro,lowerdir={low}:{two}\n")])

# A directory of units that is a link, of which the target is elsewhere for who does not stand in the root.
gm.mount(None, f"{HOST}/data", None, REMOUNT, "size=1m")
os.rmdir(UNITS)
os.symlink("/conf/units", UNITS)
gm.touch(f"{gm.mkdir(f'{HOST}/conf/units')}/data.mount", "[Mount]\nWhat=tmpfs\nWhere=/data\nType=tmpfs\n")
for env in ((), (("GETMNT_DISABLE", "openat2"),)):
    got = told(DATA, *env)
    gm.expect([one[0] for one in got] == ["FSTAB-DUP-TARGET"], f"a unit behind a link, {env}: {got}")
gm.done()
