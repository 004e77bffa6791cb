-- Append-only: a migration that has been released is never changed; add the next number below.
-- Enumerations are stored as their numbers in src/domain: work 1 is pending, works below 6 have not ended.
-- migration: 1 initial
CREATE TABLE meta (
    name TEXT COLLATE "C" PRIMARY KEY,
    value TEXT COLLATE "C" NOT NULL
);

CREATE TABLE tenants (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    name TEXT COLLATE "C" NOT NULL,
    created_at_ms BIGINT NOT NULL
);

CREATE TABLE users (
    id TEXT COLLATE "C" PRIMARY KEY,
    email TEXT,
    name TEXT COLLATE "C",
    password_hash TEXT,
    created_at_ms BIGINT NOT NULL,
    disabled_at_ms BIGINT NOT NULL,
    sessions_max BIGINT NOT NULL
);
CREATE INDEX users_email ON users (lower(email));

CREATE TABLE memberships (
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    tenant_key BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    role BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id, position);

CREATE TABLE tokens (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    hash BYTEA NOT NULL UNIQUE,
    user_id TEXT COLLATE "C",
    id_prefix TEXT,
    session_id TEXT COLLATE "C",
    kind BIGINT NOT NULL,
    scopes BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    revoked_at_ms BIGINT NOT NULL,
    last_used_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);

CREATE TABLE grants (
    kind BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    tenant_key BIGINT NOT NULL,
    user_id TEXT COLLATE "C",
    csrf TEXT,
    token_id TEXT,
    session_id TEXT COLLATE "C",
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (kind, hash)
);
CREATE INDEX grants_expiry ON grants (expires_at_ms);

-- Columns in the order of domain/session_fields.c, without those every event changes: they stand in session_activity,
-- so that an append rewrites a short row and no index.
CREATE TABLE sessions (
    key BIGINT GENERATED ALWAYS AS IDENTITY,
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    type BIGINT NOT NULL,
    purpose BIGINT NOT NULL,
    agent TEXT COLLATE "C",
    workspace TEXT,
    source_kind TEXT,
    source_platform TEXT,
    source_trigger_id TEXT,
    source_interactive BIGINT NOT NULL,
    source_type BIGINT NOT NULL,
    parent_id TEXT,
    task_id TEXT,
    entity_id TEXT,
    retry_of TEXT,
    attempt BIGINT NOT NULL,
    owner TEXT COLLATE "C",
    anonymous BIGINT NOT NULL,
    initial_prompt TEXT,
    priority BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    title TEXT,
    metadata TEXT,
    details TEXT,
    visibility BIGINT NOT NULL,
    queue_mode BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    work BIGINT NOT NULL,
    runtime BIGINT NOT NULL,
    pause_reason BIGINT NOT NULL,
    stop_reason BIGINT NOT NULL,
    status_reason TEXT,
    archived_at_ms BIGINT NOT NULL,
    queued_at_ms BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    completed_at_ms BIGINT NOT NULL,
    paused_at_ms BIGINT NOT NULL,
    active_ms BIGINT NOT NULL,
    running_since_ms BIGINT NOT NULL,
    result TEXT,
    usage TEXT,
    error_message TEXT,
    error_code TEXT,
    fence BIGINT NOT NULL,
    claim_attempts BIGINT NOT NULL,
    listed_at_ms BIGINT NOT NULL,
    display BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, key)
);
CREATE UNIQUE INDEX sessions_id ON sessions (tenant_key, id);
CREATE INDEX sessions_listed ON sessions (tenant_key, listed_at_ms, key);
CREATE INDEX sessions_shown ON sessions (tenant_key, listed_at_ms, key) WHERE archived_at_ms = 0;
CREATE INDEX sessions_archived ON sessions (tenant_key, listed_at_ms, key) WHERE archived_at_ms > 0;
CREATE INDEX sessions_organisation ON sessions (tenant_key, listed_at_ms, key) WHERE visibility > 0;
CREATE INDEX sessions_type ON sessions (tenant_key, type, listed_at_ms, key);
CREATE INDEX sessions_work ON sessions (tenant_key, work, listed_at_ms, key);
CREATE INDEX sessions_display ON sessions (tenant_key, display, listed_at_ms, key);
CREATE INDEX sessions_owner ON sessions (tenant_key, owner, listed_at_ms, key) WHERE owner IS NOT NULL;
CREATE INDEX sessions_parent ON sessions (tenant_key, parent_id, listed_at_ms, key) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_task ON sessions (tenant_key, task_id, listed_at_ms, key) WHERE task_id IS NOT NULL;
CREATE INDEX sessions_entity ON sessions (tenant_key, entity_id, listed_at_ms, key) WHERE entity_id IS NOT NULL;
CREATE INDEX sessions_workspace ON sessions (tenant_key, workspace, listed_at_ms, key) WHERE workspace IS NOT NULL;
CREATE INDEX sessions_agent ON sessions (tenant_key, agent, listed_at_ms, key) WHERE agent IS NOT NULL;
CREATE INDEX sessions_source_kind ON sessions (tenant_key, source_kind, listed_at_ms, key) WHERE source_kind IS NOT NULL;
CREATE INDEX sessions_source_platform ON sessions (tenant_key, source_platform, listed_at_ms, key) WHERE source_platform IS NOT NULL;
-- The addition keeps SQLite from answering by sessions_work.
CREATE INDEX sessions_in_turn ON sessions (tenant_key, owner) WHERE work + 0 IN (2, 3, 4) AND owner IS NOT NULL;
CREATE INDEX sessions_queue ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1;
CREATE INDEX sessions_queue_of_agent ON sessions (tenant_key, agent, priority DESC, queued_at_ms, key) WHERE work = 1;

CREATE TABLE session_activity (
    session_key BIGINT NOT NULL,
    tenant_key BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    message_count BIGINT NOT NULL,
    tool_call_count BIGINT NOT NULL,
    turn_count BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    last_active_at_ms BIGINT NOT NULL,
    preview TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITH (fillfactor = 70);

-- listed_at_ms of the session is repeated here and in participants, so that their pages come in list order.
CREATE TABLE labels (
    tenant_key BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    listed_at_ms BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, name, value, listed_at_ms, session_key)
);
CREATE INDEX labels_name ON labels (tenant_key, name, listed_at_ms, session_key);
CREATE INDEX labels_session ON labels (tenant_key, session_key);

CREATE TABLE participants (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    role BIGINT NOT NULL,
    added_at_ms BIGINT NOT NULL,
    listed_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, user_id)
);
CREATE INDEX participants_user ON participants (tenant_key, user_id, listed_at_ms, session_key);

CREATE TABLE share_links (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    role BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    max_uses BIGINT NOT NULL,
    use_count BIGINT NOT NULL,
    active BIGINT NOT NULL,
    created_by TEXT,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
);

CREATE TABLE share_uses (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    link_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    used_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, link_id, user_id)
);

CREATE TABLE tombstones (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    actor TEXT COLLATE "C",
    deleted_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);

-- The slot is the writing connection's: writers of one tenant do not wait for each other here.
CREATE TABLE tenant_counts (
    tenant_key BIGINT NOT NULL,
    type BIGINT NOT NULL,
    work BIGINT NOT NULL,
    slot BIGINT NOT NULL,
    sessions BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, type, work, slot)
) WITH (fillfactor = 50);

-- (xid, position) never changes its order for rows whose transaction is older than every running one.
CREATE TABLE events (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    xid BIGINT NOT NULL DEFAULT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
    position BIGINT GENERATED ALWAYS AS IDENTITY,
    at_ms BIGINT NOT NULL,
    type TEXT NOT NULL,
    role BIGINT NOT NULL,
    content TEXT,
    metadata TEXT,
    thread_id TEXT,
    external_id TEXT,
    actor TEXT COLLATE "C",
    PRIMARY KEY (tenant_key, session_key, sequence)
);
CREATE UNIQUE INDEX events_external ON events (tenant_key, session_key, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX events_firehose ON events (tenant_key, xid, position);

CREATE TABLE partials (
    session_key BIGINT NOT NULL,
    tenant_key BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    deltas BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);

CREATE TABLE leases (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    token_hash BYTEA NOT NULL,
    fence BIGINT NOT NULL,
    worker TEXT,
    lease_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    claimed_at_ms BIGINT NOT NULL,
    heartbeat_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);

CREATE TABLE timers (
    kind BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    tenant_key BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    PRIMARY KEY (kind, session_key)
);
CREATE INDEX timers_due ON timers (due_ms);

CREATE TABLE idempotency (
    tenant_key BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint BYTEA NOT NULL,
    status BIGINT NOT NULL,
    body TEXT,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, actor, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at_ms);

-- migration: 2 prompts
-- Prompts that wait for the running turn to end; a row goes in the transaction that writes its user.message.
CREATE TABLE prompts (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    position BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    mode BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT,
    thread_id TEXT,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, position)
);

-- migration: 3 agents
-- Definitions of agents, every version for good. Tenant 0 holds those of files, for all tenants; removed_at_ms of the
-- newest version is what counts.
CREATE TABLE agents (
    tenant_key BIGINT NOT NULL,
    slug TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    definition TEXT NOT NULL,
    source BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    created_by TEXT,
    removed_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, slug, version)
);
ALTER TABLE sessions ADD COLUMN agent_version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN driver BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN agent_config TEXT;
-- Driver 0 is worker: outside workers and the server itself each have a queue without the other's sessions in it.
DROP INDEX sessions_queue;
CREATE INDEX sessions_queue ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1 AND driver = 0;
CREATE INDEX sessions_queue_hosted ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1 AND driver > 0;

-- migration: 4 asks
-- What turns want to know from people, and the decisions that stand. An ask stays after it was answered: it goes with its
-- session. Rules of session 0 hold in every session.
CREATE TABLE asks (
    key BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind BIGINT NOT NULL,
    state BIGINT NOT NULL,
    turn BIGINT NOT NULL,
    tool TEXT,
    call_id TEXT,
    arguments TEXT,
    editable BIGINT NOT NULL,
    text TEXT NOT NULL,
    options TEXT,
    form TEXT,
    details TEXT,
    fields TEXT,
    role BIGINT NOT NULL,
    quorum BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    decision BIGINT NOT NULL,
    answer TEXT,
    reason TEXT,
    answered_by TEXT,
    answered_at_ms BIGINT NOT NULL,
    votes TEXT
);
CREATE UNIQUE INDEX asks_id ON asks (tenant_key, session_key, id);
CREATE INDEX asks_pending ON asks (tenant_key, key) WHERE state = 0;

CREATE TABLE ask_rules (
    id TEXT COLLATE "C" NOT NULL,
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    user_id TEXT COLLATE "C",
    agent TEXT COLLATE "C",
    tool TEXT COLLATE "C" NOT NULL,
    arguments TEXT,
    session_id TEXT COLLATE "C" NOT NULL,
    ask_id TEXT COLLATE "C" NOT NULL,
    created_by TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);
CREATE INDEX ask_rules_tool ON ask_rules (tenant_key, tool);

-- A one-time link to one ask.
ALTER TABLE grants ADD COLUMN ask_id TEXT;

-- migration: 5 kept
-- What a driver keeps with a session from one turn to the next.
CREATE TABLE kept (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);

-- migration: 6 prompts_reordered
-- A prompt that waits is known by its id: its position may change, its revision counts the changes. due_ms (steady) is
-- when a collected prompt may be dispatched.
CREATE TABLE prompts_waiting (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    position BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    mode BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT,
    thread_id TEXT,
    created_at_ms BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
);
INSERT INTO prompts_waiting (tenant_key, session_key, position, id, mode, actor, content, metadata, thread_id,
    created_at_ms, revision, due_ms)
    SELECT tenant_key, session_key, position, id, mode, actor, content, metadata, thread_id, created_at_ms, 1, 0
    FROM prompts;
DROP TABLE prompts;
ALTER TABLE prompts_waiting RENAME TO prompts;

-- migration: 7 cheaper moves
-- With IN, SQLite would build a table of the list twice for every change of state.
DROP INDEX sessions_in_turn;
CREATE INDEX sessions_in_turn ON sessions (tenant_key, owner) WHERE work + 0 >= 2 AND work + 0 <= 4 AND owner IS NOT NULL;
-- A lease says itself when it is due (kind 1).
DELETE FROM timers WHERE kind = 1;
CREATE INDEX leases_due ON leases (expires_at_ms);

-- migration: 8 tool calls
-- Calls of gateway tools: state 0 running, 1 done, 2 failed; the answer to a repeated call is the one that stands here.
CREATE TABLE tool_calls (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    call_id TEXT COLLATE "C" NOT NULL,
    arguments_hash BYTEA NOT NULL,
    state BIGINT NOT NULL,
    result TEXT,
    created_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, tool, call_id)
);
CREATE INDEX tokens_session ON tokens (tenant_key, session_id) WHERE session_id IS NOT NULL;

-- migration: 9 sandboxes
-- What a server looks for at its start: sessions whose sandbox is in somebody's hands.
CREATE INDEX sessions_with_sandbox ON sessions (tenant_key, key) WHERE runtime + 0 > 0 AND runtime + 0 <> 4 AND runtime + 0 <> 6;

-- migration: 10 files changed
-- Files that a session's work changed: what its events told of each path last.
CREATE TABLE files_changed (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    path TEXT COLLATE "C" NOT NULL,
    previous_path TEXT,
    status BIGINT NOT NULL,
    additions BIGINT NOT NULL,
    deletions BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    changed_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, path)
);

-- migration: 11 partials saved
-- When live output was last saved: a turn that streams is not silent.
ALTER TABLE partials ADD COLUMN saved_at_ms BIGINT NOT NULL DEFAULT 0;

-- migration: 12 events in the order of their positions
-- A transaction can write behind one that began later, so its number does not order a session's events; the position
-- does: it is taken after the session's last event was read. The batch is the number its writer gave the transaction.
ALTER TABLE events DROP COLUMN xid;
ALTER TABLE events ADD COLUMN batch BIGINT NOT NULL DEFAULT 0;
CREATE INDEX events_firehose ON events (tenant_key, position);

-- migration: 13 prompt priorities
-- A prompt that is more urgent is put in front of those that are less; people may move it all the same.
ALTER TABLE prompts ADD COLUMN priority BIGINT NOT NULL DEFAULT 0;

-- migration: 14 how sessions begin
-- Named prompts: visibility 0 private to their owner, 1 shared in the tenant.
CREATE TABLE personas (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    visibility BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);
-- What a user wants of his new sessions: idle_timeout_ms 0 and queue_mode -1 = the server's.
CREATE TABLE preferences (
    tenant_key BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    idle_timeout_ms BIGINT NOT NULL,
    queue_mode BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, user_id)
);
-- Where people talk with a session: due_ms (steady) is when an unanswered message is remembered, 0 = none waits; the
-- message is the event waiting_sequence.
CREATE TABLE channels (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    address TEXT,
    followup_ms BIGINT NOT NULL,
    waiting_sequence BIGINT NOT NULL,
    due_ms BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
);

-- migration: 15 blobs
-- Files of sessions: who refers to which bytes. The bytes are files by their address, or rows of blob_chunks.
CREATE TABLE blob_uses (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    address BYTEA NOT NULL,
    about TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    actor TEXT,
    PRIMARY KEY (tenant_key, session_key, address)
);
CREATE INDEX blob_uses_address ON blob_uses (tenant_key, address);
CREATE TABLE blob_chunks (
    tenant_key BIGINT NOT NULL,
    address BYTEA NOT NULL,
    chunk BIGINT NOT NULL,
    touched_at_ms BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (tenant_key, address, chunk)
);
CREATE INDEX blob_chunks_touched ON blob_chunks (touched_at_ms);

-- migration: 16 session keys
-- Data keys of sessions, wrapped by the master key: without its row, nothing of a session can be read.
CREATE TABLE session_keys (
    session_key BIGINT PRIMARY KEY,
    tenant_key BIGINT NOT NULL,
    wrapped BYTEA NOT NULL
);

-- migration: 17 work
-- Entities are what work is about; tasks are work that is configured; steps say what a session is in a run of a task.
CREATE TABLE entities (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    fields TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);
CREATE TABLE tasks (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);
CREATE TABLE steps (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    parent_key BIGINT NOT NULL,
    position BIGINT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);
CREATE INDEX steps_of_run ON steps (tenant_key, parent_key, position) WHERE parent_key <> 0;
-- What became of the sessions that automations started. outcome -1 = not known yet.
CREATE TABLE automation_runs (
    tenant_key BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    session_key BIGINT NOT NULL,
    status BIGINT NOT NULL,
    outcome BIGINT NOT NULL,
    summary TEXT,
    completion_id TEXT,
    created_at_ms BIGINT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, id)
);
CREATE UNIQUE INDEX automation_runs_session ON automation_runs (tenant_key, session_key);
INSERT INTO automation_runs (tenant_key, id, session_key, status, outcome, summary, completion_id, created_at_ms,
    started_at_ms, ended_at_ms)
    SELECT tenant_key, id, key,
        CASE work WHEN 2 THEN 1 WHEN 3 THEN 4 WHEN 4 THEN 4 WHEN 5 THEN 1 WHEN 6 THEN 2 WHEN 7 THEN 3 WHEN 8 THEN 5
            WHEN 9 THEN 3 ELSE 0 END,
        CASE work WHEN 6 THEN 3 WHEN 7 THEN 1 WHEN 8 THEN 1 WHEN 9 THEN 1 ELSE -1 END,
        NULL, NULL, created_at_ms, started_at_ms, completed_at_ms
    FROM sessions WHERE source_kind = 'automation';

-- migration: 18 nodes
-- The servers of this database. Of one whose time is over (steady) nobody has heard.
CREATE TABLE nodes (
    id TEXT COLLATE "C" NOT NULL,
    address TEXT NOT NULL,
    started_at_ms BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL,
    PRIMARY KEY (id)
);
-- Which of them has the files of a session's sandbox, or the snapshot that nobody else can reach.
CREATE TABLE sandbox_hosts (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);
-- The firehose tells of deletes: where each stands in it, and who could see the session, as JSON. Older ones are nowhere.
ALTER TABLE tombstones ADD COLUMN session_key BIGINT;
ALTER TABLE tombstones ADD COLUMN sequence BIGINT;
ALTER TABLE tombstones ADD COLUMN position BIGINT;
ALTER TABLE tombstones ADD COLUMN audience TEXT;
CREATE INDEX tombstones_firehose ON tombstones (tenant_key, position) WHERE position IS NOT NULL;

-- migration: 19 introspections
-- How far an agent has looked back at a chat, and the range it has in hand (to_sequence 0 = none).
CREATE TABLE introspections (
    tenant_key BIGINT NOT NULL,
    session_key BIGINT NOT NULL,
    cursor_sequence BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    passive BIGINT NOT NULL,
    from_sequence BIGINT NOT NULL,
    to_sequence BIGINT NOT NULL,
    passive_taken BIGINT NOT NULL,
    run BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    reason BIGINT NOT NULL,
    runs BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
);
CREATE INDEX introspections_running ON introspections (tenant_key, session_key) WHERE runs = 1;
-- What an agent remembers of whom it talked to. The owner of the session, '' = nobody.
CREATE TABLE memories (
    tenant_key BIGINT NOT NULL,
    agent TEXT COLLATE "C" NOT NULL,
    owner TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    session_id TEXT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, agent, id)
);
CREATE INDEX memories_owner ON memories (tenant_key, agent, owner, id);

-- migration: 20 kept answers of sessions
-- An answer to an Idempotency-Key goes with the session it tells of; 0 = of none.
ALTER TABLE idempotency ADD COLUMN session_key BIGINT NOT NULL DEFAULT 0;
CREATE INDEX idempotency_session ON idempotency (tenant_key, session_key) WHERE session_key <> 0;

-- migration: 21 open ends
-- What is about to be run counts towards its owner's limit.
CREATE INDEX sessions_before_turn ON sessions (tenant_key, owner) WHERE work = 1 AND driver > 0 AND owner IS NOT NULL;

-- migration: 22 answers about several sessions
-- Further sessions a kept answer tells of.
CREATE TABLE idempotency_subjects (
    tenant_key BIGINT NOT NULL,
    actor TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    session_key BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant_key, actor, key, session_key)
);
CREATE INDEX idempotency_subjects_session ON idempotency_subjects (tenant_key, session_key);
CREATE INDEX idempotency_subjects_age ON idempotency_subjects (created_at_ms);

-- migration: 23 counts of what one may see
-- What counts for an admin leaves out: orchestrators and workflows of others.
CREATE INDEX sessions_private ON sessions (tenant_key, type, work, owner) WHERE purpose IN (1, 2);

-- migration: 24 stopped is not failed
-- Abandoned (9) because it was stopped by a person (3), its parent (4), … shows as completed (5).
UPDATE sessions SET display = 5 WHERE work = 9 AND stop_reason IN (3, 4, 5, 10, 11, 12, 13);

-- migration: 25 rules have subjects
-- What of a call a standing decision is about, besides its tool and arguments.
ALTER TABLE ask_rules ADD COLUMN subject TEXT;

-- migration: 26 kept answers of other things
-- The path of what a kept answer tells of, where that is no session: it goes with it.
ALTER TABLE idempotency ADD COLUMN subject TEXT COLLATE "C";
CREATE INDEX idempotency_subject ON idempotency (tenant_key, subject) WHERE subject IS NOT NULL;
