-- parameters: text
body key

-- name: idempotency_get
SELECT fingerprint, status, body FROM idempotency WHERE tenant_key = :tenant_key AND actor = :actor AND key = :key
-- name: idempotency_put
INSERT INTO idempotency (tenant_key, actor, key, fingerprint, status, body, created_at_ms, session_key, subject)
VALUES (:tenant_key, :actor, :key, :fingerprint, :status, :body, :created_at_ms, :session_key, :subject)
-- name: idempotency_put_subject
INSERT INTO idempotency_subjects (tenant_key, actor, key, session_key, created_at_ms)
    VALUES (:tenant_key, :actor, :key, :session_key, :created_at_ms)
ON CONFLICT DO NOTHING
-- name: idempotency_forget
DELETE FROM idempotency WHERE tenant_key = :tenant_key AND subject = :subject
-- name: idempotency_prune
DELETE FROM idempotency WHERE created_at_ms < :before_ms
-- name: idempotency_prune_subjects
DELETE FROM idempotency_subjects WHERE created_at_ms < :before_ms
-- name: idempotency_subjects
SELECT session_key FROM idempotency WHERE tenant_key = :tenant_key AND actor = :actor AND key = :key
    AND session_key <> 0
UNION
SELECT session_key FROM idempotency_subjects WHERE tenant_key = :tenant_key AND actor = :actor AND key = :key
