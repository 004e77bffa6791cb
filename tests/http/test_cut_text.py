"""What people have read stays: a turn that ends early keeps what it has shown, marked as partial, whoever ran it."""
import time

from harness import check, people
from harness.runner import Runner, begin
from harness.suite import test
from harness.talk import claim, events, send, settle, watch

FLUSH = ["--partial-flush-ms", "10", "--lease-ms-default", "600", "--lease-ms-min", "100", "--runner-grace-ms", "200",
         "--runner-lost-ms", "600"]
SHOWN = "Once upon a time"


def until_shown(stream, text=None):
    """Reads deltas until this text was shown; with none, until there is some. What was shown."""
    shown = ""
    while not shown or (text and shown != text):
        frame = stream.next(30)
        if frame.event == "delta" and frame.json()["kind"] == "text":
            shown += frame.json()["text"]
    return shown


def saved():
    """Until the live output is on disk: ten times the interval of saving."""
    until = time.monotonic() + 0.1
    check.eventually(lambda: time.monotonic() > until, "time passes", 10)


def partials(client, path):
    """What is in the log of a message that was cut."""
    return [event for event in events(client, path, "agent.message") if event["metadata"].get("partial")]


def kept(client, path, shown):
    """Once, from its beginning on, and before the end of its turn."""
    check.eventually(lambda: partials(client, path), f"it is kept: {[e['type'] for e in events(client, path)]}", 20)
    [event] = partials(client, path)
    said = event["content"][0]["text"]
    check.true(said.startswith(shown), f"all that was shown is kept: {said!r}, {shown!r}")
    [end] = events(client, path, "turn.ended") or [None]
    check.true(end is None or event["sequence"] < end["sequence"], "before the end of the turn")
    whole = [one for one in events(client, path, "agent.message") if not one["metadata"].get("partial")]
    check.true(all(shown not in one["content"][0]["text"] for one in whole), "not twice")


ENDS = {
    "interrupt": lambda client, path: client.post(path + "/interrupt", {}, expect=200),
    "stop": lambda client, path: client.post(path + "/stop", {}, expect=200),
    "steer": lambda client, path: send(client, path, "Something else", mode="steer"),
}


@test(options=FLUSH, timeout_s=180)
def the_scripted_agent_keeps_it(server):
    client = server.client()
    for how, end in ENDS.items():
        path = people.session(client, agent="demo")
        with watch(client, path) as stream:
            send(client, path, "echo something long enough")
            shown = until_shown(stream)
            if how == "stop":
                saved()
            end(client, path)
        check.eventually(lambda: events(client, path, "turn.ended"), f"{how}: it ends", 20)
        if how == "steer":
            check.true(partials(client, path)[0]["content"][0]["text"].startswith(shown), "steer")
        else:
            kept(client, path, shown)


@test(options=FLUSH, timeout_s=180)
def a_runner_keeps_it(server):
    """Also when it goes away, or says that it failed."""
    client = server.client()
    more = {"interrupt": ENDS["interrupt"], "stop": ENDS["stop"], "vanish": None, "error": None}
    for how, end in more.items():
        path = begin(client)
        runner = Runner(client, path)
        with watch(client, path) as stream:
            send(client, path, "Tell me")
            prompt = runner.hear("prompt")
            runner.say("message.create", id="m1")
            runner.say("message.part.text-delta", id="m1", delta=SHOWN)
            until_shown(stream, SHOWN)
        saved()
        if how == "vanish":
            runner.vanish()
        elif how == "error":
            runner.say("error", messageId=prompt["messageId"], turn=prompt["turn"], error="it broke")
        else:
            end(client, path)
        if how == "interrupt":
            runner.hear("abort")
            runner.complete(prompt, stopReason="aborted")
        kept(client, path, SHOWN)


@test(options=FLUSH, timeout_s=180)
def a_worker_keeps_it(server):
    """Who releases, loses or is stopped in mid-sentence has said what people have read."""
    client = server.client()
    for how in ("release", "lease", "stop"):
        path = people.session(client, agent="a")
        send(client, path, "Tell me")
        held = claim(client)
        client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": SHOWN}]}, headers=held, expect=202)
        saved()
        if how == "release":
            client.request("DELETE", path + "/lease", headers=held)
        elif how == "stop":
            client.post(path + "/stop", {}, expect=200)
        kept(client, path, SHOWN)
        if how != "stop":
            client.post(path + "/stop", {}, expect=200)
            check.equal(len(partials(client, path)), 1, "once")


@test(options=FLUSH)
def what_became_an_event_is_not_kept_again(server):
    """A message that was written whole stays one, however its turn ends."""
    client = server.client()
    path = people.session(client, agent="a")
    send(client, path, "Tell me")
    held = claim(client)
    client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": SHOWN}]}, headers=held, expect=202)
    saved()
    said = {"type": "agent.message", "content": [{"type": "text", "text": SHOWN}]}
    client.post(path + "/events", {"events": [said]}, headers=held, expect=201)
    client.post(path + "/stop", {}, expect=200)
    check.equal(partials(client, path), [])
    check.equal(len(events(client, path, "agent.message")), 1)


@test(options=FLUSH, timeout_s=120)
def a_settled_turn_is_whole(server):
    """The holder of the lease has said what there is to say."""
    client = server.client()
    path = people.session(client, agent="a")
    send(client, path, "Tell me")
    held = claim(client)
    client.post(path + "/deltas", {"deltas": [{"kind": "text", "text": SHOWN}]}, headers=held, expect=202)
    settle(client, path, held)
    check.equal(partials(client, path), [])
