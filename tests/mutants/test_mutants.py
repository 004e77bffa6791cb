"""Tests notice when a rule is changed: a fixed sample of what `make mutants` does."""
import hashlib
import importlib.util
import os
import subprocess
from importlib.machinery import SourceFileLoader

from harness import check, test
from harness.server import ROOT
from harness.tree import texts

TOOL = os.path.join(ROOT, "tools", "mutants")
# One for each room whose rules are tested by programs. A seed whose mutant has gone is replaced by one that is killed.
SAMPLE = (("src/domain", "1"), ("src/service", "6"), ("src/store", "1"))
TEXT = """/* a < b */
static enum status f(int a, int b)
{
    enum status status = STATUS_OK;
    if (a < b) {
        status = g(a);
        log_warn("x < y", a > b);
    }
    return a == 7 || status == KIND_ONE ? STATUS_OK : h(KIND_TWO);
}
"""


def tool():
    loader = SourceFileLoader("mutants", TOOL)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutants", loader))
    loader.exec_module(module)
    return module


def sources():
    digest = hashlib.sha256()
    for path, text in texts(".c", ".h"):
        digest.update(f"{path}\0{text}\0".encode())
    return digest.hexdigest()


@test
def rules_are_changed_and_nothing_else():
    found = [(TEXT[one.start:one.end], one.text, one.kind) for one in tool().mutants_of("f.c", TEXT)]
    for expected in (("a < b", "!(a < b)", "condition negated"), ("<", "<=", "comparison"), ("==", "!=", "comparison"),
                     ("||", "&&", "and/or"), ("status = g(a);", ";", "statement dropped"),
                     ("", "    return STATUS_OK;\n", "early success"), ("7", "8", "off by one"),
                     ("KIND_ONE", "KIND_TWO", "another value"), ("KIND_TWO", "KIND_ONE", "another value")):
        check.true(expected in found, f"{expected} is among {found}")
    check.equal(sum(one[0] == "<" for one in found), 1, "comparisons outside comments and texts")
    check.equal(sum(one[0] == ">" for one in found), 0, "comparisons in lines of the log")


@test
def the_draw_repeats_itself():
    module = tool()
    first, again, other = (list(module.ranked(seed, "f.c", TEXT)) for seed in ("1", "1", "2"))
    check.equal(first, again, "the draw of one seed")
    check.true(sorted(first)[0][0] != sorted(other)[0][0], "another seed draws otherwise")
    moved = "\n\n" + TEXT
    check.equal(sorted(place for place, _, _ in module.ranked("1", "f.c", moved)), sorted(place for place, _, _ in first),
                "places in the draw after lines were added above")


@test(timeout_s=60)
def a_sample_is_noticed(program):
    check.true(os.path.exists(program), "the program is built")
    before = sources()
    for room, seed in SAMPLE:
        result = subprocess.run([TOOL, "--programs", "--seed", seed, "--count", "1", room], capture_output=True, text=True,
                                check=False)
        print(result.stdout)
        check.equal(result.returncode, 0, f"survivors in {room}: {result.stdout}{result.stderr}")
    check.equal(sources(), before, "the sources afterwards")
