-- parameters: text
before

-- fragment: run_columns
r.id, r.session_key, r.status, r.outcome, r.summary, r.completion_id, r.created_at_ms, r.started_at_ms, r.ended_at_ms,
    s.id AS session_id
-- name: run_insert
INSERT INTO automation_runs (tenant_key, id, session_key, status, outcome, summary, completion_id, created_at_ms,
    started_at_ms, ended_at_ms)
VALUES (:tenant_key, :id, :session_key, :status, :outcome, :summary, :completion_id, :created_at_ms, :started_at_ms,
    :ended_at_ms)
-- name: run_of_session
SELECT {run_columns} FROM automation_runs r
JOIN sessions s ON s.tenant_key = r.tenant_key AND s.key = r.session_key
WHERE r.tenant_key = :tenant_key AND r.session_key = :session_key
-- What has ended stands.
-- name: run_update
UPDATE automation_runs SET status = :status, outcome = :outcome, summary = :summary, completion_id = :completion_id,
    started_at_ms = :started_at_ms,
    ended_at_ms = :ended_at_ms
WHERE tenant_key = :tenant_key AND session_key = :session_key AND ended_at_ms = 0
-- name: run_follow
UPDATE automation_runs SET status = :status, outcome = :outcome, started_at_ms = :started_at_ms,
    ended_at_ms = :ended_at_ms
WHERE tenant_key = :tenant_key AND session_key = :session_key AND ended_at_ms = 0
-- A run together with what decides who sees its session; :user_id is the user who looks.
-- fragment: run_seen_columns
{run_columns}, s.owner, s.visibility, s.purpose, COALESCE(p.role, {ACCESS_NONE}) AS participant
-- fragment: run_seen
SELECT {run_seen_columns}
FROM automation_runs r JOIN sessions s ON s.tenant_key = r.tenant_key AND s.key = r.session_key
LEFT JOIN participants p ON p.tenant_key = r.tenant_key AND p.session_key = r.session_key AND p.user_id = :user_id
-- name: run_get
{run_seen}
WHERE r.tenant_key = :tenant_key AND r.id = :id
-- Newest first. :visible_to is the user whose sessions and invitations count, NULL = all.
-- name: run_list
{run_seen}
WHERE r.tenant_key = :tenant_key AND (CAST(:before AS TEXT) IS NULL OR r.id < :before)
    AND (CAST(:wanted_status AS BIGINT) IS NULL OR r.status = :wanted_status)
    AND (CAST(:visible_to AS TEXT) IS NULL OR s.owner = :visible_to OR p.role IS NOT NULL
        OR s.visibility > {VISIBILITY_PRIVATE})
ORDER BY r.id DESC LIMIT :limit
-- name: session_delete_runs of session_part
DELETE FROM automation_runs WHERE tenant_key = :tenant_key AND session_key = :session_key
