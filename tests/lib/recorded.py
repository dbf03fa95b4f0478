# SPDX-License-Identifier: MIT
"""Recorded hosts for tests/lib/recorded.c: each tests/fixtures/hosts/NAME has the files of a host.

recorded.py unpack HOSTS OUT     write OUT/NAME.healthy and OUT/NAME.planted
recorded.py judge HOSTS OUT      compare OUT/NAME.*.jsonl with what is expected of each

A text begins with comments: the system, and the documents that it was written from.
A section begins with "== " and the name of a file of the host, or one of these:

    udev      block devices: bMAJ:MIN NAME, and what udev knows: S:LINK or KEY=VALUE; DM_NAME=NAME
              goes to sysfs, too
    empty     paths of empty files; a path with a trailing '/' is a directory
    links     a symlink and its target
    planted   faults: CODE TARGET (CODE alone: of the whole host) is the expected finding; then
              the name of a section or file, and its changes: "- TEXT" is replaced by the
              "+ TEXT" after it, or removed with its line; "+ TEXT" alone adds a line
    systemctl-show   what systemctl prints; then systemd runs on the host
    @pods N   a line of proc/self/mountinfo: the mounts of N pods of Kubernetes
"""
import json
import os
import sys

SPECIAL = ("udev", "empty", "links", "planted")


def pods(count):
    """The mounts of pods, eight for each."""
    at = 1000
    for i in range(count):
        uid, box, run = f"{i:08x}-5e1f-4c2d-8b3a-{i * 7919:012x}", f"{i * 2654435761:064x}", f"{i * 40503 + 1:064x}"
        pod = f"/var/lib/kubelet/pods/{uid}"
        layers = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots"
        state = "/run/containerd/io.containerd"
        yield f"{at} 28 0:{at} / {pod}/volumes/kubernetes.io~projected/kube-api-access-{i:05x} rw,relatime shared:{at} - tmpfs tmpfs rw,size=131072k,inode64"
        yield f"{at + 1} 26 0:{at + 1} / {state}.grpc.v1.cri/sandboxes/{box}/shm rw,nosuid,nodev,noexec,relatime shared:{at + 1} - tmpfs shm rw,size=65536k,inode64"
        for k, name in enumerate((box, run)):
            yield (f"{at + 2 + k} 26 0:{at + 2 + k} / {state}.runtime.v2.task/k8s.io/{name}/rootfs rw,relatime shared:{at + 2 + k} - overlay "
                   f"overlay rw,lowerdir={layers}/{i % 40}/fs,upperdir={layers}/{at + k}/fs,workdir={layers}/{at + k}/work")
        yield f"{at + 4} 26 0:4 net:[{4026532000 + i}] /run/netns/cni-{uid} rw shared:{at + 4} - nsfs nsfs rw"
        yield f"{at + 5} 28 0:{at + 5} / {pod}/volumes/kubernetes.io~secret/tls rw,relatime shared:{at + 5} - tmpfs tmpfs rw,size=524288k,inode64"
        stage = f"/var/lib/kubelet/plugins/kubernetes.io/csi/rbd.csi.ceph.com/{i * 48271:064x}/globalmount/0001-{i:04x}"
        volume = f"{pod}/volumes/kubernetes.io~csi/pvc-{uid}/mount"
        for k, place in enumerate((stage, volume)):
            yield f"{at + 6 + k} 28 252:{16 * i} / {place} rw,relatime shared:{at + 6} - ext4 /dev/rbd{i} rw,discard,stripe=16"
        at += 8


def read(path):
    """The sections of a host."""
    sections, name = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("== "):
                name = line[3:].strip()
                sections[name] = []
            elif name is not None:
                sections[name].append(line.rstrip("\n"))
            elif not line.startswith("#"):
                sys.exit(f"{path}: not a comment: {line}")
    for name, lines in sections.items():
        more = []
        for line in lines:
            more += pods(int(line[6:])) if line.startswith("@pods ") else [line]
        sections[name] = more
    return sections


def replace(sections, name, old, new):
    """Replace a text that occurs once, or remove its line."""
    lines = sections[name]
    found = [i for i, line in enumerate(lines) if old in line]
    if len(found) != 1 or lines[found[0]].count(old) != 1:
        sys.exit(f"{name}: {old!r} is there {len(found)} times")
    i = found[0]
    lines[i:i + 1] = [lines[i].replace(old, new)] if new is not None else []


def plant(sections):
    """Plant the faults.  @return the expected findings."""
    expected, name, old = [], None, None
    for line in [*sections["planted"], ""]:
        if old is not None:
            new = line[2:] if line.startswith("+ ") else None
            replace(sections, name, old, new)
            old = None
            if new is not None:
                continue
        if not line or line.startswith("#"):
            continue
        if line.startswith("- "):
            old = line[2:]
        elif line.startswith("+ "):
            sections.setdefault(name, []).append(line[2:])
        elif line.split()[0].isupper():
            expected.append(line)
        else:
            name = line
    return expected


def put(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def link(root, path, to):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.lexists(path):
        os.symlink(to, path)


def udev_file(words):
    """A file of udev's database."""
    lines, tags = [], dict(word.split("=", 1) for word in words if not word.startswith("S:"))
    for key, folder in (("ID_FS_UUID", "by-uuid"), ("ID_FS_LABEL", "by-label"),
                        ("ID_PART_ENTRY_UUID", "by-partuuid"), ("ID_PART_ENTRY_NAME", "by-partlabel")):
        if key in tags and not tags.get("ID_FS_TYPE", "").endswith("_member"):
            lines.append(f"S:disk/{folder}/{tags[key]}")
        if key.startswith("ID_FS") and key in tags:
            tags[key + "_ENC"] = tags[key]
    lines += [word for word in words if word.startswith("S:")]
    lines += ["I:1234567"] + [f"E:{key}={value}" for key, value in tags.items()]
    return "".join(line + "\n" for line in lines + ["G:systemd"])


def put_block(root, path, number):
    """A node of a block device, as tests/lib/recorded.c has it."""
    major, minor = map(int, number.split(":"))
    put(root, path, "")
    path = os.path.join(root, path)
    os.chmod(path, 0o1600)
    os.utime(path, ns=(0, major * 10**9 + minor))


def put_device(root, device, name, words):
    """A block device: in sysfs, in udev's database, and its nodes."""
    text, number = udev_file(words), device[1:]
    put(root, f"run/udev/data/{device}", text)
    place = f"sys/devices/virtual/block/{name}"
    put(root, f"{place}/dev", f"{number}\n")
    put(root, f"{place}/size", "2097152\n")
    if name[-1].isdigit() and not name.startswith(("dm-", "sr", "zram")):
        put(root, f"{place}/partition", "1\n")
    for word in words:
        if word.startswith("DM_NAME="):
            put(root, f"{place}/dm/name", word[8:] + "\n")
        if word.startswith("DM_UUID="):
            put(root, f"{place}/dm/uuid", word[8:] + "\n")
    link(root, f"sys/class/block/{name}", f"../../devices/virtual/block/{name}")
    link(root, f"sys/dev/block/{number}", f"../../devices/virtual/block/{name}")
    put_block(root, f"dev/{name}", number)
    for line in text.splitlines():
        if line.startswith("S:"):
            link(root, f"dev/{line[2:]}", "../" * line[2:].count("/") + name)


def unpack(sections, root):
    """Write the files of a host, and those that every host has."""
    for name, lines in sections.items():
        if name not in SPECIAL:
            put(root, name, "".join(line + "\n" for line in lines))
    for line in sections.get("udev", []):
        device, name, *words = line.split()
        put_device(root, device, name, words)
    for path in sections.get("empty", []):
        os.makedirs(os.path.join(root, path if path.endswith("/") else os.path.dirname(path)), exist_ok=True)
        if not path.endswith("/"):
            put(root, path, "")
    for line in sections.get("links", []):
        link(root, *line.split())
    link(root, "proc/self/ns/pid", "pid:[4026531836]")
    link(root, "proc/1/root", "/")
    if "systemctl-show" in sections:
        os.makedirs(os.path.join(root, "run/systemd/system"), exist_ok=True)
        put(root, "usr/bin/systemctl", "")


def told(path):
    """The findings of a report above info, as CODE TARGET; and its status."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text:
        return None, "no report"
    document = json.loads(text)
    found = [f"{f['code']} {f['target'] or ''}".strip() for f in document["findings"] if f["severity"] != "info"]
    return sorted(found), document["exit_status"]


def main():
    command, hosts, out = sys.argv[1:4]
    good = True
    for name in sorted(os.listdir(hosts)):
        sections = read(os.path.join(hosts, name))
        if command == "unpack":
            unpack(sections, os.path.join(out, f"{name}.healthy"))
        expected = sorted(plant(sections))
        if command == "unpack":
            unpack(sections, os.path.join(out, f"{name}.planted"))
            continue
        for how, wanted in (("healthy", []), ("planted", expected)):
            found, status = told(os.path.join(out, f"{name}.{how}.jsonl"))
            if found == wanted and status == (1 if wanted else 0):
                print(f"{name}, {how}: {len(wanted)} of {len(wanted)} found, nothing else")
                continue
            good = False
            print(f"{name}, {how}: status {status}")
            for line in sorted(set(wanted) - set(found or [])):
                print(f"    missed: {line}")
            for line in found or []:
                if line not in wanted or found.count(line) > 1:
                    print(f"    false:  {line}")
    sys.exit(not good)


main()
