"""Nothing that the server started outlives it: not what ignores signals, nor what left its session, group and parent."""
import os
import secrets
import signal

from harness import check, people
from harness.suite import test
from harness.talk import send

STUBBORN = "trap '' TERM HUP INT QUIT USR1; while :; do sleep 0.05; done"
# One in every way to get away from who started it; a shell starts each, and its last argument is the mark. Then the
# shell stops its own parent, so that it notices nothing.
WAYS = ("sh -c '{0}' {1} &", "(setsid sh -c '{0}' {1} &) &", "(setsid setsid sh -c '(sh -c \"$0\" $1 &)' '{0}' {1} &)",
        "env -i /usr/bin/setsid /bin/sh -c '{0}' {1} </dev/null >/dev/null 2>&1 &", "(nohup sh -c '{0}' {1} >/dev/null 2>&1 &)")
GONE_S = 1


def script(mark):
    quoted = STUBBORN.replace("'", "'\\''")
    return "\n".join(way.format(quoted, mark) for way in WAYS) + "\nkill -STOP $PPID\nsleep 100"


def marked(mark):
    """The processes of the machine that carry it as an argument."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if mark.encode() in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def start(env, kind):
    """A server under which the stubborn run; their mark."""
    mark = secrets.token_hex(8)
    server = env.server(["--sandbox-unprotected"] if kind == "none" else [])
    client = server.client()
    client.post("/api/agents", {"id": "stubborn", "driver": "acp", "command": ["/bin/sh", "-c", script(mark)],
                                "sandbox": {"kind": kind}}, expect=201)
    send(client, people.session(client, agent="stubborn"), "begin")
    check.eventually(lambda: len(marked(mark)) >= len(WAYS), "all of them run", 30)
    return server, client, mark


def check_gone(mark, seconds=GONE_S):
    try:
        check.eventually(lambda: not marked(mark), "what the server started ends", seconds)
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


@test(on=("sqlite", "sqlite asan"))
def killed(env):
    """kill -9: the server itself can do nothing any more."""
    for kind in ("none", "local"):
        server, _, mark = start(env, kind)
        server.kill()
        check_gone(mark)


@test(on=("sqlite", "sqlite asan"))
def stopped(env):
    """An orderly stop leaves as little."""
    for kind in ("none", "local"):
        server, _, mark = start(env, kind)
        server.stop(40)
        check_gone(mark)


@test(on=("sqlite",))
def interrupted(env):
    """So does the end of a session, while the server goes on."""
    for kind in ("none", "local"):
        _, client, mark = start(env, kind)
        [session] = client.get("/api/sessions", expect=200).json()["sessions"]
        client.post(f"/api/sessions/{session['id']}/stop", {}, expect=200)
        check_gone(mark, 20)
