# SPDX-License-Identifier: MIT
"""A page of docs/ that is run as it is written: its commands by one shell, in a row; what
is printed must be what the page shows, or is written into it (GETMNT_UPDATE)."""
import os
import subprocess
import time

import gm

DOCS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../docs")
END = "the end of a command of the page"


class Page:
    """Read before a root is entered; all else can be gone then."""

    def __init__(self, name, prompt):
        if not os.path.exists(f"{DOCS}/{name}"):
            gm.skip("the page is not here")
        self.prompt, self.update = prompt, bool(os.environ.get("GETMNT_UPDATE"))
        self.file = open(f"{DOCS}/{name}", "r+" if self.update else "r", encoding="utf-8")
        self.text = self.file.read()
        self.count, self.seconds = 0, {}      # commands that were run, and how long each took

    def pieces(self, known):
        """The page in pieces: text, or a command with what it shows.  A word behind "console"
        is an option or command without which a block is no more than text."""
        pieces, shown = [], False
        for line in self.text.splitlines(True):
            if line.startswith("```"):
                words = line[3:].split()
                shown = words[:1] == ["console"] and all(word in known for word in words[1:])
                pieces.append(line)
            elif shown and line.startswith(self.prompt):
                pieces.append([line.removeprefix(self.prompt).rstrip("\n"), ""])
            elif shown:
                pieces[-1][1] += line
            else:
                pieces.append(line)
        return pieces

    def run(self, known, plain, want=lambda command: "0", before=lambda command: None):
        """Run it.  plain(command, text) takes from what is printed what differs from run to
        run; want(command) is the status that a command must have; before(command) waits for
        what it needs."""
        pieces = self.pieces(known)
        shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True,
                                 env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb",
                                      "HOME": os.environ.get("HOME", "/")})
        for piece in pieces:
            if isinstance(piece, str):
                continue
            command, shown = piece
            before(command)
            self.count += 1
            began = time.monotonic()
            # What reads its standard input is not to read what comes next.
            shell.stdin.write(f"{{ {command}\n}} </dev/null\nstatus=$?; echo; echo {END}; echo $status\n")
            shell.stdin.flush()
            text = ""
            for line in iter(shell.stdout.readline, ""):
                if line == END + "\n":
                    break
                text += line
            status = shell.stdout.readline().strip()
            self.seconds[command] = time.monotonic() - began
            text = text.removesuffix("\n")
            if text and not text.endswith("\n"):
                text += "\n"
            text = plain(command, text)
            gm.expect(status == want(command), f"{command}: status {status}: {text}")
            piece[1] = text
            if not self.update:
                gm.expect(text == shown, f"{command}: the page shows\n{shown}and it is\n{text}")
        shell.stdin.close()
        shell.wait()
        if self.update:
            self.file.seek(0)
            self.file.truncate()
            self.file.write("".join(piece if isinstance(piece, str) else f"{self.prompt}{piece[0]}\n{piece[1]}"
                                    for piece in pieces))
        self.file.close()
        print(f"  {self.count} commands of the page")
