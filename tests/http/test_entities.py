"""Entities: what work is about. Fields, versions, and the sessions that ran for them."""
import datetime

from harness import check, people, test


def make(client, expect=201, **body):
    return client.post("/api/entities", {"type": "ticket", **body}, expect=expect).json()


@test
def fields_and_versions(server):
    """A change names the version it saw; one that was overtaken changes nothing."""
    client = server.client()
    made = make(client, id="t-1", fields={"title": "Broken", "n": 1})
    check.contains(made, {"id": "t-1", "type": "ticket", "fields": {"title": "Broken", "n": 1}, "version": 1})
    check.equal(client.get("/api/entities/t-1", expect=200).json(), made)
    check.equal(make(client, expect=409, id="t-1")["code"], "entity_exists")
    changed = client.patch("/api/entities/t-1", {"fields": {"n": None, "state": "open"}, "version": 1}, expect=200).json()
    check.contains(changed, {"fields": {"title": "Broken", "state": "open"}, "version": 2})
    stale = client.patch("/api/entities/t-1", {"fields": {"state": "shut"}, "version": 1}, expect=409).json()
    check.contains(stale, {"code": "version_changed", "version": 2})
    same = client.patch("/api/entities/t-1", {"fields": {"state": "open"}}, expect=200).json()
    check.equal(same["version"], 2, "nothing differs, nothing changes")
    client.delete("/api/entities/t-1?version=1", expect=409)
    client.delete("/api/entities/t-1?version=2", expect=204)
    check.equal(client.get("/api/entities/t-1", expect=404).json()["code"], "entity_not_found")
    client.patch("/api/entities/t-1", {"fields": {}}, expect=404)
    client.delete("/api/entities/t-1", expect=404)


@test(options=["--entity-bytes-max", "300"])
def what_is_refused(server):
    client = server.client()
    check.equal(make(client, expect=400, id="a b")["code"], "invalid_id")
    check.equal(make(client, expect=400, type="a b")["code"], "invalid_value")
    check.equal(make(client, expect=400, fields=[])["code"], "invalid_member")
    check.equal(make(client, expect=413, fields={"x": "y" * 300})["code"], "entity_too_large")
    made = make(client, fields={"x": "y" * 200})
    path = f"/api/entities/{made['id']}"
    check.equal(client.patch(path, {"fields": {"z": "y" * 100}}, expect=413).json()["code"], "entity_too_large")
    check.equal(client.get(path).json(), made)


@test
def lists(server):
    client = server.client()
    for id in ("c", "a", "b"):
        make(client, id=id, type="page" if id == "b" else "ticket")
    seen, cursor = [], ""
    while cursor is not None:
        page = client.get(f"/api/entities?limit=2{cursor and '&after=' + cursor}", expect=200).json()
        seen += [one["id"] for one in page["entities"]]
        cursor = page["next_cursor"]
    check.equal(seen, ["a", "b", "c"])
    page = client.get("/api/entities?type=page", expect=200).json()
    check.equal([one["id"] for one in page["entities"]], ["b"])


def search(client, query):
    """The ids found by all pages, and how many pages there were."""
    found, pages, cursor = [], 0, ""
    while cursor is not None:
        page = client.get(f"/api/entities?{query}{cursor and '&after=' + cursor}", expect=200).json()
        check.equal(page["has_more"], page["next_cursor"] is not None)
        found += [one["id"] for one in page["entities"]]
        pages, cursor = pages + 1, page["next_cursor"]
    return found, pages


@test
def search_by_text(server):
    """In ids, types, names and values of fields at any depth; whatever the case of letters; as it reads, not as it was sent."""
    client = server.client()
    make(client, id="t-1", fields={"title": "The Login fails", "n": 4711})
    make(client, id="t-2", fields={"who": {"names": ["Ann", "Bert"]}, "done": True})
    client.post("/api/entities", '{"id": "t-3", "type": "page", "fields": {"city": "Z\\u00fcrich", "x": "50%_\\\\"}}',
                headers={"Content-Type": "application/json"}, expect=201)
    for text, want in (("login", ["t-1"]), ("T-", ["t-1", "t-2", "t-3"]), ("4711", ["t-1"]), ("NAMES", ["t-2"]),
                       ("bert", ["t-2"]), ("true", ["t-2"]), ("z%C3%BCrich", ["t-3"]), ("00fc", []), ("page", ["t-3"]),
                       ("%25_", ["t-3"]), ("%25", ["t-3"]), ("_", ["t-3"]), ("nothing", []), ("", ["t-1", "t-2", "t-3"])):
        check.equal(search(client, f"q={text}")[0], want, text)
    check.equal(search(client, "q=t&type=page")[0], ["t-3"])
    check.problem(client.get("/api/entities?q=" + "x" * 201), 400)
    stranger = people.tenant(client, "other").client
    check.equal(search(stranger, "q=t")[0], [])


@test(options=["--entities-searched-max", "200"])
def a_search_has_an_end(server):
    """It looks at so many and says where to go on: nothing is missed or found twice, and pages of any size agree."""
    client = server.client()
    for number in range(450):
        make(client, id=f"e-{number:03}", fields={"kind": "odd" if number % 2 else "even", "rare": number in (7, 399, 400, 449)})
    odd = [f"e-{number:03}" for number in range(1, 450, 2)]
    for limit in (1, 50, 100, 200):
        check.equal(search(client, f"q=odd&limit={limit}")[0], odd, limit)
    rare = [f"e-{number:03}" for number in (7, 399, 400, 449)]
    check.equal(search(client, "q=true&limit=200"), (rare, 3), "three times 200 looked at")
    check.equal(search(client, "q=nothing&limit=200"), ([], 3))


@test
def its_sessions(server):
    """20 unless told, never more than 100, without the parts of a run when asked."""
    client = server.client()
    make(client, id="e")
    parent = people.session(client, entity_id="e", type="mixed")
    people.session(client, entity_id="e", parent_id=parent.split("/")[-1])
    for _ in range(23):
        people.session(client, entity_id="e")
    people.session(client, entity_id="other")
    make(client, id="busy")
    for _ in range(101):
        people.session(client, entity_id="busy")
    page = client.get("/api/entities/e/sessions", expect=200).json()
    check.equal((len(page["sessions"]), page["has_more"]), (20, True))
    page = client.get("/api/entities/e/sessions?limit=100000", expect=200).json()
    check.equal((len(page["sessions"]), page["has_more"]), (25, False))
    heads = client.get("/api/entities/e/sessions?limit=100&parents_only=true", expect=200).json()["sessions"]
    check.equal(len(heads), 24)
    [shown] = [one for one in heads if one["id"] == parent.split("/")[-1]]
    check.contains(shown, {"child_count": 1, "status": "idle", "parent_id": None, "duration_ms": 0, "task_name": None})
    client.get("/api/entities/nothing/sessions", expect=404)
    for limit in (101, 100000):
        page = client.get(f"/api/entities/busy/sessions?limit={limit}", expect=200).json()
        check.equal((len(page["sessions"]), page["has_more"]), (100, True))


def milliseconds(time):
    return round(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1000)


@test
def durations(server):
    """From the start to the end, to now while it runs, and no longer when it is over."""
    client = server.client()
    make(client, id="e")
    path = people.session(client, entity_id="e", type="mixed", status="running")
    later = lambda than: client.get(people.session(client)).json()["created_at"] > than
    shown = lambda: client.get("/api/entities/e/sessions", expect=200).json()["sessions"][0]
    check.eventually(lambda: later(shown()["started_at"]), "the clock goes on")
    check.true(shown()["duration_ms"] > 0, "it runs")
    client.post(path + "/status", {"status": "completed"}, expect=200)
    over = shown()
    check.eventually(lambda: later(over["completed_at"]), "the clock goes on")
    check.equal(shown()["duration_ms"], milliseconds(over["completed_at"]) - milliseconds(over["started_at"]))
    check.equal(shown(), over)


@test
def who_may(server):
    """Members and workers of the tenant; nobody who reaches a part of it only. Sessions stay as private as they are."""
    client = server.client()
    make(client, id="e")
    people.session(client, entity_id="e")
    member = people.person(client, "m").client
    worker = people.token(client, kind="worker", scopes=["read", "claim"])
    channel = people.token(client, kind="channel", id_prefix="telegram:")
    for one in (member, worker):
        one.get("/api/entities/e", expect=200)
        check.equal(one.get("/api/entities/e/sessions", expect=200).json()["sessions"], [])
    channel.get("/api/entities/e", expect=403)
    worker.patch("/api/entities/e", {"fields": {"a": 1}}, expect=403)
    member.patch("/api/entities/e", {"fields": {"a": 1}}, expect=200)
