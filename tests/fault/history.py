"""What clients sent, what they were told, and whether the log keeps every promise that was made.

Every event a client appends carries a marker of its own, so that it can be recognised in the log whatever happened to
its request. A History is filled by many threads while a server lives and dies, and compared with the log afterwards.
"""
import json
import threading

from harness import check

UNKNOWN_CODES = {"commit_unknown"}  # refused, but nobody knows whether it was written


class Write:
    """One request that appends events: sent, and then acknowledged, refused, or left without an answer."""

    def __init__(self, session, markers, body, headers, fence=None):
        self.session = session
        self.markers = markers
        self.body = body
        self.headers = dict(headers)
        self.fence = fence  # of the lease it was sent under
        self.state = "open"
        self.sequences = None
        self.answer = None

    def is_repeatable(self):
        """Whether sending it again must not append again."""
        return "Idempotency-Key" in self.headers or all("external_event_id" in event for event in self.body["events"])


class Claim:
    """One acknowledged claim and how its holder ended it."""

    def __init__(self, session, fence, token, worker, lease_ms):
        self.session = session
        self.fence = fence
        self.token = token
        self.worker = worker
        self.lease_ms = lease_ms
        self.end = None         # ("settled", status) or ("released", None), as acknowledged
        self.is_ending = False  # such a call was sent

    def headers(self):
        """What the holder sends with every call."""
        return {"Sojourn-Lease": self.token}


class Story:
    """One session's log, read from its first event: sequences, markers and the lives of its leases."""

    def __init__(self, session):
        self.session = session
        self.last = 0
        self.sequence_of = {}
        self.fence_of = {}
        self.texts = {}
        self.fence = 0
        self.open_fence = None
        self.leases = {}  # fence → {"worker", "end"}
        self.problems = []
        self.repeated = []

    def feed(self, event):
        """The next event of the log."""
        if event["sequence"] != self.last + 1:
            self.problems.append(f"event {event['sequence']} follows {self.last}")
        self.last = event["sequence"]
        self.texts[self.last] = json.dumps(event, sort_keys=True)
        marker = event["metadata"].get("marker")
        if marker is not None:
            if marker in self.sequence_of:
                self.repeated.append(marker)
            self.sequence_of[marker] = self.last
            self.fence_of[marker] = self.open_fence
        if event["type"].startswith("session."):
            self.follow_lease(event["type"], event["metadata"])

    def follow_lease(self, kind, metadata):
        """Claims come one after the other, each with the next fence, and each ends before the next begins."""
        if kind == "session.claimed":
            if self.open_fence is not None:
                self.problems.append(f"fence {metadata['fence']} was given out while {self.open_fence} was live")
            if metadata["fence"] != self.fence + 1:
                self.problems.append(f"fence {metadata['fence']} follows {self.fence}")
            self.fence = self.open_fence = metadata["fence"]
            self.leases[self.fence] = {"worker": metadata["worker"], "end": None}
        elif kind in ("session.released", "session.lease_lost") and self.open_fence:
            self.leases[self.open_fence]["end"] = (kind.removeprefix("session."), None)
        elif kind == "session.status_change" and metadata["from"] == "running" and self.open_fence:
            lease = self.leases[self.open_fence]
            lease["end"] = lease["end"] or ("settled", metadata["to"])
            self.open_fence = None


class History:
    """Everything that was sent and told, by session. Any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.writes = {}
        self.claims = {}
        self.seen = {}   # session → {sequence: text}, as streams told it
        self.stories = {}
        self.wrong = []  # what no reader may ever see
        self.acknowledged = 0
        self.lost = set()
        self.repeated = set()

    # --- told by the clients ---

    def begin(self, write):
        """Before a request is sent."""
        with self.lock:
            self.writes.setdefault(write.session, []).append(write)

    def end(self, write, response):
        """Its answer came. 201 is a promise; a refusal is one too, unless it says that nobody knows."""
        with self.lock:
            if response.status == 201:
                write.state = "acknowledged"
                write.answer = response.json()
                write.sequences = [event["sequence"] for event in write.answer["events"]]
                self.acknowledged += len(write.markers)
                self.changed.notify_all()
            elif response.status < 500 or response.json()["code"] not in UNKNOWN_CODES:
                write.state = "refused"

    def claimed(self, claim):
        """A claim was acknowledged."""
        with self.lock:
            known = self.claims.setdefault(claim.session, {})
            if claim.fence in known:
                self.repeated.add((claim.session, "fence", claim.fence))
            known[claim.fence] = claim
            self.acknowledged += 1
            self.changed.notify_all()

    def ended(self, claim, how, status=None):
        """A settle or release was acknowledged."""
        with self.lock:
            claim.end = (how, status)
            self.acknowledged += 1
            self.changed.notify_all()

    def created(self, session):
        """A session's creation was acknowledged."""
        with self.lock:
            self.writes.setdefault(session, [])
            self.acknowledged += 1
            self.changed.notify_all()

    def saw(self, reader, event):
        """A stream told an event."""
        text = json.dumps(event, sort_keys=True)
        with self.lock:
            told = self.seen.setdefault(event["session_id"], {})
            before = told.setdefault(event["sequence"], text)
            if before != text:
                self.wrong.append(f"{reader} was told {text}, somebody else {before}")

    def complain(self, sentence):
        """A reader saw what must not happen."""
        with self.lock:
            self.wrong.append(sentence)

    def wait_acknowledged(self, count, seconds=10):
        """Waits until `count` writes are acknowledged in all; False when that takes too long."""
        with self.lock:
            return self.changed.wait_for(lambda: self.acknowledged >= count, seconds * check.patience())

    # --- compared with the log ---

    def read_log(self, client, session):
        """Feeds the story of a session with what is new in its log."""
        story = self.stories.get(session) or self.stories.setdefault(session, Story(session))
        while True:
            page = client.get(f"/api/sessions/{session}/events", query={"after": story.last, "limit": 1000},
                              expect=200).json()
            for event in page["events"]:
                story.feed(event)
            if not page["has_more"]:
                return story

    def forget_logs(self):
        """The next check reads every log from its beginning and must find what the last one found."""
        former, self.stories = self.stories, {}
        return former

    def check_session(self, client, session):
        """One session against its log and its row. No request of it may be under way."""
        with self.lock:
            seen = dict(self.seen.get(session, {}))
        row, story = self.read_quiet(client, session)
        self.check_row(client, row, story)
        for marker in story.repeated:
            self.repeated.add((session, "event", marker))
        for write in self.writes.get(session, []):
            self.check_write(story, write)
        for claim in self.claims.get(session, {}).values():
            self.check_claim(story, claim)
        self.check_unknown(story)
        for sequence, text in seen.items():
            if story.texts.get(sequence) != text:
                self.wrong.append(f"a stream told {text}; event {sequence} of the log is {story.texts.get(sequence)}")
        self.wrong += [f"session {session}: {problem}" for problem in story.problems]

    def read_quiet(self, client, session):
        """(row, story) of one moment: a lease may run out while the two are read."""
        while True:
            row = client.get(f"/api/sessions/{session}", expect=200).json()
            story = self.read_log(client, session)
            if client.get(f"/api/sessions/{session}", expect=200).json() == row:
                return row, story

    def check_row(self, client, row, story):
        """The row is the fold of the log."""
        if row["last_sequence"] != story.last:
            self.wrong.append(f"session {story.session} ends at {row['last_sequence']}, its log at {story.last}")
            return
        folded = client.get(f"/api/sessions/{story.session}", query={"at": story.last}, expect=200).json()
        for name in row.keys() | folded.keys():
            if row.get(name) != folded.get(name):
                self.wrong.append(f"{name} of session {story.session} is {check.show(row.get(name))}, by its log "
                                  f"{check.show(folded.get(name))}")

    def check_write(self, story, write):
        """An acknowledged write is there, as told; a refused one is not; an open one is there as a whole or not."""
        found = [story.sequence_of.get(marker) for marker in write.markers]
        if write.state == "acknowledged":
            for marker, sequence, told in zip(write.markers, found, write.sequences):
                if sequence is None:
                    self.lost.add((write.session, marker))
                elif sequence != told:
                    self.wrong.append(f"{marker} was acknowledged as {told} and is {sequence}")
        elif write.state == "refused" and any(found):
            self.wrong.append(f"{write.markers} was refused and is in the log at {found}")
        elif any(found) and (None in found or found != list(range(found[0], found[0] + len(found)))):
            self.wrong.append(f"one request's events {write.markers} are in the log at {found}")
        if write.fence is not None:
            fences = {story.fence_of[marker] for marker in write.markers if marker in story.fence_of}
            if fences - {write.fence}:
                self.wrong.append(f"{write.markers} was written under lease {write.fence} while {fences} was live")

    def check_claim(self, story, claim):
        """An acknowledged claim is in the log, and so is the end its holder was told."""
        lease = story.leases.get(claim.fence)
        if lease is None:
            self.lost.add((claim.session, "claim", claim.fence))
            return
        if lease["worker"] != claim.worker:
            self.wrong.append(f"fence {claim.fence} of {claim.session} is {lease['worker']}'s, not {claim.worker}'s")
        if claim.end and lease["end"] != claim.end:
            self.lost.add((claim.session, claim.end, claim.fence, f"the log says {lease['end']}"))
        own_end = lease["end"] and lease["end"][0] in ("settled", "released")
        if own_end and not claim.is_ending:
            self.wrong.append(f"fence {claim.fence} of {claim.session} ended {lease['end']}, which nobody asked for")

    def check_unknown(self, story):
        """Nothing is in the log that nobody sent."""
        sent = {marker for write in self.writes.get(story.session, []) for marker in write.markers}
        for marker in story.sequence_of.keys() - sent:
            self.wrong.append(f"{marker} of session {story.session} was never sent")

    def verdict(self):
        """The sentence about all of it; a Failure when it is not the good one."""
        sentence = f"lost {len(self.lost)} of {self.acknowledged} acknowledged, repeated {len(self.repeated)}"
        faults = [f"lost: {entry}" for entry in sorted(self.lost, key=str)]
        faults += [f"repeated: {entry}" for entry in sorted(self.repeated, key=str)]
        faults += self.wrong
        if faults:
            check.fail("\n  ".join([sentence, *faults[:20]]))
        return sentence
