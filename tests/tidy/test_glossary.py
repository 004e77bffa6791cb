"""Documents and help texts use the words of docs/glossary.md, not the ones it replaces."""
import re

from harness import check, test
from harness.tree import read, report, texts

# Words in another sense than the replaced one, and public values.
ALLOWED = ("encryption at rest", "encrypted at rest", "| idle | asleep")
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')  # in the tables of commands and options, and all that the CLI prints


def replaced_words():
    words = []
    for row in re.findall(r"^\|(.*)\|$", read("docs/glossary.md"), re.M):
        words += re.findall(r"\*([^*]+)\*", row.split("|")[2])
    return words


def sentences():
    """The lines of documents (docs/api.md has the help texts of fields), and the texts of commands and options."""
    for path, text in texts(".md"):
        is_document = path == "README.md" or re.fullmatch(r"docs/[a-z]+\.md|(src|tests)/[a-z]+/README\.md|web/README\.md", path)
        if is_document and path != "docs/glossary.md":
            for number, line in enumerate(text.split("\n"), 1):
                yield f"{path}:{number}", line
    for path, text in texts(".c"):
        if path.startswith("src/cli/") or path in ("src/main/commands.c", "src/main/options_table.c"):
            for found in TEXT.finditer(text):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}", found.group(1)


@test
def test_replaced_words_are_gone():
    words = replaced_words()
    check.true(len(words) > 20, "the words of the glossary were found")
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, words)) + r")\b", re.I)
    problems = []
    for place, line in sentences():
        for phrase in ALLOWED:
            line = re.sub(re.escape(phrase), "", line, flags=re.I)
        outside_names = re.sub(r"`[^`]*`", "", line)
        problems += [f"{place}: {word}" for word in pattern.findall(outside_names)]
    report(problems, "words that docs/glossary.md replaces")


@test
def test_words_do_not_replace_each_other():
    rows = [row.split("|") for row in re.findall(r"^\|(.*)\|$", read("docs/glossary.md"), re.M)]
    used = {word.strip().lower() for row in rows for word in re.split("[,;]", row[0])}
    report(sorted(used & {word.lower() for word in replaced_words()}), "words that the glossary both uses and replaces")
