"""What holds for every test."""
import ast
import re

from harness import check, test
from harness.tree import report, texts

# What fails when something is wrong. Waiting for something counts, because it gives up.
ASSERTS = re.compile(r"\b(check\.\w+\(|assert\b|raise \w*(Failure|AssertionError)|report\(|fail\()|\bexpect=")
# Used by nearly every test to bring about what it is about; that they work is not what a test says.
NOT_ASSERTING = ("tests/harness/server.py", "tests/harness/suite.py", "tests/harness/driver.py", "tests/harness/postgres.py")
ORDINARY = {"get", "post", "put", "patch", "delete", "request", "start", "stop", "client", "person", "person_of",
            *dir(list), *dir(dict), *dir(str), *dir(set)}
C_TEST = re.compile(r"^static void (test_\w+)\(void \*\*state\)\n\{\n(.*?)^\}", re.S | re.M)
C_FUNCTION = re.compile(r"^[a-z][^\n;=]*\b(\w+)\([^;{}]*\)\n\{\n(.*?)^\}", re.S | re.M)
C_MACRO = re.compile(r"^#define (\w+)\([^\n]*?\)((?:[^\n]*\\\n)*[^\n]*)", re.M)
C_ASSERTS = re.compile(r"\b(assert_\w+|assert|fail|fail_msg|_fail|_assert_\w+|expect_\w+|check_\w+|abort|exit)\(")


def called(body):
    return set(re.findall(r"(\w+)\(", body))


def asserting(bodies, direct):
    """The names of {name: text} whose text asserts, or calls one that does."""
    found = {name for name, body in bodies if direct.search(body)}
    while True:
        more = {name for name, body in bodies if name not in found and called(body) & found}
        if not more:
            return found
        found |= more


def is_marked(node):
    return any(getattr(getattr(one, "func", one), "id", "") == "test" for one in node.decorator_list)


@test
def test_every_python_test_asserts():
    bodies, tests = [], []
    for path, text in texts(".py"):
        if not path.startswith("tests/") or path in NOT_ASSERTING:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = "\n".join(ast.unparse(statement) for statement in node.body)
                bodies.append((node.name, body))
                if is_marked(node):
                    tests.append((path, node.name, body))
    check.true(len(tests) > 500, f"the tests were found: {len(tests)}")
    helpers = asserting([one for one in bodies if one[0] not in ORDINARY], ASSERTS)
    report([f"{path}: {name}" for path, name, body in tests if not ASSERTS.search(body) and not called(body) & helpers],
           "tests without an assertion")


@test
def test_every_c_test_asserts():
    tests, problems = 0, []
    shared = [pair for path, text in texts(".h") if path.startswith("tests/") for pair in C_FUNCTION.findall(text)]
    shared += [pair for path, text in texts(".h", ".c") if path.startswith("tests/") for pair in C_MACRO.findall(text)]
    for path, text in texts("_test.c"):
        if not path.startswith("tests/unit/"):
            continue
        helpers = asserting(shared + C_FUNCTION.findall(text), C_ASSERTS)
        for name, body in C_TEST.findall(text):
            tests += 1
            if not C_ASSERTS.search(body) and not called(body) & helpers:
                problems.append(f"{path}: {name}")
    check.true(tests > 300, f"the tests were found: {tests}")
    report(problems, "tests without an assertion")
