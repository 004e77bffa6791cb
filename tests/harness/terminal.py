"""Commands run on a terminal."""
import fcntl
import os
import pty
import struct
import subprocess
import termios

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
