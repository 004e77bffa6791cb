"""kill -9 of the server before and after each commit in PostgreSQL: a proxy on the way to the database is the hand that kills.

tests/crash meets every crash point on SQLite, in one process. Here a server and a database are real: a crash leaves what is
committed and what people were told, so the points are the moment before the database hears of a commit and the moment before
the server hears that it is done. Three messages in some order of modes are sent to an agent that the server runs. The usual
run takes some points of one order; tests/run --rounds N takes every point of N orders.
"""
import itertools

from harness import check
from harness.client import Closed, Deadline
from harness.suite import test
from fault.postgres_proxy import Proxy
from fault.test_mode_crash import OPTIONS, SCRIPTS, Talk

USUAL_POINTS = 8


class Hand:
    """Kills the server at a commit."""

    def __init__(self):
        self.server = None
        self.number = None  # of the commit, from when it was armed; None = none
        self.done = False
        self.base = 0
        self.struck = False

    def arm(self, proxy, number, done):
        self.base, self.number, self.done, self.struck = proxy.commits, number, done, False

    def disarm(self):
        self.number, self.struck = None, False

    def __call__(self, number, done):
        if self.number is None or done != self.done or number - self.base < self.number:
            return self.struck
        self.struck = True
        self.server.process.kill()
        return True


class Ordeal:
    """One server, killed again and again."""

    def __init__(self, server, proxy, hand):
        self.server = server
        self.proxy = proxy
        self.hand = hand
        self.deaths = self.turns = 0

    def play(self, talk):
        """Three messages, until all is said or the server dies."""
        try:
            for number in range(3):
                talk.send(number)
            check.eventually(lambda: self.hand.struck or talk.is_at_rest(), "the session comes to rest", 60)
        except (OSError, Closed, Deadline):
            check.true(self.hand.struck, "the server was killed")

    def live_on(self, talk):
        """The next life."""
        self.server.kill()
        self.hand.disarm()
        self.proxy.cut()
        self.server.start()
        talk.begin_again()
        self.deaths += 1

    def point(self, script, number, done):
        """One crash point; False when there is none with this number."""
        talk = Talk(self.server, f"c{number}{'after' if done else 'before'}{self.deaths}", [script])
        self.hand.arm(self.proxy, number, done)
        self.play(talk)
        struck, self.hand.number = self.hand.struck, None
        if struck:
            self.live_on(talk)
            talk.check_now()
            talk.send_missing()
            talk.rest()
        [log] = talk.check_end()
        check.equal((log.wrong, log.open_turns()), ([], []), f"what is wrong in {talk.paths[0]}")
        check.equal([len(turn.ends) for turn in log.turns], [1] * len(log.turns), f"ends of the turns of {talk.paths[0]}")
        self.turns += len(log.turns)
        talk.client.close()
        return struck


@test(on=("postgres",), timeout_s=3600)
def killed_at_commits(env):
    """Before and after."""
    hand, chance = Hand(), env.random()
    with Proxy(env.cluster(), hand) as proxy:
        server = hand.server = env.server(OPTIONS, database=proxy.url(env.database()))
        ordeal = Ordeal(server, proxy, hand)
        if env.rounds(0):
            for script in chance.sample(SCRIPTS, min(len(SCRIPTS), env.rounds(0))):
                for number in itertools.count(1):
                    if not any([ordeal.point(script, number, done) for done in (False, True)]):
                        break
        else:
            for _ in range(USUAL_POINTS):
                ordeal.point(chance.choice(SCRIPTS), chance.randrange(1, 12), chance.random() < 0.5)
        server.stop()
        server.verify()
        server.start()
        print(f"{ordeal.deaths} deaths at commits; {ordeal.turns} turns ended once")
