"""Turns in a real browser: what an agent asks, what waits for it, and how people lead it."""
from harness import Skip, check, test
from web import scene
from web.browser import Browser
from web.test_dashboard import CONTRAST, HERE, LOST, no_complaints, sign_in, until_text


def demo(client, title="Show me", prompt="Hello"):
    """A session of the scripted agent inside the server; its first turn asks."""
    return scene.create(client, title, agent="demo", prompt=prompt)


def asking(client, title, **ask):
    """A session whose worker asks something; returns it and its agent."""
    session = scene.create(client, title, agent="worker", prompt="Begin.")
    agent = scene.Agent(client, "worker")
    agent.claim()
    agent.ask(**ask)
    return session, agent


def answered(client, session, ask_id):
    """The ask as the server has it."""
    return client.get(f"/api/sessions/{session['id']}/asks/{ask_id}", expect=200).json()


APPROVAL = {"kind": "approval", "tool": "run_command", "call_id": "c1", "arguments": {"command": "npm publish"},
            "text": "Run npm publish?", "details": {"risk": "high"}, "editable": True}


@test(on=HERE, timeout_s=180)
def the_demo_is_led_to_its_end(server):
    """Approval, question and second approval are decided where they are asked, one by keyboard, one by click."""
    client = server.client()
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".ask .ask-text", "Change welcome.txt")
        until_text(browser, ".ask .diff-in", "the same, live.")
        until_text(browser, ".head .status", "Needs you")
        until_text(browser, ".page-link", "Inbox 1")
        browser.click(".ask button:has-text('Allow once')")
        until_text(browser, ".ask-outcome", "allowed once")
        browser.away()
        until_text(browser, ".ask .ask-text", "How shall the commit greet?")
        until_text(browser, ".ask-line", "allowed once by you")
        browser.press("2")
        until_text(browser, ".ask-line", "answered: Hello there")
        until_text(browser, ".message.from-agent", "You chose: Hello there")
        until_text(browser, ".ask .ask-text", "Commit one changed file")
        browser.press("d")
        browser.fill(".ask-reason", "not on a Friday")
        browser.press("Enter")
        until_text(browser, ".ask-line", "denied: not on a Friday")
        until_text(browser, ".head .status", "Idle")
        until_text(browser, ".line", "Turn finished")
        browser.gone(".ask")
        until_text(browser, ".tool.is-failed", "git_commit")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def the_inbox_decides(server):
    """What is asked anywhere is in one list with everything needed to decide; the next one follows by itself."""
    client = server.client()
    one, _ = asking(client, "Publish 2.4", id="publish", **APPROVAL)
    two, _ = asking(client, "Rotate keys", id="store", kind="question", text="Which key store?",
                    options=["vault", "file"], expires_in_ms=3600000)
    with Browser() as browser:
        sign_in(browser, server, "/inbox")
        until_text(browser, ".page-link", "Inbox 2")
        browser.until("document.querySelectorAll('.inbox-item').length === 2")
        until_text(browser, ".ask .ask-text", "Which key store?")
        until_text(browser, ".expiry", "expires in")
        three, _ = asking(client, "Third", id="third", kind="question", text="A later one?", options=["x"])
        browser.until("document.querySelectorAll('.inbox-item').length === 3")
        until_text(browser, ".ask .ask-text", "Which key store?")
        browser.press("1")
        until_text(browser, ".ask .ask-text", "A later one?")
        browser.press("1")
        until_text(browser, ".ask .ask-text", "Run npm publish?")
        until_text(browser, ".ask .risk", "high risk")
        until_text(browser, ".ask .code", "npm publish")
        until_text(browser, ".inbox-list", "answered: vault")
        browser.press("e")
        browser.fill(".ask-edit", '{"command": "npm publish --dry-run"}')
        browser.click("text=Allow with these arguments")
        until_text(browser, ".inbox-list", "allowed once")
        until_text(browser, ".ask-outcome", "allowed once")
        browser.away()
        browser.gone(".ask")
        no_complaints(browser)
    check.equal(answered(client, two, "store")["answer"], "vault", "what was shown was decided, not what came later")
    check.equal(answered(client, three, "third")["answer"], "x")
    check.equal(answered(client, one, "publish")["answer"], {"command": "npm publish --dry-run"})


@test(on=HERE, timeout_s=120)
def the_list_decides(server):
    """A row decides what it shows in full and stays until the pointer leaves; the rest is shown on its card first."""
    client = server.client()
    one, _ = asking(client, "One", id="one", **APPROVAL)
    two, _ = asking(client, "Two", id="two", **{**APPROVAL, "details": {}})
    with Browser() as browser:
        sign_in(browser, server)
        browser.until("document.querySelectorAll('.row-acts').length === 2")
        until_text(browser, ".row-second", "asks: Run npm publish?")
        check.equal(browser.evaluate("document.querySelector('.row:last-child').offsetHeight"), 44)
        browser.gone(".row:has-text('One') .row-acts button:has-text('Allow')")
        until_text(browser, ".row-call", "npm publish")
        browser.click(".row:has-text('Two') .row-acts button:has-text('Allow once')")
        until_text(browser, ".row-acts", "allowed once")
        browser.away()
        browser.until("document.querySelectorAll('.row-acts').length === 1")
        browser.goto(f"{server.address}/sessions?row={one['id']}")
        browser.see(".row.is-cursor .row-acts")
        browser.press("d")
        until_text(browser, ".peek .ask .code", "npm publish")
        browser.press("d")
        browser.fill(".ask-reason", "no")
        browser.press("Enter")
        browser.gone(".row-acts")
        no_complaints(browser)
    check.equal(answered(client, one, "one")["decision"], "deny")
    check.equal(answered(client, two, "two")["decision"], "once")


@test(on=HERE, timeout_s=120)
def a_form_is_filled_in(server):
    """A form from a schema: what is needed, numbers, choices; what is wrong is said before it is sent."""
    client = server.client()
    schema = {"type": "object", "required": ["name", "copies"], "properties": {
        "name": {"type": "string", "title": "Name of the release"},
        "copies": {"type": "integer", "minimum": 1},
        "channel": {"type": "string", "enum": ["stable", "next"]},
        "notify": {"type": "boolean", "default": True},
        "regions": {"type": "array", "items": {"type": "string", "enum": ["eu", "us"]}}}}
    session, _ = asking(client, "Release", id="form", kind="elicitation", text="Which release?", schema=schema)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.fill("[aria-label='Name of the release']", "2.4")
        browser.fill("[aria-label=copies]", "some")
        browser.click(".form button.primary")
        until_text(browser, ".form", "A whole number, please.")
        browser.fill("[aria-label=copies]", "3")
        browser.evaluate("(s => { s.value = '1'; s.dispatchEvent(new Event('change', {bubbles: true})) })"
                         "(document.querySelector('[aria-label=channel]'))")
        browser.click(".form-choices label:has-text('us')")
        browser.click(".form button.primary")
        until_text(browser, ".ask-line", "filled in")
        no_complaints(browser)
    check.equal(answered(client, session, "form")["answer"],
                {"name": "2.4", "copies": 3, "channel": "next", "notify": True, "regions": ["us"]})


@test(on=HERE, timeout_s=120)
def an_ask_decided_elsewhere_leaves(server):
    """Two people see the same ask; the second is told, nothing is decided twice."""
    client = server.client()
    session, _ = asking(client, "Publish", id="publish", **APPROVAL)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        client.post(f"/api/sessions/{session['id']}/asks/publish/answer", {"decision": "deny"}, expect=200)
        browser.gone(".ask")
        until_text(browser, ".ask-line", "denied")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def waiting_messages_are_led(server):
    """Messages wait in order; they are changed, moved by keys, made the next and withdrawn; steer interrupts."""
    client = server.client()
    session = scene.create(client, "Work", agent="worker", prompt="Begin.")
    agent = scene.Agent(client, "worker")
    agent.claim()
    waiting = f"/api/sessions/{session['id']}/queue"

    def texts():
        return [one["content"][0]["text"] for one in client.get(waiting, expect=200).json()["prompts"]]

    def until_rows(browser, wanted):
        browser.until("JSON.stringify([...document.querySelectorAll('.queue-text')].map((n) => n.textContent)) === "
                      f"'{wanted}'")

    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        for text in ("one", "two", "three"):
            browser.fill(".composer textarea", text)
            browser.press("Control+Enter")
            until_text(browser, ".queue", text)
        until_rows(browser, '["one","two","three"]')
        browser.evaluate("document.querySelector('.queue li:nth-child(3)').focus()")
        browser.press("Alt+ArrowUp")
        until_rows(browser, '["one","three","two"]')
        browser.click(".queue li:nth-child(3) [aria-label='Make it the next']")
        until_rows(browser, '["two","one","three"]')
        browser.click(".queue li:nth-child(2) [aria-label='Change']")
        browser.fill(".queue-edit textarea", "one, but better")
        browser.press("Control+Enter")
        until_rows(browser, '["two","one, but better","three"]')
        browser.click(".queue li:nth-child(1) [aria-label='Withdraw']")
        until_rows(browser, '["one, but better","three"]')
        check.equal(texts(), ["one, but better", "three"])
        browser.fill(".composer textarea", "now")
        browser.press("Control+Shift+Enter")
        until_text(browser, ".line", "Interrupted for another message")
        until_text(browser, ".queue li:nth-child(1)", "goes first")
        check.equal(texts(), ["now", "one, but better", "three"])
        browser.click("text=Withdraw all")
        browser.gone(".queue")
        browser.click(".notice:has-text('All messages') button:has-text('Undo')")
        until_text(browser, ".queue", "three")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_turn_is_interrupted(server):
    """A second Escape ends the running turn; the page says so, and the next message goes on."""
    client = server.client()
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        browser.press("Escape")
        until_text(browser, ".interrupt", "again to interrupt")
        browser.press("Escape")
        until_text(browser, ".line", "Turn interrupted")
        until_text(browser, ".ask-line", "no longer asked")
        until_text(browser, ".head .status", "Idle")
        browser.gone(".ask")
        browser.gone(".interrupt")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def standing_rules_are_revoked(server):
    """What was allowed always is not asked again, is listed, and is asked again once it is revoked."""
    client = server.client()
    session, agent = asking(client, "Publish", id="first", **APPROVAL)

    def state_of(ask_id):
        agent.ask(id=ask_id, **APPROVAL)
        return answered(client, session, ask_id)["state"]

    with Browser() as browser:
        sign_in(browser, server, "/rules")
        until_text(browser, ".empty", "No decision stands")
        browser.goto(f"{server.address}/sessions/{session['id']}")
        browser.see(".ask")
        browser.press("m")
        browser.see(".grant:nth-child(2)")
        browser.click(".grant:last-child button")
        browser.click(".grant-sure button:has-text('Allow any arguments')")
        browser.away()
        until_text(browser, ".ask-line", "always allowed by you")
        check.equal(state_of("second"), "answered", "the rule answers")
        until_text(browser, ".ask-line:nth-of-type(n+2)", "rule")
        browser.click(".page-link:has-text('Rules')")
        until_text(browser, ".rule", "run_command")
        until_text(browser, ".rule", "with any arguments")
        browser.click(".rule button:has-text('Revoke')")
        until_text(browser, ".empty", "No decision stands")
        no_complaints(browser)
    check.equal(state_of("third"), "pending", "nobody allows it any more")


@test(on=HERE, timeout_s=120)
def agents_and_their_versions(server):
    """The list, one agent with its definition, an older version, a new session with it."""
    client = server.client()
    for text in ("Be kind.", "Be brief."):
        client.post("/api/agents", {"id": "helper", "name": "Helper", "driver": "model", "provider": "anthropic",
                                    "model": "some-model", "system_prompt": text,
                                    "caps": {"cost_microcents_max": 50000000}}, expect=201)
    with Browser() as browser:
        sign_in(browser, server, "/agents")
        until_text(browser, ".agents", "Helper")
        until_text(browser, ".agents", "some-model")
        browser.click(".plain-row a:has-text('Helper')")
        until_text(browser, ".agent .markdown", "Be brief.")
        until_text(browser, ".agent-facts", "$0.50 a session")
        browser.click(".versions a:has-text('version 1')")
        until_text(browser, ".agent .markdown", "Be kind.")
        browser.until("location.search === '?version=1'")
        browser.reload()
        until_text(browser, ".agent .markdown", "Be kind.")
        browser.click(".agent button:has-text('New session')")
        browser.until("document.querySelector('dialog input[list]').value === 'helper'")
        no_complaints(browser)
        browser.goto(f"{server.address}/agents/nobody")
        until_text(browser, ".empty", "There is no such agent")


def offers(client, path):
    """Does the server have this route?"""
    return path in client.get("/api/openapi.json", expect=200).json()["paths"]


@test(on=HERE, timeout_s=120)
def a_session_is_explained(server):
    """The page says what a session waits for, and again when that is something else."""
    client = server.client()
    if not offers(client, "/api/sessions/{id}/explain"):
        raise Skip("the server does not explain sessions")
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        browser.click(".why button:has-text('Explain')")
        browser.until("['A person', 'A tool'].includes(document.querySelector('.explain strong')?.textContent)")
        browser.press("Escape")
        browser.gone(".explain")
        browser.see(".ask")
        browser.press("Escape")
        until_text(browser, ".interrupt", "again to interrupt")
        browser.press("Escape")
        browser.gone(".interrupt")
        browser.click(".why button:has-text('Explain')")
        until_text(browser, ".explain strong", "Your next message")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_session_is_stopped(server):
    """Stopping asks once and names what will be lost; then nothing is asked and nothing waits any more."""
    client = server.client()
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        client.post(f"/api/sessions/{session['id']}/messages", {"text": "later"}, expect=202)
        until_text(browser, ".queue", "later")
        browser.click("[title=More]")
        browser.click("text=Stop the session…")
        until_text(browser, "dialog", "1 queued message will be withdrawn")
        browser.click("dialog button.danger")
        browser.gone(".ask")
        until_text(browser, ".ask-line", "no longer asked")
        browser.gone(".interrupt")
        browser.gone(".queue")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_session_is_paused(server):
    """The button and the key p pause and let go on; the state is shown, and what waited begins."""
    client = server.client()
    session = scene.create(client, "Hold on", agent="demo", status="idle")
    path = f"/api/sessions/{session['id']}"
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, "button.pause", "Pause")
        browser.click("button.pause")
        until_text(browser, "button.pause", "Go on")
        browser.see("button.pause[aria-pressed=true]")
        check.equal(client.get(path).json()["pause_reason"], "manual")
        client.post(path + "/messages", {"text": "echo one"}, expect=202)
        until_text(browser, ".queue", "echo one")
        browser.press("p")
        until_text(browser, "button.pause", "Pause")
        browser.gone(".queue")
        check.eventually(lambda: client.get(path).json()["turn_count"] == 1, "what waited began", 30)
        browser.press("p")
        until_text(browser, "button.pause", "Go on")
        no_complaints(browser)


def crash(browser, server):
    """Kills the server; the caller starts it again at the same address."""
    server.port = int(server.address.rsplit(":", 1)[-1])
    server.kill()
    browser.see("[data-state=reconnecting]")


@test(on=HERE, timeout_s=180)
def an_ask_outlives_the_server(server):
    """The server dies while the agent asks: the page says that nothing was decided, and the ask is decided later."""
    client = server.client()
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        crash(browser, server)
        browser.click(".ask button:has-text('Allow once')")
        until_text(browser, ".ask .problem-line", "Nothing was decided.")
        server.start()
        until_text(browser, ".line", "Turn interrupted")
        browser.gone(".ask .problem-line")
        browser.click(".ask button:has-text('Allow once')")
        browser.away()
        until_text(browser, ".ask", "How shall the commit greet?")
        no_complaints(browser, LOST)


@test(on=HERE, timeout_s=180)
def a_turn_cut_by_a_crash_is_run_again(server):
    """The server dies while the agent writes; the page comes back by itself and offers to run the message again."""
    client = server.client()
    client.post("/api/agents", {"id": "cut", "driver": "demo"}, expect=201)
    session = scene.create(client, "Cut", agent="cut", prompt="echo")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".head .status", "Idle")
        browser.fill(".composer textarea", "echo once more")
        browser.press("Control+Enter")
        browser.see(".is-live")
        crash(browser, server)
        server.start()
        until_text(browser, ".line", "Turn aborted")
        browser.click(".why button:has-text('Run it again')")
        until_text(browser, ".message.from-agent", "echo once more")
        until_text(browser, ".head .status", "Idle")
        no_complaints(browser, LOST)


@test(on=HERE, timeout_s=180)
def asks_and_agents_are_readable_everywhere(server):
    """Cards, queue, agents and rules: contrast in light and dark, no sideways scrolling on a phone."""
    client = server.client()
    session, agent = asking(client, "Publish", id="publish", **APPROVAL)
    agent.use("e", "edit_file", {"path": "a.c", "old": "int a;", "new": "long a;"}, "edited")
    for text in ("one", "a longer one " * 20):
        client.post(f"/api/sessions/{session['id']}/messages", {"text": text}, expect=202)
    demo(client)
    pages = (("/inbox", ".ask"), (f"/sessions/{session['id']}", ".ask .risk"), ("/agents", ".agents"),
             ("/agents/demo", ".agent-definition"), ("/rules", ".empty"))
    with Browser() as browser:
        sign_in(browser, server)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for path, ready in pages:
                browser.goto(server.address + path)
                browser.see(ready)
                browser.evaluate("document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
                check.equal(browser.evaluate(CONTRAST), [], f"texts with too little contrast, {scheme}, {path}")
        browser.size(390, 780)
        for path, ready in pages:
            browser.goto(server.address + path)
            browser.see(ready)
            check.true(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{path} fits the phone")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def a_sandbox_sleeps_and_wakes(server):
    """The page says what the sandbox of a session does, puts it to sleep and wakes it."""
    client = server.client()
    client.post("/api/agents", {"id": "boxed", "driver": "demo", "sandbox": {"kind": "local"}}, expect=201)
    session = scene.create(client, "Boxed", agent="boxed", prompt="echo")
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".head .status", "Idle")
        until_text(browser, ".facts .sandbox", "running")
        browser.click("[title=More]")
        browser.click("text=Put its sandbox to sleep")
        until_text(browser, ".facts .sandbox", "hibernated")
        until_text(browser, ".why", "a message wakes it")
        browser.click("[title=More]")
        browser.click("text=Wake its sandbox")
        until_text(browser, ".facts .sandbox", "running")
        until_text(browser, ".line", "Sandbox running")
        no_complaints(browser)
