-- name: participant_role
SELECT role FROM participants WHERE tenant_key = :tenant_key AND session_key = :session_key AND user_id = :user_id
-- name: participant_put
INSERT INTO participants (tenant_key, session_key, user_id, role, added_at_ms, listed_at_ms)
SELECT s.tenant_key, s.key, :user_id, :role, :added_at_ms, s.listed_at_ms FROM sessions s
    WHERE s.tenant_key = :tenant_key AND s.key = :session_key
ON CONFLICT (tenant_key, session_key, user_id) DO UPDATE SET role = excluded.role
-- name: participant_delete
DELETE FROM participants WHERE tenant_key = :tenant_key AND session_key = :session_key AND user_id = :user_id
-- name: participant_list
SELECT who.user_id, u.name, u.email, who.role, who.added_at_ms FROM (
    SELECT s.owner AS user_id, {ACCESS_OWNER} AS role, s.created_at_ms AS added_at_ms FROM sessions s
    WHERE s.tenant_key = :tenant_key AND s.key = :session_key AND s.owner IS NOT NULL
    UNION ALL
    SELECT p.user_id, p.role, p.added_at_ms FROM participants p JOIN sessions s ON s.tenant_key = p.tenant_key
        AND s.key = p.session_key
    WHERE p.tenant_key = :tenant_key AND p.session_key = :session_key AND (s.owner IS NULL OR s.owner <> p.user_id)
) AS who LEFT JOIN users u ON u.id = who.user_id
ORDER BY who.role = {ACCESS_OWNER} DESC, who.added_at_ms, who.user_id

-- fragment: share_columns
l.id, l.tenant_key, l.session_key, s.id AS session_id, l.token_hash, l.role, l.expires_at_ms, l.max_uses, l.use_count,
    l.active,
l.created_by, l.created_at_ms
-- name: share_insert
INSERT INTO share_links
    (id, tenant_key, session_key, token_hash, role, expires_at_ms, max_uses, use_count, active, created_by,
        created_at_ms)
VALUES (:id, :tenant_key, :session_key, :token_hash, :role, :expires_at_ms, :max_uses, :use_count, :active, :created_by,
    :created_at_ms)
-- name: share_by_hash
SELECT {share_columns} FROM share_links l JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
WHERE l.token_hash = :token_hash
-- name: share_list
SELECT {share_columns} FROM share_links l JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
WHERE l.tenant_key = :tenant_key AND l.session_key = :session_key ORDER BY l.created_at_ms, l.id
-- name: share_deactivate
UPDATE share_links SET active = 0 WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id
    AND active = 1
-- name: share_use_insert
INSERT INTO share_uses (tenant_key, session_key, link_id, user_id, used_at_ms)
    VALUES (:tenant_key, :session_key, :link_id, :user_id, :used_at_ms)
ON CONFLICT (tenant_key, session_key, link_id, user_id) DO NOTHING
-- name: share_use_delete
DELETE FROM share_uses WHERE tenant_key = :tenant_key AND session_key = :session_key AND link_id = :link_id
    AND user_id = :user_id
-- name: share_count_use
UPDATE share_links SET use_count = use_count + 1
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id AND active = 1 AND (max_uses = 0
    OR use_count < max_uses)
-- Switched off, over or used up, and as old; who used it goes with it.
-- fragment: share_is_over
(l.expires_at_ms > 0 AND l.expires_at_ms < :before_ms)
    OR (l.created_at_ms < :before_ms AND (l.active = 0 OR (l.max_uses > 0 AND l.use_count >= l.max_uses)))
-- name: share_prune_uses
DELETE FROM share_uses WHERE (tenant_key, session_key, link_id) IN
    (SELECT l.tenant_key, l.session_key, l.id FROM share_links l WHERE {share_is_over})
-- name: share_prune
DELETE FROM share_links WHERE (tenant_key, session_key, id) IN
    (SELECT l.tenant_key, l.session_key, l.id FROM share_links l WHERE {share_is_over})
