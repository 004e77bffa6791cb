-- A page of a list, as keys: newest activity first. Each statement is led by one index; what the index does not answer is
-- checked by session_list_rest, where an absent parameter means "any". store/session_list.c picks the leading filter and
-- merges several sources where one does not suffice.
--
-- $1 tenant  $2 $3 the row to continue after  $4 limit  $5 least listed_at_ms
-- $6 type  $7 work states as bits  $8 display  $9 archived 0/1  $10 interactive  $11 visibility
-- $12 source kind  $13 platform  $14 owner  $15 parent  $16 task  $17 entity  $18 workspace  $19 agent
-- $20 text pattern  $21 $22 created from, to  $23 $24 active from, to  $25 $26 id range
-- $27 the user who looks  $28 whose orchestrators and workflows are shown  $29 participant  $30 shared with $27 only
-- $31 label  $32 its value  $33 one work state  $34 1 runs, 2 chats: session_is_chat of the domain
-- $35 only those without a parent

-- The pattern is folded (base/caseless.h), and so is what is searched: by the same table in SQLite, by the same rules in PostgreSQL.
-- fragment: session_list_text (sqlite)
(caseless(s.title) LIKE $20 ESCAPE '\'
    OR caseless(s.workspace) LIKE $20 ESCAPE '\'
    OR (s.details LIKE '{%' AND (caseless(s.details ->> 'branch_name') LIKE $20 ESCAPE '\'
        OR caseless(s.details -> 'git_state' ->> 'branch') LIKE $20 ESCAPE '\'))
    OR caseless((SELECT a.preview FROM session_activity a WHERE a.session_key = s.key)) LIKE $20 ESCAPE '\')
-- fragment: session_list_text (postgres)
(replace(lower(replace(s.title, 'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE $20 ESCAPE '\'
    OR replace(lower(replace(s.workspace, 'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE $20 ESCAPE '\'
    OR CASE WHEN s.details LIKE '{%' THEN replace(lower(replace(concat(CAST(s.details AS JSON) ->> 'branch_name', ' ',
        CAST(s.details AS JSON) -> 'git_state' ->> 'branch'), 'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE $20 ESCAPE '\'
        ELSE FALSE END
    OR replace(lower(replace((SELECT a.preview FROM session_activity a WHERE a.tenant_key = $1 AND a.session_key = s.key),
        'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE $20 ESCAPE '\')

-- fragment: session_list_rest
(s.listed_at_ms, s.key) < ($2, $3) AND s.listed_at_ms >= $5
AND (CAST($6 AS BIGINT) IS NULL OR s.type = $6)
AND (CAST($7 AS BIGINT) IS NULL OR ((CAST($7 AS BIGINT) >> CAST(s.work AS INTEGER)) & 1) = 1)
AND (CAST($8 AS BIGINT) IS NULL OR s.display = $8)
AND (CAST($9 AS BIGINT) IS NULL OR CASE WHEN s.archived_at_ms > 0 THEN 1 ELSE 0 END = $9)
AND (CAST($10 AS BIGINT) IS NULL OR s.source_interactive = $10)
AND (CAST($11 AS BIGINT) IS NULL OR s.visibility = $11)
AND (CAST($34 AS BIGINT) IS NULL OR CASE WHEN s.type IN (0, 3) AND s.purpose = 0 AND s.initial_prompt IS NULL
    AND s.task_id IS NULL AND COALESCE(s.source_kind, '') <> 'human-session-bridge' THEN 2 ELSE 1 END = $34)
AND (CAST($12 AS TEXT) IS NULL OR s.source_kind = $12)
AND (CAST($13 AS TEXT) IS NULL OR s.source_platform = $13)
AND (CAST($14 AS TEXT) IS NULL OR s.owner = $14)
AND (CAST($15 AS TEXT) IS NULL OR s.parent_id = $15)
AND (CAST($16 AS TEXT) IS NULL OR s.task_id = $16)
AND (CAST($17 AS TEXT) IS NULL OR s.entity_id = $17)
AND (CAST($18 AS TEXT) IS NULL OR s.workspace = $18)
AND (CAST($19 AS TEXT) IS NULL OR s.agent = $19)
AND (CAST($20 AS TEXT) IS NULL OR {session_list_text})
AND (CAST($21 AS BIGINT) IS NULL OR s.created_at_ms >= $21)
AND (CAST($22 AS BIGINT) IS NULL OR s.created_at_ms < $22)
AND (CAST($23 AS BIGINT) IS NULL OR (SELECT a.last_active_at_ms FROM session_activity a
    WHERE a.tenant_key = $1 AND a.session_key = s.key) >= $23)
AND (CAST($24 AS BIGINT) IS NULL OR (SELECT a.last_active_at_ms FROM session_activity a
    WHERE a.tenant_key = $1 AND a.session_key = s.key) < $24)
AND (CAST($25 AS TEXT) IS NULL OR s.id >= $25)
AND (CAST($26 AS TEXT) IS NULL OR s.id < $26)
AND (CAST($27 AS TEXT) IS NULL OR s.owner = $27 OR s.visibility > 0 OR EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = $1 AND p.session_key = s.key AND p.user_id = $27))
AND (CAST($28 AS TEXT) IS NULL OR s.purpose NOT IN (1, 2) OR s.owner = $28)
AND (CAST($29 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = $1 AND p.session_key = s.key AND p.user_id = $29))
AND (CAST($30 AS BIGINT) = 0 OR ((s.owner IS NULL OR s.owner <> $27) AND EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = $1 AND p.session_key = s.key AND p.user_id = $27)))
AND (CAST($31 AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM labels l
    WHERE l.tenant_key = $1 AND l.session_key = s.key AND l.name = $31 AND (CAST($32 AS TEXT) IS NULL OR l.value = $32)))
AND (CAST($33 AS BIGINT) IS NULL OR s.work = $33)
AND (CAST($35 AS BIGINT) = 0 OR s.parent_id IS NULL)

-- fragment: session_list_order
ORDER BY s.listed_at_ms DESC, s.key DESC LIMIT $4

-- name: session_list_all
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND {session_list_rest}
{session_list_order}
-- name: session_list_shown
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.archived_at_ms = 0 AND {session_list_rest}
{session_list_order}
-- name: session_list_archived
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.archived_at_ms > 0 AND {session_list_rest}
{session_list_order}
-- name: session_list_organisation
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.visibility > 0 AND {session_list_rest}
{session_list_order}
-- name: session_list_own
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.owner = $27 AND {session_list_rest}
{session_list_order}
-- name: session_list_type
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.type = $6 AND {session_list_rest}
{session_list_order}
-- name: session_list_work
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.work = $33 AND {session_list_rest}
{session_list_order}
-- name: session_list_display
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.display = $8 AND {session_list_rest}
{session_list_order}
-- name: session_list_source_kind
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.source_kind = $12 AND {session_list_rest}
{session_list_order}
-- name: session_list_source_platform
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.source_platform = $13 AND {session_list_rest}
{session_list_order}
-- name: session_list_owner
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.owner = $14 AND {session_list_rest}
{session_list_order}
-- name: session_list_parent
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.parent_id = $15 AND {session_list_rest}
{session_list_order}
-- name: session_list_task
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.task_id = $16 AND {session_list_rest}
{session_list_order}
-- name: session_list_entity
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.entity_id = $17 AND {session_list_rest}
{session_list_order}
-- name: session_list_workspace
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.workspace = $18 AND {session_list_rest}
{session_list_order}
-- name: session_list_agent
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = $1 AND s.agent = $19 AND {session_list_rest}
{session_list_order}

-- The joined row carries the session's listed_at_ms, so its index gives the order.
-- fragment: session_list_joined
AND (j.listed_at_ms, j.session_key) < ($2, $3) AND {session_list_rest}
ORDER BY j.listed_at_ms DESC, j.session_key DESC LIMIT $4
-- name: session_list_participant
SELECT s.key, s.listed_at_ms FROM participants j CROSS JOIN sessions s
WHERE j.tenant_key = $1 AND j.user_id = $29 AND s.tenant_key = $1 AND s.key = j.session_key {session_list_joined}
-- name: session_list_shared
SELECT s.key, s.listed_at_ms FROM participants j CROSS JOIN sessions s
WHERE j.tenant_key = $1 AND j.user_id = $27 AND s.tenant_key = $1 AND s.key = j.session_key {session_list_joined}
-- name: session_list_label
SELECT s.key, s.listed_at_ms FROM labels j CROSS JOIN sessions s
WHERE j.tenant_key = $1 AND j.name = $31 AND j.value = $32 AND s.tenant_key = $1 AND s.key = j.session_key
    {session_list_joined}
-- name: session_list_label_name
SELECT s.key, s.listed_at_ms FROM labels j CROSS JOIN sessions s
WHERE j.tenant_key = $1 AND j.name = $31 AND s.tenant_key = $1 AND s.key = j.session_key {session_list_joined}

-- How many sessions a caller can see, per type and state. $2 the user who looks, $3 whose orchestrators and workflows are shown
-- fragment: session_visible
(CAST($2 AS TEXT) IS NULL OR s.owner = $2 OR s.visibility > 0 OR EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = $1 AND p.session_key = s.key AND p.user_id = $2))
AND (CAST($3 AS TEXT) IS NULL OR s.purpose NOT IN (1, 2) OR s.owner = $3)
-- name: count_reached
SELECT type, work, COUNT(*) FROM (
    SELECT s.key, s.type, s.work, s.purpose, s.owner FROM sessions s WHERE s.tenant_key = $1 AND s.owner = $2
    UNION SELECT s.key, s.type, s.work, s.purpose, s.owner FROM participants j CROSS JOIN sessions s
        WHERE j.tenant_key = $1 AND j.user_id = $2 AND s.tenant_key = $1 AND s.key = j.session_key
    UNION SELECT s.key, s.type, s.work, s.purpose, s.owner FROM sessions s WHERE s.tenant_key = $1 AND s.visibility > 0
) AS reached WHERE purpose NOT IN (1, 2) OR owner = $3 GROUP BY type, work
-- name: count_private
SELECT s.type, s.work, COUNT(*) FROM sessions s
WHERE s.tenant_key = $1 AND s.purpose IN (1, 2) AND (s.owner IS NULL OR s.owner <> $2) GROUP BY s.type, s.work
