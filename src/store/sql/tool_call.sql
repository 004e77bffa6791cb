-- fragment: tool_call_columns
tenant_key, session_key, tool, call_id, arguments_hash, state, result, created_at_ms, ended_at_ms
-- name: tool_call_get
SELECT {tool_call_columns} FROM tool_calls
WHERE tenant_key = $1 AND session_key = $2 AND tool = $3 AND call_id = $4
-- name: tool_call_insert
INSERT INTO tool_calls ({tool_call_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
-- name: tool_call_end
UPDATE tool_calls SET state = $5, result = $6, ended_at_ms = $7
WHERE tenant_key = $1 AND session_key = $2 AND tool = $3 AND call_id = $4 AND state = 0
-- Older ones ran when a server died: nobody works at them any more.
-- name: tool_call_count_running
SELECT COUNT(*) FROM tool_calls
WHERE tenant_key = $1 AND session_key = $2 AND state = 0 AND created_at_ms > $3
-- name: session_delete_tool_calls
DELETE FROM tool_calls WHERE tenant_key = $1 AND session_key = $2
