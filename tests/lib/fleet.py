# SPDX-License-Identifier: MIT
"""A fleet on one machine: hosts that are namespaces, and an admin host.

A host is a network, mount, PID and UTS namespace with a root of its own: an overlay on the
machine's and on what make deps-fleet has unpacked, with /run, /tmp, /dev, two file systems
of an fstab, an sshd, a prometheus-node-exporter with the textfile collector, and an nrpe.
They hang on a bridge.  All of it lives in one PID namespace, whose end is its end: nothing
is left, however the case ends.

    import fleet
    fleet.enclose()
    hosts = fleet.Fleet(12, {3: "missing", 6: "readonly", 9: "options", 11: "hung"})
    fleet.enter_admin(hosts)
"""
import json
import os
import shutil
import stat
import subprocess
import sys
import time
import uuid

import gm
import overlaid

TREE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../build/fleet/tree")
CONTRIB = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../contrib")
NETWORK = "192.0.2"             # of documentation: nobody's
ADMIN = 254
BOOTED = 300                    # seconds, before which the audit does not tell of what is not mounted
SAFE = gm.MS_NOSUID | gm.MS_NODEV
TEXTFILES = "/var/lib/prometheus/node-exporter"
# Directories of this machine that are empty on a host.
EMPTY = ("root", "srv", "mnt", "media", "etc/getmnt", "etc/ssh", "etc/ansible", "etc/nagios", "var/lib/prometheus")
SSHD = """HostKey /etc/ssh/host_key
PidFile none
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp /usr/lib/openssh/sftp-server
"""
# A namespace has no systemd that manages it; the disks of the machine are not the host's, and
# the kernel's command line is the machine's.
CONFIG = """ignore UNIT-FAILED,FSTAB-SYSTEMD-STALE
ignore FSTAB-SRC-MISSING,FSTAB-SRC-AMBIGUOUS,FSTAB-TYPE-MISMATCH,BOOT-ROOT
"""
NRPE = f"""server_port=5666
allowed_hosts={NETWORK}.{ADMIN}
nrpe_user=nagios
nrpe_group=nogroup
command_timeout=60
include_dir=/etc/nagios/nrpe.d
"""


def enclose():
    """Go on in namespaces of its own: PID, network and host name; or skip the case."""
    if os.environ.get("GETMNT_FLEET"):
        gm.run("ip", "link", "set", "lo", "up")
        return
    gm.need("ip", "ssh", "ssh-keygen", "mkfs.ext4", "unshare", "clush", "clubak", "pdsh", "dshbak", "ansible", "jq")
    for name in ("sbin/sshd", "bin/prometheus", "bin/prometheus-node-exporter", "bin/promtool", "sbin/nrpe"):
        if not os.path.exists(f"{TREE}/usr/{name}") and not os.path.exists(f"/usr/{name}"):
            gm.skip(f"there is no {name}: make deps-fleet")
    gm.need_fs("overlay", "ext4", "fuse")
    if os.stat("/usr").st_dev != os.stat("/").st_dev:
        gm.skip("/usr is a file system of its own: a host would have none")
    if gm.sanitized():
        gm.skip("a root of its own has no sanitizer's libraries")
    os.environ["GETMNT_FLEET"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--uts", "--pid", "--fork", "--kill-child=KILL", "--mount-proc",
                          "--propagation=private", sys.executable, *sys.argv])


def enter(top):
    """Make a directory the root of this process, and drop the old one."""
    os.chdir(top)
    gm.libc.pivot_root(b".", b".")
    gm.umount(".", gm.MNT_DETACH)
    os.chdir("/")


def machine(work, tools, hosts):
    """The root of a host, or of the admin host: not yet entered."""
    for path in EMPTY:
        os.setxattr(gm.mkdir(f"{work}/upper/{path}"), "trusted.overlay.opaque", b"y")
    top = overlaid.make(work, lower=f"{tools}:/")
    gm.mount("dev", top + "/dev", "tmpfs", gm.MS_NOSUID, "mode=755,size=1m")
    for name in ("null", "zero", "full", "random", "urandom", "tty"):
        os.mknod(f"{top}/dev/{name}", stat.S_IFCHR | 0o666, os.stat("/dev/" + name).st_rdev)
        os.chmod(f"{top}/dev/{name}", 0o666)
    for name, where in (("ptmx", "pts/ptmx"), ("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(where, f"{top}/dev/{name}")
    gm.mount("devpts", gm.mkdir(top + "/dev/pts"), "devpts", 0, "newinstance,ptmxmode=0666,mode=620,gid=5")
    gm.mount("shm", gm.mkdir(top + "/dev/shm"), "tmpfs", SAFE, "mode=1777")
    gm.mount("tmpfs", top + "/run", "tmpfs", SAFE, "mode=755,size=32m")
    os.chmod(top + "/root", 0o700)
    gm.touch(top + "/etc/hosts", "127.0.0.1 localhost\n" + hosts)
    gm.touch(top + "/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/usr/sbin/nologin\n"
             "nagios:x:102:65534::/nonexistent:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n")
    gm.touch(top + "/etc/shadow", "root:*:19000::::::\n")
    gm.touch(top + "/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
    gm.touch(top + "/etc/environment")
    plugins = gm.mkdir(top + "/usr/lib/nagios/plugins")
    if not os.path.lexists(plugins + "/check_getmnt"):
        os.symlink("/usr/bin/getmnt", plugins + "/check_getmnt")
    return top


def serve():
    """Be the first process of a host, as told on standard input: set it up, start its
    daemons, take up what is orphaned; end when that input does."""
    spec = json.loads(sys.stdin.readline())
    number, work, fault = spec["number"], spec["work"], spec["fault"]
    subprocess.run(["hostname", spec["name"]], check=True)
    top = machine(f"{work}/{spec['name']}", f"{work}/tools", spec["hosts"])
    gm.touch(top + "/etc/hostname", spec["name"] + "\n")
    for name in ("host_key", "host_key.pub"):
        shutil.copy(f"{work}/{name}", top + "/etc/ssh/" + name)
    gm.touch(top + "/etc/ssh/sshd_config", SSHD)
    gm.mkdir(top + "/run/sshd")
    gm.mkdir(top + "/root/.ssh")
    shutil.copy(f"{work}/key.pub", top + "/root/.ssh/authorized_keys")
    gm.mkdir(top + TEXTFILES)
    gm.touch(top + "/etc/nagios/nrpe.cfg", NRPE)
    gm.mkdir(top + "/etc/nagios/nrpe.d")
    shutil.copy(f"{CONTRIB}/nrpe/getmnt.cfg", top + "/etc/nagios/nrpe.d/")
    shutil.copytree(f"{CONTRIB}/node-problem-detector", top + "/etc/node-problem-detector")

    # Its mounts, and its fstab.
    image = f"{work}/{spec['name']}/disk"
    identity = str(uuid.uuid4())
    gm.image(image, 16 << 20, "mkfs.ext4", "-q", "-F", "-U", identity)
    gm.loop_mount(image, top + "/srv/data", "nodev")
    device = os.stat(top + "/srv/data").st_dev
    os.mknod(f"{top}/dev/loop{os.minor(device)}", stat.S_IFBLK | 0o660, device)
    gm.run("mount", "-o", "remount" + ("" if fault == "options" else ",nosuid,nodev"), top + "/tmp")
    gm.mkdir(top + "/srv/scratch")
    if fault != "missing":
        gm.mount("tmpfs", top + "/srv/scratch", "tmpfs", SAFE, "size=16m")
    fstab = (f"UUID={identity} /srv/data ext4 defaults,nodev,nofail 0 2\n"
             "tmpfs /tmp tmpfs size=512m,mode=1777,nosuid,nodev 0 0\n"
             "tmpfs /var/tmp tmpfs size=512m,mode=1777 0 0\n"
             "tmpfs /srv/scratch tmpfs size=16m,nosuid,nodev 0 0\n")
    if fault == "readonly":
        gm.run("mount", "-o", "remount,ro", top + "/srv/data")
    if fault == "hung":
        gm.touch(top + "/usr/sbin/mount.fuse", "#!/bin/sh\n")
        os.chmod(top + "/usr/sbin/mount.fuse", 0o755)
        gm.SilentFuse(gm.mkdir(top + "/srv/net"), source="store:/net", fstype="fuse.store", flags=SAFE)
        fstab += "store:/net /srv/net fuse.store defaults,_netdev,nofail 0 0\n"
    gm.touch(top + "/etc/fstab", fstab)
    gm.touch(top + "/etc/getmnt/audit.conf.d/namespace.conf", CONFIG)

    for words in (["link", "set", "lo", "up"], ["addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0"],
                  ["link", "set", "eth0", "up"]):
        gm.run("ip", *words)
    log = os.open(f"{work}/{spec['name']}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    enter(top)
    for words in (["/usr/sbin/sshd", "-D", "-e", "-f", "/etc/ssh/sshd_config"],
                  ["/usr/bin/prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                   f"--collector.textfile.directory={TEXTFILES}"],
                  ["/usr/sbin/nrpe", "-c", "/etc/nagios/nrpe.cfg", "-f"]):
        subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                         env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
    print("up", flush=True)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    os._exit(1)


class Fleet:
    """Hosts node01 to nodeN, of which some have a fault: number -> missing, readonly, options, hung."""

    def __init__(self, count, faults):
        self.work = work = os.environ["GETMNT_WORK"]
        self.names = {n: f"node{n:02}" for n in range(1, count + 1)}
        self.faults = {self.names[n]: fault for n, fault in faults.items()}
        self.hosts = "".join(f"{NETWORK}.{n} {name}\n" for n, name in self.names.items())
        # One more, that is not there.
        self.hosts += f"{NETWORK}.{count + 1} node{count + 1:02}\n{NETWORK}.{ADMIN} admin\n"
        with open("/proc/uptime", encoding="ascii") as f:
            booted = float(f.read().split()[0])
        if booted < BOOTED:
            print(f"  waiting for {BOOTED - booted:.0f} s, until the boot is old enough", flush=True)
            time.sleep(BOOTED - booted)
        gm.tmpfs(work, "size=2g,mode=755")
        gm.mkdir(work + "/tools")
        if os.path.isdir(TREE):
            shutil.copytree(TREE, work + "/tools", symlinks=True, dirs_exist_ok=True)
        for name in ("key", "host_key"):
            gm.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", f"{work}/{name}")
        for words in ("link add br0 type bridge", f"addr add {NETWORK}.{ADMIN}/24 dev br0", "link set br0 up"):
            gm.run("ip", *words.split())
        self.began = time.monotonic()
        self.processes = {}
        for n, name in self.names.items():
            self.start(n, name)
        for name, process in self.processes.items():
            if process.stdout.readline() != "up\n":
                gm.fail(f"{name} does not come up")
        print(f"  {count} hosts in {time.monotonic() - self.began:.1f} s", flush=True)

    def start(self, n, name):
        """A host; it goes when the case does."""
        process = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "--pid", "--fork", "--kill-child=KILL", "--propagation=private",
             sys.executable, os.path.realpath(__file__)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.processes[name] = process
        end = time.monotonic() + 10
        while os.path.samestat(os.stat(f"/proc/{process.pid}/ns/net"), os.stat("/proc/self/ns/net")) and time.monotonic() < end:
            time.sleep(0.005)
        gm.run("ip", "link", "add", f"v{n}", "type", "veth", "peer", "name", "eth0", "netns", str(process.pid))
        gm.run("ip", "link", "set", f"v{n}", "master", "br0", "up")
        process.stdin.write(json.dumps({"number": n, "name": name, "work": self.work, "hosts": self.hosts,
                                        "fault": self.faults.get(name)}) + "\n")
        process.stdin.flush()


def enter_admin(fleet):
    """Make this process the admin host: with the key, the host names, and contrib/ in /root."""
    work = fleet.work
    top = machine(work + "/admin", work + "/tools", fleet.hosts)
    subprocess.run(["hostname", "admin"], check=True)
    ssh = gm.mkdir(top + "/root/.ssh")
    os.chmod(ssh, 0o700)
    shutil.copy(work + "/key", ssh + "/id_ed25519")
    os.chmod(ssh + "/id_ed25519", 0o600)
    with open(work + "/host_key.pub", encoding="ascii") as f:
        kind, key, _ = f.read().split()
    gm.touch(ssh + "/known_hosts", f"node*,{NETWORK}.* {kind} {key}\n")
    shutil.copytree(CONTRIB, top + "/root/contrib")
    gm.touch(top + "/etc/clustershell/groups.d/local.cfg", f"all: node[01-{len(fleet.names):02}]\n")
    enter(top)
    os.chdir("/root")
    os.environ["HOME"] = "/root"


if __name__ == "__main__":
    serve()
