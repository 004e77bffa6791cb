"""docs/features.md: which requirement is met where, and which test shows it."""
import os
import re

from harness import check, test
from harness.server import ROOT
from harness.tree import read, report

ID = r"(?:S\d-\d{3}|[XC]-\d{2})"
ROW = re.compile(rf"^\|\s*({ID})\s*\|([^|]+)\|([^|]+)\|([^|]+)\|$")
KNOWN = re.compile(rf"^- ({ID}) (.+)$", re.M)
FILE = re.compile(r"`((?:src|tests|docs|web|tools|bench)/[\w./*-]+?)(?::\w+)?`")


def rows():
    """The lines of the document that begin a table row with an id."""
    return [line for line in read("docs/features.md").splitlines() if re.match(rf"^\|\s*`?{ID}", line)]


def well_formed():
    """The cells of every row that has the form."""
    return [[cell.strip() for cell in ROW.match(line).groups()] for line in rows() if ROW.match(line)]


@test
def test_every_row_has_the_form():
    report([line[:100] for line in rows() if not ROW.match(line)],
           "rows that are not | ID | what | `src/…` | `tests/…` |")


@test
def test_ids_are_known_and_stand_once():
    known = [found.group(1) for found in KNOWN.finditer(read("docs/features.md"))]
    check.true(known, "docs/features.md lists the requirements")
    check.equal(len(known), len(set(known)), "ids in the list are unique")
    used = [cells[0] for cells in well_formed()]
    report(sorted({id for id in used if id not in known}), "rows with an unknown id")
    report(sorted({id for id in used if used.count(id) > 1}), "ids with more than one row")


@test
def test_the_files_named_exist():
    problems = []
    for id, _, sources, tests in well_formed():
        named = FILE.findall(sources) + FILE.findall(tests)
        problems += [f"{id}: {path} does not exist" for path in named if not os.path.exists(os.path.join(ROOT, path))]
        if not any(path.startswith("tests/") for path in FILE.findall(tests)):
            problems.append(f"{id} names no test")
        if not FILE.findall(sources):
            problems.append(f"{id} names no source")
    report(problems, "rows of docs/features.md")


@test
def test_the_functions_named_exist():
    """A test may be named with its function: `tests/http/test_sessions.py:test_create`."""
    problems = []
    for line in rows():
        for path, function in re.findall(r"`((?:src|tests)/[\w./-]+):(\w+)`", line):
            full = os.path.join(ROOT, path)
            if os.path.isfile(full) and not re.search(rf"\b{function}\b", read(path)):
                problems.append(f"{line[2:8]}: {path} has no {function}")
    report(problems, "functions named in docs/features.md")
