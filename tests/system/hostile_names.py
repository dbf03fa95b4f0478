# SPDX-License-Identifier: MIT
"""Every command on a terminal, where a mount point, the host name, the directory of indexes, a file and a source have
names that try to control the terminal, to forge a line, and to run a program when a suggested command is pasted into
a shell.  No control byte reaches the terminal except newlines and the program's own sequences; a pasted command has
exactly the words that it shows."""
import ctypes
import os
import queue
import re
import subprocess
import termios
import threading

import gm

HARM = b"\x1b]0;x\x07\x1b[2J\x9b\xe2\x80\xae\r\nFORGED: \x08'"
PASTE = b"m x;touch PWN;$(touch PWN)`touch PWN`' \"\\x41\\"
NAME = PASTE + HARM
NEW_UTS = 0x04000000

libc = ctypes.CDLL(None, use_errno=True)
gm.expect(libc.unshare(NEW_UTS) == 0, "unshare")
host = b"h;touch PWN\x1b[2J\n"
gm.expect(libc.sethostname(host, len(host)) == 0, "sethostname")
root = gm.Root(sysfs=False)
for shell in ("bash", "dash"):
    gm.install(shell, root / "")
top = os.fsencode(root / "")[:-1]
point = b"/" + NAME
plain = b"/" + PASTE
other = b"/dir/" + NAME
gm.tmpfs(top + point, source=NAME)
gm.tmpfs(top + plain, source=PASTE)
gm.bind(gm.mkdir(top + point + b"/sub"), top + other)
for name in (NAME, PASTE, b"-" + NAME, b"*.c"):
    gm.touch(top + point + b"/" + name, "x")
    gm.touch(top + plain + b"/" + name, "x")


def octal(name):
    """A name as a field of an fstab."""
    return "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalnum() or byte == ord("/") else f"\\{byte:03o}" for byte in name)


for path in ("etc/fstab", "etc/mtab", NAME + b".fstab"):
    gm.touch(os.path.join(top, os.fsencode(path)), f"tmpfs {octal(point)} tmpfs size=1m 0 0\n/dev/{octal(NAME)} /none{octal(NAME)} ext4 ro,x=y 0 2\n"
             f"t {octal(plain)} tmpfs ro 0 0\ntmpfs /gone{octal(NAME)} tmpfs defaults 0 0\n")
gm.touch(root / "etc/conf", f"require {octal(point)} nodev,noexec\nrequire /not{octal(NAME)} mountpoint\n")
indexes = b"/ix" + NAME
try:
    gm.HungFuse(top + b"/fuse" + NAME) if os.path.exists("/dev/fuse") else None
except OSError:
    pass
gm.mkdir(top + b"/place")
# What the program writes to, and a thread that reads what it shows.
shows, WRITES = os.openpty()
mode = termios.tcgetattr(WRITES)
mode[1] &= ~termios.OPOST
termios.tcsetattr(WRITES, termios.TCSANOW, mode)
END = b"\0end\0"
seen = queue.Queue()


def read():
    while True:
        seen.put(os.read(shows, 65536))


root.enter()
threading.Thread(target=read, daemon=True).start()
IX = b"--index-dir=" + indexes


def on_terminal(args):
    """Run on the pseudo terminal.  Returns what reached it, and the status."""
    proc = subprocess.Popen([gm.PROGRAM, *args], stdin=gm.null, stdout=WRITES, stderr=WRITES, cwd="/place",
                            env=gm.environment({"TERM": "xterm", "LC_ALL": "C.UTF-8", "HOME": "/place"}))
    text = bytearray()
    try:
        status = proc.wait(60)
    except subprocess.TimeoutExpired:
        proc.kill()
        status = None
    os.write(WRITES, END)
    while not text.endswith(END):
        text += seen.get(timeout=60)
    return bytes(text[:-len(END)]), status


OWN = re.compile(rb"\x1b\[[\d;]*m|\r?\x1b\[K|\r(?=\x1b\[K)")
PROGRAMS = "getmnt mount umount systemctl journalctl chmod chown chattr mv rm find cryptsetup ln touch".split()
COMMAND = re.compile(rb"(?:^|(?<!the)[ \"'])(?=((?:getmnt (?:index|find|search|fstab|recover|audit|discover)|mount -|mount [/$'-]|chmod \d|mv [/$'-]|rm [/$'-]"
                     rb"|find \S+ -samefile|chattr [-+]|systemctl|journalctl|cryptsetup).*))")
suggested = {}


def paste(shell, text):
    """Run a text in a shell whose programs only print their words.  Returns the words of the first one, and whether
    something else was run."""
    functions = "".join(f"{name}() {{ {': >PWN' if name == 'touch' else SHOW}; }}\n" for name in PROGRAMS)
    run = subprocess.run([f"/bin/{shell}", "-c", os.fsencode(functions) + text], cwd="/place", capture_output=True, check=False,
                         stdin=gm.null, env={"PATH": ""}, timeout=20)
    ran = os.path.exists("/place/PWN")
    if ran:
        os.unlink("/place/PWN")
    return run.stdout.split(b"\0")[:-1], ran


SHOW = "[ -z \"$done\" ] && printf '%s\\0' \"$@\"; done=1"

RUNS = [
    [], ["-l"], ["-J"], ["-P"], ["-r"], ["--stats"], ["--stats=json"], ["--explain"], ["--boundaries"], ["-T", point], ["-T", other], ["-T", b"/none" + NAME],
    [point], [plain], [b"LABEL=" + NAME], ["--verify"], ["-s"], ["--format=dot"], ["--format=mtab"], ["--format=jsonl"], ["-F", b"/none" + NAME],
    [b"--" + NAME], ["-o", NAME], [NAME], ["help", NAME], ["-V"],
    ["audit"], ["audit", "-v"], ["audit", "-v", "--config=/etc/conf"], ["audit", "--config=/etc/conf", "--show-config"], ["audit", "-v", "--explain"],
    ["audit", "--nagios"], ["audit", "--json"], ["audit", "--prometheus"], ["audit", point], ["audit", b"--fstab=/" + NAME + b".fstab", "-v"],
    ["audit", b"--baseline=/none" + NAME], ["audit", b"--config=/none" + NAME], ["audit", b"--only=" + NAME], ["audit", b"--save=/place/b" + NAME],
    ["audit", b"--output=/place/o" + NAME], ["audit", b"--baseline=/place/b" + NAME, "-v"],
    ["fstab"], ["fstab", "--merge"], ["fstab", "--merge", "--diff"], ["fstab", "--merge", "--explain"], ["fstab", b"--merge=/" + NAME + b".fstab", "--diff"],
    ["fstab", point], ["fstab", b"/none" + NAME], ["fstab", b"--merge=/place/new" + NAME, "--write", "--yes"], ["fstab", "--merge", b"--add=" + plain, "--diff"],
    ["recover"], ["recover", "--diff"], ["recover", "--print"], ["recover", b"/" + NAME + b".fstab"], ["recover", b"/none" + NAME],
    ["search", "*", point], ["search", "-l", "*", point], ["search", "*", b"/none" + NAME], ["search", NAME], ["search", point], ["search", point + b"/sub/"],
    ["search", "--usage", point], ["search", "--usage", "*", point], ["search", "*", point, "--stats"], ["search", "--index", IX, "*", point],
    ["search", "--usage", NAME], ["search", b"^" + PASTE + b".*", plain], ["search", "-name", NAME], ["search", b"--user=" + NAME, "*"],
    ["search", "*", point, "--exec", b"/none" + NAME, "{}"], ["search", b"ssh://" + NAME + b"/x", "*"], ["search", "*", b"chirp://h" + NAME + b"/x"],
    ["find", point], ["find", point, "-ls"], ["find", point, "-printf", "%p %f %h\n"], ["find", "-D", "tree", point, "-name", NAME], ["find", b"/none" + NAME],
    ["find", "--index", IX, point], ["find", point, "--stats"], ["find", point, "-exec", b"/none" + NAME, ";"], ["find", point, b"-" + NAME],
    ["find", point, "-maxdepth", "0", "-ok", "/none", "{}", ";"], ["find", point, "-newer", b"/none" + NAME],
    ["index", "check", IX], ["index", "check", IX, point], ["index", "report", IX, point], ["index", "build", IX, b"/none" + NAME],
    ["index", "build", IX], ["index", "build", IX, point, plain], ["index", "update", IX], ["index", "check", IX], ["index", "status", IX],
    ["index", "report", IX], ["index", "report", IX, point + b"/none"], ["index", "report", IX, "--by=extension", "--depth=3"], ["index", "export", IX, "--csv"],
    ["index", "export", IX, "--jsonl"], ["index", "watch", IX, point + b"/sub"], ["search", "--index", IX, "*", "/"], ["find", "--index", IX, point],
    ["find", "--index", IX, point + b"/none"], ["search", "--index", IX, "*", point, "--stats"], ["index", NAME], ["index", "drop", IX, NAME],
    ["index", "report", IX, b"--svg=/none" + NAME],
    ["DAMAGE"], ["index", "check", IX], ["index", "report", IX, point], ["search", "--index", IX, "*", point], ["index", "update", IX], ["index", "status", IX],
    ["index", "drop", IX, point], ["index", "drop", IX, "--all"],
    ["profile", "--runs=1", point], ["profile", b"/none" + NAME], ["serve", NAME], ["serve"],
]
for args in RUNS:
    if args == ["DAMAGE"]:
        for path, _, files in os.walk(indexes):
            for file in files:
                if file == b"manifest":
                    os.truncate(path + b"/" + file, 20)
        continue
    text, status = on_terminal(args)
    clean = OWN.sub(b"", text)
    gm.expect(status is not None and status >= 0, f"{args}: status {status}")
    gm.expect(text or status == 0 or args[0] == "audit", f"{args[:2]}: status {status} without a message {args}")
    # Tabs of the program's own.
    allowed = b"\n\t" if "--format=dot" in args or "--usage" in args else b"\n"
    bad = sorted({bytes([byte]) for byte in clean if byte < 32 and byte not in allowed or byte == 127})
    gm.expect(not bad, f"{args}: {bad} of {clean[:2000]!r}")
    try:
        shown = clean.decode()
        gm.expect(not re.search("[\x80-\x9f\u200b-\u200f\u2028-\u202e]", shown), f"{args}: {shown!r}")
    except UnicodeDecodeError as e:
        gm.fail(f"{args}: {e}")
    gm.expect(not re.search(rb"^FORGED", clean, re.M), f"{args}: a forged line: {clean[:1000]!r}")
    for line in clean.split(b"\n"):
        for found in COMMAND.finditer(line):
            suggested.setdefault(found.group(1), (args, line))

exact = 0
for command, (args, line) in suggested.items():
    for shell in ("bash", "dash"):
        words, ran = paste(shell, command)
        gm.expect(not ran, f"{args}: pasted into {shell}, a part of a name is run: {line!r}")
        exact += shell == "bash" and any(NAME in word or PASTE in word for word in words)
print(f"  {len(RUNS)} runs, {len(suggested)} commands suggested, {exact} with a name as it is", flush=True)
gm.expect(len(suggested) >= 18 and exact >= 10, f"{sorted(suggested)}: {exact}")
gm.done()
