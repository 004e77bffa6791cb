-- parameters: text
body

-- What a driver keeps with a session from one turn to the next.
-- name: kept_put
INSERT INTO kept (tenant_key, session_key, body) VALUES (:tenant_key, :session_key, :body)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET body = excluded.body
-- name: kept_get
SELECT body FROM kept WHERE tenant_key = :tenant_key AND session_key = :session_key
