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
DELETE FROM nodes WHERE expires_at_ms < :before_ms AND NOT EXISTS (SELECT 1 FROM sandbox_hosts h WHERE h.node = nodes.id)

-- name: host_put
INSERT INTO sandbox_hosts (tenant_key, session_key, node) VALUES (:tenant_key, :session_key, :node)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET node = excluded.node
-- name: host_get
SELECT h.node, COALESCE(n.expires_at_ms, 0) FROM sandbox_hosts h LEFT JOIN nodes n ON n.id = h.node
WHERE h.tenant_key = :tenant_key AND h.session_key = :session_key
-- name: session_delete_host of session_part
DELETE FROM sandbox_hosts WHERE tenant_key = :tenant_key AND session_key = :session_key

-- What the node $1 has to look at: its own that somebody is to work on (1, 3, 5) or whose session has ended (from 6 on),
-- and those of nodes that are gone ($2, steady).
-- name: host_due
SELECT h.tenant_key, h.session_key FROM sandbox_hosts h
    JOIN sessions s ON s.tenant_key = h.tenant_key AND s.key = h.session_key LEFT JOIN nodes n ON n.id = h.node
WHERE s.runtime + 0 > 0 AND s.runtime + 0 <> 4 AND s.runtime + 0 <> 6
    AND ((h.node = :node AND (s.runtime IN (1, 3, 5) OR s.work >= 6))
         OR (h.node <> :node AND s.runtime <> 7 AND COALESCE(n.expires_at_ms, 0) <= :steady_ms))
ORDER BY h.session_key LIMIT :limit
