/* "Somebody wrote to any session": which ones is read from the tenant's firehose, so that thousands of watched sessions
 * are not asked one by one. One per tenant and hub, made when needed. */
#ifndef FANOUT_SWEEP_H
#define FANOUT_SWEEP_H

#include "fanout/lookup.h"

enum { SWEEP_FEEDS_MIN = 32 }; /* with fewer feeds each looks for itself */

struct sweep {
    struct lookup lookup;
    int64_t tenant_key;
    struct position at; /* everything up to here was looked at */
    bool known;         /* `at` is; before that all feeds look for themselves */
    bool running;
    bool again; /* asked for while it ran */
    int64_t events_max, rows_left;

    enum status status;
    int64_t *touched; /* session keys, perhaps more than once */
    size_t touched_count;
    bool more;
};

/* Hub thread: looks now, or again when the look under way is done. */
void sweep_start(struct hub *hub, int64_t tenant_key);
/* The tenant's feeds look for themselves. */
void sweep_stop(struct hub *hub, int64_t tenant_key);
void sweep_free(struct sweep *sweep);

#endif
