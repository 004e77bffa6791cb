-- fragment: tool_call_columns
tenant_key, session_key, tool, call_id, arguments_hash, state, result, created_at_ms, ended_at_ms
-- name: tool_call_get
SELECT {tool_call_columns} FROM tool_calls
WHERE tenant_key = :tenant_key AND session_key = :session_key AND tool = :tool AND call_id = :call_id
-- name: tool_call_insert
INSERT INTO tool_calls ({tool_call_columns}) VALUES (:tenant_key, :session_key, :tool, :call_id, :arguments_hash,
    :state, :result, :created_at_ms, :ended_at_ms)
-- name: tool_call_end
UPDATE tool_calls SET state = :state, result = :result, ended_at_ms = :ended_at_ms
WHERE tenant_key = :tenant_key AND session_key = :session_key AND tool = :tool AND call_id = :call_id
    AND state = {TOOL_CALL_RUNNING}
-- Older ones ran when a server died: nobody works at them any more.
-- name: tool_call_count_running
SELECT COUNT(*) FROM tool_calls
WHERE tenant_key = :tenant_key AND session_key = :session_key AND state = {TOOL_CALL_RUNNING}
    AND created_at_ms > :since_ms
-- name: session_delete_tool_calls of session_part
DELETE FROM tool_calls WHERE tenant_key = :tenant_key AND session_key = :session_key
