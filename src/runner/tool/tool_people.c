#include "runner/tool/tool.h"

void tool_ask(const struct tool *tool, const struct tool_call *call, struct ask *out)
{
    bool is_question = slice_is(slice_of(tool->spec->name), "ask_user");
    const struct json *options = json_get_value(call->arguments, "options");
    *out = (struct ask){
        .kind = is_question ? ASK_QUESTION : ASK_APPROVAL,
        .tool = slice_of(tool->spec->name),
        .call_id = call->id,
        .arguments = is_question ? (struct slice){0} : call->arguments->raw,
        .text = json_text_of(call->arguments, is_question ? "question" : "action"),
        .options = options && options->count > 0 ? options->raw : (struct slice){0},
        .quorum = 1,
    };
}

/* An answer is JSON: a text is told without its quotes, a form as it is. */
static struct slice answer_text(struct arena *arena, struct slice answer)
{
    const struct json *value;
    struct slice text;
    if (!slice_present(answer) || json_parse(arena, answer, &value, NULL) != STATUS_OK) {
        return SLICE("");
    }
    return json_as_text(value, &text) ? text : value->raw;
}

void tool_answered(struct arena *arena, const struct ask *ask, struct tool_result *out)
{
    bool allowed = ask->state == ASK_ANSWERED && ask->decision != DECISION_DENY;
    *out = (struct tool_result){.is_error = !allowed, .error = allowed ? TURN_OK : TURN_TOOL_DENIED};
    if (ask->state == ASK_EXPIRED || ask->state == ASK_CANCELLED) {
        out->text = SLICE("Nobody answered in time; go on without an answer, or say what is missing.");
    } else if (!allowed) {
        out->text = ask->reason.len > 0 ? arena_format(arena, "Denied: %.*s", SLICE_ARG(ask->reason))
                                        : SLICE("Denied, without a reason.");
    } else if (ask->kind == ASK_APPROVAL) {
        out->text = SLICE("Approved.");
    } else {
        out->text = answer_text(arena, ask->answer);
    }
    out->bytes = (int64_t)out->text.len;
}
