"""Sessions that look like a working day."""
TEXT = "text"

DONE = """I found it. The session cookie was compared **before** the clock was advanced:

```c
if (session->expires_at_ms <= clock_wall_ms(clock)) {
    return STATUS_EXPIRED;
}
```

- `tests/login_retry.c` repeats the login 200 times
- no failure in 2,000 runs

See https://example.com/acme/web/pull/42 for the change."""


def text(value):
    """A content part."""
    return {"type": TEXT, TEXT: value}


class Agent:
    """A worker that claims sessions of its agent and works on them as a test says."""

    def __init__(self, client, agent):
        self.client = client
        self.agent = agent

    def claim(self):
        """The next session; returns its path."""
        body = {"worker": f"{self.agent}-1", "agents": [self.agent], "types": ["agent"], "max": 1, "lease_ms": 600000}
        claim = self.client.post("/api/claims", body, expect=200).json()["claims"][0]
        self.headers = {"Sojourn-Lease": claim["lease"]["token"]}
        self.path = f"/api/sessions/{claim['session']['id']}"
        return self.path

    def append(self, *events):
        """Events of the running turn."""
        self.client.post(self.path + "/events", {"events": list(events)}, headers=self.headers, expect=201)

    def say(self, value):
        """A message."""
        self.append({"type": "agent.message", "content": [text(value)]})

    def think(self, value):
        """Reasoning."""
        self.append({"type": "agent.thinking", "content": [{"type": "reasoning", TEXT: value}]})

    def use(self, call, tool, arguments, output, is_error=False):
        """A tool call and its result."""
        self.append({"type": "agent.tool_call", "content": [
            {"type": "tool-call", "toolCallId": call, "toolName": tool, "input": arguments}]})
        self.append({"type": "agent.tool_result", "content": [
            {"type": "tool-result", "toolCallId": call, "toolName": tool, "output": output}],
            "metadata": {"is_error": is_error}})

    def stream(self, *pieces, kind="text"):
        """Live output."""
        deltas = [{"kind": kind, TEXT: piece} for piece in pieces]
        self.client.post(self.path + "/deltas", {"deltas": deltas}, headers=self.headers, expect=202)

    def ask(self, **ask):
        """Asks a person; the turn waits."""
        self.client.post(self.path + "/asks", ask, headers=self.headers, expect=201)

    def settle(self, status, **more):
        """Ends the turn."""
        self.client.post(self.path + "/settle", {"status": status, **more}, headers=self.headers, expect=200)


def create(client, title, **more):
    """A session of an agent; returns it."""
    return client.post("/api/sessions", {"type": "agent", "title": title, **more}, expect=201).json()


def say(client, session, value):
    """A message of the user."""
    client.post(f"/api/sessions/{session['id']}/events",
                {"events": [{"type": "user.message", "content": [text(value)]}]}, expect=201)


def flaky_login(client, is_live=True):
    """A coding session with everything a transcript shows; its last answer is still being written."""
    agent = Agent(client, "claude")
    session = create(client, "Fix flaky login test", agent="claude", workspace="acme/web",
                     prompt="The login test fails one run in ten. Find out why and fix it.",
                     details={"branch_name": "fix/login"})
    agent.claim()
    agent.think("The test logs in and reads the cookie. A race between the clock and the cookie is likely; "
                "I will repeat the test many times first.")
    agent.say("I will reproduce it first.")
    agent.use("c1", "run_command", {"command": "./run-tests login --repeat 50"},
              "50 runs\n47 passed\n3 failed\n" + "login_test: expected 200, got 401\n" * 40, True)
    agent.use("c2", "read_file", {"path": "src/auth/session.c"}, "static bool is_expired(…)\n" * 60)
    agent.use("c3", "edit_file", {"path": "src/auth/session.c", "old": "<", "new": "<="}, "edited, +80 −12")
    agent.say(DONE)
    say(client, session, "Good. Please also bump the version and push the branch.")
    agent.use("c4", "run_command", {"command": "git commit -am 'auth: compare after the clock'"}, "[fix/login 3f2a91c]")
    if is_live:
        agent.stream("The version is bumped to **2.4.1**. ", "Pushing `fix/login` now, then I will open ")
    return session, agent


CHAIN = [
    {"id": "research", "name": "Look into it", "agent": "researcher", "prompt": "Find out what it is about.",
     "output": {"fields": {"summary": "string", "score": "integer"}}, "requires_approval": True},
    {"id": "customer", "name": "Ask the customer", "agent": "support", "prompt": "Write to the customer."},
    {"id": "write", "name": "Write the answer", "agent": "writer", "prompt": "Write it.",
     "depends_on": ["research", "customer"], "output": {"fields": {"answer": "string"}}},
    {"id": "review", "name": "Read it", "human": True, "depends_on": ["write"]}]


def configured(client, steps=None):
    """Agents that workers run, a task of several steps, and things it can be about."""
    for name in ("researcher", "support", "writer"):
        client.post("/api/agents", {"id": name, "driver": "worker"}, expect=201)
    client.post("/api/tasks", {"id": "answer-ticket", "name": "Answer a ticket", "steps": steps or CHAIN,
                               "description": "From a ticket to an answer somebody has read."}, expect=201)
    for id, type, fields in (("ticket-7", "ticket", {"title": "Login fails at night", "priority": 2}),
                             ("ticket-8", "ticket", {"title": "Invoice is missing"}),
                             ("acme", "customer", {"name": "Acme Ltd.", "tags": ["big", "old"]})):
        client.post("/api/entities", {"id": id, "type": type, "fields": fields}, expect=201)


def started(client, **body):
    """A run of the task; the sessions of its steps by their ids, and the run as ""."""
    run = client.post("/api/tasks/answer-ticket/runs", {"entity_id": "ticket-7", **body}, expect=201).json()
    return {"": run["session"]["id"], **{one["step"]: one["session_id"] for one in run["steps"]}}


def settled(client, agent, status="completed", **more):
    """The session of a step, claimed and ended."""
    worker = Agent(client, agent)
    worker.claim()
    worker.settle(status, **more)


def working_day(client):
    """About a dozen sessions in every state; returns the one worth opening and its agent."""
    rows = [
        ("Weekly report", "gemini", "acme/ops", "idle", "Summary is ready for review", 0.02),
        ("Upgrade PostgreSQL client to 16", "codex", "acme/cli", "completed", "All tests pass on 16.2. Done.", 1.31),
        ("Translate onboarding mails", "gemini", "acme/mail", "completed", "12 mails in 4 languages.", 0.37),
        ("Import March invoices", "opencode", "acme/books", "failed", "", 0.11),
        ("Investigate memory growth", "claude", "acme/web", "idle", "It grows by 3 MB an hour, in the cache.", 0.88),
    ]
    for title, agent_name, workspace, status, said, cost in rows:
        agent = Agent(client, agent_name)
        create(client, title, agent=agent_name, workspace=workspace, prompt=f"{title}, please.")
        agent.claim()
        if said:
            agent.say(said)
        more = {"usage": {"cost_usd": cost, "input_tokens": 12000}}
        if status == "failed":
            more["error"] = {"code": "tool_failed", "message": "The bank's file could not be read: line 40 has no date"}
        agent.settle(status, **more)
    for title, agent_name, ask in (
            ("Publish 2.4", "opencode",
             {"kind": "approval", "tool": "run_command", "call_id": "c9", "arguments": {"command": "npm publish"},
              "text": "Run npm publish", "details": {"risk": "high"}}),
            ("Rotate signing keys", "codex",
             {"kind": "question", "text": "Which key store shall hold the new keys?", "options": ["vault", "file"]})):
        agent = Agent(client, agent_name)
        create(client, title, agent=agent_name, workspace="acme/cli", prompt=f"{title} when the tests pass.")
        agent.claim()
        agent.say("Everything is ready. Shall I go on?")
        agent.ask(**ask)
    create(client, "Reindex the search", agent="nobody", workspace="acme/search", prompt="Reindex everything.")
    create(client, "Talk about the roadmap", workspace="acme/plan")
    return flaky_login(client)
