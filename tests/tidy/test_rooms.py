"""docs/architecture.md says which room may include what; the sources must agree."""
import os
import re

from harness import check, test
from harness.server import ROOT
from harness.tree import read, report, table_rows, texts, tracked_files

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def rooms():
    """{room: rooms it may include} from the table; "all" stands for every room."""
    rows = table_rows(read("docs/architecture.md"), "Rooms")
    names = [row[0].strip("`") for row in rows]
    allowed = {}
    for name, row in zip(names, rows):
        words = re.findall(r"[a-z]+", row[2])
        allowed[name] = set(names) if words == ["all"] else set(words)
    return allowed


def room_of(path):
    return path.split("/")[1] if path.startswith("src/") and path.count("/") >= 2 else None


@test
def test_the_table_names_every_room():
    present = {room_of(path) for path in tracked_files()} - {None}
    check.true(present, "there are rooms in src/")
    report(sorted(present - set(rooms())), "rooms missing in the table of docs/architecture.md")


@test
def test_includes_follow_the_table():
    allowed, problems = rooms(), []
    for path, text in texts(".c", ".h"):
        room = room_of(path)
        if not room:
            continue
        for mark, name in INCLUDE.findall(text):
            target = name.split("/")[0]
            if mark == '"' and "/" not in name:
                problems.append(f"{path} includes \"{name}\": write it from src/")
            elif mark == '"' and target in allowed and target != room and target not in allowed[room]:
                problems.append(f"{path} includes \"{name}\", but {room} may include {sorted(allowed[room])}")
            elif mark == '"' and target not in allowed:
                problems.append(f"{path} includes \"{name}\", which is in no room")
    report(problems, "includes against the table of docs/architecture.md")


@test
def test_a_door_is_a_folder_and_a_row():
    listed = set(re.findall(r"&(\w+)_door\b", read("src/main/doors.c")))
    folders = {path.split("/")[2] for path in tracked_files() if re.match(r"src/doors/\w+/", path)}
    check.equal(sorted(listed), sorted(folders), "rows of src/main/doors.c and folders in src/doors")
    problems = []
    for path, text in texts(".c", ".h"):
        for mark, name in INCLUDE.findall(text):
            target = re.match(r"doors/(\w+)/", name)
            if mark == '"' and target and path.startswith("src/") and path != "src/main/doors.c":
                if not path.startswith(f"src/doors/{target.group(1)}/"):
                    problems.append(f"{path} includes \"{name}\", which belongs to one door")
    report(problems, "includes of doors")


@test
def test_the_rules_of_the_table_have_no_circle():
    allowed = {room: others - {room} for room, others in rooms().items() if room != "main"}
    while allowed:
        free = [room for room, others in allowed.items() if not others & set(allowed)]
        check.true(free, f"the table is free of circles; one is among {sorted(allowed)}")
        for room in free:
            del allowed[room]


@test
def test_libraries_stay_where_they_belong():
    rules = {row[0].strip("`"): re.findall(r"`([a-z/]+)`", row[1])
             for row in table_rows(read("docs/architecture.md"), "Libraries")}
    check.true(rules, "docs/architecture.md has a table of libraries")
    problems = []
    for path, text in texts(".c", ".h"):
        for mark, name in INCLUDE.findall(text):
            homes = next((homes for prefix, homes in rules.items() if mark == "<" and name.startswith(prefix)), None)
            if path.startswith("src/") and homes is not None:
                if not any(path.startswith(f"src/{home}/") for home in homes):
                    problems.append(f"{path} includes <{name}>, which belongs to {homes}")
    report(problems, "libraries against the table of docs/architecture.md")


@test
def test_every_room_has_a_readme():
    problems = []
    for room in rooms():
        path = f"src/{room}/README.md"
        if not os.path.isdir(os.path.join(ROOT, "src", room)):
            continue
        if not os.path.exists(os.path.join(ROOT, path)):
            problems.append(f"{path} is missing")
        elif not 15 <= len(read(path).splitlines()) <= 60:
            problems.append(f"{path} has {len(read(path).splitlines())} lines; 15 to 60 are expected")
    report(problems, "rooms without a fitting README")


@test
def test_engines_are_known_to_the_store_alone():
    """The rooms above ask the database what it can do, not which engine it is."""
    asks = re.compile(r"\b(DB_SQLITE|DB_POSTGRES|db_engine\()")
    report([f"{path}: {found.group(1)}" for path, text in texts(".c", ".h")
            if path.startswith("src/") and not path.startswith("src/store/") for found in asks.finditer(text)],
           "engines named above the store")
