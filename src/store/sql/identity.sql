-- parameters: i64
key kind

-- fragment: tenant_columns
t.key, t.id, t.name, t.created_at_ms
-- name: tenant_insert
INSERT INTO tenants (id, name, created_at_ms) VALUES (:id, :name, :created_at_ms)
    ON CONFLICT (id) DO NOTHING RETURNING key
-- name: tenant_by_id
SELECT {tenant_columns} FROM tenants t WHERE t.id = :id
-- name: tenant_by_key
SELECT {tenant_columns} FROM tenants t WHERE t.key = :key
-- name: tenant_list
SELECT {tenant_columns} FROM tenants t ORDER BY t.key

-- fragment: user_columns
u.id, u.email, u.name, u.password_hash, u.created_at_ms, u.disabled_at_ms, u.sessions_max
-- name: user_insert
INSERT INTO users (id, email, name, password_hash, created_at_ms, disabled_at_ms, sessions_max)
VALUES (:id, :email, :name, :password_hash, :created_at_ms, :disabled_at_ms, :sessions_max)
ON CONFLICT DO NOTHING
-- name: user_update
UPDATE users SET email = :email, name = :name, password_hash = :password_hash, disabled_at_ms = :disabled_at_ms,
    sessions_max = :sessions_max WHERE id = :id
-- name: user_by_id
SELECT {user_columns} FROM users u WHERE u.id = :id
-- Whoever counts what a user has is alone with them until the commit.
-- name: user_lock (sqlite)
SELECT {user_columns} FROM users u WHERE u.id = :id
-- name: user_lock (postgres)
SELECT {user_columns} FROM users u WHERE u.id = :id FOR NO KEY UPDATE
-- name: users_by_email
SELECT {user_columns} FROM users u WHERE lower(u.email) = lower(:email)
    AND EXISTS (SELECT 1 FROM memberships m WHERE m.user_id = u.id)
ORDER BY u.created_at_ms, u.id LIMIT :limit
-- name: member_by_email
SELECT {user_columns} FROM users u JOIN memberships m ON m.user_id = u.id
WHERE m.tenant_key = :tenant_key AND lower(u.email) = lower(:email)
-- name: user_list
SELECT {user_columns}, m.role FROM memberships m JOIN users u ON u.id = m.user_id
WHERE m.tenant_key = :tenant_key ORDER BY m.position
-- name: user_count
SELECT COUNT(*) FROM users

-- name: membership_put
INSERT INTO memberships (tenant_key, user_id, role) VALUES (:tenant_key, :user_id, :role)
ON CONFLICT (tenant_key, user_id) DO UPDATE SET role = excluded.role
-- name: membership_delete
DELETE FROM memberships WHERE tenant_key = :tenant_key AND user_id = :user_id
-- name: membership_get
SELECT role FROM memberships WHERE tenant_key = :tenant_key AND user_id = :user_id
-- Whoever changes others by their own rank keeps it until the commit.
-- name: membership_lock (sqlite)
SELECT role FROM memberships WHERE tenant_key = :tenant_key AND user_id = :user_id
-- name: membership_lock (postgres)
SELECT role FROM memberships WHERE tenant_key = :tenant_key AND user_id = :user_id FOR UPDATE
-- name: membership_list
SELECT {tenant_columns}, m.role FROM memberships m JOIN tenants t ON t.key = m.tenant_key
WHERE m.user_id = :user_id ORDER BY m.position

-- fragment: token_columns
id, name, hash, user_id, id_prefix, session_id, tenant_key, kind, scopes, created_at_ms, expires_at_ms, revoked_at_ms,
last_used_at_ms
-- name: token_insert
INSERT INTO tokens ({token_columns}) VALUES (:id, :name, :hash, :user_id, :id_prefix, :session_id, :tenant_key, :kind,
    :scopes, :created_at_ms, :expires_at_ms, :revoked_at_ms, :last_used_at_ms)
ON CONFLICT DO NOTHING
-- name: token_by_hash
SELECT {token_columns} FROM tokens WHERE hash = :hash
-- name: token_by_id
SELECT {token_columns} FROM tokens WHERE tenant_key = :tenant_key AND id = :id
-- Without those that have ended by :ended_by_ms; NULL = all.
-- name: token_list
SELECT {token_columns} FROM tokens
WHERE tenant_key = :tenant_key AND (CAST(:ended_by_ms AS BIGINT) IS NULL
    OR (revoked_at_ms = 0 AND (expires_at_ms = 0 OR expires_at_ms > CAST(:ended_by_ms AS BIGINT))))
ORDER BY created_at_ms, id
-- name: token_of_session
SELECT {token_columns} FROM tokens WHERE tenant_key = :tenant_key AND session_id = :session_id AND kind = :kind
    AND revoked_at_ms = 0
-- name: token_revoke
UPDATE tokens SET revoked_at_ms = :now_ms WHERE tenant_key = :tenant_key AND id = :id AND revoked_at_ms = 0

-- name: token_prune
DELETE FROM tokens WHERE (revoked_at_ms > 0 AND revoked_at_ms < :before_ms) OR (expires_at_ms > 0
    AND expires_at_ms < :before_ms)

-- fragment: grant_columns
kind, hash, user_id, csrf, token_id, session_id, tenant_key, created_at_ms, expires_at_ms, ask_id
-- name: grant_insert
INSERT INTO grants ({grant_columns}) VALUES (:kind, :hash, :user_id, :csrf, :token_id, :session_id, :tenant_key,
    :created_at_ms, :expires_at_ms, :ask_id)
-- name: grant_by_hash
SELECT {grant_columns} FROM grants WHERE kind = :kind AND hash = :hash
-- name: grant_delete
DELETE FROM grants WHERE kind = :kind AND hash = :hash
-- name: grant_delete_of_user
DELETE FROM grants WHERE user_id = :user_id AND kind <> :except_kind AND hash <> :except_hash
-- name: grant_prune
DELETE FROM grants WHERE expires_at_ms < :before_ms
