"""Rooms by what the objects need of each other, and headers that are private by their name.

docs/architecture.md says which room may include what. An include can be missing and the call still link; so the same table is
held against the symbols of the compiled objects."""
import os
import re
import subprocess

from harness import check, test
from harness.server import ROOT
from harness.tree import report, texts, tracked_files
from tidy.test_rooms import room_of, rooms

OBJECTS = os.path.join(ROOT, "build", "src", "libsojourn_core.a.p")

# Pairs of folders of one room that need each other. A row that is not true any more fails the test as well, so that there can
# only be fewer.
BOTH_WAYS = {
    "api": "core-agent core-ask core-event core-identity core-prompt core-remote core-sandbox core-session core-work"
           " event-remote event-session prompt-session",
    "service": "core-ask core-identity core-prompt core-sandbox core-session core-turn core-work"
               " ask-session ask-work gateway-turn identity-session prompt-session session-turn session-work turn-work",
    "store": "store-blob store-postgres store-seal store-session store-sqlite blob-seal",
}


def sources():
    """{name of its object: path} of every source of the library; main.c is only in the program."""
    return {path[len("src/"):].replace("/", "_") + ".o": path for path in tracked_files()
            if path.startswith("src/") and path.endswith(".c") and path != "src/main/main.c"}


def needs():
    """[(path, symbol, path that defines it)] of everything one object needs of another; generated files are no paths."""
    paths = sources()
    check.true(os.path.isdir(OBJECTS), "the program was built in build/")
    objects = sorted(name for name in os.listdir(OBJECTS) if name in paths)
    check.equal(sorted(set(paths) - set(objects)), [], "sources without an object")
    listed = subprocess.run(["nm", "-A", "-g", *objects], cwd=OBJECTS, check=True, capture_output=True, text=True).stdout
    defined, wanted = {}, []
    for line in listed.splitlines():
        name, rest = line.split(":", 1)
        kind, symbol = rest.split()[-2:]
        if kind == "U":
            wanted.append((paths[name], symbol))
        elif kind not in "wW":
            defined[symbol] = paths[name]
    return [(path, symbol, defined[symbol]) for path, symbol in wanted if symbol in defined and defined[symbol] != path]


def folder_of(path):
    return "/".join(path.split("/")[1:-1])


@test
def test_objects_follow_the_table():
    allowed, problems = rooms(), []
    for path, symbol, home in needs():
        room, target = room_of(path), room_of(home)
        if target != room and target not in allowed[room]:
            problems.append(f"{path} needs {symbol} of {home}, but {room} may include {sorted(allowed[room])}")
    report(problems, "symbols against the table of docs/architecture.md")


@test
def test_api_and_doors_reach_store_through_service():
    report([f"{path} needs {symbol} of {home}" for path, symbol, home in needs()
            if room_of(path) in ("api", "doors") and room_of(home) == "store"],
           "calls of the store that belong behind a function of service")


@test
def test_what_a_header_declares_is_defined_in_its_room():
    declared = {}
    for path, text in texts(".h"):
        if path.startswith("src/"):
            text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
            for name in re.findall(r"^(?:MUST_CHECK |extern )?[a-z][\w ]*[ *](\w+)\(", text, re.M):
                declared[name] = path
    problems = {f"{symbol} is declared in {declared[symbol]} and defined in {home}" for _, symbol, home in needs()
                if symbol in declared and room_of(declared[symbol]) != room_of(home)}
    report(sorted(problems), "functions that another room defines")


@test
def test_folders_of_a_room_need_each_other_nowhere_else():
    edges, problems = {(folder_of(path), folder_of(home)) for path, _, home in needs()}, []
    found = {frozenset(pair) for pair in edges if pair[0] != pair[1] and pair[::-1] in edges}
    known = {frozenset(room if name == room else f"{room}/{name}" for name in pair.split("-"))
             for room, pairs in BOTH_WAYS.items() for pair in pairs.split()}
    problems += [f"{' and '.join(sorted(pair))} need each other now" for pair in found - known]
    problems += [f"{' and '.join(sorted(pair))} do not any more: drop the row" for pair in known - found]
    report(sorted(problems), "pairs of folders")


@test
def test_private_headers_are_private():
    """NOUN_internal.h is for the files of its folder whose names begin with NOUN."""
    problems = []
    for path, text in texts(".c", ".h"):
        for header in re.findall(r'^#include "(\w[\w/]*_internal\.h)"', text, re.M):
            folder, stem = os.path.split("src/" + header)[0], os.path.basename(header)[:-len("_internal.h")]
            if path.startswith("src/") and not (os.path.dirname(path) == folder
                                                and re.match(stem + r"s?[._]", os.path.basename(path))):
                problems.append(f"{path} includes {header}, which is private to {folder}/{stem}*")
    report(problems, "private headers that others include")
