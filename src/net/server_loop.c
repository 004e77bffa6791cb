#include "net/server_loop.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

enum { SWEEP_MS_MAX = 500, SWEEP_MS_MIN = 10, SWEEP_DRAINING_MS = 50 };

static void pool_fill(struct id_source *source, void *bytes, size_t count)
{
    struct id_pool *pool = (struct id_pool *)source;
    if (count > sizeof pool->bytes) {
        pool->from->fill(pool->from, bytes, count);
        return;
    }
    if (sizeof pool->bytes - pool->used < count) {
        pool->from->fill(pool->from, pool->bytes, sizeof pool->bytes);
        pool->used = 0;
    }
    memcpy(bytes, pool->bytes + pool->used, count);
    pool->used += count;
}

struct slice server_loop_date(struct server_loop *home)
{
    assert(loop_is_mine(home->loop));
    int64_t wall_ms = clock_wall_ms(home->options->clock);
    if (wall_ms / 1000 != home->date_second) {
        home->date_second = wall_ms / 1000;
        http_date(wall_ms, home->date);
    }
    return slice_from(home->date, HTTP_DATE_BYTES - 1);
}

void server_loop_mark_dirty(struct server_loop *home, struct connection *connection)
{
    assert(loop_is_mine(home->loop));
    if (!connection->dirty) {
        connection->dirty = true;
        connection->dirty_next = home->dirty;
        home->dirty = connection;
    }
}

static void on_flush(uv_prepare_t *flusher)
{
    struct server_loop *home = flusher->data;
    if (!home->dirty) {
        return;
    }
    home->now_ms = clock_steady_ms(home->options->clock);
    while (home->dirty) {
        struct connection *connection = home->dirty;
        home->dirty = connection->dirty_next;
        connection->dirty = false;
        connection_flush(connection);
    }
}

/* Each list is in the order in which its deadlines began, but a body that keeps coming may be granted more time. */
static void sweep(struct server_loop *home, enum connection_wait wait)
{
    struct connection *connection = home->waiting[wait].first;
    while (connection) {
        struct connection *next = connection->next;
        if (connection_deadline_ms(connection) <= home->now_ms) {
            connection_expire(connection);
        } else if (wait != WAIT_BODY) {
            break;
        }
        connection = next;
    }
}

static void cut_everything(struct server_loop *home)
{
    for (int wait = 0; wait < WAIT_KIND_COUNT; wait++) {
        while (home->waiting[wait].first) {
            connection_close(home->waiting[wait].first);
        }
    }
}

static void on_sweep(uv_timer_t *sweeper)
{
    struct server_loop *home = sweeper->data;
    home->now_ms = clock_steady_ms(home->options->clock);
    for (int wait = WAIT_IDLE; wait < WAIT_KIND_COUNT; wait++) {
        sweep(home, (enum connection_wait)wait);
    }
    if (home->draining && home->now_ms >= home->cut_at_ms) {
        cut_everything(home);
    }
}

static int64_t sweep_interval_ms(const struct server_limits *limits)
{
    const int64_t timeouts_ms[] = {limits->header_timeout_ms, limits->body_timeout_ms, limits->idle_timeout_ms,
                                   limits->write_timeout_ms};
    int64_t interval_ms = SWEEP_MS_MAX;
    for (size_t i = 0; i < sizeof timeouts_ms / sizeof timeouts_ms[0]; i++) {
        if (timeouts_ms[i] > 0 && timeouts_ms[i] / 4 < interval_ms) {
            interval_ms = timeouts_ms[i] / 4;
        }
    }
    return interval_ms < SWEEP_MS_MIN ? SWEEP_MS_MIN : interval_ms;
}

static void on_open(struct loop_message *message)
{
    struct server_loop *home = (struct server_loop *)((char *)message - offsetof(struct server_loop, open_message));
    uv_loop_t *uv = loop_uv(home->loop);
    uint64_t interval_ms = (uint64_t)sweep_interval_ms(&home->options->limits);
    home->flusher.data = home->sweeper.data = home;
    uv_prepare_init(uv, &home->flusher);
    uv_prepare_start(&home->flusher, on_flush);
    uv_timer_init(uv, &home->sweeper);
    uv_timer_start(&home->sweeper, on_sweep, interval_ms, interval_ms);
    home->handles_open = 2;
}

void server_loop_init(struct server_loop *home, struct server *server, const struct server_options *options,
                      struct loop *loop)
{
    memset(home, 0, offsetof(struct server_loop, read_bytes));
    home->server = server;
    home->options = options;
    home->loop = loop;
    home->now_ms = clock_steady_ms(options->clock);
    home->ids.source.fill = pool_fill;
    home->ids.from = options->ids;
    home->ids.used = sizeof home->ids.bytes;
    home->date_second = -1;
    home->open_message.run = on_open;
    loop_post(loop, &home->open_message);
}

void server_loop_release(struct server_loop *home)
{
    while (home->spare) {
        struct exchange *exchange = home->spare;
        home->spare = exchange->next;
        arena_release(&exchange->arena);
        buffer_release(&exchange->body);
        free(exchange);
    }
    buffer_release(&home->scratch);
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct server_loop *home = handle->data;
    if (--home->handles_open == 0) {
        server_loop_drained(home);
    }
}

void server_loop_check_drained(struct server_loop *home)
{
    assert(loop_is_mine(home->loop));
    if (!home->draining || home->connection_count > 0 || uv_is_closing((uv_handle_t *)&home->sweeper)) {
        return;
    }
    uv_close((uv_handle_t *)&home->flusher, on_handle_closed);
    uv_close((uv_handle_t *)&home->sweeper, on_handle_closed);
}

/* Those of which no byte of a request has come. */
static void close_quiet(struct server_loop *home, enum connection_wait wait)
{
    struct connection *connection = home->waiting[wait].first;
    while (connection) {
        struct connection *next = connection->next;
        if (!connection->input) {
            connection_close(connection);
        }
        connection = next;
    }
}

void server_loop_drain(struct server_loop *home, int64_t timeout_ms)
{
    assert(loop_is_mine(home->loop));
    home->now_ms = clock_steady_ms(home->options->clock);
    home->draining = true;
    home->cut_at_ms = home->now_ms + timeout_ms;
    if (!uv_is_closing((uv_handle_t *)&home->sweeper)) {
        uv_timer_start(&home->sweeper, on_sweep, SWEEP_DRAINING_MS, SWEEP_DRAINING_MS);
    }
    close_quiet(home, WAIT_IDLE);
    close_quiet(home, WAIT_HEAD);
    for (struct connection *busy = home->waiting[WAIT_NOTHING].first; busy; busy = busy->next) {
        if (busy->in_flight > 0) {
            connection_take_no_more(busy);
        }
    }
    if (timeout_ms <= 0) {
        cut_everything(home);
    }
    server_loop_check_drained(home);
}
