-- fragment: prompt_columns
position, id, mode, actor, content, metadata, thread_id, created_at_ms, revision, due_ms, priority
-- name: prompt_insert
INSERT INTO prompts (tenant_key, session_key, {prompt_columns})
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
-- name: prompt_list
SELECT {prompt_columns} FROM prompts WHERE tenant_key = $1 AND session_key = $2 ORDER BY position
-- name: prompt_first
SELECT {prompt_columns} FROM prompts WHERE tenant_key = $1 AND session_key = $2 ORDER BY position LIMIT 1
-- name: prompt_figures
SELECT COUNT(*), COALESCE(MIN(position), 0), COALESCE(MAX(position), 0), COALESCE(MIN(priority), 0)
    FROM prompts
    WHERE tenant_key = $1 AND session_key = $2
-- name: prompt_update
UPDATE prompts SET position = $4, mode = $5, content = $6, metadata = $7, revision = $8, due_ms = $9
    WHERE tenant_key = $1 AND session_key = $2 AND id = $3
-- name: prompt_make_room
UPDATE prompts SET position = position + 1 WHERE tenant_key = $1 AND session_key = $2 AND position >= $3
-- name: prompt_delete
DELETE FROM prompts WHERE tenant_key = $1 AND session_key = $2 AND id = $3
