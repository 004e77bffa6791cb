"""Searches know no case, in any script, and say the same on both engines."""
import importlib.util
import os
import sys
import unicodedata
from urllib.parse import quote

from harness import check, test
from harness.postgres import database_name
from harness.people import session
from harness.server import ROOT
from harness.tree import read

# What is kept, what is asked for, and whether it is found.
PAIRS = (("Viele GRÜßE", "grüße", True), ("viele grüße", "GRÜßE", True), ("GRÜSSE", "grüße", False),
         ("ΣΊΣΥΦΟΣ", "σίσυφος", True), ("σίσυφος", "ΣΊΣΥΦΟΣ", True), ("ο Σίσυφος πάει", "ΣΊΣΥΦΟΣ Π", True),
         ("Привет, ЁЖИК", "ёжик", True), ("привет, ёжик", "ПРИВЕТ, Ё", True), ("İSTANBUL", "istanbul", True),
         ("Ārija ČAKSTE", "āRIJA čakste", True), ("𐐀𐐁", "𐐨𐐩", True), ("100% sure_thing\\", "% SURE_THING\\", True),
         ("100 pure", "% pure", False), ("漢字カナ", "字カ", True), ("résumé", "RESUME", False), ("ǅungla", "Ǆ", True))


def tool():
    """tools/caseless_table.py as a module."""
    spec = importlib.util.spec_from_file_location("caseless_table", os.path.join(ROOT, "tools", "caseless_table.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@test
def sessions_by_title_and_preview(server):
    """A text in the title or the preview."""
    client = server.client()
    for number, (kept, asked, found) in enumerate(PAIRS):
        titled = session(client, id=f"title:{number}", title=kept, workspace=f"t{number}")
        spoken = session(client, id=f"preview:{number}", workspace=f"t{number}")
        client.post(spoken + "/events", {"events": [{"type": "user.message", "role": "user",
                                                     "content": [{"type": "text", "text": kept}]}]}, expect=201)
        check.equal(client.get(titled).json()["title"], kept)
        listed = client.get(f"/api/sessions?workspace=t{number}&q={quote(asked)}", expect=200).json()["sessions"]
        check.equal(sorted(one["id"] for one in listed), [f"preview:{number}", f"title:{number}"] if found else [],
                    f"{asked} in {kept}")


@test
def sessions_by_workspace_and_branch(server):
    """C-28: where work happens is found like what it is called."""
    client = server.client()
    session(client, id="a", workspace="Acme/Web")
    session(client, id="b", title="other")
    branch = session(client, id="c")
    client.patch(branch, {"details": {"branch_name": "fix/Login-Flake"}}, expect=200)
    nested = session(client, id="d")
    client.patch(nested, {"details": {"git_state": {"branch": "topic/Übersicht"}}}, expect=200)
    for asked, found in (("acme/web", ["a"]), ("login-flake", ["c"]), ("ÜBERSICHT", ["d"]), ("branch_name", []),
                         ("git_state", []), ("fix/%", [])):
        listed = client.get(f"/api/sessions?q={quote(asked)}", expect=200).json()["sessions"]
        check.equal(sorted(one["id"] for one in listed), found, asked)


@test
def entities_by_field(server):
    """The same in ids, types and fields of entities."""
    client = server.client()
    for number, (kept, asked, found) in enumerate(PAIRS):
        client.post("/api/entities", {"id": f"e{number}", "type": f"t{number}", "fields": {"name": [kept]}}, expect=201)
        listed = client.get(f"/api/entities?type=t{number}&q={quote(asked)}", expect=200).json()["entities"]
        check.equal([one["id"] for one in listed], [f"e{number}"] if found else [], f"{asked} in {kept}")


@test(on=("postgres",))
def both_engines_fold_alike(env):
    """Every letter of every script: what PostgreSQL makes of it is what the table of the program says."""
    server, folded = env.server(), dict(tool().letters())
    text = 'replace(lower(replace(chr(n), \'İ\', \'i\') COLLATE "und-x-icu"), \'ς\', \'σ\')'
    check.contains(read("src/store/sql/session_list.sql"), text.replace("chr(n)", "s.title"))
    rows = env.cluster().sql(f"select n, {text} from generate_series(128, {sys.maxunicode}) as n "
                             "where n not between 55296 and 57343 and " + text + " <> chr(n)",
                             database_name(server.database))
    known = {int(n): other for n, other in rows if unicodedata.category(chr(int(n))) != "Cn"}
    check.equal({n: other for n, other in known.items() if chr(folded.get(n, n)) != other}, {}, "only in PostgreSQL")
    check.equal([n for n in folded if n not in known], [], "only in the table")


@test
def the_table_is_what_its_tool_writes():
    """tools/caseless_table.py writes src/base/caseless_table.h, as far as it knows the same letters."""
    written = tool().header()
    known = f"Unicode {unicodedata.unidata_version.split('.')[0]}."
    if known in read("src/base/caseless_table.h"):
        check.true(written == read("src/base/caseless_table.h"), "src/base/caseless_table.h is what tools/caseless_table.py writes")
