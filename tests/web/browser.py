"""A browser for tests: methods are commands of browser.mjs."""
import json
import os
import shutil
import subprocess

from harness.check import Failure, Skip
from harness.server import ROOT

SCRIPT = os.path.join(ROOT, "tests", "web", "browser.mjs")


class Browser:
    """One browser with one page. Every method waits for what it asks for, or fails with what the page shows."""

    def __init__(self, **options):
        if not os.path.exists("/usr/bin/chromium") or not shutil.which("node"):
            raise Skip("needs chromium and node: tools/setup test")
        if not os.path.isdir(os.path.join(ROOT, "tests", "web", "node_modules")):
            raise Skip("playwright-core is not installed: tools/setup test")
        self.process = subprocess.Popen(["node", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.open(options)

    def __getattr__(self, name):
        return lambda *arguments: self.send(name, *arguments)

    def send(self, *command):
        """One command and its value."""
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"the browser ended at {command}")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer["value"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.send("close")
        except (Failure, OSError):
            pass
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
