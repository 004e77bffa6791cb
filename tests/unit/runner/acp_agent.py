"""A scripted agent that speaks the Agent Client Protocol: the first word of a prompt says what it does.

    acp_agent.py '{"load": true, "start": "ok", "memory": FILE}'
"""

import json
import os
import signal
import sys

OPTIONS = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
SESSION = None  # that it works in
opened = 0
memories = {}  # by session: what it was told, over all its lives


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(what, **fields):
    send({"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": what, **fields}}})


def say(text, **fields):
    update("agent_message_chunk", content={"type": "text", "text": text}, **fields)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


asked = 0


def ask(method, **params):
    """A request to the client; what comes before its answer is dropped, a cancel is remembered."""
    global asked
    asked += 1
    send({"id": f"q{asked}", "method": method, "params": {"sessionId": SESSION, **params}})
    return answer_to(f"q{asked}")


def answer_to(name):
    while True:
        message = receive()
        if message.get("id") == name:
            return message.get("result", message.get("error"))


def end(prompt, reason="end_turn", **more):
    send({"id": prompt["id"], "result": {"stopReason": reason, **more}})


OPTIONS_OFFERED = [
    {"optionId": "yes", "name": "Once", "kind": "allow_once"},
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def permit(prompt, words):
    call = {"toolCallId": "c1", "title": "bash", "kind": "execute", "status": "pending", "rawInput": {}}
    call |= {"name": OPTIONS["name"]} if "name" in OPTIONS else {}
    update("tool_call", **call)
    given = {"command": " ".join(words), **OPTIONS.get("input", {})} | ({"pad": "x" * 70000} if "pad" in words else {})
    update("tool_call_update", toolCallId="c1", status="in_progress", rawInput=given)
    options = [o for o in OPTIONS_OFFERED if o["kind"] in OPTIONS.get("offer", [o["kind"]])]
    if OPTIONS.get("die_asking"):
        asking = {"sessionId": SESSION, "toolCall": {"toolCallId": "c1"}, "options": options}
        send({"id": "q", "method": "session/request_permission", "params": asking})
        while receive().get("method") != "die":
            pass
    outcome = ask("session/request_permission", toolCall={"toolCallId": "c1", "title": "run it"}, options=options)
    allowed = outcome["outcome"].get("optionId") in ("yes", "ever")
    update("tool_call_update", toolCallId="c1", status="completed" if allowed else "failed")
    say("outcome " + json.dumps(outcome["outcome"]))
    end(prompt)


def raw(prompt, words):
    """A permission exactly as given: the agent's own words and nothing else."""
    if OPTIONS.get("done_before"):
        update("tool_call", **OPTIONS["done_before"])
    for one in OPTIONS.get("updates", []):
        update(one.pop("what", "tool_call"), **one)
    outcome = ask("session/request_permission", toolCall=OPTIONS["call"], options=OPTIONS_OFFERED)
    say("outcome " + json.dumps(outcome["outcome"]))
    end(prompt)


def play(prompt, words):
    """Each line of the file is a call, played once over all lives of the agent: updates, then a permission."""
    path = words[0]
    with open(path, encoding="utf-8") as file:
        calls = json.load(file)
    played = int(open(path + ".played", encoding="utf-8").read()) if os.path.exists(path + ".played") else 0
    for number, one in enumerate(calls[played:], played + 1):
        with open(path + ".played", "w", encoding="utf-8") as file:
            file.write(str(number))
        for update_ in one.get("updates", []):
            update(**update_)
        global asked
        asked += 1
        params = {"sessionId": SESSION, "toolCall": one["call"], "options": one.get("options", OPTIONS_OFFERED)}
        send({"id": f"q{asked}", "method": "session/request_permission", "params": params})
        for update_ in one.get("meanwhile", []):
            update(**update_)
        outcome = answer_to(f"q{asked}")
        say("outcome " + json.dumps(outcome["outcome"]) + "\n")
        if one.get("last"):
            break
    end(prompt)


def withdraw(prompt, words):
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": "c1", "title": "bash"}, "options": OPTIONS_OFFERED}
    send({"id": "w", "method": "session/request_permission", "params": params})
    send({"method": "$/cancel_request", "params": {"requestId": "w"}})
    say(json.dumps(answer_to("w")))
    end(prompt)


def tool(prompt, words):
    say("Before. ")
    update("tool_call", toolCallId="c1", title="edit", kind="edit", status="pending", rawInput={})
    where = [{"path": "/w/a.txt", "line": 3}]
    update("tool_call_update", toolCallId="c1", status="in_progress", rawInput={"path": "a.txt"}, locations=where,
           title="Edit a.txt")
    for text in ("one", "one\ntwo"):
        update("tool_call_update", toolCallId="c1", status="in_progress",
               content=[{"type": "content", "content": {"type": "text", "text": text}}])
    update("tool_call_update", toolCallId="c1", status="completed", content=[
        {"type": "content", "content": {"type": "text", "text": "one\ntwo\nthree"}},
        {"type": "diff", "path": "/w/a.txt", "oldText": "x" * 60000, "newText": "new"}])
    update("tool_call_update", toolCallId="c1", status="completed", title="again")
    update("tool_call", toolCallId="c2", name="fetch", title="Fetch it", kind="fetch", status="failed",
           rawInput={"url": "u"}, rawOutput={"output": "y" * 70000})
    say("After.")
    end(prompt)


def kinds(prompt, words):
    update("agent_thought_chunk", content={"type": "text", "text": "Let me "})
    update("agent_thought_chunk", content={"type": "text", "text": "think."})
    say("One. ", messageId="m-a")
    say("Two.", messageId="m-b")
    update("agent_message_chunk", messageId="m-b", content={"type": "image", "data": "QQ==", "mimeType": "image/png"})
    update("plan", entries=[{"content": "do", "priority": "high", "status": "pending"}])
    update("current_mode_update", currentModeId="build")
    update("available_commands_update", availableCommands=[{"name": "init", "description": "d"}])
    update("usage_update", used=10, size=100, cost={"amount": 0.25, "currency": "USD"})
    update("something_new", content={"type": "text", "text": "nobody knows"})
    update("user_message_chunk", content={"type": "text", "text": "you said"})
    other = {"sessionId": "another", "update": {"sessionUpdate": "agent_message_chunk", "content": {"text": "lost"}}}
    send({"method": "session/update", "params": other})
    send({"method": "_private/thing", "params": {}})
    send({"id": "zz", "method": "terminal/create", "params": {}})
    assert answer_to("zz")["code"] == -32601
    end(prompt, usage={"inputTokens": 5, "outputTokens": 7, "totalTokens": 12})


def hang(prompt, words):
    update("tool_call", toolCallId="h1", title="sleep", kind="execute", status="in_progress", rawInput={"s": 9})
    say("Hanging.")
    while receive().get("method") != "session/cancel" or "deaf" in words:
        pass
    if "finish" in words:
        update("tool_call_update", toolCallId="h1", status="failed")
    end(prompt, "cancelled" if "late" not in words else "end_turn")


def die(prompt, words):
    update("tool_call", toolCallId="d1", title="rm", kind="execute", status="in_progress", rawInput={"a": 1})
    sys.stderr.write("first line\nfatal: token ghp_abcdefghijklmnopqrstuvwxyz0123456789 is no good\n")
    sys.stderr.flush()
    if words[:1] == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(int(words[0]))


def form(prompt, words):
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    say(json.dumps(ask("elicitation/create", mode=words[0], message="Who?", requestedSchema=schema)))
    end(prompt)


def read(prompt, words):
    lines = {"line": int(words[1]), "limit": int(words[2])} if len(words) > 1 else {}
    say(json.dumps(ask("fs/read_text_file", path=words[0], **lines)))
    end(prompt)


def write(prompt, words):
    say(json.dumps(ask("fs/write_text_file", path=words[0], content=" ".join(words[1:]))))
    end(prompt)


def echo(prompt, words):
    say(json.dumps(prompt["params"]["prompt"]))
    end(prompt)


def environment(prompt, words):
    say(json.dumps({"environment": dict(os.environ), "cwd": os.getcwd()}))
    end(prompt)


def recall(prompt, words):
    say(json.dumps(memories[SESSION][:-1]))
    end(prompt)


def garbage(prompt, words):
    print("DEBUG starting", flush=True)
    receive()


def long(prompt, words):
    say("x" * int(words[0]))
    end(prompt)


def stop(prompt, words):
    end(prompt, words[0])


def error(prompt, words):
    send({"id": prompt["id"], "error": {"code": int(words[0]), "message": "no model", "data": {"details": "at 1"}}})


def silent(prompt, words):
    receive()
    receive()


def pid(prompt, words):
    say(str(os.getpid()))
    end(prompt)


def flood(prompt, words):
    for i in range(int(words[0])):
        say("x" * 100)
    end(prompt)


ACTS = [permit, raw, play, withdraw, tool, kinds, hang, die, form, read, write, echo, environment, recall, garbage, long, stop,
        error, silent, pid, flood]
BY_NAME = {act.__name__: act for act in ACTS}


def begin(message):
    start = OPTIONS.get("start", "ok")
    if start == "hang":
        receive()
    elif start == "die":
        sys.stderr.write("cannot find the model")
        sys.exit(3)
    can = {"loadSession": bool(OPTIONS.get("load")), "promptCapabilities": {"image": bool(OPTIONS.get("image"))}}
    version = 9 if start == "version" else message["params"]["protocolVersion"]
    result = {"protocolVersion": version, "agentCapabilities": can, "seen": message["params"]}
    if start == "refuse":
        send({"id": message["id"], "error": {"code": -32603, "message": "not today"}})
    else:
        send({"id": message["id"], "result": result})


def open_session(message):
    global SESSION, opened
    if OPTIONS.get("start") == "auth":
        send({"id": message["id"], "error": {"code": -32000, "message": "Authentication required"}})
    else:
        opened += 1
        SESSION = f"ses-{opened}"
        memories[SESSION] = []
        send({"id": message["id"], "result": {"sessionId": SESSION}})


def load_session(message):
    global SESSION, opened
    path, name = OPTIONS.get("memory"), message["params"]["sessionId"]
    told = []
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            told = [text for session, text in map(json.loads, file) if session == name]
    if not told:
        send({"id": message["id"], "error": {"code": -32002, "message": "no such session"}})
        return
    if OPTIONS.get("load") == "die":
        sys.exit(4)
    SESSION = name
    opened = max(opened, int(name.split("-")[1]))
    memories[SESSION] = told
    for text in told:
        update("user_message_chunk", content={"type": "text", "text": text})
        say("replayed")
        update("tool_call", toolCallId="old", title="old", kind="execute", status="in_progress", rawInput={"x": 1})
    send({"id": message["id"], "result": {}})


def prompt(message):
    global SESSION
    SESSION = message["params"]["sessionId"]
    text = message["params"]["prompt"][-1].get("text", "echo")
    memories[SESSION].append(text)
    if OPTIONS.get("memory"):
        with open(OPTIONS["memory"], "a", encoding="utf-8") as file:
            file.write(json.dumps([SESSION, text]) + "\n")
    word, *words = text.split() or ["echo"]
    BY_NAME[word](message, words)


METHODS = {"initialize": begin, "session/new": open_session, "session/load": load_session, "session/prompt": prompt}

while True:
    received = receive()
    if received.get("method") in METHODS:
        METHODS[received["method"]](received)
