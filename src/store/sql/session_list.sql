-- A page of a list, as keys: newest activity first. Each statement is led by one index; what the index does not answer is
-- checked by session_list_rest, where an absent parameter means "any". store/session_list.c picks the leading filter and
-- merges several sources where one does not suffice.
-- :states are bits, :kind is that of the domain's session_is_chat, :visible_to the user who looks, :private_of the user
-- whose orchestrators and workflows are shown.

-- parameters: i64?
display kind states type visibility work

-- The pattern is folded (base/caseless.h), and so is what is searched: by the same table in SQLite, by the same rules in
-- PostgreSQL.
-- fragment: session_list_text (sqlite)
(caseless(s.title) LIKE :pattern ESCAPE '\'
    OR caseless(s.workspace) LIKE :pattern ESCAPE '\'
    OR (s.details LIKE '{%' AND (caseless(s.details ->> 'branch_name') LIKE :pattern ESCAPE '\'
        OR caseless(s.details -> 'git_state' ->> 'branch') LIKE :pattern ESCAPE '\'))
    OR caseless((SELECT a.preview FROM session_activity a WHERE a.session_key = s.key)) LIKE :pattern ESCAPE '\')
-- fragment: session_list_text (postgres)
(replace(lower(replace(s.title, 'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE :pattern ESCAPE '\'
    OR replace(lower(replace(s.workspace, 'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE :pattern ESCAPE '\'
    OR CASE WHEN s.details LIKE '{%' THEN replace(lower(replace(concat(CAST(s.details AS JSON) ->> 'branch_name', ' ',
        CAST(s.details AS JSON) -> 'git_state' ->> 'branch'), 'İ', 'i') COLLATE "und-x-icu"), 'ς',
            'σ') LIKE :pattern ESCAPE '\'
        ELSE FALSE END
    OR replace(lower(replace((SELECT a.preview FROM session_activity a WHERE a.tenant_key = :tenant_key
        AND a.session_key = s.key),
        'İ', 'i') COLLATE "und-x-icu"), 'ς', 'σ') LIKE :pattern ESCAPE '\')

-- fragment: session_list_rest
(s.listed_at_ms, s.key) < (:before_listed_ms, :before_key) AND s.listed_at_ms >= :least_listed_ms
AND (CAST(:type AS BIGINT) IS NULL OR s.type = :type)
AND (CAST(:states AS BIGINT) IS NULL OR ((CAST(:states AS BIGINT) >> CAST(s.work AS INTEGER)) & 1) = 1)
AND (CAST(:display AS BIGINT) IS NULL OR s.display = :display)
AND (CAST(:archived AS BIGINT) IS NULL OR CASE WHEN s.archived_at_ms > 0 THEN 1 ELSE 0 END = :archived)
AND (CAST(:interactive AS BIGINT) IS NULL OR s.source_interactive = :interactive)
AND (CAST(:visibility AS BIGINT) IS NULL OR s.visibility = :visibility)
AND (CAST(:kind AS BIGINT) IS NULL OR CASE WHEN s.type IN ({TYPE_AGENT}, {TYPE_MIXED})
    AND s.purpose = {PURPOSE_INTERACTIVE} AND s.initial_prompt IS NULL
    AND s.task_id IS NULL AND COALESCE(s.source_kind, '') <> 'human-session-bridge'
    THEN {SESSION_KIND_CHAT} ELSE {SESSION_KIND_RUN} END = :kind)
AND (CAST(:source_kind AS TEXT) IS NULL OR s.source_kind = :source_kind)
AND (CAST(:source_platform AS TEXT) IS NULL OR s.source_platform = :source_platform)
AND (CAST(:owner AS TEXT) IS NULL OR s.owner = :owner)
AND (CAST(:parent_id AS TEXT) IS NULL OR s.parent_id = :parent_id)
AND (CAST(:task_id AS TEXT) IS NULL OR s.task_id = :task_id)
AND (CAST(:entity_id AS TEXT) IS NULL OR s.entity_id = :entity_id)
AND (CAST(:workspace AS TEXT) IS NULL OR s.workspace = :workspace)
AND (CAST(:agent AS TEXT) IS NULL OR s.agent = :agent)
AND (CAST(:pattern AS TEXT) IS NULL OR {session_list_text})
AND (CAST(:created_from_ms AS BIGINT) IS NULL OR s.created_at_ms >= :created_from_ms)
AND (CAST(:created_to_ms AS BIGINT) IS NULL OR s.created_at_ms < :created_to_ms)
AND (CAST(:active_from_ms AS BIGINT) IS NULL OR (SELECT a.last_active_at_ms FROM session_activity a
    WHERE a.tenant_key = :tenant_key AND a.session_key = s.key) >= :active_from_ms)
AND (CAST(:active_to_ms AS BIGINT) IS NULL OR (SELECT a.last_active_at_ms FROM session_activity a
    WHERE a.tenant_key = :tenant_key AND a.session_key = s.key) < :active_to_ms)
AND (CAST(:id_from AS TEXT) IS NULL OR s.id >= :id_from)
AND (CAST(:id_to AS TEXT) IS NULL OR s.id < :id_to)
AND (CAST(:visible_to AS TEXT) IS NULL OR s.owner = :visible_to OR s.visibility > {VISIBILITY_PRIVATE}
    OR EXISTS (SELECT 1 FROM participants p
        WHERE p.tenant_key = :tenant_key AND p.session_key = s.key AND p.user_id = :visible_to))
AND (CAST(:private_of AS TEXT) IS NULL OR s.purpose NOT IN ({PURPOSE_ORCHESTRATOR}, {PURPOSE_WORKFLOW})
    OR s.owner = :private_of)
AND (CAST(:participant AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = :tenant_key AND p.session_key = s.key AND p.user_id = :participant))
AND (CAST(:shared_only AS BIGINT) = 0 OR ((s.owner IS NULL OR s.owner <> :visible_to)
    AND EXISTS (SELECT 1 FROM participants p
        WHERE p.tenant_key = :tenant_key AND p.session_key = s.key AND p.user_id = :visible_to)))
AND (CAST(:label_name AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM labels l
    WHERE l.tenant_key = :tenant_key AND l.session_key = s.key AND l.name = :label_name
        AND (CAST(:label_value AS TEXT) IS NULL OR l.value = :label_value)))
AND (CAST(:work AS BIGINT) IS NULL OR s.work = :work)
AND (CAST(:parents_only AS BIGINT) = 0 OR s.parent_id IS NULL)

-- fragment: session_list_order
ORDER BY s.listed_at_ms DESC, s.key DESC LIMIT :limit

-- name: session_list_all of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND {session_list_rest}
{session_list_order}
-- name: session_list_shown of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.archived_at_ms = 0
    AND {session_list_rest}
{session_list_order}
-- name: session_list_archived of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.archived_at_ms > 0
    AND {session_list_rest}
{session_list_order}
-- name: session_list_organisation of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.visibility > {VISIBILITY_PRIVATE}
    AND {session_list_rest}
{session_list_order}
-- name: session_list_own of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.owner = :visible_to
    AND {session_list_rest}
{session_list_order}
-- name: session_list_type of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.type = :type AND {session_list_rest}
{session_list_order}
-- name: session_list_work of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.work = :work AND {session_list_rest}
{session_list_order}
-- name: session_list_display of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.display = :display
    AND {session_list_rest}
{session_list_order}
-- name: session_list_source_kind of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.source_kind = :source_kind
    AND {session_list_rest}
{session_list_order}
-- name: session_list_source_platform of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key
    AND s.source_platform = :source_platform AND {session_list_rest}
{session_list_order}
-- name: session_list_owner of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.owner = :owner
    AND {session_list_rest}
{session_list_order}
-- name: session_list_parent of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.parent_id = :parent_id
    AND {session_list_rest}
{session_list_order}
-- name: session_list_task of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.task_id = :task_id
    AND {session_list_rest}
{session_list_order}
-- name: session_list_entity of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.entity_id = :entity_id
    AND {session_list_rest}
{session_list_order}
-- name: session_list_workspace of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.workspace = :workspace
    AND {session_list_rest}
{session_list_order}
-- name: session_list_agent of session_list
SELECT s.key, s.listed_at_ms FROM sessions s WHERE s.tenant_key = :tenant_key AND s.agent = :agent
    AND {session_list_rest}
{session_list_order}

-- The joined row carries the session's listed_at_ms, so its index gives the order.
-- fragment: session_list_joined
AND (j.listed_at_ms, j.session_key) < (:before_listed_ms, :before_key) AND {session_list_rest}
ORDER BY j.listed_at_ms DESC, j.session_key DESC LIMIT :limit
-- name: session_list_participant of session_list
SELECT s.key, s.listed_at_ms FROM participants j CROSS JOIN sessions s
WHERE j.tenant_key = :tenant_key AND j.user_id = :participant AND s.tenant_key = :tenant_key
    AND s.key = j.session_key {session_list_joined}
-- name: session_list_shared of session_list
SELECT s.key, s.listed_at_ms FROM participants j CROSS JOIN sessions s
WHERE j.tenant_key = :tenant_key AND j.user_id = :visible_to AND s.tenant_key = :tenant_key
    AND s.key = j.session_key {session_list_joined}
-- name: session_list_label of session_list
SELECT s.key, s.listed_at_ms FROM labels j CROSS JOIN sessions s
WHERE j.tenant_key = :tenant_key AND j.name = :label_name AND j.value = :label_value AND s.tenant_key = :tenant_key
    AND s.key = j.session_key
    {session_list_joined}
-- name: session_list_label_name of session_list
SELECT s.key, s.listed_at_ms FROM labels j CROSS JOIN sessions s
WHERE j.tenant_key = :tenant_key AND j.name = :label_name AND s.tenant_key = :tenant_key
    AND s.key = j.session_key {session_list_joined}

-- How many sessions a caller can see, per type and state.
-- fragment: session_visible
(CAST(:visible_to AS TEXT) IS NULL OR s.owner = :visible_to OR s.visibility > {VISIBILITY_PRIVATE}
    OR EXISTS (SELECT 1 FROM participants p
    WHERE p.tenant_key = :tenant_key AND p.session_key = s.key AND p.user_id = :visible_to))
AND (CAST(:private_of AS TEXT) IS NULL OR s.purpose NOT IN ({PURPOSE_ORCHESTRATOR}, {PURPOSE_WORKFLOW})
    OR s.owner = :private_of)
-- name: count_reached of counts
SELECT type, work, COUNT(*) AS sessions FROM (
    SELECT s.key, s.type, s.work, s.purpose, s.owner FROM sessions s WHERE s.tenant_key = :tenant_key
        AND s.owner = :visible_to
    UNION SELECT s.key, s.type, s.work, s.purpose, s.owner FROM participants j CROSS JOIN sessions s
        WHERE j.tenant_key = :tenant_key AND j.user_id = :visible_to AND s.tenant_key = :tenant_key
            AND s.key = j.session_key
    UNION SELECT s.key, s.type, s.work, s.purpose, s.owner FROM sessions s WHERE s.tenant_key = :tenant_key
        AND s.visibility > {VISIBILITY_PRIVATE}
) AS reached WHERE purpose NOT IN ({PURPOSE_ORCHESTRATOR}, {PURPOSE_WORKFLOW}) OR owner = :private_of
    GROUP BY type, work
-- name: count_private of counts
SELECT s.type, s.work, COUNT(*) AS sessions FROM sessions s
WHERE s.tenant_key = :tenant_key AND s.purpose IN ({PURPOSE_ORCHESTRATOR}, {PURPOSE_WORKFLOW}) AND (s.owner IS NULL
    OR s.owner <> :private_of)
    GROUP BY s.type, s.work
