/* Times as people say them. */
#ifndef CLI_MOMENT_H
#define CLI_MOMENT_H

#include "base/clock.h"

enum { MOMENT_BYTES = 40 };

/* "now", "41 s ago", "5 min ago", "3 h ago", "2 d ago", "in 5 min"; the date when it is more than 30 days away. */
struct slice moment_relative(int64_t wall_ms, int64_t now_ms, char out[MOMENT_BYTES]);
/* The same for an RFC 3339 text; what is no time is given back as it is, an absent text as empty. */
struct slice moment_relative_text(struct slice time, int64_t now_ms, char out[MOMENT_BYTES]);

#endif
