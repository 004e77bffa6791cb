-- parameters: bool
visibility
-- parameters: text
after

-- fragment: persona_columns
tenant_key, id, owner, name, prompt, visibility, created_at_ms, updated_at_ms
-- name: persona_put
INSERT INTO personas ({persona_columns}) VALUES (:tenant_key, :id, :owner, :name, :prompt, :visibility, :created_at_ms,
    :updated_at_ms)
ON CONFLICT (tenant_key, id) DO UPDATE SET name = excluded.name, prompt = excluded.prompt,
    visibility = excluded.visibility, updated_at_ms = excluded.updated_at_ms
-- name: persona_get
SELECT {persona_columns} FROM personas WHERE tenant_key = :tenant_key AND id = :id
-- Those a user may use: their own and the shared ones.
-- name: persona_list
SELECT {persona_columns} FROM personas
WHERE tenant_key = :tenant_key AND (visibility = {VISIBILITY_ORG_VISIBLE} OR owner = :user_id) AND id > :after
    ORDER BY id LIMIT :limit
-- name: persona_count
SELECT COUNT(*) FROM personas WHERE tenant_key = :tenant_key AND owner = :owner
-- name: persona_delete
DELETE FROM personas WHERE tenant_key = :tenant_key AND id = :id

-- name: preferences_put
INSERT INTO preferences (tenant_key, user_id, idle_timeout_ms, queue_mode)
    VALUES (:tenant_key, :user_id, :idle_timeout_ms, :queue_mode)
ON CONFLICT (tenant_key, user_id) DO UPDATE SET idle_timeout_ms = excluded.idle_timeout_ms,
    queue_mode = excluded.queue_mode
-- name: preferences_get
SELECT idle_timeout_ms, queue_mode FROM preferences WHERE tenant_key = :tenant_key AND user_id = :user_id
