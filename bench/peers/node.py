"""A relay of Node.js: the AI SDK's stream of a model piped to whoever watches (see relay.mjs)."""
from harness import BENCH, answers, wait_until
from peers.queues import install


def relay(workshop, provider_port, settings):
    install()
    port = workshop.port()
    process = workshop.start("node", ["node", BENCH / "peers/relay.mjs", port, provider_port], cwd=BENCH)
    try:
        wait_until(lambda: answers(port, "/ready"), "node", process)
        return workshop.load("relay", port, [process.pid], subscribe="/relay", **settings)
    finally:
        workshop.stop(process)
