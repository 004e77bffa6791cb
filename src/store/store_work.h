/* What work is about and how it is configured: part of store/store.h, by which it is included. */
#ifndef STORE_STORE_WORK_H
#define STORE_STORE_WORK_H

#include "domain/entity.h"
#include "domain/run.h"
#include "store/db.h"

/* --- entities: NOT_FOUND without a word --- */
/* CONFLICT (`entity_exists`) when the id is taken. */
MUST_CHECK enum status store_entity_insert(struct db *db, int64_t tenant_key, const struct entity *entity,
                                           struct failure *failure);
MUST_CHECK enum status store_entity_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                        struct entity *out, struct failure *failure);
/* The same on a writer, who changes it in this transaction: nobody else does until the commit. */
MUST_CHECK enum status store_entity_lock(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                         struct entity *out, struct failure *failure);
/* The row must be one version behind, else STALE. */
MUST_CHECK enum status store_entity_update(struct db *db, int64_t tenant_key, const struct entity *entity,
                                           struct failure *failure);
/* `version` 0 = any. */
MUST_CHECK enum status store_entity_delete(struct db *db, int64_t tenant_key, struct slice id, int64_t version,
                                           bool *out_deleted, struct failure *failure);
/* By id, those behind `after`; type absent = any. */
MUST_CHECK enum status store_entity_list(struct db *db, int64_t tenant_key, struct slice after, struct slice type,
                                         int64_t limit, struct arena *arena, struct entity **out, size_t *out_count,
                                         struct failure *failure);

/* --- tasks and the steps of their runs --- */
struct task_row {
    struct slice id, name;
    struct slice definition; /* JSON, see task_write_definition */
    int64_t version;
    int64_t created_at_ms, updated_at_ms;
    struct slice updated_by;
};
/* CONFLICT (`task_exists`). */
MUST_CHECK enum status store_task_insert(struct db *db, int64_t tenant_key, const struct task_row *task,
                                         struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_task_get(struct db *db, int64_t tenant_key, struct slice id, struct arena *arena,
                                      struct task_row *out, struct failure *failure);
/* The row must be one version behind, else STALE. */
MUST_CHECK enum status store_task_update(struct db *db, int64_t tenant_key, const struct task_row *task,
                                         struct failure *failure);
MUST_CHECK enum status store_task_delete(struct db *db, int64_t tenant_key, struct slice id, bool *out_deleted,
                                         struct failure *failure);
MUST_CHECK enum status store_task_list(struct db *db, int64_t tenant_key, struct slice after, int64_t limit,
                                       struct arena *arena, struct task_row **out, size_t *out_count,
                                       struct failure *failure);
struct step_row {
    int64_t session_key;
    int64_t parent_key; /* of the session over all steps; 0 = none */
    int64_t position;
    struct slice definition;    /* JSON, see task_write_step */
    enum session_status status; /* of its session, as stored */
    struct slice result;
};
MUST_CHECK enum status store_step_insert(struct db *db, int64_t tenant_key, const struct step_row *step,
                                         struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_step_get(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                      struct step_row *out, struct failure *failure);
/* All of one run, in the order of the task. */
MUST_CHECK enum status store_step_list(struct db *db, int64_t tenant_key, int64_t parent_key, struct arena *arena,
                                       struct step_row **out, size_t *out_count, struct failure *failure);

/* --- runs of automations --- */
MUST_CHECK enum status store_run_insert(struct db *db, int64_t tenant_key, const struct automation_run *run,
                                        struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_run_of_session(struct db *db, int64_t tenant_key, int64_t session_key, struct arena *arena,
                                            struct automation_run *out, struct failure *failure);
/* Nothing when it has ended. The second one leaves what was said of it. */
MUST_CHECK enum status store_run_update(struct db *db, int64_t tenant_key, const struct automation_run *run,
                                        struct failure *failure);
MUST_CHECK enum status store_run_follow(struct db *db, int64_t tenant_key, const struct automation_run *run,
                                        struct failure *failure);
/* A run, what access to its session depends on, and the stored role of the user who looks. */
struct seen_run {
    struct automation_run run;
    struct session session; /* key, tenant_key, id, owner, visibility, purpose; nothing else */
    enum access_role participant;
};
struct run_filter {
    int64_t tenant_key;
    struct slice user_id; /* who looks; absent = nobody in particular */
    bool sees_all;        /* else only runs of sessions that the user may see at all */
    struct slice before;  /* id of the last row of the page before; absent = the first page */
    int status;           /* enum run_status; -1 = any */
    int64_t limit;
};
/* Newest first. */
MUST_CHECK enum status store_run_list(struct db *db, const struct run_filter *filter, struct arena *arena,
                                      struct seen_run **out, size_t *out_count, struct failure *failure);
/* NOT_FOUND without a word. */
MUST_CHECK enum status store_run_get(struct db *db, int64_t tenant_key, struct slice user_id, struct slice id,
                                     struct arena *arena, struct seen_run *out, struct failure *failure);

#endif
