"""Two servers on one PostgreSQL: what a node remembers of a session is not what the session is; another one may have changed it."""
from harness import check, people
from harness.postgres import database_name
from harness.suite import test
from harness.talk import events, prompt_ids, send
from fault.test_nodes import QUICK, pair

WATCHFUL = ["--watchdog-sweep-ms", "1h"]  # nobody else shall notice


@test(on=("postgres",), timeout_s=120)
def a_lease_ends_that_a_dead_node_gave(env):
    """The survivor knows the session as it was before the claim."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    client = one.client()
    path = people.session(client, status="pending")
    [got] = other.client().post("/api/claims", {"worker": "w", "lease_ms": 1500}, expect=200).json()["claims"]
    other.kill()
    check.eventually(lambda: client.get(path).json()["status"] == "pending", "the work is offered again", 30)
    check.equal(len(events(client, path, "session.lease_lost")), 1, "leases lost")
    [again] = client.post("/api/claims", {"worker": "v"}, expect=200).json()["claims"]
    check.equal(again["lease"]["fence"], got["lease"]["fence"] + 1, "the next fence")


@test(on=("postgres",), timeout_s=120)
def a_session_expires_that_a_dead_node_reopened(env):
    """The survivor knows that it had ended."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    client = one.client()
    path = people.session(client)
    client.post(path + "/stop", {}, expect=200)
    other.client().post(path + "/reopen", {}, expect=200)
    other.client().patch(path, {"ttl_ms": 2500}, expect=200)
    other.kill()
    check.eventually(lambda: client.get(path).json()["status"] == "expired", "it expires", 30)


@test(on=("postgres",), timeout_s=120)
def what_a_dead_node_collected_is_said(env):
    """The survivor knows of no message."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    client = one.client()
    path = people.session(client, agent="worker-agent")
    client.post(path + "/events", {"events": [{"type": "note.x"}]}, expect=201)
    sent = send(other.client(), path, "later", mode="collect", debounce_ms=1500)
    other.kill()
    check.eventually(lambda: events(client, path, "user.message"), "the message is said", 30)
    check.equal(prompt_ids(events(client, path, "user.message")[0]), [sent["prompt_id"]], "what is said")


@test(on=("postgres",), timeout_s=120)
def children_end_that_another_node_made(env):
    """The parent's node knows of none."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    client = one.client()
    parent = people.session(client, id="parent")
    child = people.session(other.client(), parent_id="parent")
    grandchild = people.session(client, parent_id=child.rsplit("/", 1)[1])
    client.post(parent + "/stop", {}, expect=200)
    for path in (child, grandchild):
        check.eventually(lambda path=path: client.get(path).json()["status"] != "idle", f"{path} ends", 20)


@test(on=("postgres",), timeout_s=120)
def both_nodes_are_quiet_about_each_other(env):
    """Each fires what is due and finds that the other one did: that is no error."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    clients = [one.client(), other.client()]
    paths = []
    for round in range(4):
        left_ms = 6000 - 1000 * round
        paths += [people.session(client, ttl_ms=left_ms) for client in clients for _ in range(20)]
    check.eventually(lambda: all(clients[0].get(path).json()["status"] == "expired" for path in paths), "all expire", 60)
    errors = [entry for server in (one, other) for entry in server.log.entries if entry["level"] == "error"]
    check.equal(errors, [], "what the logs call errors")


@test(on=("postgres",), timeout_s=120)
def a_timer_survives_what_comes_between_its_reads(env):
    """The queue is counted; before its first message is read, another node takes it."""
    server = env.server([*QUICK, *WATCHFUL])
    client, cluster = server.client(), env.cluster()
    name = database_name(server.database)
    client.post("/api/agents", {"id": "patient", "driver": "worker"}, expect=201)
    path = people.session(client, agent="patient")
    send(client, path, "taken", mode="collect", debounce_ms=1500)
    waits = "select count(*) from pg_locks where relation = 'agents'::regclass and not granted"
    with cluster.open_transaction(server.database, "lock table agents in access exclusive mode"):
        check.eventually(lambda: cluster.sql(waits, name) != [["0"]], "the timer has counted and reads the agent", 20)
        cluster.sql("delete from prompts", name)
    check.eventually(lambda: client.get(path + "/explain", expect=200).json()["next_timer"] is None, "the timer is done", 20)
    check.equal([entry for entry in server.log.entries if entry["level"] == "error"], [], "what the log calls errors")
    check.equal(events(client, path, "user.message"), [], "what was said")
    send(client, path, "next")
    check.equal(len(events(client, path, "user.message")), 1, "messages said afterwards")


@test(on=("postgres",), timeout_s=120)
def what_needs_nothing_done_is_not_told_from_memory(env):
    """A command that finds nothing to do says so of the session as it is, not as this node left it."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    here, there = one.client(), other.client()
    path = people.session(here)
    here.post(path + "/stop", {}, expect=200)
    there.post(path + "/reopen", {}, expect=200)
    here.post(path + "/stop", {}, expect=200)
    check.equal(there.get(path).json()["status"], "completed", "status after the second stop")
    there.post(path + "/reopen", {}, expect=200)
    here.post(path + "/stop", {}, headers={"Idempotency-Key": "k"}, expect=200)
    check.equal(there.get(path).json()["status"], "completed", "status after the third stop")
    here.post(path + "/archive", {}, expect=200)
    there.post(path + "/unarchive", {}, expect=200)
    check.true(here.post(path + "/archive", {}, expect=200).json()["archived_at"], "the answer tells that it is archived")
    check.true(there.get(path).json()["archived_at"], "it is archived")


@test(on=("postgres",), timeout_s=120)
def what_is_deleted_is_the_session_as_it_is(env):
    """Not as this node left it: the counters would be wrong for ever."""
    one, other = pair(env, *QUICK, *WATCHFUL)
    here, there = one.client(), other.client()
    for erase in (lambda path: here.delete(path, expect=204),
                  lambda path: here.post("/api/sessions/bulk-delete", {"ids": [path.rsplit("/", 1)[1]]}, expect=200)):
        path = people.session(here)
        there.post(path + "/status", {"status": "pending"}, expect=200)
        erase(path)
        check.equal({status: count for status, count in here.get("/api/counts").json()["by_status"].items() if count}, {},
                    "sessions per status")
    one.stop()
    other.stop()
    other.verify()
