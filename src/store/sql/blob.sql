-- parameters: bytes
address body

-- What sessions refer to, and the bytes when they are kept in the database (1 MiB a row). `about` is JSON: sha256, name,
-- media_type; the address is where the bytes are.
-- fragment: blob_columns
about, bytes, created_at_ms, actor
-- name: blob_use_put
INSERT INTO blob_uses (tenant_key, session_key, address, about, bytes, created_at_ms, actor)
VALUES (:tenant_key, :session_key, :address, :about, :bytes, :created_at_ms, :actor)
    ON CONFLICT (tenant_key, session_key, address) DO NOTHING
-- name: blob_use_get
SELECT {blob_columns} FROM blob_uses WHERE tenant_key = :tenant_key AND session_key = :session_key
    AND address = :address
-- name: blob_use_list
SELECT {blob_columns} FROM blob_uses WHERE tenant_key = :tenant_key AND session_key = :session_key
    ORDER BY created_at_ms, address LIMIT :limit
-- name: blob_use_count
SELECT COUNT(*) FROM blob_uses WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: blob_is_used
SELECT 1 FROM blob_uses WHERE tenant_key = :tenant_key AND address = :address LIMIT 1
-- name: blob_chunk_put
INSERT INTO blob_chunks (tenant_key, address, chunk, touched_at_ms, body)
    VALUES (:tenant_key, :address, :chunk, :touched_at_ms, :body)
ON CONFLICT (tenant_key, address, chunk) DO UPDATE SET touched_at_ms = excluded.touched_at_ms
-- name: blob_chunk_touch
UPDATE blob_chunks SET touched_at_ms = :now_ms WHERE tenant_key = :tenant_key AND address = :address
-- name: blob_chunk_read
SELECT body FROM blob_chunks WHERE tenant_key = :tenant_key AND address = :address ORDER BY chunk
-- A put of another node that is not committed yet has touched the rows, or waits for this.
-- name: blob_chunk_collect
DELETE FROM blob_chunks WHERE touched_at_ms < :before_ms AND NOT EXISTS (
    SELECT 1 FROM blob_uses u WHERE u.tenant_key = blob_chunks.tenant_key AND u.address = blob_chunks.address)
-- name: session_delete_blob_uses of session_part
DELETE FROM blob_uses WHERE tenant_key = :tenant_key AND session_key = :session_key
