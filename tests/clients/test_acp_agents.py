"""Other real agents of the protocol, one prompt each: Claude Code and Codex, against scripted models."""
import os

from clients import acp
from harness import check
from harness.suite import test

ANSWERS = {"hello": {"text": "Good morning from the model."}}


def check_one_prompt(env, model, name, command, environment):
    home = os.path.join(env.directory, "home")
    os.makedirs(home, exist_ok=True)
    server = acp.serve(env, model, name, command, {"HOME": home} | environment)
    said, end = acp.Talk(server, name).say("hello there")
    check.contains(said, "Good morning from the model.")
    check.equal(end["stop_reason"], "stop")


@test(on=["sqlite"], timeout_s=180)
def claude_agent_acp(env):
    command = ["node", acp.program("@agentclientprotocol", "claude-agent-acp", "dist", "index.js")]
    with acp.Model(ANSWERS) as model:
        environment = {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}", "ANTHROPIC_API_KEY": "none",
                       "IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        check_one_prompt(env, model, "claude", command, environment)


@test(on=["sqlite"], timeout_s=180)
def codex_acp(env):
    command = ["node", acp.program("@agentclientprotocol", "codex-acp", "dist", "index.js")]
    with acp.Model(ANSWERS) as model:
        home = os.path.join(env.directory, "codex")
        os.makedirs(home)
        with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
            file.write('model = "fake-1"\nmodel_provider = "local"\n[model_providers.local]\nname = "local"\n'
                       f'base_url = "http://127.0.0.1:{model.port}/v1"\nwire_api = "responses"\n')
        check_one_prompt(env, model, "codex", command, {"CODEX_HOME": home})
