-- fragment: event_columns
e.sequence, e.at_ms, e.type, e.role, e.content, e.metadata, e.thread_id, e.external_id, e.actor

-- PostgreSQL gathers the rows of a statement that takes them from unnest, see store/postgres/gather.h.
-- name: event_insert (postgres)
INSERT INTO events
    (tenant_key, session_key, sequence, at_ms, type, role, content, metadata, thread_id, external_id, actor, batch)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[])

-- name: event_batch (postgres)
SELECT batch FROM events WHERE tenant_key = $1 AND session_key = $2 AND sequence = $3

-- name: event_session_deleted (postgres)
SELECT id FROM tombstones WHERE tenant_key = $1 AND session_key = $2

-- A transaction takes its positions behind this lock, whose number is (modulo 2^31) the last one taken before.
-- name: event_positions_announce (postgres)
SELECT CAST(pg_advisory_xact_lock_shared({position_lock},
    CAST((last_value - CAST(NOT is_called AS INT)) & 2147483647 AS INT)) IS NULL AS INT)
FROM events_position_seq
-- fragment: position_lock (postgres)
1936681844

-- name: event_insert_at (sqlite)
INSERT INTO events
    (position, tenant_key, session_key, sequence, at_ms, type, role, content, metadata, thread_id, external_id, actor)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)

-- The index of a session's events on SQLite, see the schema. A new tail takes the place of the old one or continues it.
-- fragment: event_new_tail (sqlite)
CAST(CASE WHEN $3 THEN x'' ELSE tail END || $2 AS BLOB)
-- name: event_tail_write (sqlite)
UPDATE session_activity SET tail = {event_new_tail} WHERE session_key = $1
-- name: event_chunk_write (sqlite)
INSERT INTO event_chunks (session_key, chunk, positions)
SELECT session_key, $4, {event_new_tail} FROM session_activity WHERE session_key = $1
-- name: event_chunk_read (sqlite)
SELECT positions FROM event_chunks WHERE session_key = $1 AND chunk = $2
-- name: event_tail_read (sqlite)
SELECT tail, (SELECT COALESCE(MAX(chunk) + 1, 0) FROM event_chunks WHERE session_key = $1)
FROM session_activity WHERE session_key = $1
-- name: event_chunks_delete (sqlite)
DELETE FROM event_chunks WHERE session_key = $1
-- name: event_block_insert (sqlite)
INSERT OR IGNORE INTO tenant_blocks (tenant_key, block) VALUES ($1, $2)
-- Positions are never given twice, also not after the newest events were deleted.
-- name: event_position_last (sqlite)
SELECT MAX(COALESCE((SELECT MAX(position) FROM events), 0),
    COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'event_position'), 0))
-- name: event_position_keep (sqlite)
INSERT INTO meta (name, value) VALUES ('event_position', CAST($1 AS TEXT))
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: event_by_external_id
SELECT sequence FROM events
WHERE tenant_key = $1 AND session_key = $2 AND external_id = $3 AND external_id IS NOT NULL

-- fragment: event_range (sqlite)
FROM event_positions p CROSS JOIN events e ON e.position = p.position
WHERE e.tenant_key = $1 AND p.session_key = $2 AND p.sequence > $3 AND p.sequence < $4
-- fragment: event_range (postgres)
FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > $3 AND e.sequence < $4
-- fragment: event_order (sqlite)
p.sequence
-- fragment: event_order (postgres)
e.sequence

-- The client of PostgreSQL holds all rows of a statement in memory: what lies behind the first 4 MiB is left out and read
-- by the next statement. A length is known without reading the value.
-- fragment: event_sized (postgres)
SELECT e.*, SUM(COALESCE(octet_length(e.content), 0) + COALESCE(octet_length(e.metadata), 0)) OVER
    (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
-- fragment: event_fits (postgres)
COALESCE(e.bytes_before, 0) < 4194304

-- name: event_read (sqlite)
SELECT {event_columns} {event_range} ORDER BY {event_order} LIMIT $5
-- name: event_read (postgres)
SELECT {event_columns} FROM ({event_sized} FROM (SELECT e.* {event_range} ORDER BY {event_order} LIMIT $5) e) e
WHERE {event_fits} ORDER BY {event_order}
-- name: event_read_newest (sqlite)
SELECT {event_columns} {event_range} ORDER BY {event_order} DESC LIMIT $5
-- name: event_read_newest (postgres)
SELECT {event_columns} FROM ({event_sized} FROM (SELECT e.* {event_range} ORDER BY {event_order} DESC LIMIT $5) e) e
WHERE {event_fits} ORDER BY {event_order} DESC

-- $6 and $7 are JSON arrays: whole types, and beginnings of types; both NULL = any. $8 is a JSON array of the audited
-- types, $9 a thread, empty = the main one; NULL = any.
-- fragment: event_filter (sqlite)
(CAST($6 AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each($6))
    OR EXISTS (SELECT 1 FROM json_each($7) p WHERE substr(e.type, 1, length(p.value)) = p.value))
AND (CAST($8 AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each($8)))
AND (CAST($9 AS TEXT) IS NULL OR COALESCE(e.thread_id, '') = $9)
-- fragment: event_filter (postgres)
(CAST($6 AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST($6 AS TEXT) AS JSONB))))
    OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(CAST(CAST($7 AS TEXT) AS JSONB)) AS p (prefix)
               WHERE starts_with(e.type, p.prefix)))
AND (CAST($8 AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST($8 AS TEXT) AS JSONB)))))
AND (CAST($9 AS TEXT) IS NULL OR COALESCE(e.thread_id, '') = $9)

-- name: event_read_filtered (sqlite)
SELECT {event_columns} {event_range} AND {event_filter} ORDER BY {event_order} LIMIT $5
-- name: event_read_filtered (postgres)
SELECT {event_columns} FROM (
    {event_sized} FROM (SELECT e.* {event_range} AND {event_filter} ORDER BY {event_order} LIMIT $5) e) e
WHERE {event_fits} ORDER BY {event_order}
-- name: event_read_filtered_newest (sqlite)
SELECT {event_columns} {event_range} AND {event_filter} ORDER BY {event_order} DESC LIMIT $5
-- name: event_read_filtered_newest (postgres)
SELECT {event_columns} FROM (
    {event_sized} FROM (SELECT e.* {event_range} AND {event_filter} ORDER BY {event_order} DESC LIMIT $5) e) e
WHERE {event_fits} ORDER BY {event_order} DESC

-- name: event_delete_all (sqlite)
DELETE FROM events
WHERE tenant_key = $1 AND position IN (SELECT p.position FROM event_positions p WHERE p.session_key = $2)
-- name: event_delete_all (postgres)
DELETE FROM events WHERE tenant_key = $1 AND session_key = $2

-- The last position behind which nothing is still to come. What is read up to it must be read after it was asked for: a
-- transaction that ended meanwhile shows in a later snapshot only. The correlated part sees the locks after the sequence.
-- name: firehose_horizon (sqlite)
SELECT 9223372036854775807
-- name: firehose_horizon (postgres)
SELECT LEAST(s.taken, (
    SELECT MIN(CASE WHEN (s.taken - CAST(l.objid AS BIGINT)) & 2147483647 < 1073741824
        THEN s.taken - ((s.taken - CAST(l.objid AS BIGINT)) & 2147483647) END)
    FROM pg_locks l
    WHERE l.locktype = 'advisory' AND l.classid = {position_lock} AND l.objsubid = 2
        AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())))
FROM (SELECT last_value - CAST(NOT is_called AS INT) AS taken FROM events_position_seq) s

-- A delete as an event: 2 is the role system.
-- fragment: deleted_columns
t.sequence, t.deleted_at_ms, 'session.deleted', 2, NULL, '{"id":"' || t.id || '"}', NULL, NULL, NULL

-- name: firehose_end (sqlite)
SELECT * FROM (
    SELECT e.position, 0 FROM tenant_blocks b CROSS JOIN events e
    WHERE b.tenant_key = $1 AND e.position >= b.block << 10 AND e.position < (b.block + 1) << 10 AND e.tenant_key = $1
        AND e.position <= $2
    ORDER BY b.block DESC, e.position DESC LIMIT 1)
UNION ALL SELECT * FROM (
    SELECT position, 0 FROM tombstones WHERE tenant_key = $1 AND position <= $2 AND position IS NOT NULL
    ORDER BY position DESC LIMIT 1)
ORDER BY 1 DESC LIMIT 1
-- name: firehose_end (postgres)
SELECT 0, position FROM (
    (SELECT position FROM events WHERE tenant_key = $1 AND position <= $2 ORDER BY position DESC LIMIT 1)
    UNION ALL
    (SELECT position FROM tombstones WHERE tenant_key = $1 AND position <= $2 AND position IS NOT NULL
     ORDER BY position DESC LIMIT 1)) AS ends
ORDER BY position DESC LIMIT 1

-- $2 and $3 are the position after which to read, SQLite's the first, PostgreSQL's the second; $4 is the horizon.
-- name: firehose_read (sqlite)
SELECT * FROM (
    SELECT e.position, 0, e.session_key, s.id, NULL, {event_columns}
    FROM tenant_blocks b CROSS JOIN events e CROSS JOIN sessions s
    WHERE b.tenant_key = $1 AND b.block >= $2 >> 10 AND e.position > $2 AND e.position >= b.block << 10
        AND e.position < (b.block + 1) << 10 AND e.tenant_key = $1 AND s.key = e.session_key AND $3 >= 0
        AND e.position <= $4
    ORDER BY b.block, e.position LIMIT $5)
UNION ALL SELECT * FROM (
    SELECT t.position, 0, t.session_key, t.id, t.audience, {deleted_columns}
    FROM tombstones t WHERE t.tenant_key = $1 AND t.position > $2 AND t.position <= $4 AND t.position IS NOT NULL
    ORDER BY t.position LIMIT $5)
ORDER BY 1 LIMIT $5
-- name: firehose_read (postgres)
SELECT * FROM (
    (SELECT 0 AS major, e.position AS minor, e.session_key, s.id, NULL AS audience, {event_columns}
     FROM events e JOIN sessions s ON s.tenant_key = e.tenant_key AND s.key = e.session_key
     WHERE e.tenant_key = $1 AND $2 >= 0 AND e.position > $3 AND e.position <= $4
     ORDER BY e.position LIMIT $5)
    UNION ALL
    (SELECT 0, t.position, t.session_key, t.id, t.audience, {deleted_columns}
     FROM tombstones t
     WHERE t.tenant_key = $1 AND t.position > $3 AND t.position <= $4 AND t.position IS NOT NULL
     ORDER BY t.position LIMIT $5)) AS told
ORDER BY minor LIMIT $5

-- It comes some time after the output, and the session may be deleted by then: nothing is left behind.
-- name: partial_save
INSERT INTO partials (tenant_key, session_key, sequence, deltas, body, saved_at_ms)
SELECT s.tenant_key, s.key, $3, $4, $5, $6 FROM sessions s WHERE s.tenant_key = $1 AND s.key = $2 {while_it_stays}
ON CONFLICT {partial_key} DO UPDATE SET sequence = excluded.sequence, deltas = excluded.deltas, body = excluded.body,
    saved_at_ms = excluded.saved_at_ms
-- fragment: while_it_stays (sqlite)

-- fragment: while_it_stays (postgres)
FOR KEY SHARE
-- fragment: partial_key (sqlite)
(session_key)
-- fragment: partial_key (postgres)
(tenant_key, session_key)
-- name: partial_load
SELECT sequence, deltas, body, saved_at_ms FROM partials WHERE tenant_key = $1 AND session_key = $2
