# SPDX-License-Identifier: MIT
"""A slave namespace, with mounts that came by propagation."""
import os

import gm

root = gm.Root()
root.enter()
gm.propagation("/", gm.MS_SHARED, recursive=True)
gm.tmpfs("/before")
go, ready = os.pipe(), os.pipe()
pid = gm.fork()
if pid == 0:
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_SLAVE, recursive=True)
    os.write(ready[1], b"x")
    os.read(go[0], 1)
    gm.tmpfs("/own/x")
    gm.tmpfs("/before/sub")
    gm.tmpfs("/after")             # on top of what was propagated
    gm.check("slave")
    gm.done()
os.close(ready[1])
os.read(ready[0], 1)
gm.tmpfs("/after")
gm.tmpfs("/after/deep")
gm.bind("/before", "/peer")
gm.tmpfs("/peer/shared")           # appears at /before/shared as well
gm.check("master")
os.write(go[1], b"x")
_, status = os.waitpid(pid, 0)
gm.expect(status == 0, "in the slave")
gm.done()
