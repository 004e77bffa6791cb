#include "domain/change_turn.h"

#include "domain/change_payload.h"
#include "domain/prompt.h"

void change_turn_ended(struct arena *arena, int64_t turn, const struct turn_end *end, const char *cause,
                       struct changes *out)
{
    struct payload payload;
    out->count = 0;
    payload_begin(&payload);
    json_put_i64(&payload.out, "turn", turn);
    payload_word(&payload, "stop_reason", turn_stop_enum, (int)end->stop);
    if (end->error != TURN_OK) {
        json_key(&payload.out, "error");
        json_begin_object(&payload.out);
        payload_word(&payload, "code", turn_error_enum, (int)end->error);
        json_put_text(&payload.out, "message", end->error_message);
        json_put_bool(&payload.out, "retryable", turn_error_is_retryable(end->error));
        json_end_object(&payload.out);
    }
    if (cause) {
        json_put_text(&payload.out, "cause", slice_of(cause));
    }
    if (slice_present(end->usage)) {
        json_key(&payload.out, "usage");
        json_raw(&payload.out, end->usage);
    }
    payload_end(&payload, arena, EVENT_TURN_ENDED, out);
}

void change_partial(struct arena *arena, const struct session *session, bool thinking, struct slice text,
                    struct changes *out)
{
    out->events[out->count++] = (struct event){
        .kind = thinking ? EVENT_AGENT_THINKING : EVENT_AGENT_MESSAGE,
        .role = ROLE_AGENT,
        .content = prompt_content_of(arena, text),
        .metadata = SLICE(PARTIAL_METADATA),
        .actor = arena_format(arena, "agent:%.*s", SLICE_ARG(session->agent)),
    };
}

void change_tool_cut(struct arena *arena, struct slice call_id, bool asked, struct changes *out)
{
    struct payload payload;
    struct buffer content = {0};
    struct json_out part = json_out_to(&content);
    out->count = 0;
    payload_begin(&payload);
    json_put_text(&payload.out, "call_id", call_id);
    json_put_bool(&payload.out, "is_error", true);
    json_put_bool(&payload.out, "interrupted", true);
    json_put_text(&payload.out, "outcome", asked ? SLICE("not_run") : SLICE("ambiguous"));
    payload_end(&payload, arena, EVENT_AGENT_TOOL_RESULT, out);
    json_begin_array(&part);
    json_begin_object(&part);
    json_put_text(&part, "type", SLICE("tool_result"));
    json_put_text(&part, "tool_call_id", call_id);
    json_put_text(&part, "output",
                  asked ? SLICE("Not run: the turn was cut while a person was asked.")
                        : SLICE("Interrupted: nobody knows whether this was done."));
    json_put_bool(&part, "is_error", true);
    json_end_object(&part);
    json_end_array(&part);
    out->events[0].content = arena_copy(arena, buffer_slice(&content));
    buffer_release(&content);
}
