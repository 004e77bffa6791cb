#include "fault_flows.h"

#include "domain/change.h"

/* --- how the flows write --- */

static const struct session_limits limits = {
    .metadata_bytes_max = 16384, .title_chars_max = 500, .workspace_chars_max = 500, .prompt_chars_max = 100000};

static void stamp(struct event *event, const struct session *session)
{
    event->sequence = session->last_sequence + 1;
    event->at_ms = NOW_MS;
    event->actor = SLICE("system");
}

static enum status write_events(struct flow_state *s, struct session session, struct event *events, size_t count,
                                struct failure *failure)
{
    int64_t old_sequence = session.last_sequence;
    enum session_status old_work = session.status;
    enum status status = STATUS_OK;
    unsigned what = 0;
    for (size_t i = 0; !status && i < count; i++) {
        stamp(&events[i], &session);
        what |= session_apply(&session, &events[i], &s->arena);
        status = store_event_insert(s->db, TENANT, session.key, &events[i], failure);
    }
    return status ? status : store_session_update(s->db, &session, what, old_sequence, old_work, failure);
}

static enum status create(struct flow_state *s, const char *id, const char *metadata, struct failure *failure)
{
    struct session_input input = {
        .type = SLICE("agent"), .status = SLICE("pending"), .agent = SLICE("a"), .ttl_ms = -1};
    struct session session = {.tenant_key = TENANT};
    struct changes changes = {0};
    enum status status = json_parse(&s->arena, slice_of(metadata), &input.metadata, failure);
    if (!status) {
        status = change_create(&s->arena, &input, &limits, slice_of(id), SLICE("u1"), NOW_MS, &changes, failure);
    }
    if (status) {
        return status;
    }
    stamp(&changes.events[0], &session);
    session_apply(&session, &changes.events[0], &s->arena);
    status = store_session_insert(s->db, &session, failure);
    return status ? status : store_event_insert(s->db, TENANT, session.key, &changes.events[0], failure);
}

static enum status append(struct flow_state *s, size_t count, size_t bytes, struct failure *failure)
{
    struct event *events = arena_array(&s->arena, count, sizeof *events);
    char *text = arena_bytes(&s->arena, bytes + 1);
    memset(text, ' ', bytes);
    text[0] = '[';
    text[bytes - 1] = ']';
    for (size_t i = 0; i < count; i++) {
        events[i] = (struct event){.kind = EVENT_USER_MESSAGE, .content = slice_from(text, bytes)};
    }
    return write_events(s, s->log, events, count, failure);
}

/* --- the flows: each runs inside one transaction --- */

static enum status append_one(struct flow_state *s, struct failure *failure)
{
    return append(s, 1, 100, failure);
}

static enum status append_many(struct flow_state *s, struct failure *failure)
{
    return append(s, 300, 200, failure);
}

static enum status append_large(struct flow_state *s, struct failure *failure)
{
    return append(s, 2, 50000, failure);
}

static enum status append_with_external_id(struct flow_state *s, struct failure *failure)
{
    struct event event = {.custom = SLICE("x"), .external_id = SLICE("e1"), .thread_id = SLICE("t")};
    return write_events(s, s->log, &event, 1, failure);
}

static enum status create_session(struct flow_state *s, struct failure *failure)
{
    return create(s, "new", "{}", failure);
}

static enum status create_with_labels(struct flow_state *s, struct failure *failure)
{
    return create(s, "new", "{\"a\":\"b\",\"c\":1,\"d\":true}", failure);
}

static enum status claim(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct lease lease = {TENANT, s->queued.key, SLICE("hash"), 1, SLICE("w"), 1000, 2000, 1, 1};
    struct timer timer = {TIMER_EXPIRY, TENANT, s->queued.key, 2000};
    enum status status = change_claim(&s->arena, &s->queued, SLICE("w"), &changes, failure);
    if (!status) {
        status = write_events(s, s->queued, changes.events, changes.count, failure);
    }
    if (!status) {
        status = store_lease_put(s->db, &lease, failure);
    }
    return status ? status : store_timer_put(s->db, &timer, failure);
}

static enum status heartbeat(struct flow_state *s, struct failure *failure)
{
    struct lease lease = {TENANT, s->running.key, SLICE("hash"), 1, SLICE("w"), 1000, 9000, 1, 8};
    struct timer timer = {TIMER_EXPIRY, TENANT, s->running.key, 9000};
    enum status status = store_lease_put(s->db, &lease, failure);
    return status ? status : store_timer_put(s->db, &timer, failure);
}

static enum status settle(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct settlement settlement = {.to = SESSION_COMPLETED};
    enum status status = change_settle(&s->arena, &s->running, &settlement, &changes, failure);
    if (!status) {
        status = write_events(s, s->running, changes.events, changes.count, failure);
    }
    if (!status) {
        status = store_lease_delete(s->db, TENANT, s->running.key, failure);
    }
    return status ? status : store_timer_delete(s->db, TIMER_EXPIRY, s->running.key, failure);
}

static enum status release(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    enum status status = change_lease_over(&s->arena, &s->running, true, 5, &changes, failure);
    if (!status) {
        status = write_events(s, s->running, changes.events, changes.count, failure);
    }
    return status ? status : store_lease_delete(s->db, TENANT, s->running.key, failure);
}

static enum status erase(struct flow_state *s, struct failure *failure)
{
    return store_session_delete(s->db, &s->log, SLICE("user:u1"), NOW_MS, failure);
}

static enum status archive(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    struct session ended = s->queued;
    enum status status = change_status(&s->arena, &ended, SESSION_ABANDONED, "x", STOP_NONE, &changes, failure);
    return status ? status : write_events(s, s->queued, changes.events, changes.count, failure);
}

static enum status rename_and_relabel(struct flow_state *s, struct failure *failure)
{
    struct changes changes = {0};
    const struct json *patch = NULL;
    enum status status = json_parse(&s->arena, SLICE("{\"title\":\"T\",\"metadata\":{\"x\":\"y\"}}"), &patch, failure);
    if (!status) {
        status = change_update(&s->arena, &s->log, patch, &limits, NOW_MS, &changes, failure);
    }
    return status ? status : write_events(s, s->log, changes.events, changes.count, failure);
}

static enum status share(struct flow_state *s, struct failure *failure)
{
    struct share_link link = {.id = SLICE("l2"),
                              .tenant_key = TENANT,
                              .session_key = s->log.key,
                              .token_hash = SLICE("other"),
                              .role = ACCESS_VIEWER,
                              .active = true};
    enum status status = store_share_insert(s->db, &link, failure);
    return status ? status
                  : store_participant_put(s->db, TENANT, s->log.key, SLICE("u2"), ACCESS_VIEWER, NOW_MS, failure);
}

static enum status redeem(struct flow_state *s, struct failure *failure)
{
    struct share_link link = {.id = SLICE("l1"), .tenant_key = TENANT, .session_key = s->log.key, .max_uses = 1};
    bool first = false;
    return store_share_redeem(s->db, &link, SLICE("u3"), NOW_MS, &first, failure);
}

static enum status add_user(struct flow_state *s, struct failure *failure)
{
    struct user user = {.id = SLICE("u9"), .email = SLICE("a@b"), .name = SLICE("A")};
    enum status status = store_user_insert(s->db, &user, failure);
    return status ? status : store_membership_put(s->db, TENANT, user.id, MEMBER_ADMIN, failure);
}

static enum status add_token(struct flow_state *s, struct failure *failure)
{
    struct token token = {.id = SLICE("t"), .hash = SLICE("hash"), .tenant_key = TENANT, .kind = PRINCIPAL_USER};
    return store_token_insert(s->db, &token, failure);
}

static enum status sign_in(struct flow_state *s, struct failure *failure)
{
    struct grant grant = {.kind = GRANT_COOKIE, .hash = SLICE("cookie"), .tenant_key = TENANT};
    enum status status = store_grant_delete(s->db, GRANT_LINK, SLICE("link"), failure);
    return status ? status : store_grant_insert(s->db, &grant, failure);
}

static enum status remember_reply(struct flow_state *s, struct failure *failure)
{
    struct idempotent_reply reply = {.fingerprint = SLICE("print"), .status = 201, .body = SLICE("{}")};
    enum status status = append(s, 3, 50, failure);
    return status ? status : store_idempotency_put(s->db, TENANT, SLICE("u1"), SLICE("k"), &reply, NOW_MS, failure);
}

static enum status save_partial(struct flow_state *s, struct failure *failure)
{
    struct partial partial = {1, 2, SLICE("[1,2]"), 0};
    return store_partial_save(s->db, TENANT, s->running.key, &partial, failure);
}

static enum status renew_leases(struct flow_state *s, struct failure *failure)
{
    return store_lease_renew_all(s->db, 5000, failure);
}

static enum status prune(struct flow_state *s, struct failure *failure)
{
    enum status status = store_grant_prune(s->db, NOW_MS, failure);
    if (!status) {
        status = store_token_prune(s->db, NOW_MS, failure);
    }
    if (!status) {
        status = store_share_prune(s->db, NOW_MS, failure);
    }
    return status ? status : store_idempotency_prune(s->db, NOW_MS, failure);
}

static bool read_on(void *owner, const struct event *event)
{
    (void)event;
    ++*(int64_t *)owner;
    return true;
}

static enum status read_log(struct flow_state *s, struct failure *failure)
{
    struct event_filter all = {.tenant_key = TENANT, .session_key = s->log.key, .limit = INT64_MAX};
    int64_t count = 0;
    enum status status = store_event_read(s->db, &all, read_on, &count, failure);
    if (!status && count != s->log.last_sequence) {
        return failure_set(failure, STATUS_INTERNAL, "short_read", "%lld events were read.", (long long)count);
    }
    return status;
}

static enum status list_sessions(struct flow_state *s, struct failure *failure)
{
    struct session_filter filter = {.tenant_key = TENANT,
                                    .type = -1,
                                    .work = -1,
                                    .display = -1,
                                    .archived = -1,
                                    .interactive = -1,
                                    .visibility = -1,
                                    .group = -1,
                                    .limit = 10};
    struct session_page page;
    enum status status = store_session_list(s->db, &filter, &s->arena, &page, failure);
    if (!status && page.count != 3) {
        return failure_set(failure, STATUS_INTERNAL, "short_list", "%zu sessions were listed.", page.count);
    }
    return status;
}

const struct flow fault_flows[] = {
    {"append_one", append_one},
    {"append_many", append_many},
    {"append_large", append_large},
    {"append_with_external_id", append_with_external_id},
    {"create_session", create_session},
    {"create_with_labels", create_with_labels},
    {"claim", claim},
    {"heartbeat", heartbeat},
    {"settle", settle},
    {"release", release},
    {"erase", erase},
    {"abandon", archive},
    {"rename_and_relabel", rename_and_relabel},
    {"share", share},
    {"redeem", redeem},
    {"add_user", add_user},
    {"add_token", add_token},
    {"sign_in", sign_in},
    {"remember_reply", remember_reply},
    {"save_partial", save_partial},
    {"renew_leases", renew_leases},
    {"prune", prune},
    {"read_log", read_log},
    {"list_sessions", list_sessions},
};
const size_t fault_flow_count = sizeof fault_flows / sizeof fault_flows[0];

/* --- the disk every flow begins with --- */

enum status fault_fill(struct flow_state *s, struct failure *failure)
{
    struct tenant tenant = {.id = SLICE("t"), .name = SLICE("T")};
    struct grant link = {.kind = GRANT_LINK, .hash = SLICE("link"), .tenant_key = TENANT, .expires_at_ms = 1};
    struct share_link share_link = {.id = SLICE("l1"),
                                    .tenant_key = TENANT,
                                    .session_key = 1,
                                    .token_hash = SLICE("h"),
                                    .max_uses = 1,
                                    .active = true};
    enum status status = store_tenant_insert(s->db, &tenant, failure);
    if (!status) {
        status = create(s, "log", "{\"k\":\"v\"}", failure);
    }
    if (!status) {
        status = create(s, "queued", "{}", failure);
    }
    if (!status) {
        status = create(s, "running", "{}", failure);
    }
    if (!status) {
        status = store_grant_insert(s->db, &link, failure);
    }
    return status ? status : store_share_insert(s->db, &share_link, failure);
}

enum status fault_fill_more(struct flow_state *s, struct failure *failure)
{
    struct session queued = s->queued;
    enum status status = append(s, 126, 60, failure); /* the next two complete a run of 128 */
    s->queued = s->running;
    if (!status) {
        status = claim(s, failure);
    }
    s->queued = queued;
    return status;
}
