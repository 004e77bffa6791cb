-- fragment: entity_columns
id, type, fields, version, created_at_ms, updated_at_ms, updated_by
-- name: entity_insert
INSERT INTO entities (tenant_key, {entity_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: entity_get
SELECT {entity_columns} FROM entities WHERE tenant_key = $1 AND id = $2
-- Whoever reads it to change it is alone with it until the commit.
-- name: entity_lock (sqlite)
SELECT {entity_columns} FROM entities WHERE tenant_key = $1 AND id = $2
-- name: entity_lock (postgres)
SELECT {entity_columns} FROM entities WHERE tenant_key = $1 AND id = $2 FOR UPDATE
-- name: entity_update
UPDATE entities SET type = $3, fields = $4, version = $5, updated_at_ms = $6, updated_by = $7
WHERE tenant_key = $1 AND id = $2 AND version = $5 - 1
-- name: entity_delete
DELETE FROM entities WHERE tenant_key = $1 AND id = $2 AND (CAST($3 AS BIGINT) = 0 OR version = $3)
-- name: entity_list
SELECT {entity_columns} FROM entities
WHERE tenant_key = $1 AND id > $2 AND (CAST($3 AS TEXT) IS NULL OR type = $3)
ORDER BY id LIMIT $4
