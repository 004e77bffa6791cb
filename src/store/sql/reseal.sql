-- Content from before there was a master key, table by table. Each pair reads and writes rows of a session, or of the
-- tenant when :session_key is 0: two words that name a row, and its content.

-- parameters: bytes
address

-- name: reseal_sessions of reseal_page
SELECT s.tenant_key, s.key AS session_key FROM sessions s
WHERE s.key > :after_key AND NOT EXISTS (SELECT 1 FROM session_keys k WHERE k.tenant_key = s.tenant_key
    AND k.session_key = s.key)
ORDER BY s.key LIMIT :limit
-- name: reseal_tenants of reseal_page
SELECT key AS tenant_key, key AS session_key FROM tenants WHERE key > :after_key ORDER BY key LIMIT :limit
-- name: reseal_blob_use_delete
DELETE FROM blob_uses WHERE tenant_key = :tenant_key AND session_key = :session_key AND address = :address

-- Rows of which a session has one.
-- fragment: reseal_only
'row' > CAST(:after_1 AS TEXT) AND CAST(:after_2 AS TEXT) = '' LIMIT :limit
-- fragment: reseal_that
CAST(:name_1 AS TEXT) = 'row' AND CAST(:name_2 AS TEXT) = ''

-- name: reseal_session_read of reseal_read
SELECT 'row', '', agent_config, initial_prompt, title, details, result, error_message, status_reason FROM sessions
WHERE tenant_key = :tenant_key AND key = :session_key AND {reseal_only}
-- name: reseal_session_write of reseal_write
UPDATE sessions SET agent_config = :contents[0], initial_prompt = :contents[1], title = :contents[2],
    details = :contents[3], result = :contents[4], error_message = :contents[5],
    status_reason = :contents[6]
WHERE tenant_key = :tenant_key AND key = :session_key AND {reseal_that}
-- name: reseal_activity_read of reseal_read
SELECT 'row', '', preview FROM session_activity WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND {reseal_only}
-- name: reseal_activity_write of reseal_write
UPDATE session_activity SET preview = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND {reseal_that}
-- name: reseal_partial_read of reseal_read
SELECT 'row', '', body FROM partials WHERE tenant_key = :tenant_key AND session_key = :session_key AND {reseal_only}
-- name: reseal_partial_write of reseal_write
UPDATE partials SET body = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key AND {reseal_that}
-- name: reseal_kept_read of reseal_read
SELECT 'row', '', body FROM kept WHERE tenant_key = :tenant_key AND session_key = :session_key AND {reseal_only}
-- name: reseal_kept_write of reseal_write
UPDATE kept SET body = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key AND {reseal_that}
-- name: reseal_step_read of reseal_read
SELECT 'row', '', definition FROM steps WHERE tenant_key = :tenant_key AND session_key = :session_key AND {reseal_only}
-- name: reseal_step_write of reseal_write
UPDATE steps SET definition = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND {reseal_that}

-- name: reseal_event_read of reseal_read (sqlite)
SELECT CAST(e.sequence AS TEXT), CAST(e.position AS TEXT), e.content, e.metadata
FROM event_positions p CROSS JOIN events e ON e.position = p.position
WHERE p.session_key = :session_key AND p.sequence > CAST(:after_1 AS BIGINT) AND e.tenant_key = :tenant_key
    AND CAST(:after_2 AS TEXT) IS NOT NULL
ORDER BY p.sequence LIMIT :limit
-- name: reseal_event_read of reseal_read (postgres)
SELECT CAST(e.sequence AS TEXT), CAST(e.position AS TEXT), e.content, e.metadata FROM events e
WHERE e.tenant_key = :tenant_key AND e.session_key = :session_key
    AND e.sequence > CAST(CAST(:after_1 AS TEXT) AS BIGINT)
    AND CAST(:after_2 AS TEXT) IS NOT NULL
ORDER BY e.sequence LIMIT :limit
-- name: reseal_event_write of reseal_write (sqlite)
UPDATE events SET content = :contents[0], metadata = :contents[1]
WHERE position = CAST(:name_2 AS BIGINT) AND tenant_key = :tenant_key AND session_key = :session_key
    AND sequence = CAST(:name_1 AS BIGINT)
-- name: reseal_event_write of reseal_write (postgres)
UPDATE events SET content = :contents[0], metadata = :contents[1]
WHERE tenant_key = :tenant_key AND session_key = :session_key AND sequence = CAST(CAST(:name_1 AS TEXT) AS BIGINT)
    AND position = CAST(CAST(:name_2 AS TEXT) AS BIGINT)

-- fragment: reseal_page
CAST(:after_2 AS TEXT) = '' ORDER BY id LIMIT :limit
-- name: reseal_prompt_read of reseal_read
SELECT id, '', content, metadata FROM prompts
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_prompt_write of reseal_write
UPDATE prompts SET content = :contents[0], metadata = :contents[1]
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_ask_read of reseal_read
SELECT id, '', arguments, text, options, form, details, fields, answer, reason, votes FROM asks
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_ask_write of reseal_write
UPDATE asks SET arguments = :contents[0], text = :contents[1], options = :contents[2], form = :contents[3],
    details = :contents[4], fields = :contents[5], answer = :contents[6], reason = :contents[7],
    votes = :contents[8]
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_rule_read of reseal_read
SELECT id, '', arguments, subject FROM ask_rules
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_rule_write of reseal_write
UPDATE ask_rules SET arguments = :contents[0], subject = :contents[1] WHERE tenant_key = :tenant_key
    AND session_key = :session_key AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_run_read of reseal_read
SELECT id, '', summary FROM automation_runs
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_run_write of reseal_write
UPDATE automation_runs SET summary = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_tool_call_read of reseal_read
SELECT tool, call_id, result FROM tool_calls
WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND (tool, call_id) > (CAST(:after_1 AS TEXT), CAST(:after_2 AS TEXT))
ORDER BY tool, call_id LIMIT :limit
-- name: reseal_tool_call_write of reseal_write
UPDATE tool_calls SET result = :contents[0] WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND tool = :name_1 AND call_id = :name_2

-- What belongs to no session.
-- name: reseal_entity_read of reseal_read
SELECT id, '', fields FROM entities
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_entity_write of reseal_write
UPDATE entities SET fields = :contents[0]
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_task_read of reseal_read
SELECT id, '', name, definition FROM tasks
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_task_write of reseal_write
UPDATE tasks SET name = :contents[0], definition = :contents[1]
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_persona_read of reseal_read
SELECT id, '', name, prompt FROM personas
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id > CAST(:after_1 AS TEXT) AND {reseal_page}
-- name: reseal_persona_write of reseal_write
UPDATE personas SET name = :contents[0], prompt = :contents[1]
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0 AND id = :name_1 AND CAST(:name_2 AS TEXT) = ''
-- name: reseal_memory_read of reseal_read
SELECT agent, id, body FROM memories
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0
    AND (agent, id) > (CAST(:after_1 AS TEXT), CAST(:after_2 AS TEXT))
ORDER BY agent, id LIMIT :limit
-- name: reseal_memory_write of reseal_write
UPDATE memories SET body = :contents[0] WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0
    AND agent = :name_1 AND id = :name_2
-- name: reseal_answer_read of reseal_read
SELECT actor, key, body FROM idempotency
WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0
    AND (actor, key) > (CAST(:after_1 AS TEXT), CAST(:after_2 AS TEXT))
ORDER BY actor, key LIMIT :limit
-- name: reseal_answer_write of reseal_write
UPDATE idempotency SET body = :contents[0] WHERE tenant_key = :tenant_key AND CAST(:session_key AS BIGINT) = 0
    AND actor = :name_1 AND key = :name_2
