-- Keys of sessions, wrapped by the master key; the store's own key stands in meta.
-- name: session_key_put
INSERT INTO session_keys (tenant_key, session_key, wrapped) VALUES ($1, $2, $3)
-- name: session_key_get
SELECT wrapped FROM session_keys WHERE tenant_key = $1 AND session_key = $2
-- name: session_key_page
SELECT tenant_key, session_key, wrapped FROM session_keys WHERE session_key > $1 ORDER BY session_key LIMIT $2
-- name: session_key_rewrap
UPDATE session_keys SET wrapped = $3 WHERE tenant_key = $1 AND session_key = $2
-- name: session_delete_key
DELETE FROM session_keys WHERE tenant_key = $1 AND session_key = $2
-- name: common_key_get
SELECT value FROM meta WHERE name = 'common_key'
-- name: common_key_put
INSERT INTO meta (name, value) VALUES ('common_key', $1) ON CONFLICT (name) DO NOTHING
-- name: common_key_replace
UPDATE meta SET value = $1 WHERE name = 'common_key'
