
#include "domain/agent.h"
#include "domain/merge.h"
#include "domain/preview.h"
#include "domain/session.h"

/* The payload of a session.* event and what its fold needs. */
struct fold {
    struct session *session;
    const struct json *payload; /* never NULL, perhaps not an object: the readers bear both */
    int64_t at_ms;
    struct arena *arena;
};

static struct slice keep_text(const struct fold *fold, const char *key)
{
    return arena_copy(fold->arena, json_text_of(fold->payload, key));
}

static struct slice keep_raw(const struct fold *fold, const char *key)
{
    return arena_copy(fold->arena, json_raw_of(fold->payload, key));
}

/* The index of the word, or `absent` when it is missing or unknown. */
static int word_of(const struct json *object, const char *key, struct enum_names words, int absent)
{
    struct slice name = json_text_of(object, key);
    int index = slice_present(name) ? enum_names_find(words, name) : -1;
    return index >= 0 ? index : absent;
}

static bool flag_of(const struct json *object, const char *key)
{
    bool flag = false;
    json_as_bool(json_get(object, key), &flag);
    return flag;
}

/* --- the work machine's side effects, all of them --- */

static void clear_error(struct session *session)
{
    session->error_message = session->error_code = (struct slice){NULL, 0};
}

static void leave_work(struct session *session, int64_t at_ms)
{
    if (session->running_since_ms) {
        int64_t span = at_ms - session->running_since_ms;
        session->active_ms += span > 0 ? span : 0;
        session->running_since_ms = 0;
    }
    session->queued_at_ms = 0;
    if (session_status_is_ended(session->status)) {
        session->completed_at_ms = 0;
        session->archived_at_ms = 0;
        session->stop_reason = STOP_NONE;
        clear_error(session);
        if (session->runtime == RUNTIME_STOPPED || session->runtime == RUNTIME_ERROR) {
            session->runtime = RUNTIME_NONE;
        }
        if (session->expires_at_ms && session->expires_at_ms <= at_ms) {
            session->expires_at_ms = 0; /* or it would end again at once */
        }
    }
}

static void enter_work(struct session *session, enum session_status to, int64_t at_ms, enum stop_reason stop)
{
    session->status = to;
    if (session_status_is_running(to)) {
        session->running_since_ms = at_ms;
        session->started_at_ms = session->started_at_ms ? session->started_at_ms : at_ms;
        clear_error(session);
    }
    if (session_status_is_claimable(to)) {
        session->queued_at_ms = at_ms;
    }
    if (session_status_is_ended(to)) {
        session->completed_at_ms = at_ms;
        session->stop_reason = stop;
        session->pause_reason = PAUSE_NONE;
    }
}

/* A turn is done when it comes to rest by itself, not when somebody ends it. */
static bool finishes_turn(enum session_status from, enum session_status to, enum stop_reason stop)
{
    return session_status_is_in_turn(from) &&
           (to == SESSION_IDLE || (to == SESSION_COMPLETED && (stop == STOP_COMPLETED || stop == STOP_NONE)));
}

static void fold_outcome(const struct fold *fold)
{
    struct session *session = fold->session;
    struct slice result = json_raw_of(fold->payload, "result");
    struct slice usage = json_raw_of(fold->payload, "usage");
    if (slice_present(result)) {
        session->result = arena_copy(fold->arena, result);
    }
    if (slice_present(usage)) {
        session->usage = merge_totals(fold->arena, session->usage, usage);
    }
}

static unsigned fold_status_change(const struct fold *fold)
{
    struct session *session = fold->session;
    enum session_status from = session->status;
    enum session_status to = (enum session_status)word_of(fold->payload, "to", session_status_enum, (int)from);
    enum stop_reason stop = (enum stop_reason)word_of(fold->payload, "stop_reason", stop_reason_enum, STOP_NONE);
    bool was_due = session->expires_at_ms != 0;
    bool was_archived = session->archived_at_ms != 0;
    leave_work(session, fold->at_ms);
    enter_work(session, to, fold->at_ms, stop);
    if (session_status_is_claimable(to) && !flag_of(fold->payload, "requeued")) {
        session->claim_attempts = 0;
    }
    session->turn_count += finishes_turn(from, to, stop);
    session->status_reason = keep_text(fold, "reason");
    fold_outcome(fold);
    bool beyond = (was_due && !session->expires_at_ms) || (was_archived && !session->archived_at_ms);
    return CHANGED_MACHINE | (beyond ? CHANGED_ALL : 0);
}

/* What is written in `patch`, which is released here; null takes a member away. */
static unsigned merge_details(const struct fold *fold, struct buffer *patch)
{
    struct session *session = fold->session;
    struct arena scratch = {0};
    const struct json *told = NULL;
    bool tells = json_parse(&scratch, buffer_slice(patch), &told, NULL) == STATUS_OK && told->child;
    if (tells) {
        struct slice merged = merge_objects(fold->arena, session->details, told);
        session->details = slice_is(merged, "{}") ? (struct slice){NULL, 0} : merged;
    }
    arena_release(&scratch);
    buffer_release(patch);
    return tells ? CHANGED_ALL : 0;
}

/* Which sandbox it has and what it can be restored from stand among its details; null takes one away. */
static unsigned fold_sandbox(const struct fold *fold)
{
    static const char *const keys[] = {"sandbox_id", "snapshot_id", "tunnel_urls"};
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_object(&out);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (json_get(fold->payload, keys[i])) {
            json_put_raw(&out, keys[i], json_get(fold->payload, keys[i])->raw);
        }
    }
    json_end_object(&out);
    return merge_details(fold, &buffer);
}

/* One tunnel more or less among those of the details. */
static unsigned fold_tunnel(const struct fold *fold, struct slice target)
{
    struct session *session = fold->session;
    struct arena scratch = {0};
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    const struct json *details = NULL, *one = NULL, *patch = NULL;
    if (slice_present(session->details) && json_parse(&scratch, session->details, &details, NULL) != STATUS_OK) {
        details = NULL;
    }
    json_begin_object(&out);
    json_key_slice(&out, json_text_of(fold->payload, "name"));
    if (slice_present(target)) {
        json_text(&out, target);
    } else {
        json_null(&out);
    }
    json_end_object(&out);
    if (json_parse(&scratch, buffer_slice(&buffer), &one, NULL) == STATUS_OK) {
        struct slice all = merge_objects(&scratch, json_raw_of(details, "tunnel_urls"), one);
        struct slice text =
            arena_format(&scratch, "{\"tunnel_urls\":%.*s}", SLICE_ARG(slice_is(all, "{}") ? SLICE("null") : all));
        if (json_parse(&scratch, text, &patch, NULL) == STATUS_OK) {
            struct slice merged = merge_objects(fold->arena, session->details, patch);
            session->details = slice_is(merged, "{}") ? (struct slice){NULL, 0} : merged;
        }
    }
    buffer_release(&buffer);
    arena_release(&scratch);
    return CHANGED_ALL;
}

static unsigned fold_tunnel_opened(const struct fold *fold)
{
    return fold_tunnel(fold, json_text_of(fold->payload, "target"));
}

static unsigned fold_tunnel_closed(const struct fold *fold)
{
    return fold_tunnel(fold, (struct slice){NULL, 0});
}

static unsigned fold_runtime_change(const struct fold *fold)
{
    struct session *session = fold->session;
    enum pause_reason pause = (enum pause_reason)word_of(fold->payload, "pause_reason", pause_reason_enum, PAUSE_NONE);
    session->runtime = (enum runtime)word_of(fold->payload, "to", runtime_enum, (int)session->runtime);
    if (pause != PAUSE_NONE && pause != session->pause_reason) {
        session->paused_at_ms = fold->at_ms;
    }
    session->pause_reason = pause;
    if (!session_status_is_ended(session->status)) { /* why it ended says more than what became of its sandbox */
        session->status_reason = keep_text(fold, "reason");
    }
    return CHANGED_MACHINE | fold_sandbox(fold);
}

static unsigned fold_claimed(const struct fold *fold)
{
    fold->session->fence = json_i64_of(fold->payload, "fence");
    fold->session->claim_attempts = json_i64_of(fold->payload, "attempt");
    return CHANGED_MACHINE;
}

static unsigned fold_completed(const struct fold *fold)
{
    clear_error(fold->session);
    fold_outcome(fold);
    return CHANGED_MACHINE;
}

static unsigned fold_error(const struct fold *fold)
{
    fold->session->error_message = keep_text(fold, "message");
    fold->session->error_code = keep_text(fold, "code");
    fold_outcome(fold);
    return CHANGED_MACHINE;
}

/* What looking back cost counts like what turns cost. */
static unsigned fold_introspection(const struct fold *fold)
{
    fold_outcome(fold);
    return CHANGED_MACHINE;
}

static unsigned fold_archived(const struct fold *fold)
{
    fold->session->archived_at_ms = fold->at_ms;
    return CHANGED_ALL;
}

static unsigned fold_unarchived(const struct fold *fold)
{
    fold->session->archived_at_ms = 0;
    return CHANGED_ALL;
}

/* The time is the event's; where it went is in the log. */
static unsigned fold_exported(const struct fold *fold)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_object(&out);
    json_put_time(&out, "exported_at", fold->at_ms);
    json_end_object(&out);
    return merge_details(fold, &buffer);
}

/* --- created and updated --- */

static void fold_source(const struct fold *fold)
{
    struct session *session = fold->session;
    struct fold source = *fold;
    source.payload = json_get(fold->payload, "source");
    session->source_kind = keep_text(&source, "kind");
    session->source_platform = keep_text(&source, "platform");
    session->source_trigger_id = keep_text(&source, "trigger_id");
    session->source_interactive = flag_of(source.payload, "interactive");
    session->source_type = (enum chat_type)word_of(source.payload, "type", chat_type_enum, CHAT_NONE);
}

static void fold_identity(const struct fold *fold)
{
    struct session *session = fold->session;
    session->id = keep_text(fold, "id");
    session->type = (enum session_type)word_of(fold->payload, "type", session_type_enum, TYPE_AGENT);
    session->purpose = (enum purpose)word_of(fold->payload, "purpose", purpose_enum, PURPOSE_INTERACTIVE);
    session->agent = keep_text(fold, "agent");
    session->agent_version = json_i64_of(fold->payload, "agent_version");
    session->driver = word_of(fold->payload, "driver", agent_driver_enum, DRIVER_WORKER);
    session->agent_config = keep_raw(fold, "agent_config");
    session->workspace = keep_text(fold, "workspace");
    session->parent_id = keep_text(fold, "parent_id");
    session->task_id = keep_text(fold, "task_id");
    session->entity_id = keep_text(fold, "entity_id");
    session->retry_of = keep_text(fold, "retry_of");
    session->attempt = json_i64_of(fold->payload, "attempt");
    session->owner = keep_text(fold, "owner_id");
    session->anonymous = flag_of(fold->payload, "anonymous");
    session->initial_prompt = keep_text(fold, "prompt");
    session->priority = json_i64_of(fold->payload, "priority");
    session->created_at_ms = fold->at_ms;
}

/* Members that are there are the new values; title and details may be null, which removes them. */
static void fold_settings(const struct fold *fold)
{
    struct session *session = fold->session;
    const struct json *payload = fold->payload;
    if (json_get(payload, "title")) {
        session->title = keep_text(fold, "title");
    }
    if (json_get(payload, "metadata")) {
        session->metadata = keep_raw(fold, "metadata");
    }
    if (json_get(payload, "details")) {
        session->details = keep_raw(fold, "details");
    }
    if (json_get(payload, "expires_at_ms")) {
        session->expires_at_ms = json_i64_of(payload, "expires_at_ms");
    }
    session->visibility = (enum visibility)word_of(payload, "visibility", visibility_enum, (int)session->visibility);
    session->queue_mode = (enum queue_mode)word_of(payload, "queue_mode", queue_mode_enum, (int)session->queue_mode);
}

static unsigned fold_created(const struct fold *fold)
{
    fold_identity(fold);
    fold_source(fold);
    fold_settings(fold);
    enter_work(fold->session, (enum session_status)word_of(fold->payload, "status", session_status_enum, SESSION_IDLE),
               fold->at_ms, STOP_NONE);
    return CHANGED_MACHINE | CHANGED_ALL;
}

static unsigned fold_updated(const struct fold *fold)
{
    fold_settings(fold);
    return CHANGED_ALL;
}

/* Events that are not here change no field of their own. */
static const struct {
    enum event_kind kind;
    unsigned (*apply)(const struct fold *fold);
} folds[] = {
    {EVENT_SESSION_STATUS_CHANGE, fold_status_change},
    {EVENT_SESSION_CLAIMED, fold_claimed},
    {EVENT_SESSION_COMPLETED, fold_completed},
    {EVENT_SESSION_ERROR, fold_error},
    {EVENT_SESSION_CREATED, fold_created},
    {EVENT_SESSION_UPDATED, fold_updated},
    {EVENT_SESSION_RUNTIME_CHANGE, fold_runtime_change},
    {EVENT_SESSION_TUNNEL_OPENED, fold_tunnel_opened},
    {EVENT_SESSION_TUNNEL_CLOSED, fold_tunnel_closed},
    {EVENT_SESSION_ARCHIVED, fold_archived},
    {EVENT_SESSION_EXPORTED, fold_exported},
    {EVENT_SESSION_UNARCHIVED, fold_unarchived},
    {EVENT_INTROSPECTION_ENDED, fold_introspection},
    {EVENT_INTROSPECTION_FAILED, fold_introspection},
};

static unsigned fold_payload(struct session *session, const struct event *event, struct arena *arena)
{
    static const struct json nothing = {.kind = JSON_NULL};
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++) {
        if (event->kind != folds[i].kind) {
            continue;
        }
        struct arena scratch = {0};
        struct fold fold = {session, &nothing, event->at_ms, arena};
        if (slice_present(event->metadata) && json_parse(&scratch, event->metadata, &fold.payload, NULL) != STATUS_OK) {
            fold.payload = &nothing;
        }
        unsigned changed = folds[i].apply(&fold);
        arena_release(&scratch);
        return changed;
    }
    return 0;
}

static void count(struct session *session, const struct event *event)
{
    session->tool_call_count += event_kind_has(event->kind, COUNTS_TOOL);
    if (event_kind_has(event->kind, COUNTS_MESSAGE)) {
        session->message_count++;
        preview_of_content(event->content, session->preview, sizeof session->preview);
    }
}

unsigned session_apply(struct session *session, const struct event *event, struct arena *arena)
{
    unsigned changed = CHANGED_HOT;
    if (event_kind_is_of_session(event->kind)) {
        changed |= fold_payload(session, event, arena);
    } else {
        count(session, event);
    }
    session->last_sequence = event->sequence;
    if (event->at_ms > session->last_active_at_ms) {
        session->last_active_at_ms = event->at_ms;
    }
    if (changed != CHANGED_HOT) {
        session->updated_at_ms = session->last_active_at_ms;
    }
    int64_t listed_since_ms = session->last_active_at_ms - session->listed_at_ms;
    if (listed_since_ms >= SESSION_LISTED_STEP_MS) {
        session->listed_at_ms = session->last_active_at_ms;
        changed |= CHANGED_LISTED;
    }
    return changed;
}
