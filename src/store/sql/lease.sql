-- parameters: i64
kind
-- parameters: i64?
type

-- What may be claimed: pending, and not held by a pause. Hosted are the sessions this server runs itself; those of a
-- runner only while it is there, so that they are claimed by key, and none whose sandbox is on another live node.
-- fragment: claim_rest
work = {SESSION_PENDING} AND (pause_reason IN ({PAUSE_NONE}, {PAUSE_INACTIVITY}, {PAUSE_ORPHANED}))
    AND (CAST(:type AS BIGINT) IS NULL OR type = :type)
    AND (CAST(:id_from AS TEXT) IS NULL OR id >= :id_from)
    AND (CAST(:id_to AS TEXT) IS NULL OR id < :id_to)
ORDER BY priority DESC, queued_at_ms, key LIMIT :limit
-- name: claim_candidates of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions
WHERE tenant_key = :tenant_key AND CAST(:agent AS TEXT) IS NULL AND driver = {DRIVER_WORKER} AND {claim_rest}
-- name: claim_candidates_of_agent of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions WHERE tenant_key = :tenant_key AND agent = :agent
    AND driver = {DRIVER_WORKER} AND {claim_rest}
-- name: claim_candidates_hosted of claim_candidates
SELECT key, priority, queued_at_ms FROM sessions
WHERE tenant_key = :tenant_key AND (CAST(:agent AS TEXT) IS NULL OR agent = :agent) AND driver > {DRIVER_WORKER}
    AND driver <> {DRIVER_RUNNER}
    AND NOT EXISTS (SELECT 1 FROM sandbox_hosts h JOIN nodes n ON n.id = h.node
                    WHERE h.tenant_key = sessions.tenant_key AND h.session_key = sessions.key
                        AND h.node <> CAST(:node AS TEXT) AND n.expires_at_ms > :steady_ms)
    AND {claim_rest}

-- fragment: lease_columns
tenant_key, session_key, token_hash, fence, worker, lease_ms, expires_at_ms, claimed_at_ms, heartbeat_at_ms
-- name: lease_put
INSERT INTO leases ({lease_columns}) VALUES (:tenant_key, :session_key, :token_hash, :fence, :worker, :lease_ms,
    :expires_at_ms, :claimed_at_ms, :heartbeat_at_ms)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET token_hash = excluded.token_hash, fence = excluded.fence,
    worker = excluded.worker, lease_ms = excluded.lease_ms, expires_at_ms = excluded.expires_at_ms,
    claimed_at_ms = excluded.claimed_at_ms, heartbeat_at_ms = excluded.heartbeat_at_ms
-- name: lease_get
SELECT {lease_columns} FROM leases WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: lease_of_worker
SELECT {lease_columns} FROM leases WHERE worker = :worker

-- name: lease_renew
UPDATE leases SET expires_at_ms = :expires_at_ms, heartbeat_at_ms = :heartbeat_at_ms
WHERE tenant_key = :tenant_key AND session_key = :session_key AND fence = :fence
    AND expires_at_ms = :stored_expires_at_ms
-- name: lease_renew_all
UPDATE leases SET expires_at_ms = CAST(:now_ms AS BIGINT) + lease_ms

-- name: queue_figures
SELECT agent, CAST(SUM(pending) AS BIGINT) AS pending, COALESCE(MIN(oldest_ms), 0) AS oldest_ms,
    CAST(SUM(leased) AS BIGINT) AS leased FROM (
    SELECT s.agent, COUNT(*) AS pending, MIN(s.queued_at_ms) AS oldest_ms, 0 AS leased
    FROM sessions s WHERE s.tenant_key = :tenant_key AND s.work = {SESSION_PENDING} AND {session_visible} GROUP BY s.agent
    UNION ALL
    SELECT s.agent, 0, NULL, COUNT(*) FROM leases l JOIN sessions s ON s.tenant_key = l.tenant_key
        AND s.key = l.session_key
    WHERE l.tenant_key = :tenant_key AND {session_visible} GROUP BY s.agent) AS parts
GROUP BY agent ORDER BY agent
-- name: worker_figures
SELECT l.worker, COUNT(*) AS leases, MAX(l.heartbeat_at_ms) AS heartbeat_at_ms
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
-- A lease is its own timer.
-- name: timer_due
SELECT kind, tenant_key, session_key, due_ms FROM timers WHERE due_ms <= :now_ms
UNION ALL SELECT {TIMER_LEASE}, tenant_key, session_key, expires_at_ms FROM leases WHERE expires_at_ms <= :now_ms
ORDER BY due_ms LIMIT :limit
-- name: timer_next
SELECT COALESCE(MIN(due_ms), 0) FROM (
    SELECT MIN(due_ms) AS due_ms FROM timers WHERE due_ms > :now_ms
    UNION ALL SELECT MIN(expires_at_ms) FROM leases WHERE expires_at_ms > :now_ms) AS parts

-- All but the lease, which is in a table of its own.
-- fragment: timer_kinds
{TIMER_EXPIRY}, {TIMER_HUMAN}, {TIMER_ASK}, {TIMER_COLLECT}, {TIMER_CASCADE}, {TIMER_STALE}, {TIMER_FOLLOWUP},
    {TIMER_INTROSPECTION}
-- The next one of a session.
-- name: timer_of_session
SELECT kind, due_ms FROM timers WHERE kind IN ({timer_kinds}) AND session_key = :session_key
    ORDER BY due_ms LIMIT 1

-- Suspect sessions, by key: with a lease but in no turn; with a lease that ended before :lease_over_ms (steady); running
-- without an event since :silent_since_ms; idle with a prompt older than :queued_since_ms; in a turn without a lease and
-- without a pending ask, and without an event since :unled_since_ms.
-- name: health_candidates
SELECT tenant_key, session_key FROM (
    SELECT l.tenant_key, l.session_key FROM leases l
        JOIN sessions s ON s.tenant_key = l.tenant_key AND s.key = l.session_key
        JOIN session_activity a ON a.tenant_key = l.tenant_key AND a.session_key = l.session_key
        WHERE s.work + 0 < {SESSION_RUNNING} OR s.work + 0 > {SESSION_AWAITING_TOOL} OR l.expires_at_ms < :lease_over_ms
            OR (s.work + 0 = {SESSION_RUNNING} AND a.last_active_at_ms < :silent_since_ms)
    UNION
    SELECT p.tenant_key, p.session_key FROM prompts p
        JOIN sessions s ON s.tenant_key = p.tenant_key AND s.key = p.session_key
        WHERE s.work + 0 IN ({SESSION_DRAFT}, {SESSION_IDLE}) AND p.created_at_ms < :queued_since_ms
    UNION
    SELECT s.tenant_key, s.key FROM tenants t
        JOIN sessions s ON s.tenant_key = t.key AND s.work IN ({SESSION_RUNNING}, {SESSION_WAITING_HUMAN},
            {SESSION_AWAITING_TOOL})
        JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
        WHERE (s.driver > {DRIVER_WORKER} OR s.work + 0 > {SESSION_RUNNING}) AND a.last_active_at_ms < :unled_since_ms
        AND NOT EXISTS (SELECT 1 FROM leases l WHERE l.tenant_key = s.tenant_key AND l.session_key = s.key)
        AND NOT EXISTS (SELECT 1 FROM asks k WHERE k.tenant_key = s.tenant_key AND k.session_key = s.key
            AND k.state = {ASK_PENDING})
) AS suspects WHERE session_key > :after_key ORDER BY session_key LIMIT :limit
