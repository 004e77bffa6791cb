#include "domain/agent.h"
#include "domain/preview.h"
#include "domain/session.h"
#include "domain/session_details.h"
#include "domain/vocabulary.h"

static void put_word(struct json_out *out, const char *key, struct enum_names words, int index)
{
    const char *name = index >= 0 && index < words.count ? words.names[index] : "";
    json_put_text(out, key, *name ? slice_of(name) : (struct slice){NULL, 0});
}

static void write_machines(struct json_out *out, const struct session *session)
{
    put_word(out, "status", session_status_enum, (int)session->status);
    put_word(out, "runtime", runtime_enum, (int)session->runtime);
    put_word(out, "pause_reason", pause_reason_enum, (int)session->pause_reason);
    put_word(out, "stop_reason", stop_reason_enum, (int)session->stop_reason);
    json_put_text(out, "status_reason", session->status_reason);
    put_word(out, "display_status", display_status_enum, (int)display_status(session));
    json_put_text(out, "display_reason", slice_of(display_reason(session)));
    json_put_bool(out, "active", session_status_is_active(session->status));
    json_put_bool(out, "live", session_status_is_live(session->status));
    json_put_bool(out, "failing", session_is_failing(session));
    json_put_bool(out, "retryable", session_can_retry(session));
    json_put_bool(out, "reopenable", session_can_reopen(session));
}

static void write_words(struct json_out *out, const struct session *session)
{
    json_key(out, "words");
    json_begin_object(out);
    json_put_text(out, "response", slice_of(response_word(session)));
    json_put_text(out, "tool", slice_of(tool_word(session)));
    json_put_text(out, "block", slice_of(block_word(session)));
    json_put_text(out, "conversation", slice_of(conversation_word(session)));
    json_put_text(out, "sandbox", slice_of(sandbox_word(session)));
    json_put_text(out, "agent", slice_of(agent_word(session, false, false, 0)));
    json_put_text(out, "joint", slice_of(joint_word(session, false, false, 0)));
    json_put_text(out, "chat", slice_of(chat_word(session)));
    json_put_text(out, "lifecycle", slice_of(lifecycle_word(session)));
    json_put_text(out, "live_status", slice_of(live_status_word(session)));
    json_put_text(out, "kind", session_is_chat(session) ? SLICE("chat") : SLICE("run"));
    json_end_object(out);
}

static void write_source(struct json_out *out, const struct session *session)
{
    json_key(out, "source");
    json_begin_object(out);
    json_put_text(out, "kind", session->source_kind);
    json_put_text(out, "platform", session->source_platform);
    json_put_bool(out, "interactive", session->source_interactive);
    json_put_text(out, "trigger_id", session->source_trigger_id);
    put_word(out, "type", chat_type_enum, (int)session->source_type);
    json_end_object(out);
}

static void write_settings(struct json_out *out, const struct session *session)
{
    put_word(out, "purpose", purpose_enum, (int)session->purpose);
    json_put_text(out, "agent", session->agent);
    json_put_i64(out, "agent_version", session->agent_version);
    put_word(out, "driver", agent_driver_enum, session->driver);
    json_put_text(out, "title", session->title);
    json_put_text(out, "workspace", session->workspace);
    write_source(out, session);
    json_put_raw(out, "metadata", slice_present(session->metadata) ? session->metadata : SLICE("{}"));
    put_word(out, "visibility", visibility_enum, (int)session->visibility);
    put_word(out, "queue_mode", queue_mode_enum, (int)session->queue_mode);
    json_put_text(out, "parent_id", session->parent_id);
    json_put_text(out, "task_id", session->task_id);
    json_put_text(out, "entity_id", session->entity_id);
    json_put_text(out, "retry_of", session->retry_of);
    json_put_i64(out, "attempt", session->attempt);
    json_put_text(out, "owner_id", session->owner);
    json_put_bool(out, "anonymous", session->anonymous);
    json_put_i64(out, "priority", session->priority);
}

static void write_outcome(struct json_out *out, const struct session *session)
{
    json_put_raw(out, "result", session->result);
    json_put_raw(out, "usage", session->usage);
    json_key(out, "error");
    if (!slice_present(session->error_message) && !slice_present(session->error_code)) {
        json_null(out);
        return;
    }
    json_begin_object(out);
    json_put_text(out, "code", session->error_code);
    json_put_text(out, "message", session->error_message);
    json_end_object(out);
}

static void write_counters(struct json_out *out, const struct session *session)
{
    char snippet[SNIPPET_BYTES];
    bool has_snippet = slice_present(session->initial_prompt) && preview_of_prompt(session->initial_prompt, snippet);
    json_put_i64(out, "fence", session->fence);
    json_put_i64(out, "claim_attempts", session->claim_attempts);
    json_put_i64(out, "last_sequence", session->last_sequence);
    json_put_i64(out, "message_count", session->message_count);
    json_put_i64(out, "tool_call_count", session->tool_call_count);
    json_put_i64(out, "turn_count", session->turn_count);
    json_put_i64(out, "active_seconds", session->active_ms / 1000);
    json_put_text(out, "preview", session->preview[0] ? slice_of(session->preview) : (struct slice){NULL, 0});
    json_put_text(out, "prompt_snippet", has_snippet ? slice_of(snippet) : (struct slice){NULL, 0});
}

static void write_times(struct json_out *out, const struct session *session)
{
    json_put_time(out, "created_at", session->created_at_ms);
    json_put_time(out, "started_at", session->started_at_ms);
    json_put_time(out, "completed_at", session->completed_at_ms);
    json_key(out, "duration_ms");
    if (session->started_at_ms && session->completed_at_ms >= session->started_at_ms) {
        json_i64(out, session->completed_at_ms - session->started_at_ms);
    } else {
        json_null(out);
    }
    json_put_time(out, "updated_at", session->updated_at_ms);
    json_put_time(out, "last_active_at", session->last_active_at_ms);
    json_put_time(out, "queued_at", session->queued_at_ms);
    json_put_time(out, "paused_at", session->paused_at_ms);
    json_put_time(out, "archived_at", session->archived_at_ms);
    json_put_time(out, "expires_at", session->expires_at_ms);
}

void session_write_members(struct json_out *out, const struct session *session, bool full)
{
    json_put_text(out, "id", session->id);
    put_word(out, "type", session_type_enum, (int)session->type);
    write_machines(out, session);
    write_words(out, session);
    write_settings(out, session);
    write_outcome(out, session);
    write_counters(out, session);
    write_times(out, session);
    if (full) {
        json_put_text(out, "initial_prompt", session->initial_prompt);
        json_put_raw(out, "agent_config", session->agent_config);
        json_key(out, "details");
        session_details_write(out, session);
    }
}

void session_write(struct buffer *to, const struct session *session, bool full)
{
    struct json_out out = json_out_to(to);
    buffer_reserve(to, 2048);
    json_begin_object(&out);
    session_write_members(&out, session, full);
    json_end_object(&out);
}

void session_write_minimal(struct buffer *to, const struct session *session)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_put_text(&out, "id", session->id);
    put_word(&out, "type", session_type_enum, (int)session->type);
    put_word(&out, "status", session_status_enum, (int)session->status);
    json_put_text(&out, "agent", session->agent);
    json_put_i64(&out, "agent_version", session->agent_version);
    json_put_i64(&out, "attempt", session->attempt);
    json_put_i64(&out, "claim_attempts", session->claim_attempts);
    json_put_i64(&out, "fence", session->fence);
    json_put_i64(&out, "last_sequence", session->last_sequence);
    json_put_text(&out, "initial_prompt", session->initial_prompt);
    json_put_raw(&out, "metadata", slice_present(session->metadata) ? session->metadata : SLICE("{}"));
    json_end_object(&out);
}
