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

/* Which statements have to write a field. */
enum group {
    ACTIVITY = 1, /* session_activity: rewritten by every event */
    LISTED = 2,   /* listed_at_ms */
    MACHINE = 4,  /* changes with the state */
    OTHER = 8,
    SESSIONS = LISTED | MACHINE | OTHER,
};

static enum group group_of(const struct session_field *field)
{
    if (field->offset == offsetof(struct session, listed_at_ms)) {
        return LISTED;
    }
    if (field->hot) {
        return ACTIVITY;
    }
    return field->changed == CHANGED_MACHINE ? MACHINE : OTHER;
}

static unsigned how_many(unsigned groups)
{
    unsigned count = 0;
    for (size_t i = 0; i < session_fields_count; i++) {
        count += (groups & group_of(&session_fields[i])) != 0;
    }
    return count;
}

static void check_columns(const char *sql, const char *from, const char *to)
{
    const char *at = strstr(sql, from) + strlen(from), *end = strstr(at, to);
    char name[64];
    assert_non_null(end);
    for (size_t i = 0; i < session_fields_count; i++) {
        do {
            assert_true(next_name(&at, end, name, sizeof name));
        } while (strcmp(name, "s") == 0 || strcmp(name, "a") == 0);
        assert_string_equal(name, session_fields[i].name);
    }
}

/* Rows are read by position. */
static void columns_follow_the_table(void **state)
{
    (void)state;
    static const enum sql selects[] = {SQL_SESSION_BY_ID, SQL_SESSION_BY_KEY, SQL_SESSION_BY_KEYS,
                                       SQL_SESSION_ACTIVE_HUMAN, SQL_VERIFY_SESSIONS};
    for (size_t i = 0; i < COUNT_OF(selects); i++) {
        check_columns(sql_texts[selects[i]].sqlite, "SELECT s.key,", "FROM");
        check_columns(sql_texts[selects[i]].postgres, "SELECT s.key,", "FROM");
    }
}

/* Values are bound by the row of their field: tools/sql_to_c.py has counted the rows, not the compiler. */
static void fields_are_what_parameters_name(void **state)
{
    (void)state;
    unsigned saved = 0;
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        for (int i = 0; i < sql_texts[sql].parameter_count; i++) {
            const struct sql_parameter *parameter = &sql_texts[sql].parameters[i];
            if (parameter->kind == SQL_SESSION && parameter->field >= 0) {
                assert_string_equal(parameter->name, session_fields[parameter->field].name);
                saved += sql == SQL_SESSION_SAVE;
            }
        }
    }
    assert_int_equal(saved, how_many(SESSIONS));
}

static bool names_field(enum sql sql, const char *name)
{
    for (int i = 0; i < sql_texts[sql].parameter_count; i++) {
        const struct sql_parameter *parameter = &sql_texts[sql].parameters[i];
        if (parameter->kind == SQL_SESSION && strcmp(parameter->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* No statement leaves a field out that its change may have touched. */
static void statements_write_their_group(void **state)
{
    (void)state;
    static const struct {
        enum sql sql;
        unsigned groups;
    } rows[] = {
        {SQL_SESSION_INSERT, SESSIONS},          {SQL_SESSION_SAVE, SESSIONS},  {SQL_SESSION_MOVE, MACHINE},
        {SQL_SESSION_ACTIVITY_INSERT, ACTIVITY}, {SQL_SESSION_TOUCH, ACTIVITY}, {SQL_SESSION_TOUCH_TAIL, ACTIVITY},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        for (size_t i = 0; i < session_fields_count; i++) {
            if (rows[r].groups & group_of(&session_fields[i])) {
                assert_row(session_fields[i].name, names_field(rows[r].sql, session_fields[i].name));
            }
        }
    }
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_follow_the_table), cmocka_unit_test(fields_are_what_parameters_name),
        cmocka_unit_test(statements_write_their_group), cmocka_unit_test(no_index_is_on_activity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
