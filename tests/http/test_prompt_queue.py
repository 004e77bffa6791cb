"""What waits can be changed, by compare and set: edited, moved, promoted, withdrawn."""
from harness import check, people
from harness.suite import test
from harness.talk import claim, events, said, send, settle, talk, waiting


def busy(client, count, **body):
    """A session whose turn runs, `count` messages that wait, and the lease."""
    path = talk(client)
    send(client, path, "m0")
    held = claim(client)
    return path, [send(client, path, f"m{n + 1}", **body) for n in range(count)], held


def one(path, receipt):
    return f"{path}/queue/{receipt['prompt_id']}"


def revisions(client, path):
    return [prompt["revision"] for prompt in client.get(path + "/queue", expect=200).json()["prompts"]]


@test
def edit(server):
    """The words change, the place stays; a change of something older is refused with the revision."""
    client = server.client()
    path, receipts, held = busy(client, 2)
    got = client.patch(one(path, receipts[0]), {"text": "better", "metadata": {"k": 1}}, headers={"If-Match": '"1"'},
                       expect=200).json()
    check.contains(got, {"revision": 2, "position": 1, "content": [{"type": "text", "text": "better"}],
                         "metadata": {"k": 1}})
    for headers, body in (({"If-Match": "1"}, {}), ({}, {"revision": 1})):
        problem = check.problem(client.patch(one(path, receipts[0]), {"text": "x", **body}, headers=headers), 409,
                                "prompt_changed")
        check.equal(problem["revision"], 2)
    client.patch(one(path, receipts[0]), {"metadata": {"k": 2}}, expect=200)
    check.equal((waiting(client, path), revisions(client, path)), (["better", "m2"], [3, 1]))
    for body in ({}, {"text": "a", "content": [{"type": "text", "text": "a"}]}, {"text": ""}, {"content": []},
                 {"metadata": {"prompts": []}}, {"unknown": 1}):
        check.problem(client.patch(one(path, receipts[0]), body), 400)
    check.problem(client.patch(one(path, receipts[0]), {"text": "x"}, headers={"If-Match": "x"}), 400, "invalid_if_match")
    settle(client, path, held)
    check.equal(said(client, path), ["m0", "better"])
    check.equal(events(client, path, "user.message")[1]["metadata"]["k"], 2)
    check.problem(client.patch(one(path, receipts[0]), {"text": "too late"}), 404, "prompt_not_found")
    check.equal([event["metadata"]["revision"] for event in events(client, path, "prompt.edited")], [2, 3])


@test
def only_the_author_edits(server):
    """Others may withdraw and move it, not choose its words."""
    owner = server.client()
    helper = people.person(owner, "helper")
    path, receipts, _ = busy(owner, 1)
    owner.post(path + "/participants", {"user_id": helper.id, "role": "collaborator"}, expect=201)
    check.problem(helper.client.patch(one(path, receipts[0]), {"text": "x"}), 403, "not_the_author")
    mine = send(helper.client, path, "mine")
    check.problem(owner.patch(one(path, mine), {"text": "x"}), 403, "not_the_author")
    owner.delete(one(path, mine), expect=204)


@test
def move(server):
    """Before another one, or to a place; the order is the order in which they are said."""
    client = server.client()
    path, receipts, held = busy(client, 4)

    def order(receipt, **body):
        got = client.post(one(path, receipt) + "/move", body, expect=200).json()
        now = waiting(client, path)
        check.equal(now[got["position"] - 1], got["content"][0]["text"], "the place in the answer")
        return now

    first, second, third, fourth = receipts
    check.equal(order(fourth, before=second["prompt_id"]), ["m1", "m4", "m2", "m3"])
    check.equal(order(first, position=3), ["m4", "m2", "m1", "m3"])
    check.equal(order(third, position=1), ["m3", "m4", "m2", "m1"])
    check.equal(order(third, position=99), ["m4", "m2", "m1", "m3"])
    check.equal(order(second, before=first["prompt_id"]), ["m4", "m2", "m1", "m3"])
    check.equal(order(first, before=first["prompt_id"]), ["m4", "m2", "m1", "m3"])
    check.equal(order(fourth, before=third["prompt_id"]), ["m2", "m1", "m4", "m3"])
    check.equal(send(client, path, "m5")["position"], 5)
    check.equal(waiting(client, path), ["m2", "m1", "m4", "m3", "m5"])
    for body in ({}, {"before": first["prompt_id"], "position": 1}, {"position": 0}):
        check.problem(client.post(one(path, second) + "/move", body), 400)
    check.problem(client.post(one(path, second) + "/move", {"before": "nothing"}), 404, "prompt_not_found")
    check.problem(client.post(one(path, third) + "/move", {"position": 1, "revision": 1}), 409, "prompt_changed")
    for _ in range(5):
        settle(client, path, held)
        held = claim(client)
    check.equal(said(client, path), ["m0", "m2", "m1", "m4", "m3", "m5"])
    check.equal(len(events(client, path, "prompt.moved")), 5)


@test
def every_move(server):
    """Each of four to each place, by number: as a list would do it."""
    client = server.client()
    path, receipts, _ = busy(client, 4)
    texts = {receipt["prompt_id"]: f"m{n + 1}" for n, receipt in enumerate(receipts)}
    model = waiting(client, path)
    for receipt in receipts:
        for place in range(1, 5):
            client.post(one(path, receipt) + "/move", {"position": place}, expect=200)
            text = texts[receipt["prompt_id"]]
            model.remove(text)
            model.insert(place - 1, text)
            check.equal(waiting(client, path), model, f"{text} moved to {place}")


@test
def promote(server):
    """The next one; with steer the running turn is interrupted as well."""
    client = server.client()
    path, receipts, held = busy(client, 3)
    got = client.post(one(path, receipts[2]) + "/promote", {}, expect=200).json()
    check.contains(got, {"prompt_id": receipts[2]["prompt_id"], "status": "queued", "position": 1})
    check.equal(waiting(client, path), ["m3", "m1", "m2"])
    check.equal(events(client, path, "turn.interrupt_requested"), [])
    check.problem(client.post(one(path, receipts[2]) + "/promote", {"revision": 1}), 409, "prompt_changed")
    client.post(one(path, receipts[1]) + "/promote", {"steer": True, "revision": 1}, expect=200)
    check.equal(events(client, path, "turn.interrupt_requested")[0]["metadata"]["prompt_id"], receipts[1]["prompt_id"])
    settle(client, path, held)
    check.equal((said(client, path), waiting(client, path)), (["m0", "m2"], ["m3", "m1"]))
    check.problem(client.post(one(path, receipts[1]) + "/promote", {}), 404, "prompt_not_found")


@test
def promote_what_is_collected(server):
    """At rest it is said at once, alone."""
    client = server.client()
    path = talk(client)
    receipts = [send(client, path, text, mode="collect", debounce_ms=3600000) for text in ("c1", "c2")]
    got = client.post(one(path, receipts[1]) + "/promote", {}, expect=200).json()
    check.contains(got, {"status": "dispatched", "position": 0})
    check.equal((said(client, path), waiting(client, path)), (["c2"], ["c1"]))
    check.equal(events(client, path, "user.message")[0]["sequence"], got["sequence"])


@test
def withdraw_by_compare_and_set(server):
    """A revision that is no longer true keeps the message."""
    client = server.client()
    path, receipts, _ = busy(client, 1)
    client.patch(one(path, receipts[0]), {"text": "changed"}, expect=200)
    problem = check.problem(client.delete(one(path, receipts[0]), headers={"If-Match": "1"}), 409, "prompt_changed")
    client.delete(one(path, receipts[0]), headers={"If-Match": str(problem["revision"])}, expect=204)
    check.equal(waiting(client, path), [])


@test
def who_may(server):
    """Viewers and strangers change nothing."""
    owner = server.client()
    viewer, stranger = (people.person(owner, name) for name in ("viewer", "stranger"))
    path, receipts, _ = busy(owner, 1)
    owner.post(path + "/participants", {"user_id": viewer.id, "role": "viewer"}, expect=201)
    for person, status in ((viewer, 403), (stranger, 404)):
        check.problem(person.client.patch(one(path, receipts[0]), {"text": "x"}), status)
        check.problem(person.client.post(one(path, receipts[0]) + "/move", {"position": 1}), status)
        check.problem(person.client.post(one(path, receipts[0]) + "/promote", {}), status)
    check.equal(revisions(owner, path), [1])
