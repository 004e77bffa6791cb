/* One request to a model: what is sent, and what is done when it fails. */
#include "runner/model/model_turn.h"

enum { BACKOFF_DOUBLINGS_MAX = 8 };

/* --- what is sent --- */

/* A client wrote the value: in the instructions it stands as a quoted text on one line, so that it reads as a value and
 * ends where it ends. */
static void add_variable(struct model_turn *turn, struct slice name, struct slice as_written, struct buffer *to)
{
    struct arena scratch = {0};
    const struct json *variables = NULL, *value = NULL;
    if (slice_present(turn->brief->variables) &&
        json_parse(&scratch, turn->brief->variables, &variables, NULL) == STATUS_OK) {
        value = json_get(variables, arena_copy(&scratch, slice_trim(name)).ptr);
    }
    if (json_is(value, JSON_STRING)) {
        struct json_out out = json_out_to(to);
        json_text(&out, value->text);
    } else {
        buffer_add(to, as_written);
    }
    arena_release(&scratch);
}

/* {{ctx.NAME}} becomes the session's variable of that name. */
static void expand_prompt(struct model_turn *turn, struct slice prompt, struct buffer *to)
{
    static const char open[] = "{{ctx.";
    while (prompt.len) {
        const char *at = memmem(prompt.ptr, prompt.len, open, sizeof open - 1);
        size_t before = at ? (size_t)(at - prompt.ptr) : prompt.len;
        struct slice rest = slice_after(prompt, before);
        const char *end = at ? memmem(rest.ptr, rest.len, "}}", 2) : NULL;
        if (!end) {
            buffer_add(to, prompt);
            return;
        }
        size_t len = (size_t)(end - rest.ptr);
        buffer_add(to, slice_from(prompt.ptr, before));
        add_variable(turn, slice_from(rest.ptr + sizeof open - 1, len - (sizeof open - 1)),
                     slice_from(rest.ptr, len + 2), to);
        prompt = slice_after(rest, len + 2);
    }
}

static struct slice system_prompt(struct model_turn *turn, struct arena *arena)
{
    struct buffer text = {0};
    if (turn->agent->system_prompt.len) {
        expand_prompt(turn, turn->agent->system_prompt, &text);
    }
    if (turn->context.summary.len) {
        buffer_add(&text, text.len ? SLICE("\n\n") : SLICE(""));
        context_fence(&text, "earlier-conversation-summary", turn->context.summary);
    }
    struct slice prompt = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return prompt;
}

static size_t tool_list(struct model_turn *turn, struct arena *arena, const struct model_tool **out)
{
    const struct agent *agent = turn->agent;
    struct model_tool *list = arena_array(arena, agent->tool_count + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < agent->tool_count; i++) {
        const struct tool *tool = tool_find(agent->tools[i]);
        if (tool) {
            list[count++] = (struct model_tool){slice_of(tool->spec->name), slice_of(tool->spec->description),
                                                slice_of(tool->spec->schema)};
        }
    }
    *out = list;
    return count;
}

void attempt_build(struct model_turn *turn, struct arena *arena, struct model_request *out)
{
    *out = (struct model_request){
        .model = model_choice_of(turn)->model,
        .system = system_prompt(turn, arena),
        .reasoning_effort = turn->agent->reasoning_effort,
        .output_tokens_max = turn->owner->options.limits.output_tokens_max,
    };
    out->tool_count = tool_list(turn, arena, &out->tools);
    out->message_count = context_messages(&turn->context, arena, &out->messages);
}

size_t attempt_fixed_bytes(struct model_turn *turn)
{
    size_t bytes = turn->agent->system_prompt.len;
    for (size_t i = 0; i < turn->agent->tool_count; i++) {
        const struct tool *tool = tool_find(turn->agent->tools[i]);
        bytes += tool ? strlen(tool->spec->description) + strlen(tool->spec->schema) : 0;
    }
    return bytes;
}

/* --- when it fails --- */

/* Between half and the whole of the doubled time, different for every session and turn. */
static int64_t backoff_ms(const struct model_turn *turn)
{
    int64_t doublings = turn->retries < BACKOFF_DOUBLINGS_MAX ? turn->retries : BACKOFF_DOUBLINGS_MAX;
    int64_t whole = turn->owner->options.limits.backoff_ms << doublings;
    int64_t seed[] = {turn->brief->session_key, turn->brief->number, turn->rounds, turn->retries};
    uint64_t jitter = slice_hash(slice_from(seed, sizeof seed));
    return whole / 2 + (int64_t)(jitter % (uint64_t)(whole / 2 + 1));
}

static bool back_off(struct model_turn *turn, const struct provider_failure *failure)
{
    const struct model_options *options = &turn->owner->options;
    int64_t wait_ms = failure->retry_after_ms >= 0 ? failure->retry_after_ms : backoff_ms(turn);
    if (!failure->may_retry || turn->retries >= options->limits.retries || wait_ms > options->limits.wait_ms_max) {
        return false;
    }
    turn->retries++;
    event_retrying(turn, failure, wait_ms);
    turn->stage = STAGE_BACK_OFF;
    loop_timer_set(turn->timer, wait_ms);
    return true;
}

static bool fall_back(struct model_turn *turn, const struct provider_failure *failure)
{
    const struct model_choice *from = model_choice_of(turn);
    if (!failure->may_fall_back || turn->choice >= turn->agent->fallback_count) {
        return false;
    }
    turn->choice++;
    turn->retries = 0;
    event_switched(turn, from, failure);
    return true;
}

static void attempt_failed(struct model_turn *turn, const struct provider_failure *failure);

static void on_part(void *owner, const struct model_part *part)
{
    struct model_turn *turn = owner;
    answer_take(turn, part);
    if (turn_is_full(turn->turn)) {
        provider_pause(turn->call, true);
        loop_timer_set(turn->pause_timer, FULL_PAUSE_MS);
    }
}

/* What follows an answer, by how the model stopped. */
static void answer_finish(struct model_turn *turn)
{
    enum model_stop stop = turn->answer.stop;
    answer_record(turn);
    answer_reset(&turn->answer);
    turn->retries = 0;
    if (stop == MODEL_STOP_FILTER) {
        tools_refuse_all(turn, TURN_FILTERED, SLICE("not run: the provider refused to go on"));
        model_end(turn, TURN_CONTENT_FILTER, TURN_FILTERED, SLICE("the provider refused to go on"));
    } else if (stop == MODEL_STOP_LENGTH) {
        model_end(turn, TURN_LENGTH, TURN_OK, (struct slice){NULL, 0});
    } else if (turn->wanted_count > 0) {
        tools_begin(turn);
    } else {
        model_end(turn, TURN_STOP, TURN_OK, (struct slice){NULL, 0});
    }
}

static void on_end(void *owner, const struct provider_failure *failure)
{
    struct model_turn *turn = owner;
    turn->call = NULL;
    if (failure) {
        attempt_failed(turn, failure);
    } else {
        answer_finish(turn);
    }
}

/* Nothing was heard yet: again, or from somebody else. Afterwards what was heard is kept and the turn ends. */
static void attempt_failed(struct model_turn *turn, const struct provider_failure *failure)
{
    bool is_fresh = answer_is_empty(&turn->answer);
    if (is_fresh && back_off(turn, failure)) {
        return;
    }
    if (is_fresh && fall_back(turn, failure)) {
        attempt_start(turn);
        return;
    }
    answer_record_partial(turn);
    model_end(turn, failure->error == TURN_FILTERED ? TURN_CONTENT_FILTER : TURN_ERROR, failure->error,
              slice_of(failure->message));
}

void attempt_start(struct model_turn *turn)
{
    struct arena arena = {0};
    struct model_request request;
    struct provider_failure failure;
    struct provider_handler handler = {turn, on_part, on_end};
    turn->stage = STAGE_CALL;
    turn->message_id =
        arena_format(&turn->arena, "t%lld-%lld", (long long)turn->brief->number, (long long)turn->rounds);
    answer_reset(&turn->answer);
    attempt_build(turn, &arena, &request);
    enum status status = provider_start(model_client(turn), &turn->owner->options.provider, model_choice_of(turn),
                                        &request, &handler, &turn->call, &failure);
    arena_release(&arena);
    if (status != STATUS_OK) {
        attempt_failed(turn, &failure);
    }
}
