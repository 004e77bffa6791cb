#include "wire/traceparent.h"

#include "base/hex.h"

/* version "-" trace "-" parent "-" flags */
enum { TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, VERSION_0_LEN = 55 };

static bool any_set(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i]) {
            return true;
        }
    }
    return false;
}

static bool version_fits(unsigned char version, struct slice text)
{
    if (version == 0) {
        return text.len == VERSION_0_LEN;
    }
    return version != 0xFF && (text.len == VERSION_0_LEN || text.ptr[VERSION_0_LEN] == '-');
}

static bool read_at(struct slice text, size_t at, unsigned char *out, size_t count)
{
    return hex_read(slice_from(text.ptr + at, 2 * count), out, count);
}

bool traceparent_parse(struct slice text, struct traceparent *out)
{
    struct traceparent trace;
    unsigned char version;
    if (text.len < VERSION_0_LEN || text.ptr[TRACE_AT - 1] != '-' || text.ptr[PARENT_AT - 1] != '-' ||
        text.ptr[FLAGS_AT - 1] != '-') {
        return false;
    }
    if (!read_at(text, 0, &version, 1) || !version_fits(version, text)) {
        return false;
    }
    if (!read_at(text, TRACE_AT, trace.trace_id, sizeof trace.trace_id) ||
        !read_at(text, PARENT_AT, trace.parent_id, sizeof trace.parent_id) ||
        !read_at(text, FLAGS_AT, &trace.flags, 1)) {
        return false;
    }
    if (!any_set(trace.trace_id, sizeof trace.trace_id) || !any_set(trace.parent_id, sizeof trace.parent_id)) {
        return false;
    }
    *out = trace;
    return true;
}

void traceparent_format(const struct traceparent *trace, char out[TRACEPARENT_TEXT_BYTES])
{
    memcpy(out, "00-", TRACE_AT);
    char *to = hex_write(trace->trace_id, sizeof trace->trace_id, out + TRACE_AT);
    *to++ = '-';
    to = hex_write(trace->parent_id, sizeof trace->parent_id, to);
    *to++ = '-';
    to = hex_write(&trace->flags, 1, to);
    *to = '\0';
}

/* All zeroes mean "none" and are not a valid id. */
static void fill_nonzero(struct id_source *ids, unsigned char *bytes, size_t count)
{
    do {
        ids->fill(ids, bytes, count);
    } while (!any_set(bytes, count));
}

void traceparent_child(const struct traceparent *trace, struct id_source *ids, struct traceparent *out)
{
    *out = *trace;
    out->flags = trace->flags & TRACEPARENT_SAMPLED; /* the only bit version 00 defines */
    fill_nonzero(ids, out->parent_id, sizeof out->parent_id);
}
