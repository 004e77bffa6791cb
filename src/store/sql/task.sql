-- parameters: text
after

-- fragment: task_columns
id, name, definition, version, created_at_ms, updated_at_ms, updated_by
-- name: task_insert
INSERT INTO tasks (tenant_key, {task_columns}) VALUES (:tenant_key, :id, :name, :definition, :version, :created_at_ms,
    :updated_at_ms, :updated_by)
ON CONFLICT (tenant_key, id) DO NOTHING
-- name: task_get
SELECT {task_columns} FROM tasks WHERE tenant_key = :tenant_key AND id = :id
-- name: task_update
UPDATE tasks SET name = :name, definition = :definition, version = :version, updated_at_ms = :updated_at_ms,
    updated_by = :updated_by
WHERE tenant_key = :tenant_key AND id = :id AND version = :version - 1
-- name: task_delete
DELETE FROM tasks WHERE tenant_key = :tenant_key AND id = :id
-- name: task_list
SELECT {task_columns} FROM tasks WHERE tenant_key = :tenant_key AND id > :after ORDER BY id LIMIT :limit

-- Steps: what a session is in a run of a task, frozen when the run began.
-- name: step_insert
INSERT INTO steps (tenant_key, session_key, parent_key, position, definition)
    VALUES (:tenant_key, :session_key, :parent_key, :position, :definition)
-- fragment: step_columns
st.session_key, st.parent_key, st.definition, s.work, s.result
-- name: step_get
SELECT {step_columns}
FROM steps st JOIN sessions s ON s.tenant_key = st.tenant_key AND s.key = st.session_key
WHERE st.tenant_key = :tenant_key AND st.session_key = :session_key
-- All steps of one run, with the states their sessions are in.
-- name: step_list
SELECT {step_columns}
FROM steps st JOIN sessions s ON s.tenant_key = st.tenant_key AND s.key = st.session_key
WHERE st.tenant_key = :tenant_key AND st.parent_key = :parent_key ORDER BY st.position
-- name: session_delete_steps of session_part
DELETE FROM steps WHERE tenant_key = :tenant_key AND session_key = :session_key
