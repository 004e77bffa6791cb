/* What a firehose viewer with restricted access may see: its principal and the decisions made so far, a bounded number
 * of them. The service decides (struct viewer_rights). Decisions are made on a reader thread while the viewer reads a
 * page (the page carries the sight) and used on the hub's thread while it is live; never both at once. */
#ifndef FANOUT_ACCESS_CACHE_H
#define FANOUT_ACCESS_CACHE_H

#include "fanout/fanout.h"

enum access_cache_verdict { ACCESS_CACHE_UNKNOWN, ACCESS_CACHE_ALLOWED, ACCESS_CACHE_DENIED };

struct access_cache;

struct access_cache *access_cache_new(const struct viewer_rights *rights, const struct principal *who);
void access_cache_free(struct access_cache *access_cache); /* accepts NULL */
enum access_cache_verdict access_cache_recall(const struct access_cache *access_cache, int64_t session_key);
void access_cache_forget(struct access_cache *access_cache, int64_t session_key);
void access_cache_forget_all(struct access_cache *access_cache);
/* Reader thread: asks unless the answer is known, and remembers it. */
MUST_CHECK enum status access_cache_decide(struct access_cache *access_cache, struct db *db, int64_t session_key,
                                           bool *out_allowed, struct failure *failure);
/* Could the viewer see the session that was deleted? `audience` as in struct firehose_row. */
bool access_cache_had(const struct access_cache *access_cache, int64_t session_key, struct slice audience);
/* True for events that may change who sees their session. */
bool access_cache_depends_on(enum event_kind kind);

#endif
