-- Sessions of all tenants in the order of their keys, some at a time.
-- name: verify_sessions
SELECT {session_columns}, s.display,
    (SELECT COUNT(*) FROM labels l WHERE l.tenant_key = s.tenant_key AND l.session_key = s.key) AS labels
FROM sessions s JOIN session_activity a ON a.tenant_key = s.tenant_key AND a.session_key = s.key
WHERE s.key > :after_key ORDER BY s.key LIMIT :limit
-- name: verify_totals
SELECT (SELECT COUNT(*) FROM sessions) AS sessions, (SELECT COUNT(*) FROM events) AS events

-- Each row is one sentence about something wrong; at most 100 of a kind.
-- name: verify_counts
SELECT 'tenant ' || tenant_key || ' type ' || type || ' work ' || work || ': the counter differs from the sessions by '
    || SUM(counted) FROM (
    SELECT tenant_key, type, work, CAST(SUM(sessions) AS BIGINT) AS counted FROM tenant_counts
    GROUP BY tenant_key, type, work
    UNION ALL
    SELECT tenant_key, type, work, -COUNT(*) FROM sessions GROUP BY tenant_key, type, work) AS parts
GROUP BY tenant_key, type, work HAVING SUM(counted) <> 0 LIMIT 100
-- name: verify_orphans
SELECT what || ' of session ' || session_key || ' has no session' FROM (
    SELECT DISTINCT 'an event' AS what, o.tenant_key, o.session_key FROM events o
    UNION SELECT 'an activity row', o.tenant_key, o.session_key FROM session_activity o
    UNION SELECT 'a label', o.tenant_key, o.session_key FROM labels o
    UNION SELECT 'a participant', o.tenant_key, o.session_key FROM participants o
    UNION SELECT 'a share link', o.tenant_key, o.session_key FROM share_links o
    UNION SELECT 'a use of a share link', o.tenant_key, o.session_key FROM share_uses o
    UNION SELECT 'partial output', o.tenant_key, o.session_key FROM partials o
    UNION SELECT 'a lease', o.tenant_key, o.session_key FROM leases o
    UNION SELECT 'what a driver kept', o.tenant_key, o.session_key FROM kept o
    UNION SELECT 'a tool call', o.tenant_key, o.session_key FROM tool_calls o
    UNION SELECT 'a changed file', o.tenant_key, o.session_key FROM files_changed o
    UNION SELECT 'a key', o.tenant_key, o.session_key FROM session_keys o
    UNION SELECT 'a file', o.tenant_key, o.session_key FROM blob_uses o
    UNION SELECT 'a step', o.tenant_key, o.session_key FROM steps o
    UNION SELECT 'a run', o.tenant_key, o.session_key FROM automation_runs o
    UNION SELECT 'the host of a sandbox', o.tenant_key, o.session_key FROM sandbox_hosts o
    UNION SELECT 'a look back', o.tenant_key, o.session_key FROM introspections o
    UNION SELECT 'a channel', o.tenant_key, o.session_key FROM channels o
    UNION SELECT 'a kept answer', o.tenant_key, o.session_key FROM idempotency o WHERE o.session_key <> 0
    UNION SELECT 'a session of a kept answer', o.tenant_key, o.session_key FROM idempotency_subjects o
    UNION SELECT 'a prompt', o.tenant_key, o.session_key FROM prompts o
    UNION SELECT 'an ask', o.tenant_key, o.session_key FROM asks o
    UNION SELECT 'a rule', o.tenant_key, o.session_key FROM ask_rules o WHERE o.session_key <> 0
    UNION SELECT 'a timer', o.tenant_key, o.session_key FROM timers o) AS owned
WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_key = owned.tenant_key AND s.key = owned.session_key)
LIMIT 100
-- name: verify_rows_without_activity
SELECT 'session ' || s.id || ' has no activity row' FROM sessions s
WHERE NOT EXISTS (SELECT 1 FROM session_activity a WHERE a.tenant_key = s.tenant_key AND a.session_key = s.key)
LIMIT 100
-- name: verify_copies
SELECT what || ' of session ' || session_key || ' is not listed where its session is' FROM (
    SELECT 'a label' AS what, c.tenant_key, c.session_key, c.listed_at_ms FROM labels c
    UNION ALL
    SELECT 'a participant', c.tenant_key, c.session_key, c.listed_at_ms FROM participants c) AS copies
WHERE listed_at_ms <> (SELECT s.listed_at_ms FROM sessions s
    WHERE s.tenant_key = copies.tenant_key AND s.key = copies.session_key)
LIMIT 100
-- name: verify_event_rows
SELECT 'session ' || session_key || ' has ' || COUNT(*) || ' rows of events, the last of which is event ' || MAX(sequence)
FROM events GROUP BY tenant_key, session_key HAVING COUNT(*) <> MAX(sequence) LIMIT 100
-- name: verify_tombstones
SELECT 'session ' || s.id || ' is there although it was deleted' FROM tombstones t
JOIN sessions s ON s.tenant_key = t.tenant_key AND s.id = t.id LIMIT 100
-- An automation's run follows its session to its end.
-- name: verify_runs
SELECT 'the run ' || r.id || ' goes on though its session ' || s.id || ' has ended' FROM automation_runs r
JOIN sessions s ON s.tenant_key = r.tenant_key AND s.key = r.session_key
WHERE r.ended_at_ms = 0 AND s.work >= {SESSION_COMPLETED} LIMIT 100
-- name: verify_unmade_runs
SELECT 'session ' || s.id || ' was started by an automation and has no run' FROM sessions s
WHERE s.source_kind = 'automation' AND NOT EXISTS (SELECT 1 FROM automation_runs r
    WHERE r.tenant_key = s.tenant_key AND r.session_key = s.key) LIMIT 100
-- The session over all steps of a task ends with the last of them, in one transaction.
-- name: verify_steps
SELECT 'session ' || p.id || ' goes on though all its steps have ended' FROM sessions p
WHERE p.work < {SESSION_COMPLETED} AND p.key IN (SELECT st.parent_key FROM steps st WHERE st.tenant_key = p.tenant_key)
    AND NOT EXISTS (SELECT 1 FROM steps st JOIN sessions s ON s.tenant_key = st.tenant_key AND s.key = st.session_key
        WHERE st.tenant_key = p.tenant_key AND st.parent_key = p.key AND s.work < {SESSION_COMPLETED})
    AND NOT EXISTS (SELECT 1 FROM events e
        WHERE e.tenant_key = p.tenant_key AND e.session_key = p.key AND e.type = 'session.reopened') LIMIT 100

-- name: verify_share_uses
SELECT 'the share link ' || l.id || ' counts ' || l.use_count || ' uses of '
    || (SELECT COUNT(*) FROM share_uses u
        WHERE u.tenant_key = l.tenant_key AND u.session_key = l.session_key AND u.link_id = l.id) FROM share_links l
WHERE l.use_count <> (SELECT COUNT(*) FROM share_uses u
    WHERE u.tenant_key = l.tenant_key AND u.session_key = l.session_key AND u.link_id = l.id) LIMIT 100

-- What only SQLite has: where events stand, the blocks that the firehose reads, and a file of pages.
-- name: verify_chunks (sqlite)
SELECT 'an index of events of session ' || c.session_key || ' has no session' FROM event_chunks c
WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.key = c.session_key) LIMIT 100
-- name: verify_blocks (sqlite)
SELECT 'the stream of tenant ' || tenant_key || ' does not reach the events of block ' || block FROM (
    SELECT DISTINCT tenant_key, position >> 10 AS block FROM events) AS used
WHERE NOT EXISTS (SELECT 1 FROM tenant_blocks b WHERE b.tenant_key = used.tenant_key AND b.block = used.block)
LIMIT 100
-- name: verify_file (sqlite)
SELECT 'the file is damaged: ' || integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok' LIMIT 100
