"""Turns in a real browser: what an agent asks, what waits for it, and how people lead it."""
from harness import check, test
from web import scene
from web.browser import Browser
from web.test_dashboard import HERE, no_complaints, sign_in, until_text


def demo(client, title="Show me", prompt="Hello"):
    """A session of the scripted agent inside the server; its first turn asks."""
    return scene.create(client, title, agent="demo", prompt=prompt)


def asking(client, title, **ask):
    """A session whose worker asks something; returns it and its agent."""
    session = scene.create(client, title, agent="worker", prompt="Begin.")
    agent = scene.Agent(client, "worker")
    agent.claim()
    client.post(agent.path + "/asks", ask, headers=agent.headers, expect=201)
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
        browser.press("1")
        until_text(browser, ".ask .ask-text", "Run npm publish?")
        until_text(browser, ".ask .risk", "high risk")
        until_text(browser, ".ask .code", "npm publish")
        until_text(browser, ".inbox-list", "answered: vault")
        browser.press("e")
        browser.fill(".ask-edit", '{"command": "npm publish --dry-run"}')
        browser.click("text=Allow with these arguments")
        until_text(browser, ".inbox-list", "allowed once")
        browser.gone(".ask")
        no_complaints(browser)
    check.equal(answered(client, two, "store")["answer"], "vault")
    check.equal(answered(client, one, "publish")["answer"], {"command": "npm publish --dry-run"})


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
    """Escape ends the running turn; the page says so, and the next message goes on."""
    client = server.client()
    session = demo(client)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(".ask")
        browser.press("Escape")
        until_text(browser, ".line", "Turn interrupted")
        until_text(browser, ".ask-line", "no longer asked")
        until_text(browser, ".head .status", "Idle")
        browser.gone(".ask")
        browser.gone(".interrupt")
        no_complaints(browser)
