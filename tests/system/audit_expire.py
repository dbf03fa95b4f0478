# SPDX-License-Identifier: MIT
"""An audit again and again keeps no automount from expiring: direct and indirect ones, by
an automounter that asks the kernel what has been idle for two seconds."""
import errno
import fcntl
import os
import struct
import threading
import time

import gm

READY, SETTIMEOUT, EXPIRE_MULTI = 0x9360, 0xc0089364, 0x40049366   # linux/auto_fs.h, of 64 bits
IDLE = 2

gm.need_fs("autofs")
if struct.calcsize("l") != 8:
    gm.skip("the numbers of these ioctls are those of 64 bits")
root = gm.Root()
gm.mkdir(root / "etc")
gm.touch(root / "etc/fstab", "none /ok tmpfs defaults 0 0\nnone /direct tmpfs noauto,x-systemd.automount 0 0\n"
         "/direct/disk /direct/below ext4 noauto 0 0\n/indirect/key/disk /indirect/key/below none noauto,bind 0 0\n")
gm.tmpfs(root / "ok")
direct = gm.Autofs(root / "direct", "direct")
indirect = gm.Autofs(root / "indirect", "indirect")
roots = {"/direct": os.open(root / "direct", os.O_RDONLY), "/indirect": os.open(root / "indirect", os.O_RDONLY)}
pipes = {"/direct": direct, "/indirect": indirect}
for fd in roots.values():
    fcntl.ioctl(fd, SETTIMEOUT, struct.pack("l", IDLE))
gm.tmpfs(root / "direct")               # as the automounter does it: we are its group
gm.tmpfs(root / "indirect/key")
root.enter()


def expires(name):
    """Whether the kernel has it expire now, which is granted and not done."""
    said = []

    def ask():
        try:
            fcntl.ioctl(roots[name], EXPIRE_MULTI, struct.pack("i", 0))
            said.append(0)
        except OSError as error:
            said.append(error.errno)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    end = time.monotonic() + gm.WAIT_SECONDS
    packet = b""
    while not said and not packet and time.monotonic() < end:
        packet = pipes[name].requests()
        time.sleep(0.01)
    if not packet:
        gm.expect(said == [errno.EAGAIN], f"{name}: the kernel says {said}")
        return False
    kind, token = struct.unpack_from("ii", packet, 4)
    gm.expect(kind in (4, 6), f"{name}: no request to expire: {packet[:16]}")
    fcntl.ioctl(roots[name], READY, token)
    thread.join(gm.WAIT_SECONDS)
    return True


def runs(*args):
    """Audit for longer than it takes to expire."""
    end = time.monotonic() + IDLE + 1.5
    number = 0
    while time.monotonic() < end:
        result = gm.getmnt("audit", *args)
        gm.expect(result.status in (0, 1), f"{args}: {result.status} {result.err}")
        number += 1
        time.sleep(0.2)
    return number


def touched():
    """... while somebody works there."""
    end = time.monotonic() + IDLE + 1.5
    while time.monotonic() < end:
        if gm.fork() == 0:
            os.setsid()
            os.stat("/direct/.")
            os.stat("/indirect/key/.")
            os._exit(0)
        os.wait()
        time.sleep(0.2)


# A machine that stands still for longer than they may be idle tells nothing.
held = []
for _ in range(10):
    touched()
    held = [name for name in roots if not expires(name)]
    if held:
        break
print(f"  what is worked in does not expire: {held}", flush=True)
gm.expect(held, "a mount in use expires: the test proves nothing")
for args in ((), ("--probe",)):
    time.sleep(0.1)
    number = runs(*args)
    for name in roots:
        gm.expect(expires(name), f"{name} does not expire during {number} runs of audit {args}")
gm.done()
