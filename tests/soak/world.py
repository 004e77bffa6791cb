"""Many tenants at work on one or more servers of one database, what may befall them, and what must hold in the end."""
import json
import os
import random
import threading
import time

from harness import check, people
from harness.check import Failure
from harness.client import Client, Closed, Deadline
from fault.conversation import Verdict
from fault.history import History
from fault.ordeal import Model, definitions
from soak.actors import Appender, Creator, Eraser, Gate, Sharer, Talker, Worker
from soak.figures import Figures
from soak.viewers import Hopper, Slow, Viewer

OPTIONS = ["--lease-ms-min", "100", "--claim-attempts-max", "1000", "--sessions-per-user-max", "100000",
           "--demo-pace-percent", "3", "--model-backoff-ms", "1", "--sandbox-unprotected", "--tokens-per-user-max", "100000"]
SESSIONS = 4           # of a tenant that are appended to at a time
GENERATION_S = 20      # after which it gets others
SAMPLE_S = 2
IDLE_MS = 5000         # of an agent's process between two turns
AGENTS = ("demo", "demo", "model-retry", "model-ask", "acp-retry")


class Tenant:
    """One tenant: its gate, its history, who acts in it and who watches."""

    def __init__(self, name, token, chance, agents):
        self.name = name
        self.random = chance
        self.lock = threading.Lock()
        self.gate = Gate(token)
        self.history = History()
        self.verdict = Verdict()
        self.disputes = self.talks = 0
        self.sessions = []
        self.unanswered = []
        self.gone = set()       # erased, and acknowledged
        self.going = set()      # to be erased; nobody knows
        self.told_gone = set()  # erased, as a firehose told
        self.viewers = []
        self.let_gone = []      # (viewer, {session: end}) that must still come to an end
        self.held = [[], []]
        self.guest_id = self.guest_token = None
        own = lambda: random.Random(chance.random())
        self.actors = [Appender(self.gate, self.history, own(), self.sessions) for _ in range(2)]
        self.actors += [Worker(self.gate, self.history, own(), f"w{i}", held) for i, held in enumerate(self.held)]
        self.actors += [Creator(self.gate, self.history, own(), self.unanswered)]
        self.actors += [Talker(self, own(), agents) for _ in range(2)]
        self.actors += [Eraser(self, own()), Sharer(self, own())]

    def begin(self, client):
        """The first sessions; viewers of everything from the first moment on."""
        guest = people.person(client, f"guest-{self.name}")
        self.guest_id, self.guest_token = guest.id, guest.client.token
        for kind, over_websocket in ((Viewer, False), (Hopper, True), (Slow, False)):
            viewer = kind(self, None, over_websocket)
            viewer.cursor = "0-0"
            self.viewers.append(viewer)
            viewer.start()
        self.new_generation(client)
        for actor in self.actors:
            actor.start()

    def new_generation(self, client):
        """Other sessions to append to; their viewers go when they have seen all of the old ones."""
        for viewer in [viewer for viewer in self.viewers if viewer.session in self.sessions]:
            self.viewers.remove(viewer)
            self.let_gone.append((viewer, None))
        made = [client.post("/api/sessions", {"type": "agent"}, expect=201).json()["id"] for _ in range(SESSIONS)]
        for session in made:
            self.history.created(session)
        for session, kind in zip(made, (Viewer, Hopper, Slow, Viewer)):
            viewer = kind(self, session, self.random.random() < 0.5)
            self.viewers.append(viewer)
            viewer.start()
        self.sessions[:] = made
        self.let_go_again(client)

    def let_go_again(self, client):
        """Viewers of former generations leave once they have seen the end of what nobody writes to any more."""
        kept = []
        for viewer, ends in self.let_gone:
            if ends is None and viewer.session not in self.sessions:
                ends = {viewer.session: client.get(f"/api/sessions/{viewer.session}", expect=200).json()["last_sequence"]}
            if viewer.fault:
                raise viewer.fault
            if viewer.is_erased or viewer.has_reached(ends):
                viewer.finish()
            else:
                kept.append((viewer, None))
        self.let_gone[:] = kept

    # --- for the actors ---

    def watch(self, session, over_websocket):
        """A viewer of one session."""
        viewer = random.choice((Viewer, Hopper))(self, session, over_websocket)
        viewer.start()
        return viewer

    def let_go(self, viewer, ends):
        """Waits until it has seen all."""
        check.eventually(lambda: viewer.has_reached(ends) or viewer.fault or viewer.is_erased, f"{viewer.name} sees all", 30)
        viewer.finish()
        if viewer.fault:
            raise viewer.fault

    def guest(self, client):
        """A client of somebody who owns nothing."""
        return Client(client.address, self.guest_token, client.timeout_s)

    def erase(self, client, id):
        """Deletes one session."""
        self.going.add(id)
        status = client.delete(f"/api/sessions/{id}").status
        check.one_of(status, (204, 503), f"status of the erasure of {id}")
        if status == 204:
            self.gone.add(id)

    def erase_all(self, client, ids):
        """Deletes them in one request."""
        self.going.update(ids)
        answer = client.post("/api/sessions/bulk-delete", {"ids": ids}, expect=200).json()
        self.gone.update(result["id"] for result in answer["results"] if result["deleted"])

    # --- afterwards ---

    def retry_creations(self, client):
        """A creation that was not answered is repeated with its key."""
        for body, key in list(self.unanswered):
            made = client.post("/api/sessions", body, headers={"Idempotency-Key": key}, expect=201).json()
            self.history.created(made["id"])
        self.unanswered.clear()

    def sessions_now(self, client):
        """Every session by its id, archived ones too, to the last page."""
        found, cursor = {}, None
        while True:
            query = {"limit": 200, "archived": "all"} | ({"cursor": cursor} if cursor else {})
            page = client.get("/api/sessions", query=query, expect=200).json()
            found |= {session["id"]: session for session in page["sessions"]}
            cursor = page.get("next_cursor")
            if not cursor:
                return found

    def check(self, client):
        """Everything that was told against everything that is there."""
        self.retry_creations(client)
        now = self.sessions_now(client)
        ends = {id: session["last_sequence"] for id, session in now.items()}
        self.check_viewers(ends)
        self.check_erased(client, now)
        for session in self.history.writes:
            self.history.check_session(client, session)
        self.check_seen(client, now)
        self.check_counts(client)
        return len(now)

    def check_viewers(self, ends):
        """They see the end of all logs; a jump in what they saw is one over a session that was erased."""
        for viewer in self.viewers + [viewer for viewer, _ in self.let_gone]:
            self.await_end(viewer, ends)
            viewer.finish()
            if viewer.fault:
                raise viewer.fault
            jumps = [jump for jump in viewer.jumps if jump[0] not in self.going | self.told_gone]
            check.equal(jumps, [], f"jumps that {viewer.name} saw")

    def await_end(self, viewer, ends):
        """It has time as long as it gets on."""
        is_done = lambda: viewer.fault or viewer.is_erased or viewer.has_reached(ends)
        while not is_done():
            frames = viewer.frames
            try:
                check.eventually(lambda: is_done() or viewer.frames > frames + 1000, f"{viewer.name} sees all", 60)
            except Failure:
                wanted = {viewer.session: ends[viewer.session]} if viewer.session else ends
                missing = {id: (viewer.last.get(id, 0), end) for id, end in wanted.items() if viewer.last.get(id, 0) < end}
                check.fail(f"{viewer.name} of {self.name} at {viewer.cursor} never saw {check.show(missing)}")

    def check_erased(self, client, now):
        """What was erased is gone; nothing else is."""
        check.equal(self.gone & now.keys(), set(), "sessions that are there though they were erased")
        lost = self.history.writes.keys() - now.keys()
        check.equal(lost, set(), "sessions that were acknowledged and are not there")
        for id in self.random.sample(sorted(self.gone), min(20, len(self.gone))):
            check.equal(client.get(f"/api/sessions/{id}").status, 404, f"status of {id}, which was erased")

    def check_seen(self, client, now):
        """What streams told of sessions that nobody else checks is their log, too."""
        for session in list(self.history.seen):
            if session in now and session not in self.history.writes:
                story = self.history.read_log(client, session)
                for sequence, text in self.history.seen[session].items():
                    if story.texts.get(sequence) != text:
                        self.history.complain(f"a stream told {text}; event {sequence} is {story.texts.get(sequence)}")

    def check_counts(self, client):
        """The counters say what a count of all sessions says, once nothing moves any more."""
        told = {}

        def agree():
            counted = {}
            for session in self.sessions_now(client).values():
                counted[session["status"]] = counted.get(session["status"], 0) + 1
            told.update(counted=counted, counters=client.get("/api/counts", expect=200).json()["by_status"])
            return {status: count for status, count in told["counters"].items() if count} == counted
        try:
            check.eventually(agree, "the counters are right", 60)
        except Failure:
            check.fail(f"the counters of {self.name} say {told['counters']}, there are {told['counted']}")


class Soak:
    """Servers, tenants and time. Use it with `with`."""

    def __init__(self, env, nodes=1, cluster=None, options=(), environment=None):
        self.env = env
        self.random = env.random()
        self.cluster = cluster
        self.model = Model()
        folder = os.path.join(env.directory, "agents")
        os.makedirs(folder)
        for agent in definitions():
            agent["idle_timeout_ms"] = IDLE_MS
            with open(os.path.join(folder, f"{agent['id']}.agent.yaml"), "w", encoding="utf-8") as file:
                json.dump(agent, file)
        database = cluster.new_database() if cluster else env.database()
        self.servers = []
        for _ in range(nodes):
            token = {"SOJOURN_BOOTSTRAP_TOKEN": self.servers[0].token} if self.servers else {}
            server = env.server(["--agents", folder, *OPTIONS, *options], self.model.environment() | token | (environment or {}),
                                database)
            server.token = self.servers[0].token if self.servers else server.token
            self.servers.append(server)
        self.tenants = []
        self.tenant_count = 3 if env.rounds(0) else 2
        self.figures = Figures(self.servers, cluster or (env.cluster() if env.engine == "postgres" else None))
        self.deaths = 0
        self.last_metrics = ""
        self.errors = []  # what servers that died or went said in their logs

    def __enter__(self):
        self.model.__enter__()
        return self

    def __exit__(self, *exc):
        for tenant in self.tenants:
            tenant.gate.is_over = True
        self.model.__exit__()

    def clients(self):
        """A client of each tenant on each server that is up."""
        for tenant in self.tenants:
            yield tenant, Client(self.servers[0].address, tenant.gate.token, 60)

    def open(self, *servers):
        """Everybody may send, to these."""
        for tenant in self.tenants:
            tenant.gate.open(*[server.address for server in servers or self.servers])

    def begin(self):
        """All tenants begin."""
        operator = self.servers[0].client(timeout_s=30)
        names = [f"t{number}" for number in range(1, self.tenant_count)]
        tokens = {"default": self.servers[0].token} | {name: people.tenant(operator, name).client.token for name in names}
        for name, token in tokens.items():
            self.tenants.append(Tenant(name, token, random.Random(self.random.random()), AGENTS))
        self.open()
        for tenant, client in self.clients():
            tenant.begin(client)

    def excuse(self, excuses):
        """From now on servers may, or may not, be unavailable."""
        for tenant in self.tenants:
            tenant.gate.excuses = excuses

    def faults(self):
        """What went wrong for anybody so far."""
        for tenant in self.tenants:
            for actor in tenant.actors + tenant.viewers:
                if actor.fault:
                    raise actor.fault
            if tenant.gate.faults:
                check.fail(f"{tenant.name} was told: " + "; ".join(tenant.gate.faults[:5]))
            if tenant.history.wrong:
                check.fail("; ".join(tenant.history.wrong[:5]))
        for server in self.servers:
            if server.process and server.process.poll() is not None:
                server.explain_death("it ended by itself")

    def go_on(self, seconds):
        """Time goes by; generations change; samples are taken."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(min(SAMPLE_S, max(0.0, end - time.monotonic())))
            self.figures.take()
            self.faults()
            self.next_generation()

    def next_generation(self, at=[0.0]):
        """Now and then."""
        if time.monotonic() - at[0] < GENERATION_S:
            return
        at[0] = time.monotonic()
        for tenant, client in self.clients():
            tenant.new_generation(client)
            client.close()

    def kill(self):
        """kill -9 of one server; the others go on, and it comes back."""
        server = self.random.choice(self.servers)
        self.excuse(True)
        others = [one for one in self.servers if one is not server]
        server.kill()
        self.keep_errors(server)
        for tenant in self.tenants:
            tenant.gate.open(*[one.address for one in others])
        server.start(40)
        self.deaths += 1
        self.open()
        self.excuse(False)

    def writes(self, server):
        """Whether a server takes writes."""
        client = server.client(timeout_s=30)
        try:
            return client.post("/api/sessions", {"type": "tool"}).status == 201
        except (OSError, Closed, Deadline):
            return False
        finally:
            client.close()

    def calm_down(self):
        """Until every server takes writes, and what was under way before has been answered."""
        for server in self.servers:
            check.eventually(lambda server=server: self.writes(server), "the server takes writes again", 60)
        time.sleep(1)

    def keep_errors(self, server):
        """The lines of its log that no server should need."""
        self.errors += [entry for entry in server.log.entries if entry.get("level") == "error"]

    def rest(self):
        """Nobody acts any more."""
        for tenant in self.tenants:
            tenant.gate.is_over = True
        for tenant in self.tenants:
            for actor in tenant.actors:
                actor.join(60 * check.patience())
                check.true(not actor.is_alive(), f"{type(actor).__name__} of {tenant.name} comes to an end")
        self.faults()

    def finish(self):
        """All is compared, the servers stop, what they stored is verified."""
        self.rest()
        sessions = sum(tenant.check(client) for tenant, client in self.clients())
        for server in self.servers:
            self.keep_errors(server)
            self.last_metrics = server.client().get("/metrics", expect=200).body.decode()
            server.stop(40)
        print(self.servers[0].verify().strip().splitlines()[-1])
        for line in self.figures.lines():
            print(line)
        for tenant in self.tenants:
            print(f"{tenant.name}: {tenant.history.verdict()}; {tenant.verdict.sentence()}; {tenant.talks} talks, "
                  f"{tenant.disputes} answers by two; answers {dict(sorted(tenant.gate.answers.items()))}")
        print(f"{sessions} sessions, {self.deaths} deaths")
