"""What holds for the statements of store/sql: names instead of numbers, and the compiler watches over the values."""
import os
import re
import shutil
import subprocess
import tempfile

from harness import Skip, check, test
from harness.server import ROOT
from harness.tree import report, texts

# Columns that hold an enumerator of the domain or the store.
STATES = ("decision|display|driver|kind|mode|outcome|pause_reason|purpose|queue_mode|reason|role|runtime|scopes|source_type|"
          "state|status|stop_reason|type|visibility|work")
BARE = [re.compile(pattern) for pattern in (
    rf"\b(?:{STATES})(?: \+ 0)? *(?:=|<>|!=|<=?|>=?|(?:NOT )?IN\b) *\(?\s*-?\d",
    rf"\b(?<!:)\d+ *(?:=|<>|!=|<=?|>=?) *(?:\w+\.)?(?:{STATES})\b",
    rf"\bCOALESCE\((?:\w+\.)?(?:{STATES}), *\d",
    rf"\b\d+ AS (?:{STATES})\b")]
COLUMN = re.compile(r"\b(?:query_i64|query_text|column_copy|column_open|get_i64|get_text)\(&?query, \d+\)")
# They read the one column of any statement they are given.
ANY_STATEMENT = ("src/store/statement.c", "src/store/verify.c")


def statements():
    """(path, number, line) of the statements, without comments; migrations are history and keep their numbers."""
    for path, text in texts(".sql"):
        if path.startswith("src/store/sql/") and "/schema_" not in path:
            for number, line in enumerate(text.split("\n"), 1):
                if not line.lstrip().startswith("--"):
                    yield path, number, line


@test
def test_no_number_stands_for_a_state():
    lines = list(statements())
    check.true(len(lines) > 500, "the statements were found")
    check.true(any(pattern.search("s.work + 0 <> 4") for pattern in BARE), "a number is seen")
    report([f"{path}:{number}: {line.strip()}" for path, number, line in lines
            if any(pattern.search(line) for pattern in BARE)], "numbers that stand for a state: write {ENUMERATOR}")


@test
def test_parameters_have_names():
    report([f"{path}:{number}: {line.strip()}" for path, number, line in statements()
            if re.search(r"[$?]\d", line)], "parameters without a name")


@test
def test_columns_are_read_by_name():
    report([f"{path}: {found.group()}" for path, text in texts(".c") for found in COLUMN.finditer(text)
            if path.startswith("src/store/") and path not in ANY_STATEMENT], "columns by number: take X_COLUMN_Y of sql.h")


def generate(directory):
    """sql.h in DIRECTORY/store, as the build makes it."""
    store, sql = os.path.join(directory, "store"), os.path.join(ROOT, "src/store/sql")
    os.mkdir(store)
    subprocess.run([os.path.join(ROOT, "tools/sql_to_c.py"), "--source", os.path.join(ROOT, "src"),
                    "--depfile", f"{store}/sql.d", f"{store}/sql.h", f"{store}/sql.c",
                    *(os.path.join(sql, name) for name in sorted(os.listdir(sql)))], check=True)


def compiles(compiler, directory, call):
    code = f"""#include "store/statement.h"
enum status run(struct db *db, int64_t key, struct slice id, struct failure *failure);
enum status run(struct db *db, int64_t key, struct slice id, struct failure *failure)
{{
    return statement_run(db, {call}, id.len ? &key : NULL, failure);
}}
"""
    flags = ["-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]
    result = subprocess.run([compiler, *flags, "-I", directory, "-I", os.path.join(ROOT, "src"), "-"], input=code,
                            capture_output=True, text=True)
    return result.returncode == 0, result.stderr


@test
def test_wrong_values_do_not_compile():
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)]
    if not compilers:
        raise Skip("no compiler")
    wrong = {
        "one is missing": "sql_task_delete(.tenant_key = key)",
        "one is unknown": "sql_task_delete(.tenant_key = key, .name = id)",
        "one stands twice": "sql_task_delete(.tenant_key = key, .tenant_key = key)",
        "one is of another type": "sql_task_delete(.tenant_key = id, .id = id)",
        "one is missing in a family": "sql_session_part(SQL_SESSION_DELETE, .tenant_key = key)",
    }
    with tempfile.TemporaryDirectory() as directory:
        generate(directory)
        for compiler in compilers:
            is_right, problem = compiles(compiler, directory, "sql_task_delete(.tenant_key = key, .id = id)")
            check.true(is_right, f"{compiler}: {problem}")
            for what, call in wrong.items():
                check.true(not compiles(compiler, directory, call)[0], f"{compiler} refuses it when {what}")
        if "gcc" in compilers:
            check.true(not compiles("gcc", directory, "sql_task_delete(key, id)")[0], "gcc refuses values without names")
