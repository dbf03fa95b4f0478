# SPDX-License-Identifier: MIT
"""The protocol of getmnt serve (docs/PROTOCOL.md), written a second time: for clients and servers of
the tests, honest or not."""
import os
import struct

GREETING = b"GETMNT\r\n" + struct.pack("<II", 1, 0)
REQUEST, ENTRIES, END, REFUSED, ALIVE = 1, 2, 3, 4, 5
NUMBERS = ("flags", "types", "mask", "wants", "engine", "threads", "depth", "mindepth", "levels")
METADATA = 2
HEAD = 48        # of an entry


def frame(kind, data=b""):
    return struct.pack("<II", len(data), kind) + data


def string(text):
    return struct.pack("<I", len(text)) + text + b"\0"


def request(pattern, *roots, query=b"", fstypes=b"", prefix=b"", name=b"", name_root=0, exclude=(), **numbers):
    """A REQUEST; pattern, roots and name are bytes."""
    values = [numbers.pop(number, 0) for number in NUMBERS]
    assert not numbers
    return frame(REQUEST, struct.pack("<12I", *values, len(roots), len(exclude), name_root)
                 + b"".join(map(string, (pattern, query, fstypes, prefix, name, *roots, *exclude))))


def item(path, kind=8, err=0, source=0, root=0, st=None, target=None, actions=0):
    """An entry of an answer."""
    data = st or b""
    where = HEAD + len(data)
    data += path + b"\0"
    link = HEAD + len(data) if target is not None else 0
    if target is not None:
        data += target + b"\0"
    data += bytes(-(HEAD + len(data)) % 8)
    return struct.pack("<IIIIiHBBIIIIII", HEAD + len(data), where, len(path), HEAD if st else 0, err, source, kind, 0, root,
                       link, len(target or b""), 0, 0, actions) + data


def end(found=0, error=0):
    return frame(END, struct.pack("<iI7Q", error, 0, 1, 1, found, 0, 0, 0, 1))


class Entry:
    def __init__(self, data):
        (size, path, path_len, statx, self.err, self.source, self.kind, zero, self.root, target, target_len,
         xattrs, xattrs_len, self.actions) = struct.unpack_from("<IIIIiHBBIIIIII", data)
        assert size == len(data) and zero == 0
        self.path = data[path:path + path_len]
        self.statx = data[statx:statx + 256] if statx else None
        self.xattrs = data[xattrs:xattrs + xattrs_len] if xattrs else None
        self.target = data[target:target + target_len] if target else None

    def __repr__(self):
        return f"<{self.root} {self.path!r} {self.kind} {self.err}>"


def entries(data):
    """The entries of the contents of a frame."""
    at = 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        yield Entry(data[at:at + size])
        at += size


def read(fd, n):
    """Read n bytes; fewer at the end."""
    data = b""
    while len(data) < n:
        more = os.read(fd, n - len(data))
        if not more:
            break
        data += more
    return data


def frames(fd):
    """The frames that come, as (kind, contents), until the end."""
    while head := read(fd, 8):
        n, kind = struct.unpack("<II", head)
        yield kind, read(fd, n)


def answer(fd):
    """The entries of one answer, and its END; or the text of a refusal."""
    got = []
    for kind, data in frames(fd):
        if kind == ENTRIES:
            got += entries(data)
        elif kind == END:
            return got, struct.unpack("<iI7Q", data)
        elif kind == REFUSED:
            return got, data.decode()
    return got, None
