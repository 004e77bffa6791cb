-- parameters: text
address

-- name: node_renew
INSERT INTO nodes (id, address, started_at_ms, expires_at_ms) VALUES (:id, :address, :started_at_ms, :expires_at_ms)
ON CONFLICT (id) DO UPDATE SET address = excluded.address, started_at_ms = excluded.started_at_ms,
    expires_at_ms = excluded.expires_at_ms
-- name: node_count_live
SELECT COUNT(*) FROM nodes WHERE expires_at_ms > :steady_ms
-- Those that nobody has heard of for long and that have nothing.
-- name: node_prune
DELETE FROM nodes WHERE expires_at_ms < :before_ms AND NOT EXISTS (SELECT 1 FROM sandbox_hosts h
    WHERE h.node = nodes.id)

-- name: host_put
INSERT INTO sandbox_hosts (tenant_key, session_key, node) VALUES (:tenant_key, :session_key, :node)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET node = excluded.node
-- name: host_get
SELECT h.node, COALESCE(n.expires_at_ms, 0) AS expires_at_ms FROM sandbox_hosts h LEFT JOIN nodes n ON n.id = h.node
WHERE h.tenant_key = :tenant_key AND h.session_key = :session_key
-- name: session_delete_host of session_part
DELETE FROM sandbox_hosts WHERE tenant_key = :tenant_key AND session_key = :session_key

-- Sandboxes :node has to act on: its own that are changing state or whose session has ended, and those of nodes that are
-- gone at :steady_ms.
-- name: host_due
SELECT h.tenant_key, h.session_key FROM sandbox_hosts h
    JOIN sessions s ON s.tenant_key = h.tenant_key AND s.key = h.session_key LEFT JOIN nodes n ON n.id = h.node
WHERE s.runtime + 0 > {RUNTIME_NONE} AND s.runtime + 0 <> {RUNTIME_HIBERNATED} AND s.runtime + 0 <> {RUNTIME_STOPPED}
    AND ((h.node = :node AND (s.runtime IN ({RUNTIME_STARTING}, {RUNTIME_HIBERNATING}, {RUNTIME_RESTORING})
        OR s.work >= {SESSION_COMPLETED}))
         OR (h.node <> :node AND s.runtime <> {RUNTIME_ERROR} AND COALESCE(n.expires_at_ms, 0) <= :steady_ms))
ORDER BY h.session_key LIMIT :limit
