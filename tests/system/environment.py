# SPDX-License-Identifier: MIT
"""Without HOME, TERM, USER and PATH, without any environment, and with strange values: every form prints
the same bytes.  From cron.  In a program with privileges, the caller's environment neither disables a
protection nor names a file."""
import ctypes
import os
import shutil
import subprocess

import gm

if gm.DISABLED:
    gm.skip("it compares runs with and without GETMNT_DISABLE")
gm.need_speed("hundreds of runs, all alike to the kernel")
root = gm.Root()
long = "a-directory-with-a-name-that-is-longer-than-a-terminal-is-wide/" * 2
gm.tmpfs(root / "a/b")
gm.tmpfs(root / (long + "c"))
gm.tmpfs(root / "h/i")
gm.tmpfs(root / "h")
for i in range(300):
    gm.mkdir(root / f"d/e{i}/f")
gm.touch(root / "etc/fstab", "tmpfs /a tmpfs defaults 0 0\n")
os.chmod(gm.touch(root / "secret", "hidden /b tmpfs defaults 0 0\n"), 0o600)
root.enter()
USUAL = ("PATH", "LC_ALL", "TERM", "TZ")
EMPTY = dict.fromkeys(USUAL)
STRANGE = [EMPTY, {"HOME": None}, {"TERM": None}, {"PATH": None}, {"PATH": ""}, {"USER": "\n"},
           {"HOME": "/nowhere"}, {"HOME": "a" * 100000}, {"LC_ALL": None, "LANG": "C"},
           {"COLUMNS": "0"}, {"COLUMNS": "1"}, {"COLUMNS": "20"}, {"COLUMNS": "-5"},
           {"COLUMNS": "x"}, {"COLUMNS": "99999999999999999999"}, {"LINES": "1"}, {"LINES": "-1"},
           {"TERM": ""}, {"TERM": "a" * 5000}, {"TERM": "../../etc/passwd"}, {"TERM": "%s%n"},
           {"TZ": "nonsense/zone"}, {"TMPDIR": "/nowhere"}, {"POSIXLY_CORRECT": "1"},
           {"NO_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}, {"TERM": "xterm-256color"},
           {"TERMINAL_COLORS_D": "/nowhere"}, {"LD_LIBRARY_PATH": ""},
           {"GETMNT_DISABLE": ","}, {"GETMNT_DISABLE": "a," * 5000}, {"GETMNT_DISABLE": ""},
           {"LIBMOUNT_MTAB": "/nowhere"}, {"LIBMOUNT_FSTAB": "/nowhere"}, {"LIBMOUNT_UTAB": "/x"},
           {"BLKID_FILE": "/nowhere"}, {"BLKID_CONF": "/nowhere"}, {"MALLOC_PERTURB_": "165"}]
# Locales that there are not, and values that are none.  Of the tree only the
# art may differ.
LOCALES = ["C", "POSIX", "xx_YY.UTF-8", "de_DE.ISO-8859-1", "tr_TR", "", "../../../etc", "/", "a" * 3000,
           "%s%n", "C.UTF-8@x", "\xff\xfe", "ja_JP.SJIS", "C.utf8;LC_CTYPE=x"]
FORMS = [form + extra for form in gm.FORMS for extra in ((), ("-o", "+ID,NAMED,SIZE,USE%"))
         if not (extra and form[0].startswith("--format") and form[0] != "--format=jsonl")]
ART = {"├─": "|-", "└─": "`-", "│": "|"}


def plain(out):
    text = out.decode("utf-8", "surrogateescape")
    for art, ascii_ in ART.items():
        text = text.replace(art, ascii_)
    return text


whole = {}
for form in FORMS:
    result = gm.getmnt(*form)
    gm.expect(result.status == 0 and result.out, f"{form}: status {result.status}: {result.err}")
    whole[form] = result.out
for turn, env in enumerate(STRANGE + [{name: value} for value in LOCALES for name in (
        "LC_ALL", "LANG", "LC_CTYPE", "LC_NUMERIC", "LANGUAGE")]):
    more = dict(env)
    if any(name.startswith(("LC_", "LANG")) for name in env) and "LC_ALL" not in env:
        more["LC_ALL"] = None
    told = {name: (value or "")[:30] for name, value in env.items()}
    for form in FORMS if env is EMPTY else (FORMS * 2)[turn % len(FORMS):][:3]:
        result = gm.getmnt(*form, env=more)
        gm.expect(result.status == 0 and not result.err,
                  f"{told}: {form}: status {result.status}: {result.err}")
        same = plain(result.out) == plain(whole[form])
        gm.expect(same, f"{told}: {form}: {result.out[:500]!r}")
    # Messages as well.
    result = gm.getmnt("-T", "/no/such", env=more)
    gm.expect(result.status == 1 and b"/no/such: cannot be resolved: No such file" in result.err,
              f"{told}: a message: {result.err}")

# The name of no program, and no argv[0] at all (an empty one since 5.18).
for argv in ([b"\x1b[31m", b"-J"], [b"a" * 5000, b"-J"], [b"", b"-J"], []):
    read, write = os.pipe()
    pid = gm.fork()
    if pid == 0:
        os.dup2(write, 1)
        vector = (ctypes.c_char_p * (len(argv) + 1))(*argv, None)
        gm.libc.execve(gm.PROGRAM.encode(), vector, (ctypes.c_char_p * 1)(None))
        os._exit(1)
    os.close(write)
    out = gm.read_bytes(read)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    want = plain(whole[("-J",) if argv else ("--tree",)])
    gm.expect(status == 0 and plain(out) == want, f"as {argv}: status {status}: {out[:200]}")

# As from cron: no terminal, a session of its own, nothing to read, nothing in
# the environment but what cron gives, output into a file or a pipe.
CRON = {"PATH": "/bin", "HOME": "/root", "SHELL": "/bin/sh", "LOGNAME": "root", "LC_ALL": None,
        "TERM": None, "TZ": None}


def no_stdin():
    os.close(0)
    os.umask(0o777)


for form in FORMS:
    for before in (None, no_stdin):
        out = os.open("/tmp/out", os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600)
        for stdout in (out, subprocess.PIPE):
            result = gm.getmnt(*form, env=CRON, stdout=stdout, before=before)
            text = result.out
            if stdout == out:
                text = gm.read_bytes("/tmp/out")
            gm.expect(result.status == 0 and not result.err and plain(text) == plain(whole[form]),
                      f"cron: {form}: status {result.status}: {result.err}")
        os.close(out)
# A long search shows no progress there, and leaves nothing.
result = gm.getmnt("-q", "--names=walk", "--algorithm=getmnt1", env={**CRON, "TERM": "xterm"})
gm.expect(result.status == 0 and not result.err, f"cron: {result.err}")
gm.expect(os.listdir("/tmp") == ["out"], f"files left: {os.listdir('/tmp')}")

# A working directory that was removed.
os.mkdir("/tmp/gone")
for form in gm.FORMS:
    result = gm.getmnt(*form, before=lambda: (os.makedirs("/tmp/gone", exist_ok=True),
                                              os.chdir("/tmp/gone"), os.rmdir("/tmp/gone")))
    gm.expect(result.status == 0 and result.out == whole[form], f"in a removed directory: {form}")

shutil.copy(gm.PROGRAM, "/bin/privileged")
os.chmod("/bin/privileged", 0o4755)
DISABLE = {"GETMNT_DISABLE": "openat2,listmount"}
TABLES = {"LIBMOUNT_FSTAB": "/secret", "LIBMOUNT_MTAB": "/secret"}


def both(*args, env):
    """What an ordinary user sees of the plain program, and of the privileged one."""
    results = [gm.getmnt(*args, env=env, program=program, uid=65534)
               for program in (gm.PROGRAM, "/bin/privileged")]
    return [result.out + result.err for result in results]


plain, privileged = both("--version", env=DISABLE)
gm.expect(b"switched off" in plain and b"switched off" not in privileged, f"--version: {plain} {privileged}")
has_openat2 = b", openat2" in privileged
# search() of the library reads the variable itself.
plain, privileged = both("search", "--stats", "*", "/etc", env=DISABLE)
gm.expect(b" openat2 " not in plain and (b" openat2 " in privileged) == has_openat2,
          f"search: {plain} {privileged}")
for option in ("-s", "-m"):
    plain, privileged = both(option, "-l", env=TABLES)
    gm.expect(b"/secret: cannot be read" in plain and b"hidden" not in privileged
              and b"/secret" not in privileged, f"{option}: {plain} {privileged}")
gm.done()
