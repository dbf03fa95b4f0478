# SPDX-License-Identifier: MIT
"""--poll when the kernel's queue of events overflows: the loss is reported once, and
what has changed by then is told; nothing is told twice."""
import collections
import signal

import gm

queue = int(gm.read("/proc/sys/fs/fanotify/max_queued_events"))
if queue > 100000:
    gm.skip(f"a queue of {queue} events is too long to be filled")
root = gm.Root()
gm.tmpfs(root / "m", source="ground")
for name in ("a", "b", "c", "d", "e", "storm"):
    gm.mkdir(root / f"m/{name}")
gm.tmpfs(root / "m/a", source="going")
gm.tmpfs(root / "m/b", source="moving")
gm.tmpfs(root / "m/d", source="staying")
root.enter()


def fill(turns):
    for _ in range(turns):
        gm.mount("s", "/m/storm", "tmpfs", 0, "size=4k,nr_inodes=4")
        gm.umount("/m/storm")


forms = [gm.Watch("--format=jsonl"), gm.Watch("-P"), gm.Watch("--format=jsonl", "--poll=umount")]
if not forms[0].by_events():
    gm.skip("there are no mount events here")
for watch in forms:
    watch.proc.send_signal(signal.SIGSTOP)
fill(queue // 2 + 500)
gm.umount("/m/a")
gm.mount("/m/b", "/m/c", None, gm.MS_MOVE)
gm.mount(None, "/m/d", None, 32 | gm.MS_BIND | gm.MS_RDONLY)
gm.tmpfs("/m/e", source="coming")
for watch in forms:
    watch.proc.send_signal(signal.SIGCONT)
for watch in forms:
    watch.wait(lambda w=watch: b"queue overflowed" in w.err, "the message")
    watch.wait(lambda w=watch: b"going" in w.out, "what is gone")
forms[0].wait(lambda: b"coming" in forms[0].out and b"ro,relatime" in forms[0].out, "what has come")
# All goes on as before.
gm.tmpfs("/m/a", source="later")
for watch in forms[:2]:
    watch.wait(lambda w=watch: b"later" in w.out, "a later mount")
gm.umount("/m/a")
for watch in forms:
    watch.wait(lambda w=watch: sum("later" in line and "umount" in line for line in w.lines()),
               "what comes later")

rows = forms[0].rows()
count = collections.Counter(row["action"] for row in rows)
print(f"  {dict(count)}, with a queue of {queue}")
gm.expect(count["lost"] == 1 and forms[0].err.count(b"queue overflowed") == 1,
          f"reported {count['lost']} times: {forms[0].err}")
named = [(row["action"], row["source"], row["target"], row["old-target"], row["options"][:2])
         for row in rows if row["source"] and row["source"] != "s"]
gm.expect(sorted(named) == sorted([
    ("umount", "going", "/m/a", "/m/a", "rw"), ("move", "moving", "/m/c", "/m/b", "rw"),
    ("remount", "staying", "/m/d", None, "ro"), ("mount", "coming", "/m/e", None, "rw"),
    ("mount", "later", "/m/a", None, "rw"), ("umount", "later", "/m/a", "/m/a", "rw")]),
    f"{named}")
# Whatever was told as mounted is told as gone.
there = set()
for row in rows:
    if row["action"] == "mount":
        gm.expect(row["uniq-id"] not in there, f"mounted twice: {row}")
        there.add(row["uniq-id"])
    elif row["action"] == "umount" and row["source"] != "going":
        gm.expect(row["uniq-id"] in there, f"gone twice: {row}")
        there.discard(row["uniq-id"])
gm.expect(len(there) == 1, f"{len(there)} mounts are left, which are 1")
text = forms[1].out.decode()
gm.expect("lost" not in text, "a lost event among the pairs")
gm.expect('TARGET=""' not in text and 'ACTION="umount" TARGET="(ID ' in text,
          "a mount without a name is not reported by its ID")
rows = forms[2].rows()
gm.expect(sum(row["action"] == "lost" for row in rows) == 1
          and not any(row["action"] in ("mount", "move", "remount") for row in rows),
          "actions that are not in the list are reported")
for watch in forms:
    gm.expect(watch.end() == -15, f"{watch.name}: status {watch.proc.returncode}")
gm.done()
