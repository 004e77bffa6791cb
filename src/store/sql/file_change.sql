-- Files that a session's work changed, one row for each path.
-- name: file_change_put
INSERT INTO files_changed (tenant_key, session_key, path, previous_path, status, additions, deletions, sequence,
    changed_at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (tenant_key, session_key, path) DO UPDATE SET previous_path = excluded.previous_path,
    status = excluded.status, additions = excluded.additions, deletions = excluded.deletions,
    sequence = excluded.sequence, changed_at_ms = excluded.changed_at_ms
-- name: file_change_list
SELECT path, previous_path, status, additions, deletions, sequence, changed_at_ms FROM files_changed
WHERE tenant_key = $1 AND session_key = $2 AND path > $3 ORDER BY path LIMIT $4
-- name: session_delete_files_changed
DELETE FROM files_changed WHERE tenant_key = $1 AND session_key = $2
