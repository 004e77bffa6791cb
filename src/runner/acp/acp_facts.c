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

typedef bool (*comparison)(struct slice said, struct slice wanted);

static bool any_string(const struct json *value, comparison holds, struct slice wanted)
{
    if (json_is(value, JSON_STRING)) {
        return holds(value->text, wanted);
    }
    for (const struct json *child = value->child; child; child = child->next) {
        if (any_string(child, holds, wanted)) {
            return true;
        }
    }
    return false;
}

static bool holds_text(struct slice said, struct slice text)
{
    return memmem(said.ptr, said.len, text.ptr, text.len) != NULL;
}

/* The path itself, or relative to a directory above it; or a patch that names it. */
static bool holds_path(struct slice said, struct slice path)
{
    struct slice name = slice_starts(said, SLICE("./")) ? slice_after(said, 2) : said;
    bool is_end = name.len > 0 && name.len < path.len && path.ptr[path.len - name.len - 1] == '/' &&
                  slice_eq(slice_after(path, path.len - name.len), name);
    return slice_eq(name, path) || is_end ||
           (memchr(said.ptr, '\n', said.len) && memmem(said.ptr, said.len, path.ptr, path.len));
}

/* A place or a text that the arguments do not hold: whoever allows these arguments again has not seen it. */
static bool shows_more(struct acp_turn *turn, const struct acp_call *call, const struct slice *paths, size_t count)
{
    const struct json *input = reread(turn, buffer_slice(&call->input)), *diffs = reread(turn, diffs_of(turn, call));
    bool shows = false;
    if (!input) {
        return count > 0;
    }
    for (size_t i = 0; i < count && !shows; i++) {
        shows = !any_string(input, holds_path, paths[i]);
    }
    for (const struct json *diff = diffs ? diffs->child : NULL; diff && !shows; diff = diff->next) {
        struct slice text = json_text_of(diff, "new_text");
        shows = json_get(diff, "truncated") || (text.len > 0 && !any_string(input, holds_text, text));
    }
    return shows;
}

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
        .tool = call->renamed.len > 0 ? (struct slice){0} : buffer_slice(&call->tool),
        .words = {buffer_slice(&call->name), buffer_slice(&call->kind), buffer_slice(&call->title),
                  buffer_slice(&call->renamed)},
        .word_count = CALL_WORDS_MAX,
        .arguments = acp_call_is_seen(call) ? buffer_slice(&call->input) : (struct slice){0},
        .is_cut = call->is_cut,
        .runs_command = call->runs_command,
        .place = place_of(turn),
        .paths = paths,
    };
    add_paths(reread(turn, buffer_slice(&call->locations)), paths, &out->path_count);
    add_paths(reread(turn, diffs_of(turn, call)), paths, &out->path_count);
    out->shows_more = shows_more(turn, call, paths, out->path_count);
}

static void add_sorted(struct acp_turn *turn, struct json_out *out, struct slice text)
{
    const struct json *value = reread(turn, text);
    json_raw(out, value ? call_json_sorted(&turn->agent->arena, value) : SLICE("null"));
}

struct slice acp_call_subject(struct acp_turn *turn, const struct acp_call *call)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_array(&out);
    json_text(&out, buffer_slice(&call->tool));
    json_text(&out, buffer_slice(&call->renamed));
    json_text(&out, call->diffs.len > 0 ? buffer_slice(&call->evidence) : SLICE(""));
    add_sorted(turn, &out, buffer_slice(&call->input));
    add_sorted(turn, &out, buffer_slice(&call->locations));
    json_end_array(&out);
    struct slice copy = arena_copy(&turn->agent->arena, buffer_slice(&text));
    buffer_release(&text);
    return copy;
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
