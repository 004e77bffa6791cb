-- fragment: prompt_columns
position, id, mode, actor, content, metadata, thread_id, created_at_ms
-- name: prompt_insert
INSERT INTO prompts (tenant_key, session_key, {prompt_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
-- name: prompt_list
SELECT {prompt_columns} FROM prompts WHERE tenant_key = $1 AND session_key = $2 ORDER BY position
-- name: prompt_first
SELECT {prompt_columns} FROM prompts WHERE tenant_key = $1 AND session_key = $2 ORDER BY position LIMIT 1
-- name: prompt_by_id
SELECT {prompt_columns} FROM prompts WHERE tenant_key = $1 AND session_key = $2 AND id = $3
-- name: prompt_figures
SELECT COUNT(*), COALESCE(MAX(position), 0) FROM prompts WHERE tenant_key = $1 AND session_key = $2
-- name: prompt_delete
DELETE FROM prompts WHERE tenant_key = $1 AND session_key = $2 AND position = $3
