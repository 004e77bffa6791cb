-- fragment: event_columns
e.sequence, e.at_ms, e.type, e.role, e.content, e.metadata, e.thread_id, e.external_id, e.actor

-- PostgreSQL gathers the rows of a statement that takes them from unnest, see store/postgres/gather.h.
-- name: event_insert (sqlite)
INSERT INTO events
    (tenant_key, session_key, sequence, at_ms, type, role, content, metadata, thread_id, external_id, actor)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
-- name: event_insert (postgres)
INSERT INTO events
    (tenant_key, session_key, sequence, at_ms, type, role, content, metadata, thread_id, external_id, actor)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::text[], $10::text[], $11::text[])

-- name: event_by_external_id
SELECT sequence FROM events
WHERE tenant_key = $1 AND session_key = $2 AND external_id = $3 AND external_id IS NOT NULL

-- name: event_read
SELECT {event_columns} FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > $3 AND e.sequence < $4
ORDER BY e.sequence LIMIT $5

-- name: event_read_newest
SELECT {event_columns} FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > $3 AND e.sequence < $4
ORDER BY e.sequence DESC LIMIT $5

-- $6 and $7 are JSON arrays: whole types, and beginnings of types; both NULL = any. $8 is a JSON array of the audited
-- types, $9 a thread; NULL = any.
-- fragment: event_filter (sqlite)
(CAST($6 AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each($6))
    OR EXISTS (SELECT 1 FROM json_each($7) p WHERE substr(e.type, 1, length(p.value)) = p.value))
AND (CAST($8 AS TEXT) IS NULL OR e.type IN (SELECT value FROM json_each($8)))
AND (CAST($9 AS TEXT) IS NULL OR e.thread_id = $9)
-- fragment: event_filter (postgres)
(CAST($6 AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST($6 AS TEXT) AS JSONB))))
    OR EXISTS (SELECT 1 FROM jsonb_array_elements_text(CAST(CAST($7 AS TEXT) AS JSONB)) AS p (prefix)
               WHERE starts_with(e.type, p.prefix)))
AND (CAST($8 AS TEXT) IS NULL OR e.type = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST(CAST($8 AS TEXT) AS JSONB)))))
AND (CAST($9 AS TEXT) IS NULL OR e.thread_id = $9)

-- name: event_read_filtered
SELECT {event_columns} FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > $3 AND e.sequence < $4 AND {event_filter}
ORDER BY e.sequence LIMIT $5

-- name: event_read_filtered_newest
SELECT {event_columns} FROM events e
WHERE e.tenant_key = $1 AND e.session_key = $2 AND e.sequence > $3 AND e.sequence < $4 AND {event_filter}
ORDER BY e.sequence DESC LIMIT $5

-- name: firehose_end (sqlite)
SELECT position, 0 FROM events WHERE tenant_key = $1 ORDER BY position DESC LIMIT 1
-- name: firehose_end (postgres)
SELECT xid, position FROM events
WHERE tenant_key = $1 AND xid < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
ORDER BY xid DESC, position DESC LIMIT 1

-- $2 and $3 are the position after which to read; SQLite's has no second part.
-- name: firehose_read (sqlite)
SELECT e.position, 0, e.session_key, s.id, {event_columns}
FROM events e JOIN sessions s ON s.key = e.session_key
WHERE e.tenant_key = $1 AND e.position > $2 AND $3 >= 0
ORDER BY e.position LIMIT $4
-- name: firehose_read (postgres)
SELECT e.xid, e.position, e.session_key, s.id, {event_columns}
FROM events e JOIN sessions s ON s.tenant_key = e.tenant_key AND s.key = e.session_key
WHERE e.tenant_key = $1 AND (e.xid, e.position) > ($2, $3)
    AND e.xid < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)
ORDER BY e.xid, e.position LIMIT $4

-- name: partial_save
INSERT INTO partials (tenant_key, session_key, sequence, deltas, body) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT {partial_key} DO UPDATE SET sequence = excluded.sequence, deltas = excluded.deltas, body = excluded.body
-- fragment: partial_key (sqlite)
(session_key)
-- fragment: partial_key (postgres)
(tenant_key, session_key)
-- name: partial_load
SELECT sequence, deltas, body FROM partials WHERE tenant_key = $1 AND session_key = $2
