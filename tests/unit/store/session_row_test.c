#include "unit.h"

#include <ctype.h>
#include <string.h>

#include "store/session/session_row.h"

/* The names in `text` from `from` up to `to`, one per call; what else stands there is skipped. */
static bool next_name(const char **at, const char *end, char *out, size_t room)
{
    size_t len = 0;
    while (*at < end && !(islower((unsigned char)**at) || **at == '_')) {
        ++*at;
    }
    while (*at < end && (islower((unsigned char)**at) || **at == '_') && len + 1 < room) {
        out[len++] = *(*at)++;
    }
    out[len] = 0;
    return len > 0;
}

static void check_columns(const char *sql, const char *from, const char *to, unsigned groups)
{
    const char *at = strstr(sql, from) + strlen(from), *end = strstr(at, to);
    char name[64];
    assert_non_null(end);
    for (size_t i = 0; i < session_fields_count; i++) {
        if (!(groups & 1u << column_group_of(&session_fields[i]))) {
            continue;
        }
        do {
            assert_true(next_name(&at, end, name, sizeof name));
        } while (strcmp(name, "s") == 0 || strcmp(name, "a") == 0);
        assert_string_equal(name, session_fields[i].name);
    }
}

enum {
    ACTIVITY = 1u << COLUMN_ACTIVITY,
    MACHINE = 1u << COLUMN_MACHINE,
    SESSIONS = 1u << COLUMN_LISTED | MACHINE | 1u << COLUMN_OTHER,
};

static void statements_follow_the_table(void **state)
{
    (void)state;
    static const enum sql selects[] = {SQL_SESSION_BY_ID, SQL_SESSION_BY_KEY, SQL_SESSION_BY_KEYS,
                                       SQL_SESSION_ACTIVE_HUMAN, SQL_VERIFY_SESSIONS};
    for (size_t i = 0; i < COUNT_OF(selects); i++) {
        check_columns(sql_texts[selects[i]].sqlite, "SELECT s.key,", "FROM", ACTIVITY | SESSIONS);
        check_columns(sql_texts[selects[i]].postgres, "SELECT s.key,", "FROM", ACTIVITY | SESSIONS);
    }
    check_columns(sql_texts[SQL_SESSION_INSERT].sqlite, "(", ")", SESSIONS);
    check_columns(sql_texts[SQL_SESSION_SAVE].sqlite, "SET", "WHERE", SESSIONS);
    check_columns(sql_texts[SQL_SESSION_MOVE].sqlite, "SET", "WHERE", MACHINE);
    check_columns(sql_texts[SQL_SESSION_ACTIVITY_INSERT].sqlite, "tenant_key,", ")", ACTIVITY);
    check_columns(sql_texts[SQL_SESSION_TOUCH].sqlite, "SET", "WHERE", ACTIVITY);
    check_columns(sql_texts[SQL_SESSION_TOUCH_TAIL].sqlite, "SET", "WHERE", ACTIVITY);
    check_columns(sql_texts[SQL_SESSION_TOUCH].postgres, "AS n (", ")", ACTIVITY);
}

/* What an ordinary event changes must touch no index. */
static void no_index_is_on_activity(void **state)
{
    (void)state;
    for (const struct sql_migration *m = sql_migrations_sqlite; m->number; m++) {
        assert_null(strstr(m->text, "INDEX session_activity"));
    }
    for (const struct sql_migration *m = sql_migrations_sqlite; m->number; m++) {
        assert_null(strstr(m->text, "ON session_activity"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statements_follow_the_table),
                                       cmocka_unit_test(no_index_is_on_activity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
