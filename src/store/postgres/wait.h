/* Waiting for a server that may never answer. Every exchange of this room passes here: libpq's own blocking calls know
 * no limit. */
#ifndef STORE_POSTGRES_WAIT_H
#define STORE_POSTGRES_WAIT_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

int64_t monotonic_ms(void);
/* Sends what waits to be sent until the next result can be taken without blocking, or libpq has an error to report.
 * False when the server was silent for `silence_ms` (0 = no limit). */
bool answer_wait(PGconn *connection, int64_t silence_ms);
/* Connects to one server. The connection does not block, and is PQfinished by the caller whatever its status. */
PGconn *connect_within(const char *const *keys, const char *const *values, int64_t limit_ms);
/* One statement outside of a pipeline: its last result, NULL when the server was silent. */
PGresult *ask_within(PGconn *connection, const char *text, int count, const char *const *values, int64_t silence_ms);

#endif
