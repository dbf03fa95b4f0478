# SPDX-License-Identifier: MIT
"""What the cases of tests/vm stand on: devices, made of files in memory.

They run in the virtual machine, on its own root: nothing is entered, and the
program is /bin/getmnt there as well."""
import os
import time

import gm

WORK = os.environ["GETMNT_WORK"]
SECONDS = "4"               # of a probe
DM = ("dmsetup", "--noudevsync", "--noudevrules")


def modules(*names):
    """Load modules, or skip the case."""
    for name in names:
        try:
            gm.run("modprobe", name)
        except (RuntimeError, OSError) as error:
            gm.skip(f"there is no module {name}: {error}")


def work():
    """Make the directory of the case a tmpfs."""
    gm.tmpfs(WORK, "size=512m")
    return WORK


def loop(name, size=32 << 20, *options):
    """A loop device on a file of the work directory, which is created if needed."""
    path = f"{WORK}/{name}"
    if not os.path.exists(path):
        with open(path, "wb") as f:
            f.truncate(size)
    return gm.run("losetup", *options, "--show", "-f", path).strip()


def number(device):
    """Major and minor of a device, as "7:0"."""
    info = os.stat(device)
    return f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"


def sectors(device):
    return int(gm.run("blockdev", "--getsz", device))


def dm(name, table, uuid=None):
    """A device-mapper device of a table."""
    gm.run(*DM, "create", name, *(("--uuid", uuid) if uuid else ()), "--table", table)
    gm.run("dmsetup", "mknodes")        # as udev would
    return f"/dev/mapper/{name}"


def linear(name, device, uuid=None):
    return dm(name, f"0 {sectors(device)} linear {device} 0", uuid)


def lvm(command, *args, passed=()):
    """A command of LVM, without udev, and not by the devices that are passed over."""
    devices = "".join(f'"r|^{device}$|",' for device in passed)
    gm.run("lvm", command, "--config", "activation{udev_sync=0 udev_rules=0 monitoring=0 verify_udev_operations=1} "
           "backup{backup=0 archive=0} "
           f'devices{{use_devicesfile=0 filter=[{devices}"a|.*|"]}}', "-q", *args)
    gm.run("dmsetup", "mknodes")


class NfsServer:
    """The NFS server of this machine.  Of version 3 it needs rpcbind and rpc.statd."""

    def __init__(self, exports, three=False):
        gm.need("rpc.mountd", "exportfs", *(("rpcbind", "rpc.statd") if three else ()))
        modules("nfsd", "nfsv4", *(("nfsv3", "lockd") if three else ()))
        for path in ("/var/lib/nfs/v4recovery", "/var/lib/nfs/sm", "/var/lib/nfs/sm.bak", "/run/sendsigs.omit.d",
                     "/run/rpcbind"):
            gm.mkdir(path)
        for path in ("etab", "rmtab", "xtab", "state"):
            gm.touch("/var/lib/nfs/" + path)
        gm.touch("/etc/exports", exports)
        gm.mount("nfsd", "/proc/fs/nfsd", "nfsd")
        self.tell("nfsv4leasetime", "10")
        self.tell("nfsv4gracetime", "10")
        self.without = ["--no-nfs-version", "2"] + ([] if three else ["--no-nfs-version", "3"])
        self.programs = ["rpc.mountd"]
        if three:
            gm.run("rpcbind")
            gm.run("rpc.statd", "--no-notify")
            self.programs += ["rpc.statd", "rpcbind"]
        gm.run("exportfs", "-ra")
        gm.run("rpc.mountd", *self.without)
        self.start()

    @staticmethod
    def tell(name, text):
        with open("/proc/fs/nfsd/" + name, "w", encoding="ascii") as f:
            f.write(text)

    def start(self):
        # It knows no version 2 that could be left out.
        gm.run("rpc.nfsd", *self.without[2:], "--tcp", "--no-udp", "--port", "2049", "2")

    def stop(self):
        """It answers no more."""
        self.tell("threads", "0")

    def end(self):
        """End it, and what it needs."""
        self.stop()
        gm.run("exportfs", "-ua")
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/comm", encoding="latin-1") as f:
                    comm = f.read().strip()
            except OSError:
                continue
            if comm in self.programs:
                os.kill(int(name), 15)


def blkid(device):
    """What blkid finds on a device: key -> value."""
    out = gm.run("blkid", "-p", "-o", "export", device)
    return dict(line.split("=", 1) for line in out.split("\n") if "=" in line)


def drop_caches():
    os.sync()
    gm.touch("/proc/sys/vm/drop_caches", "3")


def rows(*args, status=(0,), columns=""):
    """A run, which must end: its rows by target, of the top mount there."""
    began = time.monotonic()
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED,ERROR" + columns, *args)
    gm.expect(result.status in status, f"{args}: status {result.status}, {result.err[-300:]!r}")
    if result.status is None:
        return {}
    print(f"  {' '.join(args)} {columns}: {time.monotonic() - began:.1f} s", flush=True)
    return {row["target"]: row for row in result.rows() if row["state"] != "hidden"}



def beside_hung(tag, hung, untested=(), after=("hung",), forms=True, cached=()):
    """Name everything next to mounts that do not answer.

    hung: what hangs; untested: what is alive, and not to be touched unasked;
    after: what a probe may find of those that hang; cached: what hangs only if
    it is not in memory, so that a probe may find it alive."""
    hung, untested = set(hung), set(untested)
    for names in ("hint", "walk", "pure", "kernel"):
        for algorithm in ("getmnt1", "getmnt2", "getmnt3") if names in ("walk", "pure") else ("getmnt3",):
            how = (f"--names={names}", f"--algorithm={algorithm}", "--search-limit=100000000")
            got = rows(*how, status=(0, 64) if names == "pure" else (0,))
            got.pop(None, None)
            if not got:
                continue
            for target in hung | untested:
                if names == "pure" and target not in got:
                    continue        # by IDs alone, nothing is known of it
                gm.expect(target in got and got[target]["state"] == "untested",
                          f"{tag}: {how}: {target}: {got.get(target)}")
            for target, row in got.items():
                gm.expect(target in hung | untested or names == "kernel" or row["state"] == "ok",
                          f"{tag}: {how}: {target} is {row['state']}")
    if forms:
        for form in gm.FORMS:
            result = gm.getmnt("-o", "TARGET,STATE,UUID,LABEL,SOURCES", *form)
            gm.expect(result.status == 0, f"{tag}: {form}: {result.status} {result.err[-300:]!r}")
        for args in (("-D",), ("--output-all",), ("-s",), ("-k",), ("--unmounted",), ("--verify",)):
            result = gm.getmnt(*args)
            gm.expect(result.status is not None and result.status >= 0, f"{tag}: {args}")
        for target in hung:
            result = gm.getmnt("-n", "-o", "STATE", target)
            gm.expect(result.out.strip() == b"untested", f"{tag}: {target}: {result.out}")
            result = gm.getmnt("-n", "-r", "-o", "TARGET", "-T", target + "/x/y")
            gm.expect(result.out.split() == [os.fsencode(target)], f"{tag}: -T: {result}")
    for names in ("hint", "walk", "kernel"):
        for columns in ("", ",UUID,LABEL,SOURCES"):
            how = (f"--names={names}", "--probe=all", "--timeout=" + SECONDS)
            got = rows(*how, columns=columns)
            for target in hung:
                gm.expect(target in got and (got[target]["state"] in after or target in cached
                                             and got[target]["state"] == "ok"),
                          f"{tag}: {how}: {target}: {got.get(target)}")
            for target, row in got.items():
                gm.expect(target in hung or row["state"] == "ok",
                          f"{tag}: {how}: {target} is {row['state']}: {row}")
    left = set(gm.probers())
    if left:
        result = gm.getmnt("--probe=all", "--timeout=" + SECONDS, "--stats=json", "-q")
        gm.expect(result.stats()["probes_spared"] >= 1, f"{tag}: not spared: {result.err}")
        gm.expect(set(gm.probers()) == left, f"{tag}: left: {left}, then {gm.probers()}")


def reaped(tag):
    """Wait until no process waits for a server that has come back."""
    end = time.monotonic() + gm.WAIT_SECONDS
    while gm.probers() and time.monotonic() < end:
        time.sleep(0.2)
    gm.expect(not gm.probers(), f"{tag}: still there: {gm.probers()}")


def unshared():
    """Whether this is the virtual machine."""
    with open("/proc/cmdline", encoding="ascii") as f:
        return "getmnt.machine=" in f.read()


if not unshared():
    gm.skip("not in the virtual machine")
