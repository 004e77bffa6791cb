#include "wire/http.h"

/*  request:  START → METHOD → TARGET → VERSION → LINE_LF ─┐
 *  response: START → VERSION → CODE → REASON → LINE_LF ───┤
 *                                                         ▼
 *            FIELD → NAME → VALUE → FIELD_LF → FIELD … FIELD → END_LF → DONE */
enum scan_state {
    SCAN_START,
    SCAN_START_LF,
    SCAN_METHOD,
    SCAN_TARGET,
    SCAN_VERSION,
    SCAN_CODE,
    SCAN_REASON,
    SCAN_LINE_LF,
    SCAN_FIELD,
    SCAN_NAME,
    SCAN_VALUE,
    SCAN_FIELD_LF,
    SCAN_END_LF,
    SCAN_DONE
};

enum { METHOD_BYTES_MAX = 24, REASON_BYTES_MAX = 256, START_BYTES_MAX = 64 };

void http_scan_init(struct http_scan *scan, enum http_kind kind)
{
    *scan = (struct http_scan){.kind = (uint8_t)kind, .state = SCAN_START};
}

static void enter(struct http_scan *scan, enum scan_state state)
{
    scan->state = (uint8_t)state;
}

static void refuse(struct http_scan *scan, enum http_fault fault)
{
    scan->fault = (uint8_t)fault;
}

static void skip_class(struct http_scan *scan, const char *bytes, size_t end, uint8_t class)
{
    size_t at = scan->at;
    while (at < end && http_byte_is(bytes[at], class)) {
        at++;
    }
    scan->at = at;
}

static void expect_lf(struct http_scan *scan, const char *bytes, enum scan_state next)
{
    if (bytes[scan->at] != '\n') {
        refuse(scan, HTTP_FAULT_LINE_END);
        return;
    }
    scan->mark_at = ++scan->at;
    enter(scan, next);
}

static void step_start(struct http_scan *scan, const char *bytes)
{
    if (bytes[scan->at] == '\r' && scan->begin_at == 0 && scan->kind == HTTP_REQUEST) {
        scan->at++;
        enter(scan, SCAN_START_LF);
        return;
    }
    scan->begin_at = scan->mark_at = scan->at;
    enter(scan, scan->kind == HTTP_REQUEST ? SCAN_METHOD : SCAN_VERSION);
}

static void step_method(struct http_scan *scan, const char *bytes, size_t end)
{
    skip_class(scan, bytes, end, HTTP_BYTE_TOKEN);
    if (scan->at == end) {
        return;
    }
    if (bytes[scan->at] != ' ' || scan->at == scan->mark_at) {
        refuse(scan, HTTP_FAULT_METHOD);
        return;
    }
    scan->mark_at = ++scan->at;
    enter(scan, SCAN_TARGET);
}

static void step_target(struct http_scan *scan, const char *bytes, size_t end)
{
    skip_class(scan, bytes, end, HTTP_BYTE_TARGET);
    if (scan->at == end) {
        return;
    }
    if (bytes[scan->at] != ' ' || scan->at == scan->mark_at) {
        refuse(scan, HTTP_FAULT_TARGET);
        return;
    }
    scan->mark_at = ++scan->at;
    enter(scan, SCAN_VERSION);
}

/* One byte of "HTTP/1.x" and what stands behind it. */
static void step_version(struct http_scan *scan, const char *bytes)
{
    static const char text[] = "HTTP/1.";
    size_t position = scan->at - scan->mark_at;
    char byte = bytes[scan->at];
    bool request = scan->kind == HTTP_REQUEST;
    if (position < 7 && byte != text[position]) {
        refuse(scan,
               position == 5 && http_byte_is(byte, HTTP_BYTE_DIGIT) ? HTTP_FAULT_VERSION : HTTP_FAULT_VERSION_TEXT);
    } else if (position == 7 && byte != '0' && byte != '1') {
        refuse(scan, http_byte_is(byte, HTTP_BYTE_DIGIT) ? HTTP_FAULT_VERSION : HTTP_FAULT_VERSION_TEXT);
    } else if (position == 8 && byte != (request ? '\r' : ' ')) {
        refuse(scan, byte == '\n' ? HTTP_FAULT_LINE_END : HTTP_FAULT_VERSION_TEXT);
    } else if (position == 8) {
        scan->mark_at = ++scan->at;
        enter(scan, request ? SCAN_LINE_LF : SCAN_CODE);
    } else {
        scan->at++;
    }
}

static void step_code(struct http_scan *scan, const char *bytes)
{
    size_t position = scan->at - scan->mark_at;
    char byte = bytes[scan->at];
    if (position < 3) {
        if (!http_byte_is(byte, HTTP_BYTE_DIGIT) || (position == 0 && (byte < '1' || byte > '5'))) {
            refuse(scan, HTTP_FAULT_STATUS_LINE);
        }
    } else if (byte != ' ' && byte != '\r') {
        refuse(scan, HTTP_FAULT_STATUS_LINE);
    } else {
        scan->mark_at = scan->at + 1;
        enter(scan, byte == ' ' ? SCAN_REASON : SCAN_LINE_LF);
    }
    scan->at++;
}

static void step_reason(struct http_scan *scan, const char *bytes, size_t end)
{
    skip_class(scan, bytes, end, HTTP_BYTE_VALUE);
    if (scan->at == end) {
        return;
    }
    if (bytes[scan->at] != '\r') {
        refuse(scan, HTTP_FAULT_STATUS_LINE);
        return;
    }
    scan->at++;
    enter(scan, SCAN_LINE_LF);
}

static void step_field(struct http_scan *scan, const struct http_limits *limits, const char *bytes)
{
    char byte = bytes[scan->at];
    if (byte == '\r') {
        scan->at++;
        enter(scan, SCAN_END_LF);
    } else if (byte == ' ' || byte == '\t') {
        refuse(scan, HTTP_FAULT_FOLDING);
    } else if (byte == '\n') {
        refuse(scan, HTTP_FAULT_LINE_END);
    } else if (scan->header_count == limits->header_count_max) {
        refuse(scan, HTTP_FAULT_HEADER_COUNT);
    } else {
        scan->header_count++;
        enter(scan, SCAN_NAME);
    }
}

static void step_name(struct http_scan *scan, const char *bytes, size_t end)
{
    skip_class(scan, bytes, end, HTTP_BYTE_TOKEN);
    if (scan->at == end) {
        return;
    }
    bool empty = bytes[scan->at - 1] == '\n';
    if (bytes[scan->at] != ':' || empty) {
        refuse(scan, HTTP_FAULT_HEADER_NAME);
        return;
    }
    scan->at++;
    enter(scan, SCAN_VALUE);
}

static void step_value(struct http_scan *scan, const char *bytes, size_t end)
{
    skip_class(scan, bytes, end, HTTP_BYTE_VALUE);
    if (scan->at == end) {
        return;
    }
    if (bytes[scan->at] != '\r') {
        refuse(scan, bytes[scan->at] == '\n' ? HTTP_FAULT_LINE_END : HTTP_FAULT_HEADER_VALUE);
        return;
    }
    scan->at++;
    enter(scan, SCAN_FIELD_LF);
}

/* LF after the first line: from here on mark_at stays where the headers begin. */
static void step_line_lf(struct http_scan *scan, const char *bytes)
{
    expect_lf(scan, bytes, SCAN_FIELD);
}

static void step_lf(struct http_scan *scan, const char *bytes, enum scan_state next)
{
    size_t headers_at = scan->mark_at;
    expect_lf(scan, bytes, next);
    scan->mark_at = headers_at;
}

static void step(struct http_scan *scan, const struct http_limits *limits, const char *bytes, size_t end)
{
    switch ((enum scan_state)scan->state) {
    case SCAN_START:
        step_start(scan, bytes);
        break;
    case SCAN_START_LF:
        expect_lf(scan, bytes, SCAN_START);
        scan->begin_at = scan->at;
        break;
    case SCAN_METHOD:
        step_method(scan, bytes, end);
        break;
    case SCAN_TARGET:
        step_target(scan, bytes, end);
        break;
    case SCAN_VERSION:
        step_version(scan, bytes);
        break;
    case SCAN_CODE:
        step_code(scan, bytes);
        break;
    case SCAN_REASON:
        step_reason(scan, bytes, end);
        break;
    case SCAN_LINE_LF:
        step_line_lf(scan, bytes);
        break;
    case SCAN_FIELD:
        step_field(scan, limits, bytes);
        break;
    case SCAN_NAME:
        step_name(scan, bytes, end);
        break;
    case SCAN_VALUE:
        step_value(scan, bytes, end);
        break;
    case SCAN_FIELD_LF:
        step_lf(scan, bytes, SCAN_FIELD);
        break;
    case SCAN_END_LF:
        step_lf(scan, bytes, SCAN_DONE);
        break;
    case SCAN_DONE:
        break;
    }
}

/* Where the current element must have ended, and what is wrong when it has not. Steps never look behind it, which is
 * why the pieces in which bytes arrive make no difference. */
static size_t element_end(const struct http_scan *scan, const struct http_limits *limits, enum http_fault *out_fault)
{
    switch ((enum scan_state)scan->state) {
    case SCAN_METHOD:
        *out_fault = HTTP_FAULT_METHOD;
        return scan->mark_at + METHOD_BYTES_MAX + 1;
    case SCAN_TARGET:
        *out_fault = HTTP_FAULT_URI_SIZE;
        return scan->mark_at + limits->uri_bytes_max + 1;
    case SCAN_REASON:
        *out_fault = HTTP_FAULT_STATUS_LINE;
        return scan->mark_at + REASON_BYTES_MAX + 1;
    case SCAN_START:
    case SCAN_START_LF:
    case SCAN_VERSION:
    case SCAN_CODE:
    case SCAN_LINE_LF:
        *out_fault = HTTP_FAULT_LINE_END;
        return scan->mark_at + START_BYTES_MAX;
    case SCAN_FIELD:
    case SCAN_NAME:
    case SCAN_VALUE:
    case SCAN_FIELD_LF:
    case SCAN_END_LF:
    case SCAN_DONE:
        break;
    }
    *out_fault = HTTP_FAULT_HEADER_SIZE;
    return scan->mark_at + limits->header_bytes_max + 2;
}

enum http_progress http_scan(struct http_scan *scan, const struct http_limits *limits, struct slice bytes)
{
    while (scan->state != SCAN_DONE && scan->fault == HTTP_FAULT_NONE) {
        if (scan->at >= bytes.len) {
            return HTTP_MORE;
        }
        enum http_fault fault;
        size_t end = element_end(scan, limits, &fault);
        if (scan->at >= end) {
            refuse(scan, fault);
            break;
        }
        step(scan, limits, bytes.ptr, end < bytes.len ? end : bytes.len);
    }
    return scan->fault == HTTP_FAULT_NONE ? HTTP_DONE : HTTP_REFUSED;
}

static const char *find(const char *from, const char *end, char byte)
{
    return memchr(from, byte, (size_t)(end - from));
}

void http_head_split(const struct http_scan *scan, struct slice head, struct http_header *out)
{
    const char *line = head.ptr + scan->mark_at;
    const char *end = head.ptr + scan->at;
    for (size_t i = 0; i < scan->header_count; i++) {
        const char *colon = find(line, end, ':');
        const char *line_end = find(colon, end, '\r');
        out[i].name = slice_from(line, (size_t)(colon - line));
        out[i].value = slice_trim(slice_from(colon + 1, (size_t)(line_end - colon - 1)));
        line = line_end + 2;
    }
}
