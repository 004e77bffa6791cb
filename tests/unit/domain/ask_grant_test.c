/* What can be allowed for longer: offered, said, remembered and matched alike. */
#include "domain/ask_grant.h"
#include "domain/call_subject.h"
#include "domain_unit.h"

#define PLACE "\"directory\":\"/workspace\",\"inside\":\"/workspace\",\"outside\":\"/srv/t\""

static const struct session session = {.tenant_key = 1, .key = 5, .agent = SLICE("coder"), .owner = SLICE("u1")};

static struct ask approval(const char *tool, const char *arguments, const char *fields)
{
    return (struct ask){.id = SLICE("1"),
                        .kind = ASK_APPROVAL,
                        .tool = slice_of(tool),
                        .arguments = slice_of(arguments),
                        .fields = slice_of(fields),
                        .text = SLICE("May it?"),
                        .quorum = 1};
}

static bool matches(const struct ask_grant *grant, const struct ask *ask)
{
    struct ask_rule rule = {.tenant_key = 1,
                            .session_key = 5,
                            .agent = SLICE("coder"),
                            .tool = slice_present(grant->subject.tool) ? grant->subject.tool : SLICE(""),
                            .arguments = grant->subject.arguments,
                            .subject = grant->subject};
    return ask_rule_matches(&test_arena, &rule, &session, ask);
}

/* The texts of the grants for the session, in order. */
static void check_offers(const struct ask *ask, const char *const *texts, size_t count)
{
    struct ask_grant grants[ASK_GRANTS_MAX];
    size_t found = ask_grants(&test_arena, ask, grants), sessions = 0;
    assert_true(found > 0 && slice_is(grants[0].id, "once") && grants[0].scope == DECISION_ONCE);
    for (size_t i = 1; i < found; i++) {
        static const char head[] = "Until this session ends or hibernates, without asking again: ";
        if (grants[i].scope != DECISION_SESSION) {
            continue;
        }
        assert_true(slice_starts(grants[i].text, slice_of(head)));
        struct slice text = slice_after(grants[i].text, strlen(head));
        assert_true(sessions < count);
        if (!slice_is(text, texts[sessions])) {
            print_error("offered: %.*s\nexpected: %s\n", SLICE_ARG(text), texts[sessions]);
            fail();
        }
        assert_true(matches(&grants[i], ask)); /* what is offered for a call allows that call */
        sessions++;
    }
    assert_int_equal(sessions, count);
}

static void offers_are_narrow_first(void **state)
{
    static const char *const push[] = {
        "calls of bash with exactly these arguments.", "bash runs exactly `git push origin main`.",
        "bash runs `git push` with any arguments.", "every call of bash, whatever its arguments."};
    static const char *const danger[] = {"calls of bash with exactly these arguments.",
                                         "bash runs exactly `rm -rf build`.",
                                         "every call of bash, whatever its arguments."};
    static const char *const in_place[] = {"calls of bash with exactly these arguments.",
                                           "bash runs exactly `make`, in /workspace/a.",
                                           "every call of bash, whatever its arguments."};
    static const char *const several[] = {"calls of bash with exactly these arguments.",
                                          "every call of bash, whatever its arguments."};
    static const char *const write[] = {"calls of write_file with exactly these arguments.",
                                        "write_file on /workspace/src/a.c, whatever it does there.",
                                        "write_file on anything below /workspace/src, whatever it does there.",
                                        "every call of write_file, whatever its arguments."};
    static const char *const fetch[] = {"calls of fetch with exactly these arguments.",
                                        "fetch to the host a.example, whatever it sends.",
                                        "every call of fetch, whatever its arguments."};
    static const char *const nameless[] = {
        "calls of any tool of this agent with exactly these arguments.",
        "any tool of this agent on /workspace/a, whatever it does there.",
    };
    struct ask asks[] = {
        approval("bash", "{\"command\":\"git push origin main\"}", NULL),
        approval("bash", "{\"command\":\"rm -rf build\"}", NULL),
        approval("bash", "{\"command\":\"make\",\"cwd\":\"a\"}", "{\"tool\":\"bash\"," PLACE "}"),
        approval("bash", "{\"command\":\"make; make $X\"}", NULL),
        approval("write_file", "{\"path\":\"src/a.c\",\"content\":\"x\"}", "{\"tool\":\"write_file\"," PLACE "}"),
        approval("fetch", "{\"url\":\"https://A.example/x\"}", NULL),
        approval("edit", "{\"filePath\":\"a\"}", "{" PLACE "}"),
        approval("bash", "{\"command\":\"git push \xE2\x80\xAEorigin\"}", NULL), /* turned round */
        approval("bash", "{\"command\":\"ls *.c\"}", NULL),
    };
    (void)state;
    check_offers(&asks[0], push, COUNT_OF(push));
    check_offers(&asks[1], danger, COUNT_OF(danger));
    check_offers(&asks[2], in_place, COUNT_OF(in_place));
    check_offers(&asks[3], several, COUNT_OF(several));
    check_offers(&asks[4], write, COUNT_OF(write));
    check_offers(&asks[5], fetch, COUNT_OF(fetch));
    check_offers(&asks[6], nameless, COUNT_OF(nameless));
    check_offers(&asks[8], several, COUNT_OF(several));
    struct ask_grant grants[ASK_GRANTS_MAX];
    for (size_t i = 0, count = ask_grants(&test_arena, &asks[7], grants); i < count; i++) {
        assert_null(memmem(grants[i].text.ptr, grants[i].text.len, "\xE2\x80", 2));
    }
}

static void without_a_seen_input_there_is_only_once(void **state)
{
    struct ask asks[] = {
        approval("t", NULL, NULL),
        approval("t", NULL, "{\"tool\":\"t\"," PLACE "}"),
        approval("t", "{\"a\":1}", "{\"is_cut\":true}"),
        approval("execute", "{\"cwd\":\"/w\"}", "{\"runs_command\":true}"),
        approval("t", "{\"a\":1}", "not json"),
        approval("t", "{\"a\":1}", NULL),
        approval(NULL, "{\"a\":1}", NULL),
    };
    (void)state;
    asks[5].quorum = 2;
    for (size_t i = 0; i < COUNT_OF(asks); i++) {
        static const enum ask_decision wider[] = {DECISION_SESSION, DECISION_ALWAYS};
        check_offers(&asks[i], NULL, 0);
        for (size_t k = 0; k < COUNT_OF(wider); k++) {
            struct ask_reply reply = {.decision = wider[k]};
            struct ask_grant grant;
            struct failure failure;
            assert_status(ask_choose_grant(&test_arena, &asks[i], &reply, &grant, &failure), STATUS_INVALID);
        }
    }
}

static void a_reply_names_its_grant(void **state)
{
    struct ask ask = approval("bash", "{\"command\":\"git push\"}", NULL);
    struct ask other = approval("bash", "{\"command\":\"git pull\"}", NULL);
    struct ask_grant grants[ASK_GRANTS_MAX], others[ASK_GRANTS_MAX], grant;
    struct failure failure;
    size_t count = ask_grants(&test_arena, &ask, grants);
    (void)state;
    ask_grants(&test_arena, &other, others);
    for (size_t i = 0; i < count; i++) {
        struct ask_reply reply = {.grant = grants[i].id};
        assert_status(ask_choose_grant(&test_arena, &ask, &reply, &grant, &failure), STATUS_OK);
        assert_int_equal(reply.decision, grants[i].scope);
        assert_true(slice_eq(grant.text, grants[i].text));
    }
    static const enum ask_decision wider[] = {DECISION_SESSION, DECISION_ALWAYS};
    for (size_t i = 0; i < COUNT_OF(wider); i++) {
        struct ask_reply reply = {.decision = wider[i]};
        assert_status(ask_choose_grant(&test_arena, &ask, &reply, &grant, &failure), STATUS_OK);
        assert_true(slice_is(grant.subject.arguments, "{\"command\":\"git push\"}"));
    }
    struct ask_reply wrong[] = {{.grant = SLICE("session")},
                                {.grant = others[2].id},
                                {.grant = grants[1].id, .decision = DECISION_ALWAYS},
                                {.grant = grants[1].id, .decision = DECISION_DENY},
                                {.grant = SLICE("once"), .decision = DECISION_SESSION}};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        assert_status(ask_choose_grant(&test_arena, &ask, &wrong[i], &grant, &failure), STATUS_INVALID);
    }
    struct ask_reply edited = {.decision = DECISION_SESSION, .answer = json_of("{\"command\":\"ls\"}")};
    assert_status(ask_check_edit_of_grant(&edited, &grants[1], &failure), STATUS_OK);
    assert_status(ask_check_edit_of_grant(&edited, &grants[2], &failure), STATUS_INVALID);
    assert_status(ask_check_edit_of_grant(&edited, &grants[0], &failure), STATUS_OK);
}

/* What was given for one call, and the calls it must not let through. */
static const struct {
    struct ask_subject subject;
    const char *tool, *arguments, *fields;
    bool matches;
} given[] = {
    {{.tool = SLICE("bash"), .command = SLICE("git push *")}, "bash", "{\"command\":\"git push\"}", NULL, true},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")}, "bash", "{\"command\":\"git push -f\"}", NULL, true},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")}, "bash", "{\"command\":\"git push; rm x\"}", NULL, false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")},
     "bash",
     "{\"command\":\"git push $(rm x)\"}",
     NULL,
     false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")}, "bash", "{\"command\":\"git pushx\"}", NULL, false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")},
     "bash",
     "{\"command\":\"rm x\",\"description\":\"git push\"}",
     NULL,
     false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")},
     "bash",
     "{\"command\":\"git push\",\"cwd\":\"/etc\"}",
     NULL,
     false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")}, "other", "{\"command\":\"git push\"}", NULL, false},
    {{.tool = SLICE("bash"), .command = SLICE("git push *")},
     "bash",
     "{\"command\":\"git push\"}",
     "{" PLACE "}",
     false},
    {{.command = SLICE("git push *")}, "word", "{\"command\":\"git push\"}", "{" PLACE "}", true},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")}, "w", "{\"path\":\"a\"}", "{\"tool\":\"w\"," PLACE "}", true},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")},
     "w",
     "{\"path\":\"/srv/t/./a\"}",
     "{\"tool\":\"w\"," PLACE "}",
     true},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")},
     "w",
     "{\"path\":\"b/../a\"}",
     "{\"tool\":\"w\"," PLACE "}",
     false},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")},
     "w",
     "{\"path\":\"a\",\"to\":\"/etc/x\"}",
     "{\"tool\":\"w\"," PLACE "}",
     false},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")}, "w", "{\"path\":\"A\"}", "{\"tool\":\"w\"," PLACE "}", false},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")}, "w", "{\"x\":1}", "{\"tool\":\"w\"," PLACE "}", false},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")},
     "w",
     NULL,
     "{\"tool\":\"w\",\"paths\":[\"/workspace/a\"]," PLACE "}",
     false},
    {{.tool = SLICE("w"), .path = SLICE("/workspace/a")},
     "w",
     "{\"path\":\"a\",\"command\":\"rm a\"}",
     "{\"tool\":\"w\"," PLACE "}",
     false},
    {{.tool = SLICE("f"), .host = SLICE("a.example")}, "f", "{\"url\":\"https://a.example/y\"}", NULL, true},
    {{.tool = SLICE("f"), .host = SLICE("a.example")}, "f", "{\"url\":\"https://a.example@b.example\"}", NULL, false},
    {{.tool = SLICE("f"), .host = SLICE("a.example")},
     "f",
     "{\"url\":\"https://a.example\",\"file\":\"/etc/x\"}",
     NULL,
     false},
    {{.tool = SLICE("t"), .arguments = SLICE("{}")}, "t", NULL, NULL, false},
    {{.tool = SLICE("t"), .arguments = SLICE("{}")}, "t", "{}", NULL, true},
    {{.arguments = SLICE("{}")}, "t", NULL, "{" PLACE "}", false},
    {{.tool = SLICE("t"), .arguments = SLICE("{\"a\":1,\"b\":2}")}, "t", "{\"b\": 2.0, \"a\": 1}", NULL, true},
    {{.tool = SLICE("t")}, "t", "{\"a\":1}", NULL, true},
    {{.tool = SLICE("t")}, "t", "{\"a\":1}", "{" PLACE "}", false}, /* only titled so */
    {{.tool = {0}}, "t", "{\"a\":1}", NULL, false},
};

static void a_grant_takes_nothing_along(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(given); i++) {
        struct ask_grant grant = {.subject = given[i].subject};
        struct ask ask = approval(given[i].tool, given[i].arguments, given[i].fields);
        char row[200];
        snprintf(row, sizeof row, "%zu: %s", i, given[i].arguments ? given[i].arguments : "unseen");
        assert_row(row, matches(&grant, &ask) == given[i].matches);
    }
}

/* An answer that came late is for the same call: by what it means and all that was shown. */
static void the_same_call_however_it_is_written(void **state)
{
    struct ask stored = approval("bash", "{\"command\":\"ls\",\"n\":1}", NULL), again = stored;
    (void)state;
    stored.text = SLICE("Run bash with {\"command\":\"ls\",\"n\":1}?");
    again.arguments = SLICE("{ \"n\" : 1.0 ,\n \"command\" : \"l\\u0073\" }");
    again.text = SLICE("Run bash with { \"n\" : 1.0 ,\n \"command\" : \"l\\u0073\" }?");
    assert_true(ask_is_same(&test_arena, &stored, &again));
    again.text = SLICE("Really run bash with { \"n\" : 1.0 ,\n \"command\" : \"l\\u0073\" }?");
    assert_false(ask_is_same(&test_arena, &stored, &again));
    struct ask blind = approval("execute", NULL, "{" PLACE "}");
    blind.details = SLICE("{\"title\":\"echo hello\",\"options\":[]}");
    assert_false(ask_is_same(&test_arena, &blind, &blind));
    struct ask diff = blind, other = blind;
    diff.details = SLICE("{\"evidence\":\"abc\",\"diffs\":[{\"path\":\"/w/a\"}]}");
    other.details = SLICE("{\"diffs\":[{\"path\":\"/w/b\"}],\"evidence\":\"def\"}");
    assert_true(ask_is_same(&test_arena, &diff, &diff));
    assert_false(ask_is_same(&test_arena, &diff, &other));
    struct ask named = diff;
    named.fields = SLICE("{\"tool\":\"execute\"," PLACE "}");
    assert_false(ask_is_same(&test_arena, &diff, &named));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(offers_are_narrow_first),
        cmocka_unit_test(without_a_seen_input_there_is_only_once),
        cmocka_unit_test(a_reply_names_its_grant),
        cmocka_unit_test(a_grant_takes_nothing_along),
        cmocka_unit_test(the_same_call_however_it_is_written),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_release(&test_arena);
    return failed;
}
