#include "unit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "domain/agent.h"
#include "domain/ask.h"
#include "domain/session.h"
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

static bool is_index(const char *line, const char *name)
{
    char from[100];
    snprintf(from, sizeof from, "CREATE INDEX %s ON ", name);
    return strncmp(line, from, strlen(from)) == 0;
}

/* The line that made the index as it is now. */
static const char *newest_index(const struct sql_migration *migration, const char *name)
{
    const char *found = NULL;
    for (; migration->number; migration++) {
        for (const char *line = migration->text; line; line = strchr(line, '\n')) {
            line += *line == '\n';
            found = is_index(line, name) ? line : found;
        }
    }
    return found;
}

static void check_index(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void check_index(const char *name, const char *format, ...)
{
    const struct sql_migration *const engines[] = {sql_migrations_sqlite, sql_migrations_postgres};
    char where[160];
    va_list args;
    va_start(args, format);
    vsnprintf(where, sizeof where, format, args);
    va_end(args);
    for (size_t i = 0; i < COUNT_OF(engines); i++) {
        const char *line = newest_index(engines[i], name);
        const char *found = line ? strstr(line, where) : NULL;
        assert_row(where, found && found < strchr(line, ';'));
    }
}

/* Migrations are history: their numbers stand for good, and so must those of the domain. */
static void indexes_are_about_states_of_the_domain(void **state)
{
    (void)state;
    check_index("sessions_organisation", "WHERE visibility > %d", VISIBILITY_PRIVATE);
    check_index("sessions_queue", "WHERE work = %d AND driver = %d", SESSION_PENDING, DRIVER_WORKER);
    check_index("sessions_queue_of_agent", "WHERE work = %d", SESSION_PENDING);
    check_index("sessions_queue_hosted", "WHERE work = %d AND driver > %d", SESSION_PENDING, DRIVER_WORKER);
    check_index("sessions_in_turn", "WHERE work + 0 >= %d AND work + 0 <= %d", SESSION_RUNNING, SESSION_AWAITING_TOOL);
    check_index("sessions_before_turn", "WHERE work = %d AND driver > %d", SESSION_PENDING, DRIVER_WORKER);
    check_index("sessions_with_sandbox", "WHERE runtime + 0 > %d AND runtime + 0 <> %d AND runtime + 0 <> %d",
                RUNTIME_NONE, RUNTIME_HIBERNATED, RUNTIME_STOPPED);
    check_index("sessions_private", "WHERE purpose IN (%d, %d)", PURPOSE_ORCHESTRATOR, PURPOSE_WORKFLOW);
    check_index("asks_pending", "WHERE state = %d", ASK_PENDING);
}

/* Where a statement lists states, the domain has a predicate. */
static void lists_of_states_are_those_of_the_domain(void **state)
{
    (void)state;
    char pauses[100] = "pause_reason IN (";
    for (int reason = 0; reason < PAUSE_COUNT; reason++) {
        if (!pause_blocks_turns((enum pause_reason)reason)) {
            size_t len = strlen(pauses);
            snprintf(pauses + len, sizeof pauses - len, "%s%d", reason ? ", " : "", reason);
        }
    }
    strcat(pauses, ")");
    assert_row(pauses, strstr(sql_texts[SQL_CLAIM_CANDIDATES].sqlite, pauses));
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        const char *name = session_status_enum.names[work];
        assert_row(name, session_status_is_ended((enum session_status)work) == (work >= SESSION_COMPLETED));
        assert_row(name, session_status_is_leased((enum session_status)work) ==
                             (work >= SESSION_RUNNING && work <= SESSION_AWAITING_TOOL));
    }
}

/* Parameters of one statement are numbered alike on both engines, and every one of them is used. */
static void parameters_are_numbered(void **state)
{
    (void)state;
    char sign[16];
    for (int sql = 0; sql < SQL_COUNT; sql++) {
        const struct sql_text *text = &sql_texts[sql];
        for (int i = 1; i <= text->parameter_count + 1; i++) {
            bool wanted = i <= text->parameter_count;
            snprintf(sign, sizeof sign, "?%d", i);
            assert_row(text->name, !text->sqlite || !!strstr(text->sqlite, sign) == wanted);
            sign[0] = '$';
            assert_row(text->name, !text->postgres || !!strstr(text->postgres, sign) == wanted);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(prefixes_become_ranges),
                                       cmocka_unit_test(impossible_prefixes_match_nothing),
                                       cmocka_unit_test(every_statement_has_a_text),
                                       cmocka_unit_test(migrations_are_numbered),
                                       cmocka_unit_test(indexes_are_about_states_of_the_domain),
                                       cmocka_unit_test(lists_of_states_are_those_of_the_domain),
                                       cmocka_unit_test(parameters_are_numbered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
