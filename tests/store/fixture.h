/* What the contract suite stands on: an open database, two fresh tenants per test, and sessions made the way the server
 * makes them (events, fold, rows in one transaction). */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "unit.h"

#include "domain/change.h"
#include "store/store.h"

struct fixture {
    struct db *db;
    struct arena arena;
    int64_t now_ms;
    int64_t tenant; /* the test's own */
    int64_t other;  /* must never show anything of it */
    char mark[24];  /* unique per test: put into ids that are unique in the whole database */
    struct failure failure;
};

/* "sqlite:PATH" or "postgres://…" as options; the path is borrowed from `url`. */
bool fixture_options(const char *url, struct db_options *out);
/* The database all tests of the process use. */
extern struct db_options fixture_database;

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* Fails the test with the failure's text. */
#define must(status) fixture_must((status), f, __FILE__, __LINE__)
void fixture_must(enum status status, struct fixture *f, const char *file, int line);

void fixture_begin(struct fixture *f);
void fixture_commit(struct fixture *f);

struct slice fixture_text(struct fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 32 bytes that depend on the test and on `seed`. */
struct slice fixture_hash(struct fixture *f, int seed);

/* A stored session. `json` holds further members of the creation in the words of the API:
 * {"agent":"a","metadata":{…}}; single quotes stand for double ones. */
struct session *fixture_session(struct fixture *f, int64_t tenant_key, const char *id, const char *owner,
                                const char *json);
/* Inside a transaction: appends the events, folds them and writes the row. */
void fixture_write(struct fixture *f, struct session *session, struct changes *changes);
/* In a transaction of its own. */
void fixture_append(struct fixture *f, struct session *session, const char *type, const char *content);
void fixture_move(struct fixture *f, struct session *session, enum session_status to);
/* Compares the stored row with `session`, field by field. */
void fixture_check_stored(struct fixture *f, const struct session *session);

#endif
