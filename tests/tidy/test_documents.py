"""Links and file names in the documents lead somewhere."""
import os
import re

from harness import check, test
from harness.server import ROOT
from harness.tree import read, report, texts

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
def test_files_named_in_documents_exist():
    problems = []
    for path, text in texts(".md"):
        outside_blocks = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        for name in re.findall(r"`((?:src|tests|docs|tools|bench|web)/[a-z0-9_./-]+)`", outside_blocks):
            if not os.path.exists(os.path.join(ROOT, name)):
                problems.append(f"{path}: {name}")
    report(problems, "files that are not there")


@test
def test_options_named_in_documents_exist():
    known = set(re.findall(r"^\| `(--[a-z-]+)`", read("docs/options.md"), re.M)) | {"--help"}
    for path, text in texts(".c"):  # the client commands' own tables
        if path.startswith("src/cli/"):
            known |= {f"--{name}" for name in re.findall(r'\.name = "([a-z-]+)", \.type = OPTION_', text)}
    problems = []
    for path, text in texts(".md"):
        if path.startswith(("docs/architecture", "docs/decisions", "README", "src/")):
            problems += [f"{path}: {name}" for name in re.findall(r"`(--[a-z-]+)`", text) if name not in known]
    report(problems, "options that are not there")


# Words of the same form in docs/operate.md that others define: PostgreSQL, its tools, and members of the API.
FOREIGN = {"pg_dump", "pg_restore", "synchronous_commit", "synchronous_standby_names", "id_prefix"}


@test
def test_what_operators_are_told_to_set_exists():
    """Options in commands of the manuals, names as in the configuration file, and the example of that file."""
    flags = set(re.findall(r"^\| `--([a-z-]+)`", read("docs/options.md"), re.M)) | {"help"}
    flags |= {f"no-{flag}" for flag in flags}
    names = {flag.replace("-", "_") for flag in flags}
    problems = []
    for path in ("docs/operate.md", "docs/agents.md", "docs/concepts.md", "README.md"):
        for line in re.findall(r"(?:sojourn (?:serve|check-config)|OPTIONS=)(.*)", read(path)):
            problems += [f"{path}: --{flag}" for flag in re.findall(r"--([a-z][a-z-]+)", line) if flag not in flags]
    spoken = set(re.findall(r"`([a-z]+(?:[_-][a-z]+)+)(?:: [^`]*)?`", read("docs/operate.md"))) - FOREIGN
    problems += [f"docs/operate.md: {word}" for word in spoken if word.replace("-", "_") not in names]
    example = re.findall(r"^(?:# )?([a-z_]+): ", read("packaging/examples/sojourn.yaml"), re.M)
    problems += [f"packaging/examples/sojourn.yaml: {word}" for word in example if word not in names]
    report(problems, "options that are not there")


@test
def test_every_option_is_read_by_something():
    """The structs are filled by a table, so the compiler can't tell that nobody looks at a field."""
    table = read("src/main/options_table.c")
    rows = re.findall(r'\b(?:TEXT|SECRET|LIST|SWITCH|CHOICE|RANKED|COUNT|TIME|SIZE)(?:_ROW)?\("([a-z-]+)",\s*([\w.]+)', table)
    check.true(len(rows) > 150, "the rows of the table were found")
    readers = "\n".join(text for path, text in texts(".c") if path.startswith("src/") and "options_table" not in path)
    problems = []
    for name, path in rows:
        owner, field = (["options"] + path.split("."))[-2:]
        before = rf"\b(?:limits|{owner})" if len(field) < 10 else ""  # a short one is in many structs
        if not re.search(rf"{before}(?:->|\.){field}\b", readers):
            problems.append(f"--{name} ({path})")
    report(problems, "options that do nothing")


@test
def test_decisions_have_the_four_parts():
    problems = []
    for path, text in texts(".md"):
        if path.startswith("docs/decisions/") and re.match(r"\d{4}-", os.path.basename(path)):
            for part in ("## Context", "## Decision", "## Alternatives", "## Consequences"):
                if part not in text:
                    problems.append(f"{path} has no {part!r}")
    report(problems, "decision records")
