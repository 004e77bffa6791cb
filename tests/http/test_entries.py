"""A message and an answer mean the same through every entry: what one refuses, all refuse, and nothing is changed. The
bodies are made from the server's own document and from its table of parts."""
import json
import re

from harness import check, people, test
from harness.talk import claim, talk
from harness.tree import read, report
from harness.websocket import TEXT as TEXT_FRAME, encode_frame

SAMPLES = {"string": "x", "integer": 7, "boolean": True, "object": {"a": 1}, "array": ["x"]}
TEXT = [{"type": "text", "text": "x"}]
# Names of their own that the WebSocket gives, and codes it gave before it shared its checks.
OWN_CODES = {("mode", "invalid_member"): "invalid_message", ("thread_id", "invalid_member"): "invalid_message",
             ("decision", "invalid_member"): "invalid_decision"}
OVER_HTTP_ONLY = {"message_id"}


def schema_of(server, path):
    document = server.anonymous().get("/api/openapi.json", expect=200).json()
    return document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]


def wrong_values(schema):
    """Values that a member's schema does not allow."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    yield from (sample for kind, sample in SAMPLES.items() if kinds and kind not in kinds)
    if "enum" in schema:
        yield from ("no such word", "")
    if schema.get("maxLength"):
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield ""
    if "maximum" in schema:
        yield from (schema["minimum"] - 1, schema["maximum"] + 1, 1.5, 10 ** 30)


def part_table():
    """(name, needs) of every kind of part in src/domain/message_parts.c."""
    text = read("src/domain/message_parts.c")
    rows = re.findall(r'\{"([\w*-]+)", "([^"]*)"\}', text[text.index("part_kinds[] = {"):])
    check.true(len(rows) > 10, "the table of parts was read")
    return rows


def wrong_contents():
    """Contents of a message that are no parts."""
    for name, needs in part_table():
        for need in needs.split():
            whole = {"type": name.replace("*", "x")} | {one.split("|")[0]: "x" for one in needs.split() if one != need}
            yield [whole]
            yield TEXT + [whole]
    yield from ([], [1], [None], [[]], [{}], [{"type": "no-such-part"}], [{"type": 7, "text": "x"}],
                [{"type": "text", "text": 7}], [{"type": "text", "text": None}])


WRONG_MEMBERS = (
    {"text": "x", "metadata": {"prompt_id": "forged"}}, {"text": "x", "metadata": {"sender": {"email": "a@b"}}},
    {"text": "x", "metadata": {"routing": {}}}, {"text": "x", "attachments": [{"type": "image"}]},
    {"text": "x", "attachments": [7]}, {"text": "x", "attachments": [{"type": "a", "url": "u", "data": "d"}]},
    {"text": "x", "attachments": [{"type": "a", "url": "u"}] * 33}, {"text": "x", "sender": {"role": "owner"}},
    {"text": "x", "sender": {"email": 7}}, {"text": "x", "content": TEXT}, {"text": ""}, {}, {"text": None},
    {"text": "x", "model": "other"}, {"text": "x", "channelType": "c", "channelId": "7"}, {"text": "x", "role": "system"},
    {"text": "x" * 200001}, {"content": [{"type": "text", "text": "y" * 2000000}]},
    {"text": "x", "metadata": {"a": "z" * 2000000}})


def bodies(schema, base):
    """(the member that is wrong, body)."""
    for name, member in schema["properties"].items():
        for value in wrong_values(member):
            yield name, ({} if name in ("text", "content") else base) | {name: value}
    yield "no_such_member", base | {"no_such_member": 1}


class Socket:
    """What a WebSocket answers to a message: status and code, 0 when it was accepted."""

    def __init__(self, client, path):
        self.socket = client.websocket(path + "/ws")
        self.number = 0

    def send(self, type, body):
        self.number += 1
        self.socket.send({"type": type, "id": self.number, **body})
        frame = self.socket.until(lambda one: one.get("type") == "result" and one["id"] == self.number, 20)[-1]
        return (0, None) if frame["ok"] else (frame["error"]["status"], frame["error"]["code"])


def over_http(answer):
    return (0, None) if answer.status < 300 else (answer.status, answer.json()["code"])


def last_sequence(client, path):
    return client.get(path, expect=200).json()["last_sequence"]


@test(options=["--prompts-queued-max", "10000"])
def messages_are_refused_through_every_entry(server):
    client = server.client(timeout_s=30)
    path = talk(client, prompt="Begin")
    claim(client)  # what is accepted waits
    socket = Socket(client, path)
    wrong = list(bodies(schema_of(server, "/api/sessions/{id}/messages"), {"text": "x"}))
    wrong = [(name, body) for name, body in wrong if body != {"content": "x"}]  # over WebSocket, that is a text
    wrong += [("content", {"content": content}) for content in wrong_contents()]
    wrong += [("several", body) for body in WRONG_MEMBERS]
    problems, refused = [], 0
    for name, body in wrong:
        before = last_sequence(client, path)
        status, code = over_http(client.post(path + "/messages", body))
        if not status:
            problems.append(f"accepted: {json.dumps(body)[:200]}")
            continue
        refused += 1
        codes = {code, OWN_CODES.get((name, code), code)} | ({"unknown_member"} if name in OVER_HTTP_ONLY else set())
        got = {"append": over_http(client.post(path + "/messages?append=true", body)), "socket": socket.send("prompt", body)}
        if name in ("content", "several") and set(body) == {"content"}:
            event = {"type": "user.message", "content": body["content"]}
            if body["content"]:
                got["event"] = over_http(client.post(path + "/events", {"events": [event]}))
                codes |= {"invalid_content", "invalid_event"}
        problems += [f"{entry}: {answer}, not {status} {sorted(codes)}: {json.dumps(body)[:200]}"
                     for entry, answer in got.items() if answer[0] != status or answer[1] not in codes]
        if last_sequence(client, path) != before:
            problems.append(f"the log grew: {json.dumps(body)[:200]}")
    check.true(refused > 100, f"{refused} bodies")
    report(problems, "entries")


@test
def messages_are_kept_alike_through_every_entry(server):
    """Whatever is accepted leaves the same message, whichever way it came."""
    client = server.client()
    bodies = ({"text": "x"}, {"content": TEXT}, {"content": TEXT, "metadata": {"a": [1]}},
              {"text": "x", "attachments": [{"type": "url", "url": "https://example.test/a"}]},
              {"text": "x", "thread_id": "t", "mode": "followup", "priority": 3},
              {"text": "x", "sender": {"channel": "c", "display_name": "Anna"}, "mentioned": True})
    for body in bodies:
        kept = []
        for send in (lambda path: client.post(path + "/messages", body, expect=202),
                     lambda path: check.equal(Socket(client, path).send("prompt", body), (0, None))):
            path = talk(client)
            send(path)
            [event] = client.get(path + "/events?types=user.message", expect=200).json()["events"]
            event["metadata"].pop("prompt_id")
            kept.append({name: event.get(name) for name in ("content", "metadata", "thread_id", "actor", "role")})
        check.equal(kept[0], kept[1], json.dumps(body))


@test
def answers_are_refused_through_every_entry(server):
    client = server.client()
    path = talk(client, prompt="Begin")
    held = claim(client)
    socket = Socket(client, path)
    client.post(path + "/asks", {"id": "q", "kind": "approval", "tool": "t", "arguments": {"a": 1}}, headers=held, expect=201)
    wrong = list(bodies(schema_of(server, "/api/sessions/{id}/asks/{ask_id}/answer"), {"decision": "once"}))
    wrong += [("several", body) for body in ({}, {"decision": "once", "grant": "no such grant"}, {"decision": None})]
    problems = []
    for name, body in wrong:
        status, code = over_http(client.post(path + "/asks/q/answer", body))
        got = socket.send("answer", body | {"ask_id": "q"})
        if not status or got[0] != status or got[1] not in (code, OWN_CODES.get((name, code), code)):
            problems.append(f"socket: {got}, not {status} {code}: {json.dumps(body)[:200]}")
    report(problems, "answers")
    check.equal(client.get(path + "/asks/q", expect=200).json()["state"], "pending")


@test
def every_message_over_websocket_has_an_answer(server):
    """Unknown types, members that do nothing, no id, an endless id, what is no object: one result each."""
    client = server.client()
    path = people.session(client, agent="nobody")
    with client.websocket(path + "/ws") as socket:
        def result():
            return socket.until(lambda frame: frame.get("type") == "result")[-1]
        for message, id, code in (({"type": "revert", "id": 1}, 1, "unknown_message"), ({"id": 2}, 2, "unknown_message"),
                                  ({"type": 7, "id": "3"}, "3", "unknown_message"),
                                  ({"type": "abort", "id": 4, "channelType": "c"}, 4, "unknown_member"),
                                  ({"type": "prompt", "text": ""}, None, "invalid_length"),
                                  ({"type": "prompt", "id": "i" * 1000, "text": "x"}, None, "invalid_message"),
                                  ([], None, "invalid_message"), ("{", None, "invalid_json"), ("", None, "invalid_json"),
                                  ('{"type":"prompt","id":5,"text":"x","text":"y"}', None, "invalid_json")):
            socket.send(message)
            got = result()
            check.equal((got["id"], got["ok"], got["error"]["code"]), (id, False, code), str(message)[:80])
    check.equal(client.get(path + "/events?types=user.message", expect=200).json()["events"], [])


@test(on=("sqlite", "postgres"))
def results_that_nobody_reads_do_not_pile_up(server):
    """A client that sends and never reads is let go; the server holds a bounded part of its answers."""
    client = server.client(timeout_s=60)
    path = people.session(client, agent="nobody")
    resident = lambda: int(re.search(r"VmRSS:\s+(\d+) kB", open(f"/proc/{server.process.pid}/status").read()).group(1))
    before = resident()
    for message in ({"type": "ping"}, {"type": "prompt", "id": "i" * 190, "text": ""}):
        socket = client.websocket(path + "/ws")
        frame = encode_frame(TEXT_FRAME, json.dumps(message).encode()) * 1000
        try:
            for _ in range((48 << 20) // len(frame)):
                socket.connection.send(frame)
        except OSError:
            pass  # it was let go
        check.true(resident() - before < 16 * 1024, f"{message['type']}: {(resident() - before) // 1024} MiB more")
        socket.connection.close()
