#include "service/ask/ask_internal.h"

enum { PAGES_MAX = 5 }; /* looked through for one answer before the caller is told to come again */

enum status ask_view(struct call *call, struct slice session_id, struct slice ask_id, struct ask *out,
                     struct session *out_session)
{
    enum status status = session_authorize_read(call, session_id, ACTION_READ, out_session, NULL);
    return status == STATUS_OK ? ask_load(call, out_session, ask_id, out) : status;
}

static bool may_see(const struct call *call, const struct ask_with_access *seen)
{
    return access_role(call->who, &seen->session, seen->participant, false) != ACCESS_NONE;
}

static bool is_of_the_session(const struct call *call, const struct ask_with_access *seen)
{
    (void)call;
    (void)seen;
    return true;
}

static bool may_answer(const struct call *call, const struct ask_with_access *seen)
{
    enum access_role role = access_role(call->who, &seen->session, seen->participant, false);
    return access_check(call->who, role, ACTION_ANSWER, NULL) == STATUS_OK &&
           ask_check_person(call->who, role, false, &seen->ask, NULL) == STATUS_OK;
}

static enum status fill_page(struct call *call, struct ask_filter *filter,
                             bool (*fits)(const struct call *call, const struct ask_with_access *seen),
                             struct ask_page *out)
{
    enum status status = STATUS_OK;
    *out = (struct ask_page){0};
    for (int page = 0; page < PAGES_MAX && status == STATUS_OK && out->count == 0; page++) {
        size_t count = 0;
        status = store_ask_list(call->db, filter, call->arena, &out->asks, &count, &call->failure);
        for (size_t i = 0; i < count && status == STATUS_OK; i++) {
            filter->before = out->asks[i].key;
            if (fits(call, &out->asks[i])) {
                out->asks[out->count++] = out->asks[i];
            }
        }
        out->next = (int64_t)count == filter->limit ? filter->before : 0;
        if (out->next == 0) {
            break;
        }
    }
    return status;
}

enum status ask_list(struct call *call, struct slice session_id, int state, bool descendants, int64_t before,
                     int64_t limit, struct ask_page *out)
{
    struct session session;
    enum status status = session_authorize_read(call, session_id, ACTION_READ, &session, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    struct ask_filter filter = {.tenant_key = session.tenant_key,
                                .user_id = call->who->user_id,
                                .session_key = session.key,
                                .descendants = descendants,
                                .state = state,
                                .before = before,
                                .limit = limit};
    /* The session itself was checked, with its lease; what is below it is looked at one by one. */
    return fill_page(call, &filter, descendants ? may_see : is_of_the_session, out);
}

enum status ask_inbox(struct call *call, int64_t before, int64_t limit, struct ask_page *out)
{
    struct ask_filter filter = {.tenant_key = call->who->tenant_key,
                                .user_id = call->who->user_id,
                                .sees_all = access_reads_unowned(call->who),
                                .state = ASK_PENDING,
                                .before = before,
                                .limit = limit};
    return fill_page(call, &filter, may_answer, out);
}

enum status ask_pending(struct call *call, const struct session *session, struct ask **out, size_t *out_count)
{
    return store_ask_pending(call->db, session->tenant_key, session->key, call->arena, out, out_count, &call->failure);
}
