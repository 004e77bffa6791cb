"""Commands run on a terminal."""
import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from harness import check
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
    """A command on a terminal of its own, typed to and read from as it goes."""

    def __init__(self, server, *arguments, columns=100, **environment):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        known = {"SOJOURN_URL": server.address, "SOJOURN_TOKEN": server.token, "TERM": "xterm",
                 "HOME": server.directory}
        self.process = subprocess.Popen([program_path(server.tree), *arguments], stdin=theirs, stdout=theirs,
                                        stderr=theirs, env=server.full_environment() | known | environment,
                                        preexec_fn=own_terminal)
        os.close(theirs)
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
        self.shown += self.decoder.decode(data)
        return bool(data)

    def wait(self, text, seconds=20):
        """Waits until this is shown behind what was waited for before; returns what stands between."""
        deadline = check.deadline_after(seconds)
        while text not in self.shown[self.seen:]:
            if not self.read(deadline - time.monotonic()) and text not in self.shown[self.seen:]:
                check.fail(f"{text!r} was not shown; behind what was: {self.shown[self.seen:]!r}")
        at = self.shown.index(text, self.seen)
        between, self.seen = self.shown[self.seen:at], at + len(text)
        return between

    def type(self, keys):
        """Presses keys; "\\r" is Enter, "\\x03" Ctrl-C, "\\x04" Ctrl-D."""
        os.write(self.ours, keys.encode())

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
