"""From a provider's piece to the viewer's frame: nothing is held up without need, and nothing is lost when very many
pieces come at once."""
import json
import os
import socket
import statistics
import threading
import time

from harness import check, people
from harness.suite import test
from harness.talk import send, watch

AGENT = """
id: relayed
driver: model
provider: openai
model: any
system_prompt: You go on.
sandbox: {kind: none}
"""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def choice(delta, finish=None):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n"


class Line:
    """One answer of the provider, said piece by piece."""

    def __init__(self, connection):
        self.connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        text = b""
        while b"\r\n\r\n" not in text:
            text += connection.recv(65536)
        head, _, body = text.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        while len(body) < length:
            body += connection.recv(65536)
        self.prompt = json.loads(body)["messages"][-1]["content"]
        connection.sendall(HEAD)

    def put(self, data):
        self.connection.sendall(b"%x\r\n%s\r\n" % (len(data), data))

    def say(self, text):
        self.put(choice({"content": text}))

    def finish(self):
        self.put(choice({}, "stop") + DONE)
        self.connection.sendall(b"0\r\n\r\n")
        self.connection.close()


def start(env, listener, options):
    """A server whose agent asks whoever listens there; its client."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "relayed.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT)
    environment = {"OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
                   "OPENAI_BASE_URL": f"http://127.0.0.1:{listener.getsockname()[1]}/v1"}
    return env.server(["--agents", folder, *options], environment).client()


def listen():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    listener.settimeout(30)
    return listener


@test
def a_lone_piece_is_not_held_up(env):
    """Pieces that come one by one are sent on at once, although pieces may wait for each other for 100 ms."""
    with listen() as listener:
        client = start(env, listener, ["--model-gather-us", "100000"])
        path = people.session(client, agent="relayed")
        took = []
        with watch(client, path) as stream:
            send(client, path, "Go on")
            line = Line(listener.accept()[0])
            for number in range(12):
                time.sleep(0.2)  # the pace of the provider
                began = time.monotonic()
                line.say(f"<{number}>")
                stream.until(lambda frame: frame.event == "delta" and f"<{number}>" in frame.data, 30)
                took.append(time.monotonic() - began)
            line.finish()
            stream.until(lambda frame: frame.event == "event" and frame.json()["type"] == "turn.ended", 30)
        check.true(statistics.median(took) < 0.03, f"half of the pieces take less than 30 ms: {took}")


def read_answer(stream, answers, index):
    """Puts together what the viewer of a stream is shown live."""
    for frame in stream.until(lambda one: one.event == "event" and one.json()["type"] == "turn.ended", 60):
        if frame.event == "delta":
            answers[index] += frame.json()["text"]


@test
def crowded_pieces_arrive_whole(env):
    """Twelve streams at once, gathered and not gathered in turn: every viewer gets every piece once and in order."""
    count, rounds = 12, 60
    with listen() as listener:
        client = start(env, listener, ["--model-gather-us", "5000", "--sessions-per-user-max", "100"])
        paths = [people.session(client, agent="relayed") for _ in range(count)]
        streams = [watch(client, path) for path in paths]
        answers = [""] * count
        lines = []
        for path in paths:
            send(client, path, "Go on")
            lines.append(Line(listener.accept()[0]))
        readers = [threading.Thread(target=read_answer, args=(stream, answers, index))
                   for index, stream in enumerate(streams)]
        for reader in readers:
            reader.start()
        for burst in range(3):
            for number in range(rounds):
                for line in lines:
                    line.say(f"{burst}.{number} ")
                time.sleep(0.004)  # the pace of the provider
            time.sleep(0.3)
        for line in lines:
            line.finish()
        for reader in readers:
            reader.join()
        for stream in streams:
            stream.close()
        whole = "".join(f"{burst}.{number} " for burst in range(3) for number in range(rounds))
        check.equal(answers, [whole] * count)
