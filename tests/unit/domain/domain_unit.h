/* Sessions, events and JSON for the tests of the domain. */
#ifndef DOMAIN_UNIT_H
#define DOMAIN_UNIT_H

#include <stdio.h>
#include <stdlib.h>

#include "domain/change.h"
#include "unit.h"

enum { TENANT = 7 };
#define START_MS INT64_C(1700000000000)

static const struct session_limits test_limits = {
    .metadata_bytes_max = 400, .title_chars_max = 200, .workspace_chars_max = 100, .prompt_chars_max = 1000};

/* One arena per test program: freed by nobody on purpose but the last test's release. */
static struct arena test_arena;

static inline const struct json *json_of(const char *text)
{
    const struct json *value = NULL;
    struct failure failure;
    if (json_parse(&test_arena, slice_of(text), &value, &failure) != STATUS_OK) {
        print_error("bad JSON in a test: %s: %s\n", text, failure.detail);
        fail();
    }
    return value;
}

static inline struct event event_of(const char *type, const char *content, const char *metadata)
{
    return (struct event){.kind = event_kind_find(slice_of(type)),
                          .custom = slice_of(type),
                          .content = slice_of(content),
                          .metadata = slice_of(metadata),
                          .actor = SLICE("user:u1")};
}

/* Applies one event at the given time with the next sequence. */
static inline unsigned apply_at(struct session *session, struct event event, int64_t at_ms)
{
    event.sequence = session->last_sequence + 1;
    event.at_ms = at_ms;
    return session_apply(session, &event, &test_arena);
}

static inline unsigned apply_changes(struct session *session, const struct changes *changes, int64_t at_ms)
{
    unsigned changed = 0;
    for (size_t i = 0; i < changes->count; i++) {
        changed |= apply_at(session, changes->events[i], at_ms);
    }
    return changed;
}

/* A session as session.created makes it. */
static inline struct session create_with(struct session_input input, const char *id, const char *owner)
{
    struct session session = {.tenant_key = TENANT};
    struct changes changes = {0};
    struct failure failure = {0};
    enum status status =
        change_create(&test_arena, &input, &test_limits, slice_of(id), slice_of(owner), START_MS, &changes, &failure);
    if (status != STATUS_OK) {
        print_error("create: %s: %s\n", failure.code, failure.detail);
        fail();
    }
    apply_changes(&session, &changes, START_MS);
    return session;
}

static inline struct session create_in(enum session_type type, const char *status)
{
    struct session_input input = {
        .type = slice_of(session_type_enum.names[type]), .status = slice_of(status), .ttl_ms = -1};
    return create_with(input, "s1", "u1");
}

static inline int release_test_arena(void **state)
{
    (void)state;
    arena_release(&test_arena);
    return 0;
}

#endif
