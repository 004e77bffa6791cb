/* The tools a model asked for: one after the other, each allowed, asked about or refused, each with exactly one result
 * in the log and in the context. */
#include "runner/model/model_turn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { DIRECTORY_MODE = 0700, EDITED_SHOWN_BYTES = 4000 };

static void tools_next(struct model_turn *turn);

static struct wanted_call *current(struct model_turn *turn)
{
    return &turn->wanted[turn->wanted_next];
}

/* --- results --- */

static void result_keep(struct model_turn *turn, const struct tool_result *result, const char *mark)
{
    const struct wanted_call *call = current(turn);
    event_result(turn, call, result, mark);
    event_changed(turn, call, result);
    context_add(&turn->context, MODEL_TOOL,
                (struct model_block){.kind = BLOCK_TOOL_RESULT,
                                     .call_id = call->id,
                                     .name = call->name,
                                     .text = arena_copy(&turn->arena, result->text.len ? result->text : SLICE("")),
                                     .is_error = result->is_error});
    turn->wanted_next++;
}

static void result_error(struct model_turn *turn, enum turn_error error, struct slice text, const char *mark)
{
    struct tool_result result = {.is_error = true, .error = error, .text = text, .bytes = (int64_t)text.len};
    result_keep(turn, &result, mark);
}

/* The model may try again, but not for ever. */
static void result_correct(struct model_turn *turn, struct slice text)
{
    turn->corrections++;
    result_error(turn, TURN_VALIDATION, text, NULL);
}

void tools_refuse_all(struct model_turn *turn, enum turn_error error, struct slice why)
{
    while (turn->wanted_next < turn->wanted_count) {
        result_error(turn, error, why, NULL);
    }
}

/* --- running --- */

/* Outlives its turn when the tool can't be cancelled. */
struct tool_run {
    struct model_turn *turn; /* NULL = nobody waits for it any more */
    struct tool_place place;
    struct tool_call call;
    void *running;
    bool is_inside, is_done;
};

/* Else the model would take the result for that of the call it made. */
static struct tool_result tell_edited(struct model_turn *turn, const struct tool_result *result)
{
    const struct wanted_call *call = current(turn);
    struct tool_result told = *result;
    if (call->is_edited) {
        told.text =
            arena_format(&turn->arena, "[a person changed the arguments to %.*s]\n%.*s",
                         SLICE_ARG(slice_utf8_prefix(call->arguments, EDITED_SHOWN_BYTES)), SLICE_ARG(result->text));
    }
    return told;
}

static void on_done(void *owner, const struct tool_result *result)
{
    struct tool_run *one = owner;
    struct model_turn *turn = one->turn;
    if (turn) {
        struct tool_result told = tell_edited(turn, result);
        turn->run = NULL;
        turn->corrections = 0;
        result_keep(turn, &told, NULL);
        tools_next(turn);
    }
    one->is_done = true;
    if (!one->is_inside) {
        free(one);
    }
}

/* A directory for the session alone; without one, results are only shortened. */
static struct slice files_dir(struct model_turn *turn)
{
    struct slice root = turn->owner->options.files_dir;
    if (slice_present(turn->files_dir) || !root.len) {
        return turn->files_dir;
    }
    struct slice tenant = arena_format(&turn->arena, "%.*s/%lld", SLICE_ARG(root), (long long)turn->brief->tenant_key);
    struct slice own = arena_format(&turn->arena, "%.*s/%lld", SLICE_ARG(tenant), (long long)turn->brief->session_key);
    mkdir(arena_copy(&turn->arena, root).ptr, DIRECTORY_MODE);
    mkdir(tenant.ptr, DIRECTORY_MODE);
    if (mkdir(own.ptr, DIRECTORY_MODE) == 0 || errno == EEXIST) {
        turn->files_dir = own;
    }
    return turn->files_dir;
}

static struct tool_place place_of(struct model_turn *turn)
{
    return (struct tool_place){
        .loop = turn->brief->loop,
        .settings = turn->owner->options.tools,
        .http = model_client(turn),
        .agent = turn->agent,
        .sandbox = turn->brief->sandbox,
        .workspace = turn->brief->workspace,
        .files_dir = files_dir(turn),
        .turn = turn->turn,
    };
}

static void run(struct model_turn *turn)
{
    const struct wanted_call *call = current(turn);
    struct tool_run *one = memory_zeroed(sizeof *one);
    one->turn = turn;
    one->is_inside = true;
    one->call = (struct tool_call){call->id, call->name, call->value};
    one->place = place_of(turn);
    turn->stage = STAGE_TOOL;
    turn->run = one;
    one->running = turn->tool->run(&one->place, &one->call, (struct tool_done){one, on_done});
    one->is_inside = false;
    if (one->is_done) {
        free(one);
    }
}

static void run_cancel(struct model_turn *turn)
{
    struct tool_run *one = turn->run;
    turn->run = NULL;
    if (one && one->running && turn->tool->cancel) {
        turn->tool->cancel(one->running);
        free(one);
    } else if (one) {
        one->turn = NULL;
    }
}

/* --- asking --- */

static void ask_person(struct model_turn *turn, const struct ask *about)
{
    const struct wanted_call *call = current(turn);
    struct ask ask = *about;
    bool is_approval = ask.kind == ASK_APPROVAL;
    turn->ask_id = arena_format(&turn->arena, "t%lld-%lld-%.*s", (long long)turn->brief->number,
                                (long long)turn->rounds, SLICE_ARG(call->id));
    turn->stage = STAGE_ASK_TOOL;
    ask.id = turn->ask_id;
    ask.turn = turn->brief->number;
    ask.call_id = call->id;
    ask.tool = is_approval ? call->name : (struct slice){NULL, 0};
    ask.arguments = is_approval ? call->arguments : (struct slice){NULL, 0};
    ask.options = is_approval ? (struct slice){NULL, 0} : ask.options;
    ask.quorum = 1;
    turn_ask(turn->turn, &ask);
}

enum { SHOWN_BYTES = 200 };

static void ask_approval(struct model_turn *turn)
{
    const struct wanted_call *call = current(turn);
    struct slice written = call_json_sorted(&turn->arena, call->value); /* however the model wrote it */
    struct slice shown = slice_utf8_prefix(written, SHOWN_BYTES);
    struct tool_place place = place_of(turn);
    struct call_facts facts;
    struct buffer fields = {0};
    struct ask ask = {.kind = ASK_APPROVAL, .editable = true};
    tool_facts(&turn->arena, &place, turn->tool, call->value, &facts);
    call_facts_write(&fields, &facts);
    ask.fields = arena_copy(&turn->arena, buffer_slice(&fields));
    buffer_release(&fields);
    ask.text = arena_format(&turn->arena, "Run %.*s with %.*s%s?", SLICE_ARG(call->name), SLICE_ARG(shown),
                            shown.len < written.len ? "…" : "");
    ask_person(turn, &ask);
}

/* ask_user and request_approval: the answer is the result. */
static void ask_by_tool(struct model_turn *turn)
{
    const struct wanted_call *call = current(turn);
    struct tool_call about = {call->id, call->name, call->value};
    struct ask ask;
    tool_ask(turn->tool, &about, &ask);
    ask_person(turn, &ask);
}

/* Edited arguments take the place of the staged ones when they are good. */
static bool take_edited(struct model_turn *turn, struct slice edited, struct failure *failure)
{
    struct wanted_call *call = current(turn);
    const struct json *value = NULL;
    struct slice text = arena_copy(&turn->arena, edited);
    if (!edited.len || slice_is(edited, "null")) {
        return true;
    }
    if (json_parse(&turn->arena, text, &value, failure) != STATUS_OK) {
        return false;
    }
    if (!json_is(value, JSON_OBJECT)) {
        return true; /* a word beside the decision */
    }
    if (tool_check(turn->tool, value, failure) != STATUS_OK) {
        return false;
    }
    call->is_edited = !json_equal(call->value, value);
    call->arguments = text;
    call->value = value;
    return true;
}

static void deny(struct model_turn *turn)
{
    result_error(turn, TURN_TOOL_DENIED, SLICE("denied: the agent's permissions forbid this call"), NULL);
    tools_next(turn);
}

/* Who approves answers what is asked; what is denied stays denied, whoever wrote the arguments. */
static void approved(struct model_turn *turn, const struct ask *ask)
{
    struct failure failure = {0};
    if (!take_edited(turn, ask->answer, &failure)) {
        result_error(turn, TURN_TOOL_FAILED,
                     arena_format(&turn->arena, "the edited arguments can't be used: %s", failure.detail), NULL);
        tools_next(turn);
        return;
    }
    struct tool_place place = place_of(turn);
    if (tool_permission(&place, turn->tool, current(turn)->value) == PERMISSION_DENY) {
        deny(turn);
    } else {
        run(turn);
    }
}

static void denied(struct model_turn *turn, const struct ask *ask)
{
    struct slice reason = ask->reason.len ? ask->reason : SLICE("a person said no");
    reason = ask->state == ASK_EXPIRED ? SLICE("nobody answered in time") : reason;
    reason = ask->state == ASK_CANCELLED ? SLICE("the question was withdrawn") : reason;
    result_error(turn, TURN_TOOL_DENIED, arena_format(&turn->arena, "denied: %.*s", SLICE_ARG(reason)), NULL);
    tools_next(turn);
}

void tools_answered(struct model_turn *turn, const struct ask *ask)
{
    struct tool_result result;
    turn->ask_id = (struct slice){NULL, 0};
    if (tool_asks(turn->tool)) {
        tool_answered(&turn->arena, ask, &result);
        result_keep(turn, &result, NULL);
        tools_next(turn);
    } else if (ask->state == ASK_ANSWERED && ask->decision != DECISION_DENY) {
        approved(turn, ask);
    } else {
        denied(turn, ask);
    }
}

/* --- deciding --- */

/* True when the call can be decided on; else it has its result. */
static bool check_call(struct model_turn *turn, struct wanted_call *call)
{
    struct failure failure = {0};
    turn->tool = agent_has_tool(turn->agent, call->name) ? tool_find(call->name) : NULL;
    if (!turn->tool) {
        turn->corrections++;
        result_error(turn, TURN_TOOL_UNAVAILABLE,
                     arena_format(&turn->arena, "there is no tool %.*s here", SLICE_ARG(call->name)), NULL);
        return false;
    }
    if (!call->value) {
        result_correct(turn, SLICE("the arguments are no JSON object; send them again"));
        return false;
    }
    if (tool_check(turn->tool, call->value, &failure) != STATUS_OK) {
        result_correct(turn, arena_copy(&turn->arena, slice_of(failure.detail)));
        return false;
    }
    return true;
}

static void decide(struct model_turn *turn)
{
    struct wanted_call *call = current(turn);
    if (!check_call(turn, call)) {
        tools_next(turn);
        return;
    }
    struct tool_place place = place_of(turn);
    switch (tool_permission(&place, turn->tool, call->value)) {
    case PERMISSION_ALLOW:
        tool_asks(turn->tool) ? ask_by_tool(turn) : run(turn);
        return;
    case PERMISSION_ASK:
        tool_asks(turn->tool) ? ask_by_tool(turn) : ask_approval(turn);
        return;
    case PERMISSION_DENY:
    case PERMISSION_COUNT:
        break;
    }
    deny(turn);
}

static void tools_next(struct model_turn *turn)
{
    if (turn->corrections > CORRECTIONS_MAX) {
        tools_refuse_all(turn, TURN_TOOL_FAILED, SLICE("not run: too many wrong calls in a row"));
        model_end(turn, TURN_ERROR, TURN_TOOL_FAILED, SLICE("the model made too many wrong tool calls in a row"));
        return;
    }
    /* From the loop: a long list of calls must not pile up on the stack. */
    turn->stage = STAGE_TOOLS;
    loop_timer_set(turn->timer, 0);
}

void tools_begin(struct model_turn *turn)
{
    int64_t most = turn->agent->tool_rounds_max > 0 ? turn->agent->tool_rounds_max : TOOL_ROUNDS_DEFAULT;
    if (turn->wanted_next == 0 && turn->rounds >= most) {
        tools_refuse_all(turn, TURN_LIMIT, SLICE("not run: the turn has used all its rounds of tools"));
        model_end(turn, TURN_ERROR, TURN_LIMIT,
                  arena_format(&turn->arena, "the turn has used all its %lld rounds of tools", (long long)most));
    } else if (turn->wanted_next < turn->wanted_count) {
        decide(turn);
    } else {
        turn->rounds++;
        turn->wanted_count = turn->wanted_next = 0;
        model_go(turn);
    }
}

/* What runs may have had its effect: it is marked, never repeated. */
void tools_cancel(struct model_turn *turn, bool is_told)
{
    bool is_ambiguous = turn->stage == STAGE_TOOL;
    run_cancel(turn);
    turn->stage = STAGE_ENDED;
    while (is_told && turn->wanted_next < turn->wanted_count) {
        result_error(turn, TURN_CANCELLED,
                     is_ambiguous ? SLICE("interrupted: it is not known whether the call had an effect")
                                  : SLICE("interrupted: not run"),
                     is_ambiguous ? "ambiguous" : NULL);
        is_ambiguous = false;
    }
}
