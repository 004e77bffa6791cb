-- name: idempotency_get
SELECT fingerprint, status, body FROM idempotency WHERE tenant_key = $1 AND actor = $2 AND key = $3
-- name: idempotency_put
INSERT INTO idempotency (tenant_key, actor, key, fingerprint, status, body, created_at_ms, session_key, subject)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
-- name: idempotency_put_subject
INSERT INTO idempotency_subjects (tenant_key, actor, key, session_key, created_at_ms) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING
-- name: idempotency_forget
DELETE FROM idempotency WHERE tenant_key = $1 AND subject = $2
-- name: idempotency_prune
DELETE FROM idempotency WHERE created_at_ms < $1
-- name: idempotency_prune_subjects
DELETE FROM idempotency_subjects WHERE created_at_ms < $1
-- name: idempotency_subjects
SELECT session_key FROM idempotency WHERE tenant_key = $1 AND actor = $2 AND key = $3 AND session_key <> 0
UNION
SELECT session_key FROM idempotency_subjects WHERE tenant_key = $1 AND actor = $2 AND key = $3
