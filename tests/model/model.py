"""A small model of the server: sessions, their logs, the queue, leases, participants and share links, all in memory.

Every command of the model decides the same way the documents say the server decides, and returns what the server must
answer. It is written down a second time on purpose: in words that are easy to read, with none of the server's tricks.
"""

ENDED = {"completed", "failed", "expired", "abandoned"}
IN_TURN = {"running", "waiting_human", "awaiting_tool"}
GOES_ON = {"running", "pending", "waiting_human", "awaiting_tool"}  # the turn of a worker does not end so
STATES = ["draft", "pending", "running", "waiting_human", "awaiting_tool", "idle", "completed", "failed", "expired",
          "abandoned"]
EDGES = {
    "draft": {"pending", "running", "idle"} | ENDED,
    "pending": {"running", "idle"} | ENDED,
    "running": {"pending", "waiting_human", "awaiting_tool", "idle"} | ENDED,
    "waiting_human": {"pending", "running", "awaiting_tool", "idle"} | ENDED,
    "awaiting_tool": {"pending", "running", "waiting_human", "idle"} | ENDED,
    "idle": {"pending", "running"} | ENDED,
    "completed": {"idle"}, "expired": {"idle"}, "abandoned": {"idle"}, "failed": set(),
}
INITIAL = {"agent": {"draft", "pending", "idle"}, "response": {"draft"}, "tool": {"draft"},
           "mixed": {"running", "idle"}}
FIRST = {"agent": ("idle", "pending"), "response": ("draft", "draft"), "tool": ("draft", "draft"),
         "mixed": ("idle", "running")}
CONVERSATIONS = {"agent", "mixed"}
ROLES = ["none", "viewer", "collaborator", "owner"]
VISIBLE_ROLE = {"private": "none", "org_visible": "viewer", "org_joinable": "collaborator"}
PRIVATE_PURPOSES = {"orchestrator", "workflow"}
ATTEMPTS_MAX = 3


def greater(*roles):
    """The strongest of some roles."""
    return max(roles, key=ROLES.index)


class Refused(Exception):
    """The command is refused with this status and code; nothing has changed."""

    def __init__(self, status, code):
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code


class Principal:
    """Who calls: a user with a place in the tenant, or a worker."""

    def __init__(self, name, kind, member=None, user_id=None):
        self.name = name
        self.kind = kind
        self.member = member
        self.user_id = user_id


class Lease:
    """The live lease of a session."""

    def __init__(self, token, fence, worker):
        self.token = token
        self.fence = fence
        self.worker = worker


class Link:
    """A share link."""

    def __init__(self, id, token, role, max_uses):
        self.id = id
        self.token = token
        self.role = role
        self.max_uses = max_uses
        self.used_by = set()
        self.active = True


class Session:
    """One session: the fields the server shows, and its log as (type, members of its metadata)."""

    def __init__(self, key, id, owner):
        self.key = key
        self.id = id
        self.owner = owner
        self.log = []
        self.fields = {}
        self.participants = {}
        self.links = {}
        self.lease = None
        self.queued_at = None
        self.external = {}

    def __getitem__(self, name):
        return self.fields[name]

    def add(self, kind, **metadata):
        """Appends one event."""
        self.log.append((kind, metadata))

    def move(self, to, reason=None, stop=None, requeued=False, result=None, usage=None, error=None):
        """The effects of an allowed move, and its events."""
        fields, source = self.fields, self.fields["status"]
        self.add("session.status_change", **{"from": source, "to": to})
        if source in ENDED:
            fields.update(error=None, stop_reason=None, archived=False)
        if to == "running":
            fields["error"] = None
        if to == "pending" and not requeued:
            fields["claim_attempts"] = 0
        if source in IN_TURN and (to == "idle" or (to == "completed" and stop in ("completed", None))):
            fields["turn_count"] += 1
        fields["status"] = to
        fields["status_reason"] = reason
        fields["stop_reason"] = stop if to in ENDED else None
        if to == "failed" or error:
            code, message = error or (stop, reason or "The work failed.")
            self.add("session.error", code=code or stop, message=message or reason or "The work failed.")
            fields["error"] = {"code": code or stop, "message": message or reason or "The work failed."}
        elif to == "completed":
            self.add("session.completed")
            fields["error"] = None
        if result is not None:
            fields["result"] = result
        for name, value in (usage or {}).items():
            fields["usage"] = dict(fields["usage"] or {})
            fields["usage"][name] = fields["usage"].get(name, 0) + value
        if self.lease and to not in GOES_ON:  # taken from its worker
            self.add("turn.ended", turn=fields["fence"], stop_reason="aborted")
        if to != "running":
            self.lease = None
        if to != "pending":
            self.queued_at = None


class Model:
    """All of it."""

    def __init__(self, users):
        self.users = users  # user id → Principal
        self.sessions = {}
        self.deleted = []
        self.next_key = 1

    # --- who may ---

    def role(self, who, session, token=None):
        """The caller's role in a session."""
        if who.kind == "user" and (who.member == "owner" or who.user_id == session.owner):
            return "owner"
        if token and session.lease and session.lease.token == token:
            return "collaborator"
        if session["purpose"] in PRIVATE_PURPOSES:
            return "none"
        visible = VISIBLE_ROLE[session["visibility"]]
        if who.kind != "user":
            return min(visible, "viewer", key=ROLES.index)
        if who.member == "admin":
            visible = greater(visible, "viewer")
        return greater(visible, session.participants.get(who.user_id, "none"))

    def enter(self, who, id, needed, token=None):
        """The session, or the refusal."""
        session = self.sessions.get(id)
        if session is None:
            raise Refused(409, "stale_lease") if token and who.kind == "worker" else Refused(404, "session_not_found")
        role = self.role(who, session, token)
        holds = bool(token and session.lease and session.lease.token == token)
        if token and not holds and (role != "none" or who.kind == "worker"):
            raise Refused(409, "stale_lease")
        if role == "none":
            raise Refused(404, "session_not_found")
        if ROLES.index(role) < ROLES.index(needed):
            raise Refused(403, "insufficient_role")
        return session, role, holds

    def visible(self, who):
        """The sessions a user sees in lists."""
        return [session for session in self.sessions.values() if self.role(who, session) != "none"]

    # --- sessions ---

    def create(self, who, body):
        """Creates, or opens the one with the given id: (session, is new)."""
        id = body.get("id")
        if id in self.sessions:
            return self.open(who, body), False
        if id in self.deleted:
            raise Refused(410, "session_deleted")
        parent = None
        if "parent_id" in body:
            try:
                parent, _, _ = self.enter(who, body["parent_id"], "collaborator")
            except Refused as refusal:
                raise Refused(400, "unknown_parent") if refusal.status == 404 else refusal
        kind = body["type"]
        dispatched = "prompt" in body or "task_id" in body
        status = body.get("status") or FIRST[kind][dispatched]
        if body.get("purpose") == "approval":
            status = body.get("status") or "waiting_human"
            if status != "waiting_human":
                raise Refused(400, "invalid_initial_status")
        elif status not in INITIAL[kind]:
            raise Refused(400, "invalid_initial_status")
        session = self.add(who, id, body, status)
        if parent:
            parent.add("session.child_created", child_id=session.id)
        return session, True

    def add(self, who, id, body, status):
        """A new row and its first event."""
        session = Session(self.next_key, id, who.user_id)
        self.next_key += 1
        session.fields = {
            "type": body["type"], "status": status, "purpose": body.get("purpose", "interactive"),
            "visibility": body.get("visibility", "private"), "queue_mode": body.get("queue_mode", "followup"),
            "metadata": dict(body.get("metadata", {})), "priority": body.get("priority", 0),
            "attempt": body.get("attempt", 1), "archived": False, "owner_id": who.user_id,
        }
        texts = ("title", "agent", "parent_id", "task_id", "retry_of", "prompt")
        counts = ("fence", "claim_attempts", "message_count", "tool_call_count", "turn_count")
        session.fields |= {name: body.get(name) for name in texts} | dict.fromkeys(counts, 0)
        session.fields |= dict.fromkeys(("preview", "result", "usage", "error", "stop_reason", "status_reason"))
        session.add("session.created", type=body["type"], status=status)
        if body.get("prompt") and body["type"] in ("agent", "mixed"):  # a conversation begins with what was said
            session.add("user.message")
            session.fields |= {"message_count": 1, "preview": body["prompt"]}
        return session

    def register(self, session, id):
        """The server has named a new session."""
        session.id = id
        self.sessions[id] = session

    def open(self, who, body):
        """An existing session is opened: metadata merged, ended conversations reopened, archived ones shown."""
        try:
            session, _, _ = self.enter(who, body["id"], "collaborator")
        except Refused as refusal:
            raise Refused(409, "id_taken") if refusal.status == 404 else refusal
        if session["type"] != body["type"]:
            raise Refused(409, "type_mismatch")
        if self.can_reopen(session):
            self.do_reopen(session, "opened again")
        elif session["archived"]:
            session.fields["archived"] = False
            session.add("session.unarchived")
        merged = merge(session["metadata"], body.get("metadata", {}))
        if merged != session["metadata"]:
            session.fields["metadata"] = merged
            session.add("session.updated")
        return session

    def update(self, who, id, patch):
        """Title, metadata, visibility, queue mode."""
        session, _, _ = self.enter(who, id, "owner")
        changed = {name: value for name, value in patch.items() if name != "metadata" and session[name] != value}
        if "metadata" in patch:
            merged = merge(session["metadata"], patch["metadata"])
            if merged != session["metadata"]:
                changed["metadata"] = merged
        if changed:
            session.fields.update(changed)
            session.add("session.updated")
        return session

    def archive(self, who, id, archived):
        """Hides or shows."""
        session, _, _ = self.enter(who, id, "owner")
        if session["archived"] != archived:
            session.fields["archived"] = archived
            session.add("session.archived" if archived else "session.unarchived")
        return session

    def delete(self, who, id):
        """Erases."""
        session, _, _ = self.enter(who, id, "owner")
        if session["status"] in IN_TURN:
            raise Refused(409, "session_running")
        if session["status"] not in ENDED and session["parent_id"] in self.sessions:
            self.sessions[session["parent_id"]].add("session.child_ended", child_id=session.id,
                                                    status="completed" if session["status"] == "idle" else "abandoned")
        del self.sessions[id]
        self.deleted.append(id)
        return session

    def finish(self, session):
        """What every end does besides the move itself."""
        if session["status"] in ENDED and session["parent_id"] in self.sessions:
            self.sessions[session["parent_id"]].add("session.child_ended", child_id=session.id,
                                                    status=session["status"])

    def set_status(self, who, id, to, reason=None):
        """A move asked for by a person."""
        session, _, _ = self.enter(who, id, "owner" if to in ENDED else "collaborator")
        source = session["status"]
        if source == to:
            return session
        if to not in EDGES[source]:
            raise Refused(409, "illegal_transition")
        if source in ENDED:
            if session["type"] not in CONVERSATIONS:
                raise Refused(409, "not_a_conversation")
            self.do_reopen(session, reason)
            return session
        if session["type"] == "agent" and to == "running":
            raise Refused(409, "claim_needed")
        session.move(to, reason, "user" if to in ENDED else None)
        self.finish(session)
        return session

    def can_reopen(self, session):
        """Whether an ended session is a conversation that can go on."""
        return session["type"] in CONVERSATIONS and session["status"] in ENDED - {"failed"}

    def do_reopen(self, session, reason):
        """Its effects."""
        session.add("session.reopened")
        session.move("idle", reason)

    def reopen(self, who, id):
        """An ended conversation goes on."""
        session, _, _ = self.enter(who, id, "collaborator")
        if session["status"] not in ENDED:
            return session
        if session["type"] not in CONVERSATIONS:
            raise Refused(409, "not_a_conversation")
        if session["status"] == "failed":
            raise Refused(409, "illegal_transition")
        self.do_reopen(session, "reopened")
        return session

    def retry(self, who, id):
        """Failed work again, as a new session."""
        old, _, _ = self.enter(who, id, "collaborator")
        if old["status"] not in ENDED - {"completed"}:
            raise Refused(409, "not_failed")
        kept = ("type", "agent", "title", "visibility", "purpose", "queue_mode", "metadata", "priority", "parent_id",
                "task_id", "prompt")
        body = {name: old[name] for name in kept if old[name] is not None}
        body |= {"attempt": old["attempt"] + 1, "retry_of": old.id}
        parent = None
        if "parent_id" in body:
            try:
                parent, _, _ = self.enter(who, body["parent_id"], "collaborator")
            except Refused as refusal:
                raise Refused(400, "unknown_parent") if refusal.status == 404 else refusal
        first = {"agent": "pending", "mixed": "running"}.get(old["type"], "draft")
        session = self.add(who, None, body, "waiting_human" if old["purpose"] == "approval" else first)
        if parent:
            parent.add("session.child_created", child_id=None)
        return session

    def expire(self, session):
        """Its time to live is over."""
        session.move("expired", "its time to live is over", "expired")
        self.finish(session)

    # --- events ---

    def append(self, who, id, events, token=None, if_sequence=None):
        """Appends, all or none: the sequence of each, and whether it was there before."""
        session, role, holds = self.enter(who, id, "collaborator", token)
        if if_sequence is not None and if_sequence != len(session.log):
            raise Refused(409, "sequence_mismatch")
        for event in events:
            if event["type"].startswith("session."):
                raise Refused(403, "reserved_event_type")
            if event["type"].startswith("agent.") and role != "owner" and not holds:
                raise Refused(403, "holder_events_only")
        answer = []
        for event in events:
            external = event.get("external_event_id")
            if external in session.external:
                answer.append((session.external[external], True))
                continue
            session.add(event["type"], **event.get("metadata", {}))
            if external:
                session.external[external] = len(session.log)
            answer.append((len(session.log), False))
            if event["type"] in ("user.message", "agent.message"):
                session.fields["message_count"] += 1
                session.fields["preview"] = event["content"][0]["text"]
            if event["type"] == "agent.tool_call":
                session.fields["tool_call_count"] += 1
        return session, answer

    # --- claims ---

    def queue(self, agents=None, types=None):
        """What is claimable, in the order in which it is given out."""
        waiting = [session for session in self.sessions.values() if session["status"] == "pending"]
        if agents:
            waiting = [session for session in waiting if session["agent"] in agents]
        if types:
            waiting = [session for session in waiting if session["type"] in types]
        return sorted(waiting, key=lambda session: (-session["priority"], session.queued_at, session.key))

    def claim(self, who, worker, most, agents, types):
        """The sessions a claim takes."""
        if who.kind == "user" and who.member != "owner":
            raise Refused(403, "role_required")
        taken = self.queue(agents, types)[:most]
        for session in taken:
            attempts = session["claim_attempts"]
            session.move("running", f"claimed by {worker}")
            session.fields["fence"] += 1
            session.fields["claim_attempts"] = attempts + 1
            session.add("session.claimed", worker=worker, fence=session["fence"], attempt=attempts + 1)
            session.lease = Lease(None, session["fence"], worker)
        return taken

    def hold(self, who, id, token):
        """The session of a holder."""
        session, _, holds = self.enter(who, id, "collaborator", token)
        if not holds:
            raise Refused(409, "lease_required")
        return session

    def settle(self, who, id, token, to, result=None, usage=None, error=None, reason=None):
        """The end of a turn."""
        session, role, holds = self.enter(who, id, "collaborator", token)
        if session.lease and not holds:
            raise Refused(409, "lease_required")
        if to in ENDED and not holds and role != "owner":
            raise Refused(403, "insufficient_role")
        parks = session["status"] == to and to in IN_TURN - {"running"}
        if session["status"] not in IN_TURN or not (parks or to in EDGES[session["status"]]):
            raise Refused(409, "illegal_transition")
        if session.lease and to not in GOES_ON:
            stop = {"failed": "error", "abandoned": "aborted"}.get(to, "stop")
            session.add("turn.ended", turn=session["fence"], stop_reason=stop)
        session.lease = None
        session.move(to, reason, to if to in ENDED else None, False, result, usage, error)
        self.finish(session)
        return session

    def lease_over(self, session, released):
        """Given back or lost: queued again, or failed when that happened too often."""
        session.add("session.released" if released else "session.lease_lost", fence=session["fence"])
        attempts = session["claim_attempts"]
        session.lease = None
        if attempts >= ATTEMPTS_MAX:
            session.move("failed", f"not finished after {attempts} attempts", "attempts_exhausted")
        else:
            reason = "given back by its worker" if released else "its worker's lease ran out"
            session.move("pending", reason, requeued=True)
        self.finish(session)

    def release(self, who, id, token):
        """Given back by its holder."""
        session = self.hold(who, id, token)
        self.lease_over(session, True)
        return session

    # --- people ---

    def add_participant(self, who, id, user_id, role):
        """Adds a user or changes the role."""
        session, _, _ = self.enter(who, id, "owner")
        if session["purpose"] in PRIVATE_PURPOSES:
            raise Refused(409, "not_shareable")
        session.participants[user_id] = role
        session.add("session.participant_added", user_id=user_id, role=role)
        return session

    def remove_participant(self, who, id, user_id):
        """Removes a user, if there."""
        session, _, _ = self.enter(who, id, "owner")
        if session.participants.pop(user_id, None):
            session.add("session.participant_removed", user_id=user_id)
        return session

    def share(self, who, id, role, max_uses):
        """A new share link, to be named by the server."""
        session, _, _ = self.enter(who, id, "owner")
        if session["purpose"] in PRIVATE_PURPOSES:
            raise Refused(409, "not_shareable")
        session.add("session.share_created", role=role)
        return session, Link(None, None, role, max_uses)

    def deactivate(self, who, id, link_id):
        """Ends a share link, if it is one of this session and live."""
        session, _, _ = self.enter(who, id, "owner")
        link = session.links.get(link_id)
        if link and link.active:
            link.active = False
            session.add("session.share_deactivated", link_id=link_id)
        return session

    def redeem(self, who, session, link):
        """Uses a share link: the role afterwards."""
        if who.kind != "user":
            raise Refused(403, "user_required")
        if session.id not in self.sessions or not link.active:
            raise Refused(404, "not_found")
        present = "owner" if who.user_id == session.owner else session.participants.get(who.user_id, "none")
        if ROLES.index(present) >= ROLES.index(link.role):
            return present  # who gains nothing uses nothing up
        if who.user_id not in link.used_by and link.max_uses and len(link.used_by) >= link.max_uses:
            raise Refused(429, "share_link_spent")
        link.used_by.add(who.user_id)
        session.participants[who.user_id] = link.role
        session.add("session.share_redeemed", user_id=who.user_id)
        return link.role


def merge(old, new):
    """Members of `new` over those of `old`; null removes."""
    merged = {name: value for name, value in (old | new).items() if value is not None}
    return merged
