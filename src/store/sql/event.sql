-- parameters: i64
after before
-- parameters: text
body type

-- fragment: event_columns
e.sequence, e.at_ms, e.type, e.role, e.content, e.metadata, e.thread_id, e.external_id, e.actor

-- PostgreSQL gathers the rows of a statement that takes them from unnest, see store/postgres/gather.h.
-- name: event_insert (postgres)
INSERT INTO events
    (tenant_key, session_key, sequence, at_ms, type, role, content, metadata, thread_id, external_id, actor, batch)
SELECT * FROM unnest(:tenant_key::bigint[], :session_key::bigint[], :sequence::bigint[], :at_ms::bigint[],
    :type::text[], :role::bigint[], :content::text[],
    :metadata::text[], :thread_id::text[], :external_id::text[], :actor::text[], :batch::bigint[])

-- name: event_batch (postgres)
SELECT batch FROM events WHERE tenant_key = :tenant_key AND session_key = :session_key AND sequence = :sequence

-- name: event_session_deleted (postgres)
SELECT id FROM tombstones WHERE tenant_key = :tenant_key AND session_key = :session_key

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
VALUES (:position, :tenant_key, :session_key, :sequence, :at_ms, :type, :role, :content, :metadata, :thread_id,
    :external_id, :actor)

-- The index of a session's events on SQLite, see the schema. A new tail takes the place of the old one or continues it.
-- fragment: event_new_tail (sqlite)
CAST(CASE WHEN :replaces THEN x'' ELSE tail END || :tail AS BLOB)
-- name: event_tail_write (sqlite)
UPDATE session_activity SET tail = {event_new_tail} WHERE session_key = :session_key
-- name: event_chunk_write (sqlite)
INSERT INTO event_chunks (session_key, chunk, positions)
SELECT session_key, :chunk, {event_new_tail} FROM session_activity WHERE session_key = :session_key
-- name: event_chunk_read (sqlite)
SELECT positions FROM event_chunks WHERE session_key = :session_key AND chunk = :chunk
-- name: event_tail_read (sqlite)
SELECT tail, (SELECT COALESCE(MAX(chunk) + 1, 0) FROM event_chunks WHERE session_key = :session_key) AS full_chunks
FROM session_activity WHERE session_key = :session_key
-- name: event_chunks_delete (sqlite)
DELETE FROM event_chunks WHERE session_key = :session_key
-- name: event_block_insert (sqlite)
INSERT OR IGNORE INTO tenant_blocks (tenant_key, block) VALUES (:tenant_key, :block)
-- Positions are never given twice, also not after the newest events were deleted.
-- name: event_position_last (sqlite)
SELECT MAX(COALESCE((SELECT MAX(position) FROM events), 0),
    COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'event_position'), 0))
-- name: event_position_keep (sqlite)
INSERT INTO meta (name, value) VALUES ('event_position', CAST(:position AS TEXT))
ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: event_by_external_id
SELECT sequence FROM events
WHERE tenant_key = :tenant_key AND session_key = :session_key AND external_id = :external_id AND external_id IS NOT NULL

-- fragment: event_range (sqlite)
FROM event_positions p CROSS JOIN events e ON e.position = p.position
WHERE e.tenant_key = :tenant_key AND p.session_key = :session_key AND p.sequence > :after AND p.sequence < :before
-- fragment: event_range (postgres)
FROM events e
WHERE e.tenant_key = :tenant_key AND e.session_key = :session_key AND e.sequence > :after AND e.sequence < :before
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

-- name: event_read of event_read (sqlite)
SELECT {event_columns} {event_range} ORDER BY {event_order} LIMIT :limit
-- name: event_read of event_read (postgres)
SELECT {event_columns} FROM ({event_sized} FROM (SELECT e.* {event_range} ORDER BY {event_order} LIMIT :limit) e) e
WHERE {event_fits} ORDER BY {event_order}
-- name: event_read_newest of event_read (sqlite)
SELECT {event_columns} {event_range} ORDER BY {event_order} DESC LIMIT :limit
-- name: event_read_newest of event_read (postgres)
SELECT {event_columns} FROM ({event_sized} FROM (SELECT e.* {event_range} ORDER BY {event_order} DESC LIMIT :limit) e) e
WHERE {event_fits} ORDER BY {event_order} DESC

-- :types and :prefixes are JSON arrays of whole types and of their beginnings, both NULL = any; :audited is the array of
-- audited types. An empty :thread_id is the main thread, NULL = any.
-- fragment: event_filter (sqlite)
(CAST(:types AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each(:types))
    OR EXISTS (SELECT 1 FROM json_each(:prefixes) p WHERE substr(e.type, 1, length(p.value)) = p.value))
AND (CAST(:audited AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each(:audited)))
AND (CAST(:thread_id AS TEXT) IS NULL OR COALESCE(e.thread_id, '') = :thread_id)
-- fragment: event_filter (postgres)
(CAST(:types AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST(:types AS TEXT) AS JSONB))))
    OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(CAST(CAST(:prefixes AS TEXT) AS JSONB)) AS p (prefix)
               WHERE starts_with(e.type, p.prefix)))
AND (CAST(:audited AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST(:audited AS TEXT) AS JSONB)))))
AND (CAST(:thread_id AS TEXT) IS NULL OR COALESCE(e.thread_id, '') = :thread_id)

-- name: event_read_filtered of event_read (sqlite)
SELECT {event_columns} {event_range} AND {event_filter} ORDER BY {event_order} LIMIT :limit
-- name: event_read_filtered of event_read (postgres)
SELECT {event_columns} FROM (
    {event_sized} FROM (SELECT e.* {event_range} AND {event_filter} ORDER BY {event_order} LIMIT :limit) e) e
WHERE {event_fits} ORDER BY {event_order}
-- name: event_read_filtered_newest of event_read (sqlite)
SELECT {event_columns} {event_range} AND {event_filter} ORDER BY {event_order} DESC LIMIT :limit
-- name: event_read_filtered_newest of event_read (postgres)
SELECT {event_columns} FROM (
    {event_sized} FROM (SELECT e.* {event_range} AND {event_filter} ORDER BY {event_order} DESC LIMIT :limit) e) e
WHERE {event_fits} ORDER BY {event_order} DESC

-- name: event_delete_all (sqlite)
DELETE FROM events
WHERE tenant_key = :tenant_key AND position IN (SELECT p.position FROM event_positions p
    WHERE p.session_key = :session_key)
-- name: event_delete_all (postgres)
DELETE FROM events WHERE tenant_key = :tenant_key AND session_key = :session_key

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

-- A delete as an event.
-- fragment: deleted_columns
t.sequence, t.deleted_at_ms, 'session.deleted', {ROLE_SYSTEM}, NULL, '{"id":"' || t.id || '"}', NULL, NULL, NULL

-- name: firehose_end (sqlite)
SELECT * FROM (
    SELECT e.position AS major, 0 AS minor FROM tenant_blocks b CROSS JOIN events e
    WHERE b.tenant_key = :tenant_key AND e.position >= b.block << 10 AND e.position < (b.block + 1) << 10
        AND e.tenant_key = :tenant_key
        AND e.position <= :horizon
    ORDER BY b.block DESC, e.position DESC LIMIT 1)
UNION ALL SELECT * FROM (
    SELECT position, 0 FROM tombstones WHERE tenant_key = :tenant_key AND position <= :horizon AND position IS NOT NULL
    ORDER BY position DESC LIMIT 1)
ORDER BY 1 DESC LIMIT 1
-- name: firehose_end (postgres)
SELECT 0 AS major, position AS minor FROM (
    (SELECT position FROM events WHERE tenant_key = :tenant_key AND position <= :horizon ORDER BY position DESC LIMIT 1)
    UNION ALL
    (SELECT position FROM tombstones WHERE tenant_key = :tenant_key AND position <= :horizon AND position IS NOT NULL
     ORDER BY position DESC LIMIT 1)) AS ends
ORDER BY position DESC LIMIT 1

-- fragment: firehose_columns (sqlite)
e.position AS major, 0 AS minor, e.session_key, s.id AS session_id, NULL AS audience, {event_columns}
-- fragment: firehose_columns (postgres)
0 AS major, e.position AS minor, e.session_key, s.id AS session_id, NULL AS audience, {event_columns}
-- The position after which to read is :after_major on SQLite, :after_minor on PostgreSQL.
-- name: firehose_read (sqlite)
SELECT * FROM (
    SELECT {firehose_columns}
    FROM tenant_blocks b CROSS JOIN events e CROSS JOIN sessions s
    WHERE b.tenant_key = :tenant_key AND b.block >= :after_major >> 10 AND e.position > :after_major
        AND e.position >= b.block << 10
        AND e.position < (b.block + 1) << 10 AND e.tenant_key = :tenant_key AND s.key = e.session_key
            AND :after_minor >= 0
        AND e.position <= :horizon
    ORDER BY b.block, e.position LIMIT :limit)
UNION ALL SELECT * FROM (
    SELECT t.position, 0, t.session_key, t.id, t.audience, {deleted_columns}
    FROM tombstones t WHERE t.tenant_key = :tenant_key AND t.position > :after_major AND t.position <= :horizon
        AND t.position IS NOT NULL
    ORDER BY t.position LIMIT :limit)
ORDER BY 1 LIMIT :limit
-- name: firehose_read (postgres)
SELECT * FROM (
    (SELECT {firehose_columns}
     FROM events e JOIN sessions s ON s.tenant_key = e.tenant_key AND s.key = e.session_key
     WHERE e.tenant_key = :tenant_key AND :after_major >= 0 AND e.position > :after_minor AND e.position <= :horizon
     ORDER BY e.position LIMIT :limit)
    UNION ALL
    (SELECT 0, t.position, t.session_key, t.id, t.audience, {deleted_columns}
     FROM tombstones t
     WHERE t.tenant_key = :tenant_key AND t.position > :after_minor AND t.position <= :horizon
         AND t.position IS NOT NULL
     ORDER BY t.position LIMIT :limit)) AS told
ORDER BY minor LIMIT :limit

-- It comes some time after the output, and the session may be deleted by then: nothing is left behind.
-- name: partial_save
INSERT INTO partials (tenant_key, session_key, sequence, deltas, body, saved_at_ms)
SELECT s.tenant_key, s.key, :sequence, :deltas, :body, :saved_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key
    AND s.key = :session_key {while_it_stays}
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
SELECT sequence, deltas, body, saved_at_ms FROM partials WHERE tenant_key = :tenant_key AND session_key = :session_key
