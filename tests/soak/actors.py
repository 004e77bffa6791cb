"""Who acts in a soak. Each goes on through every death of the server and tells the history of its tenant what it was told.

Those of `fault.load` end with the server they talk to; here they come back.
"""
import random
import threading
import time

from harness import check
from harness.check import Failure
from harness.client import Client, Closed, Deadline
from fault import load
from fault.conversation import Conversation
from fault.load import numbers


class Witness(Client):
    """A client that keeps what no client may ever be told."""

    gate = None

    def request(self, method, path, *arguments, **named):
        response = super().request(method, path, *arguments, **named)
        self.gate.note(method, path, response)
        return response


class Gate(load.Gate):
    """The door of one tenant. While `excuses` is set, the server may say that it is unavailable."""

    def __init__(self, token):
        super().__init__(token)
        self.is_over = False
        self.excuses = False
        self.answers = {}  # status → how often
        self.faults = []   # answers that accuse the server of something
        self.cuts = 0

    def client(self, timeout_s=30):
        address = random.choice(self.addresses or ("127.0.0.1:1",))
        client = Witness(address, self.token, timeout_s)
        client.gate = self
        return client

    def note(self, method, path, response):
        """Counts every answer; 5xx is one that nobody may get while all is well."""
        self.answers[response.status] = self.answers.get(response.status, 0) + 1
        if response.status >= 500 and not (response.status == 503 and self.excuses):
            self.faults.append(f"{method} {path}: {response.status} {response.body[:300]!r}")

    def forgives(self, failure):
        """Whether a failure only says that the server was unavailable while it might be."""
        return self.excuses and ("503" in str(failure) or "store_unavailable" in str(failure))


class Tireless:
    """Acts again and again, with a new client after every cut, until the gate is over."""

    def run(self):
        while not self.gate.is_over:
            if not self.gate.wait(0.1):
                continue
            client = self.gate.client()
            began_in_trouble = False
            try:
                while self.gate.addresses and not self.gate.is_over:
                    began_in_trouble = self.gate.excuses
                    self.act(client)
                    time.sleep(self.pause_s)
            except (OSError, Closed, Deadline) as error:
                if isinstance(error, Deadline) and not (self.gate.excuses or began_in_trouble):
                    self.fault = error
                    return
                self.gate.cuts += 1
                time.sleep(0.01)
            except Failure as failure:
                if not (self.gate.forgives(failure) or (began_in_trouble and "store_unavailable" in str(failure))):
                    self.fault = failure
                    return
                time.sleep(0.05)
            except BaseException as error:  # told by the main thread
                self.fault = error
                return
            finally:
                client.close()


class Appender(Tireless, load.Appender):
    """With a key, with external ids, behind a sequence, or with neither."""

    pause_s = 0.01


class Creator(Tireless, load.Creator):
    """Queues work for the workers."""

    pause_s = 0.08


class Worker(Tireless, load.Worker):
    """Claims, works, settles, releases, forgets."""

    pause_s = 0.01


class Actor(Tireless, threading.Thread):
    """Anybody else: a tenant, a source of chance, one step at a time."""

    pause_s = 0.02

    def __init__(self, tenant, chance):
        super().__init__(daemon=True)
        self.tenant = tenant
        self.gate = tenant.gate
        self.history = tenant.history
        self.random = chance
        self.fault = None

    def act(self, client):
        """One step."""
        raise NotImplementedError

    def note(self, marker=None):
        """An event."""
        return {"type": "note.load", "metadata": {"marker": marker or f"m{next(numbers)}"}}


# --- people and agents ---

class Talk(Conversation):
    """A conversation in which every question is answered by two people at once, who disagree."""

    def __init__(self, client, agent, key, rival):
        self.rival = rival  # a function that makes a client of the other person
        self.disputes = 0
        self.both = []
        super().__init__(client, agent, key)

    def send(self, client, text, **body):
        """As usual; a server that is unavailable has not accepted it."""
        try:
            return super().send(client, text, **body)
        except Failure as failure:
            if isinstance(failure, (Closed, Deadline)) or "503" in str(failure):
                return False
            raise

    def is_at_rest(self, client):
        """As usual; collected messages may be said while somebody looks."""
        before = client.get(self.path, expect=200).json()["last_sequence"]
        return super().is_at_rest(client) and client.get(self.path, expect=200).json()["last_sequence"] == before

    def answer(self, client, ask):
        """One of two different answers wins."""
        self.offered.add(ask["id"])
        path = f"{self.path}/asks/{ask['id']}/answer"
        told = []
        other = threading.Thread(target=self.disagree, args=(path, ask, told), daemon=True)
        other.start()
        try:
            told.append(client.post(path, self.reply(ask)).status)
        finally:
            other.join(60)
        self.disputes += 1
        for status in told:
            check.one_of(status, (200, 404, 409, 503), f"status of an answer to {path}")
        if told.count(200) > 1:
            self.both.append(f"{path} was answered twice")
        if 200 in told:
            self.answered.add(ask["id"])

    def disagree(self, path, ask, told):
        """The other person."""
        rival = self.rival()
        body = {"decision": "deny", "reason": "no"} if ask["kind"] == "approval" else {"answer": ask["options"][-1]}
        try:
            told.append(rival.post(path, body).status)
        except (OSError, Failure):
            pass
        finally:
            rival.close()


class Talker(Actor):
    """One conversation after the other, in all modes, to the agents that the server runs."""

    pause_s = 0.05
    REST_S = 120

    def __init__(self, tenant, chance, agents):
        super().__init__(tenant, chance)
        self.agents = agents
        self.talk = None
        self.left = []
        self.begun_at = 0
        self.reader = None

    def act(self, client):
        if self.talk is None:
            self.begin(client)
        elif self.left and self.random.random() < 0.6:
            text, body = self.left[0]
            if self.talk.send(client, text, **body):
                self.left.pop(0)
        elif self.random.random() < 0.03:
            client.post(self.talk.path + "/interrupt", {})
        else:
            self.tend(client)

    def begin(self, client):
        """A new one, watched by somebody now and then."""
        agent = self.random.choice(self.agents)
        key = f"talk-{next(numbers)}"
        self.talk = Talk(client, agent, key, self.gate.client)
        self.begun_at = time.monotonic()
        self.left = [self.prompt(agent, number) for number in range(self.random.randint(1, 4))]
        if self.random.random() < 0.5:
            self.reader = self.tenant.watch(key, self.random.random() < 0.5)

    def prompt(self, agent, number):
        """(text, body) of one."""
        tour = agent == "demo" and self.random.random() < 0.3
        mode = self.random.choice(("followup", "followup", "steer", "collect", "reject"))
        body = {"mode": mode} | ({"debounce_ms": 60} if mode == "collect" else {})
        return f"{'tour' if tour else 'permit ls' if agent.startswith('acp') else 'echo'} {number}", body

    def tend(self, client):
        """Answers, sends again, and looks whether it is over."""
        self.talk.tend(client)
        if not self.left and self.talk.is_at_rest(client):
            self.end(client)
        elif time.monotonic() - self.begun_at > self.REST_S * check.patience():
            why = client.get(self.talk.path + "/explain").json()
            check.fail(f"{self.talk.path} of {self.talk.agent} does not come to rest: {check.show(why)}")

    def end(self, client):
        """What was promised was kept; then it stays, is hidden or is erased."""
        talk = self.talk
        with self.tenant.lock:
            talk.check_rest(client, self.tenant.verdict)
            self.tenant.verdict.wrong += talk.both
            self.tenant.disputes += talk.disputes
            self.tenant.talks += 1
        self.close_reader(client, talk)
        self.talk = None  # only now: until here it can be done again after a cut
        fate = self.random.random()
        if fate < 0.3:
            client.post(talk.path + "/archive", {})
        elif fate < 0.6:
            self.tenant.erase(client, talk.key)

    def close_reader(self, client, talk):
        """Whoever watched must have seen all of it."""
        if self.reader:
            end = client.get(talk.path, expect=200).json()["last_sequence"]
            self.tenant.let_go(self.reader, {talk.key: end})
            self.reader = None


class Eraser(Actor):
    """Makes sessions and erases them, one by one or many at once."""

    pause_s = 0.1

    def act(self, client):
        ids = [f"gone-{next(numbers)}" for _ in range(self.random.randint(1, 4))]
        for id in ids:
            client.post("/api/sessions", {"type": "agent", "id": id}, expect=201)
            client.post(f"/api/sessions/{id}/events", {"events": [self.note()] * self.random.randint(1, 5)}, expect=201)
        viewer = client.stream(f"/api/sessions/{ids[0]}/events", last_event_id="0") if self.random.random() < 0.3 else None
        if self.random.random() < 0.5:
            client.post(f"/api/sessions/{ids[0]}/archive", {}, expect=200)
        if self.random.random() < 0.5:
            self.tenant.erase_all(client, ids)
        else:
            for id in ids:
                self.tenant.erase(client, id)
        if viewer:
            self.check_viewer(viewer, ids[0])

    def check_viewer(self, viewer, id):
        """A viewer sees the log and then that it is gone."""
        with viewer:
            frames = viewer.wait_end(20)
        sequences = [frame.json()["sequence"] for frame in frames if frame.event == "event"]
        check.equal(sequences, list(range(1, len(sequences) + 1)), f"what a viewer of {id} saw")
        if frames and frames[-1].event == "closed":
            check.one_of(frames[-1].json()["reason"], ("deleted", "server_stopping"), f"why the stream of {id} ended")


class Sharer(Actor):
    """Lets somebody in by a link and shows them out again."""

    pause_s = 0.1

    def act(self, client):
        id = f"shared-{next(numbers)}"
        path = f"/api/sessions/{id}"
        client.post("/api/sessions", {"type": "agent", "id": id, "visibility": "private"}, expect=201)
        link = client.post(path + "/share-link", {"max_uses": 1, "role": "viewer"}, expect=201).json()
        guest = self.tenant.guest(client)
        try:
            check.equal(guest.get(path).status, 404, f"what a stranger sees of {path}")
            guest.post(f"/api/sessions/join/{link['token']}", {}, expect=200)
            with guest.stream(path + "/events", last_event_id="0") as stream:
                client.post(path + "/events", {"events": [self.note()]}, expect=201)
                stream.until(lambda frame: frame.event == "event" and frame.json()["type"] == "note.load", 20)
                client.delete(f"{path}/participants/{self.tenant.guest_id}", expect=204)
                stream.wait_end(20)
            check.equal(guest.get(path).status, 404, f"what the guest sees of {path} afterwards")
        finally:
            guest.close()
        self.tenant.erase(client, id)
