"""Acknowledged means durable, whatever befalls a replicated PostgreSQL: tests/run ha --rounds N repeats every trouble N times.

How it is built and what it found: tests/ha/README.md.
"""
import time

from harness import check
from harness.suite import test
from ha.cluster import HOSTS, HighAvailability
from ha.load import Load
from ha.network import Network

DOWN_S = 12  # longer than Patroni's times


# --- what befalls it; each ends with everything switched on again ---

def kill_primary(cluster, load):
    old = cluster.primary()
    cluster.kill(old)
    cluster.await_other_primary(old)
    load.go_on()
    cluster.start(old)


def freeze_primary(cluster, load):
    """It comes back and believes for a moment that it is the primary."""
    old = cluster.primary()
    cluster.freeze(old)
    cluster.await_other_primary(old)
    load.go_on()
    cluster.thaw_postgres(old)


def partition_primary(cluster, load):
    """Nobody reaches it, and it reaches nobody; it may still have commits that wait."""
    old = cluster.primary()
    cluster.network.pull(old)
    cluster.await_other_primary(old)
    load.go_on()
    cluster.network.plug(old)


def kill_standby(cluster, load):
    standby = cluster.synchronous_standby()
    cluster.kill(standby)
    load.go_on()
    cluster.start(standby)


def freeze_standby(cluster, load):
    standby = cluster.synchronous_standby() or HOSTS[0]
    cluster.freeze(standby)
    time.sleep(DOWN_S)
    cluster.thaw(standby)
    load.go_on()


def switch_over(cluster, load):
    old = cluster.primary()
    cluster.switch_over()
    cluster.await_other_primary(old)
    load.go_on()


def break_commits(cluster, function):
    """Commits wait for standbys that nobody reaches; somebody breaks the wait; the primary is lost, and a standby is
    promoted. The cables are pulled because a standby that only hangs has the last writes in its socket."""
    primary = cluster.primary()
    standbys = [host for host in HOSTS if host != primary]
    for host in standbys:
        cluster.network.pull(host)
    try:
        check.eventually(lambda: cluster.waiting_commits(primary) > 0, "a commit waits", 10)
        for _ in range(5):
            cluster.sql(primary, f"select {function}(pid) from pg_stat_activity where wait_event = 'SyncRep'")
            time.sleep(0.3)
        cluster.network.pull(primary)
        cluster.kill(primary)
    finally:
        for host in standbys:
            cluster.network.plug(host)
    cluster.await_other_primary(primary)
    cluster.network.plug(primary)
    cluster.start(primary)


def lose_primary(cluster, load):
    """With all that it had not sent yet."""
    old = cluster.primary()
    for host in HOSTS:
        if host != old:
            cluster.network.pull(host)
    load.go_on(500)
    cluster.network.pull(old)
    cluster.kill(old)
    for host in HOSTS:
        if host != old:
            cluster.network.plug(host)
    cluster.await_other_primary(old)
    cluster.network.plug(old)
    cluster.start(old)
    load.go_on()


def cancel_commits(cluster, load):
    break_commits(cluster, "pg_cancel_backend")
    load.go_on()


def terminate_commits(cluster, load):
    break_commits(cluster, "pg_terminate_backend")
    load.go_on()


TROUBLES = (kill_primary, freeze_primary, partition_primary, kill_standby, freeze_standby, switch_over)


def go_through(env, troubles, rounds=1, synchronous=True):
    """All of them, one after the other, under load; the history of it."""
    with Network((*HOSTS, "etcd")) as network, HighAvailability(env, network, synchronous) as cluster:
        with Load(env, cluster) as load:
            load.go_on()
            for number in range(rounds):
                for trouble in troubles:
                    began = time.monotonic()
                    trouble(cluster, load)
                    cluster.wait_healthy(90)
                    load.go_on()
                    print(f"round {number + 1}: {trouble.__name__} in {time.monotonic() - began:.1f} s; "
                          f"{load.history.acknowledged} acknowledged")
            load.compare()
            seen = sum(map(len, load.history.seen.values()))
            print(f"{len(load.history.lost)} lost of {load.history.acknowledged} acknowledged, {seen} events seen on streams")
            for server in load.servers:
                server.kill()
        return load.history


@test(on=("postgres",), serial=True, timeout_s=7200)
def one_primary_is_lost(env):
    """The short form: the primary is killed; with --rounds every trouble, as often as asked for."""
    rounds = env.rounds(0)
    print(go_through(env, TROUBLES if rounds else (kill_primary,), rounds or 1).verdict())


@test(on=("postgres",), serial=True, timeout_s=7200)
def a_waiting_commit_is_broken(env):
    """A commit that waited for a standby and was cancelled or ended is not acknowledged by that."""
    check_rounds(env)
    print(go_through(env, (cancel_commits, terminate_commits), env.rounds(1)).verdict())


@test(on=("postgres",), serial=True, timeout_s=7200)
def what_is_lost_without_synchronous_replication(env):
    """The figure to compare with: PostgreSQL itself promises nothing then. What there is must still be whole."""
    check_rounds(env)
    history = go_through(env, (lose_primary,), env.rounds(1), synchronous=False)
    print(f"asynchronous: {len(history.lost)} lost of {history.acknowledged} acknowledged")


def check_rounds(env):
    if not env.rounds(0):
        raise check.Skip("only when asked for: tests/run ha --rounds N")
