#include "unit.h"

#include "../route_row.h"
#include "cli/session_options.h"

static void check_words(const char *name, struct enum_names ours, struct enum_names theirs)
{
    assert_row(name, ours.count == theirs.count);
    for (int i = 0; i < ours.count; i++) {
        assert_row(name, strcmp(ours.names[i], theirs.names[i]) == 0);
    }
}

/* The server knows every option by the same name, and takes the same words. */
static void check_table(const struct option *table, const struct field *fields)
{
    for (const struct option *option = table; option->name; option++) {
        char key[96];
        option_file_key(option, key, sizeof key);
        if (option->type == OPTION_SECTION) {
            continue;
        }
        const struct field *field = fields;
        while (field->name && strcmp(field->name, key) != 0 && strncmp(field->name, "metadata.", 9) != 0) {
            field++;
        }
        assert_row(option->name, field->name || strcmp(key, "metadata") == 0);
        if (option->type == OPTION_CHOICE) {
            assert_row(option->name, field->name && field->words);
            check_words(option->name, *option->choices, *field->words);
        }
    }
}

static void test_the_server_knows_the_options(void **state)
{
    (void)state;
    check_table(session_filter_table, route_row(HTTP_GET, "/api/sessions")->query);
    check_table(session_create_table, route_row(HTTP_POST, "/api/sessions")->body);
    check_table(session_update_table, route_row(HTTP_PATCH, "/api/sessions/{id}")->body);
    check_table(session_view_table, route_row(HTTP_GET, "/api/sessions/{id}")->query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_server_knows_the_options)};
    return cmocka_run_group_tests(tests, prepare_routes, release_routes);
}
