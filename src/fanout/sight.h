/* What a firehose viewer with restricted access may see: its principal and the decisions made so far, a bounded number
 * of them. The service decides (struct viewer_rights). Decisions are made on a reader thread while the viewer reads a
 * page (the page carries the sight) and used on the hub's thread while it is live; never both at once. */
#ifndef FANOUT_SIGHT_H
#define FANOUT_SIGHT_H

#include "fanout/fanout.h"

enum sight_verdict { SIGHT_UNKNOWN, SIGHT_ALLOWED, SIGHT_DENIED };

struct sight;

struct sight *sight_new(const struct viewer_rights *rights, const struct principal *who);
void sight_free(struct sight *sight); /* accepts NULL */
enum sight_verdict sight_recall(const struct sight *sight, int64_t session_key);
void sight_forget(struct sight *sight, int64_t session_key);
void sight_forget_all(struct sight *sight);
/* Reader thread: asks unless the answer is known, and remembers it. */
MUST_CHECK enum status sight_decide(struct sight *sight, struct db *db, int64_t session_key, bool *out_allowed,
                                    struct failure *failure);
/* Could the viewer see the session that was deleted? `audience` as in struct firehose_row. */
bool sight_had(const struct sight *sight, int64_t session_key, struct slice audience);
/* True for events that may change who sees their session. */
bool sight_depends_on(struct slice event_type);

#endif
