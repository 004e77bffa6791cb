#include <assert.h>

#include "service/work/automation_run.h"

enum { PAGES_MAX = 5 }; /* looked through for one answer before the caller is told to come again */

enum status automation_run_begin(struct call *call, const struct session *session)
{
    char id[UUID_TEXT_BYTES];
    if (!run_belongs_to(session)) {
        return STATUS_OK;
    }
    id_uuid7(call->service->ids, call->now_ms, id);
    struct automation_run run = {
        .id = slice_of(id), .session_key = session->key, .created_at_ms = session->created_at_ms};
    run_follow(&run, session);
    return store_run_insert(call->db, session->tenant_key, &run, &call->failure);
}

enum status automation_run_keep_up(struct call *call, const struct session *session)
{
    if (!run_belongs_to(session)) {
        return STATUS_OK;
    }
    struct automation_run run = {.session_key = session->key};
    run_follow(&run, session);
    return store_run_follow(call->db, session->tenant_key, &run, &call->failure);
}

static struct slice result_of(struct arena *arena, const struct automation_run *run)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    run_write(&json, run);
    struct slice copy = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}

enum status automation_run_report(struct call *call, struct loaded_session *loaded, const struct json *arguments,
                                  struct slice *out)
{
    assert(call_writes(call));
    struct automation_run run;
    const struct session *session = &loaded->session;
    bool repeated = false;
    struct run_verdict verdict = {
        .outcome = json_text_of(arguments, "outcome"),
        .summary = json_text_of(arguments, "summary"),
        .completion_id = json_text_of(arguments, "completion_id"),
    };
    enum status status =
        store_run_of_session(call->db, session->tenant_key, session->key, call->arena, &run, &call->failure);
    if (status == STATUS_NOT_FOUND) {
        return failure_set(&call->failure, STATUS_CONFLICT, "no_run",
                           "No automation started this session (its source is not " SOURCE_AUTOMATION
                           "): there is no run to complete.");
    }
    if (status == STATUS_OK) {
        status = run_complete(&run, &verdict, call->now_ms, &repeated, &call->failure);
    }
    if (status == STATUS_OK && !repeated) {
        status = store_run_update(call->db, session->tenant_key, &run, &call->failure);
    }
    *out = result_of(call->arena, &run);
    return status;
}

/* --- queries --- */

static bool may_see(const struct call *call, const struct seen_run *seen)
{
    return access_role(call->who, &seen->session, seen->participant, false) != ACCESS_NONE;
}

enum status automation_run_find(struct call *call, struct slice id, struct automation_run *out)
{
    struct seen_run seen;
    enum status status =
        store_run_get(call->db, call->who->tenant_key, call->who->user_id, id, call->arena, &seen, &call->failure);
    if (status == STATUS_NOT_FOUND || (status == STATUS_OK && !may_see(call, &seen))) {
        return failure_set(&call->failure, STATUS_NOT_FOUND, "run_not_found",
                           "There is no such run, or it is not for you.");
    }
    if (status == STATUS_OK) {
        *out = seen.run;
    }
    return status;
}

enum status automation_run_list(struct call *call, int status_wanted, struct slice before, int64_t limit,
                                struct run_page *out)
{
    struct run_filter filter = {.tenant_key = call->who->tenant_key,
                                .user_id = call->who->user_id,
                                .sees_all = access_reads_unowned(call->who),
                                .before = before,
                                .status = status_wanted,
                                .limit = limit};
    enum status status = STATUS_OK;
    *out = (struct run_page){.runs = arena_array(call->arena, (size_t)limit, sizeof *out->runs)};
    for (int page = 0; page < PAGES_MAX && status == STATUS_OK && out->count == 0; page++) {
        struct seen_run *seen;
        size_t count = 0;
        status = store_run_list(call->db, &filter, call->arena, &seen, &count, &call->failure);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            filter.before = seen[i].run.id;
            if (may_see(call, &seen[i])) {
                out->runs[out->count++] = seen[i].run;
            }
        }
        out->next = (int64_t)count == limit ? filter.before : (struct slice){0};
        if (!slice_present(out->next)) {
            break;
        }
    }
    return status;
}
