-- parameters: i64
kind
-- parameters: i64?
type

-- 1 is the work state pending, pause reasons 1 and 3 to 6 hold a session, driver 0 is worker: the others are the server's own to run, but 4 (runner) only while its
-- runner is there, so that it is claimed by key, and none whose sandbox another node than $7 has ($8, steady); $4 and $5 are a range of ids, NULL = any.
-- fragment: claim_rest
work = 1 AND (pause_reason IN (0, 2, 7)) AND (CAST(:type AS BIGINT) IS NULL OR type = :type) AND (CAST(:id_from AS TEXT) IS NULL OR id >= :id_from)
AND (CAST(:id_to AS TEXT) IS NULL OR id < :id_to)
ORDER BY priority DESC, queued_at_ms, key LIMIT :limit
-- name: claim_candidates of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions
WHERE tenant_key = :tenant_key AND CAST(:agent AS TEXT) IS NULL AND driver = 0 AND {claim_rest}
-- name: claim_candidates_of_agent of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions WHERE tenant_key = :tenant_key AND agent = :agent AND driver = 0 AND {claim_rest}
-- name: claim_candidates_hosted of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions
WHERE tenant_key = :tenant_key AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent) AND driver > 0 AND driver <> 4
    AND NOT EXISTS (SELECT 1 FROM sandbox_hosts h JOIN nodes n ON n.id = h.node
                    WHERE h.tenant_key = sessions.tenant_key AND h.session_key = sessions.key
                        AND h.node <> CAST(:node AS TEXT) AND n.expires_at_ms > :steady_ms)
    AND {claim_rest}

-- fragment: lease_columns
tenant_key, session_key, token_hash, fence, worker, lease_ms, expires_at_ms, claimed_at_ms, heartbeat_at_ms
-- name: lease_put
INSERT INTO leases ({lease_columns}) VALUES (:tenant_key, :session_key, :token_hash, :fence, :worker, :lease_ms, :expires_at_ms, :claimed_at_ms, :heartbeat_at_ms)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET token_hash = excluded.token_hash, fence = excluded.fence,
    worker = excluded.worker, lease_ms = excluded.lease_ms, expires_at_ms = excluded.expires_at_ms,
    claimed_at_ms = excluded.claimed_at_ms, heartbeat_at_ms = excluded.heartbeat_at_ms
-- name: lease_get
SELECT {lease_columns} FROM leases WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: lease_of_worker
SELECT {lease_columns} FROM leases WHERE worker = :worker

-- name: lease_renew
UPDATE leases SET expires_at_ms = :expires_at_ms, heartbeat_at_ms = :heartbeat_at_ms
WHERE tenant_key = :tenant_key AND session_key = :session_key AND fence = :fence AND expires_at_ms = :stored_expires_at_ms
-- name: lease_renew_all
UPDATE leases SET expires_at_ms = CAST(:now_ms AS BIGINT) + lease_ms

-- name: queue_figures
SELECT agent, CAST(SUM(pending) AS BIGINT), COALESCE(MIN(oldest_ms), 0), CAST(SUM(leased) AS BIGINT) FROM (
    SELECT s.agent, COUNT(*) AS pending, MIN(s.queued_at_ms) AS oldest_ms, 0 AS leased
    FROM sessions s WHERE s.tenant_key = :tenant_key AND s.work = 1 AND {session_visible} GROUP BY s.agent
    UNION ALL
    SELECT s.agent, 0, NULL, COUNT(*) FROM leases l JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
    WHERE l.tenant_key = :tenant_key AND {session_visible} GROUP BY s.agent) AS parts
GROUP BY agent ORDER BY agent
-- name: worker_figures
SELECT l.worker, COUNT(*), MAX(l.heartbeat_at_ms)
FROM leases l JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
WHERE l.tenant_key = :tenant_key AND {session_visible} GROUP BY l.worker ORDER BY l.worker

-- name: timer_put
INSERT INTO timers (kind, session_key, tenant_key, due_ms) VALUES (:kind, :session_key, :tenant_key, :due_ms)
ON CONFLICT (kind, session_key) DO UPDATE SET due_ms = excluded.due_ms
-- name: timer_delete
DELETE FROM timers WHERE kind = :kind AND session_key = :session_key
-- The one that was fired, not one that another node has put in its place since.
-- name: timer_delete_due
DELETE FROM timers WHERE kind = :kind AND session_key = :session_key AND due_ms <= :now_ms
-- name: timer_get
SELECT due_ms FROM timers WHERE kind = :kind AND session_key = :session_key
-- A lease is its own timer, of kind 1.
-- name: timer_due
SELECT kind, tenant_key, session_key, due_ms FROM timers WHERE due_ms <= :now_ms
UNION ALL SELECT 1, tenant_key, session_key, expires_at_ms FROM leases WHERE expires_at_ms <= :now_ms
ORDER BY due_ms LIMIT :limit
-- name: timer_next
SELECT COALESCE(MIN(due_ms), 0) FROM (
    SELECT MIN(due_ms) AS due_ms FROM timers WHERE due_ms > :now_ms
    UNION ALL SELECT MIN(expires_at_ms) FROM leases WHERE expires_at_ms > :now_ms) AS parts

-- The next one of a session; a lease is not among them.
-- name: timer_of_session
SELECT kind, due_ms FROM timers WHERE kind IN (2, 3, 4, 5, 6, 7, 8, 9) AND session_key = :session_key ORDER BY due_ms LIMIT 1

-- Sessions to look at, behind the key $1: with a lease in no turn (2, 3, 4), a lease over before $2 (steady), a running
-- turn without an event since $3; at rest (0, 5) with a prompt older than $4; in a turn that nobody holds and nobody was
-- asked in, without an event since $5. Driver 0 is worker.
-- name: health_candidates
SELECT tenant_key, session_key FROM (
    SELECT l.tenant_key, l.session_key FROM leases l
        JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
        JOIN session_activity a ON a.tenant_key = l.tenant_key AND a.session_key = l.session_key
        WHERE s.work + 0 < 2 OR s.work + 0 > 4 OR l.expires_at_ms < :lease_over_ms OR (s.work + 0 = 2 AND a.last_active_at_ms < :silent_since_ms)
    UNION
    SELECT p.tenant_key, p.session_key FROM prompts p
        JOIN sessions s ON s.tenant_key = p.tenant_key AND s.key = p.session_key
        WHERE s.work + 0 IN (0, 5) AND p.created_at_ms < :queued_since_ms
    UNION
    SELECT s.tenant_key, s.key FROM tenants t
        JOIN sessions s ON s.tenant_key = t.key AND s.work IN (2, 3, 4)
        JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
        WHERE (s.driver > 0 OR s.work + 0 > 2) AND a.last_active_at_ms < :unled_since_ms
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.tenant_key = s.tenant_key AND l.session_key = s.key)
        AND NOT EXISTS (SELECT 1 FROM asks k WHERE k.tenant_key = s.tenant_key AND k.session_key = s.key AND k.state = 0)
) AS suspects WHERE session_key > :after_key ORDER BY session_key LIMIT :limit
