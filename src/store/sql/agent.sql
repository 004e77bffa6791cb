-- Versions of a slug never meet between a tenant and tenant 0 (agent_next_version), so slug and version name one row.
-- fragment: agent_columns
a.tenant_key, a.slug, a.version, a.definition, a.source, a.created_at_ms, a.created_by, a.removed_at_ms

-- name: agent_insert
INSERT INTO agents (tenant_key, slug, version, definition, source, created_at_ms, created_by, removed_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
ON CONFLICT (tenant_key, slug, version) DO NOTHING

-- Those of tenant 0 are seen by all tenants, so a new one of them must not meet any tenant's.
-- name: agent_next_version
SELECT COALESCE(MAX(version), 0) + 1 FROM agents
WHERE slug = $2 AND (tenant_key IN (0, $1) OR CAST($1 AS BIGINT) = 0)

-- What a new session gets: the tenant's own before that of tenant 0.
-- name: agent_newest
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, $1) AND a.slug = $2 AND a.removed_at_ms = 0
ORDER BY a.tenant_key DESC, a.version DESC LIMIT 1

-- name: agent_by_version
SELECT {agent_columns} FROM agents a WHERE a.tenant_key IN (0, $1) AND a.slug = $2 AND a.version = $3

-- name: agent_versions
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, $1) AND a.slug = $2 AND (CAST($3 AS BIGINT) = 0 OR a.version < $3)
ORDER BY a.version DESC LIMIT $4

-- name: agent_list
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, $1) AND a.slug > $2 AND a.removed_at_ms = 0
    AND a.version = (SELECT MAX(b.version) FROM agents b WHERE b.tenant_key = a.tenant_key AND b.slug = a.slug)
    AND (a.tenant_key = $1 OR NOT EXISTS (SELECT 1 FROM agents c
        WHERE c.tenant_key = $1 AND c.slug = a.slug AND c.removed_at_ms = 0))
ORDER BY a.slug LIMIT $3

-- name: agent_remove
UPDATE agents SET removed_at_ms = $3 WHERE tenant_key = $1 AND slug = $2 AND removed_at_ms = 0
