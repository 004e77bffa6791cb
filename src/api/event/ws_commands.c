#include "api/event/ws_commands.h"

#include <stdlib.h>

#include "api/ask/asks.h"
#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "service/prompt/prompt.h"
#include "service/turn/turn.h"
#include "service/core/writer.h"
#include "wire/websocket.h"

enum { UNDER_WAY_MAX = 8, ID_BYTES_MAX = 200 };

struct ws_commands {
    struct api *api;
    struct loop *loop;
    void *owner; /* NULL: the connection is gone */
    void (*reply)(void *owner, struct slice frame);
    int under_way;
    struct principal who; /* its strings, and the session's id, stand behind the struct */
    struct slice session_id;
};

struct utterance;

/* One message on its way to the writer and back. */
struct ws_command {
    struct command command; /* first */
    struct loop_message message;
    struct ws_commands *speaker;
    const struct utterance *what;
    struct arena arena;
    struct slice id; /* the client's, JSON */
    union {
        struct {
            struct slice id;
            struct ask_reply reply;
            struct ask ask;
        } answer;
        struct {
            struct prompt_request request;
            struct prompt_receipt receipt;
        } prompt;
        struct turn_interrupted interrupted;
    };
    enum status status;
    struct failure failure;
};

/* What can be said. `read` checks it on the loop, `run` does it on the writer, `write` tells the result. */
struct utterance {
    const char *type;
    enum status (*read)(struct ws_command *spoken, const struct json *said);
    enum status (*run)(struct call *call, struct ws_command *spoken);
    void (*write)(struct json_out *out, const struct ws_command *spoken);
};

/* --- who speaks --- */

struct ws_commands *ws_commands_new(struct api *api, struct loop *loop, const struct principal *who,
                                    struct slice session_id, void *owner,
                                    void (*reply)(void *owner, struct slice frame))
{
    struct principal copy = *who;
    struct slice *strings[PRINCIPAL_STRINGS_MAX];
    size_t count = principal_strings(&copy, strings), bytes = session_id.len;
    for (size_t i = 0; i < count; i++) {
        bytes += strings[i]->len;
    }
    struct ws_commands *speaker = memory_zeroed(sizeof *speaker + bytes);
    *speaker = (struct ws_commands){.api = api, .loop = loop, .owner = owner, .reply = reply, .who = copy};
    char *at = (char *)(speaker + 1);
    principal_strings(&speaker->who, strings);
    for (size_t i = 0; i < count; i++) {
        *strings[i] = slice_place(*strings[i], &at);
    }
    speaker->session_id = slice_place(session_id, &at);
    return speaker;
}

static void release_if_done(struct ws_commands *speaker)
{
    if (!speaker->owner && speaker->under_way == 0) {
        free(speaker);
    }
}

void ws_commands_close(struct ws_commands *speaker)
{
    if (speaker) {
        speaker->owner = NULL;
        release_if_done(speaker);
    }
}

/* --- the result --- */

static void write_error(struct json_out *out, const struct failure *failure)
{
    json_key(out, "error");
    json_begin_object(out);
    json_put_i64(out, "status", status_http(failure->status));
    json_put_text(out, "code", slice_of(failure->code));
    json_put_text(out, "detail", slice_of(failure->detail));
    if (failure->members[0]) {
        buffer_add_byte(out->buffer, ',');
        buffer_add(out->buffer, slice_of(failure->members));
    }
    json_end_object(out);
}

static void say_result(const struct ws_command *spoken)
{
    struct ws_commands *speaker = spoken->speaker;
    struct buffer text = {0}, frame = {0};
    struct json_out out = json_out_to(&text);
    bool ok = spoken->status == STATUS_OK;
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("result"));
    json_put_raw(&out, "id", spoken->id);
    json_put_bool(&out, "ok", ok);
    if (ok) {
        spoken->what->write(&out, spoken);
    } else {
        write_error(&out, &spoken->failure);
    }
    json_end_object(&out);
    websocket_write(&frame, WEBSOCKET_TEXT, buffer_slice(&text));
    if (speaker->owner) {
        speaker->reply(speaker->owner, buffer_slice(&frame));
    }
    buffer_release(&text);
    buffer_release(&frame);
}

static void conclude(struct ws_command *spoken)
{
    struct ws_commands *speaker = spoken->speaker;
    say_result(spoken);
    arena_release(&spoken->arena);
    free(spoken);
    speaker->under_way--;
    release_if_done(speaker);
}

static void on_return(struct loop_message *message)
{
    conclude((struct ws_command *)((char *)message - offsetof(struct ws_command, message)));
}

/* --- on the writer --- */

static enum status run(struct call *call, struct command *command)
{
    struct ws_command *spoken = (struct ws_command *)command;
    return spoken->what->run(call, spoken);
}

static void finish(struct command *command, enum status status, const struct failure *failure)
{
    struct ws_command *spoken = (struct ws_command *)command;
    spoken->status = status;
    spoken->failure = failure ? *failure : (struct failure){0};
    loop_post(spoken->speaker->loop, &spoken->message);
}

static const struct command_type ws_command_type = {"websocket", COMMAND_RERUNS, run, finish};

/* --- what a message says --- */

/* A member that has another name over HTTP. */
struct alias {
    const char *alias, *name;
};

static struct slice name_of(const struct alias *aliases, const struct json *member)
{
    for (; aliases->alias; aliases++) {
        if (slice_is(member->key, aliases->alias)) {
            return slice_of(aliases->name);
        }
    }
    return member->key;
}

/* The body that the same command has over HTTP, so that both are read alike; `own` is not in it. */
static enum status body_of(struct ws_command *spoken, const struct json *said, const struct alias *aliases,
                           const struct json *own, const struct json **out)
{
    struct buffer text = {0};
    struct json_out json = json_out_to(&text);
    json_begin_object(&json);
    for (const struct json *member = said->child; member; member = member->next) {
        bool is_text = slice_is(member->key, "content") && json_is(member, JSON_STRING);
        if (member != own && !slice_is(member->key, "type") && !slice_is(member->key, "id")) {
            json_key_slice(&json, is_text ? SLICE("text") : name_of(aliases, member));
            json_raw(&json, member->raw);
        }
    }
    json_end_object(&json);
    struct slice body = arena_copy(&spoken->arena, buffer_slice(&text));
    buffer_release(&text);
    return json_parse(&spoken->arena, body, out, &spoken->failure);
}

/* --- answers --- */

static enum status read_answer(struct ws_command *spoken, const struct json *said)
{
    static const struct alias aliases[] = {{NULL, NULL}};
    const struct json *id = json_get(said, "ask_id") ? json_get(said, "ask_id") : json_get(said, "questionId");
    const struct json *body;
    struct failure *failure = &spoken->failure;
    if (!json_as_text(id, &spoken->answer.id)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "Name the ask in `ask_id`.");
    }
    if (json_get_value(said, "decision") && enum_names_find(ask_choice_enum, json_text_of(said, "decision")) < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "`decision` must be once, session, always or deny.");
    }
    enum status status = body_of(spoken, said, aliases, id, &body);
    if (status == STATUS_OK) {
        status = asks_check_answer(body, failure);
    }
    if (status == STATUS_OK) {
        asks_read_reply(body, &spoken->answer.reply);
    }
    return status;
}

static enum status run_answer(struct call *call, struct ws_command *spoken)
{
    return ask_answer(call, spoken->speaker->session_id, spoken->answer.id, &spoken->answer.reply, &spoken->answer.ask);
}

static void write_answer(struct json_out *out, const struct ws_command *spoken)
{
    json_key(out, "ask");
    ask_write(out, &spoken->answer.ask);
}

/* --- prompts --- */

/* Found before the rest, under the code that this entry always gave them. */
static enum status check_own_codes(const struct json *body, struct failure *failure)
{
    struct slice mode = json_text_of(body, "mode"), thread_id = json_text_of(body, "thread_id");
    if (slice_present(mode) && enum_names_find(queue_mode_enum, mode) < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_message",
                           "`mode` must be followup, steer, collect or reject.");
    }
    if (slice_present(thread_id) && (thread_id.len == 0 || thread_id.len > 128)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "`thread_id` has 1 to 128 characters.");
    }
    return STATUS_OK;
}

static enum status read_prompt(struct ws_command *spoken, const struct json *said)
{
    static const struct alias aliases[] = {{"queueMode", "mode"}, {"threadId", "thread_id"}, {NULL, NULL}};
    const struct json *body;
    struct failure *failure = &spoken->failure;
    enum status status = body_of(spoken, said, aliases, NULL, &body);
    if (status == STATUS_OK && json_get(body, "message_id")) {
        return failure_set(failure, STATUS_INVALID, "unknown_member",
                           "`message_id` is known over HTTP only; here `id` names the message.");
    }
    if (status == STATUS_OK) {
        status = check_own_codes(body, failure);
    }
    return status == STATUS_OK ? prompts_read_message(&spoken->arena, spoken->speaker->api->service, body,
                                                      &spoken->prompt.request, failure)
                               : status;
}

static enum status run_prompt(struct call *call, struct ws_command *spoken)
{
    return prompt_send(call, spoken->speaker->session_id, &spoken->prompt.request, &spoken->prompt.receipt);
}

static void write_prompt(struct json_out *out, const struct ws_command *spoken)
{
    json_key(out, "receipt");
    prompts_write_receipt(out, &spoken->prompt.receipt);
}

/* --- abort --- */

static enum status read_nothing(struct ws_command *spoken, const struct json *said)
{
    static const struct field none[] = {
        {"type", FIELD_STRING, true, "", NULL, 0, 0}, {"id", FIELD_ANY, false, "", NULL, 0, 0}, {0}};
    return validate_body(none, said, &spoken->failure);
}

static enum status run_abort(struct call *call, struct ws_command *spoken)
{
    return turn_interrupt(call, spoken->speaker->session_id, &spoken->interrupted);
}

static void write_abort(struct json_out *out, const struct ws_command *spoken)
{
    json_put_i64(out, "turn", spoken->interrupted.turn);
    json_put_bool(out, "requested", spoken->interrupted.requested);
}

/* --- hearing --- */

static const struct utterance utterances[] = {
    {"abort", read_nothing, run_abort, write_abort},
    {"answer", read_answer, run_answer, write_answer},
    {"prompt", read_prompt, run_prompt, write_prompt},
};

static enum status submit(struct ws_command *spoken)
{
    struct ws_commands *speaker = spoken->speaker;
    if (speaker->under_way > UNDER_WAY_MAX) {
        return failure_set(&spoken->failure, STATUS_LIMITED, "too_many_answers",
                           "At most %d messages of one connection are under way; wait for their results.",
                           UNDER_WAY_MAX);
    }
    spoken->command.type = &ws_command_type;
    spoken->command.who = &speaker->who;
    spoken->command.about = speaker->session_id;
    spoken->command.arena = &spoken->arena;
    spoken->message.run = on_return;
    return writer_submit(speaker->api->writer, &spoken->command)
               ? STATUS_OK
               : failure_set(&spoken->failure, STATUS_UNAVAILABLE, "overloaded",
                             "Too many writes wait, or the server stops; try again.");
}

static void say_pong(struct ws_commands *speaker)
{
    struct buffer frame = {0};
    websocket_write(&frame, WEBSOCKET_TEXT, SLICE("{\"type\":\"pong\"}"));
    speaker->reply(speaker->owner, buffer_slice(&frame));
    buffer_release(&frame);
}

static const struct utterance *utterance_of(struct slice type)
{
    for (size_t i = 0; i < sizeof utterances / sizeof *utterances; i++) {
        if (slice_is(type, utterances[i].type)) {
            return &utterances[i];
        }
    }
    return NULL;
}

/* The id comes back with the result, so it has an end. */
static enum status read_id(struct ws_command *spoken, const struct json *said)
{
    struct slice id = json_raw_of(said, "id");
    spoken->id = slice_present(id) && id.len <= ID_BYTES_MAX ? id : SLICE("null");
    return id.len <= ID_BYTES_MAX ? STATUS_OK
                                  : failure_set(&spoken->failure, STATUS_INVALID, "invalid_message",
                                                "The `id` of a message has at most %d bytes.", ID_BYTES_MAX);
}

static enum status spoken_read(struct ws_command *spoken, const struct json *said)
{
    enum status status = read_id(spoken, said);
    if (status == STATUS_OK && !spoken->what) {
        status = failure_set(&spoken->failure, STATUS_INVALID, "unknown_message",
                             "There is no message of this type; send abort, answer, ping or prompt.");
    }
    return status == STATUS_OK ? spoken->what->read(spoken, said) : status;
}

static void take(struct ws_command *spoken, const struct json *said)
{
    spoken->speaker->under_way++;
    enum status status = spoken_read(spoken, said);
    if (status == STATUS_OK) {
        status = submit(spoken); /* from here on it is the writer's */
    }
    if (status != STATUS_OK) {
        spoken->status = status;
        conclude(spoken);
    }
}

static void refuse_unreadable(struct ws_command *spoken)
{
    spoken->id = SLICE("null");
    spoken->speaker->under_way++;
    spoken->status = STATUS_INVALID;
    conclude(spoken);
}

void ws_commands_hear(struct ws_commands *speaker, struct slice text)
{
    const struct json *said = NULL;
    struct ws_command *spoken = memory_zeroed(sizeof *spoken);
    struct slice copy = arena_copy(&spoken->arena, text);
    size_t values_max = (size_t)speaker->api->limits.message_values_max; /* it is read on the loop */
    enum status status = json_parse_within(&spoken->arena, copy, values_max, &said, &spoken->failure);
    spoken->speaker = speaker;
    if (status == STATUS_OK && slice_is(json_text_of(said, "type"), "ping")) {
        say_pong(speaker);
        arena_release(&spoken->arena);
        free(spoken);
    } else if (status == STATUS_OK && json_is(said, JSON_OBJECT)) {
        spoken->what = utterance_of(json_text_of(said, "type"));
        take(spoken, said);
    } else {
        if (status == STATUS_OK) {
            (void)failure_set(&spoken->failure, STATUS_INVALID, "invalid_message", "A message is one JSON object.");
        }
        refuse_unreadable(spoken);
    }
}
