#include "domain/change_payload.h"
#include "domain/input.h"
#include "domain/session_details.h"

/* --- open --- */

static bool same_json(struct slice a, struct slice b)
{
    return slice_present(a) == slice_present(b) && slice_eq(a, b);
}

static void add_metadata(struct arena *arena, struct slice metadata, struct changes *out)
{
    struct payload payload;
    payload_begin(&payload);
    json_put_raw(&payload.out, "metadata", metadata);
    payload_end(&payload, arena, EVENT_SESSION_UPDATED, out);
}

enum status change_open(struct arena *arena, const struct session *session, const struct session_input *input,
                        const struct session_limits *limits, struct changes *out, struct failure *failure)
{
    struct slice metadata = {NULL, 0};
    int type = (int)session->type;
    out->count = 0;
    enum status status = input_read_word(input->type, "type", session_type_enum, &type, failure);
    if (status == STATUS_OK && type != (int)session->type) {
        return failure_set(failure, STATUS_CONFLICT, "type_mismatch",
                           "This session is of type %s, which never changes; %s was asked for.",
                           session_type_enum.names[session->type], session_type_enum.names[type]);
    }
    if (status == STATUS_OK) {
        status = input_merge_metadata(arena, session->metadata, input->metadata, limits, &metadata, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (session_status_can_reopen(session->status) && session_is_conversation(session)) {
        change_add_reopening(arena, session, "opened again", out);
    } else if (session->archived_at_ms) {
        struct payload payload;
        payload_begin(&payload);
        payload_end(&payload, arena, EVENT_SESSION_UNARCHIVED, out);
    }
    if (!same_json(metadata, session->metadata)) {
        add_metadata(arena, metadata, out);
    }
    return STATUS_OK;
}

/* --- update --- */

/* What a patch asks for; `has` says which members it had. */
struct update {
    bool has_title, has_expiry;
    struct slice title, metadata, details;
    int visibility, queue_mode;
    int64_t expires_at_ms;
};

static enum status read_title(const struct json *member, const struct session_limits *limits, struct update *update,
                              struct failure *failure)
{
    update->has_title = true;
    update->title = (struct slice){NULL, 0};
    if (!json_is(member, JSON_NULL) && !json_as_text(member, &update->title)) {
        return failure_set(failure, STATUS_INVALID, "invalid_value", "`title` must be a string or null, not %s.",
                           json_kind_name(member->kind));
    }
    return input_check_chars(update->title, "title", 0, limits->title_chars_max, failure);
}

static enum status read_choice(const struct json *member, const char *name, struct enum_names words, int *out,
                               struct failure *failure)
{
    struct slice word = SLICE("");
    json_as_text(member, &word);
    return input_read_word(word, name, words, out, failure);
}

static enum status read_ttl(const struct json *member, int64_t now_ms, struct update *update, struct failure *failure)
{
    int64_t ttl_ms = 0;
    if (!json_is(member, JSON_NULL) && (!json_as_i64(member, &ttl_ms) || ttl_ms < 0 || ttl_ms > TTL_MS_MAX)) {
        return failure_set(failure, STATUS_INVALID, "invalid_ttl", "`ttl_ms` must be null or 0 (never) to %lld.",
                           (long long)TTL_MS_MAX);
    }
    update->has_expiry = true;
    update->expires_at_ms = ttl_ms ? now_ms + ttl_ms : 0;
    return STATUS_OK;
}

static enum status read_patch_member(struct arena *arena, const struct session *session, const struct json *member,
                                     const struct session_limits *limits, int64_t now_ms, struct update *update,
                                     struct failure *failure)
{
    if (slice_is(member->key, "title")) {
        return read_title(member, limits, update, failure);
    }
    if (slice_is(member->key, "metadata")) {
        return input_merge_metadata(arena, session->metadata, member, limits, &update->metadata, failure);
    }
    if (slice_is(member->key, "details")) {
        bool hosted = agent_is_hosted((enum agent_driver)session->driver);
        enum status status = session_details_check_own(member, hosted, failure);
        return status == STATUS_OK ? session_details_merge(arena, session->details, member, &update->details, failure)
                                   : status;
    }
    if (slice_is(member->key, "visibility")) {
        return read_choice(member, "visibility", visibility_enum, &update->visibility, failure);
    }
    if (slice_is(member->key, "queue_mode")) {
        return read_choice(member, "queue_mode", queue_mode_enum, &update->queue_mode, failure);
    }
    if (slice_is(member->key, "ttl_ms")) {
        return read_ttl(member, now_ms, update, failure);
    }
    return failure_set(failure, STATUS_INVALID, "unknown_member",
                       "`%.*s` cannot be changed; accepted: title, metadata, visibility, queue_mode, details, ttl_ms.",
                       SLICE_ARG(slice_utf8_prefix(member->key, 60)));
}

/* Writes what differs; the number of members. */
static int put_differences(struct payload *payload, const struct session *session, const struct update *update)
{
    struct json_out *out = &payload->out;
    int count = 0;
    if (update->has_title && !same_json(update->title, session->title)) {
        json_put_text(out, "title", update->title);
        count++;
    }
    if (!same_json(update->metadata, session->metadata)) {
        json_put_raw(out, "metadata", update->metadata);
        count++;
    }
    if (!same_json(update->details, session->details)) {
        json_put_raw(out, "details", update->details);
        count++;
    }
    if (update->visibility != (int)session->visibility) {
        payload_word(payload, "visibility", visibility_enum, update->visibility);
        count++;
    }
    if (update->queue_mode != (int)session->queue_mode) {
        payload_word(payload, "queue_mode", queue_mode_enum, update->queue_mode);
        count++;
    }
    if (update->has_expiry && update->expires_at_ms != session->expires_at_ms) {
        json_put_i64(out, "expires_at_ms", update->expires_at_ms);
        count++;
    }
    return count;
}

enum status change_update(struct arena *arena, const struct session *session, const struct json *patch,
                          const struct session_limits *limits, int64_t now_ms, struct changes *out,
                          struct failure *failure)
{
    struct update update = {
        .metadata = session->metadata,
        .details = session->details,
        .visibility = (int)session->visibility,
        .queue_mode = (int)session->queue_mode,
    };
    struct payload payload;
    out->count = 0;
    if (!json_is(patch, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_patch", "The change must be an object.");
    }
    for (const struct json *member = patch->child; member; member = member->next) {
        enum status status = read_patch_member(arena, session, member, limits, now_ms, &update, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    payload_begin(&payload);
    int count = put_differences(&payload, session, &update);
    payload_end(&payload, arena, EVENT_SESSION_UPDATED, out);
    out->count = count > 0 ? 1 : 0;
    return STATUS_OK;
}
