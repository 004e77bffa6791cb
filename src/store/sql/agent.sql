-- parameters: text
after

-- Versions of a slug never meet between a tenant and tenant 0 (agent_next_version), so slug and version name one row.
-- fragment: agent_columns
a.tenant_key, a.slug, a.version, a.definition, a.source, a.created_at_ms, a.created_by, a.removed_at_ms

-- name: agent_insert
INSERT INTO agents (tenant_key, slug, version, definition, source, created_at_ms, created_by, removed_at_ms)
VALUES (:tenant_key, :slug, :version, :definition, :source, :created_at_ms, :created_by, 0)
ON CONFLICT (tenant_key, slug, version) DO NOTHING

-- Those of tenant 0 are seen by all tenants, so a new one of them must not meet any tenant's.
-- name: agent_next_version
SELECT COALESCE(MAX(version), 0) + 1 FROM agents
WHERE slug = :slug AND (tenant_key IN (0, :tenant_key) OR CAST(:tenant_key AS BIGINT) = 0)

-- What a new session gets: the tenant's own before that of tenant 0.
-- name: agent_newest
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, :tenant_key) AND a.slug = :slug AND a.removed_at_ms = 0
ORDER BY a.tenant_key DESC, a.version DESC LIMIT 1

-- name: agent_by_version
SELECT {agent_columns} FROM agents a WHERE a.tenant_key IN (0, :tenant_key) AND a.slug = :slug AND a.version = :version

-- name: agent_versions
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, :tenant_key) AND a.slug = :slug AND (CAST(:before_version AS BIGINT) = 0
    OR a.version < :before_version)
ORDER BY a.version DESC LIMIT :limit

-- name: agent_list
SELECT {agent_columns} FROM agents a
WHERE a.tenant_key IN (0, :tenant_key) AND a.slug > :after AND a.removed_at_ms = 0
    AND a.version = (SELECT MAX(b.version) FROM agents b WHERE b.tenant_key = a.tenant_key AND b.slug = a.slug)
    AND (a.tenant_key = :tenant_key OR NOT EXISTS (SELECT 1 FROM agents c
        WHERE c.tenant_key = :tenant_key AND c.slug = a.slug AND c.removed_at_ms = 0))
ORDER BY a.slug LIMIT :limit

-- name: agent_remove
UPDATE agents SET removed_at_ms = :now_ms WHERE tenant_key = :tenant_key AND slug = :slug AND removed_at_ms = 0
