-- Content from before there was a master key, table by table. Each pair reads and writes rows of a session ($1 tenant, $2 session;
-- of the tenant when $2 is 0): two words that name a row, and its content. $3 and $4 name the row to go on after, or to write.

-- name: reseal_sessions
SELECT s.tenant_key, s.key FROM sessions s
WHERE s.key > $1 AND NOT EXISTS (SELECT 1 FROM session_keys k WHERE k.tenant_key = s.tenant_key AND k.session_key = s.key)
ORDER BY s.key LIMIT $2
-- name: reseal_tenants
SELECT key, key FROM tenants WHERE key > $1 ORDER BY key LIMIT $2
-- name: reseal_blob_use_delete
DELETE FROM blob_uses WHERE tenant_key = $1 AND session_key = $2 AND address = $3

-- Rows of which a session has one.
-- fragment: reseal_only
'row' > CAST($3 AS TEXT) AND CAST($4 AS TEXT) = '' LIMIT $5
-- fragment: reseal_that
CAST($3 AS TEXT) = 'row' AND CAST($4 AS TEXT) = ''

-- name: reseal_session_read
SELECT 'row', '', agent_config, initial_prompt, title, details, result, error_message, status_reason FROM sessions
WHERE tenant_key = $1 AND key = $2 AND {reseal_only}
-- name: reseal_session_write
UPDATE sessions SET agent_config = $5, initial_prompt = $6, title = $7, details = $8, result = $9, error_message = $10,
    status_reason = $11
WHERE tenant_key = $1 AND key = $2 AND {reseal_that}
-- name: reseal_activity_read
SELECT 'row', '', preview FROM session_activity WHERE tenant_key = $1 AND session_key = $2 AND {reseal_only}
-- name: reseal_activity_write
UPDATE session_activity SET preview = $5 WHERE tenant_key = $1 AND session_key = $2 AND {reseal_that}
-- name: reseal_partial_read
SELECT 'row', '', body FROM partials WHERE tenant_key = $1 AND session_key = $2 AND {reseal_only}
-- name: reseal_partial_write
UPDATE partials SET body = $5 WHERE tenant_key = $1 AND session_key = $2 AND {reseal_that}
-- name: reseal_kept_read
SELECT 'row', '', body FROM kept WHERE tenant_key = $1 AND session_key = $2 AND {reseal_only}
-- name: reseal_kept_write
UPDATE kept SET body = $5 WHERE tenant_key = $1 AND session_key = $2 AND {reseal_that}
-- name: reseal_step_read
SELECT 'row', '', definition FROM steps WHERE tenant_key = $1 AND session_key = $2 AND {reseal_only}
-- name: reseal_step_write
UPDATE steps SET definition = $5 WHERE tenant_key = $1 AND session_key = $2 AND {reseal_that}

-- name: reseal_event_read (sqlite)
SELECT CAST(e.sequence AS TEXT), CAST(e.position AS TEXT), e.content, e.metadata
FROM event_positions p CROSS JOIN events e ON e.position = p.position
WHERE p.session_key = $2 AND p.sequence > CAST($3 AS BIGINT) AND e.tenant_key = $1 AND CAST($4 AS TEXT) IS NOT NULL
ORDER BY p.sequence LIMIT $5
-- name: reseal_event_read (postgres)
SELECT CAST(e.sequence AS TEXT), CAST(e.position AS TEXT), e.content, e.metadata FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > CAST(CAST($3 AS TEXT) AS BIGINT)
    AND CAST($4 AS TEXT) IS NOT NULL
ORDER BY e.sequence LIMIT $5
-- name: reseal_event_write (sqlite)
UPDATE events SET content = $5, metadata = $6
WHERE position = CAST($4 AS BIGINT) AND tenant_key = $1 AND session_key = $2 AND sequence = CAST($3 AS BIGINT)
-- name: reseal_event_write (postgres)
UPDATE events SET content = $5, metadata = $6
WHERE tenant_key = $1 AND session_key = $2 AND sequence = CAST(CAST($3 AS TEXT) AS BIGINT)
    AND position = CAST(CAST($4 AS TEXT) AS BIGINT)

-- fragment: reseal_page
CAST($4 AS TEXT) = '' ORDER BY id LIMIT $5
-- name: reseal_prompt_read
SELECT id, '', content, metadata FROM prompts
WHERE tenant_key = $1 AND session_key = $2 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_prompt_write
UPDATE prompts SET content = $5, metadata = $6
WHERE tenant_key = $1 AND session_key = $2 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_ask_read
SELECT id, '', arguments, text, options, form, details, fields, answer, reason, votes FROM asks
WHERE tenant_key = $1 AND session_key = $2 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_ask_write
UPDATE asks SET arguments = $5, text = $6, options = $7, form = $8, details = $9, fields = $10, answer = $11, reason = $12,
    votes = $13
WHERE tenant_key = $1 AND session_key = $2 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_rule_read
SELECT id, '', arguments, subject FROM ask_rules
WHERE tenant_key = $1 AND session_key = $2 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_rule_write
UPDATE ask_rules SET arguments = $5, subject = $6 WHERE tenant_key = $1 AND session_key = $2 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_run_read
SELECT id, '', summary FROM automation_runs
WHERE tenant_key = $1 AND session_key = $2 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_run_write
UPDATE automation_runs SET summary = $5 WHERE tenant_key = $1 AND session_key = $2 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_tool_call_read
SELECT tool, call_id, result FROM tool_calls
WHERE tenant_key = $1 AND session_key = $2 AND (tool, call_id) > (CAST($3 AS TEXT), CAST($4 AS TEXT))
ORDER BY tool, call_id LIMIT $5
-- name: reseal_tool_call_write
UPDATE tool_calls SET result = $5 WHERE tenant_key = $1 AND session_key = $2 AND tool = $3 AND call_id = $4

-- What belongs to no session.
-- name: reseal_entity_read
SELECT id, '', fields FROM entities
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_entity_write
UPDATE entities SET fields = $5
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_task_read
SELECT id, '', name, definition FROM tasks
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_task_write
UPDATE tasks SET name = $5, definition = $6
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_persona_read
SELECT id, '', name, prompt FROM personas
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id > CAST($3 AS TEXT) AND {reseal_page}
-- name: reseal_persona_write
UPDATE personas SET name = $5, prompt = $6
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND id = $3 AND CAST($4 AS TEXT) = ''
-- name: reseal_memory_read
SELECT agent, id, body FROM memories
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND (agent, id) > (CAST($3 AS TEXT), CAST($4 AS TEXT))
ORDER BY agent, id LIMIT $5
-- name: reseal_memory_write
UPDATE memories SET body = $5 WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND agent = $3 AND id = $4
-- name: reseal_answer_read
SELECT actor, key, body FROM idempotency
WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND (actor, key) > (CAST($3 AS TEXT), CAST($4 AS TEXT))
ORDER BY actor, key LIMIT $5
-- name: reseal_answer_write
UPDATE idempotency SET body = $5 WHERE tenant_key = $1 AND CAST($2 AS BIGINT) = 0 AND actor = $3 AND key = $4
