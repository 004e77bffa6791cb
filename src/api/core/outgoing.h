/* Calls the api makes to other servers on behalf of its callers: one client per loop, made when it is first needed. */
#ifndef API_OUTGOING_H
#define API_OUTGOING_H

#include "net/http_client.h"

struct outgoing;

struct outgoing *outgoing_new(const char *ca_file);
/* On the loop's own thread. */
struct http_client *outgoing_client(struct outgoing *outgoing, struct loop *loop);
/* Any thread. Those who wait for an answer that has not begun are told that the server stops, on every loop. */
void outgoing_stop_waiting(struct outgoing *outgoing, struct loop *const *loops, size_t count);
/* Cancels what is under way, on every loop; before the loops are told to stop. */
void outgoing_leave(struct outgoing *outgoing, struct loop *const *loops, size_t count);
/* After the loops are joined. */
void outgoing_free(struct outgoing *outgoing);

#endif
