#include <stdio.h>

#include "store/postgres/connection.h"

/* What the caller can do about it. */
enum meaning {
    MEANS_EXISTS,    /* a key is there already: of a statement that was queued, because another node wrote first */
    MEANS_STALE,     /* the guard of prepare.c divides by zero when rows are missing */
    MEANS_RUN_AGAIN, /* this transaction gave way to another */
    MEANS_UNKNOWN,   /* whether it was done is not known; short of COMMIT it was not, for the rest is rolled back */
    MEANS_BAD_TEXT,
    MEANS_TOO_LARGE,
    MEANS_AWAY, /* this server, for now; at COMMIT a proxy may say so of one that was done */
    MEANS_BUG,  /* nothing that a right program would be told */
};

/* The one place where SQLSTATEs become ours, whichever engine speaks PostgreSQL's protocol. The first prefix that fits
 * counts: the longer stand before the shorter. */
static const struct {
    const char *prefix;
    enum meaning meaning;
} meanings[] = {
    {"23505", MEANS_EXISTS},   {"23503", MEANS_EXISTS},  {"22012", MEANS_STALE},  {"22021", MEANS_BAD_TEXT},
    {"22P05", MEANS_BAD_TEXT}, {"40003", MEANS_UNKNOWN}, {"40", MEANS_RUN_AGAIN}, /* 40001 could not be serialized,
                                                                                     40P01 a deadlock */
    {"08007", MEANS_UNKNOWN},  {"08", MEANS_AWAY},       {"0A000", MEANS_AWAY},   /* a plan outlived a change of the
                                                                                     schema */
    {"25006", MEANS_AWAY},                                                        /* this server became a standby */
    {"25P0", MEANS_AWAY}, /* the transaction was ended for idling */
    {"28", MEANS_AWAY},        {"3D", MEANS_AWAY},       {"53", MEANS_AWAY},      {"54", MEANS_TOO_LARGE},
    {"55", MEANS_AWAY},        {"57", MEANS_AWAY},       {"58", MEANS_AWAY},      {"XX", MEANS_AWAY},
};

static const struct {
    enum status at[TROUBLE_PLACES];
    const char *code;
} answers[] = {
    [MEANS_EXISTS] = {{STATUS_CONFLICT, STATUS_CONFLICT, STATUS_STALE, STATUS_STALE}, "exists"},
    [MEANS_STALE] = {{STATUS_STALE, STATUS_STALE, STATUS_STALE, STATUS_STALE}, "stale_row"},
    [MEANS_RUN_AGAIN] = {{STATUS_UNAVAILABLE, STATUS_STALE, STATUS_STALE, STATUS_STALE}, "storage_failed"},
    [MEANS_UNKNOWN] = {{STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, STATUS_UNCERTAIN},
                       "storage_failed"},
    [MEANS_BAD_TEXT] = {{STATUS_INVALID, STATUS_INVALID, STATUS_INVALID, STATUS_INVALID}, "invalid_text"},
    [MEANS_TOO_LARGE] = {{STATUS_TOO_LARGE, STATUS_TOO_LARGE, STATUS_TOO_LARGE, STATUS_TOO_LARGE}, "too_large"},
    [MEANS_AWAY] = {{STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, STATUS_UNCERTAIN}, "storage_failed"},
    [MEANS_BUG] = {{STATUS_INTERNAL, STATUS_INTERNAL, STATUS_INTERNAL, STATUS_INTERNAL}, "storage_bug"},
};

static enum meaning meaning_of(const char *state)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strncmp(state, meanings[i].prefix, strlen(meanings[i].prefix)) == 0) {
            return meanings[i].meaning;
        }
    }
    return MEANS_BUG;
}

bool trouble_ends_transaction(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state && meaning_of(state) == MEANS_RUN_AGAIN;
}

enum status trouble_from_result(const PGresult *result, enum trouble_place place, struct failure *failure)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (!state) {
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "The connection to PostgreSQL broke.");
    }
    enum meaning meaning = meaning_of(state);
    enum status status = answers[meaning].at[place];
    if (status == STATUS_STALE) {
        return failure_set(failure, status, "stale_row", "Another node changed the same session meanwhile.");
    }
    return failure_set(failure, status, answers[meaning].code, "PostgreSQL refused: %s (%s).", message ? message : "",
                       state);
}

enum status trouble_from_silence(int64_t silence_ms, struct failure *failure)
{
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed",
                       "PostgreSQL has not answered for %lld ms (option postgres-answer-ms).", (long long)silence_ms);
}

enum status trouble_from_connection(const PGconn *connection, struct failure *failure)
{
    struct slice message = slice_trim(slice_of(PQerrorMessage(connection)));
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "PostgreSQL cannot be reached: %.*s",
                       SLICE_ARG(slice_utf8_prefix(message, 300)));
}
