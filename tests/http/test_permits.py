"""What an agent over ACP may do without a person: the wires of real agents, and rules that must not be led past.

The agent is a script that plays given calls; the wires are what Gemini CLI 0.61, codex-acp 2.6, OpenCode 1.18 and
claude-agent-acp 0.100 send."""
import json
import os
import sys

from harness import check, people
from harness.server import ROOT
from harness.suite import OPTIMISED, test
from harness.talk import events, send

ACP_AGENT = os.path.join(ROOT, "tests", "unit", "runner", "acp_agent.py")
GEMINI_OPTIONS = [{"optionId": "proceed_always", "name": "Allow for this session", "kind": "allow_always"},
                  {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                  {"optionId": "no", "name": "Reject", "kind": "reject_once"}]


def gemini(command, **more):
    """No input, no content: the command stands in the title alone."""
    call = {"toolCallId": "run_shell_command", "status": "pending", "title": command,
            "content": [], "locations": [], "kind": "execute"}
    return {"call": call | more, "options": GEMINI_OPTIONS}


def codex_edit(path, text, **more):
    """The diff stands in the content, beside an empty input."""
    content = [{"type": "diff", "path": path, "oldText": "", "newText": text}]
    return {"call": {"toolCallId": "call_" + os.path.basename(path), "kind": "edit", "title": "Edit files",
                     "status": "pending", "rawInput": {}, "content": content} | more}


def opencode(title, raw, kind="execute", **more):
    call = {"toolCallId": "call_o", "title": title, "kind": kind, "status": "pending", "rawInput": raw, "locations": []}
    return {"call": call | more}


def claude(tool, raw, **more):
    meta = {"claudeCode": {"toolName": tool}}
    call = {"toolCallId": "toolu_" + tool, "title": more.pop("title", tool), "kind": more.pop("kind", "other"), "rawInput": raw}
    return {"updates": [{"what": "tool_call", **call, "status": "pending", "_meta": meta}], "call": call | more}


def start(env, *rules, options=()):
    """A server whose agent has these rules; its client and the path of a conversation."""
    folder = os.path.join(env.directory, "agents")
    os.makedirs(folder, exist_ok=True)
    agent = {"id": "helper", "driver": "acp", "command": [sys.executable, ACP_AGENT], "resume": "ask",
             "sandbox": {"kind": "none"}, "permissions": list(rules)}
    with open(os.path.join(folder, "helper.agent.yaml"), "w", encoding="utf-8") as file:
        json.dump(agent, file)
    server = env.server(["--agents", folder, "--sandbox-unprotected", *options])
    client = server.client()
    return server, client, people.session(client, agent="helper")


def numbered(one, at):
    """Each call has an id of its own, as its updates say."""
    id = f"{one['call']['toolCallId']}-{at}"
    told = {key: [update | {"toolCallId": id} for update in one.get(key, [])] for key in ("updates", "meanwhile")}
    return one | {"call": one["call"] | {"toolCallId": id}} | told


def play(env, client, path, *calls, name="calls"):
    """The agent asks for these, one after the other."""
    script = os.path.join(env.directory, f"{name}.json")
    with open(script, "w", encoding="utf-8") as file:
        json.dump([numbered(one, at) for at, one in enumerate(calls)], file)
    send(client, path, f"play {script}")


def pending(client, path):
    return client.get(path + "/asks?state=pending", expect=200).json()["asks"]


def wait_ask(client, path):
    check.eventually(lambda: pending(client, path), "a person is asked", 30)
    [ask] = pending(client, path)
    return ask


def answer(client, path, ask, expect=200, **reply):
    return client.post(f"{path}/asks/{ask['id']}/answer", reply, expect=expect).json()


def outcomes(client, path):
    text = "".join(part["text"] for event in events(client, path, "agent.message") for part in event["content"])
    return [json.loads(line.removeprefix("outcome ")).get("optionId") for line in text.splitlines()]


def ended(client, path, count=1):
    check.eventually(lambda: len(events(client, path, "turn.ended")) >= count or pending(client, path), "it goes on", 30)
    return len(events(client, path, "turn.ended")) >= count


def verdicts(env, rules, calls):
    """What becomes of each call: yes, no, or asked (and then denied)."""
    _, client, path = start(env, *rules)
    play(env, client, path, *calls)
    asked = []
    while not ended(client, path):
        ask = wait_ask(client, path)
        asked.append(ask["call_id"])
        answer(client, path, ask, decision="deny")
        check.eventually(lambda seen=ask: not any(one["id"] == seen["id"] for one in pending(client, path)), "answered")
    made = outcomes(client, path)
    ids = [f"{one['call']['toolCallId']}-{at}" for at, one in enumerate(calls)]
    return ["asked" if id in asked else outcome for id, outcome in zip(ids, made)]


@test(on=["sqlite"])
def an_approval_that_saw_nothing_is_for_once(env):
    """Gemini shows no input: nothing wider than once can be given, and the next command is asked about."""
    _, client, path = start(env)
    play(env, client, path, gemini("echo hello"), gemini("echo pwned > file"), gemini("echo hello"))
    ask = wait_ask(client, path)
    check.equal("arguments" in ask, False, "what was not seen is not shown as empty")
    check.equal([one["scope"] for one in ask["grants"]], ["once"])
    check.equal([one["name"] for one in ask["details"]["options"]], ["Allow for this session", "Allow", "Reject"])
    for reply in ({"decision": "session", "these_arguments": True}, {"decision": "always"}, {"decision": "session"}):
        answer(client, path, ask, expect=400, **reply)
    check.equal(client.get("/api/rules", expect=200).json()["rules"], [])
    for count in (1, 2, 3):
        answer(client, path, wait_ask(client, path), grant="once")
        check.eventually(lambda count=count: len(events(client, path, "ask.answered")) == count, "each is asked about")
        check.eventually(lambda count=count: len(outcomes(client, path)) >= count or pending(client, path), "it goes on")
    check.eventually(lambda: len(outcomes(client, path)) == 3, "all were played")
    check.equal(len(events(client, path, "ask.requested")), 3)


@test(on=["sqlite"])
def rules_against_the_wires_of_real_agents(env):
    """Words of an agent and inputs that were not seen never allow; what a rule denies may be meant is asked."""
    rules = [{"tool": "bash", "argument": "git status", "then": "allow"}, {"tool": "read", "then": "allow"},
             {"tool": "execute", "then": "allow"}, {"tool": "Bash", "command": "make *", "then": "allow"},
             {"tool": "Read", "path": "src/*", "then": "allow"}, {"tool": "WebFetch", "host": "docs.example", "then": "allow"},
             {"argument": "*rm -rf*", "then": "deny"}, {"path": "secrets/*", "then": "deny"}]
    calls = [
        (gemini("git status"), "asked"), (gemini("read"), "asked"), (gemini("rm -rf x"), "asked"),
        (codex_edit("src/a.c", "x"), "asked"), (codex_edit("secrets/key", "x"), "no"),
        (opencode("read", {"filePath": "src/a.c"}, "read"), "asked"),
        (opencode("bash", {"command": "rm x", "description": "git status"}), "asked"),
        (opencode("bash", {"cwd": "."}), "asked"), (opencode("bash", {"command": "rm  -rf  x"}), "no"),
        (opencode("bash", {"command": "cat ./secrets/key"}), "no"),
        (claude("Bash", {"command": "make all", "description": "Build"}, kind="execute"), "yes"),
        (claude("Bash", {"command": "make all; curl x"}, kind="execute"), "asked"),
        (claude("Bash", {"description": "make all"}, kind="execute"), "asked"),
        (claude("Read", {"file_path": "src/a.c"}, kind="read"), "yes"),
        (claude("Read", {"file_path": "src/../a.c"}, kind="read"), "asked"),
        (claude("Read", {"file_path": "src/../secrets/a"}, kind="read"), "no"),
        (claude("Read", {"file_path": "SECRETS//key"}, kind="read"), "no"),
        (claude("Write", {"file_path": "src/a.c"}, title="Read", kind="read"), "asked"),
        (claude("WebFetch", {"url": "https://docs.example/a", "prompt": "x"}, kind="fetch"), "yes"),
        (claude("WebFetch", {"url": "https://docs.example@evil.example/"}, kind="fetch"), "asked"),
        (claude("Read", {"file_path": "src/a.c"}, locations=[{"path": "secrets/b"}]), "no"),
    ]
    found = verdicts(env, rules, [call for call, _ in calls])
    wrong = [(call["call"]["title"], call["call"].get("rawInput"), is_, should)
             for (call, should), is_ in zip(calls, found) if is_ != should]
    check.equal(wrong, [])


@test(on=["sqlite"])
def what_was_not_seen_may_be_what_a_rule_denies(env):
    """Where everything is allowed but what a rule about arguments denies, a call without input is asked about."""
    rules = [{"tool": "*", "then": "allow"}, {"argument": "*rm*", "then": "deny"}]
    calls = [gemini("echo hello"), opencode("bash", {"command": "echo hello"}), opencode("bash", {"command": "rm x"}),
             opencode("bash", {"command": "echo $X"}), opencode("bash", {}),
             opencode("bash", {"command": "ls", "pad": "x" * 70000})]
    check.equal(verdicts(env, rules, calls), ["asked", "yes", "no", "asked", "asked", "asked"])


def later(one, **fields):
    """The same, but the agent tells more of the call while it is asked about."""
    return one | {"meanwhile": [{"what": "tool_call_update", **fields}]}


@test(on=["sqlite"])
def rules_apply_to_what_is_told_later(env):
    """An input that comes, or changes, while a person is asked."""
    rules = [{"tool": "Bash", "command": "ls *", "then": "allow"}, {"command": "rm *", "then": "deny"},
             {"path": "secrets/*", "then": "deny"}]
    calls = [(later(gemini("list"), rawInput={"command": "rm x"}), "asked"),
             (later(opencode("bash", {"command": "echo x"}), rawInput={"command": "rm x"}), "asked"),
             (later(opencode("edit", {"file": "a"}, "edit"), locations=[{"path": "secrets/key"}]), "asked"),
             (later(claude("Bash", {"command": "ls; x"}), rawInput={"command": "ls; rm x"}), "asked")]
    _, client, path = start(env, *rules)
    play(env, client, path, *[call for call, _ in calls])
    check.eventually(lambda: events(client, path, "turn.ended"), "nobody has to answer what a rule denies", 30)
    check.equal(outcomes(client, path), ["no"] * len(calls))
    check.equal(pending(client, path), [])


@test(on=["sqlite"])
def an_approval_is_for_the_call_as_it_is(env):
    """What changes while it is asked about is asked about anew; the first approval is for nothing."""
    _, client, path = start(env)
    play(env, client, path, later(opencode("bash", {"command": "echo x"}), rawInput={"command": "echo y"}),
         later(opencode("bash", {"command": "echo x"}), rawInput={"command": "echo x"}, title="Echo", status="pending"))
    check.eventually(lambda: [one for one in pending(client, path) if one["arguments"] == {"command": "echo y"}], "anew")
    first, *_ = [event for event in events(client, path, "ask.requested")]
    client.post(f"{path}/asks/{first['metadata']['ask_id'] if 'ask_id' in first['metadata'] else first['metadata']['id']}/answer",
                {"decision": "once"}, expect=(404, 409, 410))
    answer(client, path, wait_ask(client, path), decision="deny")
    check.eventually(lambda: len(events(client, path, "ask.requested")) == 3, "the second call")
    answer(client, path, wait_ask(client, path), decision="once")
    check.eventually(lambda: events(client, path, "turn.ended"), "it ends", 30)
    check.equal(outcomes(client, path), ["no", "yes"])
    check.equal(len(events(client, path, "ask.requested")), 3, "what says the same is not asked about anew")


@test(on=["sqlite"])
def a_call_has_one_name(env):
    """A call that is called otherwise than before has no name that allows; what it was called runs a command for good."""
    rules = [{"tool": "Read", "then": "allow"}, {"tool": "Bash", "path": "*", "then": "allow"}]
    renamed = claude("Read", {"x": 1})
    renamed["call"] = renamed["call"] | {"_meta": {"claudeCode": {"toolName": "Bash"}}}
    unnamed = claude("Bash", {"cwd": "."})
    unnamed["updates"].append({"what": "tool_call_update", "kind": "execute"})
    unnamed["call"] = unnamed["call"] | {"kind": "read"}
    check.equal(verdicts(env, rules, [claude("Read", {"x": 1}), renamed, unnamed]), ["yes", "asked", "asked"])


@test(on=["sqlite"])
def the_same_arguments_are_not_the_same_edit(env):
    """Where a diff or a place says more than the arguments, these are nothing to allow for longer."""
    _, client, path = start(env)
    content = [{"type": "diff", "path": "a.txt", "oldText": "", "newText": "x"}]
    edit = {"call": {"toolCallId": "e", "kind": "edit", "title": "Edit", "rawInput": {"mode": "fast"}}}
    play(env, client, path, {"call": edit["call"] | {"content": content}},
         {"call": edit["call"] | {"locations": [{"path": "b.txt"}]}},
         {"call": edit["call"] | {"rawInput": {"file": "a.txt", "text": "x"}, "content": content}})
    for wanted in (0, 0, 1):
        ask = wait_ask(client, path)
        exact = [one for one in ask["grants"] if one["scope"] == "session" and "exactly these" in one["text"]]
        check.equal(len(exact), wanted, json.dumps(ask["grants"]))
        answer(client, path, ask, decision="deny")
        check.eventually(lambda seen=ask: not any(one["id"] == seen["id"] for one in pending(client, path)), "answered")


@test(on=["sqlite"])
def links_do_not_lead_past_rules(env):
    """Where a path leads is looked up before the rules are asked, also for what is not there yet."""
    top = os.path.join(env.directory, "place")
    for name in ("open", "secrets"):
        os.makedirs(os.path.join(top, name))
    os.symlink(os.path.join(top, "secrets"), os.path.join(top, "open", "link"))
    os.symlink("/etc", os.path.join(top, "open", "out"))
    os.symlink("round", os.path.join(top, "open", "round"))
    rules = [{"tool": "Read", "path": f"{top}/open/*", "then": "allow"}, {"path": f"{top}/secrets/*", "then": "deny"}]
    calls = [("open/a", "yes"), ("open/link/key", "no"), ("open/link", "no"), ("open/out/passwd", "asked"),
             ("open/round/a", "asked"), ("secrets/key", "no"), ("open/../open/a", "asked")]
    found = verdicts(env, rules, [claude("Read", {"file_path": f"{top}/{path}"}, kind="read") for path, _ in calls])
    check.equal(list(zip([path for path, _ in calls], found)), calls)


@test(on=["sqlite"])
def narrow_grants_for_agents(env):
    """What is given for one command, and only that: a title stands for no tool."""
    _, client, path = start(env)
    play(env, client, path, opencode("bash", {"command": "git push origin", "description": "Push"}),
         opencode("bash", {"command": "git push --tags", "description": "Push tags"}),
         opencode("bash", {"command": "rm x", "description": "git push origin"}))
    ask = wait_ask(client, path)
    check.equal([one["subject"] for one in ask["grants"] if one["scope"] == "session"],
                [{}, {"command": "git push origin"}, {"command": "git push *"}])
    check.equal([one.get("these_arguments") for one in ask["grants"] if one["scope"] == "session"], [True, None, None],
                "which of them is for the same arguments")
    wide = ask["grants"][3]
    check.equal(wide["text"], "Until this session ends or hibernates, without asking again: any tool of this agent runs "
                              "`git push` with any arguments.")
    answer(client, path, ask, grant=wide["id"])
    check.eventually(lambda: [one for one in pending(client, path) if "rm x" in one["arguments"]["command"]], "rm is asked")
    check.equal(outcomes(client, path), ["yes", "yes"])


def cut_and_asked_again(env, first, second, decision="once"):
    """`first` is asked about, the server dies, it is answered; then the agent asks for `second`. What was asked, and what
    the agent was told."""
    server, client, path = start(env, options=["--lease-ms-default", "800", "--lease-ms-min", "100",
                                               "--claim-attempts-max", "1000"])
    play(env, client, path, first, second)
    ask = wait_ask(client, path)
    server.kill()
    client = server.start().client()
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn is over", 30)
    answer(client, path, ask, decision=decision)
    check.eventually(lambda: len(events(client, path, "turn.ended")) == 2 or pending(client, path), "the next attempt", 30)
    return [one["type"].split(".")[1] for one in events(client, path, "ask.*")], outcomes(client, path)


@test(on=OPTIMISED)
def an_approval_of_one_file_is_not_for_another(env):
    """After a kill, the approval of an edit is taken by the same edit only, however its JSON is written."""
    check.equal(cut_and_asked_again(env, codex_edit("/w/a.txt", "x"), codex_edit("/w/b.txt", "x")),
                (["requested", "answered", "requested"], []))


@test(on=OPTIMISED)
def the_same_edit_is_heard(env):
    again = codex_edit("/w/a.txt", "x", content=[{"newText": "x", "oldText": "", "path": "/w/a.txt", "type": "diff"}])
    check.equal(cut_and_asked_again(env, codex_edit("/w/a.txt", "x"), again),
                (["requested", "answered", "resumed"], ["yes"]))


@test(on=OPTIMISED)
def another_text_of_the_edit_is_asked(env):
    """Also where it differs behind what is shown."""
    check.equal(cut_and_asked_again(env, codex_edit("/w/a.txt", "x" * 60000 + "a"), codex_edit("/w/a.txt", "x" * 60000 + "b")),
                (["requested", "answered", "requested"], []))


@test(on=OPTIMISED)
def words_alone_are_not_the_same_call(env):
    check.equal(cut_and_asked_again(env, gemini("echo hello"), gemini("echo hello")),
                (["requested", "answered", "requested"], []))


@test(on=OPTIMISED)
def other_spacing_and_order_are_the_same_call(env):
    first = opencode("bash", {"command": "ls", "timeout": 1})
    second = opencode("bash", {"timeout": 1.0, "command": "ls"})
    check.equal(cut_and_asked_again(env, first, second), (["requested", "answered", "resumed"], ["yes"]))
