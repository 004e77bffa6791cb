"""What the tests of real agents share: their programs, a model that answers by what it is asked, and a conversation.

The programs come from npm (tests/clients/package.json); without them these tests are skipped.
"""
import json
import os

from harness import check, people
from harness.model_server import FORMATS, ModelServer
from harness.server import ROOT

MODULES = os.path.join(ROOT, "tests", "clients", "node_modules")


def program(*path):
    """The path of a program out of a package; skips the test when it was not installed."""
    found = os.path.join(MODULES, *path)
    if not os.path.exists(found):
        raise check.Skip(f"no {os.path.join(*path)}: tools/setup test")
    return found


class Responses:
    """The events of one answer in the format of OpenAI's responses."""

    def __init__(self, step, number):
        self.text, self.id = step.get("text", ""), f"resp_{number}"

    @staticmethod
    def event(kind, **members):
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | members)}\n\n"

    def item(self, text, status):
        content = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        return {"type": "message", "id": "msg_1", "role": "assistant", "status": status, "content": content}

    def begin(self):
        yield self.event("response.created", response={"id": self.id, "status": "in_progress", "output": []})
        yield self.event("response.output_item.added", output_index=0, item=self.item("", "in_progress"))

    def said(self):
        yield self.event("response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=self.text)

    def tools(self):
        return []

    def end(self, _):
        done = self.item(self.text, "completed")
        usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
        yield self.event("response.output_item.done", output_index=0, item=done)
        yield self.event("response.completed", response={"id": self.id, "status": "completed", "output": [done],
                                                         "usage": usage})


FORMATS["/v1/responses"] = Responses


class Gemini:
    """The events of one answer in the format of Gemini's streamGenerateContent."""

    def __init__(self, step, _):
        self.text = step.get("text", "")

    @staticmethod
    def event(parts, **members):
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}} | members
        usage = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
        return f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\n\n"

    def begin(self):
        return []

    def said(self):
        yield self.event([{"text": self.text}])

    def tools(self):
        return []

    def end(self, _):
        yield self.event([], finishReason="STOP")


FORMATS["/v1beta/models/gemini-2.5-flash:streamGenerateContent"] = Gemini


def messages_of(body):
    """What was said so far, whatever the format calls it."""
    contents = [{"role": one.get("role"), "content": one.get("parts", [])} for one in body.get("contents", [])]
    return body.get("messages") or body.get("input") or contents


def text_of(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


class Model(ModelServer):
    """Answers by what was said since it spoke last: `answers` maps a word to a step. Requests without tools want a
    title."""

    def __init__(self, answers):
        super().__init__([{}])
        self.answers = answers

    def take(self, path, headers, body):
        number, _ = super().take(path, headers, body)
        return number, self.step_for(self.requests[number]["body"] or {})

    def step_for(self, body):
        messages = messages_of(body)
        if not body.get("tools"):
            return {"text": "A title"}
        if messages and messages[-1].get("role") == "tool":
            return {"text": "The tool said: " + text_of(messages[-1])[:200]}
        spoken = [at for at, message in enumerate(messages) if message.get("role") == "assistant"]
        said = " ".join(text_of(message) for message in messages[spoken[-1] + 1 if spoken else 0:])
        return next((step for word, step in self.answers.items() if word in said), {"text": "Nothing to say."})

    def asked(self, word):
        """The bodies of requests with tools in whose messages this word stands."""
        bodies = [one["body"] for one in self.requests if one["body"] and one["body"].get("tools")]
        return [body for body in bodies if word in json.dumps(messages_of(body))]


def serve(env, model, name, command, environment, permissions=(), options=()):
    """A server with one acp agent that works without a sandbox."""
    agents = os.path.join(env.directory, "agents")
    os.makedirs(agents, exist_ok=True)
    definition = {"id": name, "driver": "acp", "command": command, "sandbox": {"kind": "none"},
                  "environment": environment, "permissions": list(permissions)}
    with open(os.path.join(agents, f"{name}.agent.yaml"), "w", encoding="utf-8") as file:
        json.dump(definition, file)
    return env.server(options=["--agents", agents, "--sandbox-unprotected",
                               "--acp-start-ms", "100s", *options])


class Talk:
    """A conversation with one agent."""

    def __init__(self, server, agent):
        self.client = server.client(timeout_s=60)
        self.path = people.session(self.client, agent=agent)

    def use(self, server):
        """After a restart."""
        self.client = server.client(timeout_s=60)

    def send(self, text):
        return self.client.post(self.path + "/messages", {"text": text}, expect=202).json()

    def events(self, *types):
        query = f"?limit=1000&types={','.join(types)}" if types else "?limit=1000"
        return self.client.get(self.path + "/events" + query, expect=200).json()["events"]

    def ends(self):
        return [event["metadata"] for event in self.events("turn.ended")]

    def wait_end(self, count, seconds=150):
        """The end of the turn with this number, from 1."""
        check.eventually(lambda: len(self.ends()) >= count, f"turn {count} is over", seconds)
        return self.ends()[count - 1]

    def say(self, text):
        """Says it and waits for the end of its turn: what the agent said in it, and how it ended."""
        before, count = len(self.events()), len(self.ends())
        self.send(text)
        end = self.wait_end(count + 1)
        new = [event for event in self.events()[before:] if event["type"] == "agent.message"]
        return "".join(part.get("text", "") for event in new for part in event["content"]), end

    def asks(self, state="pending"):
        asks = self.client.get(self.path + "/asks", expect=200).json()["asks"]
        return [ask for ask in asks if ask["state"] == state]

    def wait_ask(self, seconds=90):
        check.eventually(lambda: self.asks(), "a person is asked", seconds)
        return self.asks()[0]

    def answer(self, ask, **answer):
        return self.client.post(f"{self.path}/asks/{ask['id']}/answer", answer, expect=200).json()
