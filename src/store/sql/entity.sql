-- parameters: text
after type

-- fragment: entity_columns
id, type, fields, version, created_at_ms, updated_at_ms, updated_by
-- name: entity_insert
INSERT INTO entities (tenant_key, {entity_columns}) VALUES (:tenant_key, :id, :type, :fields, :version, :created_at_ms,
    :updated_at_ms, :updated_by)
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: entity_get
SELECT {entity_columns} FROM entities WHERE tenant_key = :tenant_key AND id = :id
-- Whoever reads it to change it is alone with it until the commit.
-- name: entity_lock (sqlite)
SELECT {entity_columns} FROM entities WHERE tenant_key = :tenant_key AND id = :id
-- name: entity_lock (postgres)
SELECT {entity_columns} FROM entities WHERE tenant_key = :tenant_key AND id = :id FOR UPDATE
-- name: entity_update
UPDATE entities SET type = :type, fields = :fields, version = :version, updated_at_ms = :updated_at_ms,
    updated_by = :updated_by
WHERE tenant_key = :tenant_key AND id = :id AND version = :version - 1
-- name: entity_delete
DELETE FROM entities WHERE tenant_key = :tenant_key AND id = :id AND (CAST(:version AS BIGINT) = 0
    OR version = :version)
-- name: entity_list
SELECT {entity_columns} FROM entities
WHERE tenant_key = :tenant_key AND id > :after AND (CAST(:type AS TEXT) IS NULL OR type = :type)
ORDER BY id LIMIT :limit
