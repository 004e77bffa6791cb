"""Commands run on a terminal."""
import codecs
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

from harness import check
from harness.screen import Screen
from harness.server import program_path


def on_terminal(server, *arguments, columns=80, answer=None, **environment):
    """Runs a command on a terminal of this width; returns its exit code and everything it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {"SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token, "TERM": "xterm"}
    process = subprocess.Popen([program_path(server.tree), *arguments], stdin=theirs, stdout=theirs, stderr=theirs,
                               env=server.full_environment() | known | environment, start_new_session=True)
    os.close(theirs)
    if answer is not None:
        os.write(ours, answer.encode())
    shown = b""
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(ours)
    return process.wait(60 * check.patience()), shown.decode().replace("\r\n", "\n")


class Terminal:
    """A command on a terminal of its own, typed to and read from as it goes: `shown` is everything that was written,
    `screen` what a person sees."""

    def __init__(self, server, *arguments, columns=100, rows=24, program=None, **environment):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        known = {"SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token, "TERM": "xterm",
                 "HOME": server.directory}
        words = program or [program_path(server.tree), *arguments]
        self.process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs,
                                        env=server.full_environment() | known | environment,
                                        preexec_fn=own_terminal)
        os.close(theirs)
        self.screen = Screen(columns, rows)
        self.shown = ""
        self.seen = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()
        os.close(self.ours)

    def read(self, seconds):
        """Takes what is there; False when the command has closed the terminal or said nothing in time."""
        if not select.select([self.ours], [], [], max(0, seconds))[0]:
            return False
        try:
            data = os.read(self.ours, 65536)
        except OSError:
            return False
        text = self.decoder.decode(data)
        self.shown += text
        self.screen.feed(text)
        return bool(data)

    def wait(self, text, seconds=20):
        """Waits until this is written after what was waited for before; returns what stands between."""
        deadline = check.deadline_after(seconds)
        while text not in self.shown[self.seen:]:
            if not self.read(deadline - time.monotonic()) and text not in self.shown[self.seen:]:
                check.fail(f"{text!r} was not shown; after what was: {self.shown[self.seen:]!r}\n{self.screen.text()}")
        at = self.shown.index(text, self.seen)
        between, self.seen = self.shown[self.seen:at], at + len(text)
        return between

    def until(self, holds, what, seconds=20):
        """Waits until the screen is as wanted: holds(screen); returns the screen."""
        deadline = check.deadline_after(seconds)
        while not holds(self.screen):
            if not self.read(deadline - time.monotonic()) and not holds(self.screen):
                place = f"cursor {self.screen.row}, {self.screen.column}"
                check.fail(f"{what}: the screen is\n{self.screen.text()}\n{place}")
        return self.screen

    def see(self, text, seconds=20):
        """Waits until the text stands on the screen, in one row."""
        return self.until(lambda screen: any(text in line for line in screen.lines()), f"{text!r} is seen", seconds)

    def line(self, text, seconds=20):
        """Waits until the cursor stands right after this text, which is all of its row."""
        return self.until(lambda screen: screen.line_at_cursor() == (text.rstrip(), text.rstrip()),
                          f"the line {text!r} with the cursor at its end", seconds)

    def settle(self, seconds=0.3):
        """Reads until nothing more comes."""
        while self.read(seconds):
            pass
        return self.screen

    def type(self, keys):
        """Presses keys; "\\r" is Enter, "\\x03" Ctrl-C, "\\x04" Ctrl-D."""
        data = keys.encode()
        while data:
            data = data[os.write(self.ours, data[:1024]):]
            self.read(0)

    def paste(self, text):
        """As a terminal pastes: marked, line ends as carriage returns."""
        self.type("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")

    def resize(self, columns, rows=24):
        """The window gets another size."""
        self.settle(0.05)
        self.screen.resize(columns, rows)
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.process.pid, signal.SIGWINCH)

    def end(self, seconds=20):
        """Waits for the end of the command; returns its exit code."""
        deadline = check.deadline_after(seconds)
        while self.read(deadline - time.monotonic()):
            pass
        return self.process.wait(max(1, deadline - time.monotonic()))

    def modes(self):
        """The modes of the terminal."""
        return termios.tcgetattr(self.ours)


def own_terminal():
    """In the new process: the terminal is the one that Ctrl-C comes from."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
