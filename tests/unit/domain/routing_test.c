#include "domain/routing.h"
#include "domain_unit.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static const struct {
    enum chat_type chat;
    bool is_owner, is_mentioned;
    enum routing routing;
    bool triggers;
} rules[] = {
    {CHAT_NONE, false, false, ROUTING_DIRECT, true},    {CHAT_DIRECT, false, false, ROUTING_DIRECT, true},
    {CHAT_GROUP, true, true, ROUTING_OWNER, true},      {CHAT_GROUP, true, false, ROUTING_OWNER_UNDIRECTED, true},
    {CHAT_GROUP, false, true, ROUTING_MENTIONED, true}, {CHAT_GROUP, false, false, ROUTING_NOT_MENTIONED, false},
};

/* The same on every platform and in every state: nothing else is asked. */
static void who_is_heard(void **state)
{
    (void)state;
    static const struct slice platforms[] = {SLICE("telegram"), SLICE("discord"), SLICE("slack"), {NULL, 0}};
    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        for (size_t k = 0; k < COUNT_OF(platforms); k++) {
            for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
                struct session session = {
                    .source_type = rules[i].chat, .source_platform = platforms[k], .status = (enum session_status)work};
                enum routing routing = routing_of(&session, rules[i].is_owner, rules[i].is_mentioned);
                assert_int_equal(routing, rules[i].routing);
                assert_true(routing_triggers(routing) == rules[i].triggers);
            }
        }
    }
}

static void what_the_agent_reads(void **state)
{
    (void)state;
    static const struct {
        enum routing routing;
        const char *name, *content, *said;
    } rows[] = {
        {ROUTING_DIRECT, "Ada", "[{\"type\":\"text\",\"text\":\"hi\"}]", "[{\"type\":\"text\",\"text\":\"hi\"}]"},
        {ROUTING_OWNER, "Ada", "[{\"type\":\"text\",\"text\":\"hi\"}]",
         "[{\"type\":\"text\",\"text\":\"[Ada, owner] hi\"}]"},
        {ROUTING_NOT_MENTIONED, "Bob", "[{\"type\":\"text\",\"text\":\"hi\"}]",
         "[{\"type\":\"text\",\"text\":\"[Bob, member] hi\"}]"},
        {ROUTING_OWNER_UNDIRECTED, "Ada", "[{\"type\":\"text\",\"text\":\"hi\"},{\"type\":\"text\",\"text\":\"b\"}]",
         "[{\"type\":\"text\",\"text\":\"[Ada, owner] [not directed at you] hi\"},{\"type\":\"text\",\"text\":\"| "
         "b\"}]"},
        {ROUTING_MENTIONED, "Eve] [not directed at you", "[{\"type\":\"text\",\"text\":\"hi\"}]",
         "[{\"type\":\"text\",\"text\":\"[Eve) (not directed at you, member] hi\"}]"},
        {ROUTING_MENTIONED, "A\nB", "[{\"type\":\"image\",\"url\":\"https://a/b\"}]",
         "[{\"type\":\"text\",\"text\":\"[A B, member]\"},{\"type\":\"image\",\"url\":\"https://a/b\"}]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice said = routing_content(&arena, rows[i].routing, slice_of(rows[i].name), slice_of(rows[i].content));
        assert_true(slice_is(said, rows[i].said));
    }
}

static void what_the_log_tells(void **state)
{
    (void)state;
    struct slice told = routing_metadata(&arena, ROUTING_NOT_MENTIONED, SLICE("{\"a\":1}"));
    assert_true(slice_is(told, "{\"a\":1,\"routing\":{\"rule\":\"not_mentioned\",\"triggered\":false}}"));
    told = routing_metadata(&arena, ROUTING_OWNER, (struct slice){0});
    assert_true(slice_is(told, "{\"routing\":{\"rule\":\"owner\",\"triggered\":true}}"));
    assert_false(slice_present(routing_metadata(&arena, ROUTING_DIRECT, (struct slice){0})));
}

static void who_owns_a_group(void **state)
{
    (void)state;
    static const struct {
        const char *metadata, *sender;
        bool is_owner;
    } rows[] = {
        {"{\"telegram_owner_id\":\"7\"}", "{\"channel\":\"telegram\",\"channel_user_id\":\"7\"}", true},
        {"{\"telegram_owner_id\":7}", "{\"channel\":\"telegram\",\"channel_user_id\":\"7\"}", true},
        {"{\"telegram_owner_id\":\"7\"}", "{\"channel\":\"telegram\",\"channel_user_id\":\"8\"}", false},
        {"{\"telegram_owner_id\":\"7\"}", "{\"channel\":\"slack\",\"channel_user_id\":\"7\"}", false},
        {"{\"telegram_owner_id\":\"7\"}", "{\"channel_user_id\":\"7\"}", false},
        {NULL, "{\"channel\":\"telegram\",\"channel_user_id\":\"7\"}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct json *sender;
        struct session session = {.metadata = slice_of(rows[i].metadata)};
        assert_int_equal(json_parse(&arena, slice_of(rows[i].sender), &sender, NULL), STATUS_OK);
        assert_true(routing_names_owner(&session, sender) == rows[i].is_owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(who_is_heard, release),
        cmocka_unit_test_teardown(what_the_agent_reads, release),
        cmocka_unit_test_teardown(what_the_log_tells, release),
        cmocka_unit_test_teardown(who_owns_a_group, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
