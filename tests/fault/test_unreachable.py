"""PostgreSQL takes connections and says nothing, as a machine does that hangs: everybody is told soon."""
import threading
import time

from harness import check
from harness.client import Closed, Deadline
from harness.suite import test
from fault.postgres_proxy import Proxy

CALLERS = 12
SOON_S = 25  # some attempts to connect, of 5 s each, and not one for every caller


@test(on=("postgres",), timeout_s=240)
def nobody_waits_for_the_attempts_of_others(env):
    """Reads and writes of many callers are refused within a few attempts to connect; afterwards all is as before."""
    with Proxy(env.cluster()) as proxy:
        server = env.server(database=proxy.url(env.database()))
        client = server.client()
        path = f"/api/sessions/{client.post('/api/sessions', {'type': 'agent'}, expect=201).json()['id']}"
        proxy.go_deaf()
        answers = []

        def call(number):
            own = server.client(timeout_s=120)
            body = {"events": [{"type": "note.x"}]}
            try:
                answers.append((own.post(path + "/events", body) if number % 2 else own.get(path)).status)
            except (Closed, Deadline) as error:
                answers.append(str(error))
        started = time.monotonic()
        callers = [threading.Thread(target=call, args=(number,), daemon=True) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(120)
        waited_s = time.monotonic() - started
        check.equal(answers, [503] * CALLERS, "what the callers were told")
        check.true(waited_s < SOON_S * check.patience(), f"all are answered within {SOON_S} s, not {waited_s:.0f} s")
        proxy.hear_again()
        check.eventually(lambda: client.post(path + "/events", {"events": [{"type": "note.y"}]}).status == 201,
                         "writes go on", 30)
        events = client.get(path + "/events", expect=200).json()["events"]
        check.equal([event["type"] for event in events], ["session.created", "note.y"], "the log")
