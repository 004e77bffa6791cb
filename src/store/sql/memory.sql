-- parameters: text
after body

-- fragment: memory_columns
tenant_key, agent, owner, id, body, session_id, created_at_ms, updated_at_ms
-- name: memory_put
INSERT INTO memories ({memory_columns}) VALUES (:tenant_key, :agent, :owner, :id, :body, :session_id, :created_at_ms,
    :updated_at_ms)
ON CONFLICT (tenant_key, agent, id) DO UPDATE SET body = excluded.body, session_id = excluded.session_id,
    updated_at_ms = excluded.updated_at_ms
-- name: memory_get
SELECT {memory_columns} FROM memories WHERE tenant_key = :tenant_key AND agent = :agent AND id = :id
-- name: memory_list
SELECT {memory_columns} FROM memories WHERE tenant_key = :tenant_key AND agent = :agent AND owner = :owner
    AND id > :after
ORDER BY id LIMIT :limit
-- Of everybody.
-- name: memory_list_all
SELECT {memory_columns} FROM memories WHERE tenant_key = :tenant_key AND agent = :agent AND id > :after
    ORDER BY id LIMIT :limit
-- name: memory_count
SELECT COUNT(*) FROM memories WHERE tenant_key = :tenant_key AND agent = :agent AND owner = :owner
-- name: memory_delete
DELETE FROM memories WHERE tenant_key = :tenant_key AND agent = :agent AND id = :id
