#include "unit.h"

#include "domain/export.h"
#include "domain/export_turns.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* --- a log in short: u said, U appended, a answers, p partial answer, t thinks, c calls a tool, r its result, e turn
 * ended, x turn aborted, s context injected --- */

static struct event event_of(char letter, size_t index)
{
    static const struct {
        char letter;
        const char *type, *content, *metadata;
    } rows[] = {
        {'u', "user.message", "[{\"type\":\"text\",\"text\":\"question\"}]", NULL},
        {'U', "user.message", "[{\"type\":\"text\",\"text\":\"aside\"}]", "{\"appended\":true}"},
        {'a', "agent.message", "[{\"type\":\"text\",\"text\":\"answer\"}]", "{\"model\":\"m\"}"},
        {'p', "agent.message", "[{\"type\":\"text\",\"text\":\"ans\"}]", "{\"partial\":true}"},
        {'t', "agent.thinking",
         "[{\"type\":\"text\",\"text\":\"hm\",\"signature\":\"SEALED\",\"encrypted_content\":\"SEALED\"},"
         "{\"type\":\"redacted_thinking\",\"data\":\"SEALED\"}]",
         NULL},
        {'c', "agent.tool_call", "[{\"type\":\"tool_call\",\"name\":\"read_file\",\"input\":{}}]", NULL},
        {'d', "agent.tool_call", "[]", "{\"name\":\"edit_file\"}"},
        {'r', "agent.tool_result", "[{\"type\":\"tool_result\",\"output\":\"ok\"}]", NULL},
        {'e', "turn.ended", NULL, "{\"stop_reason\":\"stop\"}"},
        {'x', "turn.ended", NULL, "{\"stop_reason\":\"aborted\"}"},
        {'s', "session.context_injected", "[{\"type\":\"text\",\"text\":\"note\"}]", NULL},
    };
    size_t i = 0;
    while (rows[i].letter != letter) {
        i++;
    }
    return (struct event){.sequence = (int64_t)index + 2,
                          .at_ms = 1700000000000 + (int64_t)index,
                          .kind = event_kind_find(slice_of(rows[i].type)),
                          .custom = slice_of(rows[i].type),
                          .content = slice_of(rows[i].content),
                          .metadata = slice_of(rows[i].metadata)};
}

static struct event *log_of(const char *letters, size_t *count)
{
    *count = strlen(letters);
    struct event *events = arena_array(&arena, *count + 1, sizeof *events);
    for (size_t i = 0; i < *count; i++) {
        events[i] = event_of(letters[i], i);
    }
    return events;
}

/* The turns as "0-3+ 3-5-": the first is answered, the second not. */
static void test_turns(void **state)
{
    (void)state;
    static const struct {
        const char *log, *turns;
    } rows[] = {
        {"", ""},
        {"u", "0-1- "},
        {"ua", "0-2+ "},
        {"uae", "0-3+ "},
        {"uuacra", "0-6+ "},       /* split rows are one turn */
        {"uacr", "0-4- "},         /* text before a call is not the answer */
        {"upx", "0-3- "},          /* interrupted */
        {"uax", "0-3- "},          /* said something whole, then interrupted */
        {"upxa", "0-4+ "},         /* cut, and run again */
        {"uaeuae", "0-3+ 3-6+ "},  /* one after the other */
        {"upxuae", "0-3- 3-6+ "},  /* a failed one in between */
        {"ucUrae", "0-6+ "},       /* an aside while it works */
        {"uaeUuae", "0-3+ 3-7+ "}, /* an aside at rest belongs to what follows */
        {"uaUuae", "0-2+ 2-6+ "},  /* the same where no end is told */
        {"au", "0-1+ 1-2- "},      /* the agent speaks first */
        {"esua", "2-4+ "},         /* what is no message begins nothing */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t count;
        struct event *events = log_of(rows[i].log, &count);
        struct export_turn turns[16];
        struct buffer text = {0};
        size_t turn_count = export_turns_of(&arena, events, count, turns);
        for (size_t at = 0; at < turn_count; at++) {
            buffer_format(&text, "%zu-%zu%c ", turns[at].first, turns[at].end, turns[at].is_answered ? '+' : '-');
        }
        buffer_add_byte(&text, '\0');
        assert_string_equal(text.ptr, rows[i].turns);
        buffer_release(&text);
    }
}

static struct slice export_of(const struct session *session, struct slice agent, const struct event *events,
                              size_t count)
{
    struct buffer json = {0};
    struct failure failure = {0};
    struct export_source source = {session, agent, events, count};
    assert_int_equal(export_write(&arena, &source, &json, &failure), STATUS_OK);
    struct slice kept = arena_copy(&arena, buffer_slice(&json));
    buffer_release(&json);
    return kept;
}

static void test_document(void **state)
{
    (void)state;
    size_t count;
    struct event *events = log_of("tuucrdcrae", &count);
    struct session session = {
        .id = SLICE("s1"), .agent = SLICE("helper"), .title = SLICE("Fix it"), .created_at_ms = 1700000000000};
    struct slice text = export_of(&session, SLICE("{\"id\":\"helper\",\"version\":3,\"model\":null}"), events, count);
    struct slice start =
        SLICE("{\"schema_version\":\"1.0\",\"id\":\"fix-it\",\"name\":\"Fix it\",\"agents\":[{\"id\":\"helper\"}],"
              "\"nodes\":[{\"id\":\"input\",\"type\":\"input\"},{\"id\":\"turn-1\",\"type\":\"agent\","
              "\"agent_ref\":\"helper\",\"prompt_template\":\"question\\n\\nquestion\","
              "\"tools\":[\"read_file\",\"edit_file\"]},{\"id\":\"output\",\"type\":\"output\"}],"
              "\"edges\":[{\"from\":\"input\",\"to\":\"turn-1\"},{\"from\":\"turn-1\",\"to\":\"output\"}],"
              "\"metadata\":{\"relaviumExport\":{\"source\":\"session\",\"sessionId\":\"s1\",\"agentSlug\":\"helper\","
              "\"title\":\"Fix it\",\"createdAt\":\"2023-11-14T22:13:20.000Z\","
              "\"updatedAt\":\"2023-11-14T22:13:20.008Z\",\"messages\":[{\"id\":\"s1/2\",\"sessionId\":\"s1\","
              "\"sequenceNumber\":2,\"role\":\"assistant\",\"content\":[{\"type\":\"reasoning\",\"text\":\"hm\"}],"
              "\"timestamp\":\"2023-11-14T22:13:20.000Z\"},");
    assert_true(slice_starts(text, start));
    assert_null(strstr(text.ptr, "SEALED"));
    assert_non_null(strstr(text.ptr, "\"role\":\"tool\""));
    assert_non_null(strstr(text.ptr, "\"modelId\":\"m\""));
    assert_true(slice_eq(text, export_of(&session, SLICE("{\"id\":\"helper\"}"), events, count)));
}

static void test_nothing_to_chain(void **state)
{
    (void)state;
    size_t count;
    struct event *events = log_of("ups", &count);
    struct session session = {.id = SLICE("s1"), .created_at_ms = 1};
    struct slice text = export_of(&session, (struct slice){0}, events, count);
    assert_true(slice_starts(
        text, SLICE("{\"schema_version\":\"1.0\",\"id\":\"exported-session\",\"nodes\":[{\"id\":\"input\",\"type\":"
                    "\"input\"},{\"id\":\"output\",\"type\":\"output\"}],\"edges\":[{\"from\":\"input\",\"to\":"
                    "\"output\"}],\"metadata\"")));
    assert_non_null(strstr(text.ptr, "\"text\":\"ans\""));
    assert_non_null(strstr(text.ptr, "\"role\":\"system\""));
}

static void test_hostile_text(void **state)
{
    (void)state;
    struct event events[] = {event_of('u', 0), event_of('a', 1), event_of('c', 2), event_of('a', 3)};
    events[0].content = SLICE("[{\"type\":\"text\",\"text\":\"{{secrets.x}} {{{ { sk-ant-api03-"
                              "abcdefghijklmnopqrstuvwxyz0123456789\"},{\"type\":\"text\",\"text\":\"more\"}]");
    events[2].content =
        SLICE("[{\"type\":\"tool_call\",\"name\":\"login\",\"input\":{\"password\":\"hunter2hunter2\"}}]");
    struct session session = {.id = SLICE("s1"),
                              .title = SLICE("Key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")};
    struct slice text = export_of(&session, (struct slice){0}, events, 4);
    assert_non_null(strstr(text.ptr, "\"prompt_template\":\"{ {secrets.x}} { { { { [redacted]\\n\\nmore\""));
    assert_non_null(strstr(text.ptr, "{\"password\":\"[redacted]\"}"));
    assert_non_null(strstr(text.ptr, "\"id\":\"key-redacted\""));
    assert_null(strstr(text.ptr, "hunter2"));
    assert_null(strstr(text.ptr, "abcdefghijklmnopqrstuvwxyz"));
}

static void test_ids(void **state)
{
    (void)state;
    static const struct {
        const char *title, *id;
    } rows[] = {
        {NULL, "exported-session"},
        {"", "exported-session"},
        {"-- !", "exported-session"},
        {"\xE6\x9D\xB1\xE4\xBA\xAC", "exported-session"},
        {"Fix  the   Bug #42!", "fix-the-bug-42"},
        {"Caf\xC3\xA9 Noir", "caf-noir"},
        {"Na\xC3\xAFve \xC3\x9C"
         "bung",
         "nave-bung"},
        {"  a_b.c  ", "a-b-c"},
        {"0123456789012345678901234567890123456789012345678901234567890123456789",
         "012345678901234567890123456789012345678901234567890123456789012"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char id[EXPORT_ID_BYTES];
        export_id(slice_of(rows[i].title), id);
        assert_string_equal(id, rows[i].id);
    }
}

static void test_when(void **state)
{
    (void)state;
    static const struct {
        enum session_type type;
        enum session_status work;
        enum status status;
    } rows[] = {
        {TYPE_AGENT, SESSION_IDLE, STATUS_OK},          {TYPE_AGENT, SESSION_COMPLETED, STATUS_OK},
        {TYPE_AGENT, SESSION_RUNNING, STATUS_CONFLICT}, {TYPE_AGENT, SESSION_PENDING, STATUS_CONFLICT},
        {TYPE_MIXED, SESSION_IDLE, STATUS_OK},          {TYPE_TOOL, SESSION_DRAFT, STATUS_CONFLICT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct failure failure;
        struct session session = {.type = rows[i].type, .status = rows[i].work};
        assert_int_equal(export_check(&session, &failure), rows[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_turns, release),
        cmocka_unit_test_teardown(test_document, release),
        cmocka_unit_test_teardown(test_nothing_to_chain, release),
        cmocka_unit_test_teardown(test_hostile_text, release),
        cmocka_unit_test_teardown(test_ids, release),
        cmocka_unit_test_teardown(test_when, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
