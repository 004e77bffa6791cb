-- parameters: text
address kind

-- fragment: channel_columns
tenant_key, session_key, id, kind, address, followup_ms, waiting_sequence, due_ms, created_at_ms
-- name: channel_put
INSERT INTO channels ({channel_columns}) VALUES (:tenant_key, :session_key, :id, :kind, :address, :followup_ms,
    :waiting_sequence, :due_ms, :created_at_ms)
ON CONFLICT (tenant_key, session_key, id) DO UPDATE SET followup_ms = excluded.followup_ms,
    waiting_sequence = excluded.waiting_sequence, due_ms = excluded.due_ms
-- name: channel_get
SELECT {channel_columns} FROM channels WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id
-- name: channel_list
SELECT {channel_columns} FROM channels WHERE tenant_key = :tenant_key AND session_key = :session_key
    ORDER BY created_at_ms, id
-- name: channel_delete
DELETE FROM channels WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id
-- name: session_delete_channels of session_part
DELETE FROM channels WHERE tenant_key = :tenant_key AND session_key = :session_key
