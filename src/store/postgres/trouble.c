#include <stdio.h>

#include "store/postgres/connection.h"

/* The longest prefix of a SQLSTATE wins by standing first. `waited` is for a statement somebody waits for, `deferred`
 * for one that was queued: there a violated key means that another node wrote first. */
static const struct {
    const char *prefix;
    enum status waited, deferred;
    const char *code;
} meanings[] = {
    {"23505", STATUS_CONFLICT, STATUS_STALE, "exists"},
    {"23503", STATUS_CONFLICT, STATUS_STALE, "exists"},
    {"22012", STATUS_STALE, STATUS_STALE,
     "stale_row"}, /* the guard of prepare.c divides by zero when rows are missing */
    {"22021", STATUS_INVALID, STATUS_INVALID, "invalid_text"},
    {"22P05", STATUS_INVALID, STATUS_INVALID, "invalid_text"},
    {"54", STATUS_TOO_LARGE, STATUS_TOO_LARGE, "too_large"},
    {"0A000", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"}, /* a plan outlived a change of the schema */
    {"25006", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"}, /* this server became a standby */
    {"25P0", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},  /* the transaction was ended for idling */
    {"08", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"28", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"3D", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"40P01", STATUS_UNAVAILABLE, STATUS_STALE, "storage_failed"}, /* a deadlock: this side gave way */
    {"40", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"53", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"55", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"57", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"58", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
    {"XX", STATUS_UNAVAILABLE, STATUS_UNAVAILABLE, "storage_failed"},
};

enum status trouble_from_result(const PGresult *result, bool waited, struct failure *failure)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (!state) {
        return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "The connection to PostgreSQL broke.");
    }
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strncmp(state, meanings[i].prefix, strlen(meanings[i].prefix)) == 0) {
            enum status status = waited ? meanings[i].waited : meanings[i].deferred;
            if (status == STATUS_STALE) {
                return failure_set(failure, status, "stale_row", "Another node changed the same session meanwhile.");
            }
            return failure_set(failure, status, meanings[i].code, "PostgreSQL refused: %s (%s).",
                               message ? message : "", state);
        }
    }
    return failure_set(failure, STATUS_INTERNAL, "storage_bug", "PostgreSQL refused: %s (%s).", message ? message : "",
                       state);
}

enum status trouble_from_connection(const PGconn *connection, struct failure *failure)
{
    struct slice message = slice_trim(slice_of(PQerrorMessage(connection)));
    return failure_set(failure, STATUS_UNAVAILABLE, "storage_failed", "PostgreSQL cannot be reached: %.*s",
                       SLICE_ARG(slice_utf8_prefix(message, 300)));
}
