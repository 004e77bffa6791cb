#include <stdlib.h>

#include "service/runner_parts.h"
#include "service/turn_close.h"

enum note_kind { NOTE_EVENT, NOTE_TITLE, NOTE_GIT_STATE, NOTE_KIND_COUNT };

/* Something for the log of a session that belongs to no turn. */
struct note {
    struct write_job job; /* first: the job is the note */
    struct runners *runners;
    struct arena arena;
    int64_t tenant_key;
    struct slice session_id, actor;
    enum note_kind kind;
    struct slice type;    /* of the event */
    struct slice content; /* JSON object: its metadata, the arguments of set_title, what changed in git */
};

static enum status write_event(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct event event = {.type = note->type, .role = ROLE_SYSTEM, .metadata = note->content};
    return unit_append(call, loaded, &event, 1);
}

static enum status write_title(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct slice ignored;
    return turn_tool_serve(call, loaded, SLICE("set_title"), note->content, &ignored);
}

static enum status write_git_state(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct session_entry ignored;
    const struct json *told;
    (void)loaded;
    enum status status = json_parse(call->arena, note->content, &told, &call->failure);
    return status == STATUS_OK ? session_set_git_state(call, note->session_id, told, &ignored) : status;
}

static enum status (*const writes[NOTE_KIND_COUNT])(struct call *call, const struct note *note,
                                                    struct loaded_session *loaded) = {
    [NOTE_EVENT] = write_event,
    [NOTE_TITLE] = write_title,
    [NOTE_GIT_STATE] = write_git_state,
};

/* A session that is gone, or a title or state that is refused, is nobody's business any more. */
static enum job_outcome note_run(struct write_job *job, struct unit *unit)
{
    struct note *note = (struct note *)job;
    struct arena arena = {0};
    struct principal who = {.kind = PRINCIPAL_SYSTEM, .tenant_key = note->tenant_key, .name = note->actor};
    struct call call = unit_call(unit, &arena, &who);
    struct loaded_session *loaded;
    int64_t writes_before = unit_writes(unit);
    unit_start_command(unit);
    enum status status = unit_load(unit, note->tenant_key, note->session_id, &loaded, &call.failure);
    if (status == STATUS_OK) {
        status = writes[note->kind](&call, note, loaded);
    }
    arena_release(&arena);
    return status != STATUS_OK && unit_writes(unit) != writes_before ? JOB_SPOILED : JOB_DONE;
}

static void note_free(struct note *note)
{
    arena_release(&note->arena);
    free(note);
}

static void note_finish(struct write_job *job, enum status status, const struct failure *failure)
{
    (void)status, (void)failure;
    note_free((struct note *)job);
}

static void submit(const struct runner *runner, enum note_kind kind, struct slice type, struct slice content)
{
    struct note *note = memory_zeroed(sizeof *note);
    note->job.run = note_run;
    note->job.finish = note_finish;
    note->runners = runner->runners;
    note->tenant_key = runner->key.tenant_key;
    note->session_id = arena_copy(&note->arena, runner->session_id);
    note->actor = arena_copy(&note->arena, runner->actor);
    note->kind = kind;
    note->type = arena_copy(&note->arena, type);
    note->content = arena_copy(&note->arena, content);
    if (!writer_submit(runner->runners->options.writer, &note->job)) {
        note_free(note);
    }
}

void runner_note(const struct runner *runner, const char *type, struct slice metadata)
{
    submit(runner, NOTE_EVENT, slice_of(type), metadata);
}

void runner_set_title(const struct runner *runner, struct slice title)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_object(&out);
    json_put_text(&out, "title", title);
    json_end_object(&out);
    submit(runner, NOTE_TITLE, (struct slice){0}, buffer_slice(&buffer));
    buffer_release(&buffer);
}

void runner_set_git_state(const struct runner *runner, struct slice told)
{
    submit(runner, NOTE_GIT_STATE, (struct slice){0}, told);
}
