"""A mixed load on many tenants for as long as one likes: tests/run --rounds MINUTES soak. The usual run is short."""
from harness import check
from harness.suite import test
from soak.world import Soak

USUAL_S = 5


def seconds(env):
    """How long."""
    return env.rounds(0) * 60 or USUAL_S


def check_errors(soak):
    """A server to which nothing happened has nothing to complain of."""
    check.equal(soak.errors[:5], [], "what the logs call errors")


@test(on=("sqlite asan", "postgres tsan"), timeout_s=3600)
def nothing_happens(env):
    """Everything is told as it is, and what the server holds does not grow."""
    with Soak(env) as soak:
        soak.begin()
        soak.go_on(seconds(env))
        soak.finish()
        check_errors(soak)
        if env.rounds(0):
            soak.figures.check(("descriptors", "threads", "connections", "wal_bytes", "resident_bytes"))


@test(on=("sqlite",), timeout_s=3600)
def killed(env):
    """kill -9 at random moments."""
    with Soak(env) as soak:
        soak.begin()
        killed_until(soak, seconds(env))
        soak.finish()


@test(on=("postgres",), timeout_s=3600)
def two_nodes(env):
    """Two servers on one database."""
    with Soak(env, nodes=2) as soak:
        soak.begin()
        soak.go_on(seconds(env))
        soak.finish()
        check_errors(soak)


@test(on=("postgres",), timeout_s=3600)
def two_nodes_killed(env):
    """Each dies while the other goes on."""
    with Soak(env, nodes=2) as soak:
        soak.begin()
        killed_until(soak, seconds(env))
        soak.finish()


def killed_until(soak, seconds):
    """Deaths one after the other."""
    left = seconds
    while left > 0:
        pause = soak.random.uniform(0.5, min(15, 1 + seconds / 4))
        soak.go_on(pause)
        soak.kill()
        left -= pause
