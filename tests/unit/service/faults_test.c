/* The k-th call to the engine fails, for k = 1, 2, … until a flow passes without meeting it. A flow that meets it says
 * so clearly and changes nothing; the same flow succeeds afterwards; nothing committed before is lost. */
#include "scene.h"

static struct slice lease_token;

static enum status create(struct call *call)
{
    struct session_access entry;
    return make_session(call, NULL, "agent", NULL, &entry);
}

static enum status create_child(struct call *call)
{
    struct session_access entry;
    bool created;
    struct session_input input = {.type = SLICE("agent"), .parent_id = SLICE("log"), .attempt = 1, .ttl_ms = 60000};
    return session_create(call, &input, &entry, &created);
}

static enum status open_existing(struct call *call)
{
    struct session_access entry;
    bool created;
    struct session_input input = {.id = SLICE("log"), .type = SLICE("agent"), .attempt = 1, .ttl_ms = -1};
    enum status status = json_parse(call->arena, SLICE("{\"k\":\"v\"}"), &input.metadata, &call->failure);
    return status == STATUS_OK ? session_create(call, &input, &entry, &created) : status;
}

static enum status start_human(struct call *call)
{
    struct session_access entry;
    bool created;
    struct session_input input = {
        .type = SLICE("mixed"), .status = SLICE("running"), .task_id = SLICE("t"), .attempt = 1, .ttl_ms = -1};
    enum status status =
        json_parse(call->arena, SLICE("{\"kind\":\"human-session-bridge\"}"), &input.source, &call->failure);
    return status == STATUS_OK ? session_create(call, &input, &entry, &created) : status;
}

static enum status append_one(struct call *call)
{
    return append_text(call, "log", "user.message", 1);
}

static enum status append_many(struct call *call)
{
    return append_text(call, "log", "note.custom", 8);
}

static enum status append_external(struct call *call)
{
    struct event event = {.kind = EVENT_EXTERNAL_EVENT, .external_id = SLICE("x1")};
    bool duplicate = false;
    struct append append = {.events = &event, .duplicates = &duplicate, .count = 1, .if_sequence = -1};
    return event_append(call, SLICE("log"), &append);
}

static enum status rename_it(struct call *call)
{
    struct session_access entry;
    const struct json *patch;
    enum status status = json_parse(call->arena, SLICE("{\"title\":\"new\",\"metadata\":{\"a\":1},\"ttl_ms\":5000}"),
                                    &patch, &call->failure);
    return status == STATUS_OK ? session_update(call, SLICE("log"), patch, &entry) : status;
}

static enum status archive(struct call *call)
{
    struct session_access entry;
    return session_set_archived(call, SLICE("log"), true, &entry);
}

static enum status abandon(struct call *call)
{
    struct session_access entry;
    return session_move(call, SLICE("log"), SESSION_ABANDONED, SLICE("left"), &entry);
}

static enum status reopen(struct call *call)
{
    struct session_access entry;
    return session_reopen(call, SLICE("log"), &entry);
}

static enum status claim(struct call *call)
{
    struct claim_request request = {.worker = SLICE("w"), .max = 4};
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    enum status status = claim_take(call, &request, claimed, &count);
    if (status == STATUS_OK && count > 0) {
        lease_token = arena_copy(call->arena, slice_of(claimed[0].token));
    }
    return status;
}

static enum status heartbeat(struct call *call)
{
    struct session_access entry;
    int64_t expires_at_ms;
    call->lease_token = lease_token;
    return claim_heartbeat(call, SLICE("work"), 0, &entry, &expires_at_ms);
}

static enum status append_as_holder(struct call *call)
{
    call->lease_token = lease_token;
    return append_text(call, "work", "agent.message", 2);
}

static enum status release(struct call *call)
{
    struct session_access entry;
    call->lease_token = lease_token;
    return claim_release(call, SLICE("work"), &entry);
}

static enum status settle(struct call *call)
{
    struct session_access entry;
    struct settlement settlement = {.to = SESSION_FAILED, .error_message = SLICE("broken"), .error_code = SLICE("x")};
    call->lease_token = lease_token;
    return claim_settle(call, SLICE("work"), &settlement, &entry);
}

static enum status retry(struct call *call)
{
    struct session_access entry;
    return session_retry(call, SLICE("work"), &entry);
}

static enum status lose_lease(struct call *call)
{
    struct timer due[4];
    size_t count = 0;
    int64_t next;
    call->now_ms += 3600000;
    call->steady_ms += 3600000;
    enum status status = store_timer_due(call->db, call->steady_ms, 4, due, &count, &next, &call->failure);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = timer_fire(call, &due[i]);
    }
    return status;
}

static enum status share(struct call *call)
{
    struct share_request request = {.role = ACCESS_VIEWER};
    struct share_link link;
    char token[TOKEN_TEXT_BYTES];
    return share_create(call, SLICE("log"), &request, &link, token);
}

static enum status add_user(struct call *call)
{
    static int number;
    struct user user;
    char link[TOKEN_TEXT_BYTES];
    struct user_request request = {.email = arena_format(call->arena, "u%d@x", ++number), .role = MEMBER_MEMBER};
    return user_create(call, &request, &user, link);
}

static enum status add_participant(struct call *call)
{
    struct user user;
    char link[TOKEN_TEXT_BYTES];
    struct user_request request = {.email = SLICE("p@x"), .role = MEMBER_MEMBER};
    enum status status = user_create(call, &request, &user, link);
    struct slice none = {0}, added;
    return status == STATUS_OK ? participant_add(call, SLICE("log"), user.id, none, ACCESS_COLLABORATOR, &added)
                               : status;
}

static enum status add_token(struct call *call)
{
    struct token token;
    char secret[TOKEN_TEXT_BYTES];
    struct token_request request = {.name = SLICE("n"), .kind = PRINCIPAL_WORKER, .scopes = SCOPE_CLAIM};
    return token_create(call, &request, &token, secret);
}

static enum status add_tenant(struct call *call)
{
    struct tenant tenant;
    return tenant_create(call, SLICE("second"), (struct slice){0}, &tenant);
}

static enum status sign_in(struct call *call)
{
    struct sign_in done;
    return sign_in_start(call, call->who->user_id, 0, &done);
}

static enum status make_ticket(struct call *call)
{
    char ticket[TOKEN_TEXT_BYTES];
    int64_t expires_at_ms;
    return ticket_create(call, SLICE("log"), ticket, &expires_at_ms);
}

static enum status create_talk(struct call *call)
{
    struct session_access entry;
    bool created;
    struct session_input input = {
        .id = SLICE("talk"), .type = SLICE("agent"), .agent = SLICE("talker"), .attempt = 1, .ttl_ms = -1};
    return session_create(call, &input, &entry, &created);
}

static enum status send_in_mode(struct call *call, int mode)
{
    struct prompt_request request = {
        .mode = mode, .debounce_ms = -1, .content = SLICE("[{\"type\":\"text\",\"text\":\"hi\"}]")};
    struct prompt_receipt receipt;
    return prompt_send(call, SLICE("talk"), &request, &receipt);
}

static enum status send_prompt(struct call *call)
{
    return send_in_mode(call, -1);
}

static enum status steer(struct call *call)
{
    return send_in_mode(call, QUEUE_STEER);
}

static enum status collect(struct call *call)
{
    return send_in_mode(call, QUEUE_COLLECT);
}

static enum status append_message(struct call *call)
{
    struct prompt_request request = {.mode = -1, .debounce_ms = -1, .content = SLICE("[\"aside\"]")};
    int64_t sequence;
    return prompt_append(call, SLICE("talk"), &request, &sequence);
}

static enum status last_waiting(struct call *call, struct prompt *out)
{
    struct prompt *prompts;
    size_t count = 0;
    enum status status = prompt_list(call, SLICE("talk"), &prompts, &count);
    *out = count > 0 ? prompts[count - 1] : (struct prompt){0};
    return status;
}

static enum status edit_last(struct call *call)
{
    struct prompt prompt;
    int64_t place;
    struct prompt_edit edit = {.content = SLICE("[\"edited\"]")};
    enum status status = last_waiting(call, &prompt);
    return status == STATUS_OK ? prompt_edit(call, SLICE("talk"), prompt.id, &edit, &prompt, &place) : status;
}

static enum status move_last(struct call *call)
{
    struct prompt prompt;
    int64_t place;
    struct prompt_move move = {.place = 2};
    enum status status = last_waiting(call, &prompt);
    return status == STATUS_OK ? prompt_move(call, SLICE("talk"), prompt.id, &move, &prompt, &place) : status;
}

static enum status promote_last(struct call *call)
{
    struct prompt prompt;
    struct prompt_receipt receipt;
    enum status status = last_waiting(call, &prompt);
    return status == STATUS_OK ? prompt_promote(call, SLICE("talk"), prompt.id, 0, true, &receipt) : status;
}

static enum status interrupt(struct call *call)
{
    struct turn_interrupted interrupted;
    return turn_interrupt(call, SLICE("talk"), &interrupted);
}

static enum status collecting_is_over(struct call *call)
{
    struct loaded_session *loaded;
    enum status status =
        transaction_load(call->transaction, call->who->tenant_key, SLICE("talk"), &loaded, &call->failure);
    call->steady_ms += call->service->limits.prompt.collect_debounce_ms;
    struct timer timer = {TIMER_COLLECT, call->who->tenant_key, status == STATUS_OK ? loaded->session.key : 0,
                          call->steady_ms};
    return status == STATUS_OK ? timer_fire(call, &timer) : status;
}

static enum status claim_talk(struct call *call)
{
    struct claim_request request = {.worker = SLICE("w"), .agents = {SLICE("talker")}, .agent_count = 1, .max = 1};
    struct claimed claimed[CLAIM_BATCH_MAX];
    size_t count = 0;
    enum status status = claim_take(call, &request, claimed, &count);
    if (status == STATUS_OK && count > 0) {
        lease_token = arena_copy(call->arena, slice_of(claimed[0].token));
    }
    return status;
}

static enum status settle_talk(struct call *call)
{
    struct session_access entry;
    struct settlement settlement = {.to = SESSION_IDLE};
    call->lease_token = lease_token;
    return claim_settle(call, SLICE("talk"), &settlement, &entry);
}

static enum status withdraw_first(struct call *call)
{
    struct prompt *prompts;
    size_t count = 0;
    enum status status = prompt_list(call, SLICE("talk"), &prompts, &count);
    return status == STATUS_OK && count > 0 ? prompt_withdraw(call, SLICE("talk"), prompts[0].id, 0) : status;
}

static enum status clear_queue(struct call *call)
{
    struct prompt *prompts;
    size_t count = 0;
    return prompt_clear(call, SLICE("talk"), NULL, &prompts, &count);
}

static enum status end_talk(struct call *call)
{
    struct session_access entry;
    return session_move(call, SLICE("talk"), SESSION_COMPLETED, SLICE("done"), &entry);
}

static enum status erase(struct call *call)
{
    return session_delete(call, SLICE("log"));
}

/* In an order in which each finds what it needs. */
static const struct flow {
    const char *name;
    enum status (*run)(struct call *call);
} flows[] = {
    {"create", create},
    {"create_child", create_child},
    {"open_existing", open_existing},
    {"start_human", start_human},
    {"start_human_again", start_human},
    {"append_one", append_one},
    {"append_many", append_many},
    {"append_external", append_external},
    {"append_external_again", append_external},
    {"rename", rename_it},
    {"archive", archive},
    {"share", share},
    {"add_user", add_user},
    {"add_participant", add_participant},
    {"add_token", add_token},
    {"add_tenant", add_tenant},
    {"sign_in", sign_in},
    {"make_ticket", make_ticket},
    {"abandon", abandon},
    {"reopen", reopen},
    {"claim", claim},
    {"heartbeat", heartbeat},
    {"append_as_holder", append_as_holder},
    {"release", release},
    {"claim_again", claim},
    {"settle", settle},
    {"retry", retry},
    {"claim_retried", claim},
    {"lose_lease", lose_lease},
    {"create_talk", create_talk},
    {"dispatch_prompt", send_prompt},
    {"queue_prompt", send_prompt},
    {"queue_prompt_again", send_prompt},
    {"claim_talk", claim_talk},
    {"settle_and_dispatch_next", settle_talk},
    {"withdraw_prompt", withdraw_first},
    {"queue_a_third", send_prompt},
    {"clear_queue", clear_queue},
    {"queue_a_fourth", send_prompt},
    {"end_with_a_queue", end_talk},
    {"reopen_by_prompt", send_prompt},
    {"claim_talk_again", claim_talk},
    {"queue_behind", send_prompt},
    {"steer", steer},
    {"collect", collect},
    {"append_message", append_message},
    {"edit_prompt", edit_last},
    {"move_prompt", move_last},
    {"promote_prompt", promote_last},
    {"settle_interrupted", settle_talk},
    {"interrupt_pending", interrupt},
    {"interrupt_pending_again", interrupt},
    {"clear_the_rest", clear_queue},
    {"interrupt_the_last", interrupt},
    {"collect_at_rest", collect},
    {"collecting_is_over", collecting_is_over},
    {"erase", erase},
};

/* --- the world, before and after --- */

struct world {
    struct position end;
    int64_t counts[TYPE_COUNT][SESSION_STATUS_COUNT];
    struct session_page sessions;
};

static void look(struct scene *scene, struct arena *arena, struct world *out)
{
    struct failure failure = {0};
    int64_t tenant_key = scene->who.tenant_key;
    struct session_filter all = {.tenant_key = tenant_key,
                                 .type = -1,
                                 .work = -1,
                                 .display = -1,
                                 .archived = -1,
                                 .interactive = -1,
                                 .visibility = -1,
                                 .group = -1,
                                 .limit = 100};
    faults_set(0);
    memset(out, 0, sizeof *out);
    scene_begin(scene);
    assert_int_equal(store_firehose_end(scene->db, tenant_key, INT64_MAX, &out->end, &failure), STATUS_OK);
    assert_int_equal(store_counts(scene->db, &(struct session_filter){.tenant_key = tenant_key}, out->counts, &failure),
                     STATUS_OK);
    assert_int_equal(store_session_list(scene->db, &all, arena, &out->sessions, &failure), STATUS_OK);
    transaction_rollback(&scene->transaction);
}

static void assert_same(const struct world *a, const struct world *b, const char *flow, int64_t k)
{
    bool same = a->end.major == b->end.major && memcmp(a->counts, b->counts, sizeof a->counts) == 0 &&
                a->sessions.count == b->sessions.count;
    for (size_t i = 0; same && i < a->sessions.count; i++) {
        same = session_difference(&a->sessions.sessions[i], &b->sessions.sessions[i]) == NULL;
    }
    if (!same) {
        fail_msg("%s: the failure of call %lld left something behind", flow, (long long)k);
    }
}

static void count_problem(void *owner, const char *sentence)
{
    (void)owner;
    fail_msg("verify: %s", sentence);
}

static void assert_sound(struct scene *scene)
{
    struct failure failure = {0};
    struct verify_report report = {.problem = count_problem};
    faults_set(0);
    assert_int_equal(store_verify(scene->db, &report, &failure), STATUS_OK);
    assert_int_equal(report.problems, 0);
}

/* One group with one command, as the writer runs it. */
static enum status run_group(struct scene *scene, const struct flow *flow, struct failure *out)
{
    struct publication *publication = NULL;
    struct call call = scene_call(scene);
    enum status status = transaction_begin(&scene->transaction, &call.failure);
    if (status == STATUS_OK) {
        status = flow->run(&call);
        if (status == STATUS_OK) {
            status = transaction_commit(&scene->transaction, &publication, &call.failure);
        } else {
            transaction_rollback(&scene->transaction);
        }
    }
    *out = call.failure;
    publication_unref(publication);
    return status;
}

static int64_t fail_each_call(struct scene *scene, const struct flow *flow)
{
    for (int64_t k = 1;; k++) {
        struct arena arena = {0};
        struct world before, after;
        struct failure failure = {0};
        look(scene, &arena, &before);
        faults_set(k);
        enum status status = run_group(scene, flow, &failure);
        bool met = faults.happened;
        faults_set(0);
        if (!met) {
            if (status != STATUS_OK) {
                fail_msg("%s: %s %s", flow->name, failure.code, failure.detail);
            }
            arena_release(&arena);
            return k - 1;
        }
        if (status != STATUS_UNAVAILABLE || strcmp(failure.code, "storage_failed") != 0) {
            fail_msg("%s: call %lld failed, and the answer was %s %s", flow->name, (long long)k, status_name(status),
                     failure.code);
        }
        look(scene, &arena, &after);
        assert_same(&before, &after, flow->name, k);
        arena_release(&arena);
    }
}

static void test_every_call_fails_in_turn(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    struct session_access entry;
    struct call call = scene_call(scene);
    scene_begin(scene);
    assert_int_equal(make_session(&call, "log", "agent", NULL, &entry), STATUS_OK);
    assert_int_equal(make_session(&call, "work", "agent", "pending", &entry), STATUS_OK);
    scene_commit(scene);
    faults_install(scene->db);
    int64_t calls = 0;
    for (size_t i = 0; i < COUNT_OF(flows); i++) {
        int64_t failed = fail_each_call(scene, &flows[i]);
        assert_true(failed >= 2); /* at least its begin and its commit were met */
        calls += failed;
        assert_sound(scene);
    }
    print_message("%zu flows, %lld failing calls\n", COUNT_OF(flows), (long long)calls);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_call_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
