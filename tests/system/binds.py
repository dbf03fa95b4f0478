# SPDX-License-Identifier: MIT
"""Bind mounts of one file system in many places, also within itself."""
import gm

root = gm.Root()
fs = gm.tmpfs(root / "fs")
for i in range(20):
    gm.mkdir(f"{fs}/d{i}/in/side")
for i in range(20):
    gm.bind(f"{fs}/d{i}", root / f"elsewhere/e{i}")
gm.bind(fs, root / "whole")
gm.bind(f"{fs}/d1", f"{fs}/d2/in")          # within itself
gm.bind(f"{fs}/d2", f"{fs}/d3/in/side")
gm.bind(f"{fs}/d4/in", f"{fs}/d4/in")       # onto itself
gm.tmpfs(f"{fs}/d5/in/side")
gm.bind(fs, root / "rec", recursive=True)
gm.bind(gm.mkdir(root / "plain/dir"), root / "plain/bound")
gm.bind(root / "", gm.mkdir(root / "tmp/again"))
root.enter()
gm.check("binds")
gm.done()
