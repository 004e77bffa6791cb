"""Tables in the sources that a tool writes."""
import importlib.util
import os
import re
import unicodedata

from harness import check, test
from harness.server import ROOT
from harness.tree import read, report, texts, tracked_files

TYPES = "web/src/types.ts"


def program(name):
    """A program of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(ROOT, "tools", f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@test
def test_the_table_of_glyphs_is_what_its_tool_writes():
    """Where Python knows the same characters as when it was written."""
    tool = program("glyph_table")
    with open(os.path.join(ROOT, "src", "cli", "glyph_table.h"), encoding="utf-8") as file:
        kept = file.read()
    if f"Unicode {unicodedata.unidata_version.split('.')[0]}." in kept:
        check.true(kept == tool.header(), "src/cli/glyph_table.h is what tools/glyph_table.py writes")


@test
def test_the_dashboard_has_no_vocabulary_of_its_own():
    """Words of the server stand in web/src/types.ts, which tools/web_types.py writes; elsewhere they are used by name."""
    unions = re.compile(r"'\w+'(?:\s*\|\s*'\w+'){2,}")
    words = [set(re.findall(r"'([\w.]+)'", one)) for one in re.findall(r"export type \w+ =([^;]+);", read(TYPES))]
    check.true(len(words) > 20, "vocabularies of the server")
    problems = []
    for path, text in texts(".ts", ".tsx"):
        if path.startswith("web/src/") and path != TYPES:
            problems += [f"{path}: {union}" for union in unions.findall(text)
                         if any(set(re.findall(r"\w+", union)) <= one for one in words)]
    report(problems, "copies of a vocabulary")


@test
def test_the_document_of_tools_is_what_its_tool_writes():
    """And what a tool takes stands in its file only."""
    tool = program("tools_to_c")
    tools = tool.read([path for path in tracked_files() if path.startswith("src/domain/tools/")])
    check.true(len(tools) > 20, "tools in src/domain/tools")
    check.true(read("docs/tools.md") == tool.document(tools), "docs/tools.md is of these files (make docs writes it)")
    report([f"{path}: a schema in the source" for path, text in texts(".c", ".h")
            if path.startswith(("src/runner/", "src/service/", "src/domain/")) and "additionalProperties" in text],
           "schemas beside src/domain/tools")
