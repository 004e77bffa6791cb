"""Tables in the sources that a tool writes."""
import importlib.util
import os
import unicodedata

from harness import check, test
from harness.server import ROOT


@test
def test_the_table_of_glyphs_is_what_its_tool_writes():
    """Where Python knows the same characters as when it was written."""
    spec = importlib.util.spec_from_file_location("glyph_table", os.path.join(ROOT, "tools", "glyph_table.py"))
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    with open(os.path.join(ROOT, "src", "cli", "glyph_table.h"), encoding="utf-8") as file:
        kept = file.read()
    if f"Unicode {unicodedata.unidata_version.split('.')[0]}." in kept:
        check.true(kept == tool.header(), "src/cli/glyph_table.h is what tools/glyph_table.py writes")
