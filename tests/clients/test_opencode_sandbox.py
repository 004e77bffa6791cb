"""The real, unmodified OpenCode inside the real bubblewrap sandbox, on a clone of a repository, against a scripted model."""
import glob
import json
import os
import subprocess

from clients import acp
from clients.test_opencode import parts, settings
from harness import check
from harness.suite import OPTIMISED, test

EDIT = {"tools": [{"name": "edit", "input": {"filePath": "/workspace/greeting.txt", "oldString": "Good morning",
                                             "newString": "Good evening"}}]}
COMMIT = {"tools": [{"name": "bash", "input": {
    "command": "git add -A && git -c user.name=Agent -c user.email=agent@example.com commit -q -m 'Evening' && "
               "echo hidden: $(ls -d /etc/shadow /boot /media 2>/dev/null | wc -l)", "description": "Commits"}}]}
SAVE = {"tools": [{"name": "save_service_commands", "input": {
    "commands": [{"name": "web", "command": "npm run dev"}]}}]}
VERIFY = {"tools": [{"name": "verify", "input": {"summary": "", "files": [{"name": "log", "content": "all green"}]}}]}
MEMORY = "16GiB"  # without a control group it is the address space that counts, of which this program reserves a lot
ANSWERS = {"please edit": EDIT, "now commit": COMMIT, "how is it started": SAVE, "show the proof": VERIFY,
           "remember": {"text": "I do remember."}}


def repository(env):
    """A project of one commit."""
    path = os.path.join(env.directory, "projects", "greeter")
    os.makedirs(path)
    with open(os.path.join(path, "greeting.txt"), "w", encoding="utf-8") as file:
        file.write("Good morning\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Morning"]):
        git(path, "-c", "user.name=Person", "-c", "user.email=person@example.com", *command)
    return path


def git(path, *words):
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", path, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


# Its directory of settings needs no packages, and says so: nothing is fetched from the network.
PREPARE = """mkdir -p ~/.config/opencode/node_modules
echo '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}' >~/.config/opencode/package-lock.json
exec "$@"
"""


def link_to(env, directory):
    """A link to it outside of what a sandbox has of its own: the checkout may lie below /tmp."""
    link = os.path.join(env.directory_outside_tmp(), "shown")
    os.symlink(directory, link)
    return link


def serve(env, model, project, **more):
    """A server whose agent is OpenCode; what the agent is given is in its definition alone."""
    program = acp.program("opencode-ai", "bin", "opencode.exe")
    program = os.path.join(link_to(env, os.path.dirname(program)), os.path.basename(program))
    environment = {"OPENCODE_CONFIG_CONTENT": json.dumps(settings(model) | {"permission": "allow"}),
                   "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    definition = {"id": "opencode", "driver": "acp", "command": ["/bin/sh", "-c", PREPARE, "opencode", program, "acp"],
                  "environment": environment,
                  "sandbox": {"kind": "local", "network": True, "memory_bytes_max": MEMORY,
                              "repository": project}, **more}
    agents = os.path.join(env.directory, "agents")
    os.makedirs(agents, exist_ok=True)
    with open(os.path.join(agents, "opencode.agent.yaml"), "w", encoding="utf-8") as file:
        json.dump(definition, file)
    return env.server(options=["--agents", agents, "--acp-start-ms", "100s", "--sandbox-show", os.path.dirname(program),
                               "--sandbox-projects", os.path.dirname(project), "--sandbox-memory-bytes-max", MEMORY])


def tree(server):
    """The one live tree of the session, or None."""
    found = glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*", "workspace"))
    return found[0] if found else None


def wait_runtime(talk, state):
    check.eventually(lambda: talk.client.get(talk.path).json()["runtime"] == state, f"the runtime is {state}", 60)


@test(on=["sqlite"], timeout_s=300)
def a_codebase_in_a_sandbox(env):
    """S1-001: the agent edits a clone and commits; its files are told, nothing of the machine is seen, the tree sleeps and
    wakes, and the conversation goes on."""
    project = repository(env)
    with acp.Model(ANSWERS) as model:
        server = serve(env, model, project)
        talk = acp.Talk(server, "opencode")
        check.equal(talk.say("please edit the greeting")[1]["stop_reason"], "stop")
        files = talk.client.get(talk.path + "/files-changed", expect=200).json()["files"]
        check.equal([(file["path"], file["status"], file["additions"], file["deletions"]) for file in files],
                    [("greeting.txt", "modified", 1, 1)])
        check.equal(talk.say("now commit it")[1]["stop_reason"], "stop")
        check.contains(parts(talk, "agent.tool_result")[-1]["output"], "hidden: 0")
        check_clone(project, tree(server))
        sleep_and_wake(server, talk)
        check.equal(git(tree(server), "log", "-1", "--format=%s"), "Evening")
        [body] = model.asked("do you remember?")
        check.contains(json.dumps(body["messages"]), "please edit the greeting")
        server.stop()


def check_clone(project, clone):
    """The commit is in the clone, and the project it came from is as it was."""
    check.equal(git(clone, "log", "-1", "--format=%an: %s"), "Agent: Evening")
    check.equal(git(clone, "status", "--porcelain"), "")
    with open(os.path.join(clone, "greeting.txt"), encoding="utf-8") as file:
        check.equal(file.read(), "Good evening\n")
    check.equal(git(project, "log", "--format=%s"), "Morning")


def sleep_and_wake(server, talk):
    """Nothing of it is left on the disk but its snapshot; the next message wakes it."""
    talk.client.post(talk.path + "/hibernate", {}, expect=200)
    wait_runtime(talk, "hibernated")
    check.equal(tree(server), None)
    said, end = talk.say("do you remember?")
    check.equal((said, end["stop_reason"]), ("I do remember.", "stop"))
    check.equal(talk.client.get(talk.path).json()["runtime"], "running")


@test(on=OPTIMISED, timeout_s=300)
def tools_of_the_server_in_the_sandbox(env):
    """S1-022: tools named by the agent are files of its tree, the model is told of them, and calling one reaches the server
    with the sandbox's own token; git does not see them."""
    project = repository(env)
    with acp.Model(ANSWERS) as model:
        server = serve(env, model, project, gateway_tools=["save_service_commands", "verify", "automation.complete"])
        talk = acp.Talk(server, "opencode")
        check.equal(talk.say("how is it started?")[1]["stop_reason"], "stop")
        [told] = talk.events("tool.save_service_commands")
        check.equal(told["metadata"]["arguments"], {"commands": [{"name": "web", "command": "npm run dev"}]})
        check.true(told["actor"].startswith("sandbox:"), told["actor"])
        check.equal(talk.say("show the proof")[1]["stop_reason"], "stop")
        [kept] = talk.events("tool.verify")[0]["metadata"]["result"]["files"]
        check.equal(talk.client.get(f"{talk.path}/evidence/{kept['sha256']}", expect=200).body, b"all green")
        clone = tree(server)
        check.equal(sorted(os.listdir(os.path.join(clone, ".opencode", "tool"))),
                    [".gitignore", "automation_complete.ts", "save_service_commands.ts", "verify.ts"])
        check.equal(git(clone, "status", "--porcelain"), "")
        asked = json.dumps(model.asked("how is it started?")[0])
        check.contains(asked, "once a command that starts a service of the project has worked")
        check.contains(asked, '"automation_complete"')
        check.true("SOJOURN_GATEWAY_TOKEN" not in json.dumps(talk.events()), "the token is in no event")
        server.stop()
