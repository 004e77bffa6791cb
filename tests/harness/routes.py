"""The route table of the server (src/api/core/routes.c), for tests over every route."""
import re

from harness import check
from harness.tree import read

ROUTE = re.compile(r'\{HTTP_(\w+),\s*"([^"]+)",\s*(\w+),\s*(\w+),\s*([\w| ]+),\s*(true|false),\s*(\d+),')


def table():
    """(method, path): (auth, is idempotent, status) of every row in src/api/core/routes.c."""
    source = read("src/api/core/routes.c")
    rows = ROUTE.findall(source)
    check.equal(len(rows), len(re.findall(r"\{HTTP_", source)), "rows of the table this test reads")
    return {(method.lower(), path): (auth, idempotent == "true", int(status))
            for method, path, _, auth, _, idempotent, status in rows}
