"""Where a session's work stands in git, and which files it changed."""
from harness import check, people
from harness.suite import test
from harness.talk import claim, send, settle, talk


EMPTY = {"source_type": None, "source_repo_url": None, "source_repo_branch": None, "source_pr_number": None,
         "source_issue_number": None, "branch": None, "base_branch": None, "pr_number": None, "pr_state": None,
         "pr_url": None, "commit_count": 0}


@test
def every_session_has_a_git_state(server):
    """S3-006, S3-045, S3-118: one typed object, there from the start; what is told replaces what it names."""
    client = server.client()
    path = people.session(client)
    check.equal(client.get(path + "/git-state", expect=200).json(), EMPTY)
    check.equal(client.get(path).json()["details"]["git_state"], EMPTY)
    told = {"source_type": "pr", "source_pr_number": 7, "branch": "fix", "commit_count": 2}
    check.equal(client.patch(path + "/git-state", told, expect=200).json(), EMPTY | told)
    more = {"pr_state": "open", "pr_url": "https://git.test/1", "source_pr_number": None}
    after = EMPTY | told | more
    check.equal(client.patch(path + "/git-state", more, expect=200).json(), after)
    check.equal(client.get(path + "/git-state").json(), after)
    sequence = client.get(path).json()["last_sequence"]
    client.patch(path + "/git-state", more, expect=200)
    check.equal(client.get(path).json()["last_sequence"], sequence, "nothing changed, nothing is written")
    made = people.session(client, details={"repo_id": "r", "git_state": {"branch": "b"}})
    client.patch(made, {"details": {"git_state": {"commit_count": 1}}}, expect=200)
    check.equal(client.get(made + "/git-state").json(), EMPTY | {"branch": "b", "commit_count": 1})
    check.equal(client.get(made).json()["details"]["repo_id"], "r")


@test
def git_words_are_closed(server):
    """S3-006: pr, issue, branch, manual; open, closed, merged; counts are whole."""
    client = server.client()
    path = people.session(client)
    for body in ({"source_type": "fork"}, {"pr_state": "draft"}, {"commit_count": -1}, {"pr_number": "7"},
                 {"branch": ""}, {"branch": 1}):
        check.problem(client.patch(path + "/git-state", body), 400, "invalid_git_state")
        check.problem(client.patch(path, {"details": {"git_state": body}}), 400, "invalid_git_state")
    check.problem(client.patch(path + "/git-state", {"color": "red"}), 400)
    check.problem(client.patch(path, {"details": {"git_state": {"color": "red"}}}), 400, "invalid_git_state")
    check.problem(client.patch(path, {"details": {"git_state": "main"}}), 400, "invalid_detail")
    for word in ("pr", "issue", "branch", "manual"):
        client.patch(path + "/git-state", {"source_type": word}, expect=200)
    for word in ("open", "closed", "merged"):
        client.patch(path + "/git-state", {"pr_state": word}, expect=200)


@test
def who_runs_the_turn_tells(server):
    """A worker with the lease writes both; a viewer reads and writes neither."""
    client = server.client()
    path = talk(client, visibility="org_visible")
    send(client, path, "go")
    held = claim(client)
    worker = people.token(client, kind="worker", scopes=["claim"])
    worker.patch(path + "/git-state", {"branch": "w"}, headers=held, expect=200)
    worker.post(path + "/events", {"events": [{"type": "agent.files_changed", "metadata": {"files": ["a"]}}]},
                headers=held, expect=201)
    settle(client, path, held)
    viewer = people.person(client, "viewer").client
    check.equal(viewer.get(path + "/git-state", expect=200).json()["branch"], "w")
    check.equal(len(viewer.get(path + "/files-changed", expect=200).json()["files"]), 1)
    check.problem(viewer.patch(path + "/git-state", {"branch": "v"}), 403)
    check.problem(worker.patch(path + "/git-state", {"branch": "x"}, headers=held), 409)
    stranger = people.tenant(client, "elsewhere").client
    for part in ("/git-state", "/files-changed"):
        check.problem(stranger.get(path + part), 404)


@test
def files_are_there_once(env):
    """S3-007, S3-058: one row for each path, the newest told; pages by path; gone with the session."""
    server = env.server()
    client = server.client()
    path = people.session(client)

    def tell(*files, type="external.files_changed", expect=201):
        return client.post(path + "/events", {"events": [{"type": type, "metadata": {"files": list(files)}}]}, expect=expect)

    tell("b.c", {"path": "a.c", "status": "added", "additions": 10}, {"path": "é/z", "status": "deleted"})
    tell({"path": "a.c", "additions": 12, "deletions": 3}, {"path": "new.c", "status": "renamed", "previous_path": "b.c"})
    page = client.get(path + "/files-changed", expect=200).json()
    check.equal([(file["path"], file["status"], file["additions"], file["deletions"], file["sequence"])
                 for file in page["files"]],
                [("a.c", "modified", 12, 3, 3), ("b.c", "modified", 0, 0, 2), ("new.c", "renamed", 0, 0, 3),
                 ("é/z", "deleted", 0, 0, 2)])
    check.equal((page["has_more"], page["next_cursor"], page["files"][2]["previous_path"]), (False, None, "b.c"))
    seen, query = [], {"limit": 2}
    while True:
        page = client.get(path + "/files-changed", query=query, expect=200).json()
        seen += [file["path"] for file in page["files"]]
        if not page["has_more"]:
            break
        query["after"] = page["next_cursor"]
    check.equal(seen, ["a.c", "b.c", "new.c", "é/z"])
    for bad in (1, {"status": "added"}, {"path": ""}, {"path": "x", "status": "gone"}, {"path": "x", "additions": -1}):
        check.problem(tell(bad, expect=None), 400, "invalid_payload")
    check.problem(client.post(path + "/events", {"events": [{"type": "agent.files_changed"}]}), 400, "invalid_payload")
    client.delete(path, expect=204)
    server.stop()
    server.verify()
