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
    for path, text in texts(".py", ".ts", ".tsx", ".css", "tests/run", "tools/setup", "tools/fuzz", "tools/mutants", "tools/tree"):
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


# The tables whose words may be spelled nowhere else: states, runtimes, reasons, roles, asks, live output.
VOCABULARIES = ("src/domain/session_status.c", "src/domain/runtime.c", "src/domain/turn.c", "src/domain/ask.c",
                "src/domain/event_kind.c")
# Words that are also names of members, other states or plain English: they are looked at only beside one of MEMBERS.
PLAIN = {"agent", "all", "always", "answered", "cancelled", "content_filter", "deleted", "error", "internal", "length",
         "manual", "none", "parent", "question", "response", "session", "snapshot_failed", "stop", "stopped", "system",
         "text", "tool", "turn_limit", "user", "validation"}
MEMBERS = r"(?:\w+_)?(?:status|state|runtime|to|from|decision|kind|role|reason)"
BESIDE = (re.compile(rf'"{MEMBERS}"\s*,\s*(?:[^;"]*\bSLICE\(|slice_of\()"(\w+)"'),        # json_put_text(…, "role", SLICE("user"))
          re.compile(rf'slice_is\([^;"]*\b{MEMBERS}\s*,\s*"(\w+)"'),                      # slice_is(x->role, "user")
          re.compile(rf'slice_is\([^;"]*"{MEMBERS}"\)\s*,\s*"(\w+)"'),                    # slice_is(json_text_of(x, "role"), …)
          re.compile(rf'\.{MEMBERS} = [^;,"]*SLICE\("(\w+)"'))                            # .role = SLICE("user")
# The same spelling, another vocabulary: which words, and of what. "*" = any, in files that are such a vocabulary.
SPELLED_ALIKE = {
    "src/domain/vocabulary.c": ("*", "the words of every other vocabulary for the same states"),
    "src/domain/run.c": ("completed failed running", "states and outcomes of an automation's run"),
    "src/domain/introspection.c": ("idle", "reasons to look back at a chat"),
    "src/domain/turn_follow.c": ("completed pending running", "states of one prompt that is followed"),
    "src/domain/session.c": ("approval", "purposes of sessions"),
    "src/domain/agent.c": ("deny", "permissions of tools"),
    "src/domain/export.c": ("reasoning", "the format of an exported workflow"),
    "src/domain/approval.c": ("tool_input", "members of an approval's payload"),
    "src/domain/message_parts.c": ("reasoning", "types of parts of a message"),
    "src/runner/acp/acp_call.c": ("completed failed pending", "states of a tool call in ACP"),
    "src/runner/sandbox/sandbox_http.c": ("failed", "states of a foreign sandbox"),
    "src/service/remote/runner_frames.c": ("*", "frames and states of the runners' protocol"),
    "src/api/session/messages.c": ("user", "roles of messages, which have an assistant and tools"),
    "src/api/work/claims.c": ("pending", "counts of a queue, by name"),
    "src/cli/people.c": ("pending", "counts of a queue, by name; kinds of tokens"),
    "src/cli/session_view.c": ("completed", "labels"),
    "src/cli/chat_commands.c": ("deny", "commands of the chat"),
    "src/service/sandbox/session_runtime_step.c": ("idle", "why a sandbox sleeps, for people"),
    "src/service/session/session_create.c": ("superseded", "why a session ended, for people"),
    "src/api/core/schema.c": ("pending", "members of answers"),
    "src/api/core/ready.c": ("starting", "an error code"),
    "src/runner/acp/acp_launch.c": ("sandbox_error", "an error code"),
    "src/cli/chat_frames.c": ("deleted", "why a stream closed"),
    "src/service/sandbox/runtime_host.c": ("deleted", "why a stream closed"),
    "src/service/turn/turn_host_leave.c": ("deleted", "why a stream closed"),
    "src/wire/": ("*", "the protocols of model providers"),
}


def words_of_vocabularies():
    return {word for path, text in texts(".c") if path in VOCABULARIES
            for word in re.findall(r'\[[A-Z_]+\] = "(\w+)"', text)}


@test
def test_states_roles_and_reasons_are_spelled_once():
    """A word of a vocabulary of the domain stands in its table; everything else names the value of the enum."""
    words = words_of_vocabularies()
    check.true({"waiting_human", "hibernated", "superseded", "aborted", "user", "elicitation", "deny", "tool_output"} <= words,
               f"the words of the tables: {len(words)}")
    check.equal(sorted(PLAIN - words), [], "plain words that no table has")
    problems, needed = [], set()
    for path, text in texts(".c", ".h"):
        if not path.startswith("src/") or path in VOCABULARIES:
            continue
        code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        found = {word for word in re.findall(r'"(\w+)"', code) if word in words - PLAIN}
        found |= {word for pattern in BESIDE for word in pattern.findall(code) if word in words & PLAIN}
        for key, (alike, _) in SPELLED_ALIKE.items():
            if path.startswith(key) and found:
                needed |= {(key, "*")} if alike == "*" else {(key, word) for word in found & set(alike.split())}
                found -= found if alike == "*" else set(alike.split())
        problems += [f'{path}: "{word}"' for word in sorted(found)]
    report(problems, "words of the domain outside their tables")
    report(sorted(f"{key}: {word}" for key, (alike, _) in SPELLED_ALIKE.items() for word in alike.split()
                  if (key, word) not in needed), "exceptions that nothing needs")
