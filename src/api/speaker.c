#include "api/speaker.h"

#include <stdlib.h>

#include "api/asks.h"
#include "api/handlers.h"
#include "api/validate.h"
#include "service/writer.h"
#include "wire/websocket.h"

enum { UNDER_WAY_MAX = 8 };

struct speaker {
    struct api *api;
    struct loop *loop;
    void *owner; /* NULL: the connection is gone */
    void (*reply)(void *owner, struct slice frame);
    int under_way;
    struct principal who; /* its strings, and the session's id, stand behind the struct */
    struct slice session_id;
};

/* One answer on its way to the writer and back. */
struct spoken {
    struct write_job job; /* first: the writer's job is the spoken one */
    struct loop_message message;
    struct speaker *speaker;
    struct arena arena;
    struct slice id; /* the client's, JSON */
    struct slice ask_id;
    struct ask_reply reply;
    struct call call;
    struct ask ask;
    enum status status;
    struct failure failure;
};

/* --- who speaks --- */

static size_t strings_of(struct principal *who, struct slice **out)
{
    struct slice *all[] = {&who->tenant_id, &who->user_id,    &who->name,
                           &who->id_prefix, &who->session_id, &who->token_id};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        out[i] = all[i];
    }
    return sizeof all / sizeof *all;
}

struct speaker *speaker_new(struct api *api, struct loop *loop, const struct principal *who, struct slice session_id,
                            void *owner, void (*reply)(void *owner, struct slice frame))
{
    struct principal copy = *who;
    struct slice *strings[8];
    size_t count = strings_of(&copy, strings), bytes = session_id.len;
    for (size_t i = 0; i < count; i++) {
        bytes += strings[i]->len;
    }
    struct speaker *speaker = memory_zeroed(sizeof *speaker + bytes);
    *speaker = (struct speaker){.api = api, .loop = loop, .owner = owner, .reply = reply, .who = copy};
    char *at = (char *)(speaker + 1);
    strings_of(&speaker->who, strings);
    for (size_t i = 0; i < count; i++) {
        *strings[i] = slice_place(*strings[i], &at);
    }
    speaker->session_id = slice_place(session_id, &at);
    return speaker;
}

static void release_if_done(struct speaker *speaker)
{
    if (!speaker->owner && speaker->under_way == 0) {
        free(speaker);
    }
}

void speaker_close(struct speaker *speaker)
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

static void say_result(const struct spoken *spoken)
{
    struct speaker *speaker = spoken->speaker;
    struct buffer text = {0}, frame = {0};
    struct json_out out = json_out_to(&text);
    bool ok = spoken->status == STATUS_OK;
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("result"));
    json_put_raw(&out, "id", spoken->id);
    json_put_bool(&out, "ok", ok);
    if (ok) {
        json_key(&out, "ask");
        ask_write(&out, &spoken->ask);
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

static void conclude(struct spoken *spoken)
{
    struct speaker *speaker = spoken->speaker;
    say_result(spoken);
    arena_release(&spoken->arena);
    free(spoken);
    speaker->under_way--;
    release_if_done(speaker);
}

static void on_return(struct loop_message *message)
{
    conclude((struct spoken *)((char *)message - offsetof(struct spoken, message)));
}

/* --- on the writer --- */

static enum status try_answer(struct spoken *spoken, struct unit *unit)
{
    struct speaker *speaker = spoken->speaker;
    struct service *service = speaker->api->service;
    spoken->call = (struct call){
        .service = service,
        .db = unit->db,
        .unit = unit,
        .arena = &spoken->arena,
        .who = &speaker->who,
        .now_ms = clock_wall_ms(service->clock),
        .steady_ms = clock_steady_ms(service->clock),
    };
    unit_start_command(unit);
    spoken->status = ask_answer(&spoken->call, speaker->session_id, spoken->ask_id, &spoken->reply, &spoken->ask);
    spoken->failure = spoken->call.failure;
    return spoken->status;
}

static enum job_outcome run(struct write_job *job, struct unit *unit)
{
    struct spoken *spoken = (struct spoken *)job;
    int64_t writes_before = unit->writes;
    enum status status = try_answer(spoken, unit);
    if (status != STATUS_OK && unit->writes == writes_before && unit_forget_remembered(unit)) {
        status = try_answer(spoken, unit);
    }
    return status != STATUS_OK && unit->writes != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void finish(struct write_job *job, enum status status, const struct failure *failure)
{
    struct spoken *spoken = (struct spoken *)job;
    if (status != STATUS_OK) {
        spoken->status = status;
        spoken->failure = *failure;
    }
    loop_post(spoken->speaker->loop, &spoken->message);
}

/* --- hearing --- */

static enum status read_answer(struct spoken *spoken, const struct json *said)
{
    const struct json *id = json_get(said, "ask_id") ? json_get(said, "ask_id") : json_get(said, "questionId");
    struct slice word = json_text_of(said, "decision");
    struct failure *failure = &spoken->failure;
    if (!json_as_text(id, &spoken->ask_id)) {
        return failure_set(failure, STATUS_INVALID, "invalid_message", "Name the ask in `ask_id`.");
    }
    if (json_get_value(said, "decision") && words_find(answer_words, word) < 0) {
        return failure_set(failure, STATUS_INVALID, "invalid_decision",
                           "`decision` must be once, session, always or deny.");
    }
    asks_read_reply(said, &spoken->reply);
    return STATUS_OK;
}

static enum status submit(struct spoken *spoken)
{
    struct speaker *speaker = spoken->speaker;
    if (speaker->under_way > UNDER_WAY_MAX) {
        return failure_set(&spoken->failure, STATUS_LIMITED, "too_many_answers",
                           "At most %d answers of one connection are under way; wait for their results.",
                           UNDER_WAY_MAX);
    }
    spoken->job.run = run;
    spoken->job.finish = finish;
    spoken->message.run = on_return;
    return writer_submit(speaker->api->writer, &spoken->job)
               ? STATUS_OK
               : failure_set(&spoken->failure, STATUS_UNAVAILABLE, "overloaded",
                             "Too many writes wait, or the server stops; try again.");
}

void speaker_hear(struct speaker *speaker, struct slice text)
{
    const struct json *said;
    struct spoken *spoken = memory_zeroed(sizeof *spoken);
    struct slice copy = arena_copy(&spoken->arena, text);
    bool ours =
        json_parse(&spoken->arena, copy, &said, NULL) == STATUS_OK && slice_is(json_text_of(said, "type"), "answer");
    if (!ours) {
        arena_release(&spoken->arena);
        free(spoken);
        return;
    }
    spoken->speaker = speaker;
    spoken->id = json_raw_of(said, "id");
    speaker->under_way++;
    enum status status = read_answer(spoken, said);
    if (status == STATUS_OK) {
        status = submit(spoken); /* from here on it is the writer's */
    }
    if (status != STATUS_OK) {
        spoken->status = status;
        conclude(spoken);
    }
}
