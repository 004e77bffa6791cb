#!/usr/bin/env python3
"""Writes docs/dashboard.png: tests/web/picture.py, after the program was built."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from harness.server import ROOT, Server  # noqa: E402
from web import scene  # noqa: E402
from web.browser import Browser  # noqa: E402

PASSWORD = "a password for a picture"


def draw(server, path):
    """The list, with the session in work beside it."""
    client = server.client()
    scene.working_day(client)
    owner = client.get("/api/users", expect=200).json()["users"][0]
    client.patch(f"/api/users/{owner['id']}", {"name": "Ada"}, expect=200)
    client.put("/api/me/password", {"password": PASSWORD}, expect=204)
    with Browser(viewport={"width": 1280, "height": 720}, deviceScaleFactor=1.5) as browser:
        browser.goto(server.address + "/sign-in")
        browser.fill("input[name=email]", owner["email"])
        browser.fill("input[name=password]", PASSWORD)
        browser.press("Enter")
        browser.see("[data-state=connected]")
        browser.click(".page-link:has-text('Sessions')")
        browser.see(".row")
        browser.press("j")
        browser.press("p")
        browser.see(".peek .tool")
        browser.until("document.querySelectorAll('.tabs .count').length === 4")
        browser.picture(path)


def main():
    """Starts a server of its own."""
    with tempfile.TemporaryDirectory() as directory:
        server = Server(directory).start()
        try:
            draw(server, os.path.join(ROOT, "docs", "dashboard.png"))
        finally:
            server.stop()


main()
