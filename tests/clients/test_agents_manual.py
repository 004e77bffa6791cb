"""docs/agents.md, word for word: each agent from nothing to the first answer, in its sandbox, against a scripted model."""
import json
import os
import re
import shutil
import subprocess

from clients import acp
from harness import Skip, check, test
from harness.model_server import FORMATS, ModelServer
from harness.server import program_path
from harness.tree import read

ANSWER = "Good morning from the model."
PLACE = "/opt/agents/node_modules"
HEADING = {"opencode": "OpenCode", "claude": "Claude Code", "codex": "Codex", "gemini": "Gemini"}


def block_of(agent):
    """What a reader types to set it up."""
    section = read("docs/agents.md").split(f"\n## {HEADING[agent]}\n")[1].split("\n## ")[0]
    return re.search(r"^```sh\n(.*?)^```$", section, re.M | re.S)[1]


def set_up(env, server, agent, key, change):
    """Types the block, with the programs elsewhere and the key on standard input."""
    block = block_of(agent)
    modules = os.path.join(env.directory_outside_tmp(), "node_modules")
    os.symlink(acp.MODULES, modules)
    place = os.path.join(env.directory, "typed")
    bin_directory = os.path.join(place, "bin")
    os.makedirs(bin_directory)
    os.symlink(program_path(env.tree), os.path.join(bin_directory, "sojourn"))
    os.symlink(server.data_directory(), os.path.join(place, "data"))
    os.makedirs(server.data_directory(), exist_ok=True)
    result = subprocess.run(["bash", "-ec", change(block.replace(PLACE, modules))], cwd=place, input=key + "\n", text=True,
                            env=dict(os.environ, PATH=f"{bin_directory}:{os.environ['PATH']}"), capture_output=True, check=False)
    check.equal(result.returncode, 0, result.stdout + result.stderr)
    return modules


def first_session(env, agent, key, wanted, environment=lambda _: {}, change=lambda block, _: block):
    """From nothing to an answer; the key that the model saw came from the store."""
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout if shutil.which("node") else ""
    if not node or int(re.match(r"v(\d+)", node)[1]) < 20:
        raise Skip("needs Node 20 or newer")
    with ModelServer([{"text": ANSWER}]) as model:
        acp.program(wanted)
        server = env.server(environment=environment(model.port), start=False)
        modules = set_up(env, server, agent, key, lambda block: change(block, model.port))
        server.options += ["--sandbox-show", modules, "--acp-start-ms", "200s"]
        server.start()
        said, end = acp.Talk(server, agent).say("hello there")
        check.equal(end["stop_reason"], "stop", f"{end}")
        check.true(said.endswith(ANSWER), said)  # Codex says first that there is no WebSocket
        headers = [" ".join(one["headers"].values()) for one in model.requests if one["path"].split("?")[0] in FORMATS]
        check.true(headers and all(key in one for one in headers), "the key that was typed")
        server.stop()


@test(on=["sqlite"], timeout_s=300)
def opencode(env):
    def elsewhere(block, port):
        provider = {"anthropic": {"options": {"baseURL": f"http://127.0.0.1:{port}/v1"}}}
        return block.replace('"permission"', f'"provider": {json.dumps(provider)}, "permission"')
    first_session(env, "opencode", "sk-ant-typed-by-a-reader", "opencode-ai", change=elsewhere)


@test(on=["sqlite"], timeout_s=300)
def claude(env):
    first_session(env, "claude", "sk-ant-typed-by-a-reader", "@agentclientprotocol/claude-agent-acp",
                  lambda port: {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}"})


@test(on=["sqlite"], timeout_s=300)
def codex(env):
    first_session(env, "codex", "sk-typed-by-a-reader", "@agentclientprotocol/codex-acp",
                  lambda port: {"CODEX_CONFIG": json.dumps({"openai_base_url": f"http://127.0.0.1:{port}/v1"})})


@test(on=["sqlite"], timeout_s=300)
def gemini(env):
    first_session(env, "gemini", "AIza-typed-by-a-reader", "@google/gemini-cli",
                  lambda port: {"GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{port}"})


@test
def the_versions_are_those_that_are_tested():
    named = dict(re.findall(r"(\S+)@(\d+\.\d+\.\d+)", re.search(r"npm install.*?```", read("docs/agents.md"), re.S)[0]))
    check.equal(named, json.loads(read("tests/clients/package.json"))["devDependencies"])
