"""Agents: definitions of files and of the API, their versions, and what a session keeps of them."""
import contextlib
import os
import signal
import sqlite3

from harness import check, people, talk
from harness.runner import Runner, begin
from harness.suite import test

MODEL = {"provider": "anthropic", "model": "m-1", "system_prompt": "Be brief."}


def define(client, id, expect=201, **members):
    return client.post("/api/agents", {"id": id, **MODEL, **members}, expect=expect).json()


def write_agent(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name + ".agent.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def create(client, expect=201, **body):
    return client.post("/api/sessions", {"type": "agent", **body}, expect=expect).json()


def own_ids(client):
    return [agent["id"] for agent in client.get("/api/agents", expect=200).json()["agents"] if not agent["shared"]]


@test
def versions(server):
    """Another content is another version, the same content is the same; all are kept and shown."""
    client = server.client()
    first = define(client, "coder", tools=["read_file"])
    check.contains(first, {"id": "coder", "version": 1, "driver": "model", "model": "m-1", "source": "api",
                           "shared": False, "removed_at": None})
    check.contains(first["definition"], {"tools": ["read_file"], "idle_timeout_ms": 900000})
    check.equal(first["definition"]["caps"]["turns_max"], 50)
    check.equal(define(client, "coder", expect=200, tools=["read_file"])["version"], 1)
    check.equal(define(client, "coder", tools=[])["version"], 2)
    check.equal(define(client, "coder", tools=["read_file"])["version"], 3, "an old content is new again")
    check.equal(client.get("/api/agents/coder").json()["version"], 3)
    check.equal(client.get("/api/agents/coder?version=2").json()["definition"]["tools"], [])
    client.get("/api/agents/coder?version=4", expect=404)
    client.get("/api/agents/nobody", expect=404)
    client.get("/api/agents/nobody/versions", expect=404)
    page = client.get("/api/agents/coder/versions?limit=2").json()
    check.equal([one["version"] for one in page["agents"]], [3, 2])
    check.contains(page, {"has_more": True, "next_before": 2})
    page = client.get(f"/api/agents/coder/versions?before={page['next_before']}").json()
    check.equal([one["version"] for one in page["agents"]], [1])
    check.contains(page, {"has_more": False, "next_before": None})


@test
def what_was_shown_can_be_sent_back(server):
    client = server.client()
    shown = define(client, "coder", idle_timeout_ms="20m", permissions=[{"tool": "git_*", "then": "ask"}])
    again = client.post("/api/agents", {**shown["definition"], "version": shown["version"]}, expect=200).json()
    check.equal(again["version"], 1)
    check.equal(again["definition"]["idle_timeout_ms"], 1200000)


@test
def lists_page(server):
    client = server.client()
    for id in ("c", "a", "b"):
        define(client, id)
    define(client, "b", tools=["read_file"])
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"/api/agents?limit=1{cursor and '&after=' + cursor}").json()
        seen += [(one["id"], one["version"]) for one in page["agents"]]
        check.true("definition" not in page["agents"][0], "a list shows no definitions")
        cursor = page["next_cursor"]
        check.equal(page["has_more"], cursor is not None)
    check.equal(seen, [("a", 1), ("b", 2), ("c", 1), ("demo", 1)])


@test
def wrong_definitions_are_named(server):
    client = server.client()
    for body, code, part in (
            ({**MODEL}, "missing_member", "id"),
            ({"id": "a", **MODEL, "modell": 1}, "unknown_member", "modell"),
            ({"id": "A b", **MODEL}, "invalid_agent", "kebab-case"),
            ({"id": "a"}, "invalid_agent", "`provider` is missing"),
            ({"id": "a", **MODEL, "caps": {"turn_max": 1}}, "invalid_agent", "turns_max, tool_rounds_max"),
            ({"id": "a", "driver": "acp"}, "invalid_agent", "`command` is missing")):
        problem = client.post("/api/agents", body).json()
        check.equal((problem["status"], problem["code"]), (400, code), problem["detail"])
        check.contains(problem["detail"], part)
    check.equal(own_ids(client), [], "nothing was kept")


@test
def who_may(server):
    """Admins define; members read; other tenants see nothing; a program on the machine needs the operator."""
    owner = server.client()
    member, admin = people.person(owner, "mia").client, people.person(owner, "ada", role="admin").client
    define(member, "a", expect=403)
    define(admin, "a")
    check.equal(member.get("/api/agents/a", expect=200).json()["created_by"].split(":")[0], "user")
    member.delete("/api/agents/a", expect=403)
    other = people.tenant(owner, "elsewhere").client
    other.get("/api/agents/a", expect=404)
    check.equal(own_ids(other), [])
    other.delete("/api/agents/a", expect=404)
    program = {"id": "p", "driver": "acp", "command": ["opencode", "acp"]}
    files = {"id": "f", **MODEL, "fs_scope": "project"}
    network = {"id": "n", **MODEL, "sandbox": {"kind": "local", "network": True}}
    for client in (admin, other):
        for definition in (program, files, network):
            problem = client.post("/api/agents", definition, expect=403).json()
            check.equal(problem["code"], "operator_required")
    owner.post("/api/agents", program, expect=201)
    owner.post("/api/agents", files, expect=201)
    owner.post("/api/agents", network, expect=201)
    bound = people.token(owner, kind="runner", session_id=people.session(owner).split("/")[-1])
    bound.get("/api/agents", expect=403)


@test
def the_operator_can_open_programs_to_all(env):
    server = env.server(options=["--agents-reach-host"])
    other = people.tenant(server.client(), "elsewhere").client
    other.post("/api/agents", {"id": "p", "driver": "acp", "command": ["x"]}, expect=201)


@test
def secrets_are_refused(server):
    client = server.client()
    problem = client.post("/api/agents", {"id": "a", "driver": "acp", "command": ["x"], "environment": {
        "TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}, expect=400).json()
    check.contains(problem["detail"], "pass_environment")
    check.true("ghp_" not in problem["detail"], "the secret is not repeated")


@test
def a_session_keeps_its_version(env):
    """The version is frozen at the start; a removal ends new sessions only; it survives a restart."""
    server = env.server()
    client = server.client()
    define(client, "coder", driver="worker", queue_mode="steer")
    first = create(client, agent="coder")
    check.contains(first, {"agent": "coder", "agent_version": 1, "driver": "worker", "queue_mode": "steer",
                           "agent_config": None})
    define(client, "coder", driver="worker", tools=["read_file"])
    second = create(client, agent="coder", queue_mode="reject")
    check.contains(second, {"agent_version": 2, "queue_mode": "reject"})
    client.delete("/api/agents/coder", expect=204)
    client.get("/api/agents/coder", expect=404)
    client.delete("/api/agents/coder", expect=404)
    check.equal(client.get("/api/agents/coder?version=2", expect=200).json()["removed_at"] is None, False)
    check.contains(create(client, agent="coder"), {"agent_version": 0, "driver": "worker"})
    server.restart()
    client = server.client()
    check.contains(client.get(f"/api/sessions/{first['id']}").json(), {"agent_version": 1, "queue_mode": "steer"})
    created = client.get(f"/api/sessions/{second['id']}/events").json()["events"][0]
    check.contains(created["metadata"], {"agent": "coder", "agent_version": 2, "driver": "worker"})
    check.equal(define(client, "coder", driver="worker", tools=["read_file"])["version"], 3)
    check.equal(create(client, agent="coder")["agent_version"], 3)
    server.stop()
    server.verify()


@test
def an_agent_nobody_defined_is_a_workers(server):
    client = server.client()
    check.contains(create(client, agent="some.worker_1"), {"agent_version": 0, "driver": "worker"})
    check.contains(create(client), {"agent": None, "agent_version": 0, "driver": "worker"})
    problem = create(client, agent="unknown", agent_config={"turns_max": 1}, expect=400)
    check.equal(problem["code"], "agent_not_defined")


@test
def a_session_narrows_and_never_widens(server):
    client = server.client()
    define(client, "coder", driver="worker", tools=["read_file", "run_command"], commands=["git *"],
           caps={"turns_max": 10})
    narrow = {"tools": ["read_file"], "commands": ["git log"], "turns_max": 3,
              "permissions": [{"tool": "read_file", "path": "*/.env", "then": "deny"}]}
    session = create(client, agent="coder", agent_config=narrow)
    check.equal(client.get(f"/api/sessions/{session['id']}").json()["agent_config"], narrow)
    before = client.get("/api/counts").json()["total"]
    for wider in ({"tools": ["write_file"]}, {"commands": ["*"]}, {"turns_max": 11}, {"fs_scope": "full"},
                  {"sandbox": {"network": True}}, {"permissions": [{"then": "allow"}]}, {"hosts": ["a.example"]}):
        problem = create(client, agent="coder", agent_config=wider, expect=400)
        check.equal(problem["code"], "widens_agent", str(wider))
    for wrong in ({"model": "x"}, {"turns_max": 0}):
        problem = create(client, agent="coder", agent_config=wrong, expect=400)
        check.equal(problem["code"], "invalid_agent_config", str(wrong))
    check.equal(client.get("/api/counts").json()["total"], before, "nothing was made")


@test
def a_retry_keeps_agent_and_config(server):
    client = server.client()
    define(client, "coder", driver="worker", tools=["read_file"])
    old = create(client, agent="coder", status="pending", agent_config={"turns_max": 2})
    undefined = create(client, agent="later", status="pending")
    for session in (old, undefined):
        client.post(f"/api/sessions/{session['id']}/status", {"status": "failed"}, expect=200)
    define(client, "coder", driver="worker")
    client.delete("/api/agents/coder", expect=204)
    define(client, "later", driver="worker")
    new = client.post(f"/api/sessions/{old['id']}/retry", {}, expect=201).json()
    check.contains(new, {"agent": "coder", "agent_version": 1, "retry_of": old["id"], "agent_config": {"turns_max": 2}})
    new = client.post(f"/api/sessions/{undefined['id']}/retry", {}, expect=201).json()
    check.contains(new, {"agent_version": 0, "driver": "worker"})


@test(options=["--no-demo-agent"])
def workers_get_no_hosted_sessions(server):
    """However many wait in front of them, and whatever the worker asks for."""
    client = server.client()
    define(client, "thinker")
    for _ in range(5):
        create(client, agent="thinker", status="pending", priority=9)
    mine = create(client, agent="hands", status="pending")
    for wish in ({}, {"agents": ["thinker", "hands"]}):
        claims = client.post("/api/claims", {"worker": "w", "max": 3, **wish}, expect=200).json()["claims"]
        check.equal([claim["session"]["id"] for claim in claims], [mine["id"]] if not wish else [])
    client.post("/api/claims", {"worker": "w", "agents": ["thinker"]}, expect=200)


@test
def the_context_of_a_session(server):
    """Checked key by key, kept as it is sent and never with a secret."""
    client = server.client()
    context = {"working_dir": "/home/a/x", "active_file": "src/a.c", "git_ref": "main", "fs_scope": "project",
               "selection": {"file": "src/a.c", "start_line": 3, "end_line": 9}, "variables": {"ticket": "A-1"}}
    session = create(client, details={"context": context})
    check.equal(client.get(f"/api/sessions/{session['id']}").json()["details"]["context"], context)
    created = client.get(f"/api/sessions/{session['id']}/events").json()["events"][0]
    check.equal(created["metadata"]["details"]["context"], context)
    for wrong, code in (({"cwd": "/"}, "invalid_context"), ({"working_dir": 1}, "invalid_context"),
                        ({"fs_scope": "all"}, "invalid_context"), ({"variables": {"a": 1}}, "invalid_context"),
                        ({"selection": {"file": "a", "start_line": 3, "end_line": 2}}, "invalid_context"),
                        ({"variables": {"api_key": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}}, "secret_in_context")):
        problem = create(client, details={"context": wrong}, expect=400)
        check.equal(problem["code"], code, str(wrong))
        check.true("ghp_" not in problem["detail"], "the secret is not repeated")
        client.patch(f"/api/sessions/{session['id']}", {"details": {"context": wrong}}, expect=400)


@test(options=["--demo-pace-percent", "0", "--turns-per-session-max", "1"])
def turns_of_every_driver_are_counted(server):
    """By the cap of their agent, whatever the option says to those nobody defined."""
    client = server.client()
    define(client, "a", driver="worker", caps={"turns_max": 2})
    path = talk.talk(client)
    for _ in range(2):
        talk.send(client, path, "Go")
        talk.settle(client, path, talk.claim(client))
    check.problem(client.post(path + "/messages", {"text": "x"}), 429, "turn_limit")
    path = begin(client, caps={"turns_max": 1})
    runner = Runner(client, path)
    for stop, code in (("stop", None), ("error", "turn_limit")):
        talk.send(client, path, "Go")
        if stop == "stop":
            runner.complete(runner.hear("prompt"))
        check.eventually(lambda: talk.events(client, path, "turn.ended"), "it ends")
        check.eventually(lambda: client.get(path).json()["status"] == "idle", "it rests")
        end = talk.events(client, path, "turn.ended")[-1]["metadata"]
        check.equal((end["stop_reason"], end.get("error", {}).get("code")), (stop, code))
    runner.nothing_is_said()
    define(client, "guide", driver="demo", caps={"turns_max": 1}, sandbox={"kind": "none"})
    path = people.session(client, agent="guide")
    for stop, code in (("stop", None), ("error", "turn_limit")):
        answer = client.post(path + "/messages?wait=true", {"text": "echo hello"}).json()
        answer = answer.get("result") or answer
        check.equal((answer["stop_reason"], (answer["error"] or {}).get("code")), (stop, code))


@test(on=("sqlite",))
def a_definition_that_cannot_be_read_ends_its_turns(env):
    """Turns of its sessions end with a word about it, also one that a crash cut; nobody else waits for that."""
    server = env.server(options=["--demo-pace-percent", "0"])
    client = server.client()
    define(client, "broken", driver="demo")
    cut, told = (people.session(client, agent="broken") for _ in range(2))
    talk.send(client, cut, "Hello")
    talk.wait_event(client, cut, lambda event: event["type"] == "ask.requested")
    server.kill()
    with contextlib.closing(sqlite3.connect(os.path.join(server.data_directory(), "sojourn.db"))) as rows, rows:
        rows.execute("update agents set definition = '{\"id\":\"broken\",\"modell\":1}' where slug = 'broken'")
    server.start()
    client = server.client()
    other = people.session(client, agent="demo")
    ended = lambda event: event["type"] == "turn.ended"
    for path, stop in ((cut, "aborted"), (told, "error"), (other, None)):
        if path != cut:
            talk.send(client, path, "Hello")
        if stop:
            check.equal(talk.wait_event(client, path, ended)["metadata"]["stop_reason"], stop)
        else:
            talk.wait_event(client, path, lambda event: event["type"] == "agent.message")
    [end] = talk.events(client, told, "turn.ended")
    check.contains(end["metadata"]["error"]["message"], "`modell` is not known")


# --- files ---


@test
def files_are_agents_of_all_tenants(env):
    """Read at the start; another content is the next version; a file that is gone removes its agent."""
    folder = os.path.join(env.directory, "agents")
    path = write_agent(folder, "helper", "id: helper\nprovider: openai\nmodel: m\nsystem_prompt: |\n  Hello.\n"
                                         "caps:\n  turns_max: 7\nidle_timeout_ms: 5m\n")
    write_agent(folder, "shell", "id: shell\ndriver: acp\ncommand: [opencode, acp]\npass_environment: [HOME]\n")
    server = env.server(options=["--agents", folder])
    client = server.client()
    other = people.tenant(client, "elsewhere").client
    for tenant in (client, other):
        agent = tenant.get("/api/agents/helper", expect=200).json()
        check.contains(agent, {"version": 1, "source": "file", "shared": True, "created_by": "system"})
        check.equal((agent["definition"]["caps"]["turns_max"], agent["definition"]["idle_timeout_ms"]), (7, 300000))
        check.equal(tenant.delete("/api/agents/helper", expect=409).json()["code"], "agent_is_shared")
        check.contains(create(tenant, agent="helper"), {"agent_version": 1, "driver": "model"})
    check.equal(define(other, "helper")["version"], 2)
    check.equal(create(other, agent="helper")["agent_version"], 2, "the own one goes before")
    check.equal(create(client, agent="helper")["agent_version"], 1)
    server.restart()
    client = server.client()
    check.equal(client.get("/api/agents/helper").json()["version"], 1, "the same content is the same version")
    with open(path, "a", encoding="utf-8") as file:
        file.write("resume: retry\n")
    os.remove(os.path.join(folder, "shell.agent.yaml"))
    server.signal(signal.SIGHUP)
    server.wait_log("agents_reread")
    check.contains(client.get("/api/agents/helper").json(), {"version": 3})
    client.get("/api/agents/shell", expect=404)
    with open(path, "a", encoding="utf-8") as file:
        file.write("nonsense: 1\n")
    server.signal(signal.SIGHUP)
    check.contains(server.wait_log("agents_not_reread")["detail"], "helper.agent.yaml:10: `nonsense` is not known")
    check.contains(client.get("/api/agents/helper").json(), {"version": 3})


@test
def the_folder_in_the_data_directory_is_the_usual_one(env):
    server = env.server(start=False)
    write_agent(os.path.join(server.data_directory(), "agents"), "x", "id: here\ndriver: worker\n")
    server.start()
    check.equal(server.client().get("/api/agents/here", expect=200).json()["source"], "file")


@test
def wrong_files_stop_the_start(env):
    """With file, line and what is accepted; check-config says the same without starting anything."""
    folder = os.path.join(env.directory, "agents")
    server = env.server(start=False)
    for text, part in (("id: a\ndriver: demo\nmodell: x\n", "a.agent.yaml:3: `modell` is not known; accepted: id, version"),
                       ("id: a\ndriver: robot\n", "a.agent.yaml:2: `driver` must be one of: worker"),
                       ("id: a\n", "a.agent.yaml:1: `provider` is missing"),
                       ("id: [\n", "a.agent.yaml"), ("", "must be an object"),
                       ("id: b\ndriver: demo\n", "every id stands in one file")):
        write_agent(folder, "a", text)
        write_agent(folder, "b", "id: b\ndriver: worker\n")
        check.contains(server.run("check-config", "--agents", folder, expect=2).stderr, part)
        check.contains(server.run("serve", "--agents", folder, "--listen", f"unix:{env.directory}/s",
                                  "--data", os.path.join(env.directory, "data"), expect=1).stderr.replace('\\"', '"'),
                       part)
    write_agent(folder, "a", "id: a\ndriver: demo\n")
    shown = server.run("check-config", "--agents", folder).stdout.split("# Agents of all tenants\n")[1]
    check.equal([line.split() for line in shown.splitlines()],
                [["a", "demo", "file"], ["b", "worker", "file"], ["demo", "demo", "built_in"]])
    check.contains(server.run("check-config", "--agents", folder + "2", expect=2).stderr, "can't be read")


@test
def built_in_agents(env):
    """The demo by its option; the assistant by the keys in the environment, which no answer shows."""
    server = env.server(options=["--default-anthropic-model", "a-model"],
                        environment={"ANTHROPIC_API_KEY": "not-a-key-1", "OPENAI_API_KEY": "not-a-key-2"})
    client = server.client()
    check.equal([one["id"] for one in client.get("/api/agents").json()["agents"]], ["assistant", "demo"])
    agent = client.get("/api/agents/assistant").json()
    check.contains(agent, {"provider": "anthropic", "model": "a-model", "source": "built_in"})
    check.equal(agent["definition"]["fallback_chain"][0]["provider"], "openai")
    check.contains(agent["definition"]["permissions"], {"tool": "run_command", "then": "ask"})
    check.true("not-a-key" not in str(agent), "keys stay in the environment")
    check.contains(create(client, agent="demo"), {"driver": "demo", "agent_version": 1})
    bare = env.server(options=["--no-demo-agent"])
    check.equal(bare.client().get("/api/agents").json()["agents"], [])
    one = env.server(environment={"OPENAI_API_KEY": "not-a-key-2"})
    check.contains(one.client().get("/api/agents/assistant").json(), {"provider": "openai"})


@test(on=("postgres",))
def two_nodes_share_definitions(env):
    """A version pushed at one node is what the other node's next session gets."""
    url = env.database()
    one = env.server(database=url)
    two = env.server(database=url, environment={"SOJOURN_BOOTSTRAP_TOKEN": one.token})
    two.token = one.token
    client, there = one.client(), two.client()
    define(client, "coder", driver="worker")
    check.equal(create(there, agent="coder")["agent_version"], 1)
    define(there, "coder", driver="worker", tools=["x"])
    check.equal(create(client, agent="coder")["agent_version"], 2)


@test
def what_means_nothing_is_refused(server):
    """A name or a pattern that can never be meant would forbid nothing: refused where it is defined, with what is accepted."""
    client = server.client()
    model = {"driver": "model", "provider": "anthropic", "model": "m", "system_prompt": "You help.", "tools": ["read_file"]}
    acp = {"driver": "acp", "command": ["agent"], "sandbox": {"kind": "local"}}
    for definition, code, words in (
            (model | {"tools": ["read_fil"]}, "unknown_tool", "read_file, request_approval"),
            (model | {"permissions": [{"tool": "run_comand", "then": "deny"}]}, "unknown_tool", "run_command"),
            (model | {"permissions": [{"tool": "Read*", "then": "deny"}]}, "unknown_tool", "read_file"),
            (model | {"permissions": [{"tol": "read_file", "then": "deny"}]}, "invalid_agent", "tool, argument, command, path"),
            (model | {"permissions": [{"path": "../keys/*", "then": "deny"}]}, "invalid_agent", "relative to the tree"),
            (model | {"permissions": [{"host": "https://evil.example", "then": "deny"}]}, "invalid_agent", "lower case"),
            (model | {"permissions": [{"host": "Evil.example", "then": "deny"}]}, "invalid_agent", "lower case"),
            (model | {"permissions": [{"argument": '{"command":"git *"}', "then": "allow"}]}, "invalid_agent", "`command`"),
            (acp | {"gateway_tools": ["set_titel"]}, "unknown_tool", "set_title")):
        refused = client.post("/api/agents", {"id": "typo"} | definition, expect=400).json()
        check.equal(refused["code"], code, str(definition))
        check.contains(refused["detail"], words)
    check.problem(client.get("/api/agents/typo"), 404, "agent_not_found")
    client.post("/api/agents", {"id": "theirs"} | acp | {"permissions": [{"tool": "Bash", "command": "make *", "then": "allow"},
                                                                         {"host": "*.example", "then": "deny"}]}, expect=201)
    define(client, "mine", **model)
    for config, code in (({"permissions": [{"tool": "read_fil", "then": "deny"}]}, "unknown_tool"),
                         ({"permissions": [{"path": "a/../b", "then": "deny"}]}, "invalid_agent"),
                         ({"tools": ["write_file"]}, "widens_agent")):
        check.problem(client.post("/api/sessions", {"type": "agent", "agent": "mine", "agent_config": config}), 400, code)
    people.session(client, agent="mine", agent_config={"permissions": [{"tool": "read_*", "then": "deny"}]})
