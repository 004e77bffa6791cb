#include "unit.h"

#include "store/postgres/snapshot.h"

static struct snapshot parsed(const char *text)
{
    struct snapshot snapshot;
    assert_true(snapshot_parse(slice_of(text), &snapshot));
    return snapshot;
}

static bool is_within(const char *inner, const char *outer)
{
    struct snapshot a = parsed(inner), b = parsed(outer);
    return snapshot_is_within(&a, &b);
}

static void expect_text(const struct snapshot *snapshot, const char *text)
{
    struct buffer written = {0};
    snapshot_write(snapshot, &written);
    assert_slice(buffer_slice(&written), text);
    buffer_release(&written);
}

static void what_is_no_snapshot_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "1", "1:2", "1:x:", "1:2:3,", "1:2:,3", "1:2:3 4"};
    struct snapshot snapshot;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(snapshot_parse(slice_of(wrong[i]), &snapshot));
    }
}

static void it_sees_what_had_ended(void **state)
{
    (void)state;
    struct snapshot snapshot = parsed("10:15:10,12");
    assert_true(snapshot_sees(&snapshot, 9));
    assert_false(snapshot_sees(&snapshot, 10));
    assert_true(snapshot_sees(&snapshot, 11));
    assert_true(snapshot_sees(&snapshot, 14));
    assert_false(snapshot_sees(&snapshot, 15));
}

static void one_is_within_another_that_sees_as_much(void **state)
{
    (void)state;
    assert_true(is_within("10:10:", "10:10:"));
    assert_true(is_within("10:10:", "12:12:"));
    assert_false(is_within("12:12:", "10:10:"));
    assert_false(is_within("10:11:", "10:12:10"));
    assert_true(is_within("10:12:10", "10:12:10"));
    assert_true(is_within("10:14:10,11,12,13", "10:10:")); /* all that is new still runs */
    assert_false(is_within("10:14:10,11,13", "10:10:"));
    assert_false(is_within("5:9000000000000:5", "10:10:"));
}

static void more_is_seen(void **state)
{
    (void)state;
    struct snapshot snapshot = parsed("10:12:10");
    snapshot_add(&snapshot, 12);
    expect_text(&snapshot, "0:13:10");
    snapshot_add(&snapshot, 15);
    expect_text(&snapshot, "0:16:10,13,14");
    snapshot_add(&snapshot, 10);
    assert_true(snapshot_sees(&snapshot, 10));
    assert_false(snapshot_sees(&snapshot, 13));
    snapshot_add(&snapshot, 1000000); /* no room for all between */
    assert_false(snapshot_sees(&snapshot, 1000000));
    struct snapshot other = parsed("13:20:13,18");
    snapshot_join(&snapshot, &other);
    expect_text(&snapshot, "0:20:13,18");
    other = parsed("13:14:");
    snapshot_join(&snapshot, &other);
    expect_text(&snapshot, "0:20:18");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_snapshot_is_refused),
        cmocka_unit_test(it_sees_what_had_ended),
        cmocka_unit_test(one_is_within_another_that_sees_as_much),
        cmocka_unit_test(more_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
