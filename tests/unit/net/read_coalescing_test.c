#include "unit.h"

#include "net/read_coalescing.h"

enum { GATHER_US = 500, SECOND_US = 1000000 };

/* Looks at the sockets as often as told, for a while, each meeting so many pieces; whether it gathers at the end. */
static bool after(struct read_coalescing *moderation, int64_t *now_us, int64_t looks_per_s, size_t pieces,
                  int64_t for_us)
{
    bool is_on = moderation->is_on;
    for (int64_t until_us = *now_us + for_us; *now_us < until_us;) {
        *now_us += SECOND_US / looks_per_s;
        is_on = read_coalescing_note(moderation, *now_us, pieces);
    }
    return is_on;
}

static void begins_only_when_pieces_crowd(void **state)
{
    static const struct {
        const char *name;
        int64_t looks_per_s;
        size_t pieces;
        bool is_on;
    } rows[] = {
        {"a stream of a fast model", 200, 1, false},
        {"ten of them", 2000, 1, false},
        {"not enough to pay", 3900, 1, false},
        {"fifty of them", 10000, 1, true},
        {"a loop that is behind meets many at once", 1000, 50, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct read_coalescing moderation;
        int64_t now_us = 5 * SECOND_US;
        read_coalescing_init(&moderation, GATHER_US);
        assert_row(rows[i].name,
                   after(&moderation, &now_us, rows[i].looks_per_s, rows[i].pieces, SECOND_US) == rows[i].is_on);
    }
}

static void a_short_burst_is_not_held_up(void **state)
{
    struct read_coalescing moderation;
    int64_t now_us = 5 * SECOND_US;
    (void)state;
    read_coalescing_init(&moderation, GATHER_US);
    assert_false(read_coalescing_note(&moderation, now_us, 1));
    assert_false(after(&moderation, &now_us, 10000, 1, 15000));
    now_us += SECOND_US;
    assert_false(read_coalescing_note(&moderation, now_us, 1));
}

static void goes_on_while_waits_bring_pieces_and_ends_soon_after(void **state)
{
    struct read_coalescing moderation;
    int64_t now_us = 5 * SECOND_US;
    (void)state;
    read_coalescing_init(&moderation, GATHER_US);
    assert_true(after(&moderation, &now_us, 10000, 1, 50000));
    assert_true(after(&moderation, &now_us, SECOND_US / GATHER_US, 2, SECOND_US));
    assert_true(after(&moderation, &now_us, SECOND_US / GATHER_US, 40, SECOND_US));
    assert_false(after(&moderation, &now_us, SECOND_US / GATHER_US, 0, 41000));
    assert_false(read_coalescing_note(&moderation, now_us + 1, 1));
}

static void never_when_told_so(void **state)
{
    struct read_coalescing moderation;
    int64_t now_us = 5 * SECOND_US;
    (void)state;
    read_coalescing_init(&moderation, 0);
    assert_false(after(&moderation, &now_us, 100000, 1, SECOND_US));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_only_when_pieces_crowd),
        cmocka_unit_test(a_short_burst_is_not_held_up),
        cmocka_unit_test(goes_on_while_waits_bring_pieces_and_ends_soon_after),
        cmocka_unit_test(never_when_told_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
