#include "domain/change_payload.h"
#include "domain/input.h"
#include "domain/prompt.h"
#include "domain/session_details.h"
#include "domain/tunnel.h"

/* What is decided about a new session before its event is written. */
struct creation {
    int type, work, purpose, visibility, queue_mode;
    struct source source;
    struct slice metadata;
    struct slice details;
    struct slice agent_config;
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
        status = input_check_chars(texts[i].text, texts[i].name, texts[i].least, texts[i].most, failure);
    }
    for (size_t i = 0; status == STATUS_OK && i < sizeof names / sizeof names[0]; i++) {
        status = input_check_name(names[i].text, names[i].name, REFERENCE_BYTES_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = input_check_id(input->parent_id, "parent_id", failure);
    }
    return status == STATUS_OK ? input_check_id(input->retry_of, "retry_of", failure) : status;
}

static enum status read_words(const struct session_input *input, struct creation *creation, struct failure *failure)
{
    const struct {
        struct slice word;
        const char *name;
        struct enum_names words;
        int *out;
    } all[] = {
        {input->type, "type", session_type_enum, &creation->type},
        {input->status, "status", session_status_enum, &creation->work},
        {input->purpose, "purpose", purpose_enum, &creation->purpose},
        {input->visibility, "visibility", visibility_enum, &creation->visibility},
        {input->queue_mode, "queue_mode", queue_mode_enum, &creation->queue_mode},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        enum status status = input_read_word(all[i].word, all[i].name, all[i].words, all[i].out, failure);
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
    const char *names[SESSION_STATUS_COUNT];
    int count = 0;
    for (int state = 0; state < SESSION_STATUS_COUNT; state++) {
        if (session_status_is_initial(type, approval, (enum session_status)state)) {
            names[count++] = session_status_enum.names[state];
        }
    }
    enum_names_list((struct enum_names){names, count}, out, room);
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
        creation->work = SESSION_RUNNING;
    }
    return STATUS_OK;
}

static enum status decide_status(const struct session_input *input, struct creation *creation, struct failure *failure)
{
    enum session_type type = (enum session_type)creation->type;
    bool approval = creation->purpose == PURPOSE_APPROVAL;
    bool dispatched = slice_present(input->prompt) || slice_present(input->task_id) || slice_present(input->retry_of);
    if (creation->work < 0) {
        creation->work = approval ? SESSION_WAITING_HUMAN : (int)session_status_initial(type, dispatched);
    }
    if (!session_status_is_initial(type, approval, (enum session_status)creation->work)) {
        char list[160];
        list_initials(type, approval, list, sizeof list);
        return failure_set(failure, STATUS_INVALID, "invalid_initial_status",
                           "A new session of type %s cannot be %s; accepted: %s.", session_type_enum.names[type],
                           session_status_enum.names[creation->work], list);
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

/* The narrowing is checked once, here: what is frozen into the session fits its agent for good. */
static enum status decide_agent(struct arena *arena, const struct session_input *input, struct creation *creation,
                                struct failure *failure)
{
    const struct agent *definition = input->definition;
    if (definition && !slice_present(input->queue_mode) && definition->queue_mode >= 0) {
        creation->queue_mode = definition->queue_mode;
    }
    if (!input->agent_config || json_is(input->agent_config, JSON_NULL)) {
        return STATUS_OK;
    }
    if (!definition) {
        return failure_set(failure, STATUS_INVALID, "agent_not_defined",
                           "`agent_config` narrows what a defined agent may do; `agent` names none.");
    }
    struct agent narrowed = *definition;
    creation->agent_config = input->agent_config->raw;
    return agent_narrow(arena, input->agent_config, &narrowed, failure);
}

static enum status decide_details(struct arena *arena, const struct session_input *input, struct creation *creation,
                                  struct failure *failure)
{
    bool hosted = input->definition && agent_is_hosted(input->definition->driver);
    enum status status = session_details_check_own(input->details, hosted, failure);
    if (status == STATUS_OK) {
        status = session_details_merge(arena, (struct slice){NULL, 0}, input->details, &creation->details, failure);
    }
    if (status == STATUS_OK) {
        status = session_details_merge(arena, creation->details, input->served, &creation->details, failure);
    }
    return status;
}

static enum status decide_creation(struct arena *arena, const struct session_input *input,
                                   const struct session_limits *limits, struct slice id, struct slice owner,
                                   int64_t now_ms, struct creation *creation, struct failure *failure)
{
    enum status status = input_check_id(id, "id", failure);
    if (status == STATUS_OK) {
        status = read_words(input, creation, failure);
    }
    if (status == STATUS_OK) {
        status = check_texts(input, limits, failure);
    }
    if (status == STATUS_OK) {
        status = input_read_source(input->source, id, &creation->source, failure);
    }
    if (status == STATUS_OK) {
        status = check_human_bridge(input, owner, creation, failure);
    }
    if (status == STATUS_OK) {
        status = decide_status(input, creation, failure);
    }
    if (status == STATUS_OK) {
        status = decide_agent(arena, input, creation, failure);
    }
    if (status == STATUS_OK) {
        status = decide_expiry(input, limits, now_ms, creation, failure);
    }
    if (status == STATUS_OK) {
        status =
            input_merge_metadata(arena, (struct slice){NULL, 0}, input->metadata, limits, &creation->metadata, failure);
    }
    return status == STATUS_OK ? decide_details(arena, input, creation, failure) : status;
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
        json_put_text(out, "type", slice_of(chat_type_enum.names[source->type]));
    }
    json_end_object(out);
}

static void put_creation(struct payload *payload, const struct session_input *input, const struct creation *creation)
{
    struct json_out *out = &payload->out;
    payload_word(payload, "type", session_type_enum, creation->type);
    payload_word(payload, "status", session_status_enum, creation->work);
    payload_word(payload, "purpose", purpose_enum, creation->purpose);
    put_source(out, &creation->source);
    payload_word(payload, "visibility", visibility_enum, creation->visibility);
    payload_word(payload, "queue_mode", queue_mode_enum, creation->queue_mode);
    json_maybe_text(out, "agent", input->agent);
    if (input->definition) {
        json_put_i64(out, "agent_version", input->definition->version);
        payload_word(payload, "driver", agent_driver_enum, (int)input->definition->driver);
        json_maybe_raw(out, "agent_config", creation->agent_config);
    }
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

/* As session_is_conversation, before there is a session. */
static bool is_conversation(const struct creation *creation)
{
    struct session session = {.type = (enum session_type)creation->type, .source_kind = creation->source.kind};
    return session_is_conversation(&session);
}

static void add_runtime(struct arena *arena, enum runtime to, const struct runtime_update *news, struct changes *out)
{
    struct session fresh = {.runtime = RUNTIME_NONE};
    struct changes one = {0};
    struct failure ignored;
    if (change_sandbox(arena, &fresh, to, PAUSE_NONE, "", news, &one, &ignored) == STATUS_OK) {
        out->events[out->count++] = one.events[0];
    }
}

/* A sandbox that others made is there at once. One that the server makes begins now, or with the first message. */
static enum status add_sandbox(struct arena *arena, const struct session_input *input, struct changes *out,
                               struct failure *failure)
{
    struct slice id = json_text_of(input->sandbox, "id");
    const struct json *tunnels = json_get_value(input->sandbox, "tunnel_urls");
    bool ours = input->definition && agent_has_sandbox(input->definition);
    if (!input->sandbox) {
        if (input->starts_sandbox && ours) {
            add_runtime(arena, RUNTIME_STARTING, &(struct runtime_update){0}, out);
        }
        return STATUS_OK;
    }
    if (ours && input->definition->sandbox.kind == SANDBOX_LOCAL) {
        return failure_set(failure, STATUS_INVALID, "sandbox_is_local",
                           "The agent's sandbox is made on this machine; `sandbox` names one that is there already.");
    }
    enum status status = input_check_name(id, "sandbox.id", REFERENCE_BYTES_MAX, failure);
    if (status == STATUS_OK && id.len == 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_member", "`sandbox.id` must name the sandbox.");
    }
    if (status == STATUS_OK) {
        status = tunnel_check_all(tunnels, failure);
    }
    if (status == STATUS_OK) {
        struct runtime_update news = {.sandbox_id = id, .tunnel_urls = tunnels ? tunnels->raw : (struct slice){0}};
        add_runtime(arena, RUNTIME_RUNNING, &news, out);
    }
    return status;
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
    payload_end(&payload, arena, EVENT_SESSION_CREATED, out);
    status = add_sandbox(arena, input, out, failure);
    if (status == STATUS_OK && input->prompt.len > 0 && is_conversation(&creation)) {
        out->events[out->count++] = (struct event){
            .kind = EVENT_USER_MESSAGE,
            .role = ROLE_USER,
            .content = prompt_content_of(arena, input->prompt),
        };
    }
    return status;
}
