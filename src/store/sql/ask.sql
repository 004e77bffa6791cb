-- parameters: i64
kind
-- parameters: text
reason

-- fragment: ask_columns
a.key, a.id, a.kind, a.state, a.turn, a.tool, a.call_id, a.arguments, a.editable, a.text, a.options, a.form, a.details,
a.fields, a.role, a.quorum, a.created_at_ms, a.expires_at_ms, a.decision, a.answer, a.reason, a.answered_by,
a.answered_at_ms, a.votes
-- name: ask_insert
INSERT INTO asks (tenant_key, session_key, id, kind, state, turn, tool, call_id, arguments, editable, text, options,
    form, details,
    fields, role, quorum, created_at_ms, expires_at_ms, decision, answer, reason, answered_by, answered_at_ms, votes)
VALUES (:tenant_key, :session_key, :id, :kind, :state, :turn, :tool, :call_id, :arguments, :editable, :text, :options,
    :form, :details, :fields, :role, :quorum, :created_at_ms, :expires_at_ms, :decision, :answer, :reason, :answered_by,
    :answered_at_ms, :votes)
-- Only a pending ask changes.
-- name: ask_update
UPDATE asks SET state = :state, decision = :decision, answer = :answer, reason = :reason, answered_by = :answered_by,
    answered_at_ms = :answered_at_ms, votes = :votes
WHERE tenant_key = :tenant_key AND session_key = :session_key AND id = :id AND state = {ASK_PENDING}
-- name: ask_by_id
SELECT {ask_columns} FROM asks a WHERE a.tenant_key = :tenant_key AND a.session_key = :session_key AND a.id = :id
-- name: ask_pending
SELECT {ask_columns} FROM asks a WHERE a.tenant_key = :tenant_key AND a.session_key = :session_key
    AND a.state = {ASK_PENDING} ORDER BY a.key
-- name: ask_count_pending
SELECT COUNT(*) FROM asks WHERE tenant_key = :tenant_key AND session_key = :session_key AND state = {ASK_PENDING}
-- name: ask_count_of_turn
SELECT COUNT(*) FROM asks WHERE tenant_key = :tenant_key AND session_key = :session_key AND turn = :turn

-- An ask together with what decides who sees its session; :user_id is the user who looks.
-- fragment: ask_seen_columns
{ask_columns}, s.key AS session_key, s.id AS session_id, s.owner, s.visibility, s.purpose, s.agent, s.title,
    s.parent_id,
    COALESCE(p.role, {ACCESS_NONE}) AS participant
-- fragment: ask_seen
SELECT {ask_seen_columns}
FROM asks a JOIN sessions s ON s.tenant_key = a.tenant_key AND s.key = a.session_key
LEFT JOIN participants p ON p.tenant_key = a.tenant_key AND p.session_key = a.session_key AND p.user_id = :user_id
-- Newest first. :visible_to is the user whose sessions and invitations count, NULL = all.
-- name: ask_inbox
{ask_seen}
WHERE a.tenant_key = :tenant_key AND a.state = {ASK_PENDING} AND a.key < :before_key
    AND (CAST(:visible_to AS TEXT) IS NULL OR s.owner = :visible_to OR p.role IS NOT NULL
        OR s.visibility > {VISIBILITY_PRIVATE})
ORDER BY a.key DESC LIMIT :limit
-- name: ask_of_session of ask_of
{ask_seen}
WHERE a.tenant_key = :tenant_key AND a.session_key = :session_key
    AND (CAST(:wanted_state AS BIGINT) IS NULL OR a.state = :wanted_state) AND a.key < :before_key
ORDER BY a.key DESC LIMIT :limit
-- The session and all below it, at most 16 deep.
-- name: ask_of_descendants of ask_of
WITH RECURSIVE below (key, id, depth) AS (
    SELECT key, id, 0 FROM sessions WHERE tenant_key = :tenant_key AND key = :session_key
    UNION
    SELECT c.key, c.id, b.depth + 1 FROM below b JOIN sessions c ON c.tenant_key = :tenant_key AND c.parent_id = b.id
    WHERE b.depth < 16)
{ask_seen}
WHERE a.tenant_key = :tenant_key AND a.session_key IN (SELECT key FROM below)
    AND (CAST(:wanted_state AS BIGINT) IS NULL OR a.state = :wanted_state)
    AND a.key < :before_key
ORDER BY a.key DESC LIMIT :limit

-- fragment: rule_columns
id, tenant_key, session_key, user_id, agent, tool, arguments, session_id, ask_id, created_by, created_at_ms, subject
-- name: ask_rule_insert
INSERT INTO ask_rules ({rule_columns}) VALUES (:id, :tenant_key, :session_key, :user_id, :agent, :tool, :arguments,
    :session_id, :ask_id, :created_by, :created_at_ms, :subject)
-- The candidates for one call; 0 stands for all sessions, '' for all tools.
-- name: ask_rule_candidates
SELECT {rule_columns} FROM ask_rules WHERE tenant_key = :tenant_key AND tool IN (:tool, '')
    AND (session_key = 0 OR session_key = :session_key)
ORDER BY created_at_ms, id
-- name: ask_rule_list
SELECT {rule_columns} FROM ask_rules WHERE tenant_key = :tenant_key ORDER BY created_at_ms DESC, id DESC
-- name: ask_rule_by_id
SELECT {rule_columns} FROM ask_rules WHERE tenant_key = :tenant_key AND id = :id
-- name: ask_rule_delete
DELETE FROM ask_rules WHERE tenant_key = :tenant_key AND id = :id
-- name: ask_rule_count
SELECT COUNT(*) FROM ask_rules WHERE tenant_key = :tenant_key

-- name: session_delete_asks of session_part
DELETE FROM asks WHERE tenant_key = :tenant_key AND session_key = :session_key
-- name: session_delete_ask_rules of session_part
DELETE FROM ask_rules WHERE tenant_key = :tenant_key AND session_key = :session_key
