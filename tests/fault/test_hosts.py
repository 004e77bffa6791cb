"""A database with several hosts, one of which is not what it should be: the node finds the one that is."""
import contextlib
import time

from harness import check
from harness.postgres import database_name
from harness.suite import test
from fault.postgres_proxy import Proxy, error

OPTIONS = ["--postgres-connect-ms", "1s", "--postgres-answer-ms", "2s", "--postgres-outcome-ms", "2s"]
NO_BACKEND = error(b"08P01", b"no such database", b"FATAL")
FULL = error(b"53300", b"too many clients", b"FATAL")

FAULTS = {
    "hangs up": lambda proxy: proxy.hang_up(),
    "has no server behind it": lambda proxy: proxy.hang_up(NO_BACKEND),
    "is full": lambda proxy: proxy.hang_up(FULL),
    "speaks something else": lambda proxy: proxy.hang_up(b"HTTP/1.1 503 Service Unavailable\r\n\r\n"),
    "is silent": lambda proxy: proxy.go_deaf(),
}


def url_of(database, *proxies):
    hosts = ",".join(proxy.address() for proxy in proxies)
    return f"postgres://postgres@{hosts}/{database_name(database)}?sslmode=disable&gssencmode=disable"


def works(client, path, number):
    """Whether an append is acknowledged."""
    return client.post(path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]}).status == 201


@test(on=("postgres",), timeout_s=120)
def a_start_finds_the_host_that_works(env):
    """Whatever is wrong with the first."""
    for name, spoil in FAULTS.items():
        with Proxy(env.cluster()) as first, Proxy(env.cluster()) as second:
            spoil(first)
            server = env.server(OPTIONS, database=url_of(env.database(), first, second))
            check.equal(server.client().post("/api/sessions", {"type": "agent"}).status, 201, f"when the first {name}")
            server.stop()


@test(on=("postgres",), timeout_s=180)
def a_node_moves_to_the_host_that_works(env):
    """Back and forth, for reading and writing, with nothing lost."""
    with Proxy(env.cluster()) as first, Proxy(env.cluster()) as second:
        server = env.server(OPTIONS, database=url_of(env.database(), first, second))
        client = server.client(timeout_s=30)
        path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
        number = 0
        for name, spoil in FAULTS.items():
            for spoiled in (first, second):
                spoil(spoiled)
                check.eventually(lambda: works(client, path, number), f"writes go on when a host {name}", 20)
                number += 1
                check.eventually(lambda: client.get(path).status == 200, f"reads go on when a host {name}", 20)
                spoiled.hear_again()
        events = client.get(path + "/events", query={"limit": 200}, expect=200).json()["events"]
        found = [event["metadata"]["n"] for event in events if event["type"] == "note.x"]
        check.equal(sorted(set(found)), list(range(number)), "what was acknowledged")


@test(on=("postgres",), timeout_s=120)
def a_server_that_only_reads_is_left(env):
    """A standby stands first in the URL; its primary second. Whoever writes goes there, whatever the URL wishes."""
    primary = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(primary.remove)
        database = primary.new_database()
        standby = primary.standby("standby")
        ends.callback(standby.remove)
        url = f"postgres://postgres@/{database_name(database)}?host={standby.directory},{primary.directory}"
        token = env.server(OPTIONS, database=url).token
        for wish in ("", "&target_session_attrs=any", "&target_session_attrs=prefer-standby"):
            server = env.server(OPTIONS, database=url + wish, environment={"SOJOURN_BOOTSTRAP_TOKEN": token})
            client = server.client(token)
            path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
            check.eventually(lambda: client.get(path).status == 200, "it is read", 10)
            if not wish:
                connections = "select count(*) from pg_stat_activity where application_name like 'sojourn%'"
                check.equal(standby.sql(connections), [["0"]], "connections to the standby")
            server.stop()


@test(on=("postgres",), timeout_s=120)
def a_server_that_stops_answering_blocks_nobody(env):
    """In the middle of a statement, with connections that stay open: everybody is told in time, and it goes on later."""
    cluster = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.remove)
        server = env.server(OPTIONS, database=cluster.new_database())
        client = server.client(timeout_s=60)
        path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
        check.true(works(client, path, 0), "an append")
        cluster.hang()
        for call in (lambda: client.post(path + "/events", {"events": [{"type": "note.x"}]}), lambda: client.get(path)):
            started = time.monotonic()
            check.problem(call(), 503)
            waited_s = time.monotonic() - started
            check.true(waited_s < 12 * check.patience(), f"answered after {waited_s:.1f} s")
        cluster.go_on()
        check.eventually(lambda: works(client, path, 1), "writes go on", 30)
        server.stop()


@test(on=("postgres",), timeout_s=60)
def durability_elsewhere_is_accepted_by_name_only(env):
    """fsync=off is refused; with the option it is taken."""
    cluster = env.own_cluster()
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.remove)
        cluster.sql("alter system set fsync = off")
        cluster.settings = {name: value for name, value in cluster.settings.items() if name != "fsync"}
        cluster.stop()
        cluster.start()
        server = env.server(database=cluster.new_database(), start=False)
        server.launch()
        entry = server.wait_log("start_failed", 20)
        check.equal(entry["code"], "database_not_durable")
        check.contains(entry["detail"], "--postgres-durability-elsewhere")
        server.wait_exit(expect=1)
        server.options.append("--postgres-durability-elsewhere")
        server.start()
        check.equal(server.client().post("/api/sessions", {"type": "agent"}).status, 201)
        server.stop()
