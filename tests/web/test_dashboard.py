"""The dashboard in a real browser: everything a person does, and what happens when the server is not there."""
import json
import os
import re
import subprocess

from harness import Skip, check, test
from harness.server import ROOT
from web import scene
from web.browser import Browser

PASSWORD = "correct horse battery staple"
HERE = ("sqlite",)
CONNECTED = "[data-state=connected]"
LOST = ("console: WebSocket connection to", "console: Failed to load resource: net::ERR_CONNECTION_REFUSED")
# Chromium says so whenever a page asks who it is and nobody is signed in.
SIGNED_OUT = "console: Failed to load resource: the server responded with a status of 401 (Unauthorized)"


def no_complaints(browser, allowed=()):
    """Nothing in the console, no blocked resource, no request to another server."""
    found = [line for line in browser.complaints() if not line.startswith((SIGNED_OUT, *allowed))]
    check.equal(found, [], "what the browser complained about")


def sign_in(browser, server, path="/sessions"):
    """Signs the owner in with a password and waits until the page is live."""
    server.client().put("/api/me/password", {"password": PASSWORD}, expect=204)
    browser.goto(server.address + path)
    browser.fill("input[name=email]", "owner@localhost")
    browser.fill("input[name=password]", PASSWORD)
    browser.press("Enter")
    browser.see(CONNECTED)


def titles(browser):
    """The rows from top to bottom."""
    return browser.texts(".row .row-title")


def until_titles(browser, wanted):
    """Waits until the list shows exactly these rows."""
    rows = "JSON.stringify([...document.querySelectorAll('.row .row-title')].map((row) => row.textContent))"
    browser.until(f"{rows} === {json.dumps(json.dumps(wanted, separators=(',', ':')))}")


def until_text(browser, selector, text):
    """Waits until an element shows this text."""
    browser.until(f"[...document.querySelectorAll({json.dumps(selector)})].some((node) => "
                  f"node.textContent.includes({json.dumps(text)}))")


# --- files ---


@test
def files_are_served_safely(server):
    """One page for every address; files under names with their hash, for ever; a policy that allows our origin only."""
    guest = server.anonymous()
    page = guest.get("/", expect=200)
    check.equal(page.header("content-type"), "text/html; charset=utf-8")
    check.equal(page.header("cache-control"), "no-cache")
    for path in ("/sign-in", "/sessions", "/sessions/some:id", "/inbox", "/sessions?tab=idle&q=x", "/agents",
                 "/agents/demo?version=1", "/rules", "/today", "/tasks", "/tasks/one?run=x", "/entities", "/entities/some:id",
                 "/settings"):
        check.equal(guest.get(path, expect=200).body, page.body, path)
    lost = guest.get("/nowhere", headers={"Accept": "text/html,*/*;q=0.8"}, expect=404)
    check.equal((lost.header("content-type"), lost.body), (page.header("content-type"), page.body), "a page for people")
    check.problem(guest.get("/nowhere", headers={"Accept": "application/json"}), 404, "not_found")
    check.problem(guest.get("/api/nowhere", headers={"Accept": "text/html"}), 404, "not_found")
    names = re.findall(r"/assets/([\w.-]+)", page.body.decode())
    check.equal(sorted(name.split(".")[-1] for name in names), ["css", "js", "svg"])
    for name in names:
        plain = guest.get(f"/assets/{name}", expect=200)
        check.contains(plain.header("cache-control"), "immutable")
        for header in ("content-security-policy", "x-content-type-options", "referrer-policy"):
            check.true(plain.header(header), f"{name} has {header}")
        packed = guest.get(f"/assets/{name}", headers={"Accept-Encoding": "br, gzip"}, expect=200)
        check.equal(packed.header("content-encoding"), "gzip")
        unpacked = subprocess.run(["gzip", "-dc"], input=packed.body, capture_output=True, check=True).stdout
        check.equal(unpacked, plain.body, f"{name} unpacked")
        check.equal(guest.request("HEAD", f"/assets/{name}").body, b"")
    policy = page.header("content-security-policy")
    check.contains(policy, "default-src 'self'")
    check.true("unsafe" not in policy, f"nothing unsafe is allowed: {policy}")
    check.problem(guest.get("/assets/app.js"), 404, "not_found")
    check.problem(guest.get("/assets/..%2f..%2fetc%2fpasswd"), 404)
    check.problem(guest.post("/"), 405)


@test(timeout_s=240)
def the_types_agree():
    """tsc finds nothing."""
    compiler = os.path.join(ROOT, "web", "node_modules", "typescript", "bin", "tsc")
    if not os.path.exists(compiler):
        raise Skip("typescript is not installed: tools/setup run")
    result = subprocess.run(["node", compiler, "--noEmit", "-p", os.path.join(ROOT, "web")], capture_output=True,
                            text=True, check=False)
    check.equal(result.stdout, "", "what tsc says")


@test
def only_api_ts_speaks_to_the_server():
    """fetch, EventSource and WebSocket stand in one file; nothing is ever written as HTML."""
    problems = []
    for directory, _, names in os.walk(os.path.join(ROOT, "web", "src")):
        for name in names:
            with open(os.path.join(directory, name), encoding="utf-8") as file:
                text = file.read()
            if name != "api.ts" and re.search(r"\bfetch\(|new EventSource|new WebSocket|XMLHttpRequest|sendBeacon", text):
                problems.append(f"{name} speaks to the server")
            if re.search(r"innerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|document\.write|\beval\(", text):
                problems.append(f"{name} writes HTML")
    check.equal(problems, [])


# --- signing in ---


@test(on=("sqlite", "postgres"), timeout_s=120)
def from_the_link_to_a_session(server):
    """The way of a new person: one-time link, password, a session, a message; and in again with the password."""
    client = server.client()
    made = client.post("/api/users", {"email": "ada@example.test", "name": "Ada", "role": "admin"}, expect=201).json()
    with Browser() as browser:
        browser.goto(f"{server.address}/sign-in#{made['sign_in_secret']}")
        browser.fill("input[name=new-password]", PASSWORD)
        check.equal(browser.url(), f"{server.address}/sign-in", "the secret is gone from the address")
        browser.press("Enter")
        until_text(browser, ".home-first", "Nothing happened yet")
        browser.click(".page-link:has-text('Sessions')")
        until_text(browser, ".empty", "No sessions yet")
        browser.press("c")
        browser.until("document.querySelector('dialog input[list]').value !== ''")  # somebody is offered
        browser.fill("dialog input[list]", "")
        browser.fill("dialog input[name=title]", "First steps")
        browser.press("Enter")
        browser.see(".session")
        browser.fill(".composer textarea", "Hello **there**")
        browser.press("Control+Enter")
        until_text(browser, ".message.from-you:not(.is-sending) strong", "there")
        session_id = browser.url().rsplit("/", 1)[-1]
        kept = client.get(f"/api/sessions/{session_id}/events", expect=200).json()["events"][-1]
        check.contains(kept, {"type": "user.message", "actor": f"user:{made['id']}"})
        browser.click(".me button")
        browser.click("text=Sign out")
        browser.see("input[name=email]")
        browser.goto(f"{server.address}/sign-in#{made['sign_in_secret']}")
        browser.see("[role=alert]")
        browser.goto(f"{server.address}/sessions/{session_id}")
        browser.fill("input[name=email]", "ada@example.test")
        browser.fill("input[name=password]", "wrong")
        browser.press("Enter")
        until_text(browser, "[role=alert]", "wrong")
        browser.fill("input[name=password]", PASSWORD)
        browser.press("Enter")
        until_text(browser, ".session h1", "First steps")
        no_complaints(browser)


# --- the list ---


@test(on=HERE, timeout_s=120)
def the_list_is_live(server):
    """New rows, changed rows and counts arrive by themselves; while the pointer is on the list new rows wait."""
    client = server.client()
    agent = scene.Agent(client, "worker")
    with Browser() as browser:
        sign_in(browser, server)
        scene.create(client, "One", agent="worker", prompt="Do one.")
        until_titles(browser, ["One"])
        until_text(browser, "[data-tab=active]", "1")
        agent.claim()
        agent.settle("waiting_human")
        until_text(browser, ".row-second", "waiting for a person")
        until_text(browser, "[data-tab=needs-you]", "1")
        until_text(browser, ".page-link", "Inbox 1")
        check.equal(browser.count("[data-tab=active]"), 0)
        browser.hover(".row")
        scene.create(client, "Two")
        until_text(browser, ".new-rows", "1 new")
        check.equal(titles(browser), ["One"], "nothing jumps under the pointer")
        browser.click(".new-rows button")
        until_titles(browser, ["Two", "One"])
        browser.away()
        three = scene.create(client, "Three")
        until_titles(browser, ["Three", "Two", "One"])
        client.patch(f"/api/sessions/{three['id']}", {"title": "Drei"}, expect=200)
        until_titles(browser, ["Drei", "Two", "One"])
        client.post(f"/api/sessions/{three['id']}/archive", expect=200)
        until_titles(browser, ["Two", "One"])
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def filters_live_in_the_url(server):
    """Tab and filters survive a reload and the back button, and what does not match stays out."""
    client = server.client()
    for number in range(3):
        scene.create(client, f"Chat {number}")
    scene.create(client, "Queued one", agent="worker", prompt="x")
    with Browser() as browser:
        sign_in(browser, server)
        until_titles(browser, ["Queued one", "Chat 2", "Chat 1", "Chat 0"])
        browser.click("[role=tab]:has-text('Idle')")
        until_titles(browser, ["Chat 2", "Chat 1", "Chat 0"])
        browser.press("f")
        browser.fill(".filter-text", "chat 1")
        until_titles(browser, ["Chat 1"])
        check.contains(browser.url(), "tab=idle&q=chat+1")
        browser.reload()
        until_titles(browser, ["Chat 1"])
        browser.see(CONNECTED)
        scene.create(client, "Other")
        scene.create(client, "Chat 11")
        until_titles(browser, ["Chat 11", "Chat 1"])
        browser.evaluate("history.back()")
        until_titles(browser, ["Chat 11", "Other", "Chat 2", "Chat 1", "Chat 0"])
        browser.goto(server.address + "/sessions?agent=worker")
        until_titles(browser, ["Queued one"])
        browser.goto(server.address + "/sessions?q=nothing+like+this")
        until_text(browser, ".empty", "No session matches")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def everything_by_keyboard(server):
    """j k x e p enter, undo, the palette, and confirmation before anything is lost."""
    client = server.client()
    made = [scene.create(client, name) for name in ("A", "B", "C")]
    scene.say(client, made[1], "hello from B")
    with Browser() as browser:
        sign_in(browser, server)
        until_titles(browser, ["C", "B", "A"])
        for key, title in (("j", "C"), ("j", "B"), ("j", "A"), ("j", "A"), ("k", "B")):
            browser.press(key)
            until_text(browser, ".row.is-cursor .row-title", title)
        browser.press("p")
        until_text(browser, ".peek", "hello from B")
        browser.press("Escape")
        browser.gone(".peek")
        browser.see(".row.is-cursor")
        browser.press("Escape")
        browser.gone(".row.is-cursor")
        for key in ("j", "x", "j", "j", "x"):
            browser.press(key)
        until_text(browser, ".selection", "2 selected")
        browser.press("e")
        until_titles(browser, ["B"])
        until_text(browser, ".notice", "Archived 2 sessions")
        browser.click(".notice button:has-text('Undo')")
        browser.until("document.querySelectorAll('.row').length === 3")
        browser.press("Control+k")
        browser.fill(".palette input", "B")
        until_text(browser, ".palette li.is-cursor", "B")
        browser.press("Enter")
        until_text(browser, ".session h1", "B")
        browser.click(".actions .menu > button")
        browser.click(".menu-list button:has-text('Delete')")
        until_text(browser, "dialog", "2 events will be erased")
        browser.press("Escape")
        browser.gone("dialog")
        client.get(f"/api/sessions/{made[1]['id']}", expect=200)
        browser.click(".actions .menu > button")
        browser.click(".menu-list button:has-text('Delete')")
        browser.click("dialog button.danger")
        browser.until("document.querySelectorAll('.row').length === 2")
        client.get(f"/api/sessions/{made[1]['id']}", expect=404)
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def long_lists_come_in_pages(server):
    """Scrolling brings the next page; no row twice, none missing."""
    client = server.client()
    for number in range(130):
        scene.create(client, f"Row {number}")
    with Browser() as browser:
        sign_in(browser, server)
        browser.until("document.querySelectorAll('.row').length >= 50")
        browser.until("(document.querySelector('.list-box').scrollTop = 1e6) && "
                      "document.querySelectorAll('.row').length === 130")
        check.equal(sorted(titles(browser)), sorted(f"Row {number}" for number in range(130)))
        no_complaints(browser)


# --- a session ---


@test(on=HERE, timeout_s=120)
def a_session_is_followed(server):
    """Messages, live text, tool calls and status changes appear as they happen; live text becomes the message once."""
    client = server.client()
    session = scene.create(client, "Work", agent="worker", prompt="Please **begin**.")
    agent = scene.Agent(client, "worker")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".message.from-you strong", "begin")
        until_text(browser, ".head .status", "Queued")
        agent.claim()
        until_text(browser, ".head .status", "Active")
        agent.think("what to do")
        browser.see(".reasoning:not([open])")
        agent.use("c1", "run_command", {"command": "make test"}, "ok\n" * 3000)
        until_text(browser, ".tool", "make test")
        until_text(browser, ".tool .tool-figures", "9.0 kB")
        browser.click(".tool summary")
        until_text(browser, ".tool .more", "show all")
        agent.stream("All ", "is ")
        until_text(browser, ".is-live", "All is")
        agent.stream("**well**")
        until_text(browser, ".is-live strong", "well")
        agent.say("All is **well**")
        browser.gone(".is-live")
        check.equal(browser.count(".message.from-agent"), 1)
        agent.settle("idle")
        until_text(browser, ".why", "Waiting for your next message")
        until_text(browser, ".line", "Turn finished")
        browser.fill(".composer textarea", "Thanks")
        browser.reload()
        browser.until("document.querySelector('.composer textarea')?.value === 'Thanks'")
        browser.click(".composer .primary")
        until_text(browser, ".message.from-you", "Thanks")
        client.patch(f"/api/sessions/{session['id']}", {"title": "Work done"}, expect=200)
        until_text(browser, ".head h1", "Work done")
        client.delete(f"/api/sessions/{session['id']}", expect=204)
        until_text(browser, ".empty", "not here")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def messages_wait_for_their_turn(server):
    """What is sent while the agent works waits in sight, can be withdrawn, and is said when the turn is over."""
    client = server.client()
    session = scene.create(client, "Work", agent="worker", prompt="Begin.")
    agent = scene.Agent(client, "worker")
    agent.claim()
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".head .status", "Active")
        for text in ("first", "second"):
            browser.fill(".composer textarea", text)
            browser.press("Control+Enter")
            until_text(browser, ".queue", text)
        browser.until("document.querySelectorAll('.message.from-you').length === 1")
        browser.click(".queue li:nth-child(1) [aria-label=Withdraw]")
        browser.until("document.querySelectorAll('.queue li').length === 1")
        until_text(browser, ".queue", "second")
        agent.settle("idle")
        until_text(browser, ".message.from-you", "second")
        browser.gone(".queue")
        until_text(browser, ".head .status", "Queued")
        no_complaints(browser)
    said = client.get(f"/api/sessions/{session['id']}/events?types=user.message", expect=200).json()["events"]
    check.equal([event["content"][0]["text"] for event in said], ["Begin.", "second"])


@test(on=HERE, timeout_s=120)
def the_demo_shows_something_at_once(server):
    """From an empty page, one click: live text, a tool call, what it asks, an answer."""
    with Browser() as browser:
        sign_in(browser, server)
        browser.click("text=Talk to the demo agent")
        browser.see(".is-live")
        until_text(browser, ".tool", "read_file")
        until_text(browser, ".ask", "Change welcome.txt")
        browser.press("a")
        until_text(browser, ".ask", "How shall the commit greet?")
        browser.press("1")
        until_text(browser, ".ask", "Commit one changed file")
        browser.press("a")
        until_text(browser, ".head .status", "Idle")
        check.equal(browser.count(".message.from-you"), 1, "the first message is shown once")
        browser.fill(".composer textarea", "And again")
        browser.press("Control+Enter")
        until_text(browser, ".message.from-you:not(.is-sending)", "And again")
        until_text(browser, ".message.from-agent", "And again")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_session_as_it_was(server):
    """The slider shows header and transcript after any event, in the URL, also beyond the loaded window."""
    client = server.client()
    session, agent = scene.flaky_login(client, is_live=False)
    client.patch(f"/api/sessions/{session['id']}", {"title": "Another title"}, expect=200)
    agent.settle("idle")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".head h1", "Another title")
        browser.slide(".slider input", "6")
        until_text(browser, ".head h1", "Fix flaky login test")
        until_text(browser, ".head .status", "Active")
        browser.until("document.querySelectorAll('.tool').length === 0")
        until_text(browser, ".talk", "I will reproduce it first")
        browser.until("location.search.includes('at=6')")
        check.true(browser.evaluate("document.querySelector('.composer textarea').disabled"), "nobody writes into the past")
        browser.reload()
        until_text(browser, ".head h1", "Fix flaky login test")
        browser.click("text=Back to now")
        until_text(browser, ".head h1", "Another title")
        for _ in range(6):
            client.post(f"/api/sessions/{session['id']}/events",
                        {"events": [{"type": "note.x", "metadata": {"n": i}} for i in range(50)]}, expect=201)
        browser.reload()
        browser.slide(".slider input", "6")
        until_text(browser, ".head h1", "Fix flaky login test")
        until_text(browser, ".talk", "I will reproduce it first")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def raw_people_and_time(server):
    """The other views of a session: every event as it is, who takes part, where the time went."""
    client = server.client()
    session, _ = scene.flaky_login(client)
    other = client.post("/api/users", {"email": "bob@example.test", "name": "Bob"}, expect=201).json()
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}?view=raw")
        last = client.get(f"/api/sessions/{session['id']}", expect=200).json()["last_sequence"]
        browser.until(f"document.querySelectorAll('.raw-row').length === {last}")
        browser.click(".raw-row:last-child button")
        until_text(browser, ".raw-row .code", '"type": "session.created"')
        browser.click(".view-people")
        browser.fill(".side-view input[type=email]", "bob@example.test")
        browser.press("Enter")
        until_text(browser, ".people", "Bob")
        browser.click("text=Link for viewers")
        until_text(browser, ".fresh-link code", "/sessions/join#")
        link = browser.text(".fresh-link code")
        browser.click(".view-time")
        until_text(browser, ".span", "Active")
        until_text(browser, ".span.is-tool", "run_command")
        no_complaints(browser)
    client.delete(f"/api/sessions/{session['id']}/participants/{other['id']}", expect=204)
    with Browser() as browser:
        browser.goto(f"{server.address}/sign-in#{other['sign_in_secret']}")
        browser.click("text=Not now")
        browser.see(".home-first")
        browser.goto(link)
        until_text(browser, ".head h1", "Fix flaky login test")
        no_complaints(browser)


# --- appearance ---

CONTRAST = """(() => {
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const numbers = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest(':disabled, script, kbd, title')) continue;
    const [a, b] = [luminance(numbers(getComputedStyle(node).color)), luminance(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${walker.currentNode.data.trim().slice(0, 40)} ${ratio.toFixed(2)}`);
  }
  return low;
})()"""


@test(on=HERE, timeout_s=180)
def readable_in_light_and_dark_and_on_a_phone(server):
    """Every text has a contrast of at least 4.5 on every page; rows are 44 px; a phone needs no sideways scrolling."""
    client = server.client()
    session, _ = scene.working_day(client)
    with Browser() as browser:
        sign_in(browser, server)
        browser.until("document.querySelectorAll('.row').length === 10")
        check.equal(browser.evaluate("document.querySelector('.row').offsetHeight"), 44)
        grounds = []
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for path, ready in (("/sessions", ".row"), (f"/sessions/{session['id']}", ".is-live"),
                                (f"/sessions/{session['id']}?view=time", ".span"), ("/inbox", ".peek .message")):
                browser.goto(server.address + path)
                browser.see(ready)
                check.equal(browser.evaluate(CONTRAST), [], f"texts with too little contrast, {scheme}, {path}")
            grounds.append(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        check.equal(grounds, ["rgb(255, 255, 255)", "rgb(18, 19, 22)"])
        browser.size(390, 780)
        for path, ready in (("/sessions", ".row"), (f"/sessions/{session['id']}", ".is-live"), ("/inbox", ".peek .message")):
            browser.goto(server.address + path)
            browser.see(ready)
            check.true(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} fits the phone")
            check.true(browser.evaluate("document.querySelector('.side').getBoundingClientRect().top > 600"),
                       "the pages are at the bottom")
        no_complaints(browser)


# --- trouble ---


@test(on=HERE, timeout_s=120)
def a_lost_server_is_told_and_found_again(server):
    """The page says that the connection is lost, keeps what is typed, and catches up without a reload."""
    client = server.client()
    session = scene.create(client, "Before")
    with Browser() as browser:
        sign_in(browser, server)
        until_titles(browser, ["Before"])
        browser.evaluate("window.isSamePage = true")
        server.port = int(server.address.rsplit(":", 1)[-1])
        server.kill()
        browser.see("[data-state=reconnecting]")
        until_text(browser, ".banner", "connection to the server is lost")
        check.equal(titles(browser), ["Before"], "what was known is still shown")
        browser.click("[role=tab]:has-text('Idle')")
        until_text(browser, ".empty", "can’t be reached")
        server.start()
        browser.see(CONNECTED)
        until_titles(browser, ["Before"])
        client = server.client()
        client.patch(f"/api/sessions/{session['id']}", {"title": "After"}, expect=200)
        until_titles(browser, ["After"])
        browser.press("j")
        browser.press("Enter")
        until_text(browser, ".head h1", "After")
        browser.until("document.querySelectorAll('.line').length >= 2")
        server.kill()
        browser.see("[data-state=reconnecting]")
        browser.fill(".composer textarea", "Are you there?")
        browser.press("Control+Enter")
        until_text(browser, ".is-sending", "not sent")
        server.start()
        browser.see(CONNECTED)
        browser.click("text=Send again")
        browser.gone(".is-sending")
        scene.say(server.client(), session, "Yes.")
        until_text(browser, ".message", "Yes.")
        said = [event for event in server.client().get(f"/api/sessions/{session['id']}/events").json()["events"]
                if event["type"] == "user.message"]
        check.equal(len(said), 2, "nothing was said twice")
        check.true(browser.evaluate("window.isSamePage"), "the page was never loaded again")
        no_complaints(browser, LOST)


HOSTILE = [
    "<img src=x onerror=\"window.hacked=1\">",
    "<script>window.hacked=1</script>",
    "[click](javascript:window.hacked=1)",
    "[x](data:text/html,<script>window.hacked=1</script>)",
    "![i](https://evil.test/x.png)",
    "```\"><svg onload=window.hacked=1>\nx\n```",
    "**<b onmouseover=window.hacked=1>**",
    "`</code><iframe src=https://evil.test>`",
    "{{constructor.constructor('window.hacked=1')()}}",
    "| <b>a</b> | b |\n|---|---|\n| <script>window.hacked=1</script> | [x](javascript:window.hacked=1) |",
    "".join("\n" + " " * depth + "- <i>deep</i>" for depth in range(60)),
    "\u202eright to left \u0000 and zero".replace("\u0000", "\ufffd"),
]


@test(on=HERE, timeout_s=120)
def hostile_text_is_inert(server):
    """Whatever a title, message, tool or name holds is shown as text: no element, no request, no script comes of it."""
    client = server.client()
    ids = []
    for text in HOSTILE:
        session = scene.create(client, text[:200], agent="<b>agent</b>", workspace="<i>work</i>"[:100], prompt=text)
        ids.append(session["id"])
    agent = scene.Agent(client, "<b>agent</b>")
    for text in HOSTILE:
        agent.claim()
        agent.say(text)
        agent.think(text)
        agent.use("c", text[:60], {"command": text, "<b>": text}, text)
        agent.append({"type": "agent.message", "content": [
            {"type": "image", "url": "https://evil.test/pixel.png"}, {"type": "image", "url": "data:image/svg+xml,<svg/>"},
            {"type": "file", "mediaType": text, "url": "javascript:window.hacked=1"}]})
        agent.append({"type": "note.odd", "metadata": {"to": text, "title": {"a": 1}}, "content": [{"type": "text", "text": text}]})
        client.post(agent.path + "/asks", {
            "kind": "approval", "id": "ask", "tool": text[:60], "text": text, "arguments": {"old": text, "new": text + "!"},
            "details": {"risk": text, "preview": text, "<b>": text}}, headers=agent.headers, expect=201)
        agent.stream(text)
    with Browser() as browser:
        sign_in(browser, server)
        browser.until(f"document.querySelectorAll('.row').length === {len(HOSTILE)}")
        check.contains(titles(browser), HOSTILE[0])
        for session_id in ids:
            browser.goto(f"{server.address}/sessions/{session_id}?view=raw")
            browser.see(".is-live")
            browser.see(".ask")
            browser.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
            found = "main iframe, main script, main img, main object, main b, main i, main a[href^='javascript'], main a[href^='data']"
            check.equal(browser.evaluate(f"[...document.querySelectorAll({json.dumps(found)})].map((node) => node.outerHTML)"), [])
        check.equal(browser.evaluate("window.hacked ?? null"), None)
        no_complaints(browser)
