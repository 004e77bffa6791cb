"""The server under test."""
import http.client
import json
import os
import secrets
import time

from harness import Failure, ROOT, answers, wait_until

# A kept data directory knows only the token of the run that made it, so all runs use the same one there.
KEPT_TOKEN = "bench-token-of-a-kept-data-directory-0123456789"


def model_agent(workshop, provider_port):
    """Settings of a server whose agent `bench` is a model of the provider on that port."""
    agents = workshop.directory("agents")
    (agents / "bench.agent.yaml").write_text("id: bench\ndriver: model\nprovider: openai\nmodel: m\n"
                                             "system_prompt: Go on.\nsandbox: {kind: none}\n")
    return {"agents": agents, "environment": {"OPENAI_API_KEY": "none-needed-here",
                                              "OPENAI_BASE_URL": f"http://127.0.0.1:{provider_port}/v1"}}


def boxed_agent(workshop):
    """The folder of an agent that needs no model and has a sandbox of its own."""
    agents = workshop.directory("agents")
    (agents / "boxed.agent.yaml").write_text("id: boxed\ndriver: demo\nsandbox: {kind: local}\n")
    return agents


class Sojourn:
    """A running server with its own data directory (thrown away at stop unless it was given)."""

    def __init__(self, workshop, database=None, data=None, arguments=(), agents=None, environment=None):
        self.workshop = workshop
        self.binary = workshop.build / "sojourn"
        if not self.binary.exists():
            raise Failure(f"{self.binary} is missing: run `make build` in {ROOT}")
        self.kept = data is not None
        self.data = data or workshop.directory("data")
        self.token = KEPT_TOKEN if self.kept else secrets.token_hex(24)
        self.port = workshop.port()
        argv = [self.binary, "serve", "--data", self.data, "--listen", f"127.0.0.1:{self.port}", *arguments]
        if agents:
            argv += ["--agents", agents, "--sessions-per-user-max", "100000"]
        if database:
            argv += ["--database", database]
        begin = time.monotonic()
        known = {**os.environ, **(environment or {}), "SOJOURN_BOOTSTRAP_TOKEN": self.token}
        self.process = workshop.start("sojourn", argv, env=known)
        wait_until(lambda: answers(self.port, "/readyz"), "sojourn", self.process, step_s=0.002)
        self.ready_s = time.monotonic() - begin

    def load(self, mode, **settings):
        return self.workshop.load(mode, self.port, [self.process.pid], token=self.token, **settings)

    def ask(self, method, path, body=None):
        """One request; the answer's JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, json.dumps(body) if body else None,
                           {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 300:
            raise Failure(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)

    def stop(self):
        self.workshop.stop(self.process)
        if not self.kept:
            self.workshop.discard(self.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
