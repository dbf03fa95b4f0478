# SPDX-License-Identifier: MIT
"""File mount points of every kind: FIFO, socket, device, symbolic link; none
is opened."""
import ctypes
import os
import socket
import stat

import gm

root = gm.Root()
top = gm.tmpfs(root / "s/p")
real = gm.touch(root / "real")
os.mkfifo(top + "/fifo")
gm.mount(real, top + "/fifo", None, gm.MS_BIND)
os.mkfifo(top + "/lone-fifo")           # would block whoever opens it
os.mkfifo(root / "s/source")
gm.mount(root / "s/source", gm.touch(top + "/fifo-on-file"), None, gm.MS_BIND)
server = socket.socket(socket.AF_UNIX)
os.chdir(top)
server.bind("socket")
os.chdir("/")
gm.mount(real, top + "/socket", None, gm.MS_BIND)
os.mknod(top + "/device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
gm.mount(real, top + "/device", None, gm.MS_BIND)

# On a symbolic link itself: open_tree and move_mount do not follow it.
os.symlink("/nowhere", top + "/link")
fd = gm.libc.syscall(428, -100, real.encode(), 1 | os.O_CLOEXEC)
if fd >= 0:
    done = gm.libc.syscall(429, fd, b"", -100, (top + "/link").encode(), 4)
    print("  a mount on a symbolic link:", "made" if done == 0 else
          os.strerror(ctypes.get_errno()))
    os.close(fd)
root.enter()
gm.check("special")
gm.done()
