# SPDX-License-Identifier: MIT
"""--poll: its forms, each line flushed at once; what is selected; how it ends."""
import os
import select
import signal
import subprocess
import time

import gm

root = gm.Root()
gm.tmpfs(root / "m", source="ground")
for name in ("a", "b", "c/d", "end", "x y"):
    gm.mkdir(root / f"m/{name}")
os.symlink("a", root / "m/link")
root.enter()


def one(watch, path="/m/a", source="one", data="size=4k"):
    """A mount, reported before its umount, and the umount."""
    gm.mount(source, path, "tmpfs", 0, data)
    before = watch.out.count(b"\n")
    watch.wait(lambda: source.encode() in watch.out, source)
    gm.umount(path)
    watch.wait(lambda: watch.out.count(b"\n") > before and b"umount" in watch.out, "its umount")


# The list: a header once, before the first line; names do no harm.
watch = gm.Watch()
gm.expect(watch.out == b"", f"reported before any change: {watch.out}")
one(watch)
gm.mount("two\x1b[31m", "/m/x y", "tmpfs", 0, "size=4k")
watch.wait(lambda: watch.out.count(b"\n") == 4, "4 lines")
lines = watch.lines()
gm.expect(lines[0].split() == ["ACTION", "TARGET", "SOURCE", "FSTYPE", "OPTIONS"], f"{lines[0]}")
gm.expect([line.split()[:3] for line in lines[1:3]] == [["mount", "/m/a", "one"],
                                                       ["umount", "/m/a", "one"]], f"{lines}")
gm.expect("/m/x y" in lines[3] and "two\\x1b[31m" in lines[3], f"{lines[3]!r}")
gm.umount("/m/x y")
watch.end()

watch = gm.Watch("-P", "-o", "+OLD-TARGET,ID")
one(watch, "/m/x y")
gm.expect(watch.lines()[0].startswith('ACTION="mount" TARGET="/m/x y" SOURCE="one" FSTYPE="tmpfs"'),
          f"{watch.lines()}")
gm.expect('OLD-TARGET="/m/x y"' in watch.lines()[1], f"{watch.lines()}")
watch.end()
watch = gm.Watch("-r", "-n")
one(watch, "/m/x y", data="size=4k,mode=700")
gm.expect(watch.lines()[0] == r"mount /m/x\x20y one tmpfs rw,relatime,size=4k,mode=700",
          f"{watch.lines()}")
watch.end()
watch = gm.Watch("--format=jsonl")
one(watch)
keys = ["host", "action", "target", "source", "fstype", "options", "old-target", "old-options", "id",
        "uniq-id"]
gm.expect([list(row) for row in watch.rows()] == [keys, keys], f"{watch.rows()}")
gm.expect([row["old-target"] for row in watch.rows()] == [None, "/m/a"], f"{watch.rows()}")
watch.end()
watch = gm.Watch("--format=jsonl", "--output-all")
one(watch)
row = watch.rows()[0]
gm.expect({"action", "old-target", "old-options", "old-propagation", "maj:min", "uuid", "tid", "ns"}
          <= set(row) and not {"state", "size", "named", "node", "depth"} & set(row), f"{row}")
gm.expect(row["parent"] and row["fsroot"] == "/" and row["uuid"] is None, f"{row}")
watch.end()

# What is selected: a mount on each place, a bind, a submount, a move.
SELECTED = [
    (["-M", "/m/a"], {"remount a", "mount a", "move b a", "umount a", "move a b"}),
    (["-M", "/m/link"], {"remount a", "mount a", "move b a", "umount a", "move a b"}),
    (["/m/a"], {"remount a", "mount a", "move b a", "umount a", "move a b"}),
    (["-C", "-M", "/m/link"], set()),
    (["-M", "/m/not/there"], set()),
    (["-T", "/m/c/d/file"], {"mount c", "mount c/d", "umount c/d", "umount c"}),
    (["-R", "-M", "/m/c"], {"mount c", "mount c/d", "umount c/d", "umount c"}),
    (["-S", "other"], {"mount c", "umount c"}),
    (["other"], {"mount c", "umount c"}),
    (["/m/c/d", "other"], {"mount c/d", "umount c/d", "mount c", "umount c"}),
    (["other", "/m/c"], {"mount c", "umount c"}),
    (["other", "/m/a"], set()),
    (["-t", "ramfs"], {"mount c/d", "umount c/d"}),
    (["-t", "notmpfs"], {"mount c/d", "umount c/d"}),
    (["-O", "+noexec"], {"remount a"}),
    (["--poll=mount", "-O", "noexec"], {"mount a", "mount c", "mount c/d"}),
    (["--poll=remount", "-O", "ro"], set()),
    (["--poll=move"], {"move a b", "move b a"}),
    (["-i", "-S", "nothing"], None),
    (["--real"], set()),
    (["--pseudo"], None),
]
watches = [(args, want, gm.Watch("--format=jsonl", *args)) for args, want in SELECTED]
everything = gm.Watch("--format=jsonl")


def told(watch):
    """The reports of a watch, except the last one."""
    return {" ".join(name[3:] if name.startswith("/m/") else name
                     for name in (row["action"], row["old-target"] if row["action"] == "move" else None,
                                  row["target"]) if name)
            for row in watch.rows() if row["target"] not in ("/m/end", None)}


def then(action):
    """Let something happen, and all take it up before the next."""
    before = everything.out.count(b"\n")
    action()
    everything.wait(lambda: everything.out.count(b"\n") > before, "a change")
    # Woken by mountinfo alone, each sleeps once more for as long as a reading takes.
    time.sleep(0 if everything.by_events() else 0.05 * gm.SLOW)
    for _, _, watch in watches:
        watch.wait_idle()


then(lambda: gm.mount("one", "/m/a", "tmpfs", 0, "size=4k"))
then(lambda: gm.mount("/m/a", "/m/b", None, gm.MS_MOVE))
then(lambda: gm.mount("/m/b", "/m/a", None, gm.MS_MOVE))
then(lambda: gm.mount(None, "/m/a", None, 32 | gm.MS_BIND | 8))
then(lambda: gm.mount(None, "/m/a", None, 32 | gm.MS_BIND))
then(lambda: gm.umount("/m/a"))
then(lambda: gm.mount("other", "/m/c", "tmpfs", 0, "size=4k"))
gm.mkdir("/m/c/d")
then(lambda: gm.mount("inner", "/m/c/d", "ramfs"))
then(lambda: gm.umount("/m/c/d"))
then(lambda: gm.umount("/m/c"))
whole = told(everything)
gm.expect(len(whole) == 9, f"all: {whole}")
# All have read what is before this one; a watch that selects it not, ends by its reading.
gm.mount("end", "/m/end", "tmpfs", 0, "size=4k")
everything.wait(lambda: b'"/m/end"' in everything.out, "the end")
for args, want, watch in watches:
    want = whole if want is None else want
    watch.wait(lambda w=watch, x=want: told(w) == x, f"{sorted(want)}")
gm.umount("/m/end")
for _, _, watch in watches:
    watch.end()
everything.end()

# How it ends: after the first, after a time, by a signal, when nobody reads.
watch = gm.Watch("-f", "-M", "/m/a", "-n", "-r", "-o", "ACTION,TARGET")
gm.mount("x", "/m/b", "tmpfs", 0, "size=4k")
gm.mount("x", "/m/a", "tmpfs", 0, "size=4k")
gm.expect(watch.status() == 0 and watch.out == b"mount /m/a\n", f"-f: {watch.out}")
watch = gm.Watch("-f", "--poll=umount", "-q")
gm.umount("/m/a")
gm.expect(watch.status() == 0 and watch.out == b"", f"-f -q: {watch.out}")
gm.umount("/m/b")
for args in (("-w", "0"), ("--timeout", "50"), ("-w50", "--kernel=mountinfo"), ("-w50", "--format=jsonl")):
    result = gm.getmnt("-p", *args)
    gm.expect(result.status == 0 and result.out == b"" and result.err == b"", f"{args}: {result.status}, "
              f"{result.out}, {result.err}")
result = gm.getmnt("-p", "-w", "0", "--stats=json", "-q")
stats = result.stats()
gm.expect(stats["mounts"] == 4 and stats["table"] == gm.SOURCES[0] and not stats["calls"]["getdents64"],
          f"--stats: {stats}")
# Each event, wanted or not, begins the time anew.
watch = gm.Watch("-w", "2000", "-M", "/m/nothing")
begun = last = time.monotonic()
longest = 0
while last < begun + 3:
    time.sleep(0.2)
    gm.mount("x", "/m/a", "tmpfs", 0, "size=4k")
    gm.umount("/m/a")
    longest = max(longest, time.monotonic() - last)
    last = time.monotonic()
# On a machine that stands still so long nothing can be said.
if longest < 1:
    gm.expect(watch.proc.poll() is None, "it ended while there were events")
gm.expect(watch.status() == 0 and watch.out == b"", f"-w: {watch.out}")

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    watch = gm.Watch("--format=jsonl")
    one(watch)
    gm.expect(watch.end(number) == -number, f"{number.name}: status {watch.proc.returncode}")
    gm.expect(len(watch.rows()) == 2, f"{number.name}: {watch.out}")

for kind in ("pipe", "socket"):
    if kind == "pipe":
        ours, theirs = os.pipe()
    else:
        ours, theirs = (end.detach() for end in gm.socket.socketpair())
    proc = subprocess.Popen([gm.PROGRAM, "--poll", "--debug"], stdout=theirs, stderr=subprocess.PIPE,
                            env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")})
    os.close(theirs)
    os.read(proc.stderr.fileno(), 4096)
    os.close(ours)
    gm.expect(select.select([proc.stderr], [], [], gm.WAIT_SECONDS)[0], f"{kind}: it goes on, read by nobody")
    rest = proc.stderr.read()
    gm.expect(proc.wait() == -signal.SIGPIPE and rest == b"", f"{kind}: {proc.returncode}, {rest}")


# With nothing to print, a standard output that was closed from the beginning is no error.
proc = subprocess.Popen([gm.PROGRAM, "-p", "-w", "100"], stderr=subprocess.PIPE,
                        env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "")},
                        preexec_fn=lambda: os.close(1))
err = proc.stderr.read()
gm.expect(proc.wait() == 0 and err == b"", f"closed: {proc.returncode}, {err}")
gm.done()
