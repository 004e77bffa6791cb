#include <stdlib.h>

#include "domain/call_subject.h"
#include "runner/acp/acp_turn.h"
#include "runner/tool/path.h"

/* One file that is read or written beside the loop. Owned by itself; the agent forgets it when it ends. */
struct acp_file {
    struct acp_file *next;
    uv_work_t work;
    struct acp_agent *agent; /* NULL = nobody waits any more */
    struct arena arena;      /* of the slices below */
    struct slice request, path, content;
    struct slice arguments;    /* of the request, JSON */
    const struct agent *rules; /* the agent's, in the arena */
    struct path_scope scope;
    enum path_use use;
    size_t bytes_max;
    int64_t line, limit; /* read: the first line, from 1, and how many; 0 = all */
    struct buffer text;
    enum status status;
    struct failure failure;
};

bool acp_file_is_served(const struct turn_input *brief)
{
    return brief->sandbox && sandbox_root(brief->sandbox).len > 0;
}

/* --- beside the loop --- */

static void read_or_write(struct acp_file *file, const struct resolved_path *spot)
{
    struct stat about;
    if (file->use == PATH_WRITE) {
        file->status = path_write(spot, file->content, NULL, &file->failure);
    } else {
        file->status = path_read_text(spot, file->bytes_max, &file->text, &about, &file->failure);
    }
}

static void on_work(uv_work_t *work)
{
    struct acp_file *file = work->data;
    struct resolved_path spot;
    file->status = path_find(&file->arena, &file->scope, file->path, file->use, &spot, &file->failure);
    if (file->status == STATUS_OK) {
        read_or_write(file, &spot);
        resolved_path_close(&spot);
    }
}

/* --- on the loop --- */

static struct slice lines_of(struct slice text, int64_t line, int64_t limit)
{
    struct slice head, rest = text;
    for (int64_t i = 1; i < line && rest.len > 0; i++) {
        slice_cut(rest, '\n', &head, &rest);
    }
    struct slice end = rest;
    for (int64_t i = 0; limit > 0 && i < limit && end.len > 0; i++) {
        slice_cut(end, '\n', &head, &end);
    }
    return limit > 0 ? slice_from(rest.ptr, rest.len - end.len) : rest;
}

static void reply(struct acp_file *file)
{
    struct slice request = file->request;
    if (file->status != STATUS_OK) {
        enum rpc_code code = file->status == STATUS_NOT_FOUND ? RPC_NOT_FOUND : RPC_INVALID_PARAMS;
        acp_agent_refuse(file->agent, request, code, slice_of(file->failure.detail));
        return;
    }
    if (file->use == PATH_WRITE) {
        acp_agent_reply(file->agent, request, SLICE("{}"));
        return;
    }
    struct buffer result = {0};
    struct json_out out = json_out_to(&result);
    json_begin_object(&out);
    json_put_text(&out, "content", lines_of(buffer_slice(&file->text), file->line, file->limit));
    json_end_object(&out);
    acp_agent_reply(file->agent, request, buffer_slice(&result));
    buffer_release(&result);
}

static void forget(struct acp_file *file)
{
    for (struct acp_file **at = &file->agent->files; *at; at = &(*at)->next) {
        if (*at == file) {
            *at = file->next;
            return;
        }
    }
}

static void on_worked(uv_work_t *work, int uv_status)
{
    struct acp_file *file = work->data;
    (void)uv_status;
    if (file->agent) {
        forget(file);
        reply(file);
    }
    buffer_release(&file->text);
    arena_release(&file->arena);
    free(file);
}

void acp_files_end(struct acp_agent *agent)
{
    for (struct acp_file *file = agent->files; file; file = file->next) {
        file->agent = NULL;
    }
    agent->files = NULL;
}

static enum permission permission_at(const struct acp_file *file, struct slice path)
{
    struct call_facts facts = {
        .tool = file->use == PATH_WRITE ? SLICE("write_file") : SLICE("read_file"),
        .arguments = file->arguments,
        .place = {.directory = file->scope.mount, .inside = file->scope.mount, .outside = file->scope.tree},
        .paths = &path,
        .path_count = 1};
    return agent_permission(file->rules, &facts, PERMISSION_ALLOW);
}

/* A link on the way must not lead to what the rules guard better. */
static bool rules_allow(const void *owner, struct slice meant, struct slice real)
{
    return permission_at(owner, real) <= permission_at(owner, meant);
}

static void serve(struct acp_turn *turn, const struct rpc_message *message, enum path_use use)
{
    struct acp_agent *agent = turn->agent;
    struct slice path, content = {0};
    if (!acp_file_is_served(turn->brief) || !json_as_text(json_get(message->params, "path"), &path) ||
        (use == PATH_WRITE && !json_as_text(json_get(message->params, "content"), &content)) ||
        content.len > (size_t)agent->options->limits.file_bytes_max) {
        acp_agent_refuse(agent, message->id, RPC_INVALID_PARAMS, SLICE("a path, and at most that much content"));
        return;
    }
    struct acp_file *file = memory_zeroed(sizeof *file);
    file->work.data = file;
    file->agent = agent;
    file->use = use;
    file->request = arena_copy(&file->arena, message->id);
    file->path = arena_copy(&file->arena, path);
    file->content = arena_copy(&file->arena, content);
    file->arguments = arena_copy(&file->arena, message->params->raw);
    file->rules = agent_copy_rules(&file->arena, turn->brief->agent);
    file->bytes_max = (size_t)agent->options->limits.file_bytes_max;
    json_as_i64(json_get(message->params, "line"), &file->line);
    json_as_i64(json_get(message->params, "limit"), &file->limit);
    file->scope = (struct path_scope){
        .fs_scope = FS_SCOPE_SANDBOXED,
        .tree = arena_copy(&file->arena, sandbox_root(agent->sandbox)),
        .mount = arena_copy(&file->arena, buffer_slice(&agent->directory)),
        .allow = file->rules->permission_count > 0 ? rules_allow : NULL,
        .owner = file,
    };
    /* What needs a person is asked by the agent itself. */
    if (permission_at(file, file->path) == PERMISSION_DENY) {
        acp_agent_refuse(agent, message->id, RPC_INVALID_PARAMS, SLICE("the rules of this agent deny it"));
        arena_release(&file->arena);
        free(file);
        return;
    }
    file->next = agent->files;
    agent->files = file;
    uv_queue_work(loop_uv(agent->loop), &file->work, on_work, on_worked);
}

void acp_file_read(struct acp_turn *turn, const struct rpc_message *message)
{
    serve(turn, message, PATH_READ);
}

void acp_file_write(struct acp_turn *turn, const struct rpc_message *message)
{
    serve(turn, message, PATH_WRITE);
}
