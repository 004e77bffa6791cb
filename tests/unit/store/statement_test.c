#include "unit.h"

#include <ctype.h>

#include "store/statement.h"

static void prefixes_become_ranges(void **state)
{
    (void)state;
    struct id_range range;
    id_range_of(SLICE("telegram:"), &range);
    assert_slice(range.from, "telegram:");
    assert_slice(range.to, "telegram;");
    id_range_of((struct slice){0}, &range);
    assert_absent(range.from);
    assert_absent(range.to);
    id_range_of(SLICE("z"), &range);
    assert_slice(range.to, "{");
}

static void impossible_prefixes_match_nothing(void **state)
{
    (void)state;
    struct id_range range;
    char longer[200];
    memset(longer, 'a', sizeof longer);
    const struct slice prefixes[] = {SLICE("a b"), SLICE("\x7f"), SLICE("\xff"), slice_from(longer, sizeof longer)};
    for (size_t i = 0; i < COUNT_OF(prefixes); i++) {
        id_range_of(prefixes[i], &range);
        assert_true(slice_present(range.from));
        assert_slice(range.to, "");
    }
}

/* A brace that begins a JSON text is none. */
static bool names_fragment(const char *text)
{
    const char *brace = strchr(text, '{');
    while (brace && !islower((unsigned char)brace[1])) {
        brace = strchr(brace + 1, '{');
    }
    return brace != NULL;
}

static void every_statement_has_a_text(void **state)
{
    (void)state;
    for (int i = 0; i < SQL_COUNT; i++) {
        const struct sql_text *text = &sql_texts[i];
        assert_row(text->name, text->sqlite || text->postgres);
        assert_row(text->name, !text->sqlite || !strchr(text->sqlite, '$'));
        assert_row(text->name, !text->sqlite || !names_fragment(text->sqlite));
        assert_row(text->name, !text->postgres || !strchr(text->postgres, '?'));
    }
}

static void migrations_are_numbered(void **state)
{
    (void)state;
    int count = 0;
    for (; sql_migrations_sqlite[count].number; count++) {
        assert_int_equal(sql_migrations_sqlite[count].number, count + 1);
        assert_int_equal(sql_migrations_postgres[count].number, count + 1);
    }
    assert_int_equal(sql_migrations_postgres[count].number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_become_ranges), cmocka_unit_test(impossible_prefixes_match_nothing),
        cmocka_unit_test(every_statement_has_a_text), cmocka_unit_test(migrations_are_numbered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
