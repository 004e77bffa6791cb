#include "runner/acp/acp_session.h"

#include <stdlib.h>

static void release(struct acp_session *session)
{
    buffer_release(&session->thread);
    buffer_release(&session->name);
    free(session);
}

static struct acp_session **find(struct acp_session **list, struct slice thread)
{
    while (*list && !slice_eq(buffer_slice(&(*list)->thread), thread)) {
        list = &(*list)->next;
    }
    return list;
}

static void forget_beyond(struct acp_session **list, size_t most)
{
    for (size_t i = 0; *list && i < most; i++) {
        list = &(*list)->next;
    }
    acp_sessions_release(list);
}

struct acp_session *acp_session_of(struct acp_session **list, struct slice thread)
{
    struct acp_session **at = find(list, thread), *session = *at;
    if (session) {
        *at = session->next;
    } else {
        session = memory_zeroed(sizeof *session);
        buffer_add(&session->thread, thread);
    }
    session->next = *list;
    *list = session;
    forget_beyond(list, ACP_SESSIONS_MAX);
    return session;
}

void acp_session_lose(struct acp_session *session)
{
    session->name.len = 0;
    session->cost_microcents = 0;
    session->is_open = false;
}

void acp_sessions_release(struct acp_session **list)
{
    while (*list) {
        struct acp_session *session = *list;
        *list = session->next;
        release(session);
    }
}

/* --- what is kept --- */

static void recall(struct acp_session **list, const struct json *kept)
{
    struct slice name = json_text_of(kept, "acp_session_id");
    if (name.len > 0) {
        struct acp_session *session = acp_session_of(list, json_text_of(kept, "thread_id"));
        acp_session_lose(session);
        buffer_add(&session->name, name);
        session->cost_microcents = json_i64_of(kept, "cost_microcents");
    }
}

void acp_sessions_recall(struct acp_session **list, const struct json *kept, struct slice directory)
{
    const struct json *threads = json_get_value(kept, "threads");
    if (!slice_eq(json_text_of(kept, "cwd"), directory)) {
        return;
    }
    recall(list, kept);
    for (const struct json *one = json_is(threads, JSON_ARRAY) ? threads->child : NULL; one; one = one->next) {
        recall(list, one);
    }
}

static void write_members(struct json_out *out, const struct acp_session *session)
{
    if (session && session->name.len > 0) {
        json_put_text(out, "acp_session_id", buffer_slice(&session->name));
        json_put_i64(out, "cost_microcents", session->cost_microcents);
    }
}

/* Those used last stand last, so that they are recalled last and become the first again. */
static void write_threads(struct json_out *out, const struct acp_session *list)
{
    if (!list) {
        return;
    }
    write_threads(out, list->next);
    if (list->thread.len > 0 && list->name.len > 0) {
        json_begin_object(out);
        json_put_text(out, "thread_id", buffer_slice(&list->thread));
        write_members(out, list);
        json_end_object(out);
    }
}

void acp_sessions_write(struct json_out *out, struct acp_session *list, struct slice directory)
{
    const struct acp_session *main_one = *find(&list, SLICE(""));
    write_members(out, main_one);
    json_put_text(out, "cwd", directory);
    if (list && (list->next || list != main_one)) {
        json_key(out, "threads");
        json_begin_array(out);
        write_threads(out, list);
        json_end_array(out);
    }
}
