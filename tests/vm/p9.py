# SPDX-License-Identifier: MIT
"""9p: a folder that the machine is given, and a server that stops answering."""
import os
import struct
import threading

import gm
import vm

vm.modules("9p", "9pnet_virtio", "9pnet_fd")
vm.work()


class Server:
    """A 9p server in a thread, with a directory that is empty; it stops when told."""

    def __init__(self, target):
        self.requests, write = os.pipe()
        read, self.replies = os.pipe()
        self.stopped = False
        self.swallowed = 0
        threading.Thread(target=self.serve, daemon=True).start()
        gm.mount("silent", gm.mkdir(target), "9p", 0,
                 f"trans=fd,rfdno={read},wfdno={write},version=9p2000.L,msize=8192")
        os.close(read)
        os.close(write)

    def answer(self, kind, body):
        qid = struct.pack("<BIQ", 0x80, 0, 1)
        if kind == 100:                                     # Tversion
            return body
        if kind == 104:                                     # Tattach
            return qid
        if kind == 24:                                      # Tgetattr
            return struct.pack("<Q", 0x7ff) + qid + struct.pack(
                "<IIIQQQQQ", 0o40755, 0, 0, 2, 0, 0, 4096, 0) + bytes(8 * 10)
        if kind == 110:                                     # Twalk
            if struct.unpack_from("<H", body, 8)[0]:
                return 2
            return struct.pack("<H", 0)
        if kind in (12, 40):                                # Tlopen, Treaddir
            return qid + bytes(4) if kind == 12 else bytes(4)
        if kind == 8:                                       # Tstatfs
            return struct.pack("<IIQQQQQQI", 1, 4096, 1, 1, 1, 1, 1, 1, 255)
        if kind in (120, 108):                              # Tclunk, Tflush
            return b""
        return 95

    def serve(self):
        data = b""
        while True:
            try:
                more = os.read(self.requests, 65536)
            except OSError:
                return
            if not more:
                return
            data += more
            while len(data) >= 4 and len(data) >= struct.unpack_from("<I", data)[0]:
                size, kind, tag = struct.unpack_from("<IBH", data)
                body, data = data[7:size], data[size:]
                if self.stopped:
                    self.swallowed += 1
                    continue
                reply = self.answer(kind, body)
                if isinstance(reply, int):
                    kind, reply = 6, struct.pack("<I", reply)       # Rlerror
                os.write(self.replies, struct.pack("<IBH", 7 + len(reply), kind + 1, tag) + reply)

    def end(self):
        os.close(self.replies)


gm.mount("share", gm.mkdir("/mnt/share"), "9p", 0, "trans=virtio,version=9p2000.L")
gm.expect(os.listdir("/mnt/share") == ["file"], f"the share has {os.listdir('/mnt/share')}")
server = Server("/mnt/silent")
gm.expect(os.listdir("/mnt/silent") == [], "the server of this script does not serve")
gm.tmpfs("/mnt/share2")

for names in ("hint", "walk", "kernel"):
    got = vm.rows("--names=" + names)
    for target in ("/mnt/share", "/mnt/silent"):
        gm.expect(got[target]["state"] == "untested", f"{names}: {got[target]}")
    got = vm.rows("--names=" + names, "--probe=all", "--timeout=60")
    for target in ("/mnt/share", "/mnt/silent", "/mnt/share2"):
        gm.expect(got[target]["state"] == "ok", f"{names} --probe=all: {got[target]}")

server.stopped = True
vm.beside_hung("9p", {"/mnt/silent"}, {"/mnt/share"})
gm.expect(server.swallowed, "the server was not asked")
server.end()
vm.reaped("ended")
for target in ("/mnt/silent", "/mnt/share", "/mnt/share2"):
    gm.umount(target)
gm.done()
