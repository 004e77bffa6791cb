"""Tasks: configured work that compiles to sessions, whose outputs fill entities and start what depends on them."""
import threading

from harness import check, people, test

SUMMARY = {"fields": {"summary": "string", "score": "integer", "note": "string"}, "required": ["summary", "score"]}
CHAIN = [{"id": "research", "agent": "a1", "prompt": "Look.", "output": SUMMARY},
         {"id": "write", "agent": "a2", "prompt": "Write.", "depends_on": ["research"],
          "output": {"fields": {"text": "string"}}}]


def prepare(client):
    """Agents that workers run, and an entity."""
    for id in ("a1", "a2"):
        client.post("/api/agents", {"id": id, "driver": "worker"}, expect=201)
    client.post("/api/entities", {"id": "e", "type": "ticket", "fields": {"title": "T"}}, expect=201)


def define(client, steps=None, expect=201, id="work", **body):
    return client.post("/api/tasks", {"id": id, **({"steps": steps} if steps else {}), **body}, expect=expect).json()


def run(client, task="work", expect=201, **body):
    """The run's session, and the paths of its steps by their ids."""
    started = client.post(f"/api/tasks/{task}/runs", {"entity_id": "e", **body}, expect=expect).json()
    return started["session"], {one["step"]: f"/api/sessions/{one['session_id']}" for one in started["steps"]}


def claim(client, agent):
    return client.post("/api/claims", {"worker": "w", "agents": [agent]}, expect=200).json()["claims"]


def settle(client, agent, expect=200, **body):
    """Claims what waits for the agent and settles it as completed, unless told otherwise."""
    [claimed] = claim(client, agent)
    return client.post(f"/api/sessions/{claimed['session']['id']}/settle", {"status": "completed", **body},
                       headers={"Sojourn-Lease": claimed["lease"]["token"]}, expect=expect).json()


def states(client, paths):
    return {step: client.get(path, expect=200).json()["status"] for step, path in paths.items()}


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


def entity(client):
    return client.get("/api/entities/e", expect=200).json()


def check_failed(session, code):
    check.equal((session["status"], (session["error"] or {}).get("code")), ("failed", code), session["title"])


def pending_ask(client, path):
    [ask] = client.get(path + "/asks?state=pending", expect=200).json()["asks"]
    return ask


@test
def configuring(server):
    """Kept with a version; the short form is one step; what cannot work is refused with a sentence."""
    client = server.client()
    prepare(client)
    made = define(client, CHAIN, name="The work")
    check.contains(made, {"id": "work", "name": "The work", "version": 1})
    check.equal([step["id"] for step in made["steps"]], ["research", "write"])
    check.equal(client.get("/api/tasks/work", expect=200).json(), made)
    check.equal(define(client, CHAIN, expect=409)["code"], "task_exists")
    short = define(client, id="short", agent="a1", prompt="Do it.", output=SUMMARY)
    check.equal([(step["id"], step["agent"]) for step in short["steps"]], [("main", "a1")])
    changed = client.patch("/api/tasks/work", {"name": "Other", "steps": CHAIN[:1], "version": 1}, expect=200).json()
    check.contains(changed, {"name": "Other", "version": 2})
    check.equal(len(changed["steps"]), 1)
    check.equal(client.patch("/api/tasks/work", {"name": "x", "version": 1}, expect=409).json()["code"], "version_changed")
    page = client.get("/api/tasks?limit=1", expect=200).json()
    check.equal(([one["id"] for one in page["tasks"]], page["next_cursor"]), (["short"], "short"))
    client.delete("/api/tasks/work", expect=204)
    check.equal(client.get("/api/tasks/work", expect=404).json()["code"], "task_not_found")
    client.post("/api/tasks/work/runs", {}, expect=404)


@test
def what_is_refused(server):
    client = server.client()
    prepare(client)
    one = {"id": "x", "agent": "a1"}
    for steps, word in (
            ([one, one], "stands there twice"),
            ([{**one, "depends_on": ["y"]}], "which is no step"),
            ([{**one, "depends_on": ["x"]}], "in a circle: x"),
            ([{"id": "z", "agent": "a1"}, {**one, "depends_on": ["y"]}, {"id": "y", "human": True, "depends_on": ["x"]}],
             "in a circle: x, y"),
            ([{"id": "x"}], "either an `agent` or `human`"), ([{**one, "human": True}], "either an `agent` or `human`"),
            ([{**one, "agent": "nobody"}], "which nobody defined"), ([{**one, "id": "Not kebab"}], "kebab-case"),
            ([{**one, "nonsense": 1}], "nonsense is not known"), ([{**one, "prompt": 1}], "must be a text"),
            ([{**one, "output": {"fields": {"a": "date"}}}], "must be one of any, string"),
            ([{**one, "output": {"fields": {"a": "string"}, "required": ["b"]}}], "is none"),
            ([{**one, "criteria": {"risk": {"options": {"high": {"hard_block": 1}}}}}], "criteria.risk"),
            ([{**one, "criteria": {}}], "at least one has `options`"),
            ([{**one, "criteria": {"dimensions": {"risk": {"options": {"high": {"hard_block": True}}}}}}], "criteria.dimensions"),
            ([{**one, "criteria": {"risk": {"optionStyles": {"high": {"hardBlock": True}}}}}], "criteria.risk"),
            ([{**one, "output": {"fields": {"rsik": "string"}},
               "criteria": {"risk": {"options": {"high": {"hard_block": True}}}}}], "`output.fields` does not have"),
            ([], "1 to 32 steps"), ([{"id": f"s{n}", "agent": "a1"} for n in range(33)], "1 to 32 steps")):
        refused = client.post("/api/tasks", {"id": "t", "steps": steps}, expect=400).json()
        check.true(word in refused["detail"], f"{steps}: {refused['detail']}")
    refused = client.post("/api/tasks", {"id": "t", "steps": [one], "agent": "a1"}, expect=400).json()
    check.true("agent does not belong here" in refused["detail"], refused["detail"])
    check.equal(client.get("/api/tasks").json()["tasks"], [])
    define(client, [one])
    check.equal(client.post("/api/tasks/work/runs", {"entity_id": "none"}, expect=400).json()["code"], "unknown_entity")
    member = people.person(client, "m").client
    check.equal(define(member, [one], expect=403, id="t")["code"], "role_required")
    client.delete("/api/agents/a1", expect=204)
    check.equal(client.post("/api/tasks/work/runs", {}, expect=400).json()["code"], "unknown_agent")


@test
def the_core_loop(server):
    """Tasks become sessions, agents run them, their outputs fill the entity, and what depends on them starts."""
    client = server.client()
    prepare(client)
    define(client, CHAIN, name="The work")
    whole, steps = run(client, input={"topic": "bees"})
    check.contains(whole, {"type": "mixed", "status": "running", "task_id": "work", "entity_id": "e"})
    check.equal(states(client, steps), {"research": "pending", "write": "draft"})
    research = client.get(steps["research"]).json()
    check.contains(research, {"parent_id": whole["id"], "task_id": "work", "entity_id": "e", "metadata": {"step": "research"}})
    check.true('"topic"' in research["initial_prompt"] and '"score"' in research["initial_prompt"], research["initial_prompt"])
    check.equal(client.post(steps["write"] + "/messages", {"text": "Now."}, expect=409).json()["code"], "step_waits")
    check.equal(claim(client, "a2"), [], "nobody works at a step whose turn has not come")
    done = settle(client, "a1", result={"summary": "s", "score": 3, "other": 1})
    check.equal(done["status"], "completed")
    check.contains(entity(client), {"fields": {"title": "T", "summary": "s", "score": 3}, "version": 2})
    [told] = events(client, steps["research"], "entity.updated")
    check.equal(told["metadata"], {"entity_id": "e", "version": 2, "fields": ["summary", "score"]})
    check.equal(states(client, steps), {"research": "completed", "write": "pending"})
    [message] = [one for one in events(client, steps["write"], "user.message") if one["metadata"].get("appended")]
    check.true('"score": 3' in message["content"][0]["text"], message["content"])
    check.equal(client.get(f"/api/sessions/{whole['id']}").json()["status"], "running")
    settle(client, "a2", result={"text": "done"})
    check.equal(entity(client)["fields"]["text"], "done")
    ended = client.get(f"/api/sessions/{whole['id']}").json()
    check.contains(ended, {"status": "completed", "stop_reason": "completed"})
    heads = client.get("/api/entities/e/sessions?parents_only=true", expect=200).json()["sessions"]
    check.equal([(one["id"], one["task_name"], one["child_count"]) for one in heads], [(whole["id"], "The work", 2)])


@test
def one_step_is_one_session(server):
    client = server.client()
    prepare(client)
    define(client, agent="a1", prompt="Do it.", output=SUMMARY, name="Short")
    session, steps = run(client)
    check.contains(session, {"type": "agent", "status": "pending", "parent_id": None, "agent": "a1", "title": "Short"})
    check.equal(list(steps), ["main"])
    settle(client, "a1", result={"summary": "s", "score": 1, "note": None})
    check.equal(entity(client)["fields"], {"title": "T", "summary": "s", "score": 1})


@test
def a_broken_contract_fails_the_step(server):
    """What is missing or of another type is written nowhere; the session says why it failed."""
    client = server.client()
    prepare(client)
    define(client, agent="a1", output=SUMMARY)
    for result, word in (({"summary": "s"}, "has no score"), ({"summary": "s", "score": "3"}, "score of the output must be integer"),
                         ({"summary": "s", "score": 1.5}, "must be integer"), ("text", "must be an object"), (None, "must be an object"),
                         ({"summary": "s", "score": 1, "note": []}, "note of the output must be string")):
        session, steps = run(client)
        settle(client, "a1", result=result)
        failed = client.get(steps["main"]).json()
        check_failed(failed, "output_contract")
        check.true(word in failed["error"]["message"], failed["error"])
        [error] = events(client, steps["main"], "session.error")
        check.equal(error["metadata"]["code"], "output_contract")
    check.contains(entity(client), {"version": 1})
    again = client.post(f"/api/sessions/{session['id']}/retry", {}, expect=201).json()
    check.equal(again["status"], "pending")
    settle(client, "a1", result={"summary": 1, "score": 1})
    check_failed(client.get(f"/api/sessions/{again['id']}").json(), "output_contract")


@test
def a_failure_is_kept_and_passed_on(server):
    """What waits for a failed step fails, so does the run; what ran beside it is stopped."""
    client = server.client()
    prepare(client)
    define(client, [*CHAIN, {"id": "last", "human": True, "depends_on": ["write"]}, {"id": "beside", "agent": "a2"}])
    whole, steps = run(client)
    settle(client, "a1", status="failed", error={"message": "No network.", "code": "network"})
    check.contains(client.get(steps["research"]).json(),
                   {"status": "failed", "error": {"message": "No network.", "code": "network"}})
    for step in ("write", "last"):
        check_failed(client.get(steps[step]).json(), "dependency_failed")
        check.equal(len(events(client, steps[step], "session.error")), 1)
    check.contains(client.get(steps["beside"]).json(), {"status": "abandoned", "stop_reason": "parent"})
    check_failed(client.get(f"/api/sessions/{whole['id']}").json(), "step_failed")
    refused = client.post(f"/api/sessions/{whole['id']}/retry", {}, expect=409).json()
    check.equal(refused["code"], "run_again")
    check.contains(entity(client), {"version": 1})


@test
def a_step_that_is_stopped_or_deleted_fails_its_run(server):
    client = server.client()
    prepare(client)
    define(client, CHAIN)
    for end in (lambda path: client.post(path + "/stop", {}, expect=200), lambda path: client.delete(path, expect=204)):
        whole, steps = run(client)
        end(steps["research"])
        check_failed(client.get(steps["write"]).json(), "dependency_failed")
        check.equal(client.get(f"/api/sessions/{whole['id']}").json()["status"], "failed")


@test
def people_do_steps_too(server):
    """A person's step is a response session; it waits for its turn, and its result fills the entity."""
    client = server.client()
    prepare(client)
    define(client, [CHAIN[0], {"id": "review", "human": True, "depends_on": ["research"], "output": {"fields": {"verdict": "string"}}}])
    whole, steps = run(client)
    check.contains(client.get(steps["review"]).json(), {"type": "response", "status": "draft"})
    refused = client.post(steps["review"] + "/status", {"status": "running"}, expect=409).json()
    check.equal(refused["code"], "step_waits")
    settle(client, "a1", result={"summary": "s", "score": 3})
    [told] = events(client, f"/api/sessions/{whole['id']}", "session.child_waiting")
    check.equal(told["metadata"], {"child_id": steps["review"].split("/")[-1], "kind": "step"})
    client.post(steps["review"] + "/status", {"status": "running"}, expect=200)
    client.post(steps["review"] + "/settle", {"status": "completed", "result": {"verdict": "good"}}, expect=200)
    check.equal(entity(client)["fields"]["verdict"], "good")
    check.equal(client.get(f"/api/sessions/{whole['id']}").json()["status"], "completed")


@test
def a_diamond_joins(server):
    """What waits for two starts once, after the later one, whoever is later."""
    client = server.client()
    prepare(client)
    define(client, [{"id": "a", "agent": "a1"}, {"id": "b", "agent": "a1"}, {"id": "c", "agent": "a1"},
                    {"id": "join", "agent": "a2", "depends_on": ["a", "b", "c"]}])
    whole, steps = run(client)
    claims = client.post("/api/claims", {"worker": "w", "agents": ["a1"], "max": 3}, expect=200).json()["claims"]
    check.equal(len(claims), 3)

    def end(claimed):
        server.client().post(f"/api/sessions/{claimed['session']['id']}/settle", {"status": "completed", "result": {}},
                             headers={"Sojourn-Lease": claimed["lease"]["token"]}, expect=200)
    threads = [threading.Thread(target=end, args=(one,)) for one in claims]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    moves = [one["metadata"]["to"] for one in events(client, steps["join"], "session.status_change")]
    check.equal(moves, ["pending"])
    settle(client, "a2", result={})
    check.equal(client.get(f"/api/sessions/{whole['id']}").json()["status"], "completed")


@test
def an_output_is_approved(server):
    """Staged as an ask, kept when a person says so: the audit first, then the write. No status and no table of its own."""
    client = server.client()
    prepare(client)
    define(client, [{**CHAIN[0], "requires_approval": True}, CHAIN[1]])
    whole, steps = run(client)
    path = steps["research"]
    settle(client, "a1", result={"summary": "s", "score": 3})
    check.contains(client.get(path).json(), {"status": "waiting_human"})
    check.equal(entity(client)["version"], 1, "nothing is written yet")
    ask = pending_ask(client, path)
    check.contains(ask, {"kind": "approval", "arguments": {"summary": "s", "score": 3}, "editable": True})
    check.contains(ask["details"], {"kind": "output", "staged_output": {"summary": "s", "score": 3}})
    check.equal(len(events(client, f"/api/sessions/{whole['id']}", "session.waiting_approval")), 1)
    check.equal(client.post(f"{path}/asks/{ask['id']}/answer",
                            {"decision": "once", "answer": {"summary": "s", "score": 3, "price": 1}}, expect=400).json()["code"],
                "edit_does_not_fit")
    check.equal(client.post(f"{path}/asks/{ask['id']}/answer",
                            {"decision": "once", "answer": {"summary": "s", "score": 3.5}}, expect=400).json()["code"], "output_contract")
    check.equal(states(client, steps), {"research": "waiting_human", "write": "draft"})
    answer = {"decision": "once", "answer": {"summary": "better", "score": 4}}
    for _ in range(2):
        client.post(f"{path}/asks/{ask['id']}/answer", answer, expect=200)
    check.contains(entity(client), {"version": 2, "fields": {"title": "T", "summary": "better", "score": 4}})
    check.contains(client.get(path).json(), {"status": "completed", "result": {"summary": "better", "score": 4}})
    order = [one["type"] for one in events(client, path, "user.output_approval,entity.updated,session.completed")]
    check.equal(order, ["user.output_approval", "session.completed", "entity.updated"])
    check.equal(states(client, steps), {"research": "completed", "write": "pending"})


@test
def an_output_of_any_shape_is_approved(server):
    """Also where no contract says what it holds."""
    client = server.client()
    prepare(client)
    define(client, [{**{name: value for name, value in CHAIN[0].items() if name != "output"}, "requires_approval": True}])
    _, steps = run(client)
    [path] = steps.values()
    settle(client, "a1", result="just words")
    check.equal(client.get(path).json()["status"], "waiting_human")
    ask = pending_ask(client, path)
    check.equal(ask["arguments"], {"text": "just words"})
    client.post(f"{path}/asks/{ask['id']}/answer", {"decision": "once"}, expect=200)
    check.equal(client.get(path).json()["status"], "completed")


@test
def what_a_person_answered_is_promoted(server):
    """The response of a person's step takes the same way: staged, scored, approved, written."""
    client = server.client()
    prepare(client)
    define(client, human=True, requires_approval=True, output={"fields": {"mood": "string"}},
           criteria={"mood": {"options": {"good": {"score": 5}}}})
    session, steps = run(client)
    client.post(steps["main"] + "/status", {"status": "running"}, expect=200)
    client.post(steps["main"] + "/settle", {"status": "completed", "result": {"mood": "good"}}, expect=200)
    check.equal(client.get(steps["main"]).json()["status"], "waiting_human")
    ask = pending_ask(client, steps["main"])
    check.equal(ask["details"]["criteria_score"], 5)
    client.post(f"{steps['main']}/asks/{ask['id']}/answer", {"decision": "once"}, expect=200)
    check.equal((client.get(steps["main"]).json()["status"], entity(client)["fields"]["mood"]), ("completed", "good"))


@test
def an_output_is_rejected(server):
    client = server.client()
    prepare(client)
    define(client, agent="a1", requires_approval=True)
    _, steps = run(client)
    settle(client, "a1", result="as text")
    ask = pending_ask(client, steps["main"])
    check.equal(ask["arguments"], {"text": "as text"})
    client.post(f"{steps['main']}/asks/{ask['id']}/answer", {"decision": "deny", "reason": "Wrong tone."}, expect=200)
    check.contains(client.get(steps["main"]).json(),
                   {"status": "failed", "error": {"code": "output_rejected", "message": "Wrong tone."}})
    check.equal(len(events(client, steps["main"], "user.output_approval")), 1)
    check.equal(entity(client)["version"], 1)


@test(options=["--output-expiry-ms", "1s"])
def an_output_nobody_approves_is_rejected(server):
    client = server.client()
    prepare(client)
    define(client, agent="a1", requires_approval=True)
    _, steps = run(client)
    settle(client, "a1", result={"x": 1})
    check.eventually(lambda: client.get(steps["main"]).json()["status"] == "failed", "it failed", 20)
    check_failed(client.get(steps["main"]).json(), "output_rejected")


@test
def what_is_never_accepted(server):
    """An option that blocks fails the step before anybody is asked, and an edit cannot choose it."""
    client = server.client()
    prepare(client)
    criteria = {"risk": {"options": {"low": {"score": 2}, "high": {"score": 1, "flag": True}, "fatal": {"hard_block": True}}}}
    define(client, agent="a1", requires_approval=True, criteria=criteria, output={"fields": {"risk": "string"}})
    _, steps = run(client)
    settle(client, "a1", result={"risk": "fatal"})
    check_failed(client.get(steps["main"]).json(), "output_blocked")
    check.equal(client.get(steps["main"] + "/asks?state=all").json()["asks"], [])
    _, steps = run(client)
    settle(client, "a1", result={"risk": "high"})
    ask = pending_ask(client, steps["main"])
    check.contains(ask["details"], {"criteria_score": 1, "safety_flags": ["risk"]})
    blocked = client.post(f"{steps['main']}/asks/{ask['id']}/answer", {"decision": "once", "answer": {"risk": "fatal"}}, expect=400).json()
    check.contains(blocked, {"code": "output_blocked", "blocked_dimension": "risk", "blocked_option": "fatal"})
    client.post(f"{steps['main']}/asks/{ask['id']}/answer", {"decision": "once", "answer": {"risk": "low"}}, expect=200)
    check.equal(entity(client)["fields"]["risk"], "low")


@test
def an_entity_that_is_gone(server):
    client = server.client()
    prepare(client)
    define(client, agent="a1", output=SUMMARY)
    _, steps = run(client)
    client.delete("/api/entities/e", expect=204)
    settle(client, "a1", result={"summary": "s", "score": 1})
    check_failed(client.get(steps["main"]).json(), "entity_gone")


@test
def hosted_agents_do_steps(server):
    """A turn that the server runs ends its step; what the agent said is the output, and the next step starts by itself."""
    client = server.client()
    client.post("/api/entities", {"id": "e", "type": "ticket"}, expect=201)
    client.post("/api/agents", {"id": "hosted", "driver": "demo"}, expect=201)
    define(client, [{"id": "one", "agent": "hosted", "prompt": "echo 1"},
                    {"id": "two", "agent": "hosted", "prompt": "echo 2", "depends_on": ["one"]}])
    whole, steps = run(client)
    path = f"/api/sessions/{whole['id']}"
    check.eventually(lambda: client.get(path).json()["status"] in ("completed", "failed"), "the run ended", 30)
    check.equal(client.get(path).json()["status"], "completed")
    check.equal(states(client, steps), {"one": "completed", "two": "completed"})
    for step in steps.values():
        check.equal(len(events(client, step, "turn.ended")), 1)
        check.true(client.get(step).json()["result"], "it has a result")


@test
def running_twice_with_one_key_runs_once(server):
    client = server.client()
    prepare(client)
    define(client, CHAIN)
    first, second = (client.post("/api/tasks/work/runs", {"entity_id": "e"}, headers={"Idempotency-Key": "k"}, expect=201).json()
                     for _ in range(2))
    check.equal(first["session"]["id"], second["session"]["id"])
    check.equal(len(client.get("/api/sessions?task_id=work").json()["sessions"]), 3)
