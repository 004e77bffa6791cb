/* Several loops, readers and publishers at once; viewers that come, go and read at random. Every viewer must see each
 * event exactly once and in order, whatever happens. SOJOURN_SEED repeats the same choices. */
#include <time.h>

#include "fakes.h"
#include "doors/native/frame_encoders.h"
#include "fanout/hub.h"

enum { LOOPS = 2, READERS = 2, PUBLISHERS = 2, SESSIONS = 4, SOCKETS = 40, ROUNDS = 4000, MEANINGS = 1 << 14 };

static struct fanout *fanout;
static struct loop *loops[LOOPS];
static struct work_queue *jobs;
static uint64_t seed;

/* --- chance --- */

static uint64_t chance(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static bool one_in(uint64_t *state, uint64_t n)
{
    return chance(state) % n == 0;
}

static uint64_t chance_start(uint64_t who)
{
    return (seed ^ (who + 1) * UINT64_C(0x9E3779B97F4A7C15)) | 1;
}

/* --- what a delta's number means must be the same for everybody --- */

static struct meaning {
    int64_t session_key, sequence, delta, text;
} meanings[MEANINGS];
static pthread_mutex_t meanings_mutex = PTHREAD_MUTEX_INITIALIZER;

static void check_meaning(int64_t session_key, int64_t sequence, int64_t delta, int64_t text)
{
    struct meaning *slot = &meanings[(uint64_t)(session_key * 7919 + sequence * 104729 + delta) % MEANINGS];
    pthread_mutex_lock(&meanings_mutex);
    bool known = slot->session_key == session_key && slot->sequence == sequence && slot->delta == delta;
    if (known && slot->text != text) {
        fprintf(stderr, "delta %d of event %d means two things\n", (int)delta, (int)sequence);
        abort();
    }
    *slot = (struct meaning){session_key, sequence, delta, text};
    pthread_mutex_unlock(&meanings_mutex);
}

/* --- sockets: used on their loop's thread only --- */

struct socket {
    struct viewer *viewer;
    struct buffer got; /* of the frame that is not complete yet */
    size_t room;
    int64_t session_key; /* 0 = firehose */
    struct cursor at;
    const struct encoder *encoder;
    bool blocked;
    bool ready;
    bool ended;
    int64_t events, deltas, snapshots, slows;
};

static struct socket sockets[LOOPS][SOCKETS];

static void wrong(const struct socket *socket, const char *what, struct slice frame)
{
    fprintf(stderr, "seed %llu: session %d at %d.%d: %s: %.*s\n", (unsigned long long)seed, (int)socket->session_key,
            (int)socket->at.sequence, (int)socket->at.delta, what, SLICE_ARG(frame));
    abort();
}

static int64_t number_after(struct slice frame, const char *mark)
{
    const char *at = memmem(frame.ptr, frame.len, mark, strlen(mark));
    return at ? strtoll(at + strlen(mark), NULL, 10) : -1;
}

static bool has(struct slice frame, const char *text)
{
    return memmem(frame.ptr, frame.len, text, strlen(text));
}

static void check_event(struct socket *socket, struct slice frame, const char *id_mark)
{
    int64_t id = number_after(frame, id_mark);
    if (id != socket->at.sequence + 1) {
        wrong(socket, "wrong event", frame);
    }
    socket->at = (struct cursor){id, 0};
    socket->events++;
}

static void check_delta(struct socket *socket, struct slice frame, const char *id_mark)
{
    char *end;
    const char *at = memmem(frame.ptr, frame.len, id_mark, strlen(id_mark));
    int64_t sequence = strtoll(at + strlen(id_mark), &end, 10);
    int64_t delta = strtoll(end + 1, NULL, 10);
    if (sequence != socket->at.sequence || delta != socket->at.delta + 1) {
        wrong(socket, "wrong delta", frame);
    }
    check_meaning(socket->session_key, sequence, delta, number_after(frame, "\"text\":\"<"));
    socket->at.delta = delta;
    socket->deltas++;
}

static void check_snapshot(struct socket *socket, struct slice frame)
{
    char *end;
    const char *at = memmem(frame.ptr, frame.len, "\"cursor\":\"", 10);
    int64_t sequence = strtoll(at + 10, &end, 10);
    if (sequence != socket->at.sequence) {
        wrong(socket, "wrong snapshot", frame);
    }
    socket->at.delta = *end == '.' ? strtoll(end + 1, NULL, 10) : 0;
    socket->snapshots++;
}

static void check_text(struct socket *socket, struct slice frame)
{
    bool sse = socket->encoder == &encoder_sse;
    const char *id_mark = sse ? "id: " : "\"id\":\"";
    if (has(frame, sse ? "event: ready" : "\"type\":\"ready\"")) {
        if (socket->ready) {
            wrong(socket, "ready twice", frame);
        }
        socket->ready = true;
    } else if (!socket->ready) {
        wrong(socket, "not ready yet", frame);
    } else if (has(frame, sse ? "event: event" : "{\"type\":\"event\"")) {
        check_event(socket, frame, id_mark);
    } else if (has(frame, sse ? "event: delta" : "{\"type\":\"delta\"")) {
        check_delta(socket, frame, id_mark);
    } else if (has(frame, sse ? "event: snapshot" : "{\"type\":\"snapshot\"")) {
        check_snapshot(socket, frame);
    } else if (has(frame, sse ? "event: slow" : "{\"type\":\"slow\"")) {
        socket->slows++;
    } else if (!has(frame, "ping") && !has(frame, "closed")) {
        wrong(socket, "unexpected frame", frame);
    }
}

/* A copy that ends with a zero byte: numbers are read with strtoll. */
static void check_frame(struct socket *socket, struct slice frame)
{
    struct arena arena = {0};
    check_text(socket, arena_copy(&arena, frame));
    arena_release(&arena);
}

/* The length of the first complete frame, 0 when there is none. */
static size_t frame_length(struct slice bytes, const struct encoder *encoder, size_t *out_head)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    *out_head = 0;
    if (encoder == &encoder_sse) {
        const char *end = memmem(bytes.ptr, bytes.len, "\n\n", 2);
        return end ? (size_t)(end - bytes.ptr) + 2 : 0;
    }
    if (bytes.len < 4) {
        return 0;
    }
    size_t len = at[1] < 126 ? at[1] : (size_t)at[2] << 8 | at[3];
    *out_head = at[1] < 126 ? 2 : 4;
    if (at[1] == 127) {
        abort();
    }
    return bytes.len >= *out_head + len ? *out_head + len : 0;
}

static size_t socket_write(void *owner, struct slice bytes)
{
    struct socket *socket = owner;
    size_t taken = bytes.len < socket->room ? bytes.len : socket->room, head, len;
    if (socket->blocked || socket->ended) {
        wrong(socket, "written to although full or ended", bytes);
    }
    socket->room -= taken;
    socket->blocked = taken < bytes.len;
    buffer_add(&socket->got, slice_from(bytes.ptr, taken));
    while ((len = frame_length(buffer_slice(&socket->got), socket->encoder, &head)) > 0) {
        check_frame(socket, slice_from(socket->got.ptr + head, len - head));
        buffer_consume(&socket->got, len);
    }
    return taken;
}

static void socket_end(void *owner, int code)
{
    (void)code;
    ((struct socket *)owner)->ended = true;
}

static void socket_open(struct socket *socket, struct loop *loop, uint64_t *luck)
{
    int64_t session_key = (int64_t)(chance(luck) % (SESSIONS + 1));
    pthread_mutex_lock(&fake.mutex);
    int64_t end = session_key ? fake.ends[session_key] : fake.count;
    pthread_mutex_unlock(&fake.mutex);
    int64_t after = !one_in(luck, 3) ? end : (int64_t)(chance(luck) % (uint64_t)(end + 1));
    *socket = (struct socket){.session_key = session_key,
                              .at = {after, 0},
                              .room = chance(luck) % 20000,
                              .encoder = one_in(luck, 3) ? &encoder_websocket : &encoder_sse};
    struct viewer_options options = {.encoder = socket->encoder,
                                     .sink = {.owner = socket, .write = socket_write, .end = socket_end},
                                     .tenant_key = FAKE_TENANT,
                                     .user_id = SLICE("ann"),
                                     .session_key = session_key,
                                     .session_id = SLICE("s"),
                                     .after = {after, 0},
                                     .position = {after, 0},
                                     .sees_all = true,
                                     .deltas = true};
    struct failure failure;
    if (viewer_open(fanout, loop, &options, &socket->viewer, &failure) != STATUS_OK) {
        abort();
    }
    viewer_writable(socket->viewer);
}

static void socket_close(struct socket *socket)
{
    viewer_closed(socket->viewer);
    buffer_release(&socket->got);
    socket->viewer = NULL;
}

static void socket_drain(struct socket *socket, size_t room)
{
    socket->room = room;
    if (socket->blocked) {
        socket->blocked = false;
        viewer_writable(socket->viewer);
    }
}

/* --- what happens on a loop --- */

struct turn {
    struct loop_message message;
    int loop;
    uint64_t luck;
};

static atomic_bool publishers_done;
static atomic_int turns_running;

static void act(struct turn *turn)
{
    struct socket *socket = &sockets[turn->loop][chance(&turn->luck) % SOCKETS];
    struct hub *hub = &fanout->hubs[turn->loop];
    if (!socket->viewer) {
        socket_open(socket, loops[turn->loop], &turn->luck);
    } else if (one_in(&turn->luck, 60)) {
        socket_close(socket);
    } else {
        socket_drain(socket, one_in(&turn->luck, 30) ? 20000 : chance(&turn->luck) % 600);
    }
    if (one_in(&turn->luck, 20)) {
        hub_beat(hub);
    }
    if (turn->loop == 0 && one_in(&turn->luck, 10)) {
        hub_flush(hub);
    }
}

static void on_turn(struct loop_message *message)
{
    struct turn *turn = (struct turn *)message;
    act(turn);
    if (!atomic_load(&publishers_done)) {
        loop_post(loops[turn->loop], &turn->message);
    } else {
        atomic_fetch_sub(&turns_running, 1);
    }
}

/* --- publishers: each has its own sessions --- */

static void maybe_publish(int64_t session_key, int64_t from, int64_t until, uint64_t *luck)
{
    if (one_in(luck, 20)) {
        fanout_refresh(fanout, FAKE_TENANT, session_key);
        return;
    }
    publish_range(fanout, session_key, from, until);
    if (one_in(luck, 20)) {
        publish_range(fanout, session_key, from, until);
    }
}

static void *publisher_main(void *argument)
{
    int64_t first = (int64_t)(intptr_t)argument;
    uint64_t luck = chance_start(100 + (uint64_t)first);
    int64_t late_session = 0, late_from = 0, late_until = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t session_key = one_in(&luck, 2) ? first : first + PUBLISHERS;
        int64_t from = 0, until = 0, count = 1 + (int64_t)(chance(&luck) % 3);
        for (int64_t k = 0; k < count; k++) {
            until = fake_append(session_key, "agent.message", NULL, (int64_t)(chance(&luck) % 300));
            from = from ? from : until;
        }
        if (late_session) {
            publish_range(fanout, session_key, from, until);
            publish_range(fanout, late_session, late_from, late_until);
            late_session = 0;
        } else if (one_in(&luck, 15)) {
            late_session = session_key, late_from = from, late_until = until;
        } else {
            maybe_publish(session_key, from, until, &luck);
        }
        for (uint64_t k = chance(&luck) % 6; k > 0; k--) {
            char json[128];
            snprintf(json, sizeof json, "{\"kind\":\"text\",\"text\":\"<%u>\"}", (unsigned)(chance(&luck) % 1000000));
            publish_delta(fanout, session_key, until, 0, json);
        }
        if (one_in(&luck, 2)) {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* lets readers get ahead sometimes */
        }
    }
    fanout_refresh(fanout, FAKE_TENANT, 0);
    return NULL;
}

/* --- readers --- */

static bool submit(void *owner, struct read_job *job)
{
    (void)owner;
    return work_queue_push(jobs, &job->work);
}

static void *reader_main(void *argument)
{
    (void)argument;
    for (struct queue_item *item; (item = work_queue_take(jobs, 1, -1));) {
        struct read_job *job = (struct read_job *)item;
        job->run(job, NULL);
    }
    return NULL;
}

/* --- the end: everybody reads everything --- */

struct check {
    struct loop_message message;
    int loop;
    atomic_int behind; /* -1 = not looked yet */
};

static int64_t end_of(const struct socket *socket)
{
    return socket->session_key ? fake.ends[socket->session_key] : fake.count;
}

static void on_check(struct loop_message *message)
{
    struct check *check = (struct check *)message;
    int behind = 0;
    for (int i = 0; i < SOCKETS; i++) {
        struct socket *socket = &sockets[check->loop][i];
        if (socket->viewer) {
            socket_drain(socket, SIZE_MAX);
            behind += socket->at.sequence != end_of(socket);
        }
    }
    atomic_store(&check->behind, behind);
}

static int count_behind(void)
{
    struct check checks[LOOPS];
    int behind = 0;
    for (int i = 0; i < LOOPS; i++) {
        checks[i] = (struct check){.message = {.run = on_check}, .loop = i};
        atomic_store(&checks[i].behind, -1);
        loop_post(loops[i], &checks[i].message);
    }
    for (int i = 0; i < LOOPS; i++) {
        while (atomic_load(&checks[i].behind) < 0) {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        }
        behind += atomic_load(&checks[i].behind);
    }
    return behind;
}

static void start_turns(struct turn turns[LOOPS])
{
    atomic_store(&turns_running, LOOPS);
    for (int i = 0; i < LOOPS; i++) {
        turns[i] = (struct turn){{.run = on_turn}, i, chance_start((uint64_t)i)};
        loop_start(loops[i]);
        loop_post(loops[i], &turns[i].message);
    }
}

static void wait_until_all_have_all(struct clock *clock)
{
    int64_t deadline = clock_steady_ms(clock) + 60000;
    while (atomic_load(&turns_running) > 0 || count_behind() > 0) {
        if (clock_steady_ms(clock) > deadline) {
            fail_msg("seed %llu: %d viewers never saw the end", (unsigned long long)seed, count_behind());
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void report(void)
{
    int64_t events = 0, deltas = 0, snapshots = 0, slows = 0;
    for (int i = 0; i < LOOPS * SOCKETS; i++) {
        const struct socket *socket = &sockets[i / SOCKETS][i % SOCKETS];
        events += socket->events, deltas += socket->deltas, snapshots += socket->snapshots, slows += socket->slows;
    }
    struct fanout_stats figures;
    fanout_figures_read(fanout, &figures);
    print_message("last viewers: %lld events, %lld deltas, %lld snapshots, %lld slow; in all %lld slow, %lld pages\n",
                  (long long)events, (long long)deltas, (long long)snapshots, (long long)slows,
                  (long long)figures.slow_total, (long long)figures.store_pages);
    assert_true(events > 0);
}

static void everybody_sees_everything_once(void **state)
{
    (void)state;
    struct clock clock;
    clock_init_system(&clock);
    const char *given = getenv("SOJOURN_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)clock_wall_ms(&clock);
    print_message("SOJOURN_SEED=%llu\n", (unsigned long long)seed);
    jobs = work_queue_new(0);
    for (int i = 0; i < LOOPS; i++) {
        loops[i] = loop_new(i);
    }
    for (int64_t session_key = 1; session_key <= SESSIONS; session_key++) {
        fake_append(session_key, "session.created", NULL, 0);
    }
    struct fanout_options options = {.clock = &clock,
                                     .rights = &fake_rights,
                                     .heartbeat_ms = 15000,
                                     .partial_flush_ms = 1000,
                                     .tail_bytes_max = 8192,
                                     .window_bytes_max = 700,
                                     .page_events = 20,
                                     .viewers_max = 1000,
                                     .submit_read = submit,
                                     .save_partial = fake_save_partial};
    fanout = fanout_new(&options, loops, LOOPS);
    struct turn turns[LOOPS];
    pthread_t readers[READERS], publishers[PUBLISHERS];
    start_turns(turns);
    for (int i = 0; i < READERS; i++) {
        pthread_create(&readers[i], NULL, reader_main, NULL);
    }
    for (int i = 0; i < PUBLISHERS; i++) {
        pthread_create(&publishers[i], NULL, publisher_main, (void *)(intptr_t)(i + 1));
    }
    for (int i = 0; i < PUBLISHERS; i++) {
        pthread_join(publishers[i], NULL);
    }
    atomic_store(&publishers_done, true);
    wait_until_all_have_all(&clock);
    report();
    fanout_close_all(fanout, "server_stopping");
    count_behind(); /* the closing has run on every loop */
    work_queue_close(jobs);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i], NULL);
    }
    for (int i = 0; i < LOOPS; i++) {
        loop_stop(loops[i]);
        loop_join(loops[i]);
        for (int k = 0; k < SOCKETS; k++) {
            buffer_release(&sockets[i][k].got);
        }
        uv_run(loop_uv(loops[i]), UV_RUN_NOWAIT);
    }
    fanout_free(fanout);
    for (int i = 0; i < LOOPS; i++) {
        loop_free(loops[i]);
    }
    work_queue_free(jobs);
    fake_reset();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_sees_everything_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
