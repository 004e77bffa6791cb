"""The sandbox under a session: made for the first turn, put to sleep, woken, stopped. With the real bubblewrap."""
import glob
import json
import os
import sqlite3
import subprocess

from harness import check, people
from harness.backend import Backend
from harness.check import Skip
from harness.model_server import ModelServer
from harness.postgres import database_name
from harness.server import LogReader
from harness.suite import test


def box(client, **sandbox):
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local", **sandbox}}, expect=201)


def talk(client, **body):
    return people.session(client, agent="boxed", **body)


def send(client, path, text):
    return client.post(path + "/messages", {"text": text}, expect=202).json()


def events(client, path, types):
    return client.get(f"{path}/events?limit=1000&types={types}", expect=200).json()["events"]


def runtimes(client, path):
    """The states the runtime went through, in their order."""
    return [event["metadata"]["to"] for event in events(client, path, "session.runtime_change")]


def wait_turns(client, path, count, seconds=30):
    check.eventually(lambda: client.get(path).json()["turn_count"] == count, f"{count} turns are over", seconds)


def wait_runtime(client, path, state, seconds=30):
    check.eventually(lambda: client.get(path).json()["runtime"] == state, f"the runtime is {state}", seconds)


def trees(server):
    """The sandboxes of sessions on disk, without what is on its way out."""
    found = glob.glob(os.path.join(server.data_directory(), "sandboxes", "[0-9]*", "[0-9]*"))
    return [os.path.join(path, "workspace") for path in found if os.path.isdir(os.path.join(path, "workspace"))]


@test
def a_turn_gets_its_sandbox(server):
    """It is made for the first turn, before the agent says a word, and is there for the second."""
    client = server.client()
    box(client)
    path = talk(client, prompt="echo one")
    wait_turns(client, path, 1)
    check.equal(runtimes(client, path), ["starting", "running"])
    session = client.get(path).json()
    check.equal((session["runtime"], session["details"]["sandbox_id"][:6]), ("running", "local-"))
    first = [event["type"] for event in events(client, path, "session.runtime_change,agent.*")]
    check.equal(first[:3], ["session.runtime_change", "session.runtime_change", "agent.thinking"])
    check.equal(len(trees(server)), 1)
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    check.equal(runtimes(client, path), ["starting", "running"])


@test
def nobody_else_names_its_sandbox(server):
    """A client that names another session's sandbox or snapshot is refused, at creation and later."""
    client = server.client()
    box(client)
    path = talk(client)
    for key in ("sandbox_id", "snapshot_id"):
        check.problem(client.patch(path, {"details": {key: "another"}}), 400, "served_detail")
        body = {"type": "agent", "agent": "boxed", "details": {key: "another"}}
        check.problem(client.post("/api/sessions", body), 400, "served_detail")


@test
def a_session_without_sandbox_has_none(server):
    client = server.client()
    path = people.session(client, agent="demo", prompt="echo one")
    wait_turns(client, path, 1)
    check.equal((runtimes(client, path), client.get(path).json()["runtime"]), ([], "none"))
    check.equal(trees(server), [])


@test
def a_sandbox_that_cannot_be_made(server):
    """The turn ends with the reason, the runtime is in error, and the next message tries again."""
    client = server.client()
    box(client, repository="/nowhere/at/all")
    path = talk(client, prompt="echo one")
    check.eventually(lambda: events(client, path, "turn.ended"), "the turn is over", 30)
    end = events(client, path, "turn.ended")[0]["metadata"]
    check.equal((end["stop_reason"], end["error"]["code"]), ("error", "sandbox_error"))
    wait_runtime(client, path, "error")
    send(client, path, "echo two")
    check.eventually(lambda: len(events(client, path, "turn.ended")) == 2, "the second turn is over", 30)
    check.equal(runtimes(client, path), ["starting", "error", "starting", "error"])


def awake(client, server, **body):
    """A session with a sandbox and a file in it."""
    box(client)
    path = talk(client, prompt="echo one", **body)
    wait_turns(client, path, 1)
    [tree] = trees(server)
    with open(os.path.join(tree, "kept.txt"), "w") as file:
        file.write("kept")
    return path


def snapshots(server):
    found = glob.glob(os.path.join(server.data_directory(), "snapshots", "**"), recursive=True)
    return [path for path in found if os.path.isfile(path)]


def kept_files(server):
    return [open(os.path.join(tree, "kept.txt")).read() for tree in trees(server)
            if os.path.exists(os.path.join(tree, "kept.txt"))]


@test
def sleeps_and_wakes_by_a_message(server):
    """S3-025, S3-029, S3-133, S3-134, S3-145: asleep it has a snapshot and no tree; a message wakes it with its files."""
    client = server.client()
    path = awake(client, server)
    check.equal(client.post(path + "/hibernate", expect=200).json()["changed"], True)
    wait_runtime(client, path, "hibernated")
    session = client.get(path).json()
    check.equal((session["pause_reason"], session["details"]["sandbox_id"]), ("inactivity", None))
    check.true(session["details"]["snapshot_id"], "it has a snapshot")
    check.equal(session["words"]["sandbox"], "hibernated")
    check.equal((trees(server), len(snapshots(server)) >= 1), ([], True))
    again = client.post(path + "/hibernate", expect=200).json()
    check.contains(again, {"changed": False, "runtime": "hibernated"})
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    session = client.get(path).json()
    check.equal((session["runtime"], session["pause_reason"]), ("running", None))
    check.equal(kept_files(server), ["kept"])
    check.equal(runtimes(client, path), ["starting", "running", "hibernating", "hibernating", "hibernated", "restoring",
                                         "running"])


@test
def wakes_when_asked(server):
    """S3-026, S3-027, S3-144: once, however often it is asked."""
    client = server.client()
    path = awake(client, server)
    check.contains(client.post(path + "/wake", expect=200).json(), {"changed": False, "runtime": "running"})
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    check.contains(client.post(path + "/wake", expect=200).json(), {"changed": True, "runtime": "restoring"})
    check.equal(client.post(path + "/wake", expect=200).json()["changed"], False)
    wait_runtime(client, path, "running")
    check.equal(runtimes(client, path).count("restoring"), 1)
    check.equal(kept_files(server), ["kept"])


@test
def messages_while_it_falls_asleep(server):
    """What is said meanwhile waits, wakes it, and is answered once."""
    client = server.client()
    path = awake(client, server)
    for n in range(3):
        client.post(path + "/hibernate", expect=200)
        send(client, path, f"echo message {n}")
        wait_turns(client, path, 2 + n)
    states = runtimes(client, path)
    check.equal((states.count("hibernated"), states.count("restoring")), (3, 3))
    check.equal(kept_files(server), ["kept"])


@test
def not_from_every_state(server):
    client = server.client()
    path = people.session(client, agent="nobody")
    problem = check.problem(client.post(path + "/hibernate"), 409)
    check.equal((problem["code"], problem["from"], problem["to"]), ("illegal_transition", "none", "hibernating"))
    check.problem(client.post(path + "/wake"), 409)
    stranger = people.person(client, "eve").client
    check.problem(stranger.post(path + "/hibernate"), 404)


@test
def a_viewer_wakes_it(server):
    client = server.client()
    path = awake(client, server)
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    with client.stream(path + "/events") as stream:
        stream.until(lambda frame: frame.event == "event" and frame.json()["metadata"].get("from") == "restoring", 30)
    check.equal(client.get(path).json()["runtime"], "running")


def write_rows(env, server, *statements):
    """Behind the server's back."""
    if env.engine == "postgres":
        env.cluster().sql(";".join(statements), database_name(server.database))
        return
    database = sqlite3.connect(os.path.join(server.data_directory(), "sojourn.db"), timeout=30, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()


@test
def a_tool_call_keeps_it_awake(env):
    """S1-082: no sleep while code inside waits for a gateway tool; a call that a crash cut long ago is none."""
    server = env.server(["--idle-grace-ms", "300", "--idle-grace-automated-ms", "300", "--sessions-per-user-max", "100"])
    client = server.client()
    box(client)
    path, cut = talk(client, prompt="echo one"), talk(client, prompt="echo two")
    with client.stream(path + "/events"), client.stream(cut + "/events"):  # awake until the rows stand
        wait_turns(client, path, 1)
        wait_turns(client, cut, 1)
        for one in (path, cut):
            inside = client.with_token(client.post(one + "/sandbox-token", {}, expect=201).json()["token"])
            inside.post(one + "/tools/set_title", {"call_id": one, "arguments": {"title": "x"}}, expect=200)
        write_rows(env, server, "UPDATE tool_calls SET state = 0",
                   f"UPDATE tool_calls SET created_at_ms = created_at_ms - 86400000 WHERE call_id = '{cut}'")
    wait_runtime(client, cut, "hibernated")
    other = talk(client, prompt="echo other")
    wait_turns(client, other, 1)
    wait_runtime(client, other, "hibernated")  # more than a grace time later
    check.equal(client.get(path).json()["runtime"], "running")
    write_rows(env, server, "UPDATE tool_calls SET state = 1")
    wait_runtime(client, path, "hibernated")


@test(options=["--idle-grace-ms", "300", "--idle-grace-automated-ms", "300"])
def falls_asleep_by_itself(server):
    """S1-082, S1-083: after the grace time, but not while somebody watches."""
    client = server.client()
    box(client)
    path = talk(client)
    with client.stream(path + "/events") as stream:
        send(client, path, "echo one")
        stream.until(lambda frame: frame.event == "event" and frame.json()["metadata"].get("to") == "idle", 30)
        other = talk(client, prompt="echo other")  # idle after the first one, watched by nobody
        wait_runtime(client, other, "hibernated")
        check.equal(client.get(path).json()["runtime"], "running")
    wait_runtime(client, path, "hibernated")
    session = client.get(path).json()
    check.equal((session["pause_reason"], session["display_status"]), ("inactivity", "idle"))
    send(client, path, "echo two")
    wait_turns(client, path, 2)


@test
def stops_once(server):
    """S3-024, S3-028, S3-137: the end of the session is the end of its sandbox."""
    client = server.client()
    path = awake(client, server)
    check.equal(client.post(path + "/stop", {"reason": "enough"}, expect=200).json()["changed"], True)
    wait_runtime(client, path, "stopped")
    check.equal(trees(server), [])
    check.equal(client.post(path + "/stop", expect=200).json()["changed"], False)
    session = client.get(path).json()
    check.equal((session["stop_reason"], session["status_reason"]), ("user", "enough"))
    check.problem(client.post(path + "/hibernate"), 409)


@test
def stops_in_the_middle(server):
    """A running turn is aborted with the one end it has; what waits is withdrawn."""
    client = server.client()
    box(client)
    path = talk(client, prompt="echo one")
    check.eventually(lambda: events(client, path, "agent.thinking"), "the turn is under way", 30)
    send(client, path, "echo two")
    check.equal(client.post(path + "/stop", expect=200).json()["changed"], True)
    wait_runtime(client, path, "stopped")
    check.equal([event["metadata"]["stop_reason"] for event in events(client, path, "turn.ended")], ["aborted"])
    check.equal(client.get(path + "/queue").json()["prompts"], [])
    check.equal(trees(server), [])


@test
def stopped_asleep(server):
    client = server.client()
    path = awake(client, server)
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    client.post(path + "/stop", expect=200)
    wait_runtime(client, path, "stopped")


@test
def deleted_with_all_it_had(server):
    """The tree and the snapshots go."""
    client = server.client()
    path = awake(client, server)
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    client.delete(path, expect=204)
    check.eventually(lambda: trees(server) == [] and snapshots(server) == [], "nothing is left on disk", 30)


@test(options=["--snapshot-bytes-max", "1048576"])
def a_snapshot_that_fails(server):
    """S1-029: it runs on; the third time in a row the session ends."""
    client = server.client()
    path = awake(client, server)
    [tree] = trees(server)
    with open(os.path.join(tree, "noise"), "wb") as file:
        file.write(os.urandom(4 << 20))
    for n in range(3):
        client.post(path + "/hibernate", expect=200)
        check.eventually(lambda: runtimes(client, path)[-1] != "hibernating" and
                         runtimes(client, path).count("hibernating") == n + 1, "the snapshot failed", 30)
    wait_runtime(client, path, "stopped")
    session = client.get(path).json()
    check.equal((session["status"], session["stop_reason"]), ("failed", "snapshot_failed"))
    check.equal(runtimes(client, path)[2:6], ["hibernating", "running", "hibernating", "running"])


@test
def restarted(server):
    """A server that stops leaves trees where they are; the next one finds them again."""
    client = server.client()
    path = awake(client, server)
    client = server.restart().client()
    check.equal(client.get(path).json()["runtime"], "running")
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    check.equal((kept_files(server), runtimes(client, path)), (["kept"], ["starting", "running"]))


def remote(env):
    """A server, its backend, and a client of a session that has a sandbox there."""
    backend = Backend()
    server = env.server(options=["--sandbox-backends", backend.url(), "--agents-reach-host"])
    client = server.client()
    box_remote = {"id": "boxed", "driver": "demo", "sandbox": {"kind": "http", "url": backend.url()}}
    client.post("/api/agents", box_remote, expect=201)
    return server, backend, client


@test
def a_remote_sandbox(env):
    """S3-133, S3-134: created, put to sleep, restored from its snapshot, terminated, each told to the backend once."""
    server, backend, client = remote(env)
    path = talk(client, prompt="echo one")
    wait_turns(client, path, 1)
    check.equal(client.get(path).json()["details"]["sandbox_id"], "far-1")
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    check.equal(client.get(path).json()["details"]["snapshot_id"], "image-1")
    client = server.restart().client()
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    check.equal(client.get(path).json()["details"]["sandbox_id"], "far-2")
    client.post(path + "/stop", expect=200)
    wait_runtime(client, path, "stopped")
    check.equal(backend.names(), ["create-session", "hibernate-session", "restore-session", "terminate-session"])
    check.equal(backend.asked[2][1]["snapshot_image_id"], "image-1")


@test
def gone_when_it_should_sleep(env):
    """S3-020, S3-143: 409 from the backend ends the session as every end does; its parent hears of it."""
    _, backend, client = remote(env)
    parent = people.session(client, agent="nobody")
    path = talk(client, prompt="echo one", parent_id=parent.split("/")[-1])
    wait_turns(client, path, 1)
    backend.answers["hibernate-session"] = (409, {"error": "exited"})
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "stopped")
    session = client.get(path).json()
    check.equal((session["status"], session["stop_reason"]), ("completed", "sandbox_gone"))
    [told] = events(client, parent, "session.child_ended")
    check.equal(told["metadata"]["child_id"], session["id"])
    audit = [event["type"] for event in client.get(path + "/audit-log").json()["events"]]
    check.true("session.status_change" in audit, "the end is in the audit log")


@test
def a_restore_that_fails(env):
    """S3-022, S3-134: the runtime is in error with the reason, the snapshot is kept, and the next message tries again."""
    _, backend, client = remote(env)
    path = talk(client, prompt="echo one")
    wait_turns(client, path, 1)
    client.post(path + "/hibernate", expect=200)
    wait_runtime(client, path, "hibernated")
    good, backend.answers["restore-session"] = backend.answers["restore-session"], (500, {"error": "no room"})
    client.post(path + "/wake", expect=200)
    wait_runtime(client, path, "error")
    session = client.get(path).json()
    check.contains(session["status_reason"], "no room")
    check.equal(session["details"]["snapshot_id"], "image-1")
    backend.answers["restore-session"] = good
    send(client, path, "echo two")
    wait_turns(client, path, 2)
    check.equal(client.get(path).json()["runtime"], "running")


def start_elsewhere(env, server):
    """The program, started and killed in a pid namespace of its own, where the pids of this machine mean nothing."""
    other = env.server(start=False)
    with subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", *other.command()],
                          env=server.full_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        log = LogReader(process.stderr)
        listens = log.wait(lambda entry: entry["event"] == "listening", 20)
        process.kill()
        process.wait()
        log.join()
    if not listens:
        raise Skip("no pid namespace can be made here")


@test(on=["sqlite"])
def beside_a_server_in_another_pid_namespace(env):
    """Its limits live in control groups that both share: those of a sandbox that is idle just now are not left behind."""
    definition = {"id": "runs", "driver": "model", "provider": "anthropic", "model": "m", "system_prompt": "You run.",
                  "tools": ["run_command"], "commands": ["*"], "sandbox": {"kind": "local"}}
    run = {"tools": [{"name": "run_command", "input": {"command": "echo it ran"}}]}
    with ModelServer([run, {"text": "done"}] * 2) as model:
        server = env.server([], model.environment())
        client = server.client()
        client.post("/api/agents", definition, expect=201)
        path = people.session(client, agent="runs")
        for turn in (1, 2):
            send(client, path, "run")
            wait_turns(client, path, turn)
            start_elsewhere(env, server)
        results = events(client, path, "agent.tool_result")
        check.equal(["it ran" in json.dumps(result["content"]) for result in results], [True, True], str(results))


def without_bubblewrap(env, model, *options):
    """A server on a machine whose bubblewrap fails, and a session in which a command was to run."""
    server = env.server(options, model.environment(), start=False)
    program = server.command()
    hidden = 'mount --bind /bin/false /usr/bin/bwrap && exec "$@"'
    if subprocess.run(["unshare", "--mount", "sh", "-c", hidden, "sh", "true"], check=False, capture_output=True).returncode:
        raise Skip("no mount namespace can be made here")
    server.command = lambda: ["unshare", "--mount", "sh", "-c", hidden, "sh", *program]
    client = server.start().client()
    client.post("/api/agents", {"id": "runs", "driver": "model", "provider": "anthropic", "model": "m",
                                "system_prompt": "You run.", "tools": ["run_command"], "commands": ["*"],
                                "sandbox": {"kind": "local"}}, expect=201)
    path = people.session(client, agent="runs", prompt="run")
    wait_turns(client, path, 1)
    return server, client, path


@test(on=["sqlite"])
def no_protection_no_sandbox(env):
    """Where bubblewrap does not work the server says so and runs nothing, unless the operator wants it to."""
    run = {"tools": [{"name": "run_command", "input": {"command": "echo it ran"}}]}
    with ModelServer([run, {"text": "done"}]) as model:
        server, client, path = without_bubblewrap(env, model)
        server.wait_log("sandboxes_unavailable")
        [end] = events(client, path, "turn.ended")
        check.equal(end["metadata"]["stop_reason"], "error")
        check.contains(end["metadata"]["error"]["message"], "bubblewrap cannot make a sandbox on this machine (it failed")
        check.equal((events(client, path, "agent.*"), model.requests), ([], []))
        server, client, path = without_bubblewrap(env, model, "--sandbox-unprotected")
        server.wait_log("sandboxes_unprotected")
        [result] = events(client, path, "agent.tool_result")
        check.contains(json.dumps(result["content"]), "it ran")
