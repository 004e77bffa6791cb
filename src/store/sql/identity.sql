-- name: tenant_insert
INSERT INTO tenants (id, name, created_at_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING key
-- name: tenant_by_id
SELECT key, id, name, created_at_ms FROM tenants WHERE id = $1
-- name: tenant_by_key
SELECT key, id, name, created_at_ms FROM tenants WHERE key = $1
-- name: tenant_list
SELECT key, id, name, created_at_ms FROM tenants ORDER BY key

-- fragment: user_columns
u.id, u.email, u.name, u.password_hash, u.created_at_ms, u.disabled_at_ms, u.sessions_max
-- name: user_insert
INSERT INTO users (id, email, name, password_hash, created_at_ms, disabled_at_ms, sessions_max)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
-- name: user_update
UPDATE users SET email = $2, name = $3, password_hash = $4, disabled_at_ms = $5, sessions_max = $6 WHERE id = $1
-- name: user_by_id
SELECT {user_columns} FROM users u WHERE u.id = $1
-- Whoever counts what a user has is alone with him until the commit.
-- name: user_lock (sqlite)
SELECT {user_columns} FROM users u WHERE u.id = $1
-- name: user_lock (postgres)
SELECT {user_columns} FROM users u WHERE u.id = $1 FOR NO KEY UPDATE
-- name: users_by_email
SELECT {user_columns} FROM users u WHERE lower(u.email) = lower($1)
    AND EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)
ORDER BY u.created_at_ms, u.id LIMIT $2
-- name: member_by_email
SELECT {user_columns} FROM users u JOIN memberships m ON m.user_id = u.id
WHERE m.tenant_key = $1 AND lower(u.email) = lower($2)
-- name: user_list
SELECT {user_columns}, m.role FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.tenant_key = $1 ORDER BY m.position
-- name: user_count
SELECT COUNT(*) FROM users

-- name: membership_put
INSERT INTO memberships (tenant_key, user_id, role) VALUES ($1, $2, $3)
ON CONFLICT (tenant_key, user_id) DO UPDATE SET role = excluded.role
-- name: membership_delete
DELETE FROM memberships WHERE tenant_key = $1 AND user_id = $2
-- name: membership_get
SELECT role FROM memberships WHERE tenant_key = $1 AND user_id = $2
-- Whoever changes others by his own rank keeps it until the commit.
-- name: membership_lock (sqlite)
SELECT role FROM memberships WHERE tenant_key = $1 AND user_id = $2
-- name: membership_lock (postgres)
SELECT role FROM memberships WHERE tenant_key = $1 AND user_id = $2 FOR UPDATE
-- name: membership_list
SELECT t.key, t.id, t.name, t.created_at_ms, m.role FROM memberships m JOIN tenants t ON t.key = m.tenant_key
WHERE m.user_id = $1 ORDER BY m.position

-- fragment: token_columns
id, name, hash, user_id, id_prefix, session_id, tenant_key, kind, scopes, created_at_ms, expires_at_ms, revoked_at_ms,
last_used_at_ms
-- name: token_insert
INSERT INTO tokens ({token_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT DO NOTHING
-- name: token_by_hash
SELECT {token_columns} FROM tokens WHERE hash = $1
-- name: token_by_id
SELECT {token_columns} FROM tokens WHERE tenant_key = $1 AND id = $2
-- $2: without those that have ended by then; absent: all.
-- name: token_list
SELECT {token_columns} FROM tokens
WHERE tenant_key = $1 AND (CAST($2 AS BIGINT) IS NULL
    OR (revoked_at_ms = 0 AND (expires_at_ms = 0 OR expires_at_ms > CAST($2 AS BIGINT))))
ORDER BY created_at_ms, id
-- name: token_of_session
SELECT {token_columns} FROM tokens WHERE tenant_key = $1 AND session_id = $2 AND kind = $3 AND revoked_at_ms = 0
-- name: token_revoke
UPDATE tokens SET revoked_at_ms = $3 WHERE tenant_key = $1 AND id = $2 AND revoked_at_ms = 0

-- name: token_prune
DELETE FROM tokens WHERE (revoked_at_ms > 0 AND revoked_at_ms < $1) OR (expires_at_ms > 0 AND expires_at_ms < $1)

-- fragment: grant_columns
kind, hash, user_id, csrf, token_id, session_id, tenant_key, created_at_ms, expires_at_ms, ask_id
-- name: grant_insert
INSERT INTO grants ({grant_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
-- name: grant_by_hash
SELECT {grant_columns} FROM grants WHERE kind = $1 AND hash = $2
-- name: grant_delete
DELETE FROM grants WHERE kind = $1 AND hash = $2
-- name: grant_delete_of_user
DELETE FROM grants WHERE user_id = $1 AND kind <> $2 AND hash <> $3
-- name: grant_prune
DELETE FROM grants WHERE expires_at_ms < $1
