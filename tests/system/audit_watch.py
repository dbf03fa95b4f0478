# SPDX-License-Identifier: MIT
"""getmnt audit --watch: what is new and what is cleared, after mounts, edited files, signals and at the interval; the
conversation with a service manager; a silent server; and its end."""
import json
import os
import re
import signal
import socket
import subprocess
import time

import gm

gm.need_fs("fuse")
LINE = "none /data tmpfs size=64m 0 0\n"
ONLY = "--only=DRIFT-NOT-MOUNTED,DRIFT-READONLY,FSTAB-OPT-TYPO,MNT-DUP"


def watch(*args, env=None):
    return gm.Watch("audit", "--watch=3600", ONLY, *args, env=env, debug=False)


def children(pid):
    """The processes whose parent this is, with their states."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="latin-1") as f:
                state, parent = f.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == pid:
            found[int(name)] = state
    return found


def enter(root):
    """A root with one line, whose file system is mounted."""
    gm.tmpfs(root / "run")
    gm.tmpfs(root / "data", source="none")
    for name in ("m", "dead", "etc/getmnt", "dev"):
        gm.mkdir(root / name)
    gm.touch(root / "etc/fstab", LINE)
    os.mknod(root / "dev/fuse", 0o600 | gm.stat.S_IFCHR, os.makedev(10, 229))
    root.enter()


class Events:
    """The JSON lines of a watch, after the first."""

    def __init__(self, *args, env=None):
        self.watch = watch("--jsonl", *args, env=env)
        self.start = self.watch.wait_rows(1)[0]
        self.seen = 1
        gm.expect(self.start["event"] == "start" and not self.start["failed"], f"start: {self.start}")

    def next(self, tag, *expected):
        """Expect these changes, as "EVENT CODE TARGET"."""
        rows = self.watch.wait_rows(self.seen + len(expected))[self.seen:]
        self.seen += len(rows)
        got = [f"{row['event']} {row['code']} {row['target']}" for row in rows]
        gm.expect(got == list(expected) and all(isinstance(row["time"], int) for row in rows), f"{tag}: {got}, not {expected}")
        return rows


NEW, CLEARED = "new DRIFT-NOT-MOUNTED /data", "cleared DRIFT-NOT-MOUNTED /data"


def mounts(root):
    """A mount that goes and comes, in both formats; a mount that is no finding is no line."""
    enter(root)
    events, lines = Events(), watch()
    lines.wait(lambda: b"/etc/fstab: 0 critical, 0 warnings" in lines.out, "the first audit")
    gm.expect(events.start["findings"] == [], f"findings at the start: {events.start}")
    begun = len(lines.lines())
    gm.umount("/data")
    row = events.next("umount", NEW)[0]
    gm.expect(row["severity"] == "warning" and row["source"] == "/etc/fstab:1" and row["owner"] == "fstab"
              and row["message"] and row["hint"] and "new" not in row, f"umount: {row}")
    lines.wait(lambda: len(lines.lines()) == begun + 1, "a line of text")
    gm.tmpfs("/m", source="other")
    gm.tmpfs("/data", source="none")
    row = events.next("mount", CLEARED)[0]
    gm.expect(row["severity"] == "warning" and row["owner"] == "fstab", f"mount: {row}")
    lines.wait(lambda: len(lines.lines()) == begun + 2, "two lines of text")
    stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
    new, cleared = lines.lines()[begun:]
    gm.expect(re.fullmatch(stamp + r" new     warning   DRIFT-NOT-MOUNTED /data \(line 1\): \S.*; expected: mounted, actual: "
                           r"not mounted; mount /data.*", new)
              and re.fullmatch(stamp + " cleared warning   DRIFT-NOT-MOUNTED /data", cleared), f"text: {new!r} {cleared!r}")
    for each, number in ((events.watch, 15), (lines, 2)):
        gm.expect(each.end(number) == 0 and not each.err, f"signal {number}: {each.proc.returncode} {each.err}")
    gm.umount("/m")


def files(root):
    """The fstab written in place, replaced, removed and back."""
    enter(root)
    events = Events()
    gm.touch("/etc/fstab", LINE + "none /gone tmpfs rw 0 0\n")
    events.next("written in place", "new DRIFT-NOT-MOUNTED /gone")
    gm.touch("/etc/fstab.new", LINE + "none /other tmpfs rw 0 0\n")
    os.rename("/etc/fstab.new", "/etc/fstab")
    events.next("replaced", "cleared DRIFT-NOT-MOUNTED /gone", "new DRIFT-NOT-MOUNTED /other")
    os.rename("/etc/fstab", "/etc/fstab.old")
    events.next("removed", "cleared DRIFT-NOT-MOUNTED /other")
    os.rename("/etc/fstab.old", "/etc/fstab")
    events.next("back", "new DRIFT-NOT-MOUNTED /other")
    gm.expect(events.watch.end() == 0, f"end: {events.watch.proc.returncode}")


def configuration(root):
    """A configuration that appears, changes, and has errors: reported once, then all findings again."""
    enter(root)
    gm.umount("/data")
    events, config = Events(), "/etc/getmnt/audit.conf"
    gm.touch(config, "ignore DRIFT-NOT-MOUNTED target=/data\n")
    events.next("a new configuration", CLEARED)
    gm.touch(config, "severity info DRIFT-NOT-MOUNTED\n")
    row = events.next("a changed one", NEW)[0]
    gm.expect(row["severity"] == "info", f"a changed one: {row}")
    gm.touch(config, "severity critical DRIFT-NOT-MOUNTED\n")
    rows = events.next("another severity", CLEARED, NEW)
    gm.expect([row["severity"] for row in rows] == ["info", "critical"], f"another severity: {rows}")
    gm.touch(config, "nonsense\n")
    row = events.watch.wait_rows(events.seen + 1)[-1]
    gm.expect(row["event"] == "failed" and "audit.conf:1" in row["failed"] and not row["findings"], f"invalid: {row}")
    os.kill(events.watch.pid, 1)
    gm.touch(config, "")
    row = events.watch.wait_rows(events.seen + 2)[-1]
    gm.expect(row["event"] == "start" and [f["target"] for f in row["findings"]] == ["/data"], f"after it: {row}")
    gm.expect(events.watch.err.count(b"audit.conf:1") == 1, f"said again: {events.watch.err}")
    gm.expect(events.watch.end() == 0, f"end: {events.watch.proc.returncode}")


def interval(root):
    """A file system that becomes read-only by itself: by SIGHUP, and at the interval."""
    enter(root)
    events, often = Events(), gm.Watch("audit", "--watch=2", ONLY, "--jsonl", debug=False)
    often.wait_rows(1)
    gm.expect(gm.reconfigure("/data", "ro"), "fsconfig ro")
    row = often.wait_rows(2)[1]
    gm.expect((row["event"], row["code"], row["severity"]) == ("new", "DRIFT-READONLY", "critical"), f"interval: {row}")
    gm.expect(len(events.watch.lines()) == 1, f"an event was reported: {events.watch.lines()}")
    os.kill(events.watch.pid, 1)
    events.next("SIGHUP", "new DRIFT-READONLY /data")
    gm.expect(gm.reconfigure("/data", "rw"), "fsconfig rw")
    row = often.wait_rows(3)[2]
    gm.expect((row["event"], row["code"]) == ("cleared", "DRIFT-READONLY"), f"interval: {row}")
    for each in (events.watch, often):
        gm.expect(each.end() == 0, f"end: {each.proc.returncode}")


def errors(root):
    """An error of an ext4 is reported within a second: in its superblock; with a switch to read-only; of a device that lost its
    data; of a file system that was mounted meanwhile.  Without fanotify or privilege the interval finds it.  An error that each
    probe meets is no reason for endless audits."""
    gm.need_fs("ext4")
    gm.need("mkfs.ext4")
    gm.devices(root.path)
    names = ("first", "readonly", "lost", "later", "disabled", "user", "probed")
    for name in names:
        gm.loop_mount(gm.image(root / f"{name}.img", 16 << 20, "mkfs.ext4", "-q"), root / name, *["errors=remount-ro"] * (name == "readonly"))
    loops = {line.point.rpartition(b"/")[2].decode(): line.source.decode().rpartition("/")[2] for line in gm.mountinfo()}
    if not os.path.exists(f"/sys/fs/ext4/{loops['first']}/trigger_fs_error"):
        gm.skip("this kernel has no trigger_fs_error")
    enter(root)
    later = os.open("/dev/" + loops["later"], os.O_RDONLY)      # keeps its image
    gm.umount("/later")

    def trigger(name):
        gm.touch(f"/sys/fs/ext4/{loops[name]}/trigger_fs_error", "1")

    def lose(name):
        """The image becomes empty, and a directory is read."""
        os.truncate(f"/{name}.img", 4096)
        gm.touch("/proc/sys/vm/drop_caches", "3")
        try:
            os.listdir(f"/{name}/lost+found")
        except OSError:
            pass

    def break_root(image):
        """Overwrite the root directory."""
        os.sync()
        with open(image, "r+b") as f:
            data = f.read()
            for found in re.finditer(rb"lost\+found", data):
                f.seek(found.start() & -1024)
                f.write(b"\xff" * 1024)
        gm.touch("/proc/sys/vm/drop_caches", "3")

    def mounted(name):
        gm.mount("/dev/" + loops[name], "/" + name, "ext4")
        trigger(name)

    def start(*args, **more):
        each = gm.Watch("audit", "--only=FS-ERRORS,DRIFT-READONLY", "--jsonl", *args, debug=False, **more)
        rows = each.wait_rows(1)
        gm.expect(rows[0]["event"] == "start" and not rows[0]["findings"], f"at the start: {rows}")
        return each

    def expect_error(each, name, meet, least, most):
        """Expect the error after this time."""
        seen = len(each.lines())
        meet(name)
        begin = time.monotonic()
        rows = each.wait_rows(seen + 1)[seen:]
        passed = time.monotonic() - begin
        found = [[row["event"], row["code"], row["target"]] for row in rows]
        gm.expect(["new", "FS-ERRORS", "/" + name] in found and least <= passed < most, f"{name}: {passed:.2f} s: {found}")

    # An error must be reported long before the next audit, which --watch=3600 makes after an hour.
    soon = 20 * gm.SLOW
    if gm.KERNEL >= (5, 16) and "fanotify" not in gm.OFF:
        each = start("--watch=3600")
        for name, meet in (("first", trigger), ("readonly", trigger), ("lost", lose), ("later", mounted)):
            # Each audit is followed by a pause, and an error by two audits.
            time.sleep(3)
            expect_error(each, name, meet, 0, soon if name != "later" else 2 * soon)
        gm.expect(each.end() == 0, f"end: {each.proc.returncode}")
        each = gm.Watch("audit", "--watch=3600", "--only=FS-ERRORS", "--jsonl", "--probe", debug=False)
        each.wait_rows(1)
        break_root("/probed.img")
        counted = f"/sys/fs/ext4/{loops['probed']}/errors_count"
        each.proc.send_signal(signal.SIGHUP)
        each.wait_rows(2)
        time.sleep(15)
        met = int(gm.read(counted))
        gm.expect(1 <= met <= 3, f"each probe meets an error: {met} errors")
        gm.expect(each.end() == 0, f"end: {each.proc.returncode}")
    os.close(later)
    for name, more in (("disabled", {"env": gm.without("fanotify")}), ("user", {"prepare": gm.become_nobody})):
        each = gm.Watch("audit", "--watch=3", "--only=FS-ERRORS", "--jsonl", debug=False, **more)
        each.wait_rows(1)
        expect_error(each, name, trigger, 1, gm.WAIT_SECONDS)
        gm.expect(each.end() == 0 and b"fanotify" not in each.err, f"{name}: {each.proc.returncode} {each.err}")


def manager(root, address="/run/notify"):
    """The messages to a service manager; the file for Prometheus."""
    enter(root)
    gm.touch("/run/getmnt.prom", "old\n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(address)
        sock.settimeout(gm.WAIT_SECONDS)
        told = []

        def hear(what):
            while not told or told[-1] != what:
                told.append(sock.recv(4096).decode().partition("\nMONOTONIC_USEC=")[0])

        def metrics():
            with open("/run/getmnt.prom", encoding="ascii") as f:
                return f.read()

        each = watch("--prometheus", "--output=/run/getmnt.prom", env={"NOTIFY_SOCKET": address.replace("\0", "@"), "WATCHDOG_USEC": "200000"})
        hear("READY=1")
        gm.expect("getmnt_audit_success 1\n" in metrics() and "getmnt_audit_finding{" not in metrics(), f"at the start: {metrics()}")
        hear("WATCHDOG=1")
        gm.umount("/data")
        each.wait(lambda: b" new " in each.out, "a line")
        gm.expect('getmnt_audit_finding{code="DRIFT-NOT-MOUNTED",severity="warning",target="/data"' in metrics(), f"a finding: {metrics()}")
        gm.tmpfs("/data", source="none")
        each.wait(lambda: b" cleared " in each.out, "a line")
        gm.expect("getmnt_audit_finding{" not in metrics(), f"cleared: {metrics()}")
        os.kill(each.pid, 1)
        hear("RELOADING=1")
        hear("READY=1")
        each.proc.send_signal(15)
        hear("STOPPING=1")
        gm.expect(each.status() == 0 and not each.err, f"end: {each.proc.returncode} {each.err}")
        # On a slow machine it is alive before it is ready.
        gm.expect([word for word in told if word != "WATCHDOG=1"][0] == "READY=1" and set(told) == {"READY=1", "WATCHDOG=1", "RELOADING=1", "STOPPING=1"}, f"told: {told}")


def manager_abstract(root):
    manager(root, "\0getmnt-test")


def ends(root):
    """No child is left, whatever runs; a closed output; an audit that cannot begin."""
    full = os.open("/dev/full", os.O_WRONLY)
    enter(root)
    each = watch("--under", "--holders")
    each.wait(lambda: each.out or children(each.pid), "an audit")
    each.proc.send_signal(15)
    gm.expect(each.status() == 0, f"at once: {each.proc.returncode} {each.err}")
    gm.expect(not children(each.pid) and not children(os.getpid()), f"left: {children(os.getpid())}")
    with subprocess.Popen([gm.PROGRAM, "audit", "--watch"], stdout=subprocess.PIPE) as proc:
        proc.stdout.readline()
    gm.expect(proc.returncode == -13, f"a closed output: {proc.returncode}")
    result = subprocess.run([gm.PROGRAM, "audit", "--watch", "--jsonl"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=gm.WAIT_SECONDS)
    os.close(full)
    gm.expect(result.returncode == 2 and result.stderr.count(b"cannot be written") == 1, f"a full output: {result}")
    # An audit that is killed does not end the watch.
    gm.touch("/run/getmnt.prom", "old\n")
    each = watch("--max-time=0.00001", "--prometheus", "--output=/run/getmnt.prom")
    each.wait(lambda: b"not audited within 1e-05 seconds" in each.err, "a message")
    with open("/run/getmnt.prom", encoding="ascii") as f:
        gm.expect("getmnt_audit_success 0\n" in f.read(), "metrics of an audit that was killed")
    gm.expect(each.end() == 0 and not children(os.getpid()), f"killed: {each.proc.returncode} {each.err}")
    for args, says in ((["--config=/none"], b"/none: cannot be read"), (["--prometheus", "--output=/none/x"], b"/none/x"), (["/nowhere"], b"/nowhere: no mount")):
        each = watch(*args)
        gm.expect(each.status() == 2 and says in each.err, f"{args}: {each.proc.returncode} {each.err}")


def dead(root):
    """A server that never answers, at a mount of the fstab and below the fstab's own directory."""
    enter(root)
    events = Events("--max-time=20")
    server = gm.SilentFuse("/dead")
    gm.umount("/data")
    events.next("next to a silent server", NEW)
    gm.tmpfs("/data", source="none")
    events.next("next to a silent server", CLEARED)
    other = gm.SilentFuse("/etc")
    row = events.watch.wait_rows(events.seen + 1)[-1]
    gm.expect(row["event"] == "failed" and row["failed"].startswith("/etc/"), f"the fstab on it: {row}")
    gm.expect(not server.requests and not other.requests, f"touched: {server.requests} {other.requests}")
    other.end()
    gm.umount("/etc", gm.MNT_DETACH)
    row = events.watch.wait_rows(events.seen + 2)[-1]
    gm.expect(row["event"] == "start" and not row["findings"], f"after it: {row}")
    gm.expect(events.watch.end() == 0 and not children(os.getpid()), f"end: {events.watch.proc.returncode}")
    server.end()


def dead_output(root):
    """A server that never answers has the file for Prometheus: changes are printed all the same, and one process hangs."""
    enter(root)
    server = gm.SilentFuse("/dead")
    each = watch("--prometheus", "--output=/dead/getmnt.prom")
    each.wait(lambda: b"0 warnings" in each.out, "the first audit")
    for change in (lambda: gm.umount("/data"), lambda: gm.tmpfs("/data", source="none")):
        lines = len(each.lines())
        change()
        each.wait(lambda n=lines: len(each.lines()) > n, "a line")
    gm.expect(each.err.count(b"--output") == 1 and len(children(each.pid)) == 1, f"{each.err} {children(each.pid)}")
    each.proc.send_signal(15)
    server.end()
    gm.expect(each.status() == 0, f"end: {each.proc.returncode}")


gm.each(*[dead_output] * gm.FULL, mounts, files, configuration, interval, errors, manager, manager_abstract, ends, dead, together=True)
