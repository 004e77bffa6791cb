#include "domain/agent_fields.h"
#include "domain/command.h"
#include "domain_unit.h"
#include "permission_unit.h"

#include <stdlib.h>
#include <time.h>

static void globs(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } rows[] = {
        {"", "", true},           {"", "a", false},        {"*", "", true},
        {"*", "anything", true},  {"a*", "a", true},       {"a*", "ba", false},
        {"*a", "bba", true},      {"*a", "ab", false},     {"a*c*e", "abcde", true},
        {"a*c*e", "abde", false}, {"**", "x", true},       {"a*b", "aXbXb", true},
        {"*.c", "x.c.h", false},  {"git *", "git", false}, {"git *", "git log", true},
        {"a?", "ab", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].pattern,
                   agent_glob_matches(slice_of(rows[i].pattern), slice_of(rows[i].text)) == rows[i].matches);
    }
}

/* The plain meaning of a pattern, for comparison. */
static bool glob_slow(const char *pattern, const char *text)
{
    if (*pattern == '*') {
        return glob_slow(pattern + 1, text) || (*text && glob_slow(pattern, text + 1));
    }
    return *pattern ? *pattern == *text && glob_slow(pattern + 1, text + 1) : !*text;
}

static void globs_mean_what_they_say(void **state)
{
    (void)state;
    static const char letters[] = "aab*";
    srand(7);
    for (int i = 0; i < 200000; i++) {
        char pattern[9] = "", text[11] = "";
        for (int k = rand() % 9 - 1; k >= 0; k--) {
            pattern[k] = letters[rand() % 4];
        }
        for (int k = rand() % 11 - 1; k >= 0; k--) {
            text[k] = letters[rand() % 3];
        }
        assert_true(agent_glob_matches(slice_of(pattern), slice_of(text)) == glob_slow(pattern, text));
        assert_true(agent_glob_matches_nocase(slice_of(pattern), slice_of(text)) == glob_slow(pattern, text));
    }
}

/* The longest pattern of a rule against a large argument: agents choose what rules are compared with. */
static void globs_are_linear(void **state)
{
    (void)state;
    enum { PATTERN = 2000, TEXT = 4000000 };
    char *pattern = malloc(PATTERN), *text = malloc(TEXT);
    memset(pattern, 'a', PATTERN);
    memset(text, 'a', TEXT);
    pattern[0] = '*';
    clock_t began = clock();
    for (int i = 0; i < 3; i++) {
        pattern[PATTERN - 1] = "b*a"[i];
        pattern[PATTERN / 2] = "ab*"[i];
        agent_glob_matches(slice_from(pattern, PATTERN), slice_from(text, TEXT));
        agent_glob_matches_nocase(slice_from(pattern, PATTERN), slice_from(text, TEXT));
    }
    assert_true(clock() - began < 2 * CLOCKS_PER_SEC);
    free(pattern);
    free(text);
}

static const struct permission_rule rules[] = {
    {.tool = {"run_command", 11}, .then = PERMISSION_ALLOW},
    {.tool = {"run_command", 11}, .argument = {"rm *", 4}, .then = PERMISSION_DENY},
    {.tool = {"git_*", 5}, .then = PERMISSION_ASK},
    {.path = {"*/secret/*", 10}, .then = PERMISSION_DENY},
    {.tool = {"write_file", 10}, .path = {"/w/*", 4}, .then = PERMISSION_ALLOW},
    {.argument = {"{\"force\":true}", 14}, .then = PERMISSION_ASK},
};
static const struct agent agent = {.permissions = rules, .permission_count = COUNT_OF(rules)};

static enum permission asked(const char *tool, const char *arguments, const char *path)
{
    return permission_at(&agent, slice_of(tool), slice_of(arguments), slice_of(path), PERMISSION_ASK);
}

static void the_strictest_rule_decides(void **state)
{
    (void)state;
    assert_int_equal(asked("run_command", "{\"command\":\"ls\"}", NULL), PERMISSION_ALLOW);
    assert_int_equal(asked("run_command", "{\"command\":\"rm -r x\"}", NULL), PERMISSION_DENY);
    assert_int_equal(asked("run_command", "{\"steps\":[{\"do\":\"ls\"},{\"do\":\"r\\u006d x\"}]}", NULL),
                     PERMISSION_DENY);
    assert_int_equal(asked("git_commit", "{}", NULL), PERMISSION_ASK);
    assert_int_equal(asked("write_file", "{}", "/w/a"), PERMISSION_ALLOW);
    assert_int_equal(asked("write_file", "{}", "/w/secret/a"), PERMISSION_DENY);
}

/* However the JSON of a call is written, a rule about it holds. */
static void white_space_and_escapes_lead_past_no_rule(void **state)
{
    static const char *const written[] = {"{\"force\":true}", "{ \"force\" : true }", "{\"force\":\n\ttrue\n}",
                                          "{\"f\\u006frce\":true}"};
    struct slice none = {0};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(written); i++) {
        assert_row(written[i], permission_at(&agent, SLICE("other"), slice_of(written[i]), none, PERMISSION_ALLOW) ==
                                   PERMISSION_ASK);
    }
    assert_int_equal(permission_at(&agent, SLICE("other"), SLICE("{\"force\":false}"), none, PERMISSION_ALLOW),
                     PERMISSION_ALLOW);
}

static void without_a_rule_the_tool_decides(void **state)
{
    struct slice none = {0};
    (void)state;
    for (int fallback = 0; fallback < PERMISSION_COUNT; fallback++) {
        assert_int_equal(
            permission_at(&agent, SLICE("write_file"), SLICE("{}"), SLICE("/x"), (enum permission)fallback), fallback);
        assert_int_equal(permission_at(&agent, SLICE("read_file"), SLICE("{}"), none, (enum permission)fallback),
                         fallback);
    }
}

static void arguments_that_are_no_json_are_matched_as_text(void **state)
{
    (void)state;
    assert_int_equal(asked("run_command", "rm -r x", NULL), PERMISSION_DENY);
}

/* --- commands --- */

static enum permission command_asked(const struct permission_rule *given, size_t count, const char *line,
                                     enum permission fallback)
{
    struct agent ruled = {.permissions = given, .permission_count = count};
    struct buffer json = {0};
    struct json_out out = json_out_to(&json);
    json_begin_object(&out);
    json_put_text(&out, "command", slice_of(line));
    json_put_text(&out, "description", SLICE("git status"));
    json_end_object(&out);
    enum permission permission = permission_at(&ruled, SLICE("bash"), buffer_slice(&json), (struct slice){0}, fallback);
    buffer_release(&json);
    return permission;
}

/* All that is run is allowed, but for one command. */
static void no_spelling_leads_past_a_rule(void **state)
{
    static const struct permission_rule given[] = {
        {.tool = SLICE("bash"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("bash"), .argument = SLICE("git push*"), .then = PERMISSION_DENY},
    };
    static const char *const denied[] = {
        "git push",
        "git  push origin",
        "git -c x=y push",
        "git -C dir push",
        "git --no-pager -C dir -c a=b push origin",
        "git --git-dir=x push",
        "env git push",
        "env -i -u HOME A=1 git push",
        "/usr/bin/env git push",
        "/usr/bin/git push",
        "./git push",
        "FOO=1 BAR='a b' git push",
        "command git push",
        "command -p git push",
        "exec git push",
        "builtin command git push",
        "nohup git push &",
        "nice -n 10 git push",
        "timeout -s KILL 5 git push",
        "timeout 5s git push",
        "sudo -u bob git push",
        "sh -c 'git push'",
        "bash -lc \"git push\"",
        "bash -e -c 'cd x && git push'",
        "sh -c \"sh -c 'git push'\"",
        "eval git push",
        "eval 'git push'",
        "g\"i\"t pu'sh'",
        "\\git push",
        "gi\\\nt push",
        "git status; git push",
        "git status && git push",
        "git status || git push",
        "git status\ngit push",
        "true & git push",
        "(git push)",
        "{ git push; }",
        "if true; then git push; fi",
        "for i in 1 2; do git push; done",
        "! git push",
        "time git push",
        "git push>/dev/null 2>&1",
        ">x git push",
        "2>/dev/null git push",
        "echo $(git push)",
        "echo `git push`",
        "diff <(git push) x",
        "find . -name x -exec git push {} \\;",
        "xargs git push",
        "ls | xargs -n 1 git push",
        "busybox env git push",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(denied); i++) {
        assert_row(denied[i], command_asked(given, COUNT_OF(given), denied[i], PERMISSION_ALLOW) == PERMISSION_DENY);
    }
}

/* What may be the command that a rule speaks of is asked about. */
static void what_can_not_be_read_is_asked_about(void **state)
{
    static const struct permission_rule given[] = {
        {.tool = SLICE("bash"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("bash"), .argument = SLICE("git push*"), .then = PERMISSION_DENY},
    };
    static const char *const asked_about[] = {
        "git $WHAT",
        "$GIT push",
        "git \"$(cat what)\"",
        "git pu?h",
        "gi* push",
        "{git,push}",
        "echo git push | sh",
        "bash < x",
        "bash -s",
        "cat <<X\ngit push\nX",
        "git -c alias.p=push p",
        "git --config-env=alias.p=P p",
        "alias g=git",
        "python3 -c 'import os'",
        "perl -e 'exec q(git), q(push)'",
        "echo push | xargs git",
        "git 'push",
        "ls -l *.c src/*.h",
    };
    static const char *const allowed[] = {
        "git status",      "git log --grep 'git push'", "git commit -m 'do not git push'",
        "ls -l src",       "make 2>&1 | tail -n 5",     "cd src && make test > log",
        "bash build.sh",   "python3 test.py",           "echo 'costs $5'",
        "grep -rn push .",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked_about); i++) {
        enum permission permission = command_asked(given, COUNT_OF(given), asked_about[i], PERMISSION_ALLOW);
        assert_row(asked_about[i], permission != PERMISSION_ALLOW);
        assert_row(asked_about[i], command_asked(given, 1, asked_about[i], PERMISSION_ASK) == PERMISSION_ALLOW);
    }
    for (size_t i = 0; i < COUNT_OF(allowed); i++) {
        assert_row(allowed[i], command_asked(given, COUNT_OF(given), allowed[i], PERMISSION_ASK) == PERMISSION_ALLOW);
    }
}

/* A pattern that allows speaks of every command of the line, as it stands there. */
static void what_is_allowed_takes_nothing_along(void **state)
{
    static const struct permission_rule given[] = {
        {.tool = SLICE("bash"), .argument = SLICE("git *"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("bash"), .argument = SLICE("tail*"), .then = PERMISSION_ALLOW},
        {.tool = SLICE("bash"), .argument = SLICE("make && make $X"), .then = PERMISSION_ALLOW},
    };
    static const struct {
        const char *line;
        enum permission permission;
    } rows[] = {
        {"git log", PERMISSION_ALLOW},
        {"\"git\"  log", PERMISSION_ALLOW},
        {"git log | tail -n 5", PERMISSION_ALLOW},
        {"make && make $X", PERMISSION_ALLOW},
        {"rm -r x", PERMISSION_ASK}, /* whatever its description says */
        {"git log; rm -r x", PERMISSION_ASK},
        {"git log && rm -r x", PERMISSION_ASK},
        {"git log $(rm -r x)", PERMISSION_ASK},
        {"git log \"$(rm -r x)\"", PERMISSION_ASK},
        {"git log\nrm -r x", PERMISSION_ASK},
        {"sh -c 'git log'", PERMISSION_ASK},
        {"PAGER=x git log", PERMISSION_ASK},
        {"git log > .git/config", PERMISSION_ASK}, /* writes what no rule speaks of */
        {"git log >/dev/null 2>&1", PERMISSION_ALLOW},
        {"git x", PERMISSION_ASK}, /* an alias? */
        {"git grep -Ox y", PERMISSION_ASK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].line,
                   command_asked(given, COUNT_OF(given), rows[i].line, PERMISSION_ASK) == rows[i].permission);
    }
}

/* Words are not joined by blanks for rules that allow: a pattern means the words it shows. */
static void a_blank_in_a_word_is_no_end_of_it(void **state)
{
    static const struct permission_rule given[] = {
        {.argument = SLICE("rm a b"), .then = PERMISSION_ALLOW},
        {.argument = SLICE("make -C a *"), .then = PERMISSION_ALLOW},
        {.argument = SLICE("git commit *"), .then = PERMISSION_ALLOW},
        {.argument = SLICE("> out *"), .then = PERMISSION_ALLOW},
        {.argument = SLICE("cat src/*"), .then = PERMISSION_ALLOW},
    };
    static const struct {
        const char *line;
        enum permission permission;
    } rows[] = {
        {"rm a b", PERMISSION_ALLOW},
        {"rm 'a b'", PERMISSION_ASK},
        {"'rm a' b", PERMISSION_ASK},
        {"make -C a x", PERMISSION_ALLOW},
        {"make -C 'a x'", PERMISSION_ASK},
        {"git commit -m 'a b'", PERMISSION_ALLOW},
        {"git commit -m ''", PERMISSION_ALLOW},
        {"git 'commit -m' x", PERMISSION_ASK},
        {"git commit > 'out x'", PERMISSION_ASK},
        {"cat src/a", PERMISSION_ALLOW},
        {"cat src/../key", PERMISSION_ASK},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_row(rows[i].line,
                   command_asked(given, COUNT_OF(given), rows[i].line, PERMISSION_ASK) == rows[i].permission);
    }
}

static void a_list_of_words_is_a_command(void **state)
{
    static const struct permission_rule given[] = {{.argument = SLICE("git push*"), .then = PERMISSION_DENY}};
    static const struct agent ruled = {.permissions = given, .permission_count = 1};
    struct slice none = {0};
    (void)state;
    assert_int_equal(permission_at(&ruled, SLICE("shell"), SLICE("{\"command\":[\"bash\",\"-lc\",\"git  push\"]}"),
                                   none, PERMISSION_ALLOW),
                     PERMISSION_DENY);
    assert_int_equal(
        permission_at(&ruled, SLICE("shell"), SLICE("{\"cmd\":[\"echo\",\"git push\"]}"), none, PERMISSION_ALLOW),
        PERMISSION_DENY); /* a text of the call is a text of the call */
    assert_int_equal(permission_at(&ruled, SLICE("shell"), SLICE("{\"cmd\":[\"git\",\"-C\",\"x\",\"push\"]}"), none,
                                   PERMISSION_ALLOW),
                     PERMISSION_DENY);
    assert_int_equal(permission_at(&ruled, SLICE("shell"), SLICE("{\"cmd\":[\"git\",7]}"), none, PERMISSION_ALLOW),
                     PERMISSION_ASK);
}

static void read_line(struct arena *arena, struct slice line, struct command_reading *out)
{
    struct json command = {.kind = JSON_STRING, .key = SLICE("command"), .text = line};
    struct json arguments = {.kind = JSON_OBJECT, .child = &command};
    assert_true(command_read_call(arena, &arguments, out));
}

/* Whatever it is: it ends, and what is too much is not certain. */
static void anything_can_be_read(void **state)
{
    static const char letters[] = "git push env sh -c'\"\\;|&()<>$`{}*\n A=1 ";
    struct buffer line = {0};
    struct arena arena = {0};
    struct command_reading reading;
    (void)state;
    srand(3);
    for (int round = 0; round < 3000; round++) {
        line.len = 0;
        for (int i = rand() % 60; i > 0; i--) {
            buffer_add_byte(&line, letters[(size_t)rand() % (sizeof letters - 1)]);
        }
        read_line(&arena, buffer_slice(&line), &reading);
        assert_true(reading.count <= COMMAND_FORMS_MAX);
        arena_reset(&arena);
    }
    line.len = 0;
    for (int i = 0; i < 2000; i++) {
        buffer_add(&line, SLICE("env -x "));
    }
    read_line(&arena, buffer_slice(&line), &reading);
    assert_false(reading.is_certain);
    buffer_release(&line);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globs),
        cmocka_unit_test(globs_mean_what_they_say),
        cmocka_unit_test(globs_are_linear),
        cmocka_unit_test(no_spelling_leads_past_a_rule),
        cmocka_unit_test(what_can_not_be_read_is_asked_about),
        cmocka_unit_test(what_is_allowed_takes_nothing_along),
        cmocka_unit_test(a_blank_in_a_word_is_no_end_of_it),
        cmocka_unit_test(a_list_of_words_is_a_command),
        cmocka_unit_test(anything_can_be_read),
        cmocka_unit_test(the_strictest_rule_decides),
        cmocka_unit_test(white_space_and_escapes_lead_past_no_rule),
        cmocka_unit_test(without_a_rule_the_tool_decides),
        cmocka_unit_test(arguments_that_are_no_json_are_matched_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
