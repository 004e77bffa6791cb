#include "runner/model/model_context.h"

#include <stdlib.h>

#include "base/map.h"
#include "domain/prompt.h"
#include "runner/model/model_media.h"
#include "runner/tool/tool.h"

static const char SUMMARY_MARK[] = "earlier-conversation-summary";

/* --- text from outside --- */

void context_fence(struct buffer *to, const char *mark, struct slice text)
{
    size_t len = strlen(mark);
    buffer_format(to, "<%s>\n", mark);
    for (size_t i = 0; i < text.len; i++) {
        bool closes = text.ptr[i] == '<' && i + 2 + len <= text.len && text.ptr[i + 1] == '/' &&
                      memcmp(text.ptr + i + 2, mark, len) == 0;
        buffer_add_byte(to, text.ptr[i]);
        if (closes) {
            buffer_add_byte(to, ' ');
        }
    }
    buffer_format(to, "\n</%s>", mark);
}

/* --- from the log --- */

static void add_at(struct model_context *context, enum model_role role, struct model_block block, int64_t sequence)
{
    if (context->count == context->room) {
        context->room = context->room ? 2 * context->room : 64;
        context->entries = memory_resize(context->entries, context->room * sizeof *context->entries);
    }
    context->entries[context->count++] = (struct context_entry){role, block, sequence};
}

void context_add(struct model_context *context, enum model_role role, struct model_block block)
{
    add_at(context, role, block, INT64_MAX);
}

static struct slice first_text(const struct json *part, const char *const *names)
{
    struct slice text = {NULL, 0};
    for (; *names && !slice_present(text); names++) {
        text = json_text_of(part, *names);
    }
    return text;
}

static struct slice call_id_of(const struct json *part)
{
    static const char *const names[] = {"tool_call_id", "call_id", "tool_use_id", "id", NULL};
    return first_text(part, names);
}

/* A text as it is, anything else as JSON. */
static struct slice text_or_raw(const struct json *part, const char *const *names)
{
    for (; *names; names++) {
        const struct json *value = json_get_value(part, *names);
        if (value) {
            return value->kind == JSON_STRING ? value->text : value->raw;
        }
    }
    return (struct slice){"", 0};
}

static struct model_block text_block(enum block_kind kind, struct slice text)
{
    return (struct model_block){.kind = kind, .text = text};
}

static void add_user_part(struct model_context *context, const struct json *part, int64_t sequence)
{
    struct slice text;
    if (media_is_part(part)) {
        add_at(context, MODEL_USER, media_block(context->arena, context->brief, part), sequence);
    } else if (json_as_text(json_get(part, "text"), &text) && slice_trim(text).len) {
        add_at(context, MODEL_USER, text_block(BLOCK_TEXT, text), sequence);
    }
}

static void add_agent_part(struct model_context *context, const struct json *part, int64_t sequence)
{
    struct slice text;
    if (json_as_text(json_get(part, "text"), &text) && slice_trim(text).len) {
        add_at(context, MODEL_ASSISTANT, text_block(BLOCK_TEXT, text), sequence);
    }
}

static void add_thinking_part(struct model_context *context, const struct json *part, int64_t sequence)
{
    struct slice text;
    if (json_as_text(json_get(part, "text"), &text) && slice_trim(text).len) {
        add_at(context, MODEL_ASSISTANT, text_block(BLOCK_REASONING, text), sequence);
    }
}

static void add_call_part(struct model_context *context, const struct json *part, int64_t sequence)
{
    const struct json *input = json_get_value(part, "input");
    struct model_block block = {.kind = BLOCK_TOOL_USE, .call_id = call_id_of(part)};
    input = input ? input : json_get_value(part, "arguments");
    block.name = json_text_of(part, "name");
    block.arguments = json_is(input, JSON_OBJECT) ? input->raw : SLICE("{}");
    if (block.call_id.len && block.name.len) {
        add_at(context, MODEL_ASSISTANT, block, sequence);
    }
}

static void add_result_part(struct model_context *context, const struct json *part, int64_t sequence)
{
    static const char *const names[] = {"output", "text", "content", NULL};
    struct model_block block = {.kind = BLOCK_TOOL_RESULT, .call_id = call_id_of(part)};
    block.name = json_text_of(part, "name");
    block.text = text_or_raw(part, names);
    json_as_bool(json_get(part, "is_error"), &block.is_error);
    if (block.call_id.len) {
        add_at(context, MODEL_TOOL, block, sequence);
    }
}

static const struct {
    enum event_kind kind;
    void (*add)(struct model_context *context, const struct json *part, int64_t sequence);
} readers[] = {
    {EVENT_USER_MESSAGE, add_user_part},        {EVENT_AGENT_MESSAGE, add_agent_part},
    {EVENT_AGENT_THINKING, add_thinking_part},  {EVENT_AGENT_TOOL_CALL, add_call_part},
    {EVENT_AGENT_TOOL_RESULT, add_result_part}, {EVENT_USER_TOOL_RESULT, add_result_part},
};

static void add_content(struct model_context *context, enum event_kind kind, struct slice content, int64_t sequence)
{
    const struct json *parts = NULL;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (kind != readers[i].kind || !slice_present(content) ||
            json_parse(context->arena, content, &parts, NULL) != STATUS_OK || !json_is(parts, JSON_ARRAY)) {
            continue;
        }
        for (const struct json *part = parts->child; part; part = part->next) {
            readers[i].add(context, part, sequence);
        }
    }
}

/* What an earlier turn folded or trimmed stays out; a trim never blanks a summary. */
static void take_mark(struct model_context *context, const struct event *event)
{
    const struct json *mark = NULL;
    if (!slice_present(event->metadata) || json_parse(context->arena, event->metadata, &mark, NULL) != STATUS_OK) {
        return;
    }
    int64_t through = json_i64_of(mark, "dropped_through");
    struct slice summary = json_text_of(mark, "summary");
    while (context->first < context->count && context->entries[context->first].sequence <= through) {
        context->first++;
    }
    context->summary = summary.len ? summary : context->summary;
}

struct attaching {
    struct model_context *context;
    int64_t sequence;
};

static void add_attachment(void *owner, const struct json *attachment)
{
    const struct attaching *to = owner;
    struct model_context *context = to->context;
    add_at(context, MODEL_USER, media_block(context->arena, context->brief, attachment), to->sequence);
}

/* What came with a message, beside its words. */
static void add_attachments(struct model_context *context, const struct event *event, int64_t sequence)
{
    const struct json *metadata = NULL;
    struct attaching to = {context, sequence};
    if (event->kind == EVENT_USER_MESSAGE && slice_present(event->metadata) &&
        json_parse(context->arena, event->metadata, &metadata, NULL) == STATUS_OK) {
        prompt_each_attachment(metadata, add_attachment, &to);
    }
}

/* A sentence that ends in the middle is not what the model meant to say. */
static void add_cut(struct model_context *context, const struct event *event)
{
    const struct json *metadata = NULL;
    if (event->kind == EVENT_AGENT_MESSAGE && slice_present(event->metadata) &&
        json_parse(context->arena, event->metadata, &metadata, NULL) == STATUS_OK && json_get(metadata, "partial")) {
        add_at(context, MODEL_ASSISTANT,
               (struct model_block){.kind = BLOCK_TEXT, .text = SLICE("[The turn was cut here.]")}, event->sequence);
    }
}

static void add_events(struct model_context *context, const struct event *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        if (event->kind == EVENT_CONTEXT_COMPACTED || event->kind == EVENT_CONTEXT_TRIMMED) {
            take_mark(context, event);
        } else {
            add_content(context, event->kind, event->content, event->sequence);
            add_cut(context, event);
            add_attachments(context, event, event->sequence);
        }
    }
}

/* The log may be read from the middle of an exchange, or a crash left half of one: vendors want a user first. */
static void begin_with_user(struct model_context *context)
{
    while (context->first < context->count && context->entries[context->first].role != MODEL_USER) {
        context->first++;
    }
}

void context_init(struct model_context *context, struct arena *arena, const struct turn_input *brief)
{
    *context = (struct model_context){.arena = arena, .brief = brief};
    add_events(context, brief->history, brief->history_count);
    add_content(context, EVENT_USER_MESSAGE, brief->prompt, INT64_MAX);
    if (brief->message) {
        add_attachments(context, brief->message, INT64_MAX);
    }
    add_events(context, brief->since, brief->since_count);
    begin_with_user(context);
}

void context_release(struct model_context *context)
{
    free(context->entries);
    context->entries = NULL;
}

/* --- how much, and less --- */

static size_t block_bytes(const struct model_block *block)
{
    return block->text.len + block->arguments.len + block->name.len + block->data.len / 32 + 16;
}

int64_t context_tokens(const struct model_context *context, size_t more_bytes)
{
    size_t bytes = more_bytes + context->summary.len;
    for (size_t i = context->first; i < context->count; i++) {
        bytes += block_bytes(&context->entries[i].block);
    }
    return (int64_t)(bytes / CHARS_PER_TOKEN);
}

/* An exchange begins with what the user says after something else. */
static bool begins_exchange(const struct model_context *context, size_t at)
{
    return context->entries[at].role == MODEL_USER && (at == 0 || context->entries[at - 1].role != MODEL_USER);
}

static size_t exchange_before(const struct model_context *context, size_t at)
{
    while (at > context->first) {
        at--;
        if (begins_exchange(context, at)) {
            return at;
        }
    }
    return context->first;
}

/* The current exchange is never dropped. */
size_t context_trim(struct model_context *context, size_t entries_max)
{
    size_t current = exchange_before(context, context->count), before = context->first;
    size_t from = context->count > entries_max ? context->count - entries_max : 0;
    from = from < context->first ? context->first : from;
    while (from > context->first && from < current && !begins_exchange(context, from)) {
        from++;
    }
    context->first = from < current ? from : current;
    return context->first - before;
}

size_t context_fold_point(const struct model_context *context)
{
    size_t current = exchange_before(context, context->count);
    return current > context->first ? exchange_before(context, current) : context->first;
}

void context_drop(struct model_context *context, size_t point, struct slice summary)
{
    context->first = point;
    context->summary = summary.len ? summary : context->summary;
}

int64_t context_dropped_through(const struct model_context *context)
{
    return context->first > 0 ? context->entries[context->first - 1].sequence : 0;
}

/* --- as text, for a summary --- */

enum { RENDERED_BLOCK_BYTES = 4000 };

static void render_entry(const struct context_entry *entry, struct buffer *to)
{
    static const char *const who[] = {"user", "assistant", "tool"};
    const struct model_block *block = &entry->block;
    struct slice text = block->kind == BLOCK_TOOL_USE ? block->arguments : block->text;
    struct slice shown = slice_utf8_prefix(text, RENDERED_BLOCK_BYTES);
    if (block->kind == BLOCK_REASONING) {
        return;
    }
    buffer_format(to, "[%s%s%.*s] %.*s%s\n", who[entry->role], block->name.len ? " " : "", SLICE_ARG(block->name),
                  SLICE_ARG(shown), shown.len < text.len ? " …" : "");
}

void context_render(const struct model_context *context, size_t point, size_t bytes_max, struct buffer *to)
{
    struct buffer whole = {0};
    for (size_t i = context->first; i < point; i++) {
        render_entry(&context->entries[i], &whole);
    }
    size_t skip = whole.len > bytes_max ? whole.len - bytes_max : 0;
    while (skip > 0 && skip < whole.len && whole.ptr[skip - 1] != '\n') {
        skip++;
    }
    if (context->summary.len) {
        context_fence(to, SUMMARY_MARK, context->summary);
        buffer_add_byte(to, '\n');
    }
    context_fence(to, "conversation", slice_after(buffer_slice(&whole), skip));
    buffer_release(&whole);
}

/* --- as messages --- */

/* Blocks go into one array; a message is a run of it. */
struct building {
    struct arena *arena;
    struct model_block *blocks;
    size_t block_count;
    struct model_message *messages;
    size_t count;
    size_t open_from, open_to; /* tool calls of the last assistant message: entries [from, to) */
    struct map calls;          /* the same by id → whether it has a result */
};

static char call_waits, call_has_result; /* only their addresses count */

static void build_block(struct building *building, enum model_role role, struct model_block block)
{
    struct model_message *last = building->count ? &building->messages[building->count - 1] : NULL;
    if (!last || last->role != role) {
        last = &building->messages[building->count++];
        *last = (struct model_message){role, &building->blocks[building->block_count], 0};
    }
    building->blocks[building->block_count++] = block;
    last->count++;
}

/* Calls that were cut by a crash or an interrupt get the truth as their result: vendors refuse a call without one. */
static void close_calls(struct building *building, const struct model_context *context)
{
    for (size_t i = building->open_from; i < building->open_to; i++) {
        const struct model_block *call = &context->entries[i].block;
        if (call->kind == BLOCK_TOOL_USE && map_get(&building->calls, call->call_id) == &call_waits) {
            map_put(&building->calls, call->call_id, &call_has_result);
            build_block(
                building, MODEL_TOOL,
                (struct model_block){.kind = BLOCK_TOOL_RESULT,
                                     .call_id = call->call_id,
                                     .name = call->name,
                                     .text = SLICE("interrupted: it is not known whether the call had an effect"),
                                     .is_error = true});
        }
    }
    building->open_from = building->open_to = 0;
    map_release(&building->calls);
}

static void build_result(struct building *building, struct model_block block)
{
    if (map_get(&building->calls, block.call_id) == &call_waits) { /* else of a call that is not sent */
        map_put(&building->calls, block.call_id, &call_has_result);
        block.text = tool_fence(building->arena, block.name.len ? block.name : SLICE("tool"), block.text);
        build_block(building, MODEL_TOOL, block);
    }
}

static void build_entry(struct building *building, const struct model_context *context, size_t at)
{
    const struct context_entry *entry = &context->entries[at];
    if (entry->role == MODEL_TOOL) {
        build_result(building, entry->block);
        return;
    }
    bool goes_on = building->count && building->messages[building->count - 1].role == entry->role;
    if (!goes_on) {
        close_calls(building, context);
    }
    if (entry->block.kind == BLOCK_TOOL_USE) {
        building->open_from = building->open_to ? building->open_from : at;
        building->open_to = at + 1;
        map_put(&building->calls, entry->block.call_id, &call_waits);
    }
    build_block(building, entry->role, entry->block);
}

size_t context_messages(const struct model_context *context, struct arena *arena, const struct model_message **out)
{
    size_t most = 2 * (context->count - context->first) + 1; /* every call may need a result of our own */
    struct building building = {.arena = arena};
    building.blocks = arena_array(arena, most, sizeof *building.blocks);
    building.messages = arena_array(arena, most, sizeof *building.messages);
    for (size_t i = context->first; i < context->count; i++) {
        build_entry(&building, context, i);
    }
    if (building.count) {
        close_calls(&building, context);
    }
    *out = building.messages;
    return building.count;
}
