"""Agents that are a model: the whole server against a scripted provider that speaks the real formats."""
import glob
import json
import os
import subprocess

from harness import check, people
from harness.model_server import ModelServer
from harness.suite import test
from harness.talk import events, send, wait_event, watch

AGENT = """
id: helper
driver: model
provider: {provider}
model: first
system_prompt: You help.
sandbox: {{{sandbox}}}
{more}
"""
KEY = "sk-ant-api03-" + "a1B2c3D4" * 6
FORMATS = {"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}


def start(env, model, provider="anthropic", more="", options=(), backoff_ms=1, sandbox="kind: none"):
    """A server with one model agent; its client and the path of a conversation with it."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        file.write(AGENT.format(provider=provider, more=more, sandbox=sandbox))
    server = env.server(["--agents", folder, "--model-backoff-ms", str(backoff_ms), *options], model.environment())
    client = server.client()
    return server, client, people.session(client, agent="helper")


def ended(client, path, count=1):
    """The `count`-th turn.ended, waited for."""
    seen = []
    is_it = lambda event: event["type"] == "turn.ended" and (seen.append(1) or len(seen) == count)
    return wait_event(client, path, is_it)


def turn(client, path, text="Hello?"):
    send(client, path, text)
    return ended(client, path)["metadata"]


def texts(client, path, kind="agent.message"):
    return [event["content"][0]["text"] for event in events(client, path, kind)]


def tool_results(client, path):
    return [event["content"][0] for event in events(client, path, "agent.tool_result")]


@test
def speaks_both_formats(env):
    """Text and reasoning are streamed and stored, usage and cost are counted, and no key is anywhere."""
    step = {"reasoning": "Let me think.", "text": "Good morning!",
            "usage": {"input": 1000, "output": 100, "cached": 400}}
    prices = "input_microcents_per_mtok: 300000000\noutput_microcents_per_mtok: 1500000000"
    costs = {"anthropic": 600 * 300 + 400 * 30 + 100 * 1500, "openai": 600 * 300 + 400 * 150 + 100 * 1500}
    for provider, address in FORMATS.items():
        with ModelServer([step]) as model:
            server, client, path = start(env, model, provider, prices)
            with watch(client, path) as stream:
                send(client, path, "Hello?")
                frames = stream.until(lambda one: one.event == "event" and one.json()["type"] == "turn.ended", 30)
            said = {"reasoning": "", "text": ""}
            for frame in frames:
                if frame.event == "delta":
                    said[frame.json()["kind"]] += frame.json()["text"]
            check.equal(said, {"reasoning": "Let me think.", "text": "Good morning!"})
            check.equal(texts(client, path), ["Good morning!"])
            check.equal(texts(client, path, "agent.thinking"), ["Let me think."])
            end = frames[-1].json()["metadata"]
            check.contains(end, {"stop_reason": "stop"})
            check.contains(end["usage"], {"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 400,
                                          "cost_microcents": costs[provider]})
            check.contains(client.get(path).json(), {"status": "idle"})
            [request] = model.requests
            body = request["body"]
            check.equal((request["path"], body["model"], body["stream"]), (address, "first", True))
            check.true("test-0123456789" not in json.dumps(events(client, path)), "no key in the log")
            server.stop()


@test
def tool_calls_are_kept_across_turns(env):
    """A second turn tells the model what the first one called and got."""
    script = [{"text": "One moment.", "tools": [{"name": "set_title", "input": {"title": "Tea"}}]}, {"text": "Done."},
              {"text": "You are welcome."}]
    for provider in FORMATS:
        with ModelServer(script) as model:
            server, client, path = start(env, model, provider, "tools: [set_title]")
            check.contains(turn(client, path), {"stop_reason": "stop"})
            check.equal(client.get(path).json()["title"], "Tea")
            check.equal(texts(client, path), ["One moment.", "Done."])
            send(client, path, "Thanks")
            ended(client, path, 2)
            last = json.dumps(model.requests[2]["body"]["messages"])
            for part in ("One moment.", "set_title", "Tea", "Done.", "Thanks"):
                check.contains(last, part)
            server.stop()


@test
def a_killed_server_tells_the_model_everything_again(env):
    """S4-069: after kill -9 the next turn is told the whole conversation, tool calls and their results included."""
    script = [{"text": "One moment.", "tools": [{"name": "set_title", "input": {"title": "Tea"}}]}, {"text": "Done."},
              {"text": "You are welcome."}]
    with ModelServer(script) as model:
        server, client, path = start(env, model, more="tools: [set_title]")
        check.contains(turn(client, path), {"stop_reason": "stop"})
        server.kill()
        server.start()
        client = server.client()
        send(client, path, "Thanks")
        ended(client, path, 2)
        blocks = [block for message in model.requests[2]["body"]["messages"] for block in message["content"]]
        check.equal([block["type"] for block in blocks], ["text", "text", "tool_use", "tool_result", "text", "text"])
        check.equal((blocks[2]["name"], blocks[2]["input"]), ("set_title", {"title": "Tea"}))
        check.equal((blocks[3]["tool_use_id"], blocks[5]["text"]), (blocks[2]["id"], "Thanks"))


@test
def kept_files_go_with_their_session(env):
    """What tools left beside the log is erased when the session is."""
    script = [{"tools": [{"name": "set_title", "input": {"title": "Tea"}}]}, {"text": "Done."}]
    with ModelServer(script) as model:
        server, client, path = start(env, model, more="tools: [set_title]")
        turn(client, path)
        found = lambda: glob.glob(os.path.join(server.data_directory(), "files", "*", "*"))
        [kept] = found()
        with open(os.path.join(kept, "result"), "w", encoding="utf-8") as file:
            file.write("a long one")
        client.delete(path, expect=204)
        check.eventually(lambda: not found(), "the files of the session are gone")


@test
def a_person_decides_about_a_tool(env):
    """Allowed, with other arguments, and denied with a reason that the model reads."""
    call = {"tools": [{"name": "set_title", "input": {"title": drink}} for drink in ("Tea", "Rum")]}
    more = "tools: [set_title]\npermissions:\n  - {tool: set_title, then: ask}"
    with ModelServer([call, {"text": "As you wish."}]) as model:
        _, client, path = start(env, model, more=more)
        send(client, path, "Name it")
        wait_event(client, path, lambda event: event["type"] == "ask.requested")
        [ask] = client.get(path + "/asks", query={"state": "pending"}).json()["asks"]
        check.contains(ask, {"kind": "approval", "tool": "set_title", "arguments": {"title": "Tea"}})
        check.equal(client.get(path).json()["status"], "awaiting_tool")
        edited = {"decision": "once", "arguments": {"title": "Coffee"}}
        client.post(f"{path}/asks/{ask['id']}/answer", edited, expect=200)
        check.eventually(lambda: len(events(client, path, "ask.requested")) == 2, "the second call is asked about")
        [ask] = client.get(path + "/asks", query={"state": "pending"}).json()["asks"]
        client.post(f"{path}/asks/{ask['id']}/answer", {"decision": "deny", "reason": "no drinks"}, expect=200)
        check.contains(ended(client, path)["metadata"], {"stop_reason": "stop"})
        first, second = tool_results(client, path)
        check.equal((first["is_error"], second["is_error"]), (False, True))
        check.equal(first["output"], '[a person changed the arguments to {"title": "Coffee"}]\n{"ok":true}')
        check.contains(json.dumps(model.requests[1]["body"]), "a person changed the arguments")
        check.contains(second["output"], "no drinks")
        check.equal(client.get(path).json()["title"], "Coffee")


@test
def what_is_denied_stays_denied(env):
    """Neither arguments that a person wrote instead, nor spaces, quotes or the model's JSON lead past a rule."""
    more = ("tools: [set_title, run_command]\ncommands: ['git *']\npermissions:\n"
            "  - {tool: set_title, argument: '{\"title\":\"Tea\"}', then: ask}\n"
            "  - {tool: set_title, argument: 'Rum*', then: deny}\n"
            "  - {tool: run_command, argument: 'git push*', then: deny}")
    lines = ("git push", "git  push", " git 'push' origin", "git p\"us\"h")
    calls = [("set_title", {"title": "Tea"}), *(("run_command", {"command": line}) for line in lines)]
    script = [{"tools": [{"name": name, "input": given} for name, given in calls]}, {"text": "As you wish."}]
    with ModelServer(script) as model:
        _, client, path = start(env, model, more=more)
        send(client, path, "Name it")
        wait_event(client, path, lambda event: event["type"] == "ask.requested")
        [ask] = client.get(path + "/asks", query={"state": "pending"}).json()["asks"]
        edited = {"decision": "once", "arguments": {"title": "Rum and Cola"}}
        client.post(f"{path}/asks/{ask['id']}/answer", edited, expect=200)
        check.contains(ended(client, path)["metadata"], {"stop_reason": "stop"})
        for given, result in zip(calls, tool_results(client, path), strict=True):
            check.equal((result["is_error"], result["output"]),
                        (True, "denied: the agent's permissions forbid this call"), str(given))
        check.equal(events(client, path, "session.updated"), [], "it has no other title")


@test
def a_commit_is_opened_by_its_name_only(env):
    """`git_commit` asks by itself: under a rule for every tool too, and not under one that names it."""
    call, tree = {"name": "git_commit", "input": {"message": "two"}}, repository(env)
    for rule, asked in (("'*', then: allow", 1), ("'git_*', then: allow", 1), ("git_commit, then: allow", 0)):
        more = f"tools: [git_commit, write_file]\npermissions:\n  - {{tool: {rule}}}"
        with ModelServer([{"tools": [call]}, {"text": "Done."}]) as model:
            server, client, path = start(env, model, more=more, sandbox=f"kind: local, repository: {tree}",
                                         options=["--sandbox-projects", env.directory])
            send(client, path, "Commit it")
            check.eventually(lambda: events(client, path, "turn.ended") or events(client, path, "ask.requested"), "it goes on", 30)
            check.equal(len(events(client, path, "ask.requested")), asked, rule)
            server.stop()


def repository(env):
    """A directory with one commit."""
    path = os.path.join(env.directory, "repository")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-C", path]
    os.makedirs(path)
    with open(os.path.join(path, "a.txt"), "w", encoding="utf-8") as file:
        file.write("hello\n")
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "one"]):
        subprocess.run(git + words, check=True)
    return path


@test
def every_tool_in_a_sandbox(env):
    """Each tool of the table by the whole server: in a clone of a repository, with the people and the service behind it."""
    rows = [("list_directory", {}, "a.txt 6 bytes"), ("read_file", {"path": "a.txt"}, "hello"),
            ("write_file", {"path": "b/c.txt", "content": "one\ntwo\n"}, "Wrote b/c.txt"),
            ("edit_file", {"path": "b/c.txt", "old": "two", "new": "three"}, "Replaced 1 place"),
            ("search_files", {"pattern": "three"}, "b/c.txt:2:three"),
            ("run_command", {"command": "cat b/c.txt"}, "one\nthree"), ("git_status", {}, "?? b/"),
            ("git_commit", {"message": "two"}, "1 file changed"),
            ("edit_file", {"path": "a.txt", "old": "hello", "new": "good day"}, "Replaced 1 place"),
            ("git_diff", {}, "+good day"), ("ask_user", {"question": "Tea?"}, "yes"),
            ("request_approval", {"action": "Brew it."}, "Approved"),
            ("spawn_session", {"prompt": "Warm the pot.", "title": "pot"}, '"status":"pending"'),
            ("session_status", {}, '"status":"running"'), ("save_snapshot", {}, '"snapshot":"'),
            ("set_title", {"title": "Tea"}, "ok")]
    more = f"commands: ['cat *']\ntools: [{', '.join(sorted({name for name, _, _ in rows}))}]"
    with ModelServer([{"tools": [{"name": name, "input": given} for name, given, _ in rows]}, {"text": "Done."}]) as model:
        _, client, path = start(env, model, more=more, sandbox=f"kind: local, repository: {repository(env)}",
                                options=["--sandbox-projects", env.directory])
        send(client, path, "Go")
        for count, tool, reply in ((1, "git_commit", {"decision": "once"}), (2, None, {"answer": "yes"}),
                                   (3, "request_approval", {"decision": "once"})):
            check.eventually(lambda: len(events(client, path, "ask.requested")) == count, f"ask {count} is there", 30)
            [ask] = client.get(path + "/asks", query={"state": "pending"}).json()["asks"]
            check.equal(ask.get("tool"), tool)
            client.post(f"{path}/asks/{ask['id']}/answer", reply, expect=200)
        check.contains(ended(client, path)["metadata"], {"stop_reason": "stop"})
        for (name, given, part), result in zip(rows, tool_results(client, path), strict=True):
            check.equal((result["name"], result["is_error"]), (name, False), f"{given}: {result['output']}")
            check.contains(result["output"], part)
        session = client.get(path).json()
        check.equal(session["title"], "Tea")
        taken = json.loads(tool_results(client, path)[14]["output"])
        check.equal(session["details"]["snapshot_id"], taken["snapshot"])
        check.equal([child["title"] for child in client.get(path + "/children").json()["sessions"]], ["pot"])
        changed = client.get(path + "/files-changed").json()["files"]
        check.equal([(one["path"], one["status"]) for one in changed], [("a.txt", "modified"), ("b/c.txt", "modified")])


@test
def long_results_stand_beside_the_log(env):
    """Beyond lines or bytes the log has head and tail; the model can read the rest by its name."""
    script = [{"tools": [{"name": "run_command", "input": {"command": "seq 1 300"}}]}, {"text": "Long."}]
    more = "commands: ['seq *']\ntools: [run_command, read_file]"
    for limit in (["--tool-result-lines-max", "20"], ["--tool-result-bytes-max", "1KiB"]):
        with ModelServer(script) as model:
            server, client, path = start(env, model, more=more, sandbox="kind: local", options=limit)
            check.contains(turn(client, path), {"stop_reason": "stop"})
            [event] = events(client, path, "agent.tool_result")
            shown = event["content"][0]["output"].splitlines()
            check.equal((shown[0], shown[-1], "150" in shown), ("1", "300", False))
            check.equal(event["metadata"]["bytes"], len("".join(f"{n}\n" for n in range(1, 301))))
            name = event["metadata"]["spill"]
            model.say_next({"tools": [{"name": "read_file", "input": {"path": "result:" + name, "offset": 150,
                                                                      "limit": 2}}]}, {"text": "I see."})
            send(client, path, "And in the middle?")
            check.contains(ended(client, path, 2)["metadata"], {"stop_reason": "stop"})
            check.contains(tool_results(client, path)[1]["output"], "150\n151\n")
            server.stop()


@test
def tools_of_a_session_without_sandbox(env):
    """They say what is missing, and the turn goes on."""
    calls = [("save_snapshot", {}), ("run_command", {"command": "ls"}), ("read_file", {"path": "a"}), ("git_status", {}),
             ("session_status", {"session_id": "somebody-elses"})]
    script = [{"tools": [{"name": name, "input": given} for name, given in calls]}, {"text": "Well."}]
    with ModelServer(script) as model:
        tools = ", ".join(name for name, _ in calls)
        _, client, path = start(env, model, more=f"commands: [ls]\ntools: [{tools}]")
        check.contains(turn(client, path), {"stop_reason": "stop"})
        check.equal([result["is_error"] for result in tool_results(client, path)], [True] * len(calls))


@test
def the_project_tier(env):
    """File tools reach the directory a session works in, when the operator opened it: nothing beside it, by no link."""
    project = os.path.join(env.directory, "projects", "tea")
    os.makedirs(project)
    for place, text in ((os.path.join(project, "notes"), "green"), (os.path.join(env.directory, "beside"), "secret")):
        with open(place, "w", encoding="utf-8") as file:
            file.write(text)
    os.symlink(env.directory, os.path.join(project, "out"))
    more = "fs_scope: project\ntools: [read_file, write_file]\npermissions:\n  - {tool: write_file, then: allow}"
    calls = [("read_file", {"path": "notes"}), ("read_file", {"path": os.path.join(project, "notes")}),
             ("write_file", {"path": "new", "content": "black"}),
             ("read_file", {"path": "../../beside"}), ("read_file", {"path": "out/beside"}),
             ("read_file", {"path": os.path.join(env.directory, "beside")})]
    script = [{"tools": [{"name": name, "input": given} for name, given in calls]}, {"text": "Done."}]
    inside, nothing = [False] * 3 + [True] * 3, [True] * 6
    rows = [(project, {}, inside), (os.path.join(project, "out"), {}, nothing), (env.directory, {}, nothing),
            (project + "-else", {}, nothing), (env.directory, {"workspace": project}, inside),
            (project, {"agent_config": {"fs_scope": "sandboxed"}}, nothing)]
    with ModelServer(script * len(rows)) as model:
        _, client, _ = start(env, model, more=more,
                             options=["--tool-project-dir", os.path.join(env.directory, "projects")])
        for directory, narrower, refused in rows:
            path = people.session(client, agent="helper", details={"context": {"working_dir": directory}}, **narrower)
            turn(client, path, "Look")
            results = tool_results(client, path)
            check.equal([one["is_error"] for one in results], refused, f"{directory}: {results}")
            check.true("secret" not in json.dumps(results), "nothing beside it is read")
        with open(os.path.join(project, "new"), encoding="utf-8") as file:
            check.equal(file.read(), "black")


@test
def a_question_waits_for_its_answer(env):
    question = {"question": "Tea?", "options": ["yes", "no"]}
    script = [{"tools": [{"name": "ask_user", "input": question}]}, {"text": "Fine."}]
    with ModelServer(script) as model:
        _, client, path = start(env, model, "openai", "tools: [ask_user]")
        send(client, path, "Ask me")
        wait_event(client, path, lambda event: event["type"] == "ask.requested")
        [ask] = client.get(path + "/asks", query={"state": "pending"}).json()["asks"]
        check.contains(ask, {"kind": "question", "text": "Tea?", "options": ["yes", "no"]})
        check.equal(client.get(path).json()["status"], "waiting_human")
        client.post(f"{path}/asks/{ask['id']}/answer", {"answer": "yes"}, expect=200)
        check.contains(ended(client, path)["metadata"], {"stop_reason": "stop"})
        check.contains(tool_results(client, path)[0]["output"], "yes")


@test
def the_operator_says_who_decides(env):
    """What agents of the server ask is answered by whom the option names."""
    script = [{"tools": [{"name": "set_title", "input": {"title": "Tea"}}], "usage": {"input": 1000, "output": 0}},
              {"text": "Fine."}]
    more = ("tools: [set_title]\npermissions:\n  - {tool: set_title, then: ask}\n"
            "caps: {cost_microcents_max: 1, on_exceed: pause}\ninput_microcents_per_mtok: 1000000")
    with ModelServer(script) as model:
        _, owner, path = start(env, model, more=more, options=["--ask-role", "owner"])
        friend = people.person(owner, "mia")
        owner.post(path + "/participants", {"user_id": friend.id, "role": "collaborator"}, expect=201)
        send(owner, path, "Name it")
        for count, tool in ((1, "set_title"), (2, "budget")):
            check.eventually(lambda: len(events(owner, path, "ask.requested")) == count, f"{tool} is asked about")
            [ask] = owner.get(path + "/asks", query={"state": "pending"}).json()["asks"]
            check.contains(ask, {"tool": tool, "role": "owner"})
            answer = f"{path}/asks/{ask['id']}/answer"
            check.equal(friend.client.post(answer, {"decision": "once"}, expect=403).json()["code"], "insufficient_role")
            owner.post(answer, {"decision": "once"}, expect=200)
        check.contains(ended(owner, path)["metadata"], {"stop_reason": "stop"})


@test
def collected_messages_bring_what_was_attached(env):
    """A model reads every one, and what came with it."""
    with ModelServer([{"text": "Thanks."}]) as model:
        _, client, path = start(env, model)
        for name in ("a", "b"):
            send(client, path, f"See {name}", mode="collect", debounce_ms=60000,
                 attachments=[{"type": "file", "url": f"https://files.example/{name}"}])
        send(client, path, "That is all.")
        check.contains(ended(client, path)["metadata"], {"stop_reason": "stop"})
        [message] = model.requests[0]["body"]["messages"]
        check.equal([part["text"] for part in message["content"]],
                    ["See a", "See b", "[a file at https://files.example/a]", "[a file at https://files.example/b]"])


@test
def failures_are_retried_then_another_model_is_asked(env):
    """Before anything was heard: again, then the next of the chain; an event says so."""
    script = [{"status": 529}, {"status": 429, "retry_after": 0}, {"status": 500}, {"cut": True},
              {"text": "Here I am."}]
    chain = "fallback_chain:\n  - {provider: openai, model: second}"
    with ModelServer(script) as model:
        _, client, path = start(env, model, more=chain)
        check.contains(turn(client, path), {"stop_reason": "stop"})
        check.equal([one["body"]["model"] for one in model.requests], ["first"] * 4 + ["second"])
        [switched] = events(client, path, "model.switched")
        check.contains(switched["metadata"], {"from": {"provider": "anthropic", "model": "first"},
                                              "to": {"provider": "openai", "model": "second"},
                                              "reason": "provider_unavailable"})
        check.equal(texts(client, path), ["Here I am."])


@test
def the_provider_says_when_to_come_again(env):
    """Its Retry-After goes before the usual pause; one that is too long to wait for is a reason to ask another."""
    script = [{"status": 429, "retry_after": 0}, {"status": 503, "retry_after": 0}, {"text": "Here I am."},
              {"status": 429, "retry_after": 3600}, {"text": "Me too."}]
    chain = "fallback_chain:\n  - {provider: openai, model: second}"
    with ModelServer(script) as model:
        _, client, path = start(env, model, more=chain, backoff_ms=50000)
        check.contains(turn(client, path), {"stop_reason": "stop"})
        check.equal([one["body"]["model"] for one in model.requests], ["first"] * 3)
        send(client, path, "And now?")
        check.contains(ended(client, path, 2)["metadata"], {"stop_reason": "stop"})
        check.equal([one["body"]["model"] for one in model.requests[3:]], ["first", "second"])


@test
def failures_have_a_code(env):
    """Each way a provider fails ends the turn once, with the code of the closed list, and the session goes on."""
    rows = [({"status": 401, "message": "bad key " + KEY}, "provider_auth"),
            ({"status": 429, "retry_after": 0}, "provider_rate_limit"),
            ({"status": 503}, "provider_unavailable"),
            ({"status": 400, "message": "too long"}, "validation"),
            ({"text": "Hel", "cut": True}, "provider_unavailable"),
            ({"malformed": True}, "provider_unavailable"),
            ({"error": "overloaded_error"}, "provider_unavailable")]
    with ModelServer([{}]) as model:
        _, client, path = start(env, model, options=["--model-retries", "1"])
        for number, (step, code) in enumerate(rows):
            model.say_next(step)
            send(client, path, "Try")
            end = ended(client, path, number + 1)["metadata"]
            check.contains(end, {"stop_reason": "error"})
            check.equal(end["error"]["code"], code, json.dumps(step))
            check.true(KEY not in json.dumps(end), "no key in an error")
        [partial] = events(client, path, "agent.message")
        check.equal((partial["content"][0]["text"], partial["metadata"]["partial"]), ("Hel", True))
        model.say_next({"text": "Fine again."})
        send(client, path, "And now?")
        check.contains(ended(client, path, len(rows) + 1)["metadata"], {"stop_reason": "stop"})


@test
def silence_ends_an_attempt(env):
    """A stream that connects and then says nothing does not hold the session."""
    with ModelServer([{"silent": True}, {"text": "Awake."}]) as model:
        _, client, path = start(env, model, options=["--model-silence-ms", "200"])
        check.contains(turn(client, path), {"stop_reason": "stop"})
        check.equal(len(model.requests), 2)


@test
def an_interrupt_keeps_what_was_said(env):
    with ModelServer([{"text": "Once upon a time", "hold": True}, {"text": "The end."}]) as model:
        _, client, path = start(env, model)
        with watch(client, path) as stream:
            send(client, path, "Tell me a story")
            stream.until(lambda frame: frame.event == "delta", 20)
            client.post(path + "/interrupt", {}, expect=200)
            frames = stream.until(lambda one: one.event == "event" and one.json()["type"] == "turn.ended", 20)
        check.contains(frames[-1].json()["metadata"], {"stop_reason": "aborted"})
        [partial] = events(client, path, "agent.message")
        check.equal(partial["metadata"]["partial"], True)
        send(client, path, "Go on")
        check.contains(ended(client, path, 2)["metadata"], {"stop_reason": "stop"})
        check.contains(json.dumps(model.requests[1]["body"]), partial["content"][0]["text"])


@test
def caps_hold(env):
    """Rounds of tools and cost end a turn; turns end a session's talk without a request to the provider."""
    call = {"tools": [{"name": "set_title", "input": {"title": "x"}}], "usage": {"input": 1000, "output": 0}}
    with ModelServer([call]) as model:
        server, client, path = start(env, model, more="tools: [set_title]\ncaps: {tool_rounds_max: 2}")
        check.contains(turn(client, path)["error"], {"code": "turn_limit"})
        check.equal((len(model.requests), len(tool_results(client, path))), (3, 3))
        server.stop()
    with ModelServer([call]) as model:
        budget = "tools: [set_title]\ncaps: {cost_microcents_max: 1}\ninput_microcents_per_mtok: 1000000"
        server, client, path = start(env, model, more=budget)
        check.contains(turn(client, path)["error"], {"code": "budget_exceeded"})
        check.equal(len(model.requests), 1)
        server.stop()


@test
def turns_are_counted(env):
    """The agent's own cap holds, also above the usual one; beyond it a turn ends with an error and no request leaves."""
    for most in (2, 52):
        with ModelServer([{"text": "Yes."}]) as model:
            server, client, path = start(env, model, more=f"caps: {{turns_max: {most}}}\nintrospection: {{enabled: false}}")
            for _ in range(most):
                answer = client.post(path + "/messages?wait=true", {"text": "Well?"}, expect=200).json()
                check.equal(answer["stop_reason"], "stop")
            send(client, path, "And now?")
            end = ended(client, path, most + 1)["metadata"]
            check.equal((end["stop_reason"], end["error"]["code"]), ("error", "turn_limit"))
            check.equal(len(model.requests), most)
            server.stop()


@test
def the_context_is_folded(env):
    """When the window fills, older exchanges become a summary; later turns start from it."""
    window = "context_tokens: 500\ncompact_threshold: 0.5"
    long = "word " * 220
    with ModelServer([{"text": "a1"}, {"text": "a2"}, {"text": "They said word often."}, {"text": "a3"}]) as model:
        _, client, path = start(env, model, more=window)
        for number, text in enumerate([long, "short", "another"]):
            send(client, path, text)
            ended(client, path, number + 1)
        [folded] = events(client, path, "context.compacted")
        check.contains(folded["metadata"], {"reason": "auto-threshold", "summary": "They said word often."})
        body = json.dumps(model.requests[3]["body"])
        check.contains(body, "<earlier-conversation-summary>")
        check.true("word word" not in body, "what was folded is not sent")
        model.say_next({"text": "a4"})
        send(client, path, "more")
        ended(client, path, 4)
        check.contains(json.dumps(model.requests[4]["body"]), "They said word often.")


ALONE = "introspection: {enabled: false}"  # which asks the model, too


def heard(request):
    """The texts the model was told, in their order."""
    said = []
    for message in request["body"]["messages"]:
        content = message["content"]
        said += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    return [text for text in said if text]


@test
def threads_are_told_nothing_of_each_other(env):
    """Each thread is a conversation of its own, and so is the one without a name."""
    script = [{"text": text} for text in ("main one", "a one", "b one", "a two", "main two")]
    with ModelServer(script) as model:
        server, client, path = start(env, model, more=ALONE)
        for number, (thread, text) in enumerate([(None, "m1"), ("a", "a1"), ("b", "b1"), ("a", "a2"), (None, "m2")], 1):
            send(client, path, text, **({"thread_id": thread} if thread else {}))
            ended(client, path, number)
        check.equal([heard(request) for request in model.requests],
                    [["m1"], ["a1"], ["b1"], ["a1", "a one", "a2"], ["m1", "main one", "m2"]])
        of_a = [(event["type"], event["thread_id"]) for event in events(client, path)
                if event.get("thread_id") == "a" and event["type"] in ("user.message", "agent.message", "turn.ended")]
        check.equal(of_a, [("user.message", "a"), ("agent.message", "a"), ("turn.ended", "a")] * 2)
        server.stop()


@test
def a_thread_is_trimmed_alone(env):
    """What one thread forgets stays with the others."""
    script = [{"text": f"answer {i}"} for i in range(1, 6)]
    with ModelServer(script) as model:
        server, client, path = start(env, model, more="messages_max: 3\n" + ALONE)
        prompts = [("m1", None), *((f"a{i}", "a") for i in range(1, 4)), ("m2", None)]
        for number, (text, thread) in enumerate(prompts, 1):
            send(client, path, text, **({"thread_id": thread} if thread else {}))
            ended(client, path, number)
        check.equal(heard(model.requests[3]), ["a2", "answer 3", "a3"])
        check.equal(heard(model.requests[4]), ["m1", "answer 1", "m2"])
        trimmed = [event.get("thread_id") for event in events(client, path, "context.trimmed")]
        check.true(trimmed and set(trimmed) == {"a"}, f"trimming is told in its thread: {trimmed}")
        server.stop()
