"""No request costs more than about its size: every place of every body of every route is made larger, and what the
server spends must not grow faster. Routes, members and messages come from the server's own tables."""
import importlib.util
import json
import os
import re

from harness import check, people, test
from harness.client import Closed, Deadline
from harness.growth import GROWTH_MAX, grown_bodies, growth, larger
from harness.runner import Runner, begin
from harness.server import ROOT
from harness.talk import send as say
from harness.tree import read, report

# What is refused for its size alone is not looked at: let it in.
WIDE = ["--metadata-bytes-max", "16MiB", "--entity-bytes-max", "16MiB", "--event-bytes-max", "16MiB",
        "--events-per-append-max", "10000", "--body-bytes-max", "16MiB", "--runner-frame-chars-max", "16000000",
        "--delta-bytes-max", "16MiB", "--bulk-delete-max", "1000", "--message-values-max", "1000000",
        "--prompt-chars-max", "10000000", "--prompts-queued-max", "100000", "--turns-per-session-max", "0",
        "--sessions-per-user-max", "100000", "--asks-pending-max", "1000", "--usage-bytes-max", "16MiB",
        "--introspections-max", "0", "--command-steps-max", "1000000000"]
SECTIONS = ("system_and_people", "agents", "outside", "sessions", "work", "tasks", "prompts", "asks", "sharing",
            "beginnings", "tunnels")
# Of these sections only the beginning: what follows waits for turns and sandboxes, or asks another tenant, and needs no
# body.
LONG = {"agents": 1, "sessions": 17, "tunnels": 1}


def openapi():
    """http/test_openapi as a module: it has one successful call for every route."""
    spec = importlib.util.spec_from_file_location("openapi", os.path.join(ROOT, "tests", "http", "test_openapi.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Reached(Exception):
    """The example stands before the call that is wanted."""


class Tenant:
    """A tenant of its own in place of the server: the examples give everything names that are taken once."""
    count = 0

    def __init__(self, server):
        Tenant.count += 1
        self.server = server
        self.owner = people.tenant(server.client(), f"growth-{Tenant.count}").client
        self.address = server.address

    def client(self):
        return self.owner

    def anonymous(self):
        return self.server.anonymous()


class Recorder(openapi().Example):
    """Runs one section of the examples up to its call number `until`, and keeps what that call would send."""

    def __init__(self, server, until):
        self.until = until
        self.count = 0
        super().__init__(Tenant(server))

    def call(self, method, path, body=None, headers=(), client=None, **parameters):
        self.count += 1
        if self.count > self.until:
            target = path
            for name, value in parameters.items():
                target = target.replace("{" + name + "}", value)
            self.wanted = (method, path, target, body, headers, client or self.client)
            raise Reached
        return super().call(method, path, body, headers, client, **parameters)


class Place:
    """A route with the world around it in which its example succeeds; made anew when a request changed that world."""

    def __init__(self, server, section, number):
        self.server, self.section, self.number = server, section, number
        self.wanted = None

    def make(self):
        """False when the section has no such call."""
        recorder = Recorder(self.server, self.number)
        try:
            getattr(recorder, self.section)()
        except Reached:
            self.wanted = recorder.wanted
            return True
        return False

    def send(self, body):
        method, _, target, _, headers, client = self.wanted
        self.accepted = True
        try:
            self.accepted = client.request(method, target, body, headers=headers).status < 300
        except Closed:  # refused before all of it was read
            pass

    def again(self):
        if self.accepted:
            self.make()


def schema_of(document, path, method):
    operation = document["paths"].get(path, {}).get(method.lower(), {})
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")


def judge(problems, where, ratio, spent):
    if ratio == float("inf"):
        problems.append(f"{where}: no answer")
    elif ratio and ratio > GROWTH_MAX:
        problems.append(f"{where}: four times as much costs {ratio:.1f} times as much ({spent:.0f} ms)")


def grow_section(server, document, section, seen, problems):
    clock = LONG.get(section, 1000)
    for number in range(clock):
        place = Place(server, section, number)
        if not place.make():
            return
        method, path, _, example, _, _ = place.wanted
        schema = schema_of(document, path, method)
        if schema is None or (method, path) in seen or path.startswith("/api/auth/"):
            continue
        seen.add((method, path))
        for what, make in grown_bodies(schema, example):
            judge(problems, f"{method} {path} {what}", *growth(server, place.send, make, place.again))


def grow_rest(server, document, seen, problems):
    """Routes no example reached with a body: somewhere that does not exist."""
    client = server.client()
    for path, methods in document["paths"].items():
        for method in methods:
            schema = schema_of(document, path, method)
            if schema is None or (method.upper(), path) in seen or path.startswith("/api/auth/"):
                continue
            target = re.sub(r"\{\w+\}", "x", path)
            send = lambda body: client.request(method.upper(), target, body)
            for what, make in grown_bodies(schema, {}):
                judge(problems, f"{method} {path} {what}", *growth(server, send, make))


@test(on=("sqlite",), options=WIDE, timeout_s=600)
def bodies_of_every_route(server):
    document = openapi().get_document(server)
    problems, seen = [], set()
    for section in SECTIONS:
        grow_section(server, document, section, seen, problems)
    check.true(len(seen) > 25, f"most routes with a body are reached by their examples: {len(seen)}")
    grow_rest(server, document, seen, problems)
    report(problems, "bodies")


@test(on=("sqlite",), options=WIDE, timeout_s=300)
def what_is_read_of_grown_sessions(server):
    """Every GET of a session, and its export, when its log holds large texts and objects."""
    document = openapi().get_document(server)
    client = server.client()
    problems = []
    for what, make in list(larger("x")) + list(larger({"a": 1})):
        sessions = {part: people.session(client) for part in (1, 0.25)}
        for part, path in sessions.items():
            grown = make(part)
            text = grown if isinstance(grown, str) else json.dumps(grown)
            content = [{"type": "text", "text": text}, {"type": "tool_call", "id": "c", "name": "t", "arguments": {"a": grown}}]
            for type in ("user.message", "agent.message"):
                client.post(path + "/events", {"events": [{"type": type, "content": content[:1]}]}, expect=201)
            client.post(path + "/events", {"events": [{"type": "agent.tool_call", "metadata": {"call_id": "c", "name": "t", "arguments": {"a": grown}}}]})
        reads = [("GET", route) for route, methods in document["paths"].items() if "get" in methods
                 and route.startswith("/api/sessions/{id}") and route.count("{") == 1 and not route.endswith("/ws")]
        for method, route in reads + [("POST", "/api/sessions/{id}/export")]:
            def send(part):
                target = route.replace("/api/sessions/{id}", sessions[part])
                return client.request(method, target, {} if method == "POST" else None)
            judge(problems, f"{method} {route} after {what}", *growth(server, send, lambda part: part))
    report(problems, "reads")


def message_types(file, table):
    """The types of a table of messages, and the names of members that its file reads."""
    text = read(file)
    rows = text[text.index(table):]
    types = re.findall(r'\{"([\w.-]+)",', rows[:rows.index("};")])
    names = re.findall(r'json_\w+\((?:said|word->said|spoken->said|one|part), "(\w+)"', text)
    return types, sorted(set(names) - {"type"})


# Each is told for every member of every type.
MESSAGE_WAYS = ("text 'eyJaaaaaaaaaaaaaa/'", "array of object", "object of texts")


class Talk:
    """A socket that is opened again when the server closed it; each message waits for the answer to a ping."""

    def __init__(self, open_socket):
        self.open_socket = open_socket
        self.socket = None

    def send(self, message):
        try:
            self.socket = self.socket or self.open_socket()
            self.socket.send(message)
            self.socket.send({"type": "ping"})
            self.socket.until(lambda frame: frame.get("type") == "pong", 10)
        except Deadline:
            self.socket = None
            raise
        except (Closed, OSError, check.Failure):
            self.socket = None


def grow_messages(server, talk, types, groups, problems):
    """Makes the members of a group larger together."""
    check.true(types and groups, "messages were found in the source")
    ways = {what: make for sample in ("x", ["x"], {"a": 1}) for what, make in larger(sample) if what in MESSAGE_WAYS}
    check.equal(sorted(ways), sorted(MESSAGE_WAYS), "ways to make a message larger")
    for type in types:
        for group in groups:
            for what, make in ways.items():
                base = {"type": type, "id": "m1", "messageId": "m1", "turn": 1}
                body = lambda part: base | {name: make(part / len(group)) for name in group}
                judge(problems, f"{type} {', '.join(group)}: {what}", *growth(server, talk.send, body))


@test(on=("sqlite",), options=WIDE, timeout_s=600)
def messages_of_people_over_websocket(server):
    client = server.client(timeout_s=30)
    path = people.session(client, agent="nobody")
    problems = []
    types, names = message_types("src/api/event/ws_commands.c", "utterances[] = {")
    grow_messages(server, Talk(lambda: client.websocket(path + "/ws")), types, [[name] for name in names], problems)
    report(problems, "messages")


@test(on=("sqlite",), options=WIDE, timeout_s=600)
def messages_of_runners(server):
    client = server.client(timeout_s=30)
    path = begin(client)

    def open_socket():
        return Runner(client, path).socket
    say(client, path, "hello")
    problems = []
    types, names = message_types("src/service/remote/runner_frames.c", "vocabulary[] = {")
    names = [name for name in names if name not in ("id", "messageId", "turn")]
    groups = [names[at:at + 6] for at in range(0, len(names), 6)]
    grow_messages(server, Talk(open_socket), types, groups, problems)
    report(problems, "messages")
