"""What is said, as people read it; and how the pages are read without eyes."""
import os
import re

from harness import check, test
from harness.server import ROOT
from web import scene
from web.browser import Browser
from web.test_dashboard import HERE, no_complaints, sign_in, until_text

REPORT = """# Report

| test | runs | note |
|:-----|-----:|------|
| login | 2,000 | fixed by `session.c` |
| logout | 500 | a \\| pipe |

1. First
   - inside
     - deeper
2. Second

- [x] done

~~old~~

```python
# a comment
def f(x):
    return "text" + str(42)
```

```diff
-old line
+new line
```"""


def said(client, title, text):
    """A session in which an agent said this; returns its path."""
    agent = scene.Agent(client, "writer")
    scene.create(client, title, agent="writer", prompt="Write it.")
    agent.claim()
    agent.say(text)
    return agent


@test(on=HERE)
def a_report_is_read(server):
    """Tables, lists in lists, code in colours, changes as changes."""
    agent = said(server.client(), "Report", REPORT)
    agent.use("c", "read_file", {"path": "src/a.c"}, "/* why */\nreturn 1;")
    with Browser() as browser:
        sign_in(browser, server, agent.path.replace("/api", ""))
        browser.see(".markdown table")
        check.equal(browser.texts(".markdown th"), ["test", "runs", "note"])
        check.equal(browser.texts(".markdown td"), ["login", "2,000", "fixed by session.c", "logout", "500", "a | pipe"])
        check.equal(browser.style(".markdown td:nth-child(2)", "textAlign"), "end")
        check.equal(browser.texts(".markdown ol > li > ul > li > ul > li"), ["deeper"])
        check.equal(browser.count(".markdown ol > li"), 2)
        until_text(browser, ".markdown li", "☑ done")
        check.equal(browser.texts(".markdown del"), ["old"])
        check.equal(browser.texts(".markdown .code-comment"), ["# a comment"])
        check.equal(browser.texts(".markdown .code-word"), ["def", "return"])
        check.equal(browser.texts(".markdown .code-text"), ['"text"'])
        check.equal(browser.texts(".diff-in"), ["+new line\n"])
        browser.click(".tool summary")
        until_text(browser, ".tool .code-comment", "/* why */")
        no_complaints(browser)


@test(on=HERE)
def text_runs_its_own_way(server):
    """Words that are read from right to left begin there; what is cut off is their end."""
    agent = said(server.client(), "אבטחת ההתחברות של כל המשתמשים " * 5, "مرحبا! English inside.")
    with Browser() as browser:
        sign_in(browser, server, "/sessions")
        browser.see(".row-title")
        check.equal(browser.style(".row-title", "direction"), "rtl")
        browser.goto(server.address + agent.path.replace("/api", ""))
        browser.see(".from-agent p")
        check.equal(browser.style(".from-agent p", "direction"), "rtl")
        check.equal(browser.style(".from-you p", "direction"), "ltr")
        no_complaints(browser)


@test(on=HERE)
def states_are_told_once(server):
    """What a session asks stands in its head; a word is not said twice."""
    client = server.client()
    agent = said(client, "Publish", "Ready.")
    agent.ask(kind="approval", tool="shell", call_id="c", text="Run npm publish", arguments={"command": "npm publish"})
    done = said(client, "Done", "Yes.")
    done.settle("completed")
    scene.create(client, None, agent="demo", prompt="hi")
    with Browser() as browser:
        sign_in(browser, server, agent.path.replace("/api", ""))
        until_text(browser, ".head .reason", "asks: Run npm publish")
        browser.goto(server.address + "/sessions")
        until_text(browser, ".row-title", "Conversation with demo")
        browser.goto(server.address + done.path.replace("/api", ""))
        until_text(browser, ".head .status", "Completed")
        check.equal(browser.count(".head .reason"), 0)
        browser.click(".why button:has-text('Explain')")
        until_text(browser, ".explain", "Goes on by reopening it, or your next message")
        browser.click(".head .menu > button")
        check.equal(browser.evaluate("document.activeElement.getAttribute('role')"), "menuitem")
        first = browser.evaluate("document.activeElement.textContent")
        browser.press("ArrowDown")
        check.true(browser.evaluate("document.activeElement.textContent") != first, "the arrow moves")
        browser.press("Escape")
        browser.gone(".menu-list")
        check.equal(browser.evaluate("document.activeElement.title"), "More")
        browser.goto(server.address + "/nowhere/at/all")
        until_text(browser, ".empty", "There is nothing here")
        no_complaints(browser, ("console: Failed to load resource: the server responded with a status of 404",))


@test
def every_event_of_the_server_has_words():
    """A type the server writes is told by lines.ts, or drawn by transcript.ts; nobody reads names of types."""
    with open(os.path.join(ROOT, "src", "domain", "event_kind.h"), encoding="utf-8") as file:
        types = re.findall(r'KIND\(\w+, "([a-z_.]+)", WRITERS_SERVER,', file.read())
    check.true(len(types) > 50, "the table is read")
    told = ""
    for name in ("lines.ts", "transcript.ts"):
        with open(os.path.join(ROOT, "web", "src", "state", name), encoding="utf-8") as file:
            told += file.read()
    check.equal([one for one in types if f"'{one}'" not in told], [], "types without words")


# What a screen reader would say of each thing that can be used; those without a name.
NAMELESS = """[...document.querySelectorAll('button, a[href], input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')]
  .filter((node) => node.checkVisibility() && !node.closest('[aria-hidden=true]'))
  .filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim() || node.title || node.labels?.length))
  .map((node) => node.outerHTML.slice(0, 120))"""
ROWS_CHOSEN = """[...document.querySelectorAll('[aria-selected]')]
  .filter((node) => !['tab', 'option', 'row'].includes(node.getAttribute('role'))).map((node) => node.outerHTML.slice(0, 120))"""
SKIPPED = """[...document.querySelectorAll('main h1, main h2, main h3, main h4')].filter((node) => !node.closest('.markdown'))
  .map((node) => Number(node.tagName[1])).filter((level, at, all) => at > 0 && level > all[at - 1] + 1)"""


@test(on=HERE, timeout_s=240)
def pages_are_read_aloud(server):
    """Everything that can be used has a name, every page a heading, and headings skip no level."""
    client = server.client()
    scene.configured(client)
    scene.started(client)
    agent = said(client, "Report", REPORT)
    agent.ask(kind="approval", tool="shell", call_id="c", text="Run it", arguments={"command": "npm publish"})
    session = agent.path.replace("/api", "")
    with Browser() as browser:
        sign_in(browser, server, "/")
        for path, shown in (("/", ".home-row"), ("/sessions", ".row"), ("/inbox", ".ask"), ("/today", ".home-row"),
                            ("/tasks", ".plain-row"), ("/tasks/answer-ticket", ".steps"), ("/entities", ".plain-row"),
                            ("/entities/ticket-7", ".field"), ("/agents", ".plain-row"), ("/agents/demo", ".code"),
                            ("/settings", ".users"), (session, ".ask"), (session + "?view=files", ".side-view"),
                            (session + "?view=people", ".side-view"), (session + "?view=raw", ".side-view")):
            browser.goto(server.address + path)
            browser.see(shown)
            check.equal(browser.evaluate(NAMELESS), [], f"without a name on {path}")
            check.equal(browser.evaluate(ROWS_CHOSEN), [], f"chosen, but no choice, on {path}")
            check.equal(browser.count("h1"), 1, f"first headings of {path}")
            check.equal(browser.evaluate(SKIPPED), [], f"levels that are skipped on {path}")
        no_complaints(browser)
