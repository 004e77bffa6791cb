/* Live text in pieces: whatever the cuts, viewers read what the whole text shows, and never a secret. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "service/identity/secret.h"
#include "service/identity/secret_stream.h"
#include "store/seal/secret_file.h"

#define KEY_ONE "sk-one-aabaabaac"
#define KEY_TWO "aab-sk-one-two"

struct watched {
    struct secrets *secrets;
    struct secret_streams streams;
    struct buffer seen[3]; /* of streams a, b, c */
};

static int set_up(void **state)
{
    static const struct secret_place place = {.directory = "/nonexistent"};
    struct failure failure = {0};
    struct watched *watched = calloc(1, sizeof *watched);
    setenv("ANTHROPIC_API_KEY", KEY_ONE, 1);
    setenv("OPENAI_API_KEY", KEY_TWO, 1);
    assert_int_equal(secrets_open(&place, &watched->secrets, &failure), STATUS_OK);
    *state = watched;
    return 0;
}

static int tear_down(void **state)
{
    struct watched *watched = *state;
    secret_streams_release(&watched->streams);
    secrets_close(watched->secrets);
    for (size_t i = 0; i < COUNT_OF(watched->seen); i++) {
        buffer_release(&watched->seen[i]);
    }
    free(watched);
    return 0;
}

static void show(void *owner, struct slice key, struct slice text)
{
    struct watched *watched = owner;
    buffer_add(&watched->seen[key.ptr[0] - 'a'], text);
}

static void say_at(struct watched *watched, const char *key, int64_t epoch, struct slice text)
{
    struct buffer scratch = {0};
    show(watched, slice_of(key),
         secret_streams_pass(&watched->streams, watched->secrets, key[0] == 'c', slice_of(key), epoch, text, &scratch));
    buffer_release(&scratch);
}

static void say(struct watched *watched, const char *key, const char *text)
{
    say_at(watched, key, 0, slice_of(text));
}

static void check_seen(const struct watched *watched, const char *key, const char *text)
{
    struct slice seen = buffer_slice(&watched->seen[key[0] - 'a']);
    assert_int_equal(seen.len, strlen(text));
    assert_memory_equal(seen.ptr, text, seen.len);
}

static void only_a_beginning_is_held_back(void **state)
{
    struct watched *watched = *state;
    say(watched, "a", "hello s");
    check_seen(watched, "a", "hello ");
    say(watched, "a", "k-on");
    check_seen(watched, "a", "hello ");
    say(watched, "a", "ly sk-one-");
    check_seen(watched, "a", "hello sk-only ");
    say(watched, "a", "aabaabaab");
    check_seen(watched, "a", "hello sk-only sk-one-aabaab");
    say(watched, "a", "aac.");
    check_seen(watched, "a", "hello sk-only sk-one-aabaabaabaac.");
    assert_int_equal(watched->streams.map.count, 0);
}

static void streams_keep_apart(void **state)
{
    struct watched *watched = *state;
    say(watched, "a", "sk-one-");
    say(watched, "b", "sk-two");
    say(watched, "a", "aabaabaac");
    check_seen(watched, "a", "[secret]");
    check_seen(watched, "b", "sk-two");
}

/* What was shown because an event had to follow it counts when the rest comes. */
static void a_flush_does_not_help(void **state)
{
    struct watched *watched = *state;
    say(watched, "a", "sk-one-");
    secret_streams_flush(&watched->streams, show, watched);
    check_seen(watched, "a", "sk-one-");
    say(watched, "a", "aabaabaac.");
    check_seen(watched, "a", "sk-one-[secret].");
    say(watched, "b", "sk-one-a");
    secret_streams_flush(&watched->streams, show, watched);
    check_seen(watched, "b", "[secret]");
    secret_streams_flush(&watched->streams, show, watched);
    check_seen(watched, "b", "[secret]");
    say_at(watched, "c", 1, SLICE("sk-one-"));
    say_at(watched, "c", 2, SLICE("aabaabaac sk"));
    say_at(watched, "c", 3, SLICE("y"));
    check_seen(watched, "c", "[secret] y");
}

/* The whole text, masked in one piece, is what every way of cutting it shows. */
static void every_cut_shows_the_same(void **state)
{
    struct watched *watched = *state;
    static const char text[] =
        "a sk-one-sk-one-aabaabaac aab-sk-one-aab-sk-one-two/aab-sk-one-aabaabaac sk-one-aabaabaa ";
    static const char shown[] = "a sk-one-[secret] aab-sk-one-[secret]/aab-[secret] sk-one-aabaabaa ";
    srand(7);
    for (int round = 0; round < 2000; round++) {
        watched->seen[0].len = 0;
        for (size_t at = 0, len; at < strlen(text); at += len) {
            size_t rest = strlen(text) - at;
            len = 1 + (size_t)rand() % 12;
            len = len < rest ? len : rest;
            say_at(watched, "a", 0, slice_from(text + at, len));
        }
        check_seen(watched, "a", shown);
    }
}

/* In stream c marks of silence are hidden, too. */
static void marks_are_hidden_in_pieces(void **state)
{
    struct watched *watched = *state;
    static const char text[] = "a <NO_REPLY>b <NO_WAY> <EMPTY_RESPONSE><EMPTY_RESP<NO_REPLY";
    for (size_t i = 0; i < sizeof text - 1; i++) {
        say_at(watched, "c", 0, slice_from(text + i, 1));
    }
    check_seen(watched, "c", "a b <NO_WAY> <EMPTY_RESP");
    secret_streams_flush(&watched->streams, show, watched);
    check_seen(watched, "c", "a b <NO_WAY> <EMPTY_RESP<NO_REPLY");
    say(watched, "a", "<NO_REPLY>");
    check_seen(watched, "a", "<NO_REPLY>");
}

static void too_many_are_forgotten(void **state)
{
    struct watched *watched = *state;
    for (int i = 0; i < 3 * SECRET_STREAMS_MAX; i++) {
        char key[16];
        snprintf(key, sizeof key, "b%d", i);
        say(watched, key, "s");
        assert_true(watched->streams.map.count <= SECRET_STREAMS_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_a_beginning_is_held_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(streams_keep_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flush_does_not_help, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_cut_shows_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(marks_are_hidden_in_pieces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_are_forgotten, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
