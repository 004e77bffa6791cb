"""Media in what is said: stored by handle, shown to models as images."""
import base64
import glob
import hashlib
import json
import os

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import claim, events, send, settle, talk, wait_event

AGENT = "id: helper\ndriver: model\nprovider: {provider}\nmodel: first\nsystem_prompt: You help.\nsandbox: {{kind: none}}\n"
PNG = b"\x89PNG\r\n\x1a\n" + os.urandom(20000)
PNG64 = base64.b64encode(PNG).decode()
SMALL = b"\x89PNG\r\n\x1a\nsmall"
SMALL64 = base64.b64encode(SMALL).decode()


def handle_of(content):
    return "blob:" + hashlib.sha256(content).hexdigest()


def start(env, model, provider="anthropic", options=()):
    """A server with one model agent; its client and the path of a conversation with it."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT.format(provider=provider))
    client = env.server(["--agents", folder, *options], model.environment()).client()
    return client, people.session(client, agent="helper")


def ended(client, path, count=1):
    """The `count`-th turn.ended, waited for."""
    seen = []
    return wait_event(client, path, lambda event: event["type"] == "turn.ended" and (seen.append(1) or len(seen) == count))


def no_base64(server, *texts):
    """Nothing of these is in the database files of a server on SQLite."""
    for file in glob.glob(os.path.join(server.data_directory(), "sojourn.db*")):
        with open(file, "rb") as opened:
            content = opened.read()
        for text in texts:
            check.true(text.encode()[:2000] not in content, f"{os.path.basename(file)} holds no base64")


def content_of(client, url):
    return client.get(url, expect=200).body


@test
def messages_hold_handles(server):
    """However an image is written, what is stored names it; small ones too, and what is no medium stays as it is."""
    client = server.client()
    path = people.session(client)
    shapes = [
        {"type": "image", "media_type": "image/png", "data": PNG64},
        {"type": "image", "mediaType": "image/png", "image": PNG64},
        {"type": "image", "image": "data:image/png;base64," + SMALL64},
        {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64," + PNG64, "filename": "p.png"},
        {"type": "file", "data": PNG64, "mediaType": "application/octet-stream"},
        {"type": "image", "data": SMALL64},
    ]
    client.post(path + "/events", {"events": [{"type": "user.message", "content": shapes}]}, expect=201)
    [message] = events(client, path, "user.message")
    for part, shape in zip(message["content"], shapes):
        content = SMALL if SMALL64 in json.dumps(shape) else PNG
        check.contains(part, {"type": shape["type"], "handle": handle_of(content), "bytes": len(content)})
        check.equal(content_of(client, part["url"]), content)
        check.true(not {"data", "image"} & set(part), "no bytes are left")
    check.equal(message["content"][2]["media_type"], "image/png")
    check.equal(message["content"][5]["media_type"], "image/png")
    files = client.get(path + "/files").json()["files"]
    check.equal({one["handle"] for one in files}, {handle_of(PNG), handle_of(SMALL)})
    plain = [{"type": "text", "text": "data:image/png;base64," + SMALL64}, {"type": "data-x", "data": {"data": "abcd"}},
             {"type": "file", "media_type": "text/plain", "data": "abcd"}, {"type": "image", "url": "https://x.test/a.png"},
             {"type": "image", "data": "no base64!"}, {"type": "file", "url": "data:text/plain,hello"}]
    client.post(path + "/events", {"events": [{"type": "user.message", "content": plain}]}, expect=201)
    check.equal(events(client, path, "user.message")[1]["content"], plain)
    no_base64(server, PNG64)


@test
def prompts_and_attachments_hold_handles(server):
    """What waits in the queue, what is edited there, and what came beside the words."""
    client = server.client()
    path = talk(client)
    send(client, path, "first")
    held = claim(client)
    receipt = client.post(path + "/messages", {"content": [{"type": "image", "media_type": "image/png", "data": PNG64}],
                                               "attachments": [{"type": "image", "data": PNG64}]}, expect=202).json()
    [waits] = client.get(path + "/queue").json()["prompts"]
    check.equal(waits["content"][0]["handle"], handle_of(PNG))
    client.patch(f"{path}/queue/{receipt['prompt_id']}",
                 {"content": [{"type": "image", "image": "data:image/png;base64," + SMALL64}]}, expect=200)
    check.equal(client.get(path + "/queue").json()["prompts"][0]["content"][0]["handle"], handle_of(SMALL))
    settle(client, path, held)
    message = events(client, path, "user.message")[1]
    check.equal(message["content"][0]["handle"], handle_of(SMALL))
    check.contains(message["metadata"]["attachments"][0], {"type": "image", "handle": handle_of(PNG)})
    by_handle = {"content": [{"type": "image", "handle": handle_of(PNG)}],
                 "attachments": [{"type": "file", "handle": handle_of(SMALL)}]}
    client.post(path + "/messages?append=true", by_handle, expect=200)
    check.equal(events(client, path, "user.message")[2]["content"], by_handle["content"])
    no_base64(server, PNG64)


@test
def what_agents_say_holds_handles(server):
    """Tool results with images, as MCP and Agent Client Protocol write them, from whoever holds the lease."""
    client = server.client()
    path = talk(client)
    send(client, path, "look")
    held = claim(client)
    output = {"content": [{"type": "image", "data": PNG64, "mimeType": "image/png"},
                          {"type": "resource", "resource": {"uri": "file:///a", "blob": PNG64, "mimeType": "image/png"}},
                          {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": SMALL64}}]}
    event = {"type": "agent.tool_result", "content": [{"type": "tool-result", "tool_call_id": "c", "output": output}]}
    client.post(path + "/events", {"events": [event]}, headers=held, expect=201)
    [result] = events(client, path, "agent.tool_result")
    first, second, third = result["content"][0]["output"]["content"]
    check.equal([first["handle"], second["resource"]["handle"]], [handle_of(PNG)] * 2)
    check.contains(third["source"], {"type": "blob", "media_type": "image/png", "handle": handle_of(SMALL)})
    no_base64(server, PNG64)


@test
def large_media_fit_where_their_base64_would_not(server):
    """An image above the limit of an event is accepted in one; one above the limit of files is not."""
    client = server.client()
    path = people.session(client)
    large = b"\x89PNG\r\n\x1a\n" + os.urandom(2 * 1024 * 1024)
    part = {"type": "image", "media_type": "image/png", "data": base64.b64encode(large).decode()}
    client.post(path + "/events", {"events": [{"type": "user.message", "content": [part]}]}, expect=201)
    [message] = events(client, path, "user.message")
    check.equal(content_of(client, message["content"][0]["url"]), large)
    client.post("/api/sessions/nowhere/events", {"events": [{"type": "user.message", "content": [part]}]}, expect=404)


@test
def models_see_images(env):
    """By handle, as attachment and from earlier turns: each provider gets its own kind of image block."""
    for provider in ("anthropic", "openai"):
        with ModelServer([{"text": "A picture."}]) as model:
            client, path = start(env, model, provider)
            made = client.post(path + "/files", SMALL, headers={"Content-Type": "image/png"}, expect=201).json()
            client.post(path + "/messages", {"content": [
                {"type": "text", "text": "What is this?"}, {"type": "image", "handle": made["handle"]},
                {"type": "image", "image": "data:image/png;base64," + PNG64}]}, expect=202)
            ended(client, path)
            send(client, path, "And this?", attachments=[{"type": "image", "data": PNG64}])
            ended(client, path, 2)
            for number, request in enumerate(model.requests):
                found = [part for message in request["body"]["messages"] if isinstance(message["content"], list)
                         for part in message["content"] if part["type"] in ("image", "image_url")]
                wanted = [SMALL64, PNG64] + [PNG64] * number
                if provider == "anthropic":
                    check.equal([part["source"] for part in found],
                                [{"type": "base64", "media_type": "image/png", "data": one} for one in wanted])
                else:
                    check.equal([part["image_url"]["url"] for part in found],
                                ["data:image/png;base64," + one for one in wanted])


@test
def models_hear_of_what_they_cannot_see(env):
    """Text files are text; other types, what is not there and what is too much are a sentence."""
    with ModelServer([{"text": "I see."}]) as model:
        client, path = start(env, model, options=["--turn-media-bytes-max", "30000"])
        handles = [client.post(path + "/files", content, headers={"Content-Type": kind}, query={"name": name}, expect=201)
                   .json()["handle"] for content, kind, name in ((b"%PDF-1.7", "application/pdf", "a.pdf"),
                                                                 ("grün </attached-file>".encode(), "text/plain", "b.txt"),
                                                                 (os.urandom(40000), "image/png", "c.png"))]
        other = people.session(client)
        elsewhere = client.post(other + "/files", b"secret of another session", expect=201).json()["handle"]
        parts = [{"type": "file", "handle": one} for one in [*handles, elsewhere]]
        client.post(path + "/messages", {"content": [{"type": "text", "text": "Look."}, *parts]}, expect=202)
        ended(client, path)
        [request] = model.requests
        texts = [part["text"] for part in request["body"]["messages"][0]["content"]]
        check.equal(texts[1], "[a file of a type that this model can't be shown: a.pdf, application/pdf, 8 bytes]")
        check.equal(texts[2], "[the file b.txt]\n<attached-file>\ngrün < /attached-file>\n</attached-file>")
        check.equal(texts[3], "[a file that is not available: c.png, image/png, 40000 bytes]")
        check.true("not available" in texts[4] and "secret" not in texts[4], "files of other sessions stay there")
