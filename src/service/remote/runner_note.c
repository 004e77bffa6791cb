#include <stdlib.h>

#include "service/remote/runner_internal.h"
#include "service/turn/turn_close.h"

enum note_kind { NOTE_EVENT, NOTE_TITLE, NOTE_GIT_STATE, NOTE_KIND_COUNT };

/* Something for the log of a session that belongs to no turn. */
struct note {
    struct command command; /* first */
    struct runners *runners;
    struct arena arena;
    int64_t tenant_key;
    struct slice session_id;
    struct principal who;
    enum note_kind kind;
    enum event_kind event;
    struct slice content; /* JSON object: its metadata, the arguments of set_title, what changed in git */
};

static enum status write_event(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct event event = {.kind = note->event, .role = ROLE_SYSTEM, .metadata = note->content};
    return session_append_events(call, loaded, &event, 1);
}

static enum status write_title(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct slice ignored;
    return turn_tool_serve(call, loaded, SLICE("set_title"), note->content, &ignored);
}

static enum status write_git_state(struct call *call, const struct note *note, struct loaded_session *loaded)
{
    struct session_access ignored;
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
static enum status note_run(struct call *call, struct command *command)
{
    struct note *note = (struct note *)command;
    struct loaded_session *loaded;
    enum status status =
        transaction_load(call->transaction, note->tenant_key, note->session_id, &loaded, &call->failure);
    return status == STATUS_OK ? writes[note->kind](call, note, loaded) : status;
}

static void note_free(struct note *note)
{
    arena_release(&note->arena);
    free(note);
}

static void note_finish(struct command *command, enum status status, const struct failure *failure)
{
    (void)status, (void)failure;
    note_free((struct note *)command);
}

static const struct command_type note_type = {"runner.note", 0, note_run, note_finish};

static void submit(const struct runner *runner, enum note_kind kind, enum event_kind event, struct slice content)
{
    struct note *note = memory_zeroed(sizeof *note);
    note->command.type = &note_type;
    note->command.who = &note->who;
    note->runners = runner->runners;
    note->tenant_key = runner->key.tenant_key;
    note->session_id = arena_copy(&note->arena, runner->session_id);
    note->who = (struct principal){.kind = PRINCIPAL_SYSTEM,
                                   .tenant_key = runner->key.tenant_key,
                                   .name = arena_copy(&note->arena, runner->actor)};
    note->kind = kind;
    note->event = event;
    note->content = arena_copy(&note->arena, content);
    if (!writer_submit(runner->runners->options.writer, &note->command)) {
        note_free(note);
    }
}

void runner_note(const struct runner *runner, enum event_kind event, struct slice metadata)
{
    submit(runner, NOTE_EVENT, event, metadata);
}

void runner_set_title(const struct runner *runner, struct slice title)
{
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    json_begin_object(&out);
    json_put_text(&out, "title", title);
    json_end_object(&out);
    submit(runner, NOTE_TITLE, EVENT_CUSTOM, buffer_slice(&buffer));
    buffer_release(&buffer);
}

void runner_set_git_state(const struct runner *runner, struct slice told)
{
    submit(runner, NOTE_GIT_STATE, EVENT_CUSTOM, told);
}
