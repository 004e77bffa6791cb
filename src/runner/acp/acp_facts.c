/* What a call of an agent is, for rules and for people. */
#include "runner/acp/acp_turn.h"

enum { PATHS_MAX = 512, SHOWN_BYTES_MAX = 512 * 1024 };

static const struct json *reread(struct acp_turn *turn, struct slice text)
{
    const struct json *value = NULL;
    return text.len > 0 && json_parse(&turn->agent->arena, text, &value, NULL) == STATUS_OK ? value : NULL;
}

static struct slice diffs_of(struct acp_turn *turn, const struct acp_call *call)
{
    return arena_format(&turn->agent->arena, "[%.*s]", SLICE_ARG(buffer_slice(&call->diffs)));
}

/* --- facts --- */

static void add_paths(const struct json *list, struct slice *paths, size_t *count)
{
    for (const struct json *item = list ? list->child : NULL; item && *count < PATHS_MAX; item = item->next) {
        struct slice path = json_text_of(item, "path");
        if (path.len > 0) {
            paths[(*count)++] = path;
        }
    }
}

static struct call_place place_of(const struct acp_turn *turn)
{
    struct slice directory = buffer_slice(&turn->agent->directory);
    struct sandbox *sandbox = turn->agent->sandbox;
    return (struct call_place){
        .directory = directory, .inside = directory, .outside = sandbox ? sandbox_root(sandbox) : directory};
}

void acp_call_facts(struct acp_turn *turn, const struct acp_call *call, struct call_facts *out)
{
    struct slice *paths = arena_array(&turn->agent->arena, PATHS_MAX, sizeof *paths);
    *out = (struct call_facts){
        .tool = buffer_slice(&call->tool),
        .words = {buffer_slice(&call->name), buffer_slice(&call->kind), buffer_slice(&call->title)},
        .word_count = 3,
        .arguments = acp_call_is_seen(call) ? buffer_slice(&call->input) : (struct slice){0},
        .is_cut = call->is_cut,
        .runs_command = slice_is(buffer_slice(&call->kind), "execute"),
        .place = place_of(turn),
        .paths = paths,
    };
    add_paths(reread(turn, buffer_slice(&call->locations)), paths, &out->path_count);
    add_paths(reread(turn, diffs_of(turn, call)), paths, &out->path_count);
}

/* --- what people see --- */

static void put_some(struct json_out *out, const char *key, const struct buffer *text)
{
    if (text->len > 0) {
        json_put_text(out, key, buffer_slice(text));
    }
}

static void put_options(struct json_out *out, const struct json *options)
{
    json_key(out, "options");
    json_begin_array(out);
    for (const struct json *item = json_is(options, JSON_ARRAY) ? options->child : NULL; item; item = item->next) {
        json_begin_object(out);
        json_put_text(out, "name", slice_utf8_prefix(json_text_of(item, "name"), ACP_SMALL_BYTES_MAX));
        json_put_text(out, "kind", slice_utf8_prefix(json_text_of(item, "kind"), 64));
        json_end_object(out);
    }
    json_end_array(out);
}

struct slice acp_call_details(struct acp_turn *turn, const struct acp_call *call, const struct json *options)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    struct slice diffs = diffs_of(turn, call);
    json_begin_object(&out);
    put_some(&out, "title", &call->title);
    put_some(&out, "action", &call->kind);
    json_put_bool(&out, "input_seen", acp_call_is_seen(call));
    if (call->is_cut) {
        json_put_raw(&out, "input", buffer_slice(&call->input));
    }
    if (call->locations.len > 0) {
        json_put_raw(&out, "locations", buffer_slice(&call->locations));
    }
    if (call->diffs.len > 0 && diffs.len <= SHOWN_BYTES_MAX) {
        json_put_raw(&out, "diffs", diffs);
    } else if (call->diffs.len > 0) {
        json_put_bool(&out, "truncated", true);
    }
    put_some(&out, "content", &call->output);
    put_some(&out, "evidence", &call->evidence);
    put_options(&out, options);
    json_end_object(&out);
    struct slice copy = arena_copy(&turn->agent->arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
}
