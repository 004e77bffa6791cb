#include "runner/tool/tool_call.h"

#include <stdlib.h>

#include "base/log.h"
#include "domain/agent.h"
#include "loop/loop.h"

const struct tool_settings *tool_settings_of(const struct tool_place *place)
{
    return place->settings ? place->settings : &tool_settings_usual;
}

void tool_refuse(struct tool_done then, enum turn_error error, struct slice text)
{
    struct tool_result result = {.is_error = true, .error = error, .text = text, .bytes = (int64_t)text.len};
    then.done(then.owner, &result);
}

enum turn_error tool_error_of(enum status status)
{
    if (status == STATUS_OK) {
        return TURN_OK;
    }
    return status == STATUS_FORBIDDEN ? TURN_TOOL_DENIED
           : status == STATUS_INVALID ? TURN_VALIDATION
                                      : TURN_TOOL_FAILED;
}

void tool_scope(const struct tool_place *place, struct path_scope *out)
{
    const struct tool_settings *settings = tool_settings_of(place);
    enum fs_scope asked = place->agent->fs_scope;
    *out = (struct path_scope){
        .fs_scope = asked == FS_SCOPE_FULL && !settings->allows_full_scope ? FS_SCOPE_PROJECT : asked,
        .tree = place->sandbox ? sandbox_root(place->sandbox) : (struct slice){0},
        .mount = place->sandbox ? SLICE(TOOL_MOUNT) : (struct slice){0},
        .workspace = place->workspace,
        .hidden = slice_of(settings->data_dir),
    };
}

static enum permission permission_at(const struct tool_job *job, struct slice path)
{
    struct call_facts facts = {.tool = job->tool,
                               .arguments = job->arguments->raw,
                               .place = tool_call_place(&job->scope),
                               .paths = &path,
                               .path_count = 1};
    return agent_permission(job->place.agent, &facts, PERMISSION_ALLOW);
}

/* The call goes elsewhere than the rules were asked about: they must not be stricter there. */
static bool rules_allow(const void *owner, struct slice meant, struct slice real)
{
    const struct tool_job *job = owner;
    return job->place.agent->permission_count == 0 || permission_at(job, real) <= permission_at(job, meant);
}

/* --- copying what the job must own --- */

static void copy_scope(struct tool_job *job, const struct tool_place *place)
{
    tool_scope(place, &job->scope);
    job->scope.tree = arena_copy(&job->arena, job->scope.tree);
    job->scope.mount = arena_copy(&job->arena, job->scope.mount);
    job->scope.workspace = arena_copy(&job->arena, job->scope.workspace);
    job->scope.allow = rules_allow;
    job->scope.owner = job;
}

static struct tool_job *job_new(const struct tool_place *place, const struct tool_call *call, struct tool_done then)
{
    struct tool_job *job = memory_zeroed(sizeof *job);
    job->then = then;
    job->place = (struct tool_place){.settings = tool_settings_of(place),
                                     .files_dir = arena_copy(&job->arena, place->files_dir)};
    job->tool = arena_copy(&job->arena, call->name);
    job->call_id = arena_copy(&job->arena, call->id);
    job->work.data = job;
    return job;
}

static void job_free(struct tool_job *job)
{
    buffer_release(&job->text);
    arena_release(&job->arena);
    free(job);
}

/* --- running --- */

static void work(uv_work_t *request)
{
    struct tool_job *job = request->data;
    struct failure failure = {0};
    enum status status = job->is_cancelled || !job->run ? STATUS_OK : job->run(job, &failure);
    if (status != STATUS_OK) {
        job->text.len = 0;
        buffer_add(&job->text, slice_of(failure.detail));
        job->result.error = tool_error_of(status);
    }
    job->result.is_error = job->result.error != TURN_OK;
    tool_bound(&job->arena, &job->place, job->call_id, buffer_slice(&job->text), &job->result);
}

static void finish(uv_work_t *request, int status)
{
    struct tool_job *job = request->data;
    (void)status;
    if (!job->is_cancelled) {
        job->then.done(job->then.owner, &job->result);
    }
    job_free(job);
}

static void *job_queue(struct tool_job *job, struct loop *loop)
{
    int error = uv_queue_work(loop_uv(loop), &job->work, work, finish);
    if (error == 0) {
        return job;
    }
    log_error("tool_job_failed", LOG_TEXT("error", slice_of(uv_strerror(error))));
    tool_refuse(job->then, TURN_INTERNAL, SLICE("The call could not be started."));
    job_free(job);
    return NULL;
}

void *tool_job_start(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                     enum status (*run)(struct tool_job *job, struct failure *failure))
{
    struct tool_job *job = job_new(place, call, then);
    job->run = run;
    job->place.agent = agent_copy_rules(&job->arena, place->agent);
    copy_scope(job, place);
    if (json_parse(&job->arena, arena_copy(&job->arena, call->arguments->raw), &job->arguments, NULL) != STATUS_OK) {
        tool_refuse(then, TURN_VALIDATION, SLICE("The arguments are not JSON."));
        job_free(job);
        return NULL;
    }
    return job_queue(job, place->loop);
}

void tool_job_cancel(void *running)
{
    struct tool_job *job = running;
    job->is_cancelled = true;
    uv_cancel((uv_req_t *)&job->work);
}

static bool fits(const struct tool_settings *settings, struct slice whole)
{
    size_t lines = 1;
    for (size_t i = 0; i < whole.len; i++) {
        lines += whole.ptr[i] == '\n';
    }
    return whole.len <= settings->result_bytes_max && lines <= settings->result_lines_max;
}

void *tool_give(const struct tool_place *place, const struct tool_call *call, struct tool_done then,
                struct buffer *whole, enum turn_error error)
{
    if (fits(tool_settings_of(place), buffer_slice(whole))) {
        struct tool_result result = {
            .is_error = error != TURN_OK, .error = error, .text = buffer_slice(whole), .bytes = (int64_t)whole->len};
        struct buffer kept = *whole;
        *whole = (struct buffer){0};
        then.done(then.owner, &result);
        buffer_release(&kept);
        return NULL;
    }
    struct tool_job *job = job_new(place, call, then);
    job->text = *whole;
    job->result.error = error;
    *whole = (struct buffer){0};
    return job_queue(job, place->loop);
}
