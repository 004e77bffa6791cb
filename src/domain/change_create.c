#include "domain/change.h"

#include "domain/change_payload.h"
#include "domain/merge.h"
#include "domain/session_details.h"

enum { REFERENCE_BYTES_MAX = 200, METADATA_KEY_BYTES_MAX = 128, NAME_BYTES_MAX = 64 };

/* --- checks of single values --- */

static size_t count_chars(struct slice text)
{
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++) {
        chars += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return chars;
}

static enum status check_chars(struct slice text, const char *name, size_t least, size_t most, struct failure *failure)
{
    size_t chars = count_chars(text);
    if (slice_present(text) && (chars < least || chars > most)) {
        return failure_set(failure, chars > most ? STATUS_TOO_LARGE : STATUS_INVALID, "invalid_length",
                           "`%s` must have %zu to %zu characters; it has %zu.", name, least, most, chars);
    }
    return STATUS_OK;
}

/* Slugs, ids of other things, platforms: printable, no white space. */
static enum status check_name(struct slice text, const char *name, size_t most, struct failure *failure)
{
    bool ok = text.len >= 1 && text.len <= most;
    for (size_t i = 0; ok && i < text.len; i++) {
        ok = (unsigned char)text.ptr[i] > ' ' && text.ptr[i] != 0x7F;
    }
    if (slice_present(text) && !ok) {
        return failure_set(failure, STATUS_INVALID, "invalid_value",
                           "`%s` must have 1 to %zu bytes and no white space.", name, most);
    }
    return STATUS_OK;
}

static enum status check_id(struct slice id, const char *name, struct failure *failure)
{
    if (slice_present(id) && !session_id_is_valid(id)) {
        return failure_set(failure, STATUS_INVALID, "invalid_id",
                           "`%s` must have 1 to 128 characters of A-Z, a-z, 0-9, \".\", \"_\", \":\" and \"-\".", name);
    }
    return STATUS_OK;
}

/* *out keeps its value when the word is absent. */
static enum status read_word(struct slice word, const char *name, struct words words, int *out, struct failure *failure)
{
    if (!slice_present(word)) {
        return STATUS_OK;
    }
    int index = word.len ? words_find(words, word) : -1;
    if (index < 0) {
        char list[160];
        words_list(words, list, sizeof list);
        return failure_set(failure, STATUS_INVALID, "invalid_value", "`%s` must be one of: %s.", name, list);
    }
    *out = index;
    return STATUS_OK;
}

/* --- metadata --- */

static enum status check_metadata_member(const struct json *member, struct failure *failure)
{
    if (member->key.len == 0 || member->key.len > METADATA_KEY_BYTES_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata", "A key of `metadata` must have 1 to %d bytes.",
                           METADATA_KEY_BYTES_MAX);
    }
    if (json_is(member, JSON_ARRAY) || json_is(member, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata",
                           "`metadata.%.*s` must be a string, a number or a boolean (or null, to remove it), not %s.",
                           SLICE_ARG(slice_utf8_prefix(member->key, 60)), json_kind_name(member->kind));
    }
    return STATUS_OK;
}

/* *out is in the arena, and absent when nothing remains. */
static enum status merge_metadata(struct arena *arena, struct slice old, const struct json *patch,
                                  const struct session_limits *limits, struct slice *out, struct failure *failure)
{
    *out = old;
    if (!patch || json_is(patch, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_is(patch, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_metadata", "`metadata` must be an object, not %s.",
                           json_kind_name(patch->kind));
    }
    for (const struct json *member = patch->child; member; member = member->next) {
        enum status status = check_metadata_member(member, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct slice merged = merge_objects(arena, old, patch);
    if (merged.len > limits->metadata_bytes_max) {
        return failure_set(failure, STATUS_TOO_LARGE, "metadata_too_large",
                           "`metadata` would take %zu bytes of at most %zu.", merged.len, limits->metadata_bytes_max);
    }
    *out = slice_is(merged, "{}") ? (struct slice){NULL, 0} : merged;
    return STATUS_OK;
}

/* --- the source --- */

struct source {
    struct slice kind;
    struct slice platform;
    struct slice trigger_id;
    bool interactive;
    int type; /* enum chat_type */
};

/* What an id says about where the session comes from, when the client does not say more (S2-004 to S2-009). */
static const struct {
    const char *prefix;
    const char *kind;
    const char *platform; /* NULL = none */
    bool names_trigger;   /* the rest of the id is what triggers it */
} source_schemes[] = {
    {"cli:", "cli", NULL, false},
    {"web:", "web", NULL, false},
    {"telegram:", "channel", "telegram", false},
    {"discord:", "channel", "discord", false},
    {"slack:", "channel", "slack", false},
    {"schedule:", "schedule", NULL, true},
};

static struct source source_of_id(struct slice id)
{
    for (size_t i = 0; i < sizeof source_schemes / sizeof source_schemes[0]; i++) {
        struct slice prefix = slice_of(source_schemes[i].prefix);
        if (slice_starts(id, prefix)) {
            return (struct source){
                .kind = slice_of(source_schemes[i].kind),
                .platform = slice_of(source_schemes[i].platform),
                .trigger_id = source_schemes[i].names_trigger ? slice_after(id, prefix.len) : (struct slice){NULL, 0},
            };
        }
    }
    return (struct source){.kind = SLICE("api")};
}

/* Nobody sits before a schedule. */
static bool usually_interactive(struct slice kind)
{
    return !slice_is(kind, "schedule");
}

static enum status read_source_text(const struct json *member, size_t most, struct slice *out, struct failure *failure)
{
    if (json_is(member, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!json_as_text(member, out)) {
        return failure_set(failure, STATUS_INVALID, "invalid_source", "`source.%.*s` must be a string.",
                           SLICE_ARG(member->key));
    }
    return check_name(*out, "source", most, failure);
}

static enum status read_source_member(const struct json *member, struct source *source, bool *interactive_given,
                                      struct failure *failure)
{
    struct slice type = {NULL, 0};
    if (slice_is(member->key, "kind")) {
        return read_source_text(member, NAME_BYTES_MAX, &source->kind, failure);
    }
    if (slice_is(member->key, "platform")) {
        return read_source_text(member, NAME_BYTES_MAX, &source->platform, failure);
    }
    if (slice_is(member->key, "trigger_id") || slice_is(member->key, "triggerId")) {
        return read_source_text(member, REFERENCE_BYTES_MAX, &source->trigger_id, failure);
    }
    if (slice_is(member->key, "interactive") && json_as_bool(member, &source->interactive)) {
        *interactive_given = true;
        return STATUS_OK;
    }
    if (slice_is(member->key, "type") && (json_as_text(member, &type) || json_is(member, JSON_NULL))) {
        return read_word(type, "source.type", chat_type_words, &source->type, failure);
    }
    return failure_set(failure, STATUS_INVALID, "invalid_source",
                       "`source.%.*s` is not accepted; a source has kind, platform, trigger_id (strings), interactive "
                       "(a boolean) and type (direct or group).",
                       SLICE_ARG(slice_utf8_prefix(member->key, 60)));
}

/* An object, or just the kind as a string. */
static enum status read_source(const struct json *json, struct slice id, struct source *out, struct failure *failure)
{
    bool interactive_given = false;
    *out = source_of_id(id);
    if (json && !json_is(json, JSON_NULL) && !json_is(json, JSON_STRING) && !json_is(json, JSON_OBJECT)) {
        return failure_set(failure, STATUS_INVALID, "invalid_source", "`source` must be an object or a string, not %s.",
                           json_kind_name(json->kind));
    }
    if (json_as_text(json, &out->kind)) {
        enum status status = check_name(out->kind, "source", NAME_BYTES_MAX, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (const struct json *one = json_is(json, JSON_OBJECT) ? json->child : NULL; one; one = one->next) {
        enum status status = read_source_member(one, out, &interactive_given, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (!interactive_given) {
        out->interactive = usually_interactive(out->kind);
    }
    return STATUS_OK;
}

/* --- create --- */

/* What is decided about a new session before its event is written. */
struct creation {
    int type, work, purpose, visibility, queue_mode;
    struct source source;
    struct slice metadata;
    struct slice details;
    int64_t expires_at_ms;
};

static enum status check_texts(const struct session_input *input, const struct session_limits *limits,
                               struct failure *failure)
{
    const struct {
        struct slice text;
        const char *name;
        size_t least, most;
    } texts[] = {
        {input->title, "title", 0, limits->title_chars_max},
        {input->workspace, "workspace", 1, limits->workspace_chars_max},
        {input->prompt, "prompt", 0, limits->prompt_chars_max},
    };
    const struct {
        struct slice text;
        const char *name;
    } names[] = {{input->agent, "agent"}, {input->task_id, "task_id"}, {input->entity_id, "entity_id"}};
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof texts / sizeof texts[0]; i++) {
        status = check_chars(texts[i].text, texts[i].name, texts[i].least, texts[i].most, failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < sizeof names / sizeof names[0]; i++) {
        status = check_name(names[i].text, names[i].name, REFERENCE_BYTES_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = check_id(input->parent_id, "parent_id", failure);
    }
    return status == STATUS_OK ? check_id(input->retry_of, "retry_of", failure) : status;
}

static enum status read_words(const struct session_input *input, struct creation *creation, struct failure *failure)
{
    const struct {
        struct slice word;
        const char *name;
        struct words words;
        int *out;
    } all[] = {
        {input->type, "type", session_type_words, &creation->type},
        {input->status, "status", work_words, &creation->work},
        {input->purpose, "purpose", purpose_words, &creation->purpose},
        {input->visibility, "visibility", visibility_words, &creation->visibility},
        {input->queue_mode, "queue_mode", queue_mode_words, &creation->queue_mode},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        enum status status = read_word(all[i].word, all[i].name, all[i].words, all[i].out, failure);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (creation->type < 0) {
        return failure_set(failure, STATUS_INVALID, "type_missing",
                           "`type` is missing; it must be agent, response, tool or mixed.");
    }
    return STATUS_OK;
}

static void list_initials(enum session_type type, bool approval, char *out, size_t room)
{
    const char *names[WORK_COUNT];
    int count = 0;
    for (int state = 0; state < WORK_COUNT; state++) {
        if (work_is_initial(type, approval, (enum work)state)) {
            names[count++] = work_words.names[state];
        }
    }
    words_list((struct words){names, count}, out, room);
}

/* A human session records one person's work on one task, from its first moment. */
static enum status check_human_bridge(const struct session_input *input, struct slice owner, struct creation *creation,
                                      struct failure *failure)
{
    if (!slice_is(creation->source.kind, SOURCE_HUMAN_BRIDGE)) {
        return STATUS_OK;
    }
    if (creation->type != TYPE_MIXED || !slice_present(input->task_id) || !slice_present(owner)) {
        return failure_set(failure, STATUS_INVALID, "invalid_human_session",
                           "A session from %s is of type mixed and has an owner and a `task_id`.", SOURCE_HUMAN_BRIDGE);
    }
    if (creation->work < 0) {
        creation->work = WORK_RUNNING;
    }
    return STATUS_OK;
}

static enum status decide_status(const struct session_input *input, struct creation *creation, struct failure *failure)
{
    enum session_type type = (enum session_type)creation->type;
    bool approval = creation->purpose == PURPOSE_APPROVAL;
    bool dispatched = slice_present(input->prompt) || slice_present(input->task_id) || slice_present(input->retry_of);
    if (creation->work < 0) {
        creation->work = approval ? WORK_WAITING_HUMAN : (int)work_initial(type, dispatched);
    }
    if (!work_is_initial(type, approval, (enum work)creation->work)) {
        char list[160];
        list_initials(type, approval, list, sizeof list);
        return failure_set(failure, STATUS_INVALID, "invalid_initial_status",
                           "A new session of type %s cannot be %s; accepted: %s.", session_type_words.names[type],
                           work_words.names[creation->work], list);
    }
    return STATUS_OK;
}

static enum status decide_expiry(const struct session_input *input, const struct session_limits *limits, int64_t now_ms,
                                 struct creation *creation, struct failure *failure)
{
    int64_t ttl_ms = input->ttl_ms >= 0 ? input->ttl_ms : limits->ttl_ms[creation->type];
    if (ttl_ms > TTL_MS_MAX) {
        return failure_set(failure, STATUS_INVALID, "invalid_ttl", "`ttl_ms` must be 0 (never) to %lld.",
                           (long long)TTL_MS_MAX);
    }
    creation->expires_at_ms = ttl_ms > 0 ? now_ms + ttl_ms : 0;
    return STATUS_OK;
}

static enum status decide_creation(struct arena *arena, const struct session_input *input,
                                   const struct session_limits *limits, struct slice id, struct slice owner,
                                   int64_t now_ms, struct creation *creation, struct failure *failure)
{
    enum status status = check_id(id, "id", failure);
    if (status == STATUS_OK) {
        status = read_words(input, creation, failure);
    }
    if (status == STATUS_OK) {
        status = check_texts(input, limits, failure);
    }
    if (status == STATUS_OK) {
        status = read_source(input->source, id, &creation->source, failure);
    }
    if (status == STATUS_OK) {
        status = check_human_bridge(input, owner, creation, failure);
    }
    if (status == STATUS_OK) {
        status = decide_status(input, creation, failure);
    }
    if (status == STATUS_OK) {
        status = decide_expiry(input, limits, now_ms, creation, failure);
    }
    if (status == STATUS_OK) {
        status = merge_metadata(arena, (struct slice){NULL, 0}, input->metadata, limits, &creation->metadata, failure);
    }
    if (status == STATUS_OK) {
        status = session_details_merge(arena, (struct slice){NULL, 0}, input->details, &creation->details, failure);
    }
    return status;
}

static void put_source(struct json_out *out, const struct source *source)
{
    json_key(out, "source");
    json_begin_object(out);
    json_put_text(out, "kind", source->kind);
    json_maybe_text(out, "platform", source->platform);
    json_put_bool(out, "interactive", source->interactive);
    json_maybe_text(out, "trigger_id", source->trigger_id);
    if (source->type != CHAT_NONE) {
        json_put_text(out, "type", slice_of(chat_type_words.names[source->type]));
    }
    json_end_object(out);
}

static void put_creation(struct payload *payload, const struct session_input *input, const struct creation *creation)
{
    struct json_out *out = &payload->out;
    payload_word(payload, "type", session_type_words, creation->type);
    payload_word(payload, "status", work_words, creation->work);
    payload_word(payload, "purpose", purpose_words, creation->purpose);
    put_source(out, &creation->source);
    payload_word(payload, "visibility", visibility_words, creation->visibility);
    payload_word(payload, "queue_mode", queue_mode_words, creation->queue_mode);
    json_maybe_text(out, "agent", input->agent);
    json_maybe_text(out, "title", input->title);
    json_maybe_text(out, "workspace", input->workspace);
    json_maybe_text(out, "parent_id", input->parent_id);
    json_maybe_text(out, "task_id", input->task_id);
    json_maybe_text(out, "entity_id", input->entity_id);
    json_maybe_text(out, "retry_of", input->retry_of);
    json_put_i64(out, "attempt", input->attempt > 0 ? input->attempt : 1);
    json_put_i64(out, "priority", input->priority);
    if (input->anonymous) {
        json_put_bool(out, "anonymous", true);
    }
    json_maybe_text(out, "prompt", input->prompt);
    json_maybe_raw(out, "metadata", creation->metadata);
    json_maybe_raw(out, "details", creation->details);
    if (creation->expires_at_ms) {
        json_put_i64(out, "expires_at_ms", creation->expires_at_ms);
    }
}

enum status change_create(struct arena *arena, const struct session_input *input, const struct session_limits *limits,
                          struct slice id, struct slice owner, int64_t now_ms, struct changes *out,
                          struct failure *failure)
{
    struct creation creation = {.type = -1, .work = -1};
    struct payload payload;
    out->count = 0;
    enum status status = decide_creation(arena, input, limits, id, owner, now_ms, &creation, failure);
    if (status != STATUS_OK) {
        return status;
    }
    payload_begin(&payload);
    json_put_text(&payload.out, "id", id);
    json_maybe_text(&payload.out, "owner_id", owner);
    put_creation(&payload, input, &creation);
    payload_end(&payload, arena, "session.created", out);
    return STATUS_OK;
}

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
    payload_end(&payload, arena, "session.updated", out);
}

enum status change_open(struct arena *arena, const struct session *session, const struct session_input *input,
                        const struct session_limits *limits, struct changes *out, struct failure *failure)
{
    struct slice metadata = {NULL, 0};
    int type = (int)session->type;
    out->count = 0;
    enum status status = read_word(input->type, "type", session_type_words, &type, failure);
    if (status == STATUS_OK && type != (int)session->type) {
        return failure_set(failure, STATUS_CONFLICT, "type_mismatch",
                           "This session is of type %s, which never changes; %s was asked for.",
                           session_type_words.names[session->type], session_type_words.names[type]);
    }
    if (status == STATUS_OK) {
        status = merge_metadata(arena, session->metadata, input->metadata, limits, &metadata, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (work_can_reopen(session->work) && session_is_conversation(session)) {
        change_add_reopening(arena, session, "opened again", out);
    } else if (session->archived_at_ms) {
        struct payload payload;
        payload_begin(&payload);
        payload_end(&payload, arena, "session.unarchived", out);
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
    return check_chars(update->title, "title", 0, limits->title_chars_max, failure);
}

static enum status read_choice(const struct json *member, const char *name, struct words words, int *out,
                               struct failure *failure)
{
    struct slice word = SLICE("");
    json_as_text(member, &word);
    return read_word(word, name, words, out, failure);
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
        return merge_metadata(arena, session->metadata, member, limits, &update->metadata, failure);
    }
    if (slice_is(member->key, "details")) {
        return session_details_merge(arena, session->details, member, &update->details, failure);
    }
    if (slice_is(member->key, "visibility")) {
        return read_choice(member, "visibility", visibility_words, &update->visibility, failure);
    }
    if (slice_is(member->key, "queue_mode")) {
        return read_choice(member, "queue_mode", queue_mode_words, &update->queue_mode, failure);
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
        payload_word(payload, "visibility", visibility_words, update->visibility);
        count++;
    }
    if (update->queue_mode != (int)session->queue_mode) {
        payload_word(payload, "queue_mode", queue_mode_words, update->queue_mode);
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
    payload_end(&payload, arena, "session.updated", out);
    out->count = count > 0 ? 1 : 0;
    return STATUS_OK;
}
