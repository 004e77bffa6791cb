#include "wire/http.h"

#include <stdio.h>
#include <time.h>

static const struct reason {
    int status;
    const char *text;
} reasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {416, "Range Not Satisfiable"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_reason(int status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].status == status) {
            return reasons[i].text;
        }
    }
    return "Unknown";
}

void http_write_status(struct buffer *out, int status)
{
    buffer_add(out, SLICE("HTTP/1.1 "));
    buffer_add_i64(out, status);
    buffer_add_byte(out, ' ');
    buffer_add(out, slice_of(http_reason(status)));
    buffer_add(out, SLICE("\r\n"));
}

static void write_line(struct buffer *out, struct slice name, struct slice value)
{
    buffer_reserve(out, name.len + value.len + 4);
    buffer_add(out, name);
    buffer_add(out, SLICE(": "));
    char *at = out->ptr + out->len;
    for (size_t i = 0; i < value.len; i++) {
        at[i] = http_byte_is(value.ptr[i], HTTP_BYTE_VALUE) ? value.ptr[i] : ' ';
    }
    out->len += value.len;
    buffer_add(out, SLICE("\r\n"));
}

void http_write_header(struct buffer *out, const char *name, struct slice value)
{
    write_line(out, slice_of(name), value);
}

void http_write_header_as_is(struct buffer *out, const struct http_header *header)
{
    write_line(out, header->name, header->value);
}

void http_write_header_i64(struct buffer *out, const char *name, int64_t value)
{
    buffer_add(out, slice_of(name));
    buffer_add(out, SLICE(": "));
    buffer_add_i64(out, value);
    buffer_add(out, SLICE("\r\n"));
}

void http_write_end(struct buffer *out)
{
    buffer_add(out, SLICE("\r\n"));
}

void http_date(int64_t wall_ms, char out[HTTP_DATE_BYTES])
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    snprintf(out, HTTP_DATE_BYTES, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * tm.tm_wday,
             (unsigned)tm.tm_mday % 100u, months + 3 * tm.tm_mon, (unsigned)(tm.tm_year + 1900) % 10000u,
             (unsigned)tm.tm_hour % 100u, (unsigned)tm.tm_min % 100u, (unsigned)tm.tm_sec % 100u);
}
