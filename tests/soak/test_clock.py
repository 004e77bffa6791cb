"""The wall clock of the machine is set forward and back while the server works."""
import os
import struct

from harness import check, people
from harness.model_server import ModelServer
from harness.server import ROOT
from harness.suite import OPTIMISED, test
from harness.talk import events, send
from soak.test_trouble import go_through
from soak.world import Soak

HOUR_MS = 3600 * 1000


class WallClock:
    """How far the wall clock of servers started in its environment is ahead."""

    def __init__(self, env):
        self.path = os.path.join(env.directory, "clock")
        self.library = os.path.join(ROOT, env.tree, "tests", "soak", "clock_shift.so")
        with open(self.path, "wb") as file:
            file.write(struct.pack("<q", 0))

    def environment(self):
        return {"LD_PRELOAD": self.library, "SOJOURN_TEST_CLOCK": self.path}

    def set_ahead(self, milliseconds):
        with open(self.path, "r+b") as file:
            file.write(struct.pack("<q", milliseconds))


@test(on=OPTIMISED, timeout_s=120)
def a_turn_is_not_silent_because_the_clock_was_set(env):
    """A model thinks, the clock jumps by hours: nobody interrupts it."""
    clock = WallClock(env)
    with ModelServer([{"hold": True, "text": "Well, now."}]) as model:
        server = env.server(["--watchdog-sweep-ms", "50ms"], model.environment() | clock.environment())
        client = server.client()
        client.post("/api/agents", {"id": "thinker", "driver": "model", "provider": "openai", "model": "m",
                                    "system_prompt": "Think.", "sandbox": {"kind": "none"}}, expect=201)
        path = people.session(client, agent="thinker")
        send(client, path, "think")
        check.true(model.wait_requests(1), "the model is asked")
        for ahead_ms in (5 * HOUR_MS, -3 * HOUR_MS, 48 * HOUR_MS):
            before = len(server.log.entries)
            clock.set_ahead(ahead_ms)
            is_told = lambda: [one for one in server.log.entries[before:] if one["event"] == "clock_jumped"]
            is_acted_on = lambda: [event["type"] for event in events(client, path) if event["type"].startswith("watchdog.")]
            check.eventually(lambda: is_told() or is_acted_on(), "the jump is noticed", 30)
            check.equal(is_acted_on(), [], "what the watchdogs did")
        model.release()
        check.eventually(lambda: events(client, path, "turn.ended"), "the turn ends", 30)
        check.equal(events(client, path, "turn.ended")[0]["metadata"]["stop_reason"], "stop", "how the turn ended")


@test(on=("sqlite",), timeout_s=1800)
def jumps_under_load(env):
    """Forward and back by hours: leases, asks and messages go on as if nothing had happened."""
    clock = WallClock(env)
    with Soak(env, environment=clock.environment()) as soak:
        jumps = [5 * HOUR_MS, -3 * HOUR_MS, 0]
        go_through(soak, [lambda _, jump=jump: clock.set_ahead(jump) for jump in jumps], env.rounds(1))
        barked = [line for line in soak.last_metrics.splitlines() if "sojourn_watchdog_" in line and not line.startswith("#")]
        check.equal([line for line in barked if not line.endswith(" 0")], [], "what the watchdogs did")
