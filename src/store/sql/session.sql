-- Columns and parameters stand in the order of domain/session_fields.c; store/session_row.c binds and reads them so.
-- fragment: session_columns
s.key,
    s.tenant_key, s.id, s.type, s.purpose, s.agent, s.agent_version, s.driver, s.agent_config, s.workspace,
    s.source_kind, s.source_platform,
    s.source_trigger_id, s.source_interactive, s.source_type, s.parent_id, s.task_id, s.entity_id, s.retry_of,
    s.attempt, s.owner, s.anonymous, s.initial_prompt, s.priority, s.created_at_ms, s.title, s.metadata,
    s.details, s.visibility, s.queue_mode, s.expires_at_ms, s.work, s.runtime, s.pause_reason, s.stop_reason,
    s.status_reason, s.archived_at_ms, s.queued_at_ms, s.started_at_ms, s.completed_at_ms, s.paused_at_ms,
    s.active_ms, s.running_since_ms, s.result, s.usage, s.error_message, s.error_code, s.fence,
    s.claim_attempts, a.last_sequence, a.message_count, a.tool_call_count, a.turn_count, a.updated_at_ms,
    a.last_active_at_ms, s.listed_at_ms, a.preview

-- name: session_insert
INSERT INTO sessions (
    tenant_key, id, type, purpose, agent, agent_version, driver, agent_config, workspace, source_kind,
    source_platform, source_trigger_id,
    source_interactive, source_type, parent_id, task_id, entity_id, retry_of, attempt, owner, anonymous,
    initial_prompt, priority, created_at_ms, title, metadata, details, visibility, queue_mode, expires_at_ms,
    work, runtime, pause_reason, stop_reason, status_reason, archived_at_ms, queued_at_ms, started_at_ms,
    completed_at_ms, paused_at_ms, active_ms, running_since_ms, result, usage, error_message, error_code, fence,
    claim_attempts, listed_at_ms, display)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42,
    $43, $44, $45, $46, $47, $48, $49, $50)
ON CONFLICT (tenant_key, id) DO NOTHING
RETURNING key

-- name: session_activity_insert
INSERT INTO session_activity (
    session_key, tenant_key,
    last_sequence, message_count, tool_call_count, turn_count, updated_at_ms, last_active_at_ms, preview)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- Every change passes here: last_sequence says whether the row is still as the writer saw it.
-- name: session_touch (sqlite)
UPDATE session_activity SET {session_activity_values} {session_activity_row}
-- With the positions of the events written since: $11 continues the tail or, with $12, takes its place.
-- name: session_touch_tail (sqlite)
UPDATE session_activity SET {session_activity_values},
    tail = CAST(CASE WHEN $12 THEN x'' ELSE tail END || $11 AS BLOB)
{session_activity_row}
-- fragment: session_activity_values
last_sequence = $1, message_count = $2, tool_call_count = $3, turn_count = $4, updated_at_ms = $5,
last_active_at_ms = $6, preview = $7
-- fragment: session_activity_row
WHERE session_key = $8 AND tenant_key = $9 AND last_sequence = $10
-- name: session_touch (postgres)
UPDATE session_activity AS a SET
    last_sequence = n.last_sequence, message_count = n.message_count, tool_call_count = n.tool_call_count,
    turn_count = n.turn_count, updated_at_ms = n.updated_at_ms, last_active_at_ms = n.last_active_at_ms,
    preview = n.preview
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
        $8::bigint[], $9::bigint[], $10::bigint[])
    AS n (last_sequence, message_count, tool_call_count, turn_count, updated_at_ms, last_active_at_ms, preview,
        session_key, tenant_key, old_sequence)
WHERE a.session_key = n.session_key AND a.tenant_key = n.tenant_key AND a.last_sequence = n.old_sequence

-- name: session_move
UPDATE sessions SET
    work = $1, runtime = $2, pause_reason = $3, stop_reason = $4, status_reason = $5, queued_at_ms = $6,
    started_at_ms = $7, completed_at_ms = $8, paused_at_ms = $9, active_ms = $10, running_since_ms = $11,
    result = $12, usage = $13, error_message = $14, error_code = $15, fence = $16, claim_attempts = $17,
    display = $18
WHERE key = $19 AND tenant_key = $20

-- name: session_relist
UPDATE sessions SET listed_at_ms = $1 WHERE key = $2 AND tenant_key = $3

-- name: session_save
UPDATE sessions SET
    tenant_key = $1, id = $2, type = $3, purpose = $4, agent = $5, agent_version = $6, driver = $7,
    agent_config = $8, workspace = $9, source_kind = $10, source_platform = $11, source_trigger_id = $12,
    source_interactive = $13, source_type = $14, parent_id = $15, task_id = $16, entity_id = $17,
    retry_of = $18, attempt = $19, owner = $20, anonymous = $21, initial_prompt = $22, priority = $23,
    created_at_ms = $24, title = $25, metadata = $26, details = $27, visibility = $28, queue_mode = $29,
    expires_at_ms = $30, work = $31, runtime = $32, pause_reason = $33, stop_reason = $34,
    status_reason = $35, archived_at_ms = $36, queued_at_ms = $37, started_at_ms = $38,
    completed_at_ms = $39, paused_at_ms = $40, active_ms = $41, running_since_ms = $42, result = $43,
    usage = $44, error_message = $45, error_code = $46, fence = $47, claim_attempts = $48,
    listed_at_ms = $49, display = $50
WHERE key = $51 AND tenant_key = $52

-- name: session_by_id
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = $1 AND s.id = $2

-- name: session_by_key
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = $1 AND s.key = $2

-- 4 is the runtime state hibernated, 6 is stopped: neither is in anybody's hands.
-- name: session_with_sandbox
SELECT tenant_key, key FROM sessions WHERE runtime + 0 > 0 AND runtime + 0 <> 4 AND runtime + 0 <> 6 ORDER BY key

-- The keys are a JSON array; the rows come in any order.
-- name: session_by_keys (sqlite)
SELECT {session_columns}
FROM json_each($2) k CROSS JOIN sessions s ON s.key = k.value CROSS JOIN session_activity a ON a.session_key = s.key
WHERE s.tenant_key = $1
-- name: session_by_keys (postgres)
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = $1
    AND s.key = ANY (ARRAY(SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB))))

-- $3 has a bit for every work state that counts, all among running, waiting_human and awaiting_tool (2, 3, 4); 1 and 2 are the purposes orchestrator and workflow.
-- fragment: session_is_limited
purpose NOT IN (1, 2) AND (parent_id IS NULL OR parent_id NOT LIKE 'orchestrator:%')
-- What this server is about to run (driver > 0) counts as soon as it waits for that (1, pending); what waits for workers does not.
-- name: session_count_concurrent
SELECT (SELECT COUNT(*) FROM sessions
        WHERE tenant_key = $1 AND owner = $2 AND owner IS NOT NULL AND work + 0 >= 2 AND work + 0 <= 4
            AND ((CAST($3 AS BIGINT) >> CAST(work AS INTEGER)) & 1) = 1 AND {session_is_limited})
     + (SELECT COUNT(*) FROM sessions
        WHERE tenant_key = $1 AND owner = $2 AND owner IS NOT NULL AND work = 1 AND driver > 0 AND {session_is_limited})

-- name: session_count_children
SELECT COUNT(*) FROM sessions WHERE tenant_key = $1 AND parent_id = $2 AND parent_id IS NOT NULL

-- From 6 on they have ended.
-- name: session_active_children
SELECT id FROM sessions WHERE tenant_key = $1 AND parent_id = $2 AND parent_id IS NOT NULL AND work + 0 < 6
ORDER BY key LIMIT $3

-- 2 is the work state running.
-- name: session_active_human
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = $1 AND s.owner = $2 AND s.owner IS NOT NULL AND s.work + 0 >= 2 AND s.work + 0 <= 4 AND s.work = 2
    AND s.source_kind = 'human-session-bridge'
ORDER BY s.key DESC LIMIT 1

-- Whoever appends to it holds this row until its commit: what is deleted then is all there is.
-- name: session_lock (postgres)
SELECT last_sequence FROM session_activity WHERE tenant_key = $1 AND session_key = $2 FOR UPDATE
-- name: session_delete
DELETE FROM sessions WHERE tenant_key = $1 AND key = $2
-- name: session_delete_activity
DELETE FROM session_activity WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_labels
DELETE FROM labels WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_participants
DELETE FROM participants WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_share_links
DELETE FROM share_links WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_share_uses
DELETE FROM share_uses WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_partial
DELETE FROM partials WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_lease
DELETE FROM leases WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_kept
DELETE FROM kept WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_introspection
DELETE FROM introspections WHERE tenant_key = $1 AND session_key = $2
-- Answers that tell of it besides another, then all that is known of the answers that tell of it, then its own answers.
-- name: session_delete_further_answers
DELETE FROM idempotency WHERE tenant_key = $1 AND (actor, key) IN
    (SELECT o.actor, o.key FROM idempotency_subjects o WHERE o.tenant_key = $1 AND o.session_key = $2)
-- name: session_delete_answer_subjects
DELETE FROM idempotency_subjects WHERE tenant_key = $1 AND (actor, key) IN
    (SELECT o.actor, o.key FROM idempotency_subjects o WHERE o.tenant_key = $1 AND o.session_key = $2
     UNION SELECT o.actor, o.key FROM idempotency o WHERE o.tenant_key = $1 AND o.session_key = $2 AND o.session_key <> 0)
-- name: session_delete_idempotency
DELETE FROM idempotency WHERE tenant_key = $1 AND session_key = $2 AND session_key <> 0
-- name: session_delete_prompts
DELETE FROM prompts WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_timers
DELETE FROM timers WHERE tenant_key = $1 AND session_key = $2 AND kind IN (2, 3, 4, 5, 6, 7, 8, 9)

-- The position is the last that was given: deleting the events took one for this.
-- name: tombstone_insert (sqlite)
INSERT INTO tombstones (tenant_key, id, actor, deleted_at_ms, session_key, sequence, position, audience)
VALUES ($1, $2, $3, $4, $5, $6, (SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'event_position'),
    json_object('id', $2, 'owner', $7, 'visibility', $8, 'purpose', $9, 'participants', json(
        (SELECT json_group_array(user_id) FROM participants WHERE tenant_key = $1 AND session_key = $5))))
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: tombstone_insert (postgres)
INSERT INTO tombstones (tenant_key, id, actor, deleted_at_ms, session_key, sequence, position, audience)
VALUES ($1, $2, $3, $4, $5, $6,
    nextval(pg_get_serial_sequence('events', 'position')),
    CAST(json_build_object('id', CAST($2 AS TEXT), 'owner', CAST($7 AS TEXT), 'visibility', CAST($8 AS BIGINT), 'purpose', CAST($9 AS BIGINT),
        'participants', COALESCE((SELECT json_agg(user_id) FROM participants
                                  WHERE tenant_key = $1 AND session_key = $5), CAST('[]' AS JSON))) AS TEXT))
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: tombstone_exists
SELECT 1 FROM tombstones WHERE tenant_key = $1 AND id = $2

-- name: label_insert
INSERT INTO labels (tenant_key, name, value, listed_at_ms, session_key) VALUES ($1, $2, $3, $4, $5)
-- name: label_relist
UPDATE labels SET listed_at_ms = $1 WHERE tenant_key = $2 AND session_key = $3
-- name: participant_relist
UPDATE participants SET listed_at_ms = $1 WHERE tenant_key = $2 AND session_key = $3

-- name: count_add (sqlite)
INSERT INTO tenant_counts (tenant_key, type, work, sessions) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_key, type, work) DO UPDATE SET sessions = sessions + excluded.sessions
-- name: count_add (postgres)
INSERT INTO tenant_counts AS c (tenant_key, type, work, sessions, slot)
VALUES ($1, $2, $3, $4, pg_backend_pid() % 64)
ON CONFLICT (tenant_key, type, work, slot) DO UPDATE SET sessions = c.sessions + excluded.sessions
-- name: count_list
SELECT type, work, CAST(SUM(sessions) AS BIGINT) FROM tenant_counts WHERE tenant_key = $1 GROUP BY type, work
