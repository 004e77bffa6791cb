-- parameters: i64
reason

-- fragment: introspection_columns
tenant_key, session_key, cursor_sequence, turns, passive, from_sequence, to_sequence, passive_taken, run, attempt,
    fence,
    reason, runs
-- name: introspection_put
INSERT INTO introspections ({introspection_columns})
VALUES (:tenant_key, :session_key, :cursor_sequence, :turns, :passive, :from_sequence, :to_sequence, :passive_taken,
    :run, :attempt, :fence, :reason, :runs)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET cursor_sequence = excluded.cursor_sequence, turns = excluded.turns,
    passive = excluded.passive, from_sequence = excluded.from_sequence, to_sequence = excluded.to_sequence,
    passive_taken = excluded.passive_taken, run = excluded.run, attempt = excluded.attempt, fence = excluded.fence,
    reason = excluded.reason, runs = excluded.runs
-- name: introspection_get
SELECT {introspection_columns} FROM introspections WHERE tenant_key = :tenant_key AND session_key = :session_key
-- In all tenants.
-- name: introspection_running
SELECT {introspection_columns} FROM introspections WHERE runs = 1 ORDER BY tenant_key, session_key LIMIT :limit
