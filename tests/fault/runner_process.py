"""A runner in a process of its own, so that it can be killed: thinks, calls a tool when a person allows it, and says what
came of it. It remembers nothing: when the connection is gone it connects again and takes what it is given.

    runner_process.py ADDRESS SESSION_PATH TOKEN
"""
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.check import Failure  # noqa: E402
from harness.client import Client  # noqa: E402

AGAIN_S = 0.02  # between two tries to connect
PATIENCE_S = 120


class Lost(Exception):
    """The connection, or the turn."""


class Runner:
    """One connection."""

    def __init__(self, address, path, token):
        self.socket = Client(address, token).websocket(path + "/ws?role=runner")

    def say(self, type, **members):
        self.socket.send({"type": type, **members})

    def hear(self):
        message = self.socket.next_json(PATIENCE_S)
        if message["type"] == "abort":
            raise Lost
        return message

    def work(self):
        """Takes prompts until the connection is lost."""
        self.hear()  # init
        while True:
            self.say("agentStatus", status="idle")
            prompt = self.hear()
            while prompt["type"] != "prompt":
                prompt = self.hear()
            try:
                self.answer(prompt)
            except Lost:
                continue

    def answer(self, prompt):
        """The turn. Its asks and calls have the same names in every attempt."""
        name = prompt["messageId"]
        call = {"callId": name + ".c", "toolName": "deploy"}
        self.say("message.part.reasoning-delta", id="m1", delta="Hm. ")
        self.say("message.part.text-delta", id="m1", delta="I deploy. ")
        self.say("message.part.tool-update", **call, status="pending", args={"to": prompt["content"]})
        self.say("approval", questionId=name + ".a", **call, text="Deploy?", args={"to": prompt["content"]})
        heard = self.hear()
        while heard.get("questionId") != name + ".a":
            heard = self.hear()
        allowed = heard.get("decision") == "once"
        self.say("message.part.tool-update", **call, status="completed" if allowed else "error", result=heard["state"])
        self.say("message.part.text-delta", id="m2", delta="Deployed." if allowed else "Not deployed.")
        self.say("message.finalize", id="m2", reason="end_turn")
        self.say("complete", messageId=name, turn=prompt["turn"], usage={"input_tokens": 1})


def main():
    parent = os.getppid()
    while os.getppid() == parent:
        try:
            Runner(*sys.argv[1:]).work()
        except (Failure, OSError):
            time.sleep(AGAIN_S)


if __name__ == "__main__":
    main()
