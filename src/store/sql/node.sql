-- name: node_renew
INSERT INTO nodes (id, address, started_at_ms, expires_at_ms) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET address = excluded.address, started_at_ms = excluded.started_at_ms,
    expires_at_ms = excluded.expires_at_ms
-- name: node_count_live
SELECT COUNT(*) FROM nodes WHERE expires_at_ms > $1
-- Those that nobody has heard of for long and that have nothing.
-- name: node_prune
DELETE FROM nodes WHERE expires_at_ms < $1 AND NOT EXISTS (SELECT 1 FROM sandbox_hosts h WHERE h.node = nodes.id)

-- name: host_put
INSERT INTO sandbox_hosts (tenant_key, session_key, node) VALUES ($1, $2, $3)
ON CONFLICT (tenant_key, session_key) DO UPDATE SET node = excluded.node
-- name: host_get
SELECT h.node, COALESCE(n.expires_at_ms, 0) FROM sandbox_hosts h LEFT JOIN nodes n ON n.id = h.node
WHERE h.tenant_key = $1 AND h.session_key = $2
-- name: session_delete_host
DELETE FROM sandbox_hosts WHERE tenant_key = $1 AND session_key = $2

-- What the node $1 has to look at: its own that somebody is to work on (1, 3, 5) or whose session has ended (from 6 on),
-- and those of nodes that are gone ($2, steady).
-- name: host_due
SELECT h.tenant_key, h.session_key FROM sandbox_hosts h
    JOIN sessions s ON s.tenant_key = h.tenant_key AND s.key = h.session_key LEFT JOIN nodes n ON n.id = h.node
WHERE s.runtime + 0 > 0 AND s.runtime + 0 <> 4 AND s.runtime + 0 <> 6
    AND ((h.node = $1 AND (s.runtime IN (1, 3, 5) OR s.work >= 6))
         OR (h.node <> $1 AND s.runtime <> 7 AND COALESCE(n.expires_at_ms, 0) <= $2))
ORDER BY h.session_key LIMIT $3
