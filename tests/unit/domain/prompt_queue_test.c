#include "domain/prompt.h"
#include "domain_unit.h"

#include <stdio.h>

enum { NOW = 100, LATER = 200, ROOM = 16 };

/* A queue in letters: f a followup, c collected and due, w collected and not due yet; capitals are of another thread.
 */
static size_t queue_of(const char *letters, struct prompt *out)
{
    static const char *const names[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    size_t count = strlen(letters);
    for (size_t i = 0; i < count; i++) {
        bool other = letters[i] >= 'A' && letters[i] <= 'Z';
        char letter = (char)(other ? letters[i] - 'A' + 'a' : letters[i]);
        out[i] = (struct prompt){.id = slice_of(names[i]),
                                 .mode = letter == 'f' ? QUEUE_FOLLOWUP : QUEUE_COLLECT,
                                 .content = SLICE("[1]"),
                                 .thread_id = other ? SLICE("t") : (struct slice){0},
                                 .due_ms = letter == 'w' ? LATER : NOW};
    }
    return count;
}

static void what_is_next(void **state)
{
    (void)state;
    static const struct {
        const char *queue, *picked;
        int64_t due;
    } rows[] = {
        {"", "", 0},          {"f", "0", 0},       {"ff", "0", 0},     {"c", "0", 0},     {"w", "", LATER},
        {"cc", "01", 0},      {"cw", "", LATER},   {"wc", "01", 0},    {"wf", "0", 0},    {"wwf", "01", 0},
        {"wF", "1", LATER},   {"wWf", "0", LATER}, {"cCcC", "02", 0},  {"cfc", "0", 0},   {"wfw", "0", LATER},
        {"Wcc", "12", LATER}, {"wWF", "1", LATER}, {"fw", "0", LATER}, {"wW", "", LATER}, {"cFcfc", "02", 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prompt queue[ROOM], picked[ROOM];
        char ids[ROOM + 1] = "";
        size_t count = queue_of(rows[i].queue, queue);
        size_t picked_count = prompt_pick(queue, count, NOW, 1000, picked);
        for (size_t k = 0; k < picked_count; k++) {
            ids[k] = picked[k].id.ptr[0];
        }
        assert_row(rows[i].queue, strcmp(ids, rows[i].picked) == 0);
        assert_row(rows[i].queue, prompt_next_due(queue, count, NOW) == rows[i].due);
    }
}

static void the_more_urgent_goes_before_the_less(void **state)
{
    (void)state;
    static const struct {
        int64_t waiting[4]; /* 1000 = one that interrupts */
        size_t count;
        int64_t priority;
        size_t place;
    } rows[] = {
        {{0}, 0, 5, 0},         {{0, 0}, 2, 0, 2},    {{0, 0}, 2, 1, 0},
        {{5, 0, -5}, 3, 0, 2},  {{5, 5, 0}, 3, 5, 2}, {{5, 0, -5}, 3, 9, 0},
        {{5, 0, -5}, 3, -9, 3}, {{1000, 0}, 2, 9, 1}, {{0, 5}, 2, 3, 2},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct prompt queue[4] = {0}, prompt = {.priority = rows[i].priority};
        for (size_t k = 0; k < rows[i].count; k++) {
            bool steers = rows[i].waiting[k] == 1000;
            queue[k].mode = steers ? QUEUE_STEER : QUEUE_FOLLOWUP;
            queue[k].priority = steers ? 0 : rows[i].waiting[k];
        }
        assert_int_equal(prompt_place(queue, rows[i].count, &prompt), rows[i].place);
    }
}

static void what_is_said_together_fits(void **state)
{
    (void)state;
    struct prompt queue[ROOM], picked[ROOM];
    size_t count = queue_of("cccc", queue);
    assert_int_equal(prompt_pick(queue, count, NOW, 6, picked), 2);
    assert_int_equal(prompt_pick(queue, count, NOW, 8, picked), 2);
    assert_int_equal(prompt_pick(queue, count, NOW, 12, picked), 4);
    assert_int_equal(prompt_pick(queue, count, NOW, 1, picked), 1);
    queue[1].metadata = SLICE("{\"k\":1}");
    assert_int_equal(prompt_pick(queue, count, NOW, 12, picked), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_next),
        cmocka_unit_test(the_more_urgent_goes_before_the_less),
        cmocka_unit_test(what_is_said_together_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
