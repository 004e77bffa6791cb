#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fanout/publication.h"

static void entries_are_copied(void **state)
{
    (void)state;
    struct publication *publication = publication_new();
    for (int i = 0; i < 100; i++) {
        char text[] = "agent.message";
        publication_add(publication,
                        &(struct publication_entry){.kind = PUBLISH_EVENTS, .sequence = i, .type = slice_of(text)});
        text[0] = 'X';
    }
    assert_int_equal(publication_count(publication), 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(publication_at(publication, i)->sequence, i);
        assert_true(slice_is(publication_at(publication, i)->type, "agent.message"));
        assert_false(slice_present(publication_at(publication, i)->only_user));
    }
    publication_unref(publication);
}

static void kinds_are_known_and_deltas_numbered(void **state)
{
    (void)state;
    struct publication *publication = publication_new();
    publication_add(publication, &(struct publication_entry){.kind = PUBLISH_DELTA, .sequence = 4});
    assert_true(publication_has(publication, PUBLISH_DELTA));
    assert_false(publication_has(publication, PUBLISH_EVENTS));
    publication_number(publication, 0, 5, 3);
    assert_int_equal(publication_at(publication, 0)->sequence, 5);
    assert_int_equal(publication_at(publication, 0)->delta, 3);
    assert_ptr_equal(publication_ref(publication), publication);
    publication_unref(publication);
    publication_unref(publication);
    publication_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_copied),
        cmocka_unit_test(kinds_are_known_and_deltas_numbered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
