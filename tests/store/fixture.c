#include "fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

struct db_options fixture_database;

bool fixture_options(const char *url, struct db_options *out)
{
    *out = (struct db_options){.engine = DB_POSTGRES, .url = url, .busy_ms = 5000};
    if (strncmp(url, "postgres", 8) == 0) {
        return true;
    }
    if (strncmp(url, "sqlite:", 7) != 0) {
        return false;
    }
    *out = (struct db_options){.engine = DB_SQLITE, .path = url + 7, .busy_ms = 5000};
    return true;
}

void fixture_must(enum status status, struct fixture *f, const char *file, int line)
{
    if (status) {
        print_error("%s %s: %s\n", status_name(status), f->failure.code, f->failure.detail);
        _fail(file, line);
    }
}

struct slice fixture_text(struct fixture *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct slice text = arena_vformat(&f->arena, format, args);
    va_end(args);
    return text;
}

struct slice fixture_hash(struct fixture *f, int seed)
{
    char *bytes = arena_bytes(&f->arena, 32);
    memset(bytes, 0, 32); /* zero bytes on purpose: hashes are not text */
    snprintf(bytes, 28, "%s", f->mark);
    memcpy(bytes + 28, &seed, sizeof seed);
    return slice_from(bytes, 32);
}

void fixture_begin(struct fixture *f)
{
    must(db_begin(f->db, &f->failure));
}

void fixture_commit(struct fixture *f)
{
    must(db_commit(f->db, &f->failure));
}

static int64_t add_tenant(struct fixture *f, const char *name)
{
    struct tenant tenant = {.id = fixture_text(f, "%s-%s", name, f->mark), .name = SLICE("Test"), .created_at_ms = 1};
    must(store_tenant_insert(f->db, &tenant, &f->failure));
    return tenant.key;
}

int fixture_setup(void **state)
{
    static int tests;
    struct fixture *f = memory_zeroed(sizeof *f);
    struct clock clock;
    clock_init_system(&clock);
    f->now_ms = 1700000000000;
    snprintf(f->mark, sizeof f->mark, "%llx-%x", (unsigned long long)clock_wall_ms(&clock), (unsigned)++tests);
    must(db_open(&fixture_database, &f->db, &f->failure));
    fixture_begin(f);
    f->tenant = add_tenant(f, "own");
    f->other = add_tenant(f, "other");
    fixture_commit(f);
    *state = f;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *f = *state;
    db_close(f->db);
    arena_release(&f->arena);
    free(f);
    return 0;
}

/* --- sessions --- */

static const struct session_limits limits = {
    .metadata_bytes_max = 16384, .title_chars_max = 500, .workspace_chars_max = 500, .prompt_chars_max = 100000};

static const struct json *parse(struct fixture *f, const char *json)
{
    struct slice copy = arena_copy(&f->arena, slice_of(json));
    for (char *c = (char *)copy.ptr; *c; c++) {
        if (*c == '\'') {
            *c = '"';
        }
    }
    const struct json *value = NULL;
    must(json_parse(&f->arena, copy, &value, &f->failure));
    return value;
}

/* An agent that somebody defined, when its driver is said. */
static const struct agent *definition_of(struct fixture *f, const struct json *o)
{
    int driver = enum_names_find(agent_driver_enum, json_text_of(o, "driver"));
    if (driver < 0) {
        return NULL;
    }
    struct agent *agent = arena_alloc(&f->arena, sizeof *agent);
    agent_set_undefined(agent, json_text_of(o, "agent"));
    agent->version = 1;
    agent->driver = (enum agent_driver)driver;
    return agent;
}

static struct session_input input_of(struct fixture *f, const char *json)
{
    const struct json *o = parse(f, json ? json : "{}");
    struct slice type = json_text_of(o, "type");
    return (struct session_input){
        .type = slice_present(type) ? type : SLICE("agent"),
        .status = json_text_of(o, "status"),
        .agent = json_text_of(o, "agent"),
        .agent_config = json_get_value(o, "agent_config"),
        .definition = definition_of(f, o),
        .title = json_text_of(o, "title"),
        .workspace = json_text_of(o, "workspace"),
        .source = json_get_value(o, "source"),
        .metadata = json_get_value(o, "metadata"),
        .parent_id = json_text_of(o, "parent_id"),
        .task_id = json_text_of(o, "task_id"),
        .entity_id = json_text_of(o, "entity_id"),
        .visibility = json_text_of(o, "visibility"),
        .prompt = json_text_of(o, "prompt"),
        .purpose = json_text_of(o, "purpose"),
        .priority = json_i64_of(o, "priority"),
        .ttl_ms = -1,
    };
}

static void stamp(struct fixture *f, struct event *event, int64_t sequence)
{
    event->sequence = sequence;
    event->at_ms = f->now_ms;
    event->actor = SLICE("user:u1");
}

struct session *fixture_session(struct fixture *f, int64_t tenant_key, const char *id, const char *owner,
                                const char *json)
{
    struct session *session = arena_alloc(&f->arena, sizeof *session);
    struct session_input input = input_of(f, json);
    struct changes changes = {0};
    must(change_create(&f->arena, &input, &limits, slice_of(id), slice_of(owner), f->now_ms, &changes, &f->failure));
    session->tenant_key = tenant_key;
    for (size_t i = 0; i < changes.count; i++) {
        stamp(f, &changes.events[i], (int64_t)i + 1);
        session_apply(session, &changes.events[i], &f->arena);
    }
    fixture_begin(f);
    must(store_session_insert(f->db, session, &f->failure));
    for (size_t i = 0; i < changes.count; i++) {
        must(store_event_insert(f->db, tenant_key, session->key, &changes.events[i], &f->failure));
    }
    fixture_commit(f);
    return session;
}

void fixture_write(struct fixture *f, struct session *session, struct changes *changes)
{
    int64_t old_sequence = session->last_sequence;
    enum session_status old_work = session->status;
    unsigned what = 0;
    for (size_t i = 0; i < changes->count; i++) {
        stamp(f, &changes->events[i], session->last_sequence + 1);
        what |= session_apply(session, &changes->events[i], &f->arena);
        must(store_event_insert(f->db, session->tenant_key, session->key, &changes->events[i], &f->failure));
    }
    must(store_session_update(f->db, session, what, old_sequence, old_work, &f->failure));
}

void fixture_append(struct fixture *f, struct session *session, const char *type, const char *content)
{
    struct changes changes = {.count = 1};
    changes.events[0] = (struct event){.kind = event_kind_find(slice_of(type)),
                                       .custom = slice_of(type),
                                       .role = ROLE_AGENT,
                                       .content = slice_of(content)};
    fixture_begin(f);
    fixture_write(f, session, &changes);
    fixture_commit(f);
}

void fixture_move(struct fixture *f, struct session *session, enum session_status to)
{
    struct changes changes = {0};
    if (to == SESSION_RUNNING && session->status == SESSION_PENDING) {
        must(change_claim(&f->arena, session, SLICE("w1"), &changes, &f->failure));
    } else {
        must(change_status(&f->arena, session, to, "a test", STOP_NONE, &changes, &f->failure));
    }
    fixture_begin(f);
    fixture_write(f, session, &changes);
    fixture_commit(f);
}

void fixture_check_stored(struct fixture *f, const struct session *session)
{
    struct session stored;
    must(store_session_by_key(f->db, session->tenant_key, session->key, &f->arena, &stored, &f->failure));
    const char *field = session_difference(session, &stored);
    if (field) {
        print_error("the stored row differs in %s\n", field);
    }
    assert_null(field);
    assert_int_equal(stored.key, session->key);
}
