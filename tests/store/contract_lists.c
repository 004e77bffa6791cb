#include "contract.h"

#include <stdio.h>

static struct session_filter filter_of(struct fixture *f)
{
    return (struct session_filter){.tenant_key = f->tenant,
                                   .type = -1,
                                   .work = -1,
                                   .display = -1,
                                   .archived = -1,
                                   .interactive = -1,
                                   .visibility = -1,
                                   .group = -1,
                                   .limit = 100};
}

/* The ids of a page, in order, each followed by a space; a last "+" when there is more. */
static const char *list(struct fixture *f, const struct session_filter *filter)
{
    struct session_page page;
    struct buffer text = {0};
    must(store_session_list(f->db, filter, &f->arena, &page, &f->failure));
    for (size_t i = 0; i < page.count; i++) {
        buffer_format(&text, "%.*s ", SLICE_ARG(page.sessions[i].id));
    }
    if (page.has_more) {
        buffer_add_byte(&text, '+');
    }
    struct slice copy = arena_copy(&f->arena, buffer_slice(&text));
    buffer_release(&text);
    return copy.ptr;
}

/* Sessions are made one step of the list apart, so the newest comes first. */
static struct session *add(struct fixture *f, const char *id, const char *owner, const char *json)
{
    f->now_ms += SESSION_LISTED_STEP_MS;
    return fixture_session(f, f->tenant, id, owner, json);
}

static void newest_activity_first(void **state)
{
    struct fixture *f = *state;
    struct session_filter all = filter_of(f);
    assert_string_equal(list(f, &all), "");
    struct session *a = add(f, "a", "u1", NULL);
    add(f, "b", "u1", NULL);
    fixture_session(f, f->tenant, "c", "u1", NULL); /* the same step as b: the younger first */
    fixture_session(f, f->other, "foreign", "u1", NULL);
    assert_string_equal(list(f, &all), "c b a ");
    f->now_ms += SESSION_LISTED_STEP_MS;
    fixture_append(f, a, "user.message", "[]");
    assert_string_equal(list(f, &all), "a c b ");
    all.tenant_key = f->other;
    assert_string_equal(list(f, &all), "foreign ");
}

static void pages_neither_repeat_nor_skip(void **state)
{
    struct fixture *f = *state;
    struct session_filter filter = filter_of(f);
    struct buffer seen = {0};
    struct session_page page = {.has_more = true};
    for (int i = 0; i < 23; i++) {
        f->now_ms += i % 3 ? 0 : SESSION_LISTED_STEP_MS;
        fixture_session(f, f->tenant, fixture_text(f, "s%02d", i).ptr, "u1", NULL);
    }
    filter.limit = 5;
    while (page.has_more) {
        must(store_session_list(f->db, &filter, &f->arena, &page, &f->failure));
        assert_true(page.count <= 5);
        for (size_t i = 0; i < page.count; i++) {
            buffer_format(&seen, "%.*s", SLICE_ARG(page.sessions[i].id));
        }
        filter.cursor_listed_ms = page.sessions[page.count - 1].listed_at_ms;
        filter.cursor_key = page.sessions[page.count - 1].key;
    }
    assert_int_equal(seen.len, 23 * 3);
    for (int i = 0; i < 23; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%02d", 22 - i);
        assert_memory_equal(seen.ptr + 3 * i, id, 3);
    }
    buffer_release(&seen);
}

/* Each filter alone, and again behind another leading filter: every condition is written in two places. */
static void every_filter_filters(void **state)
{
    struct fixture *f = *state;
    add(f, "plain", "u9", "{'source':{'kind':'api','interactive':false}}");
    struct session *rich = add(
        f, "rich", "u1",
        "{'type':'agent','status':'pending','agent':'coder','title':'Fix 100% of_it','workspace':'/w','parent_id':'p',"
        "'task_id':'t','entity_id':'e','visibility':'org_visible','metadata':{'team':'red','n':5,'flag':true},"
        "'source':{'kind':'channel','platform':'telegram','interactive':true}}");
    add(f, "last", "u9", "{'type':'tool','source':{'kind':'api','interactive':false}}");
    fixture_begin(f);
    must(store_participant_put(f->db, f->tenant, rich->key, SLICE("u5"), ACCESS_VIEWER, 1, &f->failure));
    fixture_commit(f);
    struct session_filter none = filter_of(f);
    struct {
        const char *name;
        struct session_filter filter;
    } rows[40];
    size_t count = 0;
#define ROW(member, value)                                                                                             \
    rows[count].name = #member, rows[count].filter = none, rows[count].filter.member = (value), count++
    ROW(work, SESSION_PENDING);
    ROW(group, 1);
    rows[count - 1].filter.type = TYPE_AGENT;
    rows[count - 1].filter.agent = SLICE("coder");
    ROW(interactive, 1);
    ROW(visibility, VISIBILITY_ORG_VISIBLE);
    ROW(source_kind, SLICE("channel"));
    ROW(source_platform, SLICE("telegram"));
    ROW(owner, SLICE("u1"));
    ROW(participant, SLICE("u5"));
    ROW(parent_id, SLICE("p"));
    ROW(task_id, SLICE("t"));
    ROW(entity_id, SLICE("e"));
    ROW(workspace, SLICE("/w"));
    ROW(agent, SLICE("coder"));
    ROW(label_name, SLICE("team"));
    ROW(label_name, SLICE("team"));
    rows[count - 1].filter.label_value = SLICE("red");
    ROW(label_name, SLICE("n"));
    rows[count - 1].filter.label_value = SLICE("5");
    ROW(label_name, SLICE("flag"));
    rows[count - 1].filter.label_value = SLICE("true");
    ROW(text, SLICE("fix 100%"));
    ROW(text, SLICE("OF_IT"));
    ROW(id_prefix, SLICE("ri"));
    ROW(created_after_ms, rich->created_at_ms);
    rows[count - 1].filter.created_before_ms = rich->created_at_ms + 1;
    ROW(active_after_ms, rich->last_active_at_ms);
    rows[count - 1].filter.active_before_ms = rich->last_active_at_ms + 1;
#undef ROW
    for (size_t i = 0; i < count; i++) {
        assert_row(rows[i].name, strcmp(list(f, &rows[i].filter), "rich ") == 0);
        struct session_filter led = rows[i].filter;
        led.parent_id = SLICE("p");
        assert_row(rows[i].name, strcmp(list(f, &led), "rich ") == 0);
        led.parent_id = (struct slice){0}, led.visible_to = SLICE("u1");
        assert_row(rows[i].name, strcmp(list(f, &led), "rich ") == 0);
        led = rows[i].filter, led.tenant_key = f->other;
        assert_row(rows[i].name, strcmp(list(f, &led), "") == 0);
    }
}

static void filters_that_match_nothing(void **state)
{
    struct fixture *f = *state;
    add(f, "a", "u1", "{'title':'ab','metadata':{'team':'red'}}");
    struct session_filter filter = filter_of(f);
    filter.text = SLICE("a%b");
    assert_string_equal(list(f, &filter), "");
    filter.text = SLICE("a_");
    assert_string_equal(list(f, &filter), "");
    filter.text = SLICE("\\");
    assert_string_equal(list(f, &filter), "");
    filter = filter_of(f), filter.label_name = SLICE("team"), filter.label_value = SLICE("blue");
    assert_string_equal(list(f, &filter), "");
    filter = filter_of(f), filter.type = TYPE_MIXED;
    assert_string_equal(list(f, &filter), "");
    filter = filter_of(f), filter.archived = 1;
    assert_string_equal(list(f, &filter), "");
    filter.archived = 0;
    assert_string_equal(list(f, &filter), "a ");
}

static void states_groups_and_archive(void **state)
{
    struct fixture *f = *state;
    struct session_filter filter = filter_of(f);
    struct changes changes = {0};
    struct session *ended = add(f, "ended", "u1", "{'status':'pending'}");
    add(f, "waiting", "u1", "{'status':'pending'}");
    struct session *bad = add(f, "bad", "u1", "{'status':'pending'}");
    struct session *live = add(f, "live", "u1", "{'status':'pending'}");
    fixture_move(f, ended, SESSION_RUNNING);
    fixture_move(f, ended, SESSION_COMPLETED);
    fixture_move(f, bad, SESSION_RUNNING);
    fixture_move(f, bad, SESSION_FAILED);
    fixture_move(f, live, SESSION_RUNNING);
    filter.group = 1;
    assert_string_equal(list(f, &filter), "live waiting ");
    filter.group = 2;
    assert_non_null(strstr(list(f, &filter), "live "));
    filter.group = 3;
    assert_string_equal(list(f, &filter), "bad ");
    filter = filter_of(f), filter.work = SESSION_COMPLETED;
    assert_string_equal(list(f, &filter), "ended ");
    filter.work = -1, filter.display = 6; /* failed */
    assert_string_equal(list(f, &filter), "bad ");
    must(change_archive(&f->arena, ended, true, &changes, &f->failure));
    fixture_begin(f);
    fixture_write(f, ended, &changes);
    fixture_commit(f);
    filter = filter_of(f), filter.archived = 1;
    assert_string_equal(list(f, &filter), "ended ");
    filter.archived = 0;
    assert_string_equal(list(f, &filter), "live bad waiting ");
    filter.group = 1, filter.limit = 1;
    assert_string_equal(list(f, &filter), "live +");
}

static void shows_what_a_user_may_see(void **state)
{
    struct fixture *f = *state;
    struct session_filter filter = filter_of(f);
    add(f, "own", "u1", NULL);
    struct session *shared = add(f, "shared", "u2", NULL);
    add(f, "org", "u2", "{'visibility':'org_visible'}");
    add(f, "hidden", "u2", NULL);
    add(f, "flow", "u2", "{'purpose':'workflow','visibility':'org_visible'}");
    struct session *both = add(f, "both", "u1", "{'visibility':'org_joinable'}");
    fixture_begin(f);
    must(store_participant_put(f->db, f->tenant, shared->key, SLICE("u1"), ACCESS_COLLABORATOR, 1, &f->failure));
    must(store_participant_put(f->db, f->tenant, both->key, SLICE("u1"), ACCESS_OWNER, 1, &f->failure));
    fixture_commit(f);
    filter.visible_to = SLICE("u1");
    assert_string_equal(list(f, &filter), "both flow org shared own ");
    filter.private_of = SLICE("nobody");
    assert_string_equal(list(f, &filter), "both org shared own ");
    filter.limit = 2;
    assert_string_equal(list(f, &filter), "both org +");
    filter.limit = 100, filter.shared_with_me = true;
    assert_string_equal(list(f, &filter), "shared ");
    filter.shared_with_me = false, filter.type = TYPE_AGENT;
    assert_string_equal(list(f, &filter), "both org shared own ");
    filter.visible_to = SLICE("u3");
    assert_string_equal(list(f, &filter), "both org ");
    /* the shared session moves in the list of whom it is shared with, too */
    f->now_ms += SESSION_LISTED_STEP_MS;
    fixture_append(f, shared, "user.message", "[]");
    filter.visible_to = SLICE("u1");
    assert_string_equal(list(f, &filter), "shared both org own ");
    filter.tenant_key = f->other;
    assert_string_equal(list(f, &filter), "");
}

static void labels_follow_the_metadata(void **state)
{
    struct fixture *f = *state;
    struct session_filter filter = filter_of(f);
    struct session_limits limits = {.metadata_bytes_max = 9999, .title_chars_max = 99, .workspace_chars_max = 99};
    struct changes changes = {0};
    const struct json *patch = NULL;
    struct session *a = add(f, "a", "u1", "{'metadata':{'team':'red'}}");
    add(f, "b", "u1", "{'metadata':{'team':'red'}}");
    filter.label_name = SLICE("team"), filter.label_value = SLICE("red");
    assert_string_equal(list(f, &filter), "b a ");
    f->now_ms += SESSION_LISTED_STEP_MS;
    fixture_append(f, a, "user.message", "[]");
    assert_string_equal(list(f, &filter), "a b ");
    must(json_parse(&f->arena, SLICE("{\"metadata\":{\"team\":\"blue\"}}"), &patch, &f->failure));
    must(change_update(&f->arena, a, patch, &limits, f->now_ms, &changes, &f->failure));
    assert_int_equal(changes.count, 1);
    fixture_begin(f);
    fixture_write(f, a, &changes);
    fixture_commit(f);
    assert_string_equal(list(f, &filter), "b ");
    filter.label_value = SLICE("blue");
    assert_string_equal(list(f, &filter), "a ");
}

static void text_is_found_in_previews(void **state)
{
    struct fixture *f = *state;
    struct session_filter filter = filter_of(f);
    struct session *a = add(f, "a", "u1", NULL);
    add(f, "b", "u1", NULL);
    fixture_append(f, a, "user.message", "[{\"type\":\"text\",\"text\":\"Hello Wombat\"}]");
    filter.text = SLICE("wombat");
    assert_string_equal(list(f, &filter), "a ");
}

static const struct CMUnitTest tests[] = {
    CONTRACT_TEST(newest_activity_first),      CONTRACT_TEST(pages_neither_repeat_nor_skip),
    CONTRACT_TEST(every_filter_filters),       CONTRACT_TEST(filters_that_match_nothing),
    CONTRACT_TEST(states_groups_and_archive),  CONTRACT_TEST(shows_what_a_user_may_see),
    CONTRACT_TEST(labels_follow_the_metadata), CONTRACT_TEST(text_is_found_in_previews),
};
const struct contract_part contract_lists = {"lists", tests, COUNT_OF(tests)};
