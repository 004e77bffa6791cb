"""What the tests under faults note about a conversation."""
from harness import check
from harness.suite import test
from harness.talk import claim, settle
from fault.conversation import Conversation, Verdict


@test(on=("sqlite",))
def a_refused_message_may_be_accepted_later(server):
    """Nobody knows whether a cut request was refused, so it is sent again, and then the session is not busy any more."""
    client = server.client()
    talk = Conversation(client, "a", "talk")
    talk.send(client, "first")
    check.true(talk.send(client, "second", mode="reject"), "a refusal is an answer")
    check.equal((len(talk.accepted), len(talk.refused)), (1, 1), "accepted and refused")
    settle(client, talk.path, claim(client))
    check.true(talk.is_at_rest(client), "a refused message keeps nobody waiting")
    check.true(talk.send(client, "second"), "it is accepted now")
    settle(client, talk.path, claim(client))
    check.true(talk.is_at_rest(client), "it was accepted after all, and answered")
    talk.check(client, Verdict())
