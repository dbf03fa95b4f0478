# SPDX-License-Identifier: MIT
"""Mounts, directories and files appear, disappear, move and are replaced during the walk, next to 500
mounts that stay (GETMNT_SCALE=full: 2,000), and permissions change.  No run fails, no mount is wrongly
reported as lost, those that stay keep name and state, no symlink is followed, and an incomplete answer
has a reason: with every algorithm, as root and as an ordinary user."""
import os
import time

import gm
import hosts

gm.need_features("mounts with one device number are not told apart", "statx-mntid")
root = gm.Root()
for i in range(30):
    for j in range(12):
        gm.mkdir(root / f"w/d{i}/e{j}/f")
for i in range(10):
    gm.tmpfs(root / f"stay/s{i}/in/side")
gm.mkdir(root / "go")
hosts.Binds(gm.mkdir(root / "stay/host")).add(2000 if gm.FULL else 500)
for i in range(12):
    gm.mkdir(root / f"w/r{i}/x/y")
    gm.mkdir(root / f"w/p{i}/x/y")
gm.tmpfs(root / "w/keep")
root.enter()
stay = {line.id: line for line in gm.oracle()}
SMALL = "size=4k,nr_inodes=20"


def mounts(n):
    path = f"/go/g{n % 17}"
    gm.tmpfs(path, SMALL)
    gm.tmpfs(path + "/in", SMALL)
    if n % 3 == 0:
        gm.mount(path, gm.mkdir(f"/go/moved{n % 5}"), None, gm.MS_MOVE)
        gm.umount(f"/go/moved{n % 5}", gm.MNT_DETACH)
    else:
        gm.umount(path, gm.MNT_DETACH)
    if n % 2:
        os.rmdir(path)


def beside(_):
    for i in range(20):
        gm.tmpfs(f"/go/b{i}", SMALL)
    for i in range(20):
        gm.umount(f"/go/b{i}", gm.MNT_DETACH)


def stacked(_):
    for i in range(30):
        gm.tmpfs("/go/stack", SMALL)
    for i in range(30):
        gm.umount("/go/stack", gm.MNT_DETACH)


def nested(_):
    path = "/go/nest"
    for i in range(15):
        gm.tmpfs(path, SMALL)
        path += "/n"
    gm.umount("/go/nest", gm.MNT_DETACH)


def moved(_):
    gm.tmpfs("/go/from", SMALL)
    gm.tmpfs("/go/from/in", SMALL)
    for i in range(10):
        gm.mount("/go/from", gm.mkdir("/go/to"), None, gm.MS_MOVE)
        gm.mount("/go/to", "/go/from", None, gm.MS_MOVE)
    gm.umount("/go/from", gm.MNT_DETACH)


def bound(_):
    for i in range(10):
        gm.bind("/stay/s1", f"/go/bound{i}", recursive=True)
    for i in range(10):
        gm.umount(f"/go/bound{i}", gm.MNT_DETACH)


def covering(_):
    gm.tmpfs("/go/cover/a/b", SMALL)
    gm.tmpfs("/go/cover/a", SMALL)
    gm.umount("/go/cover/a", gm.MNT_DETACH)
    gm.umount("/go/cover/a/b", gm.MNT_DETACH)
    os.rmdir("/go/cover/a/b")


def directories(n):
    gm.mkdir(f"/w/d{n % 30}/new{n}/x")
    os.rmdir(f"/w/d{n % 30}/new{n}/x")
    os.rename(f"/w/d{n % 30}/new{n}", f"/w/d{n % 30}/old")
    os.rmdir(f"/w/d{n % 30}/old")


def replacements(n):
    """A directory gives way to something else, and comes back."""
    path = f"/w/r{n % 12}"
    os.rename(path, "/tmp/away")
    kind = n % 6
    if kind == 0:
        os.symlink("/stay/s1", path)
    elif kind == 1:
        os.mkfifo(path)
    elif kind == 2:
        os.symlink("..", path)
    elif kind == 3:
        gm.touch(path)
    elif kind == 4:
        gm.tmpfs(path, SMALL)
        gm.umount(path, gm.MNT_DETACH)
        os.rmdir(path)
    else:
        gm.bind("/stay", path)
        gm.umount(path, gm.MNT_DETACH)
        os.rmdir(path)
    if os.path.lexists(path):
        os.unlink(path)
    os.rename("/tmp/away", path)
    os.chmod(f"/w/p{n % 12}", 0o000 if n % 2 else 0o755)


def churn(*acts):
    """Let a process do these over and over."""
    pid = gm.fork()
    if pid == 0:
        end = time.monotonic() + 90
        n = 0
        while time.monotonic() < end:
            n += 1
            for act in acts:
                act(n)
        gm.done()
    return pid


def run(tag, args, uid=None):
    result = gm.getmnt("-J", "-l", "-o", "+ID,NAMED", "--stats=json", *args, uid=uid)
    if result.status is None:
        return None
    try:
        document = result.json()
    except ValueError as error:
        return gm.fail(f"{tag}: status {result.status}, no JSON: {error}: {result.err[-200:]}")
    rows = document["filesystems"]
    odd = [row for row in rows if gm.row_states(row) & {"lost", "unsearched"}]
    # A mount that moves about may be missed, and told so; one that is not
    # there any more may not be called lost.
    gm.expect(result.status == (64 if odd else 0), f"{tag}: status {result.status}: "
              f"{document.get('incomplete_reasons')}: {odd[:2]}: {result.err[-200:]}")
    gm.expect(not any("lost" in gm.row_states(row) for row in odd), f"{tag}: lost: {odd[:2]}")
    whole = document["complete"]
    gm.expect(bool(document["incomplete_reasons"]) != whole and (whole or odd),
              f"{tag}: complete: {whole}, {document['incomplete_reasons']}, {odd[:1]}")
    # Found through a symlink, it would have another name.
    found = {gm.row_id(row): row for row in rows}
    for id_, line in stay.items():
        row = found.get(id_)
        if row is None or row["target"] != gm.shown(line.point) or gm.row_states(row) != {"ok"}:
            gm.fail(f"{tag}: {line}: {row}")
    return result.stats()


counted = {"gone": 0, "vanished": 0, "denied_dirs": 0}
pids = [churn(mounts, directories), churn(replacements),
        churn(beside, stacked, nested, moved, bound, covering)]
for turn in range(10 if gm.FULL else 2):
    for names, algorithm, source in gm.RUNS:
        for threads in ("1", "4"):
            stats = run(f"turn {turn}: {names} {algorithm} {source} {threads} threads",
                        ["--names=" + names, "--algorithm=" + algorithm, "--kernel=" + source,
                         "--threads=" + threads])
            for key in counted:
                counted[key] += stats[key] if stats else 0
    for names in ("hint", "walk"):
        for threads in ("1", "4"):
            stats = run(f"turn {turn}: an ordinary user, {names}, {threads} threads",
                        ["--names=" + names, "--threads=" + threads, "--algorithm=getmnt1",
                         "--prune=+leaf"], uid=65534)
            for key in counted:
                counted[key] += stats[key] if stats else 0
    if len(gm.failures) > 20:
        break
print("  " + ", ".join(f"{key} {value}" for key, value in counted.items()))
for key, value in counted.items():
    gm.expect(value > 0, f"{key}: none in all these runs: is anything churned?")
for pid in pids:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
gm.done()
