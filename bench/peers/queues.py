"""Job queues of Node.js with jobs that do nothing (see graphile.mjs and bullmq.mjs)."""
import subprocess

from harness import BENCH, Failure
from peers.redis import Redis


def install():
    """Brings the pinned packages once."""
    if (BENCH / "node_modules/.package-lock.json").exists():
        return
    print("installing the packages of bench/package.json", flush=True)
    argv = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(BENCH)]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
        raise Failure("npm install failed: " + " ".join(errors[:4]))


def graphile(postgres, workers, jobs, mode="plain"):
    install()
    return postgres.workshop.figures(["node", BENCH / "peers/graphile.mjs", postgres.fresh("graphile"), workers, jobs,
                                      mode], cwd=BENCH)


def bullmq(workshop, workers, jobs):
    install()
    with Redis(workshop) as redis:
        return workshop.figures(["node", BENCH / "peers/bullmq.mjs", redis.port, workers, jobs], cwd=BENCH)
