# SPDX-License-Identifier: MIT
"""Each action of getmnt find does what that of GNU find does: output, files written, exit status, the number
of messages, the arguments of commands.  The tree has names with every kind of byte."""
import os
import re
import subprocess

import gm

gm.need("find")
NOATIME = 1024
OURS = [os.environ["GETMNT"], "find"]
TOP = gm.mkdir(os.environ["GETMNT_WORK"] + "/tree")
gm.mount("tree", TOP, "tmpfs", NOATIME, "size=64m,mode=755")
NAMES = [b"plain", b"with space", b"new\nline", b"tab\t", b"back\\slash", b"quote'\"", b"\xff\xfe", b"caf\xc3\xa9",
         b"\x1b[31m", b"*?[x]", b"-dash", b"{}", b"%p%", b"~", b"$HOME;", b".hidden", b"\x01\x7f", b"n" * 255]
TIMES = [0, 1, -1, 86399 * 10 ** 9 + 5, 1700000000 * 10 ** 9 + 123456789, 4102444800 * 10 ** 9]
DIRECTIVES = list("abcdDfFgGhHiklmMnpPsStuUyY") + [
    time + letter for time in "ACT" for letter in "@+aAbBcCdDeFgGhHIjklmMnprRsSTuUVwWxXyYzZ%q"]
FLAGS = ["", "5", "-12", "012", ".3", "+8", "# 0", "30.4", "-030.2", "#", "+.0"]


def build():
    os.umask(0o022)
    for number, name in enumerate(NAMES):
        for path in (b"t/" + name, b"t/dir/" + name):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.truncate(number * 700)
                if number % 3:
                    file.write(b"x" * number)
    os.mkdir("t/sub")
    os.mkdir("t/sub/empty")
    os.chmod("t/sub", 0o1777)
    for name, target in ((b"link", b"plain"), (b"todir", b"sub"), (b"dangling", b"no\nwhere"), (b"loop", b"loop")):
        os.symlink(target, b"t/" + name)
    os.mkfifo("t/fifo", 0o4755)
    os.mknod("t/dev", 0o60600, os.makedev(7, 300))
    os.mknod("t/zero", 0o20644, os.makedev(1, 5))
    os.link("t/plain", "t/hard")
    os.chown("t/hard", 1, 4)
    os.chown("t/dev", 0, 54321)
    for number, name in enumerate(sorted(os.listdir(b"t"))):
        time = TIMES[number % len(TIMES)]
        os.utime(b"t/" + name, ns=(time, time), follow_symlinks=False)


def run(program, args, text=b"", **env):
    proc = subprocess.run([*program, *args], input=text, capture_output=True, timeout=gm.RUN_SECONDS, cwd=TOP,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "America/St_Johns",
                               **gm.DISABLED, **env})
    return proc.returncode, proc.stdout, proc.stderr


def messages(err):
    """The number of messages, without hints and what commands print."""
    return len(re.findall(rb"^(find|getmnt): ", err, re.M))


def compare(*args, text=b"", separator=b"\0", files=(), status=None, **env):
    """Run both, and compare; records of the output are in no order.  status: expected of getmnt, if that of GNU find is
    another one."""
    expected = status
    outcomes = []
    for program in (["find"], OURS):
        for name in files:
            if os.path.exists(f"{TOP}/{name}"):
                os.unlink(f"{TOP}/{name}")
        status, out, err = run(program, args, text, **env)
        written = [sorted(gm.read_bytes(f"{TOP}/{name}").split(separator)) for name in files]
        outcomes.append((status, sorted(out.split(separator)), written, messages(err), err))
    (gnu, ours) = outcomes
    if expected is not None:
        gm.expect(ours[0] == expected, f"{args}: status {ours[0]}")
        gnu = expected, *gnu[1:]
    for what, left, right in zip(("status", "output", "files", "messages"), gnu, ours):
        if left != right:
            if isinstance(left, list):
                left, right = [x for x in left if x not in right][:3], [x for x in right if x not in left][:3]
            gm.fail(f"{args} {env or ''}: {what}: find {left}, getmnt {right}; {gnu[4][-200:]} {ours[4][-200:]}")


def formats():
    """All directives with all flags, many in one format."""
    for at in range(0, len(DIRECTIVES), 8):
        some = DIRECTIVES[at:at + 8]
        for flags in FLAGS:
            compare("t", "-printf", "%p<" + "><".join(f"%{flags}{name}" for name in some) + ">\\0")
    for links in "-L", "-H":
        compare(links, "t", "-printf", "%p %y %Y %l %s %m\\0")
        compare(links, "t/todir", "t/dangling", "t/link", "-printf", "%p %y %Y %l %s\\0")
    compare("t", "-printf", r"\a\b\f\n\r\t\v\\\101\7777\18%%\0", )
    compare("t/plain", "-printf", r"%f\c%s\0", separator=b"%")
    for bad in "%", "a%-5", "%(", "%[", "%{", "\\q%q", "\\", "%A", "%-":
        compare("t", "-printf", bad + "" if bad.endswith(("%", "-", "5", "\\", "A")) else bad + "\\0")
    # Of the path "t/", GNU find has %h as "t".
    for roots, more in ((["/", "//"], "|%h"), (["."], "|%h"), ([".."], "|%h"), (["t/"], ""), (["t//"], ""),
                        (["t/sub/", "t/sub//", "t//sub/", "t/link"], "|%h"), (["./t/.", "t/.."], "|%h")):
        compare(*roots, "-maxdepth", "0" if ".." in roots else "1", "-printf", f"%p|%P|%H|%f|%d{more}\\0")


def listing():
    """-ls, whose widths depend on the order: blanks are removed, and a listing with narrow values is whole."""
    def squeezed(program):
        status, out, err = run(program, ["t", "-ls"])
        return status, sorted(re.sub(rb" +", b" ", line) for line in out.split(b"\n")), err
    gnu, ours = squeezed(["find"]), squeezed(OURS)
    gm.expect(gnu == ours, f"-ls: {[x for x in gnu[1] if x not in ours[1]]} {[x for x in ours[1] if x not in gnu[1]]}")
    compare("t/sub", "t/plain", "t/zero", "t/link", "-ls", separator=b"\n")
    compare("t/sub", "t/plain", "-ls", separator=b"\n", POSIXLY_CORRECT="1")
    compare("t/plain", "-fls", "out", files=["out"], separator=b"\n")


def printing():
    compare("t", "-print0")
    compare("t", "-print", separator=b"\n")
    compare("t", "-print0", "-print0", "-name", "p*", "-print0")
    compare("t", "-fprint0", "out", "-name", "p*", "-fprint0", "other", files=["out", "other"])
    compare("t", "-fprint0", "out", "-fprintf", "out", "%s\\0", "-fprint0", "./out", files=["out"])
    compare("t", "-fprint0", "/dev/stdout", "-fprintf", "/dev/stdout", "x%p\\0", "-print0")
    compare("t", "-fprint0", "/dev/stderr")
    # The file exists even if nothing is printed, and is not appended to.
    gm.touch(f"{TOP}/old", "old")
    for program in ["find"], OURS:
        status, _, _ = run(program, ["t", "-false", "-fprint", "old", "-fls", "new"])
        gm.expect(status == 0 and os.path.getsize(f"{TOP}/old") == 0 and os.path.getsize(f"{TOP}/new") == 0,
                  f"{program}: -fprint of nothing")
        gm.touch(f"{TOP}/old", "old")
        os.unlink(f"{TOP}/new")
    compare("t", "-fprint", "missing/out")
    compare("t", "-fprint", "t")
    compare("t", "-fprint", "/dev/full")
    compare("t", "-name", "plain", "-printf", "%Z\\0")


def commands():
    show = ["sh", "-c", 'for x do printf "<%s>" "$x"; done; printf "\\0"', "sh"]
    compare("t", "-exec", *show, "{}", "a{}b{}", "{", "}", ";")
    compare("t", "-execdir", *show, "{}", "a{}b", ";")
    compare("t", "-execdir", "sh", "-c", 'printf "%s %s\\0" "$PWD" "$1"', "sh", "{}", ";")
    # The order of arguments is another one, so each is a record.
    each = ["sh", "-c", 'printf "%s\\0" "$@"', "sh"]
    compare("t", "-exec", *each, "{}", "+")
    compare("t", "-execdir", *each, "{}", "+")
    compare("t", "-type", "d", "-execdir", *each, "{}", "+", "-exec", *each, "{}", "+", "-print0")
    compare("/", ".", "..", "t/", "t//", "t/sub", "t/sub/", "t/sub/.", "t/link", "-maxdepth", "0", "-execdir", "sh", "-c",
            'printf "%s %s\\0" "$PWD" "$1"', "sh", "{}", ";")
    # The status of what cannot be executed is that of POSIX.
    for status, command in ((0, ["true"]), (0, ["false"]), (0, ["sh", "-c", "exit 255"]), (1, ["no-such-command"]),
                            (1, ["t/plain"]), (1, ["t/sub"]), (1, ["{}"])):
        compare("t/plain", "t/sub", "-exec", *command, ";", "-print0", status=status)
        compare("t/plain", "t/sub", "-not", "-exec", *command, ";", "-print0", status=status)
        if command != ["{}"]:
            compare("t/plain", "t/sub", "-exec", *command, "{}", "+", "-print0")
            compare("t/plain", "t/sub", "-execdir", *command, "{}", "+", "-print0")
    for number in 9, 15, 1, 13:
        compare("t/plain", "-exec", "sh", "-c", f"kill -{number} $$", ";", "-o", "-print0")
        compare("t/plain", "-exec", "sh", "-c", f"kill -{number} $$", "sh", "{}", "+", "-print0")
    # Output comes before that of a command.
    status, out, _ = run(OURS, ["t/plain", "t/sub", "-maxdepth", "0", "-printf", "1%p ", "-exec", "printf",
                                                "2{} ", ";", "-printf", "3%p ", "-fprintf", "out", "4%p ", "-exec", "cat", "out", ";"])
    gm.expect(out == b"1t/plain 2t/plain 3t/plain 4t/plain 1t/sub 2t/sub 3t/sub 4t/plain 4t/sub ", f"order: {out}")
    compare("t", "-name", "plain", "-exec", "cat", ";", text=b"input\0")
    compare("t", "-name", "plain", "-exec", "sh", "-c", "readlink /proc/self/fd/[0-9]* | wc -l", ";", separator=b"\n")
    for args in (["-exec"], ["-exec", ";"], ["-exec", "echo"], ["-exec", "echo", "{}"], ["-exec", "echo", "{}", "{}", "+"],
                 ["-exec", "echo", "a{}", "+"], ["-ok", "echo", "{}", "+"], ["-exec", "{}", "+"], ["-exec", "echo", "+"],
                 ["-printf"], ["-fprintf", "out"], ["-fprint"]):
        compare("t/plain", *args)
    for path in ".:/bin", "/bin:", ":/bin", "/bin::/usr/bin", "bin:/bin", "/bin:~":
        compare("t/plain", "-execdir", "true", ";", PATH=path)
        compare("t/plain", "-okdir", "true", ";", PATH=path)
        compare("t/plain", "-exec", "echo", "{}", ";", PATH=path + ":/usr/bin:/bin")


def answers():
    show = ["sh", "-c", 'printf "%s\\0" "$@"', "sh"]
    for text in b"", b"y\n", b"n\n", b"Y\nn\nyes\nno\n", b"\ny\n", b"maybe\ny", b"y\0\n", b"yy\n" * 9:
        compare("t/plain", "t/sub", "-ok", *show, "{}", ";", "-print0", text=text)
        compare("t/plain", "t/sub", "-okdir", *show, "{}", ";", "-o", "-print0", text=text)
    for program in ["find"], OURS:
        _, _, err = run(program, ["t/plain", "-ok", "echo", "a", "{}", ";"])
        gm.expect(err == b"< echo ... t/plain > ? ", f"{program}: prompt {err}")
    status, out, _ = run(OURS, ["t/plain", "-ok", "cat", ";"], b"y\nthe rest\n")
    gm.expect((status, out) == (0, b"the rest\n"), f"-ok cat: {status}, {out}")
    compare("-files0-from", "-", "-ok", "true", ";", text=b"t\0")


def roots():
    for text in b"", b"t", b"t\0t/sub\0", b"t/plain\0\0t/sub\0", b"\0", b"missing\0t/sub\0", b"t/new\nline\0":
        compare("-files0-from", "-", "-print0", text=text)
        with open(f"{TOP}/roots", "wb") as file:
            file.write(text)
        compare("-files0-from", "roots", "-print0")
    compare("-files0-from", "missing")
    compare("", "-print0")
    compare("t/sub", "", "missing", "t/plain", "-print0")
    compare("t/plain/x", "t/link/", "t/todir/", "t/todir", "t/dangling", "t/loop", "-print0")


def ends():
    compare("t/sub", "t/plain", "-print0", "-quit")
    compare("t", "-name", "fifo", "-print0", "-quit")
    compare("t/sub", "t/plain", "-exec", "printf", "%s\\0", "{}", "+", "-quit")
    compare("t/sub", "missing", "-print0", "-quit")
    compare("missing", "t/sub", "-print0", "-quit")


os.chdir(TOP)
build()
for part in formats, listing, printing, commands, answers, roots, ends:
    part()
gm.done()
