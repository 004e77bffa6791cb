"""A conversation with an agent that the server runs: what was promised in it, and whether its log keeps every promise.

Prompts carry a key of their own, so that one whose answer was lost in a crash can be sent again. What must hold, whenever
no request is under way: `check`. What must hold once the session has come to rest: `check_rest`.
"""
from harness import check
from harness.client import Closed, Deadline
from harness.talk import events, prompt_ids

ENDED = {"failed", "completed"}
OVER = {"ask.answered", "ask.expired", "ask.cancelled"}


class Turn:
    """One claim of the log and what happened in it."""

    def __init__(self, number, prompts):
        self.number = number
        self.prompts = prompts  # said before it, in the same exchange
        self.ends = []          # metadata of turn.ended
        self.calls = {}         # tool_call_id: outcomes, in order

    def outcome(self):
        return self.ends[0]["stop_reason"] if self.ends else None


class Log:
    """A session's log, read from its first event."""

    def __init__(self, entries):
        self.entries = entries
        self.turns = []
        self.said = []         # prompt ids in the order of user.message
        self.withdrawn = []
        self.interrupted = []  # prompt ids of prompt.interrupted
        self.asks = {}         # id: types of events about it, in order
        self.wrong = []
        for number, event in enumerate(entries, 1):
            if event["sequence"] != number:
                self.wrong.append(f"event {event['sequence']} stands at {number}")
            self.feed(event)

    def feed(self, event):
        kind, metadata = event["type"], event["metadata"]
        if kind == "user.message":
            self.said += prompt_ids(event) if {"prompts", "prompt_id"} & metadata.keys() else []  # else only appended
        elif kind == "session.claimed":
            self.claimed(metadata["fence"])
        elif kind == "turn.ended":
            self.ended(metadata)
        elif kind in ("agent.tool_call", "agent.tool_result"):
            self.called(kind, event)
        elif kind.startswith("ask."):
            self.asks.setdefault(metadata["id"], []).append(kind)
        elif kind == "prompt.withdrawn":
            self.withdrawn.append(metadata["prompt_id"])
        elif kind == "prompt.interrupted":
            self.interrupted.append(metadata["prompt_id"])

    def claimed(self, fence):
        if self.turns and not self.turns[-1].ends:
            self.wrong.append(f"turn {fence} begins before turn {self.turns[-1].number} ended")
        self.turns.append(Turn(fence, list(self.said)))

    def ended(self, metadata):
        if not self.turns or self.turns[-1].number != metadata["turn"]:
            self.wrong.append(f"turn {metadata['turn']} ends outside of itself")
            return
        turn = self.turns[-1]
        turn.ends.append(metadata)
        self.wrong += [f"call {id} of turn {turn.number} has no result" for id, results in turn.calls.items()
                       if not results]

    def called(self, kind, event):
        id = event["content"][0]["tool_call_id"]
        calls = self.turns[-1].calls if self.turns else {}
        if kind == "agent.tool_call":
            calls[id] = []
        elif id not in calls or calls[id]:
            self.wrong.append(f"result {event['sequence']} of call {id} belongs to no open call")
        else:
            calls[id].append(event["metadata"].get("outcome") or "known")

    def open_asks(self):
        return {id for id, kinds in self.asks.items() if not OVER & set(kinds)}

    def open_turns(self):
        return [turn.number for turn in self.turns if not turn.ends]


class Conversation:
    """One session, what was sent to it and what was promised about it."""

    def __init__(self, client, agent, key, reply=None):
        self.agent = agent
        self.key = key
        self.reply = reply or (lambda ask: {"decision": "once"} if ask["kind"] == "approval" else
                               {"answer": ask["options"][0]})
        made = client.post("/api/sessions", {"type": "agent", "agent": agent, "id": key}, expect=201).json()
        self.path = f"/api/sessions/{made['id']}"
        self.runner_token = None
        self.sent = {}        # key of a prompt: its body
        self.accepted = {}    # key of a prompt: its id
        self.refused = set()
        self.answered = set()  # asks whose answer was acknowledged
        self.offered = set()   # asks that somebody has seen

    # --- what people do; a server that dies meanwhile leaves it undone or done ---

    def send(self, client, text, **body):
        """Sends a prompt, or sends it again; False when nobody answered."""
        key = f"{self.key}#{text}"
        self.sent.setdefault(key, {"text": text, **body})
        try:
            answer = client.post(self.path + "/messages", self.sent[key], headers={"Idempotency-Key": key})
        except (Closed, Deadline, OSError):
            return False
        if answer.status == 409 and answer.json()["code"] == "busy":
            self.refused.add(key)
            return True
        check.equal(answer.status, 202, f"status of a prompt, {answer.body[:300]!r}")
        self.refused.discard(key)  # it was refused while the session was busy, and sent again
        before = self.accepted.setdefault(key, answer.json()["prompt_id"])
        check.equal(answer.json()["prompt_id"], before, "a prompt sent again")
        return True

    def tend(self, client):
        """What a patient person does: sends again what was not answered, decides what is asked, resumes what was cut."""
        for key in self.sent.keys() - self.accepted.keys() - self.refused:
            self.send(client, self.sent[key]["text"])
        for ask in self.pending_asks(client):
            self.answer(client, ask)
        if client.get(self.path, expect=200).json()["status"] == "idle" and self.is_cut(client):
            client.post(self.path + "/resume", {})

    def answer(self, client, ask):
        self.offered.add(ask["id"])
        try:
            answer = client.post(f"{self.path}/asks/{ask['id']}/answer", self.reply(ask))
        except (Closed, Deadline, OSError):
            return
        check.one_of(answer.status, (200, 409), f"status of an answer, {answer.body[:300]!r}")
        if answer.status == 200:
            self.answered.add(ask["id"])

    def pending_asks(self, client):
        asks = client.get(self.path + "/asks", query={"state": "pending"}, expect=200).json()["asks"]
        return [ask for ask in asks if ask["state"] == "pending"]

    def is_cut(self, client):
        last = events(client, self.path, "prompt.interrupted", "user.message", "session.claimed")[-1:]
        return bool(last) and last[0]["type"] == "prompt.interrupted"

    # --- what must hold ---

    def read(self, client):
        """The log and the row of one moment."""
        while True:
            row = client.get(self.path, expect=200).json()
            entries = events(client, self.path)
            if len(entries) == row["last_sequence"]:
                return row, Log(entries)

    def queued(self, client):
        return [one["prompt_id"] for one in client.get(self.path + "/queue", expect=200).json()["prompts"]]

    def check(self, client, verdict):
        """Nothing promised is missing and nothing is there twice."""
        queued = self.queued(client)  # before the log: what is dispatched in between may be found twice, never nowhere
        row, log = self.read(client)
        verdict.wrong += [f"{self.path}: {problem}" for problem in log.wrong]
        verdict.prompts |= set(self.accepted.values())
        for id in set(self.accepted.values()) - set(log.said) - set(queued) - set(log.withdrawn):
            verdict.lost.add((self.path, id))
        verdict.repeated |= {(self.path, id) for id in log.said if log.said.count(id) > 1}
        for id in self.answered:
            if "ask.answered" not in log.asks.get(id, []):
                verdict.lost.add((self.path, "answer", id))
        for id, kinds in log.asks.items():
            if sum(kind in OVER for kind in kinds) > 1:
                verdict.repeated.add((self.path, "ask", id, tuple(kinds)))
        return row, log

    def is_at_rest(self, client):
        """Nothing waits, nobody is asked, and every accepted prompt has been dealt with."""
        status = client.get(self.path, expect=200).json()["status"]
        ended = status in ENDED
        is_sent = self.sent.keys() == self.accepted.keys() | self.refused
        return ended or (status == "idle" and is_sent and not self.queued(client) and not self.is_cut(client)
                         and not self.pending_asks(client))

    def check_rest(self, client, verdict):
        """Each turn ended once; each prompt that was said was answered to its end, at most once."""
        row, log = self.check(client, verdict)
        verdict.wrong += [f"{self.path}: turn {number} never ended" for number in log.open_turns()]
        verdict.wrong += [f"{self.path}: turn {turn.number} ended {len(turn.ends)} times" for turn in log.turns
                          if len(turn.ends) > 1]
        verdict.turns += len(log.turns)
        self.check_answers(row, log, verdict)
        folded = client.get(self.path, query={"at": row["last_sequence"]}, expect=200).json()
        differs = [name for name in row.keys() | folded.keys() if row.get(name) != folded.get(name)]
        verdict.wrong += [f"{self.path}: {name} is {row.get(name)}, by its log {folded.get(name)}" for name in differs]
        if row["status"] == "idle" and log.open_asks():
            verdict.wrong.append(f"{self.path} is at rest and asks {log.open_asks()}")

    def check_answers(self, row, log, verdict):
        done = [turn for turn in log.turns if turn.outcome() not in (None, "aborted")]
        for first, second in zip(done, done[1:]):
            if first.prompts == second.prompts:
                verdict.repeated.add((self.path, "turns", first.number, second.number))
        answered = set().union(*[turn.prompts for turn in done])
        for id in set(log.said) - answered - set(log.withdrawn):
            if row["status"] not in ENDED and not self.was_told_to_end(log):
                verdict.lost.add((self.path, "an answer to", id))

    @staticmethod
    def was_told_to_end(log):
        return any(event["type"] == "turn.interrupt_requested" for event in log.entries)


class Verdict:
    """About many conversations."""

    def __init__(self):
        self.prompts = set()
        self.turns = 0
        self.lost = set()
        self.repeated = set()
        self.wrong = []

    def sentence(self):
        """The good sentence; a Failure when it is another."""
        told = (f"lost {len(self.lost)} of {len(self.prompts)} accepted prompts, repeated {len(self.repeated)}, "
                f"turns {self.turns} ended once")
        faults = [f"lost: {entry}" for entry in sorted(self.lost, key=str)]
        faults += [f"repeated: {entry}" for entry in sorted(self.repeated, key=str)] + self.wrong
        if faults:
            check.fail("\n  ".join([told, *dict.fromkeys(faults[:30])]))
        return told
