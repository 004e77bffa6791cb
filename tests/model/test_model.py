"""Random commands against the server and against a small model of it; after each one both must agree."""
from harness import check
from harness.check import Failure
from harness.suite import OPTIMISED, test
from model.play import Play, read_until


@test(options=["--no-end-children"], timeout_s=600)  # children that end with their parent: http/test_endings
def random_commands(env):
    """Thousands of commands; any number with tests/run --rounds N."""
    print(f"seed {env.seed}")
    play = Play(env)
    count = env.rounds(3000 if env.flavour == "gcc" else 1000)
    try:
        for number in range(count):
            play.step()
            if number % 100 == 99:
                play.compare_lists()
            if number % 700 == 699:
                play.restart()
        play.compare_all()
        play.compare_streams()
        play.server.stop()
        play.server.verify()
    except Failure as failure:
        raise Failure("the last commands:\n" + "\n".join(play.history) + f"\n{failure}") from failure
    print(f"{count} commands, {len(play.model.sessions)} sessions, {len(play.firehose.events)} events")


@test(on=OPTIMISED)
def reopened_session_still_expires(server):
    """An end stops the time to live; whoever reopens the session before it is over starts it again."""
    client = server.client()
    revived_paths = []
    for again in ("/reopen", "/status", ""):
        session = client.post("/api/sessions", {"type": "agent", "id": f"cli:{again[1:]}x", "ttl_ms": 3000},
                              expect=201).json()
        path = f"/api/sessions/{session['id']}"
        client.post(path + "/status", {"status": "completed"}, expect=200)
        if again:
            revived = client.post(path + again, {"status": "idle"} if again == "/status" else {}, expect=200).json()
        else:
            revived = client.post("/api/sessions", {"type": "agent", "id": session["id"]}, expect=200).json()
        check.contains(revived, {"status": "idle", "expires_at": session["expires_at"]})
        revived_paths.append(path)
    for path in revived_paths:
        check.eventually(lambda path=path: client.get(path).json()["status"] == "expired", "it expires", 10)


@test(on=OPTIMISED)
def deleted_events_are_not_told_again(server):
    """Recent events are kept in memory for whoever comes next; those of a deleted session are gone from there too."""
    client = server.client()
    with client.stream("/api/stream", last_event_id="0-0") as watching:
        gone = client.post("/api/sessions", {"type": "agent", "id": "cli:gone"}, expect=201).json()["id"]
        watching.until("event")
        client.delete(f"/api/sessions/{gone}", expect=204)
        client.post("/api/sessions", {"type": "agent", "id": "cli:kept"}, expect=201)
        watching.until("event")
        told = read_until(client.stream("/api/stream", last_event_id="0-0"), 1)
        check.equal(told, [("cli:kept", 1)], "the first event that is told")
