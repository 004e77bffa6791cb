/* Times as people say them. */
#ifndef CLI_RELATIVE_TIME_H
#define CLI_RELATIVE_TIME_H

#include "base/clock.h"

enum { RELATIVE_TIME_BYTES = 40 };

/* "now", "41 s ago", "5 min ago", "3 h ago", "2 d ago", "in 5 min"; the date when it is more than 30 days away. */
struct slice relative_time(int64_t wall_ms, int64_t now_ms, char out[RELATIVE_TIME_BYTES]);
/* The same for an RFC 3339 text; what is no time is given back as it is, an absent text as empty. */
struct slice relative_time_of_text(struct slice time, int64_t now_ms, char out[RELATIVE_TIME_BYTES]);

#endif
