"""The routes of the server, as they are written in src/api beside their handlers, for tests over every route."""
import re

from harness import check
from harness.tree import texts

TABLE = re.compile(r"^const struct route \w+_routes\[\] = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^    \{HTTP_(\w+),\s*\"([^\"]+)\"(.*?)\},$", re.MULTILINE | re.DOTALL)


def table():
    """(method, path): (auth, is idempotent, status) of every row."""
    found, count = {}, 0
    for path, text in texts(".c"):
        if path.startswith("src/api/"):
            count += len(re.findall(r"\{HTTP_\w+,\s*\"/", text))
            for rows in TABLE.findall(text):
                found |= {(method.lower(), target): values(rest) for method, target, rest in ROW.findall(rows)}
    check.equal(len(found), count, "rows of the tables this test reads")
    return found


def values(row):
    """What a row says, with the defaults of src/api/core/route.h."""
    named = dict(re.findall(r"\.(\w+) = ([^,\s]+)", row))
    return named.get("auth", "AUTH_NEEDED"), named.get("idempotent") == "true", int(named.get("success", 200))
