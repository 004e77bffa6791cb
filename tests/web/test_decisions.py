"""What the page shows is what is decided: no press reaches another ask than the one that was seen, and nothing that is
decided about is cleaned, hidden or folded."""
import json
import unicodedata

from harness import check, test
from web import scene
from web.browser import Browser
from web.test_dashboard import HERE, no_complaints, sign_in, until_text
from web.test_turns import answered, asking

FRESH = "document.querySelector('[data-decides]:not([data-steady])')"
MANY = ["--sessions-per-user-max", "1000", "--asks-pending-max", "1000"]
CALL = {"kind": "approval", "tool": "run_command", "call_id": "c", "text": "Run a command?"}


def calls(client, count, **more):
    """So many sessions that ask for different calls; the newest last."""
    return [asking(client, f"Work {n}", id=f"ask{n}", **CALL, arguments={"command": f"make step-{n}"}, **more)[0]
            for n in range(count)]


def decided(client, sessions):
    """How many are not pending any more."""
    return sum(answered(client, one, f"ask{n}")["state"] != "pending" for n, one in enumerate(sessions))


@test(on=HERE, timeout_s=180)
def a_double_click_decides_one_thing(server):
    """On Home and in the list the row stays, marked, until the pointer leaves; what comes instead is not pressed."""
    client = server.client()
    sessions = calls(client, 4)
    with Browser() as browser:
        sign_in(browser, server, "/")
        for at, (path, row) in enumerate((("/", ".home-row"), ("/sessions", ".row"))):
            browser.away()
            browser.goto(server.address + path)
            browser.see(f"{row} .row-acts button[data-steady]")
            browser.twice(f"{row} .row-acts button:has-text('Allow once')")
            until_text(browser, f"{row} .row-acts", "allowed once")
            check.equal(decided(client, sessions), at + 1, "one, not two")
            rows = browser.count(f"{row} .row-acts")
            browser.away()
            browser.until(f"document.querySelectorAll('{row} .row-acts').length === {rows - 1}")
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def a_double_click_on_a_card_decides_one_thing(server):
    """In the inbox and the session the card stays; a key that is held down decides once."""
    client = server.client()
    sessions = calls(client, 4)
    with Browser() as browser:
        sign_in(browser, server, "/inbox")
        browser.see(".ask [data-decides][data-steady]")
        browser.twice(".ask button:has-text('Allow once')")
        until_text(browser, ".ask-outcome", "allowed once")
        check.equal(decided(client, sessions), 1)
        browser.away()
        browser.see(".ask [data-decides][data-steady]")
        browser.hold("a", 12)
        browser.until("document.querySelectorAll('.inbox-item').length === 4")
        until_text(browser, ".group", "Done 2")
        check.equal(decided(client, sessions), 2, "a held key decides once")
        browser.press("d")
        browser.see(".ask-reason")
        browser.strike("Enter")
        check.equal(decided(client, sessions), 2, "the form has just appeared")
        browser.press("Enter")
        until_text(browser, ".group", "Done 3")
        check.equal(decided(client, sessions), 3)
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def what_moves_under_the_pointer_is_not_pressed(server):
    """Something above the button goes away, and something that covered it: the next press is for what was there."""
    client = server.client()
    session, = calls(client, 1)
    allow = ".ask button:has-text('Allow once')"
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        browser.see(f"{allow}[data-steady]")
        browser.evaluate("document.querySelector('.ask').style.marginTop = '60px'")
        browser.hit(allow)
        check.equal(decided(client, [session]), 0, "it has just moved")
        browser.see(f"{allow}[data-steady]")
        browser.evaluate("(n => { n.id = 'cover'; n.style = 'position: fixed; inset: 0; z-index: 99';"
                         "document.body.append(n) })(document.createElement('div'))")
        browser.see(f"{allow}:not([data-steady])")
        browser.see(f"{allow}[data-steady]")
        browser.evaluate("document.getElementById('cover').remove()")
        browser.hit(allow)
        check.equal(decided(client, [session]), 0, "it has just been uncovered")
        browser.click(allow)
        until_text(browser, ".ask-outcome", "allowed once")
        check.equal(decided(client, [session]), 1)
        no_complaints(browser)


@test(on=HERE, timeout_s=180)
def what_is_not_shown_is_not_allowed_in_a_row(server):
    """High risk, long calls, hidden characters, unseen arguments and other details are allowed from the card only."""
    client = server.client()
    plain = {"command": "npm publish"}
    cases = [{"arguments": plain, "details": {"risk": "high"}}, {"arguments": plain, "details": {"risk": "critical"}},
             {"arguments": plain, "details": {"risk": "unheard of"}},
             {"arguments": plain, "details": {"preview": "rm -rf /"}},
             {"arguments": {"command": "x" * 200}}, {"arguments": {"command": "a\nb"}},
             {"arguments": {"command": "a\u202eb"}}, {"arguments": {}}, {}]
    for number, case in enumerate(cases):
        asking(client, f"Case {number}", id="ask", **CALL, **case)
    with Browser() as browser:
        sign_in(browser, server, "/")
        for path, row in (("/", ".home-row"), ("/sessions", ".row")):
            browser.goto(server.address + path)
            shown = min(8, len(cases)) if row == ".home-row" else len(cases)
            browser.until(f"document.querySelectorAll('{row} .row-acts').length === {shown}")
            browser.gone(f"{row} .row-acts button:has-text('Allow')")
            check.equal(browser.count(f"{row} .row-acts button:has-text('Review')"), shown)
        browser.click(".row:has-text('Case 1') .row-acts button:has-text('Review')")
        until_text(browser, ".peek .ask .risk", "critical risk")
        until_text(browser, ".peek .ask .code", "npm publish")
        browser.goto(server.address + "/")
        browser.click(".home-row:has-text('Case 8') .row-acts button:has-text('Review')")
        until_text(browser, ".inbox .ask", "allowed once only")
        browser.gone("text=Allow more")
        no_complaints(browser)


# For every call beside an "Allow": its text, and whether a finger on each corner of each of its lines would touch it.
SEEN_CALLS = """[...document.querySelectorAll('.row-call')].map((call) => {
  call.scrollIntoView({block: 'center'});
  const range = document.createRange();
  range.selectNodeContents(call);
  const touches = (x, y) => call.contains(document.elementFromPoint(x, y));
  const isSeen = [...range.getClientRects()].every((line) =>
    touches(line.left + 1, line.top + line.height / 2) && touches(line.right - 1, line.top + line.height / 2));
  return [call.textContent, isSeen];
})"""


@test(on=HERE, timeout_s=240)
def what_a_row_allows_is_seen_on_every_screen(server):
    """From a small phone to a desk: no width hides, cuts or covers the call beside its button."""
    client = server.client()
    wanted = ["rm -rf /srv/backups/2024-* my_file_name.txt", "make " + "word " * 29 + "end", "y" * 158]
    for number, value in enumerate(wanted):
        asking(client, f"S{number}", id="ask", **CALL, arguments={"command": value})
    with Browser() as browser:
        sign_in(browser, server, "/")
        for width in (320, 390, 599, 700, 768, 1024, 1280):
            browser.size(width, 844)
            for path, row in (("/", ".home-row"), ("/sessions", ".row"), ("/sessions?tab=needs_you", ".row")):
                browser.goto(server.address + path)
                browser.until(f"document.querySelectorAll('{row} .row-acts button[data-steady]').length >= 4")
                found = sorted(browser.evaluate(SEEN_CALLS))
                check.equal(found, sorted([one, True] for one in wanted), f"{path} at {width}")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def a_cut_call_is_not_allowed(server):
    """Should a style sheet cut the call again: the button beside it does nothing."""
    client = server.client()
    session, = calls(client, 1)
    allow = ".row-acts button:has-text('Allow once')"
    with Browser() as browser:
        sign_in(browser, server, "/sessions")
        browser.see(f"{allow}[data-steady]")
        for cut in ("maxHeight = '44px'", "opacity = '1'; row.querySelector('.row-call').style.position = 'fixed'; row.querySelector('.row-call').style.top = '-90px'"):
            browser.evaluate("document.querySelector('.row').removeAttribute('style')")
            browser.until(f"!{FRESH}")
            browser.evaluate(f"(row => {{ row.style.{cut} }})(document.querySelector('.row'))")
            browser.see(f"{allow}[data-steady]")
            browser.hit(allow)
            check.equal(decided(client, [session]), 0, cut)
            browser.evaluate("document.querySelector('.row-call').removeAttribute('style')")
        browser.evaluate("document.querySelector('.row').removeAttribute('style')")
        browser.click(allow)
        until_text(browser, ".row-acts", "allowed once")
        check.equal(decided(client, [session]), 1)
        no_complaints(browser)


# --- characters ---

def hidden(character):
    """Does it show nothing, or move what stands beside it?"""
    code = ord(character)
    ignorable = (code in (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0) or 0x180B <= code <= 0x180F
                 or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF)
    return (character != " " and unicodedata.category(character) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp", "Zs")
            or ignorable)


def escaped(text, one_line):
    """As the page shows it."""
    def one(character):
        if character == "\n":
            return "↵" if one_line else character
        if character == "\t" and not one_line:
            return character
        return f"⟨U+{ord(character):04X}⟩" if hidden(character) else character
    return "".join(map(one, text))


SINGLE = [chr(code) for code in (
    *range(1, 10), *range(11, 32), 0x7F, 0x85, 0xA0, 0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x2000, 0x2007, 0x200B, 0x200C,
    0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B, 0x202C, 0x202D, 0x202E, 0x202F, 0x2060, 0x2066, 0x2067,
    0x2068, 0x2069, 0x206A, 0x2800, 0x3000, 0x3164, 0xE000, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0xE0001, 0xE0041, 0xE01EF)]

HOSTILE = [
    "rm -rf /srv/backups/2024-* my_file_name.txt",
    "echo **bold** *it* __init__ `id` ~~no~~ [a](http://b.example) # not > a - title",
    "<b>x</b> <script>alert(1)</script> &amp; &lt; <!-- c -->",
    "  two  spaces \t tab  ", "# comment", "- item", "> out.txt", "1. first", "```sh\nrm -rf ~\n```",
    "safe\n\n\n\n\n\n\n\nrm -rf /", "a\\u202eb", "%s %n \\n ${HOME} $(id)", "שלום/אב /srv/גד", "日本語 🦊",
    "x" * 3000 + " && rm -rf / && " + "y" * 3000,
    "".join(f"a{one}b" for one in SINGLE)]


def texts(browser, selector):
    """Of all elements, character for character."""
    return browser.evaluate(f"[...document.querySelectorAll({json.dumps(selector)})].map((node) => node.textContent)")


@test(on=HERE, timeout_s=300, options=MANY)
def shown_commands_are_exact(server):
    """Whatever a command holds, the card, the transcript, its arguments and the raw view show it, escaped, whole."""
    client = server.client()
    agent_of = {}
    for number, value in enumerate(HOSTILE):
        session, agent = asking(client, f"S{number}", id="ask", **{**CALL, "text": value[:400]},
                                arguments={"command": value, "path": value[:90], value[:60].strip() or "name": "x"})
        agent.use("u", "run_command", {"command": value}, "done")
        agent_of[number] = session
    with Browser() as browser:
        sign_in(browser, server, "/")
        for number, value in enumerate(HOSTILE):
            browser.goto(f"{server.address}/sessions/{agent_of[number]['id']}")
            browser.see(".ask")
            browser.see(".tool")
            check.equal(texts(browser, ".ask .ask-text .exact"), [escaped(value[:400], False)], "the sentence")
            check.true(escaped(value, False) in texts(browser, ".ask .arguments .code pre code"), f"the command, whole: {value[:80]!r}")
            short = escaped(value[:90], False)
            check.true(short in texts(browser, ".ask .argument code"), f"the path: {value[:80]!r}")
            name = value[:60].strip() or "name"
            names = texts(browser, ".ask .argument-name") + texts(browser, ".ask .code-head > span")
            check.true(escaped(name, True) in names, f"the name of an argument: {name!r} {names}")
            gist, = texts(browser, ".tool-gist")
            if len(value) <= 160:
                check.equal(gist, escaped(value, True), "the row of the call")
            else:
                left = len(value) - 160
                check.true(f"… {left:,} more …" in gist, f"how much is left out: {gist}")
                check.true(gist.endswith(escaped(value[-20:], True)), f"its end: {gist}")
            browser.evaluate("document.querySelector('.tool').open = true")
            check.true(escaped(value, False) in texts(browser, ".tool .code pre code"), f"the opened call: {value[:80]!r}")
        no_complaints(browser)


@test(on=HERE, timeout_s=180, options=MANY)
def rows_show_calls_exactly(server):
    """Where a row lets allow, it shows the very command: nothing is stripped and spaces count."""
    client = server.client()
    short = [one for one in HOSTILE if len(one) <= 160 and not any(hidden(c) for c in one)]
    for number, value in enumerate(short):
        asking(client, f"S{number}", id="ask", **{**CALL, "text": value}, arguments={"command": value})
    with Browser() as browser:
        sign_in(browser, server, "/sessions")
        browser.until(f"document.querySelectorAll('.row-call').length === {len(short)}")
        check.equal(sorted(texts(browser, ".row-call")), sorted(short))
        check.equal(browser.style(".row-call .exact", "whiteSpace"), "break-spaces")
        check.equal(sorted(texts(browser, ".row-second .exact")), sorted(short))
        browser.goto(server.address + "/")
        browser.until("document.querySelectorAll('.home-row .row-call').length > 5")
        for one in texts(browser, ".home-row .row-call"):
            check.true(one in short, f"as it is: {one!r}")
        no_complaints(browser)


@test(on=HERE, timeout_s=120)
def the_reason_of_a_session_is_in_words(server):
    """What expired is said in a sentence, and no word of the vocabulary stands on the page."""
    client = server.client()
    session, _ = asking(client, "Old", id="ask", **CALL, arguments={"command": "make"}, expires_in_ms=1000)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{session['id']}")
        until_text(browser, ".why-text", "what it asked expired without an answer")
        check.true("ask_expired" not in browser.text("main"), "the code is not shown")
        no_complaints(browser)


# --- Escape ---

@test(on=HERE, timeout_s=180)
def escape_closes_the_topmost_thing(server):
    """A menu over an explanation over a side view: one press, one layer, and the turn goes on."""
    client = server.client()
    session, = calls(client, 1)
    path = f"/sessions/{session['id']}"
    with Browser() as browser:
        sign_in(browser, server, path + "?view=files")
        browser.see(".ask")
        browser.see(".side-view")
        browser.click(".why button:has-text('Explain')")
        browser.see(".explain")
        browser.press("m")
        browser.see(".grants")
        browser.click("[title=More]")
        browser.see(".menu-list")
        for gone, stays in ((".menu-list", ".grants"), (".grants", ".explain"), (".explain", ".side-view")):
            browser.press("Escape")
            browser.gone(gone)
            browser.see(stays)
        browser.hold("Escape", 10)
        browser.gone(".side-view")
        check.equal(client.get(f"/api{path}", expect=200).json()["status"], "awaiting_tool", "nothing is interrupted")
        browser.press("Escape")
        until_text(browser, ".interrupt", "again to interrupt")
        browser.until("!document.querySelector('.interrupt').textContent.includes('again')")
        check.equal(client.get(f"/api{path}", expect=200).json()["status"], "awaiting_tool", "the hint is over")
        browser.evaluate("document.querySelector('.composer textarea').focus()")
        browser.press("Escape")
        until_text(browser, ".notice", "Asked the agent to end its turn")
        no_complaints(browser)


# --- grants ---

@test(on=HERE, timeout_s=180)
def more_is_allowed_in_words(server):
    """What a decision allows is said in full, narrow ones first; only the wide ones ask again."""
    client = server.client()
    one, two = calls(client, 2)
    with Browser() as browser:
        sign_in(browser, server, f"/sessions/{one['id']}")
        browser.see(".ask")
        browser.press("m")
        shown = texts(browser, ".grant-text")
        check.true(len(shown) >= 2 and "session" in shown[0] and "all sessions" in shown[-1], f"{shown}")
        asks_again = [one.endswith("…") for one in texts(browser, ".grant button")]
        check.equal(asks_again, ["whatever" in one for one in shown], "the wide ones, and no other, ask again")
        browser.click(".grant:last-child button")
        until_text(browser, ".grant-sure", "Nobody will be asked")
        check.equal(decided(client, [one]), 0, "a wide one asks again")
        browser.press("Escape")
        browser.gone(".grant-sure")
        browser.click(".grant:nth-child(1) button")
        until_text(browser, ".ask-outcome", "allowed for the session")
        rule, = client.get("/api/rules", expect=200).json()["rules"]
        check.equal(rule["scope"], "session")
        check.equal(answered(client, two, "ask1")["state"], "pending")
        no_complaints(browser)
