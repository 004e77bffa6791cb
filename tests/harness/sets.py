"""Sets of cases with a name of their own: `tests/run check`. Each is declared here and nowhere else.

A set is a dict: `take` and `leave` are names as `tests/run` accepts them, `leave` wins.
"""

CHECK = {
    # What most changes break, in less than three minutes on two processors when the tree is built.
    "take": (
        "unit", "tidy",
        "http/test_sessions", "http/test_events", "http/test_streams", "http/test_prompts", "http/test_asks",
        "http/test_claims", "http/test_agents", "http/test_identity", "http/test_wire", "http/test_openapi",
        "http/test_permits", "http/test_tasks", "http/test_entities", "http/test_demo", "http/test_model_agent",
        "cli/test_client", "cli/test_commands", "cli/test_ids", "cli/test_asks"),
    # The same again under another account, and what waits for seconds by its nature.
    "leave": (
        "unit/runner_path_ordinary", "unit/runner_process_ordinary", "unit/runner_sandbox_local_ordinary",
        "unit/runner_snapshot_ordinary", "unit/runner_sandbox_local"),
}
SETS = {"check": CHECK}


def is_named(case, name):
    """Whether a word of the command line means this case."""
    if name in SETS:
        return in_set(case, SETS[name])
    return name in (case.name, case.base, case.suite) or case.base.startswith((name + ".", name + "/"))


def in_set(case, chosen):
    """Sets hold what runs beside others, on the plain build and, where there is an engine, on SQLite."""
    if case.flavour != "gcc" or case.engine == "postgres" or case.serial:
        return False
    return (any(is_named(case, name) for name in chosen["take"])
            and not any(is_named(case, name) for name in chosen["leave"]))
