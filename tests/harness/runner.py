"""A runner that the test plays: an agent that runs elsewhere and takes its prompts over a WebSocket."""
from harness import check, people


def begin(client, **agent):
    """The path of a session whose agent is a runner's."""
    client.post("/api/agents", {"id": "remote", "driver": "runner", **agent})
    return people.session(client, agent="remote")


def runner_token(client, path):
    return client.post(path + "/runner-token", {}, expect=201).json()["token"]


class Runner:
    """One connection of a runner; `init` is what it was told first."""

    def __init__(self, client, path, token=None, idle=True):
        self.client = client.with_token(token or runner_token(client, path))
        self.socket = self.client.websocket(path + "/ws?role=runner")
        self.init = self.socket.next_json()
        check.equal(self.init["type"], "init")
        if idle:
            self.say("agentStatus", status="idle")

    def say(self, type, **members):
        self.socket.send({"type": type, **members})

    def hear(self, type, seconds=10):
        message = self.socket.next_json(seconds)
        check.equal(message["type"], type, str(message))
        return message

    def nothing_is_said(self):
        """Whatever was on its way to it comes before the answer to a ping."""
        self.say("ping")
        self.hear("pong")

    def speak(self, text, id="m1", finalize=True):
        self.say("message.create", id=id)
        for piece in text.split(" "):
            self.say("message.part.text-delta", id=id, delta=piece)
        if finalize:
            self.say("message.finalize", id=id, reason="end_turn")

    def complete(self, prompt, **members):
        self.say("complete", messageId=prompt["messageId"], turn=prompt["turn"], **members)

    def vanish(self):
        self.socket.connection.abort()
