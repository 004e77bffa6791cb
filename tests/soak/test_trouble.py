"""Trouble under a mixed load: afterwards the server goes on by itself, and nothing it acknowledged is lost.

tests/run --rounds N makes N of each trouble; the usual run makes one or two, short ones.
"""
import os
import resource
import signal
import time

from harness import check
from harness.postgres import database_name
from harness.suite import test
from fault.test_storage import KIB, SmallDisk
from soak.world import Soak

CALM_S = 2


def go_through(soak, troubles, rounds):
    """Load, trouble, load again; in the end everything is compared."""
    soak.begin()
    soak.go_on(CALM_S)
    for number in range(rounds):
        for trouble in troubles:
            soak.excuse(True)
            trouble(number)
            soak.calm_down()
            soak.excuse(False)
            soak.go_on(CALM_S)
    soak.finish()


@test(on=("sqlite",), timeout_s=1800)
def suspended(env):
    """The process is stopped for a while and goes on where it was: leases may be over by then."""
    with Soak(env) as soak:
        [server] = soak.servers

        def trouble(_):
            server.signal(signal.SIGSTOP)
            time.sleep(30 if env.rounds(0) else 2)
            server.signal(signal.SIGCONT)
        go_through(soak, [trouble], env.rounds(1))


@test(on=("postgres",), timeout_s=1800)
def one_of_two_suspended(env):
    """The other one takes over what it ran, and it lets go."""
    with Soak(env, nodes=2, options=["--node-lease-ms", "2s", "--node-heartbeat-ms", "100ms", "--lease-ms-default", "1000"]) as soak:
        def trouble(number):
            server = soak.servers[number % 2]
            soak.open(soak.servers[1 - number % 2])
            server.signal(signal.SIGSTOP)
            time.sleep(30 if env.rounds(0) else 4)
            server.signal(signal.SIGCONT)
            soak.open()
        go_through(soak, [trouble], env.rounds(1))


@test(on=("postgres",), timeout_s=1800)
def database_in_trouble(env):
    """It restarts, crashes, ends connections, holds locks."""
    cluster = env.own_cluster()
    try:
        with Soak(env, cluster=cluster) as soak:
            name = database_name(soak.servers[0].database)

            def restart(how):
                cluster.stop(how)
                cluster.start()

            def end_connections():
                cluster.sql(f"select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '{name}'"
                            " and pid <> pg_backend_pid()")

            def hold(table, seconds):
                with cluster.open_transaction(soak.servers[0].database, f"lock table {table} in access exclusive mode"):
                    time.sleep(seconds)
            lock_s = 15 if env.rounds(0) else 2
            go_through(soak, [lambda _: restart(signal.SIGINT), lambda _: restart(signal.SIGQUIT),
                              lambda _: end_connections(), lambda _: hold("sessions", lock_s),
                              lambda _: hold("events", lock_s)], env.rounds(1))
    finally:
        cluster.remove()


@test(on=("sqlite",), timeout_s=1800)
def disk_full(env):
    """No room, and room again."""
    directory = os.path.join(env.directory, "server1", "data")
    with SmallDisk(directory, 400 * KIB * KIB), Soak(env) as soak:
        ballast = os.path.join(directory, "ballast")

        def trouble(_):
            with open(ballast, "wb") as file:
                try:
                    while True:
                        file.write(b"x" * 64 * KIB)
                        file.flush()
                except OSError:
                    pass
            time.sleep(2)
            os.remove(ballast)
        go_through(soak, [trouble], env.rounds(1))
        soak.servers[0].kill()


@test(on=("sqlite",), timeout_s=1800)
def no_descriptors_left(env):
    """The limit is what is open already; later it is what it was."""
    with Soak(env) as soak:
        pid = soak.servers[0].process.pid
        usual = resource.prlimit(pid, resource.RLIMIT_NOFILE)

        def trouble(_):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{pid}/fd")), usual[1]))
            time.sleep(3)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, usual)
        go_through(soak, [trouble], env.rounds(2))
