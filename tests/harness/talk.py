"""A conversation with an agent that the test plays: it claims, speaks and settles."""
from harness import people


def talk(client, **body):
    """The path of a conversation with an agent that this test plays."""
    return people.session(client, agent="a", **body)


def send(client, path, text, expect=202, **body):
    return client.post(path + "/messages", {"text": text, **body}, expect=expect).json()


def claim(client):
    """Claims the one session that is pending; its lease as a header."""
    [got] = client.post("/api/claims", {"worker": "w", "agents": ["a"]}, expect=200).json()["claims"]
    return {"Sojourn-Lease": got["lease"]["token"]}


def settle(client, path, held, status="idle"):
    return client.post(path + "/settle", {"status": status}, headers=held, expect=200).json()["status"]


def events(client, path, *types):
    query = f"?limit=1000&types={','.join(types)}" if types else "?limit=1000"
    return client.get(path + "/events" + query, expect=200).json()["events"]


def said(client, path):
    return [event["content"][0]["text"] for event in events(client, path, "user.message")]


def waiting(client, path):
    return [one["content"][0]["text"] for one in client.get(path + "/queue", expect=200).json()["prompts"]]


def prompt_ids(message):
    """The prompts that a user.message says, in order."""
    metadata = message["metadata"]
    return [one["prompt_id"] for one in metadata.get("prompts", [])] or [metadata["prompt_id"]]


def speak(client, path, held, *texts):
    """The agent says something."""
    said = [{"type": "agent.message", "content": [{"type": "text", "text": text}]} for text in texts]
    client.post(path + "/events", {"events": said}, headers=held, expect=201)


def wait_event(client, path, wanted, seconds=20):
    """The first event of the session for which `wanted(event)` holds."""
    with client.stream(path + "/events") as stream:
        return stream.until(lambda frame: frame.event == "event" and wanted(frame.json()), seconds)[-1].json()


def watch(client, path):
    """A stream of the session that has shown all there was, so that nothing live passes it by while it still reads."""
    last = client.get(path, expect=200).json()["last_sequence"]
    stream = client.stream(path + "/events")
    stream.until(lambda frame: frame.event == "event" and frame.json()["sequence"] == last, 30)
    return stream
