"""Filters of lists are answered by an index: asked of the engine's own planner, with the program's own statements."""
import glob
import importlib.util
import os
import pathlib
import re
import sqlite3

from harness import check, people
from harness.postgres import database_name
from harness.server import ROOT
from harness.suite import OPTIMISED, test

COPIES = 3000

# What S3-004 names: the statement that answers it, and the index that must lead it.
LED_BY = {
    "user and (user, created_at)": ("session_list_owner", "sessions_owner"),
    "status and (status, lastActiveAt)": ("session_list_work", "sessions_work"),
    "parent": ("session_list_parent", "sessions_parent"),
    "(workspace, created_at)": ("session_list_workspace", "sessions_workspace"),
    "created_at, by the order of the list": ("session_list_all", "sessions_listed"),
    "(purpose, user, status)": ("session_count_concurrent", "sessions_in_turn"),
    "(purpose, user, status), before a turn": ("session_count_concurrent", "sessions_before_turn"),
}


def statements(engine):
    """The program's statements by name, as it prepares them."""
    spec = importlib.util.spec_from_file_location("sql_to_c", os.path.join(ROOT, "tools", "sql_to_c.py"))
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    paths = [pathlib.Path(path) for path in sorted(glob.glob(os.path.join(ROOT, "src", "store", "sql", "*.sql")))
             if not os.path.basename(path).startswith("schema_")]
    program = tool.program_of(pathlib.Path(ROOT, "src"), paths)
    return {name: each.full[engine] for name, each in program.statements.items() if engine in each.full}


def copies(columns):
    """Many sessions that differ where the filters look."""
    changed = {"id": "s.id || '-' || n.value", "owner": "'u' || (n.value % 60)", "work": "n.value % 10",
               "parent_id": "'p' || (n.value % 500)", "workspace": "'w' || (n.value % 60)",
               "listed_at_ms": "s.listed_at_ms + n.value", "created_at_ms": "s.created_at_ms + n.value"}
    kept = [name for name in columns if name != "key"]
    return (f"INSERT INTO sessions ({', '.join(kept)}) SELECT "
            f"{', '.join(changed.get(name, 's.' + name) for name in kept)} FROM sessions s, numbers n")


def sqlite_plans(server, texts):
    [path] = [name for name in glob.glob(os.path.join(server.data_directory(), "*"))
              if os.path.isfile(name) and open(name, "rb").read(15) == b"SQLite format 3"]
    with sqlite3.connect(path) as database:
        database.create_function("caseless", 1, str, deterministic=True)  # as the program has it
        columns = [row[1] for row in database.execute("PRAGMA table_info(sessions)")]
        database.execute("CREATE TEMP TABLE numbers (value INTEGER)")
        database.executemany("INSERT INTO numbers VALUES (?)", [(i,) for i in range(COPIES)])
        database.execute(copies(columns))
        for name, text in texts.items():
            rows = database.execute("EXPLAIN QUERY PLAN " + text, [None] * last_parameter(text))
            yield name, "\n".join(row[3] for row in rows)


def postgres_plans(server, cluster, texts):
    base = database_name(server.database)
    columns = [row[0] for row in cluster.sql("select column_name from information_schema.columns where table_name = "
                                             "'sessions' and table_schema = 'public' order by ordinal_position", base)]
    cluster.sql(f"create table numbers as select value from generate_series(1, {COPIES}) as value; {copies(columns)}; "
                "drop table numbers; analyze sessions", base)
    for name, text in texts.items():
        nothing = ", ".join(["null"] * last_parameter(text))
        rows = cluster.sql(f"set plan_cache_mode = force_generic_plan; prepare asked as {text}; "
                           f"explain execute asked({nothing})", base)
        yield name, "\n".join(row[0] for row in rows)


def last_parameter(text):
    return max(int(number) for number in re.findall(r"[$?](\d+)", text))


@test(on=OPTIMISED)
def every_named_filter_is_led_by_an_index(env):
    """S3-004: on both engines, with some thousand sessions, none of them reads the table."""
    server = env.server()
    people.session(server.client())
    server.stop()
    every = statements(env.engine)
    texts = {name: every[name] for name, _ in LED_BY.values()}
    plans = dict(sqlite_plans(server, texts) if env.engine == "sqlite"
                 else postgres_plans(server, env.cluster(), texts))
    for what, (name, index) in LED_BY.items():
        plan = plans[name]
        check.true(re.search(rf"\b{index}\b", plan), f"{what}: {name} uses {index}:\n{plan}")
        check.true(not re.search(r"Seq Scan on sessions|SCAN (s|sessions)\b(?! USING)", plan),
                   f"{what}: {name} reads no whole table:\n{plan}")
        check.true("TEMP B-TREE" not in plan and "Sort" not in plan, f"{what}: {name} sorts nothing:\n{plan}")
