#include <stdlib.h>

#include "runner/acp/acp_turn.h"
#include "runner/tool/gateway_template.h"
#include "runner/tool/path.h"

/* What an agent needs before it is started, when its definition names gateway tools:
 *
 *     token (a command of the service) ─→ files in its tree (beside the loop) ─→ the process
 *
 * The turn's while it waits for the token; its own while it works. */
struct acp_gateway {
    uv_work_t work;
    struct acp_turn *turn; /* NULL = nobody waits any more */
    bool is_working;
    struct arena arena;
    struct slice tree; /* on this machine */
    const struct tool_spec **tools;
    size_t count;
    struct acp_access access;
    void (*then)(struct acp_turn *turn, const struct acp_access *access);
    enum status status;
    struct failure failure;
};

bool acp_gateway_is_wanted(const struct turn_input *brief)
{
    return brief->agent->gateway_tool_count > 0;
}

static void gateway_free(struct acp_gateway *gateway)
{
    if (gateway->turn) {
        gateway->turn->gateway = NULL;
    }
    arena_release(&gateway->arena);
    free(gateway);
}

void acp_gateway_leave(struct acp_turn *turn)
{
    struct acp_gateway *gateway = turn->gateway;
    if (gateway && gateway->is_working) {
        gateway->turn = NULL;
    } else if (gateway) {
        gateway_free(gateway);
    }
    turn->gateway = NULL;
}

static void give_up(struct acp_gateway *gateway, enum turn_error error, struct slice why)
{
    struct acp_turn *turn = gateway->turn;
    if (turn && turn->turn) {
        acp_turn_end(turn, TURN_ERROR, error, why, NULL);
    }
    gateway_free(gateway);
}

/* --- beside the loop --- */

/* Theirs stays theirs: a project may have files of its own there. */
static bool is_there(struct acp_gateway *gateway, const struct path_scope *scope, struct slice path)
{
    struct resolved_path spot;
    bool found = path_find(&gateway->arena, scope, path, PATH_READ, &spot, NULL) == STATUS_OK;
    if (found) {
        resolved_path_close(&spot);
    }
    return found;
}

static void write_file(struct acp_gateway *gateway, const struct path_scope *scope, struct slice path,
                       struct slice text)
{
    struct resolved_path spot;
    if (gateway->status == STATUS_OK) {
        gateway->status = path_find(&gateway->arena, scope, path, PATH_WRITE, &spot, &gateway->failure);
        if (gateway->status == STATUS_OK) {
            gateway->status = path_write(&spot, text, NULL, &gateway->failure);
            resolved_path_close(&spot);
        }
    }
}

/* A directory that the project did not have. The files in it import nothing: what says so keeps OpenCode from fetching
 * packages for it before the first prompt. */
static const struct {
    const char *path, *text;
} own_files[] = {
    {".opencode/.gitignore", ".gitignore\nbun.lock\nnode_modules\npackage-lock.json\npackage.json\n"},
    {".opencode/node_modules/.gitignore", "*\n"},
    {".opencode/package-lock.json",
     "{\"lockfileVersion\":3,\"packages\":{\"\":{\"dependencies\":{\"@opencode-ai/plugin\":\"*\"}}}}\n"},
};

static void write_missing(struct acp_gateway *gateway, const struct path_scope *scope, struct slice path,
                          struct slice text)
{
    if (!is_there(gateway, scope, path)) {
        write_file(gateway, scope, path, text);
    }
}

/* What the server writes is no part of the project. */
static void write_ignored(struct acp_gateway *gateway, const struct path_scope *scope)
{
    struct buffer names = {0};
    buffer_add(&names, SLICE("/.gitignore\n"));
    for (size_t i = 0; i < gateway->count; i++) {
        struct slice path = gateway_template_path(&gateway->arena, gateway->tools[i]);
        buffer_format(&names, "%.*s\n", SLICE_ARG(slice_after(path, strlen(".opencode/tool"))));
    }
    write_missing(gateway, scope, SLICE(".opencode/tool/.gitignore"), buffer_slice(&names));
    write_missing(gateway, scope, SLICE(".opencode/sojourn/.gitignore"), SLICE("*\n"));
    buffer_release(&names);
}

static void on_work(uv_work_t *work)
{
    struct acp_gateway *gateway = work->data;
    const struct path_scope scope = {.fs_scope = FS_SCOPE_SANDBOXED, .tree = gateway->tree};
    bool is_own = !is_there(gateway, &scope, SLICE(".opencode"));
    struct buffer text = {0};
    for (size_t i = 0; is_own && i < sizeof own_files / sizeof own_files[0]; i++) {
        write_file(gateway, &scope, slice_of(own_files[i].path), slice_of(own_files[i].text));
    }
    write_ignored(gateway, &scope);
    write_file(gateway, &scope, slice_of(gateway_library_path), slice_of(gateway_library_text));
    for (size_t i = 0; i < gateway->count; i++) {
        text.len = 0;
        gateway_template_write(&text, gateway->tools[i]);
        write_file(gateway, &scope, gateway_template_path(&gateway->arena, gateway->tools[i]), buffer_slice(&text));
    }
    buffer_release(&text);
}

/* --- on the loop --- */

static void on_worked(uv_work_t *work, int uv_status)
{
    struct acp_gateway *gateway = work->data;
    struct acp_turn *turn = gateway->turn;
    gateway->is_working = false;
    (void)uv_status;
    if (!turn || !turn->turn) {
        gateway_free(gateway);
    } else if (gateway->status != STATUS_OK) {
        give_up(gateway, TURN_SANDBOX_ERROR, slice_of(gateway->failure.detail));
    } else {
        gateway->turn->gateway = NULL;
        gateway->turn = NULL;
        gateway->then(turn, &gateway->access);
        gateway_free(gateway);
    }
}

static void on_token(void *owner, struct slice result, struct slice error)
{
    struct acp_gateway *gateway = owner;
    const struct json *given = NULL;
    if (!gateway->turn->turn) {
        gateway_free(gateway);
        return;
    }
    if (slice_present(error) ||
        json_parse(&gateway->arena, arena_copy(&gateway->arena, result), &given, NULL) != STATUS_OK) {
        give_up(gateway, TURN_INTERNAL, slice_present(error) ? error : SLICE("There is no token for the gateway."));
        return;
    }
    gateway->access.token = json_text_of(given, "token");
    gateway->is_working = true;
    uv_queue_work(loop_uv(gateway->turn->brief->loop), &gateway->work, on_work, on_worked);
}

/* The names are known, the place is on this machine, and the server has an address. */
static const char *take_tools(struct acp_gateway *gateway, const struct turn_input *brief, const char *url)
{
    const struct agent *agent = brief->agent;
    gateway->tools = arena_array(&gateway->arena, agent->gateway_tool_count, sizeof *gateway->tools);
    for (; gateway->count < agent->gateway_tool_count; gateway->count++) {
        const struct tool_spec *tool = gateway_tool_find(agent->gateway_tools[gateway->count]);
        if (!tool) {
            return "The agent names a gateway tool that there is not.";
        }
        gateway->tools[gateway->count] = tool;
    }
    if (!acp_file_is_served(brief)) {
        return "Gateway tools need a sandbox on this machine: `sandbox: {kind: local}`.";
    }
    return url ? NULL : "Sandboxes have no way to this server: set the option gateway-url.";
}

void acp_gateway_start(struct acp_turn *turn, const char *url,
                       void (*then)(struct acp_turn *turn, const struct acp_access *access))
{
    struct acp_gateway *gateway = memory_zeroed(sizeof *gateway);
    const struct turn_input *brief = turn->brief;
    gateway->work.data = gateway;
    gateway->turn = turn;
    gateway->then = then;
    turn->gateway = gateway;
    const char *problem = take_tools(gateway, brief, url);
    if (problem) {
        give_up(gateway, TURN_VALIDATION, slice_of(problem));
        return;
    }
    gateway->tree = arena_copy(&gateway->arena, sandbox_root(brief->sandbox));
    gateway->access.url = arena_format(&gateway->arena, "%s/api/sessions/%.*s", url, SLICE_ARG(brief->session_id));
    turn_call_service(turn->turn, SLICE("gateway_token"), SLICE("{}"), (struct turn_served){gateway, on_token});
}
