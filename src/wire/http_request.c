#include "wire/http.h"

/* What the headers say about the message's framing, gathered before anything is decided. */
struct framing {
    struct slice host;
    struct slice length;
    struct slice coding;
    struct slice upgrade;
    int host_count, length_count, coding_count;
    bool close, connection_upgrade;
    bool expect_continue, expect_other;
};

static void note_host(struct framing *framing, struct slice value)
{
    framing->host = value;
    framing->host_count++;
}

static void note_length(struct framing *framing, struct slice value)
{
    framing->length = value;
    framing->length_count++;
}

static void note_coding(struct framing *framing, struct slice value)
{
    framing->coding = value;
    framing->coding_count++;
}

static void note_connection(struct framing *framing, struct slice value)
{
    framing->close = framing->close || http_list_has(value, "close");
    framing->connection_upgrade = framing->connection_upgrade || http_list_has(value, "upgrade");
}

static void note_upgrade(struct framing *framing, struct slice value)
{
    framing->upgrade = value;
}

static void note_expect(struct framing *framing, struct slice value)
{
    bool known = slice_eq_nocase(value, SLICE("100-continue"));
    framing->expect_continue = framing->expect_continue || known;
    framing->expect_other = framing->expect_other || !known;
}

static const struct noted_header {
    struct slice name;
    void (*note)(struct framing *framing, struct slice value);
} noted_headers[] = {
    {{"host", 4}, note_host},
    {{"content-length", 14}, note_length},
    {{"connection", 10}, note_connection},
    {{"transfer-encoding", 17}, note_coding},
    {{"upgrade", 7}, note_upgrade},
    {{"expect", 6}, note_expect},
};

static struct framing framing_of(const struct http_header *headers, size_t count)
{
    struct framing framing = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof noted_headers / sizeof noted_headers[0]; k++) {
            if (slice_eq_nocase(headers[i].name, noted_headers[k].name)) {
                noted_headers[k].note(&framing, headers[i].value);
                break;
            }
        }
    }
    return framing;
}

static bool all_of_class(struct slice s, uint8_t class)
{
    return s.len > 0 && http_bytes_are(s, class);
}

static enum http_fault read_length(const struct framing *framing, int64_t *out)
{
    *out = -1;
    if (framing->length_count == 0) {
        return HTTP_FAULT_NONE;
    }
    if (framing->length_count > 1) {
        return HTTP_FAULT_LENGTH_REPEATED;
    }
    if (!all_of_class(framing->length, HTTP_BYTE_DIGIT)) {
        return HTTP_FAULT_LENGTH;
    }
    return slice_to_i64(framing->length, out) ? HTTP_FAULT_NONE : HTTP_FAULT_BODY_SIZE;
}

static enum http_fault read_coding(const struct framing *framing, int version_minor, bool *out_chunked)
{
    *out_chunked = false;
    if (framing->coding_count == 0) {
        return HTTP_FAULT_NONE;
    }
    if (framing->length_count > 0) {
        return HTTP_FAULT_LENGTH_AND_CODING;
    }
    if (framing->coding_count > 1 || version_minor == 0 || !slice_eq_nocase(framing->coding, SLICE("chunked"))) {
        return HTTP_FAULT_CODING;
    }
    *out_chunked = true;
    return HTTP_FAULT_NONE;
}

/* An HTTP/1.0 peer is always answered with close, whatever it asks for. */
static bool keeps_alive(const struct framing *framing, int version_minor)
{
    return !framing->close && version_minor > 0;
}

static enum http_fault check_host(const struct framing *framing, int version_minor)
{
    if (framing->host_count == 0) {
        return version_minor > 0 ? HTTP_FAULT_HOST_MISSING : HTTP_FAULT_NONE;
    }
    bool good = framing->host_count == 1 && all_of_class(framing->host, HTTP_BYTE_HOST);
    return good ? HTTP_FAULT_NONE : HTTP_FAULT_HOST;
}

static enum http_fault read_framing(struct http_request *request)
{
    struct framing framing = framing_of(request->headers, request->header_count);
    enum http_fault fault = check_host(&framing, request->version_minor);
    if (fault == HTTP_FAULT_NONE) {
        fault = read_coding(&framing, request->version_minor, &request->chunked);
    }
    if (fault == HTTP_FAULT_NONE) {
        fault = read_length(&framing, &request->content_length);
    }
    if (fault == HTTP_FAULT_NONE && framing.expect_other) {
        fault = HTTP_FAULT_EXPECT;
    }
    request->keep_alive = keeps_alive(&framing, request->version_minor);
    request->expect_continue = framing.expect_continue && request->version_minor > 0;
    request->upgrade = framing.connection_upgrade ? framing.upgrade : (struct slice){0};
    return fault;
}

static enum http_method method_of(struct slice text)
{
    static const struct slice names[HTTP_METHOD_OTHER] = {
        [HTTP_GET] = {"GET", 3},         [HTTP_HEAD] = {"HEAD", 4},   [HTTP_POST] = {"POST", 4},
        [HTTP_PUT] = {"PUT", 3},         [HTTP_PATCH] = {"PATCH", 5}, [HTTP_DELETE] = {"DELETE", 6},
        [HTTP_OPTIONS] = {"OPTIONS", 7},
    };
    for (int i = 0; i < HTTP_METHOD_OTHER; i++) {
        if (slice_eq(text, names[i])) {
            return (enum http_method)i;
        }
    }
    return HTTP_METHOD_OTHER;
}

/* "http://host/path?query" → "/path?query"; absent when there is no host. */
static struct slice strip_authority(struct slice target)
{
    static const struct slice schemes[] = {{"http://", 7}, {"https://", 8}};
    for (size_t i = 0; i < 2; i++) {
        struct slice scheme = schemes[i];
        if (target.len <= scheme.len || !slice_eq_nocase(slice_from(target.ptr, scheme.len), scheme)) {
            continue;
        }
        struct slice rest = slice_after(target, scheme.len);
        size_t host_len = 0;
        while (host_len < rest.len && http_byte_is(rest.ptr[host_len], HTTP_BYTE_HOST)) {
            host_len++;
        }
        return host_len > 0 ? slice_after(rest, host_len) : (struct slice){0};
    }
    return (struct slice){0};
}

static enum http_fault read_target(struct http_request *request)
{
    struct slice target = request->target;
    if (request->method == HTTP_OPTIONS && slice_is(target, "*")) {
        request->path = target;
        return HTTP_FAULT_NONE;
    }
    if (target.ptr[0] != '/') {
        target = strip_authority(target);
        if (!slice_present(target) || (target.len > 0 && target.ptr[0] != '/' && target.ptr[0] != '?')) {
            return HTTP_FAULT_TARGET;
        }
    }
    slice_cut(target, '?', &request->path, &request->query);
    if (request->path.len == 0) {
        request->path = SLICE("/");
    }
    return HTTP_FAULT_NONE;
}

enum http_fault http_request_read(const struct http_scan *scan, struct slice head, struct arena *arena,
                                  struct http_request *out)
{
    struct http_header *headers = arena_array(arena, scan->header_count, sizeof *headers);
    http_head_split(scan, head, headers);
    *out = (struct http_request){.headers = headers, .header_count = scan->header_count, .content_length = -1};

    struct slice line = slice_from(head.ptr + scan->begin_at, scan->mark_at - scan->begin_at);
    struct slice rest;
    slice_cut(line, ' ', &out->method_text, &rest);
    slice_cut(rest, ' ', &out->target, &rest);
    out->version_minor = rest.ptr[7] - '0';
    out->method = method_of(out->method_text);
    enum http_fault fault = read_target(out);
    return fault == HTTP_FAULT_NONE ? read_framing(out) : fault;
}

/* An answer without a body by its nature keeps no length; the caller knows when it asked with HEAD. */
static bool status_has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

enum http_fault http_response_read(const struct http_scan *scan, struct slice head, struct arena *arena,
                                   struct http_response *out)
{
    struct http_header *headers = arena_array(arena, scan->header_count, sizeof *headers);
    http_head_split(scan, head, headers);
    *out = (struct http_response){.headers = headers, .header_count = scan->header_count, .content_length = -1};

    struct slice line = slice_from(head.ptr + scan->begin_at, scan->mark_at - scan->begin_at);
    out->version_minor = line.ptr[7] - '0';
    out->status = (line.ptr[9] - '0') * 100 + (line.ptr[10] - '0') * 10 + (line.ptr[11] - '0');
    out->reason = slice_trim(slice_after(line, 12));
    struct framing framing = framing_of(headers, scan->header_count);
    enum http_fault fault = read_coding(&framing, out->version_minor, &out->chunked);
    if (fault == HTTP_FAULT_NONE) {
        fault = read_length(&framing, &out->content_length);
    }
    if (status_has_no_body(out->status)) {
        out->content_length = 0;
        out->chunked = false;
    }
    out->keep_alive = keeps_alive(&framing, out->version_minor);
    return fault;
}
