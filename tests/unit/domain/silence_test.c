#include "domain/silence.h"
#include "domain_unit.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void marks_are_taken_out(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rest;
        bool found;
    } rows[] = {
        {"<NO_REPLY>", "", true},
        {" <NO_REPLY>\n", "", true},
        {"<EMPTY_RESPONSE>", "", true},
        {"<NO_REPLY><EMPTY_RESPONSE> <NO_REPLY>", "", true},
        {"Hello <NO_REPLY>", "Hello", true},
        {"<EMPTY_RESPONSE>Hello\n\n there<NO_REPLY>", "Hello\n\n there", true},
        {"a<NO_<NO_REPLY>REPLY>b", "ab", true}, /* taking one out leaves none */
        {"<NO_REPLY", "<NO_REPLY", false},
        {"<no_reply>", "<no_reply>", false},
        {" Hello ", " Hello ", false},
        {"", "", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buffer rest = {0};
        assert_true(silence_strip(slice_of(rows[i].text), &rest) == rows[i].found);
        assert_true(slice_is(buffer_slice(&rest), rows[i].rest));
        buffer_release(&rest);
    }
}

static void messages_lose_their_marks(void **state)
{
    (void)state;
    static const struct {
        enum chat_type chat;
        const char *type, *content, *then_type, *then_content;
    } rows[] = {
        {CHAT_GROUP, "agent.message", "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"}]", "agent.silent", NULL},
        {CHAT_DIRECT, "agent.message", "[{\"type\":\"text\",\"text\":\"Hi <NO_REPLY>\",\"a\":1}]", "agent.message",
         "[{\"type\":\"text\",\"text\":\"Hi\",\"a\":1}]"},
        {CHAT_GROUP, "agent.message",
         "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"},{\"type\":\"image\",\"url\":\"u\"}]", "agent.message",
         "[{\"type\":\"image\",\"url\":\"u\"}]"},
        {CHAT_GROUP, "agent.message", "[{\"type\":\"text\",\"text\":\"\"}]", "agent.message",
         "[{\"type\":\"text\",\"text\":\"\"}]"}, /* nothing said is not silence kept */
        {CHAT_GROUP, "user.message", "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"}]", "user.message",
         "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"}]"},
        {CHAT_NONE, "agent.message", "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"}]", "agent.message",
         "[{\"type\":\"text\",\"text\":\"<NO_REPLY>\"}]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct session session = {.source_type = rows[i].chat};
        struct event event = {.kind = event_kind_find(slice_of(rows[i].type)),
                              .custom = slice_of(rows[i].type),
                              .content = slice_of(rows[i].content),
                              .metadata = SLICE("{\"model\":\"m\"}")};
        silence_keep(&arena, &session, &event);
        assert_true(slice_is(event_type(&event), rows[i].then_type));
        assert_true(slice_is(event.content, rows[i].then_content));
        bool silent = slice_is(event_type(&event), "agent.silent");
        assert_true(slice_is(event.metadata, silent ? "{\"model\":\"m\",\"suppressed\":true}" : "{\"model\":\"m\"}"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(marks_are_taken_out, release),
        cmocka_unit_test_teardown(messages_lose_their_marks, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
