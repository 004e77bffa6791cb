"""What holds for every file of the tree."""
import re
import subprocess
from collections import Counter

from harness import Skip, check, test
from harness.server import ROOT
from harness.tree import report, texts, tracked_files

FUNCTION_LINES_MAX = 90
COLUMNS_MAX = 120
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME")) + r")\b")
LOCAL_PATH = re.compile(r"(?<![\w.*}$\])])/(" + "|".join(("wo" + "rk", "ro" + "ot")) + r")(?=[/\s'\"`),;:]|$)", re.M)
SQL = re.compile(r'"[^"\n]*\b(select\b[^"\n]*\bfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|'
                 r'create\s+(unique\s+)?(table|index)|alter\s+table)\b', re.I)
# The version of the schema is asked and written before any statement can be prepared; the engines rewrite statements.
MAY_HOLD_SQL = ("src/store/db.c", "src/store/sqlite/", "src/store/postgres/")
# Text and comments of C, which name things without using them.
NOT_CODE = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.S)
DECLARED = re.compile(r"^(?!static|typedef|#)[a-z][\w \*]*?[\s\*](\w+)\([^;{]*\)[^;{]*;", re.M)
# Called by tests only: what makes a run repeat itself, and what shows that the rest is right.
FOR_TESTS = {"id_source_init_seeded", "http_response_header", "json_patch_apply", "json_patch_parse",
             "process_close_stdin", "writer_step"}


@test
def test_no_trailing_space_and_a_last_line_end():
    problems = []
    for path, text in texts():
        if path.startswith("tests/fuzz/corpus/") or not text:
            continue
        problems += [f"{path}:{number}: space at the end of the line"
                     for number, line in enumerate(text.split("\n"), 1) if line != line.rstrip()]
        if not text.endswith("\n"):
            problems.append(f"{path}: the last line does not end")
    report(problems, "white space")


@test
def test_nothing_is_left_unfinished():
    report([f"{path}: {found.group()}" for path, text in texts() for found in UNFINISHED.finditer(text)
            if not path.startswith("tests/fuzz/corpus/")], "notes of unfinished work")


@test
def test_headers_are_made_by_their_constructor():
    """What a header may hold is checked where it is made (src/wire/http.h), so nothing else makes one."""
    made = re.compile(r"\(struct http_header\)\s*\{|struct http_header \w+(\[\w*\])? = \{")
    report([f"{path}: {found.group()}" for path, text in texts(".c", ".h") for found in made.finditer(text)
            if path.startswith("src/") and not path.startswith("src/wire/")], "headers that nobody checked")


@test
def test_no_path_of_one_machine():
    report([f"{path}: {found.group()}" for path, text in texts() for found in LOCAL_PATH.finditer(text)
            if not path.startswith("tests/fuzz/corpus/") and not path.endswith("package-lock.json")],
           "paths that exist on one machine only")


@test
def test_lines_are_not_too_long():
    problems = []
    for path, text in texts(".py", ".ts", ".tsx", ".css", "tests/run", "tools/setup", "tools/fuzz", "tools/tree"):
        if path.startswith("tests/") and not path.startswith("tests/harness/"):
            continue  # a request and what it must answer may stand on one line
        problems += [f"{path}:{number}: {len(line)} columns" for number, line in enumerate(text.splitlines(), 1)
                     if len(line) > COLUMNS_MAX]
    report(problems, f"lines of more than {COLUMNS_MAX} columns")


def functions(text):
    """(name, first line, lines) of every C function in formatted source: `{` and `}` stand in the first column."""
    lines, start = text.split("\n"), None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            head = " ".join(lines[max(0, start - 4):start])
            names = re.findall(r"(\w+)\(", head)
            yield (names[0] if names else "?"), start + 1, number - start + 1
            start = None


@test
def test_functions_are_not_too_long():
    report([f"{path}:{line}: {name} has {count} lines" for path, text in texts(".c", ".h")
            for name, line, count in functions(text) if count > FUNCTION_LINES_MAX],
           f"functions of more than {FUNCTION_LINES_MAX} lines")


@test
def test_bodies_stand_in_braces():
    """clang-format can't add them, and a body without them is where the second line goes wrong."""
    problems = []
    for path, text in texts(".c", ".h"):
        lines = text.split("\n")
        for number, (line, following) in enumerate(zip(lines, lines[1:]), 1):
            is_head = re.match(r"\s+(?:\} )?(?:(?:if|for|while|else if) \(.*\)|else)$", line)
            if is_head and line.count("(") == line.count(")") and re.match(r"\s+[\w*(]", following):
                problems.append(f"{path}:{number}: {line.strip()[:60]}")
    report(problems, "bodies without braces")


@test
def test_every_function_is_called():
    """By something in src: a function that only its own test calls is not part of the program."""
    code = {path: NOT_CODE.sub(" ", text) for path, text in texts(".c", ".h") if path.startswith("src/")}
    named = Counter(word for text in code.values() for word in re.findall(r"\w+", text))
    declared = [(path, name) for path, text in code.items() if path.endswith(".h") for name in DECLARED.findall(text)]
    check.true(len(declared) > 1000, "the functions of the headers were found")
    report([f"{path}: {name}" for path, name in declared if named[name] <= 2 and name not in FOR_TESTS],
           "functions that nothing calls")


@test
def test_every_statement_is_run():
    statements = {name for path, text in texts(".sql") for name in re.findall(r"^-- name: (\w+)", text, re.M)}
    check.true(len(statements) > 100, "the statements were found")
    named = {word.lower() for path, text in texts(".c") if path.startswith("src/")
             for word in re.findall(r"\b(?:SQL_[A-Z_]+|sql_\w+(?=\())", text)}
    report(sorted(name for name in statements if f"sql_{name}" not in named), "statements that nothing runs")


@test
def test_sql_stands_in_store_sql():
    problems = []
    for path, text in texts(".c", ".h"):
        if path.startswith("src/") and not path.startswith(MAY_HOLD_SQL):
            problems += [f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {found.group()[:60]}"
                         for found in SQL.finditer(text)]
    report(problems, "SQL outside src/store/sql")


@test
def test_c_is_formatted():
    files = [path for path in tracked_files() if path.endswith((".c", ".h"))]
    try:
        result = subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=ROOT, capture_output=True,
                                text=True, check=False)
    except FileNotFoundError:
        raise Skip("clang-format is not installed (tools/setup test)") from None
    complaints = [line for line in result.stderr.splitlines() if "clang-format-violations" in line]
    places = sorted({":".join(line.split(":")[:2]) for line in complaints})
    report(places, "not formatted (make format)")
    check.equal(result.returncode, 0, "exit code of clang-format")


@test
def test_scripts_are_executable():
    listed = subprocess.run(["git", "ls-files", "-s"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    problems = []
    for line in listed.splitlines():
        mode, path = line.split()[0], line.split("\t")[1]
        with open(f"{ROOT}/{path}", "rb") as file:
            is_script = file.read(2) == b"#!"
        if is_script != (mode == "100755"):
            problems.append(f"{path}: mode {mode}, {'a' if is_script else 'no'} script")
    report(problems, "modes of scripts")


@test
def test_event_kinds_are_spelled_once():
    """The name of a kind stands in its row of EVENT_KINDS; everything else says EVENT_X."""
    table = "src/domain/event_kind.h"
    names = {name for path, text in texts(".h") if path == table for name in re.findall(r'KIND\(\w+, "([a-z_.]+)"', text)}
    check.true(len(names) > 90, f"the kinds of {table}: {len(names)}")
    report([f"{path}: \"{name}\"" for path, text in texts(".c", ".h") if path.startswith("src/") and path != table
            for name in re.findall(r'"([a-z_]+\.[a-z_.]+)"', text) if name in names], "names of events outside their table")
