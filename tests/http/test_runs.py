"""Runs of automations: a row beside the session that follows it, and the outcome somebody says."""
from harness import check, people, test

SOURCE = {"kind": "automation", "trigger_id": "nightly", "interactive": False}


def begin(client, **body):
    """The path of a session that an automation started, its run, and a client for code in its sandbox."""
    path = people.session(client, source=SOURCE, agent="w", status="pending", **body)
    token = client.post(path + "/sandbox-token", {}, expect=201).json()["token"]
    return path, run_of(client, path), client.with_token(token)


def run_of(client, path):
    [run] = [run for run in client.get("/api/runs?limit=100", expect=200).json()["runs"] if run["session_id"] == path.split("/")[-1]]
    return run


def complete(inside, path, call_id="c1", expect=200, **arguments):
    return inside.post(f"{path}/tools/automation.complete", {"call_id": call_id, "arguments": arguments}, expect=expect).json()


def claim(client):
    [claimed] = client.post("/api/claims", {"worker": "w", "agents": ["w"]}, expect=200).json()["claims"]
    return {"Sojourn-Lease": claimed["lease"]["token"]}


@test
def a_run_follows_its_session(server):
    """In the transaction of every move; the end is inferred when nobody said one."""
    client = server.client()
    path, run, _ = begin(client)
    check.contains(run, {"status": "queued", "outcome": None, "started_at": None, "ended_at": None})
    held = claim(client)
    check.contains(run_of(client, path), {"status": "running", "outcome": None})
    client.post(path + "/asks", {"id": "q", "kind": "question", "text": "Which?"}, headers=held, expect=201)
    check.equal(run_of(client, path)["status"], "needs_human")
    client.post(path + "/asks/q/answer", {"answer": "this"}, expect=200)
    check.equal(run_of(client, path)["status"], "running")
    client.post(path + "/settle", {"status": "completed", "result": {}}, headers=held, expect=200)
    ended = run_of(client, path)
    check.contains(ended, {"status": "succeeded", "outcome": "completed"})
    check.true(ended["started_at"] and ended["ended_at"], ended)
    check.equal(client.get(f"/api/runs/{run['id']}", expect=200).json(), ended)
    check.true("outcome" not in client.get(path).json(), "the outcome is no member of the session")


@test
def how_sessions_end(server):
    client = server.client()
    for end, want in (({"status": "failed", "error": {"message": "x"}}, ("failed", "failed")), ({"status": "expired"}, ("timed_out", "failed")),
                      ({"status": "abandoned"}, ("failed", "failed"))):
        path, _, _ = begin(client)
        client.post(path + "/settle", end, headers=claim(client), expect=200)
        run = run_of(client, path)
        check.equal((run["status"], run["outcome"]), want)


@test
def an_outcome_is_said_once(server):
    """By code in the sandbox; words that are no outcome are refused with the list, the same again changes nothing."""
    client = server.client()
    path, run, inside = begin(client)
    held = claim(client)
    refused = complete(inside, path, expect=400, outcome="fine")
    check.equal((refused["code"], refused["detail"]), ("invalid_outcome", "`outcome` must be one of succeeded, failed, needs_human."))
    check.equal(run_of(client, path)["status"], "running")
    said = {"outcome": "succeeded", "summary": "All *done*.", "completion_id": "k1"}
    first = complete(inside, path, **said)
    check.contains(first["result"], {"id": run["id"], "status": "succeeded", "outcome": "succeeded", "summary": "All *done*."})
    check.equal(complete(inside, path, **said), first, "the same call")
    check.equal(complete(inside, path, "c2", **said)["result"], first["result"], "another call with the same completion")
    check.equal(complete(inside, path, "c3", expect=409, outcome="failed", summary="no", completion_id="k2")["code"], "run_ended")
    client.post(path + "/settle", {"status": "failed"}, headers=held, expect=200)
    check.contains(run_of(client, path), {"status": "succeeded", "outcome": "succeeded", "completion_id": "k1"})
    server.kill()
    server.start()
    check.contains(run_of(server.client(), path), {"status": "succeeded", "summary": "All *done*."})


@test
def needing_a_person(server):
    client = server.client()
    path, _, inside = begin(client)
    claim(client)
    complete(inside, path, outcome="needs_human", summary="Which account?")
    complete(inside, path, "c2", outcome="needs_human", summary="Which account?")
    check.contains(run_of(client, path), {"status": "needs_human", "outcome": "needs_human"})
    check.equal(complete(inside, path, "c3", expect=409, outcome="needs_human", summary="Other")["code"], "run_ended")


@test
def only_automations_have_runs(server):
    client = server.client()
    path = people.session(client)
    inside = client.with_token(client.post(path + "/sandbox-token", {}, expect=201).json()["token"])
    check.equal(complete(inside, path, expect=409, outcome="failed")["code"], "no_run")
    check.equal(client.get("/api/runs", expect=200).json(), {"runs": [], "has_more": False, "next_before": None})


@test
def lists_and_who_sees_them(server):
    client = server.client()
    paths = [begin(client)[0] for _ in range(3)]
    seen, before = [], ""
    while before is not None:
        page = client.get(f"/api/runs?limit=2{before and '&before=' + before}", expect=200).json()
        seen += [run["session_id"] for run in page["runs"]]
        before = page["next_before"]
    check.equal(seen, [path.split("/")[-1] for path in reversed(paths)])
    claim(client)
    check.equal(len(client.get("/api/runs?status=running", expect=200).json()["runs"]), 1)
    member = people.person(client, "m").client
    check.equal(member.get("/api/runs", expect=200).json()["runs"], [])
    run = run_of(client, paths[0])
    check.equal(member.get(f"/api/runs/{run['id']}", expect=404).json()["code"], "run_not_found")
    client.patch(paths[0], {"visibility": "org_visible"}, expect=200)
    check.equal([one["id"] for one in member.get("/api/runs").json()["runs"]], [run["id"]])
    member.get(f"/api/runs/{run['id']}", expect=200)


@test
def a_run_goes_with_its_session(server):
    client = server.client()
    path, run, _ = begin(client)
    client.delete(path, expect=204)
    client.get(f"/api/runs/{run['id']}", expect=404)


@test
def a_task_may_be_run_by_an_automation(server):
    """The run is of the whole, not of its steps."""
    client = server.client()
    client.post("/api/agents", {"id": "w", "driver": "worker"}, expect=201)
    client.post("/api/tasks", {"id": "t", "steps": [{"id": "a", "agent": "w"}, {"id": "b", "agent": "w", "depends_on": ["a"]}]}, expect=201)
    started = client.post("/api/tasks/t/runs", {"source": SOURCE}, expect=201).json()
    [run] = client.get("/api/runs", expect=200).json()["runs"]
    check.contains(run, {"session_id": started["session"]["id"], "status": "running"})
    for step in started["steps"]:
        client.post(f"/api/sessions/{step['session_id']}/settle", {"status": "completed", "result": {}}, headers=claim(client), expect=200)
    check.contains(client.get(f"/api/runs/{run['id']}").json(), {"status": "succeeded", "outcome": "completed"})
