-- fragment: memory_columns
tenant_key, agent, owner, id, body, session_id, created_at_ms, updated_at_ms
-- name: memory_put
INSERT INTO memories ({memory_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant_key, agent, id) DO UPDATE SET body = excluded.body, session_id = excluded.session_id,
    updated_at_ms = excluded.updated_at_ms
-- name: memory_get
SELECT {memory_columns} FROM memories WHERE tenant_key = $1 AND agent = $2 AND id = $3
-- name: memory_list
SELECT {memory_columns} FROM memories WHERE tenant_key = $1 AND agent = $2 AND owner = $3 AND id > $4
ORDER BY id LIMIT $5
-- Of everybody.
-- name: memory_list_all
SELECT {memory_columns} FROM memories WHERE tenant_key = $1 AND agent = $2 AND id > $3 ORDER BY id LIMIT $4
-- name: memory_count
SELECT COUNT(*) FROM memories WHERE tenant_key = $1 AND agent = $2 AND owner = $3
-- name: memory_delete
DELETE FROM memories WHERE tenant_key = $1 AND agent = $2 AND id = $3
