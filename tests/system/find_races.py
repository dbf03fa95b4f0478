# SPDX-License-Identifier: MIT
"""-delete, -execdir and --exec-dir of search act in the directory that was read: not in what its path leads to after it was moved
and replaced by a symlink, by another directory or by a mount."""
import ctypes
import os
import subprocess
import threading

import gm

OURS = [os.environ["GETMNT"], "find"]
TOP = gm.tmpfs(os.environ["GETMNT_WORK"] + "/tree")
FILES = "victim", "victim2", "other"
RENAME_EXCHANGE = 2
PARTS = 1300                  # long names that do not fit into one part
os.chdir(TOP)

# How the directory top/d is replaced, by a command that -exec runs in TOP.
SWAPS = {
    "symlink": "mv top/d moved && ln -s ../outside top/d",
    "directory": "mv top/d moved && mv outside top/d && ln -s top/d outside",
    "upper symlink": "mv top moved-top && mkdir top && ln -s ../outside top/d && ln -s moved-top/d moved",
    "mount": "mount --bind outside top/d",
    "moved": "mv top/d moved",
    "exchanged": "mv top/d moved && mv outside top/d && ln -s top/d outside && mv moved outside-was && ln -s outside-was moved",
}
# Actions of the first object, "SWAP" among them.
ACTIONS = {
    "delete": [["SWAP"], ["-delete"]],
    "execdir": [["SWAP"], ["-execdir", "rm", "{}", ";"]],
    "execdir +": [["SWAP"], ["-execdir", "rm", "{}", "+"]],
    # The directory was opened before: the objects that were found are removed there.
    "opened, delete": [["-execdir", "test", "-e", "{}", ";"], ["SWAP"], ["-delete"]],
    "opened, execdir": [["-execdir", "test", "-e", "{}", ";"], ["SWAP"], ["-execdir", "rm", "{}", ";"]],
    "opened, execdir +": [["-execdir", "rm", "{}", "+"], ["SWAP"]],
}


def build():
    subprocess.run("rm -rf -- *", shell=True, check=True)
    for name in "top/d", "outside", "top/e":
        for file in FILES:
            gm.touch(f"{name}/{file}", name)


def remaining(of):
    """The files of a directory that was made by build(), wherever it is by now."""
    return sorted(file for where, _, files in os.walk(".") for file in files
                  if not os.path.islink(f"{where}/{file}") and gm.read(f"{where}/{file}") == of)


def find(*args, program=None):
    return subprocess.run([*(program or OURS), *args], capture_output=True, timeout=gm.RUN_SECONDS, check=False,
                          env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", **gm.DISABLED})


def swapped(how, actions, threads):
    build()
    words = []
    for action in actions:
        words += ["-exec", "sh", "-c", SWAPS[how], ";"] if action == ["SWAP"] else action
    result = find(f"--threads={threads}", "top", "-path", "top/d/victim", *words)
    tag = f"{how}, {actions}, {threads} threads: {result.stderr.decode()}"
    if how == "mount":
        subprocess.run(["umount", "top/d"], check=True)
    gm.expect(remaining("outside") == sorted(FILES), f"{tag}: outside has {remaining('outside')}")
    left = remaining("top/d")
    # Of an expression with "-exec ;" each object is visited while its directory is open, unless -depth lets directories
    # wait; the root stays open.
    opened = actions != ACTIONS["delete"] or how == "upper symlink"
    expected = sorted(set(FILES) - {"victim"} if opened else FILES)
    gm.expect(left == expected, f"{tag}: {left} is left of top/d")
    gm.expect(remaining("top/e") == sorted(FILES), f"{tag}: top/e has {remaining('top/e')}")
    gm.expect(result.returncode == (0 if opened else 1), f"{tag}: status {result.returncode}")
    gm.expect(opened or b"getmnt: " in result.stderr, f"{tag}: no message")


for how in SWAPS:
    for actions in ACTIONS.values():
        for threads in 1, 4:
            swapped(how, actions, threads)

# Of search: the command of the first object replaces the directory, those of the others act in it.
REMOVE = '[ -e "$0/done" ] || {{ touch "$0/done"; (cd "$0" && {}) || exit 1; }}; rm "$1"'
for how, swap in SWAPS.items():
    for threads in 1, 4:
        build()
        result = find("search", f"--threads={threads}", "--type=f", "d/*", "top", "--exec-dir", "sh", "-c",
                      REMOVE.format(swap), TOP, program=OURS[:1])
        tag = f"search, {how}, {threads} threads: {result.stderr.decode()}"
        if how == "mount":
            subprocess.run(["umount", "top/d"], check=True)
        for of in "outside", "top/e":
            gm.expect(remaining(of) == sorted(FILES), f"{tag}: {of} has {remaining(of)}")
        gm.expect(remaining("top/d") == [] and result.returncode == 0, f"{tag}: {remaining('top/d')}, {result.returncode}")

# A large directory is returned in parts, and opened again for each: it must be the same one.  The command of the first
# object replaces it by a directory with the same names.
build()
for number in range(PARTS):
    for name in "top/d", "outside":
        gm.touch(f"{name}/{number:0240}", name)
MARK = '[ -e "$0/done" ] || {{ touch "$0/done"; (cd "$0" && {}) || exit 1; }}; : >"$1.x"'
result = find("search", "--threads=1", "0*", "top", "--exec-dir", "sh", "-c", MARK.format(SWAPS["directory"]), TOP, program=OURS[:1])
marked = {of: sum(name.endswith(".x") for name in os.listdir(of)) for of in ("top/d", "moved")}
refused = result.stderr.count(b": Stale file handle\n")
gm.expect(result.returncode == 1 and marked["top/d"] == 0 and refused > 0 and marked["moved"] + refused == PARTS,
          f"parts: {marked}, {refused} refused, status {result.returncode}: {result.stderr[-200:]}")

# The object itself is replaced by one of another type.
for kind, replace in (("d", "rmdir {} && ln -s ../outside {}"), ("d", "rmdir {} && touch {}"),
                      ("f", "rm {} && mkdir {}"), ("f", "rm {} && ln -s ../outside {}")):
    build()
    if kind == "d":
        os.mkdir("top/x")
    else:
        gm.touch("top/x", "x")
    result = find("top/x", "-type", kind, "-exec", "sh", "-c", replace.replace("{}", '"$1"'), "sh", "{}", ";", "-delete")
    gm.expect(remaining("outside") == sorted(FILES), f"{replace}: outside has {remaining('outside')}")
    left = os.path.lexists("top/x")
    # A name that is not a directory is removed, whatever it is now: as unlink(2) does.
    gm.expect(left == (kind == "d" or "mkdir" in replace) and result.returncode == left,
              f"{replace}: {left}, {result.returncode}, {result.stderr}")

# Swapped all the time, by another thread: whatever is deleted, it is not outside.
libc = ctypes.CDLL(None, use_errno=True)
done = threading.Event()


def swap():
    while not done.is_set():
        libc.renameat2(-100, b"top/d", -100, b"link", RENAME_EXCHANGE)


subprocess.run("rm -rf -- *", shell=True, check=True)
for i in range(50):
    gm.touch(f"outside/{i}", "outside")
os.symlink(f"{TOP}/outside", "link")
os.mkdir("top")
os.mkdir("top/d")
thread = threading.Thread(target=swap)
thread.start()
try:
    deleted = refused = 0
    for number in range(150):
        for i in range(50):
            try:
                os.close(os.open(f"top/d/{i}" if number % 2 else f"link/{i}", os.O_CREAT | os.O_WRONLY))
            except OSError:
                pass
        if number % 3 == 2:
            result = find("search", "--type=f", "*", "top", "--exec-dir", "rm", "-f", program=OURS[:1])
        else:
            result = find("top", "-type", "f", *(["-delete"] if number % 3 else ["-execdir", "rm", "-f", "{}", "+"]))
        refused += result.returncode != 0
        if len(os.listdir("outside")) != 50:
            gm.fail(f"run {number}: outside has {len(os.listdir('outside'))} files: {result.stderr[-300:]}")
            break
finally:
    done.set()
    thread.join()
gm.done()
