-- parameters: i64
display key states type visibility work

-- In the order of domain/session_fields.c: store/session_row.c reads them so.
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
    source_platform, source_trigger_id, source_interactive, source_type, parent_id, task_id, entity_id, retry_of,
    attempt, owner, anonymous, initial_prompt, priority, created_at_ms, title, metadata, details, visibility,
    queue_mode, expires_at_ms, work, runtime, pause_reason, stop_reason, status_reason, archived_at_ms, queued_at_ms,
    started_at_ms, completed_at_ms, paused_at_ms, active_ms, running_since_ms, result, usage, error_message,
    error_code, fence, claim_attempts, listed_at_ms, display)
VALUES (
    :session.tenant_key, :session.id, :session.type, :session.purpose, :session.agent, :session.agent_version,
    :session.driver, :session.agent_config, :session.workspace, :session.source_kind, :session.source_platform,
    :session.source_trigger_id, :session.source_interactive, :session.source_type, :session.parent_id,
    :session.task_id, :session.entity_id, :session.retry_of, :session.attempt, :session.owner, :session.anonymous,
    :session.initial_prompt, :session.priority, :session.created_at_ms, :session.title, :session.metadata,
    :session.details, :session.visibility, :session.queue_mode, :session.expires_at_ms, :session.work,
    :session.runtime, :session.pause_reason, :session.stop_reason, :session.status_reason, :session.archived_at_ms,
    :session.queued_at_ms, :session.started_at_ms, :session.completed_at_ms, :session.paused_at_ms,
    :session.active_ms, :session.running_since_ms, :session.result, :session.usage, :session.error_message,
    :session.error_code, :session.fence, :session.claim_attempts, :session.listed_at_ms, :display)
ON CONFLICT (tenant_key, id) DO NOTHING
RETURNING key

-- name: session_activity_insert
INSERT INTO session_activity (
    session_key, tenant_key,
    last_sequence, message_count, tool_call_count, turn_count, updated_at_ms, last_active_at_ms, preview)
VALUES (:session.key, :session.tenant_key, :session.last_sequence, :session.message_count, :session.tool_call_count,
    :session.turn_count, :session.updated_at_ms, :session.last_active_at_ms, :session.preview)

-- Every change passes here: last_sequence says whether the row is still as the writer saw it.
-- name: session_touch (sqlite)
UPDATE session_activity SET {session_activity_values} {session_activity_row}
-- With the positions of the events written since, which continue the tail or take its place.
-- name: session_touch_tail (sqlite)
UPDATE session_activity SET {session_activity_values},
    tail = CAST(CASE WHEN :replaces THEN x'' ELSE tail END || :tail AS BLOB)
{session_activity_row}
-- fragment: session_activity_values
last_sequence = :session.last_sequence, message_count = :session.message_count,
tool_call_count = :session.tool_call_count, turn_count = :session.turn_count, updated_at_ms = :session.updated_at_ms,
last_active_at_ms = :session.last_active_at_ms, preview = :session.preview
-- fragment: session_activity_row
WHERE session_key = :session.key AND tenant_key = :session.tenant_key AND last_sequence = :old_sequence
-- name: session_touch (postgres)
UPDATE session_activity AS a SET
    last_sequence = n.last_sequence, message_count = n.message_count, tool_call_count = n.tool_call_count,
    turn_count = n.turn_count, updated_at_ms = n.updated_at_ms, last_active_at_ms = n.last_active_at_ms,
    preview = n.preview
FROM unnest(:session.last_sequence::bigint[], :session.message_count::bigint[], :session.tool_call_count::bigint[],
    :session.turn_count::bigint[], :session.updated_at_ms::bigint[], :session.last_active_at_ms::bigint[],
    :session.preview::text[], :session.key::bigint[], :session.tenant_key::bigint[], :old_sequence::bigint[])
    AS n (last_sequence, message_count, tool_call_count, turn_count, updated_at_ms, last_active_at_ms, preview,
        session_key, tenant_key, old_sequence)
WHERE a.session_key = n.session_key AND a.tenant_key = n.tenant_key AND a.last_sequence = n.old_sequence

-- name: session_move
UPDATE sessions SET
    work = :session.work, runtime = :session.runtime, pause_reason = :session.pause_reason,
    stop_reason = :session.stop_reason, status_reason = :session.status_reason, queued_at_ms = :session.queued_at_ms,
    started_at_ms = :session.started_at_ms, completed_at_ms = :session.completed_at_ms,
    paused_at_ms = :session.paused_at_ms, active_ms = :session.active_ms,
    running_since_ms = :session.running_since_ms, result = :session.result, usage = :session.usage,
    error_message = :session.error_message, error_code = :session.error_code, fence = :session.fence,
    claim_attempts = :session.claim_attempts, display = :display
WHERE key = :session.key AND tenant_key = :session.tenant_key

-- name: session_relist
UPDATE sessions SET listed_at_ms = :session.listed_at_ms WHERE key = :session.key AND tenant_key = :session.tenant_key

-- name: session_save
UPDATE sessions SET
    tenant_key = :session.tenant_key, id = :session.id, type = :session.type, purpose = :session.purpose,
    agent = :session.agent, agent_version = :session.agent_version, driver = :session.driver,
    agent_config = :session.agent_config, workspace = :session.workspace, source_kind = :session.source_kind,
    source_platform = :session.source_platform, source_trigger_id = :session.source_trigger_id,
    source_interactive = :session.source_interactive, source_type = :session.source_type,
    parent_id = :session.parent_id, task_id = :session.task_id, entity_id = :session.entity_id,
    retry_of = :session.retry_of, attempt = :session.attempt, owner = :session.owner, anonymous = :session.anonymous,
    initial_prompt = :session.initial_prompt, priority = :session.priority, created_at_ms = :session.created_at_ms,
    title = :session.title, metadata = :session.metadata, details = :session.details,
    visibility = :session.visibility, queue_mode = :session.queue_mode, expires_at_ms = :session.expires_at_ms,
    work = :session.work, runtime = :session.runtime, pause_reason = :session.pause_reason,
    stop_reason = :session.stop_reason, status_reason = :session.status_reason,
    archived_at_ms = :session.archived_at_ms, queued_at_ms = :session.queued_at_ms,
    started_at_ms = :session.started_at_ms, completed_at_ms = :session.completed_at_ms,
    paused_at_ms = :session.paused_at_ms, active_ms = :session.active_ms,
    running_since_ms = :session.running_since_ms, result = :session.result, usage = :session.usage,
    error_message = :session.error_message, error_code = :session.error_code, fence = :session.fence,
    claim_attempts = :session.claim_attempts, listed_at_ms = :session.listed_at_ms, display = :display
WHERE key = :session.key AND tenant_key = :session.tenant_key

-- name: session_by_id
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = :tenant_key AND s.id = :id

-- name: session_by_key
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = :tenant_key AND s.key = :key

-- A sandbox that is hibernated or stopped has no host.
-- name: session_with_sandbox
SELECT tenant_key, key AS session_key FROM sessions
WHERE runtime + 0 > {RUNTIME_NONE} AND runtime + 0 <> {RUNTIME_HIBERNATED}
    AND runtime + 0 <> {RUNTIME_STOPPED} ORDER BY key

-- The keys are a JSON array; the rows come in any order.
-- name: session_by_keys (sqlite)
SELECT {session_columns}
FROM json_each(:keys) k CROSS JOIN sessions s ON s.key = k.value CROSS JOIN session_activity a ON a.session_key = s.key
WHERE s.tenant_key = :tenant_key
-- name: session_by_keys (postgres)
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = :tenant_key
    AND s.key = ANY (ARRAY(SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST(:keys AS JSONB))))

-- fragment: session_is_limited
purpose NOT IN ({PURPOSE_ORCHESTRATOR}, {PURPOSE_WORKFLOW})
    AND (parent_id IS NULL OR parent_id NOT LIKE 'orchestrator:%')
-- :states has a bit for every state of a turn that counts. What this server is about to run counts, too; what waits for
-- workers does not.
-- name: session_count_concurrent
SELECT (SELECT COUNT(*) FROM sessions
        WHERE tenant_key = :tenant_key AND owner = :owner AND owner IS NOT NULL AND work + 0 >= {SESSION_RUNNING}
            AND work + 0 <= {SESSION_AWAITING_TOOL}
            AND ((CAST(:states AS BIGINT) >> CAST(work AS INTEGER)) & 1) = 1 AND {session_is_limited})
     + (SELECT COUNT(*) FROM sessions
        WHERE tenant_key = :tenant_key AND owner = :owner AND owner IS NOT NULL AND work = {SESSION_PENDING}
            AND driver > {DRIVER_WORKER} AND {session_is_limited})

-- name: session_count_children
SELECT COUNT(*) FROM sessions WHERE tenant_key = :tenant_key AND parent_id = :parent_id AND parent_id IS NOT NULL

-- name: session_active_children
SELECT id FROM sessions WHERE tenant_key = :tenant_key AND parent_id = :parent_id AND parent_id IS NOT NULL
    AND work + 0 < {SESSION_COMPLETED}
ORDER BY key LIMIT :limit

-- name: session_active_human
SELECT {session_columns}
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.tenant_key = :tenant_key AND s.owner = :owner AND s.owner IS NOT NULL AND s.work + 0 >= {SESSION_RUNNING}
    AND s.work + 0 <= {SESSION_AWAITING_TOOL} AND s.work = {SESSION_RUNNING}
    AND s.source_kind = 'human-session-bridge'
ORDER BY s.key DESC LIMIT 1

-- Whoever appends to it holds this row until its commit: what is deleted then is all there is.
-- name: session_lock (postgres)
SELECT last_sequence FROM session_activity WHERE tenant_key = :tenant_key AND session_key = :session_key FOR UPDATE
-- name: session_delete of session_part
DELETE FROM sessions WHERE tenant_key = :tenant_key AND key = :session_key
-- name: session_delete_activity of session_part
DELETE FROM session_activity WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_labels of session_part
DELETE FROM labels WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_participants of session_part
DELETE FROM participants WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_share_links of session_part
DELETE FROM share_links WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_share_uses of session_part
DELETE FROM share_uses WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_partial of session_part
DELETE FROM partials WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_lease of session_part
DELETE FROM leases WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_kept of session_part
DELETE FROM kept WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_introspection of session_part
DELETE FROM introspections WHERE tenant_key = :tenant_key AND session_key = :session_key
-- Answers that tell of it besides another, then all that is known of the answers that tell of it, then its own answers.
-- name: session_delete_further_answers of session_part
DELETE FROM idempotency WHERE tenant_key = :tenant_key AND (actor, key) IN
    (SELECT o.actor, o.key FROM idempotency_subjects o WHERE o.tenant_key = :tenant_key
        AND o.session_key = :session_key)
-- name: session_delete_answer_subjects of session_part
DELETE FROM idempotency_subjects WHERE tenant_key = :tenant_key AND (actor, key) IN
    (SELECT o.actor, o.key FROM idempotency_subjects o WHERE o.tenant_key = :tenant_key AND o.session_key = :session_key
     UNION SELECT o.actor, o.key FROM idempotency o WHERE o.tenant_key = :tenant_key
         AND o.session_key = :session_key AND o.session_key <> 0)
-- name: session_delete_idempotency of session_part
DELETE FROM idempotency WHERE tenant_key = :tenant_key AND session_key = :session_key AND session_key <> 0
-- name: session_delete_prompts of session_part
DELETE FROM prompts WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_timers of session_part
DELETE FROM timers WHERE tenant_key = :tenant_key AND session_key = :session_key AND kind IN ({timer_kinds})

-- The position is the last that was given: deleting the events took one for this.
-- name: tombstone_insert (sqlite)
INSERT INTO tombstones (tenant_key, id, actor, deleted_at_ms, session_key, sequence, position, audience)
VALUES (:tenant_key, :id, :actor, :deleted_at_ms, :session_key, :sequence, (SELECT CAST(value AS INTEGER)
    FROM meta WHERE name = 'event_position'),
    json_object('id', :id, 'owner', :owner, 'visibility', :visibility, 'purpose', :purpose, 'participants', json(
        (SELECT json_group_array(user_id) FROM participants WHERE tenant_key = :tenant_key
            AND session_key = :session_key))))
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: tombstone_insert (postgres)
INSERT INTO tombstones (tenant_key, id, actor, deleted_at_ms, session_key, sequence, position, audience)
VALUES (:tenant_key, :id, :actor, :deleted_at_ms, :session_key, :sequence,
    nextval(pg_get_serial_sequence('events', 'position')),
    CAST(json_build_object('id', CAST(:id AS TEXT), 'owner', CAST(:owner AS TEXT), 'visibility',
        CAST(:visibility AS BIGINT), 'purpose', CAST(:purpose AS BIGINT),
        'participants', COALESCE((SELECT json_agg(user_id) FROM participants
                                  WHERE tenant_key = :tenant_key
                                      AND session_key = :session_key), CAST('[]' AS JSON))) AS TEXT))
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: tombstone_exists
SELECT 1 FROM tombstones WHERE tenant_key = :tenant_key AND id = :id

-- name: label_insert
INSERT INTO labels (tenant_key, name, value, listed_at_ms, session_key)
    VALUES (:tenant_key, :name, :value, :listed_at_ms, :session_key)
-- name: label_relist
UPDATE labels SET listed_at_ms = :listed_at_ms WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: participant_relist
UPDATE participants SET listed_at_ms = :listed_at_ms WHERE tenant_key = :tenant_key AND session_key = :session_key

-- name: count_add (sqlite)
INSERT INTO tenant_counts (tenant_key, type, work, sessions) VALUES (:tenant_key, :type, :work, :sessions)
ON CONFLICT (tenant_key, type, work) DO UPDATE SET sessions = sessions + excluded.sessions
-- name: count_add (postgres)
INSERT INTO tenant_counts AS c (tenant_key, type, work, sessions, slot)
VALUES (:tenant_key, :type, :work, :sessions, pg_backend_pid() % 64)
ON CONFLICT (tenant_key, type, work, slot) DO UPDATE SET sessions = c.sessions + excluded.sessions
-- name: count_list of counts
SELECT type, work, CAST(SUM(sessions) AS BIGINT) AS sessions FROM tenant_counts WHERE tenant_key = :tenant_key
    GROUP BY type, work
