-- Keys of sessions, wrapped by the master key; the store's own key stands in meta.
-- name: session_key_put
INSERT INTO session_keys (tenant_key, session_key, wrapped) VALUES (:tenant_key, :session_key, :wrapped)
-- name: session_key_get
SELECT wrapped FROM session_keys WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_key_page
SELECT tenant_key, session_key, wrapped FROM session_keys WHERE session_key > :after_session_key
    ORDER BY session_key LIMIT :limit
-- name: session_key_rewrap
UPDATE session_keys SET wrapped = :wrapped WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_key of session_part
DELETE FROM session_keys WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: common_key_get
SELECT value FROM meta WHERE name = 'common_key'
-- name: common_key_put
INSERT INTO meta (name, value) VALUES ('common_key', :value) ON CONFLICT (name) DO NOTHING
-- name: common_key_replace
UPDATE meta SET value = :value WHERE name = 'common_key'
