# SPDX-License-Identifier: MIT
"""1,000 bind and overlay mounts at depth 6 to 8, as on a container host."""
import gm

gm.need_fs("overlay")
root = gm.Root()
root.keep_names()
images = gm.tmpfs(root / "var/lib/images", "size=256m")
pods = root / "var/lib/kubelet/pods"
boxes = root / "var/lib/containers/storage/overlay"
gm.mkdir(images + "/base/etc")
for name in ("hosts", "resolv.conf", "hostname"):
    gm.touch(f"{images}/base/etc/{name}")
    gm.touch(f"{images}/files/{name}")
for i in range(20):
    for j in range(20):
        gm.mkdir(f"{images}/layers/l{i}/d{j}/etc")
for i in range(100):
    merged = f"{boxes}/{i:064x}/merged"
    gm.overlay(merged, images + "/base", f"{images}/scratch/{i}")
    for name in ("hosts", "resolv.conf", "hostname"):
        gm.bind(f"{images}/files/{name}", f"{merged}/etc/{name}")
    pod = f"{pods}/{i:036x}/volumes/kubernetes.io~"
    gm.tmpfs(pod + "projected/token", "size=4k")
    for j in range(4):
        gm.bind(f"{images}/layers/l{j}", f"{pod}empty-dir/v{j}")
    gm.bind(f"{images}/layers/l9", f"{pod}subpath/data/x{i % 7}/y")
root.enter()
gm.check("container host")
gm.check("container host, four threads", args=("--threads=4",), nested=False)
gm.done()
