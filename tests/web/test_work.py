"""Tasks, entities and the runs between them in a real browser."""
import re

from harness import check, test
from web import scene
from web.browser import Browser
from web.test_dashboard import HERE, no_complaints, sign_in, until_text

MISSING = ("console: Failed to load resource: the server responded with a status of 404",)
REFUSED = ("console: Failed to load resource: the server responded with a status of 4",)


def until_field(browser, name, value):
    """Waits until a field of the entity shows this."""
    until_text(browser, f"[data-field={name}] dd", value)


def until_mark(browser, step, word):
    """Waits until a step of the picture is in this state."""
    browser.see(f"[data-step={step}][aria-label$=', {word}']")


@test(on=HERE, timeout_s=120)
def the_first_task(server):
    """An empty page shows the first command and does the same with a button; then it is there."""
    with Browser() as browser:
        sign_in(browser, server, "/tasks")
        until_text(browser, ".empty h1", "No task is configured")
        until_text(browser, ".empty .command code", "/api/tasks")
        browser.click("text=Make this one")
        until_text(browser, ".plain h1", "Say hello")
        browser.until("location.pathname === '/tasks/say-hello'")
        browser.see("[data-step=review]")
        until_text(browser, ".plain", "It never ran")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def a_task_is_run(server):
    """The picture shows what waits for what; a run is started by key, its steps move in the picture while one looks."""
    client = server.client()
    scene.configured(client)
    with Browser() as browser:
        sign_in(browser, server, "/tasks")
        until_text(browser, ".plain-row", "Answer a ticket")
        until_text(browser, ".plain-row", "4 steps")
        browser.press("j")
        browser.press("Enter")
        browser.until("location.pathname === '/tasks/answer-ticket'")
        browser.until("document.querySelectorAll('.step-box').length === 4")
        check.equal(browser.count(".step-line"), 3)
        check.true(browser.evaluate("document.querySelector('[data-step=write]').getBoundingClientRect().left > "
                                    "document.querySelector('[data-step=research]').getBoundingClientRect().right"),
                   "what waits stands to the right of what it waits for")
        browser.press("r")
        browser.fill("input[name=entity]", "nothing-like-this")
        browser.fill("textarea[name=input]", "[1]")
        browser.click("dialog button.primary")
        until_text(browser, "dialog [role=alert]", "must be a JSON object")
        browser.fill("textarea[name=input]", '{"topic": "bees"}')
        browser.click("dialog button.primary")
        until_text(browser, "dialog [role=alert]", "names no entity")
        browser.fill("input[name=entity]", "ticket-7")
        browser.click("dialog button.primary")
        browser.until("location.search === '?view=tree'")
        browser.until("document.querySelectorAll('.tree .tree .tree-row').length === 4")
        check.equal([re.sub(r".*: ", "", one) for one in browser.texts(".tree .tree .tree-title")],
                    [step["name"] for step in scene.CHAIN], "in the order of the task")
        until_mark(browser, "research", "Queued")
        scene.settled(client, "support", result={"text": "written"})
        until_mark(browser, "customer", "Completed")
        until_text(browser, ".tree-row", "Completed")
        browser.goto(server.address + "/tasks/answer-ticket")
        until_mark(browser, "customer", "Completed")
        until_text(browser, ".run-row", "1 of 4 steps")
        until_text(browser, ".run-row .chip", "ticket-7")
        scene.started(client)
        browser.until("document.querySelectorAll('.run-row').length === 2")
        until_mark(browser, "customer", "Queued")
        browser.click(".run-row:nth-child(2) .run-pick")
        until_mark(browser, "customer", "Completed")
        browser.until("location.search.startsWith('?run=')")
        browser.reload()
        until_mark(browser, "customer", "Completed")
        no_complaints(browser, REFUSED)


@test(on=HERE, timeout_s=180)
def an_output_is_approved(server):
    """Staged fields are shown as fields; edited with their types, refused with a reason that stays, then kept."""
    client = server.client()
    scene.configured(client)
    run = scene.started(client)
    scene.settled(client, "researcher", result={"summary": "It is the clock.", "score": 3})
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{run['research']}")
        until_text(browser, ".ask-kind", "brought an output")
        until_text(browser, ".staged .field", "It is the clock.")
        check.true("staged_output" not in browser.text(".ask"), "nothing is shown twice")
        browser.press("e")
        browser.fill(".ask [aria-label=score]", "many")
        browser.click(".ask button.primary")
        until_text(browser, ".ask [role=alert]", "score was a number")
        browser.fill(".ask [aria-label=score]", "3.5")
        browser.click(".ask button.primary")
        until_text(browser, ".ask [role=alert]", "Nothing was decided.")
        check.equal(browser.evaluate("document.querySelector('.ask [aria-label=score]').value"), "3.5")
        browser.fill(".ask [aria-label=score]", "5")
        browser.fill(".ask [aria-label=summary]", "It is the clock of the server.")
        browser.click(".ask button.primary")
        browser.gone(".ask")
        until_text(browser, ".ask-line", "kept with changes by you")
        until_text(browser, ".line", "Filled in summary, score of ticket-7")
        until_text(browser, ".head .status", "Completed")
        no_complaints(browser, REFUSED)
    fields = client.get("/api/entities/ticket-7", expect=200).json()["fields"]
    check.contains(fields, {"summary": "It is the clock of the server.", "score": 5})


@test(on=HERE, timeout_s=120)
def an_output_is_rejected_from_the_inbox(server):
    """Home and the inbox name it; nothing there keeps an output without showing it."""
    client = server.client()
    scene.configured(client)
    run = scene.started(client)
    scene.settled(client, "researcher", result={"summary": "Wrong.", "score": 1})
    with Browser() as browser:
        sign_in(browser, server, "/")
        until_text(browser, "[aria-label='Needs you'] .home-row", "May the output of Look into it be kept?")
        check.equal(browser.count(".row-acts"), 0)
        browser.click("[aria-label='Needs you'] .home-row a")
        until_text(browser, ".inbox .staged", "Wrong.")
        browser.press("d")
        browser.fill(".ask-reason", "Look again.")
        browser.press("Enter")
        until_text(browser, ".inbox-list", "rejected: Look again.")
        no_complaints(browser)
    failed = client.get(f"/api/sessions/{run['research']}", expect=200).json()
    check.equal((failed["status"], failed["error"]["message"]), ("failed", "Look again."))


@test(on=HERE, timeout_s=180)
def entities_are_found(server):
    """By type, by text in their fields, by keyboard; a new one is made; what is chosen stands in the address."""
    client = server.client()
    with Browser() as browser:
        sign_in(browser, server, "/entities")
        until_text(browser, ".empty h1", "There is nothing to work on")
        until_text(browser, ".empty .command code", "ticket-1")
        scene.configured(client)
        browser.reload()
        browser.until("document.querySelectorAll('.plain-row').length === 3")
        until_text(browser, ".group", "customer")
        browser.click(".plain-tools .tabs button:has-text('ticket')")
        browser.until("document.querySelectorAll('.plain-row').length === 2")
        browser.press("/")
        browser.fill(".entity-search", "NIGHT")
        browser.until("document.querySelectorAll('.plain-row').length === 1")
        browser.until("location.search === '?type=ticket&q=NIGHT'")
        browser.reload()
        browser.until("document.querySelectorAll('.plain-row').length === 1")
        browser.fill(".entity-search", "nothing like it")
        until_text(browser, ".nothing-found", "Nothing found")
        browser.press("Escape")
        browser.press("n")
        browser.fill("dialog input[name=type]", "page")
        browser.fill("dialog input[name=id]", "acme")
        browser.click("dialog button.primary")
        until_text(browser, "dialog [role=alert]", "with this id already")
        browser.fill("dialog input[name=id]", "front")
        browser.click("dialog button.primary")
        browser.until("location.pathname === '/entities/front'")
        until_text(browser, ".plain", "Nothing is known of it yet")
        until_text(browser, ".plain", "Nothing ran for it yet")
        browser.goto(server.address + "/entities/none")
        until_text(browser, ".empty h1", "There is no such entity")
        no_complaints(browser, REFUSED)


@test(on=HERE, timeout_s=180)
def entities_are_found_that_are_not_shown(server):
    """The server searches: also behind what a page shows, as soon as the typing pauses, and live."""
    client = server.client()
    for number in range(1040):
        client.post("/api/entities", {"id": f"e-{number:04}", "type": "ticket" if number % 2 else "page",
                                      "fields": {"title": f"number {number}"}}, expect=201)
    with Browser() as browser:
        sign_in(browser, server, "/entities")
        until_text(browser, ".plain h1", "1000+")
        until_text(browser, ".plain", "There are more")
        browser.fill(".entity-search", "NUMBER 1037")
        browser.until("document.querySelectorAll('.plain-row').length === 1")
        until_text(browser, ".plain-row .row-title", "number 1037")
        browser.click(".plain-tools .tabs button:has-text('page')")
        until_text(browser, ".nothing-found", "Nothing found")
        client.post("/api/entities", {"id": "z", "type": "page", "fields": {"title": "number 1037 again"}}, expect=201)
        browser.until("location.search === '?type=page&q=NUMBER+1037'")
        browser.reload()
        until_text(browser, ".plain-row .row-title", "number 1037 again")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def an_entity_is_changed(server):
    """Fields keep their types; removal can be undone; a change that comes too late is told, and nothing is lost."""
    client = server.client()
    scene.configured(client)
    with Browser() as browser:
        sign_in(browser, server, "/entities/ticket-7")
        until_field(browser, "title", "Login fails at night")
        browser.click("[data-field=priority] .field-value")
        browser.fill("[aria-label=priority]", "high")
        browser.click(".field-edit .primary")
        until_text(browser, ".field-edit [role=alert]", "not JSON")
        browser.fill("[aria-label=priority]", "1")
        browser.click(".field-edit .primary")
        until_field(browser, "priority", "1")
        until_text(browser, ".plain header", "version 2, changed by you")
        browser.click("[data-field=title] .field-value")
        browser.fill("[aria-label=title]", "Login fails")
        client.patch("/api/entities/ticket-7", {"fields": {"title": "Login is slow"}}, expect=200)
        browser.click(".field-edit .primary")
        until_text(browser, ".conflict", "Not saved")
        until_text(browser, ".conflict pre", "Login is slow")
        check.equal(browser.evaluate("document.querySelector('[aria-label=title]').value"), "Login fails")
        browser.click("text=Put mine in its place")
        until_field(browser, "title", "Login fails")
        browser.gone(".conflict")
        browser.click("[aria-label='Remove priority']")
        browser.gone("[data-field=priority]")
        browser.click(".notice button:has-text('Undo')")
        until_field(browser, "priority", "1")
        browser.fill("[aria-label='Name of a new field']", "owner")
        browser.press("Enter")
        browser.fill("textarea[aria-label=owner]", "Ada")
        browser.press("Control+Enter")
        until_field(browser, "owner", "Ada")
        no_complaints(browser, REFUSED)
    check.equal(client.get("/api/entities/ticket-7").json()["fields"], {"title": "Login fails", "priority": 1, "owner": "Ada"})


@test(on=HERE, timeout_s=180)
def work_fills_an_entity_while_one_looks(server):
    """What ran for it, a task started from it, fields that agents fill, and what is removed."""
    client = server.client()
    scene.configured(client, [{"id": "main", "agent": "writer", "output": {"fields": {"answer": "string"}}}])
    with Browser() as browser:
        sign_in(browser, server, "/entities/ticket-7")
        until_text(browser, ".plain", "Nothing ran for it yet")
        browser.press("r")
        browser.see("dialog select")
        browser.until("document.querySelectorAll('dialog select option').length === 2")
        browser.evaluate("(s => { s.value = 'answer-ticket'; s.dispatchEvent(new Event('change', {bubbles: true})) })"
                         "(document.querySelector('dialog select'))")
        check.equal(browser.evaluate("document.querySelector('dialog input[name=entity]').value"), "ticket-7")
        browser.click("dialog button.primary")
        until_text(browser, ".facts", "about ticket-7")
        browser.click(".facts a:has-text('about')")
        until_text(browser, ".ran .plain-row", "Answer a ticket")
        until_text(browser, ".ran .plain-row", "Queued")
        scene.settled(client, "writer", result={"answer": "Sleep well."})
        until_field(browser, "answer", "Sleep well.")
        until_text(browser, ".ran .plain-row", "Completed")
        browser.click(".actions .menu > button")
        browser.click("text=Remove…")
        until_text(browser, "dialog", "Its fields are lost")
        browser.click("dialog button.danger")
        browser.until("location.pathname === '/entities'")
        browser.until("document.querySelectorAll('.plain-row').length === 2")
        no_complaints(browser, MISSING)
    client.get("/api/entities/ticket-7", expect=404)
