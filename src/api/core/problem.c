#include "api/core/problem.h"

#include "base/json.h"

static void put_members(struct json_out *out, struct slice members)
{
    if (members.len > 0) {
        buffer_add_byte(out->buffer, ',');
        buffer_add(out->buffer, members);
    }
}

void problem_answer(struct exchange *exchange, const struct failure *failure, struct slice members)
{
    int status = status_http(failure->status);
    exchange->status = status;
    exchange->content_type = "application/problem+json";
    exchange->header_count = 0;
    exchange->body.len = 0;
    exchange->static_body = (struct slice){0};
    exchange->take_over = NULL;
    struct json_out out = json_out_to(&exchange->body);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("about:blank"));
    json_put_text(&out, "title", slice_of(http_reason(status)));
    json_put_i64(&out, "status", status);
    json_put_text(&out, "code", slice_of(failure->code[0] ? failure->code : status_name(failure->status)));
    json_put_text(&out, "detail", slice_of(failure->detail));
    put_members(&out, slice_of(failure->members));
    put_members(&out, members);
    json_end_object(&out);
    if (failure->status == STATUS_UNAUTHENTICATED) {
        exchange_header(exchange, "WWW-Authenticate", SLICE("Bearer"));
    }
    if (failure->retry_after_s > 0) {
        exchange_header(exchange, "Retry-After", arena_format(&exchange->arena, "%d", failure->retry_after_s));
    }
}
