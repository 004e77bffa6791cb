"""The real, unmodified OpenCode as an agent of a session, against a scripted model."""
import contextlib
import json
import os
import signal

from clients import acp
from harness import check
from harness.suite import OPTIMISED, test
from harness.talk import watch

WRITE = {"tools": [{"name": "bash", "input": {"command": "echo written > proof.txt", "description": "Writes a file"}}]}
ANSWERS = {
    "hello": {"text": "Good morning from the model.", "usage": {"input": 11, "output": 7}},
    "write": WRITE,
    "long": {"text": "This takes a while.", "hold": True},
    "remember": {"text": "I do remember."},
}


def settings(model):
    """opencode.json for a model on this machine, which asks before it runs a command."""
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Local",
                "options": {"baseURL": f"http://127.0.0.1:{model.port}/v1", "apiKey": "none"},
                "models": {"fake-1": {"name": "Fake", "limit": {"context": 100000, "output": 4000}}}}
    return {"provider": {"local": provider}, "enabled_providers": ["local"], "model": "local/fake-1",
            "small_model": "local/fake-1", "permission": {"bash": "ask"}, "share": "disabled", "autoupdate": False}


def serve(env, model, permissions=(), options=()):
    program = acp.program("opencode-ai", "bin", "opencode.exe")
    home = os.path.join(env.directory, "home")
    os.makedirs(home, exist_ok=True)
    config = os.path.join(home, "opencode.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(settings(model), file)
    environment = {"HOME": home, "XDG_DATA_HOME": f"{home}/data", "XDG_CONFIG_HOME": f"{home}/config",
                   "XDG_CACHE_HOME": f"{home}/cache", "XDG_STATE_HOME": f"{home}/state", "OPENCODE_CONFIG": config,
                   "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return acp.serve(env, model, "opencode", [program, "acp"], environment, permissions, options)


def written(env):
    """What the command of WRITE wrote, or None."""
    for directory, _, names in os.walk(os.path.join(env.servers[0].data_directory(), "unprotected")):
        if "proof.txt" in names:
            with open(os.path.join(directory, "proof.txt"), encoding="utf-8") as file:
                return file.read()
    return None


def agent_processes(env):
    """The live processes of the agent that this test started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                is_ours = f"HOME={env.directory}/home".encode() in file.read().split(b"\0")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if is_ours and b"opencode" in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def parts(talk, kind):
    return [event["content"][0] for event in talk.events(kind)]


@test(on=OPTIMISED, timeout_s=180)
def text_and_tools(env):
    """One process for the whole conversation: text, a command asked for and allowed, one denied."""
    with acp.Model(ANSWERS) as model:
        server = serve(env, model)
        talk = acp.Talk(server, "opencode")
        said, end = talk.say("hello there")
        check.contains(said, "Good morning from the model.")
        check.equal(end["stop_reason"], "stop")
        allow(env, talk)
        deny(talk)
        check.equal(len(agent_processes(env)), 1)
        server.stop()
        check.eventually(lambda: not agent_processes(env), "the agent goes with the server", 10)


def allow(env, talk):
    talk.send("please write a file")
    ask = talk.wait_ask()
    check.contains(ask, {"kind": "approval", "tool": "bash"})
    check.contains(ask["arguments"]["command"], "proof.txt")
    check.equal(written(env), None)
    talk.answer(ask, decision="once")
    check.equal(talk.wait_end(2)["stop_reason"], "stop")
    check.equal(written(env), "written\n")
    [call], [result] = parts(talk, "agent.tool_call"), parts(talk, "agent.tool_result")
    check.equal((call["name"], call["tool_call_id"]), ("bash", result["tool_call_id"]))
    check.equal(result["is_error"], False)


def deny(talk):
    talk.send("please write it again")
    talk.answer(talk.wait_ask(), decision="deny", reason="not now")
    talk.wait_end(3)
    check.equal(parts(talk, "agent.tool_result")[-1]["is_error"], True)


@test(on=["sqlite"], timeout_s=120)
def rules_and_cancel(env):
    """Rules of the agent decide without a person; an interrupted turn ends and the next one works."""
    with acp.Model(ANSWERS) as model:
        server = serve(env, model, [{"tool": "bash", "argument": "*proof*", "then": "deny"}])
        talk = acp.Talk(server, "opencode")
        talk.say("please write a file")
        check.equal((talk.asks(), written(env)), ([], None))
        check.equal(parts(talk, "agent.tool_result")[0]["is_error"], True)
        with watch(talk.client, talk.path) as stream:
            talk.send("something long")
            stream.until(lambda frame: frame.event == "delta", 40)
        talk.client.post(talk.path + "/interrupt", {}, expect=200)
        check.equal(talk.wait_end(2)["stop_reason"], "aborted")
        model.release()
        said, end = talk.say("hello again")
        check.contains(said, "Good morning")
        check.equal((end["stop_reason"], len(agent_processes(env))), ("stop", 1))


def check_memory(talk, model, count):
    """The next prompt works, and the model is told what was said before."""
    said, end = talk.say("do you remember?")
    check.equal((said, end["stop_reason"]), ("I do remember.", "stop"))
    [body] = model.asked("do you remember?")
    check.contains(json.dumps(body["messages"]), "hello there")
    check.equal(len(talk.ends()), count)


@test(on=["sqlite"], timeout_s=300)
def the_agent_is_killed_while_a_person_is_asked(env):
    """The approval is still there and the turn shows as interrupted; the answer is heard by the next attempt, which does not
    ask again, and the next prompt goes on in the agent's own session."""
    with acp.Model(ANSWERS) as model:
        server = serve(env, model)
        talk = acp.Talk(server, "opencode")
        talk.say("hello there")
        talk.send("please write a file")
        ask = talk.wait_ask()
        for pid in agent_processes(env):
            with contextlib.suppress(ProcessLookupError):  # died with the one before it
                os.kill(pid, signal.SIGKILL)
        end = talk.wait_end(2)
        check.contains(end, {"stop_reason": "aborted", "cause": "agent_killed"})
        check.equal(parts(talk, "agent.tool_result")[0]["is_error"], True)
        check.equal([one["id"] for one in talk.asks()], [ask["id"]])
        check.equal(written(env), None)
        talk.answer(ask, decision="once")
        check.equal(talk.wait_end(3)["stop_reason"], "stop")
        check.equal((talk.asks(), written(env)), ([], "written\n"))
        check_memory(talk, model, 4)


@test(on=OPTIMISED, timeout_s=300, options=["--lease-ms-default", "8000", "--lease-ms-min", "100"])
def the_server_is_killed_while_a_person_is_asked(env):
    """The approval is still there and the turn shows as interrupted; once decided, the message is tried again, the agent
    gets the answer for the same call without asking anybody, and the next prompt works with history."""
    with acp.Model(ANSWERS) as model:
        server = serve(env, model)
        talk = acp.Talk(server, "opencode")
        talk.say("hello there")
        talk.send("please write a file")
        ask = talk.wait_ask()
        server.kill()
        server.start()
        talk.use(server)
        check.equal([one["id"] for one in talk.asks()], [ask["id"]])
        check.equal(talk.wait_end(2)["stop_reason"], "aborted")
        check.equal(parts(talk, "agent.tool_result")[0]["is_error"], True)
        check.equal(written(env), None)
        talk.answer(ask, decision="once")
        check.equal(talk.wait_end(3)["stop_reason"], "stop")
        check.true(model.asked("was cut off by a restart"), "the agent knows that it was cut")
        check.equal(len(talk.events("ask.requested")), 1)
        check.equal(written(env), "written\n")
        check_memory(talk, model, 4)
