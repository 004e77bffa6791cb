#include <stdlib.h>

#include "base/hash.h"
#include "domain/file_change.h"
#include "runner/acp/acp_turn.h"

enum { CALL_ID_BYTES_MAX = 256, TITLE_BYTES_MAX = 1000, DIFFS_BYTES_MAX = 256 * 1024 };

static void replace(struct buffer *buffer, struct slice value)
{
    buffer->len = 0;
    buffer_add(buffer, value);
}

static void replace_text(struct buffer *buffer, const struct json *value, size_t bytes_max)
{
    struct slice text;
    if (json_as_text(value, &text)) {
        replace(buffer, slice_utf8_prefix(text, bytes_max));
    }
}

/* --- content of a call --- */

/* The beginning and the end of what is too long. */
static void add_bounded(struct buffer *to, struct slice text, size_t bytes_max)
{
    if (text.len <= bytes_max) {
        buffer_add(to, text);
        return;
    }
    struct slice head = slice_utf8_prefix(text, bytes_max / 2);
    size_t skip = text.len - bytes_max / 2;
    while (skip < text.len && ((unsigned char)text.ptr[skip] & 0xC0) == 0x80) {
        skip++;
    }
    buffer_add(to, head);
    buffer_format(to, "\n… %zu bytes left out …\n", skip - head.len);
    buffer_add(to, slice_after(text, skip));
}

static void put_cut(struct json_out *out, const char *key, const struct json *value, bool *is_cut)
{
    struct slice text;
    if (json_as_text(value, &text)) {
        struct slice kept = slice_utf8_prefix(text, ACP_OUTPUT_BYTES_MAX);
        *is_cut = *is_cut || kept.len < text.len;
        json_put_text(out, key, kept);
    }
}

static void add_diff(struct buffer *to, const struct json *diff)
{
    bool is_cut = false, has_room = to->len < DIFFS_BYTES_MAX;
    struct json_out out = json_out_to(to);
    if (to->len > DIFFS_BYTES_MAX + 2 * ACP_OUTPUT_BYTES_MAX + ACP_SMALL_BYTES_MAX) {
        return;
    }
    buffer_add(to, to->len > 0 ? SLICE(",") : SLICE(""));
    json_begin_object(&out);
    json_put_text(&out, "path", slice_utf8_prefix(json_text_of(diff, "path"), TITLE_BYTES_MAX));
    if (has_room) {
        put_cut(&out, "old_text", json_get(diff, "oldText"), &is_cut);
        put_cut(&out, "new_text", json_get(diff, "newText"), &is_cut);
    }
    if (is_cut || !has_room) {
        json_put_bool(&out, "truncated", true);
    }
    json_end_object(&out);
}

/* What came before is replaced, as the protocol has it. */
static void take_content(struct acp_call *call, const struct json *content, struct buffer *text)
{
    call->diffs.len = 0;
    for (const struct json *item = content->child; item; item = item->next) {
        struct slice type = json_text_of(item, "type"), said;
        if (slice_is(type, "diff")) {
            add_diff(&call->diffs, item);
        } else if (slice_is(type, "content") &&
                   json_as_text(json_get(json_get_value(item, "content"), "text"), &said)) {
            buffer_add(text, text->len > 0 ? SLICE("\n") : SLICE(""));
            buffer_add(text, said);
        }
    }
}

/* Live output: what the text grew by since it was told last. */
static void tell_growth(struct acp_turn *turn, struct acp_call *call, struct slice text)
{
    struct slice before = buffer_slice(&call->output);
    struct slice more = slice_starts(text, before) ? slice_after(text, before.len) : text;
    while (more.len > 0 && turn->turn) {
        struct slice piece = slice_utf8_prefix(more, ACP_DELTA_BYTES_MAX);
        turn_delta(turn->turn, DELTA_TOOL_OUTPUT, buffer_slice(&call->id), piece);
        more = slice_after(more, piece.len);
    }
}

static void take_output(struct acp_turn *turn, struct acp_call *call, const struct json *update, bool is_over)
{
    const struct json *content = json_get_value(update, "content");
    struct buffer text = {0}, bounded = {0};
    if (json_is(content, JSON_ARRAY)) {
        take_content(call, content, &text);
    }
    if (text.len > 0) {
        if (!is_over && text.len <= ACP_OUTPUT_BYTES_MAX) {
            tell_growth(turn, call, buffer_slice(&text));
        }
        add_bounded(&bounded, buffer_slice(&text), ACP_OUTPUT_BYTES_MAX);
        replace(&call->output, buffer_slice(&bounded));
    }
    buffer_release(&text);
    buffer_release(&bounded);
}

/* Where the content says nothing, what the tool itself returned. */
static void take_raw_output(struct acp_call *call, const struct json *raw)
{
    struct slice text;
    const struct json *value =
        json_is(raw, JSON_OBJECT) && json_get_value(raw, "output") ? json_get(raw, "output") : raw;
    if (call->output.len > 0 || call->diffs.len > 0 || !value || value->kind == JSON_NULL) {
        return;
    }
    text = json_is(value, JSON_STRING) ? value->text : value->raw;
    add_bounded(&call->output, text, ACP_OUTPUT_BYTES_MAX);
}

/* --- what a call is --- */

static bool is_word(struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_-.:", c))) {
            return false;
        }
    }
    return text.len > 0 && text.len <= 64;
}

/* The protocol names tools only lately; before that agents put the name into the title, or somewhere of their own. */
static void name_call(struct acp_call *call, const struct json *update)
{
    const struct json *meta = json_get_value(update, "_meta");
    struct slice names[] = {
        json_text_of(update, "name"),
        json_text_of(json_get_value(meta, "claudeCode"), "toolName"),
        json_text_of(update, "title"),
        json_text_of(update, "kind"),
    };
    enum { PROGRAMMATIC = 2 };
    for (size_t i = 0; i < sizeof names / sizeof names[0] && call->name.len == 0; i++) {
        if (is_word(names[i])) {
            replace(&call->name, names[i]);
        }
    }
    for (size_t i = 0; i < PROGRAMMATIC; i++) {
        struct slice known = buffer_slice(&call->tool);
        if (is_word(names[i]) && known.len > 0 && !slice_eq(known, names[i])) {
            replace(&call->renamed, names[i]);
        } else if (is_word(names[i])) {
            replace(&call->tool, names[i]);
        }
    }
}

static void hash_json(struct acp_turn *turn, const struct json *value, char out[HASH_TEXT_BYTES])
{
    struct hash hash = hash_of(call_json_sorted(&turn->agent->arena, value));
    hash_text(&hash, out);
}

/* What is shown of it may be cut; two calls show the same when this is equal. */
static void take_evidence(struct acp_turn *turn, struct acp_call *call, const struct json *update)
{
    const struct json *content = json_get_value(update, "content");
    char text[HASH_TEXT_BYTES];
    if (content && content->count > 0) {
        hash_json(turn, content, text);
        replace(&call->evidence, slice_of(text));
    }
}

static void take_input(struct acp_turn *turn, struct acp_call *call, const struct json *input)
{
    char text[HASH_TEXT_BYTES];
    call->is_cut = input->raw.len > ACP_INPUT_BYTES_MAX;
    if (!call->is_cut) {
        replace(&call->input, input->raw);
        return;
    }
    hash_json(turn, input, text);
    call->input.len = 0;
    buffer_format(&call->input, "{\"truncated\":true,\"bytes\":%zu,\"sha256\":\"%s\"}", input->raw.len, text);
}

static void take_fields(struct acp_turn *turn, struct acp_call *call, const struct json *update)
{
    const struct json *input = json_get_value(update, "rawInput"), *where = json_get_value(update, "locations");
    replace_text(&call->title, json_get(update, "title"), TITLE_BYTES_MAX);
    replace_text(&call->kind, json_get(update, "kind"), 64);
    call->runs_command = call->runs_command || slice_is(buffer_slice(&call->kind), "execute");
    name_call(call, update);
    take_evidence(turn, call, update);
    if (input) {
        take_input(turn, call, input);
    }
    if (json_is(where, JSON_ARRAY)) {
        bool fits = where->raw.len <= ACP_SMALL_BYTES_MAX;
        call->is_cut = call->is_cut || !fits;
        replace(&call->locations, fits ? where->raw : SLICE(""));
    }
}

struct acp_call *acp_call_find(struct acp_turn *turn, struct slice id)
{
    for (struct acp_call *call = turn->calls; call; call = call->next) {
        if (slice_eq(buffer_slice(&call->id), id)) {
            return call;
        }
    }
    return NULL;
}

static struct acp_call *find_or_add(struct acp_turn *turn, struct slice id)
{
    struct acp_call *call = acp_call_find(turn, id);
    if (call || turn->call_count == ACP_CALLS_MAX) {
        return call;
    }
    call = memory_zeroed(sizeof *call);
    buffer_add(&call->id, id);
    call->next = turn->calls;
    turn->calls = call;
    turn->call_count++;
    return call;
}

/* --- events --- */

static void put_buffer(struct json_out *out, const char *key, const struct buffer *text)
{
    if (text->len > 0) {
        json_put_text(out, key, buffer_slice(text));
    }
}

static void begin_part(struct json_out *out, const struct acp_call *call, const char *type)
{
    json_begin_array(out);
    json_begin_object(out);
    json_put_text(out, "type", slice_of(type));
    json_put_text(out, "tool_call_id", buffer_slice(&call->id));
    json_put_text(out, "name", call->name.len > 0 ? buffer_slice(&call->name) : SLICE("tool"));
    put_buffer(out, "title", &call->title);
    put_buffer(out, "kind", &call->kind);
}

static void end_part(struct json_out *out, struct acp_turn *turn, enum event_kind kind)
{
    json_end_object(out);
    json_end_array(out);
    acp_turn_say(turn, kind, buffer_slice(out->buffer));
    buffer_release(out->buffer);
}

void acp_call_tell(struct acp_turn *turn, struct acp_call *call)
{
    if (call->is_told) {
        return;
    }
    struct buffer content = {0};
    struct json_out out = json_out_to(&content);
    call->is_told = true;
    acp_said_flush(turn);
    begin_part(&out, call, "tool_call");
    json_put_raw(&out, "input", call->input.len > 0 ? buffer_slice(&call->input) : SLICE("{}"));
    if (call->locations.len > 0) {
        json_put_raw(&out, "locations", buffer_slice(&call->locations));
    }
    end_part(&out, turn, EVENT_AGENT_TOOL_CALL);
}

static void tell_result(struct acp_turn *turn, struct acp_call *call, bool is_error, bool is_interrupted)
{
    struct buffer content = {0};
    struct json_out out = json_out_to(&content);
    call->is_done = true;
    acp_said_flush(turn);
    begin_part(&out, call, "tool_result");
    json_put_text(&out, "output", buffer_slice(&call->output));
    json_put_bool(&out, "is_error", is_error);
    if (is_interrupted) {
        json_put_bool(&out, "interrupted", true);
        json_put_text(&out, "outcome", SLICE("ambiguous"));
    }
    if (call->diffs.len > 0) {
        json_key(&out, "diffs");
        json_begin_array(&out);
        buffer_add(&content, buffer_slice(&call->diffs));
        json_end_array(&out);
    }
    end_part(&out, turn, EVENT_AGENT_TOOL_RESULT);
}

/* --- files --- */

static int64_t count_lines(struct slice text)
{
    int64_t lines = text.len > 0 && text.ptr[text.len - 1] != '\n';
    for (size_t i = 0; i < text.len; i++) {
        lines += text.ptr[i] == '\n';
    }
    return lines;
}

/* Without the lines that both begin and end with. */
static void trim_same(struct slice *before, struct slice *after)
{
    struct slice a, b, rest_a, rest_b;
    while (before->len > 0 && after->len > 0) {
        slice_cut(*before, '\n', &a, &rest_a);
        slice_cut(*after, '\n', &b, &rest_b);
        if (!slice_eq(a, b)) {
            break;
        }
        *before = rest_a;
        *after = rest_b;
    }
    size_t same = 0, end = 0;
    while (same < before->len && same < after->len &&
           before->ptr[before->len - 1 - same] == after->ptr[after->len - 1 - same]) {
        same++;
        end = before->ptr[before->len - same] == '\n' ? same - 1 : end;
    }
    before->len -= end;
    after->len -= end;
}

static void put_file(struct json_out *out, const struct json *diff, struct slice directory)
{
    struct slice path = json_text_of(diff, "path");
    struct slice before = json_text_of(diff, "old_text"), after = json_text_of(diff, "new_text");
    const char *status = slice_present(before) || json_get(diff, "truncated") ? "modified" : "added";
    if (slice_starts(path, directory) && path.len > directory.len + 1 && path.ptr[directory.len] == '/') {
        path = slice_after(path, directory.len + 1);
    }
    trim_same(&before, &after);
    json_begin_object(out);
    json_put_text(out, "path", path);
    json_put_text(out, "status", slice_of(status));
    json_put_i64(out, "additions", count_lines(after));
    json_put_i64(out, "deletions", count_lines(before));
    json_end_object(out);
}

/* A call that succeeded and showed what it changed: agent.files_changed. */
static void tell_files(struct acp_turn *turn, const struct acp_call *call)
{
    struct buffer list = {0}, metadata = {0};
    struct arena arena = {0};
    const struct json *diffs = NULL;
    struct json_out out = json_out_to(&metadata);
    buffer_format(&list, "[%.*s]", SLICE_ARG(buffer_slice(&call->diffs)));
    if (call->diffs.len > 0 && turn->turn && json_parse(&arena, buffer_slice(&list), &diffs, NULL) == STATUS_OK) {
        json_begin_object(&out);
        json_key(&out, "files");
        json_begin_array(&out);
        size_t count = 0;
        for (const struct json *diff = diffs->child; diff && count < FILES_PER_EVENT_MAX; diff = diff->next) {
            struct slice path = json_text_of(diff, "path");
            if (path.len > 0 && path.len <= FILE_PATH_BYTES_MAX) {
                put_file(&out, diff, buffer_slice(&turn->agent->directory));
                count++;
            }
        }
        json_end_array(&out);
        json_end_object(&out);
        turn_event(turn->turn, &(struct event){.kind = EVENT_AGENT_FILES_CHANGED,
                                               .role = ROLE_AGENT,
                                               .metadata = buffer_slice(&metadata)});
    }
    arena_release(&arena);
    buffer_release(&list);
    buffer_release(&metadata);
}

/* A call that only announces itself is told when its input is known. */
static bool is_worth_telling(const struct acp_call *call, struct slice status)
{
    bool announced = status.len == 0 || slice_is(status, "pending");
    bool has_input = call->input.len > 0 && !slice_is(buffer_slice(&call->input), "{}");
    return !announced || has_input;
}

bool acp_call_is_seen(const struct acp_call *call)
{
    struct slice inner = slice_trim(buffer_slice(&call->input));
    bool is_object = inner.len > 2 && inner.ptr[0] == '{';
    return is_object && !call->is_cut && slice_trim(slice_from(inner.ptr + 1, inner.len - 2)).len > 0;
}

/* Nothing of a call that is done may stand for the one that is asked about. */
struct acp_call *acp_call_take_asked(struct acp_turn *turn, const struct json *update)
{
    struct acp_call *call = acp_call_take(turn, update);
    if (call && call->is_done) {
        struct buffer *known[] = {&call->tool,   &call->name,  &call->title, &call->kind,   &call->locations,
                                  &call->output, &call->diffs, &call->input, &call->renamed};
        call->runs_command = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            known[i]->len = 0;
        }
        call->evidence.len = 0;
        call->is_cut = false;
        take_fields(turn, call, update);
        take_output(turn, call, update, true);
    }
    return call;
}

struct acp_call *acp_call_take(struct acp_turn *turn, const struct json *update)
{
    struct slice id = json_text_of(update, "toolCallId"), status = json_text_of(update, "status");
    struct acp_call *call = id.len > 0 && id.len <= CALL_ID_BYTES_MAX ? find_or_add(turn, id) : NULL;
    if (!call || call->is_done) {
        return call;
    }
    bool failed = slice_is(status, "failed"), is_over = failed || slice_is(status, "completed");
    acp_said_flush(turn);
    take_fields(turn, call, update);
    if (is_worth_telling(call, status)) {
        acp_call_tell(turn, call);
    }
    take_output(turn, call, update, is_over);
    if (is_over) {
        take_raw_output(call, json_get_value(update, "rawOutput"));
        tell_result(turn, call, failed, false);
        if (!failed) {
            tell_files(turn, call);
        }
    }
    return call;
}

static void call_free(struct acp_call *call)
{
    struct buffer *buffers[] = {&call->id,    &call->name,     &call->title,     &call->kind,
                                &call->tool,  &call->input,    &call->locations, &call->output,
                                &call->diffs, &call->evidence, &call->renamed};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
        buffer_release(buffers[i]);
    }
    free(call);
}

static struct acp_call *oldest_first(struct acp_call *calls)
{
    struct acp_call *reversed = NULL;
    while (calls) {
        struct acp_call *next = calls->next;
        calls->next = reversed;
        reversed = calls;
        calls = next;
    }
    return reversed;
}

void acp_calls_tell(struct acp_turn *turn)
{
    turn->calls = oldest_first(turn->calls);
    for (struct acp_call *call = turn->calls; call; call = call->next) {
        acp_call_tell(turn, call);
    }
    turn->calls = oldest_first(turn->calls);
}

void acp_calls_end(struct acp_turn *turn)
{
    struct acp_call *call = oldest_first(turn->calls);
    turn->calls = NULL;
    turn->call_count = 0;
    while (call) {
        struct acp_call *next = call->next;
        if (!call->is_done) {
            acp_call_tell(turn, call);
            tell_result(turn, call, true, true);
        }
        call_free(call);
        call = next;
    }
}
