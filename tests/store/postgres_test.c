/* What only the PostgreSQL engine does: pipelines, gathered rows, guards, lost connections, notifications. Needs an
 * empty database: store_postgres postgres://… */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "store/engine.h"
#include "store/postgres/connection.h"
#include "store/store.h"

enum { TENANT = 7 };

static const char *url;
static int sessions_made;

/* --- the little of the store these tests need --- */

static struct db *open_db(bool read_only)
{
    struct db_options options = {.engine = DB_POSTGRES, .url = url, .read_only = read_only, .busy_ms = 5000};
    struct failure failure = {0};
    struct db *db = NULL;
    if (db_open(&options, &db, &failure) != STATUS_OK) {
        fail_msg("%s: %s", failure.code, failure.detail);
    }
    return db;
}

static void expect_ok(enum status status, const struct failure *failure)
{
    if (status != STATUS_OK) {
        fail_msg("%s %s: %s", status_name(status), failure->code, failure->detail);
    }
}

static void begin(struct db *db)
{
    struct failure failure = {0};
    expect_ok(db_begin(db, &failure), &failure);
}

static void commit(struct db *db)
{
    struct failure failure = {0};
    expect_ok(db_commit(db, &failure), &failure);
}

static int64_t new_session(struct db *db)
{
    struct failure failure = {0};
    char id[32];
    snprintf(id, sizeof id, "session-%d", ++sessions_made);
    struct session session = {.tenant_key = TENANT, .id = slice_of(id)};
    begin(db);
    expect_ok(store_session_insert(db, &session, &failure), &failure);
    commit(db);
    return session.key;
}

static enum status touch(struct db *db, int64_t session, int64_t from, int64_t to, struct failure *failure)
{
    struct session row = {.key = session,
                          .tenant_key = TENANT,
                          .last_sequence = to,
                          .message_count = to * 10,
                          .tool_call_count = to * 10 + 1,
                          .turn_count = to * 10 + 2,
                          .updated_at_ms = to * 10 + 3,
                          .last_active_at_ms = to * 10 + 4,
                          .preview = "preview"};
    struct query query;
    query_start(&query, db, sql_session_touch(.session = &row, .old_sequence = from));
    enum status status = query_run_guarded(&query, failure);
    query_end(&query);
    return status;
}

static enum status event_insert(struct db *db, int64_t session, int64_t sequence, struct slice content,
                                struct failure *failure)
{
    struct event event = {.sequence = sequence,
                          .at_ms = 1700000000000 + sequence,
                          .custom = SLICE("test.event"),
                          .role = ROLE_AGENT,
                          .content = content,
                          .metadata = SLICE(""),
                          .actor = SLICE("user:ü")};
    return db->vtable->event_insert(db, TENANT, session, &event, failure);
}

static void append(struct db *db, int64_t session, int64_t sequence)
{
    struct failure failure = {0};
    expect_ok(event_insert(db, session, sequence, SLICE("[1]"), &failure), &failure);
    expect_ok(touch(db, session, sequence - 1, sequence, &failure), &failure);
}

static const struct slice none = {0};

static int64_t count_events(struct db *db, int64_t session)
{
    struct failure failure = {0};
    struct query query;
    bool row = true;
    int64_t count = -1;
    query_start(&query, db,
                sql_event_read(SQL_EVENT_READ, .tenant_key = TENANT, .session_key = session, .after = 0,
                               .before = INT64_MAX, .limit = 100000, .types = none, .prefixes = none, .audited = none,
                               .thread_id = none));
    while (row) {
        expect_ok(query_step(&query, &row, &failure), &failure);
        count++;
        assert_true(!row || query_i64(&query, 0) == count + 1);
    }
    query_end(&query);
    return count;
}

static int64_t number(const char *sql)
{
    PGconn *connection = PQconnectdb(url);
    PGresult *result = PQexec(connection, sql);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    int64_t value = PQntuples(result) ? atoll(PQgetvalue(result, 0, 0)) : -1;
    PQclear(result);
    PQfinish(connection);
    return value;
}

static int64_t last_sequence(int64_t session)
{
    char sql[160];
    snprintf(sql, sizeof sql, "select last_sequence from session_activity where session_key = %lld",
             (long long)session);
    return number(sql);
}

#define KILL_ALL(how)                                                                                                  \
    "select count(pg_terminate_backend(" how ")) from pg_stat_activity"                                                \
    " where application_name like 'sojourn%' and datname = current_database()"

static void kill_backends(void)
{
    number(KILL_ALL("pid, 5000"));
}

/* --- statements and transactions --- */

static void values_survive_the_round_trip(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false), *reader = open_db(true);
    int64_t session = new_session(db);
    begin(db);
    expect_ok(event_insert(db, session, 1, (struct slice){0}, &failure), &failure);
    expect_ok(event_insert(db, session, 2, SLICE("[\"\\u0000 \xf0\x9f\x90\x98\"]"), &failure), &failure);
    commit(db);
    struct query query;
    bool row;
    query_start(&query, reader,
                sql_event_read(SQL_EVENT_READ, .tenant_key = TENANT, .session_key = session, .after = 0,
                               .before = INT64_MAX, .limit = 10, .types = none, .prefixes = none, .audited = none,
                               .thread_id = none));
    expect_ok(query_step(&query, &row, &failure), &failure);
    assert_false(slice_present(query_text(&query, 4)));
    assert_true(slice_present(query_text(&query, 5)));
    assert_int_equal(query_text(&query, 5).len, 0);
    assert_int_equal(query_i64(&query, 1), 1700000000001);
    assert_true(slice_is(query_text(&query, 8), "user:ü"));
    expect_ok(query_step(&query, &row, &failure), &failure);
    assert_true(slice_is(query_text(&query, 4), "[\"\\u0000 \xf0\x9f\x90\x98\"]"));
    query_end(&query);
    db_close(db);
    db_close(reader);
}

static void a_question_sees_what_was_gathered(void **state)
{
    (void)state;
    struct db *db = open_db(false);
    int64_t session = new_session(db);
    begin(db);
    append(db, session, 1);
    append(db, session, 2);
    assert_int_equal(count_events(db, session), 2);
    append(db, session, 3);
    db_rollback(db);
    assert_int_equal(count_events(db, session), 0);
    assert_int_equal(last_sequence(session), 0);
    db_close(db);
}

static void many_updates_of_one_row_become_one(void **state)
{
    (void)state;
    struct db *db = open_db(false);
    int64_t a = new_session(db), b = new_session(db);
    begin(db);
    for (int64_t i = 1; i <= 5000; i++) { /* more rows than are gathered at once */
        append(db, a, i);
        append(db, b, i);
    }
    commit(db);
    assert_int_equal(last_sequence(a), 5000);
    assert_int_equal(last_sequence(b), 5000);
    assert_int_equal(count_events(db, a), 5000);
    db_close(db);
}

static void a_stale_row_stops_the_whole_group(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    int64_t a = new_session(db), b = new_session(db);
    begin(db);
    append(db, a, 1);
    expect_ok(event_insert(db, b, 5, SLICE("[]"), &failure), &failure);
    expect_ok(touch(db, b, 4, 5, &failure), &failure); /* the row is at 0 */
    assert_int_equal(db_commit(db, &failure), STATUS_STALE);
    assert_string_equal(failure.code, "stale_row");
    assert_int_equal(count_events(db, a), 0);
    assert_int_equal(count_events(db, b), 0);
    begin(db);
    append(db, a, 1);
    commit(db);
    assert_int_equal(count_events(db, a), 1);
    db_close(db);
}

static void a_gap_between_two_updates_is_stale(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    int64_t session = new_session(db);
    begin(db);
    expect_ok(touch(db, session, 0, 1, &failure), &failure);
    assert_int_equal(touch(db, session, 0, 1, &failure), STATUS_STALE);
    assert_int_equal(db_commit(db, &failure), STATUS_STALE);
    assert_int_equal(last_sequence(session), 0);
    db_close(db);
}

static void a_sequence_taken_by_another_node_is_stale(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false), *other = open_db(false);
    int64_t session = new_session(db);
    begin(other);
    append(other, session, 1);
    begin(db);
    append(db, session, 1);
    commit(other);
    assert_int_equal(db_commit(db, &failure), STATUS_STALE);
    assert_int_equal(count_events(db, session), 1);
    db_close(db);
    db_close(other);
}

static enum status label_insert(struct db *db, int64_t session, int64_t *out_changed, struct failure *failure)
{
    struct query query;
    query_start(&query, db,
                sql_label_insert(.tenant_key = TENANT, .name = SLICE("name"), .value = SLICE("value"),
                                 .listed_at_ms = 1, .session_key = session));
    enum status status = query_run(&query, out_changed, failure);
    query_end(&query);
    return status;
}

static void a_key_that_exists_is_a_conflict_and_the_group_goes_on(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    int64_t session = new_session(db), changed = 0;
    begin(db);
    append(db, session, 1);
    expect_ok(label_insert(db, session, &changed, &failure), &failure);
    assert_int_equal(changed, 1);
    assert_int_equal(label_insert(db, session, &changed, &failure), STATUS_CONFLICT);
    append(db, session, 2);
    commit(db);
    assert_int_equal(count_events(db, session), 2);
    db_close(db);
}

static void a_deferred_key_that_exists_is_stale_at_the_next_question(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    int64_t session = new_session(db), changed;
    begin(db);
    append(db, session, 1);
    expect_ok(label_insert(db, session, NULL, &failure), &failure);
    expect_ok(label_insert(db, session, NULL, &failure), &failure);
    assert_int_equal(label_insert(db, session, &changed, &failure), STATUS_STALE);
    assert_int_equal(event_insert(db, session, 2, SLICE("[]"), &failure), STATUS_STALE);
    assert_int_equal(db_commit(db, &failure), STATUS_STALE);
    assert_int_equal(count_events(db, session), 0);
    db_close(db);
}

static void a_reader_keeps_its_view(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false), *reader = open_db(true);
    int64_t session = new_session(db);
    expect_ok(db_begin_read(reader, &failure), &failure);
    assert_int_equal(count_events(reader, session), 0);
    begin(db);
    append(db, session, 1);
    commit(db);
    assert_int_equal(count_events(reader, session), 0);
    expect_ok(db_end_read(reader, &failure), &failure);
    assert_int_equal(count_events(reader, session), 1);
    db_close(db);
    db_close(reader);
}

static void the_same_event_of_another_node_proves_nothing(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false), *other = open_db(false);
    int64_t session = new_session(db), only = new_session(db);
    begin(other);
    append(other, session, 1);
    commit(other);
    begin(db);
    append(db, session, 1);
    append(db, only, 1);
    shutdown(PQsocket(((struct postgres *)db)->connection), SHUT_RDWR);
    assert_int_equal(db_commit(db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "storage_failed");
    assert_int_equal(count_events(db, only), 0);
    db_close(db);
    db_close(other);
}

static void a_new_session_that_was_not_written_is_known_not_to_be(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    struct session session = {.tenant_key = TENANT, .id = SLICE("never")};
    begin(db);
    expect_ok(store_session_insert(db, &session, &failure), &failure);
    append(db, session.key, 1);
    shutdown(PQsocket(((struct postgres *)db)->connection), SHUT_RDWR);
    assert_int_equal(db_commit(db, &failure), STATUS_UNAVAILABLE);
    assert_string_equal(failure.code, "storage_failed");
    db_close(db);
}

/* --- the firehose --- */

struct told {
    char text[128];
};

static void write_down(struct told *told, int64_t session, int64_t sequence)
{
    size_t used = strlen(told->text);
    snprintf(told->text + used, sizeof told->text - used, "%lld/%lld ", (long long)session, (long long)sequence);
}

static bool tell(void *owner, const struct firehose_row *row)
{
    struct told *told = owner;
    write_down(told, row->session_key, row->event->sequence);
    return true;
}

static struct position firehose_end(struct db *db)
{
    struct failure failure = {0};
    struct position end;
    expect_ok(store_firehose_end(db, TENANT, INT64_MAX, &end, &failure), &failure);
    return end;
}

static void expect_told(struct db *db, struct position after, const int64_t (*events)[2], size_t count)
{
    struct failure failure = {0};
    struct told told = {0}, expected = {0};
    int64_t horizon;
    for (size_t i = 0; i < count; i++) {
        write_down(&expected, events[i][0], events[i][1]);
    }
    expect_ok(store_firehose_horizon(db, &horizon, &failure), &failure);
    expect_ok(store_firehose_read(db, TENANT, after, horizon, 100, tell, &told, &failure), &failure);
    assert_string_equal(told.text, expected.text);
}

static void a_session_written_by_two_nodes_is_told_in_its_order(void **state)
{
    (void)state;
    struct db *db = open_db(false), *other = open_db(false);
    int64_t early = new_session(db), shared = new_session(db);
    struct position start = firehose_end(db);
    begin(db);
    append(db, early, 1);
    assert_int_equal(count_events(db, early), 1); /* the transaction has its number now */
    begin(other);
    append(other, shared, 1);
    commit(other);
    append(db, shared, 2);
    commit(db);
    expect_told(db, start, (const int64_t[][2]){{early, 1}, {shared, 1}, {shared, 2}}, 3);
    db_close(db);
    db_close(other);
}

static void nothing_is_told_behind_what_is_still_being_written(void **state)
{
    (void)state;
    struct db *db = open_db(false), *other = open_db(false);
    int64_t slow = new_session(db), quick = new_session(db);
    struct position start = firehose_end(db);
    begin(db);
    append(db, slow, 1);
    assert_int_equal(count_events(db, slow), 1);
    begin(other);
    append(other, quick, 1);
    commit(other);
    expect_told(other, start, NULL, 0);
    commit(db);
    expect_told(other, start, (const int64_t[][2]){{slow, 1}, {quick, 1}}, 2);
    db_close(db);
    db_close(other);
}

static void the_firehose_waits_for_no_stranger(void **state)
{
    (void)state;
    struct db *db = open_db(false);
    int64_t session = new_session(db);
    struct position start = firehose_end(db);
    PGconn *stranger = PQconnectdb(url);
    PQclear(PQexec(stranger, "begin; select pg_current_xact_id()"));
    begin(db);
    append(db, session, 1);
    commit(db);
    expect_told(db, start, (const int64_t[][2]){{session, 1}}, 1);
    PQfinish(stranger);
    db_close(db);
}

static void empty_transactions_cost_nothing(void **state)
{
    (void)state;
    struct db *db = open_db(false);
    begin(db);
    commit(db);
    begin(db);
    db_rollback(db);
    begin(db);
    db_rollback(db);
    new_session(db);
    db_close(db);
}

/* --- lost connections --- */

static void a_lost_connection_fails_the_group_and_the_next_one_works(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db *db = open_db(false);
    int64_t session = new_session(db);
    begin(db);
    append(db, session, 1);
    assert_int_equal(count_events(db, session), 1);
    append(db, session, 2);
    kill_backends();
    assert_int_equal(db_commit(db, &failure), STATUS_UNAVAILABLE);
    begin(db);
    append(db, session, 1);
    commit(db);
    assert_int_equal(count_events(db, session), 1);
    kill_backends(); /* while idle: the next begin notices */
    begin(db);
    append(db, session, 2);
    commit(db);
    kill_backends();
    assert_int_equal(count_events(db, session), 2); /* a question of its own notices too */
    db_close(db);
}

enum { ROUNDS = 400, GROUP = 8 };
static atomic_bool writing;
static atomic_long acknowledged;

/* Kills a little after a few more groups were acknowledged: in the middle of whatever runs then. */
static void *killer_main(void *arg)
{
    (void)arg;
    unsigned seed = 5;
    PGconn *connection = PQconnectdb(url);
    while (writing) {
        long due = acknowledged + rand_r(&seed) % 4;
        while (writing && acknowledged < due) {
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        }
        nanosleep(&(struct timespec){.tv_nsec = rand_r(&seed) % 3000 * 1000L}, NULL);
        PQclear(PQexec(connection, KILL_ALL("pid")));
    }
    PQfinish(connection);
    return NULL;
}

/* One group: the next event of each session. Returns what commit said; the sequences move only by what is in the
 * database when the outcome is unknown. */
static enum status group_append(struct db *db, const int64_t *sessions, const int64_t *sequences,
                                struct failure *failure)
{
    enum status status = db_begin(db, failure);
    for (int i = 0; i < GROUP && status == STATUS_OK; i++) {
        status = event_insert(db, sessions[i], sequences[i] + 1, SLICE("[]"), failure);
        if (status == STATUS_OK) {
            status = touch(db, sessions[i], sequences[i], sequences[i] + 1, failure);
        }
    }
    if (status == STATUS_OK) {
        return db_commit(db, failure);
    }
    db_rollback(db);
    return status;
}

static void killing_at_random_loses_nothing_and_halves_nothing(void **state)
{
    (void)state;
    int64_t sessions[GROUP], sequences[GROUP] = {0}, unknown = 0, refused = 0;
    struct failure failure = {0};
    struct db *db = open_db(false);
    pthread_t killer;
    for (int i = 0; i < GROUP; i++) {
        sessions[i] = new_session(db);
    }
    writing = true;
    acknowledged = 0;
    pthread_create(&killer, NULL, killer_main, NULL);
    for (int round = 0; round < ROUNDS; round++) {
        enum status status = group_append(db, sessions, sequences, &failure);
        if (status != STATUS_OK && status != STATUS_UNAVAILABLE && status != STATUS_UNCERTAIN) {
            writing = false;
            pthread_join(killer, NULL);
            expect_ok(status, &failure);
        }
        acknowledged += status == STATUS_OK;
        int64_t found = status == STATUS_OK ? sequences[0] + 1 : last_sequence(sessions[0]);
        bool is_unknown = status == STATUS_UNCERTAIN;
        unknown += is_unknown;
        refused += status != STATUS_OK && !is_unknown;
        assert_true(found == sequences[0] + 1 || (found == sequences[0] && status != STATUS_OK));
        assert_true(is_unknown || status == STATUS_OK || found == sequences[0]);
        for (int i = 0; i < GROUP; i++) {
            sequences[i] = found;
        }
    }
    writing = false;
    pthread_join(killer, NULL);
    db_close(db); /* the last kill may have come after the last group */
    db = open_db(false);
    for (int i = 0; i < GROUP; i++) {
        assert_int_equal(last_sequence(sessions[i]), sequences[i]);
        assert_int_equal(count_events(db, sessions[i]), sequences[i]);
    }
    print_message("groups: %lld acknowledged, %lld refused, %lld unknown\n", (long long)acknowledged,
                  (long long)refused, (long long)unknown);
    assert_true(acknowledged > 0 && refused + unknown > 0);
    db_close(db);
}

/* --- nodes --- */

static void *open_main(void *arg)
{
    *(struct db **)arg = open_db(false);
    return NULL;
}

static void nodes_that_start_together_migrate_once(void **state)
{
    (void)state;
    enum { NODES = 6 };
    pthread_t threads[NODES];
    struct db *dbs[NODES];
    PGconn *connection = PQconnectdb(url);
    PQclear(PQexec(connection, "drop schema public cascade; create schema public"));
    PQfinish(connection);
    for (int i = 0; i < NODES; i++) {
        pthread_create(&threads[i], NULL, open_main, &dbs[i]);
    }
    for (int i = 0; i < NODES; i++) {
        pthread_join(threads[i], NULL);
        db_close(dbs[i]);
    }
}

static void notify_raw(const char *payload)
{
    char sql[9000];
    snprintf(sql, sizeof sql, "select count(pg_notify('%s', '%s'))", NOTIFY_CHANNEL, payload);
    number(sql);
}

static void listeners_hear_other_nodes(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct postgres_listener *listener, *other;
    struct postgres_wake wake;
    struct arena arena = {0};
    struct db *db = open_db(false);
    int64_t session = new_session(db);
    assert_true(notify_is_needed()); /* who does not listen cannot know */
    const struct db_options listening = {.engine = DB_POSTGRES, .url = url, .read_only = true};
    expect_ok(postgres_listen_open(&listening, &listener, &failure), &failure);
    assert_false(notify_is_needed());
    expect_ok(postgres_listen_open(&listening, &other, &failure),
              &failure); /* stands for another node: it sees the first */
    assert_true(notify_is_needed());
    notify_raw("0123456789abcdef here");
    notify_raw("0123456789abcdef 7:1");
    expect_ok(postgres_listen_next(listener, 10000, &arena, &wake, &failure), &failure);
    assert_true(!wake.many && wake.count == 1);
    begin(db);
    append(db, session, 1);
    commit(db); /* our own: not heard */
    assert_int_equal(count_events(db, session), 1);
    notify_raw("0123456789abcdef 7:12 8:9223372036854775807");
    expect_ok(postgres_listen_next(listener, 10000, &arena, &wake, &failure), &failure);
    assert_false(wake.many);
    assert_int_equal(wake.count, 2);
    assert_int_equal(wake.touches[0].tenant_key, 7);
    assert_int_equal(wake.touches[1].session_key, INT64_MAX);
    notify_raw("0123456789abcdef many");
    expect_ok(postgres_listen_next(listener, 10000, &arena, &wake, &failure), &failure);
    assert_true(wake.many);
    expect_ok(postgres_listen_next(listener, 0, &arena, &wake, &failure), &failure);
    assert_true(!wake.many && wake.count == 0);
    kill_backends();
    expect_ok(postgres_listen_next(listener, 10000, &arena, &wake, &failure), &failure);
    assert_true(wake.many);
    postgres_listen_stop(listener);
    assert_int_equal(postgres_listen_next(listener, 10000, &arena, &wake, &failure), STATUS_GONE);
    postgres_listen_close(listener);
    postgres_listen_close(other);
    arena_release(&arena);
    db_close(db);
}

static void a_commit_is_notified_once(void **state)
{
    (void)state;
    struct db *db = open_db(false);
    int64_t a = new_session(db), b = new_session(db);
    char expected[64];
    PGconn *connection = PQconnectdb(url);
    PQclear(PQexec(connection, "listen " NOTIFY_CHANNEL));
    begin(db);
    append(db, b, 1);
    append(db, a, 1);
    append(db, b, 2);
    commit(db);
    assert_int_equal(count_events(db, b), 2); /* answered behind the notification */
    db_close(db);
    number("select count(pg_notify('" NOTIFY_CHANNEL "', 'end'))");
    PQclear(PQexec(connection, "select 1"));
    PGnotify *notify = PQnotifies(connection);
    snprintf(expected, sizeof expected, " 7:%lld 7:%lld +", (long long)a, (long long)b);
    assert_non_null(notify);
    assert_true(strlen(notify->extra) > 16);
    assert_memory_equal(notify->extra + 16, expected, strlen(expected)); /* its own number follows */
    PQfreemem(notify);
    notify = PQnotifies(connection);
    assert_non_null(notify);
    assert_string_equal(notify->extra, "end");
    PQfreemem(notify);
    PQfinish(connection);
}

static void a_server_out_of_reach_is_unavailable(void **state)
{
    (void)state;
    struct failure failure = {0};
    struct db_options options = {.engine = DB_POSTGRES, .url = "postgres://nobody@127.0.0.1:1/none"};
    struct db *db = NULL;
    assert_int_equal(db_open(&options, &db, &failure), STATUS_UNAVAILABLE);
    assert_null(db);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s postgres://…\n", argv[0]);
        return 2;
    }
    url = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_start_together_migrate_once),
        cmocka_unit_test(values_survive_the_round_trip),
        cmocka_unit_test(a_question_sees_what_was_gathered),
        cmocka_unit_test(many_updates_of_one_row_become_one),
        cmocka_unit_test(a_stale_row_stops_the_whole_group),
        cmocka_unit_test(a_gap_between_two_updates_is_stale),
        cmocka_unit_test(a_sequence_taken_by_another_node_is_stale),
        cmocka_unit_test(a_key_that_exists_is_a_conflict_and_the_group_goes_on),
        cmocka_unit_test(a_deferred_key_that_exists_is_stale_at_the_next_question),
        cmocka_unit_test(a_reader_keeps_its_view),
        cmocka_unit_test(the_same_event_of_another_node_proves_nothing),
        cmocka_unit_test(a_new_session_that_was_not_written_is_known_not_to_be),
        cmocka_unit_test(a_session_written_by_two_nodes_is_told_in_its_order),
        cmocka_unit_test(nothing_is_told_behind_what_is_still_being_written),
        cmocka_unit_test(the_firehose_waits_for_no_stranger),
        cmocka_unit_test(empty_transactions_cost_nothing),
        cmocka_unit_test(a_lost_connection_fails_the_group_and_the_next_one_works),
        cmocka_unit_test(killing_at_random_loses_nothing_and_halves_nothing),
        cmocka_unit_test(listeners_hear_other_nodes),
        cmocka_unit_test(a_commit_is_notified_once),
        cmocka_unit_test(a_server_out_of_reach_is_unavailable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
