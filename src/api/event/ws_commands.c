#include "api/event/ws_commands.h"

#include <stdlib.h>

#include "api/ask/asks.h"
#include "api/core/handlers.h"
#include "api/core/validate.h"
#include "domain/input.h"
#include "service/prompt/prompt.h"
#include "service/turn/turn.h"
#include "service/core/writer.h"
#include "wire/websocket.h"

enum { UNDER_WAY_MAX = 8 };

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

/* --- answers --- */

static enum status read_answer(struct ws_command *spoken, const struct json *said)
{
    const struct json *id = json_get(said, "ask_id") ? json_get(said, "ask_id") : json_get(said, "questionId");
    struct slice word = json_text_of(said, "decision");
    struct failure *failure = &spoken->failure;
    if (!json_as_text(id, &spoken->answer.id)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "Name the ask in `ask_id`.");
    }
    if (json_get_value(said, "decision") && enum_names_find(answer_enum, word) < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "`decision` must be once, session, always or deny.");
    }
    asks_read_reply(said, &spoken->answer.reply);
    return STATUS_OK;
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

static enum status read_content(struct ws_command *spoken, const struct json *said)
{
    const struct service *service = spoken->speaker->api->service;
    const struct json *content = json_get_value(said, "content");
    struct slice text = json_text_of(said, "text");
    bool has_text = slice_present(text) || json_as_text(content, &text);
    spoken->prompt.request.content = has_text ? prompt_content_of(&spoken->arena, text) : (struct slice){0};
    if (has_text) {
        return input_check_chars(text, "content", 1, service->limits.session.prompt_chars_max, &spoken->failure);
    }
    if (!json_is(content, JSON_ARRAY) || content->count == 0) {
        return failure_set(&spoken->failure, STATUS_INVALID, "invalid_message",
                           "Say something in `content`: a text, or parts of a message.");
    }
    spoken->prompt.request.content = content->raw;
    return STATUS_OK;
}

static enum status check_prompt(struct ws_command *spoken, struct slice mode)
{
    const struct prompt_request *request = &spoken->prompt.request;
    size_t bytes = request->content.len + request->metadata.len;
    size_t bytes_max = spoken->speaker->api->service->limits.event.bytes_max;
    if (slice_present(mode) && request->mode < 0) {
        return failure_set(&spoken->failure, STATUS_INVALID, "invalid_message",
                           "`mode` must be followup, steer, collect or reject.");
    }
    if (slice_present(request->thread_id) && (request->thread_id.len == 0 || request->thread_id.len > 128)) {
        return failure_set(&spoken->failure, STATUS_INVALID, "invalid_message", "`thread_id` has 1 to 128 characters.");
    }
    return bytes <= bytes_max
               ? STATUS_OK
               : failure_set(&spoken->failure, STATUS_TOO_LARGE, "event_too_large",
                             "The message has %zu bytes; at most %zu are accepted (option event-bytes-max).", bytes,
                             bytes_max);
}

static struct slice either(const struct json *said, const char *name, const char *other)
{
    struct slice text = json_text_of(said, name);
    return slice_present(text) ? text : json_text_of(said, other);
}

static enum status read_prompt(struct ws_command *spoken, const struct json *said)
{
    struct slice mode = either(said, "mode", "queueMode");
    struct prompt_extras extras = {
        .metadata = json_get_value(said, "metadata"),
        .attachments = json_get_value(said, "attachments"),
    };
    struct prompt_request *request = &spoken->prompt.request;
    *request = (struct prompt_request){
        .mode = enum_names_find(queue_mode_enum, mode),
        .thread_id = either(said, "thread_id", "threadId"),
        .debounce_ms = -1,
    };
    (void)json_as_bool(json_get(said, "clear_queue"), &request->clear_queue);
    enum status status = read_content(spoken, said);
    if (status == STATUS_OK) {
        status = prompt_metadata_of(&spoken->arena, &extras, &request->metadata, &spoken->failure);
    }
    return status == STATUS_OK ? check_prompt(spoken, mode) : status;
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
    (void)spoken, (void)said;
    return STATUS_OK;
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

static void take(struct ws_command *spoken, const struct json *said)
{
    spoken->id = json_raw_of(said, "id");
    spoken->speaker->under_way++;
    enum status status = spoken->what->read(spoken, said);
    if (status == STATUS_OK) {
        status = submit(spoken); /* from here on it is the writer's */
    }
    if (status != STATUS_OK) {
        spoken->status = status;
        conclude(spoken);
    }
}

void ws_commands_hear(struct ws_commands *speaker, struct slice text)
{
    const struct json *said = NULL;
    struct ws_command *spoken = memory_zeroed(sizeof *spoken);
    struct slice copy = arena_copy(&spoken->arena, text);
    size_t values_max = (size_t)speaker->api->limits.message_values_max; /* it is read on the loop */
    bool readable = json_parse_within(&spoken->arena, copy, values_max, &said, NULL) == STATUS_OK;
    spoken->speaker = speaker;
    spoken->what = readable ? utterance_of(json_text_of(said, "type")) : NULL;
    if (spoken->what) {
        take(spoken, said);
        return;
    }
    if (readable && slice_is(json_text_of(said, "type"), "ping")) {
        say_pong(speaker);
    }
    arena_release(&spoken->arena);
    free(spoken);
}
