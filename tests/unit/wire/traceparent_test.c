#include "unit.h"

#include "wire/traceparent.h"

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

static void test_round_trip(void **state)
{
    (void)state;
    struct traceparent trace;
    char text[TRACEPARENT_TEXT_BYTES];
    assert_true(traceparent_parse(SLICE("00-" TRACE "-" PARENT "-01"), &trace));
    assert_int_equal(trace.trace_id[0], 0x4b);
    assert_int_equal(trace.trace_id[15], 0x36);
    assert_int_equal(trace.parent_id[7], 0xb7);
    assert_int_equal(trace.flags, TRACEPARENT_SAMPLED);
    traceparent_format(&trace, text);
    assert_string_equal(text, "00-" TRACE "-" PARENT "-01");
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"00-" TRACE "-" PARENT "-00", true},         {"00-" TRACE "-" PARENT "-ff", true},
        {"01-" TRACE "-" PARENT "-01", true},         {"cc-" TRACE "-" PARENT "-01-what-the-future-brings", true},
        {"cc-" TRACE "-" PARENT "-01.future", false}, {"00-" TRACE "-" PARENT "-01-more", false},
        {"00-" TRACE "-" PARENT "-01 ", false},       {"ff-" TRACE "-" PARENT "-01", false},
        {"0x-" TRACE "-" PARENT "-01", false},        {"00-00000000000000000000000000000000-" PARENT "-01", false},
        {"00-" TRACE "-0000000000000000-01", false},  {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01", false},
        {"00-" TRACE "-00f067aa0ba902bg-01", false},  {"00-" TRACE "-" PARENT "-0", false},
        {"00-" TRACE "-" PARENT "-0x", false},        {"00-" TRACE "-" PARENT, false},
        {"00_" TRACE "_" PARENT "_01", false},        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct traceparent trace = {.flags = 0x77};
        assert_row(rows[i].text, traceparent_parse(slice_of(rows[i].text), &trace) == rows[i].good);
        assert_row(rows[i].text, rows[i].good || trace.flags == 0x77);
    }
    struct traceparent trace;
    assert_false(traceparent_parse((struct slice){NULL, 0}, &trace));
}

static void test_child(void **state)
{
    (void)state;
    struct id_source ids;
    struct traceparent trace = {.trace_id = {1}, .parent_id = {2}, .flags = 0xFF}, child;
    id_source_init_seeded(&ids, 3);
    traceparent_child(&trace, &ids, &child);
    assert_memory_equal(child.trace_id, trace.trace_id, sizeof trace.trace_id);
    assert_memory_not_equal(child.parent_id, trace.parent_id, sizeof trace.parent_id);
    assert_int_equal(child.flags, TRACEPARENT_SAMPLED);
}

static int zero_rounds;

static void fill_zeroes_first(struct id_source *ids, void *bytes, size_t count)
{
    (void)ids;
    memset(bytes, zero_rounds-- > 0 ? 0 : 0xAB, count);
}

static void test_ids_are_never_zero(void **state)
{
    (void)state;
    struct id_source ids = {.fill = fill_zeroes_first};
    struct traceparent trace = {.trace_id = {1}}, child;
    zero_rounds = 2;
    traceparent_child(&trace, &ids, &child);
    assert_int_equal(child.parent_id[0], 0xAB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_child),
        cmocka_unit_test(test_ids_are_never_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
