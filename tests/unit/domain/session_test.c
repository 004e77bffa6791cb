#include "domain/session.h"
#include "domain_unit.h"

static void ids_are_checked(void **state)
{
    static const char *const good[] = {"a", "cli:home", "0190163d-8694-739b-aea5-966c26f8ad91", "A.b_c:d-e"};
    static const char *const bad[] = {"", " ", "a b", "a/b", "é", "a\n", "a%", "a@b"};
    char longest[129];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_row(good[i], session_id_is_valid(slice_of(good[i])));
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_row(bad[i], !session_id_is_valid(slice_of(bad[i])));
    }
    memset(longest, 'x', sizeof longest);
    assert_true(session_id_is_valid(slice_from(longest, 128)));
    assert_false(session_id_is_valid(slice_from(longest, 129)));
    assert_false(session_id_is_valid(slice_from("a\0b", 3)));
}

static void kinds_of_sessions(void **state)
{
    struct session session = {.type = TYPE_MIXED, .source_kind = SLICE("human-session-bridge")};
    (void)state;
    assert_true(session_is_human_bridge(&session));
    assert_false(session_is_conversation(&session));
    session.source_kind = SLICE("web");
    assert_false(session_is_human_bridge(&session));
    assert_true(session_is_conversation(&session));
    session.type = TYPE_RESPONSE;
    assert_false(session_is_conversation(&session));
    for (int purpose = 0; purpose < PURPOSE_COUNT; purpose++) {
        bool private = purpose == PURPOSE_ORCHESTRATOR || purpose == PURPOSE_WORKFLOW;
        assert_int_equal(session_purpose_is_private((enum purpose)purpose), private);
    }
}

static void words_are_complete(void **state)
{
    const struct enum_names all[] = {visibility_enum, purpose_enum, queue_mode_enum, chat_type_enum};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        for (int word = 0; word < all[i].count; word++) {
            assert_int_equal(enum_names_find(all[i], slice_of(all[i].names[word])), word);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_checked),
        cmocka_unit_test(kinds_of_sessions),
        cmocka_unit_test(words_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, release_test_arena);
}
