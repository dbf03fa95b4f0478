# SPDX-License-Identifier: MIT
"""An overlay whose lower directory is on a FUSE that stops answering."""
import os
import struct
import threading

import gm

gm.need_fs("fuse", "overlay")


class Answering:
    """A FUSE server with an empty root directory, that stops when told."""

    def __init__(self, target):
        self.fd = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        gm.mount("slow", gm.mkdir(target), "fuse", 0,
                 f"fd={self.fd},rootmode=40755,user_id=0,group_id=0,allow_other")
        self.stopped = False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        attr = struct.pack("=QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 0, 0, 0,
                           4096, 0)
        while not self.stopped:
            try:
                request = os.read(self.fd, 1 << 17)
            except OSError:
                return
            opcode, unique = struct.unpack_from("=IQ", request, 4)
            error, body = -38, b""                                  # ENOSYS
            if opcode == 26:                                        # INIT
                error, body = 0, struct.pack("=IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536,
                                             1, 16, 0, 0)
            elif opcode == 3:                                       # GETATTR
                error, body = 0, struct.pack("=QII", 0, 0, 0) + attr
            elif opcode == 1:                                       # LOOKUP
                error = -2
            elif opcode in (27, 14):                                # OPENDIR, OPEN
                error, body = 0, struct.pack("=QII", 1, 0, 0)
            elif opcode in (28, 44, 29, 18):                        # READDIR, RELEASE
                error, body = 0, b""
            elif opcode == 17:                                      # STATFS
                error, body = 0, struct.pack("=QQQQQIIII24x", 1, 1, 1, 1, 1, 4096, 255, 4096, 0)
            elif opcode in (2, 42, 36):                             # FORGET, INTERRUPT
                continue
            try:
                os.write(self.fd, struct.pack("=IiQ", 16 + len(body), error, unique) + body)
            except OSError:
                pass


root = gm.Root()
server = Answering(root / "slow")
gm.tmpfs(root / "up")
gm.tmpfs(root / "ok/one")
gm.mkdir(root / "links")
os.symlink("../slow", root / "links/rel")
os.symlink("/links/rel", root / "links/abs")
os.symlink("/ok", root / "links/harmless")
root.enter()
# Now, so that lowerdir= has a name that can be followed.
gm.overlay("/merged", "/slow", "/up/work")
gm.tmpfs("/merged/inner")
# The kernel keeps the names that it was given, links and all.
gm.overlay("/linked", "/links/abs", "/up/work2")
gm.overlay("/harmless", "/links/harmless", "/up/work3")
server.stopped = True
untouched = ["/slow", "/merged", "/linked"]
gm.check("overlay on FUSE", untouched=untouched)
gm.done()
