"""Three ways to send a message: at once, waiting for the result, as a stream; and what a message may carry."""
import threading

from harness import check, people
from harness.client import encode_request
from harness.sse import EventStream
from harness.suite import test
from harness.talk import claim, events, said, send, settle, speak, talk, wait_event, waiting


class Asked(threading.Thread):
    """A POST that waits, on a thread and a connection of its own."""

    def __init__(self, server, path, text, query="?wait=true", headers=(), **body):
        super().__init__(daemon=True)
        self.client = server.client(timeout_s=30)
        self.arguments = (path + "/messages" + query, {"text": text, **body}, headers)
        self.answer = None
        self.start()

    def run(self):
        path, body, headers = self.arguments
        self.answer = self.client.post(path, body, headers=headers)

    def result(self):
        self.join(30 * check.patience())
        check.true(self.answer is not None, "the wait was answered")
        return self.answer


def accepted(client, path, text):
    """Until the message is in the log or in the queue."""
    check.eventually(lambda: text in said(client, path) + waiting(client, path), f"{text} is accepted")


@test
def wait_answers_with_the_result(server):
    """Text, tool calls and usage of this turn, and where it stands in the log."""
    client = server.client()
    path = talk(client)
    asked = Asked(server, path, "hello")
    accepted(client, path, "hello")
    held = claim(client)
    call = {"type": "agent.tool_call", "metadata": {"name": "look"}}
    client.post(path + "/events", {"events": [call]}, headers=held, expect=201)
    speak(client, path, held, "Good", "morning")
    client.post(path + "/settle", {"status": "idle", "usage": {"output_tokens": 3}}, headers=held, expect=200)
    answer = asked.result()
    check.equal(answer.status, 200)
    got = answer.json()
    [message] = events(client, path, "user.message")
    check.contains(got, {"prompt_id": message["metadata"]["prompt_id"], "turn": 1, "status": "completed",
                         "text": "Good\nmorning", "usage": {"output_tokens": 3}, "error": None,
                         "from": message["sequence"], "to": client.get(path).json()["last_sequence"]})
    check.equal([one["metadata"]["name"] for one in got["tool_calls"]], ["look"])


@test
def waits_never_get_each_others_answer(server):
    """Two at once, one of them queued."""
    client = server.client()
    path = talk(client)
    first = Asked(server, path, "one")
    accepted(client, path, "one")
    second = Asked(server, path, "two")
    accepted(client, path, "two")
    held = claim(client)
    speak(client, path, held, "answer one")
    settle(client, path, held)
    check.equal(first.result().json()["text"], "answer one")
    held = claim(client)
    speak(client, path, held, "answer two")
    settle(client, path, held)
    got = second.result().json()
    check.contains(got, {"text": "answer two", "turn": 2, "status": "completed"})
    check.true(first.answer.json()["to"] < got["from"], "the two turns do not overlap")


@test
def wait_in_time(server):
    """504 with what there is so far; the message is kept."""
    client = server.client()
    path = talk(client)
    problem = check.problem(client.post(path + "/messages?wait=true&timeout_ms=50", {"text": "m0"}), 504, "wait_over")
    check.contains(problem["result"], {"status": "pending", "text": "", "turn": 0})
    check.equal(said(client, path), ["m0"])
    asked = Asked(server, path, "m1", "?wait=true&timeout_ms=300")
    held = claim(client)
    speak(client, path, held, "for the first")
    problem = check.problem(asked.result(), 504, "wait_over")
    check.contains(problem["result"], {"status": "queued", "text": ""})


@test
def wait_of_a_withdrawn_message(server):
    """409 with the reason: taken back, cleared, interrupted, or the session ended."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    asked = Asked(server, path, "m1")
    accepted(client, path, "m1")
    [prompt] = client.get(path + "/queue").json()["prompts"]
    client.delete(f"{path}/queue/{prompt['prompt_id']}", expect=204)
    problem = check.problem(asked.result(), 409, "prompt_withdrawn")
    check.contains(problem["detail"], "withdrawn")
    settle(client, path, held)
    asked = Asked(server, path, "m2")
    accepted(client, path, "m2")
    client.post(path + "/interrupt", expect=200)
    check.contains(check.problem(asked.result(), 409, "prompt_withdrawn")["detail"], "interrupted")


@test
def wait_of_a_failed_and_of_an_interrupted_turn(server):
    """The error is in the answer; an interrupted turn says so."""
    client = server.client()
    path = talk(client)
    asked = Asked(server, path, "m0")
    accepted(client, path, "m0")
    held = claim(client)
    client.post(path + "/interrupt", expect=200)
    settle(client, path, held)
    check.equal(asked.result().json()["status"], "interrupted")
    asked = Asked(server, path, "m1")
    accepted(client, path, "m1")
    held = claim(client)
    body = {"status": "failed", "error": {"code": "boom", "message": "It broke."}}
    client.post(path + "/settle", body, headers=held, expect=200)
    got = asked.result().json()
    check.contains(got, {"status": "failed", "turn": 2})
    check.contains(got["error"], {"code": "boom", "message": "It broke."})


@test
def wait_for_a_collected_message(server):
    """Both who wait get the result of the one turn."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    asked = []
    for text in ("c1", "c2"):
        asked.append(Asked(server, path, text, mode="collect", debounce_ms=0))
        accepted(client, path, text)
    settle(client, path, held)
    held = claim(client)
    speak(client, path, held, "both")
    settle(client, path, held)
    check.equal([one.result().json()["text"] for one in asked], ["both", "both"])


@test
def a_turn_that_runs_again(server):
    """What a lost attempt said is not part of the result."""
    client = server.client()
    path = talk(client)
    asked = Asked(server, path, "m0")
    accepted(client, path, "m0")
    held = claim(client)
    speak(client, path, held, "half")
    client.post(path + "/release", headers=held, expect=200)
    held = claim(client)
    speak(client, path, held, "whole")
    settle(client, path, held)
    check.contains(asked.result().json(), {"text": "whole", "turn": 2})


@test
def stop_answers_those_who_wait(server):
    """503 when the server stops; the message is there when it is back."""
    client = server.client()
    path = talk(client)
    asked = Asked(server, path, "m0")
    accepted(client, path, "m0")
    client.close()
    server.stop()
    check.problem(asked.result(), 503, "server_stopping")
    client = server.start().client()
    check.equal(said(client, path), ["m0"])


@test(options=["--heartbeat-ms", "50"])
def who_waits_may_leave(server):
    """A client that closes leaves nothing behind."""
    client = server.client()
    path = talk(client)
    for query in ("?wait=true", "?stream=true"):
        connection = client.connect()
        headers = client.headers_for([("Content-Type", "application/json")])
        connection.send(encode_request("POST", path + "/messages" + query, {"text": query}, headers))
        accepted(client, path, query)
        connection.close()

    def viewers():
        for line in client.get("/metrics", expect=200).body.decode().splitlines():
            if line.startswith("sojourn_viewers "):
                return int(float(line.split()[-1]))
        return None

    check.true(viewers() is not None, "the server counts its viewers")
    check.eventually(lambda: viewers() == 0, "nobody watches any more")


def stream(client, path, text, **body):
    """POST with ?stream=true: its frames."""
    connection = client.connect()
    connection.send(encode_request("POST", path + "/messages?stream=true", {"text": text, **body}, client.headers_for()))
    response = connection.read_head("POST")
    check.equal((response.status, response.header("content-type")), (200, "text/event-stream"))
    return EventStream(connection, response)


@test
def stream_shows_one_turn(server):
    """First the receipt, then the events and deltas of this turn and no other, then the end."""
    client = server.client()
    path = talk(client)
    send(client, path, "before")
    held = claim(client)
    with stream(client, path, "mine") as shown:
        receipt = shown.next()
        check.equal(receipt.event, "message_ack")
        check.contains(receipt.json(), {"status": "queued", "position": 1})
        send(client, path, "after")
        speak(client, path, held, "to the other one")
        settle(client, path, held)
        held = claim(client)
        shown.until(lambda frame: frame.event == "event" and frame.json()["type"] == "session.claimed")
        client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": "to "}]}, headers=held, expect=202)
        shown.until("delta")
        speak(client, path, held, "to mine")
        settle(client, path, held)
        rest = [frame.json() for frame in shown.wait_end() if frame.event == "event"]
    check.equal([event["type"] for event in rest], ["agent.message", "turn.ended", "session.status_change"])
    check.equal(rest[0]["content"][0]["text"], "to mine")


@test
def stream_from_rest(server):
    """A message that is dispatched at once: its own user.message is the first event."""
    client = server.client()
    path = talk(client)
    with stream(client, path, "hi") as shown:
        check.equal([shown.next().event, shown.next().json()["type"]], ["message_ack", "user.message"])
        settle(client, path, claim(client))
        frames = shown.wait_end()
    check.equal(frames[-1].json()["metadata"]["to"], "idle")


@test
def append(server):
    """Said, and nobody runs for it."""
    client = server.client()
    path = talk(client)
    got = client.post(path + "/messages?append=true", {"text": "note", "metadata": {"k": 1}}, expect=200).json()
    check.equal(got, {"session_id": path.split("/")[-1], "appended": True, "sequence": 2})
    client.post(path + "/messages?inject=true", {"text": "more"}, expect=200)
    check.equal((said(client, path), client.get(path).json()["status"]), (["note", "more"], "idle"))
    check.equal(events(client, path, "user.message")[0]["metadata"], {"appended": True, "k": 1})
    check.equal(client.get(path).json()["message_count"], 2)
    check.problem(client.post(path + "/messages?append=true&wait=true", {"text": "x"}), 400, "nothing_to_follow")
    check.problem(client.post(path + "/messages?wait=true&stream=true", {"text": "x"}), 400)
    client.post(path + "/archive", {}, expect=200)
    check.problem(client.post(path + "/messages?append=true", {"text": "late"}), 409, "session_archived")
    check.problem(client.post(people.session(client, type="tool") + "/messages?append=true", {"text": "x"}), 409,
                  "not_a_conversation")
    check.equal(said(client, path), ["note", "more"])


@test
def message_id(server):
    """The same message again gives the same receipt, also after it was said, however it is asked."""
    client = server.client()
    path = talk(client)
    first = send(client, path, "m0", message_id="slack-1")
    check.equal(send(client, path, "m0", message_id="slack-1"), first)
    queued = send(client, path, "m1", message_id="slack-2")
    settle(client, path, claim(client))
    check.equal(send(client, path, "m1", message_id="slack-2"), queued)
    check.equal(said(client, path), ["m0", "m1"])
    check.problem(client.post(path + "/messages", {"text": "other", "message_id": "slack-1"}), 409)
    asked = Asked(server, path, "m1", message_id="slack-2")
    held = claim(client)
    speak(client, path, held, "late")
    settle(client, path, held)
    check.contains(asked.result().json(), {"prompt_id": queued["prompt_id"], "text": "late"})
    check.equal(said(client, path), ["m0", "m1"])
    check.equal(events(client, path, "user.message")[0]["metadata"]["message_id"], "slack-1")
    other = talk(client)
    check.true(send(client, other, "m0", message_id="slack-1")["prompt_id"] != first["prompt_id"],
               "ids are of a session")


@test
def a_key_and_a_wait(server):
    """A wait that is asked again with its key waits for the same message."""
    client = server.client()
    path = talk(client)
    key = {"Idempotency-Key": "k"}
    check.problem(client.post(path + "/messages?wait=true&timeout_ms=20", {"text": "m0"}, headers=key), 504)
    check.problem(client.post(path + "/messages?wait=true&timeout_ms=20", {"text": "m0"}, headers=key), 504)
    check.equal(said(client, path), ["m0"])


@test
def what_a_message_carries(server):
    """Sender, attachments and mention are checked and kept."""
    client = server.client()
    path = talk(client)
    sender = {"channel": "slack", "channel_user_id": "U1", "display_name": "Ada"}
    files = [{"type": "image/png", "url": "https://x.test/a.png"}, {"type": "text/plain", "data": "aGk=", "name": "n"}]
    send(client, path, "hi", sender=sender, attachments=files, mentioned=True, metadata={"k": 1})
    [message] = events(client, path, "user.message")
    check.contains(message["metadata"], {"sender": sender, "attachments": files, "mentioned": True, "k": 1})
    for body in ({"sender": {"name": "x"}}, {"sender": {"channel": 1}}, {"sender": "x"}, {"attachments": [{}]},
                 {"attachments": [{"type": "x"}]}, {"attachments": [{"type": "x", "url": "a", "data": "b"}]},
                 {"attachments": [1]}, {"attachments": [{"type": "x", "url": "a"}] * 33}, {"mentioned": "yes"},
                 {"metadata": {"sender": {}}}, {"message_id": ""}, {"debounce_ms": -1}):
        check.problem(client.post(path + "/messages", {"text": "x", **body}), 400)
    check.equal(waiting(client, path), [])


@test
def messages_are_listed(server):
    """What was said by both sides, page by page."""
    client = server.client()
    path = talk(client)
    send(client, path, "m0", thread_id="t")
    held = claim(client)
    speak(client, path, held, "answer")
    settle(client, path, held)
    send(client, path, "m1")

    def texts(query=""):
        page = client.get(path + "/messages" + query, expect=200).json()
        return [message["content"] for message in page["messages"]], page["has_more"]

    check.equal(texts(), (["m0", "answer", "m1"], False))
    check.equal(texts("?limit=2"), (["m0", "answer"], True))
    check.equal(texts("?order=newest&limit=1"), (["m1"], True))
    check.equal(texts("?thread_id=t"), (["m0"], False))
    check.problem(client.get(path + "/messages?types=x"), 400)


@test
def messages_say_who_said_them(server):
    """S3-005: role, text and parts, author, channel and format; names are those of today."""
    client = server.client()
    path = talk(client)
    send(client, path, "mine", message_id="m-1")
    held = claim(client)
    client.post(path + "/events", {"events": [
        {"type": "agent.message", "content": [{"type": "reasoning", "text": "hm"}, {"type": "data-chart", "data": [1]}],
         "metadata": {"format": "v2", "agent_session_id": "ses_1"}},
        {"type": "agent.tool_result", "content": [{"type": "tool-result", "tool_call_id": "c"}]}]},
        headers=held, expect=201)
    settle(client, path, held)
    send(client, path, "from afar", sender={"channel": "slack", "channel_id": "C1", "channel_user_id": "U7",
                                            "display_name": "Bo", "email": "bo@example.com"})
    mine, answer, afar = client.get(path + "/messages", expect=200).json()["messages"]
    me = client.get("/api/me").json()
    check.contains(mine, {"id": "m-1", "role": "user", "content": "mine", "format": "parts",
                          "parts": [{"type": "text", "text": "mine"}], "channel": {"type": None, "id": None}})
    check.contains(mine["author"], {"id": me["user_id"]})
    check.true(mine["author"]["name"] and "@" in mine["author"]["email"], "a name and an address")
    check.contains(answer, {"role": "assistant", "content": "hm", "format": "v2", "agent_session_id": "ses_1",
                            "author": {"id": "a", "name": "a", "email": None}})
    check.contains(afar, {"author": {"id": "U7", "name": "Bo", "email": "bo@example.com"},
                          "channel": {"type": "slack", "id": "C1"}})
    check.equal([one["role"] for one in client.get(path + "/messages?roles=tool").json()["messages"]], ["tool"])
    check.problem(client.get(path + "/messages?roles=nobody"), 400, "invalid_roles")
    check.problem(client.get(path + "/messages?roles=" + ",".join(["user"] * 20)), 400, "invalid_roles")
    client.patch(f"/api/users/{me['user_id']}", {"name": "Renamed"}, expect=200)
    check.equal(client.get(path + "/messages?limit=1").json()["messages"][0]["author"]["name"], "Renamed")
    guest = people.person(client, "guest")
    client.post(path + "/participants", {"user_id": guest.id}, expect=201)
    send(guest.client, path, "from a guest")
    author = lambda: client.get(path + "/messages?order=newest&limit=1").json()["messages"][0]["author"]
    settle(client, path, claim(client))
    check.equal(author(), {"id": guest.id, "name": "guest", "email": guest.email})
    client.delete(f"/api/users/{guest.id}", expect=204)
    check.equal(author(), {"id": guest.id, "name": None, "email": None}, "who left the tenant is not told of any more")


@test
def parts_are_held_to_their_kinds(server):
    """S0-038: the parts of AI SDK v6; kinds of one's own are data-NAME."""
    client = server.client()
    path = talk(client)
    check.problem(client.post(path + "/messages", {"content": [{"type": "txt", "text": "x"}]}), 400, "invalid_part")
    check.problem(client.post(path + "/events", {"events": [{"type": "user.message", "content": [{"type": "text"}]}]}),
                  400, "invalid_part")
    check.equal(client.get(path).json()["message_count"], 0)
    client.post(path + "/messages", {"content": [{"type": "data-own", "data": 1}, {"type": "text", "text": "x"}]},
                expect=202)


@test
def preview_and_events(server):
    """A message shows in the session's preview, and viewers hear of it."""
    client = server.client()
    path = talk(client)
    send(client, path, "look at this")
    check.equal(client.get(path).json()["preview"], "look at this")
    check.equal(wait_event(client, path, lambda event: event["type"] == "user.message")["content"][0]["text"],
                "look at this")
