#!/usr/bin/env python3
"""Measures of the sources, as docs/architecture.md shows them: prints "name | value" lines."""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def sources(folder="src", endings=(".c", ".h")):
    """[(path, text)] of the tracked files below a folder."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", folder],
                            check=True, capture_output=True, text=True).stdout.splitlines()
    return [(path, open(os.path.join(ROOT, path), encoding="utf-8").read()) for path in sorted(set(listed))
            if path.endswith(endings) and os.path.isfile(os.path.join(ROOT, path))]


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def event_literals(files):
    """[path] per literal that spells an event type outside the table and outside the CLI, which is a client."""
    table = next(text for path, text in files if path == "src/domain/event_kind.h")
    kinds = set(re.findall(r'"(\w+\.\w+)"', table))
    return [path for path, text in files if path != "src/domain/event_kind.h" and not path.startswith("src/cli/")
            for literal in re.findall(r'"(\w+\.\w+)"', without_comments(text)) if literal in kinds]


def foreign_includers(files):
    found = 0
    for path, text in files:
        for header in re.findall(r'^#include "(\w[\w/]*_internal\.h)"', text, re.M):
            folder, stem = os.path.split("src/" + header)[0], os.path.basename(header)[:-len("_internal.h")]
            found += os.path.dirname(path) != folder or not re.match(stem + r"s?[._]", os.path.basename(path))
    return found


def largest_folder(files, room):
    folders = [os.path.dirname(path) for path, _ in files if path.startswith(f"src/{room}/")]
    return max(folders.count(folder) for folder in set(folders))


def measures():
    """{name: value}, in the order of the table."""
    files = sources()
    statements = "\n".join(text for path, text in sources("src/store/sql", (".sql",)) if "migration" not in path)
    lines = sum(text.count("\n") for _, text in files)
    asserts = sum(len(re.findall(r"(?<![\w_])assert\(", without_comments(text))) for _, text in files)
    literals = event_literals(files)
    calls = sum(len(re.findall(r"\bstore_\w+\s*\(", without_comments(text))) for path, text in files
                if path.startswith(("src/api/", "src/doors/")))
    rows = sum(len(re.findall(r'\{HTTP_\w+, "[^"]*", \w+, [^.}\s]', text)) for _, text in files)
    return {
        "event types spelled outside their table": len(literals),
        "files with such a literal": len(set(literals)),
        "positional parameters in statements": len(re.findall(r"[?$]\d+\b", re.sub(r"--.*", "", statements))),
        "asserts": asserts,
        "asserts per thousand lines": f"{1000 * asserts / lines:.1f}",
        "includes of private headers by other nouns": foreign_includers(files),
        "calls of store in api and doors": calls,
        "files in the largest folder of service": largest_folder(files, "service"),
        "files in the largest folder of runner": largest_folder(files, "runner"),
        "files in the largest folder of api": largest_folder(files, "api"),
        "rows of routes with members by position": rows,
    }


if __name__ == "__main__":
    for name, value in measures().items():
        print(f"{name} | {value}")
