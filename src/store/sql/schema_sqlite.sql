-- Append-only: a migration that has been released is never changed; add the next number below.
-- Enumerations are stored as their numbers in src/domain: work 1 is pending, works below 6 have not ended.
-- migration: 1 initial
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE tenants (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
);

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    email TEXT,
    name TEXT,
    password_hash TEXT,
    created_at_ms INTEGER NOT NULL,
    disabled_at_ms INTEGER NOT NULL,
    sessions_max INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX users_email ON users (lower(email));

CREATE TABLE memberships (
    position INTEGER PRIMARY KEY,
    tenant_key INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    role INTEGER NOT NULL,
    UNIQUE (tenant_key, user_id)
);
CREATE INDEX memberships_user ON memberships (user_id, position);

CREATE TABLE tokens (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT,
    hash BLOB NOT NULL UNIQUE,
    user_id TEXT,
    id_prefix TEXT,
    session_id TEXT,
    kind INTEGER NOT NULL,
    scopes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    revoked_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;

CREATE TABLE grants (
    kind INTEGER NOT NULL,
    hash BLOB NOT NULL,
    tenant_key INTEGER NOT NULL,
    user_id TEXT,
    csrf TEXT,
    token_id TEXT,
    session_id TEXT,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, hash)
) WITHOUT ROWID;
CREATE INDEX grants_expiry ON grants (expires_at_ms);

-- Columns in the order of domain/session_fields.c, without those every event changes: they stand in session_activity,
-- so that an append rewrites a short row and no index.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    type INTEGER NOT NULL,
    purpose INTEGER NOT NULL,
    agent TEXT,
    workspace TEXT,
    source_kind TEXT,
    source_platform TEXT,
    source_trigger_id TEXT,
    source_interactive INTEGER NOT NULL,
    source_type INTEGER NOT NULL,
    parent_id TEXT,
    task_id TEXT,
    entity_id TEXT,
    retry_of TEXT,
    attempt INTEGER NOT NULL,
    owner TEXT,
    anonymous INTEGER NOT NULL,
    initial_prompt TEXT,
    priority INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    title TEXT,
    metadata TEXT,
    details TEXT,
    visibility INTEGER NOT NULL,
    queue_mode INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    work INTEGER NOT NULL,
    runtime INTEGER NOT NULL,
    pause_reason INTEGER NOT NULL,
    stop_reason INTEGER NOT NULL,
    status_reason TEXT,
    archived_at_ms INTEGER NOT NULL,
    queued_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    completed_at_ms INTEGER NOT NULL,
    paused_at_ms INTEGER NOT NULL,
    active_ms INTEGER NOT NULL,
    running_since_ms INTEGER NOT NULL,
    result TEXT,
    usage TEXT,
    error_message TEXT,
    error_code TEXT,
    fence INTEGER NOT NULL,
    claim_attempts INTEGER NOT NULL,
    listed_at_ms INTEGER NOT NULL,
    display INTEGER NOT NULL
);
CREATE UNIQUE INDEX sessions_id ON sessions (tenant_key, id);
CREATE INDEX sessions_listed ON sessions (tenant_key, listed_at_ms);
CREATE INDEX sessions_shown ON sessions (tenant_key, listed_at_ms) WHERE archived_at_ms = 0;
CREATE INDEX sessions_archived ON sessions (tenant_key, listed_at_ms) WHERE archived_at_ms > 0;
CREATE INDEX sessions_organisation ON sessions (tenant_key, listed_at_ms) WHERE visibility > 0;
CREATE INDEX sessions_type ON sessions (tenant_key, type, listed_at_ms);
CREATE INDEX sessions_work ON sessions (tenant_key, work, listed_at_ms);
CREATE INDEX sessions_display ON sessions (tenant_key, display, listed_at_ms);
CREATE INDEX sessions_owner ON sessions (tenant_key, owner, listed_at_ms) WHERE owner IS NOT NULL;
CREATE INDEX sessions_parent ON sessions (tenant_key, parent_id, listed_at_ms) WHERE parent_id IS NOT NULL;
CREATE INDEX sessions_task ON sessions (tenant_key, task_id, listed_at_ms) WHERE task_id IS NOT NULL;
CREATE INDEX sessions_entity ON sessions (tenant_key, entity_id, listed_at_ms) WHERE entity_id IS NOT NULL;
CREATE INDEX sessions_workspace ON sessions (tenant_key, workspace, listed_at_ms) WHERE workspace IS NOT NULL;
CREATE INDEX sessions_agent ON sessions (tenant_key, agent, listed_at_ms) WHERE agent IS NOT NULL;
CREATE INDEX sessions_source_kind ON sessions (tenant_key, source_kind, listed_at_ms) WHERE source_kind IS NOT NULL;
CREATE INDEX sessions_source_platform ON sessions (tenant_key, source_platform, listed_at_ms) WHERE source_platform IS NOT NULL;
-- The addition keeps SQLite from answering by sessions_work.
CREATE INDEX sessions_in_turn ON sessions (tenant_key, owner) WHERE work + 0 IN (2, 3, 4) AND owner IS NOT NULL;
CREATE INDEX sessions_queue ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1;
CREATE INDEX sessions_queue_of_agent ON sessions (tenant_key, agent, priority DESC, queued_at_ms, key) WHERE work = 1;

CREATE TABLE session_activity (
    session_key INTEGER PRIMARY KEY,
    tenant_key INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    message_count INTEGER NOT NULL,
    tool_call_count INTEGER NOT NULL,
    turn_count INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    last_active_at_ms INTEGER NOT NULL,
    preview TEXT NOT NULL,
    tail BLOB NOT NULL DEFAULT x''
);

-- listed_at_ms of the session is repeated here and in participants, so that their pages come in list order.
CREATE TABLE labels (
    tenant_key INTEGER NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    listed_at_ms INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, name, value, listed_at_ms, session_key)
) WITHOUT ROWID;
CREATE INDEX labels_name ON labels (tenant_key, name, listed_at_ms, session_key);
CREATE INDEX labels_session ON labels (tenant_key, session_key);

CREATE TABLE participants (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    role INTEGER NOT NULL,
    added_at_ms INTEGER NOT NULL,
    listed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, user_id)
) WITHOUT ROWID;
CREATE INDEX participants_user ON participants (tenant_key, user_id, listed_at_ms, session_key);

CREATE TABLE share_links (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE,
    role INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    max_uses INTEGER NOT NULL,
    use_count INTEGER NOT NULL,
    active INTEGER NOT NULL,
    created_by TEXT,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
) WITHOUT ROWID;

CREATE TABLE share_uses (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    link_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    used_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, link_id, user_id)
) WITHOUT ROWID;

CREATE TABLE tombstones (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    actor TEXT,
    deleted_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;

CREATE TABLE tenant_counts (
    tenant_key INTEGER NOT NULL,
    type INTEGER NOT NULL,
    work INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, type, work)
) WITHOUT ROWID;

-- Where a session's events stand: the positions of each 128 of them in one row here, those after the last full row in
-- session_activity.tail, which an append rewrites anyway. An index on (session_key, sequence) would dirty one more page
-- for every session in a commit, and halve the appends per second. The encoding is in store/sqlite/tail.h; the virtual
-- table event_positions reads it.
CREATE TABLE event_chunks (
    session_key INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    positions BLOB NOT NULL,
    PRIMARY KEY (session_key, chunk)
) WITHOUT ROWID;

-- Which runs of 1,024 positions hold events of a tenant: the firehose skips the others.
CREATE TABLE tenant_blocks (
    tenant_key INTEGER NOT NULL,
    block INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, block)
) WITHOUT ROWID;

CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    role INTEGER NOT NULL,
    content TEXT,
    metadata TEXT,
    thread_id TEXT,
    external_id TEXT,
    actor TEXT
);
CREATE UNIQUE INDEX events_external ON events (session_key, external_id) WHERE external_id IS NOT NULL;

CREATE TABLE partials (
    session_key INTEGER PRIMARY KEY,
    tenant_key INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    deltas INTEGER NOT NULL,
    body TEXT NOT NULL
);

CREATE TABLE leases (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    token_hash BLOB NOT NULL,
    fence INTEGER NOT NULL,
    worker TEXT,
    lease_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    heartbeat_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITHOUT ROWID;

CREATE TABLE timers (
    kind INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    tenant_key INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, session_key)
) WITHOUT ROWID;
CREATE INDEX timers_due ON timers (due_ms);

CREATE TABLE idempotency (
    tenant_key INTEGER NOT NULL,
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status INTEGER NOT NULL,
    body TEXT,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, actor, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at_ms);

-- migration: 2 prompts
-- Prompts that wait for the running turn to end; a row goes in the transaction that writes its user.message.
CREATE TABLE prompts (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    mode INTEGER NOT NULL,
    actor TEXT NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT,
    thread_id TEXT,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, position)
) WITHOUT ROWID;

-- migration: 3 agents
-- Definitions of agents, every version for good. Tenant 0 holds those of files, for all tenants; removed_at_ms of the
-- newest version is what counts.
CREATE TABLE agents (
    tenant_key INTEGER NOT NULL,
    slug TEXT NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT NOT NULL,
    source INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    created_by TEXT,
    removed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, slug, version)
) WITHOUT ROWID;
ALTER TABLE sessions ADD COLUMN agent_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN driver INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN agent_config TEXT;
-- Driver 0 is worker: outside workers and the server itself each have a queue without the other's sessions in it.
DROP INDEX sessions_queue;
CREATE INDEX sessions_queue ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1 AND driver = 0;
CREATE INDEX sessions_queue_hosted ON sessions (tenant_key, priority DESC, queued_at_ms, key) WHERE work = 1 AND driver > 0;

-- migration: 4 asks
-- What turns want to know from people, and the decisions that stand. An ask stays after it was answered: it goes with its
-- session. Rules of session 0 hold in every session.
CREATE TABLE asks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    tool TEXT,
    call_id TEXT,
    arguments TEXT,
    editable INTEGER NOT NULL,
    text TEXT NOT NULL,
    options TEXT,
    form TEXT,
    details TEXT,
    fields TEXT,
    role INTEGER NOT NULL,
    quorum INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    decision INTEGER NOT NULL,
    answer TEXT,
    reason TEXT,
    answered_by TEXT,
    answered_at_ms INTEGER NOT NULL,
    votes TEXT
);
CREATE UNIQUE INDEX asks_id ON asks (tenant_key, session_key, id);
CREATE INDEX asks_pending ON asks (tenant_key, key) WHERE state = 0;

CREATE TABLE ask_rules (
    id TEXT NOT NULL,
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    user_id TEXT,
    agent TEXT,
    tool TEXT NOT NULL,
    arguments TEXT,
    session_id TEXT NOT NULL,
    ask_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;
CREATE INDEX ask_rules_tool ON ask_rules (tenant_key, tool);

-- A one-time link to one ask.
ALTER TABLE grants ADD COLUMN ask_id TEXT;

-- migration: 5 kept
-- What a driver keeps with a session from one turn to the next.
CREATE TABLE kept (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITHOUT ROWID;

-- migration: 6 prompts_reordered
-- A prompt that waits is known by its id: its position may change, its revision counts the changes. due_ms (steady) is
-- when a collected prompt may be dispatched.
CREATE TABLE prompts_waiting (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    mode INTEGER NOT NULL,
    actor TEXT NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT,
    thread_id TEXT,
    created_at_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
) WITHOUT ROWID;
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
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    tool TEXT NOT NULL,
    call_id TEXT NOT NULL,
    arguments_hash BLOB NOT NULL,
    state INTEGER NOT NULL,
    result TEXT,
    created_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, tool, call_id)
) WITHOUT ROWID;
CREATE INDEX tokens_session ON tokens (tenant_key, session_id) WHERE session_id IS NOT NULL;

-- migration: 9 sandboxes
-- What a server looks for at its start: sessions whose sandbox is in somebody's hands.
CREATE INDEX sessions_with_sandbox ON sessions (tenant_key, key) WHERE runtime + 0 > 0 AND runtime + 0 <> 4 AND runtime + 0 <> 6;

-- migration: 10 files changed
-- Files that a session's work changed: what its events told of each path last.
CREATE TABLE files_changed (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    path TEXT NOT NULL,
    previous_path TEXT,
    status INTEGER NOT NULL,
    additions INTEGER NOT NULL,
    deletions INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, path)
) WITHOUT ROWID;

-- migration: 11 partials saved
-- When live output was last saved: a turn that streams is not silent.
ALTER TABLE partials ADD COLUMN saved_at_ms INTEGER NOT NULL DEFAULT 0;

-- migration: 12 events in the order of their positions
-- They always were; the number of the schema is the same on both engines.
SELECT 12;

-- migration: 13 prompt priorities
-- A prompt that is more urgent is put in front of those that are less; people may move it all the same.
ALTER TABLE prompts ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;

-- migration: 14 how sessions begin
-- Named prompts: visibility 0 private to their owner, 1 shared in the tenant.
CREATE TABLE personas (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    prompt TEXT NOT NULL,
    visibility INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;
-- What a user wants of his new sessions: idle_timeout_ms 0 and queue_mode -1 = the server's.
CREATE TABLE preferences (
    tenant_key INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    idle_timeout_ms INTEGER NOT NULL,
    queue_mode INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, user_id)
) WITHOUT ROWID;
-- Where people talk with a session: due_ms (steady) is when an unanswered message is remembered, 0 = none waits; the
-- message is the event waiting_sequence.
CREATE TABLE channels (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    address TEXT,
    followup_ms INTEGER NOT NULL,
    waiting_sequence INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key, id)
) WITHOUT ROWID;

-- migration: 15 blobs
-- Files of sessions: who refers to which bytes. The bytes are files by their address, or rows of blob_chunks.
CREATE TABLE blob_uses (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    address BLOB NOT NULL,
    about TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    actor TEXT,
    PRIMARY KEY (tenant_key, session_key, address)
) WITHOUT ROWID;
CREATE INDEX blob_uses_address ON blob_uses (tenant_key, address);
CREATE TABLE blob_chunks (
    tenant_key INTEGER NOT NULL,
    address BLOB NOT NULL,
    chunk INTEGER NOT NULL,
    touched_at_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (tenant_key, address, chunk)
);
CREATE INDEX blob_chunks_touched ON blob_chunks (touched_at_ms);

-- migration: 16 session keys
-- Data keys of sessions, wrapped by the master key: without its row, nothing of a session can be read.
CREATE TABLE session_keys (
    session_key INTEGER PRIMARY KEY,
    tenant_key INTEGER NOT NULL,
    wrapped BLOB NOT NULL
);

-- migration: 17 work
-- Entities are what work is about; tasks are work that is configured; steps say what a session is in a run of a task.
CREATE TABLE entities (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;
CREATE TABLE tasks (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;
CREATE TABLE steps (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    parent_key INTEGER NOT NULL,
    position INTEGER NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITHOUT ROWID;
CREATE INDEX steps_of_run ON steps (tenant_key, parent_key, position) WHERE parent_key <> 0;
-- What became of the sessions that automations started. outcome -1 = not known yet.
CREATE TABLE automation_runs (
    tenant_key INTEGER NOT NULL,
    id TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    status INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    summary TEXT,
    completion_id TEXT,
    created_at_ms INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, id)
) WITHOUT ROWID;
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
    id TEXT NOT NULL,
    address TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;
-- Which of them has the files of a session's sandbox, or the snapshot that nobody else can reach.
CREATE TABLE sandbox_hosts (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    node TEXT NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITHOUT ROWID;
-- The firehose tells of deletes: where each stands in it, and who could see the session, as JSON. Older ones are nowhere.
ALTER TABLE tombstones ADD COLUMN session_key INTEGER;
ALTER TABLE tombstones ADD COLUMN sequence INTEGER;
ALTER TABLE tombstones ADD COLUMN position INTEGER;
ALTER TABLE tombstones ADD COLUMN audience TEXT;
CREATE INDEX tombstones_firehose ON tombstones (tenant_key, position) WHERE position IS NOT NULL;

-- migration: 19 introspections
-- How far an agent has looked back at a chat, and the range it has in hand (to_sequence 0 = none).
CREATE TABLE introspections (
    tenant_key INTEGER NOT NULL,
    session_key INTEGER NOT NULL,
    cursor_sequence INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    passive INTEGER NOT NULL,
    from_sequence INTEGER NOT NULL,
    to_sequence INTEGER NOT NULL,
    passive_taken INTEGER NOT NULL,
    run INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, session_key)
) WITHOUT ROWID;
CREATE INDEX introspections_running ON introspections (tenant_key, session_key) WHERE runs = 1;
-- What an agent remembers of whom it talked to. The owner of the session, '' = nobody.
CREATE TABLE memories (
    tenant_key INTEGER NOT NULL,
    agent TEXT NOT NULL,
    owner TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    session_id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, agent, id)
) WITHOUT ROWID;
CREATE INDEX memories_owner ON memories (tenant_key, agent, owner, id);

-- migration: 20 kept answers of sessions
-- An answer to an Idempotency-Key goes with the session it tells of; 0 = of none.
ALTER TABLE idempotency ADD COLUMN session_key INTEGER NOT NULL DEFAULT 0;
CREATE INDEX idempotency_session ON idempotency (tenant_key, session_key) WHERE session_key <> 0;

-- migration: 21 open ends
-- What is about to be run counts towards its owner's limit.
CREATE INDEX sessions_before_turn ON sessions (tenant_key, owner) WHERE work = 1 AND driver > 0 AND owner IS NOT NULL;

-- migration: 22 answers about several sessions
-- Further sessions a kept answer tells of.
CREATE TABLE idempotency_subjects (
    tenant_key INTEGER NOT NULL,
    actor TEXT NOT NULL,
    key TEXT NOT NULL,
    session_key INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    PRIMARY KEY (tenant_key, actor, key, session_key)
) WITHOUT ROWID;
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
ALTER TABLE idempotency ADD COLUMN subject TEXT;
CREATE INDEX idempotency_subject ON idempotency (tenant_key, subject) WHERE subject IS NOT NULL;
