/* Words and quotes; everything only a shell understands is refused. */
#include "unit.h"

#include <stdio.h>

#include "runner/tool/command_line.h"

static void splits(void **state)
{
    (void)state;
    static const struct row {
        const char *line, *words; /* joined with | */
    } rows[] = {
        {"make test", "make|test"},
        {"  a   b\tc ", "a|b|c"},
        {"echo 'a b' \"c d\"", "echo|a b|c d"},
        {"echo 'a;b|c$d*' x", "echo|a;b|c$d*|x"},
        {"echo a'b'c\"d\"", "echo|abcd"},
        {"echo \"a\\\"b\\n\"", "echo|a\"b\\n"},
        {"echo a\\ b", "echo|a b"},
        {"echo ''", "echo|"},
        {"grep -E \"a|b\" x.c", "grep|-E|a|b|x.c"},
        {"git log HEAD\\~1", "git|log|HEAD~1"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        const char *const *words;
        char joined[200] = "";
        enum status status = command_line_split(&arena, slice_from(rows[i].line, strlen(rows[i].line)), &words, NULL);
        assert_row(rows[i].line, status == STATUS_OK);
        for (size_t w = 0; words[w]; w++) {
            size_t at = strlen(joined);
            snprintf(joined + at, sizeof joined - at, "%s%s", w ? "|" : "", words[w]);
        }
        assert_row(rows[i].line, strcmp(joined, rows[i].words) == 0);
        arena_release(&arena);
    }
}

static void refuses(void **state)
{
    (void)state;
    static const char *const lines[] = {"git log --format=%h -n 3 HEAD~1",
                                        "a | b",
                                        "a && b",
                                        "a; b",
                                        "a > b",
                                        "a < b",
                                        "a $HOME",
                                        "a \"$HOME\"",
                                        "a `id`",
                                        "a \"`id`\"",
                                        "a $(id)",
                                        "a *.c",
                                        "a {b,c}",
                                        "a\nb",
                                        "a 'b",
                                        "a \"b",
                                        "a \\",
                                        "",
                                        "   ",
                                        "'' a"};
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        struct arena arena = {0};
        const char *const *words;
        assert_row(lines[i],
                   command_line_split(&arena, slice_from(lines[i], strlen(lines[i])), &words, NULL) == STATUS_INVALID);
        arena_release(&arena);
    }
}

static void allowed(void **state)
{
    (void)state;
    const struct slice list[] = {SLICE("make test"), SLICE("git log *"), SLICE("ls")};
    static const struct row {
        const char *line;
        bool is_allowed;
    } rows[] = {{"make test", true}, {"make tests", false}, {"make", false},    {"MAKE TEST", false},
                {"ls", true},        {"ls -l", false},      {"git log", false}, {"git log -3", true},
                {"", false},         {"xgit log a", false}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].line, command_line_is_allowed(slice_from(rows[i].line, strlen(rows[i].line)), list, 3) ==
                                     rows[i].is_allowed);
        assert_row(rows[i].line, !command_line_is_allowed(slice_from(rows[i].line, strlen(rows[i].line)), NULL, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(splits), cmocka_unit_test(refuses), cmocka_unit_test(allowed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
