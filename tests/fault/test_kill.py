"""kill -9 at random moments under concurrent appends, claims and streams: nothing acknowledged is lost or repeated."""
import random
import signal
import time

from harness import check
from harness.client import Closed, Deadline
from harness.postgres import database_name
from harness.suite import OPTIMISED, test
from fault.history import History
from fault.load import Appender, Creator, Gate, Reader, Worker

APPENDERS, WORKERS = 4, 3
SESSIONS = 4      # shared by the appenders
GENERATION = 10   # rounds after which they get new ones
OPTIONS = ["--lease-ms-min", "100", "--claim-attempts-max", "1000", "--sessions-per-user-max", "100000"]


class Ordeal:
    """The servers of one database, their history, and the rounds they go through."""

    def __init__(self, servers, seed, cluster=None):
        self.servers = servers
        self.server = servers[0]
        self.cluster = cluster
        self.random = random.Random(seed)
        self.history = History()
        self.gate = Gate(self.server.token)
        self.held = [[] for _ in range(WORKERS)]
        self.unanswered = []
        self.sessions = []
        self.readers = []
        self.watch(None, over_websocket=False)
        self.watch(None, over_websocket=True)
        self.deaths = {}

    def watch(self, session, over_websocket):
        """One more reader, through everything that comes. Those of all sessions begin before the first one."""
        reader = Reader(self.gate, self.history, session, over_websocket)
        if session is None:
            reader.cursor = "0-0"
        self.readers.append(reader)
        reader.start()

    def new_generation(self):
        """New sessions to append to; the old ones rest and must stay as they are."""
        client = self.server.client()
        self.sessions = [client.post("/api/sessions", {"type": "agent"}, expect=201).json()["id"]
                         for _ in range(SESSIONS)]
        for session in self.sessions:
            self.history.created(session)
        for number, session in enumerate(self.sessions[:3]):
            self.watch(session, over_websocket=number % 2 == 1)

    def clients(self):
        """New writers; each has its own source of chance."""
        chance = lambda: random.Random(self.random.random())
        writers = [Appender(self.gate, self.history, chance(), self.sessions) for _ in range(APPENDERS)]
        writers += [Worker(self.gate, self.history, chance(), f"w{i}", self.held[i]) for i in range(WORKERS)]
        return writers + [Creator(self.gate, self.history, chance(), self.unanswered)]

    def round(self, number):
        """Load, a death at a random moment, life again, and the comparison."""
        if number % GENERATION == 0:
            self.new_generation()
        wanted = self.history.acknowledged + self.random.randrange(20, 200)
        self.open_gate()
        writers = self.clients()
        for writer in writers:
            writer.start()
        check.true(self.history.wait_acknowledged(wanted, 30), f"the server acknowledges {wanted} writes")
        time.sleep(self.random.random() * 0.02)  # the moment of the death shall not follow an answer
        self.die(writers)
        for fault in [writer.fault for writer in writers] + [reader.fault for reader in self.readers]:
            if fault:
                raise fault
        self.compare()

    def die(self, writers):
        """One of the deaths; afterwards the server answers again and nothing is under way."""
        deaths = [self.kill_server] * 4 + [self.kill_server_twice]
        if self.cluster:
            deaths += [self.kill_database, self.kill_both, self.end_backends]
        death = self.random.choice(deaths)
        self.deaths[death.__name__] = self.deaths.get(death.__name__, 0) + 1
        death()
        self.gate.close()
        for writer in writers:
            writer.join(60)
            check.true(not writer.is_alive(), "every client got an answer or lost its connection")
        for server in self.servers:
            if server.process is None:
                server.start()
            check.eventually(lambda server=server: self.writes(server), "the server takes writes again", 30)

    def open_gate(self):
        """Clients may send, to any of the servers."""
        self.gate.open(*[server.address for server in self.servers])

    def writes(self, server):
        """Whether a write is acknowledged."""
        client = server.client()
        try:
            answer = client.post("/api/sessions", {"type": "tool"})
        except (Closed, Deadline):
            return False
        finally:
            client.close()
        check.one_of(answer.status, (201, 503), f"status of a write, {answer.body!r}")
        return answer.status == 201

    # --- deaths ---

    def kill_server(self):
        """kill -9 of one server, or of more."""
        for server in self.random.sample(self.servers, self.random.randint(1, len(self.servers))):
            server.kill()

    def kill_server_twice(self):
        """kill -9, and once more while it starts."""
        server = self.random.choice(self.servers)
        server.kill()
        server.launch()
        time.sleep(self.random.random() * 0.03)
        server.kill()

    def kill_database(self):
        """The database server crashes and comes back; ours lives on."""
        self.cluster.stop(signal.SIGQUIT)
        self.cluster.start()

    def kill_both(self):
        """Both, in either order."""
        if self.random.random() < 0.5:
            self.kill_server()
            self.cluster.stop(signal.SIGQUIT)
        else:
            self.cluster.stop(signal.SIGQUIT)
            self.kill_server()
        self.cluster.start()

    def end_backends(self):
        """The database ends every connection."""
        self.cluster.sql("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = "
                         f"'{database_name(self.server.database)}'")

    # --- afterwards ---

    def compare(self):
        """Everything of this round against the log, before and after the clients try again."""
        client = self.server.client(timeout_s=30)
        self.retry_creations(client)
        for session in self.touched():
            self.history.check_session(client, session)
        self.retry_appends(client)
        self.probe_leases(client)
        self.history.verdict()

    def touched(self):
        """The sessions of this generation and those that workers dealt with lately."""
        claimed = [session for session, claims in self.history.claims.items()
                   if any(claim.end is None for claim in claims.values())]
        return self.sessions + claimed[-40:]

    def retry_creations(self, client):
        """A creation that was not answered is repeated with its key and makes one session."""
        for body, key in self.unanswered:
            session = client.post("/api/sessions", body, headers={"Idempotency-Key": key}, expect=201).json()["id"]
            self.history.created(session)
            marker = body["metadata"]["marker"]
            found = client.get("/api/sessions", query={"metadata.marker": marker}, expect=200).json()["sessions"]
            check.equal([one["id"] for one in found], [session], f"sessions created by the requests with key {key}")
        self.unanswered.clear()

    def retry_appends(self, client):
        """What has a key or external ids is sent again: the same answer, and in the log once."""
        for session in self.sessions:
            writes = [write for write in self.history.writes[session] if write.is_repeatable()]
            open_ones = [write for write in writes if write.state == "open"]
            for write in open_ones + self.random.sample(writes, min(len(writes), 3)):
                self.retry(client, session, write)
            self.history.check_session(client, session)

    def retry(self, client, session, write):
        """One of them."""
        known = write.answer if write.state == "acknowledged" else None
        answer = client.post(f"/api/sessions/{session}/events", write.body, headers=write.headers, expect=201)
        if known and "Idempotency-Key" in write.headers:
            check.equal(answer.json(), known, "the answer to the same request with the same key")
        told = [event["sequence"] for event in answer.json()["events"]]
        if known:
            check.equal(told, write.sequences, "the sequences of events that were acknowledged before")
        else:
            self.history.end(write, answer)

    def probe_leases(self, client):
        """Whoever still holds a long lease goes on; whoever lost it is refused and changes nothing."""
        for claim in self.random.sample(self.claims(), min(len(self.claims()), 5)):
            story = self.history.read_log(client, claim.session)
            answer = client.post(f"/api/sessions/{claim.session}/lease", {}, headers=claim.headers())
            if story.open_fence != claim.fence:
                check.equal((answer.status, answer.json()["code"]), (409, "stale_lease"),
                            "a heartbeat of a stale holder")
            elif claim.lease_ms > 1000:
                check.equal(answer.status, 200, f"status of a live holder's heartbeat, {answer.body!r}")

    def claims(self):
        """All acknowledged claims."""
        return [claim for claims in self.history.claims.values() for claim in claims.values()]

    def finish(self):
        """Every reader sees the end of every log; every log is read once more; what is stored is verified."""
        self.open_gate()
        client = self.server.client(timeout_s=30)
        ends = {session: client.get(f"/api/sessions/{session}", expect=200).json()["last_sequence"]
                for session in self.history.writes}
        for reader in self.readers:
            is_done = lambda reader=reader: reader.has_reached(ends) or reader.fault
            check.eventually(is_done, f"{reader.name} sees all", 30)
            reader.finish()
            if reader.fault:
                raise reader.fault
        former = self.history.forget_logs()
        for session in ends:
            self.history.check_session(client, session)
        for session, story in former.items():
            check.equal(self.history.stories[session].texts | story.texts, self.history.stories[session].texts,
                        f"the log of {session} is what it was")
        for server in self.servers:
            server.stop()
        self.server.verify()
        sentence = self.history.verdict()
        resumed = sum(reader.resumed for reader in self.readers)
        print(f"{sum(self.deaths.values())} rounds {self.deaths}, {len(ends)} sessions, {len(self.readers)} streams "
              f"resumed {resumed} times")
        print(sentence)


def go_through(env, rounds, nodes=1):
    """So many rounds with so many servers."""
    print(f"seed {env.seed}")
    cluster = env.own_cluster() if env.engine == "postgres" else None
    try:
        database = cluster.new_database() if cluster else None
        servers = [env.server(OPTIONS, database=database) for _ in range(nodes)]
        for server in servers[1:]:
            server.token = servers[0].token
        ordeal = Ordeal(servers, env.seed, cluster)
        for number in range(rounds):
            ordeal.round(number)
        ordeal.finish()
        env.finish()
    finally:
        if cluster:
            cluster.remove()


@test(on=OPTIMISED, timeout_s=1200)
def kill_rounds(env):
    """At least 50 rounds on each engine; any number with tests/run --rounds N."""
    go_through(env, env.rounds(50))


@test(on=("postgres",), timeout_s=1200)
def kill_rounds_of_two_nodes(env):
    """Two servers share a database; each dies while the other goes on."""
    go_through(env, env.rounds(15), nodes=2)
