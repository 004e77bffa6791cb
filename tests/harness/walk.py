"""Follows a document the way a reader does: runs its blocks in order, in one directory, and compares what they print.

The word behind ```sh says how a block ends:
    sh           by itself, with exit code 0
    sh server    it stays running; another one, or the end of the document, stops it with Ctrl-C
    sh stream    with Ctrl-C, once it has printed the `text` block that follows
    sh terminal  on a terminal; the reader says hello, waits for the answer, and leaves with Ctrl-D
A `text` block is what the block before it prints, somewhere in its output; … stands for anything.

Run as a program inside a network namespace: `walk.py DOCUMENT DIRECTORY`.
"""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

PATIENCE_S = 60 * float(os.environ.get("SOJOURN_TEST_PATIENCE", "1"))
BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.M | re.S)


def blocks_of(document):
    """(language, how it ends, text) of every fenced block that names a language."""
    return [found.groups() for found in BLOCK.finditer(document)]


def fail(block, why, shown):
    """Ends the walk."""
    sys.exit(f"{why}\n--- block\n{block}--- output\n{shown}")


def is_shown(expected, shown):
    """Whether the expected text stands somewhere in what was shown."""
    pattern = ".*?".join(re.escape(part) for part in expected.strip().split("…"))
    return re.search(pattern, shown.replace("\r\n", "\n"), re.S) is not None


class Reader:
    """A person with a directory, two terminals and patience."""

    def __init__(self, directory):
        self.directory = directory
        self.environment = dict(os.environ, HOME=os.path.join(directory, "home"), PWD=directory)
        self.server = None
        os.makedirs(self.environment["HOME"], exist_ok=True)

    def script(self, block):
        """The block as a script that stops at the first failure and keeps what it exported."""
        kept = os.path.join(self.environment["HOME"], "exported")
        before = f". {kept}\n" if os.path.exists(kept) else ""
        return f"set -eo pipefail\n{before}{block}\nexport -p >{kept}\n"

    def start(self, block, **streams):
        """The block as a process group of its own."""
        return subprocess.Popen(["bash", "-c", self.script(block)], cwd=self.directory, env=self.environment,
                                start_new_session=True, **streams)

    def run(self, block, expected):
        """A block that ends by itself."""
        result = self.start(block, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shown = result.communicate(timeout=PATIENCE_S)[0].decode()
        if result.returncode != 0:
            fail(block, f"the block ended with {result.returncode}", shown)
        if re.search(r'"code": ?"', shown):
            fail(block, "a request was refused", shown)
        if expected and not is_shown(expected, shown):
            fail(block, f"this was not printed:\n{expected}", shown)

    def follow(self, process, block, expected):
        """Reads until the expected text is there."""
        shown, deadline = b"", time.monotonic() + PATIENCE_S
        while not is_shown(expected, shown.decode(errors="replace")):
            if not select.select([process.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
                fail(block, f"this was not printed in time:\n{expected}", shown.decode(errors="replace"))
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                fail(block, f"it ended before it printed this:\n{expected}", shown.decode(errors="replace"))
            shown += data

    def stream(self, block, expected):
        """A block that is left with Ctrl-C."""
        process = self.start(block, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.follow(process, block, expected)
        self.interrupt(process)

    def serve(self, block, expected):
        """A block that stays running."""
        self.stop_server()
        self.server = self.start(block, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.follow(self.server, block, expected or "Sojourn runs at http://127.0.0.1:7070")

    def interrupt(self, process):
        """Ctrl-C, and the end."""
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)

    def stop_server(self):
        """Ctrl-C in the first terminal."""
        if self.server:
            self.interrupt(self.server)
            self.server = None

    def talk(self, block, _):
        """A block on a terminal."""
        ours, theirs = pty.openpty()
        process = self.start(block, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=lambda: None)
        os.close(theirs)
        shown = self.read_until(ours, block, "demo", b"")
        os.write(ours, b"hello\r")
        shown = self.read_until(ours, block, "hello", shown)
        os.write(ours, b"\x03")
        time.sleep(0.5)
        os.write(ours, b"\x04")
        if process.wait(timeout=PATIENCE_S) != 0:
            fail(block, f"it ended with {process.returncode}", shown.decode(errors="replace"))
        os.close(ours)

    def read_until(self, terminal, block, text, shown):
        """What a terminal shows until this text is there."""
        start, deadline = len(shown), time.monotonic() + PATIENCE_S
        while text.encode() not in shown[start:]:
            if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
                fail(block, f"{text!r} was not shown", shown.decode(errors="replace"))
            shown += os.read(terminal, 65536)
        return shown


def walk(document, directory):
    """All blocks in order."""
    reader = Reader(directory)
    ways = {None: reader.run, "server": reader.serve, "stream": reader.stream, "terminal": reader.talk}
    with open(document, encoding="utf-8") as file:
        blocks = blocks_of(file.read())
    try:
        for (language, how, text), following in zip(blocks, blocks[1:] + [("", None, "")]):
            if language == "sh":
                ways[how](text, following[2] if following[0] == "text" else None)
                print(f"ok: {text.splitlines()[0]}", flush=True)
    finally:
        reader.stop_server()


if __name__ == "__main__":
    walk(*sys.argv[1:])
