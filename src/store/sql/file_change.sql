-- parameters: text
after

-- Files that a session's work changed, one row for each path.
-- name: file_change_put
INSERT INTO files_changed (tenant_key, session_key, path, previous_path, status, additions, deletions, sequence,
    changed_at_ms) VALUES (:tenant_key, :session_key, :path, :previous_path, :status, :additions, :deletions, :sequence,
        :changed_at_ms)
ON CONFLICT (tenant_key, session_key, path) DO UPDATE SET previous_path = excluded.previous_path,
    status = excluded.status, additions = excluded.additions, deletions = excluded.deletions,
    sequence = excluded.sequence, changed_at_ms = excluded.changed_at_ms
-- name: file_change_list
SELECT path, previous_path, status, additions, deletions, sequence, changed_at_ms FROM files_changed
WHERE tenant_key = :tenant_key AND session_key = :session_key AND path > :after ORDER BY path LIMIT :limit
-- name: session_delete_files_changed of session_part
DELETE FROM files_changed WHERE tenant_key = :tenant_key AND session_key = :session_key
