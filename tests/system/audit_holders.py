# SPDX-License-Identifier: MIT
"""getmnt audit --holders: who has what is not mounted here, in other namespaces and by open
files; and what is everybody's own affair."""
import json
import mmap
import os
import signal
import socket
import tempfile

import gm

gm.need_fs("ext4", "fuse")
gm.need("mkfs.ext4", "losetup")
image = tempfile.mktemp()
gm.image(image, 32 << 20, "mkfs.ext4", "-q")
loop = gm.run("losetup", "-f", "--show", image).strip()
os.unlink(image)
root = gm.Root()
gm.mount("devtmpfs", gm.mkdir(root / "dev"), "devtmpfs")
gm.mkdir(root / "etc")
gm.install("losetup", root.path)
gm.touch(root / "etc/fstab", f"{loop} /e ext4 noauto 0 0\nserver:/x /n nfs noauto 0 0\n")
for place in ("e", "t", "m", "own", "s"):
    gm.mkdir(root / place)
gm.tmpfs(root / "ok")
root.enter()
children = []


def child(function, *args):
    """A process that does something, and waits.  Its number."""
    read, write = os.pipe()
    pid = gm.fork()
    if pid == 0:
        os.close(read)
        null = os.open("/dev/null", os.O_RDWR)       # no open file of the former root
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        for fd in range(3, 64):
            if fd != write:
                try:
                    os.close(fd)
                except OSError:
                    pass
        try:
            kept = function(*args)
            os.write(write, b"x")
            os.close(write)
            signal.pause()
            print(kept)
        finally:
            os._exit(1)
    os.close(write)
    gm.expect(os.read(read, 1) == b"x", f"{function.__name__} was not done")
    os.close(read)
    children.append(pid)
    return pid


def end(pid):
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    children.remove(pid)


def told(tag, expected, **more):
    """The findings about our own processes and lines: SEVERITY TARGET, with a word of each message."""
    result = gm.getmnt("audit", "--json", "--only=MNT-HELD", "--holders", seconds=20, **more)
    gm.expect(result.status in (0, 1), f"{tag}: {result.status} {result.err}")
    document = json.loads(result.out)
    ours = [str(pid) for pid in children]
    found = sorted(f"{f['severity']} {f['target']}: {f['message']}" for f in document["findings"]
                   if f["target"] or any(f"process {pid} " in f["message"] for pid in ours))
    right = len(found) == len(expected) and all(all(word in one for word in words) for one, words in zip(found, sorted(expected)))
    gm.expect(right, f"{tag}: {found}, not {expected}")
    return document


def mount_e():
    gm.mount(loop, "/e", "ext4")


def own_space(*then):
    gm.unshare_mounts()
    gm.propagation("/", gm.MS_PRIVATE, recursive=True)
    for one in then:
        one()


def plain():
    """Files of what was never mounted, or is gone."""
    memory = mmap.mmap(-1, 4096)
    gone = open("/ok/gone", "w", encoding="ascii")
    os.unlink("/ok/gone")
    return memory, gone, os.memfd_create("x"), socket.socket(), os.pipe(), open("/proc/self/ns/mnt", "rb"), os.eventfd(0)


told("nothing is mounted", [])
mount_e()
told("it is mounted", [])
ordinary = child(plain)
told("pipes, sockets and deleted files", [])
# A mount of a container.
container = child(own_space, lambda: gm.umount("/e"), lambda: gm.tmpfs("/own"))
told("a container", [])

# Another namespace still has it mounted; then none has.
one = child(own_space)
two = child(own_space)
gm.umount("/e")
told("in other namespaces", [("warning /e: ", loop, "on /e of process ", " and 1 more namespace")])
end(two)
told("in another namespace", [("warning /e: ", loop, f"on /e of process {one} (python")])
result = gm.getmnt("audit", "--only=MNT-HELD", "--holders")
gm.expect(result.status == 1 and b"(line 1)" in result.out, f"where: {result.out}")
end(one)
told("in no namespace", [])

# An open file and a working directory, unmounted with umount -l.
mount_e()
gm.touch("/e/file", "x")
holder = child(lambda: open("/e/file", "rb"))
gm.umount("/e", gm.MNT_DETACH)
told("an open file", [("info None: ", f"process {holder} (", "has /file open"), ("warning /e: ", "is in use by the kernel")])
end(holder)
told("it was closed", [])
mount_e()
worker = child(lambda: os.chdir("/e"))
gm.umount("/e", gm.MNT_DETACH)
told("a working directory", [("warning /e: ", "is in use by the kernel")])
end(worker)
told("no process holds it", [])

# A file system without a line: for information.
gm.tmpfs("/t")
gm.touch("/t/a", "x")
holder = child(lambda: [open("/t/a", "rb"), open("/t/a", "rb")])
told("open where it is mounted", [])
gm.umount("/t", gm.MNT_DETACH)
told("of no line", [("info", f"process {holder} (", "/a open", " and 1 more file")])
end(holder)
gm.mkdir("/ok/d")
gm.mount("/ok/d", "/m", None, gm.MS_BIND)
holder = child(lambda: os.open("/m", os.O_RDONLY))
told("a directory that is there", [])
os.rmdir("/ok/d")
told("a directory that was removed", [("info /m: ", f"process {holder} (", "has /m")])
end(holder)
gm.umount("/m")

# A file system that never answers is not accessed.
silent = gm.SilentFuse("/s")
holder = child(lambda: os.open("/s", os.O_PATH))
gm.umount("/s", gm.MNT_DETACH)
requests = silent.requests
told("a server that does not answer", [("info", f"process {holder} (")])
gm.expect(silent.requests == requests, "the silent server got a request")
silent.end()
end(holder)

# Without privilege, or without --holders, the rule is not checked.
document = told("a user", [], uid=1000)
gm.expect("MNT-HELD" in document["not_judged"], f"a user: {document['not_judged']}")
document = json.loads(gm.getmnt("audit", "--json", "--only=MNT-HELD").out)
gm.expect(document["not_judged"] == ["MNT-HELD"] and not document["findings"], f"without --holders: {document}")
for pid in list(children):
    end(pid)
gm.run("losetup", "-d", loop)
gm.done()
