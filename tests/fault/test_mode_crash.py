"""Three messages in every order of modes to an agent that the server runs, and kill -9 after events of their logs.

tests/crash meets every crash point of every order, in one process and on a disk in memory. This is the same with a real
process, real sockets and both engines, at some of the points. A good run of all orders is recorded first: its events are the
crash points. Then new sessions of all orders begin side by side and the server dies, each time as soon as one of them has
come to a point where none of its order died yet; the others die wherever they are. All go on through the deaths of the later
ones. tests/run --rounds N takes N deaths, and ends when every point was met.
"""
import itertools

from harness import check
from harness.suite import OPTIMISED, test
from fault.scene import Scene

SCRIPTS = list(itertools.product(("followup", "steer", "collect", "reject", "append"), repeat=3))
USUAL_DEATHS = 4
OPTIONS = ["--demo-pace-percent", "3", "--lease-ms-default", "800", "--lease-ms-min", "100", "--claim-attempts-max", "1000",
           "--sessions-per-user-max", "100000", "--turns-max", "1000"]


class Talk(Scene):
    """One session with the demo for each of some scripts."""

    def __init__(self, server, name, scripts):
        super().__init__(server, name, "demo", scripts)
        self.counts = dict.fromkeys((path.split("/")[-1] for path in self.paths), 0)  # events that somebody saw

    def send(self, number):
        for index, answer in enumerate(self.exchange(list(self.sends(number, "echo m{}")))):
            self.note_send(index, number, answer)

    def send_missing(self):
        """What nobody answered, again."""
        for number in range(3):
            if any(number not in accepted for accepted in self.accepted):
                self.send(number)

    def rest(self):
        check.eventually(self.is_at_rest, "every session comes to rest", 90)

    def watch(self, stream, script, count):
        """Until the session of the script has so many events, or is at rest."""
        target = self.paths[self.scripts.index(script)].split("/")[-1]
        while self.counts[target] < count:
            event = stream.until(lambda frame: frame.event == "event", 30)[-1].json()
            if event["session_id"] in self.counts:
                self.counts[event["session_id"]] = event["sequence"]
            if event["session_id"] == target and self.is_last(target, event):
                return

    def is_last(self, target, event):
        return event["metadata"].get("to") == "idle" and not self.client.get(f"/api/sessions/{target}/queue").json()["prompts"]

    def points(self):
        """Where each script is, as far as somebody saw."""
        return set(zip(self.scripts, self.counts.values()))


class Ordeal:
    """A server that dies, everything that was said to it, and which points were met."""

    def __init__(self, server):
        self.server = server
        self.talks = []
        self.deaths = 0
        self.met = set()
        self.points = set()

    def record(self):
        """A run without deaths; its events are the points."""
        talk = Talk(self.server, "good", SCRIPTS)
        talk.send_missing()
        talk.rest()
        for script, log in zip(SCRIPTS, talk.check_end()):
            self.points |= {(script, number) for number in range(1, len(log.entries) + 1)}
        self.talks.append(talk)

    def round(self, script, count):
        """Sessions of all scripts go on until that of this one has so many events; then the server dies."""
        talk = Talk(self.server, f"r{self.deaths}", SCRIPTS)
        self.talks.append(talk)
        with talk.client.stream("/api/stream") as stream:
            talk.counts.update(dict.fromkeys(talk.counts, 1))
            for number in range(3):
                talk.send(number)
                talk.watch(stream, script, min(count, 1 + number))
            talk.watch(stream, script, count)
            self.server.kill()
        self.deaths += 1
        self.met |= talk.points()
        self.server.start()
        for one in self.talks:
            one.begin_again()
        talk.check_now()

    def finish(self):
        ends = turns = 0
        for talk in self.talks:
            talk.send_missing()
            talk.rest()
            for path, log in zip(talk.paths, talk.check_end()):
                check.equal((log.wrong, log.open_turns()), ([], []), f"what is wrong in {path}")
                turns += len(log.turns)
                ends += sum(len(turn.ends) for turn in log.turns)
        check.equal(ends, turns, "each turn ended once")
        self.server.stop()
        self.server.verify()
        self.server.start()
        print(f"{self.deaths} deaths at {len(self.met & self.points)} of {len(self.points)} points of {len(SCRIPTS)} orders; "
              f"{turns} turns ended once")


@test(on=OPTIMISED, timeout_s=1800)
def killed_at_some_points(env):
    """Some of the points, those that no other met first."""
    server = env.server(OPTIONS)
    ordeal = Ordeal(server)
    ordeal.record()
    random = env.random()
    while ordeal.deaths < env.rounds(USUAL_DEATHS) and ordeal.points - ordeal.met:
        ordeal.round(*random.choice(sorted(ordeal.points - ordeal.met)))
    ordeal.finish()
