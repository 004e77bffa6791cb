"""Two nodes write, read and stream, while the wait of commits for a standby that is gone is broken in many ways; then the
standby takes over. Whatever was acknowledged, read or shown must be there, though it never got what came after its end.
"""
import contextlib
import os
import signal
import threading
import time

from harness import check
from harness.check import Failure
from harness.client import Closed, Deadline
from harness.suite import test
from fault.test_standby import Pair, numbers

WAITING = "select pid from pg_stat_activity where wait_event = 'SyncRep'"
GONE = (OSError, Failure, Closed, Deadline)


class Crowd(Pair):
    """Writers, readers and streams on both nodes."""

    def begin(self):
        self.is_over, self.lock, self.threads, self.number = False, threading.Lock(), [], 100
        for node, other in ((self.server, self.second), (self.second, self.server)):
            for run in (self.write, self.write, self.write, self.look, self.look, self.stream):
                self.threads.append(threading.Thread(target=run, args=(node, other), daemon=True))
                self.threads[-1].start()

    def next_number(self):
        with self.lock:
            self.number += 1
            return self.number

    def append_at(self, node, number):
        """Whether it was acknowledged."""
        client = node.client(timeout_s=60)
        try:
            return client.post(self.path + "/events", {"events": [{"type": "note.x", "metadata": {"n": number}}]},
                               headers={"Idempotency-Key": f"k{number}"}).status == 201
        except GONE:
            return False
        finally:
            client.close()

    def write(self, node, other):
        """What is refused is tried at once at the other node, with the same key."""
        while not self.is_over:
            number = self.next_number()
            if self.append_at(node, number) or self.append_at(other, number):
                with self.lock:
                    self.acknowledged.append(number)

    def note(self, events):
        with self.lock:
            self.shown |= set(numbers(events))

    def look(self, node, _):
        """Reads the end of the log again and again."""
        client, last = node.client(timeout_s=60), 0
        while not self.is_over:
            with contextlib.suppress(*GONE):
                answer = client.get(self.path + "/events", query={"limit": 200, "after": max(0, last - 20)})
                if answer.status == 200 and answer.json()["events"]:
                    last = answer.json()["events"][-1]["sequence"]
                    self.note(answer.json()["events"])

    def stream(self, node, _):
        while not self.is_over:
            with contextlib.suppress(*GONE):
                with node.client(timeout_s=60).stream(self.path + "/events") as stream:
                    while not self.is_over:
                        self.note([stream.until("event", 30)[-1].json()])

    def all_of(self, node):
        """Every number in the log; None while there is no answer."""
        found, after, client = set(), 0, node.client(timeout_s=60)
        with contextlib.suppress(*GONE):
            while True:
                answer = client.get(self.path + "/events", query={"limit": 200, "after": after})
                if answer.status != 200:
                    return None
                found |= set(numbers(answer.json()["events"]))
                if not answer.json()["has_more"]:
                    return found
                after = answer.json()["events"][-1]["sequence"]
        return None

    def fail_over(self):
        self.primary.stop(signal.SIGQUIT)
        self.is_over = True
        for thread in self.threads:
            thread.join(30)
        self.standby.start()
        self.standby.wait_for_nobody()
        self.standby.promote()
        kept = check.eventually(lambda: self.all_of(self.second), "the standby answers", 60)
        print(f"{len(self.acknowledged)} acknowledged, {len(self.shown)} shown, {len(kept)} kept")
        check.equal([number for number in self.acknowledged if number not in kept], [], "acknowledged and lost")
        check.equal(sorted(self.shown - kept), [], "shown and lost")


def break_waits(crowd, *functions, seconds=4):
    """One after the other, again and again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for function in functions:
            with contextlib.suppress(Failure):
                crowd.primary.sql(f"select {function}(pid) from pg_stat_activity where wait_event = 'SyncRep'")
            time.sleep(0.05)


def change_names(crowd):
    """Commits wait for others meanwhile, whom nobody knows either."""
    for names in ("nobody", "ANY 1 (standby, nobody)", "FIRST 2 (standby, nobody)"):
        crowd.primary.sql(f"alter system set synchronous_standby_names = '{names}'")
        crowd.primary.sql("select pg_reload_conf()")
        break_waits(crowd, "pg_cancel_backend", seconds=1)


def kill_waiting(crowd):
    """kill -9: PostgreSQL ends every process, and recovers what waited."""
    for [pid] in crowd.primary.sql(WAITING)[:1]:
        os.kill(int(pid), signal.SIGKILL)
    check.eventually(crowd.primary.is_ready, "PostgreSQL has recovered", 30)
    time.sleep(2)


def kill_node(crowd):
    """Nobody is left who knows that its commits are in doubt."""
    crowd.server.kill()
    break_waits(crowd, "pg_terminate_backend")


def lose(env, *harms):
    with Crowd(env) as crowd:
        crowd.begin()
        check.eventually(lambda: len(crowd.acknowledged) >= 20, "writes are acknowledged", 30)
        crowd.standby.stop(signal.SIGQUIT)
        check.eventually(crowd.primary.waiting, "commits wait", 20)
        for harm in harms:
            harm(crowd)
        crowd.fail_over()


@test(on=("postgres",), timeout_s=240)
def waits_are_cancelled_and_terminated(env):
    lose(env, lambda crowd: break_waits(crowd, "pg_cancel_backend"),
         lambda crowd: break_waits(crowd, "pg_terminate_backend", "pg_cancel_backend"))


@test(on=("postgres",), timeout_s=240)
def names_change_while_commits_wait(env):
    lose(env, change_names)


@test(on=("postgres",), timeout_s=240)
def the_primary_recovers_what_waited(env):
    lose(env, kill_waiting, kill_waiting)


@test(on=("postgres",), timeout_s=240)
def a_node_dies_while_its_commits_wait(env):
    lose(env, kill_node)
