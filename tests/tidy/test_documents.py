"""Links and file names in the documents lead somewhere."""
import os
import re

from harness import test
from harness.server import ROOT
from harness.tree import report, texts

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@test
def test_links_lead_to_files():
    problems = []
    for path, text in texts(".md"):
        for target in LINK.findall(text):
            if "://" not in target and not target.startswith("mailto:"):
                if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
                    problems.append(f"{path}: {target}")
    report(problems, "links that lead nowhere")


@test
def test_decisions_have_the_four_parts():
    problems = []
    for path, text in texts(".md"):
        if path.startswith("docs/decisions/") and re.match(r"\d{4}-", os.path.basename(path)):
            for part in ("## Context", "## Decision", "## Alternatives", "## Consequences"):
                if part not in text:
                    problems.append(f"{path} has no {part!r}")
    report(problems, "decision records")
