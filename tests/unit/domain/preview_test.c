#include "domain/preview.h"
#include "domain/session.h"
#include "domain_unit.h"

static void check_content(const char *content, const char *expected)
{
    char out[SESSION_PREVIEW_BYTES] = "before";
    preview_of_content(slice_of(content), out, sizeof out);
    assert_string_equal(out, expected);
}

static void the_first_text_part_is_shown(void **state)
{
    (void)state;
    check_content("[{\"type\":\"text\",\"text\":\"hello\"}]", "hello");
    check_content(" [ { \"text\" : \"hello\" , \"type\" : \"text\" } ] ", "hello");
    check_content(
        "[{\"type\":\"image\",\"text\":\"alt\",\"data\":[{\"text\":\"x\"}]},{\"type\":\"text\",\"text\":\"b\"}]", "b");
    check_content("[\"plain\"]", "plain");
    check_content("[1,null,[\"x\"],{\"type\":\"text\",\"text\":\"after\"}]", "after");
    check_content("[{\"a\":{\"type\":\"text\",\"text\":\"inner\"},\"type\":\"text\",\"text\":\"outer\"}]", "outer");
    check_content("[{\"type\":\"output_text\",\"text\":\"o\"}]", "o");
}

static void without_text_the_old_preview_stays(void **state)
{
    static const char *const none[] = {"[]",
                                       "",
                                       "{}",
                                       "[{}]",
                                       "[{\"type\":\"text\"}]",
                                       "[{\"type\":\"image\"}]",
                                       "[1]",
                                       "[{\"type\":\"text\",\"text\":5}]"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(none); i++) {
        check_content(none[i], "before");
    }
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    check_content("[{\"text\":\"a \\\"b\\\" \\\\ c\\n\\td\\/e\"}]", "a \"b\" \\ c d/e");
    check_content("[{\"text\":\"\\u00e9\\u20ac\\ud83d\\ude00\"}]", "é€😀");
    check_content("[{\"x\\\"y\":1,\"text\":\"ok\"}]", "ok");
}

static void white_space_collapses(void **state)
{
    char out[SESSION_PREVIEW_BYTES];
    (void)state;
    preview_of_text(SLICE("  a \n\n b\t\tc  "), out, sizeof out);
    assert_string_equal(out, "a b c");
    preview_of_text(SLICE(" \n "), out, sizeof out);
    assert_string_equal(out, "");
}

static void long_text_is_cut_between_words(void **state)
{
    char text[400] = "", out[SESSION_PREVIEW_BYTES], expected[SESSION_PREVIEW_BYTES];
    (void)state;
    for (int i = 0; i < 40; i++) {
        strcat(text, "word567 ");
    }
    preview_of_text(slice_of(text), out, sizeof out);
    snprintf(expected, sizeof expected, "%.*s…", 18 * 8 + 7 - 8, text);
    assert_string_equal(out, expected);
}

static void exactly_150_characters_are_not_cut(void **state)
{
    char text[152], out[SESSION_PREVIEW_BYTES];
    (void)state;
    memset(text, 'a', sizeof text);
    text[100] = ' ';
    preview_of_text(slice_from(text, 150), out, sizeof out);
    assert_int_equal(strlen(out), 150);
    preview_of_text(slice_from(text, 151), out, sizeof out);
    assert_int_equal(strlen(out), 100 + 3);
    text[100] = 'a';
    text[150] = ' ';
    preview_of_text(slice_from(text, 152), out, sizeof out);
    assert_int_equal(strlen(out), 150 + 3);
    text[150] = 'a';
    preview_of_text(slice_from(text, 152), out, sizeof out);
    assert_int_equal(strlen(out), 149 + 3);
}

static void a_cut_never_splits_a_character(void **state)
{
    char text[4000], out[SESSION_PREVIEW_BYTES];
    (void)state;
    for (size_t offset = 0; offset < 4; offset++) {
        size_t len = offset;
        memset(text, 'a', offset);
        while (len + 4 < sizeof text) {
            memcpy(text + len, "😀", 4);
            len += 4;
        }
        preview_of_text(slice_from(text, len), out, sizeof out);
        assert_true(slice_is_utf8(slice_of(out)));
        struct buffer content = {0};
        buffer_format(&content, "[{\"text\":\"%.*s\"}]", (int)len, text);
        assert_true(preview_of_content(buffer_slice(&content), out, sizeof out));
        assert_true(slice_is_utf8(slice_of(out)));
        buffer_release(&content);
    }
}

static void secrets_are_masked(void **state)
{
    (void)state;
    check_content("[{\"text\":\"use ghp_abcdefghijklmnopqrstuvwxyz0123456789 now\"}]", "use [redacted] now");
    check_content("[{\"text\":\"\\\"password\\\": \\\"hunter22\\\"\"}]", "\"password\": \"[redacted]\"");
}

/* Whatever the bytes are, nothing is read or written outside; the sanitizers watch. */
static void broken_content_is_harmless(void **state)
{
    static const char whole[] =
        "[{\"type\":\"text\",\"x\":{\"y\":[1,\"a\\\"\"]},\"text\":\"h\\u00e9\\ud83d\\ude00\\n\"},1]";
    char out[SESSION_PREVIEW_BYTES];
    (void)state;
    for (size_t len = 0; len < sizeof whole; len++) {
        char *copy = malloc(len ? len : 1);
        memcpy(copy, whole, len);
        preview_of_content(slice_from(copy, len), out, sizeof out);
        free(copy);
    }
}

static void check_prompt(const char *prompt, const char *expected)
{
    char out[SNIPPET_BYTES];
    bool shown = preview_of_prompt(slice_of(prompt), out);
    assert_int_equal(shown, expected != NULL);
    assert_string_equal(out, expected ? expected : "");
}

static void prompts_lose_their_markup(void **state)
{
    (void)state;
    check_prompt("# Fix the **login** page", "Fix the login page");
    check_prompt("- first thing\n* second thing\n1. third", "first thing second thing third");
    check_prompt("> quoted `code` here", "quoted code here");
    check_prompt("<task id=\"1\">Do the work</task>", "Do the work");
    check_prompt("See [the docs](https://x.y/z) and ![img](a.png)", "See the docs and img");
    check_prompt("compute a[0] * 2 < 3 please", "compute a[0] * 2 < 3 please");
    check_prompt("{\"message\":\"Hello from a webhook\",\"id\":1}", "Hello from a webhook");
    check_prompt("{\"title\":\"x\",\"body\":\"The body of it\"}", "The body of it");
    check_prompt("{not json but long enough}", "{not json but long enough}");
}

/* What somebody typed is what the list says: commands, patterns, names and code lose nothing. */
static void prompts_keep_what_is_no_markup(void **state)
{
    static const char *const same[] = {
        "rm -rf /srv/backups/2024-* my_file_name.txt",
        "cp src/**/*.c lib/**/*.h out",
        "edit my__file and __init__.py",
        "sort <in.txt >out.txt now",
        "sort <in >out here",
        "call f[0](x) and g[i](y)",
        "a * b * c and d*e*f",
        "echo $((2**3**2)) twice",
        "an unpaired ` tick and * star",
        "find . -name '*.c' -o -name '*.h'",
        "compare a<b and c>d in it",
        "x = <T>(y) here now",
        "pass **kwargs and *args to it",
        "rm *.o *.a lib*",
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        check_prompt(same[i], same[i]);
    }
    check_prompt("run `rm *.o && mv __a__ [b](c) <d>x</d>`", "run rm *.o && mv __a__ [b](c) <d>x</d>");
    check_prompt("run evil\xE2\x80\xAE txt.exe \xE2\x81\xA6 now", "run evil⟨U+202E⟩ txt.exe ⟨U+2066⟩ now");
}

static void short_prompts_have_no_snippet(void **state)
{
    (void)state;
    check_prompt("", NULL);
    check_prompt("too short", NULL);
    check_prompt("ten chars!", "ten chars!");
    check_prompt("éééééééééé", "éééééééééé");
    check_prompt("<b></b><i></i>", NULL);
}

static void long_prompts_are_cut(void **state)
{
    char prompt[5000], out[SNIPPET_BYTES];
    (void)state;
    memset(prompt, 'x', sizeof prompt);
    assert_true(preview_of_prompt(slice_from(prompt, sizeof prompt), out));
    assert_int_equal(strlen(out), 149 + 3);
    struct buffer text = {0};
    for (int i = 0; i < 500; i++) {
        buffer_add(&text, SLICE("日本語 "));
    }
    assert_true(preview_of_prompt(buffer_slice(&text), out));
    assert_true(slice_is_utf8(slice_of(out)));
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_text_part_is_shown),
        cmocka_unit_test(without_text_the_old_preview_stays),
        cmocka_unit_test(escapes_are_decoded),
        cmocka_unit_test(white_space_collapses),
        cmocka_unit_test(long_text_is_cut_between_words),
        cmocka_unit_test(exactly_150_characters_are_not_cut),
        cmocka_unit_test(a_cut_never_splits_a_character),
        cmocka_unit_test(secrets_are_masked),
        cmocka_unit_test(broken_content_is_harmless),
        cmocka_unit_test(prompts_lose_their_markup),
        cmocka_unit_test(prompts_keep_what_is_no_markup),
        cmocka_unit_test(short_prompts_have_no_snippet),
        cmocka_unit_test(long_prompts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
