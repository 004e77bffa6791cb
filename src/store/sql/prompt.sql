-- fragment: prompt_columns
position, id, mode, actor, content, metadata, thread_id, created_at_ms, revision, due_ms, priority
-- name: prompt_insert
INSERT INTO prompts (tenant_key, session_key, {prompt_columns})
    VALUES (:tenant_key, :session_key, :position, :id, :mode, :actor, :content, :metadata, :thread_id, :created_at_ms,
        :revision, :due_ms, :priority)
-- name: prompt_list
SELECT {prompt_columns} FROM prompts WHERE tenant_key = :tenant_key AND session_key = :session_key ORDER BY position
-- name: prompt_first
SELECT {prompt_columns} FROM prompts WHERE tenant_key = :tenant_key AND session_key = :session_key
    ORDER BY position LIMIT 1
-- name: prompt_figures
SELECT COUNT(*) AS waiting, COALESCE(MIN(position), 0) AS first, COALESCE(MAX(position), 0) AS last,
    COALESCE(MIN(priority), 0) AS least_priority
    FROM prompts
    WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: prompt_update
UPDATE prompts SET position = :position, mode = :mode, content = :content, metadata = :metadata, revision = :revision,
    due_ms = :due_ms
    WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id
-- name: prompt_make_room
UPDATE prompts SET position = position + 1 WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND position >= :position
-- name: prompt_delete
DELETE FROM prompts WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id
