-- fragment: channel_columns
tenant_key, session_key, id, kind, address, followup_ms, waiting_sequence, due_ms, created_at_ms
-- name: channel_put
INSERT INTO channels ({channel_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (tenant_key, session_key, id) DO UPDATE SET followup_ms = excluded.followup_ms,
    waiting_sequence = excluded.waiting_sequence, due_ms = excluded.due_ms
-- name: channel_get
SELECT {channel_columns} FROM channels WHERE tenant_key = $1 AND session_key = $2 AND id = $3
-- name: channel_list
SELECT {channel_columns} FROM channels WHERE tenant_key = $1 AND session_key = $2 ORDER BY created_at_ms, id
-- name: channel_delete
DELETE FROM channels WHERE tenant_key = $1 AND session_key = $2 AND id = $3
-- name: session_delete_channels
DELETE FROM channels WHERE tenant_key = $1 AND session_key = $2
