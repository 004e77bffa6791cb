#include "domain/turn_follow.h"
#include "domain_unit.h"

static bool take(struct turn_follow *follow, const char *event)
{
    const struct json *json = json_of(event);
    return turn_follow_take(follow, event_kind_find(json_text_of(json, "type")), json_i64_of(json, "sequence"),
                            slice_of(event));
}

static struct turn_follow follow_of(const char *prompt_id)
{
    return (struct turn_follow){.prompt_id = slice_of(prompt_id)};
}

#define SAID "{\"sequence\":4,\"type\":\"user.message\",\"metadata\":{\"prompt_id\":\"p\"}}"
#define CLAIMED "{\"sequence\":5,\"type\":\"session.claimed\",\"metadata\":{\"fence\":3}}"
#define ANSWER "{\"sequence\":6,\"type\":\"agent.message\",\"content\":[{\"text\":\"hi\"}]}"
#define MOVED(to) "{\"sequence\":7,\"type\":\"session.status_change\",\"metadata\":{\"to\":\"" to "\"}}"
#define ENDED                                                                                                          \
    "{\"sequence\":8,\"type\":\"turn.ended\",\"metadata\":{\"turn\":3,\"stop_reason\":\"stop\",\"usage\":{\"a\":1}}}"

static void from_the_queue_to_the_end(void **state)
{
    (void)state;
    struct turn_follow follow = follow_of("p");
    assert_false(take(&follow, "{\"type\":\"agent.message\",\"content\":[{\"text\":\"to others\"}]}"));
    assert_false(take(&follow, "{\"type\":\"user.message\",\"metadata\":{\"prompt_id\":\"q\"}}"));
    assert_false(take(&follow, MOVED("idle")));
    assert_true(take(&follow, "{\"type\":\"prompt.moved\",\"metadata\":{\"prompt_id\":\"p\"}}"));
    assert_slice(turn_follow_status(&follow), "queued");
    assert_true(take(&follow, SAID));
    assert_slice(turn_follow_status(&follow), "pending");
    assert_true(take(&follow, MOVED("pending")));
    assert_true(take(&follow, CLAIMED));
    assert_true(take(&follow, ANSWER));
    assert_false(take(&follow, "{\"type\":\"prompt.queued\",\"metadata\":{\"prompt_id\":\"q\"}}"));
    assert_true(take(&follow, MOVED("waiting_human")));
    assert_slice(turn_follow_status(&follow), "running");
    assert_true(take(&follow, MOVED("idle")));
    assert_true(take(&follow, ENDED));
    assert_false(take(&follow, "{\"sequence\":9,\"type\":\"user.message\",\"metadata\":{\"prompt_id\":\"q\"}}"));
    assert_false(take(&follow, MOVED("pending")));
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    turn_follow_write(&follow, &out);
    json_end_object(&out);
    assert_slice(buffer_slice(&text), "{\"prompt_id\":\"p\",\"turn\":3,\"status\":\"completed\",\"text\":\"hi\","
                                      "\"tool_calls\":[],\"stop_reason\":\"stop\",\"error\":null,\"usage\":{\"a\":1},"
                                      "\"from\":4,\"to\":8}");
    buffer_release(&text);
    turn_follow_release(&follow);
}

static void how_it_ends(void **state)
{
    (void)state;
    static const struct {
        const char *events[3];
        const char *status;
    } rows[] = {
        {{MOVED("idle")}, "completed"},
        {{MOVED("completed")}, "completed"},
        {{MOVED("expired")}, "expired"},
        {{MOVED("failed"), "{\"type\":\"session.error\",\"metadata\":{\"code\":\"c\"}}"}, "failed"},
        {{MOVED("idle"), "{\"type\":\"session.error\",\"metadata\":{\"code\":\"c\"}}"}, "failed"},
        {{"{\"type\":\"turn.interrupt_requested\",\"metadata\":{\"turn\":3}}", MOVED("idle")}, "interrupted"},
        {{"{\"type\":\"turn.interrupt_requested\",\"metadata\":{\"turn\":2}}", MOVED("idle")}, "completed"},
        {{"{\"type\":\"turn.ended\",\"metadata\":{\"stop_reason\":\"aborted\"}}", MOVED("idle")}, "interrupted"},
        {{"{\"type\":\"prompt.withdrawn\",\"metadata\":{\"prompt_id\":\"p\",\"reason\":\"r\"}}"}, "withdrawn"},
        {{MOVED("pending")}, "pending"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct turn_follow follow = follow_of("p");
        take(&follow,
             "{\"type\":\"user.message\",\"metadata\":{\"prompts\":[{\"prompt_id\":\"o\"},{\"prompt_id\":\"p\"}]}}");
        take(&follow, CLAIMED);
        for (size_t k = 0; k < 3 && rows[i].events[k]; k++) {
            take(&follow, rows[i].events[k]);
        }
        assert_row(rows[i].events[0], slice_is(turn_follow_status(&follow), rows[i].status));
        turn_follow_release(&follow);
    }
}

static void strange_events_do_no_harm(void **state)
{
    (void)state;
    static const char *const strange[] = {"{}",
                                          "[]",
                                          "5",
                                          "{\"type\":5}",
                                          "{\"type\":\"user.message\",\"metadata\":[]}",
                                          "{\"type\":\"user.message\",\"metadata\":{\"prompts\":{\"a\":1}}}",
                                          "{\"type\":\"agent.message\",\"content\":{}}",
                                          "{\"type\":\"agent.tool_call\"}",
                                          "{\"type\":\"session.status_change\",\"metadata\":{\"to\":\"nowhere\"}}"};
    struct turn_follow follow = follow_of("p");
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT_OF(strange); i++) {
            take(&follow, strange[i]);
        }
        take(&follow, SAID);
        take(&follow, CLAIMED);
    }
    assert_false(turn_follow_is_over(&follow));
    turn_follow_release(&follow);
}

static int release(void **state)
{
    (void)state;
    arena_release(&test_arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_the_queue_to_the_end),
        cmocka_unit_test(how_it_ends),
        cmocka_unit_test(strange_events_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
