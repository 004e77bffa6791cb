#include "net/exchange.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json.h"
#include "net/connection.h"
#include "net/http_client.h"
#include "net/server_loop.h"

enum { KEEP_ARENA_BYTES = 16 * 1024, KEEP_BODY_BYTES = 16 * 1024 };

static void exchange_arrive(struct loop_message *message);

struct exchange *exchange_take_spare(struct server_loop *home)
{
    struct exchange *exchange = home->spare;
    if (exchange) {
        home->spare = exchange->next;
        home->spare_count--;
    } else {
        exchange = memory_zeroed(sizeof *exchange);
    }
    struct arena arena = exchange->arena;
    struct buffer body = exchange->body;
    memset(exchange, 0, sizeof *exchange);
    exchange->arena = arena;
    exchange->body = body;
    exchange->home = home;
    exchange->loop = home->loop;
    exchange->message.run = exchange_arrive;
    return exchange;
}

void exchange_recycle(struct exchange *exchange)
{
    struct server_loop *home = exchange->home;
    byte_hold_release(&exchange->hold);
    if (exchange->arena.used_bytes > KEEP_ARENA_BYTES) {
        arena_release(&exchange->arena);
    } else {
        arena_reset(&exchange->arena);
    }
    if (exchange->body.room > KEEP_BODY_BYTES) {
        buffer_release(&exchange->body);
    }
    exchange->body.len = 0;
    if (home->spare_count >= SPARE_EXCHANGES_MAX) {
        arena_release(&exchange->arena);
        buffer_release(&exchange->body);
        free(exchange);
        return;
    }
    exchange->next = home->spare;
    home->spare = exchange;
    home->spare_count++;
}

static bool request_id_acceptable(struct slice id)
{
    if (id.len == 0 || id.len >= UUID_TEXT_BYTES) {
        return false;
    }
    for (size_t i = 0; i < id.len; i++) {
        char c = id.ptr[i];
        bool good = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' || c == '_' ||
                    c == '.' || c == ':';
        if (!good) {
            return false;
        }
    }
    return true;
}

void exchange_identify(struct exchange *exchange)
{
    struct server_loop *home = exchange->home;
    exchange->peer = arena_copy(&exchange->arena, slice_of(exchange->connection->peer));
    struct slice given = http_request_header(&exchange->request, "x-request-id");
    if (request_id_acceptable(given)) {
        memcpy(exchange->request_id, given.ptr, given.len);
    } else {
        id_uuid7(&home->ids.source, clock_wall_ms(home->options->clock), exchange->request_id);
    }
}

void exchange_header(struct exchange *exchange, const char *name, struct slice value)
{
    assert(exchange->header_count < EXCHANGE_HEADERS_MAX);
    if (exchange->header_count < EXCHANGE_HEADERS_MAX) {
        exchange->headers[exchange->header_count++] = http_header_own(name, value);
    }
}

bool exchange_peer_closed(const struct exchange *exchange)
{
    return atomic_load_explicit(&exchange->peer_closed, memory_order_relaxed);
}

void exchange_set_problem(struct exchange *exchange, int status, const char *code, const char *detail)
{
    exchange->status = status;
    exchange->content_type = "application/problem+json";
    exchange->header_count = 0;
    exchange->static_body = (struct slice){0};
    exchange->body.len = 0;
    struct json_out out = json_out_to(&exchange->body);
    json_begin_object(&out);
    json_put_text(&out, "type", SLICE("about:blank"));
    json_put_text(&out, "title", slice_of(http_reason(status)));
    json_put_i64(&out, "status", status);
    json_put_text(&out, "code", slice_of(code));
    json_put_text(&out, "detail", slice_of(detail));
    json_end_object(&out);
}

static bool status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

void exchange_write_common(struct exchange *exchange, struct buffer *out)
{
    http_write_header(out, "Date", server_loop_date(exchange->home));
    http_write_header(out, "X-Request-Id", slice_of(exchange->request_id));
    for (size_t i = 0; i < exchange->header_count; i++) {
        http_write_header_as_is(out, &exchange->headers[i]);
    }
}

/* What no handler allows to be kept is kept nowhere, and nothing is taken for what it was not said to be. */
static void write_guards(const struct exchange *exchange, struct buffer *out)
{
    struct slice caching = http_header_find(exchange->headers, exchange->header_count, "cache-control");
    http_write_header(out, "X-Content-Type-Options", SLICE("nosniff"));
    if (!slice_present(caching)) {
        http_write_header(out, "Cache-Control", SLICE("no-store"));
    }
}

void exchange_compose_head(struct exchange *exchange, bool keep_alive)
{
    struct buffer *out = &exchange->home->scratch;
    bool has_body = status_has_body(exchange->status);
    size_t body_bytes = slice_present(exchange->static_body) ? exchange->static_body.len : exchange->body.len;
    out->len = 0;
    http_write_status(out, exchange->status);
    if (has_body && exchange->content_type) {
        http_write_header(out, "Content-Type", slice_of(exchange->content_type));
    }
    if (has_body) {
        http_write_header_i64(out, "Content-Length", (int64_t)body_bytes);
    }
    exchange_write_common(exchange, out);
    write_guards(exchange, out);
    if (!keep_alive) {
        http_write_header(out, "Connection", SLICE("close"));
    }
    http_write_end(out);
    exchange->head = arena_copy(&exchange->arena, buffer_slice(out));
    exchange->head_only = !has_body || exchange->request.method == HTTP_HEAD;
}

void exchange_send(struct exchange *exchange)
{
    struct connection *connection = exchange->connection;
    if (!connection) {
        exchange_recycle(exchange);
        return;
    }
    if (connection_is_admitting(connection, exchange)) {
        connection_answer_head(connection);
    }
    exchange->take_over = NULL;
    exchange->ready = true;
    server_loop_mark_dirty(exchange->home, connection);
}

/* On the loop thread, with the answer filled in. A take-over waits until earlier answers are out. */
static void exchange_finish(struct exchange *exchange)
{
    if (exchange->take_over && !exchange->connection) {
        exchange->take_over(exchange);
    } else if (exchange->take_over) {
        exchange->ready = true;
        server_loop_mark_dirty(exchange->home, exchange->connection);
    } else {
        exchange_send(exchange);
    }
}

static void exchange_arrive(struct loop_message *message)
{
    exchange_finish((struct exchange *)((char *)message - offsetof(struct exchange, message)));
}

/* Bytes that came meanwhile were kept. */
static void admit_arrive(struct loop_message *message)
{
    struct exchange *exchange = (struct exchange *)((char *)message - offsetof(struct exchange, message));
    struct connection *connection = exchange->connection;
    exchange->message.run = exchange_arrive;
    if (!connection) {
        exchange_recycle(exchange);
        return;
    }
    connection->home->now_ms = clock_steady_ms(connection->home->options->clock);
    connection_admit(connection);
    connection_resume(connection);
    connection_update_watches(connection);
}

void exchange_admit(struct exchange *exchange)
{
    if (loop_is_current(exchange->loop)) {
        connection_admit(exchange->connection);
    } else {
        exchange->message.run = admit_arrive;
        loop_post(exchange->loop, &exchange->message);
    }
}

void exchange_reply(struct exchange *exchange)
{
    if (loop_is_current(exchange->loop)) {
        exchange_finish(exchange);
    } else {
        loop_post(exchange->loop, &exchange->message);
    }
}
