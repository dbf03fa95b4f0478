# SPDX-License-Identifier: MIT
"""The real sshd on loopback, in a network namespace: one that has getmnt, one without, one with a forced
command, one that wants a password.  Importing it starts them; sshd.end() ends them."""
import glob
import os
import subprocess
import time

import gm

CLONE_NEWNET = 0x40000000
UNPACKED = os.path.realpath(f"{os.path.dirname(__file__)}/../../build/sshd")
SSHD = next((path for path in ("/usr/sbin/sshd", f"{UNPACKED}/usr/sbin/sshd") if os.path.exists(path)), None)
if not SSHD:
    gm.skip("there is no sshd: make deps")
gm.need("ssh", "ssh-keygen", "ip")
if gm.libc.unshare(CLONE_NEWNET):
    gm.skip("no network namespace")
gm.run("ip", "link", "set", "lo", "up")

PROGRAM = os.path.realpath(os.environ["GETMNT"])
WORK = os.environ["GETMNT_WORK"]
gm.tmpfs(WORK, "nr_inodes=0,size=1g,mode=755")
gm.tmpfs("/run", "mode=755")
os.mkdir("/run/sshd", 0o755)
for name in ("host", "key"):
    gm.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{WORK}/{name}")
os.symlink(PROGRAM, f"{gm.mkdir(WORK + '/bin')}/getmnt")
key = gm.read(f"{WORK}/key.pub")
gm.touch(f"{WORK}/authorized", key)
gm.touch(f"{WORK}/restricted", f'restrict,command="{PROGRAM} serve --stdio" {key}')
ports = {"good": 2201, "without": 2202, "forced": 2203, "password": 2204}
gm.touch(f"{WORK}/known", "".join(f"[127.0.{net}.{n}]:{port} {gm.read(WORK + '/host.pub')}" for port in ports.values()
                                  for net in (0, 1) for n in range(1, 51)))
servers = []
for name, port in ports.items():
    gm.touch(f"{WORK}/sshd-{name}", f"""Port {port}
ListenAddress 0.0.0.0
HostKey {WORK}/host
PidFile none
UsePAM no
StrictModes no
MaxStartups 100
PermitRootLogin yes
PasswordAuthentication {"yes" if name == "password" else "no"}
AuthorizedKeysFile {WORK}/{"restricted" if name == "forced" else "none" if name == "password" else "authorized"}
SetEnv PATH={"/usr/bin:/bin" if name == "without" else WORK + "/bin:/usr/bin:/bin"} REMOTE_TEST={WORK}
""")
    libraries = {"LD_LIBRARY_PATH": ":".join(glob.glob(f"{UNPACKED}/usr/lib/*"))} if SSHD.startswith(UNPACKED) else {}
    servers.append(subprocess.Popen([SSHD, "-D", "-e", "-f", f"{WORK}/sshd-{name}"], stdin=subprocess.DEVNULL,
                                    env={**os.environ, **libraries},
                                    stderr=open(f"{WORK}/log-{name}", "w", encoding="utf-8")))
for name, identity in (("config", f"{WORK}/key"), ("keyless", "none")):
    gm.touch(f"{WORK}/{name}", f"""Host *
IdentityFile {identity}
IdentitiesOnly yes
UserKnownHostsFile {WORK}/known
GlobalKnownHostsFile none
StrictHostKeyChecking yes
NumberOfPasswordPrompts 1
""")
ENV = {"PATH": os.environ["PATH"], "REMOTE_TEST": WORK}
RSH = f"--rsh=ssh -F {WORK}/config"


def url(name, path, host="127.0.0.1"):
    return f"ssh://root@{host}:{ports[name]}{path}"


def clients():
    """The running ssh of this case, and getmnt serve at the other end."""
    return [line for _, line in gm.processes_with(f"REMOTE_TEST={WORK}")]


def nothing_left(tag):
    limit = time.monotonic() + 5 * gm.SLOW
    while (left := clients()) and time.monotonic() < limit:
        time.sleep(0.02)
    gm.expect(not left, f"{tag}: left behind: {left}")


def end():
    for server in servers:
        server.terminate()
        server.wait()
    gm.umount("/run")
    gm.done()


def need_login(first):
    """Skip the case if the result of its first search says that root cannot log in."""
    if b"locked" in first.err or "account is locked" in gm.read(f"{WORK}/log-good"):
        for server in servers:
            server.kill()
        gm.skip("root cannot log in here: its account is locked")


limit = time.monotonic() + gm.WAIT_SECONDS
for name in ports:
    while "Server listening" not in gm.read(f"{WORK}/log-{name}") and time.monotonic() < limit:
        time.sleep(0.02)
