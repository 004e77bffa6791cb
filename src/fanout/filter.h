/* Which events a viewer asked for. */
#ifndef FANOUT_FILTER_H
#define FANOUT_FILTER_H

#include "fanout/fanout.h"

/* One allocation; slices point behind the struct. */
struct filter {
    struct slice thread_id;
    size_t type_count;
    struct slice types[];
};

/* NULL when everything is wanted. free() it. */
struct filter *filter_new(const struct viewer_options *options);
/* A NULL filter passes everything. Deltas have no event type: only their thread counts. */
bool filter_passes_event(const struct filter *filter, struct slice type, struct slice thread_id);
bool filter_passes_delta(const struct filter *filter, struct slice thread_id);

#endif
