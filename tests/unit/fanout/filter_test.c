#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "fanout/filter.h"

static void no_filter_passes_everything(void **state)
{
    (void)state;
    struct viewer_options options = {0};
    assert_null(filter_new(&options));
    assert_true(filter_passes_event(NULL, SLICE("a"), (struct slice){0}));
    assert_true(filter_passes_delta(NULL, SLICE("t")));
}

static void types(void **state)
{
    (void)state;
    struct viewer_options options = {.types = {SLICE("tool.*"), SLICE("agent.message")}, .type_count = 2};
    struct filter *filter = filter_new(&options);
    static const struct {
        const char *type;
        bool passes;
    } cases[] = {{"tool.call", true},     {"tool.", true},           {"tool", false},  {"tools.x", false},
                 {"agent.message", true}, {"agent.message2", false}, {"agent", false}, {"", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(filter_passes_event(filter, slice_of(cases[i].type), (struct slice){0}), cases[i].passes);
    }
    assert_true(filter_passes_delta(filter, (struct slice){0}));
    free(filter);
}

static void thread(void **state)
{
    (void)state;
    struct viewer_options options = {.thread_id = SLICE("t")};
    struct filter *filter = filter_new(&options);
    assert_true(filter_passes_event(filter, SLICE("x"), SLICE("t")));
    assert_false(filter_passes_event(filter, SLICE("x"), SLICE("u")));
    assert_false(filter_passes_event(filter, SLICE("x"), (struct slice){0}));
    assert_true(filter_passes_delta(filter, SLICE("t")));
    assert_false(filter_passes_delta(filter, (struct slice){0}));
    free(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_filter_passes_everything),
        cmocka_unit_test(types),
        cmocka_unit_test(thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
