"""Home, today, settings, files of sessions and a phone, in a real browser."""
import base64
import struct
import zlib

from harness import check, test
from harness.client import Client
from web import scene
from web.browser import Browser
from web.test_dashboard import CONTRAST, HERE, LOST, PASSWORD, no_complaints, sign_in, until_text
from web.test_work import REFUSED

NEW_PAGES = ("/", "/today", "/tasks", "/tasks/answer-ticket", "/entities", "/entities/ticket-7", "/settings")


def png(width=24, height=16):
    """A small red picture."""
    def chunk(kind, content):
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\x00" + b"\xc0\x30\x30" * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def file(name, content, media_type):
    """A file as the browser is told of it."""
    return {"name": name, "mimeType": media_type, "base64": base64.b64encode(content).decode()}


def part(browser, word, text):
    """Waits until a part of the home page shows this."""
    until_text(browser, f"[aria-label='{word}'] .home-row", text)


# --- home and today ---


@test(on=HERE, timeout_s=180)
def home_at_a_glance(server):
    """What needs you, what is happening, what happened; each moves to the next while one looks."""
    client = server.client()
    with Browser() as browser:
        sign_in(browser, server, "/")
        until_text(browser, ".home-first", "sojourn chat demo")
        scene.create(client, "Publish 2.4", agent="worker", prompt="Begin.")
        agent = scene.Agent(client, "worker")
        agent.claim()
        part(browser, "Active", "Publish 2.4")
        until_text(browser, "[aria-label='Needs you']", "Nothing needs you.")
        agent.ask(id="go", kind="approval", tool="run_command", call_id="c", arguments={"command": "npm publish"},
                  text="Run npm publish?")
        part(browser, "Needs you", "Run npm publish?")
        browser.gone("[aria-label=Active] .home-row")
        until_text(browser, ".page-link", "Inbox 1")
        browser.click(".home-row button:has-text('Allow once')")
        browser.away()  # the decided row stays until the pointer leaves
        part(browser, "Active", "Publish 2.4")
        agent.say("Published.")
        agent.settle("completed", usage={"cost_usd": 0.42})
        part(browser, "Finished today", "Publish 2.4")
        until_text(browser, ".figures", "0 running now · 1 session today · 1 new · 1 completed · $0.42")
        browser.press("j")
        browser.press("Enter")
        until_text(browser, ".head h1", "Publish 2.4")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def the_week_at_home(server):
    """S1-079: a greeting, a box to say what to do, the week and what runs now, what needs you, the five last sessions."""
    client = server.client()
    with Browser() as browser:
        for number in range(7):
            scene.create(client, f"Job {number}", agent="worker", prompt="Begin.")
        agent = scene.Agent(client, "worker")
        agent.claim()
        agent.ask(id="go", kind="approval", tool="run_command", call_id="c", arguments={}, text="May I?")
        sign_in(browser, server, "/")
        browser.until("/^Good (morning|afternoon|evening)$/.test(document.querySelector('.home h1').textContent)")
        browser.see(".home-ask textarea")
        until_text(browser, ".figures", "7 sessions this week · 6 running now · 7 sessions today")
        part(browser, "Needs you", "May I?")
        browser.until("document.querySelectorAll('[aria-label=Recent] .home-row').length === 5")
        active = {one["title"]: one["last_active_at"] for one in client.get("/api/sessions").json()["sessions"]}
        shown = [active.pop(title) for title in browser.texts("[aria-label=Recent] .row-title")]
        check.equal(shown, sorted(shown, reverse=True), "newest first")
        check.true(shown[-1] >= max(active.values()), "the others are older")
        scene.create(client, "Job 7", agent="worker", prompt="Begin.")
        until_text(browser, ".figures", "8 sessions this week · 7 running now")
        browser.until("document.querySelector('[aria-label=Recent] .row-title').textContent === 'Job 7'")
        browser.later(3 * 86_400_000)
        browser.goto(server.address + "/")
        until_text(browser, ".figures", "8 sessions this week · 7 running now · 0 sessions today")
        browser.later(9 * 86_400_000)
        browser.goto(server.address + "/")
        until_text(browser, ".figures", "0 sessions this week")
        until_text(browser, "[aria-label=Recent]", "Nothing happened this week.")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def the_day_by_the_hour(server):
    """Everything that moved today; what others delete leaves at once."""
    client = server.client()
    with Browser() as browser:
        sign_in(browser, server, "/today")
        until_text(browser, ".empty h1", "Nothing happened today")
        one = scene.create(client, "One", agent="worker", prompt="Begin.")
        scene.create(client, "Two", agent="worker", prompt="Begin.")
        scene.settled(client, "worker", status="failed", error={"code": "x", "message": "The disk is full"})
        until_text(browser, ".today .home-row", "The disk is full")
        until_text(browser, ".figures", "1 running now · 2 sessions today · 2 new · 0 completed · 1 failed")
        browser.until("document.querySelectorAll('.home-row').length === 2")
        client.delete(f"/api/sessions/{one['id']}", expect=204)
        browser.until("document.querySelectorAll('.home-row').length === 1")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def work_begins_at_home(server):
    """Said what and chosen who: the session is open, and the agent at work."""
    with Browser() as browser:
        sign_in(browser, server, "/")
        browser.until("document.querySelector('.home-ask select')?.value === 'demo'")
        browser.press("/")
        browser.fill(".home-ask textarea", "Hello from home")
        browser.press("Control+Enter")
        until_text(browser, ".message.from-you", "Hello from home")
        until_text(browser, ".ask .ask-text", "Change welcome.txt")
        no_complaints(browser)


# --- files ---


@test(on=HERE, timeout_s=180)
def files_are_attached(server):
    """Chosen, dropped and pasted files go with the message; the transcript and the files tab show them small."""
    client = server.client()
    session = scene.create(client, "Look at this")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".composer textarea")
        browser.choose(".composer input[type=file]", [file("red.png", png(), "image/png")])
        until_text(browser, ".upload", "red.png")
        browser.see(".upload img")
        browser.drop(".transcript", "drop", [file("notes.txt", b"one, two", "text/plain")])
        until_text(browser, ".upload:nth-child(2)", "8 B")
        browser.drop(".composer textarea", "paste", [file("blue.png", png(8, 8), "image/png")])
        browser.until("document.querySelectorAll('.upload img').length === 2")
        browser.click("[aria-label='Leave blue.png out']")
        browser.until("document.querySelectorAll('.upload').length === 2")
        browser.fill(".composer textarea", "What is this?")
        browser.press("Control+Enter")
        until_text(browser, ".message", "What is this?")
        browser.until("document.querySelector('.message .picture')?.naturalWidth === 24")
        until_text(browser, ".message .attached", "notes.txt")
        check.equal(browser.count(".upload"), 0)
        browser.click(".transcript")
        browser.press("v")
        browser.until("document.querySelectorAll('.file').length === 3")
        browser.until("document.querySelector('.file img')?.naturalWidth === 24")
        until_text(browser, ".file", "8 B · text/plain")
        check.equal(browser.evaluate("fetch(document.querySelectorAll('.file .button')[1].href).then((r) => r.text())"),
                    "one, two")
        no_complaints(browser)
    said = [one for one in client.get(f"/api/sessions/{session['id']}/events").json()["events"] if one["type"] == "user.message"]
    check.equal([part["type"] for part in said[0]["content"]], ["text", "image", "file"])


@test(on=HERE, options=["--blob-bytes-max", "1KiB"], timeout_s=120)
def a_refused_file_is_told(server):
    """Why it was refused stands beside its name; the message waits until it is left out, and what was typed stays."""
    client = server.client()
    session = scene.create(client, "Too much")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.fill(".composer textarea", "Here it is")
        browser.choose(".composer input[type=file]", [file("big.txt", b"x" * 3000, "text/plain")])
        until_text(browser, ".upload.is-refused", "not attached")
        check.true(browser.evaluate("document.querySelector('.composer .primary').disabled"), "it cannot be sent")
        browser.click("[aria-label='Leave big.txt out']")
        browser.click(".composer .primary")
        until_text(browser, ".message", "Here it is")
        no_complaints(browser, REFUSED)


@test(on=HERE, timeout_s=120)
def changed_files_and_their_diff(server):
    """What the work changed, each path once, and the change itself as the log tells it."""
    client = server.client()
    session, agent = scene.flaky_login(client, is_live=False)
    agent.append({"type": "agent.files_changed", "metadata": {"files": [
        {"path": "src/auth/session.c", "status": "modified", "additions": 1, "deletions": 1},
        {"path": "tests/login_retry.c", "status": "added", "additions": 40}]}})
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}?view=files")
        browser.until("document.querySelectorAll('.file-row').length === 2")
        until_text(browser, ".file-row", "+40")
        browser.click(".file-row:has-text('session.c') button")
        until_text(browser, ".file-diff .diff-in", "<=")
        browser.click(".file-row:has-text('login_retry') button")
        until_text(browser, ".file-diff", "does not tell how")
        agent.append({"type": "agent.files_changed", "metadata": {"files": ["README.md"]}})
        browser.until("document.querySelectorAll('.file-row').length === 3")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_conversation_is_exported(server):
    """From the menu: what it is, the document to copy or to save, and the mark in the log."""
    client = server.client()
    session = scene.create(client, "Worth keeping", agent="worker", prompt="Begin.")
    agent = scene.Agent(client, "worker")
    agent.claim()
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.click(".head .menu > button")
        browser.click("text=Export as a workflow…")
        browser.click("dialog button.primary")
        until_text(browser, "dialog [role=alert]", "Nothing was exported.")
        agent.say("This is how it is done.")
        agent.settle("idle")
        browser.click("dialog button.primary")
        until_text(browser, ".export-text", "This is how it is done.")
        browser.see("dialog button:has-text('Save as a file')")
        browser.click("text=Close")
        until_text(browser, ".line", "Exported as a workflow")
        no_complaints(browser, REFUSED)


# --- settings ---


@test(on=HERE, timeout_s=180)
def what_a_person_wants(server):
    """Preferences are saved as they are chosen; personas are made, changed, removed, brought back, and used."""
    client = server.client()
    with Browser() as browser:
        sign_in(browser, server, "/settings")
        choose = ("(([label, value]) => { const s = document.querySelector(`select[aria-label=\"${label}\"]`); "
                  "s.value = value; s.dispatchEvent(new Event('change', {bubbles: true})) })(%s)")
        browser.see(".wishes select")
        browser.evaluate(choose % '["While the agent works", "steer"]')
        until_text(browser, ".notice", "Saved for your new sessions")
        browser.evaluate(choose % '["Idle time", "300000"]')
        browser.until("document.querySelectorAll('.notice').length === 2")
        check.contains(client.get("/api/me/preferences").json(), {"queue_mode": "steer", "idle_timeout_ms": 300000})
        until_text(browser, ".settings", "No persona.")
        browser.click("text=New persona…")
        browser.fill("[aria-label=Name]", "Pirate")
        browser.fill("[aria-label=Prompt]", "Speak like a pirate.")
        browser.click(".persona-edit .primary")
        until_text(browser, ".persona", "Speak like a pirate.")
        browser.click(".persona button:has-text('Change')")
        browser.fill("[aria-label=Prompt]", "Speak like a captain.")
        browser.click(".persona-edit input[type=checkbox]")
        browser.click(".persona-edit .primary")
        until_text(browser, ".persona", "Speak like a captain.")
        until_text(browser, ".persona .chip", "shared")
        browser.click(".persona button:has-text('Remove')")
        browser.gone(".persona")
        browser.click(".notice:has-text('Removed') button:has-text('Undo')")
        until_text(browser, ".persona", "Speak like a captain.")
        browser.press("c")
        browser.until("document.querySelector('dialog select')?.textContent.includes('Pirate')")
        no_complaints(browser)


@test(on=HERE)
def people_and_tokens(server):
    """A password is changed, a token is made, shown once and revoked, somebody is invited by a link that works."""
    client = server.client()
    with Browser() as browser:
        sign_in(browser, server, "/settings")
        browser.click("text=Change your password…")
        browser.fill("[name=current-password]", "wrong")
        browser.fill("[name=new-password]", "another long password")
        browser.press("Enter")
        browser.see(".plain-form .problem-line")
        browser.fill("[name=current-password]", PASSWORD)
        browser.press("Enter")
        until_text(browser, ".notice", "The new password is set")
        client.post("/api/auth/sign-in", {"email": "owner@localhost", "password": "another long password"}, expect=200)
        browser.fill("[aria-label='Name of the token']", "robot")
        browser.click("text=Make a token")
        browser.see(".once code")
        token = browser.text(".once code")
        check.equal(Client(server.address, token=token).get("/api/me", expect=200).json()["kind"], "user")
        browser.click(".tokens li:has-text('robot') button:has-text('Revoke')")
        browser.click("text=Revoke “robot” for good")
        browser.gone(".tokens li:has-text('robot')")
        Client(server.address, token=token).get("/api/me", expect=401)
        browser.fill("[aria-label=Email]", "ben@example.test")
        browser.click("text=Invite")
        until_text(browser, ".users", "ben@example.test")
        link = browser.text(".once:has-text('ben@example.test') code")
        secret = link.removeprefix(f"{server.address}/sign-in#")
        server.anonymous().post("/api/auth/link", {"secret": secret}, expect=200)
        browser.click(".users li:has-text('ben@example.test') button:has-text('Remove')")
        browser.click("text=Remove ben@example.test from here")
        browser.gone(".users li:has-text('ben@example.test')")
        check.equal(len(client.get("/api/users").json()["users"]), 1)
        no_complaints(browser, ("console: Failed to load resource: the server responded with a status of 40",))


# --- everywhere ---


def full(client):
    """Something on every page."""
    scene.configured(client)
    scene.working_day(client)
    run = scene.started(client)
    scene.settled(client, "researcher", result={"summary": "It is the clock.", "score": 3})
    scene.settled(client, "support", result={"text": "sent"})
    return run


@test(on=HERE, timeout_s=240)
def light_dark_and_phone(server):
    """Every word has its contrast, nothing scrolls sideways, and the bar of a phone has four places."""
    client = server.client()
    run = full(client)
    pages = (*NEW_PAGES, f"/sessions/{run['']}?view=tree", f"/sessions/{run['research']}?view=files")
    with Browser() as browser:
        sign_in(browser, server, "/")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for path in pages:
                browser.goto(server.address + path)
                browser.see(".plain, .side-pad")
                browser.see("[data-state=connected]")
                check.equal(browser.evaluate(CONTRAST), [], f"{scheme} {path}")
        browser.size(390, 780)
        for path in pages:
            browser.goto(server.address + path)
            browser.see(".plain, .side-pad")
            check.true(browser.evaluate("document.documentElement.scrollWidth <= 390"), f"{path} is as wide as a phone")
        check.equal(browser.evaluate("[...document.querySelectorAll('.side .page-link, .side .me > button')]"
                                     ".filter((node) => node.offsetWidth > 0).map((node) => node.innerText.split(/\\s/)[0])"),
                    ["Home", "Inbox", "Sessions", "More"])
        browser.click(".me > button")
        browser.click(".menu-list button:has-text('Tasks')")
        until_text(browser, ".plain-row", "Answer a ticket")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def the_server_goes_away(server):
    """What was shown stays and says that it may be old; what happened meanwhile is there afterwards."""
    client = server.client()
    scene.configured(client)
    with Browser() as browser:
        sign_in(browser, server, "/tasks/answer-ticket")
        browser.until("document.querySelectorAll('.step-box').length === 4")
        server.port = int(server.address.rsplit(":", 1)[-1])
        server.stop()
        browser.see(".banner")
        browser.click(".page-link:has-text('Entities')")
        until_text(browser, "[role=alert] h1", "Couldn’t load entities")
        browser.click(".page-link:has-text('Agents')")
        until_text(browser, "[role=alert] h1", "Couldn’t load agents")
        server.start()
        browser.see("[data-state=connected]")
        until_text(browser, ".plain-row", "researcher")
        browser.click(".page-link:has-text('Entities')")
        browser.until("document.querySelectorAll('.plain-row').length === 3")
        browser.click(".page-link:has-text('Tasks')")
        until_text(browser, ".plain-row", "Answer a ticket")
        no_complaints(browser, LOST)
