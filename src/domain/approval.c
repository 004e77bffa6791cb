#include "domain/approval.h"

#include "domain/event_payload.h"

static bool read_text(const struct json *object, const char *key, struct slice *out)
{
    return json_as_text(payload_member_of(object, slice_of(key)), out) && out->len > 0;
}

static bool read_tool(const struct json *metadata, struct approval *out)
{
    const struct json *paused = payload_member_of(metadata, SLICE("paused_tool_call"));
    struct approval read = {.kind = APPROVAL_OF_TOOL, .tool_input = payload_member_of(paused, SLICE("tool_input"))};
    bool fits = read_text(paused, "tool_call_id", &read.tool_call_id) &&
                read_text(paused, "tool_name", &read.tool_name) &&
                (!read.tool_input || json_is(read.tool_input, JSON_OBJECT));
    if (fits) {
        *out = read;
    }
    return fits;
}

static bool read_output(const struct json *metadata, struct approval *out)
{
    struct approval read = {.kind = APPROVAL_OF_OUTPUT, .output = payload_member_of(metadata, SLICE("staged_output"))};
    const struct json *score = payload_member_of(metadata, SLICE("criteria_score"));
    read.flags = payload_member_of(metadata, SLICE("safety_flags"));
    bool fits = json_is(read.output, JSON_OBJECT) && (!score || json_as_i64(score, &read.score)) &&
                (!read.flags || json_is(read.flags, JSON_ARRAY));
    if (fits) {
        *out = read;
    }
    return fits;
}

bool approval_read(const struct json *metadata, struct approval *out)
{
    const struct json *kind = json_get_value(metadata, "kind");
    struct slice word = SLICE("tool");
    if (!json_is(metadata, JSON_OBJECT) || (kind && !json_as_text(kind, &word))) {
        return false;
    }
    if (slice_is(word, "output")) {
        return read_output(metadata, out);
    }
    return slice_is(word, "tool") && read_tool(metadata, out);
}

void approval_write_output(struct json_out *out, struct slice staged, int64_t score, struct slice flags)
{
    json_put_text(out, "kind", SLICE("output"));
    json_put_raw(out, "staged_output", staged);
    json_put_i64(out, "criteria_score", score);
    json_put_raw(out, "safety_flags", flags);
}
