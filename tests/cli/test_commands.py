"""The program on the command line: help, mistakes, and what is made from its tables."""
import os
import re
import shutil
import subprocess
import tempfile

from harness import Skip, check, test
from harness.server import ROOT
from harness.tree import read


def run(program, *arguments, expect=0, **environment):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOJOURN_")}
    result = subprocess.run([program, *arguments], capture_output=True, text=True, env=clean | environment, check=False)
    check.equal(result.returncode, expect, f"exit code of {' '.join(arguments)}: {result.stderr}")
    return result


@test
def test_help_of_the_program_and_of_each_command(program):
    whole = run(program, "--help").stdout
    check.equal(run(program, "help").stdout, whole, "help and --help")
    names = re.findall(r"^  ([a-z-]+(?: [a-z-]+)?)(?: |$)", whole.split("Commands\n")[1].split("\n\n")[0], re.M)
    check.contains(names, "serve", "commands")
    for name in names:
        text = run(program, *name.split(), "--help").stdout
        check.true(text.startswith(f"usage: sojourn {name}"), f"help of {name} begins with its usage: {text[:80]}")
        check.equal(run(program, "help", *name.split()).stdout, text, f"help {name}")
        check.true(all(len(line) <= 100 for line in text.splitlines()), f"help of {name} fits 100 columns")


@test
def test_help_of_a_group(program):
    text = run(program, "sessions", expect=2).stdout
    check.true(text.startswith("usage: sojourn sessions COMMAND"), text)
    check.contains(text, "  sessions tail SESSION")
    check.true("tokens" not in text, "only the group")
    for words in (("sessions", "--help"), ("help", "sessions")):
        check.equal(run(program, *words).stdout, text)
    check.contains(run(program, "sessions", "lst", expect=2).stderr, "the closest is sessions list")


@test
def test_exit_codes_stand_in_help_and_manual(program):
    whole = " ".join(run(program, "--help").stdout.split())
    page = run(program, "man").stdout
    for code, meaning in enumerate(("done", "refused or failed", "wrong command line or configuration",
                                    "no server to talk to", "not found or no access",
                                    "the token is missing, not valid or not sufficient")):
        check.contains(whole, f"{code} {meaning}")
        check.contains(page, f".TP\n{code}\n{meaning}\n")


@test
def test_without_a_command_the_help_is_shown_and_the_code_is_2(program):
    check.contains(run(program, expect=2).stdout, "usage: sojourn COMMAND")


@test
def test_mistakes_name_what_is_meant(program):
    for arguments, part in (
            (("serv",), "the closest is serve"),
            (("serve", "--dat", "x"), "unknown option --dat; did you mean --data?"),
            (("serve", "--log-level", "loud"), "give debug, info, warn or error"),
            (("serve", "--data"), "--data needs a value: --data DIR"),
            (("serve", "extra"), 'serve: unexpected argument "extra"'),
            (("completion",), "completion needs bash|zsh|fish"),
            (("completion", "tcsh"), "supported shells: bash, zsh, fish"),
            (("check-config", "--tls-cert", "x"), "belong together"),
            (("check-config", "--sandbox-show", "/tmp/agents"), "a sandbox has its own /tmp"),
            (("serve", "--sandbox-show", "/tmp/"), "a sandbox has its own /tmp"),
            (("serve", "--sandbox-show", "/home"), "a sandbox has its own /home/agent"),
            (("serve", "--sandbox-show", "/workspace/x"), "a sandbox has its own /workspace"),
            (("serve", "--sandbox-show", "/"), "a sandbox has its own"),
            (("serve", "--sandbox-show", "/opt/../tmp"), "not an absolute path"),
            (("serve", "--sandbox-show", "agents"), "not an absolute path"),
            (("serve", "--bootstrap-token", "x" * 40), "set SOJOURN_BOOTSTRAP_TOKEN")):
        result = run(program, *arguments, expect=2)
        check.contains(result.stderr, part, f"what sojourn {' '.join(arguments)} says")
        check.equal(result.stdout, "", "standard output")


@test
def test_version(program):
    version = re.search(r"version: '([^']+)'", read("meson.build")).group(1)
    check.equal(run(program, "version").stdout, f"sojourn {version}\n")
    check.equal(run(program, "--version").stdout, f"sojourn {version}\n")


@test
def test_check_config_shows_values_and_origins_but_no_secret(program):
    token = "t" * 40
    text = run(program, "check-config", "--log-level", "debug", "--database", "postgres://me:hush@host/db",
               SOJOURN_LOOP_THREADS="2", SOJOURN_BOOTSTRAP_TOKEN=token).stdout
    rows = dict(re.findall(r"^([a-z-]+) +(.*)$", text, re.M))
    check.equal(rows["log-level"].split(), ["debug", "command", "line"])
    check.equal(rows["loop-threads"].split(), ["2", "environment"])
    check.equal(rows["heartbeat-ms"].split(), ["15s", "default"])
    check.equal(rows["bootstrap-token"].split(), ["***", "environment"])
    check.contains(rows["database"], "postgres://me:***@host/db")
    check.true(token not in text and "hush" not in text, "no secret is shown")


@test
def agents_that_cannot_run_are_named(program):
    """check-config says what is missing and what to type; it accepts the file all the same."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:  # what lies below /tmp can not be shown
        tool = os.path.join(folder, "tool")
        for name, text in (("keyless", "driver: model\nprovider: openai\nmodel: m\nsystem_prompt: s\n"),
                           ("rescued", "driver: model\nprovider: openai\nmodel: m\nsystem_prompt: s\n"
                                       "fallback_chain: [{provider: anthropic, model: m}]\n"),
                           ("missing", "driver: acp\ncommand: [no-such-program]\n"),
                           ("hidden", f"driver: acp\ncommand: [{tool}]\n"),
                           ("locked", "driver: acp\ncommand: [/bin/true]\npass_environment: [X_API_KEY, Y_TOKEN, MODE]\n"),
                           ("open", "driver: acp\ncommand: [/bin/true]\npass_environment: [ANTHROPIC_API_KEY, X_API_KEY]\n"),
                           ("unwritten", "driver: acp\ncommand: [/bin/sh, /no/such.js]\n"),
                           ("unshown", f"driver: acp\ncommand: [/bin/sh, {tool}]\n"),
                           ("closed", f"driver: acp\ncommand: [/bin/true]\nsandbox: {{kind: local, repository: {folder}}}\n"),
                           ("nowhere", "driver: acp\ncommand: [/bin/true]\nsandbox: {kind: local, repository: /no/such}\n")):
            with open(os.path.join(folder, f"{name}.agent.yaml"), "w", encoding="utf-8") as file:
                file.write(f"id: {name}\n{text}")
        with open(tool, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o755)
        arguments = ("check-config", "--data", folder, "--agents", folder)
        found = reasons(run(program, *arguments, ANTHROPIC_API_KEY="k" * 20).stdout)
        check.equal(sorted(found), ["closed", "hidden", "keyless", "locked", "missing", "nowhere", "unshown", "unwritten"])
        for name, part in (("keyless", f"sojourn secrets set OPENAI_API_KEY --data {folder}"),
                           ("missing", "no-such-program was not found on the server's PATH"),
                           ("hidden", f"--sandbox-show {folder}"), ("closed", "--sandbox-projects DIR"),
                           ("locked", f"sojourn secrets set X_API_KEY --data {folder}"),
                           ("unwritten", "/no/such.js, the first argument"), ("unshown", f"--sandbox-show {folder}"),
                           ("nowhere", "/no/such does not exist")):
            check.contains(found[name], part)
        wide = reasons(run(program, *arguments, "--sandbox-projects", folder, "--sandbox-show", folder,
                           OPENAI_API_KEY="k" * 20, ANTHROPIC_API_KEY="k" * 20, Y_TOKEN="t").stdout)
        check.equal(sorted(wide), ["missing", "nowhere", "unwritten"])


def reasons(text):
    """The agents that check-config says cannot run, with the reason."""
    return dict(re.findall(r"^(\S+) +\S+ +file\n  cannot run: (.+)$", text, re.M))


@test
def test_the_document_of_options_is_current(program):
    check.equal(read("docs/options.md"), run(program, "options-document").stdout, "docs/options.md (make docs)")


@test
def test_the_manual_page_names_every_command_and_option(program):
    page = run(program, "man").stdout
    plain = page.replace("\\-", "-")
    check.true(page.startswith(".TH SOJOURN 1\n"), "the page has its title")
    for name in re.findall(r"^\| `(--[a-z-]+)`", read("docs/options.md"), re.M):
        check.contains(plain, f"\\fB{name}\\fR", "the manual page")
    check.contains(plain, "\\fB--no-demo-agent\\fR", "how a switch is turned off")
    check.contains(run(program, "serve", "--help").stdout, "--[no-]demo-agent")
    for line in page.splitlines():
        is_request = line.startswith(("'", "."))
        check.true(not is_request or re.match(r"^\.(TH|SH|SS|TP|B|I)\b", line), f"known request: {line}")


def complete(program, *words):
    """What bash offers for the last word."""
    script = (f"source <('{program}' completion bash)\n"
              f"COMP_WORDS=(sojourn {' '.join(repr(word) for word in words)})\nCOMP_CWORD={len(words)}\n"
              "_sojourn\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    check.equal((result.returncode, result.stderr), (0, ""), "bash")
    return result.stdout.split()


@test
def test_completion_in_bash(program):
    check.equal(complete(program, "ser"), ["serve"])
    check.contains(complete(program, ""), "check-config")
    check.true("options-document" not in complete(program, ""), "hidden commands are not offered")
    check.equal(complete(program, "serve", "--log-"), ["--log-level", "--log-format"])
    check.equal(complete(program, "serve", "--log-level", ""), ["debug", "info", "warn", "error"])
    check.equal(complete(program, "serve", "--log-level", "w"), ["warn"])
    check.equal(complete(program, "serve", "--config", "READ"), ["README.md"])
    check.equal(complete(program, "serve", "--data", "doc"), ["docs"])
    check.equal(complete(program, "serve", "--loop-threads", ""), [])
    check.equal(complete(program, "serve", "--bootstrap-"), [])
    check.equal(complete(program, "sess"), ["sessions"])
    check.equal(complete(program, "sessions", "un"), ["unarchive", "unpause"])
    check.equal(complete(program, "users", ""), ["list", "create", "update", "remove"])
    check.equal(complete(program, "sessions", "list", "--type", ""), ["agent", "response", "tool", "mixed"])
    check.equal(complete(program, "sessions", "tail", "--si"), ["--silence-ms"])
    check.equal(complete(program, "verify", "READ"), ["README.md"])
    check.equal(complete(program, "completion", "b"), ["bash"])


@test
def test_completion_in_zsh_and_fish_is_valid(program):
    missing = [shell for shell in ("zsh", "fish") if not shutil.which(shell)]
    for shell in ("zsh", "fish"):
        script = run(program, "completion", shell).stdout
        check.contains(script, "log-level", f"completion for {shell}")
        if shell not in missing:
            result = subprocess.run([shell, "-n", "/dev/stdin"], input=script, capture_output=True, text=True,
                                    check=False)
            check.equal((result.returncode, result.stderr), (0, ""), f"{shell} -n")
    if missing:
        raise Skip(f"not installed: {', '.join(missing)}")
