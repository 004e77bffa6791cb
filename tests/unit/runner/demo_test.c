/* The script is played without waiting: what it says, in which order, and that it always ends. */
#include "unit.h"

#include "base/json.h"
#include "runner/demo.h"

enum { ACTS_MAX = 500 };

struct played {
    struct arena arena;
    struct act acts[ACTS_MAX];
    size_t count;
    int64_t total_ms;
};

static void play_from(struct played *played, struct script_turn turn)
{
    struct act *act;
    *played = (struct played){0};
    do {
        assert_true(played->count < ACTS_MAX);
        act = &played->acts[played->count++];
        demo_script.next(&turn, &played->arena, act);
        assert_true(act->after_ms > 0);
        played->total_ms += act->after_ms;
    } while (act->kind != ACT_END);
}

/* A later turn of a session. */
static void play(struct played *played, const char *said)
{
    play_from(played, (struct script_turn){.said = slice_of(said), .number = 7, .turns_done = 1});
}

static const struct act *event_at(const struct played *played, size_t index)
{
    for (size_t i = 0; i < played->count; i++) {
        if (played->acts[i].kind == ACT_EVENT && index-- == 0) {
            return &played->acts[i];
        }
    }
    fail_msg("there are fewer events");
    return NULL;
}

static const struct json *part_of(struct played *played, const struct act *act)
{
    const struct json *content = NULL;
    assert_status(json_parse(&played->arena, act->event.content, &content, NULL), STATUS_OK);
    assert_int_equal(content->count, 1);
    return content->child;
}

static void events_in_order(void **state)
{
    (void)state;
    static const char *const types[] = {"agent.thinking",    "agent.message", "agent.tool_call",
                                        "agent.tool_result", "agent.message", NULL};
    struct played played;
    play(&played, "hi");
    size_t events = 0;
    for (size_t i = 0; i < played.count; i++) {
        if (played.acts[i].kind == ACT_EVENT) {
            assert_non_null(types[events]);
            assert_slice(event_type(&played.acts[i].event), types[events]);
            events++;
            assert_int_equal(played.acts[i].event.role, ROLE_AGENT);
        }
    }
    assert_null(types[events]);
    assert_int_equal(played.acts[played.count - 1].end.to, SESSION_IDLE);
    assert_true(slice_present(played.acts[played.count - 1].end.usage));
    assert_true(played.total_ms < 10000);
    arena_release(&played.arena);
}

/* What was streamed since the event before is what the event says. */
static void deltas_add_up(void **state)
{
    (void)state;
    struct played played;
    struct buffer heard = {0};
    play(&played, "ünïcödé without any space: ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß");
    for (size_t i = 0; i < played.count; i++) {
        const struct act *act = &played.acts[i];
        if (act->kind == ACT_DELTA) {
            assert_true(act->delta_text.len > 0);
            assert_true(slice_is_utf8(act->delta_text));
            buffer_add(&heard, act->delta_text);
        } else if (heard.len > 0) {
            struct slice text = json_text_of(part_of(&played, act), "text");
            assert_true(slice_eq(text, buffer_slice(&heard)));
            heard.len = 0;
        }
    }
    buffer_release(&heard);
    arena_release(&played.arena);
}

static void echoes_the_user(void **state)
{
    (void)state;
    static char long_text[5000];
    static const struct {
        const char *said, *expected;
    } rows[] = {
        {"good morning", "\"good morning\""}, {"  * and %s  ", "\"* and %s\""}, {"", "\"\""}, {long_text, "xxx…\""}};
    memset(long_text, 'x', sizeof long_text - 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct played played;
        play(&played, rows[i].said);
        struct slice text = json_text_of(part_of(&played, event_at(&played, 4)), "text");
        assert_row(rows[i].expected, memmem(text.ptr, text.len, rows[i].expected, strlen(rows[i].expected)) != NULL);
        arena_release(&played.arena);
    }
}

static void says_that_it_is_a_demo(void **state)
{
    (void)state;
    struct played played;
    play(&played, "hi");
    struct slice text = json_text_of(part_of(&played, event_at(&played, 1)), "text");
    assert_non_null(memmem(text.ptr, text.len, "demo", 4));
    for (size_t i = 0; i < 5; i++) {
        assert_slice(event_at(&played, i)->event.metadata, "{\"demo\":true}");
    }
    arena_release(&played.arena);
}

static void call_and_result_share_an_id(void **state)
{
    (void)state;
    struct played played;
    play(&played, "hi");
    struct slice call = json_text_of(part_of(&played, event_at(&played, 2)), "tool_call_id");
    assert_slice(call, "demo-7-read_file");
    assert_true(slice_eq(call, json_text_of(part_of(&played, event_at(&played, 3)), "tool_call_id")));
    arena_release(&played.arena);
}

static size_t count_kind(const struct played *played, enum act_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < played->count; i++) {
        count += played->acts[i].kind == kind;
    }
    return count;
}

static void the_first_turn_shows_everything(void **state)
{
    (void)state;
    struct played played;
    play_from(&played, (struct script_turn){.said = SLICE("hi"), .number = 1});
    assert_int_equal(count_kind(&played, ACT_ASK), 3);
    assert_int_equal(count_kind(&played, ACT_EVENT), 11);
    assert_true(slice_present(played.acts[played.count - 1].end.result));
    assert_true(played.total_ms < 60000);
    arena_release(&played.arena);
}

static void echo_is_short_and_tour_is_long(void **state)
{
    (void)state;
    struct played played;
    play_from(&played, (struct script_turn){.said = SLICE("echo hi"), .number = 1});
    assert_int_equal(count_kind(&played, ACT_ASK), 0);
    arena_release(&played.arena);
    play(&played, "tour");
    assert_int_equal(count_kind(&played, ACT_ASK), 3);
    arena_release(&played.arena);
}

/* A turn that was cut goes on behind what is in the log already. */
static void an_attempt_goes_on(void **state)
{
    (void)state;
    struct played played;
    play_from(&played, (struct script_turn){.said = SLICE("hi"), .number = 2, .turns_done = 1, .done = 3});
    assert_slice(event_type(&event_at(&played, 0)->event), "agent.tool_result");
    assert_int_equal(count_kind(&played, ACT_EVENT), 2);
    arena_release(&played.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_in_order),
        cmocka_unit_test(deltas_add_up),
        cmocka_unit_test(echoes_the_user),
        cmocka_unit_test(says_that_it_is_a_demo),
        cmocka_unit_test(call_and_result_share_an_id),
        cmocka_unit_test(the_first_turn_shows_everything),
        cmocka_unit_test(echo_is_short_and_tour_is_long),
        cmocka_unit_test(an_attempt_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
