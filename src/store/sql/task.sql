-- fragment: task_columns
id, name, definition, version, created_at_ms, updated_at_ms, updated_by
-- name: task_insert
INSERT INTO tasks (tenant_key, {task_columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: task_get
SELECT {task_columns} FROM tasks WHERE tenant_key = $1 AND id = $2
-- name: task_update
UPDATE tasks SET name = $3, definition = $4, version = $5, updated_at_ms = $6, updated_by = $7
WHERE tenant_key = $1 AND id = $2 AND version = $5 - 1
-- name: task_delete
DELETE FROM tasks WHERE tenant_key = $1 AND id = $2
-- name: task_list
SELECT {task_columns} FROM tasks WHERE tenant_key = $1 AND id > $2 ORDER BY id LIMIT $3

-- Steps: what a session is in a run of a task, frozen when the run began.
-- name: step_insert
INSERT INTO steps (tenant_key, session_key, parent_key, position, definition) VALUES ($1, $2, $3, $4, $5)
-- name: step_get
SELECT st.session_key, st.parent_key, st.definition, s.work, s.result
FROM steps st JOIN sessions s ON s.tenant_key = st.tenant_key AND s.key = st.session_key
WHERE st.tenant_key = $1 AND st.session_key = $2
-- All steps of one run, with the states their sessions are in.
-- name: step_list
SELECT st.session_key, st.parent_key, st.definition, s.work, s.result
FROM steps st JOIN sessions s ON s.tenant_key = st.tenant_key AND s.key = st.session_key
WHERE st.tenant_key = $1 AND st.parent_key = $2 ORDER BY st.position
-- name: session_delete_steps
DELETE FROM steps WHERE tenant_key = $1 AND session_key = $2
