/* The signals of the server, on a thread of their own, and the end that every stop has.
 *
 * From SIGTERM or SIGINT on the process has so long to end, whatever state storage, agents or clients are in, and also
 * when it has not begun yet. Then it ends as if it were killed: nothing acknowledged is lost by that, and the next
 * start repairs what was under way. */
#ifndef MAIN_SIGNALS_H
#define MAIN_SIGNALS_H

#include <stdint.h>

struct signals;

enum signal_order { SIGNAL_RELOAD, SIGNAL_STOP };

/* Before any other thread is started: they must not see the signals. */
struct signals *signals_start(int64_t stop_limit_ms);
/* Waits for the next one. */
enum signal_order signals_next(struct signals *signals);
/* A stop begins by itself; without effect when a signal has begun it. */
void signals_begin_stop(struct signals *signals);
/* The stop is done. */
void signals_end(struct signals *signals);

#endif
