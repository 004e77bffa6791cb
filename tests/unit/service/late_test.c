/* What has run out is over when its time has come, not only when its timer was heard: the clock goes on and no timer
 * fires between the end and the call that comes too late. */
#include "scene.h"

#include "service/ask/ask.h"

enum { LEASE_MS = 30000, EXPIRY_MS = 5000, TTL_MS = 60000 };

static struct claimed claim(struct scene *scene)
{
    struct session_access entry;
    struct claimed claimed;
    size_t count = 0;
    struct call call = scene_call(scene);
    struct claim_request request = {.worker = SLICE("w"), .lease_ms = LEASE_MS, .max = 1};
    scene_begin(scene);
    check_status(make_session(&call, "log", "agent", "pending", &entry), STATUS_OK, __FILE__, __LINE__);
    check_status(claim_take(&call, &request, &claimed, &count), STATUS_OK, __FILE__, __LINE__);
    assert_int_equal(count, 1);
    scene_commit(scene);
    return claimed;
}

static struct call call_with(struct scene *scene, const struct claimed *claimed)
{
    struct call call = scene_call(scene);
    call.lease_token = arena_copy(&scene->arena, slice_of(claimed->token));
    return call;
}

static enum status write_with(struct scene *scene, const struct claimed *claimed)
{
    struct call call = call_with(scene, claimed);
    scene_begin(scene);
    enum status status = append_text(&call, "log", "agent.message", 1);
    transaction_rollback(&scene->transaction);
    return status;
}

static enum status read_with(struct scene *scene, const struct claimed *claimed)
{
    struct session session;
    struct call call = call_with(scene, claimed);
    return session_authorize_read(&call, SLICE("log"), ACTION_READ, &session, NULL);
}

static enum status renew_with(struct scene *scene, const struct claimed *claimed)
{
    struct session_access entry;
    int64_t expires_at_ms;
    struct call call = call_with(scene, claimed);
    scene_begin(scene);
    enum status status = claim_heartbeat(&call, SLICE("log"), 0, &entry, &expires_at_ms);
    transaction_rollback(&scene->transaction);
    return status;
}

static enum status settle_with(struct scene *scene, const struct claimed *claimed)
{
    struct session_access entry;
    struct call call = call_with(scene, claimed);
    struct settlement settlement = {.to = SESSION_COMPLETED};
    scene_begin(scene);
    enum status status = claim_settle(&call, SLICE("log"), &settlement, &entry);
    transaction_rollback(&scene->transaction);
    return status;
}

static void a_lease_is_over_at_its_end(void **state)
{
    static enum status (*const uses[])(struct scene * scene, const struct claimed *claimed) = {write_with, read_with,
                                                                                               renew_with, settle_with};
    struct scene *scene = scene_new();
    struct claimed claimed = claim(scene);
    (void)state;
    scene_now_ms += LEASE_MS - 1;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        check_status(uses[i](scene, &claimed), STATUS_OK, __FILE__, __LINE__);
    }
    scene_now_ms += 1;
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        check_status(uses[i](scene, &claimed), STATUS_STALE, __FILE__, __LINE__);
    }
    scene_free(scene);
}

static enum status answer(struct scene *scene)
{
    struct ask ask;
    struct call call = scene_call(scene);
    struct ask_reply reply = {.decision = DECISION_ONCE};
    scene_begin(scene);
    enum status status = ask_answer(&call, SLICE("log"), SLICE("q"), &reply, &ask);
    transaction_rollback(&scene->transaction);
    return status;
}

static void an_ask_is_over_at_its_end(void **state)
{
    struct scene *scene = scene_new();
    scene->service.limits.ask.pending_max = 10;
    struct claimed claimed = claim(scene);
    struct call call = call_with(scene, &claimed);
    struct ask ask = {.id = SLICE("q"),
                      .kind = ASK_APPROVAL,
                      .tool = SLICE("run"),
                      .arguments = SLICE("{}"),
                      .expires_at_ms = scene_now_ms + EXPIRY_MS};
    (void)state;
    scene_begin(scene);
    check_status(ask_request(&call, SLICE("log"), &ask), STATUS_OK, __FILE__, __LINE__);
    scene_commit(scene);
    scene_now_ms += EXPIRY_MS - 1;
    check_status(answer(scene), STATUS_OK, __FILE__, __LINE__);
    scene_now_ms += 1;
    check_status(answer(scene), STATUS_CONFLICT, __FILE__, __LINE__);
    scene_free(scene);
}

/* --- a time to live --- */

static int64_t make_mortal(struct scene *scene)
{
    struct session_access entry;
    bool created;
    struct call call = scene_call(scene);
    struct session_input input = {.id = SLICE("log"), .type = SLICE("agent"), .attempt = 1, .ttl_ms = TTL_MS};
    scene_begin(scene);
    check_status(session_create(&call, &input, &entry, &created), STATUS_OK, __FILE__, __LINE__);
    int64_t key = entry.loaded->session.key;
    scene_commit(scene);
    return key;
}

/* 0 = none. */
static int64_t timer_of(struct scene *scene, int64_t session_key)
{
    struct timer timer = {0};
    struct failure failure = {0};
    enum status status = store_timer_of_session(scene->db, session_key, &timer, &failure);
    check_status(status, status == STATUS_NOT_FOUND ? STATUS_NOT_FOUND : STATUS_OK, __FILE__, __LINE__);
    return status == STATUS_OK ? timer.due_ms : 0;
}

static int64_t reopen(struct scene *scene)
{
    struct session_access entry;
    struct call call = scene_call(scene);
    scene_begin(scene);
    check_status(session_reopen(&call, SLICE("log"), &entry), STATUS_OK, __FILE__, __LINE__);
    int64_t expires_at_ms = entry.loaded->session.expires_at_ms;
    scene_commit(scene);
    return expires_at_ms;
}

static void a_reopened_session_ends_when_it_would_have(void **state)
{
    struct scene *scene = scene_new();
    struct session_access entry;
    int64_t end_ms = scene_now_ms + TTL_MS, key = make_mortal(scene);
    (void)state;
    assert_int_equal(timer_of(scene, key), end_ms);
    scene_now_ms += TTL_MS / 2;
    struct call call = scene_call(scene);
    scene_begin(scene);
    check_status(session_move(&call, SLICE("log"), SESSION_COMPLETED, SLICE(""), &entry), STATUS_OK, __FILE__,
                 __LINE__);
    scene_commit(scene);
    assert_int_equal(timer_of(scene, key), 0);
    scene_now_ms += 1;
    assert_int_equal(reopen(scene), end_ms);
    assert_int_equal(timer_of(scene, key), end_ms);
    scene_free(scene);
}

static void what_expired_comes_back_for_good(void **state)
{
    struct scene *scene = scene_new();
    int64_t key = make_mortal(scene);
    (void)state;
    scene_now_ms += TTL_MS;
    struct call call = scene_call(scene);
    struct timer due = {TIMER_EXPIRY, scene->who.tenant_key, key, scene_now_ms};
    scene_begin(scene);
    check_status(timer_fire(&call, &due), STATUS_OK, __FILE__, __LINE__);
    scene_commit(scene);
    assert_int_equal(reopen(scene), 0);
    assert_int_equal(timer_of(scene, key), 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_over_at_its_end),
        cmocka_unit_test(an_ask_is_over_at_its_end),
        cmocka_unit_test(a_reopened_session_ends_when_it_would_have),
        cmocka_unit_test(what_expired_comes_back_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
