#include "runner/model/model_turn.h"

#include <stdlib.h>

enum { CALL_ID_BYTES_MIN = 12, CALL_ID_BYTES_MAX = 40 };

/* --- taking parts --- */

static struct answer_block *block_new(struct model_answer *answer, enum block_kind kind)
{
    answer->blocks = memory_resize(answer->blocks, (answer->count + 1) * sizeof *answer->blocks);
    struct answer_block *block = &answer->blocks[answer->count++];
    *block = (struct answer_block){.kind = kind, .index = -1};
    return block;
}

/* The last block when it is of that kind and still open, else a new one. */
static struct answer_block *block_of(struct model_answer *answer, enum block_kind kind)
{
    struct answer_block *last = answer->count ? &answer->blocks[answer->count - 1] : NULL;
    bool goes_on = last && last->kind == kind && !last->is_sealed && !last->signature.len;
    return goes_on ? last : block_new(answer, kind);
}

static struct answer_block *block_called(struct model_answer *answer, int64_t index)
{
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->blocks[i].kind == BLOCK_TOOL_USE && answer->blocks[i].index == index) {
            return &answer->blocks[i];
        }
    }
    return NULL;
}

static bool is_id_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* The vendor's id when it looks unique and every vendor would take it back; else one of our own. */
static struct slice call_id_make(struct model_turn *turn, struct slice vendors)
{
    bool is_good = vendors.len >= CALL_ID_BYTES_MIN && vendors.len <= CALL_ID_BYTES_MAX;
    for (size_t i = 0; is_good && i < vendors.len; i++) {
        is_good = is_id_byte(vendors.ptr[i]);
    }
    if (is_good) {
        return arena_copy(&turn->arena, vendors);
    }
    return arena_format(&turn->arena, "t%lld-%lld-%zu", (long long)turn->brief->number, (long long)turn->rounds,
                        turn->answer.count);
}

static void take_tool_begin(struct model_turn *turn, const struct model_part *part)
{
    struct answer_block *block = block_new(&turn->answer, BLOCK_TOOL_USE);
    block->index = part->index;
    block->call_id = call_id_make(turn, part->call_id);
    block->name = arena_copy(&turn->arena, part->name);
}

static void take_tool_input(struct model_turn *turn, const struct model_part *part)
{
    struct answer_block *block = block_called(&turn->answer, part->index);
    if (block) {
        buffer_add(&block->text, part->text);
        turn_delta(turn->turn, DELTA_TOOL_INPUT, block->call_id, part->text);
    }
}

static void take_text(struct model_turn *turn, const struct model_part *part)
{
    bool is_text = part->kind == PART_TEXT;
    buffer_add(&block_of(&turn->answer, is_text ? BLOCK_TEXT : BLOCK_REASONING)->text, part->text);
    turn_delta(turn->turn, is_text ? DELTA_TEXT : DELTA_REASONING, turn->message_id, part->text);
}

static void take_sealed(struct model_turn *turn, const struct model_part *part)
{
    struct answer_block *block = block_new(&turn->answer, BLOCK_REASONING);
    block->is_sealed = true;
    buffer_add(&block->signature, part->text);
}

/* Belongs to the reasoning before it; some models seal reasoning they do not show. */
static void take_signature(struct model_turn *turn, const struct model_part *part)
{
    struct model_answer *answer = &turn->answer;
    struct answer_block *last = answer->count ? &answer->blocks[answer->count - 1] : NULL;
    bool is_its = last && last->kind == BLOCK_REASONING && !last->is_sealed;
    last = is_its ? last : block_new(answer, BLOCK_REASONING);
    buffer_add(&last->signature, part->text);
}

static void keep_told(int64_t *to, int64_t value)
{
    *to = value >= 0 ? value : *to;
}

static void take_usage(struct model_usage *to, const struct model_usage *told)
{
    keep_told(&to->input_tokens, told->input_tokens);
    keep_told(&to->output_tokens, told->output_tokens);
    keep_told(&to->cache_read_tokens, told->cache_read_tokens);
    keep_told(&to->cache_write_tokens, told->cache_write_tokens);
    keep_told(&to->reasoning_tokens, told->reasoning_tokens);
}

void answer_take(struct model_turn *turn, const struct model_part *part)
{
    switch (part->kind) {
    case PART_TEXT:
    case PART_REASONING:
        take_text(turn, part);
        break;
    case PART_SIGNATURE:
        take_signature(turn, part);
        break;
    case PART_SEALED:
        take_sealed(turn, part);
        break;
    case PART_TOOL_BEGIN:
        take_tool_begin(turn, part);
        break;
    case PART_TOOL_INPUT:
        take_tool_input(turn, part);
        break;
    case PART_USAGE:
        take_usage(&turn->answer.usage, &part->usage);
        break;
    case PART_STOP:
        turn->answer.has_stopped = true;
        turn->answer.stop = part->stop;
        break;
    case PART_ERROR:
        break;
    }
}

/* --- the whole --- */

bool answer_is_empty(const struct model_answer *answer)
{
    return answer->count == 0;
}

void answer_reset(struct model_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        buffer_release(&answer->blocks[i].text);
        buffer_release(&answer->blocks[i].signature);
    }
    free(answer->blocks);
    *answer = (struct model_answer){.usage = {-1, -1, -1, -1, -1}};
}

static size_t count_blocks(const struct model_answer *answer, enum block_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++) {
        count += answer->blocks[i].kind == kind && (kind == BLOCK_TOOL_USE || answer->blocks[i].text.len > 0);
    }
    return count;
}

static size_t output_bytes(const struct model_answer *answer)
{
    size_t bytes = 0;
    for (size_t i = 0; i < answer->count; i++) {
        bytes += answer->blocks[i].text.len + answer->blocks[i].name.len;
    }
    return bytes;
}

static void count_usage(struct model_turn *turn)
{
    size_t input = (size_t)context_tokens(&turn->context, attempt_fixed_bytes(turn)) * CHARS_PER_TOKEN;
    budget_count(turn, &turn->answer.usage, input, output_bytes(&turn->answer));
}

/* Broken arguments are kept as text, so that the log and the model see what was said. */
static void want_call(struct model_turn *turn, const struct answer_block *block)
{
    struct wanted_call *call = &turn->wanted[turn->wanted_count++];
    struct slice said = slice_trim(buffer_slice(&block->text));
    *call = (struct wanted_call){.id = block->call_id, .name = block->name};
    said = arena_copy(&turn->arena, said.len ? said : SLICE("{}"));
    if (json_parse(&turn->arena, said, &call->value, NULL) == STATUS_OK && json_is(call->value, JSON_OBJECT)) {
        call->arguments = said;
        return;
    }
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_text(&out, "malformed", slice_is_utf8(said) ? said : SLICE("?"));
    json_end_object(&out);
    call->value = NULL;
    call->arguments = arena_copy(&turn->arena, buffer_slice(&text));
    buffer_release(&text);
}

static void remember(struct model_turn *turn, const struct answer_block *block, struct slice arguments)
{
    struct model_block told = {.kind = block->kind, .is_sealed = block->is_sealed};
    told.call_id = block->call_id;
    told.name = block->name;
    if (block->kind == BLOCK_TOOL_USE) {
        told.arguments = arguments;
    } else {
        told.text = arena_copy(&turn->arena, buffer_slice(&block->text));
        told.signature = arena_copy(&turn->arena, buffer_slice(&block->signature));
    }
    context_add(&turn->context, MODEL_ASSISTANT, told);
}

static void record_block(struct model_turn *turn, const struct answer_block *block, bool is_promoted)
{
    struct slice text = buffer_slice(&block->text), arguments = {NULL, 0};
    if (block->kind == BLOCK_TOOL_USE) {
        want_call(turn, block);
        arguments = turn->wanted[turn->wanted_count - 1].arguments;
        event_call(turn, &turn->wanted[turn->wanted_count - 1]);
    } else if (text.len && block->kind == BLOCK_REASONING && !is_promoted) {
        event_say(turn, EVENT_AGENT_THINKING, text, NULL);
    } else if (text.len) {
        event_say(turn, EVENT_AGENT_MESSAGE, text, is_promoted ? "promoted" : NULL);
    }
    remember(turn, block, arguments);
}

/* An answer of nothing but reasoning is what the model had to say. Calls of an answer that was cut by the output limit
 * are incomplete and not recorded. */
void answer_record(struct model_turn *turn)
{
    struct model_answer *answer = &turn->answer;
    size_t calls = answer->stop == MODEL_STOP_LENGTH ? 0 : count_blocks(answer, BLOCK_TOOL_USE);
    bool is_promoted = calls == 0 && count_blocks(answer, BLOCK_TEXT) == 0;
    count_usage(turn);
    turn->wanted = arena_array(&turn->arena, calls + 1, sizeof *turn->wanted);
    turn->wanted_count = turn->wanted_next = 0;
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->blocks[i].kind != BLOCK_TOOL_USE || calls > 0) {
            record_block(turn, &answer->blocks[i], is_promoted && answer->blocks[i].kind == BLOCK_REASONING);
        }
    }
}

void answer_record_partial(struct model_turn *turn)
{
    struct model_answer *answer = &turn->answer;
    if (answer_is_empty(answer)) {
        return;
    }
    count_usage(turn);
    for (size_t i = 0; i < answer->count; i++) {
        struct slice text = buffer_slice(&answer->blocks[i].text);
        if (text.len && answer->blocks[i].kind == BLOCK_TEXT) {
            event_say(turn, EVENT_AGENT_MESSAGE, text, "partial");
        } else if (text.len && answer->blocks[i].kind == BLOCK_REASONING) {
            event_say(turn, EVENT_AGENT_THINKING, text, "partial");
        }
    }
    answer_reset(answer);
}
