-- fragment: run_columns
r.id, r.session_key, r.status, r.outcome, r.summary, r.completion_id, r.created_at_ms, r.started_at_ms, r.ended_at_ms
-- name: run_insert
INSERT INTO automation_runs (tenant_key, id, session_key, status, outcome, summary, completion_id, created_at_ms,
    started_at_ms, ended_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
-- name: run_of_session
SELECT {run_columns}, s.id FROM automation_runs r
JOIN sessions s ON s.tenant_key = r.tenant_key AND s.key = r.session_key
WHERE r.tenant_key = $1 AND r.session_key = $2
-- What has ended stands.
-- name: run_update
UPDATE automation_runs SET status = $3, outcome = $4, summary = $5, completion_id = $6, started_at_ms = $7,
    ended_at_ms = $8
WHERE tenant_key = $1 AND session_key = $2 AND ended_at_ms = 0
-- name: run_follow
UPDATE automation_runs SET status = $3, outcome = $4, started_at_ms = $5, ended_at_ms = $6
WHERE tenant_key = $1 AND session_key = $2 AND ended_at_ms = 0
-- A run together with what decides who sees its session; $2 is the user who looks.
-- fragment: run_seen
SELECT {run_columns}, s.id, s.owner, s.visibility, s.purpose, COALESCE(p.role, 0)
FROM automation_runs r JOIN sessions s ON s.tenant_key = r.tenant_key AND s.key = r.session_key
LEFT JOIN participants p ON p.tenant_key = r.tenant_key AND p.session_key = r.session_key AND p.user_id = $2
-- name: run_get
{run_seen}
WHERE r.tenant_key = $1 AND r.id = $3
-- Newest first; $3 is the id to continue before, $4 a status, $5 the user whose sessions and invitations count.
-- name: run_list
{run_seen}
WHERE r.tenant_key = $1 AND (CAST($3 AS TEXT) IS NULL OR r.id < $3) AND (CAST($4 AS BIGINT) IS NULL OR r.status = $4)
    AND (CAST($5 AS TEXT) IS NULL OR s.owner = $5 OR p.role IS NOT NULL OR s.visibility > 0)
ORDER BY r.id DESC LIMIT $6
-- name: session_delete_runs
DELETE FROM automation_runs WHERE tenant_key = $1 AND session_key = $2
