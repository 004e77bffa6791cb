#include "runner/model/model_turn.h"

/* --- writing one event --- */

struct writing {
    struct buffer content, metadata;
    struct json_out part, about;
};

static void writing_begin(struct writing *writing, struct model_turn *turn, const char *part_type)
{
    const struct model_choice *choice = model_choice_of(turn);
    *writing = (struct writing){0};
    writing->part = json_out_to(&writing->content);
    writing->about = json_out_to(&writing->metadata);
    if (part_type) {
        json_begin_array(&writing->part);
        json_begin_object(&writing->part);
        json_put_text(&writing->part, "type", slice_of(part_type));
        json_begin_object(&writing->about);
        json_put_text(&writing->about, "model", choice->model);
        json_put_text(&writing->about, "provider", choice->provider);
    } else {
        json_begin_object(&writing->about);
    }
}

static void writing_end(struct writing *writing, struct model_turn *turn, enum event_kind kind, enum event_role role)
{
    if (writing->content.len) {
        json_end_object(&writing->part);
        json_end_array(&writing->part);
    }
    json_end_object(&writing->about);
    struct event event = {
        .kind = kind,
        .role = role,
        .content = writing->content.len ? buffer_slice(&writing->content) : (struct slice){NULL, 0},
        .metadata = buffer_slice(&writing->metadata),
    };
    turn_event(turn->turn, &event);
    buffer_release(&writing->content);
    buffer_release(&writing->metadata);
}

/* --- the events of a turn --- */

void event_say(struct model_turn *turn, enum event_kind kind, struct slice text, const char *mark)
{
    struct writing writing;
    writing_begin(&writing, turn, "text");
    json_put_text(&writing.part, "text", text);
    json_put_text(&writing.about, "message_id", turn->message_id);
    if (mark) {
        json_put_bool(&writing.about, mark, true);
    }
    writing_end(&writing, turn, kind, ROLE_AGENT);
}

void event_call(struct model_turn *turn, const struct wanted_call *call)
{
    struct writing writing;
    writing_begin(&writing, turn, "tool_call");
    json_put_text(&writing.part, "tool_call_id", call->id);
    json_put_text(&writing.part, "name", call->name);
    json_put_raw(&writing.part, "input", call->arguments);
    json_put_text(&writing.about, "call_id", call->id);
    json_put_text(&writing.about, "name", call->name);
    writing_end(&writing, turn, EVENT_AGENT_TOOL_CALL, ROLE_AGENT);
}

void event_result(struct model_turn *turn, const struct wanted_call *call, const struct tool_result *result,
                  const char *mark)
{
    struct writing writing;
    writing_begin(&writing, turn, "tool_result");
    json_put_text(&writing.part, "tool_call_id", call->id);
    json_put_text(&writing.part, "name", call->name);
    json_put_text(&writing.part, "output", result->text.len ? result->text : SLICE(""));
    json_put_bool(&writing.part, "is_error", result->is_error);
    json_put_text(&writing.about, "call_id", call->id);
    json_put_text(&writing.about, "name", call->name);
    json_put_bool(&writing.about, "is_error", result->is_error);
    json_put_i64(&writing.about, "bytes", result->bytes);
    json_maybe_text(&writing.about, "spill", result->spill);
    if (result->error != TURN_OK) {
        json_put_text(&writing.about, "error", slice_of(turn_error_enum.names[result->error]));
    }
    if (mark) {
        json_put_bool(&writing.about, mark, true);
    }
    writing_end(&writing, turn, EVENT_AGENT_TOOL_RESULT, ROLE_AGENT);
}

void event_changed(struct model_turn *turn, const struct wanted_call *call, const struct tool_result *result)
{
    const struct file_change *changed = &result->changed;
    struct writing writing;
    if (result->is_error || changed->path.len == 0 || changed->path.len > FILE_PATH_BYTES_MAX) {
        return;
    }
    writing_begin(&writing, turn, NULL);
    json_put_text(&writing.about, "call_id", call->id);
    json_key(&writing.about, "files");
    json_begin_array(&writing.about);
    json_begin_object(&writing.about);
    json_put_text(&writing.about, "path", changed->path);
    json_put_text(&writing.about, "status", slice_of(file_status_enum.names[changed->status]));
    json_put_i64(&writing.about, "additions", changed->additions);
    json_put_i64(&writing.about, "deletions", changed->deletions);
    json_end_object(&writing.about);
    json_end_array(&writing.about);
    writing_end(&writing, turn, EVENT_AGENT_FILES_CHANGED, ROLE_AGENT);
}

static void put_choice(struct json_out *out, const char *key, const struct model_choice *choice)
{
    json_key(out, key);
    json_begin_object(out);
    json_put_text(out, "provider", choice->provider);
    json_put_text(out, "model", choice->model);
    json_end_object(out);
}

void event_retrying(struct model_turn *turn, const struct provider_failure *why, int64_t after_ms)
{
    const struct model_choice *choice = model_choice_of(turn);
    struct writing writing;
    writing_begin(&writing, turn, NULL);
    json_put_text(&writing.about, "model", choice->model);
    json_put_text(&writing.about, "provider", choice->provider);
    json_put_i64(&writing.about, "retry", turn->retries);
    json_put_i64(&writing.about, "after_ms", after_ms);
    json_put_text(&writing.about, "reason", slice_of(turn_error_enum.names[why->error]));
    json_put_text(&writing.about, "message", slice_of(why->message));
    writing_end(&writing, turn, EVENT_MODEL_RETRYING, ROLE_SYSTEM);
}

void event_switched(struct model_turn *turn, const struct model_choice *from, const struct provider_failure *why)
{
    struct writing writing;
    writing_begin(&writing, turn, NULL);
    put_choice(&writing.about, "from", from);
    put_choice(&writing.about, "to", model_choice_of(turn));
    json_put_text(&writing.about, "reason", slice_of(turn_error_enum.names[why->error]));
    json_put_text(&writing.about, "message", slice_of(why->message));
    writing_end(&writing, turn, EVENT_MODEL_SWITCHED, ROLE_SYSTEM);
}

void event_shortened(struct model_turn *turn, enum event_kind kind, const char *reason, size_t dropped, int64_t before,
                     int64_t after)
{
    const struct model_context *context = &turn->context;
    struct writing writing;
    writing_begin(&writing, turn, NULL);
    json_put_text(&writing.about, "reason", slice_of(reason));
    if (kind == EVENT_CONTEXT_COMPACTED) {
        json_put_text(&writing.about, "summary", context->summary);
    }
    json_put_i64(&writing.about, "kept_message_count", (int64_t)(context->count - context->first));
    json_put_i64(&writing.about, "dropped_message_count", (int64_t)dropped);
    json_put_i64(&writing.about, "tokens_before", before);
    json_put_i64(&writing.about, "tokens_after", after);
    json_put_i64(&writing.about, "dropped_through", context_dropped_through(context));
    writing_end(&writing, turn, kind, ROLE_SYSTEM);
}

void event_budget_warning(struct model_turn *turn, int64_t cost)
{
    struct writing writing;
    writing_begin(&writing, turn, NULL);
    json_put_i64(&writing.about, "cost_microcents", cost);
    json_put_i64(&writing.about, "cost_microcents_max", turn->agent->cost_microcents_max);
    writing_end(&writing, turn, EVENT_TURN_BUDGET_WARNING, ROLE_SYSTEM);
}
